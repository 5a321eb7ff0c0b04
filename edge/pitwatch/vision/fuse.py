"""Several looks at a zone at rest become one: what was seen alike in two of them is there.

In: looks taken one after the other while nothing moved. Out: groups of cards and of stacks, each with its
mean pose and how often it was seen. Units: mm and degrees in the table frame.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from pitwatch.vision.looks import CardSeen, Look, StackSeen
from pitwatch.vision.tracks import yaw_between, yaw_mean

__all__ = ["CardGroup", "StackGroup", "card_groups", "stack_groups", "verdict"]

_SAME_CARD_MM = 14.0
_SAME_YAW = 20.0
_SAME_STACK_MM = 14.0
_TWIN_MM = 9.0  # two cards of one look closer than this, and as turned, are one seen twice
_MIN_SCORE = 0.3


@dataclass
class CardGroup:
    """One card in several looks: look number to what it saw."""

    seen: dict[int, CardSeen] = field(default_factory=dict)

    @property
    def x(self) -> float:
        """Mean x, mm."""
        return sum(s.x for s in self.seen.values()) / len(self.seen)

    @property
    def y(self) -> float:
        """Mean y, mm."""
        return sum(s.y for s in self.seen.values()) / len(self.seen)

    @property
    def yaw(self) -> float:
        """Mean yaw, degrees modulo 180."""
        return yaw_mean(s.yaw for s in self.seen.values())

    @property
    def face_up(self) -> bool:
        """What the surer looks say."""
        return sum(s.score if s.face_up else -s.score for s in self.seen.values()) > 0

    @property
    def visible(self) -> float:
        """Mean share that nothing covers."""
        return sum(s.visible for s in self.seen.values()) / len(self.seen)

    @property
    def score(self) -> float:
        """Mean score."""
        return sum(s.score for s in self.seen.values()) / len(self.seen)


@dataclass
class StackGroup:
    """One stack in several looks: look number to what it saw."""

    seen: dict[int, StackSeen] = field(default_factory=dict)

    @property
    def x(self) -> float:
        """Mean x, mm."""
        return sum(s.x for s in self.seen.values()) / len(self.seen)

    @property
    def y(self) -> float:
        """Mean y, mm."""
        return sum(s.y for s in self.seen.values()) / len(self.seen)

    @property
    def count(self) -> int:
        """Number of chips in the surest look."""
        return max(self.seen.values(), key=lambda s: s.confidence).count


def card_groups(looks: Sequence[Look]) -> list[CardGroup]:
    """Sort the looks' cards into groups, in a fixed order."""
    groups: list[CardGroup] = []
    for i, look in enumerate(looks):
        for seen in _single(look.cards):
            g = min(
                (g for g in groups if i not in g.seen),
                key=lambda g: math.hypot(g.x - seen.x, g.y - seen.y),
                default=None,
            )
            if (
                g
                and math.hypot(g.x - seen.x, g.y - seen.y) <= _SAME_CARD_MM
                and yaw_between(g.yaw, seen.yaw) <= _SAME_YAW
            ):
                g.seen[i] = seen
            else:
                groups.append(CardGroup({i: seen}))
    return groups


def stack_groups(looks: Sequence[Look]) -> list[StackGroup]:
    """Sort the looks' stacks into groups, in a fixed order."""
    groups: list[StackGroup] = []
    for i, look in enumerate(looks):
        kept: list[StackSeen] = []
        for seen in sorted(look.stacks, key=lambda s: -s.score):
            twin = any(math.hypot(k.x - seen.x, k.y - seen.y) < _SAME_STACK_MM for k in kept)
            if seen.score >= _MIN_SCORE and not twin:
                kept.append(seen)
        for seen in kept:
            g = min(
                (g for g in groups if i not in g.seen),
                key=lambda g: math.hypot(g.x - seen.x, g.y - seen.y),
                default=None,
            )
            if g and math.hypot(g.x - seen.x, g.y - seen.y) <= _SAME_STACK_MM:
                g.seen[i] = seen
            else:
                groups.append(StackGroup({i: seen}))
    return groups


def verdict(group: CardGroup | StackGroup, n_looks: int, agree_mm: float, need: int) -> bool | None:
    """Whether a group is there (True), was a slip (False), or takes another look to tell (None).

    need: looks that must agree, 1 when the picture is vouched to be at rest.
    """
    hits = len(group.seen)
    if need <= 1:
        return True
    if hits >= need:
        poses = [(s.x, s.y) for s in group.seen.values()]
        close = any(math.dist(a, b) <= agree_mm for a, b in itertools.combinations(poses, 2))
        if close or n_looks >= 2 * need:
            return hits * 2 >= n_looks
        return None
    return False if n_looks - hits >= need else None


def _single(cards: Sequence[CardSeen]) -> list[CardSeen]:
    kept: list[CardSeen] = []
    for seen in sorted(cards, key=lambda c: -c.score):
        twin = any(
            math.hypot(k.x - seen.x, k.y - seen.y) < _TWIN_MM and yaw_between(k.yaw, seen.yaw) < 15.0
            for k in kept
        )
        if seen.score >= _MIN_SCORE and not twin:
            kept.append(seen)
    return kept
