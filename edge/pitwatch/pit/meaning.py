"""What a finding means in money and words, and cards as bits to search by.

In: findings and cards as tables send them. Out: cents, units, titles, integers. Nothing here judges.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from pitwatch.chips import money
from pitwatch.errors import UserError
from pitwatch.rules import load_profile

__all__ = ["REASONS", "amount", "bits", "in_words", "rank_bits", "rule_sentence", "title", "unit", "wilson"]

REASONS = {
    "misread_card": "A card was read wrongly",
    "misread_chips": "Chips were read wrongly",
    "missed_action": "Something was not seen: a card, a payment, a sweep",
    "allowed_here": "It is allowed at this table",
    "put_right": "It was put right at the table",
    "training": "A dealer was being trained",
    "other": "Another reason",
}

_RANKS = "A23456789TJQK"
_SUITS = "cdhs"
_CENTS = re.compile(
    r"wager_|double_|split_|insurance_(not_allowed|late|too_large)|side_bet_(late|without)|taken_"
)
_TOTALS = re.compile(r"dealer_")


def unit(kind: str) -> str:
    """Of `expected` and `observed`: "net" the player's net in cents, "cents" an amount, "total" of a hand."""
    return "total" if _TOTALS.match(kind) else "cents" if _CENTS.match(kind) else "net"


def title(kind: str) -> str:
    """A kind as people read it: "Paid short"."""
    return kind.replace("_", " ").capitalize()


def in_words(value: object, what: str) -> str:
    """An expected or observed value for people, "" when nothing is said."""
    if isinstance(value, bool) or not isinstance(value, int):
        return "" if value is None else str(value)[:100]
    if what == "total":
        return str(value)
    return ("+" if what == "net" and value > 0 else "") + money(value)


def amount(finding: Mapping[str, Any]) -> tuple[int | None, str | None]:
    """Money in error in cents, None when it is not about money; and whom it favours, "house" or "player"."""
    expected, observed, kind = finding.get("expected"), finding.get("observed"), str(finding.get("kind", ""))
    if unit(kind) == "total":
        return None, None
    if type(expected) is not int or type(observed) is not int:
        return None, None
    wrong = observed - expected
    if unit(kind) == "cents":
        return abs(wrong), None
    return abs(wrong), "player" if wrong > 0 else "house" if wrong < 0 else None


@lru_cache(maxsize=2000)
def rule_sentence(rule: str) -> tuple[str, str]:
    """The sentence that a rule (`profile.rule`) stands on, and where it is from; "" when not known."""
    name, _, key = rule.rpartition(".")
    # a name comes from outside, and load_profile would also read a file
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name):
        return "", ""
    try:
        return load_profile(name).sentence(key), name
    except UserError:
        return "", ""


def bits(cards: Iterable[str | None]) -> int:
    """The set of cards whose suit is known, one bit a card."""
    out = 0
    for card in cards:
        if card and len(card) == 2 and card[0] in _RANKS and card[1] in _SUITS:
            out |= 1 << (_RANKS.index(card[0]) * 4 + _SUITS.index(card[1]))
    return out


def rank_bits(cards: Iterable[str | None]) -> int:
    """The set of ranks, one bit a rank."""
    out = 0
    for card in cards:
        if card and card[0] in _RANKS:
            out |= 1 << _RANKS.index(card[0])
    return out


def wilson(k: int, n: int, z: float = 1.959964) -> tuple[float | None, float | None]:
    """Wilson's score interval of k in n, 95 % by default; None without any."""
    if n <= 0:
        return None, None
    p = min(1.0, k / n)
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)
