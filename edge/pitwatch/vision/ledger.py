"""The table as it is known, kept up to date zone by zone: compare, commit, learn the felt.

In: the looks of a zone at rest. Out: drafts of table events in the outbox. Units: mm in the table frame,
seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from pitwatch.capture.frame import Frame
from pitwatch.game.events import By, Peek
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout
from pitwatch.vision.arms import ArmFinder
from pitwatch.vision.compare import CardPlan, Scale, StackPlan, compare_cards, compare_stacks
from pitwatch.vision.drafts import Draft, Outbox, Pictures, Rest
from pitwatch.vision.felt import Felt
from pitwatch.vision.fuse import CardGroup, card_groups, stack_groups
from pitwatch.vision.hands import Hands
from pitwatch.vision.motion import Foot, Image, Mask, Motion, TopView, View, share_changed
from pitwatch.vision.peek import PeekWatch
from pitwatch.vision.spots import Spots
from pitwatch.vision.tracks import CardTrack, StackTrack, card_outline, overlap, stack_outline, yaw_between
from pitwatch.vision.zonestate import Territory, ZoneLook, ZoneWatch, margin, merged

__all__ = ["CLEAR_OF_HAND_MM", "RECHECK_S", "Ledger", "Patience"]

CLEAR_OF_HAND_MM = 25.0
_MOST_LOOKS = 6
_TOUCHED_CELLS = 6
_SUSPECT_S = 1.0
_SUSPECT_MM = 14.0
_FORGET_S = 30.0
_DOUBT_S = 4.0
_PEEK_P = 0.8
RECHECK_S = 1.2


@dataclass(frozen=True)
class Patience:
    """Waiting times and limits; see `WatchOptions`."""

    settle_s: float
    agree_mm: float
    card_p: float
    chips_p: float
    hold_s: float
    gone_s: float
    regain_s: float


class Ledger:
    """All tracks, and the one way in which they change."""

    def __init__(
        self,
        camera: Camera,
        layout: Layout,
        territory: Territory,
        motion: Motion,
        arms: ArmFinder,
        outbox: Outbox,
        patience: Patience,
    ) -> None:
        self._view: TopView = motion.view
        self._layout, self._territory, self._patience = layout, territory, patience
        self._motion, self._arms = motion, arms
        self._felt = Felt(self._view)
        p = patience
        self.hands = Hands(
            self._view,
            layout,
            outbox,
            card_p=p.card_p,
            hold_s=p.hold_s,
            gone_s=p.gone_s,
            regain_s=p.regain_s,
        )
        self.spots = Spots(self._view, camera, layout, self.hands, outbox, chips_p=p.chips_p, hold_s=p.hold_s)
        self._outbox = outbox
        self._peek = PeekWatch(self._view)
        self._suspects: list[tuple[float, float, float]] = []
        # the top view as it was when each place was last compared
        self._ref: Image = np.zeros((self._view.h, self._view.w, 3), dtype=np.uint8)
        self._ref_known: Mask = np.zeros((self._view.h, self._view.w), dtype=np.bool_)

    def compare(
        self,
        zones: Sequence[ZoneWatch],
        frame: Frame,
        pictures: Callable[[ZoneWatch], Pictures],
        since: float | None = None,
    ) -> bool:
        """Compare zones' looks with what is known and commit; False when another look is needed first.

        zones: of one group, or all of a still; at rest, each with two looks or more. since: for a frame that
        is vouched to be at rest, the time of the one before it.
        """
        vouched = since is not None
        n = min(len(z.looks) for z in zones)
        looks = merged([z.looks[-n:] for z in zones])
        cards, stacks = self._plans(zones, looks, 1 if vouched else 2)
        if (cards.unresolved or stacks.unresolved) and n < _MOST_LOOKS and not vouched:
            return False
        last = looks[-1]
        self._doubts(cards, stacks, frame.t)
        if last.surely is not None:
            self._only_clear(cards, stacks, self._clear_of(last.surely))
        rest = self._rest(zones, frame, last.view, pictures, since)
        self._commit(cards, stacks, rest, frame)
        self._peeked(zones, rest)
        self._learn(zones, last)
        for z in zones:
            z.settled(frame.t)
            z.recheck = bool(
                cards.suspects or cards.doubted or cards.missing or stacks.suspects or stacks.missing
            )
            self.plan_revisit(z, frame.t)
        return True

    def confirm(self, z: ZoneWatch, frame: Frame, pictures: Callable[[ZoneWatch], Pictures]) -> None:
        """A disturbance goes on and on: take in what lies still and clear of it, remove nothing."""
        looks = z.glances[-3:]
        cards, stacks = self._plans([z], looks, 2)
        busy = looks[-1].view.moved
        if looks[-1].arms is not None:
            busy = busy | looks[-1].arms
        clear = self._clear_of(busy)

        def still(f: Foot) -> bool:
            since = self._motion.still_since(f)
            return since is not None and since <= frame.t - self._patience.settle_s and clear(f)

        self._only_clear(cards, stacks, still)
        cards.gone, cards.moved, stacks.gone = [], [], []
        cards.seen = [(t, g) for t, g in cards.seen if still(t.foot)]
        stacks.seen = [(t, g) for t, g in stacks.seen if still(t.foot)]
        self._commit(cards, stacks, self._rest([z], frame, looks[-1].view, pictures, None), frame)

    def glance(self, z: ZoneWatch, zlook: ZoneLook, t: float) -> None:
        """Take in a further look at a quiet zone, for better readings."""
        self.hands.glance(card_groups([zlook.look]))
        for x, y, _ in self.spots.unread(t):
            if self._territory.sees((z.zone,), x, y):
                self.spots.tried(x, y)
        self.spots.glance(stack_groups([zlook.look]), t)
        self.plan_revisit(z, t)

    def plan_revisit(self, z: ZoneWatch, t: float) -> None:
        """When a quiet zone is worth another look: something in it was not read, or is in doubt."""
        waits = [RECHECK_S] if z.recheck else []
        waits += [0.15 for x, y in self.hands.unread(t) if self._territory.sees((z.zone,), x, y)]
        waits += [w for x, y, w in self.spots.unread(t) if self._territory.sees((z.zone,), x, y)]
        z.revisit_t = t + min(waits) if waits else None

    def step(self, view: View) -> None:
        """Take in a picture in which nothing was compared yet."""
        self._peek.step(view, self._arms.arms, self.hands.hole())

    def tick(self, t: float, busy: Container[int] = ()) -> None:
        """Let time pass. busy: seats where something moves."""
        before = self.hands.numbers()
        self.hands.tick(t, busy)
        if self.hands.numbers() != before:
            self.spots.regroup_at(t)

    # -- one comparison

    def _plans(
        self, zones: Sequence[ZoneWatch], looks: list[ZoneLook], need: int
    ) -> tuple[CardPlan, StackPlan]:
        seen = [z.zone for z in zones]
        s = Scale(
            view=self._view,
            felt=self._felt,
            layout=self._layout,
            judges=lambda x, y: self._territory.sees(seen, x, y),
            changed=self._changed,
            agree_mm=self._patience.agree_mm,
            need=need,
        )
        cards = compare_cards(list(self.hands.tracks.values()), looks, s)
        return cards, compare_stacks(list(self.spots.tracks.values()), looks, s)

    def _changed(self, foot: Foot, top: Image, free: Mask) -> float:
        known = free & foot.of(self._ref_known)
        if (known & foot.mask).sum() < 0.5 * (free & foot.mask).sum():
            return 1.0
        return share_changed(foot, foot.of(self._ref), foot.of(top), known)

    def _peeked(self, zones: Sequence[ZoneWatch], rest: Rest) -> None:
        hole = self.hands.hole()
        if hole is None or not self._territory.sees([z.zone for z in zones], hole.x, hole.y):
            return
        at = self._peek.settled(hole)
        if at is not None:
            self._outbox.add(Draft(at, _peek, rest.pictures(hole.foot), "dealer"))

    def _clear_of(self, busy: Mask) -> Callable[[Foot], bool]:
        """Tells whether a place is clear of these cells, with room to spare."""
        r = int(CLEAR_OF_HAND_MM / self._view.cell)
        wide = cv2.dilate(busy.astype(np.uint8), np.ones((2 * r + 1, 2 * r + 1), np.uint8)).astype(np.bool_)
        return lambda f: not wide[f.r0 : f.r1, f.c0 : f.c1][f.mask].any()

    def _only_clear(self, cards: CardPlan, stacks: StackPlan, clear: Callable[[Foot], bool]) -> None:
        """Believe in no new thing near a hand: it may be in the hand."""

        def free(g: CardGroup) -> bool:
            return clear(self._view.foot(card_outline(g.x, g.y, g.yaw)))

        cards.added = [g for g in cards.added if free(g)]
        cards.turned = [(t, g) for t, g in cards.turned if free(g)]
        cards.moved = [(t, g) for t, g in cards.moved if free(g)]
        stacks.added = [
            g for g in stacks.added if clear(self._view.foot(stack_outline(self._view, g.x, g.y, g.count)))
        ]

    def _commit(self, cards: CardPlan, stacks: StackPlan, rest: Rest, frame: Frame) -> None:
        hands = self.hands.numbers()
        self.hands.apply(cards, rest)
        self.spots.apply(stacks, rest, frame.image)
        if self.hands.numbers() != hands:
            self.spots.regroup(rest)

    def _doubts(self, cards: CardPlan, stacks: StackPlan, t: float) -> None:
        """What was seen where nothing changed, or misses with no felt in its place, needs more than this."""
        missing: list[CardTrack | StackTrack] = [*cards.missing, *stacks.missing]
        for track in missing:
            if track.doubts == 0:
                track.doubt_t = t
            track.doubts += 1
        cards.gone += [c for c in cards.missing if c.doubts >= 3 and t - c.doubt_t > _DOUBT_S]
        stacks.gone += [s for s in stacks.missing if s.doubts >= 3 and t - s.doubt_t > _DOUBT_S]
        for c, _ in (*cards.seen, *cards.moved, *cards.turned):
            c.doubts = 0
        for s, _ in stacks.seen:
            s.doubts = 0
        self._suspects = [s for s in self._suspects if t - s[2] < _FORGET_S]
        # more looks at an unchanged picture tell little: only what lies as a card may lie is believed
        plain = [g for g in cards.suspects if self._plausible(g)]
        cards.added += [g for g in plain if self._long_suspected(g.x, g.y, t)]
        stacks.added += [g for g in stacks.suspects if self._long_suspected(g.x, g.y, t)]
        cards.suspects = [g for g in plain if g not in cards.added]
        stacks.suspects = [g for g in stacks.suspects if g not in stacks.added]

    def _plausible(self, g: CardGroup) -> bool:
        """Whether a card crosses no other, and shows enough of itself."""
        outline = card_outline(g.x, g.y, g.yaw)
        near = [t for t in self.hands.tracks.values() if math.dist((t.x, t.y), (g.x, g.y)) < 110]
        crossed = any(overlap(outline, t.outline()) > 0.15 and yaw_between(t.yaw, g.yaw) > 30 for t in near)
        return not crossed and g.visible >= 0.25 and g.score >= 0.5

    def _long_suspected(self, x: float, y: float, t: float) -> bool:
        for sx, sy, first in self._suspects:
            if abs(sx - x) < _SUSPECT_MM and abs(sy - y) < _SUSPECT_MM:
                return t - first >= _SUSPECT_S
        self._suspects.append((x, y, t))
        return False

    def _rest(
        self,
        zones: Sequence[ZoneWatch],
        frame: Frame,
        view: View,
        pictures: Callable[[ZoneWatch], Pictures],
        since: float | None,
    ) -> Rest:
        kept: dict[str, Pictures] = {}

        def zone_of(foot: Foot) -> ZoneWatch:
            x = self._view.x0 + self._view.cell * (foot.c0 + foot.c1 - 1) / 2
            y = self._view.y0 + self._view.cell * (foot.r0 + foot.r1 - 1) / 2
            return max(zones, key=lambda z: margin(z.zone, x, y))

        def began(foot: Foot) -> float:
            return zone_of(foot).disturbed_t if since is None else since

        def rested(foot: Foot, where: Mask | None) -> float:
            if since is not None:
                return frame.t
            still = self._motion.still_since(foot, where)
            at = zone_of(foot).rest_t
            latest = at if at is not None else frame.t
            return min(max(still, began(foot)), latest) if still is not None else latest

        def by(foot: Foot) -> By | None:
            sides = self._arms.near(foot, began(foot))
            return next(iter(sides)) if len(sides) == 1 else None

        def touched(foot: Foot) -> bool:
            if since is not None or self._arms.near(foot, began(foot)):
                return True
            n = _TOUCHED_CELLS
            box = (slice(max(foot.r0 - n, 0), foot.r1 + n), slice(max(foot.c0 - n, 0), foot.c1 + n))
            return bool((self._motion.moved_t[box] >= began(foot)).any())

        def shown(foot: Foot) -> Pictures:
            z = zone_of(foot)
            if z.zone.name not in kept:
                kept[z.zone.name] = pictures(z)
            return kept[z.zone.name]

        return Rest(frame.t, since is not None, view.top, rested, by, touched, shown)

    def _learn(self, zones: Sequence[ZoneWatch], last: ZoneLook) -> None:
        """What nothing covers is felt; what lies there now is background to the arms."""
        outlines = [t.outline(10.0) for t in self.hands.tracks.values()]
        outlines += [card_outline(c.x, c.y, c.yaw, 10.0) for c in last.look.cards]
        outlines += [stack_outline(self._view, s.x, s.y, s.count, 10.0) for s in self.spots.tracks.values()]
        outlines += [stack_outline(self._view, s.x, s.y, s.count, 10.0) for s in last.look.stacks]
        feet = [self._view.foot(o) for o in outlines]
        for z in zones:
            box = z.foot
            own = box.mask if last.surely is None else box.mask & ~box.of(last.surely)
            bare = own.copy() if last.arms is None else own & ~box.of(last.arms)
            for f in feet:
                bare &= ~f.onto(box)
            self._felt.learn(last.view.t, last.view.top, box, bare)
            self._motion.absorb(last.view, box, own)
            box.of(self._ref)[own] = box.of(last.view.top)[own]
            box.of(self._ref_known)[own] = True


def _peek(t: float) -> Peek:
    return Peek(t=t, confidence=_PEEK_P)
