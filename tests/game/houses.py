"""Random houses: every rule that the played rounds follow, at random, and what a mistake needs."""

from __future__ import annotations

from random import Random
from typing import Any

SIDE_BETS: dict[str, Any] = {
    "bet_player": {"pays": {"player_blackjack": "15:1"}},
    "bet_dealer": {"pays": {"dealer_blackjack": "15:1"}},
    "perfect_pairs": "perfect_pairs",
    "21+3_flat": "21+3_flat",
}
INSURANCE = {"upcard": "A", "limit": "1/2", "pays": "2:1"}

NEEDS: dict[str, dict[str, Any]] = {
    "burn_missing": {"burn": 1},
    "peek_missed": {"peek_seen": True, "peek": ["A", "ten"], "hole_card": "dealt", "surrender": "none"},
    "blackjack_paid_late": {"blackjack_paid": "at_once"},
    "blackjack_paid_early": {"peek": ["A", "ten"], "hole_card": "dealt"},
    "bust_not_taken": {"bust_taken": "at_once"},
    "dealer_drew_needlessly": {"dealer_draws_when_no_live_hand": False, "hole_card": "dealt"},
    "insurance_late": {
        "insurance": INSURANCE,
        "insurance_until": "peek",
        "peek": ["A"],
        "hole_card": "dealt",
    },
    "insurance_not_allowed": {"hole_card": "dealt"},
    "surrender_not_allowed": {"surrender": "none"},
    "surrender_wrong": {"surrender": "late"},
    "split_not_allowed": {"max_hands": 2, "resplit_aces": False},
    "double_not_allowed": {"charlie": 0},
    "card_against_signal": {"charlie": 0},
    "taken_over": {"dealer_blackjack_takes": "original", "peek": []},
    "hole_exposed_early": {"hole_card": "dealt"},
}
KINDS = (
    *NEEDS,
    "paid_over",
    "paid_short",
    "winner_taken",
    "winner_not_paid",
    "push_paid",
    "push_taken",
    "loser_paid",
    "loser_not_taken",
    "dealer_drew_over",
    "dealer_stood_short",
    "wager_below_minimum",
    "wager_above_maximum",
    "wager_late",
    "wager_raised",
    "wager_cut",
    "live_hand_taken",
    "seat_not_dealt",
    "card_without_wager",
    "deal_order",
    "card_face_wrong",
    "cards_touched",
    "double_too_large",
    "card_to_finished_hand",
    "split_wager_mismatch",
    "insurance_too_large",
    "insurance_not_taken",
    "insurance_loser_paid",
    "insurance_paid_short",
    "insurance_paid_over",
    "side_bet_late",
    "side_bet_without_wager",
    "side_bet_not_taken",
    "side_bet_loser_paid",
    "side_bet_paid_short",
    "side_bet_paid_over",
)
"""The mistakes that can be planted in a played round."""


def random_rules(rng: Random, mistake: str = "") -> dict[str, Any]:
    """A house; one in which the mistake is one, where a kind is named."""
    none = rng.random() < 0.15
    bets = rng.sample(sorted(SIDE_BETS), rng.randint(1, 3))
    with_bets = rng.random() < 0.3 or mistake.startswith("side_bet")
    insurance = mistake.startswith("insurance") and mistake != "insurance_not_allowed"
    rules = {
        "profile": rng.choice(("greektown", "celebrity", "signage")),
        "dealer_soft_17": rng.choice(("stand", "hit")),
        "dealer_draws_when_no_live_hand": rng.choice((None, False)),
        "hole_card": "none" if none else "dealt",
        "peek": [] if none else rng.choice((["A", "ten"], ["A"], [])),
        "peek_seen": rng.choice((True, False)),
        "blackjack_pays": rng.choice(("3:2", "6:5", "1:1")),
        "blackjack_paid": rng.choice(("at_once", None)),
        "even_money": rng.choice((True, False)),
        "dealer_blackjack_takes": rng.choice(("all", "original")),
        "two_card_21_beats_more": rng.choice((True, False)),
        "push_22": rng.random() < 0.2,
        "double_on": rng.choice(("any_two", "9-11", "10-11", "11")),
        "double_on_21": rng.choice((True, False)),
        "double_for_less": rng.choice((True, False)),
        "double_after_split": rng.choice((True, False)),
        "double_split_aces": rng.choice((True, False)),
        "split_by": rng.choice(("value", "rank")),
        "max_hands": rng.choice((2, 4, None)),
        "split_second_card": rng.choice(("in_turn", None)),
        "resplit_aces": rng.choice((True, False)),
        "hit_split_aces": rng.random() < 0.3,
        "split_ace_ten_is_blackjack": False,
        "insurance": INSURANCE if insurance else rng.choice((None, INSURANCE)),
        "insurance_until": rng.choice(("first_draw", "peek", None)),
        "surrender": rng.choice(("none", "none", "late", "early")),
        "charlie": rng.choice((0, 0, 5, 6)),
        "bust_taken": rng.choice((None, "at_once")),
        "burn": rng.choice((None, 1)),
        "side_bets": {bet: SIDE_BETS[bet] for bet in bets} if with_bets else {},
    }
    return rules | NEEDS.get(mistake, {})
