"""A rule's value as it is written, read and checked: texts, numbers, ratios, pay tables.

In: a rule's name and its JSON value. Out: the value as `Profile` holds it, ratios exact; or a UserError that
names the rule and says what it should be.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from pitwatch.cards import is_card
from pitwatch.errors import UserError
from pitwatch.rules.sidebets import SideBet
from pitwatch.rules.wins import WINS

__all__ = ["RULES", "Insurance", "did_you_mean", "ratio_text", "read_rule", "side_bet_tables"]


@dataclass(frozen=True)
class Insurance:
    """An insurance line: the upcard's rank, the limit as a share of the wager, what it pays to one."""

    upcard: str
    limit: Fraction
    pays: Fraction


_YES_NO = (True, False)
_OPEN = (True, False, None)
_CHOICES: dict[str, tuple[object, ...]] = {
    "dealer_soft_17": ("stand", "hit"),
    "dealer_draws_when_no_live_hand": _OPEN,
    "hole_card": ("dealt", "none"),
    "peek_seen": _YES_NO,
    "blackjack_rounding": ("exact", "down", "up"),
    "blackjack_paid": ("at_once", "at_end", None),
    "even_money": _OPEN,
    "dealer_blackjack_takes": ("all", "original", None),
    "two_card_21_beats_more": _OPEN,
    "push_22": _YES_NO,
    "double_on": ("any_two", "9-11", "10-11", "11"),
    "double_on_21": _YES_NO,
    "double_for_less": _YES_NO,
    "double_after_split": _YES_NO,
    "double_split_aces": _OPEN,
    "split_by": ("value", "rank"),
    "split_second_card": ("in_turn", None),
    "resplit_aces": _OPEN,
    "hit_split_aces": _YES_NO,
    "split_ace_ten_is_blackjack": _OPEN,
    "insurance_until": ("first_draw", "peek", None),
    "insurance_rounding": ("down_to_chip", None),
    "surrender": ("none", "late", "early"),
    "bust_taken": ("at_once", "at_end", None),
}
_NUMBERS: dict[str, tuple[int, bool]] = {  # least value, may be null
    "decks": (1, True),
    "smallest_chip": (1, False),
    "max_hands": (1, True),
    "charlie": (0, False),
    "burn": (0, True),
}
RULES = (*_CHOICES, *_NUMBERS, "peek", "blackjack_pays", "insurance", "side_bets")
"""The name of every rule."""

_BET_KEYS = ("table", "pays", "needs_minimum", "meter", "meter_with")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """ " (did you mean 'burn'?)", or nothing when no known word is close."""
    close = difflib.get_close_matches(word, list(known), 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def ratio_text(ratio: Fraction) -> str:
    """A ratio as the felt has it: "3:2"."""
    return f"{ratio.numerator}:{ratio.denominator}"


@cache
def side_bet_tables() -> Mapping[str, Mapping[str, Any]]:
    """The pay tables that come with pitwatch, by name: what each is about, and what it pays."""
    tables: dict[str, dict[str, Any]] = json.loads(
        (Path(__file__).parent / "side_bets.json").read_text(encoding="utf-8")
    )
    return tables


def read_rule(rule: str, value: Any) -> Any:
    """The value of a rule. Raises UserError naming the rule, the value and what it should be."""

    def wrong(should: str) -> UserError:
        said = json.dumps(value, default=str)
        said = said if len(said) <= 100 else f"{said[:100]} and so on"
        return UserError(f"rule {rule!r} is {said}; it should be {should}")

    if rule in _CHOICES:
        # `1 == True`: compare the types too
        if not any(value == c and type(value) is type(c) for c in _CHOICES[rule]):
            raise wrong(" or ".join(json.dumps(c) for c in _CHOICES[rule]))
        return value
    if rule in _NUMBERS:
        least, null = _NUMBERS[rule]
        if (value is None and null) or (type(value) is int and value >= least):
            return value
        raise wrong(f"a whole number, {least} or more" + (", or null" if null else ""))
    if rule == "peek":
        listed = [] if value in ("none", None) else value.split(",") if isinstance(value, str) else value
        if not isinstance(listed, (list, tuple)) or not all(str(v).strip() in ("A", "ten") for v in listed):
            raise wrong('a list of "A" and "ten", or "none"')
        return tuple(str(v).strip() for v in listed)
    if rule == "blackjack_pays":
        return _ratio(value, wrong('a ratio like "3:2"'))
    if rule == "insurance":
        if value is None:
            return None
        should = wrong('null or {"upcard": "A", "limit": "1/2", "pays": "2:1"}')
        if (
            not isinstance(value, Mapping)
            or set(value) != {"upcard", "limit", "pays"}
            or value["upcard"] != "A"
        ):
            raise should
        return Insurance("A", _ratio(value["limit"], should), _ratio(value["pays"], should))
    if rule == "side_bets":
        if not isinstance(value, Mapping):
            raise wrong("an object: the bets' names and their pay tables")
        return {name: _side_bet(name, bet) for name, bet in value.items()}
    raise UserError(f"there is no rule {rule!r}{did_you_mean(rule, RULES)}")


def _side_bet(name: str, bet: Any) -> SideBet:
    """A bet as a table's name, or an object: `table` to begin with, `pays` over it."""

    def wrong(what: str) -> UserError:
        return UserError(f"side bet {name!r} {what}")

    if not name.strip():
        raise wrong("has no name; give it the one that stands on the felt")
    if name in ("main", "insurance"):
        raise wrong("has the name of another spot; give it one of its own")
    if isinstance(bet, str):
        bet = {"table": bet}
    if not isinstance(bet, Mapping):
        raise wrong('is no pay table; write {"pays": {"pair": "11:1"}}, or the name of a table')
    for key in bet:
        if key not in _BET_KEYS:
            raise wrong(f"has no {key!r}{did_you_mean(str(key), _BET_KEYS)}; take it out")
    pays: dict[str, Any] = {}
    if "table" in bet:
        tables = side_bet_tables()
        if not isinstance(bet["table"], str) or bet["table"] not in tables:
            close = did_you_mean(str(bet["table"]), tables)
            raise wrong(f"names the table {bet['table']!r}{close}; known are {', '.join(tables)}")
        pays = dict(tables[bet["table"]]["pays"])
    own = bet.get("pays", {})
    if not isinstance(own, Mapping) or not (pays or own):
        raise wrong('needs a pay table; write {"pays": {"pair": "11:1"}}, or the name of a table')
    pays |= own
    for win in pays:
        if win not in WINS:
            raise wrong(f"pays on {win!r}, which is no win{did_you_mean(win, WINS)}; take it out")
    table = [
        (
            win,
            _ratio(v, wrong(f'pays {v!r} on {win!r}; it should be a ratio like "9:1", or null for nothing')),
        )
        for win, v in pays.items()
        if v is not None
    ]
    meter, needs = bet.get("meter", ()), bet.get("needs_minimum", True)
    if type(needs) is not bool:
        raise wrong(f"has 'needs_minimum' {needs!r}; it should be true or false")
    if not isinstance(meter, (list, tuple)) or (
        meter and (len(meter) != 2 or not all(is_card(c) and c[1] != "?" for c in meter))
    ):
        raise wrong('has a meter that is no hand; it should be two cards like ["As", "Js"]')
    with_ = bet.get("meter_with")
    if with_ is not None and not isinstance(with_, str):
        raise wrong(f"has 'meter_with' {with_!r}; it should be another side bet's name")
    return SideBet(name, tuple(sorted(table, key=lambda p: -p[1])), needs, tuple(meter), with_)


def _ratio(value: Any, wrong: UserError) -> Fraction:
    """ "3:2", "1/2", 2 or "1.5" as an exact ratio above 0."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise wrong
    text = str(value)
    if len(text) > 20 or "e" in text.lower():  # "1e999999999" would take a day to write out
        raise wrong
    try:
        ratio = Fraction(text.replace(":", "/").replace(" ", ""))
    except (ValueError, ZeroDivisionError):
        raise wrong from None
    if ratio <= 0:
        raise wrong
    return ratio
