"""The stack reader for a house's chips: stacks of them drawn in every light, its layers fitted to them.

In: what the house's chips look like, and the weights that come with pitwatch. Out: a head, the value of
each of its classes, and the shares of chips and of values read right before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.adapt.chip_pictures import ChipSeen
from pitwatch.adapt.heads import Head, fit_head, learnt_from
from pitwatch.chips import CASINO, ChipSet, Denomination, money
from pitwatch.errors import UserError
from pitwatch.sim.chipart import ChipArt, ChipDesign
from pitwatch.sim.rows import Rows, drawn, strip_row
from pitwatch.sim.samples import Sampler
from pitwatch.vision.stack_reader import StackReader

__all__ = ["ChipScore", "HouseChips", "classes_for", "drawn_stacks", "fit_chips", "house_set"]

_CLASSES = len(CASINO.denominations)


@dataclass(frozen=True)
class ChipScore:
    """Shares of chips, and of the values of `n` stacks, that were read right, the chips' number known."""

    n: int
    chips: float
    value: float


class HouseChips(ChipArt):
    """Chips as they were photographed: the top as it is, the edge from its colours and spots."""

    def __init__(self, seen: Mapping[int, ChipSeen]) -> None:
        super().__init__(
            {
                cents: ChipDesign(
                    c.body, c.spot, spots=max(1, c.spots), spot_share=c.spot_share if c.spots else 0.0
                )
                for cents, c in seen.items()
            }
        )
        for cents, c in seen.items():
            n = c.top.shape[0]
            ys, xs = np.mgrid[0:n, 0:n] - (n - 1) / 2
            alpha = np.clip(n / 2 - np.hypot(xs, ys) + 0.5, 0, 1)[..., None]
            top = np.dstack([c.top * alpha, alpha * 255]).astype(np.uint8)
            self._tops[cents] = np.asarray(cv2.resize(top, (96, 96), interpolation=cv2.INTER_AREA), np.uint8)


def house_set(name: str, seen: Mapping[int, ChipSeen]) -> ChipSet:
    """The chip set as data. Raises UserError when the house has more denominations than can be told apart."""
    if len(seen) > _CLASSES:
        raise UserError(
            f"there are pictures of {len(seen)} denominations; the stack reader tells {_CLASSES} apart: "
            "leave out those that are rarest on this table"
        )
    return ChipSet(
        name,
        tuple(
            Denomination(cents, money(cents), _rgb(c.body), _rgb(c.spot if c.spots else c.body))
            for cents, c in seen.items()
        ),
    )


def _rgb(bgr: tuple[int, int, int]) -> tuple[int, int, int]:
    return bgr[2], bgr[1], bgr[0]


def classes_for(chips: ChipSet) -> list[int | None]:
    """Which denomination, in cents, each class of the reader stands for from now on: the nearest in colour
    first; None for a class that this house does not need."""
    known = np.array([_lab(d.colour_rgb) for d in CASINO.denominations])
    own = [(d.cents, _lab(d.colour_rgb)) for d in chips.denominations]
    pairs = sorted(
        (float(np.linalg.norm(known[k] - lab)), k, cents) for k in range(_CLASSES) for cents, lab in own
    )
    out: list[int | None] = [None] * _CLASSES
    for _, k, cents in pairs:
        if out[k] is None and cents not in out:
            out[k] = cents
    return out


def _lab(rgb: tuple[int, int, int]) -> NDArray[np.float32]:
    v = np.array([[rgb]], np.float32) / 255
    return np.asarray(cv2.cvtColor(v, cv2.COLOR_RGB2Lab)[0, 0], np.float32)


def drawn_stacks(
    art: ChipArt, classes: list[int | None], n: int, seed: int, step: Callable[[], None] = lambda: None
) -> Rows:
    """n strips of these chips under lights, lenses and felts of every kind. step: called after each."""
    sampler = Sampler(seed, size=110.0, usual=0.7, chips=art)
    rng = np.random.default_rng([seed, 79])
    values = [-1 - k if c is None else c for k, c in enumerate(classes)]
    return drawn(n, lambda: strip_row(sampler.next_stack(), rng, values), step)


def fit_chips(
    reader: StackReader, start: Head, rows: Rows, classes: list[int | None]
) -> tuple[Head, ChipScore, ChipScore]:
    """The head "layers" for these strips, and the scores of the old and of the new one."""
    features = reader.features(rows["strip"], rows["layer"])
    labels = rows["chips"].astype(np.int64)
    learn = learnt_from(len(features))
    # as many empty layers as there are chips: the others say nothing new
    rng = np.random.default_rng(5)
    there = labels < _CLASSES
    empty = ~there & (rng.random(labels.shape) < there.mean() / max(1e-9, 1 - there.mean()))
    use = (there | empty) & learn[:, None]
    head = fit_head(features[use], labels[use], start)
    rest = features[~learn], labels[~learn]
    return head, _score(start, *rest, classes), _score(head, *rest, classes)


def _score(
    head: Head, features: NDArray[np.float64], labels: NDArray[np.int64], classes: list[int | None]
) -> ChipScore:
    own = [k for k, c in enumerate(classes) if c is not None]
    said = np.array(own)[head.logits(features)[..., own].argmax(axis=2)]
    there = labels < _CLASSES
    value = np.array([0 if c is None else c for c in classes] + [0])
    total = (value[said] * there).sum(axis=1) == value[labels].sum(axis=1)
    return ChipScore(len(labels), float((said == labels)[there].mean()), float(total.mean()))
