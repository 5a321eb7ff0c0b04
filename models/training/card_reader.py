"""Training of the card reader: rank and suit from an upright crop, with "unread" when too little shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.training.data import UNREAD_RANK, UNREAD_SUIT
from models.training.loop import Data, fit
from models.training.nets import CardReader

__all__ = ["train_card_reader"]

_KEYS = ("crop", "rank", "suit", "visible", "scale")


def tensor(crops: np.ndarray) -> Tensor:
    """(N, 160, 112, 4) uint8 to (N, 4, 160, 112) float in -1 to 1."""
    x = torch.from_numpy(crops).permute(0, 3, 1, 2).float()
    return x / 127.5 - 1


def _varied(crops: np.ndarray, g: torch.Generator) -> Tensor:
    """The crops as a tensor, with other light, contrast and cast, shifted by up to three pixels.

    The mask keeps its values. One multiplication and one addition a value: this runs beside the network on
    the same core.
    """
    n = len(crops)
    dy, dx = (int(v) for v in torch.randint(-3, 4, (2,), generator=g))
    x = torch.from_numpy(np.roll(crops, (dy, dx), (1, 2))).permute(0, 3, 1, 2).float()
    gain = 1 + 0.25 * (torch.rand(n, 1, 1, 1, generator=g) * 2 - 1)
    shift = 0.12 * (torch.rand(n, 3, 1, 1, generator=g) * 2 - 1) + 0.2 * (
        torch.rand(n, 1, 1, 1, generator=g) * 2 - 1
    )
    scale = torch.cat([gain.expand(-1, 3, -1, -1), torch.ones(n, 1, 1, 1)], 1)
    shift = torch.cat([shift - gain, -torch.ones(n, 1, 1, 1)], 1)
    return x.mul_(scale / 127.5).add_(shift).clamp_(-1, 1)


def train_card_reader(
    cache: Path, out: Path, minutes: float, epochs: int, seed: int, start: Path | None = None
) -> CardReader:
    """Train, or go on; returns the best net. Reads `cache`/cards, writes below `out`.

    start: a checkpoint to begin with instead of nothing.
    """
    torch.manual_seed(seed)
    net = CardReader().to(memory_format=torch.channels_last)
    if start is not None:
        net.load_state_dict(torch.load(start, weights_only=True))
    data, held = Data(cache / "cards", "train", _KEYS), Data(cache / "cards", "val", _KEYS)
    print(f"card reader: {data.n} crops to learn from, {held.n} held out", flush=True)

    def loss(net: nn.Module, rows: dict[str, np.ndarray], g: torch.Generator) -> Tensor:
        rank, suit, shows = net(_varied(rows["crop"], g))
        r = F.cross_entropy(rank, torch.from_numpy(rows["rank"]).long(), label_smoothing=0.02)
        s = F.cross_entropy(suit, torch.from_numpy(rows["suit"]).long(), label_smoothing=0.02)
        return r + s + 2 * F.mse_loss(shows[:, 0], torch.from_numpy(rows["visible"]))

    def score(net: nn.Module) -> dict[str, float]:
        rank, suit = logits(net, held.arrays["crop"][:6000])
        known = held.arrays["rank"][:6000] != UNREAD_RANK
        r = rank[:, :UNREAD_RANK].argmax(1) == held.arrays["rank"][:6000]
        s = suit[:, :UNREAD_SUIT].argmax(1) == held.arrays["suit"][:6000]
        return {
            "score": float((r & s)[known].mean()),
            "rank": float(r[known].mean()),
            "suit": float(s[known].mean()),
            "refused": float((rank.argmax(1) == UNREAD_RANK)[~known].mean()),
        }

    fit(
        net,
        data,
        loss,
        score,
        out,
        minutes=minutes,
        epochs=epochs,
        seed=seed,
        batch=32,
        rate=1.5e-3,
        every=800,
    )
    net.load_state_dict(torch.load(out / "best.pt", weights_only=True))
    return net


def logits(net: nn.Module, crops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rank (N, 14) and suit (N, 5) logits, the mean of a crop and the same turned by 180 degrees."""
    net.eval()
    ranks, suits = [], []
    with torch.inference_mode():
        for i in range(0, len(crops), 256):
            x = tensor(crops[i : i + 256])
            a, b = net(x), net(x.flip((2, 3)))
            ranks.append(((a[0] + b[0]) / 2).numpy())
            suits.append(((a[1] + b[1]) / 2).numpy())
    return np.concatenate(ranks), np.concatenate(suits)
