"""Pose and focal length from points, on cameras whose truth is known."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import cv2
import numpy as np
import pytest

from pitwatch.errors import UserError
from pitwatch.table.calibrate import run_calibrate_pose
from pitwatch.table.camera import Camera
from pitwatch.table.layout import template
from pitwatch.table.pose import Points, solve_pose

SPOTS = template(6).spots
CORNERS = [(-500.0, 100.0), (500.0, 100.0), (500.0, 600.0), (-500.0, 600.0)]


def camera_at(
    eye: tuple[float, float, float] = (60.0, -280.0, 1500.0),
    at: tuple[float, float] = (0.0, 330.0),
    roll: float = 0.0,
    focal: float = 1650.0,
    size: tuple[int, int] = (2304, 1296),
    dist: tuple[float, ...] = (0.0,) * 5,
) -> Camera:
    """A camera that looks from `eye` to the felt point `at`, turned by `roll` degrees."""
    z = np.array([*at, 0.0]) - np.array(eye)
    z /= np.linalg.norm(z)
    x = np.cross(z, [0.0, 1.0, 0.0])
    x /= np.linalg.norm(x)
    a = math.radians(roll)
    y = np.cross(z, x)
    R = np.array([math.cos(a) * x + math.sin(a) * y, math.cos(a) * y - math.sin(a) * x, z])
    K = np.array([[focal, 0, size[0] / 2], [0, focal, size[1] / 2], [0, 0, 1]])
    return Camera(*size, K, R, -R @ np.array(eye), np.array(dist))


def seen(camera: Camera, mm: list[tuple[float, ...]], noise: float = 0.0, seed: int = 0) -> Points:
    rng = np.random.default_rng(seed)
    px = camera.project([[*p, 0.0][:3] for p in mm]) + rng.normal(0, noise, (len(mm), 2))
    return [(tuple(p), m) for p, m in zip(px, mm, strict=True)]


def off_mm(found: Camera, true: Camera, z: float = 0.0) -> float:
    """The largest error at the spots, of points at height z."""
    px = true.project([[*s, z] for s in SPOTS])
    return float(np.hypot(*(found.to_table(px, z) - np.array(SPOTS)).T).max())


CAMERAS = {
    "dealer's side": camera_at(),
    "turned": camera_at(roll=25),
    "players' side": camera_at(eye=(20, 1300, 900), at=(0, 350), roll=180, focal=1200),
    "from the side": camera_at(eye=(900, 300, 1300), at=(0, 350), focal=1300),
    "another size": camera_at(focal=2800, size=(3840, 2160)),
}


@pytest.mark.parametrize("name", CAMERAS)
def test_exact_points_give_the_camera(name: str) -> None:
    true = CAMERAS[name]
    found = solve_pose(seen(true, list(SPOTS)), true.width, true.height)
    assert found.focal_estimated
    assert found.camera.K[0, 0] == pytest.approx(true.K[0, 0], rel=1e-4)
    assert off_mm(found.camera, true) < 0.01
    assert off_mm(found.camera, true, 34.0) < 0.02
    assert found.camera.position_mm == pytest.approx(true.position_mm, abs=0.2)
    assert found.errors_px.max() < 0.01


@pytest.mark.parametrize("name", CAMERAS)
def test_points_half_a_pixel_off(name: str) -> None:
    true = CAMERAS[name]
    for seed in range(3):
        points = seen(true, [*SPOTS, (-300.0, 150.0), (300.0, 150.0)], 0.5, seed)
        free = solve_pose(points, true.width, true.height)
        assert abs(free.camera.K[0, 0] / true.K[0, 0] - 1) < max(0.01, 3 * free.focal_sigma)
        assert off_mm(free.camera, true) < 2.5
        assert free.rms_px < 1.2
        known = solve_pose(points, true.width, true.height, true)
        assert not known.focal_estimated
        assert off_mm(known.camera, true) < 2.5


def test_a_lens_with_distortion() -> None:
    true = camera_at(dist=(-0.3, 0.09, 0.0005, -0.0003, 0.0))
    found = solve_pose(seen(true, list(SPOTS)), true.width, true.height, true)
    assert off_mm(found.camera, true) < 0.05
    assert found.camera.dist.tolist() == true.dist.tolist()


def test_points_above_the_felt() -> None:
    true = camera_at()
    mm: list[tuple[float, ...]] = [(*s, 60.0 * (i % 3)) for i, s in enumerate(SPOTS)]
    found = solve_pose(seen(true, mm), true.width, true.height)
    assert off_mm(found.camera, true) < 0.01
    assert found.errors_mm.max() < 0.01


def test_four_points_are_enough() -> None:
    true = camera_at(roll=10)
    found = solve_pose(seen(true, list(CORNERS)), true.width, true.height)
    assert off_mm(found.camera, true) < 0.05


def test_a_view_straight_down_hardly_tells_the_focal_length() -> None:
    true = camera_at(eye=(0, 340, 1500), at=(0, 350))
    found = solve_pose(seen(true, list(SPOTS), 0.5), true.width, true.height)
    assert found.focal_sigma > 0.05
    assert off_mm(found.camera, true) < 2.5


def test_every_wrong_order_of_four_points_is_refused() -> None:
    true = camera_at()
    points = seen(true, list(CORNERS))
    px, mm = [p for p, _ in points], [m for _, m in points]
    for order in itertools.permutations(range(4)):
        if order == (0, 1, 2, 3) or order == (2, 3, 0, 1):
            continue
        with pytest.raises(UserError, match="no camera"):
            solve_pose([(px[i], m) for i, m in zip(order, mm, strict=True)], true.width, true.height, true)


def test_mirrored_points_are_refused() -> None:
    true = camera_at()
    mirrored = [(px, (-mm[0], mm[1])) for px, mm in seen(true, list(SPOTS))]
    with pytest.raises(UserError, match="mirrored"):
        solve_pose(mirrored, true.width, true.height)


def test_two_swapped_points_are_named() -> None:
    true = camera_at()
    points = list(seen(true, list(SPOTS), 0.5))
    points[1], points[3] = (points[3][0], points[1][1]), (points[1][0], points[3][1])
    with pytest.raises(UserError, match=r"points 2 and 4 seem swapped"):
        solve_pose(points, true.width, true.height, true)


def test_one_wrong_point_is_named() -> None:
    true = camera_at()
    points = list(seen(true, [*SPOTS, (0.0, 100.0)], 0.5))
    far = [(p, (m[0] + 200, m[1]) if i == 2 else m) for i, (p, m) in enumerate(points)]
    with pytest.raises(UserError, match=r"point 3 does not fit the others"):
        solve_pose(far, true.width, true.height)
    near = [(p, (m[0] + 20, m[1]) if i == 2 else m) for i, (p, m) in enumerate(points)]
    found = solve_pose(near, true.width, true.height)
    assert found.doubt == "point 3 does not fit the others; measure it again"
    assert solve_pose(points, true.width, true.height).doubt == ""


LINE = [(-300.0 + 100 * i, 200.0 + 20 * i) for i in range(6)]


@pytest.mark.parametrize(
    ("mm", "says"),
    [
        (CORNERS[:3], "3 points are too few"),
        (LINE, "all points lie on one line of the table"),
        ([*LINE, (0.0, 500.0)], "all points but point 7 lie on one line"),
        ([*CORNERS, (-499.8, 100.0)], "points 1 and 5 are the same"),
        ([*CORNERS, (1100.0, 100.0)], r"point 5 at pixel .* lies outside the picture of 2304 x 1296"),
        ([*CORNERS[:3], (math.nan, 3.0)], "point 4 is no point"),
    ],
)
def test_points_that_determine_nothing(mm: list[tuple[float, float]], says: str) -> None:
    true = camera_at()
    with pytest.raises(UserError, match=says):
        solve_pose(seen(true, list(mm)), true.width, true.height)


def test_a_lens_of_another_resolution() -> None:
    with pytest.raises(UserError, match="calibrated for 3840 x 2160 pixels, but the picture is 2304 x 1296"):
        solve_pose(seen(camera_at(), list(SPOTS)), 2304, 1296, CAMERAS["another size"])


def files(tmp_path: Path, camera: Camera, points: object) -> tuple[Path, Path]:
    picture, file = tmp_path / "table.png", tmp_path / "points.json"
    cv2.imwrite(str(picture), np.full((camera.height, camera.width, 3), 60, np.uint8))
    file.write_text(json.dumps(points))
    return picture, file


def test_the_command(tmp_path: Path) -> None:
    true = camera_at(focal=820, size=(1152, 648))
    points = [{"px": list(p), "mm": list(m)} for p, m in seen(true, list(SPOTS), 0.2)]
    picture, file = files(tmp_path, true, points)
    lines: list[str] = []
    out = tmp_path / "calibration.json"
    result = run_calibrate_pose(picture, file, None, out, lines.append)
    written = Camera.from_json(json.loads(out.read_text()))
    assert off_mm(written, true) < 2
    assert pytest.approx(result.camera.K) == written.K
    check = cv2.imread(str(tmp_path / "calibration.png"))
    assert check.shape == (648, 1152, 3)
    assert (check != 60).any(axis=2).mean() > 0.02
    table = lines[1:7]
    assert all(line.split()[0] == str(i) for i, line in enumerate(table, 1))
    assert [float(line.split()[-2]) for line in table] == pytest.approx(result.errors_px, abs=0.006)
    assert " m above the felt at x " in "\n".join(lines)
    assert "estimated" in "\n".join(lines)
    # again, with the lens just written; its picture is not painted over
    lines.clear()
    run_calibrate_pose(picture, file, out, tmp_path / "table.json", lines.append)
    assert (tmp_path / "table-check.png").exists()
    assert (cv2.imread(str(picture)) == 60).all()
    assert "estimated" not in "\n".join(lines)


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ({}, "holds no list"),
        ([{"px": [1, 2]}], "'mm' of point 1 is missing or no point"),
        ([{"px": [1, 2], "mm": [1, 2]}, {"px": [1], "mm": [1, 2]}], "'px' of point 2"),
        ([{"px": ["a", 2], "mm": [1, 2]}], "'px' of point 1"),
        ([3], "'px' of point 1"),
        ([], r"points\.json: 0 points are too few"),
    ],
)
def test_a_bad_file_of_points(tmp_path: Path, points: object, says: str) -> None:
    picture, file = files(tmp_path, camera_at(size=(64, 48)), points)
    with pytest.raises(UserError, match=says):
        run_calibrate_pose(picture, file, None, tmp_path / "out.json", print)
    assert not (tmp_path / "out.json").exists()


def test_bad_pictures_and_lenses(tmp_path: Path) -> None:
    true = camera_at(focal=820, size=(1152, 648))
    points = [{"px": list(p), "mm": list(m)} for p, m in seen(true, list(SPOTS))]
    picture, file = files(tmp_path, true, points)
    out = tmp_path / "out.json"
    with pytest.raises(UserError, match=r"none\.png does not exist"):
        run_calibrate_pose(tmp_path / "none.png", file, None, out, print)
    with pytest.raises(UserError, match="cannot be read as a picture"):
        run_calibrate_pose(file, file, None, out, print)
    with pytest.raises(UserError, match=r"points\.json is no lens calibration"):
        run_calibrate_pose(picture, file, file, out, print)
    with pytest.raises(UserError, match="cannot be written"):
        run_calibrate_pose(picture, file, None, tmp_path / "none" / "out.json", print)
    lens = tmp_path / "lens.json"
    lens.write_text(json.dumps({"width": 1152, "height": 648, "K": true.K.tolist()}))
    assert not run_calibrate_pose(picture, file, lens, out, print).focal_estimated
