"""From frames to table events: which zones changed, when they came to rest, what is different.

In: `Frame`s in order of capture. Out: `TableEvent`s, `t` never decreasing, at most about a second after the
place came to rest. Units: mm in the table frame, seconds, cents. No clock is read: the same frames give the
same events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pitwatch.capture.frame import Frame
from pitwatch.game.events import TableEvent
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout
from pitwatch.vision.looks import Look, Zone
from pitwatch.vision.snapshot import TableSnapshot

__all__ = ["Eyes", "Keep", "WatchOptions", "Watcher"]

Keep = Callable[[float, str, NDArray[np.uint8], Zone], str]
"""Stores an evidence picture: capture time, role (`before`, `during` or `after`), BGR picture of the zone at
the camera's own resolution, zone. Gives the reference that the event will carry."""


class Eyes(Protocol):
    """Anything that can look at a zone."""

    def look(self, frame: Frame, zone: Zone) -> Look:
        """What lies in the zone in this frame."""
        ...


@dataclass(frozen=True)
class WatchOptions:
    """How patient and how strict the watcher is.

    max_looks: looks a frame at most (a settled frame is looked at everywhere). settle_s: a zone is still
    this long before it is looked at. agree_s, agree_mm: two looks this far apart in time must agree this
    closely. confirm_s: after this long a disturbance, what is visible is confirmed, never removed.
    card_p, chips_p: below this probability a card's rank or suit, or a stack's value, is not said. hold_s: an
    unread card or amount is held back this long for better looks. order_s: an event waits at most this long
    for an earlier one elsewhere. arm_mm: a hand this close to a change may have made it. gone_s: part of a
    hand is missing this long before it is gone. regain_s: cards that part are no split if they meet again
    within this time.
    """

    max_looks: int = 2
    settle_s: float = 0.3
    agree_s: float = 0.1
    agree_mm: float = 6.0
    confirm_s: float = 8.0
    card_p: float = 0.9
    chips_p: float = 0.8
    hold_s: float = 0.7
    order_s: float = 1.0
    arm_mm: float = 80.0
    gone_s: float = 2.0
    regain_s: float = 3.0


class Watcher:
    """Watches one table.

    camera: of the frames' size. layout: where spots and seats are. eyes: what looks at a zone. keep: stores
    evidence pictures; without it events carry none.
    """

    def __init__(
        self,
        camera: Camera,
        layout: Layout,
        eyes: Eyes,
        *,
        options: WatchOptions | None = None,
        keep: Keep | None = None,
    ) -> None:
        self.camera = camera
        self.layout = layout
        self.eyes = eyes
        self.options = options or WatchOptions()
        self.keep = keep
        self._t = 0.0

    def feed(self, frame: Frame) -> list[TableEvent]:
        """Take in one frame and give the events that are certain now.

        Raises ValueError when the frame has not the camera's size, or its time lies before the last one's.
        """
        h, w = frame.image.shape[:2]
        if (w, h) != (self.camera.width, self.camera.height):
            raise ValueError(f"the frame is {w} x {h}, the camera {self.camera.width} x {self.camera.height}")
        if frame.t < self._t:
            raise ValueError(f"a frame of {frame.t:.3f} s came after one of {self._t:.3f} s")
        self._t = frame.t
        return []

    def flush(self) -> list[TableEvent]:
        """The events still held back, at the end of the frames."""
        return []

    def snapshot(self) -> TableSnapshot:
        """The table as it stands."""
        return TableSnapshot(t=self._t)
