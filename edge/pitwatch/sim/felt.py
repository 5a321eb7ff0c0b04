"""The felt: cloth, printed circles, the insurance line and lettering, as a casino has it.

In: a layout in mm. Out: a BGR picture of the felt in the table frame, and the homography from mm to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from pitwatch.sim.typefaces import packaged_typefaces, typeface
from pitwatch.table.layout import Layout

__all__ = [
    "PX_PER_MM",
    "REACH",
    "Bgr",
    "Felt",
    "arc_text",
    "cloth",
    "draw_felt",
    "letter",
    "mm_to_px",
    "to_px",
]

PX_PER_MM = 2.0
REACH = (-860.0, -60.0, 860.0, 900.0)  # mm: x0, y0, x1, y1 of the picture
_X0, _Y0, _X1, _Y1 = REACH
Bgr = tuple[float, float, float]


@dataclass(frozen=True)
class Felt:
    """image: (h, w, 3) uint8 BGR. to_px: (3, 3) from table mm to its pixels."""

    image: NDArray[Any]
    to_px: NDArray[np.float64]
    _levels: dict[int, NDArray[Any]] = field(default_factory=dict, repr=False)

    def at_scale(self, px_per_mm: float) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The picture halved as often as a view at `px_per_mm` wants it, and its own homography."""
        level, image, H = 0, self.image, self.to_px
        while px_per_mm < H[0, 0] / 1.9 and level < 3:
            level, H = level + 1, np.diag([0.5, 0.5, 1.0]) @ H
            if level not in self._levels:
                self._levels[level] = np.asarray(
                    cv2.resize(image, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8
                )
            image = self._levels[level]
        return image, H


def cloth(rng: np.random.Generator, colour: Bgr) -> NDArray[Any]:
    """The bare cloth, worn unevenly, (h, w, 3) uint8 BGR."""
    h, w = round((_Y1 - _Y0) * PX_PER_MM), round((_X1 - _X0) * PX_PER_MM)
    grain = rng.standard_normal((h, w), np.float32) * np.float32(rng.uniform(1, 5))
    wear = rng.standard_normal((h // 64 + 2, w // 64 + 2), np.float32) * np.float32(rng.uniform(0, 6))
    weave = cv2.GaussianBlur(grain, (0, 0), 0.8) + cv2.resize(wear, (w, h), interpolation=cv2.INTER_CUBIC)
    return np.asarray(np.clip(np.asarray(colour, np.float32) + weave[..., None], 0, 255), np.uint8)


def to_px(x: float, y: float) -> tuple[int, int]:
    """The pixel of a felt's picture at (x, y) mm."""
    return round((x - _X0) * PX_PER_MM), round((_Y1 - y) * PX_PER_MM)


def mm_to_px() -> NDArray[np.float64]:
    """The homography (3, 3) from table mm to a felt's pixels."""
    return np.array([[PX_PER_MM, 0, -_X0 * PX_PER_MM], [0, -PX_PER_MM, _Y1 * PX_PER_MM], [0, 0, 1.0]])


def letter(
    image: NDArray[Any], text: str, x: float, y: float, height: float, turn: float, ink: Bgr, font: str
) -> None:
    """Print one text, its middle at (x, y) mm, `turn` degrees counter-clockwise."""
    size = max(6, round(height * PX_PER_MM * 1.4))
    face = typeface(font, size)
    x0, y0, x1, y1 = face.getbbox(text)
    im = Image.new("L", (int(x1 - x0) + 8, int(y1 - y0) + 8), 0)
    ImageDraw.Draw(im).text((4 - x0, 4 - y0), text, fill=255, font=face)
    mask = np.asarray(im.rotate(turn, expand=True, resample=Image.Resampling.BICUBIC), np.float32) / 255
    cx, cy = to_px(x, y)
    h, w = mask.shape
    ax, ay = cx - w // 2, cy - h // 2
    bx, by = max(ax, 0), max(ay, 0)
    ex, ey = min(ax + w, image.shape[1]), min(ay + h, image.shape[0])
    if bx >= ex or by >= ey:
        return
    m = mask[by - ay : ey - ay, bx - ax : ex - ax, None]
    part = image[by:ey, bx:ex]
    part[:] = (part * (1 - m) + np.asarray(ink, np.float32) * m).astype(np.uint8)


def arc_text(
    image: NDArray[Any], text: str, layout: Layout, radius: float, height: float, ink: Bgr, font: str
) -> None:
    """Letter by letter along an arc about the layout's centre, to be read from the players' side."""
    step = height * 0.95 / radius
    start = np.pi / 2 + step * (len(text) - 1) / 2
    for i, c in enumerate(text):
        a = start - i * step
        if c != " ":
            letter(
                image,
                c,
                layout.cx + radius * np.cos(a),
                layout.cy + radius * np.sin(a),
                height,
                float(np.degrees(a) - 90),
                ink,
                font,
            )


def draw_felt(layout: Layout, seed: int = 0, colour: Bgr = (62, 104, 32), ink: Bgr = (70, 210, 235)) -> Felt:
    """A felt as a casino would print this layout: circles, insurance line, the rule of the house."""
    rng = np.random.default_rng([seed, 17])
    font = packaged_typefaces()[0]
    line_r = layout.insurance_r or 400.0
    image = cloth(rng, colour)
    for x, y in layout.spots:
        cv2.circle(image, to_px(x, y), round(layout.circle_r * PX_PER_MM), ink, 7, cv2.LINE_AA)
    for r in (line_r, line_r + 28):
        cv2.ellipse(
            image, to_px(layout.cx, layout.cy), (round(r * PX_PER_MM),) * 2, 0, 190, 350, ink, 4, cv2.LINE_AA
        )
    arc_text(image, "INSURANCE PAYS 2 TO 1", layout, line_r + 14, 16, ink, font)
    arc_text(image, "BLACKJACK PAYS 3 TO 2", layout, line_r - 60, 34, ink, font)
    _rail(image, layout)
    return Felt(image, mm_to_px())


def _rail(image: NDArray[Any], layout: Layout) -> None:
    """The padded rail about the players' side, the floor beyond it, and the dealer's edge."""
    h, w = image.shape[:2]
    x = np.arange(w, dtype=np.float32) / PX_PER_MM + _X0
    y = (_Y1 - np.arange(h, dtype=np.float32) / PX_PER_MM)[:, None]
    r = np.hypot(x - layout.cx, y - layout.cy)
    inner = layout.spot_r + 165
    beyond = (r > inner + 72) | (y < 0)
    ring = (r > inner) & ~beyond
    bulge = np.clip(1 - np.abs(r[ring] - inner - 35) / 40, 0, 1)[:, None]
    image[ring] = (np.array([45, 62, 92], np.float32) * (0.55 + 0.6 * bulge)).astype(np.uint8)
    image[beyond] = (70, 70, 74)
