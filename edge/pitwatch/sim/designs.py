"""How decks look: lengths, colours and habits of printers, given or drawn at random.

In: a seed, or numbers. Out: a `DeckDesign`, of which `pitwatch.sim.deck` draws the cards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pitwatch.sim.pips import OTHER_PIPS
from pitwatch.sim.typefaces import packaged_typefaces

__all__ = ["DeckDesign", "Rgb", "casino_design", "random_design"]

Rgb = tuple[int, int, int]


@dataclass(frozen=True)
class DeckDesign:
    """How one deck looks; lengths in mm, colours RGB.

    wear: 0 for a new deck, 1 for one that should have been changed long ago.
    printers_hand: the index is drawn as card printers do, not set in `font`.
    other_pips: ranks whose pips lie unusually. suit_font: the type face whose suits are printed, if any.
    """

    font: str
    index_height: float = 8.5
    index_stretch: float = 0.8
    index_x: float = 5.5
    index_y: float = 4.0
    index_suit: float = 5.5
    index_gap: float = 1.2
    beside: bool = False
    four_index: bool = False
    pip: float = 12.0
    pip_dx: float = 14.5
    pip_dy: float = 29.0
    pip_stretch: float = 0.9
    ace: float = 22.0
    ace_ring: bool = False
    court_inset: float = 10.0
    court_frame: bool = True
    court_pip: float = 10.0
    court_letters: bool = False
    paper: Rgb = (252, 252, 250)
    red: Rgb = (205, 20, 35)
    black: Rgb = (20, 20, 24)
    four_colour: bool = False
    other_pips: str = ""
    suit_font: str = ""
    printers_hand: bool = False
    wear: float = 0.0
    border: bool = False
    corner: float = 3.5
    back: Rgb = (40, 70, 150)
    back_style: int = 0
    seed: int = 0

    def ink(self, suit: str) -> Rgb:
        """The colour in which a suit is printed."""
        if self.four_colour and suit in "cd":
            return (10, 110, 50) if suit == "c" else (25, 60, 190)
        return self.red if suit in "dh" else self.black


def random_design(
    rng: np.random.Generator, fonts: tuple[str, ...] | None = None, suit_fonts: tuple[str, ...] = ()
) -> DeckDesign:
    """A deck that nobody printed: regular, large or casino jumbo index, any type face, any court art.

    suit_fonts: type faces with suits, used for two decks in three.
    """
    fonts = fonts or packaged_typefaces()
    u = rng.uniform
    kind = rng.choice(["regular", "large", "jumbo"], p=[0.5, 0.3, 0.2])
    height = {"regular": u(5.5, 9.5), "large": u(9.5, 13), "jumbo": u(13, 19)}[kind]
    suit = {"regular": u(3.5, 6.5), "large": u(5.5, 9), "jumbo": u(7, 12)}[kind]
    wide = {"regular": u(4.2, 7), "large": u(6, 8.5), "jumbo": u(8, 10.5)}[kind]
    white = int(u(236, 256))
    red = (int(u(165, 240)), int(u(0, 60)), int(u(0, 70)))
    dark = int(u(0, 45) if rng.random() < 0.65 else u(45, 110))
    pip = float(u(9, 14.5) if kind != "jumbo" else u(8, 12))
    # a pip field leaves the index its column, as printed decks do, mostly
    field = 31.5 - wide * (1.7 if rng.random() < 0.85 else 1.0) - pip / 2
    return DeckDesign(
        font=str(fonts[int(rng.integers(len(fonts)))]),
        index_height=float(height),
        index_stretch=float(u(0.6, 1.05) if rng.random() < 0.7 else u(0.4, 0.65)),
        index_x=float(wide),
        index_y=float(u(2.2, 5.5)),
        index_suit=float(suit),
        index_gap=float(u(0.4, 2.2)),
        beside=bool(kind != "regular" and rng.random() < 0.12),
        four_index=bool(rng.random() < 0.18),
        pip=pip,
        pip_dx=float(np.clip(u(10.5, 17), 7.5, max(field, 7.6))),
        pip_dy=float(u(24, 33)),
        pip_stretch=float(u(0.74, 1.02)),
        ace=float(u(14, 40)),
        ace_ring=bool(rng.random() < 0.3),
        court_inset=float(u(7, 13) if kind == "regular" else u(10, 18)),
        court_frame=bool(rng.random() < 0.75),
        court_pip=float(u(7, 13)),
        court_letters=bool(rng.random() < 0.05),
        paper=(white, white - int(u(0, 8)), white - int(u(0, 22))),
        red=red,
        black=(dark, dark, dark + int(u(0, 15))),
        four_colour=bool(rng.random() < 0.08),
        other_pips="".join(r for r in OTHER_PIPS if rng.random() < 0.25),
        suit_font=str(suit_fonts[int(rng.integers(len(suit_fonts)))])
        if suit_fonts and rng.random() < 0.67
        else "",
        printers_hand=bool(rng.random() < 0.5),
        wear=float(max(0.0, u(-1, 1))),
        border=bool(rng.random() < 0.1),
        corner=float(u(2.5, 5)),
        back=(int(u(10, 200)), int(u(10, 160)), int(u(20, 200))),
        back_style=int(rng.integers(8)),
        seed=int(rng.integers(1 << 30)),
    )


def casino_design(rng: np.random.Generator) -> DeckDesign:
    """A deck as casinos buy them: large or jumbo index, pips and courts in the usual places, hardly worn."""
    while True:
        design = random_design(rng)
        plain = not (design.other_pips or design.court_letters or design.four_colour or design.beside)
        if design.index_height > 9.5 and plain:
            return replace(design, wear=0.3 * design.wear)
