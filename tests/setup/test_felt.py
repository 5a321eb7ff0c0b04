"""A felt as it was dragged: what cannot be is refused, and the page's grid is the camera's."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pitwatch.errors import UserError
from pitwatch.setup.felt import checked_layout, drawn_layout, felt_grid
from pitwatch.sim.spec import mounted_camera
from pitwatch.table.layout import Layout, LayoutError, arc, template

LAYOUT = template(6)


def test_areas_are_kept_and_cards_in_them_are_nobodys() -> None:
    value = {**LAYOUT.to_json(), "areas": {"discard": [-400, 200, -540, 60], "rack": [-170, 15, 170, 120]}}
    felt = checked_layout(json.loads(json.dumps(value)))
    assert felt.areas["discard"] == (-540, 60, -400, 200)
    assert Layout.from_json(felt.to_json()) == felt
    assert LAYOUT.seat_of(-150, 216) == 0
    near = checked_layout({**LAYOUT.to_json(), "areas": {"discard": [-200, 150, -100, 260]}})
    assert near.seat_of(-150, 216) is None
    assert near.seat_of(100, 216) == 0
    with pytest.raises(LayoutError, match="areas"):
        Layout.from_json({**LAYOUT.to_json(), "areas": {"bar": [0, 0, 1, 1]}})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v["spots"].reverse(), "wrong side"),
        (lambda v: v["spots"].__setitem__(1, v["spots"][2]), "wrong side|lie on each other"),
        (lambda v: v.update(dealer_row=[100, -100, 216]), "end before they begin"),
        (lambda v: v.update(insurance_r=900), "between the dealer and the spots"),
        (lambda v: v.update(spots=[[0, "x"]]), "'spots' should be"),
        (lambda v: v.pop("spots"), "'spots' is missing"),
    ],
)
def test_what_cannot_be_is_said(change: Callable[[dict[str, Any]], Any], said: str) -> None:
    value = LAYOUT.to_json()
    change(value)
    with pytest.raises(UserError, match=said):
        checked_layout(value)


def test_an_arc_by_its_parameters() -> None:
    assert arc(6, 600, 158, insurance_r=400).spots == LAYOUT.spots
    assert arc(1, 600, 158).spots == ((0.0, 660.0),)
    for wrong in ((0, 600, 158), (6, 50, 158), (6, 600, 20)):
        with pytest.raises(LayoutError, match="no blackjack felt"):
            arc(*wrong)


def test_the_pages_grid_is_the_cameras_to_a_tenth_of_a_pixel() -> None:
    camera = mounted_camera(LAYOUT, 1920, 1080)  # its lens bends
    grid = felt_grid(camera)
    px = np.array([p or (np.nan, np.nan) for p in grid["px"]]).reshape(grid["ny"], grid["nx"], 2)
    rng = np.random.default_rng(1)
    mm = rng.uniform((-550, 50), (550, 650), (200, 2))
    u = (mm - (grid["x0"], grid["y0"])) / grid["step"]
    i, j = np.floor(u).astype(int).T
    a, b = (u - np.floor(u)).T[..., None]
    between = (
        (1 - a) * (1 - b) * px[j, i] + a * (1 - b) * px[j, i + 1]
        + (1 - a) * b * px[j + 1, i] + a * b * px[j + 1, i + 1]
    )  # fmt: skip
    assert np.abs(between - camera.project(mm)).max() < 0.15


def test_it_is_drawn_where_it_is() -> None:
    camera = mounted_camera(LAYOUT, 1280, 720)
    image = np.zeros((720, 1280, 3), np.uint8)
    out = drawn_layout(image, camera, LAYOUT)
    x, y = LAYOUT.spots[2]
    u, v = np.round(camera.project([(x + LAYOUT.circle_r, y)])[0]).astype(int)
    assert out[v - 3 : v + 4, u - 3 : u + 4].max() > 200
    assert not image.any()
