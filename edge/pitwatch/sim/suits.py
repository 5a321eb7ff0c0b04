"""The four suits as shapes: drawn by the project itself, or as a type face prints them.

In: a suit, a size in pixels, and which shape. Out: masks from 0 to 1.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from pitwatch.sim.typefaces import typeface

__all__ = ["prints_suits", "suit_mask"]

_GLYPHS = {"c": "\u2663", "d": "\u2666", "h": "\u2665", "s": "\u2660"}
_EM = 200


@lru_cache(maxsize=1024)
def _printed(font: str, suit: str) -> Image.Image:
    """A type face's suit, cut out; white on black. Raises OSError when the font cannot be drawn."""
    face = typeface(font, _EM)
    x0, y0, x1, y1 = (int(v) for v in face.getbbox(_GLYPHS[suit]))
    im = Image.new("L", (max(1, x1 - x0), max(1, y1 - y0)), 0)
    ImageDraw.Draw(im).text((-x0, -y0), _GLYPHS[suit], fill=255, font=face)
    return im


@lru_cache(maxsize=1024)
def prints_suits(font: str) -> bool:
    """Whether a type face has all four suits, filled, and each in its own place."""
    try:
        seen = {s: _printed(font, s) for s in _GLYPHS}
    except (OSError, ValueError):
        return False
    if any(min(im.size) < 0.25 * _EM for im in seen.values()):
        return False
    shapes = {s: np.asarray(im.resize((32, 32)), np.float32) / 255 for s, im in seen.items()}
    if len({im.tobytes() for im in shapes.values()}) < 4 or min(im.mean() for im in shapes.values()) < 0.33:
        return False
    # a heart narrows downward and a diamond from its middle; a spade's upper third is a tip, a club's a lobe
    upper = {s: float(im[6:9].mean()) for s, im in shapes.items()}
    return upper["h"] > 0.6 and shapes["d"][14:18].mean() > 0.7 and upper["s"] < upper["c"]


@lru_cache(maxsize=2048)
def suit_mask(suit: str, width: int, height: int, shape: int | str) -> NDArray[Any]:
    """A suit's outline ("c", "d", "h" or "s"), antialiased, (height, width) float32 from 0 to 1.

    shape: a number that varies the proportions of the drawn one, or the path of a type face that has it.
    """
    if isinstance(shape, str):
        return (
            np.asarray(_printed(shape, suit).resize((width, height), Image.Resampling.BOX), np.float32) / 255
        )
    rng = np.random.default_rng(shape * 7 + "cdhs".index(suit))
    n = 256
    im = np.zeros((n, n), np.uint8)
    t = np.linspace(0, 2 * np.pi, 80)

    def fill(points: NDArray[np.float64]) -> None:
        cv2.fillPoly(im, [np.round(points * n).astype(np.int32)], 255)

    def leaf(top: float, bottom: float) -> NDArray[np.float64]:
        """A spade's leaf, point upward: from slender with a hollow tip to round with full lobes."""
        hw, sy = rng.uniform(0.4, 0.49), rng.uniform(0.5, 0.68)
        tip, lobe, notch = rng.uniform(-0.02, 0.12), rng.uniform(0.9, 1.0), rng.uniform(0.5, 0.9)
        parts = [
            ((0, 0), (tip, rng.uniform(0.12, 0.32)), (hw, sy - rng.uniform(0.12, 0.34)), (hw, sy)),
            ((hw, sy), (hw, sy + (lobe - sy) * 0.6), (hw * 0.8, lobe), (hw * 0.5, lobe)),
            ((hw * 0.5, lobe), (hw * 0.25, lobe), (0.05, notch + 0.03), (0, notch)),
        ]
        s = np.linspace(0, 1, 16)[:, None]
        right = np.vstack(
            [
                (1 - s) ** 3 * a + 3 * s * (1 - s) ** 2 * b + 3 * s**2 * (1 - s) * c + s**3 * d
                for a, b, c, d in (np.array(q, float) for q in parts)
            ]
        )
        outline = np.vstack([right, right[::-1] * [-1, 1]])
        return np.column_stack([0.5 + outline[:, 0], top + outline[:, 1] * (bottom - top)])

    def heart(top: float, bottom: float, tip: int) -> NDArray[np.float64]:
        if rng.random() < 0.6:
            shape = leaf(0.0, 1.0)
            y = shape[:, 1] if tip > 0 else 1 - shape[:, 1]
            return np.column_stack([shape[:, 0], top + y * (bottom - top)])
        x = 16 * np.sin(t) ** 3
        y = 13 * np.cos(t) - (5 + rng.uniform(-0.8, 0.8)) * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)
        y = (y - y.min()) / (y.max() - y.min())
        y = y if tip < 0 else 1 - y
        return np.column_stack([0.5 + x / 33, top + (1 - y) * (bottom - top)])

    stem_w = rng.uniform(0.05, 0.24)
    waist, knee = rng.uniform(0.012, 0.05), rng.uniform(0.68, 0.94)
    # a stem keeps thin to its knee and flares below: between it and the lobes the paper shows
    half = np.array([[waist, 0.5], [waist * 1.2, knee], [stem_w, 0.985]])
    stem = np.vstack([half, half[::-1] * [-1, 1]])
    stem[:, 0] += 0.5
    if suit == "h":
        fill(heart(0.02, 0.98, -1))
    elif suit == "d":
        bulge = rng.uniform(-0.1, 0.02)
        a = np.array([[0.5, 0.01], [0.95, 0.5], [0.5, 0.99], [0.05, 0.5]])
        points = []
        for i in range(4):
            p, q = a[i], a[(i + 1) % 4]
            mid = (p + q) / 2 + (np.array([0.5, 0.5]) - (p + q) / 2) * -bulge * 2
            points += [(1 - s) ** 2 * p + 2 * s * (1 - s) * mid + s**2 * q for s in np.linspace(0, 1, 12)]
        fill(np.array(points))
    elif suit == "s":
        fill(heart(0.02, rng.uniform(0.76, 0.88), 1))
        fill(stem)
    else:
        r = rng.uniform(0.18, 0.25)
        circle = np.column_stack([np.cos(t), np.sin(t)]) * r
        low = rng.uniform(0.52, 0.64)
        for c in ((0.5, r + 0.02), (r + 0.03, low), (0.97 - r, low)):
            fill(circle + np.array(c))
        fill(np.array([[0.44, 0.36], [0.56, 0.36], [0.55, 0.66], [0.45, 0.66]]))
        fill(stem)
    out = cv2.resize(im, (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(out, np.float32) / 255
