"""One picture looked at whole, tile by tile, as the watcher looks at its zones.

In: a frame, eyes, tiles in mm. Out: every card and stack once, though neighbouring tiles saw it twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.capture.frame import Frame
from pitwatch.evaluate.matching import distances, match
from pitwatch.table.camera import USUAL_FOCAL, Camera, centred_camera
from pitwatch.table.layout import Layout, tiles
from pitwatch.vision.looks import CARD_MM, CHIP_MM, CHIP_PITCH_MM, CardSeen, StackSeen, Zone
from pitwatch.vision.watcher import Eyes

__all__ = [
    "EyesFor",
    "Seen",
    "aslant",
    "card_corners",
    "in_area",
    "look_over",
    "outlined",
    "pictured",
    "playing_area",
    "stack_outline",
    "straight_down",
    "tiles_over",
]

Array = NDArray[np.float64]
T = TypeVar("T", CardSeen, StackSeen)

_WHOLE_MM = 54.0  # half a card's diagonal: a card this far inside a tile is whole in it
_SLACK_MM = 15.0  # the same thing is placed a little differently from tile to tile
_SAME_CARD_MM = 18.0  # less than the offset of the cards of a hand, which is 20 mm and more
_SAME_STACK_MM = 20.0  # half a chip: two stacks cannot stand nearer
_SPOT_MM = 130.0  # from the middle of an outer spot to the end of what is looked at
_DOWN_MM = 1500.0  # height of the pretended camera; a mounting's usual one
_SIDE = (0.12, 0.88)  # the part of a card's side that no rounded corner touches
_PROFILES = 14  # across a side
_CLEAR = 20.0  # grey levels of all colours; weaker edges are none


EyesFor = Callable[[Camera], Eyes]


@dataclass(frozen=True)
class Seen:
    """Everything that one look over a picture saw."""

    cards: tuple[CardSeen, ...]
    stacks: tuple[StackSeen, ...]


def playing_area(layout: Layout) -> Array:
    """The felt on which cards and wagers lie: a convex outline (N, 2), mm.

    From the dealer's cards to beyond the spots; it leaves out the rack, the shoe and the discards.
    """
    x0, x1, row = layout.dealer_row
    half = max(abs(x0), abs(x1)) + 55.0
    points = [(x, y) for x in (-half, half) for y in (row - 100.0, row + 80.0)]
    for angle in np.linspace(0, 2 * np.pi, 24, endpoint=False):
        dx, dy = _SPOT_MM * np.cos(angle), _SPOT_MM * np.sin(angle)
        points += [(x + dx, y + dy) for x, y in layout.spots]
    hull = cv2.convexHull(np.asarray(points, dtype=np.float32))
    return np.asarray(hull, dtype=np.float64).reshape(-1, 2)


def pictured(camera: Camera) -> Array:
    """The part of the table that a picture shows sharply enough: a convex outline (N, 2), mm.

    Where the scale falls below a third of that in the middle, nothing is read any more.
    """
    u, v = np.meshgrid(np.linspace(0, camera.width - 1, 17), np.linspace(0, camera.height - 1, 17))
    px = np.column_stack([u.ravel(), v.ravel()])
    mm = camera.to_table(px)
    middle = camera.to_table([((camera.width - 1) / 2, (camera.height - 1) / 2)])[0]
    least = camera.px_per_mm(*middle) / 3
    before = (np.column_stack([mm, np.zeros(len(mm))]) @ camera.R.T + camera.t_mm)[:, 2] > 0
    near = np.array([b and camera.px_per_mm(x, y) > least for b, (x, y) in zip(before, mm, strict=True)])
    hull = cv2.convexHull(mm[near].astype(np.float32))
    return np.asarray(hull, dtype=np.float64).reshape(-1, 2)


def in_area(area: Array, x: float, y: float) -> bool:
    """Whether a point lies in a convex outline (N, 2)."""
    return cv2.pointPolygonTest(area.astype(np.float32), (float(x), float(y)), False) >= 0


def tiles_over(area: Array) -> tuple[Zone, ...]:
    """Tiles that cover an outline (N, 2) in mm; a card in it is whole in at least one of them."""
    (x0, y0), (x1, y1) = area.min(axis=0), area.max(axis=0)
    return tuple(z for z in tiles(x0, y0, x1, y1) if _touches(area, z))


def _touches(area: Array, zone: Zone) -> bool:
    h = zone.size / 2
    square = np.array([(zone.x + dx, zone.y + dy) for dx, dy in ((-h, -h), (h, -h), (h, h), (-h, h))])
    shared, _ = cv2.intersectConvexConvex(area.astype(np.float32), square.astype(np.float32))
    return shared > 0


def straight_down(width: int, height: int, px_per_mm: float) -> Camera:
    """A camera that looks straight down on the middle of a picture of this scale.

    The table's origin is the middle of the picture, x to its right, y up.
    """
    return centred_camera(width, height, px_per_mm * _DOWN_MM, _DOWN_MM, np.zeros(3))


def aslant(width: int, height: int, px_per_mm: float, tilt: float, turn: float) -> Camera:
    """A usual camera that looks on the table's origin `tilt` degrees off the vertical, with this scale there.

    turn: about which of the picture's directions it is tilted, degrees clockwise from its right.
    """
    axis = np.radians(tilt) * np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn)), 0.0])
    f = USUAL_FOCAL * width
    far = centred_camera(width, height, f, f / px_per_mm, axis)
    nearer = float(far.px_per_mm(0.0, 0.0)) / px_per_mm
    return centred_camera(width, height, f, float(far.t_mm[2]) * nearer, axis)


def look_over(eyes: Eyes, frame: Frame, zones: Sequence[Zone], area: Array | None = None) -> Seen:
    """Look at every zone; what lies outside `area` (N, 2) mm is dropped, what two zones saw is one."""
    cards: list[list[tuple[float, CardSeen]]] = []
    stacks: list[list[tuple[float, StackSeen]]] = []
    for zone in zones:
        look = eyes.look(frame, zone)
        cards.append(_owned(look.cards, zone, zones, area))
        stacks.append(_owned(look.stacks, zone, zones, area))
    return Seen(
        tuple(_merged(cards, _SAME_CARD_MM, lambda c: c.score * (0.25 + c.visible))),
        tuple(_merged(stacks, _SAME_STACK_MM, lambda s: s.score)),
    )


def _inside(zone: Zone, x: float, y: float) -> float:
    """Distance to the zone's edge, negative outside, mm."""
    return zone.size / 2 - max(abs(x - zone.x), abs(y - zone.y))


def _owned(
    things: Sequence[T], zone: Zone, zones: Sequence[Zone], area: Array | None
) -> list[tuple[float, T]]:
    """What this zone may speak for: what lies whole in it, or in no other zone more so."""
    out: list[tuple[float, T]] = []
    for s in things:
        if area is not None and not in_area(area, s.x, s.y):
            continue
        here = _inside(zone, s.x, s.y)
        best = max(_inside(z, s.x, s.y) for z in zones)
        if here >= min(best, _WHOLE_MM) - _SLACK_MM:
            out.append((here, s))
    return out


def _merged(by_zone: Sequence[list[tuple[float, T]]], same_mm: float, worth: Callable[[T], float]) -> list[T]:
    def key(item: tuple[float, T]) -> tuple[bool, float, float]:
        inside, thing = item
        return inside >= _WHOLE_MM - _SLACK_MM, worth(thing), inside

    kept: list[tuple[float, T]] = []
    for found in by_zone:
        # one zone's own things are never each other's doubles: the eyes have seen to that
        d = distances([(s.x, s.y) for _, s in kept], [(s.x, s.y) for _, s in found])
        doubles = match(d, same_mm)
        for i, j in doubles:
            kept[i] = max(kept[i], found[j], key=key)
        again = {j for _, j in doubles}
        kept += [item for j, item in enumerate(found) if j not in again]
    return [s for _, s in kept]


def card_corners(x: float, y: float, yaw: float) -> Array:
    """The corners (4, 2) of a card, mm: left and right of its lower edge, then of its upper."""
    w, h = CARD_MM[0] / 2, CARD_MM[1] / 2
    a = np.radians(yaw)
    up, right = np.array([np.cos(a), np.sin(a)]), np.array([np.sin(a), -np.cos(a)])
    return np.array([(x, y) + i * w * right + j * h * up for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))])


def outlined(soft: NDArray[np.float32], camera: Camera, cards: Sequence[CardSeen]) -> Array:
    """The share of each card's outline (N,) that lies on an edge of a picture (h, w, 3), to a millimetre.

    soft: the picture, its noise smoothed away.
    """
    if not cards:
        return np.zeros(0)
    ends = np.array([card_corners(c.x, c.y, c.yaw) for c in cards])
    along = np.linspace(*_SIDE, _PROFILES)[:, None]
    a, b = ends[:, :, None], np.roll(ends, -1, axis=1)[:, :, None]
    points = (a + along * (b - a)).reshape(-1, 2)
    out = np.repeat(b - a, _PROFILES, axis=2)[..., ::-1].reshape(-1, 2) * [1.0, -1.0]
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    px = camera.project(points)
    per_mm = camera.project(points + out) - px
    depth = np.arange(-2.5, 2.51, 0.25)
    at = px[:, None] + per_mm[:, None] * depth[None, :, None]
    mx, my = (at[..., i].astype(np.float32) for i in (0, 1))
    colour = cv2.remap(soft, mx, my, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    steep = np.abs(colour[:, 3:] - colour[:, :-3]).sum(axis=2)
    middle = (depth[3:] + depth[:-3])[steep.argmax(axis=1)] / 2
    on = (steep.max(axis=1) > _CLEAR) & (np.abs(middle) < 1.0)
    return np.asarray(on.reshape(len(cards), -1).mean(axis=1), np.float64)


def stack_outline(camera: Camera, x: float, y: float, count: int) -> Array:
    """What a stack of `count` chips covers of the picture: a convex outline (N, 2), px."""
    a = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    ring = np.column_stack([x + CHIP_MM / 2 * np.cos(a), y + CHIP_MM / 2 * np.sin(a)])
    heights = (0.0, max(count, 1) * CHIP_PITCH_MM)
    points = itertools.chain.from_iterable(
        camera.project(np.column_stack([ring, np.full(len(ring), z)])) for z in heights
    )
    hull = cv2.convexHull(np.asarray(list(points), dtype=np.float32))
    return np.asarray(hull, dtype=np.float64).reshape(-1, 2)
