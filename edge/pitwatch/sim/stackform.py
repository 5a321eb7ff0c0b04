"""The surfaces of a stack of chips as hands leave it: twisted, slipped and leaning.

In: a stack and where it is seen from. Out: walls, faces and edge spots in the table frame, mm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pitwatch.sim.chipart import ChipArt
from pitwatch.sim.scene import StackPose
from pitwatch.vision.looks import CHIP_MM, CHIP_PITCH_MM

__all__ = ["CHIP", "PITCH", "RADIUS", "Band", "StackForm", "bands", "stack_form"]

Points = NDArray[np.float64]
Pixels = NDArray[np.int32]

PITCH, CHIP, RADIUS = CHIP_PITCH_MM, 3.3, CHIP_MM / 2  # mm
_WALLS = 12  # flat pieces of the half of a chip's edge that is seen
_RIM = 20  # corners of a face
_BANDS = (3, 2, 1)  # parts of a side that are lit apart: of the lowest chip, of the next, of all above


@dataclass(frozen=True)
class StackForm:
    """Chips from the bottom. twist: (n,) radians. centres: (n, 2). low: heights (n,) of their lower faces.
    facing: (12,) which way each piece of the walls looks, radians. walls: (n, L, 13, 3), rings from the lower
    face to the upper, L 2 for sharp edges and 4 for rounded ones.
    rims: (n, 20, 3), around the upper faces. spots: (5 m, 3) each, corners of the edge spots on the faces of
    all chips but the uppermost."""

    twist: Points
    centres: Points
    low: Points
    facing: Points
    walls: Points
    rims: Points
    spots: list[Points]


def stack_form(stack: StackPose, eye: Points, chips: ChipArt) -> StackForm:
    """A stack of one chip or more of the set `chips`, as it is seen from `eye` (3,) mm."""
    n = len(stack.chips)
    rng = np.random.default_rng([stack.look, 11])
    twist = rng.uniform(0, 2 * np.pi, n)
    # a dealer's stack stands within half a millimetre, a player's often does not
    lean = rng.normal(0, 0.15, 2) * rng.choice([0.0, 0.3, 1.0])
    slip = rng.normal(0, rng.uniform(0.05, 0.5) if rng.random() < 0.7 else rng.uniform(0.5, 1.2), (n, 2))
    slip += np.arange(n)[:, None] * lean
    slip[0] = 0
    centres = np.array([stack.x, stack.y]) + slip
    towards = float(np.arctan2(eye[1] - stack.y, eye[0] - stack.x))
    t = towards + np.linspace(-np.pi / 2, np.pi / 2, _WALLS + 1)
    low = np.asarray(stack.z + np.arange(n) * PITCH, np.float64)
    off = chips.edge.rounding
    profile = np.array(
        [(RADIUS - off, 0.0), (RADIUS, off), (RADIUS, CHIP - off), (RADIUS - off, CHIP)]
        if off
        else [(RADIUS, 0.0), (RADIUS, CHIP)]
    )
    walls = np.empty((n, len(profile), _WALLS + 1, 3))
    ring = np.column_stack([np.cos(t), np.sin(t)])
    walls[..., :2] = centres[:, None, None] + ring * profile[:, :1, None]
    walls[..., 2] = low[:, None, None] + profile[:, 1:]
    around = np.linspace(0, 2 * np.pi, _RIM, endpoint=False)
    rims = np.empty((n, _RIM, 3))
    rims[..., :2] = centres[:, None] + np.column_stack([np.cos(around), np.sin(around)]) * (RADIUS - off)
    rims[..., 2] = (low + CHIP)[:, None]
    spots = [
        _sectors(chips.spots(c) + a, p, z + CHIP)
        for c, a, p, z in zip(stack.chips[:-1], twist, centres, low, strict=False)
    ]
    facing = np.asarray((t[:-1] + t[1:]) / 2, np.float64)
    return StackForm(twist, centres, low, facing, walls, rims, spots)


class Band(NamedTuple):
    """A strip around a chip's side that is evenly lit. height: of its middle, mm above the chip's lower face.
    slope: -1 where it looks down, 0 upright, 1 up. pieces: (12, 4, 2), what each piece of the wall shows."""

    height: float
    slope: int
    pieces: Pixels


def bands(rings: Pixels, chip: int, rounding: float) -> list[Band]:
    """The side of the chip with this number, from the bottom, in strips from the felt up.

    rings: (L, 13, 2) its walls as they are seen. rounding: of its edges, mm.
    """
    if len(rings) == 2:
        return _upright(rings[0], rings[1], 0.0, CHIP, chip)
    return [
        Band(rounding / 2, -1, _pieces(rings[0], rings[1])),
        *_upright(rings[1], rings[2], rounding, CHIP - rounding, chip),
        Band(CHIP - rounding / 2, 1, _pieces(rings[2], rings[3])),
    ]


def _upright(lower: Pixels, upper: Pixels, low: float, high: float, chip: int) -> list[Band]:
    n = _BANDS[min(chip, len(_BANDS) - 1)]
    at = [lower + (upper - lower) * (i / n) for i in range(n + 1)]
    step = (high - low) / n
    return [Band(low + (i + 0.5) * step, 0, _pieces(at[i], at[i + 1])) for i in range(n)]


def _pieces(lower: NDArray[Any], upper: NDArray[Any]) -> Pixels:
    corners = [lower[:-1], lower[1:], upper[1:], upper[:-1]]
    return np.asarray(np.stack(corners, axis=1).round(), np.int32)


def _sectors(spots: Points, centre: Points, z: float) -> Points:
    """Corners (5 N, 3) of the parts of a face, z mm high, that its edge spots (N, 2) reach over."""
    a = np.column_stack([spots[:, 0], spots.mean(axis=1), spots[:, 1], spots[:, 1], spots[:, 0]])
    r = RADIUS * np.array([1.0, 1.0, 1.0, 0.72, 0.72])
    return np.column_stack(
        [
            (centre[0] + r * np.cos(a)).ravel(),
            (centre[1] + r * np.sin(a)).ravel(),
            np.full(a.size, z),
        ]
    )
