"""The felt: cloth, printed circles, the insurance line, lettering, and for training print of every kind.

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

__all__ = ["Felt", "draw_felt", "random_felt"]

_PX = 2.0
_X0, _Y0, _X1, _Y1 = -860.0, -60.0, 860.0, 900.0
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


def _cloth(rng: np.random.Generator, colour: Bgr) -> NDArray[Any]:
    h, w = round((_Y1 - _Y0) * _PX), round((_X1 - _X0) * _PX)
    grain = rng.standard_normal((h, w), np.float32) * np.float32(rng.uniform(1, 5))
    wear = rng.standard_normal((h // 64 + 2, w // 64 + 2), np.float32) * np.float32(rng.uniform(0, 6))
    weave = cv2.GaussianBlur(grain, (0, 0), 0.8) + cv2.resize(wear, (w, h), interpolation=cv2.INTER_CUBIC)
    return np.asarray(np.clip(np.asarray(colour, np.float32) + weave[..., None], 0, 255), np.uint8)


def _px(x: float, y: float) -> tuple[int, int]:
    return round((x - _X0) * _PX), round((_Y1 - y) * _PX)


def _to_px() -> NDArray[np.float64]:
    return np.array([[_PX, 0, -_X0 * _PX], [0, -_PX, _Y1 * _PX], [0, 0, 1.0]])


def _letter(
    image: NDArray[Any], text: str, x: float, y: float, height: float, turn: float, ink: Bgr, font: str
) -> None:
    """Print one text, its middle at (x, y) mm, `turn` degrees counter-clockwise."""
    size = max(6, round(height * _PX * 1.4))
    face = typeface(font, size)
    x0, y0, x1, y1 = face.getbbox(text)
    im = Image.new("L", (int(x1 - x0) + 8, int(y1 - y0) + 8), 0)
    ImageDraw.Draw(im).text((4 - x0, 4 - y0), text, fill=255, font=face)
    mask = np.asarray(im.rotate(turn, expand=True, resample=Image.Resampling.BICUBIC), np.float32) / 255
    cx, cy = _px(x, y)
    h, w = mask.shape
    ax, ay = cx - w // 2, cy - h // 2
    bx, by = max(ax, 0), max(ay, 0)
    ex, ey = min(ax + w, image.shape[1]), min(ay + h, image.shape[0])
    if bx >= ex or by >= ey:
        return
    m = mask[by - ay : ey - ay, bx - ax : ex - ax, None]
    part = image[by:ey, bx:ex]
    part[:] = (part * (1 - m) + np.asarray(ink, np.float32) * m).astype(np.uint8)


def _arc_text(
    image: NDArray[Any], text: str, layout: Layout, radius: float, height: float, ink: Bgr, font: str
) -> None:
    """Letter by letter along an arc about the layout's centre, to be read from the players' side."""
    step = height * 0.95 / radius
    start = np.pi / 2 + step * (len(text) - 1) / 2
    for i, c in enumerate(text):
        a = start - i * step
        if c != " ":
            _letter(
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
    image = _cloth(rng, colour)
    for x, y in layout.spots:
        cv2.circle(image, _px(x, y), round(layout.circle_r * _PX), ink, 7, cv2.LINE_AA)
    for r in (line_r, line_r + 28):
        cv2.ellipse(image, _px(layout.cx, layout.cy), (round(r * _PX),) * 2, 0, 190, 350, ink, 4, cv2.LINE_AA)
    _arc_text(image, "INSURANCE PAYS 2 TO 1", layout, line_r + 14, 16, ink, font)
    _arc_text(image, "BLACKJACK PAYS 3 TO 2", layout, line_r - 60, 34, ink, font)
    _rail(image, layout)
    return Felt(image, _to_px())


def _rail(image: NDArray[Any], layout: Layout) -> None:
    """The padded rail about the players' side, the floor beyond it, and the dealer's edge."""
    h, w = image.shape[:2]
    x = np.arange(w, dtype=np.float32) / _PX + _X0
    y = (_Y1 - np.arange(h, dtype=np.float32) / _PX)[:, None]
    r = np.hypot(x - layout.cx, y - layout.cy)
    inner = layout.spot_r + 165
    beyond = (r > inner + 72) | (y < 0)
    ring = (r > inner) & ~beyond
    bulge = np.clip(1 - np.abs(r[ring] - inner - 35) / 40, 0, 1)[:, None]
    image[ring] = (np.array([45, 62, 92], np.float32) * (0.55 + 0.6 * bulge)).astype(np.uint8)
    image[beyond] = (70, 70, 74)


def random_felt(layout: Layout, rng: np.random.Generator, fonts: tuple[str, ...]) -> Felt:
    """A felt for training: any colour, dense print, decoys that look like cards and chips."""
    u = rng.uniform
    line_r = layout.insurance_r or 400.0
    hsv = np.array([[[u(0, 180), u(60, 230), u(45, 170)]]], np.uint8)
    if rng.random() < 0.5:
        hsv[..., 0] = rng.choice([60, 65, 75, 85, 110, 115, 0, 175, 140])
    if rng.random() < 0.2:
        # bare wood and bright tops, on which paper hardly stands out
        hsv = np.array([[[u(5, 30), u(10, 140), u(80, 245)]]], np.uint8)
    b, g, r = (float(v) for v in cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)[0, 0])
    image = _cloth(rng, (b, g, r))
    inks: list[Bgr] = [
        (235, 235, 235),
        (70, 210, 235),
        (50, 190, 220),
        (120, 40, 90),
        (20, 20, 20),
        (40, 40, 200),
    ]
    ink = inks[int(rng.integers(3))]
    if rng.random() < 0.25:
        # a table of wood or a mat: planks and scratches instead of print
        for _ in range(40):
            y = u(_Y0, _Y1)
            cv2.line(
                image,
                _px(_X0, y),
                _px(_X1, y + u(-30, 30)),
                tuple(c * u(0.75, 1.15) for c in (b, g, r)),
                int(rng.integers(1, 5)),
                cv2.LINE_AA,
            )
        if rng.random() < 0.5:
            return Felt(image, _to_px())
    thick = int(rng.integers(2, 10))
    for x, y in layout.spots:
        style = rng.random()
        if style < 0.6:
            cv2.circle(image, _px(x, y), round(layout.circle_r * _PX * u(0.7, 1.2)), ink, thick, cv2.LINE_AA)
        elif style < 0.8:
            cv2.circle(
                image,
                _px(x, y),
                round(layout.circle_r * _PX * u(0.7, 1.2)),
                inks[int(rng.integers(6))],
                -1,
                cv2.LINE_AA,
            )
            cv2.circle(image, _px(x, y), round(layout.circle_r * _PX), ink, thick, cv2.LINE_AA)
        else:
            p = np.array(
                [_px(x + dx, y + dy) for dx, dy in ((-45, -50), (45, -50), (45, 50), (-45, 50))], np.int32
            )
            cv2.polylines(image, [p], True, ink, thick, cv2.LINE_AA)
    for r in (line_r, line_r + u(20, 45)):
        cv2.ellipse(
            image, _px(layout.cx, layout.cy), (round(r * _PX),) * 2, 0, 185, 355, ink, thick, cv2.LINE_AA
        )

    def font() -> str:
        return fonts[int(rng.integers(len(fonts)))]

    _arc_text(image, "INSURANCE PAYS 2 TO 1", layout, line_r + 14, u(14, 28), ink, font())
    _arc_text(
        image,
        str(rng.choice(["BLACKJACK PAYS 3 TO 2", "DEALER MUST STAND ON 17", "BLACKJACK 6 TO 5"])),
        layout,
        line_r - u(40, 90),
        u(24, 50),
        inks[int(rng.integers(6))],
        font(),
    )
    words = [
        "MATCH THE DEALER",
        "BET",
        "21+3",
        "9 to 1",
        "20 TO 1",
        "PLAYER",
        "CASINO",
        "10",
        "A",
        "K",
        "7",
        "$5",
        "25",
        "Q",
        "MINIMUM $5.00",
        "PAIRS",
        "NON-SUITED MATCH PAYS  4 to 1",
        "Straight Flush ...... 9 to 1",
        "J",
    ]
    for _ in range(int(rng.integers(0, 60))):
        x, y = u(_X0, _X1), u(_Y0, _Y1)
        style = rng.random()
        if style < 0.6:
            _letter(
                image,
                str(rng.choice(words)),
                x,
                y,
                u(6, 30) if rng.random() < 0.75 else u(30, 75),
                u(0, 360),
                inks[int(rng.integers(6))],
                font(),
            )
        elif style < 0.75:
            cv2.circle(
                image,
                _px(x, y),
                round(u(12, 45) * _PX),
                inks[int(rng.integers(6))],
                int(rng.choice([-1, 2, 4])),
                cv2.LINE_AA,
            )
        elif style < 0.9:
            # a printed frame of about a card's size, hollow: print, not a card
            box = cv2.boxPoints(((*_px(x, y),), (u(40, 90) * _PX, u(60, 110) * _PX), u(0, 180)))
            cv2.polylines(
                image,
                [box.astype(np.int32)],
                True,
                inks[int(rng.integers(6))],
                int(rng.integers(1, 6)),
                cv2.LINE_AA,
            )
        else:
            star = np.array([_px(x + u(-50, 50), y + u(-50, 50)) for _ in range(5)], np.int32)
            cv2.fillPoly(image, [star], inks[int(rng.integers(6))], cv2.LINE_AA)
    return Felt(image, _to_px())
