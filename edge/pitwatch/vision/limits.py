"""Eyes that say nothing of what the mounting cannot resolve, however sure the networks are.

In: eyes, and the verdicts of `pitwatch check`. Out: the same looks, with cards and stacks unread where a
verdict says so; they are still seen, so that the round can be followed, and its hands are reported as not
judged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pitwatch.capture.frame import Frame
from pitwatch.cards import RANKS, SUITS
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout
from pitwatch.table.resolve import Resolved, unjudged
from pitwatch.vision.looks import CardSeen, Look, StackSeen, Zone
from pitwatch.vision.watcher import Aimable, Eyes

__all__ = ["LimitedEyes"]

_ANY_RANK = tuple([math.log(1 / len(RANKS))] * len(RANKS))
_ANY_SUIT = tuple([math.log(1 / len(SUITS))] * len(SUITS))


class LimitedEyes:
    """Eyes behind verdicts. sentences: what is not judged, and why."""

    def __init__(self, eyes: Eyes, layout: Layout, verdicts: Sequence[Resolved]) -> None:
        """verdicts: of the dealer and every seat, from `pitwatch.table.resolve.resolve`."""
        self._eyes, self._layout = eyes, layout
        self._verdicts = {r.seat: r for r in verdicts}
        self.sentences = unjudged(verdicts)

    def look(self, frame: Frame, zone: Zone) -> Look:
        """What lies in the zone, as far as the mounting lets it be read."""
        look = self._eyes.look(frame, zone)
        cards = tuple(self._card(c) for c in look.cards)
        return replace(look, cards=cards, stacks=tuple(self._stack(s) for s in look.stacks))

    def over(self, camera: Camera) -> LimitedEyes:
        """The same eyes behind another camera, under the same verdicts."""
        eyes = self._eyes.over(camera) if isinstance(self._eyes, Aimable) else self._eyes
        return LimitedEyes(eyes, self._layout, tuple(self._verdicts.values()))

    def _card(self, card: CardSeen) -> CardSeen:
        seat = self._layout.seat_of(card.x, card.y)
        if seat is None or not card.rank_logp:
            return card
        verdict = self._verdicts[seat]
        if verdict.reads_cards == "none":
            return replace(card, rank_logp=_ANY_RANK, suit_logp=_ANY_SUIT, unread=1.0)
        return replace(card, suit_logp=_ANY_SUIT) if verdict.reads_cards == "ranks" else card

    def _stack(self, stack: StackSeen) -> StackSeen:
        spot = self._layout.spot_of(stack.x, stack.y)
        if spot is None or stack.count <= self._verdicts[spot[0]].most_chips:
            return stack
        return replace(stack, chips=(), values=())
