"""How the simulated players decide: about basic strategy, with the errors that people make.

In: a hand's cards, the dealer's upcard, what is allowed. Out: a decision. Knows nothing of money or time.
"""

from __future__ import annotations

import random

from pitwatch.cards import card_value, hand_total, rank_of
from pitwatch.sim.rounds import Decision

__all__ = ["choose"]


def choose(
    cards: tuple[str, ...], up: str, can_double: bool, can_split: bool, rng: random.Random
) -> Decision:
    """One decision for a hand below 21 against `up`. About one in fourteen is a whim."""
    options: list[Decision] = ["hit", "stand"]
    if can_double:
        options.append("double")
    if can_split:
        options.append("split")
    total = hand_total(cards)
    if rng.random() < 0.07 and 10 <= total.value <= 18:
        return rng.choice(options)
    dealer = card_value(up)
    if dealer == 1:
        dealer = 11
    if can_split and _splits(cards[0], dealer):
        return "split"
    if total.soft:
        if can_double and 13 <= total.value <= 18 and dealer in (5, 6):
            return "double"
        return "hit" if total.value <= 17 or (total.value == 18 and dealer >= 9) else "stand"
    if can_double and (
        total.value == 11 or (total.value == 10 and dealer < 10) or (total.value == 9 and 3 <= dealer <= 6)
    ):
        return "double"
    if total.value <= 11 or (total.value == 12 and dealer in (2, 3)):
        return "hit"
    return "hit" if total.value <= 16 and dealer >= 7 else "stand"


def _splits(card: str, dealer: int) -> bool:
    rank = rank_of(card)
    if rank in "A8":
        return True
    if rank in "2367":
        return dealer <= 7
    return rank == "9" and dealer not in (7, 10, 11)
