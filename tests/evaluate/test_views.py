"""A photograph without a calibration is looked at through the camera that its cards tell."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from pitwatch.capture.frame import Frame
from pitwatch.chips import CASINO
from pitwatch.evaluate.folders import Photos
from pitwatch.evaluate.looking import aslant
from pitwatch.evaluate.views import Views
from pitwatch.sim.chipart import chip_art
from pitwatch.sim.deck import Deck, DeckDesign
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.light import Lens, Light, spoil
from pitwatch.sim.render import Renderer
from pitwatch.sim.scene import CardPose, Scene
from pitwatch.sim.typefaces import packaged_typefaces
from pitwatch.table.camera import Camera
from pitwatch.table.from_cards import pose_from_cards
from pitwatch.table.layout import template
from pitwatch.vision.eyes import Eyes

WIDTH, HEIGHT, SCALE = 800, 600, 1.8
# no card lies whole and apart: outlines alone tell no camera
FAN = [("7h", -70, 20, 100), ("Ts", -48, 2, 96), ("4c", 42, 30, 75), ("9d", 66, 8, 70)]


@pytest.mark.parametrize("turn", [0.0, 90.0])
def test_a_guess_is_tilted_as_it_says_and_has_its_scale(turn: float) -> None:
    camera = aslant(WIDTH, HEIGHT, SCALE, 40.0, turn)
    assert camera.px_per_mm(0, 0) == pytest.approx(SCALE, rel=1e-3)
    assert math.degrees(math.acos(-camera.R[2, 2])) == pytest.approx(40.0)
    assert camera.project([(0.0, 0.0)])[0] == pytest.approx([(WIDTH - 1) / 2, (HEIGHT - 1) / 2], abs=0.01)


def test_cards_that_cover_each_other_are_read_through_a_tilted_camera() -> None:
    camera = aslant(WIDTH, HEIGHT, SCALE, 40.0, 75.0)
    cards = tuple(CardPose(c, True, x, y, yaw, order=i) for i, (c, x, y, yaw) in enumerate(FAN))
    deck = Deck(DeckDesign(packaged_typefaces()[0]))
    drawn = Renderer(camera, draw_felt(template(6)), deck, chip_art(CASINO), Light()).frame(Scene(0.0, cards))
    image = spoil(drawn, Lens(noise=2.0), np.random.default_rng(1))
    assert pose_from_cards(image, 1.05 * SCALE) is None

    opened: list[Eyes] = []

    def eyes_for(c: Camera) -> Eyes:
        if not opened:
            opened.append(Eyes(c))
        return opened[0].over(c)

    label = {"image": "fan.png", "px_per_mm": 1.05 * SCALE}
    views = Views(Photos(Path("fan"), "fan", {"images": [label]}, None, None), eyes_for)
    found, seen, seconds, _ = views.look(label, Frame(0.0, image, 0, settled=True))
    assert 0 < seconds < 30
    read = {c.best: found.project([(c.x, c.y)])[0] for c in seen.cards if c.best}
    for code, x, y, _ in FAN:
        assert code in read
        assert np.hypot(*(read[code] - camera.project([(x, y)])[0])) < 12 * SCALE
    assert math.degrees(math.acos(-found.R[2, 2])) > 20
