"""Chip art: what a chip of each denomination looks like from the side and from above.

In: denominations with their colours. Out: side colours by angle, and the top as a premultiplied BGRA
picture. Angles in radians, counter-clockwise in the chip's own frame; colours BGR, 0 to 255.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.chips import ChipSet, Denomination
from pitwatch.sim.deck import _glyph
from pitwatch.sim.typefaces import packaged_typefaces

__all__ = ["ChipArt", "ChipDesign", "ChipEdge", "chip_art", "random_chip_design", "random_edge"]

_TOP = 96


@dataclass(frozen=True)
class ChipDesign:
    """How one denomination looks. body, spot, inlay, ink: BGR. spots: edge spots around. spot_share: of the
    edge that they take. split: each spot is divided in three, its middle in the body's colour."""

    body: tuple[int, int, int]
    spot: tuple[int, int, int]
    inlay: tuple[int, int, int] = (250, 250, 250)
    ink: tuple[int, int, int] = (20, 20, 20)
    spots: int = 8
    spot_share: float = 0.42
    split: bool = False
    inlay_size: float = 0.58
    ring: bool = True
    font: str = ""
    text: str = ""

    @property
    def marks(self) -> NDArray[np.float64]:
        """Where the first edge spot's colour begins and ends, (1 or 2, 2), in shares of a spot's pitch."""
        parts = [(0.0, 1 / 3), (2 / 3, 1.0)] if self.split else [(0.0, 1.0)]
        return np.array(parts) * self.spot_share


@dataclass(frozen=True)
class ChipEdge:
    """How the edges of a set's chips look. As shares of what is beside them: groove: how bright the groove
    between two chips is, 1 where none shows. rim: the ring of a face that a chip lying askew leaves open.
    bevel: the line where edge and face meet. rounding: how much is taken off an edge below and above, mm.
    """

    groove: float = 0.45
    rim: float = 0.85
    bevel: float = 1.0
    rounding: float = 0.0


def random_edge(rng: np.random.Generator) -> ChipEdge:
    """From sharp new chips with deep grooves to rounded ones that show none."""
    u = rng.uniform
    groove = u(0.3, 0.8) if rng.random() < 0.55 else u(0.8, 1.0)
    bevel = u(0.75, 1.35) if rng.random() < 0.5 else 1.0
    rounding = u(0.2, 1.2) if rng.random() < 0.7 else 0.0
    return ChipEdge(float(groove), float(u(0.75, 1.0)), float(bevel), float(rounding))


class ChipArt:
    """The designs of one chip set; `top(cents)` and `side(cents, angles)` are what the renderer asks for."""

    def __init__(self, designs: dict[int, ChipDesign], edge: ChipEdge | None = None) -> None:
        self.designs = designs
        self.edge = edge or ChipEdge()
        self._tops: dict[int, NDArray[Any]] = {}

    def side(self, cents: int, angles: NDArray[np.float64]) -> NDArray[np.float64]:
        """Edge colours (N, 3) BGR at `angles` (N,)."""
        d = self.designs[cents]
        phase = (angles * d.spots / (2 * np.pi)) % 1.0
        on = np.any((phase[:, None] >= d.marks[:, 0]) & (phase[:, None] < d.marks[:, 1]), axis=1)
        return np.where(on[:, None], np.asarray(d.spot, np.float64), np.asarray(d.body, np.float64))

    def spots(self, cents: int) -> NDArray[np.float64]:
        """Where the edge spots begin and end, (N, 2) in the chip's own frame."""
        d = self.designs[cents]
        phases = np.arange(d.spots)[:, None, None] + d.marks
        return np.asarray(phases.reshape(-1, 2) * (2 * np.pi / d.spots), np.float64)

    def top(self, cents: int) -> NDArray[Any]:
        """The chip from above, (96, 96, 4) premultiplied BGRA, angle 0 to the right, counter-clockwise."""
        if cents not in self._tops:
            self._tops[cents] = _draw_top(self.designs[cents])
        return self._tops[cents]


def chip_art(chips: ChipSet, seed: int = 0, wear: NDArray[Any] | None = None) -> ChipArt:
    """The art of a chip set as its colours say, one design for all its denominations.

    wear: (64,) standard normal numbers by which a used or otherwise printed set differs; None for a new one.
    """
    rng = np.random.default_rng([seed, 5])
    fonts = packaged_typefaces()
    font = fonts[int(rng.integers(len(fonts)))]
    designs = {d.cents: _plain(d, font) for d in chips.denominations}
    if wear is None:
        return ChipArt(designs)
    spots, share = int(rng.choice([4, 6, 6, 8, 8, 8, 12])), float(rng.uniform(0.3, 0.5))
    yellow = rng.random() < 0.5
    for i, (cents, d) in enumerate(designs.items()):
        body = np.clip(np.array(d.body) * (1 + 0.12 * wear[4 * i]) + 7 * wear[4 * i + 1 : 4 * i + 4], 5, 255)
        spot = np.array([70, 215, 240]) if yellow and rng.random() < 0.4 else np.array(d.spot)
        spot = np.clip(spot * (1 + 0.08 * wear[30 + i]), 5, 255)
        designs[cents] = replace(
            d,
            body=(int(body[0]), int(body[1]), int(body[2])),
            spot=(int(spot[0]), int(spot[1]), int(spot[2])),
            spots=spots,
            spot_share=share,
            ring=rng.random() < 0.5,
        )
    return ChipArt(designs, random_edge(rng))


def _plain(d: Denomination, font: str) -> ChipDesign:
    r, g, b = d.colour_rgb
    sr, sg, sb = d.spot_rgb
    return ChipDesign((b, g, r), (sb, sg, sr), font=font, text=_text(d.cents))


def _text(cents: int) -> str:
    return str(cents // 100) if cents % 100 == 0 else f"{cents / 100:.1f}"


def random_chip_design(
    d: Denomination, rng: np.random.Generator, fonts: tuple[str, ...], shared: dict[str, object]
) -> ChipDesign:
    """A variation of a denomination: hue, spots and inlay as another maker would have them.

    shared: what all denominations of one maker have in common; filled on the first call.
    """
    u = rng.uniform
    if not shared:
        shared.update(
            spots=int(rng.choice([3, 4, 4, 6, 6, 8, 8, 12])),
            share=float(u(0.2, 0.55)),
            split=bool(rng.random() < 0.3),
            inlay_size=float(u(0.4, 0.8)),
            ring=bool(rng.random() < 0.5),
            font=str(fonts[int(rng.integers(len(fonts)))]),
            dollar=bool(rng.random() < 0.3),
            white_inlay=bool(rng.random() < 0.7),
        )
    hsv = cv2.cvtColor(np.array([[d.colour_rgb]], np.uint8), cv2.COLOR_RGB2HSV)[0, 0].astype(float)
    grey = hsv[1] < 40
    hsv[0] = (hsv[0] + u(-7, 7)) % 180
    hsv[1] = np.clip(hsv[1] * u(0.7, 1.15) + (u(0, 15) if grey else 0), 0, 255)
    hsv[2] = np.clip(hsv[2] * u(0.75, 1.15), 12, 255)
    body = cv2.cvtColor(np.array([[hsv]], np.uint8), cv2.COLOR_HSV2BGR)[0, 0]
    if rng.random() < 0.4:
        r, g, b = d.spot_rgb
        spot = np.clip(np.array([b, g, r]) * u(0.8, 1.1), 0, 255)
    elif rng.random() < 0.6:
        spot = np.full(3, u(190, 255)) * [u(0.8, 1), u(0.9, 1), 1]
    else:
        spot = u(10, 250, 3)
    inlay = np.full(3, u(215, 255)) if shared["white_inlay"] else u(40, 250, 3)
    ink = (20.0, 20.0, 20.0) if inlay.mean() > 120 else (240.0, 240.0, 240.0)
    text = ("$" if shared["dollar"] else "") + _text(d.cents)

    def bgr(v: object) -> tuple[int, int, int]:
        a = np.asarray(v, float)
        return int(a[0]), int(a[1]), int(a[2])

    return ChipDesign(
        bgr(body),
        bgr(spot),
        bgr(inlay),
        bgr(ink),
        int(str(shared["spots"])),
        float(str(shared["share"])),
        bool(shared["split"]),
        float(str(shared["inlay_size"])),
        bool(shared["ring"]),
        str(shared["font"]),
        text,
    )


def _draw_top(d: ChipDesign) -> NDArray[Any]:
    n = _TOP
    ys, xs = np.mgrid[0:n, 0:n].astype(np.float64)
    x, y = (xs - n / 2 + 0.5) / (n / 2), -(ys - n / 2 + 0.5) / (n / 2)
    r, a = np.hypot(x, y), np.arctan2(y, x)
    colours = ChipArt({0: d}).side(0, a.ravel()).reshape(n, n, 3)
    colours = np.where((r < 0.72)[..., None], np.asarray(d.body, float), colours)
    if d.ring:
        colours = np.where(
            (np.abs(r - 0.7) < 0.03)[..., None], colours * 0.6 + 0.4 * np.asarray(d.spot, float), colours
        )
    colours = np.where((r < d.inlay_size)[..., None], np.asarray(d.inlay, float), colours)
    if d.text and d.font:
        glyph = _glyph(d.font, d.text, 26, 0.9)
        k = min(1.0, d.inlay_size * n * 0.8 / glyph.shape[1])
        glyph = cv2.resize(glyph, None, fx=k, fy=k, interpolation=cv2.INTER_AREA)
        gh, gw = glyph.shape
        y0, x0 = (n - gh) // 2, (n - gw) // 2
        m = glyph[..., None]
        colours[y0 : y0 + gh, x0 : x0 + gw] = (
            colours[y0 : y0 + gh, x0 : x0 + gw] * (1 - m) + np.asarray(d.ink, float) * m
        )
    colours *= np.where(r > 0.95, 0.85, 1.0)[..., None]
    alpha = np.clip((1.0 - r) * n / 2 + 0.5, 0, 1)[..., None]
    out = np.dstack([colours * alpha, alpha * 255])
    return out.astype(np.uint8)
