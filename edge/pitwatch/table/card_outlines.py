"""Outlines of playing cards in a picture, to a tenth of a pixel or two.

In: a picture and about how many pixels a millimetre has. Out: the four corners of everything that looks like
a whole card; and the scale at which most of a picture's outlines could be cards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.vision.looks import CARD_MM

__all__ = ["all_outlines", "card_outlines", "guessed_scale"]

Array = NDArray[np.float64]
Image = NDArray[np.uint8]
# how far it strays from straight lines, its area, its corners
_Quad = tuple[float, float, Array]

_LEAST_SHARE = 0.25
_LEVELS = (70, 95, 120, 145, 170, 195, 220)
_SIDE = (0.14, 0.86)  # the part of a side that no rounded corner touches
_PLACES, _STEP = 48, 0.5  # profiles across a side, and px between their samples
_EDGE = 6.0  # grey levels a pixel; weaker edges are none


def card_outlines(image: Image, px_per_mm: float, least: float = _LEAST_SHARE) -> list[Array]:
    """Four corners (4, 2) px of everything bright with four straight sides and about a card's size.

    least: of its area; where the scale is well known, more keeps out the frames printed on court cards.

    The corners are those of the rectangle before its corners were rounded, in the order of the picture's
    clock.
    """
    found = _of_size(_quads(image, *_sizes(px_per_mm, least)), px_per_mm, least)
    paper = _paper(image)
    return [_exact(paper, corners) for corners in found]


def _sizes(px_per_mm: float, least: float = _LEAST_SHARE) -> tuple[float, float]:
    """From what area on, and up to which, a thing may be a card, px²; both excluded."""
    whole = CARD_MM[0] * CARD_MM[1] * px_per_mm**2
    return least * whole, 2.5 * whole


def _paper(image: Image) -> Image:
    """How bright each pixel is in its darkest colour: paper is bright in every one."""
    return np.asarray(cv2.GaussianBlur(image, (0, 0), 0.8).min(axis=2), np.uint8)


def _quads(image: Image, smallest: float, largest: float) -> list[_Quad]:
    """Everything bright with four straight sides: how far it strays from them, its area, its corners."""
    least = _paper(image)
    found, shortest = [], 2 * math.sqrt(smallest)
    for level in _LEVELS:
        contours, _ = cv2.findContours((least > level).astype(np.uint8), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
        for c in contours:
            # the shortest way around so large an area is longer
            if len(c) < shortest:
                continue
            area = cv2.contourArea(c)
            if smallest < area < largest and (quad := _quad(np.asarray(c, np.int32), area)) is not None:
                found.append((quad[0], area, quad[1]))
    return sorted(found, key=lambda q: q[0])


def _of_size(quads: list[_Quad], px_per_mm: float, least: float = _LEAST_SHARE) -> list[Array]:
    """Those of about a card's size, each once, by its straightest outline."""
    smallest, largest = _sizes(px_per_mm, least)
    kept: list[Array] = []
    for _, area, corners in quads:
        if not smallest < area < largest:
            continue
        centre, reach = corners.mean(axis=0), math.sqrt(cv2.contourArea(corners.astype(np.float32))) / 3
        if all(np.hypot(*(k.mean(axis=0) - centre)) > reach for k in kept):
            kept.append(corners)
    return kept


def _quad(contour: NDArray[np.int32], area: float) -> tuple[float, Array] | None:
    """How far a contour strays from four straight lines, px, and where these meet; None if it has others."""
    hull = cv2.convexHull(contour)
    if area < 0.94 * cv2.contourArea(hull):
        return None
    length = cv2.arcLength(hull, True)
    rough = next(
        (q for e in (0.02, 0.03, 0.045, 0.06) if len(q := cv2.approxPolyDP(hull, e * length, True)) == 4),
        None,
    )
    if rough is None:
        return None
    corners = rough.reshape(4, 2).astype(np.float64)
    points = contour.reshape(-1, 2).astype(np.float64)
    lines, strays = [], []
    for i in range(4):
        a, b = corners[i], corners[(i + 1) % 4]
        side = float(np.hypot(*(b - a)))
        along = ((points - a) @ (b - a)) / side**2
        away = np.abs((points - a) @ np.array([a[1] - b[1], b[0] - a[0]])) / side
        near = points[(along > 0.16) & (along < 0.84) & (away < 0.05 * side + 2)]
        if len(near) < 0.4 * side:
            return None
        vx, vy, x0, y0 = (
            float(v) for v in np.ravel(cv2.fitLine(near.astype(np.float32), cv2.DIST_HUBER, 0, 0.01, 0.01))
        )
        lines.append((vx, vy, x0, y0))
        strays.append(np.abs((near - (x0, y0)) @ np.array([-vy, vx])).mean())
    exact = [_meet(lines[i - 1], lines[i]) for i in range(4)]
    if any(p is None for p in exact):
        return None
    out = np.array(exact, dtype=np.float64)
    if np.hypot(*(out - corners).T).max() > 0.08 * length or max(strays) > 0.012 * length:
        return None
    sides = np.hypot(*(np.roll(out, -1, axis=0) - out).T)
    if sides.max() > 3.5 * sides.min():
        return None
    return float(np.mean(strays)) / length, out


def _exact(paper: Image, corners: Array) -> Array:
    """The corners (4, 2) px again, each side laid where the brightness falls most steeply.

    A contour runs along whole pixels at some level of grey, and is off by half a pixel or more.
    """
    for _ in range(2):
        lines = [_steepest(paper, corners[i], corners[(i + 1) % 4], corners.mean(axis=0)) for i in range(4)]
        moved = [_meet(lines[i - 1], lines[i]) for i in range(4)]
        if any(p is None for p in moved):
            break
        new = np.array(moved, dtype=np.float64)
        if np.hypot(*(new - corners).T).max() > 0.06 * math.sqrt(cv2.contourArea(corners.astype(np.float32))):
            break
        corners = new
    return corners


def _steepest(paper: Image, a: Array, b: Array, middle: Array) -> tuple[float, float, float, float]:
    """The line (direction, point) along which paper ends between two corners; the given one where it is not
    clear."""
    length = float(np.hypot(*(b - a)))
    along = (b - a) / length
    out = np.array([along[1], -along[0]])
    out *= math.copysign(1.0, float(out @ (a - middle)))
    reach = min(max(0.035 * length, 2.5), 6.0)
    depth = np.arange(-reach, reach + _STEP / 2, _STEP)
    at = a + np.linspace(*_SIDE, _PLACES)[:, None] * (b - a)
    xy = (at[:, None] + depth[:, None] * out).astype(np.float32)
    grey = cv2.remap(paper.astype(np.float32), xy[..., 0], xy[..., 1], cv2.INTER_LINEAR)
    falls = (grey[:, :-2] - grey[:, 2:]) / (2 * _STEP)
    best = falls[:, 1:-1].argmax(axis=1) + 1
    row = np.arange(_PLACES)
    before, peak, after = falls[row, best - 1], falls[row, best], falls[row, best + 1]
    bend = np.minimum(before - 2 * peak + after, -1e-6)
    off = depth[best + 1] + _STEP * np.clip(0.5 * (before - after) / bend, -1, 1)
    clear = peak > max(_EDGE, 0.4 * float(np.median(peak)))
    if clear.sum() < _PLACES / 2:
        return float(along[0]), float(along[1]), float(a[0]), float(a[1])
    points = (at + off[:, None] * out)[clear].astype(np.float32)
    vx, vy, x, y = (float(v) for v in np.ravel(cv2.fitLine(points, cv2.DIST_HUBER, 0, 0.01, 0.01)))
    return vx, vy, x, y


def _meet(p: tuple[float, ...], q: tuple[float, ...]) -> Array | None:
    A = np.array([[p[0], -q[0]], [p[1], -q[1]]])
    if abs(np.linalg.det(A)) < 0.15:
        return None
    s = np.linalg.solve(A, np.array([q[2] - p[2], q[3] - p[3]]))
    return np.array([p[2] + s[0] * p[0], p[3] + s[0] * p[1]])


def guessed_scale(*images: Image) -> float:
    """The scale, px/mm, at which most outlines in pictures could be cards; for when nobody knows it."""
    return _likely([_any_size(image) for image in images], images[0].shape[1])


def all_outlines(images: Sequence[Image]) -> list[Array]:
    """`card_outlines` of all pictures of one camera, at `guessed_scale`."""
    quads = [_any_size(image) for image in images]
    scale = _likely(quads, images[0].shape[1])
    out = []
    for image, found in zip(images, quads, strict=True):
        paper = _paper(image)
        out += [_exact(paper, corners) for corners in _of_size(found, scale)]
    return out


def _scales(width: int) -> list[float]:
    # a table is one to three metres wide and fills the picture
    return [float(s) for s in width / np.geomspace(3000.0, 500.0, 8)]


def _any_size(image: Image) -> list[_Quad]:
    scales = _scales(image.shape[1])
    return _quads(image, _sizes(scales[0])[0], _sizes(scales[-1])[1])


def _likely(quads: Sequence[list[_Quad]], width: int) -> float:
    return max(_scales(width), key=lambda s: sum(len(_of_size(found, s)) for found in quads))
