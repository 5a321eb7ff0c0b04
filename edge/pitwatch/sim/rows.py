"""What a reader is taught by one drawn sample: its crop or strip, and the labels.

In: samples. Out: rows, that is uint8 pictures and their labels by name, or None when too little shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitwatch.cards import RANKS, SUITS
from pitwatch.sim.samples import Sample
from pitwatch.table.camera import Camera
from pitwatch.vision.crops import STRIP_CHIPS, card_crop, card_mask, layer_px, stack_strip

__all__ = [
    "UNREAD_RANK",
    "UNREAD_SUIT",
    "Row",
    "Rows",
    "blank_row",
    "card_row",
    "cut_card",
    "drawn",
    "stacked",
    "strip_row",
]

UNREAD_RANK, UNREAD_SUIT = len(RANKS), len(SUITS)

Floats = NDArray[np.float64]
Row = dict[str, object]
Rows = dict[str, NDArray[Any]]


def drawn(n: int, draw: Callable[[], Row | None], step: Callable[[], None]) -> Rows:
    """n rows as arrays by name. draw: one more, or None. step: called after each attempt."""
    rows: list[Row] = []
    while len(rows) < n:
        if (row := draw()) is not None:
            rows.append(row)
        step()
    return stacked(rows)


def stacked(rows: Sequence[Row]) -> Rows:
    """Rows of the same kind as arrays by name, (N, ...)."""
    return {k: np.array([row[k] for row in rows]) for k in rows[0]}


def card_row(sample: Sample, rng: np.random.Generator) -> Row | None:
    """The first card of a sample, cut as the detector would: a little off, its neighbours partly missed."""
    card = sample.cards[0]
    if card.visible < 0.1:
        return None
    poses = np.array([[c.x, c.y, c.yaw] for c in sample.scene.cards])
    poses = poses + rng.normal(0, 1, poses.shape) * [1.2, 1.2, 1.5]
    stacks = np.array([[s.x, s.y] for s in sample.scene.stacks]).reshape(-1, 2)
    known = rng.random(len(poses)) > 0.08
    known[0] = False
    name = card.pose.card if card.readable else None
    covers = poses[known], stacks
    return cut_card(sample.image, sample.camera, poses[0], covers, name, card.visible, rng)


def cut_card(
    image: NDArray[np.uint8],
    camera: Camera,
    pose: Floats,
    covers: tuple[Floats, Floats],
    name: str | None,
    visible: float,
    rng: np.random.Generator,
) -> Row:
    """The card at `pose` (x, y mm, yaw), one end up or the other, with its labels.

    covers: poses (N, 3) of the other cards and bases (M, 2) of stacks, which may lie over it. name: "As",
    None where it cannot be read. visible: share of it that shows.
    """
    x, y, yaw = pose
    yaw += 180 * int(rng.integers(2))
    return {
        "crop": np.dstack([card_crop(image, camera, x, y, yaw), card_mask(x, y, yaw, *covers)]),
        "rank": RANKS.index(name[0]) if name else UNREAD_RANK,
        "suit": SUITS.index(name[1]) if name else UNREAD_SUIT,
        "visible": np.float32(visible),
        "scale": np.float32(camera.px_per_mm(x, y)),
    }


def strip_row(sample: Sample, rng: np.random.Generator, values: Sequence[int]) -> Row | None:
    """The first stack of a sample, its base nearly where it is: training moves it, and knows how far.

    values: cents of the denominations, in the order of their numbers.
    """
    stack = sample.stacks[0]
    if stack.visible < 0.35:
        return None
    x, y = np.array([stack.pose.x, stack.pose.y]) + rng.normal(0, 0.4, 2)
    return _strip(sample, x, y, stack.pose.chips, values)


def blank_row(sample: Sample, x: float, y: float, values: Sequence[int]) -> Row:
    """A place that holds no stack: what print and cards look like when they are taken for one."""
    return _strip(sample, x, y, (), values)


def _strip(sample: Sample, x: float, y: float, cents: tuple[int, ...], values: Sequence[int]) -> Row:
    chips = np.full(STRIP_CHIPS, len(values), np.uint8)
    chips[: len(cents)] = [values.index(c) for c in cents]
    return {
        "strip": stack_strip(sample.image, sample.camera, x, y),
        "count": np.uint8(len(cents)),
        "chips": chips,
        "layer": np.array([layer_px(sample.camera, x, y), sample.camera.px_per_mm(x, y)], np.float32),
    }
