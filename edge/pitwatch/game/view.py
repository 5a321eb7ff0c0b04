"""The table as it stands, for a terminal or a page.

Out: plain dataclasses; money in integer cents, texts in the pit's words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["HandView", "TableView"]


@dataclass(frozen=True)
class HandView:
    """One hand: its cards (None = unread or face down), "soft 17", its chips in cents, "bust"."""

    seat: int
    hand: int
    cards: tuple[str | None, ...] = ()
    total: str = ""
    wager: int | None = None
    status: str = ""
    insurance: int | None = None
    """Cents on the insurance line, 0 or None when there are none."""

    def to_json(self) -> dict[str, Any]:
        """The hand as a JSON object."""
        return {
            "seat": self.seat,
            "hand": self.hand,
            "cards": list(self.cards),
            "total": self.total,
            "wager": self.wager,
            "status": self.status,
            "insurance": self.insurance,
        }


@dataclass(frozen=True)
class TableView:
    """A snapshot. round_number: 1 for the first, 0 before it. phase: "waiting for wagers", "dealing",
    "players act: seat 3", "dealer draws", "settling", "not playing: shuffle".
    """

    round_number: int = 0
    phase: str = "waiting for wagers"
    hands: tuple[HandView, ...] = ()
    """Every spot with chips or cards, by seat and hand."""
    dealer: HandView = HandView(0, 0)

    def to_json(self) -> dict[str, Any]:
        """The snapshot as a JSON object."""
        return {
            "round": self.round_number,
            "phase": self.phase,
            "hands": [h.to_json() for h in self.hands],
            "dealer": self.dealer.to_json(),
        }
