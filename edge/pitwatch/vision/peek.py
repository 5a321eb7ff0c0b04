"""Whether the dealer checked the hole card: a hand stays at it, an edge lifts, the same back returns.

In: views with arms, the dealer's face-down card. Out: the time at which the hand left, seconds. Units: mm.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from pitwatch.vision.arms import Arm
from pitwatch.vision.motion import Mask, TopView, View, share_changed
from pitwatch.vision.tracks import CardTrack, card_outline

__all__ = ["PeekWatch"]

_NEAR_MM = 35.0
_STAYS_S = 0.35
_STILL = 0.04  # share of the arm's cells that may flicker while it holds still
_FLICKER_CELLS = 8
_RISEN = 0.15  # share of the card that is hidden more than when the hand came
_ODD = 0.10  # share of what shows of the card that looks otherwise
_ODD_CELLS = 10
_LIFTED_S = 0.2
_PUT_BACK_MM = 20.0


class PeekWatch:
    """Watches the hole card of one table."""

    def __init__(self, view: TopView) -> None:
        self._view = view
        self._around = np.ones((5, 5), np.uint8)
        self._reset(None)

    def _reset(self, card: int | None) -> None:
        self._card = card
        self._place = (0.0, 0.0)
        self._arm: Mask | None = None
        self._t = 0.0
        self._least_hidden = 1.0
        self._stayed = self._lifted = 0.0
        self._left: float | None = None

    def step(self, view: View, arms: tuple[Arm, ...], hole: CardTrack | None) -> None:
        """Take in one view. hole: the dealer's only face-down card, when he has another besides."""
        if hole is None:
            self._reset(None)
            return
        if hole.id != self._card:
            self._reset(hole.id)
            self._place = (hole.x, hole.y)
        near = self._view.foot(card_outline(hole.x, hole.y, hole.yaw, _NEAR_MM))
        at = [a for a in arms if a.side == "dealer" and (near.of(a.hand) & near.mask).any()]
        if not at:
            if self._arm is not None:
                self._left = view.t
            self._arm = None
            return
        arm = min(at, key=lambda a: math.dist(a.tip, (hole.x, hole.y)))
        self._hand(view, arm, hole)

    def settled(self, hole: CardTrack | None) -> float | None:
        """The dealer's cards were compared: the time of the peek, if that is what the hand did there."""
        same = hole is not None and hole.id == self._card and self._arm is None
        left, stayed, lifted, place = self._left, self._stayed, self._lifted, self._place
        self._reset(None)
        if not same or hole is None or left is None:
            return None
        back = math.dist((hole.x, hole.y), place) <= _PUT_BACK_MM
        return left if back and stayed >= _STAYS_S and lifted >= _LIFTED_S else None

    def _hand(self, view: View, arm: Arm, hole: CardTrack) -> None:
        """A hand is at the card; while the arm holds still, what changes at the card is the card."""
        own = self._view.foot(card_outline(hole.x, hole.y, hole.yaw, 16.0))
        rest = arm.mask.copy()
        rest[own.r0 : own.r1, own.c0 : own.c1] &= ~own.mask
        foot = hole.foot
        covers = foot.of(arm.mask) & foot.mask
        hidden = float(covers.sum()) / max(foot.n, 1)
        took, before = view.t - self._t, self._arm
        self._t = view.t
        if before is None or int((before ^ rest).sum()) > _STILL * int(rest.sum()) + _FLICKER_CELLS:
            self._arm, self._least_hidden = rest, hidden
            return
        self._least_hidden = min(self._least_hidden, hidden)
        self._stayed += took
        around = cv2.dilate(covers.astype(np.uint8), self._around).astype(np.bool_)
        free = foot.mask & ~around
        odd = free.sum() >= _ODD_CELLS and share_changed(foot, hole.patch, foot.of(view.top), free) >= _ODD
        if odd or hidden - self._least_hidden >= _RISEN:
            self._lifted += took
