"""What every wager is owed, written slowly and plainly from the houses' documents: a judge of the engine.

In: rules as a header writes them, cards, cents. Out: the player's net in cents, exact. Shares nothing with
the engine but the names of the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

RANKS = "A23456789TJQK"
RED = "dh"


def value(card: str) -> int:
    return min(RANKS.index(card[0]) + 1, 10)


def points(cards: Sequence[str]) -> int:
    """An ace has a value of eleven unless that would give a score in excess of 21."""
    best = sum(map(value, cards))
    for card in cards:
        if card[0] == "A" and best + 10 <= 21:
            best += 10
    return best


def is_soft(cards: Sequence[str]) -> bool:
    return points(cards) != sum(map(value, cards))


def is_blackjack(cards: Sequence[str]) -> bool:
    return len(cards) == 2 and sorted((value(cards[0]), value(cards[1]))) == [1, 10]


def must_draw(rules: dict[str, Any], dealer: Sequence[str]) -> bool:
    if points(dealer) < 17:
        return True
    return points(dealer) == 17 and is_soft(dealer) and rules["dealer_soft_17"] == "hit"


def ratio(text: str) -> Fraction:
    """ "3:2" as a number."""
    over, under = text.split(":")
    return Fraction(int(over), int(under))


def owed(
    rules: dict[str, Any],
    cards: Sequence[str],
    dealer: Sequence[str],
    stake: int,
    *,
    from_split: bool = False,
    original: int | None = None,
) -> Fraction:
    """The player's net on a hand. original: what of the stake was the first wager."""
    mine, theirs = points(cards), points(dealer)
    if mine > 21:
        return Fraction(-stake)
    if rules.get("charlie") and len(cards) >= rules["charlie"]:
        return Fraction(stake)
    blackjack = is_blackjack(cards) and not from_split
    if blackjack and is_blackjack(dealer):
        return Fraction(0)
    if blackjack:
        return stake * ratio(rules["blackjack_pays"])
    if is_blackjack(dealer):
        only = rules["dealer_blackjack_takes"] == "original" and original is not None
        return Fraction(-original if only and original is not None else -stake)
    if rules.get("push_22") and theirs == 22:
        return Fraction(0)
    if theirs > 21 or mine > theirs:
        return Fraction(stake)
    if mine < theirs:
        return Fraction(-stake)
    two_card_21 = mine == 21 and len(cards) == 2 and len(dealer) > 2
    return Fraction(stake if two_card_21 and rules["two_card_21_beats_more"] else 0)


def insurance_owed(dealer: Sequence[str], stake: int) -> int:
    return 2 * stake if is_blackjack(dealer[:2]) else -stake


def side_owed(bet: str, cards: Sequence[str], dealer: Sequence[str]) -> int:
    """What a side bet pays to one, 0 = lost. cards: the player's first two."""
    if bet == "bet_player":
        return 15 * is_blackjack(cards)
    if bet == "bet_dealer":
        return 15 * is_blackjack(dealer[:2])
    if bet == "perfect_pairs":
        a, b = cards
        if a[0] != b[0]:
            return 0
        return 25 if a == b else 12 if (a[1] in RED) == (b[1] in RED) else 6
    assert bet == "21+3_flat"
    three = (*cards, dealer[0])
    ranks = sorted(RANKS.index(c[0]) for c in three)
    flush = len({c[1] for c in three}) == 1
    row = ranks[0] + 1 == ranks[1] and ranks[1] + 1 == ranks[2]
    straight = row or ranks == [0, 11, 12]
    return 9 * (flush or straight or len(set(ranks)) == 1)
