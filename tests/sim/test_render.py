"""The renderer: things are where the camera says, cover each other in order, and come out the same twice."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest

from pitwatch.cards import CARDS
from pitwatch.chips import CASINO
from pitwatch.sim.chipart import chip_art
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import DeckDesign, random_design
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.light import Lens, spoil
from pitwatch.sim.render import Renderer, card_corners
from pitwatch.sim.samples import Sampler
from pitwatch.sim.scene import ArmPose, CardPose, Scene, StackPose
from pitwatch.sim.spec import mounted_camera
from pitwatch.sim.typefaces import packaged_typefaces
from pitwatch.table.layout import template

LAYOUT = template(6)


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    camera = mounted_camera(LAYOUT, 1280, 720)
    return Renderer(camera, draw_felt(LAYOUT), Deck(DeckDesign(packaged_typefaces()[0])), chip_art(CASINO))


def _mean(picture: np.ndarray, outline: np.ndarray) -> np.ndarray:
    mask = np.zeros(picture.shape[:2], np.uint8)
    cv2.fillPoly(mask, [np.round(outline).astype(np.int32)], 255)
    return np.asarray(cv2.mean(picture, mask)[:3])


def test_a_card_is_where_the_camera_projects_it(renderer: Renderer) -> None:
    card = CardPose("2h", True, -200.0, 400.0, 37.0)
    empty, laid = renderer.frame(Scene(0.0)), renderer.frame(Scene(0.0, (card,)))
    outline = renderer.camera.project(card_corners(card))
    changed = np.abs(laid.astype(int) - empty).max(axis=2) > 60
    ys, xs = np.nonzero(changed)
    assert abs(xs.mean() - outline[:, 0].mean()) < 1.0
    assert abs(ys.mean() - outline[:, 1].mean()) < 1.0
    area = cv2.contourArea(outline.astype(np.float32))
    assert 0.93 < changed.sum() / area < 1.05
    assert _mean(laid, outline).min() > 140


def test_the_felt_s_print_is_where_the_camera_projects_it(renderer: Renderer) -> None:
    empty = renderer.frame(Scene(0.0))
    a = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    for x, y in LAYOUT.spots:
        ring = np.column_stack([x + LAYOUT.circle_r * np.cos(a), y + LAYOUT.circle_r * np.sin(a)])
        inside = np.column_stack([x + 20 * np.cos(a), y + 20 * np.sin(a)])
        on, off = (
            empty[tuple(np.round(renderer.camera.project(p)).astype(int)[:, ::-1].T)] for p in (ring, inside)
        )
        assert (on.astype(int)[:, 2] - off[:, 2].mean() > 60).mean() > 0.9, "the yellow circle is not there"
        assert off.mean(axis=0).argmax() == 1, "the cloth is not green"


def test_the_later_card_lies_over_the_earlier(renderer: Renderer) -> None:
    low = CardPose("As", False, 0.0, 400.0, 90.0, order=1)
    high = CardPose("2d", True, 12.0, 410.0, 90.0, z=0.6, order=2)
    ids = renderer.ids(Scene(0.0, (low, high)), 1.0)
    centre = renderer.camera.project([(high.x, high.y, high.z)])
    assert ids.at(centre)[0] == 2
    both = renderer.frame(Scene(0.0, (low, high)))
    alone = renderer.frame(Scene(0.0, (high,)))
    inner = renderer.camera.project(card_corners(high)).mean(axis=0).astype(int)
    assert np.abs(both[inner[1], inner[0]].astype(int) - alone[inner[1], inner[0]]).max() < 25


def test_a_taller_stack_reaches_higher_and_shows_its_colours(renderer: Renderer) -> None:
    x, y = LAYOUT.spots[2]
    heights = []
    for n in (2, 12):
        hull = renderer.stack_hull(StackPose((500,) * n, x, y))
        heights.append(hull[:, 1].max() - hull[:, 1].min())
    assert heights[1] > heights[0] + 10
    red = renderer.frame(Scene(0.0, (), (StackPose((500,) * 8, x, y),)))
    green = renderer.frame(Scene(0.0, (), (StackPose((2500,) * 8, x, y),)))
    hull = renderer.stack_hull(StackPose((500,) * 8, x, y))
    r, g = _mean(red, hull), _mean(green, hull)
    assert r[2] > g[2] + 25
    assert g[1] > r[1]


def test_an_arm_covers_what_lies_under_it(renderer: Renderer) -> None:
    card = CardPose("Kd", True, 0.0, 400.0, 90.0)
    arm = ArmPose("dealer", 0.0, -40.0, 0.0, 400.0, 45.0, 5)
    free, covered = renderer.frame(Scene(0.0, (card,))), renderer.frame(Scene(0.0, (card,), (), (arm,)))
    p = renderer.camera.project([(0.0, 400.0, 45.0)])[0].astype(int)
    assert np.abs(free[p[1], p[0]].astype(int) - covered[p[1], p[0]]).max() > 20
    ids = renderer.ids(Scene(0.0, (card,), (), (arm,)), 1.0)
    assert ids.at(p[None].astype(float))[0] == 2


def test_cached_and_fresh_frames_are_alike(renderer: Renderer) -> None:
    scene = Scene(0.0, (CardPose("9c", True, 100.0, 380.0, 70.0),), (StackPose((100, 500), 0.0, 600.0),))
    first = renderer.frame(scene)
    renderer.frame(Scene(0.0))
    assert np.array_equal(renderer.frame(dataclasses.replace(scene, t=3.0)), first)


def test_every_card_of_every_deck_is_another() -> None:
    for seed in range(3):
        deck = Deck(random_design(np.random.default_rng(seed)))
        faces = {deck.sprite(c).tobytes() for c in (*CARDS, None)}
        assert len(faces) == 53
        assert Deck(deck.design).sprite("Qh").tobytes() == deck.sprite("Qh").tobytes()
    with pytest.raises(KeyError):
        deck.sprite("1x")


def test_spoiling_keeps_the_shape_and_adds_noise() -> None:
    flat = np.full((1200, 1500, 3), 90, np.uint8)
    out = spoil(flat, Lens(blur=0.0, noise=4.0), np.random.default_rng(1))
    assert out.shape == flat.shape
    assert 3.0 < float(out.std()) < 5.0
    again = spoil(flat, Lens(blur=0.0, noise=4.0), np.random.default_rng(1))
    assert np.array_equal(out, again)


def test_samples_say_how_much_of_a_card_shows() -> None:
    sampler = Sampler(4, size=110.0)
    seen = [sampler.next_card().cards[0] for _ in range(40)]
    assert any(c.visible > 0.95 for c in seen)
    assert any(c.visible < 0.6 for c in seen)
    assert all(c.readable for c in seen if c.visible > 0.97)
    assert not any(c.readable for c in seen if c.visible < 0.02)
    twin = Sampler(4, size=110.0)
    assert twin.next_card().image.tobytes() == Sampler(4, size=110.0).next_card().image.tobytes()
