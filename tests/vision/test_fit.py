"""The known rectangle is found from a rough box, also where a neighbour covers a part of it."""

from __future__ import annotations

import numpy as np
import pytest

from pitwatch.chips import CASINO
from pitwatch.sim.chipart import chip_art
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import DeckDesign
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.render import Renderer
from pitwatch.sim.scene import CardPose, Scene
from pitwatch.sim.spec import mounted_camera
from pitwatch.sim.typefaces import packaged_typefaces
from pitwatch.table.layout import template
from pitwatch.vision.crops import ZONE_PX, zone_maps, zone_picture, zone_to_mm
from pitwatch.vision.fit import edge_picture, fit_card
from pitwatch.vision.looks import Zone

LAYOUT = template(6)
ZONE = Zone("z", 0.0, 380.0)
SCALE = ZONE_PX / ZONE.size


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    camera = mounted_camera(LAYOUT, 1920, 1080)
    return Renderer(camera, draw_felt(LAYOUT), Deck(DeckDesign(packaged_typefaces()[0])), chip_art(CASINO))


def _fit(
    renderer: Renderer, cards: list[CardPose], which: int, off: tuple[float, float, float]
) -> tuple[float, float, float]:
    edges = edge_picture(
        zone_picture(renderer.frame(Scene(0.0, tuple(cards))), zone_maps(renderer.camera, ZONE))
    )
    c = cards[which]
    x = (c.x + off[0] - ZONE.x + ZONE.size / 2) * SCALE - 0.5
    y = (ZONE.y + ZONE.size / 2 - c.y - off[1]) * SCALE - 0.5
    fit = fit_card(edges, x, y, -np.radians(c.yaw + off[2]), SCALE)
    mm = zone_to_mm(ZONE, np.array([[fit.x, fit.y]]))[0]
    turn = (-np.degrees(fit.angle) - c.yaw + 90) % 180 - 90
    return float(np.hypot(mm[0] - c.x, mm[1] - c.y)), abs(turn), fit.support


@pytest.mark.parametrize("off", [(4.0, -3.0, 5.0), (-5.0, 4.0, -7.0), (0.0, 0.0, 88.0)])
@pytest.mark.parametrize("yaw", [12.0, 95.0, 250.0])
def test_a_card_alone(renderer: Renderer, yaw: float, off: tuple[float, float, float]) -> None:
    away, turn, support = _fit(renderer, [CardPose("6s", True, 20.0, 325.0, yaw)], 0, off)
    assert away < 1.0
    assert turn < 1.5
    assert support > 0.8


@pytest.mark.parametrize("yaw", [12.0, 250.0])
def test_a_card_on_the_printed_insurance_line(renderer: Renderer, yaw: float) -> None:
    away, turn, support = _fit(renderer, [CardPose("6s", True, 20.0, 440.0, yaw)], 0, (4.0, -3.0, 5.0))
    assert away < 1.5
    assert turn < 2.0
    assert support > 0.6


def test_a_card_under_another(renderer: Renderer) -> None:
    cards = [CardPose("Qd", True, 0.0, 335.0, 100.0, 0.3, 1), CardPose("4c", True, 24.0, 316.0, 97.0, 0.6, 2)]
    for which in (0, 1):
        away, turn, support = _fit(renderer, cards, which, (3.0, 3.0, 4.0))
        assert away < 1.5
        assert turn < 1.5
        assert support > 0.45


def test_bare_felt_supports_nothing(renderer: Renderer) -> None:
    edges = edge_picture(
        zone_picture(renderer.frame(Scene(0.0)), zone_maps(renderer.camera, Zone("b", -300.0, 250.0)))
    )
    assert fit_card(edges, 128.0, 128.0, 0.3, SCALE).support < 0.35
