"""The training loop of the readers: seeded, resumable, with its curves as a picture.

A checkpoint holds everything that the next step depends on; a run that was killed goes on from the last one.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from pitwatch.errors import UserError

__all__ = ["Data", "fit", "plot_curves"]

Batch = tuple[Tensor, ...]


class Data:
    """Shards of npz files below `folder` whose names begin with `split`, in memory; rows by index."""

    def __init__(self, folder: Path, split: str, keys: tuple[str, ...]) -> None:
        files = sorted(folder.glob(f"{split}-*.npz"))
        if not files:
            raise UserError(f"no training data in {folder}; draw it first: make train ARGS='--only data'")
        parts: dict[str, list[np.ndarray]] = {k: [] for k in keys}
        for file in files:
            with np.load(file) as shard:
                for k in keys:
                    parts[k].append(shard[k])
        self.arrays = {k: np.concatenate(v) for k, v in parts.items()}
        self.n = len(self.arrays[keys[0]])

    def keep(self, rows: np.ndarray) -> None:
        """Go on with the rows that are true in the boolean `rows` (n,) only."""
        self.arrays = {k: v[rows] for k, v in self.arrays.items()}
        self.n = int(rows.sum())

    def batches(self, size: int, seed: int) -> Iterator[dict[str, np.ndarray]]:
        """The whole set once, in an order that only the seed decides."""
        order = np.random.default_rng(seed).permutation(self.n)
        for i in range(0, self.n - size + 1, size):
            rows = np.sort(order[i : i + size])
            yield {k: v[rows] for k, v in self.arrays.items()}


def fit(
    net: nn.Module,
    data: Data,
    loss: Callable[[nn.Module, dict[str, np.ndarray], torch.Generator], Tensor],
    score: Callable[[nn.Module], dict[str, float]],
    out: Path,
    *,
    minutes: float,
    epochs: int,
    seed: int,
    batch: int = 64,
    rate: float = 2e-3,
    every: int = 400,
) -> None:
    """Train `net` for `epochs` or until `minutes` of training are over, the rate falling to nothing by then.

    loss(net, rows, generator) gives a batch's loss, score(net) the figures of held-out data. Writes
    `last.pt`, `best.pt` (by score["score"]), `curve.csv` and `curve.png` below `out`.
    """
    out.mkdir(parents=True, exist_ok=True)
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=2e-2)
    step, spent, best, epoch = 0, 0.0, -1.0, 0
    last = out / "last.pt"
    if last.exists():
        state = torch.load(last, weights_only=True)
        net.load_state_dict(state["net"])
        optimiser.load_state_dict(state["optimiser"])
        step, spent, best, epoch = state["step"], state["spent"], state["best"], state["epoch"]
        print(f"{out.name}: goes on at step {step}, {spent / 60:.1f} min trained", flush=True)
    total = max(1, data.n // batch) * epochs
    generator = torch.Generator().manual_seed(seed + step)
    mean, began = 0.0, time.monotonic()

    def keep() -> None:
        nonlocal best
        figures = score(net)
        figures |= {"step": step, "loss": mean, "minutes": (spent + time.monotonic() - began) / 60}
        _append(out / "curve.csv", figures)
        plot_curves(out / "curve.csv", out / "curve.png")
        if figures["score"] > best:
            best = figures["score"]
            torch.save(net.state_dict(), out / "best.pt")
        state = {
            "net": net.state_dict(),
            "optimiser": optimiser.state_dict(),
            "step": step,
            "epoch": epoch,
            "spent": spent + time.monotonic() - began,
            "best": best,
        }
        torch.save(state, last.with_suffix(".new"))
        last.with_suffix(".new").replace(last)
        print(f"{out.name} " + " ".join(f"{k}={v:.4g}" for k, v in figures.items()), flush=True)
        net.train()

    net.train()
    while epoch < epochs:
        for rows in data.batches(batch, seed * 1000 + epoch):
            share = max((spent + time.monotonic() - began) / 60 / minutes, step / total)
            if share >= 1:
                keep()
                return
            now = rate * min(1.0, (step + 1) / 200) * (0.5 + 0.5 * np.cos(np.pi * share))
            for group in optimiser.param_groups:
                group["lr"] = float(now)
            value = loss(net, rows, generator)
            optimiser.zero_grad(set_to_none=True)
            value.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimiser.step()
            mean = float(value.detach()) if step == 0 else 0.98 * mean + 0.02 * float(value.detach())
            step += 1
            if step % every == 0:
                keep()
        epoch += 1
    keep()


def _append(path: Path, row: dict[str, float]) -> None:
    new = not path.exists()
    with path.open("a", newline="") as f:
        writer = csv.DictWriter(f, fieldnames=list(row))
        if new:
            writer.writeheader()
        writer.writerow(row)


def plot_curves(table: Path, picture: Path) -> None:
    """Every column of a csv against its first common axis, a small plot each."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with table.open(newline="") as f:
        rows = [{k.strip(): float(v) for k, v in r.items() if v not in ("", None)} for r in csv.DictReader(f)]
    if not rows:
        return
    axis = "step" if "step" in rows[0] else "epoch"
    names = [k for k in rows[0] if k not in (axis, "minutes", "time") and not k.startswith("lr/")]
    fig, axes = plt.subplots(1, len(names), figsize=(3.2 * len(names), 2.8), squeeze=False)
    for ax, name in zip(axes[0], names, strict=True):
        ax.plot([r[axis] for r in rows], [r[name] for r in rows], marker=".")
        ax.set_title(name, fontsize=9)
        ax.set_xlabel(axis, fontsize=8)
        ax.grid(alpha=0.3)
    fig.tight_layout()
    fig.savefig(picture, dpi=90)
    plt.close(fig)
