"""The outline of a stack: where it stands and how high it is, from the edges of the picture.

In: a frame and a rough base. Out: base and height in mm. The front half of the bottom chip's rim and the far
half of the top chip's rim are fitted at once; both are circles of known size in the camera's view.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.table.camera import Camera
from pitwatch.vision.looks import CHIP_MM, CHIP_PITCH_MM

__all__ = ["Outline", "count_likelihood", "fit_stack"]

Points = NDArray[np.float64]

_POINTS = 17  # a half rim
_STARTS = (1, 3, 6, 11, 18)  # chips, from which the fit begins
_STEP_PX = 0.5


class Outline(NamedTuple):
    """x, y: middle of the base, mm. height: mm. support: share of both rims that lies on an edge, 0 to 1."""

    x: float
    y: float
    height: float
    support: float


def fit_stack(image: NDArray[np.uint8], camera: Camera, x: float, y: float) -> Outline:
    """The best supported outline near a base at (x, y) mm."""
    scale = camera.px_per_mm(x, y)
    part, corner = _part(image, camera, x, y)
    if part is None:
        return Outline(x, y, CHIP_PITCH_MM, 0.0)
    best = Outline(x, y, CHIP_PITCH_MM, 0.0)
    for chips in _STARTS:
        fit = _fit(part, corner, camera, x, y, chips * CHIP_PITCH_MM, scale)
        if fit.support > best.support + 0.02:
            best = fit
    return best


def count_likelihood(outline: Outline) -> Points:
    """Log-likelihood of 0 to 25 chips (26,) given an outline: flat where the outline has little support.

    Its width follows from how the heights of stacks of known size scatter. A height of under a chip means
    that both rims of the uppermost chip were taken, which says little.
    """
    chips = outline.height / CHIP_PITCH_MM
    # below this, a printed circle or the grooves between chips pass for a rim
    if outline.support < 0.78:
        return np.zeros(26)
    sigma = 0.7 if chips >= 1.0 else 1.3
    away = np.minimum(np.abs(np.arange(26) - chips) / sigma, 3.5)
    return np.asarray(-0.5 * away**2)


def _part(
    image: NDArray[np.uint8], camera: Camera, x: float, y: float
) -> tuple[NDArray[np.float32] | None, Points]:
    """The piece of the frame that a stack here can reach, smoothed, and its corner in frame pixels."""
    r = CHIP_MM
    box = np.array([(x + sx * r, y + sy * r, z) for sx in (-1, 1) for sy in (-1, 1) for z in (0.0, 95.0)])
    px = camera.project(box)
    x0, y0 = np.maximum(np.floor(px.min(axis=0)).astype(int) - 4, 0)
    x1, y1 = np.ceil(px.max(axis=0)).astype(int) + 5
    part = image[y0:y1, x0:x1]
    if part.shape[0] < 12 or part.shape[1] < 12:
        return None, np.zeros(2)
    return cv2.GaussianBlur(part, (0, 0), 0.8).astype(np.float32), np.array([x0, y0], np.float64)


def _fit(
    part: NDArray[np.float32], corner: Points, camera: Camera, x: float, y: float, height: float, scale: float
) -> Outline:
    x0, y0 = x, y
    support = 0.0
    for reach_mm, keen in ((8.0, 3.0), (5.0, 2.0), (3.0, 1.2)):
        rim, J, n = _rims(camera, x, y, height)
        offsets = np.arange(-reach_mm * scale, reach_mm * scale + 0.01, _STEP_PX)
        if len(offsets) < 7:
            return Outline(x, y, height, 0.0)
        at = (rim - corner)[:, None] + n[:, None] * offsets[None, :, None]
        mx, my = (at[..., i].astype(np.float32) for i in (0, 1))
        colour = cv2.remap(part, mx, my, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        strength = np.abs(colour[:, 2:] - colour[:, :-2]).sum(axis=2)
        strength *= np.exp(-((offsets[1:-1] / (1.5 * reach_mm * scale)) ** 2))
        top = strength.max(axis=1)
        # the outermost clear edge: inside the outline there are grooves and edge spots as well
        k = strength.shape[1] - 1 - (strength >= 0.6 * top[:, None])[:, ::-1].argmax(axis=1)
        rows = np.arange(len(k))
        inner = np.maximum(k - 1, 0)
        k = np.where(strength[rows, inner] > strength[rows, k], inner, k)
        d = offsets[k + 1]
        seen = top > 24.0
        if seen.sum() < 12:
            return Outline(x, y, height, 0.0)
        step = np.zeros(3)
        for soft in (4 * keen, 2 * keen, keen):
            w = seen * np.clip(1 - ((d - J @ step) / (2.2 * soft)) ** 2, 0, 1) ** 2
            A = J.T @ (J * w[:, None]) + np.diag([1e-3, 1e-3, 1e-3])
            step = np.linalg.solve(A, J.T @ (w * d))
        x, y, height = x + step[0], y + step[1], float(np.clip(height + step[2], 1.5, 90.0))
        close = seen & (np.abs(d - J @ step) < 1.0)
        half = len(close) // 2
        # an outline stands on both rims
        support = float(min(close[:half].mean(), close[half:].mean()) * 0.5 + close.mean() * 0.5)
    if np.hypot(x - x0, y - y0) > 14.0:
        return Outline(x0, y0, height, 0.0)
    return Outline(float(x), float(y), height, support)


def _rims(camera: Camera, x: float, y: float, height: float) -> tuple[Points, Points, Points]:
    """Points (2 k, 2) of both half rims in pixels, how far a mm of x, y and height moves them along their
    normals (2 k, 3), and these outward normals (2 k, 2)."""
    c = camera.position_mm
    facing = float(np.arctan2(c[1] - y, c[0] - x))
    t = np.linspace(-1.25, 1.25, _POINTS)
    angles = np.concatenate([facing + t, facing + np.pi + t])
    z = np.concatenate([np.zeros(_POINTS), np.full(_POINTS, height)])
    ring = np.column_stack([np.cos(angles), np.sin(angles)]) * (CHIP_MM / 2)
    p = np.column_stack([x + ring[:, 0], y + ring[:, 1], z])
    e = 0.5
    moved = [p, *(p + axis * e for axis in np.eye(3))]
    along = np.column_stack([-np.sin(angles), np.cos(angles), np.zeros(len(angles))])
    px = camera.project(np.vstack([*moved, p + along * e])).reshape(5, -1, 2)
    tangent = px[4] - px[0]
    n = np.column_stack([tangent[:, 1], -tangent[:, 0]])
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    middle = camera.project([(x, y, height / 2)])[0]
    n *= np.sign((n * (px[0] - middle)).sum(axis=1))[:, None]
    J = np.column_stack([((px[i] - px[0]) * n).sum(axis=1) / e for i in (1, 2, 3)])
    J[:_POINTS, 2] = 0.0
    return px[0], J, n
