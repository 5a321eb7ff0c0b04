"""The test deal: a card is asked for at a seat, and whoever watches says when it lies there.

In: frames of a calibrated camera. Out: what was seen there, and when the card that was asked for. The seconds
are the caller's.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from pitwatch.capture.frame import Frame
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout
from pitwatch.vision.eyes import Eyes
from pitwatch.vision.looks import CardSeen

__all__ = ["NAMES", "Sight", "TestDeal", "ask", "card_name"]

_SURE = 0.8
_LOOKS = 2  # of changing pictures
_RANKS = {
    "A": "ace", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight",
    "9": "nine", "T": "ten", "J": "jack", "Q": "queen", "K": "king",
}  # fmt: skip
_SUITS = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}
NAMES = {r + s: f"{rank} of {suit}" for r, rank in _RANKS.items() for s, suit in _SUITS.items()}


def card_name(card: str) -> str:
    """ "5h": "five of hearts"."""
    return NAMES.get(card, card)


def ask(seats: int, number: int) -> tuple[str, int]:
    """A card and a seat to try: first the five of hearts on seat 3, then others, the end seats first."""
    if number == 0:
        return "5h", min(3, seats)
    rng = random.Random(number)
    order = [1, seats, *range(2, seats)]
    return rng.choice(sorted(NAMES)), order[(number - 1) % len(order)]


@dataclass(frozen=True)
class Sight:
    """A card that lies at the seat. card: None where it is not read."""

    card: str | None
    confidence: float
    x: float
    y: float


class TestDeal:
    """Watches one seat for one card. found: seconds at which it was certain, None before."""

    __test__ = False  # not pytest's

    def __init__(
        self, camera: Camera, layout: Layout, card: str, seat: int, eyes: Eyes | None = None
    ) -> None:
        """Raises UserError when the networks' weights are missing."""
        self.card, self.seat = card, seat
        self.layout = layout
        self.sights: list[Sight] = []
        self.found: float | None = None
        self.confidence = 0.0
        self._eyes = eyes.over(camera) if eyes is not None else Eyes(camera)
        self._zones = [z for z in layout.zones() if z.name == f"seat-{seat}-cards"]
        self._seen = 0
        self._last: tuple[int, float] | None = None

    def look(self, frame: Frame, seconds: float, *, still: bool) -> bool:
        """Take a frame into account; whether the card has been seen. still: the picture does not change by
        itself, so that one look is all there is."""
        if self.found is not None:
            return True
        key = (frame.index, frame.t)
        if key == self._last:
            return False
        self._last = key
        seen = [c for z in self._zones for c in self._eyes.look(frame, z).cards]
        self.sights = [self._sight(c) for c in seen if self.layout.seat_of(c.x, c.y) == self.seat]
        best = max((s.confidence for s in self.sights if s.card == self.card), default=0.0)
        self.confidence = best
        self._seen = self._seen + 1 if best >= _SURE else 0
        if self._seen >= (1 if still else _LOOKS):
            self.found = seconds
        return self.found is not None

    @staticmethod
    def _sight(c: CardSeen) -> Sight:
        sure = c.face_up and c.confidence >= 0.5
        return Sight(c.best if sure else None, round(c.confidence, 3), round(c.x, 1), round(c.y, 1))

    def sentence(self) -> str:
        """What there is to see, for the page."""
        wanted = f"the {card_name(self.card)} on seat {self.seat}"
        if self.found is not None:
            return f"Seen: {wanted}, {self.confidence:.0%} sure."
        if not self.sights:
            return f"Lay {wanted}. No card is to be seen there yet."
        names = [f"the {card_name(s.card)}" if s.card else "a card that cannot be read" for s in self.sights]
        return f"Lay {wanted}. Seen on seat {self.seat}: {', '.join(names)}."
