"""What is known to lie on the table: cards and stacks with the evidence gathered about them.

In: cards and stacks as single looks saw them. Out: tracks with pose and probabilities. Units: mm and degrees
in the table frame (yaw modulo 180), cents, natural logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.cards import RANKS, SUITS
from pitwatch.vision.looks import CARD_MM, CHIP_MM, CHIP_PITCH_MM, CardSeen, StackSeen
from pitwatch.vision.motion import Foot, Image, TopView

__all__ = [
    "CardTrack",
    "Reading",
    "StackTrack",
    "Values",
    "box_outline",
    "card_outline",
    "overlap",
    "stack_outline",
    "yaw_between",
    "yaw_mean",
]

Array = NDArray[np.float64]


def yaw_between(a: float, b: float) -> float:
    """Angle between two directions modulo 180 degrees, 0 to 90."""
    d = abs(a - b) % 180.0
    return min(d, 180.0 - d)


def yaw_mean(yaws: Iterable[float]) -> float:
    """Mean direction modulo 180 degrees."""
    z = sum(np.exp(2j * math.radians(y)) for y in yaws)
    return math.degrees(float(np.angle(z))) / 2 % 180.0


def card_outline(x: float, y: float, yaw: float, grow: float = 0.0) -> Array:
    """Corners (4, 2) of a card, mm, grown by so much on every side."""
    return box_outline(x, y, CARD_MM[1], CARD_MM[0], yaw, grow)


def box_outline(x: float, y: float, w: float, h: float, yaw: float, grow: float = 0.0) -> Array:
    """Corners (4, 2) of a box with its side `w` along `yaw`, mm, grown by so much on every side."""
    a = math.radians(yaw)
    up = np.array([math.cos(a), math.sin(a)]) * (w / 2 + grow)
    side = np.array([-math.sin(a), math.cos(a)]) * (h / 2 + grow)
    corners = np.array([up + side, up - side, -up - side, -up + side])
    return np.asarray(corners + np.array([x, y]), dtype=np.float64)


def overlap(a: Array, b: Array) -> float:
    """Share of a card's area that two card outlines (4, 2) have in common, 0 to 1."""
    area, _ = cv2.intersectConvexConvex(a.astype(np.float32), b.astype(np.float32))
    return float(area) / (CARD_MM[0] * CARD_MM[1])


def stack_outline(view: TopView, x: float, y: float, count: int, grow: float = 0.0) -> Array:
    """Convex outline (N, 2) on the felt plane of what a stack hides, mm."""
    r = CHIP_MM / 2 + grow
    ring = [(r * math.cos(a), r * math.sin(a)) for a in np.linspace(0, 2 * math.pi, 12, endpoint=False)]
    tx, ty = view.raised(x, y, count * CHIP_PITCH_MM)
    points = [(x + dx, y + dy) for dx, dy in ring] + [(tx + dx, ty + dy) for dx, dy in ring]
    return _hull(points)


def _hull(points: list[tuple[float, float]]) -> Array:
    def half(ps: list[tuple[float, float]]) -> list[tuple[float, float]]:
        out: list[tuple[float, float]] = []
        for p in ps:
            while len(out) > 1:
                (ax, ay), (bx, by) = out[-2], out[-1]
                if (bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax) > 0:
                    break
                out.pop()
            out.append(p)
        return out[:-1]

    ps = sorted(set(points))
    return np.array(half(ps) + half(ps[::-1]))


class Reading:
    """What a card is, from all looks at it.

    Looks at an unchanged picture are one look: within such an epoch they are averaged, the better ones more;
    epochs add up, each by how much of the picture had changed and how much of the card it showed.
    """

    def __init__(self) -> None:
        self._done = np.zeros((13, 4))
        self._sum = np.zeros((13, 4))
        self._n = 0.0
        self._weight = 1.0
        self._best_visible = 0.0

    def next_epoch(self, changed: float) -> None:
        """The picture has changed, by this share of the card."""
        if self._n > 0:
            self._done += self._weight * self._sum / self._n
            self._sum = np.zeros((13, 4))
            self._n = 0.0
            self._weight = min(max(changed, 0.0), 1.0)

    def add(self, seen: CardSeen) -> None:
        """Take in one look; a back says nothing."""
        if not seen.rank_logp:
            return
        known = 1.0 - min(max(seen.unread, 0.0), 1.0)
        p = np.exp(np.add.outer(np.asarray(seen.rank_logp), np.asarray(seen.suit_logp)))
        log_p = np.log(known * p / p.sum() + (1 - known) / 52 + 1e-5)
        if self._n == 0.0:
            self._weight *= self._trust(seen.visible)
        self._best_visible = max(self._best_visible, seen.visible)
        w = known * seen.visible + 0.02
        self._sum += w * log_p
        self._n += w

    def posterior(self) -> Array:
        """Probabilities (13, 4) over RANKS and SUITS."""
        total = self._done + (self._weight * self._sum / self._n if self._n > 0 else 0.0)
        e = np.exp(total - total.max())
        return np.asarray(e / e.sum())

    def text(self, p_min: float) -> tuple[str | None, float]:
        """The card as an event says it, and its probability: "7d", "7?" when only the rank is sure, None."""
        p = self.posterior()
        r, s = divmod(int(p.argmax()), 4)
        if p[r, s] >= p_min:
            return RANKS[r] + SUITS[s], float(p[r, s])
        ranks = p.sum(axis=1)
        r = int(ranks.argmax())
        if ranks[r] >= p_min:
            return RANKS[r] + "?", float(ranks[r])
        return None, float(ranks[r])

    def against(self, seen: Iterable[CardSeen]) -> float:
        """Log-odds that these looks show another card than the one known, about 0 when either is unclear."""
        other = Reading()
        for s in seen:
            other.add(s)
        same = float((self.posterior() * other.posterior()).sum())
        return math.log(1 / 52) - math.log(same + 1e-9)

    def _trust(self, visible: float) -> float:
        share = visible / max(self._best_visible, 0.5)
        return min(1.0, share if self._best_visible == 0 else share * share)


@dataclass
class CardTrack:
    """A card that lies on the felt.

    foot, patch: its place in the top view and how that looked when last compared. order: higher lies over
    lower. seat: None nobody's. laid_t, gone_t: when it came to rest there, and when it was taken. doubts: how
    often it was missed with neither felt nor a cover in its place, since doubt_t.
    """

    id: int
    x: float
    y: float
    yaw: float
    face_up: bool
    foot: Foot
    patch: Image
    reading: Reading = field(default_factory=Reading)
    seat: int | None = None
    hand: int = 0
    order: int = 0
    visible: float = 1.0
    sideways: bool = False
    laid_t: float = 0.0
    gone_t: float | None = None
    doubts: int = 0
    doubt_t: float = 0.0

    def outline(self, grow: float = 0.0) -> Array:
        """Corners (4, 2), mm."""
        return card_outline(self.x, self.y, self.yaw, grow)


_REST = -1  # stands for every value that no look named
_OTHERS = 40.0  # how many values share what is left


class Values:
    """What a stack is worth, from all looks at it since it last could have changed.

    They are averaged, a clear one counting more than an unclear one.
    """

    def __init__(self) -> None:
        self._prior: dict[int, float] = {}
        self._looks: list[dict[int, float]] = []

    def next_epoch(self, stays: float) -> None:
        """The stack may have been changed: it is still what it was with this probability."""
        p = self.posterior()
        self._looks.clear()
        if p:
            self._prior = {v: math.log(stays * q + (1 - stays) / _OTHERS) for v, q in p.items() if v != _REST}
            self._prior[_REST] = math.log((1 - stays) / _OTHERS + 1e-6)

    def add(self, seen: StackSeen) -> None:
        """Take in one look."""
        if not seen.values:
            return
        rest = max(1.0 - sum(p for _, p in seen.values), 1e-4)
        look = {v: math.log(max(p, 1e-6)) for v, p in seen.values}
        look[_REST] = math.log(rest / _OTHERS)
        self._looks.append(look)

    def posterior(self) -> dict[int, float]:
        """Probability of each value in cents; -1 stands for all others. Empty when nothing was read."""
        if not self._looks:
            return _softmax(self._prior) if self._prior else {}
        named = {v for look in self._looks for v in look} | set(self._prior)
        sure = [math.exp(2 * max(look.values())) for look in self._looks]
        n = sum(sure)
        total = {
            v: sum(k * look.get(v, look[_REST]) for k, look in zip(sure, self._looks, strict=True)) / n
            + (self._prior.get(v, self._prior[_REST]) if self._prior else 0.0)
            for v in named
        }
        total[_REST] += math.log(_OTHERS)
        return _softmax(total)

    def best(self) -> tuple[int | None, float]:
        """The likeliest value in cents and its probability."""
        p = {v: q for v, q in self.posterior().items() if v != _REST}
        if not p:
            return None, 0.0
        v = max(p, key=lambda k: (p[k], -k))
        return v, p[v]


def _softmax(log_p: Mapping[int, float]) -> dict[int, float]:
    top = max(log_p.values())
    e = {v: math.exp(q - top) for v, q in log_p.items()}
    n = sum(e.values())
    return {v: q / n for v, q in e.items()}


@dataclass
class StackTrack:
    """A stack of chips. x, y: middle of its base. fine: its picture at 1 px/mm, grey, for telling changes."""

    id: int
    x: float
    y: float
    count: int
    foot: Foot
    patch: Image
    fine: NDArray[np.uint8]
    values: Values = field(default_factory=Values)
    chips: tuple[int, ...] = ()
    seat: int | None = None
    spot: str | None = None
    hand: int = 0
    doubts: int = 0
    doubt_t: float = 0.0
