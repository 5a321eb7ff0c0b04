"""The picture by which a technician judges a lens: where the board was, and how far the corners are off.

In: views, and a result if there is one. Out: BGR, 1280 px wide.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.table.lens import LensResult
from pitwatch.table.views import GRID, View

__all__ = ["lens_picture"]

_WIDE = 1280
_LONGER = 60.0  # an error of a pixel is drawn so long
_BAND = 92


def lens_picture(
    views: Sequence[View], size: tuple[int, int], result: LensResult | None
) -> NDArray[np.uint8]:
    """The boards' outlines and corners; errors as lines; cells that no board reached in red; straight lines
    as the lens bends them. size: of the pictures, px."""
    scale = _WIDE / size[0]
    h = round(size[1] * scale)
    out = np.full((h + _BAND, _WIDE, 3), 28, np.uint8)
    px = np.concatenate([v.corners.px for v in views]) if views else np.zeros((0, 2))
    counts = np.zeros(GRID[::-1], int)
    at = np.clip((px / size * GRID).astype(int), 0, np.array(GRID) - 1)
    np.add.at(counts, (at[:, 1], at[:, 0]), 1)
    for (row, column), count in np.ndenumerate(counts):
        n = int(count)
        a = (round(column * _WIDE / GRID[0]), round(row * h / GRID[1]))
        b = (round((column + 1) * _WIDE / GRID[0]), round((row + 1) * h / GRID[1]))
        colour = (30, 30, 75) if n == 0 else (36 + min(n, 40) // 2, 36 + min(n, 40), 36)
        cv2.rectangle(out, a, (b[0] - 2, b[1] - 2), colour, -1)
    if result is not None:
        _bent(out, result, scale)
    for view in views:
        hull = cv2.convexHull((view.corners.px * scale).astype(np.float32))
        cv2.polylines(out, [np.round(hull).astype(np.int32)], True, (110, 110, 110), 1, cv2.LINE_AA)
    if result is None:
        for x, y in px * scale:
            cv2.circle(out, (round(x), round(y)), 2, (80, 220, 80), -1, cv2.LINE_AA)
    else:
        for view, errors in zip(result.views, result.residuals, strict=True):
            for (x, y), (ex, ey) in zip(view.corners.px * scale, errors * _LONGER, strict=True):
                off = float(np.hypot(ex, ey)) / _LONGER
                colour = (80, 220, 80) if off < 0.3 else (60, 190, 240) if off < 0.8 else (60, 60, 230)
                cv2.line(out, (round(x), round(y)), (round(x + ex), round(y + ey)), colour, 1, cv2.LINE_AA)
                cv2.circle(out, (round(x), round(y)), 1, colour, -1, cv2.LINE_AA)
    cv2.rectangle(out, (0, h), (_WIDE, h + _BAND), (28, 28, 28), -1)
    lines = [f"{len(views)} views of the board; red: no board reached here"]
    if result is not None:
        lines = [
            f"{result.model} lens, {result.field_of_view:.0f} degrees across, focal length "
            f"{result.K[0, 0]:.1f} px +- {100 * result.focal_sigma:.2f} %",
            f"{len(result.views)} views, {result.rms_px:.3f} px rms; errors drawn {_LONGER:.0f} times as "
            "long; red cells: no board reached there",
            "blue: straight lines as this lens bends them",
        ]
    for i, text in enumerate(lines):
        where = (14, h + 26 + 27 * i)
        cv2.putText(out, text, where, cv2.FONT_HERSHEY_SIMPLEX, 0.62, (230, 230, 230), 1, cv2.LINE_AA)
    return out


def _bent(out: NDArray[np.uint8], result: LensResult, scale: float) -> None:
    """Nine by five straight lines through the lens."""
    w, h = result.width, result.height
    camera = result.camera
    rim = np.array([(x, y) for x in (0.0, w / 2, w - 1.0) for y in (0.0, h / 2, h - 1.0)])
    with np.errstate(all="ignore"):
        far = camera.to_table(rim)
    if not np.isfinite(far).all():
        return
    (x0, y0), (x1, y1) = far.min(axis=0), far.max(axis=0)
    fine = np.linspace(0, 1, 60)
    for t in np.linspace(0, 1, 9):
        for line in (
            np.column_stack([np.full(60, x0 + t * (x1 - x0)), y0 + fine * (y1 - y0)]),
            np.column_stack([x0 + fine * (x1 - x0), np.full(60, y0 + t * (y1 - y0))]),
        ):
            seen = np.round(camera.project(line) * scale)
            if np.isfinite(seen).all() and (np.abs(seen) < 1e4).all():
                cv2.polylines(out, [seen.astype(np.int32)], False, (150, 90, 40), 1, cv2.LINE_AA)
