"""What the evidence about one card or stack amounts to."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pitwatch.cards import RANKS, SUITS
from pitwatch.vision.compare import turned_plainly
from pitwatch.vision.fuse import CardGroup, card_groups, verdict
from pitwatch.vision.looks import CardSeen, Look, StackSeen, Zone
from pitwatch.vision.motion import Foot
from pitwatch.vision.tracks import CardTrack, Reading, Values, yaw_between, yaw_mean

ZONE = Zone("seat-1-cards", 0, 0)


def card(
    code: str, p: float = 0.98, unread: float = 0.02, visible: float = 1.0, x: float = 0.0, score: float = 0.9
) -> CardSeen:
    def logp(which: str, of: str) -> tuple[float, ...]:
        return tuple(math.log(p if k == which else (1 - p) / (len(of) - 1)) for k in of)

    return CardSeen(x, 0.0, 30.0, True, score, logp(code[0], RANKS), logp(code[1], SUITS), unread, visible)


def stack(cents: int, p: float, other: int = 0) -> StackSeen:
    values = ((cents, p),) + (((other, 1 - p - 0.01),) if other else ())
    return StackSeen(0.0, 0.0, 0.9, 2, (), values)


def test_one_look_is_worth_what_it_says():
    r = Reading()
    r.add(card("7d"))
    text, p = r.text(0.9)
    assert (text, p) == ("7d", pytest.approx(0.98 * 0.98 * 0.98, abs=0.01))
    assert Reading().text(0.9)[0] is None


def test_many_looks_at_one_picture_are_one_look():
    r = Reading()
    for _ in range(20):
        r.add(card("7d", p=0.8))
    assert r.text(0.9)[0] is None
    assert r.text(0.5)[1] == pytest.approx(0.63, abs=0.03)


def test_a_changed_picture_adds_to_the_evidence():
    r = Reading()
    for _ in range(3):
        r.next_epoch(1.0)
        r.add(card("7d", p=0.8))
    assert r.text(0.9)[0] == "7d"


def test_what_shows_little_outweighs_nothing():
    r = Reading()
    r.add(card("7d"))
    for _ in range(4):
        r.next_epoch(0.7)
        r.add(card("Kd", p=0.97, unread=0.3, visible=0.25))
    assert r.text(0.9)[0] == "7d"


def test_rank_alone():
    r = Reading()
    sure = card("7d")
    r.add(CardSeen(0, 0, 0, True, 0.9, sure.rank_logp, (math.log(0.25),) * 4, 0.02, 1.0))
    assert r.text(0.9)[0] == "7?"


def test_same_or_another_card():
    r = Reading()
    r.add(card("7d"))
    assert r.against([card("7d")]) < -3
    assert r.against([card("Kd")]) > 1.2
    assert abs(r.against([card("Kd", unread=0.99)])) < 1


def test_a_stack_keeps_its_value_against_one_doubtful_look():
    v = Values()
    v.add(stack(3000, 0.95))
    v.next_epoch(0.9)
    v.add(stack(3500, 0.6, 3000))
    assert v.best()[0] == 3000
    v.next_epoch(0.1)
    v.add(stack(3500, 0.95))
    assert v.best() == (3500, pytest.approx(0.95, abs=0.05))


def test_a_clear_look_counts_more_than_unclear_ones():
    v = Values()
    for _ in range(5):
        v.add(stack(3000, 0.4, 3500))
    assert v.best()[1] < 0.8
    for _ in range(2):
        v.add(stack(3000, 0.95))
    assert v.best() == (3000, pytest.approx(0.9, abs=0.1))


def test_yaws_turn_half_way_round():
    assert yaw_between(179.0, 2.0) == pytest.approx(3.0)
    assert yaw_mean([178.0, 4.0]) == pytest.approx(1.0)


def test_looks_fuse_into_groups():
    looks = [
        Look(0.0, ZONE, (card("7d", x=0.0), card("7d", x=4.0, score=0.5), card("Kd", x=90.0))),
        Look(0.1, ZONE, (card("7d", x=3.0),)),
    ]
    groups = card_groups(looks)
    assert [(round(g.x, 1), len(g.seen)) for g in groups] == [(1.5, 2), (90.0, 1)]
    assert verdict(groups[0], 2, 6.0, 2) is True
    assert verdict(groups[1], 2, 6.0, 2) is None
    assert verdict(groups[1], 3, 6.0, 2) is False
    assert verdict(groups[1], 1, 6.0, 1) is True


def test_a_back_is_turned_when_every_look_reads_a_face_plainly():
    foot = Foot(0, 0, 0, 0, np.zeros((0, 0), dtype=np.bool_))
    down = CardTrack(1, 0.0, 0.0, 90.0, False, foot, np.zeros((0, 0, 3), np.uint8))
    plain = card("8c", 0.995, unread=0.0, score=0.97)
    doubtful = replace(plain, score=0.8)
    back = CardSeen(0.0, 0.0, 90.0, False, 0.99)
    assert turned_plainly(down, CardGroup({0: plain, 1: plain}))
    # one look, one that is unsure, one that saw a back: that may be a slip
    assert not turned_plainly(down, CardGroup({0: plain}))
    assert not turned_plainly(down, CardGroup({0: plain, 1: doubtful}))
    assert not turned_plainly(down, CardGroup({0: plain, 1: back}))
    assert not turned_plainly(replace(down, face_up=True), CardGroup({0: plain, 1: plain}))
