"""A stack's outline tells where it stands and how many chips high it is."""

from __future__ import annotations

import numpy as np
import pytest

from pitwatch.chips import CASINO
from pitwatch.sim.chipart import chip_art
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import DeckDesign
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.render import Renderer
from pitwatch.sim.scene import Scene, StackPose
from pitwatch.sim.spec import mounted_camera
from pitwatch.sim.typefaces import packaged_typefaces
from pitwatch.table.layout import template
from pitwatch.vision.silhouette import Outline, count_likelihood, fit_stack

LAYOUT = template(6)


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    camera = mounted_camera(LAYOUT, 1920, 1080)
    return Renderer(camera, draw_felt(LAYOUT), Deck(DeckDesign(packaged_typefaces()[0])), chip_art(CASINO))


@pytest.mark.parametrize("chips", [1, 2, 3, 5])
def test_height_and_base(renderer: Renderer, chips: int) -> None:
    x, y = LAYOUT.spots[1]
    image = renderer.frame(Scene(0.0, (), (StackPose((500,) * chips, x, y, look=chips),)))
    outline = fit_stack(image, renderer.camera, x + 2.0, y - 2.0)
    assert outline.support > 0.8
    assert abs(outline.height / 3.4 - chips) < 1.0
    assert np.hypot(outline.x - x, outline.y - y) < 3.0
    assert int(count_likelihood(outline).argmax()) in (chips - 1, chips, chips + 1)


def test_nothing_there_says_nothing(renderer: Renderer) -> None:
    assert fit_stack(renderer.frame(Scene(0.0)), renderer.camera, -9000.0, 0.0).support == 0.0
    assert not count_likelihood(Outline(0.0, 0.0, 10.0, 0.6)).any()
