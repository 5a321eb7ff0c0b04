"""Which pictures of the board a lens is calibrated from: sharp ones that differ.

In: pictures in any order. Out: views kept so far, which parts of the picture they cover, and what they lack.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError
from pitwatch.table.board import Board, Corners, find_any_board, find_board, why_none

__all__ = ["ENOUGH", "FEWEST", "GRID", "View", "Views", "tilt_of", "tilts_lacking"]

Array = NDArray[np.float64]
Image = NDArray[np.uint8]
Seen = Literal["kept", "sharper", "alike", "blurred", "none"]

FEWEST, ENOUGH = 8, 20  # views
GRID = (8, 5)  # cells across and down
_BLURRED_PX = 2.2
_EDGE = 12.0  # grey levels a pixel
_TILTED = 15.0  # degrees
_TILTS = 4  # views tilted so much
_CORNER = 0.27  # share of the picture's sides that is its corner
_MOST = 60  # views
_GUESSED_FOCAL = 0.9  # picture widths, to judge tilts before the lens is known


@dataclass(frozen=True)
class View:
    """One picture of the board. blur_px: across the edges that are blurred most. name: of its frame."""

    corners: Corners
    blur_px: float
    size: tuple[int, int]
    name: str

    @cached_property
    def tilt(self) -> Array:
        """How far the board is turned from facing the camera, about x and y, degrees, for a usual lens."""
        w, h = self.size
        f = _GUESSED_FOCAL * w
        H, _ = cv2.findHomography(self.corners.mm, self.corners.px)
        if H is None:
            return np.zeros(2)
        M = np.linalg.inv(np.array([[f, 0, w / 2], [0, f, h / 2], [0, 0, 1.0]])) @ H
        a, b = M[:, 0] / np.linalg.norm(M[:, 0]), M[:, 1] / np.linalg.norm(M[:, 1])
        return tilt_of(np.cross(a, b) * np.sign(M[2, 2]))

    @cached_property
    def share(self) -> float:
        """How much of the picture's width the whole board takes."""
        spread = np.hypot(*np.ptp(self.corners.px, axis=0))
        mm = np.hypot(*np.ptp(self.corners.mm, axis=0))
        return float(spread / max(mm, 1e-9) * self.corners.board.size_mm[0] / self.size[0])

    @cached_property
    def whole(self) -> float:
        """The share of the board's corners that are seen."""
        return len(self.corners.ids) / len(self.corners.board.corners_mm)

    def differs(self, other: View) -> bool:
        """Whether it tells anything that the other does not."""
        here, there = self._place, other._place
        return float(np.linalg.norm(here - there)) > 1

    @cached_property
    def _place(self) -> Array:
        u, v = self.corners.px.mean(axis=0) / self.size
        return np.array([u / 0.1, v / 0.12, math.log(self.share) / 0.2, *(self.tilt / 10.0)])


def tilt_of(normal: Array) -> Array:
    """A direction (3,) in the camera's axes as angles from its own, about x and y, degrees."""
    n = normal / np.linalg.norm(normal) * (-1 if normal[2] > 0 else 1)
    return np.degrees([math.atan2(n[1], -n[2]), math.atan2(n[0], -n[2])])


def tilts_lacking(tilts: Array) -> str:
    """What views turned so (N, 2) lack, "" for nothing: facing boards do not tell a focal length."""
    if (np.hypot(*tilts.T) > _TILTED).sum() < _TILTS:
        return "tilt: the board faces the camera everywhere; turn it by 30 degrees, each way"
    for k, name in ((0, "upper or lower"), (1, "left or right")):
        if np.ptp(tilts[:, k]) < _TILTED:
            return f"tilt: turn the board with its {name} edge toward the camera too"
    return ""


class Views:
    """Collects views. size: of the pictures, px. board: None for whichever shows first."""

    def __init__(self, size: tuple[int, int], board: Board | None = None) -> None:
        self.size = size
        self.board = board
        self.kept: list[View] = []
        self.pictures = self.found = self.blurred = 0
        self._why: dict[str, int] = {}

    def look(self, image: Image, name: str = "") -> Seen:
        """Take a picture into account. Raises UserError for a picture of another size."""
        if (image.shape[1], image.shape[0]) != self.size:
            raise UserError(
                f"{name or 'a picture'} is {image.shape[1]} x {image.shape[0]} pixels, the first one was "
                f"{self.size[0]} x {self.size[1]}; take all with the resolution at which you will watch"
            )
        self.pictures += 1
        corners = find_any_board(image) if self.board is None else find_board(image, self.board)
        if corners is None:
            # a board that cannot be used is said at the end; looking for the reason takes time
            if not self.found and self.pictures % 5 == 1 and (why := why_none(image)):
                self._why[why] = self._why.get(why, 0) + 1
            return "none"
        self.board = corners.board
        self.found += 1
        blur = _blur(image, corners)
        if blur > _BLURRED_PX:
            self.blurred += 1
            return "blurred"
        view = View(corners, blur, self.size, name)
        for i, other in enumerate(self.kept):
            if not view.differs(other):
                if view.whole >= other.whole and view.blur_px < 0.85 * other.blur_px:
                    self.kept[i] = view
                    return "sharper"
                return "alike"
        if len(self.kept) >= _MOST:
            return "alike"
        self.kept.append(view)
        return "kept"

    def coverage(self) -> NDArray[np.int64]:
        """How many board corners lie in each cell of the picture, (down, across)."""
        out = np.zeros(GRID[::-1], np.int64)
        for view in self.kept:
            at = np.clip((view.corners.px / self.size * GRID).astype(int), 0, np.array(GRID) - 1)
            np.add.at(out, (at[:, 1], at[:, 0]), 1)
        return out

    def missing(self) -> list[str]:
        """What to show yet, the most important first; empty when the views will do."""
        n = len(self.kept)
        if not self.found:
            why = max(self._why, key=lambda w: self._why[w]) if self._why else ""
            return [why or "no board is to be seen: hold it so that it fills a third of the picture or more"]
        out = []
        if n < FEWEST:
            blurred = f" ({self.blurred} more were blurred: hold it still)" if self.blurred > n else ""
            out.append(f"too few: {n} sharp and different views, at least {FEWEST} are wanted{blurred}")
        if not n:
            return out
        if float(np.median([v.whole for v in self.kept])) < 0.4:
            out.append("too near: most views show less than half of the board; hold it farther away")
        elif max(v.share for v in self.kept) < 0.22:
            far = max(v.share for v in self.kept)
            out.append(f"too far: the board takes {100 * far:.0f} % of the picture's width; hold it nearer")
        if lacking := tilts_lacking(np.array([v.tilt for v in self.kept])):
            out.append(lacking)
        if bare := self._bare_corners():
            out.append(f"corners: no board reached the picture's {', '.join(bare)}; hold it there")
        return out

    def _bare_corners(self) -> list[str]:
        px = np.concatenate([v.corners.px for v in self.kept]) / self.size
        out = []
        for y, up in ((0, "upper"), (1, "lower")):
            for x, side in ((0, "left"), (1, "right")):
                if (np.abs(px - (x, y)) < _CORNER).all(axis=1).sum() < 4:
                    out.append(f"{up} {side}")
        return out


def _blur(image: Image, corners: Corners) -> float:
    """Standard deviation of the blur across the squares' edges, px, in the direction where it is most.

    From how much a crest loses by a known further blur (Zhuo and Sim 2011), for each quarter of directions:
    a moving board is blurred one way only.
    """
    x0, y0 = np.maximum(corners.px.min(axis=0).astype(int) - 4, 0)
    x1, y1 = corners.px.max(axis=0).astype(int) + 5
    part = image[y0:y1, x0:x1]
    grey = part if part.ndim == 2 else cv2.cvtColor(part, cv2.COLOR_BGR2GRAY)
    slopes = []
    for sigma in (0.6, math.hypot(0.6, 1.0)):
        soft = cv2.GaussianBlur(grey, (0, 0), sigma).astype(np.float32)
        slopes.append([cv2.Sobel(soft, cv2.CV_32F, *d, ksize=3, scale=1 / 8) for d in ((1, 0), (0, 1))])
    (gx, gy), after = slopes[0], np.hypot(*slopes[1])
    before = np.hypot(gx, gy)
    crest = (before >= cv2.dilate(before, np.ones((3, 3)))) & (before > _EDGE)
    angle = np.degrees(np.arctan2(gy, gx))[crest] % 180
    sigma_px = _sigmas(before[crest], after[crest])
    worst = 0.0
    for a in (0, 45, 90, 135):
        those = np.abs((angle - a + 90) % 180 - 90) < 22.5
        if those.sum() > max(20, 0.1 * len(angle)):
            worst = max(worst, float(np.percentile(sigma_px[those], 25)))
    return worst if len(angle) > 40 else 9.0


def _sigmas(before: NDArray[np.float32], after: NDArray[np.float32]) -> Array:
    ratio = np.clip(after / before, 0.05, 0.995)
    own = (ratio / np.sqrt(1 - ratio**2)) ** 2 - 0.36
    return np.asarray(np.sqrt(np.maximum(own, 0.0)), np.float64)
