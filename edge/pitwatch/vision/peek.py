"""Whether the dealer checked the hole card: a hand stays at it, an edge lifts, the same back returns.

In: views with arms, the dealer's face-down card. Out: the time at which the hand left, seconds. Units: mm.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from pitwatch.vision.arms import Arm
from pitwatch.vision.motion import TopView, View, share_changed
from pitwatch.vision.tracks import CardTrack, card_outline

__all__ = ["PeekWatch"]

_NEAR_MM = 35.0
_STAYS_S = 0.35
_SLOW_MM_S = 120.0
_LIFTED = 0.10  # share of what shows of the card that looks otherwise
_LIFTED_S = 0.2
_LEAST_CELLS = 10
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
        self._tip: tuple[float, float, float] | None = None
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
        foot = self._view.foot(card_outline(hole.x, hole.y, hole.yaw, _NEAR_MM))
        at = [a for a in arms if a.side == "dealer" and (foot.of(a.hand) & foot.mask).any()]
        if not at:
            if self._tip is not None:
                self._left = view.t
            self._tip = None
            return
        arm = min(at, key=lambda a: math.dist(a.tip, (hole.x, hole.y)))
        if self._tip is not None:
            t, x, y = self._tip
            took = view.t - t
            if took > 0 and math.dist(arm.tip, (x, y)) / took < _SLOW_MM_S:
                self._stayed += took
                if self._lifts(view, arm, hole):
                    self._lifted += took
        self._tip = (view.t, *arm.tip)

    def settled(self, hole: CardTrack | None) -> float | None:
        """The dealer's cards were compared: the time of the peek, if that is what the hand did there."""
        same = hole is not None and hole.id == self._card and self._tip is None
        left, stayed, lifted, place = self._left, self._stayed, self._lifted, self._place
        self._reset(None)
        if not same or hole is None or left is None:
            return None
        back = math.dist((hole.x, hole.y), place) <= _PUT_BACK_MM
        return left if back and stayed >= _STAYS_S and lifted >= _LIFTED_S else None

    def _lifts(self, view: View, arm: Arm, hole: CardTrack) -> bool:
        foot = hole.foot
        covered = cv2.dilate(foot.of(arm.mask).astype(np.uint8), self._around).astype(np.bool_)
        free = foot.mask & ~covered
        if free.sum() < _LEAST_CELLS:
            return False
        return share_changed(foot, hole.patch, foot.of(view.top), free) >= _LIFTED
