"""Matching is one to one, nearest first; a reading is judged as the form of the scenes says."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from pitwatch.cards import RANKS, SUITS
from pitwatch.evaluate.counts import CardCounts, StackCounts, wilson
from pitwatch.evaluate.matching import (
    CardTruth,
    StackOutcome,
    StackTruth,
    card_outcomes,
    distances,
    match,
    match_as_set,
    reading,
    verdict,
)
from pitwatch.vision.looks import CardSeen, StackSeen

See = Callable[..., CardSeen]


def test_nearest_pairs_first_even_when_that_leaves_another_alone() -> None:
    d = distances([(0, 0), (30, 0)], [(20, 0), (90, 0)])
    assert match(d, 25) == [(1, 0)]


def test_nothing_pairs_beyond_the_limit_or_where_it_cannot() -> None:
    assert match([[25.0, 25.1]], 25) == [(0, 0)]
    assert match([[25.1]], 25) == []
    assert match([[math.inf]]) == []
    assert match(distances([], [(1, 2)])) == []


@given(nps.arrays(np.float64, st.tuples(st.integers(0, 6), st.integers(0, 6)), elements=st.floats(0, 50)))
def test_matching_is_one_to_one_and_leaves_no_pair_that_is_near_enough(d: np.ndarray) -> None:
    pairs = match(d, 25)
    rows, cols = {i for i, _ in pairs}, {j for _, j in pairs}
    assert len(rows) == len(cols) == len(pairs)
    free = [(i, j) for i in range(d.shape[0]) for j in range(d.shape[1]) if i not in rows and j not in cols]
    assert all(d[i, j] > 25 for i, j in free)


@pytest.mark.parametrize(
    ("true", "said", "is_"),
    [
        ("7d", "7d", "right"),
        ("7d", "7h", "rank"),
        ("7d", "8d", "wrong"),
        ("7d", None, "unread"),
        ("7?", "7s", "right"),
        ("7?", "8s", "wrong"),
        ("back", "back", "right"),
        ("back", "7d", "wrong"),
        ("7d", "back", "wrong"),
    ],
)
def test_verdict(true: str, said: str | None, is_: str) -> None:
    assert verdict(true, said) == is_


def test_a_card_more_likely_unreadable_than_not_is_unread(card_seen: See) -> None:
    assert reading(card_seen("7d", 0, 0)) == "7d"
    assert reading(card_seen("7d", 0, 0, unread=0.6)) is None
    assert reading(card_seen("back", 0, 0)) == "back"


def test_counts_of_cards(card_seen: See) -> None:
    truth = [
        CardTruth("7d", clear=True, laid=1),
        CardTruth("8d", clear=False, laid=2),
        CardTruth("9d", clear=True, laid=3),
        CardTruth("back", clear=True, laid=4),
        CardTruth("Kd", clear=True, laid=5),
    ]
    seen = [
        card_seen("7d", 0, 0),
        card_seen("8h", 0, 0),
        card_seen("9d", 0, 0, unread=0.9),
        card_seen("back", 0, 0),
        card_seen("2c", 0, 0),
    ]
    counts = CardCounts()
    counts.add(card_outcomes(truth, seen, [(0, 0), (1, 1), (2, 2), (3, 3)]))
    out = counts.to_json()
    assert [out[k] for k in ("truth", "found", "rank_right", "card_right", "unread", "false")] == [
        *(5, 4, 3, 2, 1, 1)
    ]
    assert (out["clear_truth"], out["clear_right"]) == (4, 2)


def test_a_card_that_is_not_scored_excuses_what_was_paired_with_it(card_seen: See) -> None:
    truth = [CardTruth("7d", scored=False)]
    assert card_outcomes(truth, [card_seen("9c", 0, 0)], [(0, 0)]) == []
    assert card_outcomes(truth, [], []) == []


def test_without_places_right_cards_pair_first(card_seen: See) -> None:
    truth = [CardTruth("7d"), CardTruth("7h"), CardTruth("back"), CardTruth("Ks")]
    seen = [card_seen("7c", 0, 0), card_seen("back", 0, 0), card_seen("7h", 0, 0)]
    assert sorted(match_as_set(truth, seen)) == [(0, 0), (1, 2), (2, 1)]


def test_the_same_card_in_twenty_pictures_is_one_card(card_seen: See) -> None:
    once, often = CardCounts(), CardCounts()
    for counts, times in ((once, 1), (often, 20)):
        for _ in range(times):
            truth = [CardTruth("7d", laid="a"), CardTruth("8d", laid="b")]
            counts.add(card_outcomes(truth, [card_seen("7d", 0, 0)], [(0, 0)]))
    assert often.to_json()["truth"] == 40
    assert often.to_json()["distinct"] == 2
    assert often.to_json()["interval"] == once.to_json()["interval"]


def test_what_is_said_surely_and_is_wrong_is_counted() -> None:
    def said(code: str, p: float) -> CardSeen:
        ranks = tuple(math.log(p if r == code[0] else (1 - p) / 12) for r in RANKS)
        suits = tuple(math.log(0.9999 if s == code[1] else 0.0001 / 3) for s in SUITS)
        return CardSeen(0, 0, 0, True, 0.9, ranks, suits, unread=0.0)

    counts = CardCounts()
    truth = [CardTruth(c, laid=i) for i, c in enumerate(("7d", "7d", "7d", "7d"))]
    seen = [said("7d", 0.99), said("8d", 0.99), said("8d", 0.9), said("7s", 0.99), said("2c", 0.97)]
    counts.add(card_outcomes(truth, seen, [(i, i) for i in range(4)]))
    # sure and right, sure and wrong, not sure, sure of the wrong suit, sure where no card is
    sure = counts.to_json()["sure"]
    assert (sure["said"], sure["wrong"]) == (4, 3)
    assert sure["upper"] > 0.9
    assert CardCounts().to_json()["sure"] == {"said": 0, "wrong": 0, "upper": None}

    stacks = StackCounts()
    stacks.add(
        [
            StackOutcome(StackTruth(1, 500, laid=1), StackSeen(0, 0, 0.9, 1, (500,), ((500, 0.99),))),
            StackOutcome(StackTruth(2, 1000, laid=2), StackSeen(0, 0, 0.9, 1, (500,), ((500, 0.96),))),
            StackOutcome(StackTruth(2, 1000, laid=3), StackSeen(0, 0, 0.9, 1, (500,), ((500, 0.6),))),
            StackOutcome(StackTruth(laid=4), StackSeen(0, 0, 0.9, 1, (500,), ((500, 0.99),))),
        ]
    )
    assert stacks.to_json()["sure"]["said"] == 2
    assert stacks.to_json()["sure"]["wrong"] == 1


def test_wilson_interval() -> None:
    # 8 of 10 at 95 %: the textbook's 0.490 to 0.943
    low, high = wilson(0.8, 10)
    assert (round(low, 3), round(high, 3)) == (0.49, 0.943)
    assert wilson(0.5, 0) == (0.0, 1.0)


def test_stacks_without_a_known_count_or_value_are_found_only() -> None:
    counts = StackCounts()
    seen = StackSeen(0, 0, 0.9, 3, (500, 500, 500), ((1500, 0.9),))
    counts.add(
        [
            StackOutcome(StackTruth(laid=1), seen),
            StackOutcome(StackTruth(count=3, laid=2), seen),
            StackOutcome(StackTruth(count=4, laid=3), None),
            StackOutcome(None, seen),
        ]
    )
    out = counts.to_json()
    assert [out[k] for k in ("truth", "found", "count_right", "value_right", "false", "counted")] == [
        *(3, 2, 1, None, 1, 2)
    ]
