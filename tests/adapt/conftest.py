"""A deck laid out and photographed, and chips from above, drawn by the simulated table."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from pitwatch.cards import RANKS
from pitwatch.sim.chipart import ChipArt, ChipDesign
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import random_design
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.light import Lens, Light, spoil
from pitwatch.sim.render import Renderer
from pitwatch.sim.scene import CardPose, Scene
from pitwatch.table.camera import Camera
from pitwatch.table.layout import template

HOUSE = {
    500: ChipDesign((40, 40, 190), (240, 240, 240), spots=6, spot_share=0.4),
    2500: ChipDesign((70, 130, 30), (60, 210, 230), spots=8, spot_share=0.35),
    10000: ChipDesign((35, 35, 35), (200, 200, 90), spots=4, spot_share=0.3),
    100000: ChipDesign((30, 120, 235), (60, 30, 120), spots=5, spot_share=0.45),
}


def house_deck() -> Deck:
    """A deck that no training used, and that is read badly at first."""
    return Deck(random_design(np.random.default_rng(4750)))


def laid_out(deck: Deck, suits: str, px_per_mm: float = 2.2) -> np.ndarray:
    """Rows of a deck on a felt from a camera that is a little tilted: rows run away from it."""
    rng = np.random.default_rng(3)
    cards = [
        CardPose(
            rank + suit,
            True,
            -462 + 77 * c + float(rng.normal(0, 2)),
            600 - 104 * r + float(rng.normal(0, 2)),
            90 + float(rng.normal(0, 2)) + 180 * int(rng.integers(2)),
            order=13 * r + c,
        )
        for r, suit in enumerate(suits)
        for c, rank in enumerate(RANKS)
    ]
    far, tilt = 1400.0, np.radians(15)
    w, h = int(1120 * px_per_mm), int(560 * px_per_mm)
    K = np.array([[far * px_per_mm, 0, w / 2], [0, far * px_per_mm, h / 2], [0, 0, 1]])
    turn = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    R = turn @ np.diag([1.0, -1.0, -1.0])
    eye = np.array([0, 444, 0]) - R.T @ np.array([0, 0, far])
    camera = Camera(w, h, K, R, -R @ eye)
    art = ChipArt(HOUSE)
    image = Renderer(camera, draw_felt(template(6)), deck, art, Light()).frame(Scene(0.0, tuple(cards)))
    return spoil(image, Lens(noise=2.0), rng)


def chip_picture(cents: int, size: int = 300) -> np.ndarray:
    """A chip from above on grey paper, a little warm, with noise."""
    top = cv2.resize(ChipArt(HOUSE).top(cents), (size, size), interpolation=cv2.INTER_CUBIC)
    out = np.full((size + 120, size + 160, 3), (175, 180, 186), np.uint8)
    part = out[60 : 60 + size, 80 : 80 + size]
    alpha = top[..., 3:].astype(float) / 255
    part[:] = np.clip(part * (1 - alpha) + top[..., :3], 0, 255)
    noise = np.random.default_rng(cents).normal(0, 3, out.shape)
    return np.clip(out * [0.95, 1.0, 1.03] + noise, 0, 255).astype(np.uint8)


@pytest.fixture(scope="session")
def deck_picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The house's deck in four rows, in no usual order."""
    path = tmp_path_factory.mktemp("deck") / "deck.png"
    cv2.imwrite(str(path), laid_out(house_deck(), "shdc"))
    return path


@pytest.fixture(scope="session")
def chip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A picture of each of the house's chips, named by its value."""
    folder = tmp_path_factory.mktemp("chips")
    for cents in HOUSE:
        cv2.imwrite(str(folder / f"{cents // 100}.png"), chip_picture(cents))
    return folder
