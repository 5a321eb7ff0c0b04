"""The model card's figures: how far a probability can be trusted, and what is taken for what.

In: held-out crops and strips, the exported networks. Out: pictures below `models/figures` and a few lines of
Markdown. The networks run as they do on a table, through onnxruntime, with their temperatures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.training.data import RESOLVED_PX, UNREAD_RANK
from models.training.loop import Data
from pitwatch.cards import RANKS, SUITS
from pitwatch.chips import CASINO
from pitwatch.evaluate.counts import RELIED_ON
from pitwatch.vision.card_reader import CardReader
from pitwatch.vision.stack_reader import StackReader

__all__ = ["report"]

_EDGES = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 1.0001])
_BATCH = 256


class _Said(NamedTuple):
    """What a reader said: names of the classes, truth and answer as numbers, how sure, whether right."""

    name: str
    classes: list[str]
    truth: NDArray[Any]
    answer: NDArray[Any]
    sure: NDArray[Any]
    right: NDArray[Any]


def report(cache: Path, weights: Path, figures: Path) -> str:
    """Measure the readers on held-out pictures, draw `readers.png` below `figures`; a table in Markdown."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figures.mkdir(parents=True, exist_ok=True)
    ranks, suits, cards = _cards(cache, weights)
    counts, values = _stacks(cache, weights)
    fig, axes = plt.subplots(1, 5, figsize=(21, 4.4))
    for ax, said in zip(axes, (ranks, suits, counts), strict=False):
        _confusion(ax, said)
    for ax, said in zip(axes[3:], (cards, values), strict=True):
        _reliability(ax, said)
    fig.tight_layout()
    fig.savefig(figures / "readers.png", dpi=80)
    plt.close(fig)
    lines = [
        f"| held-out pictures | n | right | said with over {RELIED_ON} | of these wrong |",
        "| --- | --- | --- | --- | --- |",
    ]
    for said in (ranks, suits, cards, counts, values):
        high = said.sure > RELIED_ON
        share = f"{int((high & ~said.right).sum())} of {int(high.sum())}"
        lines.append(
            f"| {said.name} | {len(said.right)} | {said.right.mean():.1%} | {high.mean():.1%} | {share} |"
        )
    return "\n".join(lines)


def _cards(cache: Path, weights: Path) -> tuple[_Said, _Said, _Said]:
    """Ranks, suits and whole cards, of the crops that can be read."""
    held = Data(cache / "cards", "val", ("crop", "rank", "suit")).arrays
    known = held["rank"] != UNREAD_RANK
    crops, rank, suit = held["crop"][known], held["rank"][known].astype(int), held["suit"][known].astype(int)
    reader = CardReader(weights)
    said = [r for i in range(0, len(crops), _BATCH) for r in reader.read(crops[i : i + _BATCH])]
    rank_p = np.exp([r.rank_logp for r in said])
    suit_p = np.exp([r.suit_logp for r in said])
    shows = 1 - np.array([r.unread for r in said])
    r, s = rank_p.argmax(1), suit_p.argmax(1)
    both = rank_p.max(1) * suit_p.max(1) * shows
    card = (r == rank) & (s == suit)
    return (
        _Said("ranks", list(RANKS), rank, r, rank_p.max(1) * shows, r == rank),
        _Said("suits", list(SUITS), suit, s, suit_p.max(1) * shows, s == suit),
        _Said("cards, rank and suit", [], rank, r, both, card),
    )


def _stacks(cache: Path, weights: Path) -> tuple[_Said, _Said]:
    """Numbers of chips and values, of stacks whose layers are `RESOLVED_PX` high or more."""
    held = Data(cache / "strips", "val", ("strip", "count", "chips", "layer")).arrays
    known = (held["layer"][:, 0] >= RESOLVED_PX) & (held["count"] > 0)
    strips, count, chips, layer = (held[k][known] for k in ("strip", "count", "chips", "layer"))
    cents = np.array([*(d.cents for d in CASINO.denominations), 0])
    total = cents[chips].sum(axis=1)
    reader = StackReader(CASINO, weights)
    said = [
        r
        for i in range(0, len(strips), _BATCH)
        for r in reader.read(strips[i : i + _BATCH], layer[i : i + _BATCH])
    ]
    number = np.array([r.number for r in said])
    value, sure = (np.array([r.values[0][i] for r in said]) for i in (0, 1))
    names = [str(i) for i in range(26)]
    right = number == count
    return (
        _Said("chips in a stack", names, count.astype(int), number, np.array([r.sure for r in said]), right),
        _Said("stacks, value", [], total, value, sure, value == total),
    )


def _confusion(ax: Any, said: _Said) -> None:
    n = len(said.classes)
    table = np.zeros((n, n))
    np.add.at(table, (said.truth, said.answer), 1)
    rows = np.maximum(table.sum(axis=1, keepdims=True), 1)
    ax.imshow((table / rows) ** 0.5, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(n), said.classes, fontsize=7 if n < 20 else 5)
    ax.set_yticks(range(n), said.classes, fontsize=7 if n < 20 else 5)
    if n < 20:
        for i, j in np.argwhere(table > 0):
            share = table[i, j] / rows[i, 0]
            ax.text(
                j,
                i,
                f"{share * 100:.0f}",
                ha="center",
                va="center",
                fontsize=6,
                color="k" if share < 0.5 else "w",
            )
    ax.set_xlabel("read as")
    ax.set_ylabel("is")
    ax.set_title(f"{said.name}: {said.right.mean():.1%} of {len(said.right)} right", fontsize=10)


def _reliability(ax: Any, said: _Said) -> None:
    """Share that is right against the probability that was given (reliability diagram)."""
    bins = np.digitize(said.sure, _EDGES) - 1
    for k in range(len(_EDGES) - 1):
        here = bins == k
        if here.sum() < 5:
            continue
        p, right, n = said.sure[here].mean(), said.right[here].mean(), int(here.sum())
        error = 1.96 * (max(right * (1 - right), 1 / n) / n) ** 0.5
        ax.errorbar(p, right, yerr=error, fmt="o", color="tab:blue", ms=4)
        ax.annotate(str(n), (p, right), textcoords="offset points", xytext=(5, -9), fontsize=7)
    ax.plot([0, 1], [0, 1], color="0.6", lw=1)
    ax.set_xlim(0, 1.02)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("probability given")
    ax.set_ylabel("share right (95 % interval)")
    ax.set_title(f"{said.name}: {said.right.mean():.1%} of {len(said.right)} right", fontsize=10)
    ax.grid(alpha=0.3)
