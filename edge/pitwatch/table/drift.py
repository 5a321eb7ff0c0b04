"""Whether the camera still stands and sees as it did when it was calibrated.

In: a picture of the calibrated table, then pictures as they come. Out: steady, moved (with the camera as it
stands now), lost (turned too far to say where), blurred, covered or dark; said once several looks agree.

The felt's own print is what is looked for: small patches of it, each found again or not. Hands, cards and
chips cover patches; they do not move many of them by one and the same turn of the camera.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.table.camera import Camera

__all__ = ["Steadiness", "Verdict"]

Array = NDArray[np.float64]
Image = NDArray[np.uint8]
State = Literal["steady", "moved", "lost", "blurred", "covered", "dark"]

_WIDE = 960  # px; pictures are looked at so wide
_HALF, _SEARCH = 10, 24  # px of that: half a patch, and how far it may have gone
_PATCHES, _FEWEST = 70, 8
_ALIKE = 0.72  # correlation of a patch that is seen
_SHARE = 0.15  # of the patches must agree
_AGREE_PX = 1.2
_STEADY_PX = 0.7  # less is noise
_TRIALS, _TURN = 120, 0.05
_DARK, _FLAT, _SOFT = 0.3, 0.45, 0.5
# correlation of pictures reduced to a few dozen pixels: the same scene, and one like it
_SAME, _LIKE = 0.8, 0.5


@dataclass(frozen=True)
class Verdict:
    """state: agreed on by the last looks. shift_px: how far the print has gone, in the camera's own pixels.
    camera: as it stands now, None unless steady or moved. seen: share of the patches that show."""

    state: State
    shift_px: float
    camera: Camera | None
    seen: float


class Steadiness:
    """Compares pictures with the one taken at calibration.

    Raises ValueError when that has too little print.
    """

    def __init__(self, reference: Image, camera: Camera, looks: int = 3) -> None:
        """reference: BGR, of the empty table. looks: how many must agree before another state is said."""
        self._camera = camera
        self._scale = min(1.0, _WIDE / reference.shape[1])
        self._looks = looks
        self._grey = self._small(reference)
        self._points = self._print()
        if len(self._points) < _FEWEST:
            raise ValueError(f"{len(self._points)} patches of print are too few to tell a moved camera")
        self._patches = [self._cut(self._grey, p) for p in self._points]
        self._edges = np.array([_edges(p) for p in self._patches])
        self._said = Verdict("steady", 0.0, camera, 1.0)
        self._next: list[State] = []

    def look(self, image: Image) -> Verdict:
        """Take a picture into account. The state changes only when several looks in a row agree."""
        now = self._judge(image)
        if now is None:
            return self._said
        self._next = [*self._next, now.state][-self._looks :]
        if now.state == self._said.state or (
            len(self._next) == self._looks and all(s == now.state for s in self._next)
        ):
            self._said = now
        return self._said

    def _small(self, image: Image) -> Image:
        grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) if image.ndim == 3 else image
        if self._scale < 1:
            grey = cv2.resize(grey, None, fx=self._scale, fy=self._scale, interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.GaussianBlur(grey, (0, 0), 0.7), np.uint8)

    def _print(self) -> NDArray[np.int64]:
        """Corners of what lies on the felt, spread over it, (N, 2) px of the small picture."""
        h, w = self._grey.shape
        ys, xs = np.mgrid[0:h:8, 0:w:8]
        mm = self._camera.to_table(np.column_stack([xs.ravel(), ys.ravel()]) / self._scale)
        on = (np.abs(mm[:, 0]) < 750) & (mm[:, 1] > 0) & (np.hypot(mm[:, 0], mm[:, 1] - 60) < 720)
        mask = cv2.resize(on.reshape(xs.shape).astype(np.uint8), (w, h), interpolation=cv2.INTER_NEAREST)
        edge = _HALF + _SEARCH + 1
        mask[:edge] = mask[-edge:] = 0
        mask[:, :edge] = mask[:, -edge:] = 0
        found = cv2.goodFeaturesToTrack(self._grey, _PATCHES, 0.01, 14, mask=mask, blockSize=7)
        return (
            np.zeros((0, 2), np.int64) if found is None else np.round(found.reshape(-1, 2)).astype(np.int64)
        )

    def _cut(self, grey: Image, p: NDArray[np.int64], more: int = 0) -> Image:
        r = _HALF + more
        return grey[p[1] - r : p[1] + r + 1, p[0] - r : p[0] + r + 1]

    def _judge(self, image: Image) -> Verdict | None:
        """This look alone; None where it tells nothing."""
        grey = self._small(image)
        if float(np.median(grey)) < _DARK * float(np.median(self._grey)):
            return Verdict("dark", 0.0, None, 0.0)
        shifts, alike, edges = self._found(grey)
        seen = float((alike > _ALIKE).mean())
        agree = _agreeing(self._points.astype(np.float64), shifts, alike > _ALIKE)
        if agree.sum() >= max(_FEWEST, _SHARE * len(shifts)):
            if float(np.median(edges[agree] / self._edges[agree])) < _SOFT:
                return Verdict("blurred", 0.0, None, seen)
            # turned about its axis, the picture's middle stays where it is
            shift = float(np.percentile(np.hypot(*shifts[agree].T), 75))
            if shift < _STEADY_PX:
                return Verdict("steady", shift / self._scale, self._camera, seen)
            camera = self._turned(self._points[agree] / self._scale, shifts[agree] / self._scale)
            return Verdict("moved", shift / self._scale, camera, seen)
        alike_whole = _coarse(grey, self._grey)
        if alike_whole > _SAME and _edges(grey) < _SOFT * _edges(self._grey):
            return Verdict("blurred", 0.0, None, seen)
        if _edges(grey) < _FLAT * _edges(self._grey):
            return Verdict("covered", 0.0, None, seen)
        # a table so full that little of its print shows is still the same table
        return None if alike_whole > _LIKE else Verdict("lost", 0.0, None, seen)

    def _found(self, grey: Image) -> tuple[Array, Array, Array]:
        """Each patch's shift (N, 2) px, how alike the place is, and how much it has of edges."""
        shifts, alike, edges = [], [], []
        for p, patch in zip(self._points, self._patches, strict=True):
            window = self._cut(grey, p, _SEARCH)
            match = cv2.matchTemplate(window, patch, cv2.TM_CCOEFF_NORMED)
            _, best, _, (x, y) = cv2.minMaxLoc(match)
            alike.append(best)
            shifts.append((x - _SEARCH + _peak(match[y], x), y - _SEARCH + _peak(match[:, x], y)))
            edges.append(_edges(window[y : y + 2 * _HALF + 1, x : x + 2 * _HALF + 1]))
        return np.array(shifts), np.array(alike), np.array(edges)

    def _turned(self, px: Array, shift: Array) -> Camera:
        """The camera after the small turn about itself that moves the print so (least squares)."""
        camera = self._camera
        mm = camera.to_table(px)
        seen = px + shift
        step = 1e-4
        for _ in range(3):
            r = (seen - camera.project(mm)).ravel()
            J = np.column_stack(
                [(_turn(camera, e * step).project(mm) - camera.project(mm)).ravel() / step for e in np.eye(3)]
            )
            # one patch that went astray must not count much
            weight = 1 / (1 + np.repeat(np.hypot(*r.reshape(-1, 2).T), 2) / 2)
            x, *_ = np.linalg.lstsq(J * weight[:, None], r * weight, rcond=None)
            camera = _turn(camera, np.asarray(x, np.float64))
        return camera


def _turn(camera: Camera, x: Array) -> Camera:
    dR = np.asarray(cv2.Rodrigues(x)[0], np.float64)
    return replace(camera, R=dR @ camera.R, t_mm=dR @ camera.t_mm)


def _agreeing(points: Array, shifts: Array, seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The patches that one small turn, shift and change of scale of the picture moves (RANSAC over pairs,
    Fischler and Bolles 1981; complex numbers as points)."""
    out = np.zeros(len(points), bool)
    which = np.flatnonzero(seen)
    if len(which) < 2:
        return out
    p, q = points @ [1, 1j], (points + shifts) @ [1, 1j]
    rng = np.random.default_rng(0)
    for _ in range(_TRIALS):
        i, j = rng.choice(which, 2, replace=False)
        if abs(p[i] - p[j]) < 60:
            continue
        turn = (q[i] - q[j]) / (p[i] - p[j])
        if abs(turn - 1) > _TURN:
            continue
        good = seen & (np.abs(turn * (p - p[i]) + q[i] - q) < _AGREE_PX)
        if good.sum() > out.sum():
            out = good
    return out


def _peak(row: NDArray[Any], i: int) -> float:
    """Where between pixels a parabola through three values peaks."""
    if not 0 < i < len(row) - 1:
        return 0.0
    a, b, c = (float(v) for v in row[i - 1 : i + 2])
    bend = a - 2 * b + c
    return 0.0 if abs(bend) < 1e-9 else max(-0.5, min(0.5, 0.5 * (a - c) / bend))


def _edges(grey: Image) -> float:
    """Mean strength of the edges against the brightness that is there, for dimmer light does not count."""
    # softened first, or grain would count as edges
    fine = cv2.Laplacian(cv2.GaussianBlur(grey, (0, 0), 1.2), cv2.CV_32F)
    return math.sqrt(float(np.square(fine).mean())) / max(10.0, float(np.mean(grey))) + 1e-6


def _coarse(a: Image, b: Image) -> float:
    """Correlation of two pictures reduced to 48 x 27 pixels."""
    x, y = (
        np.asarray(cv2.resize(g, (48, 27), interpolation=cv2.INTER_AREA), np.float64).ravel() for g in (a, b)
    )
    return float(np.corrcoef(x, y)[0, 1]) if min(x.std(), y.std()) > 1 else 0.0
