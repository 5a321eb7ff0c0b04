"""Where the table's frame lies, for a camera that cards or a board have settled up to that.

In: a camera in a frame of its own on the felt, a picture, and the place of the dealer's edge in it. Out: the
camera in the table's frame (origin at the middle of the dealer's edge), from the symmetry of the printed
circles alone; and how sure every place is, mm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError
from pitwatch.table.camera import Camera
from pitwatch.table.circles import find_circles
from pitwatch.table.from_print import FittedLayout, fit_layout
from pitwatch.table.layout import Layout, Point

__all__ = ["OnPrint", "anchored_on_print", "print_offset_mm", "rebased"]

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

_NEAR_MM = 90.0  # a printed circle farther from every spot is another print


@dataclass(frozen=True)
class OnPrint:
    """camera: in the table's frame. fitted: the layout in the same frame, from the circles."""

    camera: Camera
    fitted: FittedLayout


def rebased(camera: Camera, origin: Point, degrees: float) -> Camera:
    """The camera in a frame whose origin lies at `origin` mm of its own, turned counter-clockwise."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    Rz = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    shift = camera.R @ np.array([*origin, 0.0])
    return replace(camera, R=camera.R @ Rz, t_mm=shift + camera.t_mm)


def anchored_on_print(image: Image, camera: Camera, edge_px: Point, seats: int) -> OnPrint:
    """The table's frame from the arc of printed circles and one tap on the middle of the dealer's edge.

    The arc's axis of symmetry is the y axis; the tap only says on which side the dealer is, and where y is 0.
    Raises UserError where too few circles lie on one arc.
    """
    edge = camera.to_table([edge_px])[0]
    middle = camera.to_table([((camera.width - 1) / 2, (camera.height - 1) / 2)])[0]
    away = middle - edge
    if float(np.hypot(*away)) < 50:
        raise UserError(
            "the dealer's edge was tapped in the middle of the picture; tap where the middle of the dealer's "
            "side meets the edge of the felt"
        )
    rough = rebased(camera, _point(edge), math.degrees(math.atan2(away[1], away[0])) - 90.0)
    fitted = fit_layout(find_circles(image, rough), seats)
    if "template" in fitted.sources:
        found = fitted.said.split(" printed")[0].removeprefix("only ")
        raise UserError(
            f"{found} printed circles were found on one arc: move cards and chips off them, tap the dealer's "
            "edge and not the players', check the number of seats, or give two known points instead"
        )
    felt = fitted.layout
    angles = [math.atan2(y - felt.cy, x - felt.cx) for x, y in felt.spots]
    axis = sum(angles) / len(angles)
    u = np.array([math.cos(axis), math.sin(axis)])
    # from the arc's middle back along its axis to where the tap is level
    back = float(np.array([felt.cx, felt.cy]) @ u)
    origin = np.array([felt.cx, felt.cy]) - back * u
    turned = math.degrees(axis) - 90.0
    final = rebased(rough, _point(origin), turned)
    right = np.array([u[1], -u[0]])
    spots = tuple(
        (round(float((np.array(p) - origin) @ right), 1), round(float((np.array(p) - origin) @ u), 1))
        for p in felt.spots
    )
    x0, x1, row = felt.dealer_row
    cy = round(back, 1)
    moved = replace(felt, spots=spots, cx=0.0, cy=cy, dealer_row=(x0, x1, round(row - felt.cy + cy, 1)))
    return OnPrint(final, replace(fitted, layout=moved))


def _point(a: Array) -> Point:
    return float(a[0]), float(a[1])


def print_offset_mm(image: Image, camera: Camera, layout: Layout) -> tuple[int, float] | None:
    """How many of the felt's circles show, and by how much, in the median, they miss the layout's spots.

    None where fewer than two show: chips cover them, or this felt has none.
    """
    off = []
    for circle in find_circles(image, camera):
        d = min(math.hypot(circle.x - x, circle.y - y) for x, y in layout.spots)
        if d < _NEAR_MM and abs(circle.r - layout.circle_r) < 12:
            off.append(d)
    return (len(off), float(np.median(off))) if len(off) > 1 else None
