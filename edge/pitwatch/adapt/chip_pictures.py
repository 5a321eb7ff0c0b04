"""What a chip looks like, from one picture of it seen from above.

In: a BGR picture of one chip on a plain ground. Out: its colours, its edge spots, and its top flattened.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError

__all__ = ["ChipSeen", "chip_seen"]

Image = NDArray[np.uint8]
Colour = tuple[int, int, int]

_N = 192  # px across the flattened chip
_APART = 22.0  # CIE Lab; colours nearer than this are one
_LEAST_PX = 40


@dataclass(frozen=True)
class ChipSeen:
    """body, spot: BGR. spots: edge spots around, 0 when the edge is plain. spot_share: of the edge that they
    take. top: the chip from above, (192, 192, 3) BGR."""

    body: Colour
    spot: Colour
    spots: int
    spot_share: float
    top: Image


def chip_seen(image: Image, name: str) -> ChipSeen:
    """Measure the chip in a picture. Raises UserError naming the picture when it shows no round chip."""
    top = _flattened(image, name)
    lab = np.asarray(cv2.cvtColor(top.astype(np.float32) / 255, cv2.COLOR_BGR2Lab), np.float32)
    rim = _ring(lab, 0.80, 0.93)
    centres, which = _two_colours(rim)
    if np.linalg.norm(centres[0] - centres[1]) < _APART:
        body = _bgr(np.median(rim, axis=0))
        return ChipSeen(body, body, 0, 0.0, top)
    # within the spots the chip is of its body's colour
    within = np.median(_ring(lab, 0.64, 0.74), axis=0)
    b = int(np.argmin(np.linalg.norm(centres - within, axis=1)))
    share = float((which != b).mean())
    if share > 0.62:
        b, share = 1 - b, 1 - share
    return ChipSeen(_bgr(centres[b]), _bgr(centres[1 - b]), _runs(which != b), share, top)


def _flattened(image: Image, name: str) -> Image:
    h, w = image.shape[:2]
    k = min(1.0, 800.0 / max(h, w))
    small = cv2.resize(image, None, fx=k, fy=k, interpolation=cv2.INTER_AREA) if k < 1 else image
    lab = cv2.cvtColor(small.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    edge = np.concatenate([lab[:6].reshape(-1, 3), lab[-6:].reshape(-1, 3), lab[:, :6].reshape(-1, 3)])
    ground = np.median(edge, axis=0)
    off = (np.linalg.norm(lab - ground, axis=2) > _APART / 2).astype(np.uint8)
    off = cv2.morphologyEx(off, cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))
    contours, _ = cv2.findContours(off, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    by_area = sorted(contours, key=cv2.contourArea, reverse=True)
    best = by_area[0] if by_area else None
    sentence = f"{name} shows no single round chip; lay one chip on a plain ground and take it from above"
    if best is None or len(best) < 20:
        raise UserError(sentence)
    if len(by_area) > 1 and cv2.contourArea(by_area[1]) > 0.2 * cv2.contourArea(best):
        raise UserError(sentence)
    hull = cv2.convexHull(best)
    (cx, cy), (a, b), angle = cv2.fitEllipse(hull if len(hull) >= 5 else best)
    area = float(np.pi * a * b / 4)
    if min(a, b) < _LEAST_PX or min(a, b) < 0.6 * max(a, b):
        raise UserError(sentence)
    if abs(cv2.contourArea(hull) / area - 1) > 0.08:
        raise UserError(sentence)
    turn = np.radians(angle)
    axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    src = np.array([[cx, cy], (cx, cy) + axes[0] * a / 2, (cx, cy) + axes[1] * b / 2], np.float32)
    c = (_N - 1) / 2
    # back to the picture's own direction, so that lettering stands as it stood
    dst = np.array([[c, c], c + axes[0] * _N / 2, c + axes[1] * _N / 2], np.float32)
    flat = cv2.warpAffine(small, cv2.getAffineTransform(src, dst), (_N, _N), flags=cv2.INTER_AREA)
    return np.asarray(flat, np.uint8)


def _ring(lab: NDArray[np.float32], inner: float, outer: float) -> NDArray[np.float64]:
    """Mean colours (360, 3) between two radii, by degree."""
    a = np.radians(np.arange(360.0))[:, None]
    r = np.linspace(inner, outer, 7)[None] * _N / 2
    c = (_N - 1) / 2
    x, y = (c + r * np.cos(a)).astype(np.float32), (c + r * np.sin(a)).astype(np.float32)
    return np.asarray(cv2.remap(lab, x, y, cv2.INTER_LINEAR).mean(axis=1), np.float64)


def _two_colours(rim: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    _, labels, centres = cv2.kmeans(
        rim.astype(np.float32),
        2,
        np.zeros((len(rim), 1), np.int32),
        (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 40, 0.1),
        4,
        cv2.KMEANS_PP_CENTERS,
    )
    return np.asarray(centres, np.float64), np.asarray(labels, np.int64).ravel()


def _runs(on: NDArray[np.bool_]) -> int:
    """How many spots there are around the edge."""
    wide = np.concatenate([on[-4:], on, on[:4]]).astype(np.float64)
    smooth = np.convolve(wide, np.ones(9) / 9, "valid") > 0.5
    return int((smooth & ~np.roll(smooth, 1)).sum())


def _bgr(lab: NDArray[np.float64]) -> Colour:
    v = cv2.cvtColor(np.asarray(lab, np.float32).reshape(1, 1, 3), cv2.COLOR_Lab2BGR).ravel() * 255
    b, g, r = (round(float(c)) for c in np.clip(v, 0, 255))
    return b, g, r
