"""Basic strategy: what a player who knows only the total and the upcard does best.

In: a profile, cards, the upcard, the acts that are legal. Out: one of them. The charts are the usual
total-dependent ones for four decks and more, for a single deck, and for a shoe without end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pitwatch.cards import card_value
from pitwatch.rules.hands import Standing
from pitwatch.rules.profile import Profile

__all__ = ["UPCARDS", "Chart", "basic_act", "chart_for"]

UPCARDS = "23456789TA"

# One row a hand, one letter an upcard from 2 to the ace. What comes first when it is legal, and what else:
# h hit; s stand; d double, else hit; D double, else stand; r surrender, else hit; R surrender, else stand;
# p split, else as the total says; q surrender, else split; . as the total says.
_ACTS = {
    "h": ("hit",),
    "s": ("stand",),
    "d": ("double", "hit"),
    "D": ("double", "stand"),
    "r": ("surrender", "hit"),
    "R": ("surrender", "stand"),
    "p": ("split",),
    "q": ("surrender", "split"),
    ".": (),
}

_MANY_S17 = """
hard 4-8   hhhhhhhhhh
hard 9     hddddhhhhh
hard 10    ddddddddhh
hard 11    dddddddddh
hard 12    hhssshhhhh
hard 13-14 ssssshhhhh
hard 15    ssssshhhrh
hard 16    ssssshhrrr
hard 17-21 ssssssssss
soft 12    hhhhhhhhhh
soft 13-14 hhhddhhhhh
soft 15-16 hhdddhhhhh
soft 17    hddddhhhhh
soft 18    sDDDDsshhh
soft 19-21 ssssssssss
pair 2-3   pppppp....
pair 4     ...pp.....
pair 6     ppppp.....
pair 7     pppppp....
pair 8     pppppppppp
pair 9     ppppp.pp..
pair 1     pppppppppp
"""
_MANY_H17 = """
hard 11    dddddddddd
hard 15    ssssshhhrr
hard 17    sssssssssR
soft 18    DDDDDsshhh
soft 19    ssssDsssss
pair 8     pppppppppq
"""
_SINGLE = """
hard 8     hhhddhhhhh
hard 9     dddddhhhhh
hard 11    dddddddddd
hard 16    ssssshhhrr
soft 13-14 hhdddhhhhh
soft 17    dddddhhhhh
soft 18    sDDDDsshhs
soft 19    ssssDsssss
pair 3     ppppppp...
pair 4     ..ppp.....
pair 6     pppppp....
pair 7     ppppppp.R.
"""
# Where no card that is gone changes what is left, two doubles are not worth their risk.
_ENDLESS = """
soft 13    hhhhdhhhhh
"""
_ENDLESS_S17 = """
soft 15    hhhddhhhhh
"""


@dataclass(frozen=True)
class Chart:
    """Rows by ("hard" | "soft" | "pair", total or pip value): ten letters, one an upcard."""

    rows: dict[tuple[str, int], str]

    def letters(self, kind: str, number: int, upcard: str) -> str:
        """What a row says under an upcard, "." when there is no such row."""
        row = self.rows.get((kind, number))
        return "." if row is None else row[UPCARDS.index(upcard[0])]


def _read(*texts: str) -> Chart:
    rows: dict[tuple[str, int], str] = {}
    for line in "\n".join(texts).split("\n"):
        if line.strip():
            kind, numbers, letters = line.split()
            first, _, last = numbers.partition("-")
            rows |= {(kind, n): letters for n in range(int(first), int(last or first) + 1)}
    return Chart(rows)


@cache
def _charts(decks: int | None, hits_soft_17: bool) -> Chart:
    texts = [_MANY_S17]
    if hits_soft_17:
        texts.append(_MANY_H17)
    if decks == 1:
        texts.append(_SINGLE)
    if decks is None:
        texts.append(_ENDLESS)
        if not hits_soft_17:
            texts.append(_ENDLESS_S17)
    return _read(*texts)


def chart_for(profile: Profile) -> Chart:
    """The chart of a profile's number of decks (None = without end) and its soft 17."""
    return _charts(profile.decks, profile.dealer_soft_17 == "hit")


def basic_act(
    chart: Chart, hand: Standing, cards: tuple[str, ...], upcard: str, legal: frozenset[str]
) -> str:
    """What the chart does with a hand: one of the acts that are legal, of which there must be one."""
    letters = ""
    if len(cards) == 2 and card_value(cards[0]) == card_value(cards[1]):
        letters = chart.letters("pair", card_value(cards[0]), upcard)
    letters += chart.letters("soft" if hand.soft else "hard", hand.total, upcard)
    wished = [act for letter in letters for act in _ACTS[letter]]
    for act in (*wished, "stand", "split"):
        if act in legal:
            return act
    raise ValueError(f"no act is legal with {''.join(cards)}; the hand is finished")
