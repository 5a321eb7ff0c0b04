"""Small patches of a felt's print, and where a picture shows them.

In: small grey pictures of one camera. Out: for each patch how far it lies from where it is expected, whether
it shows at all, and how sharp it is. Pixels are those of the small picture unless said otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout

__all__ = ["AGREE_PX", "Found", "Patches", "agreeing", "edges", "small_grey"]

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

AGREE_PX = 1.2
_WIDE = 960  # px; pictures are looked at so wide at most
_HALF = 10  # px of a patch around its middle
_NEAR, _FAR, _AGAIN = 3, 96, 5  # px by which a patch may be off: quick look, wide look, and after that
_MOST, _ENOUGH = 75, 24
_ALIKE = 0.72  # correlation of a patch that is seen
_ALIKE_HALF = 0.6  # and at half the size
_TRIALS, _TURN, _APART = 160, 0.07, 60


def small_grey(image: Image, camera: Camera) -> Image:
    """The picture of a camera, grey and at most 960 px wide; a small one stays as it is."""
    while image.shape[1] >= 2 * _WIDE:  # OpenCV halves four times as fast as it quarters
        h, w = (n // 2 * 2 for n in image.shape[:2])
        image = np.asarray(
            cv2.resize(image[:h, :w], (w // 2, h // 2), interpolation=cv2.INTER_AREA), np.uint8
        )
    grey = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    scale = _scale(camera)
    size = (round(camera.width * scale), round(camera.height * scale))
    if (grey.shape[1], grey.shape[0]) != size:
        grey = cv2.resize(grey, size, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.GaussianBlur(grey, (0, 0), 0.7), np.uint8)


def _scale(camera: Camera) -> float:
    return min(1.0, _WIDE / camera.width)


@dataclass(frozen=True)
class Found:
    """Patches looked for. which: their numbers (N,). off: (N, 2) from where they were expected. alike: which
    of them show. edges: how sharp each place is."""

    which: NDArray[np.int64]
    off: Array
    alike: NDArray[np.bool_]
    edges: Array


class Patches:
    """Patches of the print. points: (N, 2) their middles in the picture they were taken from. mm: (N, 2)
    where that is on the felt. edges: how sharp each is. scale: small pixels a camera pixel."""

    def __init__(self, grey: Image, camera: Camera, layout: Layout | None) -> None:
        self.scale = _scale(camera)
        self._grey = grey
        self.points = self._corners(camera, layout)
        self._cut = [_around(grey, p, _HALF) for p in self.points]
        self.edges = _edges_of(self._cut)
        self.mm = camera.to_table(self.full(self.points)) if len(self.points) else np.zeros((0, 2))
        half = _halved(grey)
        self._cut_half = [_around(half, p // 2, _HALF // 2 + 1) for p in self.points]

    def full(self, px: Array | NDArray[np.int64]) -> Array:
        """Small pixels (N, 2) to the camera's own."""
        return np.asarray((px + 0.5) / self.scale - 0.5, np.float64)

    def expected(self, camera: Camera) -> Array:
        """Where a camera puts each patch, (N, 2)."""
        return np.asarray((camera.project(self.mm) + 0.5) * self.scale - 0.5, np.float64)

    def find_near(self, grey: Image, expected: Array, which: NDArray[np.int64]) -> Found:
        """Look for some patches within 3 px of where they should be."""
        return self._find(grey, expected, which, _NEAR)

    def find_far(self, grey: Image, expected: Array) -> Found:
        """Look for all patches within 96 px, at half the size first."""
        half = _halved(grey)
        off, alike = np.zeros((len(expected), 2)), np.zeros(len(expected), bool)
        r = _FAR // 2
        for i, patch in enumerate(self._cut_half):
            at = np.round(expected[i] / 2).astype(np.int64)
            window, corner = _clipped(half, at, patch.shape[0] // 2 + r)
            if min(window.shape) <= patch.shape[0]:
                continue
            _, best, _, (x, y) = cv2.minMaxLoc(cv2.matchTemplate(window, patch, cv2.TM_CCOEFF_NORMED))
            alike[i] = best > _ALIKE_HALF
            middle = corner + (x, y) + patch.shape[0] // 2
            off[i] = 2 * middle + self.points[i] % 2 - expected[i]
        every = np.arange(len(expected))
        rough = Found(every, off, alike, np.ones(len(expected)))
        agree, move = _similarity(expected, rough, 3 * AGREE_PX)
        if move is None or agree.sum() < 3:
            return Found(every, off, np.zeros(len(expected), bool), rough.edges)
        z = move[0] * (expected @ [1, 1j]) + move[1]
        there = np.column_stack([z.real, z.imag])
        found = self._find(grey, there, every, _AGAIN)
        return Found(every, found.off + there - expected, found.alike, found.edges)

    def _find(self, grey: Image, expected: Array, which: NDArray[np.int64], reach: int) -> Found:
        off, alike = np.zeros((len(which), 2)), np.zeros(len(which), bool)
        places = []
        h, w = grey.shape
        for k, i in enumerate(which):
            x, y = (round(float(v)) for v in expected[i])
            r = _HALF + reach
            if not (r <= x < w - r and r <= y < h - r):
                places.append(self._cut[i])
                continue
            window = grey[y - r : y + r + 1, x - r : x + r + 1]
            match = cv2.matchTemplate(window, self._cut[i], cv2.TM_CCOEFF_NORMED)
            _, best, _, (u, v) = cv2.minMaxLoc(match)
            # at the rim of where was looked it is no peak
            alike[k] = best > _ALIKE and 0 < u < 2 * reach and 0 < v < 2 * reach
            off[k] = (
                x + u - reach + _peak(match[v], u) - expected[i, 0],
                y + v - reach + _peak(match[:, u], v) - expected[i, 1],
            )
            places.append(window[v : v + 2 * _HALF + 1, u : u + 2 * _HALF + 1])
        return Found(which, off, alike, _edges_of(places))

    def _corners(self, camera: Camera, layout: Layout | None) -> NDArray[np.int64]:
        """Corners of what is printed, spread over the felt, rather where nothing is ever laid."""
        mask = self._felt(camera)
        if layout is not None:
            free = mask.copy()
            for outline in _laid_on(layout):
                px = (camera.project(outline) + 0.5) * self.scale - 0.5
                cv2.fillConvexPoly(free, np.round(px).astype(np.int32), 0)
            found = self._good(free)
            if len(found) >= _ENOUGH:
                return found
        return self._good(mask)

    def _good(self, mask: Image) -> NDArray[np.int64]:
        found = cv2.goodFeaturesToTrack(self._grey, _MOST, 0.01, 14, mask=mask, blockSize=7)
        return (
            np.zeros((0, 2), np.int64) if found is None else np.round(found.reshape(-1, 2)).astype(np.int64)
        )

    def _felt(self, camera: Camera) -> Image:
        """Where the felt is in the picture, but for the picture's rim."""
        h, w = self._grey.shape
        ys, xs = np.mgrid[0:h:8, 0:w:8]
        px = np.column_stack([xs.ravel(), ys.ravel()])
        with np.errstate(all="ignore"):
            mm = camera.to_table(self.full(px))
            # beyond where its lens is known, a camera sees nothing
            again = (camera.project(mm) + 0.5) * self.scale - 0.5
            on = (np.abs(mm[:, 0]) < 750) & (mm[:, 1] > 0) & (np.hypot(mm[:, 0], mm[:, 1] - 60) < 720)
            on &= np.hypot(*(again - px).T) < 2
        mask = cv2.resize(on.reshape(xs.shape).astype(np.uint8), (w, h), interpolation=cv2.INTER_NEAREST)
        edge = _HALF + 2 * _NEAR + 1
        mask[:edge] = mask[-edge:] = 0
        mask[:, :edge] = mask[:, -edge:] = 0
        return np.asarray(mask, np.uint8)


def _laid_on(layout: Layout) -> list[Array]:
    """Convex outlines (N, 2) mm of where cards and chips are laid."""
    out = []
    for seat in range(layout.n + 1):
        corners = np.array(layout.card_area(seat))
        middle = corners.mean(axis=0)
        out.append(middle + (corners - middle) * (1 + 50 / np.hypot(*(corners[0] - middle))))
    ring = np.linspace(0, 2 * math.pi, 16, endpoint=False)
    r = 0.6 * layout.circle_r
    out += [np.column_stack([x + r * np.cos(ring), y + r * np.sin(ring)]) for x, y in layout.spots]
    return out


def agreeing(expected: Array, found: Found) -> NDArray[np.bool_]:
    """The patches that one small turn, shift and change of scale of the picture moves."""
    return _similarity(expected[found.which], found, AGREE_PX)[0]


def _similarity(
    points: Array, found: Found, within_px: float
) -> tuple[NDArray[np.bool_], tuple[complex, complex] | None]:
    """Which patches one similarity of the picture moves, and factor and shift of it (RANSAC over pairs,
    Fischler and Bolles 1981; complex numbers as points)."""
    seen = found.alike
    best, move = np.zeros(len(points), bool), None
    which = np.flatnonzero(seen)
    if len(which) < 2:
        return best, move
    p, q = points @ [1, 1j], (points + found.off) @ [1, 1j]
    rng = np.random.default_rng(0)
    for i, j in rng.choice(which, (_TRIALS, 2)):
        if abs(p[i] - p[j]) < _APART:
            continue
        turn = (q[i] - q[j]) / (p[i] - p[j])
        if abs(turn - 1) > _TURN:
            continue
        shift = q[i] - turn * p[i]
        good = seen & (np.abs(turn * p + shift - q) < within_px)
        if good.sum() > best.sum():
            best, move = good, (complex(turn), complex(shift))
    return best, move


def edges(grey: Image) -> float:
    """Strength of the edges against the brightness that is there, for dimmer light does not count."""
    # softened first, or grain would count as edges
    fine = cv2.Laplacian(cv2.GaussianBlur(grey, (0, 0), 1.2), cv2.CV_32F)
    return math.sqrt(float(np.square(fine).mean())) / max(10.0, float(np.mean(grey))) + 1e-6


def _edges_of(places: list[Image]) -> Array:
    """The same for each of some patches, (N,), at once: one below the other."""
    if not places:
        return np.zeros(0)
    tall = np.vstack(places)
    fine = cv2.Laplacian(cv2.GaussianBlur(tall, (0, 0), 1.2), cv2.CV_32F)
    n = 2 * _HALF + 1
    # without the rows that touch a neighbour
    inner = np.asarray(fine).reshape(len(places), n, n)[:, 3:-3]
    level = tall.reshape(len(places), -1).mean(axis=1)
    return np.asarray(np.sqrt(np.square(inner).mean(axis=(1, 2))) / np.maximum(10.0, level) + 1e-6)


def _around(grey: Image, p: NDArray[np.int64], r: int) -> Image:
    x, y = int(p[0]), int(p[1])
    return grey[y - r : y + r + 1, x - r : x + r + 1]


def _clipped(grey: Image, p: NDArray[np.int64], r: int) -> tuple[Image, NDArray[np.int64]]:
    """The part of the picture within `r` of a point, and where it begins."""
    h, w = grey.shape
    x0, y0 = max(int(p[0]) - r, 0), max(int(p[1]) - r, 0)
    x1, y1 = min(int(p[0]) + r + 1, w), min(int(p[1]) + r + 1, h)
    return grey[y0 : max(y1, y0), x0 : max(x1, x0)], np.array([x0, y0])


def _halved(grey: Image) -> Image:
    h, w = (n // 2 * 2 for n in grey.shape)
    return np.asarray(cv2.resize(grey[:h, :w], (w // 2, h // 2), interpolation=cv2.INTER_AREA), np.uint8)


def _peak(row: NDArray[Any], i: int) -> float:
    """Where between pixels a parabola through three values peaks."""
    if not 0 < i < len(row) - 1:
        return 0.0
    a, b, c = (float(v) for v in row[i - 1 : i + 2])
    bend = a - 2 * b + c
    return 0.0 if abs(bend) < 1e-9 else max(-0.5, min(0.5, 0.5 * (a - c) / bend))
