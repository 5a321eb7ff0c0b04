"""Arms over the table, whose they are, and what their hands came near.

In: the cells of the top view that differ from the background. Out: arms with side and outline in mm on the
felt plane, and for every place when a dealer's or a player's hand last was within reach of it. An arm is
moving foreground connected to the table's edge: entering below the dealer's line it is the dealer's, across
the rail a player's. Skin, sleeve and timing say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.game.events import By
from pitwatch.table.layout import Layout
from pitwatch.vision.motion import Foot, Mask, TopView, View

__all__ = ["Arm", "ArmFinder"]

DEALER_EDGE_MM = 40.0  # below this y, an arm comes from the dealer
RACK_MM = 110.0  # as far in as this before the rack, which reaches over RACK_SHARE of the spots' radius
RACK_SHARE = 0.55
RAIL_MM = 110.0  # so far outside the spots an arm comes from the rail
HAND_MM = 130.0  # the part of an arm that can take hold of things, from its tip
_SMALL_CELLS = 40
_RESTING_S = 1.5
_SIDES: tuple[By, By] = ("dealer", "player")


@dataclass(frozen=True)
class Arm:
    """An arm. side: None when it could be either's. mask, hand: (h, w) cells of all of it and of its far end.

    tip: the middle of its end, mm. outline: mm. resting: it has not moved for a while.
    """

    side: By | None
    mask: Mask
    hand: Mask
    tip: tuple[float, float]
    outline: tuple[tuple[float, float], ...]
    resting: bool = False


class ArmFinder:
    """Finds the arms in one view after the other."""

    def __init__(self, view: TopView, layout: Layout, reach_mm: float = 80.0) -> None:
        self.view = view
        self.arms: tuple[Arm, ...] = ()
        self.mask: Mask | None = None
        """(h, w) cells of all arms, None without any."""
        self.moving: Mask | None = None
        """(h, w) cells of those that have moved of late, None without any."""
        self._reach = reach_mm / view.cell
        xs = [p[0] for p in layout.spots]
        field = [*layout.spots, (min(xs), DEALER_EDGE_MM), (max(xs), DEALER_EDGE_MM)]
        hull = np.asarray(cv2.convexHull(np.array(field, dtype=np.float32)), dtype=np.float64).reshape(-1, 2)
        inner = np.zeros((view.h, view.w), dtype=np.uint8)
        cv2.fillConvexPoly(inner, np.round(view.cells(hull)).astype(np.int32), 1)
        off = np.asarray(cv2.distanceTransform(1 - inner, cv2.DIST_L2, 5)) * view.cell
        x = view.x0 + view.cell * np.arange(view.w)[None, :]
        y = view.y0 + view.cell * np.arange(view.h)[:, None]
        # over the rack a dark sleeve cannot be seen: there the dealer's line is nearer to his cards
        rack = float(np.clip(layout.dealer_row[2] - 110.0, DEALER_EDGE_MM, RACK_MM))
        line = np.where(np.abs(x) < RACK_SHARE * layout.spot_r, rack, DEALER_EDGE_MM)
        play = (off <= RAIL_MM) & (y >= line) & view.valid
        around = np.ones((5, 5), np.uint8)
        ring = cv2.dilate(play.astype(np.uint8), around).astype(np.bool_) & view.valid & ~play
        # where the picture ends, an arm enters out of sight
        cut = play & cv2.dilate((~view.valid).astype(np.uint8), around).astype(np.bool_)
        cut[0], cut[-1], cut[:, 0], cut[:, -1] = play[0], play[-1], play[:, 0], play[:, -1]
        self._area: Mask = play | ring
        self._rim: Mask = ring | cut
        low = y < (layout.dealer_row[2] + rack) / 2
        self._of_dealer: Mask = (ring & (y < line)) | (cut & low)
        self._near = {s: np.full(play.shape, -1e9, dtype=np.float64) for s in _SIDES}

    def step(self, view: View, moved_t: NDArray[np.float64]) -> None:
        """Find the arms in this view. moved_t: (h, w) when each cell last moved, seconds."""
        before = self.mask
        self.arms, self.mask, self.moving = (), None, None
        fore = (view.fore & self._area).astype(np.uint8)
        if not fore.any():
            return
        closed = np.asarray(cv2.morphologyEx(fore, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)))
        closed[~self._area] = 0
        count, labels, stats, _ = cv2.connectedComponentsWithStats(closed, connectivity=8)
        arms = []
        for i in range(1, count):
            x, y, w, h, area = (int(v) for v in stats[i])
            if area < _SMALL_CELLS:
                continue
            box = (slice(y, y + h), slice(x, x + w))
            part = np.asarray(labels[box] == i)
            rim = part & self._rim[box]
            touching = int(rim.sum())
            if touching < 3:
                continue
            moving = bool((moved_t[box][part] > view.t - _RESTING_S).any())
            if not moving and (before is None or (before[box] & part).sum() < 0.3 * area):
                continue
            arms.append(self._arm(part, rim, self._of_dealer[box], x, y, not moving))
        self.arms = tuple(arms)
        if not arms:
            return
        self.mask = np.logical_or.reduce([a.mask for a in arms])
        awake = [a.mask for a in arms if not a.resting]
        self.moving = np.logical_or.reduce(awake) if awake else None
        for side in _SIDES:
            hands = [a.hand for a in arms if a.side in (side, None)]
            if hands:
                far = np.logical_or.reduce(hands)
                d = cv2.distanceTransform((~far).astype(np.uint8), cv2.DIST_L2, 3)
                self._near[side][np.asarray(d) <= self._reach] = view.t

    def near(self, foot: Foot, since: float) -> frozenset[By]:
        """The sides whose hands came within reach of this place at or after `since`."""
        m = foot.mask
        if not m.any():
            return frozenset()
        return frozenset(s for s in _SIDES if float(np.max(foot.of(self._near[s])[m])) >= since)

    def _arm(self, part: Mask, rim: Mask, of_dealer: Mask, x: int, y: int, resting: bool) -> Arm:
        dealer = int((rim & of_dealer).sum())
        player = int(rim.sum()) - dealer
        side: By | None = "dealer" if dealer > player else "player"
        # a hand that reaches over to the other edge touches it with little; two joined arms with much
        if min(dealer, player) > 0.35 * max(dealer, player):
            side = None
        v = self.view
        root = rim & (of_dealer if side == "dealer" else ~of_dealer) if side else rim
        ry, rx = np.nonzero(root)
        py, px = np.nonzero(part)
        far = np.hypot(px - rx.mean(), py - ry.mean())
        hand = far >= far.max() - HAND_MM / v.cell
        mask = np.zeros((v.h, v.w), dtype=np.bool_)
        mask[py + y, px + x] = True
        tips = np.zeros((v.h, v.w), dtype=np.bool_)
        tips[py[hand] + y, px[hand] + x] = True
        end = far >= far.max() - 40.0 / v.cell
        tip = (v.x0 + v.cell * float(px[end].mean() + x), v.y0 + v.cell * float(py[end].mean() + y))
        contours, _ = cv2.findContours(part.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        c = max(contours, key=len).reshape(-1, 2)
        outline = tuple((v.x0 + v.cell * float(a + x), v.y0 + v.cell * float(b + y)) for a, b in c)
        return Arm(side, mask, tips if side else mask, tip, outline, resting)
