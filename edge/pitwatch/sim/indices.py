"""Index letters and numerals as card printers draw them: narrow strokes of their own, which no type face has.

In: a rank's text and a seed. Out: float masks (height, width), 0 to 1. The hands of printed decks differ from
type faces in their narrow oval bowls, square shoulders, slab feet and the many tails of their queens.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["drawn_index"]

Stroke = NDArray[np.float64]
_PX = 120  # height at which strokes are drawn


@dataclass(frozen=True)
class _Hand:
    """How one printer writes.

    upright, level: widths of vertical and horizontal strokes, shares of the height. square: exponent of the
    bowls, 2 an ellipse, more a box with round corners. feet: slabs at the stems' ends.
    """

    wide: float
    upright: float
    level: float
    square: float
    feet: bool
    waist: float
    tail: int
    open_four: bool
    flat_three: bool
    bent_seven: bool
    flag: int
    hook: float


def _hand(seed: int) -> _Hand:
    rng = np.random.default_rng([seed, 1907])
    u = rng.uniform
    upright = u(0.07, 0.22)
    return _Hand(
        wide=u(0.42, 0.8),
        upright=upright,
        level=upright * u(0.45, 1.05),
        square=u(2.0, 3.0) if rng.random() < 0.5 else u(3.0, 7.0),
        feet=bool(rng.random() < 0.5),
        waist=u(0.44, 0.54),
        tail=int(rng.integers(6)),
        open_four=bool(rng.random() < 0.2),
        flat_three=bool(rng.random() < 0.3),
        bent_seven=bool(rng.random() < 0.5),
        flag=int(rng.integers(3)),
        hook=u(0.2, 0.42),
    )


def _bowl(cx: float, cy: float, rx: float, ry: float, start: float, end: float, square: float) -> Stroke:
    """Part of a superellipse, degrees clockwise from the right (y downward)."""
    a = np.radians(np.linspace(start, end, 40))
    c, s = np.cos(a), np.sin(a)
    k = 2 / square
    return np.column_stack([cx + rx * np.sign(c) * np.abs(c) ** k, cy + ry * np.sign(s) * np.abs(s) ** k])


def _line(*points: tuple[float, float]) -> Stroke:
    return np.array(points, np.float64)


def _strokes(text: str, h: _Hand) -> list[Stroke]:
    """Strokes in a box of width and height 1."""
    q, w = h.square, h.waist
    low = (1 - w) / 2
    foot: list[Stroke] = []

    def slab(x: float, y: float, half: float = 0.22) -> None:
        if h.feet:
            foot.append(_line((x - half, y), (x + half, y)))

    if text == "A":
        slab(0.05, 1)
        slab(0.95, 1)
        bar = 0.62 + (w - 0.49)
        return [
            _line((0.05, 1), (0.5, 0), (0.95, 1)),
            _line((0.5 - bar * 0.4, bar), (0.5 + bar * 0.4, bar)),
            *foot,
        ]
    if text == "2":
        top = _bowl(0.5, 0.3, 0.5, 0.3, 190, 375, min(q, 3))
        return [
            np.vstack([top, _line((0.0, 1.0), (1.0, 1.0))]),
            *([_line((1, 1), (1, 0.9))] if h.feet else []),
        ]
    if text == "3":
        upper = (
            _line((0.02, 0.0), (0.95, 0.0), (0.45, w))
            if h.flat_three
            else _bowl(0.47, w / 2, 0.47, w / 2, 200, 450, min(q, 3.5))
        )
        lower = _bowl(0.45, w + low, 0.55, low, 270, 520, min(q, 3.5))
        return [upper, lower]
    if text == "4":
        bar = 0.68 + (w - 0.49)
        slab(0.72, 1)
        if h.open_four:
            return [_line((0.2, 0.05), (0.0, bar), (1.0, bar)), _line((0.72, 0.3), (0.72, 1)), *foot]
        return [_line((0.72, 1), (0.72, 0), (0.0, bar), (1.0, bar)), *foot]
    if text == "5":
        bowl = _bowl(0.45, 0.68, 0.55, 0.32, 235, 520, min(q, 4))
        return [_line((0.92, 0), (0.12, 0), (0.08, 0.45)), bowl]
    if text in "69":
        ring = _bowl(0.5, 0.69, 0.5, 0.31, 0, 360, q)
        side = np.vstack([_bowl(0.5, 0.5, 0.5, 0.5, 330, 180, q), _line((0.0, 0.7))])
        six = [ring, side]
        return [1 - s for s in six] if text == "9" else six
    if text == "7":
        leg = (
            np.vstack([_line((1, 0)), _bowl(1.1, 1.0, 0.72, 0.78, 250, 180, 2)])
            if h.bent_seven
            else _line((1, 0), (0.35, 1))
        )
        hook = [_line((0, 0), (0, 0.14))] if h.feet else []
        return [_line((0, 0), (1, 0)), leg, *hook]
    if text == "8":
        k = 0.44 if w < 0.5 else 0.48
        return [
            _bowl(0.5, w / 2, k, w / 2, 0, 360, q),
            _bowl(0.5, w + low, 0.5, low, 0, 360, q),
        ]
    if text == "1":
        slab(0.5, 1, 0.5)
        flag = [[], [_line((0.5, 0), (0.05, 0.2))], [_line((0.5, 0.02), (0.1, 0.02))]][h.flag]
        return [_line((0.5, 0), (0.5, 1)), *flag, *foot]
    if text == "0":
        return [_bowl(0.5, 0.5, 0.5, 0.5, 0, 360, q)]
    if text == "J":
        bent = np.vstack([_line((0.72, 0)), _bowl(0.36, 1 - h.hook, 0.36, h.hook, 0, 180, min(q, 3.5))])
        serif = [_line((0.4, 0), (1.0, 0))] if h.feet or h.flag == 2 else []
        return [bent, *serif]
    if text == "K":
        slab(0.08, 0)
        slab(0.08, 1)
        slab(0.92, 0)
        slab(0.95, 1)
        joint = 0.55 + (w - 0.49)
        return [
            _line((0.08, 0), (0.08, 1)),
            _line((0.92, 0), (0.08, joint + 0.06)),
            _line((0.36, joint - 0.14), (0.95, 1)),
            *foot,
        ]
    ring = _bowl(0.5, 0.47, 0.5, 0.47, 0, 360, q)
    tails = [
        [_line((0.5, 0.7), (1.0, 1.02))],
        [_line((0.35, 0.62), (0.6, 0.75), (0.75, 1.0), (1.05, 0.98))],
        [_line((0.62, 0.8), (0.92, 1.06))],
        [np.vstack([_bowl(0.34, 0.78, 0.22, 0.12, 160, 360, 2), _line((0.62, 0.96), (1.05, 1.03))])],
        [_line((0.45, 0.94), (0.55, 1.1), (1.0, 1.08))],
        [_line((0.2, 0.72), (0.5, 0.72), (0.95, 1.05))],
    ]
    return [ring, *tails[h.tail]]


@lru_cache(maxsize=4096)
def drawn_index(text: str, height: int, stretch: float, seed: int) -> NDArray[Any]:
    """The mask of "A", "2" to "10", "J", "Q" or "K", `height` pixels high, as one printer writes.

    A queen's tail hangs lower. stretch: horizontal, 1 for the printer's own proportions.
    """
    h = _hand(seed)
    signs = []
    for sign in text:
        wide = h.wide * (0.55 if sign == "1" else 0.8 if len(text) > 1 else 1.0) * stretch
        edge = 0.5 * max(h.upright, h.level)
        box = np.array([max(wide - 2 * edge, 0.06), 1 - 2 * edge]) * _PX
        room = round(_PX * 0.14) + 4
        im = np.zeros((_PX + 2 * room, round(wide * _PX) + 2 * room), np.uint8)
        for stroke in _strokes(sign, h):
            points = stroke * box + edge * _PX + room
            _draw(im, points, h)
        columns = np.flatnonzero(im.max(axis=0))
        below = round(_PX * 0.13) if sign == "Q" else 0
        signs.append(im[room : room + _PX + below, columns[0] : columns[-1] + 1])
        signs.append(np.zeros((len(signs[0]), max(2, round(_PX * 0.07))), np.uint8))
    im = np.hstack(signs[:-1])
    k = height / _PX
    size = (max(3, round(im.shape[1] * k)), max(3, round(im.shape[0] * k)))
    return np.asarray(cv2.resize(im, size, interpolation=cv2.INTER_AREA), np.float32) / 255


def _draw(im: NDArray[np.uint8], points: Stroke, h: _Hand) -> None:
    """A stroke whose width depends on its direction."""
    for a, b in pairwise(points):
        d = b - a
        steep = abs(d[1]) / max(float(np.hypot(d[0], d[1])), 1e-9)
        width = max(2, round((h.level + (h.upright - h.level) * steep) * _PX))
        p, q = (tuple(int(v) for v in np.round(e * 16)) for e in (a, b))
        cv2.line(im, p, q, 255, width, cv2.LINE_AA, 4)
