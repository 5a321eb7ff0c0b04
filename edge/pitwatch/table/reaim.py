"""Where a camera stands now, from where it sees print that was somewhere else when it was calibrated.

In: the calibrated camera, places on the felt in mm, and pixels at which they are seen now. Out: the camera
after the small turn and shift of its mount that explains them best, and how well it does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.table.camera import Camera

__all__ = ["Reaimed", "reaimed"]

Array = NDArray[np.float64]

# what a bump does to a mount: it turns, and hardly shifts; one standard deviation
_TURN, _SHIFT_MM = 0.05, 6.0
_ROUNDS = 5


@dataclass(frozen=True)
class Reaimed:
    """camera: as it stands now. rms_px: of the places it rests on, in its own pixels."""

    camera: Camera
    rms_px: float


def reaimed(base: Camera, mm: Array, px: Array, sigma_px: float) -> Reaimed:
    """Fit a small turn and shift of `base` to places (N, 2) mm seen at (N, 2) px, N >= 3.

    sigma_px: how exactly they are seen. Places that went astray count little (iterated reweighted least
    squares); a shift counts as unlikely beside a turn, so that few places do not invent one.
    """
    prior = np.array([_TURN] * 3 + [_SHIFT_MM] * 3)
    x = np.zeros(6)
    step = np.array([1e-4] * 3 + [1e-1] * 3)
    for _ in range(_ROUNDS):
        camera = _moved(base, x)
        seen = camera.project(mm)
        off = px - seen
        size = np.hypot(*off.T) / sigma_px
        weight = np.repeat(1 / np.sqrt(1 + (size / 3) ** 2), 2) / sigma_px
        J = np.column_stack(
            [
                (_moved(base, x + s * e).project(mm) - seen).ravel() / s
                for s, e in zip(step, np.eye(6), strict=True)
            ]
        )
        A = np.vstack([J * weight[:, None], np.diag(1 / prior)])
        b = np.concatenate([off.ravel() * weight, -x / prior])
        x = x + np.linalg.lstsq(A, b, rcond=None)[0]
    camera = _moved(base, x)
    off = np.hypot(*(px - camera.project(mm)).T)
    return Reaimed(camera, float(np.sqrt((off**2).mean())))


def _moved(camera: Camera, x: Array) -> Camera:
    """The camera after a turn (rotation vector) and a shift in mm, both in its own axes."""
    dR = np.asarray(cv2.Rodrigues(x[:3])[0], np.float64)
    return replace(camera, R=dR @ camera.R, t_mm=dR @ camera.t_mm + x[3:])
