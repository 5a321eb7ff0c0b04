"""Light over the table and what a camera does to a picture: gains, falloff, blur, noise, compression.

Units: mm on the felt, degrees, pixels; gains are factors a channel (B, G, R).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["Lens", "Light", "random_lens", "random_light", "spoil"]

Image8 = NDArray[Any]

_BOUNCE_MM = 25.0  # height at which what comes off the felt is down to a third
_UNDER = 0.5  # of what falls on an upright edge falls on one that looks down
_MID_GREY = 128.0  # a felt as bright as this gives back as much as it takes away


@dataclass(frozen=True)
class Light:
    """azimuth: where the main lamp stands, degrees from +x. slope: mm of shadow a mm of height.
    shadow: darkest, 0 to 1. soft: blur of a shadow, mm a mm of height. gain: colour cast and exposure.
    bright_x, bright_y: the middle of the bright pool, mm; falloff: loss at a metre from it. edge: blur of a
    shadow where it begins, mm. second: share of the shadow that another lamp throws, from the other side.
    contact: width of the dark seam around what stands on the felt, mm. Of what falls on a face, upright edges
    get the share `side`, and `lit` more towards the lamp; `bounce` of that comes off the felt, in its colour,
    and `sunk` of it does not reach the felt itself, a third of that `nook` mm above it."""

    azimuth: float = 70.0
    slope: float = 0.45
    shadow: float = 0.35
    soft: float = 0.25
    gain: tuple[float, float, float] = (1.0, 1.0, 1.0)
    bright_x: float = 0.0
    bright_y: float = 350.0
    falloff: float = 0.25
    edge: float = 1.5
    second: float = 0.0
    contact: float = 0.0
    side: float = 0.62
    lit: float = 0.3
    bounce: float = 0.0
    sunk: float = 0.0
    nook: float = 3.4

    def gain_at(self, x: float, y: float) -> NDArray[np.float64]:
        """(3,) factors for something at a felt point."""
        d2 = ((x - self.bright_x) ** 2 + (y - self.bright_y) ** 2) / 1e6
        return np.asarray(self.gain) * (1 - self.falloff * min(d2, 2.0))

    def on_edges(
        self, towards: NDArray[np.float64], z: float, felt: NDArray[np.float64], slope: int = 0
    ) -> NDArray[np.float64]:
        """(N, 3) factors for edges that face `towards` (N,) radians, `z` mm above a felt that is itself of
        the colour `felt` (3,), BGR, 0 to 255. slope: 0 for upright ones, -1 where they look down, 1 up."""
        share = self.side + self.lit * np.clip(np.cos(towards - np.radians(self.azimuth)), -0.3, 1)
        share *= 1 - self.sunk * np.exp(-z / self.nook)
        if slope:
            share = (share + 1.0) / 2 if slope > 0 else share * _UNDER
        bounce = self.bounce * np.exp(-z / _BOUNCE_MM)
        return np.asarray(share[:, None] * (1 - bounce + bounce * felt / _MID_GREY))

    @property
    def drift(self) -> tuple[float, float]:
        """Where a point at height 1 mm throws its shadow, mm."""
        a = np.radians(self.azimuth)
        return -float(np.cos(a)) * self.slope, -float(np.sin(a)) * self.slope


@dataclass(frozen=True)
class Lens:
    """blur: sigma, pixels. noise: sigma, grey levels. jpeg: quality, or None. contrast, sharpen: factors.
    motion: length of a motion blur, pixels; its direction, degrees."""

    blur: float = 0.6
    noise: float = 2.0
    jpeg: int | None = None
    contrast: float = 1.0
    sharpen: float = 0.0
    motion: float = 0.0
    direction: float = 0.0


def random_light(rng: np.random.Generator) -> Light:
    """A lamp anywhere, a cast of any colour, from dim to nearly blown out."""
    u = rng.uniform
    exposure = u(0.55, 1.25)
    warm = u(-0.16, 0.22)
    green = u(-0.05, 0.06)
    return Light(
        azimuth=float(u(0, 360)),
        slope=float(u(0.0, 1.1)),
        shadow=float(u(0.1, 0.6)),
        soft=float(u(0.05, 0.5)),
        gain=(
            float(exposure * (1 - warm)),
            float(exposure * (1 + green)),
            float(exposure * (1 + warm * 0.6)),
        ),
        bright_x=float(u(-600, 600)),
        bright_y=float(u(-100, 900)),
        falloff=float(u(0, 0.5)),
        edge=float(u(0.15, 2.0)),
        second=float(u(0.3, 1.0) if rng.random() < 0.4 else 0.0),
        contact=float(u(0.3, 3.0) if rng.random() < 0.7 else 0.0),
        side=float(u(0.25, 0.95)),
        lit=float(u(0.0, 0.45)),
        bounce=float(u(0.0, 0.6) if rng.random() < 0.7 else 0.0),
        sunk=float(u(0.0, 0.85) if rng.random() < 0.75 else 0.0),
        nook=float(u(1.0, 7.0)),
    )


def random_lens(rng: np.random.Generator) -> Lens:
    """From a sharp, clean sensor to a cheap, dark, badly focused one."""
    u = rng.uniform
    bad = rng.random()
    return Lens(
        blur=float(u(0.2, 0.8) if bad < 0.7 else u(0.6, 1.5)),
        noise=float(abs(rng.normal(0, 3)) if bad < 0.8 else u(3, 12)),
        jpeg=int(rng.integers(40, 97)) if rng.random() < 0.7 else None,
        contrast=float(u(0.8, 1.2)),
        sharpen=float(u(0, 1.2) if rng.random() < 0.35 else 0.0),
        motion=float(u(1, 4) if rng.random() < 0.06 else 0.0),
        direction=float(u(0, 180)),
    )


_TILE = 1024
_TILES: dict[int, NDArray[Any]] = {}


def _grain(sigma: float, h: int, w: int, rng: np.random.Generator) -> NDArray[Any]:
    """Noise (h, w, 3), cut at random from tiles that are drawn once: noise is dear at 15 frames a second."""
    step = max(1, round(sigma * 2))
    if step not in _TILES:
        tile = np.random.default_rng(step).normal(0, step / 2, (_TILE, _TILE, 3))
        _TILES[step] = np.round(tile).astype(np.int16)
    y, x = (int(rng.integers(max(1, _TILE - n + 1))) for n in (h, w))
    rows = (np.arange(h) + y) % _TILE
    tile = _TILES[step]
    if h + y <= _TILE and w + x <= _TILE:
        return tile[y : y + h, x : x + w]
    wide = np.concatenate([tile[:, x:]] + [tile] * (w // _TILE + 1), axis=1)[:, :w]
    return wide[rows]


def spoil(image: Image8, lens: Lens, rng: np.random.Generator) -> Image8:
    """The picture as the sensor and the encoder leave it; same shape."""
    out = image
    if lens.motion > 1:
        n = int(lens.motion) * 2 + 1
        kernel = np.zeros((n, n), np.float32)
        a = np.radians(lens.direction)
        v = np.array([np.cos(a), np.sin(a)]) * lens.motion / 2
        c = n // 2
        cv2.line(
            kernel, tuple(np.int32(np.round(c - v))), tuple(np.int32(np.round(c + v))), 1.0, 1, cv2.LINE_AA
        )
        out = cv2.filter2D(out, -1, kernel / kernel.sum())
    if lens.blur > 0.25:
        out = cv2.GaussianBlur(out, (0, 0), lens.blur)
    if lens.sharpen > 0:
        soft = cv2.GaussianBlur(out, (0, 0), 1.0)
        out = cv2.addWeighted(out, 1 + lens.sharpen, soft, -lens.sharpen, 0)
    if lens.contrast != 1.0:
        out = cv2.convertScaleAbs(out, alpha=lens.contrast, beta=110 * (1 - lens.contrast) + 5)
    if lens.noise > 0.3:
        out = cv2.add(out, _grain(lens.noise, out.shape[0], out.shape[1], rng), dtype=cv2.CV_8U)
    if lens.jpeg is not None:
        ok, data = cv2.imencode(".jpg", out, [cv2.IMWRITE_JPEG_QUALITY, lens.jpeg])
        if ok:
            out = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR))
    return np.asarray(out, np.uint8)
