"""The two readers as torch modules: what a card is, and what a stack holds.

Inputs are float tensors in -1 to 1, channels first, of the shapes in `pitwatch.vision.crops`.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from models.training.data import DENOMINATIONS
from pitwatch.cards import RANKS, SUITS
from pitwatch.vision.crops import STRIP_BELOW, STRIP_CHIPS, STRIP_ROWS, STRIP_SHAPE

__all__ = ["CardReader", "StackReader"]


def _conv(i: int, o: int, stride: int | tuple[int, int] = 1) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class _Residual(nn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.body = nn.Sequential(_conv(n, n), nn.Conv2d(n, n, 3, 1, 1, bias=False), nn.BatchNorm2d(n))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + cast(Tensor, self.body(x)))


class CardReader(nn.Module):
    """(N, 4, 160, 112) BGR and mask -> (N, 14) rank logits, (N, 5) suit logits, (N, 1) share that shows.

    The last rank and the last suit mean "unread".
    """

    def __init__(self, width: int = 12) -> None:
        super().__init__()
        w = width
        self.body = nn.Sequential(
            _conv(4, w, 2),
            _conv(w, 2 * w, 2),
            _conv(2 * w, 2 * w),
            _conv(2 * w, 4 * w, 2),
            _Residual(4 * w),
            _conv(4 * w, 8 * w, 2),
            _conv(8 * w, 8 * w),
            nn.Conv2d(8 * w, 40, 1),
        )
        self.join = nn.Sequential(
            nn.Flatten(), nn.Dropout(0.15), nn.Linear(40 * 70, 192), nn.ReLU(inplace=True)
        )
        self.rank = nn.Linear(192, len(RANKS) + 1)
        self.suit = nn.Linear(192, len(SUITS) + 1)
        self.visible = nn.Linear(192, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.with_features(x)[:3]

    def with_features(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The outputs, and the features (N, 192) whose linear heads ranks and suits are."""
        h = self.join(self.body(x))
        return self.rank(h), self.suit(h), torch.sigmoid(self.visible(h)), h


class StackReader(nn.Module):
    """(N, 5, 128, 32) BGR, log px a layer, log px a mm -> (N, 26) counts, (N, 25, 7) layers, (N, 2) foot.

    Counts and layers are logits. Layers from the bottom; their last class is "no chip here". Foot: how many
    rows too low and columns too far right the strip's foot was taken.
    """

    def __init__(self) -> None:
        super().__init__()
        # pixels folded into channels: a convolution without strides does three times as much in the same time
        self.fold = nn.PixelUnshuffle(2)
        self.body = nn.Sequential(
            _conv(16, 32), _conv(32, 64, 2), _Residual(64), _conv(64, 96, (1, 2)), _Residual(96)
        )
        self.line = nn.Sequential(
            nn.Conv1d(96 * 4, 128, 5, 1, 2),
            nn.ReLU(inplace=True),
            nn.Conv1d(128, 128, 5, 1, 2),
            nn.ReLU(inplace=True),
            nn.Conv1d(128, 96, 5, 1, 2),
            nn.ReLU(inplace=True),
        )
        self.layers = nn.Conv1d(96, len(DENOMINATIONS) + 1, 1)
        rows = STRIP_SHAPE[0] // STRIP_ROWS
        self.whole = nn.Sequential(
            nn.Conv1d(96, 24, 1),
            nn.Flatten(),
            nn.Dropout(0.1),
            nn.Linear(24 * rows, 128),
            nn.ReLU(inplace=True),
        )
        self.count = nn.Linear(128, STRIP_CHIPS + 1)
        self.foot = nn.Linear(128, 2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.with_features(x)[:3]

    def with_features(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The outputs, and the features (N, 25, 96) whose linear head the layers are."""
        scales = x[:, 3:, ::2, ::2]
        h = self.body(torch.cat([self.fold(x[:, :3]), scales, scales], 1))
        h = self.line(h.permute(0, 1, 3, 2).flatten(1, 2))
        last = STRIP_SHAPE[0] // STRIP_ROWS - STRIP_BELOW
        rows = slice(last - STRIP_CHIPS, last)
        layers = self.layers(h)[:, :, rows].flip(2).permute(0, 2, 1)
        whole = self.whole(h)
        features = h[:, :, rows].flip(2).permute(0, 2, 1)
        return self.count(whole), layers, self.foot(whole) * STRIP_ROWS, features
