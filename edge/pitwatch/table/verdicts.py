"""What can be judged from a mounting, place by place, with the picture's focus, exposure and glare.

In: a calibrated camera, a layout and, if there is one, a picture. Out: figures and a verdict for the dealer
and each seat, what to change, and a picture of it all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout
from pitwatch.table.quality import Quality, measure_quality
from pitwatch.table.resolve import RANK_PX, SUIT_PX, USUAL_CHIPS, VALUE_PX, Resolved, resolve

__all__ = ["Judged", "Verdict", "advice_on", "judge_mounting", "verdict_picture"]

Verdict = Literal["good", "some", "none"]

_WAGER = 3  # chips of an ordinary wager
_COLOURS = {"good": (80, 200, 80), "some": (60, 190, 240), "none": (60, 60, 230)}


@dataclass(frozen=True)
class Judged:
    """A place: what it resolves, and how the picture is there (None without one)."""

    resolved: Resolved
    quality: Quality | None

    @property
    def place(self) -> str:
        """Its name."""
        return "dealer" if self.resolved.seat == 0 else f"seat {self.resolved.seat}"

    @property
    def verdict(self) -> Verdict:
        """ "good" when all is judged, "some" when less, "none"."""
        r, q = self.resolved, self.quality
        unfit = q is not None and {"out of focus", "too dark"} & set(q.faults)
        if not r.in_view or r.cards == "none" or unfit:
            return "none"
        wagers = r.chips is None or r.usual_chips >= min(_WAGER, r.tallest)
        full = r.cards == "ranks and suits" and wagers and (q is None or not q.faults)
        return "good" if full else "some"

    @property
    def chips(self) -> str:
        """What is judged of chips, in a few words; "" where none lie."""
        r = self.resolved
        values = f"values to {r.usual_chips}" if r.usual_chips else "values at times"
        words = {"values": values, "heights": "heights", "none": "none"}
        return "" if r.chips is None else words[r.chips]


def judge_mounting(
    camera: Camera, layout: Layout, image: NDArray[np.uint8] | None = None
) -> tuple[Judged, ...]:
    """The dealer (first) and each seat. image: BGR, of the camera's size, the table empty or at rest."""
    return tuple(
        Judged(r, None if image is None else measure_quality(image, _outline(camera, layout, r.seat)))
        for r in resolve(camera, layout)
    )


def advice_on(judged: Sequence[Judged]) -> list[str]:
    """What to change, the most important first."""
    seats = [j.resolved for j in judged]

    def names(which: Sequence[Resolved]) -> str:
        if len(which) == len(seats):
            return "everywhere"
        numbers = [str(r.seat) for r in which if r.seat]
        if len(numbers) == len(seats) - 1:
            return "every seat"
        players = f"seat{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}" if numbers else ""
        return ", ".join(w for w in ("dealer" if any(r.seat == 0 for r in which) else "", players) if w)

    def times(wanted: float, least: float) -> str:
        return f"{math.ceil(10 * wanted / max(least, 0.1)) / 10:.1f} times the pixels across"

    out = []
    if hidden := [r for r in seats if not r.in_view]:
        out.append(
            f"{names(hidden)}: not wholly in the picture; turn the camera, mount it higher, or a wider lens"
        )
    seen = [r for r in seats if r.in_view]
    if small := [r for r in seen if r.cards != "ranks and suits"]:
        least = min(r.index_px for r in small)
        lost = "neither ranks nor suits" if least < RANK_PX else "suits not surely"
        out.append(
            f"{names(small)}: {lost}; the index is {least:.1f} px high and wants {SUIT_PX:g}: a camera "
            f"nearer, a longer lens, or {times(SUIT_PX, least)}"
        )
    if low := [r for r in seen if r.layer_px is not None and r.chips != "values"]:
        least = min(r.layer_px or 0.0 for r in low)
        out.append(
            f"{names(low)}: stacks of several values not surely; a chip is {least:.1f} px high and wants "
            f"{VALUE_PX:g}: a camera lower or farther behind the dealer, or {times(VALUE_PX, least)}"
        )
    few = [r for r in seen if r.layer_px is not None and r.chips == "values" and r.usual_chips < _WAGER]
    if few:
        least, sure = min(r.layer_px or 0.0 for r in few), min(r.usual_chips for r in few)
        wanted = next((px for px, n in USUAL_CHIPS if n >= _WAGER), None)
        more = "" if wanted is None else f"; {times(wanted, least)} would do for {_WAGER}"
        which = f"taller stacks than {sure}" if sure else "stacks"
        out.append(
            f"{names(few)}: {which} are often left unread, and their payouts not judged; a "
            f"chip is {least:.1f} px high{more}"
        )
    remedies = {
        "out of focus": "turn the lens until print is sharp, then fix it",
        "too dark": "more light, or a longer exposure of at most 1/100 s",
        "too bright": "a shorter exposure",
        "clipped white": "a shorter exposure, or move the lamp or the camera until nothing mirrors there",
    }
    for fault, remedy in remedies.items():
        where = [j.resolved for j in judged if j.quality is not None and fault in j.quality.faults]
        if where:
            out.append(f"{names(where)}: {fault}; {remedy}")
    return out or ["everything can be judged from here"]


def verdict_picture(
    image: NDArray[np.uint8], camera: Camera, layout: Layout, judged: Sequence[Judged]
) -> NDArray[np.uint8]:
    """The picture with each place outlined and its verdict beside it."""
    out: NDArray[np.uint8] = image.copy()
    size = max(0.5, image.shape[1] / 1920)
    # what no label should cover: the places, and more so other labels
    full = np.zeros(out.shape[:2], np.float32)
    for j in judged:
        outline = np.round(_outline(camera, layout, j.resolved.seat)).astype(np.int32)
        cv2.polylines(out, [outline], True, _COLOURS[j.verdict], max(2, round(3 * size)), cv2.LINE_AA)
        cv2.fillConvexPoly(full, outline, 1.0)
    for j in judged:
        lines = _label(j)
        sizes = [cv2.getTextSize(text, _FONT, _TEXT * size, 1)[0] for text in lines]
        step = round(30 * size)
        w, h = max(w for w, _ in sizes) + round(12 * size), step * len(lines) + round(8 * size)
        x, y = _free_place(_outline(camera, layout, j.resolved.seat), (w, h), full)
        full[y : y + h, x : x + w] = 20.0
        cv2.rectangle(out, (x, y), (x + w, y + h), (25, 25, 25), -1)
        for i, text in enumerate(lines):
            at = (x + round(6 * size), y + step * (i + 1) - round(5 * size))
            cv2.putText(out, text, at, _FONT, _TEXT * size, _COLOURS[j.verdict], 1, cv2.LINE_AA)
    return out


_FONT, _TEXT = cv2.FONT_HERSHEY_SIMPLEX, 0.75  # still to be read on the commissioning sheet


def _label(j: Judged) -> list[str]:
    """What is written beside a place, a few words a line."""
    r, q = j.resolved, j.quality
    if not r.in_view:
        return [j.place, "not wholly in the picture"]
    lines = [f"{j.place}: {r.cards if r.cards != 'none' else 'no cards'}", f"index {r.index_px:.1f} px"]
    if r.layer_px is not None:
        lines[1:] = [
            f"chips: {j.chips if r.chips != 'none' else 'not judged'}",
            f"index {r.index_px:.1f}, chip {r.layer_px:.1f} px",
        ]
    return [*lines, *(q.faults if q is not None else ())]


def _free_place(
    outline: NDArray[np.float64], size: tuple[int, int], full: NDArray[np.float32]
) -> tuple[int, int]:
    """Where a label goes: near its place's outline, in the picture, over as little as can be. full: (h, w)
    how much each pixel is needed for something else."""
    (x0, y0), (x1, y1) = outline.min(axis=0), outline.max(axis=0)
    (w, h), (high, wide) = size, full.shape
    over = cv2.integral(full)
    best, least = (0, 0), math.inf
    for x in np.linspace(x0 - 1.3 * w, x1 + 0.3 * w, 17):
        for y in np.linspace(y0 - 1.3 * h, y1 + 0.3 * h, 17):
            u = round(max(min(float(x), wide - w - 4), 4))
            v = round(max(min(float(y), high - h - 4), 4))
            c, d = min(u + w, wide), min(v + h, high)
            covered = float(over[d, c] - over[v, c] - over[d, u] + over[v, u]) / (w * h)
            away = np.hypot(*(outline - (u + w / 2, v + h / 2)).T).min() / w
            if (cost := 4 * covered + away) < least:
                best, least = (u, v), cost
    return best


def _outline(camera: Camera, layout: Layout, seat: int) -> NDArray[np.float64]:
    """Where a seat's cards and wager lie in the picture: a convex outline (N, 2), px."""
    corners = list(layout.card_area(seat))
    if seat:
        x, y = layout.spots[seat - 1]
        r = layout.circle_r
        corners += [(x + dx, y + dy) for dx in (-r, r) for dy in (-r, r)]
    hull = cv2.convexHull(camera.project(corners).astype(np.float32))
    return np.asarray(hull, np.float64).reshape(-1, 2)
