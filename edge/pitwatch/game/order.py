"""Events of one instant have no order: this gives them the one in which they can have happened rightly.

In: events of the same `t`, the chips last read at each spot, how many cards each hand has. Out: the same
events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pitwatch.game.events import (
    CardLaid,
    Chips,
    Clear,
    Gone,
    Move,
    Peek,
    ShoeBurn,
    Signal,
    TableEvent,
    Turn,
    Void,
)

__all__ = ["in_order"]

DEALER_LAST = 100_000


def in_order(
    events: Sequence[TableEvent],
    known: Callable[[Chips], int],
    cards: Callable[[int, int], int],
    first_cards: int = 2,
) -> list[TableEvent]:
    """Sort: notices, wagers, cards round by round, the hole card, the dealer's draws, payouts, takes,
    cards picked up, the dealer's last. first_cards: how many the deal gives the dealer.
    """
    dealt = {(e.seat, e.hand) for e in events if isinstance(e, CardLaid) and e.seat}
    begun = {(e.seat, e.to) for e in events if isinstance(e, Move)}
    dealer_acts = any((isinstance(e, Turn) and e.seat == 0) for e in events) or any(
        isinstance(e, CardLaid) and e.seat == 0 and cards(0, 0) >= first_cards for e in events
    )
    drawn = any(seat and cards(seat, hand) >= 2 for seat, hand in dealt)
    seen: dict[tuple[int, int], int] = {}
    placed: dict[tuple[int, str, int], tuple[int, int, int]] = {}

    def in_its_turn(e: TableEvent) -> tuple[int, int, int]:
        """One spot's totals follow each other as they stand in the log."""
        if not isinstance(e, Chips):
            return key(e)
        spot = (e.seat, e.spot, e.hand)
        placed[spot] = max(key(e), placed.get(spot, (0, 0, 0)))
        return placed[spot]

    def key(e: TableEvent) -> tuple[int, int, int]:
        if isinstance(e, Void):
            return 1, 0, 0
        if isinstance(e, Signal) and e.signal == "stand":
            return 5, 9, e.seat  # after a card that it may have followed
        if isinstance(e, (Signal, Peek)):
            return 2, 0, 0
        if isinstance(e, Move):
            paired = cards(e.seat, e.hand) >= 2  # otherwise its second card comes at this instant
            return 5, 2, e.seat * 100 + (-1 if paired else e.hand * 10 + 5)
        if isinstance(e, Chips):
            grows = e.amount is None or e.amount >= known(e)
            if not grows:
                return 9, e.seat, e.hand
            before = e.by != "dealer" and ((e.seat, e.hand) in dealt or not dealer_acts)
            if cards(0, 0) == 0 and cards(e.seat, e.hand) == 0:
                before = True
            split = bool(cards(e.seat, 1))
            if split and known(e) and cards(e.seat, e.hand) == 1 and (e.seat, e.hand) in dealt:
                return 5, 3, e.seat  # the wager of a split lay there: these double it
            return (4 if before else 8), e.seat, e.hand
        if isinstance(e, CardLaid):
            place = (e.seat, e.hand)
            nth = cards(*place) + seen.get(place, 0)
            seen[place] = seen.get(place, 0) + 1
            if e.seat == 0 and (
                cards(0, 0) >= first_cards or (drawn and e.face == "up" and cards(0, 0) == 1)
            ):
                return 7, 0, 0
            if e.seat and (cards(e.seat, 1) or place in begun):  # split hands are played one after another
                nth = 2
            return 5, nth if nth < 2 else 2, e.seat * 100 + e.hand * 10 if e.seat else DEALER_LAST
        if isinstance(e, Turn):
            return (6, 0, 0) if e.seat == 0 else (5, 3, e.seat)
        if isinstance(e, Gone):
            return 10, e.seat, 0
        if isinstance(e, Clear):
            return 11, e.seat or DEALER_LAST, 0
        return 0, isinstance(e, ShoeBurn), 0  # a burn at a new shoe's instant is of that shoe

    keyed = [(in_its_turn(e), e) for e in events]
    return [e for _, e in sorted(keyed, key=lambda p: p[0])]
