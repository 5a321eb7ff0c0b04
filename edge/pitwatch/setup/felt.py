"""The layout step: a felt as it was dragged on the page, made sure of and drawn.

In: a `layout.json` object. Out: a `Layout`, or a UserError that names what cannot be; the felt drawn
over a picture.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout, LayoutError, Point

__all__ = ["checked_layout", "drawn_layout", "felt_grid"]

Image = NDArray[np.uint8]
_X0, _Y0, _X1, _Y1, _STEP = -1000, -200, 1000, 1200, 25  # mm
_COLOUR, _SIDE, _AREA = (90, 230, 120), (240, 190, 70), (60, 190, 250)


def checked_layout(value: dict[str, Any]) -> Layout:
    """The felt. Raises UserError where it is none, or its seats are in the wrong order."""
    try:
        felt = Layout.from_json(value)
    except LayoutError as e:
        raise UserError(f"the layout cannot be: {e}") from None
    if felt.n > 9:
        raise UserError(f"{felt.n} seats are too many for a blackjack table; there are at most 9")
    angles = [math.atan2(y - felt.cy, x - felt.cx) for x, y in felt.spots]
    for seat, (a, b) in enumerate(itertools.pairwise(angles), 1):
        if b >= a:
            raise UserError(
                f"seat {seat + 1} lies on the wrong side of seat {seat}: seats are numbered from the "
                "dealer's left, so that seat 1 is first base"
            )
    for (i, p), (j, q) in itertools.combinations(enumerate(felt.spots, 1), 2):
        if math.dist(p, q) < felt.circle_r:
            raise UserError(f"the spots of seats {i} and {j} lie on each other; drag them apart")
    if felt.dealer_row[0] >= felt.dealer_row[1]:
        raise UserError("the dealer's cards end before they begin; drag the ends of their line apart")
    if felt.insurance_r is not None and not 50 < felt.insurance_r < felt.spot_r:
        raise UserError("the insurance line must lie between the dealer and the spots; drag it there")
    return felt


def felt_grid(camera: Camera) -> dict[str, Any]:
    """Where a grid over the felt lies in the picture, for the page to place and drag things by: between its
    points, `step` mm apart, straight lines are good to a tenth of a pixel, whatever the lens.

    px: [x, y] or None where the camera cannot see, row by row from y0, each from x0.
    """
    xs, ys = np.arange(_X0, _X1 + 1, _STEP), np.arange(_Y0, _Y1 + 1, _STEP)
    mm = np.array([(x, y, 0.0) for y in ys for x in xs])
    before = mm @ camera.R[2] + camera.t_mm[2] > 50
    px = np.full((len(mm), 2), np.nan)
    px[before] = camera.project(mm[before])
    # far outside the picture a distortion model means nothing
    size = np.array([camera.width, camera.height])
    near = before & (np.abs(px - size / 2) < size).all(axis=1)
    points = [np.round(p, 2).tolist() if good else None for p, good in zip(px, near, strict=True)]
    return {"x0": _X0, "y0": _Y0, "step": _STEP, "nx": len(xs), "ny": len(ys), "px": points}


def drawn_layout(image: Image, camera: Camera, felt: Layout) -> Image:
    """The felt over the picture, BGR."""
    out: Image = image.copy()
    size = max(0.5, image.shape[1] / 1920)
    thick = max(1, round(2.5 * size))

    def line(points: NDArray[np.float64], colour: tuple[int, int, int], closed: bool = False) -> None:
        mm = np.column_stack([points, np.zeros(len(points))])
        if (mm @ camera.R[2] + camera.t_mm[2] > 1).all():
            px = camera.project(mm)
            if (np.abs(px) < 1e5).all():
                cv2.polylines(out, [np.round(px).astype(np.int32)], closed, colour, thick, cv2.LINE_AA)

    def ring(at: Point, r: float, colour: tuple[int, int, int]) -> None:
        a = np.linspace(0, 2 * math.pi, 61)
        line(np.column_stack([at[0] + r * np.cos(a), at[1] + r * np.sin(a)]), colour)

    def text(at: Point, said: str, colour: tuple[int, int, int]) -> None:
        x, y = camera.project([at])[0]
        if np.isfinite([x, y]).all() and abs(x) < 1e5 and abs(y) < 1e5:
            where = (round(x - 9 * size * len(said)), round(y + 9 * size))
            for c, t in (((0, 0, 0), 3 * thick), (colour, thick)):
                cv2.putText(out, said, where, cv2.FONT_HERSHEY_SIMPLEX, 0.9 * size, c, t, cv2.LINE_AA)

    for seat, spot in enumerate(felt.spots, 1):
        ring(spot, felt.circle_r, _COLOUR)
        text(spot, str(seat), _COLOUR)
    for points in felt.side.values():
        for p in points:
            ring(p, felt.side_r, _SIDE)
    if felt.insurance_r is not None:
        ends = [math.atan2(y - felt.cy, x - felt.cx) for x, y in (felt.spots[0], felt.spots[-1])]
        a = np.linspace(ends[0], ends[1], 80)
        r = felt.insurance_r
        line(np.column_stack([felt.cx + r * np.cos(a), felt.cy + r * np.sin(a)]), _SIDE)
    x0, x1, y = felt.dealer_row
    line(np.array([(x0, y), (x1, y)]), _AREA)
    text(((x0 + x1) / 2, y - 40), "dealer", _AREA)
    for name, (ax, ay, bx, by) in felt.areas.items():
        line(np.array([(ax, ay), (bx, ay), (bx, by), (ax, by)], float), _AREA, closed=True)
        text(((ax + bx) / 2, (ay + by) / 2), name, _AREA)
    return out
