"""What the bare felt looks like, and whether a place shows it: absence needs evidence.

In: top views, and which of their cells nothing covers. Out: shares of a place that are bare felt, 0 to 1.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from pitwatch.vision.motion import FORE, Foot, Image, Mask, TopView, differs, share_changed

__all__ = ["Evidence", "Felt"]

Evidence = Literal["covered", "same", "felt", "unclear"]

_LEAST_SHARE = 0.12
_LEAST_CELLS = 8
_SAME = 0.2
_BARE = 0.6
_RELEARN_S = 60.0


class Felt:
    """Remembers the felt cell by cell, print and all."""

    def __init__(self, view: TopView) -> None:
        self._picture: Image = np.zeros((view.h, view.w, 3), dtype=np.uint8)
        self.known: Mask = np.zeros((view.h, view.w), dtype=np.bool_)
        self._strange_t = np.full((view.h, view.w), np.inf)
        self._colour: Image | None = None

    def learn(self, t: float, top: Image, foot: Foot, bare: Mask) -> None:
        """Take these cells of a box for bare felt; known cells that look otherwise only after a while."""
        picture, known, strange_t = foot.of(self._picture), foot.of(self.known), foot.of(self._strange_t)
        now = foot.of(top)
        off = differs(now, picture, shadows=False)
        odd = bare & known & off & differs(now, picture) & differs(picture, now)
        # what was learnt in a shadow is learnt again in the light, never the other way
        fits = bare & (~known | ~off | (~odd & ~differs(picture, now)))
        strange_t[bare & ~odd] = np.inf
        strange_t[odd] = np.minimum(strange_t[odd], t)
        take = fits | (odd & (strange_t < t - _RELEARN_S))
        picture[take] = now[take]
        known |= bare
        if known.any():
            self._colour = np.median(picture[known][::17], axis=0).astype(np.uint8)

    def share(self, foot: Foot, top: Image, where: Mask | None = None) -> float:
        """Share of a place that looks like bare felt, or in a soft shadow."""
        m = foot.mask if where is None else foot.mask & where
        if not m.any():
            return 0.0
        now = top[foot.r0 : foot.r1, foot.c0 : foot.c1][m]
        known = self.known[foot.r0 : foot.r1, foot.c0 : foot.c1][m]
        bare = np.zeros(len(now), dtype=np.bool_)
        if known.any():
            was = self._picture[foot.r0 : foot.r1, foot.c0 : foot.c1][m]
            bare[known] = ~differs(now[known][None], was[known][None])[0]
        if not known.all() and self._colour is not None:
            rest = now[~known]
            bare[~known] = ~differs(rest[None], np.broadcast_to(self._colour, rest.shape)[None], FORE + 16)[0]
        return float(bare.mean())

    def known_share(self, foot: Foot) -> float:
        """Share of a place whose felt is remembered."""
        if not foot.mask.any():
            return 0.0
        return float(self.known[foot.r0 : foot.r1, foot.c0 : foot.c1][foot.mask].mean())

    def evidence(self, foot: Foot, patch: Image, top: Image, free: Mask) -> Evidence:
        """What became of a thing that lay here and is not seen now.

        patch: how its box looked with it. free: cells of the box that nothing else covers now.
        """
        m = foot.mask & free
        n = int(m.sum())
        if n < max(_LEAST_CELLS, _LEAST_SHARE * foot.n):
            return "covered"
        now = top[foot.r0 : foot.r1, foot.c0 : foot.c1]
        if share_changed(foot, patch, now, free) < _SAME:
            return "same"
        return "felt" if self.share(foot, top, free) >= _BARE else "unclear"
