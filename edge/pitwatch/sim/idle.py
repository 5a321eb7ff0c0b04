"""What people do at a table that means nothing: chips of their own, hands that only rest or point.

In: a layout, the people, what lies in the spots. Out: stacks outside every spot, and reaches that leave
everything as it was. Units: mm in the table frame, seconds.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from pitwatch.sim.moves import Reach, StackTrack
from pitwatch.sim.people import People
from pitwatch.sim.places import RAIL_MM
from pitwatch.sim.scene import StackPose
from pitwatch.table.layout import Layout, Point

__all__ = ["Idle"]

_KINDS = ("own", "wager", "lean", "dealer", "signal")


class Idle:
    """own: the stacks that players have before them near the rail, by seat."""

    def __init__(self, layout: Layout, people: People, rng: random.Random) -> None:
        self._layout = layout
        self._people = people
        self._rng = rng
        self.own = {s: self._own(s) for s in layout.seats if rng.random() < 0.4}

    def _own(self, seat: int) -> StackTrack:
        rng = self._rng
        side = rng.choice([-1, 1]) * rng.uniform(55, 80)
        x, y = self._layout.at(seat, -rng.uniform(105, RAIL_MM - 35), side)
        colour = rng.choice([100, 500, 500, 2500, 10000])
        pose = StackPose((colour,) * rng.randint(3, 12), 0, 0, look=rng.randrange(1 << 30))
        return StackTrack(pose, 0.0, (x, y, 0.0))

    def reach(self, start: float, seat: int, wagers: Mapping[int, tuple[float, ...]]) -> Reach | None:
        """Somebody reaches out at time `start` and withdraws.

        seat: whose turn it is. wagers: where a stack lies in the spot, by seat. None when nobody is there.
        """
        kind = self._rng.choice(_KINDS)
        if kind == "dealer":
            return self._dealer(start)
        found = self._place(kind, seat, wagers)
        if found is None:
            return None
        who, at = found
        u = self._rng.uniform
        reach = Reach(self._people.player(who), start, at, self._rng, u(1.0, 1.3))
        reach.go(*reach.palm(*at, 30.0), 45.0)
        if kind == "signal":
            for _ in range(2):
                x, y, z = reach.vec
                reach.go(x + u(-4, 4), y + u(-4, 4), z - 18, least=0.12)
                reach.go(x, y, z, least=0.12)
        else:
            reach.wait(u(0.4, 1.4))
        reach.leave()
        return reach

    def _dealer(self, start: float) -> Reach:
        """The dealer points at something, or waits with his hand out."""
        u = self._rng.uniform
        at = (u(-220, 220), u(290, 400))
        reach = Reach(self._people.dealer, start, at, self._rng, u(1.0, 1.3))
        reach.go(*at)
        for _ in range(2):
            reach.go(at[0] + u(-25, 25), at[1] + u(-15, 15), least=0.4)
            reach.wait(u(0.2, 0.8))
        reach.leave()
        return reach

    def _place(
        self, kind: str, seat: int, wagers: Mapping[int, tuple[float, ...]]
    ) -> tuple[int, Point] | None:
        u = self._rng.uniform
        if kind == "own":
            if not self.own:
                return None
            who = self._rng.choice(sorted(self.own))
            x, y, _ = self.own[who].vec
            return who, (x, y)
        if not wagers:
            return None
        who = self._rng.choice(sorted(wagers))
        if kind == "wager":
            return who, (wagers[who][0], wagers[who][1])
        if kind == "signal":
            who = seat if seat in wagers else who
            return who, self._layout.at(who, u(50, 70), u(-90, -70))
        return who, self._layout.at(who, u(-70, -30), u(70, 110) * self._rng.choice([-1, 1]))
