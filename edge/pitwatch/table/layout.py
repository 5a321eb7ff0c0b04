"""What is printed on the felt and where hands lie: seats, spots, the insurance line, zones to look at.

In: a `layout.json` object, or a number of seats. Out: positions in mm in the table frame (origin at the
middle of the dealer's edge, x to the dealer's right, y away from the dealer), seats, spots and zones. Seat 1
is at the dealer's left (x < 0); seat 0 is the dealer.

A seat's own frame has its origin in the middle of its spot: `inward` mm toward the middle of the arc, where
its cards are laid, and `lateral` mm to the left of that direction.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pitwatch.vision.looks import Zone

__all__ = [
    "AREAS",
    "ZONE_MM",
    "Area",
    "Layout",
    "LayoutError",
    "Point",
    "arc",
    "seat_of_zone",
    "template",
    "tiles",
]

Point = tuple[float, float]
Area = tuple[float, float, float, float]

# what stands beside the game: cards that lie there are nobody's
AREAS = ("rack", "shoe", "discard")

ZONE_MM = 320.0
_TILE_OVERLAP_MM = 110.0
# chips laid beside a wager count to its spot up to here outside the printed circle
_BESIDE_MM = 30.0
# a chip on the insurance line may lie this far off it
_LINE_MM = 45.0
# farther from every hand's place than this, a thing is nobody's
_NOBODY_MM = 160.0


class LayoutError(ValueError):
    """A layout that is none; the message names the key."""


@dataclass(frozen=True)
class Layout:
    """A felt.

    spots: middles of the betting circles, mm, index 0 is seat 1. circle_r: their radius. cx, cy: middle of
    the arcs. spot_r: radius of the arc of spots. insurance_r: radius of the insurance line, None without
    one. dealer_row: (x0, x1, y), the line on which the middles of the dealer's cards lie. side: side-bet
    spots by name, a point a seat. side_r: their radius. areas: rectangles (x0, y0, x1, y1) by name, of AREAS.
    """

    spots: tuple[Point, ...]
    circle_r: float = 45.0
    cx: float = 0.0
    cy: float = 60.0
    spot_r: float = 600.0
    insurance_r: float | None = None
    dealer_row: tuple[float, float, float] = (-150.0, 345.0, 216.0)
    side: Mapping[str, tuple[Point, ...]] = field(default_factory=dict)
    side_r: float = 25.0
    areas: Mapping[str, Area] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of seats."""
        return len(self.spots)

    @property
    def seats(self) -> range:
        """The players' seats, 1 to n."""
        return range(1, self.n + 1)

    @classmethod
    def from_json(cls, obj: Mapping[str, Any]) -> Layout:
        """Read a `layout.json` object; only `spots` is needed, what is left out is derived from it.

        Raises LayoutError naming the key.
        """
        if not isinstance(obj, Mapping) or "spots" not in obj:
            raise LayoutError("the key 'spots' is missing")
        spots = _points(obj["spots"], "spots")
        if "n" in obj and obj["n"] != len(spots):
            raise LayoutError(f"'n' is {obj['n']!r}, but 'spots' has {len(spots)} points")
        cx, cy = _number(obj, "cx", 0.0), _number(obj, "cy", 60.0)
        mean_r = sum(math.hypot(x - cx, y - cy) for x, y in spots) / len(spots)
        spot_r = _number(obj, "spot_r", mean_r)
        # as on the usual felt: the dealer's cards lie at about a quarter of the way to the spots
        row = obj.get("dealer_row", (-150.0, 345.0, cy + 0.26 * spot_r))
        if not _is_numbers(row, 3):
            raise LayoutError("'dealer_row' should be three numbers of mm, [x0, x1, y]")
        side_obj = obj.get("side", {})
        if not isinstance(side_obj, Mapping):
            raise LayoutError("'side' should map a side bet's name to a point a seat")
        side = {str(k): _points(v, f"side.{k}") for k, v in side_obj.items()}
        for name, points in side.items():
            if len(points) != len(spots):
                raise LayoutError(f"'side.{name}' has {len(points)} points for {len(spots)} seats")
        areas = obj.get("areas", {})
        if not isinstance(areas, Mapping) or not all(
            n in AREAS and _is_numbers(v, 4) for n, v in areas.items()
        ):
            raise LayoutError(
                f"'areas' should map {', '.join(AREAS)} to four numbers of mm, [x0, y0, x1, y1]"
            )
        line = None if obj.get("insurance_r") is None else _number(obj, "insurance_r", 0.0)
        return cls(
            spots=spots,
            circle_r=_number(obj, "circle_r", 45.0),
            cx=cx,
            cy=cy,
            spot_r=spot_r,
            insurance_r=line,
            dealer_row=(float(row[0]), float(row[1]), float(row[2])),
            side=side,
            side_r=_number(obj, "side_r", 25.0),
            areas={name: _ordered(v) for name, v in areas.items()},
        )

    def to_json(self) -> dict[str, Any]:
        """The object that `from_json` reads."""
        return {
            "n": self.n,
            "cx": self.cx,
            "cy": self.cy,
            "spot_r": self.spot_r,
            "insurance_r": self.insurance_r,
            "circle_r": self.circle_r,
            "dealer_row": list(self.dealer_row),
            "spots": [list(p) for p in self.spots],
            "side": {name: [list(p) for p in points] for name, points in self.side.items()},
            "side_r": self.side_r,
            **({"areas": {name: list(a) for name, a in self.areas.items()}} if self.areas else {}),
        }

    def axis(self, seat: int) -> Point:
        """Unit vector from the seat's spot to the middle of the arcs."""
        x, y = self.spots[seat - 1]
        d = math.hypot(self.cx - x, self.cy - y)
        return ((self.cx - x) / d, (self.cy - y) / d)

    def at(self, seat: int, inward: float, lateral: float = 0.0) -> Point:
        """The table point at this place in the seat's own frame."""
        ux, uy = self.axis(seat)
        x, y = self.spots[seat - 1]
        return (x + inward * ux - lateral * uy, y + inward * uy + lateral * ux)

    def local(self, seat: int, x: float, y: float) -> Point:
        """(inward, lateral) of a table point in the seat's own frame."""
        ux, uy = self.axis(seat)
        dx, dy = x - self.spots[seat - 1][0], y - self.spots[seat - 1][1]
        return (dx * ux + dy * uy, dy * ux - dx * uy)

    def seat_of(self, x: float, y: float) -> int | None:
        """Whose hand a card lying here belongs to: a seat, 0 for the dealer, None for nobody's."""
        if any(x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in self.areas.values()):
            return None
        best, seat = min((self._reach(s, x, y), s) for s in range(self.n + 1))
        return seat if best <= _NOBODY_MM else None

    def _reach(self, seat: int, x: float, y: float) -> float:
        if seat == 0:
            x0, x1, row_y = self.dealer_row
            return math.hypot(x - min(max(x, x0), x1), y - row_y)
        inward, lateral = self.local(seat, x, y)
        # a hand of seven cards fans out to here
        end = 0.45 * self.spot_r
        return math.hypot(inward - min(max(inward, 0.0), end), lateral)

    def spot_of(self, x: float, y: float) -> tuple[int, str] | None:
        """(seat, spot) to which chips standing here count, None outside every spot.

        `spot` is "main", "insurance" or a side bet's name; of several the nearest.
        """
        found: list[tuple[float, int, str]] = []
        for seat in self.seats:
            sx, sy = self.spots[seat - 1]
            d = math.hypot(x - sx, y - sy)
            if d <= self.circle_r + _BESIDE_MM:
                found.append((d, seat, "main"))
            for name, points in self.side.items():
                d = math.hypot(x - points[seat - 1][0], y - points[seat - 1][1])
                if d <= self.side_r + _BESIDE_MM:
                    found.append((d, seat, name))
        if not found and self.insurance_r is not None:
            off = abs(math.hypot(x - self.cx, y - self.cy) - self.insurance_r)
            beside, seat = min((abs(self.local(s, x, y)[1]), s) for s in self.seats)
            if off <= _LINE_MM and beside <= self._half_sector(self.insurance_r) and y > self.cy:
                found.append((off, seat, "insurance"))
        if not found:
            return None
        _, seat, spot = min(found)
        return (seat, spot)

    def _half_sector(self, r: float) -> float:
        """Half the distance to the neighbour's axis at radius r, mm."""
        if self.n < 2:
            return 120.0
        angles = sorted(math.atan2(y - self.cy, x - self.cx) for x, y in self.spots)
        step = min(b - a for a, b in itertools.pairwise(angles))
        return r * math.sin(step / 2) + 10.0

    def card_area(self, seat: int) -> tuple[Point, Point, Point, Point]:
        """Corners of the area in which the middles of this seat's cards lie; seat 0: the dealer's."""
        if seat == 0:
            x0, x1, y = self.dealer_row
            return ((x0, y - 45), (x1, y - 45), (x1, y + 45), (x0, y + 45))
        r = min(self.spot_r, 600.0)
        first, last, side = 0.16 * r, 0.42 * r, 0.105 * r
        return (
            self.at(seat, first, -side),
            self.at(seat, last, -side),
            self.at(seat, last, side),
            self.at(seat, first, side),
        )

    def zones(self) -> tuple[Zone, ...]:
        """What has to be looked at: for each seat "seat-3-chips" and "seat-3-cards", then "dealer-1", ...

        The first of a seat's zones holds its spot, what is laid beside it and the height of the stacks; the
        second its cards and the insurance line. Every card that lies in its seat's card area is whole in at
        least one zone.
        """
        out: list[Zone] = []
        for seat in self.seats:
            r = math.hypot(self.spots[seat - 1][0] - self.cx, self.spots[seat - 1][1] - self.cy)
            for name, inward in (("chips", 20.0), ("cards", min(max(0.315 * r, 120.0), 190.0))):
                x, y = self.at(seat, inward)
                out.append(Zone(f"seat-{seat}-{name}", round(x, 1), round(y, 1), ZONE_MM))
        x0, x1, y = self.dealer_row
        half, beyond = ZONE_MM / 2, 122.0
        out += tiles(x0 - beyond, y - half, x1 + beyond, y + half, name="dealer")
        return tuple(out)


def seat_of_zone(zone: Zone | str) -> int | None:
    """The seat that a zone of `Layout.zones` is for, 0 for the dealer's, None for any other zone."""
    name = zone if isinstance(zone, str) else zone.name
    kind, _, rest = name.partition("-")
    if kind == "dealer":
        return 0
    number = rest.partition("-")[0]
    return int(number) if kind == "seat" and number.isdigit() else None


def tiles(
    x0: float,
    y0: float,
    x1: float,
    y1: float,
    overlap: float = _TILE_OVERLAP_MM,
    size: float = ZONE_MM,
    name: str = "tile",
) -> tuple[Zone, ...]:
    """Zones that cover a rectangle of felt, row by row, neighbours overlapping by at least `overlap` mm.

    With the default overlap, a card that lies in the rectangle is whole in at least one of them.
    """

    def middles(a: float, b: float) -> list[float]:
        extent = b - a
        if extent <= size:
            return [(a + b) / 2]
        n = 1 + math.ceil((extent - size) / (size - overlap) - 1e-9)
        return [a + size / 2 + i * (extent - size) / (n - 1) for i in range(n)]

    points = [(x, y) for y in middles(y0, y1) for x in middles(x0, x1)]
    return tuple(Zone(f"{name}-{i + 1}", round(x, 1), round(y, 1), size) for i, (x, y) in enumerate(points))


def template(n: int) -> Layout:
    """The usual felt of 5, 6 or 7 seats.

    Raises LayoutError for another number.
    """
    spans = {5: (600.0, 152.0), 6: (600.0, 158.0), 7: (640.0, 164.0)}
    if n not in spans:
        raise LayoutError(f"there is no template of {n} seats; there are 5, 6 and 7")
    r, first = spans[n]
    line = 400.0 if n < 7 else 430.0
    return replace(arc(n, r, first, insurance_r=line), dealer_row=(-150.0, 345.0, 216.0))


def arc(
    n: int,
    r: float,
    first: float,
    *,
    cy: float = 60.0,
    circle_r: float = 45.0,
    insurance_r: float | None = None,
) -> Layout:
    """A felt whose spots lie evenly on an arc about (0, cy).

    r: mm. first: where seat 1 lies on it, degrees counter-clockwise from +x; the last seat is its mirror.
    Raises LayoutError for an arc that is none.
    """
    if not (1 <= n <= 9 and 200 <= r <= 1500 and 90 <= first < 200 and 10 <= circle_r <= 120):
        raise LayoutError(
            f"{n} spots of {circle_r:g} mm on an arc of {r:g} mm from {first:g} degrees are no blackjack felt"
        )
    cx = 0.0
    spots = []
    for i in range(n):
        a = math.radians(first - i * (2 * first - 180.0) / max(n - 1, 1)) if n > 1 else math.pi / 2
        spots.append((round(cx + r * math.cos(a), 1), round(cy + r * math.sin(a), 1)))
    row = (-150.0, 345.0, round(cy + 0.26 * r, 1))
    return Layout(tuple(spots), circle_r, cx, cy, spot_r=r, insurance_r=insurance_r, dealer_row=row)


def _ordered(v: Sequence[float]) -> Area:
    return (min(v[0], v[2]), min(v[1], v[3]), max(v[0], v[2]), max(v[1], v[3]))


def _is_numbers(value: object, n: int) -> bool:
    return (
        isinstance(value, Sequence)
        and len(value) == n
        and all(isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v) for v in value)
    )


def _points(value: object, key: str) -> tuple[Point, ...]:
    if not isinstance(value, Sequence) or not value or not all(_is_numbers(p, 2) for p in value):
        raise LayoutError(f"'{key}' should be a list of points, [[x, y], ...] in mm")
    return tuple((float(p[0]), float(p[1])) for p in value)


def _number(obj: Mapping[str, Any], key: str, default: float) -> float:
    value = obj.get(key, default)
    if not _is_numbers([value], 1):
        raise LayoutError(f"'{key}' is {value!r}; it should be a number of mm")
    return float(value)
