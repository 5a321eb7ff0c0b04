"""Which thing seen is which thing true, and whether it was read rightly.

In: distances (N, M) in whatever unit their limit has, and what was seen. Out: pairs of indices, verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pitwatch.vision.looks import CardSeen, StackSeen

__all__ = [
    "BACK",
    "CardOutcome",
    "CardTruth",
    "CardVerdict",
    "StackOutcome",
    "StackTruth",
    "card_outcomes",
    "distances",
    "match",
    "match_as_set",
    "reading",
    "stack_outcomes",
    "verdict",
]

Array = NDArray[np.float64]
CardVerdict = Literal["right", "rank", "wrong", "unread", "missed", "false"]

BACK = "back"
UNREAD = 0.5  # more likely than not unreadable: said to be unread


@dataclass(frozen=True, eq=False)
class CardTruth:
    """A card that lies there.

    code: "7d", "7?" when only the rank is known, "back" when it lies face down. clear: at least 60 % of its
    face shows. laid: equal for the same laid card in several pictures. scored: False for one that only
    excuses what is found there. outline: (N, 2) px round it, None when its place is unknown.
    """

    code: str
    clear: bool = True
    laid: Hashable = None
    scored: bool = True
    outline: Array | None = None


@dataclass(frozen=True, eq=False)
class StackTruth:
    """A stack of chips that stands there. count, cents: None when unknown; the rest as in CardTruth."""

    count: int | None = None
    cents: int | None = None
    laid: Hashable = None
    outline: Array | None = None


@dataclass(frozen=True, eq=False)
class CardOutcome:
    """What became of one card: `truth` is None for a false one, `seen` for a missed one."""

    verdict: CardVerdict
    truth: CardTruth | None
    seen: CardSeen | None


@dataclass(frozen=True, eq=False)
class StackOutcome:
    """What became of one stack. count_right, value_right: None where the truth is unknown."""

    truth: StackTruth | None
    seen: StackSeen | None

    @property
    def count_right(self) -> bool | None:
        """Whether the number of chips was read."""
        if self.truth is None or self.truth.count is None:
            return None
        return self.seen is not None and self.seen.count == self.truth.count

    @property
    def value_right(self) -> bool | None:
        """Whether the value was read."""
        if self.truth is None or self.truth.cents is None:
            return None
        return self.seen is not None and self.seen.amount == self.truth.cents


def distances(a: ArrayLike, b: ArrayLike) -> Array:
    """Distances (N, M) between points (N, 2) and (M, 2); either may be empty."""
    p = np.asarray(a, dtype=np.float64).reshape(-1, 1, 2)
    q = np.asarray(b, dtype=np.float64).reshape(1, -1, 2)
    return np.asarray(np.linalg.norm(p - q, axis=2), dtype=np.float64)


def match(distance: ArrayLike, limit: float = math.inf) -> list[tuple[int, int]]:
    """Pairs one to one, nearest first, none farther than `limit`; an infinite distance never pairs.

    distance: (N, M).
    """
    d = np.asarray(distance, dtype=np.float64)
    if d.size == 0:
        return []
    pairs: list[tuple[int, int]] = []
    rows: set[int] = set()
    cols: set[int] = set()
    for flat in np.argsort(d, axis=None, kind="stable"):
        i, j = divmod(int(flat), d.shape[1])
        if not math.isfinite(d[i, j]) or d[i, j] > limit:
            break
        if i not in rows and j not in cols:
            rows.add(i)
            cols.add(j)
            pairs.append((i, j))
    return pairs


def reading(seen: CardSeen) -> str | None:
    """What a look says of a card: its likeliest code, "back", or None when unread."""
    if not seen.face_up:
        return BACK
    return None if seen.unread > UNREAD else seen.best


def verdict(code: str, said: str | None) -> CardVerdict:
    """How right a reading is: any suit is right for "7?"; "rank" when only the rank is right."""
    if said is None:
        return "unread"
    if BACK in (code, said):
        return "right" if code == said else "wrong"
    if code[0] != said[0]:
        return "wrong"
    return "right" if code[1] in ("?", said[1]) else "rank"


def card_outcomes(
    truth: Sequence[CardTruth], seen: Sequence[CardSeen], pairs: Sequence[tuple[int, int]]
) -> list[CardOutcome]:
    """What became of every card. A card that is not scored excuses what was paired with it."""
    of = dict(pairs)
    out: list[CardOutcome] = []
    for i, t in enumerate(truth):
        if not t.scored:
            continue
        s = seen[of[i]] if i in of else None
        out.append(CardOutcome("missed" if s is None else verdict(t.code, reading(s)), t, s))
    taken = {j for _, j in pairs}
    out += [CardOutcome("false", None, s) for j, s in enumerate(seen) if j not in taken]
    return out


def match_as_set(truth: Sequence[CardTruth], seen: Sequence[CardSeen]) -> list[tuple[int, int]]:
    """Pairs where nobody labelled the places: right ones first, then right ranks, then what is left."""
    rank = {"right": 0.0, "rank": 1.0, "unread": 2.0, "wrong": 3.0}
    d = [[rank[verdict(t.code, reading(s))] for s in seen] for t in truth]
    return match(np.asarray(d, dtype=np.float64).reshape(len(truth), len(seen)))


def stack_outcomes(
    truth: Sequence[StackTruth], seen: Sequence[StackSeen], pairs: Sequence[tuple[int, int]]
) -> list[StackOutcome]:
    """What became of every stack."""
    of = dict(pairs)
    taken = {j for _, j in pairs}
    out = [StackOutcome(t, seen[of[i]] if i in of else None) for i, t in enumerate(truth)]
    return out + [StackOutcome(None, s) for j, s in enumerate(seen) if j not in taken]
