"""Crops for the networks: upright, at scale, and where the table says."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from pitwatch.chips import CASINO
from pitwatch.sim.chipart import chip_art
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import DeckDesign
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.render import Renderer
from pitwatch.sim.scene import CardPose, Scene, StackPose
from pitwatch.sim.spec import mounted_camera
from pitwatch.sim.typefaces import packaged_typefaces
from pitwatch.table.layout import template
from pitwatch.vision.crops import (
    CARD_SHAPE,
    STRIP_BELOW,
    STRIP_COLUMN_MM,
    STRIP_ROWS,
    STRIP_SHAPE,
    ZONE_PX,
    card_crop,
    card_mask,
    layer_px,
    moved_base,
    stack_strip,
    zone_maps,
    zone_picture,
    zone_to_mm,
)
from pitwatch.vision.looks import Zone

LAYOUT = template(6)


@pytest.fixture(scope="module", params=[(1920, 1080), (3840, 2160)], ids=["hd", "4k"])
def renderer(request: pytest.FixtureRequest) -> Renderer:
    camera = mounted_camera(LAYOUT, *request.param)
    return Renderer(camera, draw_felt(LAYOUT), Deck(DeckDesign(packaged_typefaces()[0])), chip_art(CASINO))


@pytest.mark.parametrize("yaw", [0.0, 33.0, 160.0, 271.0])
def test_a_card_comes_out_upright(renderer: Renderer, yaw: float) -> None:
    pose = CardPose("7d", True, -150.0, 420.0, yaw)
    crop = card_crop(renderer.frame(Scene(0.0, (pose,))), renderer.camera, pose.x, pose.y, yaw)
    assert crop.shape == (*CARD_SHAPE, 3)
    sprite = renderer.deck.sprite("7d")[..., :3]
    inner = cv2.resize(crop[10:150, 6:106], (100, 140)).astype(float)
    printed = cv2.resize(sprite, (100, 140), interpolation=cv2.INTER_AREA).astype(float)
    correlation = np.corrcoef(inner[8:-8, 8:-8].ravel(), printed[8:-8, 8:-8].ravel())[0, 1]
    assert correlation > 0.8


def test_the_zone_from_above_shows_things_at_their_place(renderer: Renderer) -> None:
    zone = Zone("z", 40.0, 430.0)
    scene = Scene(0.0, (CardPose("2c", True, 90.0, 380.0, 90.0),))
    maps = zone_maps(renderer.camera, zone)
    empty = zone_picture(renderer.frame(Scene(0.0)), maps)
    laid = zone_picture(renderer.frame(scene), maps)
    assert laid.shape == (ZONE_PX, ZONE_PX, 3)
    ys, xs = np.nonzero(np.abs(laid.astype(int) - empty).max(axis=2) > 60)
    x, y = zone_to_mm(zone, np.array([[xs.mean(), ys.mean()]]))[0]
    assert x == pytest.approx(90.0, abs=1.5)
    assert y == pytest.approx(380.0, abs=1.5)


def test_a_strip_shows_the_chips_layer_by_layer(renderer: Renderer) -> None:
    x, y = LAYOUT.spots[3]
    chips = (500,) * 6 + (2500,) * 6
    frame = renderer.frame(Scene(0.0, (), (StackPose(chips, x, y, look=3),)))
    strip = stack_strip(frame, renderer.camera, x, y).astype(float)
    assert strip.shape == (*STRIP_SHAPE, 3)
    foot = STRIP_SHAPE[0] - STRIP_ROWS * STRIP_BELOW
    low = strip[foot - 5 * STRIP_ROWS : foot - STRIP_ROWS, 10:22].mean(axis=(0, 1))
    high = strip[foot - 11 * STRIP_ROWS : foot - 7 * STRIP_ROWS, 10:22].mean(axis=(0, 1))
    assert low[2] - low[1] > high[2] - high[1] + 30, "red below, green above"
    assert 0.8 < layer_px(renderer.camera, x, y) < 8


def test_a_strip_from_a_fine_picture_has_less_noise() -> None:
    camera = mounted_camera(LAYOUT, 3840, 2160)
    x, y = LAYOUT.spots[3]
    grain = np.random.default_rng(1).normal(0, 20, (2160, 3840, 3))
    frame = np.clip(128 + grain, 0, 255).astype(np.uint8)
    per_column = 1.5 * camera.px_per_mm(x, y)
    assert per_column > 2, "several pixels fall into a column"
    strip = stack_strip(frame, camera, x, y).astype(float)
    assert strip[:, 8:24].std() < 20 * 0.75


def test_a_base_moves_by_the_strips_own_rows_and_columns(renderer: Renderer) -> None:
    x, y = LAYOUT.spots[2]
    camera = renderer.camera
    away = np.array([camera.position_mm[0] - x, camera.position_mm[1] - y])
    nearer, right = away / np.hypot(*away), np.array([-away[1], away[0]]) / np.hypot(*away)
    aside = moved_base(camera, x, y, 0.0, 4.0)
    assert np.array(aside) - (x, y) == pytest.approx(-4 * STRIP_COLUMN_MM * right, abs=1e-6)
    higher = np.array(moved_base(camera, x, y, float(STRIP_ROWS))) - (x, y)
    assert higher @ right == pytest.approx(0.0, abs=0.4)
    front = camera.project([(x + 19.5 * nearer[0], y + 19.5 * nearer[1], 3.4)])[0]
    foot = camera.to_table([front])[0] - 19.5 * nearer
    assert higher == pytest.approx(foot - (x, y), abs=0.1), "a chip's rows are a chip's height"


def test_outside_the_frame_there_is_nothing_to_read(renderer: Renderer) -> None:
    frame = renderer.frame(Scene(0.0))
    assert card_crop(frame, renderer.camera, 9000.0, 9000.0, 0.0).shape == (*CARD_SHAPE, 3)
    assert stack_strip(frame, renderer.camera, -9000.0, 9000.0).shape == (*STRIP_SHAPE, 3)


def test_the_mask_tells_where_neighbours_lie() -> None:
    mask = card_mask(0.0, 0.0, 90.0, np.array([[40.0, 0.0, 90.0]]), np.empty((0, 2)))
    assert mask[80, 100] == 255
    assert mask[80, 20] == 0
    far = card_mask(0.0, 0.0, 90.0, np.array([[400.0, 0.0, 90.0]]), np.array([[0.0, 300.0]]))
    assert not far.any()
