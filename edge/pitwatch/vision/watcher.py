"""From frames to table events: which zones changed, when they came to rest, what is different.

In: `Frame`s in order of capture. Out: `TableEvent`s, `t` never decreasing, at most about a second after the
place came to rest. Units: mm in the table frame, seconds, cents. No clock is read: the same frames give the
same events.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from pitwatch.capture.frame import Frame
from pitwatch.game.events import Table, TableEvent
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout, seat_of_zone
from pitwatch.vision.arms import ArmFinder
from pitwatch.vision.drafts import Keep, Outbox, Pictures
from pitwatch.vision.guard import Guard
from pitwatch.vision.ledger import CLEAR_OF_HAND_MM, RECHECK_S, Ledger, Patience
from pitwatch.vision.looks import HandSeen, Look, Zone
from pitwatch.vision.motion import Image, Mask, Motion, TopView, View
from pitwatch.vision.snapshot import ArmView, CardView, StackView, TableSnapshot, ZoneView
from pitwatch.vision.tracks import box_outline
from pitwatch.vision.zonestate import Territory, ZoneLook, ZoneWatch

__all__ = ["Aimable", "Eyes", "Keep", "WatchOptions", "Watcher", "evidence_box"]

_ACTIVE_CELLS = 6
_HAND_SCORE = 0.5
_BAR_S = 0.5
_TALL_MM = 70.0  # evidence pictures show this much over the felt


class Eyes(Protocol):
    """Anything that can look at a zone."""

    def look(self, frame: Frame, zone: Zone) -> Look:
        """What lies in the zone in this frame."""
        ...


@runtime_checkable
class Aimable(Protocol):
    """Eyes for which it matters how the camera stands."""

    def over(self, camera: Camera) -> Eyes:
        """The same eyes behind another camera."""
        ...


@dataclass(frozen=True)
class WatchOptions:
    """How patient and how strict the watcher is.

    max_looks: looks a frame at most (a settled frame is looked at everywhere). settle_s: a zone is still
    this long before it is looked at. agree_s, agree_mm: two looks this far apart in time must agree this
    closely. confirm_s: after this long a disturbance, what is visible is confirmed, never removed.
    card_p, chips_p: below this probability a card's rank or suit, or a stack's value, is not said; on decks
    it never saw, the card reader is wrong in under 1 of 100 cards that it gives 0.8; an amount that is
    likelier than all others together is said with its probability, and only a sure one makes a finding.
    hold_s: an unread card or amount is held back this long for better looks. order_s: an event waits at most
    this long for an earlier one elsewhere. arm_mm: a hand this close to a change may have made it. gone_s:
    part of a hand is missing this long before it is gone. regain_s: cards that part are no split if they
    meet again within this time.
    """

    max_looks: int = 3
    settle_s: float = 0.3
    agree_s: float = 0.1
    agree_mm: float = 6.0
    confirm_s: float = 8.0
    card_p: float = 0.8
    chips_p: float = 0.5
    hold_s: float = 0.55
    order_s: float = 1.0
    arm_mm: float = 80.0
    gone_s: float = 2.0
    regain_s: float = 3.0


class Watcher:
    """Watches one table.

    camera: of the frames' size, as it stands now. layout: where spots and seats are. eyes: what looks at a
    zone. keep: stores evidence pictures; without it events carry none. guard: tells whether the camera still
    sees the table as it was calibrated; without it that is taken for granted, as it is of settled frames.
    looks: how many looks were taken so far.

    While the guard finds the camera unfit, frames are left out and the table is `closed`; it is `open` again
    when everything has been looked at anew and no round is on.
    """

    def __init__(
        self,
        camera: Camera,
        layout: Layout,
        eyes: Eyes,
        *,
        options: WatchOptions | None = None,
        keep: Keep | None = None,
        guard: Guard | None = None,
    ) -> None:
        self.camera = camera
        self.layout = layout
        self.eyes = eyes
        self.options = o = options or WatchOptions()
        self.keep = keep
        self.guard = guard
        self.looks = 0
        self._t: float | None = None
        self._fed_t = -np.inf
        self._closed = False
        self._to_look_at: set[str] = set()
        self._view = view = TopView(camera, layout)
        self._motion = Motion(view)
        self._arms = ArmFinder(view, layout, o.arm_mm)
        territory = Territory(layout, [z for z in layout.zones() if self._visible(z)], view)
        self._territory = territory
        self._zones = {z.name: ZoneWatch(z, territory.feet[z.name]) for z in territory.zones}
        self._outbox = Outbox(o.order_s, keep)
        patience = Patience(
            settle_s=o.settle_s,
            agree_mm=o.agree_mm,
            card_p=o.card_p,
            chips_p=o.chips_p,
            hold_s=o.hold_s,
            gone_s=o.gone_s,
            regain_s=o.regain_s,
        )
        self._ledger = Ledger(camera, layout, territory, self._motion, self._arms, self._outbox, patience)
        self._last: Frame | None = None
        self._nothing: Mask = np.zeros((view.h, view.w), dtype=np.bool_)

    def feed(self, frame: Frame) -> list[TableEvent]:
        """Take in one frame and give the events that are certain now.

        Raises ValueError when the frame has not the camera's size, or its time lies before the last one's.
        """
        h, w = frame.image.shape[:2]
        if (w, h) != (self.camera.width, self.camera.height):
            raise ValueError(f"the frame is {w} x {h}, the camera {self.camera.width} x {self.camera.height}")
        if frame.t < self._fed_t:
            raise ValueError(f"a frame of {frame.t:.3f} s came after one of {self._fed_t:.3f} s")
        self._fed_t = frame.t
        if self.guard is not None and not frame.settled:
            ruling = self.guard.step(frame.t, frame.image)
            if ruling == "wait":
                return []
            if ruling == "stop":
                return self._close(frame.t)
            if ruling in ("nudged", "resume"):
                self._aim(self.guard.camera)
            if ruling == "resume":
                self._begin_again(frame.t)
        if self._t is None:
            for z in self._zones.values():
                z.start(frame.t)
        self._t = frame.t
        view = self._motion.step(frame.t, frame.image)
        self._arms.step(view, self._motion.moved_t)
        self._motion.remember(view, self._arms.mask)
        self._ledger.step(view)
        if frame.settled:
            self._look_everywhere(frame, view)
        else:
            self._update_zones(frame, view)
            self._look_around(frame, view)
        busy = {seat_of_zone(z.zone) or 0 for z in self._zones.values() if z.state != "quiet"}
        self._ledger.tick(frame.t, busy)
        self._last = frame
        # something may have come to rest there at any time since the disturbance began
        begun = [z.disturbed_t for z in self._zones.values() if z.state != "quiet" and z.rest_t is not None]
        out = self._outbox.pop(frame.t, None if frame.settled else min(begun, default=None))
        return out + self._open_again(frame.t) if self._closed else out

    def flush(self) -> list[TableEvent]:
        """The events still held back, at the end of the frames."""
        if self._t is not None and self._last is not None and self._t == self._fed_t:
            self._look_once_more(self._last)
            self._ledger.tick(self._t + self.options.regain_s + self.options.gone_s)
        return self._outbox.flush()

    @property
    def certain_t(self) -> float:
        """Time up to which everything that can be said has been said; seconds, minus infinity at first.

        What is found out late after all (part of a hand gone, a split) has an earlier `t` in rare cases.
        """
        if self.guard is not None and self.guard.stopped:
            return float(self._fed_t)
        if self._t is None:
            return -np.inf
        moving = [
            self._t if z.rest_t is None else z.rest_t for z in self._zones.values() if z.state != "quiet"
        ]
        return min([self._t, *moving, self._outbox.first_t])

    def snapshot(self) -> TableSnapshot:
        """The table as it stands."""
        p_card, p_chips = self.options.card_p, self.options.chips_p
        cards = []
        for c in sorted(self._ledger.hands.tracks.values(), key=lambda c: c.order):
            text, p = c.reading.text(p_card) if c.face_up else (None, 0.0)
            cards.append(
                CardView(
                    id=c.id,
                    x=c.x,
                    y=c.y,
                    yaw=c.yaw,
                    face_up=c.face_up,
                    card=text,
                    confidence=p,
                    visible=c.visible,
                    seat=c.seat,
                    hand=c.hand,
                    order=c.order,
                    sideways=c.sideways,
                )
            )
        stacks = []
        for s in self._ledger.spots.tracks.values():
            v, p = s.values.best()
            amount = v if p >= p_chips else None
            stacks.append(StackView(s.id, s.x, s.y, amount, p, s.chips, s.seat, s.spot, s.hand))
        zones = (
            ZoneView(z.zone.name, z.zone.x, z.zone.y, z.zone.size, z.state, z.since)
            for z in self._zones.values()
        )
        arms = (ArmView(a.side, a.outline) for a in self._arms.arms)
        return TableSnapshot(self._t or 0.0, tuple(cards), tuple(stacks), tuple(arms), tuple(zones))

    # -- a camera that is unfit, or has moved

    def _close(self, t: float) -> list[TableEvent]:
        """Say what was sure before, and that from now on nothing is judged."""
        out = self._outbox.flush()
        self._outbox.passed(t)
        if not self._closed:
            out.append(Table(t=t, state="closed"))
        self._closed = True
        return out

    def _aim(self, camera: Camera) -> None:
        # everything known is known in mm on the table, so that only the way there changes
        self.camera = camera
        self._view.aim(camera)
        self._ledger.spots.aim(camera)
        if isinstance(self.eyes, Aimable):
            self.eyes = self.eyes.over(camera)

    def _begin_again(self, t: float) -> None:
        for z in self._zones.values():
            z.begin_again(t)
        self._to_look_at = set(self._zones)

    def _open_again(self, t: float) -> list[TableEvent]:
        """Play is judged again from the next round on: in one that is on, something may have been missed."""
        self._to_look_at -= {name for name, z in self._zones.items() if z.state == "quiet"}
        lies = any(c.seat is not None for c in self._ledger.hands.tracks.values())
        if self._to_look_at or lies or np.isfinite(self._outbox.first_t):
            return []
        self._closed = False
        self._outbox.passed(t)
        if self.guard is not None:
            self.guard.open_again(t)
        return [Table(t=t, state="open")]

    # -- which zones to look at

    def _visible(self, z: Zone) -> bool:
        foot = self._view.foot(box_outline(z.x, z.y, z.size, z.size, 0.0))
        return foot.n * self._view.cell**2 > 0.2 * z.size**2

    def _update_zones(self, frame: Frame, view: View) -> None:
        arms = self._arms.moving
        for z in self._zones.values():
            cells = int((z.foot.of(view.moved) & z.foot.mask).sum())
            reach = int((z.foot.of(arms) & z.foot.mask).sum()) if arms is not None else 0
            begins = z.update(frame.t, max(cells, reach) >= _ACTIVE_CELLS, self.options.settle_s)
            if self.keep is None:
                continue
            if begins and self._last is not None:
                z.shots["before"] = (self._last.t, self._crop(self._last, z.zone))
            if reach > z.reach:
                z.reach = reach
                z.shots["during"] = (frame.t, self._crop(frame, z.zone))

    def _look_around(self, frame: Frame, view: View) -> None:
        t, o = frame.t, self.options
        due = [z for z in self._zones.values() if z.wants_look(t, o.agree_s, o.confirm_s)]
        due.sort(key=lambda z: (z.state != "settling", z.look_t, z.rest_t or t))

        def pictures(k: ZoneWatch) -> Pictures:
            return self._pictures(k, frame)

        for z in due[: o.max_looks]:
            zlook = self._take_look(frame, view, z)
            if z.state == "quiet":
                recheck = z.recheck and t - z.since >= RECHECK_S
                self._ledger.glance(z, zlook, t)
                if recheck:
                    z.reopen(t)
                continue
            if z.state == "disturbed":
                z.glances = [g for g in z.glances if t - g.view.t < 2.0] + [zlook]
                if len(z.glances) >= 2:
                    self._ledger.confirm(z, frame, pictures)
                continue
            if self._hands_over(z, zlook.look.hands) and not z.barred_long(t, o.confirm_s):
                z.bar(t, _BAR_S)
                continue
            over = self._hands_mask(zlook.look.hands)
            if over is None:
                z.barred_t = None
            else:
                arms, surely = (over if m is None else over | m for m in (zlook.arms, zlook.surely))
                zlook = ZoneLook(zlook.look, view, arms, surely)
            z.looks.append(zlook)
            group = [self._zones[k.name] for k in self._territory.group(z.zone)]
            resting = [k for k in group if k.state == "settling"]
            if all(len(k.looks) >= 2 for k in resting):
                self._ledger.compare(resting, frame, pictures)

    def _look_once_more(self, frame: Frame) -> None:
        """At the end: what had come to rest gets the looks that it still wants."""
        if frame.settled:
            return
        view = View(frame.t, self._motion.history[-1][1], self._nothing, self._nothing)
        resting = [z for z in self._zones.values() if z.state != "quiet" and z.rest_t is not None]
        for z in resting:
            z.looks += [self._take_look(frame, view, z) for _ in range(2 - len(z.looks))]
        clear = [z for z in resting if not self._hands_over(z, z.looks[-1].look.hands)]
        if clear:
            while not self._ledger.compare(clear, frame, lambda k: self._pictures(k, frame)):
                for z in clear:
                    z.looks.append(self._take_look(frame, view, z))

    def _look_everywhere(self, frame: Frame, view: View) -> None:
        """A settled frame: every zone gets its one look."""
        since = self._last.t if self._last is not None else frame.t
        zlooks = {name: self._take_look(frame, view, z) for name, z in self._zones.items()}
        # in a still nothing moves: an arm is what belongs to a hand that was seen
        arms = self._hands_mask(h for k in zlooks.values() for h in k.look.hands)
        for a in self._arms.arms:
            if arms is not None and (a.mask & arms).any():
                arms |= a.mask
        for name, z in self._zones.items():
            z.looks = [ZoneLook(zlooks[name].look, view, arms, arms)]
            z.rest_t = frame.t
        self._ledger.compare(list(self._zones.values()), frame, lambda k: self._pictures(k, frame), since)
        if self.keep is not None:
            for name, z in self._zones.items():
                shot = (frame.t, self._crop(frame, z.zone))
                if self._hands_over(z, zlooks[name].look.hands):
                    z.shots["during"] = shot
                else:
                    z.shots = {"before": shot}

    def _hands_mask(self, hands: Iterable[HandSeen]) -> Mask | None:
        """Cells over which hands were seen, with some room around; None without any."""
        over: Mask | None = None
        for h in hands:
            if h.score >= _HAND_SCORE:
                f = self._view.foot(box_outline(h.x, h.y, h.w, h.h, h.yaw, CLEAR_OF_HAND_MM))
                over = self._nothing.copy() if over is None else over
                over[f.r0 : f.r1, f.c0 : f.c1] |= f.mask
        return over

    def _take_look(self, frame: Frame, view: View, z: ZoneWatch) -> ZoneLook:
        z.look_t = frame.t
        self.looks += 1
        return ZoneLook(self.eyes.look(frame, z.zone), view, self._arms.mask, self._arms.moving)

    def _hands_over(self, z: ZoneWatch, hands: Iterable[HandSeen]) -> bool:
        for h in hands:
            if h.score >= _HAND_SCORE:
                f = self._view.foot(box_outline(h.x, h.y, h.w, h.h, h.yaw))
                if int((f.onto(z.foot) & z.foot.mask).sum()) >= _ACTIVE_CELLS:
                    return True
        return False

    # -- evidence

    def _pictures(self, z: ZoneWatch, frame: Frame) -> Pictures:
        if self.keep is None:
            return Pictures(z.zone)
        shots = dict(z.shots, after=(frame.t, self._crop(frame, z.zone)))
        roles = ("before", "during", "after")
        return Pictures(z.zone, tuple((shots[r][0], r, shots[r][1]) for r in roles if r in shots))

    def _crop(self, frame: Frame, z: Zone) -> Image:
        """The zone, cut out of the frame at the camera's own resolution."""
        x0, y0, x1, y1 = evidence_box(self.camera, z)
        return np.array(frame.image[y0:y1, x0:x1])


def evidence_box(camera: Camera, zone: Zone) -> tuple[int, int, int, int]:
    """The part of a frame that a zone's evidence picture is: x0, y0, x1, y1 in pixels, x1 and y1 excluded."""
    flat = box_outline(zone.x, zone.y, zone.size, zone.size, 0.0)
    px = camera.project([(x, y, h) for x, y in flat for h in (0.0, _TALL_MM)])
    x0, y0 = np.clip(np.floor(px.min(axis=0)).astype(int), 0, (camera.width - 1, camera.height - 1))
    x1, y1 = np.clip(np.ceil(px.max(axis=0)).astype(int), (x0 + 1, y0 + 1), (camera.width, camera.height))
    return int(x0), int(y0), int(x1), int(y1)
