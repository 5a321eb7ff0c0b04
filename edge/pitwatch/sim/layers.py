"""Pictures laid over pictures: sprites, shadows, and coarse fields of light brought to every pixel.

In and out: BGR uint8 pictures, changed in place, and grids of numbers.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["SHADOW_MARGIN", "darken", "over", "shadow_texture", "upsample"]

SHADOW_MARGIN = 14.0  # mm, of the texture, all round the card
_SHADOWS: dict[float, NDArray[Any]] = {}

Image8 = NDArray[Any]
Points = NDArray[np.float64]


def over(part: Image8, sprite: Image8, gain: Points | None) -> None:
    """Lay a premultiplied BGRA sprite over a picture of the same size, in place."""
    alpha = cv2.cvtColor(255 - sprite[..., 3], cv2.COLOR_GRAY2BGR)
    rgb = sprite[..., :3]
    if gain is not None:
        rgb = cv2.multiply(rgb, np.array([*gain, 1.0]))
    part[:] = cv2.add(cv2.multiply(part, alpha, scale=1 / 255), rgb)


def darken(part: Image8, mask: Image8, strength: float) -> None:
    """Darken a picture where `mask` (0 to 255) says so, by at most `strength` (0 to 1), in place."""
    keep = 255 - cv2.convertScaleAbs(mask, alpha=strength)
    part[:] = cv2.multiply(part, cv2.cvtColor(keep, cv2.COLOR_GRAY2BGR), scale=1 / 255)


def upsample(grid: NDArray[Any], step: int, w: int, h: int) -> NDArray[Any]:
    """Block values with one block too many on each side to values for every pixel, linear between."""
    size = (grid.shape[1] * step, grid.shape[0] * step)
    full = cv2.resize(grid.astype(np.float32), size, interpolation=cv2.INTER_LINEAR)
    return np.ascontiguousarray(full[step : step + h, step : step + w], np.float32)


def shadow_texture(sigma: float) -> NDArray[Any]:
    """A card's blurred shadow with its margin, 1 px/mm, 0 to 255."""
    if sigma not in _SHADOWS:
        m = round(SHADOW_MARGIN)
        im = np.zeros((88 + 2 * m, 63 + 2 * m), np.uint8)
        im[m : m + 88, m : m + 63] = 255
        _SHADOWS[sigma] = cv2.GaussianBlur(im, (0, 0), sigma)
    return _SHADOWS[sigma]
