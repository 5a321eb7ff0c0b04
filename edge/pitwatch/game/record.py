"""The canonical transcript of a round: what lay there, what it was paid.

In and out: dataclasses and their JSON form; money in integer cents, `t` seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pitwatch.game.findings import Finding

__all__ = ["HandRecord", "RoundRecord"]


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
        }


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

    def to_json(self) -> dict[str, Any]:
        """The round as a JSON object."""
        return {
            "round": self.number,
            "t_start": self.t_start,
            "t_end": self.t_end,
            "hands": [h.to_json() for h in self.hands],
            "dealer": list(self.dealer),
            "insurance": [{"seat": s, "placed": p, "payout": n} for s, p, n in self.insurance],
            "findings": [f.to_json() for f in self.findings],
        }

    def notation(self) -> str:
        """The round as text, one line a hand: `3.0 5000 x2 5c6dKh +10000 won`; an unread card is `??`."""

        def cards(of: tuple[str | None, ...]) -> str:
            return "".join(c or "??" for c in of) or "-"

        def cents(value: int | None, sign: str = "") -> str:
            return "?" if value is None else f"{value:{sign}d}"

        lines = [f"round {self.number}", f"dealer {cards(self.dealer)}"]
        for h in self.hands:
            double = f" x{cents(h.stake)}" if h.doubled else ""
            lines.append(
                f"{h.seat}.{h.hand} {cents(h.wager)}{double} {cards(h.cards)}"
                f" {cents(h.payout, '+')} {h.outcome}"
            )
        lines += [f"{s} insurance {cents(p)} {cents(n, '+')}" for s, p, n in self.insurance]
        lines += [
            f"! {f.kind} {f.seat}.{f.hand} {cents(f.expected)} {cents(f.observed)}" for f in self.findings
        ]
        return "\n".join(lines)
