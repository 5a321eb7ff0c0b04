"""How things move: a hand reaches over the table, takes, carries, lays down and withdraws.

In: places in mm and degrees, times in seconds. Out: tracks of cards, stacks and arms that give the pose at
any time. Whatever moves or changes does so in a hand; speeds follow the minimum-jerk law of human reaching.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from pitwatch.sim.scene import ArmPose, CardPose, StackPose

__all__ = ["Body", "CardTrack", "Reach", "StackTrack", "Track"]

Side = Literal["dealer", "player"]
Point = tuple[float, float]
Vec = tuple[float, ...]
P = TypeVar("P", CardPose, StackPose)

CARRY_MM = 26.0
"""Height at which things are carried."""
_HOVER = 62.0  # a palm on its way
_LOW = 34.0  # a palm that takes or lays
_MAX_SPEED = 2750.0  # mm/s, of a palm
_REST = (0.0, 0.0)


def _ease(u: float) -> float:
    return u * u * u * (10.0 + u * (6.0 * u - 15.0))


class _Piece:
    """A movement from a to b between t0 and t1; afterwards the thing rests at b."""

    __slots__ = ("a", "b", "bulge", "cruise", "rest", "t0", "t1", "warp")

    def __init__(self, t0: float, t1: float, a: Vec, b: Vec, bulge: Point, cruise: float | None) -> None:
        self.t0, self.t1, self.a, self.b, self.bulge, self.cruise = t0, t1, a, b, bulge, cruise
        self.rest: object = None

    def at(self, t: float) -> Vec:
        """The vector (x, y, z, ...) at time t, within the movement."""
        u = (t - self.t0) / (self.t1 - self.t0)
        s = _ease(u)
        a, b = self.a, self.b
        out = [p + (q - p) * s for p, q in zip(a, b, strict=True)]
        k = 4.0 * s * (1.0 - s)
        out[0] += self.bulge[0] * k
        out[1] += self.bulge[1] * k
        if self.cruise is not None:
            # up first, then along, then down
            top = max(self.cruise, a[2], b[2])
            if u < 0.2:
                out[2] = a[2] + (top - a[2]) * _ease(u * 5.0)
            elif u > 0.8:
                out[2] = b[2] + (top - b[2]) * _ease((1.0 - u) * 5.0)
            else:
                out[2] = top
        return tuple(out)


class Track(Generic[P]):
    """One thing from when it comes to the table until it leaves it.

    pose: its look when it came; a track remembers what changes about it.
    """

    def __init__(self, pose: P, t: float, vec: Vec) -> None:
        self.born = t
        self.gone = math.inf
        self.vec = vec
        self._poses: list[P] = [pose]
        self._pieces = [_Piece(t, t, vec, vec, _REST, None)]
        self._times = [t]

    @property
    def pose(self) -> P:
        """What it is now, at the end of what has been scripted."""
        return self._poses[-1]

    def _add(self, piece: _Piece, pose: P) -> None:
        self._pieces.append(piece)
        self._poses.append(pose)
        self._times.append(piece.t0)
        self.vec = piece.b

    def move(self, t0: float, t1: float, b: Vec, bulge: Point = _REST, cruise: float | None = None) -> None:
        """Move from where it is to b."""
        self._add(_Piece(t0, t1, self.vec, b, bulge, cruise), self.pose)

    def become(self, t: float, **changes: Any) -> None:
        """Change what it is, not where it is."""
        self._add(_Piece(t, t, self.vec, self.vec, _REST, None), replace(self.pose, **changes))

    def at(self, t: float) -> P | None:
        """Its pose at time t, None while it is not on the table."""
        if not self.born <= t < self.gone:
            return None
        i = bisect_right(self._times, t) - 1
        piece = self._pieces[i]
        if t >= piece.t1:
            if piece.rest is None:
                piece.rest = self._posed(self._poses[i], piece.b)
            return piece.rest  # type: ignore[return-value]
        return self._posed(self._poses[i], piece.at(t))

    def _posed(self, pose: P, vec: Vec) -> P:
        raise NotImplementedError


class CardTrack(Track[CardPose]):
    """A card; its vector is (x, y, z, yaw, lift)."""

    def _posed(self, pose: CardPose, vec: Vec) -> CardPose:
        x, y, z, yaw, lift = vec
        return CardPose(pose.card, pose.face_up, x, y, yaw, z, pose.order, pose.seat, pose.hand, lift)


class StackTrack(Track[StackPose]):
    """A stack; its vector is (x, y, z)."""

    def _posed(self, pose: StackPose, vec: Vec) -> StackPose:
        x, y, z = vec
        return StackPose(pose.chips, x, y, z, pose.seat, pose.spot, pose.hand, pose.look)


@dataclass(frozen=True)
class Body:
    """Somebody at the table. root: where his arm crosses the table's edge for a palm at this place, mm.

    door: where his palm comes in for work at a place, beyond the edge. look: of his arm.
    """

    side: Side
    root: Callable[[float, float], Point]
    door: Callable[[float, float], Point]
    look: int

    def forward(self, x: float, y: float) -> Point:
        """Unit vector along his arm for a palm here."""
        rx, ry = self.root(x, y)
        d = math.hypot(x - rx, y - ry)
        return ((x - rx) / d, (y - ry) / d) if d > 1.0 else (0.0, 1.0)


@dataclass
class _Held:
    track: CardTrack | StackTrack
    ahead: float
    aside: float


class Reach:
    """One arm over the table, from when it comes until it has withdrawn.

    t: how far its script goes, seconds. tempo: 1 is brisk, higher is slower.
    """

    def __init__(self, body: Body, t: float, toward: Point, rng: random.Random, tempo: float = 1.0) -> None:
        self.body = body
        self.t = self.t0 = t
        self.rng = rng
        self.tempo = tempo
        self.held: list[_Held] = []
        x, y = body.door(*toward)
        self.vec: Vec = (x, y, _HOVER)
        self._pieces = [_Piece(t, t, self.vec, self.vec, _REST, None)]
        self._times = [t]

    # -- what others ask

    def at(self, t: float) -> ArmPose | None:
        """The arm at time t, None before it came and after it left."""
        if not self.t0 <= t < self.t:
            return None
        piece = self._pieces[bisect_right(self._times, t) - 1]
        x, y, z = piece.b if t >= piece.t1 else piece.at(t)
        rx, ry = self.body.root(x, y)
        return ArmPose(self.body.side, rx, ry, x, y, z, self.body.look)

    def palm(self, x: float, y: float, ahead: float, aside: float = 0.0) -> Point:
        """Where the palm is when a thing that it holds so is at (x, y)."""
        fx, fy = self.body.forward(x, y)
        for _ in range(3):
            hx, hy = x - ahead * fx + aside * fy, y - ahead * fy - aside * fx
            fx, fy = self.body.forward(hx, hy)
        return (hx, hy)

    # -- what it does

    def go(self, x: float, y: float, z: float = _HOVER, bulge: Point = _REST, least: float = 0.2) -> None:
        """Move the palm, and what it holds with it."""
        b: Vec = (x, y, z)
        took = self._time(self.vec, b, bulge, least)
        t0, t1 = self.t, self.t + took
        self._pieces.append(_Piece(t0, t1, self.vec, b, bulge, None))
        self._times.append(t0)
        fx, fy = self.body.forward(x, y)
        for h in self.held:
            hx, hy = x + h.ahead * fx - h.aside * fy, y + h.ahead * fy + h.aside * fx
            rest = h.track.vec[3:]
            h.track.move(t0, t1, (hx, hy, max(h.track.vec[2], CARRY_MM), *rest), bulge, CARRY_MM)
        self.vec, self.t = b, t1

    def wait(self, seconds: float) -> None:
        """Hold still."""
        self._pieces.append(_Piece(self.t, self.t + seconds, self.vec, self.vec, _REST, None))
        self._times.append(self.t)
        self.t += seconds

    def hold(self, track: CardTrack | StackTrack, ahead: float, aside: float = 0.0) -> None:
        """Take hold of a thing: with the next movement it comes to this place before the palm."""
        self.held.append(_Held(track, ahead, aside))

    def fetch(
        self, track: CardTrack | StackTrack, ahead: float, aside: float = 0.0, least: float = 0.2
    ) -> None:
        """Go to a thing that lies there and take hold of it."""
        x, y = self.palm(track.vec[0], track.vec[1], ahead, aside)
        self.go(x, y, _LOW + track.vec[2], least=least)
        self.hold(track, ahead, aside)

    def lay(
        self,
        track: CardTrack | StackTrack,
        b: Vec,
        bulge: Point = _REST,
        cruise: float = CARRY_MM,
        least: float = 0.3,
    ) -> float:
        """Carry a held thing to b and let it go; returns the time at which it lies."""
        h = next(h for h in self.held if h.track is track)
        self.held.remove(h)
        x, y = self.palm(b[0], b[1], h.ahead, h.aside)
        to: Vec = (x, y, _LOW + b[2])
        took = max(self._time(self.vec, to, bulge, least), self._time(track.vec, b, bulge, least))
        t0, t1 = self.t, self.t + took
        self._pieces.append(_Piece(t0, t1, self.vec, to, bulge, _HOVER))
        self._times.append(t0)
        track.move(t0, t1, b, bulge, cruise)
        self.vec, self.t = to, t1
        self.wait(self.rng.uniform(0.06, 0.12))
        return t1

    def drop(self) -> None:
        """Everything held leaves the table here."""
        for h in self.held:
            h.track.gone = self.t
        self.held.clear()

    def leave(self) -> None:
        """Withdraw behind the edge."""
        self.go(*self.body.door(self.vec[0], self.vec[1]))

    def _time(self, a: Vec, b: Vec, bulge: Point, least: float) -> float:
        """Seconds for a movement, from its length and so that it is never too fast."""
        fastest = 0.0
        before = (a[0], a[1], a[2])
        n = 24
        for i in range(1, n + 1):
            s = _ease(i / n)
            k = 4.0 * s * (1.0 - s)
            here = (
                a[0] + (b[0] - a[0]) * s + bulge[0] * k,
                a[1] + (b[1] - a[1]) * s + bulge[1] * k,
                a[2] + (b[2] - a[2]) * s,
            )
            fastest = max(fastest, math.dist(here, before) * n)
            before = here
        return max(fastest / _MAX_SPEED, least) * self.tempo * self.rng.uniform(1.0, 1.15)
