"""How cards lie: which over which, and which touch.

In: cards with their pose and how much of each shows. Out: orders and chains. Units: mm, table frame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pitwatch.vision.fuse import CardGroup
from pitwatch.vision.motion import Foot
from pitwatch.vision.tracks import CardTrack, card_outline, overlap

__all__ = ["in_chains", "meet", "top_down"]

_NEARLY_MM = 4.0
_APART_MM = 110.0


def top_down(groups: Sequence[CardGroup], feet: Sequence[Foot]) -> list[int]:
    """Numbers of cards from the top down: next comes the one that shows all that those above leave of it.

    feet: the cards' places in the top view.
    """
    left, order = list(range(len(groups))), list[int]()
    free = [f.mask.copy() for f in feet]
    while left:
        hidden = {i: free[i].sum() / max(feet[i].n, 1) - groups[i].visible for i in left}
        top = min(left, key=lambda i: (round(hidden[i], 1), -groups[i].visible))
        left.remove(top)
        order.append(top)
        for i in left:
            free[i] &= ~feet[top].onto(feet[i])
    return order


def meet(a: CardGroup, b: CardGroup) -> bool:
    """Whether one of two cards lies over the other."""
    near = math.dist((a.x, a.y), (b.x, b.y)) < _APART_MM
    return near and overlap(card_outline(a.x, a.y, a.yaw), card_outline(b.x, b.y, b.yaw)) > 0.05


def in_chains(cards: Sequence[CardTrack]) -> list[list[CardTrack]]:
    """Cards sorted into chains of which each touches the next, or nearly."""
    chains: list[list[CardTrack]] = []
    for c in cards:
        near = [
            k for k in chains if any(overlap(c.outline(_NEARLY_MM), o.outline(_NEARLY_MM)) > 0 for o in k)
        ]
        chains = [k for k in chains if k not in near]
        chains.append([o for k in near for o in k] + [c])
    return chains
