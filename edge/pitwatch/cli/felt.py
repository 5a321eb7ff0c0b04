"""`pitwatch calibrate layout`: from a picture of the empty felt to where every spot is.

In: paths and a number of seats. Out: `layout.json`, a check picture beside it, and if asked a table's file
with every key explained.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.config import table_toml
from pitwatch.errors import UserError
from pitwatch.table.calibrate import check_path, read_picture
from pitwatch.table.camera import Camera
from pitwatch.table.files import check_resolution, load_camera, write_json
from pitwatch.table.from_print import FittedLayout, found_layout

__all__ = ["calibrate_layout", "layout_picture"]

_COLOURS = {"print": (80, 220, 80), "neighbours": (40, 170, 250), "template": (60, 60, 230)}


def calibrate_layout(
    picture: Path, calibration: Path, seats: int, out: Path, table: Path | None, echo: Callable[[str], None]
) -> FittedLayout:
    """Find the circles, fit the arc, write. Raises UserError naming the file and the remedy."""
    image = read_picture(picture)
    camera = load_camera(calibration)
    check_resolution(camera, image.shape[1], image.shape[0], calibration)
    if table is not None and table.exists():
        raise UserError(f"{table} exists already; choose another place with --table, or change it by hand")
    fitted = found_layout(image, camera, seats)
    felt = fitted.layout
    echo(fitted.said)
    for seat, ((x, y), source) in enumerate(zip(felt.spots, fitted.sources, strict=True), 1):
        echo(f"seat {seat}  ({x:.1f}, {y:.1f}) mm  {source}")
    echo(f"circles of {felt.circle_r:g} mm radius, insurance line at {felt.insurance_r:g} mm")
    check = check_path(out, picture)
    if not out.parent.is_dir() or not cv2.imwrite(str(check), layout_picture(image, camera, fitted)):
        raise UserError(f"{check} cannot be written; choose another place with --out")
    write_json(out, {**felt.to_json(), "note": fitted.said})
    echo(f"wrote {out}, and {check} to check it by: every circle should lie on its print")
    if table is not None:
        _begin_table(table, calibration, out)
        echo(f"wrote {table}: set the table's name and its rules there")
    return fitted


def layout_picture(image: NDArray[np.uint8], camera: Camera, fitted: FittedLayout) -> NDArray[np.uint8]:
    """The layout over the picture: green from print, orange from neighbours, red from a template."""
    out: NDArray[np.uint8] = image.copy()
    size = max(0.5, image.shape[1] / 1920)
    thick = max(1, round(2 * size))
    felt = fitted.layout
    around = np.linspace(0, 2 * math.pi, 73)
    for seat, ((x, y), source) in enumerate(zip(felt.spots, fitted.sources, strict=True), 1):
        colour = _COLOURS[source]
        ring = np.column_stack([x + felt.circle_r * np.cos(around), y + felt.circle_r * np.sin(around)])
        _lines(out, camera, ring, colour, thick)
        _lines(out, camera, np.array([felt.at(seat, 0), felt.at(seat, 150)]), colour, thick)
        at = camera.project([(x, y)])[0]
        if np.isfinite(at).all() and (np.abs(at) < 1e5).all():
            where = (round(at[0] - 8 * size), round(at[1] + 8 * size))
            cv2.putText(out, str(seat), where, cv2.FONT_HERSHEY_SIMPLEX, size, colour, thick, cv2.LINE_AA)
    if felt.insurance_r is not None:
        a = np.linspace(math.radians(25), math.radians(155), 80)
        r = felt.insurance_r
        line = np.column_stack([felt.cx + r * np.cos(a), felt.cy + r * np.sin(a)])
        _lines(out, camera, line, (230, 180, 60), thick)
    x0, x1, y = felt.dealer_row
    _lines(out, camera, np.array([(x0, y), (x1, y)]), (230, 180, 60), thick)
    return out


def _lines(
    out: NDArray[np.uint8], camera: Camera, mm: NDArray[np.float64], colour: tuple[int, int, int], thick: int
) -> None:
    before = np.column_stack([mm, np.zeros(len(mm))]) @ camera.R[2] + camera.t_mm[2] > 1
    if before.all():
        px = camera.project(mm)
        if (np.abs(px) < 1e5).all():
            cv2.polylines(out, [np.round(px).astype(np.int32)], False, colour, thick, cv2.LINE_AA)


def _begin_table(table: Path, calibration: Path, layout: Path) -> None:
    """A table's file that names the calibration and the layout, beside what every other key means."""

    def named(path: Path) -> str:
        return os.path.relpath(path.resolve(), table.parent.resolve())

    text = table_toml(
        {
            "table": {"name": "BJ-07"},
            "camera": {"calibration": named(calibration)},
            "layout": {"file": named(layout)},
        }
    )
    try:
        table.write_text(text, encoding="utf-8")
    except OSError as e:
        raise UserError(
            f"{table} cannot be written ({e.strerror}); choose another place with --table"
        ) from None
