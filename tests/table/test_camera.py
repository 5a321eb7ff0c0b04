"""From pixels to the felt and back, through lenses that bend strongly."""

from __future__ import annotations

import numpy as np
import pytest

from pitwatch.table.camera import Camera

LENSES = {
    "barrel": [-0.35, 0.1, 0.0, 0.0, 0.0],
    "cushion": [0.2, -0.05, 0.001, -0.001, 0.0],
    # the angle itself, 120 degrees across: the Padé approximant of atan(r) / r
    "wide": [7 / 9, 64 / 945, 0.0, 0.0, 0.0, 10 / 9, 5 / 21, 0.0],
}


@pytest.mark.parametrize("name", LENSES)
def test_to_the_felt_and_back(name: str) -> None:
    K = np.array([[700.0, 0, 640], [0, 700, 360], [0, 0, 1]])
    R = np.diag([1.0, -1, -1])
    camera = Camera(1280, 720, K, R, -R @ np.array([0, 400, 1000.0]), np.array(LENSES[name]))
    xs, ys = np.meshgrid(np.linspace(0, 1279, 9), np.linspace(0, 719, 6))
    px = np.column_stack([xs.ravel(), ys.ravel()])
    assert camera.project(camera.to_table(px)) == pytest.approx(px, abs=1e-3)
