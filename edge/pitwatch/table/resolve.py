"""What a mounting can resolve: pixels a card index and a chip layer at every seat, and what follows.

In: a calibrated camera and a layout. Out: figures in px, px/mm and degrees for each seat and the dealer, with
a verdict in words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout, Point
from pitwatch.vision.looks import CARD_MM, CHIP_PITCH_MM

__all__ = [
    "HEIGHT_PX",
    "INDEX_MM",
    "MOST_CHIPS",
    "RANK_PX",
    "SUIT_PX",
    "USUAL_CHIPS",
    "VALUE_PX",
    "Resolved",
    "resolve",
    "unjudged",
]

# height of the rank in the corner of a standard index
INDEX_MM = 9.0
Cards = Literal["ranks and suits", "ranks", "none"]
Chips = Literal["values", "heights", "none"]

# As tests/table/verdicts_measured.py finds on the scenes, made smaller step by step: black suits are mixed
# up at up to 8.2 px, and hardly a stack is read, rightly or wrongly, below 1.25 px a chip.
SUIT_PX, RANK_PX = 8.5, 5.0
VALUE_PX, HEIGHT_PX = 1.25, 1.0
# the stack reader counts no further
MOST_CHIPS = 25
# From so many px a chip on, stacks of so many chips of any mix are read nine times in ten in a single look:
# what tests/table/mountings_measured.py finds on rendered tables with the shipped networks. Others are read
# now and then; what is not read surely is not judged.
USUAL_CHIPS = ((5.0, 1),)


@dataclass(frozen=True)
class Resolved:
    """What can be seen at one seat, 0 the dealer.

    px_per_mm: scale where the cards lie, in the direction in which it is smallest. index_px: height of a
    card's corner index. layer_px: height of one chip on the spot, None for the dealer. steepness: degrees
    by which the line of sight rises from the felt, 90 straight down. in_view: cards and spot are in the
    picture. cards, chips: what can be read. tallest: chips of the tallest stack whose top is in the
    picture and that is counted at all.
    """

    seat: int
    px_per_mm: float
    index_px: float
    layer_px: float | None
    steepness: float
    in_view: bool
    cards: Cards
    chips: Chips | None
    tallest: int = MOST_CHIPS

    @property
    def reads_cards(self) -> Cards:
        """What is judged of cards here: nothing where some could lie outside the picture."""
        return self.cards if self.in_view else "none"

    @property
    def most_chips(self) -> int:
        """The tallest stack whose value is judged here, chips; 0: none."""
        return self.tallest if self.in_view and self.chips == "values" else 0

    @property
    def usual_chips(self) -> int:
        """The tallest stack whose value can be counted on to be read here; 0: none."""
        layer = self.layer_px or 0.0
        return min(self.most_chips, max((n for px, n in USUAL_CHIPS if layer >= px), default=0))

    @property
    def text(self) -> str:
        """One line for a technician."""
        where = "dealer" if self.seat == 0 else f"seat {self.seat}"
        if not self.in_view:
            return f"{where}: not wholly in the picture; turn the camera or mount it higher"
        cards = {
            "ranks and suits": "ranks and suits",
            "ranks": "ranks, suits not surely",
            "none": "no cards: nearer or more pixels",
        }[self.cards]
        line = f"{where}: {self.px_per_mm:.1f} px/mm, index {self.index_px:.0f} px: {cards}"
        if self.layer_px is None:
            return line
        chips = {
            "values": f"chip values, {_surely(self.usual_chips)}, at most of {_chips(self.tallest)}",
            "heights": "heights of stacks, mixed stacks not surely",
            "none": "no stacks: lower, nearer or more pixels",
        }[self.chips or "none"]
        return f"{line}; {self.layer_px:.1f} px a chip: {chips}"


def _surely(n: int) -> str:
    return f"surely of {_chips(n)}" if n else "though not every time"


def _chips(n: int) -> str:
    return "1 chip" if n == 1 else f"{n} chips"


def resolve(camera: Camera, layout: Layout) -> tuple[Resolved, ...]:
    """The figures for the dealer (first) and each seat."""
    return tuple(_seat(camera, layout, seat) for seat in range(layout.n + 1))


def unjudged(verdicts: Sequence[Resolved]) -> tuple[str, ...]:
    """What is not judged, and why, a sentence for all places of one kind; empty when all is judged."""
    kinds: dict[tuple[bool, Cards, Chips | None], list[Resolved]] = {}
    for r in verdicts:
        if not r.in_view or r.cards != "ranks and suits" or r.chips not in (None, "values"):
            kinds.setdefault((r.in_view, r.cards, r.chips), []).append(r)
    return tuple(_unjudged(places) for places in kinds.values())


def _unjudged(places: Sequence[Resolved]) -> str:
    first = places[0]
    numbers = [str(r.seat) for r in places if r.seat]
    names = [f"seat{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"] if numbers else []
    where = " and ".join([*(["the dealer"] if any(not r.seat for r in places) else []), *names])
    if not first.in_view:
        return f"Not judged: {where}, not wholly in the picture."
    out = []
    if first.cards != "ranks and suits":
        what = "suits" if first.cards == "ranks" else "cards"
        out.append(f"{what} (the index is {min(r.index_px for r in places):.1f} px high)")
    if first.chips in ("heights", "none"):
        out.append(f"amounts (a chip is {min(r.layer_px or 0.0 for r in places):.1f} px high)")
    return f"Not read from this mounting, and not judged: {' and '.join(out)} of {where}."


def _seat(camera: Camera, layout: Layout, seat: int) -> Resolved:
    corners = layout.card_area(seat)
    middle = (sum(x for x, _ in corners) / 4, sum(y for _, y in corners) / 4)
    spot = None if seat == 0 else layout.spots[seat - 1]
    scale = _scale(camera, middle)
    index = scale * INDEX_MM
    cards: Cards = "ranks and suits" if index >= SUIT_PX else "ranks" if index >= RANK_PX else "none"
    layer: float | None = None
    chips: Chips | None = None
    outline = list(corners)
    if spot is not None:
        layer = _layer(camera, spot)
        chips = "values" if layer >= VALUE_PX else "heights" if layer >= HEIGHT_PX else "none"
        outline = _hand_and_spot(layout, seat)
    return Resolved(
        seat=seat,
        px_per_mm=scale,
        index_px=index,
        layer_px=layer,
        steepness=_steepness(camera, middle),
        in_view=_in_view(camera, outline),
        cards=cards,
        chips=chips,
        tallest=MOST_CHIPS if spot is None else _tallest(camera, spot),
    )


def _scale(camera: Camera, at: Point) -> float:
    x, y = at
    p = camera.project([(x - 0.5, y), (x + 0.5, y), (x, y - 0.5), (x, y + 0.5)])
    return float(np.linalg.svd(np.column_stack([p[1] - p[0], p[3] - p[2]]), compute_uv=False)[1])


def _layer(camera: Camera, at: Point) -> float:
    # over ten chips: the height of a stack that is worth counting
    a, b = camera.project([(*at, 0.0), (*at, 10 * CHIP_PITCH_MM)])
    return float(np.hypot(*(b - a)) / 10)


def _tallest(camera: Camera, at: Point) -> int:
    """Chips of the tallest stack on a spot whose top is in the picture: from above, tops spread outward."""
    for n in range(MOST_CHIPS, 0, -1):
        u, v = camera.project([(*at, n * CHIP_PITCH_MM)])[0]
        if 0 <= u < camera.width and 0 <= v < camera.height:
            return n
    return 0


def _steepness(camera: Camera, at: Point) -> float:
    dx, dy, dz = camera.position_mm - np.array([*at, 0.0])
    return math.degrees(math.atan2(dz, math.hypot(dx, dy)))


def _hand_and_spot(layout: Layout, seat: int) -> list[Point]:
    """Outer corners of the spot with what is laid beside it, and of a hand of five cards."""
    half = math.hypot(*CARD_MM) / 2
    end = 0.37 * min(layout.spot_r, 600.0) + half
    return [layout.at(seat, inward, side) for inward in (-75.0, end) for side in (-75.0, 75.0)]


def _in_view(camera: Camera, points: list[Point]) -> bool:
    mm = np.column_stack([np.array(points), np.zeros(len(points))])
    if (mm @ camera.R[2] + camera.t_mm[2] <= 0).any():
        return False
    px = camera.project(mm)
    return bool((px >= 0).all() and (px[:, 0] < camera.width).all() and (px[:, 1] < camera.height).all())
