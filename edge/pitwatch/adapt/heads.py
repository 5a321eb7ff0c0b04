"""Linear heads of the readers: found in a weight file, fitted anew to features, and put in their place.

In: bytes of an ONNX file and the places that its manifest entry names; features and labels. Out: heads, and
the bytes of a file with others. The features are what the network makes of a picture before its last step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Head", "fit_head", "learnt_from", "read_head", "with_head"]

Floats = NDArray[np.float64]

_CHECKED = 0.3  # share of what is drawn that the fit does not see
_MEMORY = 8  # steps of which the minimiser remembers the gradients


@dataclass(frozen=True)
class Head:
    """Logits are features @ weight.T + bias. weight: (classes, n). bias: (classes,)."""

    weight: Floats
    bias: Floats

    def logits(self, features: Floats) -> Floats:
        """(..., n) to (..., classes)."""
        return np.asarray(features @ self.weight.T + self.bias, np.float64)


def read_head(data: bytes, place: Mapping[str, Any]) -> Head:
    """The head at a place: "shape", and the offsets of "weight" and "bias" in the file."""
    classes, n = (int(v) for v in place["shape"])
    weight = np.frombuffer(data, "<f4", classes * n, int(place["weight"])).reshape(classes, n)
    return Head(
        weight.astype(np.float64), np.frombuffer(data, "<f4", classes, int(place["bias"])).astype(float)
    )


def with_head(data: bytes, place: Mapping[str, Any], head: Head) -> bytes:
    """The file with another head of the same shape."""
    out = bytearray(data)
    for values, at in ((head.weight, int(place["weight"])), (head.bias, int(place["bias"]))):
        raw = values.astype("<f4").tobytes()
        out[at : at + len(raw)] = raw
    return bytes(out)


def learnt_from(n: int) -> NDArray[np.bool_]:
    """Which of n drawn things a head is fitted to, (n,); the others tell how well it reads."""
    return np.asarray(np.arange(n) < n * (1 - _CHECKED), np.bool_)


def fit_head(features: Floats, labels: NDArray[np.int64], start: Head, pull: float = 1e-2) -> Head:
    """The head under which the labels are likeliest, held to `start` by `pull` times its squared distance.

    features: (N, n). labels: (N,) class numbers. Multinomial logistic regression, minimised by L-BFGS
    (Nocedal and Wright 2006, algorithm 7.5).
    """
    X = np.column_stack([features, np.ones(len(features))])
    first = np.column_stack([start.weight, start.bias])
    hot = np.zeros((len(labels), len(first)))
    hot[np.arange(len(labels)), labels] = 1.0

    def cost(w: Floats) -> tuple[float, Floats]:
        W = w.reshape(first.shape)
        z = X @ W.T
        z -= z.max(axis=1, keepdims=True)
        e = np.exp(z)
        total = e.sum(axis=1, keepdims=True)
        off = W - first
        value = float((np.log(total)[:, 0] - (z * hot).sum(axis=1)).mean() + pull * (off * off).sum())
        return value, np.asarray((e / total - hot).T @ X / len(X) + 2 * pull * off, np.float64).ravel()

    W = _minimised(cost, first.ravel()).reshape(first.shape)
    return Head(np.asarray(W[:, :-1]), np.asarray(W[:, -1]))


def _minimised(cost: Callable[[Floats], tuple[float, Floats]], x: Floats, steps: int = 120) -> Floats:
    value, g = cost(x)
    past: list[tuple[Floats, Floats]] = []
    for _ in range(steps):
        q, shares = g.copy(), []
        for s, y in reversed(past):
            a = float(s @ q) / float(s @ y)
            shares.append(a)
            q -= a * y
        if past:
            s, y = past[-1]
            q *= float(s @ y) / float(y @ y)
        for (s, y), a in zip(past, reversed(shares), strict=True):
            q += s * (a - float(y @ q) / float(s @ y))
        step, slope = 1.0 if past else 1.0 / (float(np.abs(g).sum()) + 1e-12), float(g @ q)
        for _ in range(30):
            again, h = cost(x - step * q)
            if again <= value - 1e-4 * step * slope:
                break
            step /= 2
        else:
            break
        s, y = -step * q, h - g
        x, g, gained, value = x + s, h, value - again, again
        if float(s @ y) > 1e-12:
            past = [*past, (s, y)][-_MEMORY:]
        if gained < 1e-7 * max(abs(value), 1.0):
            break
    return x
