"""Table tops for training: felts of any colour with dense print, decoys that look like cards and chips, wood.

In: a layout in mm, a generator. Out: a `Felt`, another one each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.sim.felt import PX_PER_MM, REACH, Bgr, Felt, arc_text, cloth, letter, mm_to_px, to_px
from pitwatch.table.layout import Layout

__all__ = ["random_felt"]

_X0, _Y0, _X1, _Y1 = REACH
_INKS: tuple[Bgr, ...] = (
    (235, 235, 235),
    (70, 210, 235),
    (50, 190, 220),
    (120, 40, 90),
    (20, 20, 20),
    (40, 40, 200),
)
_WORDS = (
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
)
_LINES = (
    "SUITED TRIPS",
    "Straight Flush",
    "Three of a Kind",
    "Straight",
    "Flush",
    "PERFECT PAIR",
    "Mixed Pair",
    "Any Pair",
    "Suited Match",
    "MINIMUM $5.00",
    "MAXIMUM $500",
    "FIRST 2 PLAYER CARDS",
    "AND DEALER UP CARD",
)


def random_felt(layout: Layout, rng: np.random.Generator, fonts: tuple[str, ...]) -> Felt:
    """A table top for training."""
    wooden = rng.random()
    if wooden < 0.18:
        return Felt(_planks(rng), mm_to_px())
    image = _ground(rng)
    if wooden < 0.32:
        # a mat or a worn board: scratches instead of print
        _scratch(image, rng)
        if rng.random() < 0.5:
            return Felt(image, mm_to_px())

    def font() -> str:
        return fonts[int(rng.integers(len(fonts)))]

    ink, thick = _INKS[int(rng.integers(3))], int(rng.integers(2, 10))
    _spots(image, layout, rng, ink, thick)
    line_r = layout.insurance_r or 400.0
    for r in (line_r, line_r + rng.uniform(20, 45)):
        size = (round(r * PX_PER_MM),) * 2
        cv2.ellipse(image, to_px(layout.cx, layout.cy), size, 0, 185, 355, ink, thick, cv2.LINE_AA)
    arc_text(image, "INSURANCE PAYS 2 TO 1", layout, line_r + 14, rng.uniform(14, 28), ink, font())
    arc_text(
        image,
        str(rng.choice(["BLACKJACK PAYS 3 TO 2", "DEALER MUST STAND ON 17", "BLACKJACK 6 TO 5"])),
        layout,
        line_r - rng.uniform(40, 90),
        rng.uniform(24, 50),
        _ink(rng),
        font(),
    )
    for _ in range(int(rng.integers(0, 60))):
        _decoy(image, rng, font)
    for _ in range(int(rng.choice([0, 0, 4, 12, 24]))):
        _pay_table(image, rng, font())
    return Felt(image, mm_to_px())


def _ink(rng: np.random.Generator) -> Bgr:
    return _INKS[int(rng.integers(len(_INKS)))]


def _bgr(h: float, s: float, v: float) -> Bgr:
    b, g, r = cv2.cvtColor(np.array([[[h, s, v]]], np.uint8), cv2.COLOR_HSV2BGR)[0, 0]
    return float(b), float(g), float(r)


def _ground(rng: np.random.Generator) -> NDArray[Any]:
    u = rng.uniform
    hue, saturation, value = u(0, 180), u(60, 230), u(45, 170)
    if rng.random() < 0.5:
        hue = float(rng.choice([60, 65, 75, 85, 110, 115, 0, 175, 140]))
    if rng.random() < 0.2:
        # bare tops, bright ones too, on which paper hardly stands out
        hue, saturation, value = u(5, 30), u(10, 140), u(80, 245)
    return cloth(rng, _bgr(hue, saturation, value))


def _scratch(image: NDArray[Any], rng: np.random.Generator) -> None:
    colour = image[0, 0].astype(float)
    for _ in range(40):
        y = rng.uniform(_Y0, _Y1)
        ends = to_px(_X0, y), to_px(_X1, y + rng.uniform(-30, 30))
        tone = tuple(float(c * rng.uniform(0.75, 1.15)) for c in colour)
        cv2.line(image, *ends, tone, int(rng.integers(1, 5)), cv2.LINE_AA)


def _planks(rng: np.random.Generator) -> NDArray[Any]:
    """Boards, staggered or in a mosaic of squares whose strips lie across each other: each piece with its own
    tone, grain and pores, often as large as a card."""
    u = rng.uniform
    h, w = round((_Y1 - _Y0) * PX_PER_MM), round((_X1 - _X0) * PX_PER_MM)
    base = np.array(_bgr(u(5, 22), u(30, 190), u(60, 235)), np.float32)
    wide, spread, gap = u(12, 90) * PX_PER_MM, u(0.02, 0.14), float(u(0.4, 0.95))
    rough, pores = u(2, 12), u(0, 45) if rng.random() < 0.6 else 0.0
    boards = base + _grain(h, w, rough, pores, rng)[..., None]
    if rng.random() < 0.45:
        across = base + _grain(w, h, rough, pores, rng).T[..., None]
        pieces = _mosaic(boards, across, wide, rng)
    else:
        pieces = _staggered(boards, wide, rng)
    for piece in pieces:
        piece *= np.float32(1 + rng.normal(0, spread))
        piece[:, -1:] *= gap
        piece[-1:] *= gap
    if rng.random() < 0.4:
        boards = np.ascontiguousarray(cv2.resize(boards.transpose(1, 0, 2), (w, h)))
    return np.asarray(np.clip(boards, 0, 255), np.uint8)


def _mosaic(
    boards: NDArray[Any], across: NDArray[Any], wide: float, rng: np.random.Generator
) -> Iterator[NDArray[Any]]:
    """The strips of squares that lie by turns along and across, parts of `boards`."""
    strips = int(rng.integers(3, 8))
    side = max(round(min(wide, 22 * PX_PER_MM)) * strips, 60)
    h, w = boards.shape[:2]
    for i, y in enumerate(range(0, h, side)):
        for k, x in enumerate(range(0, w, side)):
            square = boards[y : y + side, x : x + side]
            if (i + k) % 2:
                square[:] = across[y : y + side, x : x + side]
                square = square.swapaxes(0, 1)
            yield from (strip for strip in np.array_split(square, strips) if len(strip))


def _staggered(boards: NDArray[Any], wide: float, rng: np.random.Generator) -> Iterator[NDArray[Any]]:
    """Boards of one length, row by row, parts of `boards`."""
    u = rng.uniform
    long = u(60, 110) * PX_PER_MM if rng.random() < 0.6 else u(200, 900) * PX_PER_MM
    h, w = boards.shape[:2]
    for top in np.arange(0, h, wide):
        for left in np.arange(-float(u(0, long)), w, long):
            yield boards[int(top) : int(top + wide), max(0, int(left)) : int(left + long)]


def _grain(h: int, w: int, rough: float, pores: float, rng: np.random.Generator) -> NDArray[Any]:
    """Grain that runs along the rows, (h, w): streaks `rough` levels deep and short dark pores."""
    streaks = rng.standard_normal((h, w // 16 + 1)).astype(np.float32)
    out = cv2.resize(streaks, (w, h), interpolation=cv2.INTER_LINEAR) * np.float32(rough)
    if pores:
        dots = rng.standard_normal((h, w // 10 + 1)).astype(np.float32) > 1.9
        out -= cv2.resize(dots.astype(np.float32), (w, h), interpolation=cv2.INTER_LINEAR) * np.float32(pores)
    return np.asarray(out)


def _spots(image: NDArray[Any], layout: Layout, rng: np.random.Generator, ink: Bgr, thick: int) -> None:
    """Betting circles and boxes."""
    u = rng.uniform
    for x, y in layout.spots:
        style = rng.random()
        if style >= 0.8:
            corners = ((-45, -50), (45, -50), (45, 50), (-45, 50))
            p = np.array([to_px(x + dx, y + dy) for dx, dy in corners], np.int32)
            cv2.polylines(image, [p], True, ink, thick, cv2.LINE_AA)
            continue
        r = round(layout.circle_r * PX_PER_MM * u(0.7, 1.2))
        if style < 0.6:
            cv2.circle(image, to_px(x, y), r, ink, thick, cv2.LINE_AA)
        else:
            cv2.circle(image, to_px(x, y), r, _ink(rng), -1, cv2.LINE_AA)
            cv2.circle(image, to_px(x, y), round(layout.circle_r * PX_PER_MM), ink, thick, cv2.LINE_AA)


def _decoy(image: NDArray[Any], rng: np.random.Generator, font: Callable[[], str]) -> None:
    """Print anywhere: a word, a disc, a frame of about a card's size, a patch."""
    u = rng.uniform
    x, y, style = u(_X0, _X1), u(_Y0, _Y1), rng.random()
    if style < 0.6:
        height = u(6, 30) if rng.random() < 0.75 else u(30, 75)
        letter(image, str(rng.choice(_WORDS)), x, y, height, u(0, 360), _ink(rng), font())
    elif style < 0.75:
        filled = int(rng.choice([-1, 2, 4]))
        cv2.circle(image, to_px(x, y), round(u(12, 45) * PX_PER_MM), _ink(rng), filled, cv2.LINE_AA)
    elif style < 0.9:
        size = (u(40, 90) * PX_PER_MM, u(60, 110) * PX_PER_MM)
        box = cv2.boxPoints((to_px(x, y), size, u(0, 180))).astype(np.int32)
        cv2.polylines(image, [box], True, _ink(rng), int(rng.integers(1, 6)), cv2.LINE_AA)
    else:
        star = np.array([to_px(x + u(-50, 50), y + u(-50, 50)) for _ in range(5)], np.int32)
        cv2.fillPoly(image, [star], _ink(rng), cv2.LINE_AA)


def _pay_table(image: NDArray[Any], rng: np.random.Generator, font: str) -> None:
    """What a side bet pays, line under line: of a card's size, and about as dense as a back."""
    u = rng.uniform
    x, y, turn, height = u(_X0, _X1), u(_Y0, _Y1), u(0, 360), u(3.5, 9)
    down = np.array([np.sin(np.radians(turn)), -np.cos(np.radians(turn))]) * height * u(1.4, 2.2)
    ink = _ink(rng)
    for i in range(int(rng.integers(3, 10))):
        text = str(rng.choice(_LINES))
        if rng.random() < 0.7:
            text += f" {'.' * int(rng.integers(2, 9))} {int(rng.integers(2, 50))} to 1"
        at = (x, y) + down * i
        letter(image, text, float(at[0]), float(at[1]), height, turn, ink, font)
