"""Which labelled cards of several photographs are one and the same card, laid down once.

In: labels in the pictures' order. Out: an id for each card of each picture, equal for all sightings of one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

__all__ = ["centre_of", "laid_as_group", "laid_in_place"]

Label = Mapping[str, Any]

_BACK_TO = 3  # pictures: a card may be covered by an arm in between
_ENOUGH = 3  # cards: fewer in common may be another deal


def laid_in_place(labels: Sequence[Label], reach: Callable[[Label], float]) -> list[list[Hashable]]:
    """For a camera that stands still: the same code at the same place, in pictures that follow each other.

    reach: a card's half width there, px. Cards without a place are each their own.
    """
    lying: list[tuple[int, str, float, float, Hashable]] = []
    out: list[list[Hashable]] = []
    for k, label in enumerate(labels):
        ids: list[Hashable] = []
        lying = [e for e in lying if k - e[0] <= _BACK_TO]
        for n, c in enumerate(label["cards"]):
            place = centre_of(c)
            laid: Hashable = (k, n)
            if place is not None:
                near = [e for e in lying if e[1] == c["card"] and e[4] not in ids]
                near.sort(key=lambda e: math.dist(e[2:4], place))
                if near and math.dist(near[0][2:4], place) <= reach(c):
                    laid = near[0][4]
                    lying.remove(near[0])
                lying.append((k, c["card"], *place, laid))
            ids.append(laid)
        out.append(ids)
    return out


def laid_as_group(labels: Sequence[Label]) -> list[list[Hashable]]:
    """For photographs from anywhere: the same cards in two pictures are one lay-out taken twice.

    A picture that lacks some of another's cards is of that lay-out too, if it has at least three.
    """
    counted = [Counter(str(c["card"]) for c in label["cards"]) for label in labels]
    groups: list[Counter[str]] = []
    group_of: dict[int, int] = {}
    for k in sorted(range(len(labels)), key=lambda k: -counted[k].total()):
        cards = counted[k]
        for g, group in enumerate(groups):
            if cards == group or (cards.total() >= _ENOUGH and cards <= group):
                group_of[k] = g
                break
        else:
            group_of[k] = len(groups)
            groups.append(cards)
    out: list[list[Hashable]] = []
    for k, label in enumerate(labels):
        used: Counter[str] = Counter()
        ids: list[Hashable] = []
        for c in label["cards"]:
            code = str(c["card"])
            ids.append((group_of[k], code, used[code]))
            used[code] += 1
        out.append(ids)
    return out


def centre_of(card: Label) -> tuple[float, float] | None:
    """The labelled centre of a card, px: given, or its box's; None when neither is labelled."""
    if card.get("box") is not None:
        x0, y0, x1, y1 = card["box"]
        return (x0 + x1) / 2, (y0 + y1) / 2
    if card.get("x") is not None and card.get("y") is not None:
        return float(card["x"]), float(card["y"])
    return None
