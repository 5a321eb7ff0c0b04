"""A photograph without a calibration is looked at through the camera that its cards tell."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from pitwatch.capture.frame import Frame
from pitwatch.cards import RANKS, SUITS
from pitwatch.chips import CASINO
from pitwatch.evaluate.folders import Photos
from pitwatch.evaluate.looking import aslant
from pitwatch.evaluate.report import trained_eyes
from pitwatch.evaluate.views import Views
from pitwatch.sim.chipart import chip_art
from pitwatch.sim.deck import Deck, DeckDesign
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.light import Lens, Light, spoil
from pitwatch.sim.render import Renderer
from pitwatch.sim.scene import CardPose, Scene
from pitwatch.sim.typefaces import packaged_typefaces
from pitwatch.table.from_cards import pose_from_cards
from pitwatch.table.layout import template
from pitwatch.vision.looks import CardSeen, Look, Zone

WIDTH, HEIGHT, SCALE = 800, 600, 1.8
# no card lies whole and apart: outlines alone tell no camera
FAN = [("7h", -70, 20, 100), ("Ts", -48, 2, 96), ("4c", 42, 30, 75), ("9d", 66, 8, 70)]


@pytest.mark.parametrize("turn", [0.0, 90.0])
def test_a_guess_is_tilted_as_it_says_and_has_its_scale(turn: float) -> None:
    camera = aslant(WIDTH, HEIGHT, SCALE, 40.0, turn)
    assert camera.px_per_mm(0, 0) == pytest.approx(SCALE, rel=1e-3)
    assert math.degrees(math.acos(-camera.R[2, 2])) == pytest.approx(40.0)
    assert camera.project([(0.0, 0.0)])[0] == pytest.approx([(WIDTH - 1) / 2, (HEIGHT - 1) / 2], abs=0.01)


def test_a_guess_is_tilted_about_the_direction_that_is_said() -> None:
    lying = aslant(WIDTH, HEIGHT, SCALE, 40.0, 0.0)
    assert lying.px_per_mm(0, 100) > 1.1 * lying.px_per_mm(0, -100)
    assert lying.px_per_mm(100, 0) == pytest.approx(lying.px_per_mm(-100, 0))
    upright = aslant(WIDTH, HEIGHT, SCALE, 40.0, 90.0)
    assert upright.px_per_mm(100, 0) > 1.1 * upright.px_per_mm(-100, 0)
    other = aslant(WIDTH, HEIGHT, SCALE, -40.0, 90.0)
    assert other.px_per_mm(-100, 0) == pytest.approx(upright.px_per_mm(100, 0))


class Blind:
    def look(self, frame: Frame, zone: Zone) -> Look:
        return Look(frame.t, zone, (), (), ())


def test_where_no_card_lies_the_camera_is_straight_above_at_the_given_scale() -> None:
    photos = Photos(Path("empty"), "empty", {"images": [], "px_per_mm": SCALE}, None, None)
    image = np.full((HEIGHT, WIDTH, 3), 90, np.uint8)
    looked = Views(photos, lambda _: Blind()).look({"image": "a.png"}, Frame(0.0, image, 0))
    assert looked.camera.px_per_mm(0, 0) == pytest.approx(SCALE)
    assert abs(looked.camera.R[2, 2]) == pytest.approx(1.0)


class Seeing:
    """Eyes that see these faces wherever they look: code, x mm, score."""

    def __init__(self, *faces: tuple[str, float, float]) -> None:
        self.faces = faces

    def look(self, frame: Frame, zone: Zone) -> Look:
        seen = []
        for code, x, score in self.faces:
            ranks = tuple(0.0 if r == code[0] else -20.0 for r in RANKS)
            suits = tuple(0.0 if s == code[1] else -20.0 for s in SUITS)
            seen.append(CardSeen(x, 0.0, 90.0, True, score, ranks, suits, 0.0, 1.0))
        return Look(frame.t, zone, tuple(seen), (), ())


@pytest.mark.parametrize(
    ("faces", "kept"),
    [
        ([("7h", 0.0, 0.9), ("7h", 30.0, 0.5)], [0.0]),
        ([("7h", 0.0, 0.5), ("7h", 30.0, 0.9)], [30.0]),
        ([("7h", 0.0, 0.9), ("8h", 30.0, 0.5)], [0.0, 30.0]),
        ([("7h", 0.0, 0.9), ("7h", 70.0, 0.5)], [0.0, 70.0]),
    ],
)
def test_one_card_is_not_seen_twice_through_a_guessed_camera(
    faces: list[tuple[str, float, float]], kept: list[float]
) -> None:
    photos = Photos(Path("two"), "two", {"images": [], "px_per_mm": SCALE}, None, None)
    image = np.full((HEIGHT, WIDTH, 3), 90, np.uint8)
    looked = Views(photos, lambda _: Seeing(*faces)).look({"image": "a.png"}, Frame(0.0, image, 0))
    assert sorted(c.x for c in looked.seen.cards) == kept


def test_cards_that_cover_each_other_are_read_through_a_tilted_camera() -> None:
    camera = aslant(WIDTH, HEIGHT, SCALE, 40.0, 75.0)
    cards = tuple(CardPose(c, True, x, y, yaw, order=i) for i, (c, x, y, yaw) in enumerate(FAN))
    deck = Deck(DeckDesign(packaged_typefaces()[0]))
    drawn = Renderer(camera, draw_felt(template(6)), deck, chip_art(CASINO), Light()).frame(Scene(0.0, cards))
    image = spoil(drawn, Lens(noise=2.0), np.random.default_rng(1))
    assert pose_from_cards(image, 1.05 * SCALE) is None

    label = {"image": "fan.png", "px_per_mm": 1.05 * SCALE}
    views = Views(Photos(Path("fan"), "fan", {"images": [label]}, None, None), trained_eyes)
    found, seen, seconds = views.look(label, Frame(0.0, image, 0, settled=True))
    assert 0 < seconds < 30
    read = {c.best: found.project([(c.x, c.y)])[0] for c in seen.cards if c.best}
    for code, x, y, _ in FAN:
        assert code in read
        assert np.hypot(*(read[code] - camera.project([(x, y)])[0])) < 12 * SCALE
    assert math.degrees(math.acos(-found.R[2, 2])) > 20
