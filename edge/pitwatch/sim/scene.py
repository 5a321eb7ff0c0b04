"""The state of a simulated table at one instant: the script's output, the renderer's input, and the truth.

Units: mm and degrees in the table frame, cents. Nothing here knows pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["ArmPose", "CardPose", "Scene", "StackPose"]


@dataclass(frozen=True)
class CardPose:
    """One card. x, y: centre. yaw: counter-clockwise from +x to the card's own up direction, degrees.

    z: height of the card's plane over the felt, mm; cards that lie are 0.3 mm a card. order: a card with a
    higher order lies over one with a lower. lift: degrees by which the near short edge is bent up (a peek).
    seat 0: the dealer's; None: nobody's.
    """

    card: str
    face_up: bool
    x: float
    y: float
    yaw: float
    z: float = 0.3
    order: int = 0
    seat: int | None = None
    hand: int = 0
    lift: float = 0.0


@dataclass(frozen=True)
class StackPose:
    """One stack of chips, cents bottom to top. x, y: middle of its base. z: height of its base, mm.

    look: seeds what the script does not care about (each chip's twist and slip). spot: the spot's name,
    None when it lies outside every spot.
    """

    chips: tuple[int, ...]
    x: float
    y: float
    z: float = 0.0
    seat: int | None = None
    spot: str | None = None
    hand: int = 0
    look: int = 0

    @property
    def cents(self) -> int:
        """The stack's value."""
        return sum(self.chips)


@dataclass(frozen=True)
class ArmPose:
    """An arm over the table, from where it crosses the table's edge to the middle of its palm, mm.

    look: seeds sleeve, skin and width. z: height of the palm over the felt.
    """

    side: Literal["dealer", "player"]
    root_x: float
    root_y: float
    hand_x: float
    hand_y: float
    z: float = 45.0
    look: int = 0


@dataclass(frozen=True)
class Scene:
    """Everything on and over the felt at time t, seconds. Carried cards and stacks have z > 10."""

    t: float
    cards: tuple[CardPose, ...] = ()
    stacks: tuple[StackPose, ...] = ()
    arms: tuple[ArmPose, ...] = ()
