"""The pose from a board or tags on the felt, through a lens that bends, with what goes wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from pitwatch.cli.commands import app
from pitwatch.errors import UserError
from pitwatch.table.board import BOARDS, TAG_MM, tag_modules
from pitwatch.table.calibrate import run_calibrate_pose
from pitwatch.table.camera import Camera
from pitwatch.table.files import load_camera
from pitwatch.table.from_board import board_place, read_tags
from pitwatch.table.layout import template
from pitwatch.table.pose import solve_pose
from pitwatch.table.uncertain import spots_of, spread_mm

from .board_views import Rays, sheet
from .test_pose import camera_at, off_mm, seen

SPOTS = template(6).spots
TRUE = camera_at(focal=900, size=(1280, 720), dist=(-0.28, 0.09, 0.0, 0.0, 0.0))
TAGS = {0: (-520.0, 120.0), 1: (520.0, 120.0), 2: (-330.0, 560.0), 3: (330.0, 560.0), 4: (0.0, 420.0)}


def lying(rays: Rays, printed: tuple[np.ndarray, np.ndarray], x: float, y: float, turn: float) -> np.ndarray:
    """The picture of a sheet that lies on the felt; grey 90 beside it."""
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    Rz = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    return rays.view(printed, TRUE.R @ Rz, TRUE.R @ np.array([x, y, 0]) + TRUE.t_mm, noise=0, blur=0.6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of a board at (40, 330) turned by 10 degrees, and of five tags; the lens."""
    out = tmp_path_factory.mktemp("felt")
    rays = Rays.of(TRUE)
    rng = np.random.default_rng(4)
    board = lying(rays, sheet(BOARDS["a3"]), 40, 330, 10)
    tags = np.full_like(board, 90)
    for i, (x, y) in TAGS.items():
        big = cv2.resize(np.where(tag_modules(i), 25, 235).astype(np.uint8), (200, 200), interpolation=0)
        big = cv2.copyMakeBorder(big, 40, 40, 40, 40, cv2.BORDER_CONSTANT, value=235)
        s = 200 / TAG_MM
        to_px = np.array([[s, 0, 139.5], [0, -s, 139.5], [0, 0, 1.0]])
        one = lying(rays, (big, to_px), x, y, 25.0 * i)
        tags = np.where(one == 90, tags, one)
    for name, image in (("board", board), ("tags", tags)):
        noisy = np.clip(image + rng.normal(0, 3, image.shape), 0, 255).astype(np.uint8)
        cv2.imwrite(str(out / f"{name}.png"), noisy)
    (out / "lens.json").write_text(
        json.dumps({"width": 1280, "height": 720, "K": TRUE.K.tolist(), "dist": TRUE.dist.tolist()})
    )
    (out / "tags.json").write_text(json.dumps({str(i): p for i, p in TAGS.items()}))
    return out


def pose(folder: Path, *words: str | Path) -> str:
    """What the command prints, or the sentence with which it refuses."""
    words = ("calibrate", "pose", "--out", folder / "out.json", *words)
    (folder / "out.json").unlink(missing_ok=True)
    done = CliRunner().invoke(app, [str(w) for w in words])
    if done.exception is not None:
        assert isinstance(done.exception, UserError), done.exception
        assert not (folder / "out.json").exists()
        return str(done.exception)
    return done.output


def test_a_board_at_a_marked_place(folder: Path) -> None:
    words = ("--picture", folder / "board.png", "--board", "a3", "--board-at", "40,330,10")
    said = pose(folder, *words, "--lens", folder / "lens.json")
    assert off_mm(load_camera(folder / "out.json"), TRUE) < 2
    assert "40 corners of the a3 board" in said
    assert said.count("seat ") >= 6
    assert "dealer's cards" in said
    assert (folder / "out.png").exists()


def test_a_board_anywhere_with_two_points(folder: Path) -> None:
    points = [{"px": TRUE.project([p])[0].tolist(), "mm": list(p)} for p in (SPOTS[0], SPOTS[-1])]
    (folder / "two.json").write_text(json.dumps(points))
    words = ("--picture", folder / "board.png", "--board", "a3", "--lens", folder / "lens.json")
    said = pose(folder, *words, "--points", folder / "two.json", "--layout", "7")
    assert off_mm(load_camera(folder / "out.json"), TRUE) < 2
    assert "seat 7" in said
    # printed at 95 %: the points give it away
    said = pose(folder, *words, "--points", folder / "two.json", "--square", "39.9")
    assert "but by the board it is" in said
    assert "--square (now 39.9 mm)" in said


def test_tags_at_the_corners(folder: Path) -> None:
    words = ("--picture", folder / "tags.png", "--lens", folder / "lens.json", "--tags")
    said = pose(folder, *words, folder / "tags.json")
    assert off_mm(load_camera(folder / "out.json"), TRUE) < 2
    assert "tags 0, 1, 2, 3, 4; their sides measure 49." in said
    # one place measured wrongly
    wrong = {str(i): [p[0] + (18 if i == 2 else 0), p[1]] for i, p in TAGS.items()}
    (folder / "wrong.json").write_text(json.dumps(wrong))
    said = pose(folder, *words, folder / "wrong.json")
    assert "3" in [line.split()[0] for line in said.splitlines() if line.endswith("left out")]
    assert off_mm(load_camera(folder / "out.json"), TRUE) < 2
    # all of them in another unit, and too few
    inch = {str(i): [p[0] * 1.08, p[1] * 1.08] for i, p in TAGS.items()}
    (folder / "inch.json").write_text(json.dumps(inch))
    assert "by the places given a tag's side is 5" in pose(folder, *words, folder / "inch.json")
    (folder / "few.json").write_text(json.dumps({"0": [0, 0], "1": [9, 9], "2": [1, 2], "17": [4, 4]}))
    assert "shows 3 of the 4 tags in" in pose(folder, *words, folder / "few.json")


def test_what_does_not_go_together(folder: Path) -> None:
    picture = ("--picture", folder / "tags.png")
    assert "--points is missing" in pose(folder, *picture)
    assert "exclude each other" in pose(folder, *picture, "--from-cards", "--board", "a3")
    assert "name its paper with --board" in pose(folder, *picture, "--board-at", "0,300")
    assert "either --board-at" in pose(folder, *picture, "--board", "a3")
    at = ("--board", "a3", "--board-at", "0,300")
    assert "shows no a3 board: it shows tags, but no board" in pose(folder, *picture, *at)
    other = ("--picture", folder / "board.png", "--board", "letter", "--board-at", "0,300")
    assert "shows the a3 board, not letter" in pose(folder, *other)
    assert "--layout 9: there is no template of 9 seats" in pose(folder, *picture, *at, "--layout", "9")
    for text in ("3", "a,b", "1,2,3,4", "nan,0"):
        with pytest.raises(UserError, match="is no place"):
            board_place(text)
    assert board_place("1,-2") == (1.0, -2.0, 0.0)


@pytest.mark.parametrize(
    ("text", "says"), [("[]", "no object"), ('{"a": [1, 2]}', "tag 'a'"), ('{"1": [1]}', "tag '1'")]
)
def test_a_bad_file_of_tags(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "tags.json").write_text(text)
    with pytest.raises(UserError, match=says):
        read_tags(tmp_path / "tags.json")


def test_uncertainty_is_what_is_found_in_trials() -> None:
    """± mm at the spots against the spread of a hundred calibrations."""
    true = camera_at()
    mm = [*SPOTS, (-300.0, 150.0), (300.0, 150.0)]
    spots = spots_of("6")
    px = true.project([p for _, p in spots])
    found = []
    for seed in range(60):
        result = solve_pose(seen(true, mm, 0.5, seed), 2304, 1296, true)
        found.append(result.camera.to_table(px))
    spread = np.array(found).std(axis=0)
    trials = np.sqrt((spread**2).max(axis=1))
    told = spread_mm(solve_pose(seen(true, mm), 2304, 1296, true), spots)
    assert told == pytest.approx(trials, rel=0.35)


def test_one_wrong_point_in_six_is_left_out(tmp_path: Path) -> None:
    true = camera_at()
    points = list(seen(true, list(SPOTS), 0.3))
    points[4] = ((points[4][0][0] + 14, points[4][0][1] - 9), points[4][1])
    result = solve_pose(points, 2304, 1296, true)
    assert result.left_out == (4,)
    assert off_mm(result.camera, true) < 2
    assert result.errors_px[4] > 10
    assert result.rms_px < 1
    cv2.imwrite(str(tmp_path / "table.png"), np.zeros((1296, 2304, 3), np.uint8))
    (tmp_path / "points.json").write_text(json.dumps([{"px": list(p), "mm": list(m)} for p, m in points]))
    (tmp_path / "lens.json").write_text(json.dumps({"width": 2304, "height": 1296, "K": true.K.tolist()}))
    lines: list[str] = []
    run_calibrate_pose(
        tmp_path / "table.png",
        tmp_path / "points.json",
        tmp_path / "lens.json",
        tmp_path / "o.json",
        lines.append,
    )
    assert lines[5].endswith("left out")
    assert "warning: it was left out: point 5 does not fit the others; measure it again" in lines
    assert any(line.startswith("seat 1 ") for line in lines)


def test_a_camera_without_a_lens_file(folder: Path) -> None:
    """The focal length follows from the tilted board; a straight lens."""
    straight = Camera(TRUE.width, TRUE.height, TRUE.K, TRUE.R, TRUE.t_mm)
    px = straight.project(BOARDS["a3"].corners_mm * 2.0 + (0, 330))
    pairs = [(tuple(p), tuple(m)) for p, m in zip(px, BOARDS["a3"].corners_mm * 2.0 + (0, 330), strict=True)]
    result = solve_pose(pairs, 1280, 720)
    assert result.focal_estimated
    assert len(result.covariance) == 7
    assert (spread_mm(result, spots_of(None)) > 0).all()
