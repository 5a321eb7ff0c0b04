"""The card reader: rank and suit of upright card crops.

In: (N, 160, 112, 4) uint8 crops, BGR and the mask of what is said to lie over them. Out: log-probabilities,
calibrated by the temperature in the manifest.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pitwatch.vision.weights import open_session

__all__ = ["CardReader", "Reading"]

Floats = NDArray[np.float64]


class Reading(NamedTuple):
    """rank_logp (13,) and suit_logp (4,) given that it can be read; unread: that it cannot; visible: share
    of the card that shows, 0 to 1."""

    rank_logp: Floats
    suit_logp: Floats
    unread: float
    visible: float


class CardReader:
    """The network. Raises UserError when its weights are missing or changed."""

    def __init__(self, folder: Path | None = None, threads: int = 1) -> None:
        self._session, weights = open_session("card_reader", folder, threads)
        self._input = self._session.get_inputs()[0].name
        self._cool = weights.number("temperature")

    def features(self, crops: NDArray[np.uint8]) -> Floats:
        """What the network makes of crops before its last step, as they are and upside down: (N, 2, n)."""
        parts = [self._run(crops[i : i + 128], "features")[0] for i in range(0, len(crops), 128)]
        return np.concatenate([p.reshape(2, len(p) // 2, -1).transpose(1, 0, 2) for p in parts])

    def _run(self, crops: NDArray[np.uint8], *outputs: str) -> list[Floats]:
        """Outputs for the crops, then for the same upside down."""
        both = np.concatenate([crops, crops[:, ::-1, ::-1]])
        x = np.ascontiguousarray(both.transpose(0, 3, 1, 2), np.float32) / np.float32(127.5) - np.float32(1)
        return [np.asarray(v, np.float64) for v in self._session.run(outputs, {self._input: x})]

    def read(self, crops: NDArray[np.uint8]) -> list[Reading]:
        """One reading a crop; each crop is read as it is and upside down."""
        if not len(crops):
            return []
        rank, suit, visible = self._run(crops, "rank", "suit", "visible")
        n = len(crops)
        rank, suit = (_log_softmax((v[:n] + v[n:]) / 2 / self._cool) for v in (rank, suit))
        shows = (visible[:n, 0] + visible[n:, 0]) / 2
        out = []
        for i in range(n):
            unread = float(1 - (1 - np.exp(rank[i, -1])) * (1 - np.exp(suit[i, -1])))
            out.append(
                Reading(
                    _log_softmax(rank[i, :-1]),
                    _log_softmax(suit[i, :-1]),
                    unread,
                    float(np.clip(shows[i], 0, 1)),
                )
            )
        return out


def _log_softmax(v: Floats) -> Floats:
    m = v - v.max(axis=-1, keepdims=True)
    return np.asarray(m - np.log(np.exp(m).sum(axis=-1, keepdims=True)), np.float64)
