"""The layout from a felt's printed circles, with cards and chips about, and without enough of them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from pitwatch.cli.commands import app
from pitwatch.config import load_table
from pitwatch.errors import UserError
from pitwatch.sim.felt import draw_felt
from pitwatch.table.camera import Camera
from pitwatch.table.circles import Printed, find_circles
from pitwatch.table.files import load_layout
from pitwatch.table.from_print import fit_layout
from pitwatch.table.layout import Layout, template

from .test_pose import camera_at

# near the felt and low: an ellipse's centre is millimetres beside the circle's
CAMERA = camera_at(eye=(30, -330, 1050), at=(0, 330), focal=760, size=(1280, 720), dist=(-0.1, 0.03, 0, 0, 0))


def felt(seats: int = 6, r: float = 625.0, cy: float = 20.0, first: float = 155.0) -> Layout:
    """A felt that is no template."""
    angles = [math.radians(first - i * (2 * first - 180) / (seats - 1)) for i in range(seats)]
    spots = tuple((r * math.cos(a), cy + r * math.sin(a)) for a in angles)
    return Layout(spots, circle_r=52.0, cy=cy, spot_r=r, insurance_r=420.0)


def picture(layout: Layout, camera: Camera = CAMERA) -> np.ndarray:
    drawn = draw_felt(layout)
    xs, ys = np.meshgrid(np.arange(camera.width), np.arange(camera.height))
    mm = camera.to_table(np.column_stack([xs.ravel(), ys.ravel()]))
    q = np.column_stack([mm, np.ones(len(mm))]) @ drawn.to_px.T
    at = (q[:, :2] / q[:, 2:]).reshape(camera.height, camera.width, 2).astype(np.float32)
    seen = cv2.remap(cv2.GaussianBlur(drawn.image, (0, 0), 1.2), at[..., 0], at[..., 1], cv2.INTER_LINEAR)
    return np.clip(seen + np.random.default_rng(2).normal(0, 4, seen.shape), 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def busy() -> np.ndarray:
    """The felt with cards about, one card over a circle and chips in another."""
    image = picture(felt())
    for x, y in ((-300, 300), (-40, 400), (200, 350), (felt().spots[1][0] + 45, felt().spots[1][1])):
        card = CAMERA.project([(x - 31, y - 44), (x + 31, y - 44), (x + 31, y + 44), (x - 31, y + 44)])
        cv2.fillConvexPoly(image, np.round(card).astype(np.int32), (235, 235, 235))
    chip = felt().spots[4] + 20 * np.column_stack([np.cos(np.arange(40)), np.sin(np.arange(40))])
    cv2.fillConvexPoly(image, cv2.convexHull(np.round(CAMERA.project(chip)).astype(np.int32)), (40, 40, 200))
    return image


def off(found: Layout, true: Layout) -> float:
    return float(np.hypot(*(np.array(found.spots) - np.array(true.spots)).T).max())


def test_the_command(busy: np.ndarray, tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "felt.png"), busy)
    (tmp_path / "calibration.json").write_text(json.dumps(CAMERA.to_json()))
    out, table = tmp_path / "layout.json", tmp_path / "table.toml"
    words = ["calibrate", "layout", "--picture", tmp_path / "felt.png", "--seats", "6", "--out", out]
    words += ["--calibration", tmp_path / "calibration.json", "--table", table]
    done = CliRunner().invoke(app, [str(w) for w in words], catch_exceptions=False)
    assert "6 of 6 printed circles found" in done.output
    found = load_layout(out)
    assert off(found, felt()) < 1.5
    assert found.circle_r == pytest.approx(52, abs=1)
    assert found.spot_r == pytest.approx(625, abs=5)
    assert found.insurance_r == pytest.approx(434, abs=5)  # the middle of the band of 420 to 448
    assert cv2.imread(str(tmp_path / "layout.png")).shape == busy.shape
    config = load_table(table)
    assert config.load_layout() == found
    assert pytest.approx(CAMERA.K) == config.load_camera().K
    assert "# House rules:" in table.read_text()
    again = CliRunner().invoke(app, [str(w) for w in words]).exception
    assert "exists already" in str(again)


def test_an_empty_picture_falls_back_to_the_usual_felt() -> None:
    circles = find_circles(np.full((720, 1280, 3), 80, np.uint8), CAMERA)
    found = fit_layout(circles, 7)
    assert found.layout == template(7)
    assert found.sources == ("template",) * 7
    assert found.said.startswith(
        "only 0 of 7 printed circles were found on one arc, so this is the usual felt"
    )
    with pytest.raises(
        UserError, match="0 of 4 printed circles were found on one arc, and there is no template"
    ):
        fit_layout([], 4)
    with pytest.raises(UserError, match="--seats 12 is no blackjack table"):
        fit_layout([], 12)


def printed(layout: Layout, without: tuple[int, ...] = ()) -> list[Printed]:
    return [Printed(x, y, 52.0, 1.0, 0.1) for i, (x, y) in enumerate(layout.spots, 1) if i not in without]


@pytest.mark.parametrize("lost", [(3,), (1,), (6,), (2, 5), (1, 2)])
def test_lost_circles_follow_from_their_neighbours(lost: tuple[int, ...]) -> None:
    found = fit_layout(printed(felt(), lost), 6)
    # with two lost at one end nothing tells at which
    if lost != (1, 2):
        assert off(found.layout, felt()) < 1.5
        assert [i for i, s in enumerate(found.sources, 1) if s == "neighbours"] == list(lost)
        assert f"seat {', '.join(map(str, lost))} follows from its neighbours" in found.said


def test_other_circles_do_not_count() -> None:
    other = [
        Printed(0, 330, 52, 1, 0.1),
        Printed(-200, 200, 40, 1, 0.1),
        Printed(300, 250, 70, 1, 0.1),
        Printed(100, 480, 51, 0.6, 0.5),
    ]
    for seats in (5, 6, 7):
        true = felt(seats)
        found = fit_layout([*other, *printed(true)], seats)
        assert off(found.layout, true) < 0.2
        assert found.sources == ("print",) * seats
