"""The board and the tags in print: their size is exact, and what is printed is what is found."""

from __future__ import annotations

import re
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from pitwatch.cli.commands import app
from pitwatch.errors import UserError
from pitwatch.table.board import BOARDS, board_named, find_any_board, find_board, find_tags, why_none
from pitwatch.table.board_pdf import boxes, write_board, write_tags

_RECT = re.compile(rb"([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+) re")
_PX = 4.0  # a mm


def drawn(path: Path) -> tuple[np.ndarray, tuple[float, float]]:
    """The black rectangles of a PDF as a picture of 4 px a mm, and the page's size in mm."""
    pdf = path.read_bytes()
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", pdf)
    assert box
    w, h = (float(v) * 25.4 / 72 for v in box.groups())
    scale = re.search(rb"([\d.]+) 0 0 ([\d.]+) 0 0 cm\n0?\.25 w", pdf)
    assert scale
    assert float(scale[1]) == float(scale[2]) == pytest.approx(72 / 25.4, rel=1e-6)
    out = np.full((round(h * _PX), round(w * _PX)), 255, np.uint8)
    for rect in _RECT.findall(pdf):
        x, y, rw, rh = (float(v) for v in rect)
        a, b = (round(x * _PX), round((h - y - rh) * _PX)), (round((x + rw) * _PX), round((h - y) * _PX))
        out[a[1] : b[1], a[0] : b[0]] = 0
    return out, (w, h)


@pytest.mark.parametrize("paper", BOARDS)
def test_the_printed_board_is_found_and_its_size_is_exact(paper: str, tmp_path: Path) -> None:
    board = write_board(tmp_path / "board.pdf", paper)
    page, size = drawn(tmp_path / "board.pdf")
    assert size == pytest.approx(board.page_mm, abs=0.01)
    found = find_any_board(page)
    assert found is not None
    assert found.board == board
    assert len(found.ids) == 40
    # a page's y runs down
    assert np.ptp(found.px, axis=0) / _PX == pytest.approx(np.ptp(board.corners_mm, axis=0), abs=0.15)
    flipped = found.mm * [1, -1]
    assert found.px / _PX - found.px[0] / _PX == pytest.approx(flipped - flipped[0], abs=0.2)
    text = (tmp_path / "board.pdf").read_bytes()
    assert f"squares of {board.square_mm:g} mm".encode() in text
    assert b"must measure" in text
    assert b"/PrintScaling /None" in text


def test_the_same_board_has_the_same_bytes(tmp_path: Path) -> None:
    write_board(tmp_path / "a.pdf", "a4")
    write_board(tmp_path / "b.pdf", "a4")
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


@pytest.mark.parametrize("paper", BOARDS)
def test_the_printed_tags_are_found(paper: str, tmp_path: Path) -> None:
    write_tags(tmp_path / "tags.pdf", paper)
    page, size = drawn(tmp_path / "tags.pdf")
    assert size == pytest.approx(BOARDS[paper].page_mm[::-1], abs=0.01)
    tags = find_tags(page)
    assert list(tags) == [0, 1, 2, 3, 4, 5]
    for corners in tags.values():
        sides = np.hypot(*(np.roll(corners, -1, axis=0) - corners).T) / _PX
        assert sides == pytest.approx([50] * 4, abs=0.3)


def test_boxes_cover_exactly_what_is_black() -> None:
    black = np.random.default_rng(3).random((30, 40)) < 0.6
    again = np.zeros(black.shape, int)
    for x, y, w, h in boxes(black):
        again[y : y + h, x : x + w] += 1
    assert (again == black).all()


def picture(paper: str = "a4", scale: float = 3.0) -> np.ndarray:
    black = np.where(BOARDS[paper].modules(), 20, 230).astype(np.uint8)
    big = cv2.resize(black, None, fx=scale, fy=scale, interpolation=cv2.INTER_NEAREST)
    return cv2.copyMakeBorder(big, 60, 60, 60, 60, cv2.BORDER_CONSTANT, value=230)


def test_what_is_wrong_is_said() -> None:
    good = picture()
    assert why_none(good) == ""
    assert "mirrored" in why_none(np.ascontiguousarray(good[:, ::-1]))
    assert find_board(good, BOARDS["a3"]) is None
    other = cv2.aruco.CharucoBoard(
        (7, 5), 30, 20, cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_6X6_250)
    ).generateImage((700, 500), None, 20)
    assert find_any_board(other) is None
    assert "another board, with markers of 6X6" in why_none(other)
    assert why_none(np.full((300, 400, 3), 90, np.uint8)) == ""


def test_a_tag_that_lies_twice() -> None:
    tags = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    one = cv2.copyMakeBorder(cv2.aruco.generateImageMarker(tags, 2, 120), 30, 30, 30, 30, 0, value=255)
    with pytest.raises(UserError, match="tag 2 is in the picture twice"):
        find_tags(np.hstack([one, one]))


def test_a_measured_square_counts() -> None:
    assert board_named("A3", 41.5).corners_mm[0] == pytest.approx(BOARDS["a3"].corners_mm[0] * 41.5 / 42)
    for paper, square, says in (("a5", None, "no board 'a5'"), ("a4", 4.2, "cannot be")):
        with pytest.raises(UserError, match=says):
            board_named(paper, square)


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "board.pdf"

    def run(*words: str) -> Result:
        return CliRunner().invoke(app, ["calibrate", "board", *words])

    done = run("--paper", "a3", "--out", str(out))
    assert done.exit_code == 0
    assert "squares of 42 mm" in done.output
    assert out.read_bytes().startswith(b"%PDF")
    assert run("--tags", "--paper", "letter", "--out", str(out)).exit_code == 0
    no = run("--paper", "a3", "--out", str(tmp_path / "no" / "b.pdf")).exception
    assert isinstance(no, UserError)
    assert "folder does not exist" in str(no)
    assert "there are a4, a3, letter, tabloid" in str(run("--paper", "b5", "--out", str(out)).exception)
