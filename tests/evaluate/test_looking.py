"""A picture is looked at whole, and what several tiles saw is counted once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from pitwatch.capture.frame import Frame
from pitwatch.evaluate.folders import Scene
from pitwatch.evaluate.looking import in_area, look_over, playing_area, straight_down, tiles_over
from pitwatch.evaluate.visibility import visible_shares
from pitwatch.table.layout import template
from pitwatch.vision.looks import CardSeen, Look, StackSeen, Zone

See = Callable[..., CardSeen]
FRAME = Frame(0.0, np.zeros((8, 8, 3), np.uint8), 0)


class Scattering:
    """Sees given cards in every zone that holds them, a little displaced from zone to zone."""

    def __init__(self, cards: Sequence[CardSeen], spread: float, stacks: Sequence[StackSeen] = ()) -> None:
        self.cards, self.stacks, self.spread = cards, stacks, spread

    def look(self, frame: Frame, zone: Zone) -> Look:
        a = hash(zone.name) % 360
        dx, dy = self.spread * math.cos(a), self.spread * math.sin(a)
        cards = [
            CardSeen(c.x + dx, c.y + dy, c.yaw, c.face_up, c.score, c.rank_logp, c.suit_logp, c.unread)
            for c in self.cards
            if zone.holds(c.x, c.y, -30)
        ]
        return Look(0.0, zone, tuple(cards), tuple(s for s in self.stacks if zone.holds(s.x, s.y, -15)))


@pytest.mark.parametrize("seats", [5, 6, 7])
def test_the_playing_area_holds_spots_and_dealer_but_not_the_rack(seats: int) -> None:
    layout = template(seats)
    area = playing_area(layout)
    for x, y in layout.spots:
        assert in_area(area, x + 60, y)
        assert in_area(area, x, y + 60)
    for x in (-150, 0, 345):
        assert in_area(area, x, 216)
        assert not in_area(area, x, 100)
    assert not in_area(area, -660, 84)


def test_every_card_of_the_area_is_whole_in_a_tile() -> None:
    area = playing_area(template(7))
    zones = tiles_over(area)
    (x0, y0), (x1, y1) = area.min(axis=0), area.max(axis=0)
    for x in np.arange(x0, x1, 13.0):
        for y in np.arange(y0, y1, 13.0):
            if in_area(area, x, y) and x0 + 54 < x < x1 - 54 and y0 + 54 < y < y1 - 54:
                assert any(z.holds(x, y, 54) for z in zones)


def test_a_hand_of_cards_is_counted_once_though_tiles_disagree_about_its_place(card_seen: See) -> None:
    area = playing_area(template(6))
    cards = [
        card_seen(code, -300 + 20 * n + 210 * hand, 380 - 12 * n)
        for hand in range(3)
        for n, code in enumerate(("7d", "Ks", "2h", "Tc"))
    ]
    stacks = [StackSeen(-300 + 41 * n, 480, 0.9, 2, (500, 500), ((1000, 0.9),)) for n in range(12)]
    seen = look_over(Scattering(cards, 4.0, stacks), FRAME, tiles_over(area), area)
    assert sorted(c.best or "" for c in seen.cards) == sorted(c.best or "" for c in cards)
    assert len(seen.stacks) == len(stacks)


def test_what_lies_outside_the_area_is_dropped(card_seen: See) -> None:
    area = playing_area(template(6))
    eyes = Scattering([card_seen("7d", 0, 60), card_seen("8d", 0, 216)], 0.0)
    seen = look_over(eyes, FRAME, tiles_over(area), area)
    assert [c.best for c in seen.cards] == ["8d"]


def test_of_two_views_the_one_that_shows_the_whole_card_counts(card_seen: See) -> None:
    class Cutting:
        def look(self, frame: Frame, zone: Zone) -> Look:
            whole = zone.holds(100, 0, 54)
            return Look(0.0, zone, (card_seen("7d" if whole else "4d", 100, 0),))

    zones = (Zone("left", -20, 0), Zone("right", 190, 0))
    assert [c.best for c in look_over(Cutting(), FRAME, zones).cards] == ["7d"]


def test_the_pretended_camera_has_the_scale_it_was_given() -> None:
    camera = straight_down(1200, 800, 2.5)
    assert camera.project([(0, 0), (10, 0), (0, 10)]) == pytest.approx(
        np.array([(599.5, 399.5), (624.5, 399.5), (599.5, 374.5)])
    )
    assert camera.to_table([(624.5, 374.5)]) == pytest.approx(np.array([(10, 10)]))
    assert np.linalg.det(camera.R) == pytest.approx(1)


def test_half_a_card_under_another_is_half_visible() -> None:
    camera = straight_down(1000, 800, 1.0)
    shares = visible_shares(camera, [(0, 0, 90, 1), (31.5, 0, 90, 2), (200, 0, 30, 0)], [])
    assert shares == pytest.approx([0.5, 1.0, 1.0], abs=0.02)


def test_a_stack_hides_what_its_height_covers(scene: Scene) -> None:
    flat = straight_down(1000, 800, 1.0)
    disc = math.pi * 19.5**2 / (63 * 88)
    assert visible_shares(flat, [(0, 0, 90, 1)], [(0, 0, 1)]) == pytest.approx([1 - disc], abs=0.02)
    # a tall stack before the card, as this camera sees it: its foot is beside the card, its top over it
    one, many = (visible_shares(scene.camera, [(0, 500, 90, 1)], [(0, 430, n)])[0] for n in (1, 20))
    assert many < one - 0.05


def test_what_is_outside_the_picture_is_hidden() -> None:
    camera = straight_down(1000, 800, 1.0)
    assert visible_shares(camera, [(500, 0, 90, 1)], []) == pytest.approx([0.5], abs=0.02)
