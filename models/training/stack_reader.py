"""Training of the stack reader: how many chips, and which, from a strip along the projected vertical."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.training.data import DENOMINATIONS
from models.training.loop import Data, fit
from models.training.nets import StackReader
from models.training.strips import moved
from pitwatch.vision.crops import STRIP_ROWS

__all__ = ["train_stack_reader"]

_LEAST_LAYER_PX = 0.8
_NEAR_ROWS = 2.0  # half a chip, standard deviation
_NEAR_COLUMNS = 1.0
_USUAL_WEIGHT = 8.0  # of a single chip and the nothing over it
_KEYS = ("strip", "count", "chips", "layer")


def tensor(strips: np.ndarray, layer: np.ndarray) -> Tensor:
    """(N, 128, 32, 3) uint8 and (N, 2) px a layer and px a mm to (N, 5, 128, 32) float."""
    x = torch.from_numpy(strips).permute(0, 3, 1, 2).float() / 127.5 - 1
    s = torch.from_numpy(np.log(np.maximum(layer, 0.05)).astype(np.float32))[:, :, None, None]
    return torch.cat([x, s.expand(-1, -1, *x.shape[2:])], 1)


def train_stack_reader(
    cache: Path, out: Path, minutes: float, epochs: int, seed: int, start: Path | None = None
) -> StackReader:
    """Train, or go on; returns the best net. Reads `cache`/strips, writes below `out`.

    start: a checkpoint to begin with instead of nothing.
    """
    torch.manual_seed(seed)
    net = StackReader().to(memory_format=torch.channels_last)
    if start is not None:
        net.load_state_dict(torch.load(start, weights_only=True))
    data, held = Data(cache / "strips", "train", _KEYS), Data(cache / "strips", "val", _KEYS)
    # what no camera resolves teaches nothing but guessing
    data.keep(data.arrays["layer"][:, 0] > _LEAST_LAYER_PX)
    print(f"stack reader: {data.n} strips to learn from, {held.n} held out", flush=True)

    def loss(net: nn.Module, rows: dict[str, np.ndarray], g: torch.Generator) -> Tensor:
        # the base is first found to a few mm only: some strips are cut far off, and teach where the foot is;
        # the others as nearly right as it is found on tables nobody drew, and teach what stands on it. Each
        # by its own shift: normalised over a batch that is shifted as one, the shift itself would be seen,
        # and later missed.
        n = len(rows["strip"])
        far = torch.rand(n, generator=g) < 0.25
        near = (_NEAR_ROWS * torch.randn(n, generator=g)).round().clamp(-7, 7).long()
        off = torch.where(far, torch.randint(-12, 13, (n,), generator=g), near)
        near = (_NEAR_COLUMNS * torch.randn(n, generator=g)).round().clamp(-3, 3).long()
        aside = torch.where(far, torch.randint(-4, 5, (n,), generator=g), near)
        x = tensor(moved(rows["strip"], rows["layer"], off.numpy(), aside.numpy()), rows["layer"])
        gain = 1 + 0.3 * (torch.rand(n, 1, 1, 1, generator=g) * 2 - 1)
        bias = 0.2 * (torch.rand(n, 1, 1, 1, generator=g) * 2 - 1)
        cast = 0.1 * (torch.rand(n, 3, 1, 1, generator=g) * 2 - 1)
        x = torch.cat([(x[:, :3] * gain + bias + cast).clamp(-1, 1), x[:, 3:]], 1)
        flip = torch.rand(n, 1, 1, 1, generator=g) < 0.5
        x = torch.where(flip, x.flip(3), x)
        aside = torch.where(flip.flatten(), -aside, aside)
        count, layers, foot = net(x.contiguous(memory_format=torch.channels_last))
        number = torch.from_numpy(rows["count"]).long()
        stands = (number > 0).float()  # where nothing stands there is no foot
        astray = torch.stack([off, aside], 1).float()
        miss = F.smooth_l1_loss(foot / STRIP_ROWS, astray / STRIP_ROWS, reduction="none").sum(1)
        where = (miss * stands).sum() / stands.sum().clamp(min=1)
        read = ~far
        if not read.any():
            return 2.0 * where
        count, layers, number = count[read], layers[read], number[read]
        c = F.cross_entropy(count, number)
        truth = torch.from_numpy(rows["chips"]).long()[read]
        y = F.cross_entropy(
            layers.reshape(-1, len(DENOMINATIONS) + 1), truth.reshape(-1), reduction="none"
        ).view(len(truth), -1)
        weight = torch.where(truth < len(DENOMINATIONS), 1.0, 0.3)
        # of a tall stack every layer must be right: it weighs by its layers, not as one stack
        return where + 1.5 * c + 2.0 * ((y * weight).sum(1) / _USUAL_WEIGHT).mean()

    def score(net: nn.Module) -> dict[str, float]:
        net.eval()
        counts, tops = [], []
        k = min(4000, held.n)
        with torch.inference_mode():
            for i in range(0, k, 500):
                c, y, _ = net(
                    tensor(
                        held.arrays["strip"][i : min(i + 500, k)], held.arrays["layer"][i : min(i + 500, k)]
                    )
                )
                counts.append(c.argmax(1).numpy())
                tops.append(y[..., : len(DENOMINATIONS)].argmax(2).numpy())
        n, kinds = np.concatenate(counts), np.concatenate(tops)
        truth, chips = held.arrays["count"][:k], held.arrays["chips"][:k]
        right = n == truth
        value = np.array(DENOMINATIONS)
        exact = np.array(
            [
                right[i] and value[kinds[i, : truth[i]]].sum() == value[chips[i, : truth[i]]].sum()
                for i in range(k)
            ]
        )
        low = (truth > 0) & (truth <= 6) & (held.arrays["layer"][:k, 0] > 1.0)
        return {"score": float(exact.mean()), "count": float(right.mean()), "few": float(exact[low].mean())}

    fit(net, data, loss, score, out, minutes=minutes, epochs=epochs, seed=seed, batch=64, rate=2e-3)
    net.load_state_dict(torch.load(out / "best.pt", weights_only=True))
    return net
