"""Bent and wide lenses from rendered clips: `python -m tests.table.wide_lenses`.

In: nothing. Out: for a barrel of k1 = -0.35 and a fisheye lens of 120 degrees, from a clip of a board that is
waved about: the model chosen, how far the focal length is off, and how far spots and felt lie off in a pose
from six felt points, all right and with any one of them wrong. Exit status 1 when more than 0.3 % or 2 mm.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np

from pitwatch.capture import open_source
from pitwatch.table.board import BOARDS
from pitwatch.table.calibrate import load_lens
from pitwatch.table.camera import Camera
from pitwatch.table.files import write_json
from pitwatch.table.lens import solve_lens
from pitwatch.table.views import Views

from .board_views import Rays, sheet, varied
from .test_lens import BARREL, off_at_spots, over_table
from .test_lens import lens as pinhole

_HELD = 6  # frames that the board is held still


def main() -> int:
    """Measure and print; 0 when all is within its limits."""
    flat = pinhole(430.0)
    fisheye = dataclasses.replace(flat, dist=np.array([-0.03, 0.012, -0.004, 0.0]), model="fisheye")
    bad = False
    for name, lens, waved_as, spread, height in (
        ("barrel, k1 = -0.35", BARREL, BARREL, 1.0, 1150.0),
        ("fisheye, 120 degrees", fisheye, flat, 1.6, 800.0),
    ):
        with tempfile.TemporaryDirectory() as folder:
            found = clip_to_lens(lens, waved_as, spread, Path(folder))
        true = dataclasses.replace(lens, **over_table(lens, height))
        focal = abs(found.K[0, 0] / lens.K[0, 0] - 1)
        off = [off_at_spots(true, found, wrong) for wrong in (None, *range(6))]
        bad |= focal > 0.003 or max(off) > 2
        sys.stdout.write(
            f"{name}: {found.model}, focal length {100 * focal:.2f} % off; spots and felt at most "
            f"{off[0]:.2f} mm off, with one wrong point {max(off[1:]):.2f} mm\n"
        )
    return 1 if bad else 0


def clip_to_lens(lens: Camera, waved_as: Camera, spread: float, folder: Path) -> Camera:
    """Film the board, and solve the lens from the clip as `calibrate lens` does."""
    rays, printed = Rays.of(lens), sheet(BOARDS["a3"])
    clip = str(folder / "board.avi")
    size = (lens.width, lens.height)
    video = cv2.VideoWriter(clip, cv2.VideoWriter_fourcc(*"MJPG"), 10.0, size)
    for i, (R, t) in enumerate(varied(waved_as, n=22)):
        seen = rays.view(printed, R, t * [spread, spread, 1], noise=3.0, seed=i)
        for _ in range(_HELD):
            video.write(seen)
    video.release()
    views = Views(size)
    for n, frame in enumerate(open_source(clip)):
        if n % _HELD == 0:
            views.look(frame.image)
    result = solve_lens(views.kept)
    write_json(folder / "lens.json", result.to_json())
    return load_lens(folder / "lens.json")


if __name__ == "__main__":
    raise SystemExit(main())
