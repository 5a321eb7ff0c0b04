"""The stack reader: how many chips a stack has, which, and how probable each total is.

In: strips along the projected vertical (`crops.stack_strip`) with their scale. Out: chips bottom to top and
totals in cents with probabilities.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pitwatch.chips import ChipSet
from pitwatch.vision.weights import open_session

__all__ = ["StackReader", "StackReading", "counts", "softmax", "tempered", "totals", "views"]

_KEPT = 40  # totals carried along while layers are added
_NAMED = 8  # totals handed on
_SHIFTS = (-1, 0, 1)  # rows; where the foot is known to about as much, none of them is better than another


class StackReading(NamedTuple):
    """number: likeliest number of chips, `sure` its probability. chips: likeliest cents, bottom to top.

    values: totals in cents with their probabilities, likeliest first. nothing: probability that no stack
    stands there at all, 0 to 1.
    """

    number: int
    sure: float
    chips: tuple[int, ...]
    values: tuple[tuple[int, float], ...]
    nothing: float


class StackReader:
    """The network for one house's chips, whose colours it names. Raises UserError as `open_session` does."""

    def __init__(self, chips: ChipSet, folder: Path | None = None, threads: int = 1) -> None:
        self._session, weights = open_session("stack_reader", folder, threads)
        self._input = self._session.get_inputs()[0].name
        self._cool_count = weights.number("temperature_count")
        self._cool_layers = weights.number("temperature_layers")
        self._cool_totals = weights.number("temperature_totals")
        self._off = np.array([weights.number("foot_scale"), weights.number("aside_scale")])
        names = weights.about.get("classes", [])
        by_name = {d.name: d.cents for d in chips.denominations}
        # a colour that this house does not have is impossible, not merely unlikely
        self._cents = [by_name.get(str(n)) for n in names]

    def astray(self, strips: NDArray[np.uint8], scales: NDArray[np.float32]) -> NDArray[np.float64]:
        """By how many rows each foot was taken too low and by how many columns too far right, (N, 2).

        Strips and scales as for `read`.
        """
        return self._run(strips, scales, "foot")[0] * self._off if len(strips) else np.zeros((0, 2))

    def features(self, strips: NDArray[np.uint8], scales: NDArray[np.float32]) -> NDArray[np.float64]:
        """What the network makes of each layer before its last step, (N, 25, n), bottom first."""
        step = 128
        parts = (slice(i, i + step) for i in range(0, len(strips), step))
        return np.concatenate([self._run(strips[p], scales[p], "features")[0] for p in parts])

    def _run(
        self, strips: NDArray[np.uint8], scales: NDArray[np.float32], *outputs: str
    ) -> list[NDArray[np.float64]]:
        x = strips.transpose(0, 3, 1, 2).astype(np.float32) / 127.5 - 1
        s = np.log(np.maximum(scales, 0.05)).astype(np.float32)[:, :, None, None]
        x = np.concatenate([x, np.broadcast_to(s, (*s.shape[:2], *x.shape[2:]))], axis=1)
        return [np.asarray(v, np.float64) for v in self._session.run(outputs, {self._input: x})]

    def read(
        self,
        strips: NDArray[np.uint8],
        scales: NDArray[np.float32],
        heights: NDArray[np.float64] | None = None,
    ) -> list[StackReading]:
        """One reading a strip; each is read in several `views`.

        strips: (N, 128, 32, 3) uint8. scales: (N, 2), px a layer and px a mm.
        heights: (N, 26), what else is known of the number of chips, as log-likelihoods.
        """
        if not len(strips):
            return []
        n = len(strips)
        seen = self._run(views(strips), np.tile(scales, (2 * len(_SHIFTS), 1)), "count", "layers")
        count, layers = (v.reshape(-1, n, *v.shape[1:]).mean(axis=0) for v in seen)
        known = [i for i, c in enumerate(self._cents) if c is not None]
        cents = [c for c in self._cents if c is not None]
        out = []
        for i in range(n):
            alone = softmax(count[i] / self._cool_count)
            p = counts(alone if heights is None else alone * np.exp(heights[i]))
            kinds = softmax(layers[i][:, known] / self._cool_layers)
            best = int(p[1:].argmax()) + 1
            chips = tuple(cents[k] for k in kinds[:best].argmax(axis=1))
            out.append(
                StackReading(
                    best,
                    float(p[best]),
                    chips,
                    tempered(totals(p, kinds, cents), self._cool_totals),
                    float(alone[0]),
                )
            )
        return out


def views(strips: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Strips (N, 128, 32, 3) as they are, mirrored, with their foot a row lower and higher: (6 N, ...)."""
    h = strips.shape[1]
    moved = [strips[:, np.clip(np.arange(h) + r, 0, h - 1)] for r in _SHIFTS]
    return np.concatenate([*moved, *(m[:, :, ::-1] for m in moved)])


def totals(
    count: NDArray[np.float64], kinds: NDArray[np.float64], cents: list[int]
) -> tuple[tuple[int, float], ...]:
    """Probability of each total.

    count: (26,) of 0 to 25 chips. kinds: (25, k) of each layer's denomination, bottom first, given that a
    chip is there. cents: (k,) their values. Layers are taken as independent.
    """
    out: dict[int, float] = {}
    sums = {0: 1.0}
    last = int(np.flatnonzero(count > 0.004).max(initial=1))
    for i in range(last):
        grown: dict[int, float] = {}
        options = [(c, float(p)) for c, p in zip(cents, kinds[i], strict=True) if p > 0.004]
        for total, p in sums.items():
            for c, q in options:
                grown[total + c] = grown.get(total + c, 0.0) + p * q
        sums = dict(sorted(grown.items(), key=lambda e: -e[1])[:_KEPT])
        share = float(count[i + 1])
        if share > 0.004:
            for total, p in sums.items():
                out[total] = out.get(total, 0.0) + share * p
    return tuple(sorted(out.items(), key=lambda e: (-e[1], e[0]))[:_NAMED])


def counts(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities (26,) of 0 to 25 chips, given that there is one."""
    return np.concatenate([[0.0], p[1:] / max(float(p[1:].sum()), 1e-12)])


def tempered(values: tuple[tuple[int, float], ...], temperature: float) -> tuple[tuple[int, float], ...]:
    """Totals with their probabilities raised to 1 / temperature, what is left out as one more.

    Layers are not independent: where one is read rightly the next mostly is, so that a product of many is too
    low.
    """
    left = max(1.0 - sum(p for _, p in values), 0.0)
    raised = [p ** (1 / temperature) for _, p in values]
    whole = sum(raised) + left ** (1 / temperature)
    return tuple((v, p / whole) for (v, _), p in zip(values, raised, strict=True))


def softmax(v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logits (..., n) to probabilities."""
    e = np.exp(v - v.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True), np.float64)
