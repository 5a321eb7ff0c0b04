"""Card ranks, suits and hand totals.

In: card codes, rank `A23456789TJQK` + suit `cdhs` (`"As"`), `"7?"` for a rank whose suit was not read.
Out: values, totals, texts. Knows nothing of rules, events or pictures.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["CARDS", "RANKS", "SUITS", "Total", "card_value", "hand_total", "is_card", "rank_of", "suit_of"]

RANKS = "A23456789TJQK"
SUITS = "cdhs"
CARDS = tuple(r + s for s in SUITS for r in RANKS)


class Total(NamedTuple):
    """A hand's total; `soft` when an ace counts 11 in it."""

    value: int
    soft: bool


def is_card(code: object) -> bool:
    """Whether `code` names a card, or a rank with its suit unread."""
    return isinstance(code, str) and len(code) == 2 and code[0] in RANKS and code[1] in SUITS + "?"


def rank_of(card: str) -> str:
    """The rank character of a card code.

    Raises ValueError naming the code when it is none.
    """
    if not is_card(card):
        raise ValueError(f"{card!r} is no card; write a rank of {RANKS} and a suit of {SUITS}, like 'Td'")
    return card[0]


def suit_of(card: str) -> str | None:
    """The suit character of a card code, None when it was not read.

    Raises ValueError naming the code when it is none.
    """
    rank_of(card)
    return None if card[1] == "?" else card[1]


def card_value(card: str) -> int:
    """Pip value: ace 1, two to nine, ten for T, J, Q, K."""
    return min(RANKS.index(rank_of(card)) + 1, 10)


def hand_total(cards: Iterable[str]) -> Total:
    """Best total of a hand: one ace counts 11 where that does not bust it."""
    values = [card_value(c) for c in cards]
    hard = sum(values)
    soft = 1 in values and hard + 10 <= 21
    return Total(hard + 10 if soft else hard, soft)
