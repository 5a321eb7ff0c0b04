"""What happened, in a few words for people, who count a seat's hands from one.

In: table events. Out: text like "seat 3 gets 9c, by the dealer".
"""

from __future__ import annotations

from pitwatch.chips import money
from pitwatch.game.events import (
    CardLaid,
    Chips,
    Clear,
    Gone,
    Move,
    Signal,
    Table,
    TableEvent,
    Turn,
    Void,
)

__all__ = ["said_of"]


def said_of(e: TableEvent) -> str:
    """An event in a few words."""
    who = "dealer" if getattr(e, "seat", None) == 0 else f"seat {getattr(e, 'seat', None)}"
    hand = f" hand {e.hand + 1}" if isinstance(e, (Chips, CardLaid, Turn, Gone, Signal)) and e.hand else ""
    by = f", by the {e.by}" if e.by else ""
    if isinstance(e, Chips):
        amount = "unread" if e.amount is None else money(e.amount)
        return f"{who}{hand} {e.spot}: {amount}{by}"
    if isinstance(e, CardLaid):
        down = " face down" if e.face == "down" else " sideways" if e.sideways else ""
        return f"{who}{hand} gets {e.card or 'a card' if e.face == 'down' else e.card or '??'}{down}{by}"
    if isinstance(e, Turn):
        return f"{who}{hand} turns {e.card or '??'}{by}"
    if isinstance(e, Move):
        return f"{who} splits hand {e.hand + 1}, begins hand {e.to + 1}{by}"
    if isinstance(e, Gone):
        return f"{who}{hand}: {e.card or 'a card'} is removed{by}"
    if isinstance(e, Clear):
        return f"{who}{'' if e.hand is None else f' hand {e.hand + 1}'}: cards picked up{by}"
    if isinstance(e, Signal):
        return f"{who}{hand} signals {e.signal.replace('_', ' ')}"
    if isinstance(e, Void):
        return "the round is declared dead" if e.seat is None else f"{who} is declared dead"
    if isinstance(e, Table):
        return f"table: {e.state.replace('_', ' ')}"
    return {"dealer": "another dealer", "shoe": "a new shoe", "burn": "a card is burnt"}.get(
        e.type, "the dealer checks the hole card"
    )
