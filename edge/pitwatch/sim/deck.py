"""Deck art, drawn by the project itself: indices, pips, court cards and backs, in designs without end.

In: a seed, or a `DeckDesign`. Out: pictures of cards as premultiplied BGRA uint8 arrays, upright, at
`PX_PER_MM` pixels a millimetre of a 63 × 88 mm card.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from pitwatch.cards import CARDS
from pitwatch.sim.designs import DeckDesign, Rgb
from pitwatch.sim.indices import drawn_index
from pitwatch.sim.pips import OTHER_PIPS, PIPS
from pitwatch.sim.suits import suit_mask
from pitwatch.sim.typefaces import typeface

__all__ = ["PX_PER_MM", "Deck", "printed"]

PX_PER_MM = 4.0
_W, _H = 63.0, 88.0
Image8 = NDArray[Any]


class Deck:
    """All faces and the back of one design, drawn when first asked for.

    `sprite(card)` is the picture of a face (`"As"`), `sprite(None)` that of the back: premultiplied BGRA,
    (352, 252, 4) uint8. courts: figures by card ("Kh"), RGB of any size, to print instead of drawn ones.
    """

    def __init__(self, design: DeckDesign, courts: Mapping[str, Image8] | None = None) -> None:
        self.design = design
        self._courts = courts or {}
        self._faces: dict[str | None, Image8] = {}
        self._levels: dict[tuple[str | None, int], Image8] = {}

    def sprite(self, card: str | None) -> Image8:
        """The picture of a card, or of the back for None. Raises KeyError for what is no card."""
        if card not in self._faces:
            if card is not None and card not in CARDS:
                raise KeyError(card)
            rgb = _back(self.design) if card is None else _face(self.design, card, self._courts.get(card))
            self._faces[card] = printed(self.design, _worn(self.design, rgb, card))
        return self._faces[card]

    def at_scale(self, card: str | None, px_per_mm: float) -> tuple[Image8, float]:
        """The picture reduced to little more than the wanted scale, and its own scale in px/mm."""
        level = 0
        scale = PX_PER_MM
        while scale / 1.35 >= px_per_mm * 1.02 and level < 6:
            level, scale = level + 1, scale / 1.35
        if (card, level) not in self._levels:
            full = self.sprite(card)
            size = (max(8, round(_W * scale)), max(8, round(_H * scale)))
            self._levels[card, level] = (
                full if level == 0 else cv2.resize(full, size, interpolation=cv2.INTER_AREA)
            )
        out = self._levels[card, level]
        return out, out.shape[1] / _W


def _blank(design: DeckDesign) -> Image8:
    return np.full((round(_H * PX_PER_MM), round(_W * PX_PER_MM), 3), design.paper, np.uint8)


def _stamp(im: Image8, mask: NDArray[Any], x_mm: float, y_mm: float, ink: Rgb) -> None:
    """Paint `mask` (0 to 1) with its middle at (x, y), mm from the upper left corner."""
    h, w = mask.shape
    x0, y0 = round(x_mm * PX_PER_MM - w / 2), round(y_mm * PX_PER_MM - h / 2)
    xa, ya, xb, yb = max(x0, 0), max(y0, 0), min(x0 + w, im.shape[1]), min(y0 + h, im.shape[0])
    if xa >= xb or ya >= yb:
        return
    m = mask[ya - y0 : yb - y0, xa - x0 : xb - x0, None]
    part = im[ya:yb, xa:xb]
    part[:] = (part * (1 - m) + np.asarray(ink, np.float32) * m).astype(np.uint8)


def _suit(design: DeckDesign, suit: str, size_mm: float, stretch: float = 1.0) -> NDArray[Any]:
    h = max(3, round(size_mm * PX_PER_MM))
    return suit_mask(suit, max(3, round(h * stretch)), h, design.suit_font or design.seed % 97)


@lru_cache(maxsize=4096)
def _glyph(font: str, text: str, height: int, stretch: float) -> NDArray[Any]:
    """A text's mask whose capitals are `height` pixels high, stretched horizontally."""
    face = typeface(font, 120)
    x0, y0, x1, y1 = face.getbbox(text)
    im = Image.new("L", (int(x1 - x0) + 4, int(y1 - y0) + 4), 0)
    ImageDraw.Draw(im).text((2 - x0, 2 - y0), text, fill=255, font=face)
    cap = face.getbbox("K")
    k = height / max(1.0, cap[3] - cap[1])
    narrow = 0.78 if text == "10" else 1.0
    size = (max(3, round(im.width * k * stretch * narrow)), max(3, round(im.height * k)))
    return np.asarray(im.resize(size, Image.Resampling.LANCZOS), np.float32) / 255


def _sign(design: DeckDesign, text: str, height: int, stretch: float) -> NDArray[Any]:
    if design.printers_hand:
        return drawn_index(text, height, 0.6 + 0.5 * stretch, design.seed)
    return _glyph(design.font, text, height, stretch)


def _indices(design: DeckDesign, im: Image8, rank: str, suit: str) -> None:
    """Index and small suit in two corners, or in all four."""
    ink = design.ink(suit)
    text = "10" if rank == "T" else rank
    glyph = _sign(design, text, round(design.index_height * PX_PER_MM), design.index_stretch)
    small = _suit(design, suit, design.index_suit, 0.92)
    limit = round(2 * (design.index_x - 0.8) * PX_PER_MM)
    if glyph.shape[1] > limit > 3:
        glyph = cv2.resize(glyph, (limit, glyph.shape[0]), interpolation=cv2.INTER_AREA)
    d = design
    yi = d.index_y + d.index_height / 2
    if d.beside:
        spots = [
            (d.index_x, yi, glyph),
            (2 * d.index_x + d.index_suit * 0.35, d.index_y + d.index_suit / 2, small),
        ]
    else:
        spots = [
            (d.index_x, yi, glyph),
            (d.index_x, d.index_y + d.index_height + d.index_gap + d.index_suit / 2, small),
        ]
    for _turn in range(2):
        for x, y, mask in spots:
            _stamp(im, mask, x, y, ink)
            if d.four_index:
                _stamp(im, mask, _W - x, y, ink)
        im[:] = im[::-1, ::-1].copy()


def _face(design: DeckDesign, card: str, figure: Image8 | None = None) -> Image8:
    rank, suit = card[0], card[1]
    im = _blank(design)
    ink = design.ink(suit)
    if figure is not None:
        x0, y0 = round(design.court_inset * PX_PER_MM), round((5 + design.seed % 5) * PX_PER_MM)
        x1, y1 = im.shape[1] - x0, im.shape[0] - y0
        im[y0:y1, x0:x1] = cv2.resize(figure, (x1 - x0, y1 - y0), interpolation=cv2.INTER_AREA)
        if design.court_frame:
            cv2.rectangle(im, (x0, y0), (x1, y1), ink, 2, cv2.LINE_AA)
    elif rank in "JQK":
        _court(design, im, rank, suit)
    elif rank == "A":
        size = design.ace * (1.25 if suit == "s" else 1.0)
        if design.ace_ring:
            centre = (im.shape[1] // 2, im.shape[0] // 2)
            cv2.circle(im, centre, round(size * 0.75 * PX_PER_MM), ink, round(0.5 * PX_PER_MM), cv2.LINE_AA)
        _stamp(im, _suit(design, suit, min(size, 46), 0.92), _W / 2, _H / 2, ink)
    else:
        pip = _suit(design, suit, design.pip, design.pip_stretch)
        for sx, sy in OTHER_PIPS[rank] if rank in design.other_pips else PIPS[rank]:
            x, y = _W / 2 + (sx - 0.5) * 2 * design.pip_dx, _H / 2 + (sy - 0.5) * 2 * design.pip_dy
            _stamp(im, pip if sy <= 0.5 else pip[::-1], x, y, ink)
    _indices(design, im, rank, suit)
    return im


def _court(design: DeckDesign, im: Image8, rank: str, suit: str) -> None:
    """A court card: a framed figure of two halves, each the other turned round, in a few flat colours.

    Decks of letters show a large one instead.
    """
    rng = np.random.default_rng([design.seed, "JQK".index(rank), "cdhs".index(suit)])
    if design.court_letters:
        tall = round(min(design.pip_dy, 26) * 1.3 * PX_PER_MM)
        _stamp(im, _sign(design, rank, tall, 1.0), _W / 2, _H / 2, design.ink(suit))
        return
    h, w = im.shape[:2]
    x0 = round(design.court_inset * PX_PER_MM)
    y0 = round(rng.uniform(5, 9) * PX_PER_MM)
    half = np.empty((h, w, 3), np.uint8)
    half[:] = design.paper
    ink = design.ink(suit)
    palette: list[Rgb] = [design.red, design.black, (235, 190, 40), (40, 70, 170), (245, 240, 225), ink]
    if rng.random() < 0.3:
        palette += [(20, 120, 70), (200, 120, 60)]

    def colour() -> Rgb:
        return palette[int(rng.integers(len(palette)))]

    cx = w / 2 + rng.uniform(-15, 15)
    shoulders = np.array(
        [
            [x0, h / 2 + 60],
            [x0, h * rng.uniform(0.3, 0.42)],
            [cx - 30, h * 0.3],
            [cx + 30, h * 0.3],
            [w - x0, h * rng.uniform(0.3, 0.42)],
            [w - x0, h / 2 + 60],
        ]
    )
    cv2.fillPoly(half, [shoulders.astype(np.int32)], colour(), cv2.LINE_AA)
    for _ in range(int(rng.integers(8, 26))):
        c = np.array([rng.uniform(x0, w - x0), rng.uniform(h * 0.3, h * 0.56)])
        style = rng.random()
        if style < 0.45:
            a = rng.uniform(0, np.pi)
            v = np.array([np.cos(a), np.sin(a)]) * rng.uniform(10, 70)
            cv2.line(
                half,
                tuple(np.int32(c - v)),
                tuple(np.int32(c + v)),
                colour(),
                int(rng.integers(2, 10)),
                cv2.LINE_AA,
            )
        elif style < 0.75:
            poly = c + rng.normal(0, 22, (int(rng.integers(3, 6)), 2))
            cv2.fillPoly(half, [poly.astype(np.int32)], colour(), cv2.LINE_AA)
        else:
            cv2.circle(
                half,
                tuple(np.int32(c)),
                int(rng.integers(3, 14)),
                colour(),
                int(rng.choice([-1, 2])),
                cv2.LINE_AA,
            )
    face = (int(cx), round(h * rng.uniform(0.22, 0.27)))
    hair = colour()
    cv2.ellipse(half, face, (28, 33), 0, 0, 360, hair, -1, cv2.LINE_AA)
    cv2.ellipse(half, (face[0], face[1] + 4), (18, 24), 0, 0, 360, (245, 226, 205), -1, cv2.LINE_AA)
    for side in (-7, 7):
        cv2.circle(half, (face[0] + side, face[1]), 2, design.black, -1, cv2.LINE_AA)
    cv2.line(half, (face[0] - 6, face[1] + 15), (face[0] + 6, face[1] + 15), design.red, 2, cv2.LINE_AA)
    # who wears what differs between printers: a reader that went by the crown would name their queens kings
    crowns = (
        [(-27, -27), (-22, -50), (-10, -34), (0, -54), (10, -34), (22, -50), (27, -27)],
        [(-27, -24), (-18, -42), (0, -48), (18, -42), (27, -24)],
        [(-30, -22), (-27, -37), (27, -37), (30, -22)],
    )
    crown = crowns[int(rng.integers(len(crowns)))]
    cv2.fillPoly(
        half, [np.array([(face[0] + a, face[1] + b) for a, b in crown], np.int32)], colour(), cv2.LINE_AA
    )
    if rng.random() < 0.4:
        beard = np.array(
            [(face[0] - 18, face[1] + 18), (face[0] + 18, face[1] + 18), (face[0], face[1] + 52)]
        )
        cv2.fillPoly(half, [beard.astype(np.int32)], hair, cv2.LINE_AA)
    lean = rng.uniform(-0.25, 0.25)
    ys, xs = np.mgrid[0:h, 0:w]
    upper = ys < h / 2 + (xs - w / 2) * lean
    figure = np.where(upper[..., None], half, half[::-1, ::-1])
    im[y0 : h - y0, x0 : w - x0] = figure[y0 : h - y0, x0 : w - x0]
    if design.court_frame:
        cv2.rectangle(im, (x0, y0), (w - x0, h - y0), colour() if rng.random() < 0.5 else ink, 2, cv2.LINE_AA)
    pip = _suit(design, suit, design.court_pip, 0.92)
    px, py = x0 / PX_PER_MM + design.court_pip * 0.62, y0 / PX_PER_MM + design.court_pip * 0.66
    right = rng.random() < 0.25
    for _turn in range(2):
        _stamp(im, pip, _W - px if right else px, py, ink)
        im[:] = im[::-1, ::-1].copy()


def _back(design: DeckDesign) -> Image8:
    """A back within a white border or to the edge: a pattern or a plain field, frame and emblem as may be."""
    rng = np.random.default_rng([design.seed, 99])
    im = _blank(design)
    h, w = im.shape[:2]
    edge = round(float(rng.choice([0, 0, 2.5, 4, 6])) * PX_PER_MM)
    dark = np.asarray(design.back, np.float32)
    light = np.asarray(design.paper, np.float32) * rng.uniform(0.75, 1.0)
    if design.back_style >= 5:  # two inks, as most casinos' backs have
        light = np.clip(dark + rng.uniform(20, 110, 3), 0, 255)
    pattern = np.where(_back_pattern(design.back_style, rng)[..., None], dark, light).astype(np.uint8)
    im[edge : h - edge, edge : w - edge] = pattern[edge : h - edge, edge : w - edge]
    if rng.random() < 0.35:
        _emblem(design, im, rng)
    if rng.random() < 0.5:
        inset = edge + round(float(rng.uniform(0, 7)) * PX_PER_MM)
        line = int(rng.integers(2, 9))
        ink = design.back if rng.random() < 0.6 else design.paper
        cv2.rectangle(im, (inset, inset), (w - inset, h - inset), ink, line, cv2.LINE_AA)
    return im


def _back_pattern(style: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Where a back has its dark ink: lattice, dots, scales, rings, a medallion, ornament, or everywhere."""
    h, w = round(_H * PX_PER_MM), round(_W * PX_PER_MM)
    ys, xs = np.mgrid[0:h, 0:w].astype(np.float32) / PX_PER_MM
    pitch = rng.uniform(2.5, 7)
    if style in (0, 5):
        ys = ys * rng.uniform(0.5, 1.0)
        up, down = np.abs((xs + ys) % pitch - pitch / 2), np.abs((xs - ys) % pitch - pitch / 2)
        share = rng.uniform(0.25, 0.45)
        m = (up < pitch * share) & (down < pitch * share)
    elif style == 1:
        m = np.hypot(xs % pitch - pitch / 2, ys % pitch - pitch / 2) < pitch * 0.33
    elif style == 2:
        m = np.sin(xs * 6.28 / pitch) * np.sin(ys * 6.28 / pitch) > rng.uniform(-0.2, 0.3)
    elif style == 3:
        m = (np.hypot(xs - _W / 2, ys - _H / 2) % pitch) < pitch * 0.5
    elif style == 4:
        m = np.hypot((xs - _W / 2) / 18, (ys - _H / 2) / 25) > 1
    elif style == 6:
        # leaves and scrolls: smooth noise cut at its middle, the same about both axes
        grain = rng.normal(size=(h, w)).astype(np.float32)
        noise = cv2.GaussianBlur(grain, (0, 0), float(rng.uniform(3, 9)))
        noise = noise + noise[::-1] + noise[:, ::-1] + noise[::-1, ::-1]
        m = noise > rng.uniform(-0.3, 0.3) * noise.std()
    else:
        m = np.ones((h, w), np.bool_)
    return np.asarray(m, np.bool_)


def _emblem(design: DeckDesign, im: Image8, rng: np.random.Generator) -> None:
    """A house's sign in the middle of a back, upright from either end."""
    h, w = im.shape[:2]
    size = (round(rng.uniform(8, 22) * PX_PER_MM), round(rng.uniform(8, 26) * PX_PER_MM))
    ground = design.paper if rng.random() < 0.6 else design.back
    cv2.ellipse(im, (w // 2, h // 2), size, 0, 0, 360, ground, -1, cv2.LINE_AA)
    cv2.ellipse(im, (w // 2, h // 2), size, 0, 0, 360, design.back, 3, cv2.LINE_AA)
    r, g, b = (int(v) for v in rng.integers(0, 256, 3))
    ink = design.red if rng.random() < 0.4 else (r, g, b)
    if rng.random() < 0.5:
        suit = "cdhs"[int(rng.integers(4))]
        _stamp(im, _suit(design, suit, float(rng.uniform(10, 22))), _W / 2, _H / 2, ink)
        return
    letter = "ABCGMRSTW"[int(rng.integers(9))]
    glyph = _glyph(design.font, letter, round(rng.uniform(5, 10) * PX_PER_MM), 0.9)
    for turn in (1, -1):
        _stamp(im, glyph[::turn, ::turn], _W / 2, _H / 2 - turn * 7, ink)


def _worn(design: DeckDesign, rgb: Image8, card: str | None) -> Image8:
    """Dirt of many fingers, ink rubbed off in places, scratches and a crease, as much as `wear` says."""
    if not design.wear:
        return rgb
    rng = np.random.default_rng([design.seed, 5, CARDS.index(card) if card else 52])
    h, w = rgb.shape[:2]
    coarse = rng.normal(size=(2, 9, 7)).astype(np.float32)
    dirt, rubbed = (cv2.resize(c, (w, h), interpolation=cv2.INTER_CUBIC) for c in coarse)
    paper = np.asarray(design.paper, np.float32)
    away = np.clip(rubbed - 0.6, 0, 1)[..., None] * design.wear * 0.5
    out = rgb * (1 - away) + paper * away
    out *= 1 - np.clip(dirt, 0, 2)[..., None] * design.wear * np.array([0.06, 0.07, 0.1], np.float32)
    out = np.clip(out, 0, 255).astype(np.uint8)
    for _ in range(int(rng.poisson(4 * design.wear))):
        a = rng.uniform((0, 0), (w, h))
        b = a + rng.normal(0, 60, 2)
        ends = [(int(p[0]), int(p[1])) for p in (a, b)]
        shade = int(rng.uniform(130, 255))
        cv2.line(out, ends[0], ends[1], (shade, shade, shade), 1, cv2.LINE_AA)
    if rng.random() < 0.4 * design.wear:
        # a corner that was bent: a dark line across it
        x, y = (int(v) for v in rng.uniform(20, 70, 2))
        right, low = rng.random(2) < 0.5
        corner = [(x, 0), (0, y)]
        line = [(w - 1 - px if right else px, h - 1 - py if low else py) for px, py in corner]
        cv2.line(out, line[0], line[1], (150, 145, 135), 2, cv2.LINE_AA)
    return np.asarray(out, np.uint8)


def printed(design: DeckDesign, rgb: Image8) -> Image8:
    """Round the corners, print the border line, and turn RGB into premultiplied BGRA."""
    h, w = rgb.shape[:2]
    if design.border:
        cv2.rectangle(rgb, (6, 6), (w - 7, h - 7), (60, 60, 60), 1, cv2.LINE_AA)
    alpha = np.zeros((h, w), np.uint8)
    r = round(design.corner * PX_PER_MM)
    cv2.rectangle(alpha, (r, 0), (w - 1 - r, h - 1), 255, -1)
    cv2.rectangle(alpha, (0, r), (w - 1, h - 1 - r), 255, -1)
    for c in ((r, r), (w - 1 - r, r), (r, h - 1 - r), (w - 1 - r, h - 1 - r)):
        cv2.circle(alpha, c, r, 255, -1, cv2.LINE_AA)
    # a thin grey rim: the paper's edge, which a camera sees as a line between two white cards
    rim = cv2.subtract(alpha, cv2.erode(alpha, np.ones((3, 3), np.uint8)))
    bgr = cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR)
    bgr = cv2.subtract(bgr, cv2.cvtColor(cv2.convertScaleAbs(rim, alpha=0.18), cv2.COLOR_GRAY2BGR))
    bgr = cv2.multiply(bgr, cv2.cvtColor(alpha, cv2.COLOR_GRAY2BGR), scale=1 / 255)
    return np.asarray(cv2.merge([*cv2.split(bgr), alpha]), np.uint8)
