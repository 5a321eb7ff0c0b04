"""The canonical transcript of a round: what lay there, what it was paid.

In and out: dataclasses and their JSON form; money in integer cents, `t` seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pitwatch.game.findings import Finding

__all__ = ["HandRecord", "RoundRecord", "SideBetRecord"]


@dataclass(frozen=True)
class HandRecord:
    """One player hand at the end of its round.

    wager: cents at the first card (of a split hand: what was laid beside it), None when unread. stake: cents
    that lay there when it was settled, doubles included. payout: the player's observed net in cents, a loss
    negative, None when not seen. outcome: won, blackjack, pushed, lost, bust, surrendered, even money, dead,
    or unknown. cards: in order, None = unread.
    """

    seat: int
    hand: int
    cards: tuple[str | None, ...]
    wager: int | None
    doubled: bool = False
    stake: int | None = None
    payout: int | None = None
    outcome: str = "unknown"
    decisions: tuple[str, ...] = ()
    """What was done with it, in order: split, hit, double, surrender, even money, stand."""

    def to_json(self) -> dict[str, Any]:
        """The hand as a JSON object."""
        return {
            "seat": self.seat,
            "hand": self.hand,
            "cards": list(self.cards),
            "wager": self.wager,
            "doubled": self.doubled,
            "stake": self.stake,
            "payout": self.payout,
            "outcome": self.outcome,
            "decisions": list(self.decisions),
        }


class SideBetRecord(NamedTuple):
    """A side bet: cents placed, the player's net, None = not read or not seen."""

    seat: int
    bet: str
    placed: int | None
    payout: int | None


@dataclass(frozen=True)
class RoundRecord:
    """A round from its first card to its end, hands in order of seat and number."""

    number: int
    t_start: float
    t_end: float
    hands: tuple[HandRecord, ...]
    dealer: tuple[str | None, ...]
    insurance: tuple[tuple[int, int | None, int | None], ...] = ()
    """(seat, cents placed, net cents) of each insurance."""
    findings: tuple[Finding, ...] = field(default=())
    side_bets: tuple[SideBetRecord, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The round as a JSON object."""
        return {
            "round": self.number,
            "t_start": self.t_start,
            "t_end": self.t_end,
            "hands": [h.to_json() for h in self.hands],
            "dealer": list(self.dealer),
            "insurance": [{"seat": s, "placed": p, "payout": n} for s, p, n in self.insurance],
            "side_bets": [
                {"seat": b.seat, "bet": b.bet, "placed": b.placed, "payout": b.payout} for b in self.side_bets
            ],
            "findings": [f.to_json() for f in self.findings],
        }

    def notation(self) -> str:
        """The round as text, one line a hand; `pitwatch.game.notation.parse` reads it back."""
        from pitwatch.game.notation import write

        return write(self)
