"""The printed calibration board and the tags for the felt, and finding them in a picture.

In: pictures, BGR or grey. Out: the board's inner corners and the tags' corners in pixels, with the board's
own places in mm: origin in the middle of the pattern, x to the right as its text is read, y up the sheet.

Board: ChArUco, 9 x 6 squares, dictionary 4X4_250; each paper has marker ids of its own, so that a picture
tells which board it shows. Tags: AprilTag 36h11.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError

__all__ = [
    "BOARDS",
    "COLUMNS",
    "ROWS",
    "TAG_MM",
    "Board",
    "Corners",
    "board_named",
    "find_any_board",
    "find_board",
    "find_tags",
    "tag_modules",
    "why_none",
]

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

COLUMNS, ROWS = 9, 6
TAG_MM = 50.0  # side of a tag's black square
_MARKERS = COLUMNS * ROWS // 2
_MARKER_SHARE = 0.75  # of a square's side
_MODULES = 6  # a 4X4 marker with its black border
_TAGS_KNOWN = 30  # ids from 0
_MIRRORED = 4  # markers that decode only in the mirror, before a picture is called mirrored


@dataclass(frozen=True)
class Board:
    """A board as it lies printed. page_mm: of the sheet, landscape. square_mm: side of a square."""

    paper: str
    page_mm: tuple[float, float]
    square_mm: float
    first_id: int

    @property
    def size_mm(self) -> tuple[float, float]:
        """Width and height of the pattern."""
        return (COLUMNS * self.square_mm, ROWS * self.square_mm)

    @cached_property
    def corners_mm(self) -> Array:
        """The inner corners (40, 2) in the board's frame, by id: row by row from the upper left."""
        s, (w, h) = self.square_mm, self.size_mm
        return np.array([(c * s - w / 2, h / 2 - r * s) for r in range(1, ROWS) for c in range(1, COLUMNS)])

    def modules(self) -> NDArray[np.bool_]:
        """The pattern, True where it is black: 24 modules a square."""
        per = _MODULES * 4  # a marker's module is three of them
        return np.asarray(_charuco(self).generateImage((COLUMNS * per, ROWS * per), None, 0, 1)) < 128


@dataclass(frozen=True)
class Corners:
    """Inner corners found in a picture. ids: (N,). px: (N, 2)."""

    board: Board
    ids: NDArray[np.int64]
    px: Array

    @property
    def mm(self) -> Array:
        """Where they are on the board, (N, 2)."""
        return np.asarray(self.board.corners_mm[self.ids])


BOARDS = {
    "a4": Board("a4", (297.0, 210.0), 28.0, 0),
    "a3": Board("a3", (420.0, 297.0), 42.0, _MARKERS),
    "letter": Board("letter", (279.4, 215.9), 28.0, 2 * _MARKERS),
    "tabloid": Board("tabloid", (431.8, 279.4), 40.0, 3 * _MARKERS),
}


def board_named(paper: str, square_mm: float | None = None) -> Board:
    """The board of a paper; `square_mm`: as measured on the print.

    Raises UserError for another paper, or a square that no printer makes of it.
    """
    board = BOARDS.get(paper.lower())
    if board is None:
        raise UserError(f"there is no board '{paper}'; there are {', '.join(BOARDS)}")
    if square_mm is None:
        return board
    if not 0.5 * board.square_mm < square_mm < 2 * board.square_mm:
        raise UserError(
            f"--square {square_mm:g} mm cannot be: the {paper} board's squares are {board.square_mm:g} mm "
            "at full size; measure one square's side in millimetres"
        )
    return replace(board, square_mm=square_mm)


def find_board(image: Image, board: Board) -> Corners | None:
    """The board's inner corners; None where fewer than six are seen."""
    px, ids, _, _ = _charuco_detector(board).detectBoard(_grey(image))
    if ids is None or len(ids) < 6:
        return None
    return Corners(board, np.asarray(ids, np.int64).ravel(), np.asarray(px, np.float64).reshape(-1, 2))


def find_any_board(image: Image) -> Corners | None:
    """The board that the picture shows, whichever it is, at its full size."""
    ids = _markers(_grey(image))
    counts = {b.paper: sum(b.first_id <= i < b.first_id + _MARKERS for i in ids) for b in BOARDS.values()}
    best = max(counts, key=lambda paper: counts[paper])
    return find_board(image, BOARDS[best]) if counts[best] >= 2 else None


def find_tags(image: Image) -> dict[int, Array]:
    """The tags by id: corners (4, 2) px, from the upper left as it is read, clockwise.

    Raises UserError for an id that lies there twice.
    """
    corners, ids, _ = _tag_detector().detectMarkers(_grey(image))
    out: dict[int, Array] = {}
    for c, i in zip(corners, [] if ids is None else np.ravel(ids), strict=True):
        if int(i) in out:
            raise UserError(f"tag {int(i)} is in the picture twice; take one of the two away")
        out[int(i)] = np.asarray(c, np.float64).reshape(4, 2)
    return dict(sorted(out.items()))


def why_none(image: Image) -> str:
    """What is wrong where no board was found, as the end of a sentence; "" when nothing is to be seen."""
    grey = _grey(image)
    if len(_markers(np.ascontiguousarray(grey[:, ::-1]))) >= _MIRRORED:
        return "the board is mirrored: switch the camera's mirror image off, or print the board anew"
    if len(_markers(grey)) >= _MIRRORED:
        return ""
    remedy = "print the board that `pitwatch calibrate board` writes"
    for name in ("4X4_250", "5X5_250", "6X6_250", "7X7_250", "ARUCO_ORIGINAL", "APRILTAG_36h11"):
        if len(_markers(grey, name)) >= _MIRRORED:
            what = f"another board, with markers of {name}"
            return f"it shows {'tags, but no board' if name.startswith('APRIL') else what}: {remedy}"
    return ""


def tag_modules(number: int) -> NDArray[np.bool_]:
    """A tag with its black border, (8, 8), True where it is black."""
    tags = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    return np.asarray(cv2.aruco.generateImageMarker(tags, number, 8, borderBits=1)) < 128


def _grey(image: Image) -> Image:
    if image.ndim == 2:
        return image
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), np.uint8)


def _markers(grey: Image, name: str = "") -> set[int]:
    """Ids of a dictionary's markers in a picture; "": those of all boards."""
    _, ids, _ = _marker_detector(name).detectMarkers(grey)
    return set() if ids is None else {int(i) for i in np.ravel(ids)}


def _own_markers(first: int, n: int) -> Any:
    """A dictionary of a few markers only: comparing with each is what takes the time."""
    every = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250)
    return cv2.aruco.Dictionary(every.bytesList[first : first + n], every.markerSize, every.maxCorrectionBits)


def _charuco(board: Board) -> Any:
    s = board.square_mm
    markers = _own_markers(board.first_id, _MARKERS)
    return cv2.aruco.CharucoBoard((COLUMNS, ROWS), s, _MARKER_SHARE * s, markers)


@lru_cache(maxsize=8)
def _charuco_detector(board: Board) -> Any:
    return cv2.aruco.CharucoDetector(_charuco(board))


@lru_cache(maxsize=16)
def _marker_detector(name: str) -> Any:
    if not name:
        return cv2.aruco.ArucoDetector(_own_markers(0, len(BOARDS) * _MARKERS))
    return cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, f"DICT_{name}")))


@lru_cache(maxsize=1)
def _tag_detector() -> Any:
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    tags = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    few = cv2.aruco.Dictionary(tags.bytesList[:_TAGS_KNOWN], tags.markerSize, tags.maxCorrectionBits)
    return cv2.aruco.ArucoDetector(few, parameters)
