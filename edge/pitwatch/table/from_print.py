"""A layout from the circles printed on a felt.

In: circles in mm and a number of seats. Out: a layout whose arc goes through them, with where each spot comes
from; the usual felt where too few are found.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError
from pitwatch.table.camera import Camera
from pitwatch.table.circles import Printed, find_circles, line_radius
from pitwatch.table.layout import Layout, LayoutError, template

__all__ = ["FittedLayout", "fit_layout", "found_layout", "with_line"]

Array = NDArray[np.float64]
Source = Literal["print", "neighbours", "template"]

_ALIKE_MM = 5.0  # radii of one felt's spots
_OFF_ARC_MM = 25.0
_OFF_SLOT = 0.22  # share of the way to the neighbour
_LOST = 2  # spots that may be missing
_ARC_MM = (350.0, 1100.0)


@dataclass(frozen=True)
class FittedLayout:
    """sources: where each seat's spot comes from. said: one sentence for the technician."""

    layout: Layout
    sources: tuple[Source, ...]
    said: str


@dataclass(frozen=True)
class _Arc:
    x: float
    y: float
    r: float
    slots: dict[int, Printed]
    first: float
    step: float


def found_layout(image: NDArray[np.uint8], camera: Camera, seats: int) -> FittedLayout:
    """The layout that a picture of the empty felt tells: circles and, where they were found, the insurance
    line. Raises UserError as `fit_layout`."""
    fitted = fit_layout(find_circles(image, camera), seats)
    return with_line(fitted, image, camera) if "print" in fitted.sources else fitted


def with_line(fitted: FittedLayout, image: NDArray[np.uint8], camera: Camera) -> FittedLayout:
    """The same with the insurance line where it is printed; as it was where none is found."""
    felt = fitted.layout
    ends = [math.atan2(y - felt.cy, x - felt.cx) for x, y in (felt.spots[-1], felt.spots[0])]
    span = (min(ends) + 0.2, max(ends) - 0.2)
    radii = (0.45 * felt.spot_r, felt.spot_r - felt.circle_r - 15)
    r = line_radius(image, camera, (felt.cx, felt.cy), radii, span) if span[0] < span[1] else None
    return fitted if r is None else replace(fitted, layout=replace(felt, insurance_r=round(r, 1)))


def fit_layout(circles: Sequence[Printed], seats: int) -> FittedLayout:
    """The layout that the circles tell, seat 1 at the dealer's left.

    Raises UserError where neither the circles nor a template give so many seats.
    """
    if not 1 <= seats <= 9:
        raise UserError(f"--seats {seats} is no blackjack table; give the number of betting spots, 1 to 9")
    arc = _best_arc(circles, seats)
    fewest = max(3, seats - _LOST)
    if arc is None or len(arc.slots) < fewest:
        n = 0 if arc is None else len(arc.slots)
        try:
            usual = template(seats)
        except LayoutError as e:
            raise UserError(
                f"{n} of {seats} printed circles were found on one arc, and {e}; take the picture with an "
                "empty table, or write the spots into a layout file by hand"
            ) from None
        every: list[Source] = ["template"] * seats
        return FittedLayout(
            usual,
            tuple(every),
            f"only {n} of {seats} printed circles were found on one arc, so this is the usual felt of "
            f"{seats} seats: check it in the picture, and measure the spots if it does not fit",
        )
    spots: list[tuple[float, float]] = []
    sources: list[Source] = []
    for k in range(seats):
        c = arc.slots.get(k)
        a = arc.first + arc.step * k
        x, y = (c.x, c.y) if c else (arc.x + arc.r * math.cos(a), arc.y + arc.r * math.sin(a))
        spots.append((round(x, 1), round(y, 1)))
        sources.append("print" if c else "neighbours")
    usual = template(seats if seats in (5, 6, 7) else 6)
    scale = arc.r / usual.spot_r
    x0, x1, row = usual.dealer_row
    layout = Layout(
        tuple(spots),
        circle_r=round(float(np.median([c.r for c in arc.slots.values()])), 1),
        cx=round(arc.x, 1),
        cy=round(arc.y, 1),
        spot_r=round(arc.r, 1),
        insurance_r=round((usual.insurance_r or 400.0) * scale, 1),
        dealer_row=(x0, x1, round(arc.y + (row - usual.cy) * scale, 1)),
    )
    lost = [str(i) for i, s in enumerate(sources, 1) if s != "print"]
    said = f"{len(arc.slots)} of {seats} printed circles found"
    if lost:
        said += f"; seat {', '.join(lost)} follows from its neighbours: check it in the picture"
    return FittedLayout(layout, tuple(sources), said)


def _best_arc(circles: Sequence[Printed], seats: int) -> _Arc | None:
    best: _Arc | None = None
    score = -math.inf
    for a, b, c in itertools.combinations(circles[:24], 3):
        radii = sorted((a.r, b.r, c.r))
        if radii[2] - radii[0] > _ALIKE_MM:
            continue
        through = _through(np.array([(p.x, p.y) for p in (a, b, c)]))
        if through is None:
            continue
        like = [
            p
            for p in circles
            if abs(p.r - radii[1]) < _ALIKE_MM
            and abs(math.hypot(p.x - through[0], p.y - through[1]) - through[2]) < _OFF_ARC_MM
        ]
        arc = _slots(like, seats)
        if arc is None:
            continue
        off = _irregular(arc)
        # of two as full, the one whose spots lie more evenly about the middle of the table
        lean = abs(arc.first + arc.step * (seats - 1) / 2 - math.pi / 2)
        s = len(arc.slots) - 2 * off - lean
        if s > score:
            best, score = arc, s
    return best


def _through(p: Array) -> tuple[float, float, float] | None:
    """Middle and radius of the circle through three points, if it can be a table's arc."""
    A = 2 * (p[1:] - p[0])
    if abs(np.linalg.det(A)) < 1e3:
        return None
    x, y = (float(v) for v in np.linalg.solve(A, (p[1:] ** 2).sum(axis=1) - (p[0] ** 2).sum()))
    r = math.hypot(p[0, 0] - x, p[0, 1] - y)
    if not _ARC_MM[0] < r < _ARC_MM[1] or abs(x) > 300 or not -500 < y < 450:
        return None
    return x, y, r


def _slots(circles: Sequence[Printed], seats: int) -> _Arc | None:
    """Seats for circles on an arc: evenly spaced, as many as there are seats, about the table's middle."""
    if len(circles) < 3:
        return None
    p = np.array([(c.x, c.y) for c in circles])
    A = np.column_stack([2 * p, np.ones(len(p))])
    (x, y, k), *_ = np.linalg.lstsq(A, (p**2).sum(axis=1), rcond=None)
    r = math.sqrt(max(float(k + x * x + y * y), 0.0))
    if not _ARC_MM[0] < r < _ARC_MM[1]:
        return None
    # from the dealer's left, where the angle is largest
    angles = np.arctan2(p[:, 1] - y, p[:, 0] - x)
    order = np.argsort(-angles)
    angles = angles[order]
    gaps = -np.diff(angles)
    step = float(np.median(gaps[gaps < 1.6 * gaps.min()])) if len(gaps) else 0.0
    if step < math.radians(8):
        return None
    index = np.round((angles[0] - angles) / step).astype(int)
    if len(set(index.tolist())) < len(index):
        return None
    slope, first = np.polyfit(index, angles, 1) if len(set(index.tolist())) > 1 else (-step, angles[0])
    off = np.abs(angles - (first + slope * index)) / abs(slope)
    keep = [i for i in range(len(index)) if off[i] < _OFF_SLOT]
    # which seats of the arc these are: so that all lie about straight ahead of the dealer
    shift = round((math.pi / 2 - (first + slope * (seats - 1) / 2)) / -slope)
    shift = min(range(shift - 2, shift + 3), key=lambda s: _shifted(s, index[keep], seats, first, slope))
    slots = {int(index[i]) + shift: circles[order[i]] for i in keep if 0 <= index[i] + shift < seats}
    return _Arc(float(x), float(y), r, slots, float(first - slope * shift), float(slope))


def _shifted(shift: int, index: Array, seats: int, first: float, slope: float) -> tuple[int, float]:
    """How many circles are lost by this shift, and how far from straight ahead the seats then are."""
    lost = int(((index + shift < 0) | (index + shift >= seats)).sum())
    return lost, abs(first - slope * shift + slope * (seats - 1) / 2 - math.pi / 2)


def _irregular(arc: _Arc) -> float:
    """Mean distance of the circles from where even spacing puts them, in steps."""
    off = [
        abs(math.atan2(c.y - arc.y, c.x - arc.x) - (arc.first + arc.step * k)) / abs(arc.step)
        for k, c in arc.slots.items()
    ]
    return sum(off) / max(len(off), 1)
