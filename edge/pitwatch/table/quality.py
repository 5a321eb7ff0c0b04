"""How good a picture is where cards and chips lie: focus, exposure and glare.

In: a picture and a convex outline in its pixels. Out: figures of the part inside. Grey levels are 0 to 255.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["Quality", "measure_quality"]

_EDGE = 18.0  # grey levels a pixel; weaker edges are grain
_FEWEST = 12  # pixels on edges, before they say how sharp a picture is
_CLIPPED = 250
_BLURRED_PX, _DARK, _BRIGHT, _GLARE = 1.4, 35.0, 225.0, 0.02


@dataclass(frozen=True)
class Quality:
    """blur_px: standard deviation of the blur of the sharpest edges, None without any edge. level: median
    brightness. glare: share of the place that is clipped to white in one piece."""

    blur_px: float | None
    level: float
    glare: float

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong, in a word or two each."""
        out = []
        if self.blur_px is not None and self.blur_px > _BLURRED_PX:
            out.append("out of focus")
        if self.level < _DARK:
            out.append("too dark")
        if self.level > _BRIGHT:
            out.append("too bright")
        if self.glare > _GLARE:
            out.append("clipped white")
        return tuple(out)


def measure_quality(image: NDArray[np.uint8], outline: NDArray[np.float64]) -> Quality | None:
    """The figures inside an outline (N, 2) px; None where it lies outside the picture."""
    h, w = image.shape[:2]
    x0, y0 = np.maximum(np.floor(outline.min(axis=0)).astype(int), 0)
    x1, y1 = np.minimum(np.ceil(outline.max(axis=0)).astype(int) + 1, (w, h))
    if x1 - x0 < 8 or y1 - y0 < 8:
        return None
    part = image[y0:y1, x0:x1]
    mask = np.zeros(part.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.round(outline - (x0, y0)).astype(np.int32), 1)
    inside = mask.astype(bool)
    grey = np.asarray(cv2.cvtColor(part, cv2.COLOR_BGR2GRAY), np.uint8)
    return Quality(_blur(grey, inside), float(np.median(grey[inside])), _glare(part, inside))


def _blur(grey: NDArray[np.uint8], inside: NDArray[np.bool_]) -> float | None:
    """Blur of the sharpest edges from how much they lose by a known further blur (Zhuo and Sim 2011)."""
    base = np.asarray(cv2.GaussianBlur(grey, (0, 0), 0.6), np.float32)
    again = np.asarray(cv2.GaussianBlur(base, (0, 0), 1.0), np.float32)
    before, after = _slope(base), _slope(again)
    # only crests: beside them the slope of a blurred edge is no measure
    crest = (before >= cv2.dilate(before, np.ones((3, 3)))) & (before > _EDGE) & inside
    if crest.sum() < _FEWEST:
        return None
    ratio = np.clip(after[crest] / before[crest], 0.05, 0.995)
    sigma = ratio / np.sqrt(1 - ratio**2)
    own = np.sqrt(np.maximum(sigma**2 - 0.36, 0.0))
    return float(np.percentile(own, 25))


def _slope(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    gx, gy = (cv2.Sobel(grey, cv2.CV_32F, *d, ksize=3, scale=1 / 8) for d in ((1, 0), (0, 1)))
    return np.asarray(cv2.magnitude(gx, gy), np.float32)


def _glare(part: NDArray[np.uint8], inside: NDArray[np.bool_]) -> float:
    """The largest clipped piece's share of the place."""
    clipped = ((part.min(axis=2) >= _CLIPPED) & inside).astype(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(clipped)
    sizes = np.asarray(stats)[1:, cv2.CC_STAT_AREA]
    return float(sizes.max(initial=0) / max(1, int(inside.sum())))
