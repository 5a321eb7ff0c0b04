"""When a zone may be looked at: quiet, disturbed, settling, and the looks it then gets.

In: whether anything moved in a zone's part of the felt, picture by picture, and the looks taken. Out: which
zone wants a look now. Units: seconds; places in mm in the table frame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.table.layout import Layout, seat_of_zone
from pitwatch.vision.looks import CardSeen, Look, StackSeen, Zone
from pitwatch.vision.motion import Foot, Image, Mask, TopView, View
from pitwatch.vision.snapshot import ZoneState

__all__ = ["Territory", "ZoneLook", "ZoneWatch", "margin", "merged"]

_WHOLE_MM = 50.0  # so far inside a zone, a thing is whole in it
_SHARED_MM = 15.0  # zones that see a place about equally well both judge it
_OWN_MM = 40.0  # so far inside its own seat's zone, a place is that seat's
_AROUND_MM = 30.0
_AGAIN_MM = 16.0
_CONFIRM_EVERY_S = 0.25


@dataclass(frozen=True)
class ZoneLook:
    """A look together with the top view of its frame and the arms then over the table.

    arms: cells of whatever may be an arm. surely: of those that move, or whose hand was seen.
    """

    look: Look
    view: View
    arms: Mask | None
    surely: Mask | None


class Territory:
    """Which zone is responsible for which place.

    The zones of one seat, or of the dealer, are a group and are compared together; a place belongs to the
    group of its seat, and within it to the zones that see it about best.
    """

    def __init__(self, layout: Layout, zones: Sequence[Zone], view: TopView) -> None:
        self.zones = tuple(zones)
        self._layout = layout
        self._groups: dict[int | None, list[Zone]] = {}
        for z in self.zones:
            self._groups.setdefault(seat_of_zone(z), []).append(z)
        x = view.x0 + view.cell * np.arange(view.w)[None, :]
        y = view.y0 + view.cell * np.arange(view.h)[:, None]
        owner = self._owner_map(view)
        r = int(_AROUND_MM / view.cell)
        around = np.ones((2 * r + 1, 2 * r + 1), np.uint8)
        self.feet: dict[str, Foot] = {}
        for number, group in enumerate(self._groups.values()):
            margins = [z.size / 2 - np.maximum(np.abs(x - z.x), np.abs(y - z.y)) for z in group]
            least = np.minimum(_WHOLE_MM, np.max(margins, axis=0) - _SHARED_MM)
            for z, m in zip(group, margins, strict=True):
                own = (owner == number) & (m >= least) & (m > 0)
                own = cv2.dilate(own.astype(np.uint8), around).astype(bool) & (m > 0) & view.valid
                self.feet[z.name] = _boxed(own)

    def group(self, zone: Zone) -> list[Zone]:
        """The zones that are compared together with this one."""
        return self._groups[seat_of_zone(zone)]

    def sees(self, zones: Sequence[Zone], x: float, y: float) -> bool:
        """Whether these zones may judge what lies at a place."""
        group = self._owner(x, y)
        least = min(_WHOLE_MM, max(margin(z, x, y) for z in group) - _SHARED_MM)
        return any(z in group and margin(z, x, y) >= max(least, 5.0) for z in zones)

    def _owner(self, x: float, y: float) -> list[Zone]:
        best = max(self.zones, key=lambda z: margin(z, x, y))
        own = self._groups.get(self._layout.seat_of(x, y))
        if own is not None:
            m = max(margin(z, x, y) for z in own)
            if m >= min(_OWN_MM, margin(best, x, y) - _SHARED_MM):
                return own
        return self._groups[seat_of_zone(best)]

    def _owner_map(self, view: TopView) -> NDArray[np.int64]:
        """(h, w) number of the group that each cell belongs to."""
        numbers = {id(g): i for i, g in enumerate(self._groups.values())}
        step = 4
        rows, cols = range(step // 2, view.h + step, step), range(step // 2, view.w + step, step)
        at = [
            [numbers[id(self._owner(view.x0 + view.cell * c, view.y0 + view.cell * r))] for c in cols]
            for r in rows
        ]
        return np.repeat(np.repeat(np.array(at), step, axis=0), step, axis=1)[: view.h, : view.w]


def margin(z: Zone, x: float, y: float) -> float:
    """How far inside a zone a place lies, mm; negative outside."""
    return z.size / 2 - max(abs(x - z.x), abs(y - z.y))


def _boxed(cells: Mask) -> Foot:
    rows, cols = np.nonzero(cells)
    if not len(rows):
        return Foot(0, 0, 0, 0, np.zeros((0, 0), dtype=np.bool_))
    r0, r1, c0, c1 = (int(v) for v in (rows.min(), rows.max() + 1, cols.min(), cols.max() + 1))
    return Foot(r0, r1, c0, c1, cells[r0:r1, c0:c1])


def merged(zone_looks: Sequence[Sequence[ZoneLook]]) -> list[ZoneLook]:
    """Looks at several zones, as many at each, as if they were looks at one: every thing once.

    A thing counts as the zone in which it lies deepest sees it.
    """
    if len(zone_looks) == 1:
        return list(zone_looks[0])
    out = []
    for at_once in zip(*zone_looks, strict=True):
        zones = [k.look.zone for k in at_once]
        cards: list[CardSeen] = []
        stacks: list[StackSeen] = []
        for k in at_once:
            own = k.look.zone
            theirs: list[CardSeen] = []
            for c in k.look.cards:
                m = margin(own, c.x, c.y)
                seen_better = any(margin(z, c.x, c.y) > m + _SHARED_MM for z in zones)
                again = any(math.dist((c.x, c.y), (o.x, o.y)) < _AGAIN_MM for o in cards if _alike(c, o))
                if not seen_better and not again:
                    theirs.append(c)
            cards += theirs
            known = list(stacks)
            for s in k.look.stacks:
                m = margin(own, s.x, s.y)
                seen_better = any(margin(z, s.x, s.y) > m + _SHARED_MM for z in zones)
                if not seen_better and all(math.dist((s.x, s.y), (o.x, o.y)) >= _AGAIN_MM for o in known):
                    stacks.append(s)
        hands = tuple(h for k in at_once for h in k.look.hands)
        last = at_once[-1]
        look = Look(last.look.t, zones[0], tuple(cards), tuple(stacks), hands)
        out.append(ZoneLook(look, last.view, last.arms, last.surely))
    return out


def _alike(a: CardSeen, b: CardSeen) -> bool:
    d = abs(a.yaw - b.yaw) % 180.0
    return min(d, 180.0 - d) < 25.0


@dataclass
class ZoneWatch:
    """One zone's state.

    foot: the cells that it is responsible for. disturbed_t: when the disturbance began that it is in or has
    last been in. rest_t: when it came to rest, None while something moves. looks: those since then.
    shots: evidence pictures by role,
    with their times. reach: the most cells that an arm has covered. recheck: something in it is in doubt.
    glances: looks taken while the disturbance went on.
    """

    zone: Zone
    foot: Foot
    state: ZoneState = "disturbed"
    since: float = 0.0
    disturbed_t: float = 0.0
    active_t: float = 0.0
    rest_t: float | None = None
    looks: list[ZoneLook] = field(default_factory=list)
    look_t: float = -1e9
    revisit_t: float | None = None
    recheck: bool = False
    glances: list[ZoneLook] = field(default_factory=list)
    shots: dict[str, tuple[float, Image]] = field(default_factory=dict)
    reach: int = 0
    barred_until: float = -1e9
    barred_t: float | None = None

    def start(self, t: float) -> None:
        """Begin, unlooked at."""
        self.since = self.disturbed_t = self.active_t = t

    def begin_again(self, t: float) -> None:
        """It was not watched for a while: as after a disturbance, it must come to rest and be compared."""
        self.shots.clear()
        self.looks.clear()
        self.glances.clear()
        self.disturbed_t = self.active_t = t
        self.rest_t = self.barred_t = None
        self.reach = 0
        self._become("disturbed", t)

    def update(self, t: float, active: bool, settle_s: float) -> bool:
        """Take in whether anything moves or reaches into the zone now. True when a disturbance begins."""
        if active:
            self.barred_t = None
            begins = self.state == "quiet"
            if begins:
                self.disturbed_t = t
                self.shots.clear()
                self.reach = 0
            if self.state != "disturbed":
                self._become("disturbed", t)
            self.active_t, self.rest_t = t, None
            self.looks.clear()
            return begins
        if self.rest_t is None:
            self.rest_t = t
        if self.state == "disturbed" and t - self.active_t >= settle_s - 1e-6:
            self._become("settling", t)
        return False

    def bar(self, t: float, for_s: float) -> None:
        """A look found a hand over the zone: it is not at rest."""
        self.barred_until = t + for_s
        self.barred_t = t if self.barred_t is None else self.barred_t
        self.active_t, self.rest_t = t, None
        self.looks.clear()
        if self.state != "disturbed":
            self._become("disturbed", t)

    def barred_long(self, t: float, long_s: float) -> bool:
        """Whether a hand has been seen over the zone for long without moving: perhaps it is none."""
        return self.barred_t is not None and t - self.barred_t >= long_s

    def wants_look(self, t: float, agree_s: float, confirm_s: float) -> bool:
        """Whether a look is due."""
        if self.state == "settling":
            return t >= self.barred_until and (not self.looks or t - self.look_t >= agree_s - 1e-6)
        if self.state == "disturbed":
            # rather while nothing moves in it, but now and then in any case
            waited = t - self.look_t
            due = waited >= (_CONFIRM_EVERY_S if self.active_t < t else 4 * _CONFIRM_EVERY_S)
            return due and t - self.disturbed_t >= confirm_s
        return self.revisit_t is not None and t >= self.revisit_t

    def settled(self, t: float) -> None:
        """The zone has been compared; it is quiet."""
        self._become("quiet", t)
        self.looks.clear()
        self.glances.clear()

    def reopen(self, t: float) -> None:
        """Something is in doubt: look and compare again, as after a disturbance."""
        self.recheck = False
        self.disturbed_t = t
        self._become("settling", t)

    def _become(self, state: ZoneState, t: float) -> None:
        self.state, self.since = state, t
