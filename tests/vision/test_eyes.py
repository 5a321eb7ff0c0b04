"""The shipped networks on drawn tables: what lies there is found and read, what does not is not."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from pitwatch.capture.frame import Frame
from pitwatch.cards import CARDS
from pitwatch.chips import CASINO
from pitwatch.errors import UserError
from pitwatch.sim.chipart import chip_art
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import DeckDesign
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.light import Lens, spoil
from pitwatch.sim.render import Renderer, replace_region
from pitwatch.sim.scene import ArmPose, CardPose, Scene, StackPose
from pitwatch.sim.spec import mounted_camera
from pitwatch.sim.typefaces import packaged_typefaces
from pitwatch.table.layout import template
from pitwatch.vision.detector import Box, thin_out
from pitwatch.vision.eyes import Eyes
from pitwatch.vision.looks import Look, Zone
from pitwatch.vision.stack_reader import tempered, totals
from pitwatch.vision.weights import read_manifest, verify, weights_folder

LAYOUT = template(6)
ZONE = Zone("z", -60.0, 420.0)


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    camera = mounted_camera(LAYOUT, 1920, 1080)
    return Renderer(camera, draw_felt(LAYOUT), Deck(DeckDesign(packaged_typefaces()[0])), chip_art(CASINO))


@pytest.fixture(scope="module")
def eyes(renderer: Renderer) -> Eyes:
    return Eyes(renderer.camera)


def _look(renderer: Renderer, eyes: Eyes, scene: Scene, zone: Zone = ZONE) -> Look:
    image = spoil(renderer.frame(scene), Lens(noise=2.0), np.random.default_rng(1))
    return eyes.look(Frame(1.5, image, 0), zone)


def test_cards_are_found_and_named(renderer: Renderer, eyes: Eyes) -> None:
    rng = np.random.default_rng(5)
    right = total = 0
    for i in range(0, 24, 2):
        poses = [
            CardPose(
                CARDS[(7 * i) % 52],
                True,
                -130.0,
                420.0 + rng.uniform(-20, 20),
                float(rng.uniform(0, 360)),
                order=0,
            ),
            CardPose(
                CARDS[(7 * i + 11) % 52],
                True,
                10.0,
                420.0 + rng.uniform(-20, 20),
                float(rng.uniform(0, 360)),
                order=1,
            ),
        ]
        look = _look(renderer, eyes, Scene(0.0, tuple(poses)))
        assert look.t == 1.5
        assert len(look.cards) == 2
        for p in poses:
            seen = min(look.cards, key=lambda c: math.hypot(c.x - p.x, c.y - p.y))
            assert math.hypot(seen.x - p.x, seen.y - p.y) < 3.0
            assert abs((seen.yaw - p.yaw + 90) % 180 - 90) < 4.0
            assert seen.face_up
            total += 1
            right += seen.best == p.card
    assert right / total >= 0.85, f"{right} of {total} cards named rightly"


def test_backs_stacks_and_hands_are_told_apart(renderer: Renderer, eyes: Eyes) -> None:
    stack = StackPose((2500, 2500, 500), -150.0, 490.0, look=2)
    scene = Scene(0.0, (CardPose("Ah", False, -60.0, 380.0, 80.0),), (stack,))
    look = _look(renderer, eyes, scene)
    assert [c.face_up for c in look.cards] == [False]
    assert [c.best for c in look.cards] == [None]
    assert len(look.stacks) == 1
    assert math.hypot(look.stacks[0].x - stack.x, look.stacks[0].y - stack.y) < 8.0
    assert look.stacks[0].values
    assert sum(p for _, p in look.stacks[0].values) <= 1.0 + 1e-9
    arm = ArmPose("dealer", -60.0, -40.0, -60.0, 400.0, 45.0, 3)
    assert _look(renderer, eyes, Scene(0.0, (), (), (arm,))).hands


def test_bare_felt_shows_nothing(renderer: Renderer, eyes: Eyes) -> None:
    for zone in LAYOUT.zones():
        look = _look(renderer, eyes, Scene(0.0), zone)
        assert not look.cards
        assert not look.stacks


def test_the_same_picture_gives_the_same_look(renderer: Renderer, eyes: Eyes) -> None:
    scene = Scene(0.0, (CardPose("9d", True, -60.0, 420.0, 30.0),))
    assert _look(renderer, eyes, scene) == _look(renderer, eyes, scene)


def test_weights_are_what_the_manifest_says(tmp_path: Path) -> None:
    entries = read_manifest()
    assert set(entries) == {"detector", "card_reader", "stack_reader"}
    for weights in entries.values():
        verify(weights)
        assert weights.about["licence"]
    assert "AGPL-3.0" in entries["detector"].about["licence"]
    assert sum(w.path.stat().st_size for w in entries.values()) < 16e6
    copy = tmp_path / "weights"
    shutil.copytree(weights_folder(), copy)
    with (copy / "card_reader.onnx").open("ab") as f:
        f.write(b"x")
    with pytest.raises(UserError, match=r"card_reader\.onnx.*wrong hash"):
        Eyes(mounted_camera(LAYOUT, 1280, 720), weights=copy)
    (copy / "card_reader.onnx").unlink()
    with pytest.raises(UserError, match="missing"):
        Eyes(mounted_camera(LAYOUT, 1280, 720), weights=copy)
    (copy / "manifest.json").write_text(json.dumps({"weights": 3}))
    with pytest.raises(UserError, match=r"manifest\.json is no manifest"):
        Eyes(mounted_camera(LAYOUT, 1280, 720), weights=copy)


def test_totals_add_up() -> None:
    count = np.zeros(26)
    count[[1, 2]] = 0.25, 0.75
    kinds = np.zeros((25, 2))
    kinds[:, 0], kinds[:, 1] = 0.9, 0.1
    values = dict(totals(count, kinds, [500, 2500]))
    assert values[500] == pytest.approx(0.25 * 0.9)
    assert values[1000] == pytest.approx(0.75 * 0.81)
    assert values[3000] == pytest.approx(0.75 * 0.18)
    assert values[2500] == pytest.approx(0.25 * 0.1)


def test_one_of_two_boxes_on_the_same_card_is_kept() -> None:
    a = Box(100.0, 100.0, 70.0, 50.0, 0.3, 0, 0.9)
    assert thin_out([a, Box(101.0, 99.0, 70.0, 50.0, 0.3, 1, 0.6)]) == [a]
    fanned = Box(112.0, 118.0, 70.0, 50.0, 0.3, 0, 0.8)
    assert thin_out([a, fanned]) == [a, fanned]
    stack = Box(100.0, 100.0, 31.0, 31.0, 0.0, 2, 0.7)
    assert thin_out([a, stack]) == [a, stack]


def test_cooled_totals_keep_their_order_and_what_was_left_out() -> None:
    values = ((3000, 0.6), (5000, 0.2), (600, 0.1))
    assert dict(tempered(values, 1.0)) == pytest.approx(dict(values))
    surer = tempered(values, 0.8)
    assert [v for v, _ in surer] == [3000, 5000, 600]
    assert 0.6 < surer[0][1] < 0.8
    assert surer[1][1] < 0.2
    # a tenth belongs to totals that are not named, and some of it stays theirs
    assert 0.02 < 1 - sum(p for _, p in surer) < 0.1
    assert tempered((), 0.8) == ()
    assert tempered(((500, 1.0),), 0.8) == ((500, 1.0),)


def test_a_back_that_the_picture_cuts_is_none_and_a_whole_one_is(renderer: Renderer, eyes: Eyes) -> None:
    scene = Scene(0.0, (CardPose("As", False, ZONE.x, ZONE.y, 80.0, 0.3, 0),), (), ())
    image = spoil(renderer.frame(scene), Lens(noise=2.0), np.random.default_rng(1))
    middle = int(renderer.camera.project([(ZONE.x, ZONE.y)])[0, 0])
    for left, backs in ((middle - 150, 1), (middle - 30, 0)):
        part = np.ascontiguousarray(image[:, left:])
        camera = replace_region(renderer.camera, (left, 0, part.shape[1], part.shape[0]))
        seen = eyes.over(camera).look(Frame(1.5, part, 0), ZONE)
        assert len([c for c in seen.cards if not c.face_up]) == backs
