"""Mistakes that other engines shipped, each held against a case."""

from __future__ import annotations

from pathlib import Path

import pytest

from pitwatch.game.cases import check_case

GOLDEN = Path(__file__).parent.parent / "golden" / "rules"

BUGS = {
    "5, A, A, 5 is 12": "total_5_a_a_5",
    "A, A, A, 6 is soft 19": "total_a_a_a_6",
    "A, 4, 7 is 12": "total_a_4_7",
    "K, A, A is 12": "total_k_a_a_dealer",
    "a blackjack beats a drawn 21": "total_natural_beats_21",
    "a dealer's blackjack beats a drawn 21": "total_dealer_natural_beats_21",
    "ace and ten after a split are no blackjack": "celebrity_split_ace_ten_paid_3_to_2",
    "ace and ten after a split tie with 21": "total_a_ten_after_split_ties",
    "6, 6, A cannot be split": "split_six_six_ace",
    "three cards cannot be doubled": "signage_doubled_three_cards",
    "insurance is paid 2:1, not 1:1": "insurance_paid_short",
    "the dealer draws nothing when all have bust": "dealer_drew_needlessly",
    "a split pair's second hand waits": "celebrity_split_second_card_first",
    "jack and king are no pair by rank": "split_jack_king_by_rank",
    "blackjack against blackjack is not paid": "blackjack_push_paid",
}


@pytest.mark.parametrize("case", BUGS.values(), ids=BUGS.keys())
def test_known_bug(case: str) -> None:
    assert check_case(GOLDEN / f"{case}.jsonl") == []
