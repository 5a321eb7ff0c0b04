"""Where things are laid on the felt: cards of every hand, chips of every wager, shoe, rack and discard.

In: a layout and a played round. Out: places in mm and degrees in the table frame, without a hand's tremble.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from pitwatch.sim.played import Hand, Played
from pitwatch.table.layout import Layout, Point

__all__ = ["DISCARD_MM", "RACK_Y_MM", "RAIL_MM", "SHOE_MM", "Place", "Places", "fits"]

SHOE_MM: Point = (-640.0, 115.0)
"""The mouth of the shoe, at the dealer's left."""
DISCARD_MM: Point = (700.0, 135.0)
"""The discard holder, at the dealer's right."""
RACK_Y_MM = 40.0
"""The chip rack lies along x = -300 to 300 at this distance from the dealer's edge."""
RAIL_MM = 165.0
"""From the spots outward to the rail."""

_FIRST = 128.0  # a hand's first card, from its spot inward
_STEP = (26.0, 14.0)  # the next card, inward and to the left
_DEALER = (-33.0, 45.0)  # hole card and upcard along the dealer's row
_MARGIN = 4.0


@dataclass(frozen=True)
class Place:
    """Where a card's middle lies, and its own up direction in degrees counter-clockwise from +x."""

    x: float
    y: float
    yaw: float


# (inward, lateral) of the first card of a seat's hands: what is split off goes to the left, then to the right
_SLOTS = ((0.0, 0.0), (0.0, 84.0), (0.0, -84.0), (150.0, 0.0))
# laterals of their wagers, which lie in the order of the hands; four wagers share the spot
_COLUMNS = (0.0, 60.0, -60.0)
_COLUMNS_OF_FOUR = (-21.0, 63.0, -63.0, 21.0)


class Places:
    """The places of one round."""

    def __init__(self, layout: Layout, played: Played) -> None:
        self.layout = layout
        self._cards = {(h.seat, h.number): len(h.cards) for h in played.hands}
        self._hands = {s: sum(seat == s for seat, _ in self._cards) for s in layout.seats}
        self._dealer = len(played.dealer)

    def card(self, seat: int, hand: int, k: int, sideways: bool = False, split: bool = False) -> Place:
        """The place of the k-th card (from 0) of a hand. split: the seat's hands are parted."""
        if seat == 0:
            return self.dealer(k)
        deep, side = _SLOTS[hand]
        cards = self._cards[seat, hand]
        step_in, step_side = _STEP
        if split:
            # upright, to leave room for each other
            step_side = 0.0
        if cards > 2:
            # long hands are laid closer
            step_in = min(step_in, 120.0 / (cards - 1))
            step_side = min(step_side, 58.0 / (cards - 1))
        if self._hands[seat] == 4:
            step_in = min(step_in, 50.0 / max(cards - 1, 1))
        x, y = self.layout.at(seat, _FIRST + deep + k * step_in, side + k * step_side)
        ux, uy = self.layout.axis(seat)
        yaw = math.degrees(math.atan2(uy, ux)) + (90.0 if sideways else 0.0)
        return Place(x, y, yaw)

    def dealer(self, k: int) -> Place:
        """The place of the dealer's k-th card: upcard, hole card at its left, the others at its right."""
        x0, x1, y = self.layout.dealer_row
        middle = (x0 + x1) / 2 - 97.5
        if k < 2:
            return Place(middle + _DEALER[1 - k], y, 90.0)
        step = min(73.0, (x1 - 8.0 - middle - _DEALER[1]) / max(self._dealer - 2, 1))
        return Place(middle + _DEALER[1] + (k - 1) * step, y, 90.0)

    def chips(self, seat: int, hand: int, role: str, split: bool) -> Point:
        """Where a stack is put. role: wager, double, raise, pay, insurance, insurance pay.

        split: the seat's hands are parted.
        """
        if role.startswith("insurance"):
            # beside the cards, which lie across the insurance line
            line = self.layout.insurance_r or 400.0
            inward = math.hypot(*self._from_middle(seat)) - line
            return self.layout.at(seat, inward + (-20.0 if role == "insurance pay" else 23.0), -64.0)
        if split:
            column = self.column(seat, hand)
            depth = {"pay": -43.0, "double": 43.0, "raise": 43.0}.get(role, 0.0)
            if abs(column) > 45.0 and depth:
                # stay within reach of the spot
                column, depth = math.copysign(56.0, column), math.copysign(42.0, depth)
            return self.layout.at(seat, depth, column)
        return self.layout.at(seat, 0.0, {"pay": 47.0, "double": -47.0, "raise": -47.0}.get(role, 0.0))

    def column(self, seat: int, hand: int) -> float:
        """The lateral of a hand's wager, once the seat's hands are parted."""
        return (_COLUMNS_OF_FOUR if self._hands[seat] == 4 else _COLUMNS)[hand]

    def _from_middle(self, seat: int) -> Point:
        x, y = self.layout.spots[seat - 1]
        return (x - self.layout.cx, y - self.layout.cy)


def fits(layout: Layout, played: Played) -> bool:
    """Whether all hands of a round lie clear of each other, each before its own seat."""
    places = Places(layout, played)
    hands = [(0, [places.dealer(k) for k in range(len(played.dealer))])]
    for h in played.hands:
        cards = [places.card(h.seat, h.number, k, _sideways(h, k), h.split) for k in range(len(h.cards))]
        hands.append((h.seat, cards))
    if any(_seat_near(layout, p) != {seat} for seat, cards in hands for p in cards):
        return False
    pairs = itertools.combinations([cards for _, cards in hands], 2)
    return not any(_overlap(p, q) for a, b in pairs for p, q in itertools.product(a, b))


def _seat_near(layout: Layout, p: Place) -> set[int | None]:
    return {layout.seat_of(p.x + dx, p.y + dy) for dx in (-_MARGIN, _MARGIN) for dy in (-_MARGIN, _MARGIN)}


def _sideways(hand: Hand, k: int) -> bool:
    return hand.doubled and k == 2


def _overlap(p: Place, q: Place) -> bool:
    if math.hypot(p.x - q.x, p.y - q.y) > 112.0 + _MARGIN:
        return False
    return not any(
        _parted(_corners(p), _corners(q), math.radians(a.yaw + b)) for a in (p, q) for b in (0.0, 90.0)
    )


def _corners(p: Place) -> list[Point]:
    a = math.radians(p.yaw)
    ux, uy = math.cos(a), math.sin(a)
    h, w = 44.0 + _MARGIN, 31.5 + _MARGIN
    return [(p.x + i * h * ux - j * w * uy, p.y + i * h * uy + j * w * ux) for i in (-1, 1) for j in (-1, 1)]


def _parted(a: Sequence[Point], b: Sequence[Point], angle: float) -> bool:
    ux, uy = math.cos(angle), math.sin(angle)
    pa, pb = [x * ux + y * uy for x, y in a], [x * ux + y * uy for x, y in b]
    return max(pa) < min(pb) or max(pb) < min(pa)
