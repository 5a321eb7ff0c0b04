"""The circles that are printed on the felt, found in the rectified picture.

In: a picture and its calibration. Out: circles in mm in the table frame. A circle is fitted to points of its
print carried down to the felt, never to the ellipse that it makes in the picture: an ellipse's centre is not
where the circle's is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.table.camera import Camera

__all__ = ["Printed", "find_circles", "line_radius", "rectified"]

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

_X0, _Y0, _X1, _Y1 = -950.0, -50.0, 950.0, 1100.0  # the felt, mm; one px/mm
_RADII = (28, 80)  # mm
_REACH, _STEP = 9.0, 0.25  # mm beyond and inside the circle that is looked at
_ANGLES = 96
_SLOPE = 2.0  # grey levels a step, least
_STRAY = 1.5  # mm
_BAND = 45  # mm between the lines of one band
_ROUND = 0.5  # share of the directions in which a circle must show


@dataclass(frozen=True)
class Printed:
    """A printed circle. x, y, r: mm. share: of the directions in which it shows. rms_mm: how far its print
    strays."""

    x: float
    y: float
    r: float
    share: float
    rms_mm: float


def rectified(image: Image, camera: Camera) -> tuple[Image, Array]:
    """The felt from straight above, 1 px/mm, x to the right and y up, and the (3, 3) from mm to its pixels.

    What the camera does not see is black.
    """
    xs, ys = np.meshgrid(np.arange(_X0, _X1), np.arange(_Y1, _Y0, -1))
    points = np.column_stack([xs.ravel(), ys.ravel(), np.zeros(xs.size)])
    px = np.full((len(points), 2), -1.0)
    before = points @ camera.R[2] + camera.t_mm[2] > 1
    px[before] = camera.project(points[before])
    maps = px.reshape(*xs.shape, 2).astype(np.float32)
    out = cv2.remap(image, maps[..., 0], maps[..., 1], cv2.INTER_LINEAR, borderValue=(0, 0, 0))
    return np.asarray(out, np.uint8), np.array([[1, 0, -_X0], [0, -1, _Y1], [0, 0, 1.0]])


def find_circles(image: Image, camera: Camera) -> list[Printed]:
    """Printed circles of a betting spot's size, the roundest first; of concentric ones the roundest."""
    flat, _ = rectified(image, camera)
    rough: list[tuple[float, float, float]] = []
    for channel in cv2.split(cv2.GaussianBlur(flat, (0, 0), 1.2)):
        found = cv2.HoughCircles(
            channel,
            cv2.HOUGH_GRADIENT_ALT,
            dp=1.5,
            minDist=10,
            param1=120,
            param2=0.7,
            minRadius=_RADII[0],
            maxRadius=_RADII[1],
        )
        if found is not None:
            rough += [
                (_X0 + c[0], _Y1 - c[1], c[2]) for c in np.reshape(found, (-1, np.shape(found)[-1]))[:200]
            ]
    kept: list[Printed] = []
    tried: list[tuple[float, float, float]] = []
    for x, y, r in rough:
        if any(math.hypot(x - a, y - b) < 4 and abs(r - c) < 4 for a, b, c in tried):
            continue
        tried.append((x, y, r))
        circle = _exact(image, camera, x, y, r)
        if circle is not None:
            kept.append(circle)
    kept.sort(key=lambda c: (-round(c.share, 1), c.rms_mm))
    out: list[Printed] = []
    for c in kept:
        if all(math.hypot(c.x - o.x, c.y - o.y) > 20 for o in out):
            out.append(c)
    return out


def _exact(image: Image, camera: Camera, x: float, y: float, r: float) -> Printed | None:
    """The circle's print near a rough one, fitted on the felt; None when it is none."""
    share, rms = 0.0, 0.0
    for _ in range(3):
        points = _print_at(image, camera, x, y, r)
        if points is None or len(points) < _ROUND * _ANGLES:
            return None
        fit = _circle(points)
        if fit is None:
            return None
        x, y, r, good = fit
        share = len(good) / _ANGLES
        rms = float(np.sqrt(((np.hypot(*(good - (x, y)).T) - r) ** 2).mean()))
        # all around, not an arc of a larger curve
        angles = np.sort(np.arctan2(*(good - (x, y)).T))
        gap = float(np.diff(np.append(angles, angles[0] + 2 * math.pi)).max())
        if share < _ROUND or gap > math.radians(130) or not _RADII[0] - 5 < r < _RADII[1] + 5:
            return None
    return Printed(float(x), float(y), float(r), share, rms)


def _print_at(image: Image, camera: Camera, x: float, y: float, r: float) -> Array | None:
    """Where the print lies on each ray from the middle, (N, 2) mm; None when the circle is out of view."""
    angles = np.linspace(0, 2 * math.pi, _ANGLES, endpoint=False)
    along = np.arange(r - _REACH, r + _REACH + _STEP / 2, _STEP)
    rays = np.column_stack([np.cos(angles), np.sin(angles)])
    at = (x, y) + rays[:, None, :] * along[None, :, None]
    px = camera.project(at.reshape(-1, 2)).reshape(_ANGLES, len(along), 2).astype(np.float32)
    if px.min() < 1 or (px.max(axis=(0, 1)) > np.array([camera.width, camera.height]) - 2).any():
        return None
    seen = cv2.remap(image, px[..., 0], px[..., 1], cv2.INTER_LINEAR).astype(np.float64)
    # both edges of a line count alike, so that the middle of their slopes is the line's middle
    slope = np.abs(np.gradient(cv2.GaussianBlur(seen, (9, 1), 2.0, sigmaY=0.1), axis=1)).sum(axis=2)
    slope = np.maximum(slope - np.median(slope, axis=1, keepdims=True) - 0.25 * slope.max(axis=1)[:, None], 0)
    weight = slope.sum(axis=1)
    clear = slope.max(axis=1) > _SLOPE
    middle = (slope * along).sum(axis=1) / np.maximum(weight, 1e-9)
    return np.asarray((x, y) + rays[clear] * middle[clear, None])


def _circle(points: Array) -> tuple[float, float, float, Array] | None:
    """Least squares (Kasa 1976) over what stays within a stray of the rest; and those points."""
    good = points
    x = y = r = 0.0
    for limit in (4.0, 2.0, _STRAY):
        A = np.column_stack([2 * good, np.ones(len(good))])
        solution, *_ = np.linalg.lstsq(A, (good**2).sum(axis=1), rcond=None)
        x, y = float(solution[0]), float(solution[1])
        r = math.sqrt(max(float(solution[2]) + x * x + y * y, 0.0))
        good = points[np.abs(np.hypot(*(points - (x, y)).T) - r) < limit]
        if len(good) < 12:
            return None
    return x, y, r, good


def line_radius(
    image: Image,
    camera: Camera,
    middle: tuple[float, float],
    radii: tuple[float, float],
    span: tuple[float, float],
) -> float | None:
    """The arc printed about `middle` between two radii, mm, of a double line its middle; None without any.

    span: angles looked at, radians.
    """
    flat, to_px = rectified(image, camera)
    along = np.arange(radii[0], radii[1], 1.0)
    angles = np.linspace(*span, 240)
    x = middle[0] + along[:, None] * np.cos(angles)
    y = middle[1] + along[:, None] * np.sin(angles)
    maps = (x + to_px[0, 2]).astype(np.float32), (to_px[1, 2] - y).astype(np.float32)
    seen = cv2.remap(flat, *maps, cv2.INTER_LINEAR).astype(np.float64).sum(axis=2)
    # a line is brighter or darker than both its sides, all along
    ridge = np.zeros(seen.shape)
    ridge[6:-6] = seen[6:-6] - (seen[:-12] + seen[12:]) / 2
    strength = np.abs(np.median(cv2.blur(ridge, (1, 3)), axis=1))
    if strength.max() < 25:
        return None
    peaks = [
        i
        for i in range(6, len(along) - 6)
        if strength[i] > 0.6 * strength.max() and strength[i] == strength[i - 5 : i + 6].max()
    ]
    return float(np.mean([along[i] for i in peaks if i - peaks[0] < _BAND])) if peaks else None
