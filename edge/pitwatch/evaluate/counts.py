"""The figures of one set of pictures.

In: outcomes of cards and stacks. Out: the `cards` and `stacks` objects of a report line, with the number of
distinct laid things that they rest on and the 95 % interval which that number allows. `sure` is about what
was said with a confidence above 0.95: how often, how often wrongly, and the upper end of that interval.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

from pitwatch.evaluate.matching import CardOutcome, StackOutcome

__all__ = ["RELIED_ON", "CardCounts", "StackCounts", "wilson"]

RELIED_ON = 0.95  # a reading with more confidence than this is taken for right


def wilson(share: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share seen in `n` independent trials; (0, 1) for none."""
    if n <= 0:
        return 0.0, 1.0
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


class _Share:
    """A share over sightings, whose weight is the number of distinct laid things among them.

    The same card in twenty pictures is one card: twenty sightings of it say hardly more than one.
    """

    def __init__(self) -> None:
        self.right = 0
        self.of = 0
        self.laid: set[Hashable] = set()

    def add(self, laid: Hashable, right: bool) -> None:
        self.of += 1
        self.right += right
        self.laid.add(laid)

    def interval(self) -> list[float] | None:
        if not self.of:
            return None
        return [round(v, 4) for v in wilson(self.right / self.of, len(self.laid))]


class _Sure:
    """Readings given with more than `RELIED_ON`, and those of them that are wrong."""

    def __init__(self) -> None:
        self._wrong = _Share()

    def add(self, laid: Hashable, confidence: float, wrong: bool) -> None:
        if confidence > RELIED_ON:
            self._wrong.add(laid, wrong)

    def to_json(self) -> dict[str, Any]:
        interval = self._wrong.interval()
        return {"said": self._wrong.of, "wrong": self._wrong.right, "upper": interval and interval[1]}


class CardCounts:
    """Counts of cards over pictures."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        self._found = _Share()
        self._right = _Share()
        self._clear = _Share()
        self._sure = _Sure()

    def add(self, outcomes: Iterable[CardOutcome]) -> None:
        """Count one picture's outcomes."""
        for o in outcomes:
            self.verdicts[o.verdict] += 1
            if o.seen is not None and o.seen.face_up and o.verdict != "unread":
                laid = o.truth.laid if o.truth is not None else object()
                self._sure.add(laid, o.seen.confidence, o.verdict != "right")
            if o.truth is not None:
                right = o.verdict == "right"
                self._found.add(o.truth.laid, o.verdict != "missed")
                self._right.add(o.truth.laid, right)
                if o.truth.clear:
                    self._clear.add(o.truth.laid, right)

    def to_json(self) -> dict[str, Any]:
        """The report's `cards`; interval: 95 %, Wilson's, over distinct laid cards."""
        v = self.verdicts
        return {
            "truth": self._found.of,
            "found": self._found.right,
            "rank_right": v["right"] + v["rank"],
            "card_right": v["right"],
            "unread": v["unread"],
            "false": v["false"],
            "clear_truth": self._clear.of,
            "clear_right": self._clear.right,
            "distinct": len(self._found.laid),
            "clear_distinct": len(self._clear.laid),
            "sure": self._sure.to_json(),
            "interval": {
                "found": self._found.interval(),
                "card_right": self._right.interval(),
                "clear_right": self._clear.interval(),
            },
        }


class StackCounts:
    """Counts of stacks over pictures."""

    def __init__(self) -> None:
        self.false = 0
        self._found = _Share()
        self._count = _Share()
        self._value = _Share()
        self._sure = _Sure()

    def add(self, outcomes: Iterable[StackOutcome]) -> None:
        """Count one picture's outcomes."""
        for o in outcomes:
            if o.truth is None:
                self.false += 1
                continue
            if o.seen is not None and o.value_right is not None:
                self._sure.add(o.truth.laid, o.seen.confidence, not o.value_right)
            self._found.add(o.truth.laid, o.seen is not None)
            if o.count_right is not None:
                self._count.add(o.truth.laid, o.count_right)
            if o.value_right is not None:
                self._value.add(o.truth.laid, o.value_right)

    def to_json(self) -> dict[str, Any]:
        """The report's `stacks`; counted, valued: how many of the true ones have a known count and value."""
        return {
            "truth": self._found.of,
            "found": self._found.right,
            "count_right": self._count.right if self._count.of else None,
            "value_right": self._value.right if self._value.of else None,
            "false": self.false,
            "counted": self._count.of,
            "valued": self._value.of,
            "distinct": len(self._found.laid),
            "sure": self._sure.to_json(),
            "interval": {
                "found": self._found.interval(),
                "count_right": self._count.interval(),
                "value_right": self._value.interval(),
            },
        }
