"""The people at the table: where their arms come from.

In: a layout. Out: `Body`s. Units: mm in the table frame. The dealer stands behind the dealer's edge (y = 0),
each player outside the rail before his seat.
"""

from __future__ import annotations

import math
import random

from pitwatch.sim.moves import Body, Point
from pitwatch.sim.places import RAIL_MM
from pitwatch.table.layout import Layout

__all__ = ["People"]

# the rail is this wide, and people sit behind it
_RAIL_WIDE = 72.0
_DOOR_MM = RAIL_MM + _RAIL_WIDE + 130.0
_BEHIND = 40.0  # a palm is never nearer to the edge crossing than this


class People:
    """The dealer and a player at every seat."""

    def __init__(self, layout: Layout, rng: random.Random) -> None:
        self.dealer = Body("dealer", _dealer_root, _dealer_door, rng.randrange(1 << 30))
        self._players = {s: _player(layout, s, rng) for s in layout.seats}

    def player(self, seat: int) -> Body:
        """The player at a seat."""
        return self._players[seat]


def _dealer_root(x: float, y: float) -> Point:
    # he turns and steps along: the farther out he reaches, the more his arm comes from the middle
    share = 0.35 + 0.5 / (1.0 + math.exp((y - 170.0) / 60.0))
    return (x * share, min(-10.0, y - _BEHIND))


def _dealer_door(x: float, y: float) -> Point:
    return (0.6 * x, -140.0)


def _player(layout: Layout, seat: int, rng: random.Random) -> Body:
    sits = rng.uniform(-45.0, 45.0)

    def root(x: float, y: float) -> Point:
        inward, lateral = layout.local(seat, x, y)
        return layout.at(seat, min(-RAIL_MM - _RAIL_WIDE, inward - _BEHIND), sits + 0.3 * lateral)

    def door(x: float, y: float) -> Point:
        _, lateral = layout.local(seat, x, y)
        return layout.at(seat, -_DOOR_MM, sits + 0.3 * lateral)

    return Body("player", root, door, rng.randrange(1 << 30))
