"""When a zone may be looked at: quiet, disturbed, settling, and the looks it then gets.

In: whether anything moved in a zone's part of the felt, picture by picture, and the looks taken. Out: which
zone wants a look now. Units: seconds; places in mm in the table frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np

from pitwatch.vision.looks import Look, Zone
from pitwatch.vision.motion import Foot, Image, Mask, TopView, View
from pitwatch.vision.snapshot import ZoneState

__all__ = ["Territory", "ZoneLook", "ZoneWatch"]

_WHOLE_MM = 50.0  # so far inside a zone, a thing is whole in it
_SHARED_MM = 15.0  # zones that see a place about equally well both judge it
_AROUND_MM = 30.0
_CONFIRM_EVERY_S = 0.25


@dataclass(frozen=True)
class ZoneLook:
    """A look together with the top view of its frame and the arms then over the table."""

    look: Look
    view: View
    arms: Mask | None


class Territory:
    """Which zone is responsible for which place."""

    def __init__(self, zones: Sequence[Zone], view: TopView) -> None:
        self.zones = tuple(zones)
        x = view.x0 + view.cell * np.arange(view.w)[None, :]
        y = view.y0 + view.cell * np.arange(view.h)[:, None]
        margins = np.stack([z.size / 2 - np.maximum(np.abs(x - z.x), np.abs(y - z.y)) for z in self.zones])
        best = margins.max(axis=0)
        r = int(_AROUND_MM / view.cell)
        around = np.ones((2 * r + 1, 2 * r + 1), np.uint8)
        self.feet: dict[str, Foot] = {}
        for z, m in zip(self.zones, margins, strict=True):
            own = (m >= np.minimum(_WHOLE_MM, best - _SHARED_MM)) & (m > 0)
            own = cv2.dilate(own.astype(np.uint8), around).astype(bool) & (m > 0) & view.valid
            rows, cols = np.nonzero(own)
            if not len(rows):
                self.feet[z.name] = Foot(0, 0, 0, 0, np.zeros((0, 0), dtype=np.bool_))
                continue
            r0, r1, c0, c1 = rows.min(), rows.max() + 1, cols.min(), cols.max() + 1
            self.feet[z.name] = Foot(int(r0), int(r1), int(c0), int(c1), own[r0:r1, c0:c1])

    def sees(self, zone: Zone, x: float, y: float) -> bool:
        """Whether this zone may judge what lies at a place: no other sees it much better."""
        m = _margin(zone, x, y)
        best = max(_margin(z, x, y) for z in self.zones)
        return m > 5.0 and m >= min(_WHOLE_MM, best - _SHARED_MM)


def _margin(z: Zone, x: float, y: float) -> float:
    return z.size / 2 - max(abs(x - z.x), abs(y - z.y))


@dataclass
class ZoneWatch:
    """One zone's state.

    foot: the cells that it is responsible for. disturbed_t: when the disturbance began that it is in or has
    last been in. rest_t: when it came to rest, None while something moves. looks: those since then.
    ref: the top view's box at its last comparison, None before the first. shots: evidence pictures by role,
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
    ref: Image | None = None
    look_t: float = -1e9
    revisit_t: float | None = None
    recheck: bool = False
    glances: list[ZoneLook] = field(default_factory=list)
    shots: dict[str, tuple[float, Image]] = field(default_factory=dict)
    reach: int = 0
    barred_until: float = -1e9

    def start(self, t: float) -> None:
        """Begin, unlooked at."""
        self.since = self.disturbed_t = self.active_t = t

    def update(self, t: float, active: bool, settle_s: float) -> bool:
        """Take in whether anything moves or reaches into the zone now. True when a disturbance begins."""
        if active:
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
        self.active_t, self.rest_t = t, None
        self.looks.clear()
        if self.state != "disturbed":
            self._become("disturbed", t)

    def wants_look(self, t: float, agree_s: float, confirm_s: float) -> bool:
        """Whether a look is due."""
        if self.state == "settling":
            return t >= self.barred_until and (not self.looks or t - self.look_t >= agree_s - 1e-6)
        if self.state == "disturbed":
            return t - self.disturbed_t >= confirm_s and t - self.look_t >= _CONFIRM_EVERY_S
        return self.revisit_t is not None and t >= self.revisit_t

    def settled(self, t: float, ref: Image) -> None:
        """The zone has been compared; it is quiet."""
        self._become("quiet", t)
        self.looks.clear()
        self.glances.clear()
        self.ref = ref

    def unsettled(self, t: float) -> None:
        """A still shows a hand over the zone; what lies in it was not compared."""
        self.looks.clear()
        self._become("disturbed", t)

    def reopen(self, t: float) -> None:
        """Something is in doubt: look and compare again, as after a disturbance."""
        self.recheck = False
        self.disturbed_t = t
        self._become("settling", t)

    def _become(self, state: ZoneState, t: float) -> None:
        self.state, self.since = state, t
