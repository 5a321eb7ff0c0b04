"""What one look at one zone saw: cards, stacks and hands with their probabilities, nothing remembered.

Units: mm and degrees in the table frame, cents, natural logarithms. `yaw` is counter-clockwise from +x to
the card's own up direction, modulo 180 (a card looks nearly alike upside down).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from pitwatch.cards import RANKS, SUITS

__all__ = ["CARD_MM", "CHIP_MM", "CHIP_PITCH_MM", "CardSeen", "HandSeen", "Look", "StackSeen", "Zone"]

CARD_MM = (63.0, 88.0)
CHIP_MM = 39.0
CHIP_PITCH_MM = 3.4


@dataclass(frozen=True)
class Zone:
    """A square of felt that is looked at as one picture.

    name: unique, like "seat-3" or "dealer-1". x, y: centre, mm. size: edge, mm.
    """

    name: str
    x: float
    y: float
    size: float = 320.0

    def holds(self, x: float, y: float, margin: float = 0.0) -> bool:
        """Whether a point lies in the zone, at least `margin` mm from its edge."""
        h = self.size / 2 - margin
        return abs(x - self.x) <= h and abs(y - self.y) <= h


@dataclass(frozen=True)
class CardSeen:
    """One card in one look.

    x, y: centre of the whole card, mm, its hidden part included. yaw: degrees modulo 180. face_up: its face
    shows. score: that it is a card at all, 0 to 1. rank_logp, suit_logp: log-probabilities over RANKS and
    SUITS, empty for a back. unread: probability that too little shows to read it. visible: share of the card
    that nothing covers, 0 to 1, as far as the other things seen tell.
    """

    x: float
    y: float
    yaw: float
    face_up: bool
    score: float
    rank_logp: tuple[float, ...] = ()
    suit_logp: tuple[float, ...] = ()
    unread: float = 1.0
    visible: float = 1.0

    @property
    def confidence(self) -> float:
        """Probability that `best` is right."""
        if not self.rank_logp:
            return 0.0
        return (1 - self.unread) * math.exp(max(self.rank_logp) + max(self.suit_logp))

    @property
    def best(self) -> str | None:
        """The likeliest card, None for a back."""
        if not self.rank_logp:
            return None
        r = max(range(13), key=self.rank_logp.__getitem__)
        s = max(range(4), key=self.suit_logp.__getitem__)
        return RANKS[r] + SUITS[s]


@dataclass(frozen=True)
class StackSeen:
    """One stack of chips in one look.

    x, y: middle of its base, mm. score: that it is a stack at all. count: the likeliest number of chips.
    chips: likeliest cents, bottom to top. values: probability of each total in cents, likeliest first; what
    is left to 1 is spread over all other values.
    """

    x: float
    y: float
    score: float
    count: int = 0
    chips: tuple[int, ...] = ()
    values: tuple[tuple[int, float], ...] = ()

    @property
    def amount(self) -> int | None:
        """The likeliest total in cents, None when nothing was read."""
        return self.values[0][0] if self.values else None

    @property
    def confidence(self) -> float:
        """Probability that `amount` is right."""
        return self.values[0][1] if self.values else 0.0


@dataclass(frozen=True)
class HandSeen:
    """A person's hand or arm over the zone: an oriented box, mm and degrees."""

    x: float
    y: float
    w: float
    h: float
    yaw: float
    score: float


@dataclass(frozen=True)
class Look:
    """Everything one look at one zone saw at time `t` (seconds, the frame's)."""

    t: float
    zone: Zone
    cards: tuple[CardSeen, ...] = ()
    stacks: tuple[StackSeen, ...] = ()
    hands: tuple[HandSeen, ...] = field(default=())
