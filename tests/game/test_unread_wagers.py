"""Wagers that were never read: what is certain all the same is judged, and nothing is invented."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pitwatch.game.audit import Audit
from pitwatch.game.events import event_from_json
from pitwatch.game.findings import Finding, Unverified
from pitwatch.game.log import Header
from pitwatch.game.record import RoundRecord

DEALT = (
    {"t": 1, "type": "chips", "seat": 2, "spot": "main", "amount": None},
    {"t": 2, "type": "card", "seat": 2, "card": "Td"},
    {"t": 3, "type": "card", "seat": 0, "card": "7d"},
    {"t": 4, "type": "card", "seat": 2, "card": "3h"},
    {"t": 5, "type": "card", "seat": 0, "card": None, "face": "down"},
)
BUST = (
    {"t": 12, "type": "card", "seat": 2, "card": "Kh"},
    {"t": 14, "type": "chips", "seat": 2, "spot": "main", "amount": 0, "by": "dealer"},
    {"t": 14, "type": "clear", "seat": 2},
    {"t": 16, "type": "turn", "seat": 0, "card": "Th"},
    {"t": 20, "type": "clear", "seat": 0},
)
HIT = {"t": 10, "type": "card", "seat": 2, "card": "2h"}
MORE = {"t": 8, "type": "chips", "seat": 2, "spot": "main", "amount": None}


def _judged(events: Iterable[dict[str, Any]]) -> tuple[list[Finding | Unverified], RoundRecord]:
    audit, said = Audit(Header(table="T", rules="greektown", seats=6)), []
    for e in events:
        said += audit.feed(event_from_json(e))
    said += audit.finish()
    return said, audit.rounds_done[0]


def test_a_bust_hand_is_judged_without_its_wager() -> None:
    said, record = _judged((*DEALT, HIT, *BUST))
    assert said == []
    hand = record.hands[0]
    assert (hand.wager, hand.doubled, hand.outcome) == (None, False, "bust")


def test_unread_chips_that_were_laid_before_the_third_card_may_be_a_double() -> None:
    said, record = _judged((*DEALT, MORE, HIT, *BUST))
    assert [type(s) for s in said] == [Unverified], "a fourth card to a doubled hand is none of a bust one's"
    assert record.hands[0].doubled


def test_a_third_card_laid_across_may_be_a_double_too() -> None:
    said, record = _judged((*DEALT, HIT | {"sideways": True}, *BUST))
    assert [type(s) for s in said] == [Unverified]
    assert record.hands[0].doubled


def test_a_hand_whose_unread_wager_went_is_not_surely_waiting_for_the_dealer() -> None:
    taken = {"t": 10, "type": "chips", "seat": 2, "spot": "main", "amount": 0, "by": "dealer"}
    turned = {"t": 16, "type": "turn", "seat": 0, "card": "5h"}
    over = ({"t": 20, "type": "clear", "seat": 2}, {"t": 20, "type": "clear", "seat": 0})
    said, _ = _judged((*DEALT, taken, turned, *over))
    assert [type(s) for s in said] == [Unverified], "a dealer with 12 need not draw for a hand that is gone"


PUSH = (
    {"t": 10, "type": "card", "seat": 2, "card": "4h"},
    {"t": 16, "type": "turn", "seat": 0, "card": "Th"},
)
OVER = ({"t": 24, "type": "clear", "seat": 2}, {"t": 25, "type": "clear", "seat": 0})


@pytest.mark.parametrize("by", ["player", None])
def test_a_push_is_judged_without_its_wager(by: str | None) -> None:
    back = {"t": 22, "type": "chips", "seat": 2, "spot": "main", "amount": 0} | ({"by": by} if by else {})
    said, record = _judged((*DEALT, *PUSH, back, *OVER))
    assert said == []
    assert record.hands[0].outcome == "pushed"


@pytest.mark.parametrize("by", ["dealer", None])
def test_a_push_to_which_unread_chips_came_is_not_judged(by: str | None) -> None:
    more = {"t": 20, "type": "chips", "seat": 2, "spot": "main", "amount": None} | ({"by": by} if by else {})
    back = {"t": 22, "type": "chips", "seat": 2, "spot": "main", "amount": 0, "by": "player"}
    said, _ = _judged((*DEALT, *PUSH, more, back, *OVER))
    assert [type(s) for s in said] == [Unverified]


def test_a_winner_whose_wager_was_never_read_is_not_judged() -> None:
    won = ({"t": 10, "type": "card", "seat": 2, "card": "7h"}, PUSH[1])
    back = {"t": 22, "type": "chips", "seat": 2, "spot": "main", "amount": 0, "by": "player"}
    said, _ = _judged((*DEALT, *won, back, *OVER))
    assert [type(s) for s in said] == [Unverified]


def test_a_push_that_was_taken_is_found_without_its_wager() -> None:
    taken = {"t": 22, "type": "chips", "seat": 2, "spot": "main", "amount": 0, "by": "dealer"}
    said, _ = _judged((*DEALT, *PUSH, taken, *OVER))
    assert [s.kind for s in said if isinstance(s, Finding)] == ["push_taken"]
