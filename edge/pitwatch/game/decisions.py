"""What was decided on a hand, as its cards and chips show it.

In: a round at its end. Out: for a hand, in order: split, hit, double, surrender, even money, stand. What is
not sure is left out.
"""

from __future__ import annotations

from pitwatch.game.hand import Hand
from pitwatch.game.round import Round
from pitwatch.rules.hands import HandKind, player_hands

__all__ = ["decisions"]


def decisions(rnd: Round, hand: Hand) -> tuple[str, ...]:
    """The decisions of one hand."""
    out = ["split"] * _splits(rnd, hand)
    doubled = hand.doubled_at if not hand.maybe_doubled else None
    for nth in range(2, len(hand.cards)):
        if nth in hand.passed_cards:
            continue
        if nth == doubled:
            out.append("double")
        elif not _over(hand, nth):
            out.append("hit")
    if doubled is not None and "double" not in out:
        out.append("double")
    if hand.surrendered:
        out.append("surrender")
    elif hand.even_money:
        out.append("even money")
    elif hand.stood or _must_have_stood(rnd, hand):
        out.append("stand")
    return tuple(out)


def _splits(rnd: Round, hand: Hand) -> int:
    """How many hands were split off from this one: each was laid beside the one that it came from."""
    order, found = list(rnd.places(hand.seat)), 0
    for number in range(max(order), 0, -1):
        if number in order:
            at = order.index(number)
            found += at > 0 and order[at - 1] == hand.number
            order.remove(number)
    return found


def _over(hand: Hand, cards: int) -> bool:
    """Whether the hand was surely finished with so many cards: what came after is void."""
    before = tuple(c for i, c in enumerate(hand.cards[:cards]) if i not in hand.passed_cards)
    kind = HandKind(hand.from_split, hand.doubled_at, hand.maybe_doubled, hand.foul)
    return all(s.over for s in player_hands(before, hand.profile, kind))


def _must_have_stood(rnd: Round, hand: Hand) -> bool:
    """It was settled, and its last card did not finish it."""
    played_out = rnd.dealer_acts and rnd.dealer_natural is not True
    return played_out and hand.judged and len(hand.cards) >= 2 and hand.surely(lambda s: not s.over)
