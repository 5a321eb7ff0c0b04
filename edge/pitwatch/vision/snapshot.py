"""The table as the watcher knows it at one instant, for overlays and pages.

Units: mm and degrees in the table frame, seconds, cents. Plain data; nothing here is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pitwatch.game.events import By

__all__ = ["ArmView", "CardView", "StackView", "TableSnapshot", "ZoneState", "ZoneView"]

ZoneState = Literal["quiet", "disturbed", "settling"]


@dataclass(frozen=True)
class CardView:
    """One card that is known to lie on the felt.

    id: stays the same while the card lies there. x, y: centre, mm. yaw: degrees modulo 180. card: the
    reading as an event would say it, None when unread or face down. confidence: probability that `card` is
    right. visible: share that nothing covered when last seen. seat: 0 the dealer, None nobody's. order: a
    card with a higher order lies over one with a lower.
    """

    id: int
    x: float
    y: float
    yaw: float
    face_up: bool
    card: str | None
    confidence: float
    visible: float
    seat: int | None
    hand: int
    order: int
    sideways: bool = False


@dataclass(frozen=True)
class StackView:
    """One stack of chips. x, y: middle of its base, mm. amount: cents, None when its value is not sure.

    seat, spot: None outside every spot.
    """

    id: int
    x: float
    y: float
    amount: int | None
    confidence: float
    chips: tuple[int, ...]
    seat: int | None
    spot: str | None
    hand: int = 0


@dataclass(frozen=True)
class ArmView:
    """An arm over the table. side: None when it cannot be told. outline: polygon on the felt plane, mm."""

    side: By | None
    outline: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class ZoneView:
    """A zone and its state. since: the time at which this state began, seconds."""

    name: str
    x: float
    y: float
    size: float
    state: ZoneState
    since: float


@dataclass(frozen=True)
class TableSnapshot:
    """Everything the watcher knows at time `t`."""

    t: float
    cards: tuple[CardView, ...] = ()
    stacks: tuple[StackView, ...] = ()
    arms: tuple[ArmView, ...] = ()
    zones: tuple[ZoneView, ...] = ()
