"""What every spot holds: the stacks on the table, and their totals.

In: plans of what became of the stacks in a zone at rest. Out: drafts of `chips` events, only when a spot's
total changed. Units: mm in the table frame, cents, seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.game.events import Chips, TableEvent
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout
from pitwatch.vision.compare import StackPlan
from pitwatch.vision.drafts import Draft, Outbox, Pictures, Rest
from pitwatch.vision.fuse import StackGroup
from pitwatch.vision.hands import Hands
from pitwatch.vision.motion import Foot, Image, TopView
from pitwatch.vision.tracks import StackTrack, stack_outline

__all__ = ["Spots"]

_FINE_MM = 96
_FINE_LEVEL = 28
_STAYS, _CHANGED = 0.04, 0.15
_TRIES = 5

Key = tuple[int, str, int]
_Again = Literal["same", "read", "restacked"]


@dataclass
class _Total:
    """What a spot holds: cents, None when not sure; how sure; the stacks."""

    amount: int | None
    confidence: float
    stacks: tuple[tuple[int, ...], ...]


class Spots:
    """The chips on the table by spot."""

    def __init__(
        self,
        view: TopView,
        camera: Camera,
        layout: Layout,
        hands: Hands,
        outbox: Outbox,
        *,
        chips_p: float,
        hold_s: float,
    ) -> None:
        self._view, self._camera, self._layout = view, camera, layout
        self._hands, self._outbox = hands, outbox
        self._chips_p, self._hold_s = chips_p, hold_s
        self.tracks: dict[int, StackTrack] = {}
        self._said: dict[Key, int | None] = {}
        self._noticed: dict[Key, frozenset[int]] = {}
        self._pending: dict[Key, list[Callable[[], None]]] = {}
        self._waiting: dict[Key, float] = {}
        self._tries: dict[Key, int] = {}
        self._pictures: dict[Key, Rest] = {}
        self._ids = 0

    def aim(self, camera: Camera) -> None:
        """Go on with the camera as it stands now."""
        self._camera = camera

    def stacks(self, key: Key) -> list[StackTrack]:
        """The stacks that count to a spot."""
        return [t for t in self.tracks.values() if (t.seat, t.spot, t.hand) == key]

    def apply(self, plan: StackPlan, rest: Rest, image: Image) -> None:
        """Take in what became of the stacks of a zone. image: the frame."""
        changed: dict[Key, list[Foot]] = {}
        others = {self._key(t) for t in plan.gone}

        def note(t: StackTrack) -> None:
            if (key := self._key(t)) is not None:
                changed.setdefault(key, []).append(t.foot)

        for key in {self._key(t) for t, _ in plan.seen} | {self._key(t) for t in plan.gone}:
            if key is not None:
                self._freeze(key)
        for t, g in plan.seen:
            again = self._look_again(t, g, rest, image)
            if again != "same":
                note(t)
            if again == "restacked":
                others.add(self._key(t))
        for t in plan.gone:
            note(t)
            del self.tracks[t.id]
        for g in plan.added:
            t = self._add(g, rest, image)
            if t.seat is not None and t.spot == "main":
                self._hands.confirm_split(t.seat, rest.t)
            t.hand = self._hand(t, None)
            if (key := self._key(t)) is not None:
                self._freeze(key)
            others.add(self._key(t))
            note(t)
        for key in self._regroup():
            changed.setdefault(key, [])
        for key in sorted(changed):
            self._draft(key, rest, changed[key], others=key in others)

    def regroup(self, rest: Rest) -> None:
        """Hands have split or cleared: count every stack to the hand it now lies nearest."""
        for key in sorted(self._regroup()):
            self._draft(key, rest, [])

    def regroup_at(self, t: float) -> None:
        """The same, at a time when no zone was compared."""
        for key in sorted(self._regroup()):
            self._draft(key, self._pictures[(key[0], key[1], 0)], [], t)

    def glance(self, groups: Sequence[StackGroup], t: float) -> None:
        """Take in a further look at a zone where nothing has changed: what was unclear may be read now."""
        for g in groups:
            s = min(self.tracks.values(), key=lambda s: math.hypot(s.x - g.x, s.y - g.y), default=None)
            if s and math.hypot(s.x - g.x, s.y - g.y) < 14 and s.values.best()[1] < self._chips_p:
                for seen in g.seen.values():
                    s.values.add(seen)
                self._chips(s, g)
        for key, said in list(self._said.items()):
            if said is None and key not in self._pending and self.total(key).amount is not None:
                self._draft(key, self._pictures[key], [], t)

    def unread(self, t: float) -> list[tuple[float, float, float]]:
        """Stacks worth another look: x, y in mm, and how many seconds from now."""
        out = []
        for key, said in self._said.items():
            tries = self._tries.get(key, 0)
            if said is None and tries < _TRIES and self.stacks(key):
                out += [(s.x, s.y, 1.0) for s in self._unsure(key)]
        for key, until in list(self._waiting.items()):
            if until <= t:
                del self._waiting[key]
            else:
                out += [(s.x, s.y, 0.15) for s in self._unsure(key)]
        return out

    def tried(self, x: float, y: float) -> None:
        """A stack standing here had its further look."""
        for s in self.tracks.values():
            key = self._key(s)
            if key is not None and (s.x, s.y) == (x, y):
                self._tries[key] = self._tries.get(key, 0) + 1

    def total(self, key: Key) -> _Total:
        """What a spot holds as far as is known."""
        stacks = self.stacks(key)
        read = [s.values.best() for s in stacks]
        p = math.prod(q for _, q in read)
        if any(v is None or q < self._chips_p for v, q in read):
            return _Total(None, round(1 - p, 4), ())
        amounts = [v or 0 for v, _ in read]
        exact = all(sum(s.chips) == a for s, a in zip(stacks, amounts, strict=True))
        return _Total(sum(amounts), round(p, 4), tuple(s.chips for s in stacks) if exact else ())

    # -- single stacks

    def _key(self, t: StackTrack) -> Key | None:
        return None if t.seat is None or t.spot is None else (t.seat, t.spot, t.hand)

    def _unsure(self, key: Key) -> list[StackTrack]:
        return [s for s in self.stacks(key) if s.values.best()[1] < self._chips_p]

    def _hand(self, t: StackTrack, was: int | None) -> int:
        if t.seat is None or t.spot != "main":
            return 0
        return self._hands.hand_of_chips(t.seat, t.x, t.y, was)

    def _fine(self, x: float, y: float, image: Image) -> NDArray[np.uint8]:
        """A stack's own picture, grey, 1 px/mm on the felt plane."""
        r = _FINE_MM / 2
        corners = [(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)]
        px = self._camera.project(corners).astype(np.float32)
        to = np.array([(0, 0), (_FINE_MM, 0), (_FINE_MM, _FINE_MM), (0, _FINE_MM)], dtype=np.float32)
        out = cv2.warpPerspective(image, cv2.getPerspectiveTransform(px, to), (_FINE_MM, _FINE_MM))
        return np.asarray(cv2.blur(cv2.cvtColor(out, cv2.COLOR_BGR2GRAY), (3, 3)), dtype=np.uint8)

    def _fine_changed(self, t: StackTrack, fine: NDArray[np.uint8]) -> float:
        """Share of the stack's own picture that looks otherwise than before."""
        outline = stack_outline(self._view, t.x, t.y, t.count, 2.0) - np.array([t.x, t.y]) + _FINE_MM / 2
        mask = np.zeros((_FINE_MM, _FINE_MM), dtype=np.uint8)
        cv2.fillConvexPoly(mask, np.round(outline).astype(np.int32), 1)
        inside = mask.astype(np.bool_)
        a, b = fine[inside].astype(np.int16), t.fine[inside].astype(np.int16)
        if not len(a):
            return 1.0
        off = a - b
        return float((np.abs(off - int(np.median(off))) > _FINE_LEVEL).mean())

    def _add(self, g: StackGroup, rest: Rest, image: Image) -> StackTrack:
        self._ids += 1
        foot = self._view.foot(stack_outline(self._view, g.x, g.y, g.count, -3.0))
        patch = rest.top[foot.r0 : foot.r1, foot.c0 : foot.c1].copy()
        t = StackTrack(self._ids, g.x, g.y, g.count, foot, patch, self._fine(g.x, g.y, image))
        spot = self._layout.spot_of(g.x, g.y)
        if spot is not None:
            t.seat, t.spot = spot
        for seen in g.seen.values():
            t.values.add(seen)
        self._chips(t, g)
        self.tracks[t.id] = t
        return t

    def _look_again(self, t: StackTrack, g: StackGroup, rest: Rest, image: Image) -> _Again:
        """Read a stack again: whether its value has changed or became clear, or its unread chips did."""
        was, p = t.values.best()
        sure = was is not None and p >= self._chips_p
        fine = self._fine(t.x, t.y, image)
        change = self._fine_changed(t, fine)
        # a new opinion on an unchanged picture is no change; one chip more changes a sixth of it at least
        touched = rest.touched(t.foot)
        if sure and (change < _STAYS or not touched):
            return "same"
        if sure or change > _CHANGED:
            t.values.next_epoch(float(np.interp(change, (_STAYS, _CHANGED), (0.9, 0.1))))
        for seen in g.seen.values():
            t.values.add(seen)
        self._chips(t, g)
        t.x, t.y = (t.x + g.x) / 2, (t.y + g.y) / 2
        t.count = g.count
        t.foot = self._view.foot(stack_outline(self._view, t.x, t.y, t.count, -3.0))
        t.patch = rest.top[t.foot.r0 : t.foot.r1, t.foot.c0 : t.foot.c1].copy()
        t.fine = self._fine(t.x, t.y, image)
        now, q = t.values.best()
        if not sure and q < self._chips_p and change > _CHANGED and touched:
            return "restacked"
        return "read" if now != was or (q >= self._chips_p) != sure else "same"

    def _chips(self, t: StackTrack, g: StackGroup) -> None:
        value = t.values.best()[0]
        for seen in g.seen.values():
            if seen.chips and sum(seen.chips) == value:
                t.chips = seen.chips

    # -- totals

    def _regroup(self) -> set[Key]:
        """Count each stack to its hand; the spots of which that changed something."""
        changed: set[Key] = set()
        for t in self.tracks.values():
            if t.seat is None or t.spot != "main":
                continue
            hand = self._hand(t, t.hand)
            if hand != t.hand:
                changed |= {(t.seat, t.spot, t.hand), (t.seat, t.spot, hand)}
                for key in sorted(changed):
                    self._freeze(key)
                t.hand = hand
        return changed

    def _freeze(self, key: Key) -> None:
        """What is drafted about a spot was said of it as it was until now."""
        for freeze in self._pending.pop(key, []):
            freeze()

    def _draft(
        self, key: Key, rest: Rest, where: Sequence[Foot], t: float | None = None, *, others: bool = False
    ) -> None:
        """Draft a spot's new total. where: what changed. t: now, when later than the comparison.

        others: stacks were laid or taken, so that even an unread total is another one.
        """
        now_t = rest.t if t is None else t
        at = max((rest.rested(f, None) for f in where), default=now_t)
        sides = {rest.by(f) for f in where}
        self._pictures[key] = rest
        if t is None:
            self._tries[key] = 0
        until = now_t + (0.0 if rest.vouched else self._hold_s)
        self._waiting[key] = until
        seat, spot, hand = key
        frozen: list[_Total] = []

        def freeze() -> None:
            frozen.append(self.total(key))

        def total() -> _Total:
            return frozen[0] if frozen else self.total(key)

        def make(when: float) -> TableEvent | None:
            now = total()
            if not frozen and freeze in self._pending.get(key, []):
                self._pending[key].remove(freeze)
                if not self._pending[key]:
                    del self._pending[key]
            if self._said.get(key, 0) == now.amount and not (others and now.amount is None):
                return None
            self._said[key] = now.amount
            return Chips(
                t=when,
                seat=seat,
                spot=spot,
                hand=hand,
                amount=now.amount,
                stacks=now.stacks,
                confidence=now.confidence if now.amount is not None else 1.0,
            )

        empty = not self.stacks(key)
        places = [*where, *(s.foot for s in self.stacks(key))]
        self._pending.setdefault(key, []).append(freeze)
        self._outbox.add(
            Draft(
                at,
                make,
                rest.pictures(places[0]) if places else Pictures(None),
                sides.pop() if len(sides) == 1 else None,
                rank=0 if empty else 5,
                removal=empty,
                ready=lambda now: now >= until or bool(frozen) or self.total(key).amount is not None,
            )
        )
