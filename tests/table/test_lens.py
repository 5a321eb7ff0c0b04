"""A lens from views of the board: known lenses come back, and poor sets are refused with what they lack."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from pitwatch.cli.commands import app
from pitwatch.errors import UserError
from pitwatch.table.board import BOARDS, Board, Corners
from pitwatch.table.calibrate import load_lens
from pitwatch.table.camera import Camera
from pitwatch.table.layout import template
from pitwatch.table.lens import LensResult, solve_lens
from pitwatch.table.pose import solve_pose
from pitwatch.table.views import View, Views

from .board_views import Rays, facing, sheet, varied

A3 = BOARDS["a3"]


def lens(focal: float, *dist: float, size: tuple[int, int] = (960, 540)) -> Camera:
    K = np.array([[focal, 0, size[0] / 2 + 7], [0, focal, size[1] / 2 - 5], [0, 0, 1]])
    return Camera(*size, K, np.diag([1.0, -1, -1]), np.array([0, 0, 1000.0]), np.array(dist or [0.0] * 5))


BARREL = lens(680.0, -0.35, 0.12, 0.001, -0.0005, 0.0)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of 14 views, blurred and noisy, and two that are of no use."""
    folder = tmp_path_factory.mktemp("views")
    rays, printed = Rays.of(BARREL), sheet(A3)
    for i, (R, t) in enumerate(varied(BARREL, n=14)):
        seen = rays.view(printed, R, t, blur=0.6 + 0.05 * i, noise=4.0, seed=i)
        cv2.imwrite(str(folder / f"{i:02}.png"), seen)
    smeared = cv2.blur(cv2.imread(str(folder / "01.png")), (9, 1))
    cv2.imwrite(str(folder / "20.png"), smeared)
    cv2.imwrite(str(folder / "21.png"), np.full((540, 960, 3), 90, np.uint8))
    return folder


def test_the_command_recovers_a_strong_barrel(pictures: Path, tmp_path: Path) -> None:
    out = tmp_path / "lens.json"
    words = ["calibrate", "lens", "--source", str(pictures), "--out", str(out)]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    assert "px rms" in done.output
    found = load_lens(out)
    assert found.K[0, 0] == pytest.approx(BARREL.K[0, 0], rel=0.003)
    assert found.K[1, 1] == pytest.approx(BARREL.K[1, 1], rel=0.003)
    assert found.K[:2, 2] == pytest.approx(BARREL.K[:2, 2], abs=3)
    written = json.loads(out.read_text())
    assert written["rms_px"] < 0.25
    assert written["views"] == 14  # the smeared and the empty picture had no say
    # what counts: rays all over the picture
    px = np.array([(x, y) for x in (5.0, 480, 955) for y in (5.0, 270, 535)])
    found = Camera(960, 540, found.K, BARREL.R, BARREL.t_mm, found.dist)
    assert found.project(BARREL.to_table(px)) == pytest.approx(px, abs=1.0)
    assert cv2.imread(str(tmp_path / "lens.png")).shape[1] == 1280
    # and the table that is measured through it
    for wrong in (None, 4):
        assert off_at_spots(dataclasses.replace(BARREL, **over_table(BARREL)), found, wrong) < 2


def test_a_poor_folder_is_refused_with_its_reasons(pictures: Path, tmp_path: Path) -> None:
    few = tmp_path / "few"
    few.mkdir()
    for name in ("00", "01", "03"):
        (few / f"{name}.png").write_bytes((pictures / f"{name}.png").read_bytes())
    words = ["calibrate", "lens", "--source", str(few), "--out", str(tmp_path / "lens.json")]
    refused = CliRunner().invoke(app, words).exception
    assert isinstance(refused, UserError)
    assert "too few: 3 sharp and different views" in str(refused)
    assert "corners: no board reached" in str(refused)
    assert not (tmp_path / "lens.json").exists()
    assert (tmp_path / "lens.png").exists()


def test_a_mirrored_board(pictures: Path) -> None:
    views = Views((960, 540))
    image = cv2.imread(str(pictures / "04.png"))
    assert views.look(np.ascontiguousarray(image[:, ::-1])) == "none"
    assert views.missing() == [
        "the board is mirrored: switch the camera's mirror image off, or print the board anew"
    ]
    with pytest.raises(UserError, match="other is 480 x 270 pixels, the first one was 960 x 540"):
        views.look(cv2.resize(image, (480, 270)), "other")


def test_of_like_views_the_sharpest_is_kept(pictures: Path) -> None:
    views = Views((960, 540))
    image = cv2.imread(str(pictures / "01.png"))
    assert views.look(cv2.GaussianBlur(image, (0, 0), 1.2)) == "kept"
    assert views.look(image) == "sharper"
    assert views.look(cv2.GaussianBlur(image, (0, 0), 1.2)) == "alike"
    assert views.look(cv2.imread(str(pictures / "20.png"))) == "blurred"
    assert len(views.kept) == 1
    assert 28 <= views.coverage().sum() <= 40


def seen(
    camera: Camera, poses: list[tuple[np.ndarray, np.ndarray]], noise: float = 0.1, stretch: float = 0.0
) -> list[View]:
    """Views without pictures."""
    rng = np.random.default_rng(7)
    out = []
    for R, t in poses:
        mm = np.column_stack([A3.corners_mm * [1, 1 + stretch], np.zeros(40)])
        px = dataclasses.replace(camera, R=R, t_mm=t).project(mm)
        px += rng.normal(0, noise, px.shape)
        inside = ((px > 0) & (px < [camera.width - 1, camera.height - 1])).all(axis=1)
        out.append(
            View(Corners(A3, np.flatnonzero(inside), px[inside]), 0.8, (camera.width, camera.height), "")
        )
    return [v for v in out if len(v.corners.ids) >= 6]


def collected(views: list[View], board: Board = A3) -> Views:
    out = Views(views[0].size, board)
    out.kept = views
    out.found = out.pictures = len(views)
    return out


def test_an_ordinary_lens_stays_ordinary() -> None:
    found = solve_lens(seen(BARREL, list(varied(BARREL, n=20))))
    assert found.model == "ordinary"
    assert found.K[0, 0] == pytest.approx(680, rel=0.002)
    assert found.faults() == []
    assert found.focal_sigma < 0.002
    assert abs(found.stretch) < 0.001


def test_a_wide_lens_takes_the_fisheye_model() -> None:
    """An equidistant lens of 120 degrees, its places of the corners by the formula."""
    camera, f = lens(460.0), 460.0
    views = []
    for v in seen(camera, list(varied(camera, n=24)), noise=0.0):
        rays = (v.corners.px - camera.K[:2, 2]) / f
        r = np.hypot(*rays.T)[:, None]
        px = (
            camera.K[:2, 2]
            + f * np.arctan(r) * rays / r
            + np.random.default_rng(1).normal(0, 0.1, rays.shape)
        )
        views.append(View(Corners(A3, v.corners.ids, px), 0.8, v.size, ""))
    found = solve_lens(views)
    assert found.model == "fisheye"
    assert found.K[0, 0] == pytest.approx(f, rel=0.003)
    assert found.focal_sigma < 0.002
    assert found.rms_px < 0.2


def over_table(lens: Camera, height: float = 1150.0) -> dict[str, np.ndarray]:
    """R and t_mm of a camera over the dealer's shoulder with the whole table in its picture."""
    at, target = np.array([30.0, -260.0, height]), np.array([0.0, 330.0, 0.0])
    forward = (target - at) / np.linalg.norm(target - at)
    right = np.cross(forward, [0, 0, 1.0])
    right /= np.linalg.norm(right)
    R = np.vstack([right, np.cross(forward, right), forward])
    return {"R": R, "t_mm": -R @ at}


def off_at_spots(true: Camera, lens: Camera, wrong: int | None, noise: float = 0.2) -> float:
    """How far, at most, spots and felt lie off in a pose from felt points through an estimated lens, mm.

    wrong: which of six points was clicked 15 px beside.
    """
    layout = template(6)
    # six points, of which one may be wrong
    mm = np.array([*(layout.spots[i] for i in (0, 2, 3, 5)), (-300.0, 90.0), (300.0, 90.0)])
    px = true.project(mm) + np.random.default_rng(4).normal(0, noise, mm.shape)
    if wrong is not None:
        px[wrong] += (9, -12)
    points = [(p.tolist(), m.tolist()) for p, m in zip(px, mm, strict=True)]
    found = solve_pose(points, true.width, true.height, lens)
    assert found.left_out == (() if wrong is None else (wrong,))
    grid = np.array([(x, y) for x in range(-550, 551, 110) for y in range(80, 681, 100)], float)
    grid = np.vstack([layout.spots, grid[np.hypot(grid[:, 0], grid[:, 1] - 60) < 620]])
    return float(np.hypot(*(found.camera.to_table(true.project(grid)) - grid).T).max())


@pytest.mark.parametrize("wrong", [None, 2])
def test_a_fisheye_over_the_table(wrong: int | None, tmp_path: Path) -> None:
    """140 degrees across, as OpenCV's model has it."""
    flat = lens(390.0)
    true = dataclasses.replace(
        flat, dist=np.array([-0.03, 0.012, -0.004, 0.0]), model="fisheye", **over_table(flat, 750.0)
    )
    wave = [(R, t * [1.8, 1.8, 1]) for R, t in varied(flat, n=24)]
    found = solve_lens(seen(true, wave))
    assert found.model == "fisheye"
    assert found.K[0, 0] == pytest.approx(390.0, rel=0.003)
    assert found.field_of_view > 125
    written = tmp_path / "lens.json"
    written.write_text(json.dumps(found.to_json()))
    assert off_at_spots(true, load_lens(written), wrong) < 2
    read = Camera.from_json({**true.to_json()})
    assert read.model == "fisheye"
    px = np.array([(20.0, 30), (480, 270), (930, 500)])
    assert read.project(read.to_table(px)) == pytest.approx(px, abs=0.01)


def test_wrong_corners_and_a_wrong_view_are_left_out() -> None:
    views = seen(BARREL, list(varied(BARREL, n=18)))
    views[3].corners.px[5] += (9, -4)
    bent = views[8].corners.px
    bent += np.column_stack([6 * np.sin(bent[:, 1] / 40), 8 * np.cos(bent[:, 0] / 30)])
    found = solve_lens(views)
    assert len(found.views) == 17
    kept = sum(len(v.corners.ids) for v in found.views)
    assert 1 <= sum(len(v.corners.ids) for v in views) - len(bent) - kept <= 4
    assert found.K[0, 0] == pytest.approx(680, rel=0.003)


def test_a_board_stretched_by_the_printer_is_noticed() -> None:
    found = solve_lens(seen(BARREL, list(varied(BARREL, n=18)), stretch=0.012))
    assert found.stretch == pytest.approx(0.012, abs=0.002)
    assert "1.2 % taller than it should be" in " ".join(found.faults())


def test_what_a_set_of_views_lacks() -> None:
    every = [(u, v) for u in (0.25, 0.5, 0.75) for v in (0.25, 0.5, 0.75)]
    good = collected(seen(BARREL, list(varied(BARREL, n=20))))
    assert good.missing() == []
    facing_it = [facing(BARREL, A3, u, v, 0.42, 2, 0) for u, v in every]
    usual = lens(860.0)
    assert [m.split(":")[0] for m in collected(seen(usual, facing_it)).missing()] == ["tilt"]
    assert any(m.startswith("tilt") for m in solve_lens(seen(BARREL, facing_it)).faults())
    one_way = [facing(BARREL, A3, u, v, 0.42, s, 0) for u, v in every for s in (-30, 30)]
    assert any("left or right edge" in m for m in collected(seen(usual, one_way)).missing())
    middle = [facing(BARREL, A3, 0.5, 0.5, 0.3 + 0.02 * i, 30, 70 * i) for i in range(12)]
    assert (
        "corners: no board reached the picture's upper left, upper right"
        in collected(seen(BARREL, middle)).missing()[-1]
    )
    near = [facing(usual, A3, u, v, 2.2, 20, 90 * i) for i, (u, v) in enumerate(every)]
    assert any(m.startswith("too near") for m in collected(seen(usual, near)).missing())
    far = [facing(BARREL, A3, u, v, 0.12, 30, 70 * i) for i, (u, v) in enumerate(every)]
    assert any(m.startswith("too far: the board takes 1") for m in collected(seen(BARREL, far)).missing())


def test_views_that_contradict_each_other_are_refused() -> None:
    views = seen(BARREL, list(varied(BARREL, n=12)), noise=1.5)
    faults = solve_lens(views).faults()
    assert "glue the board on a flat plate" in faults[0]
    with pytest.raises(UserError, match="2 views of the board determine no lens"):
        solve_lens(views[:2])


def test_the_field_of_view() -> None:
    flat = lens(480.0)
    result = LensResult(960, 540, flat.K, flat.dist, "ordinary", 0.1, 0.001, 0.0, np.zeros((0, 2)), (), ())
    assert result.field_of_view == pytest.approx(2 * math.degrees(math.atan(1)), abs=0.3)
