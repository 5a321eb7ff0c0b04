"""House rules as data: one profile a house, every rule with the sentence of the document it stands on.

In: a profile's name, or a mapping that overrides single rules of one. Out: `Profile`, checked, ratios exact.
Money is integer cents. None = the source does not say, so nothing is judged by it.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pitwatch.errors import UserError

__all__ = ["PROFILES", "Insurance", "Profile", "SideBet", "load_profile"]

PROFILES = ("greektown", "celebrity", "signage")
_FOLDER = Path(__file__).parent / "profiles"

SET_HERE = "Set for this table; the house's document does not say it."


@dataclass(frozen=True)
class Insurance:
    """An insurance line: the upcard's rank, the limit as a share of the wager, what it pays to one."""

    upcard: str
    limit: Fraction
    pays: Fraction


@dataclass(frozen=True)
class SideBet:
    """A side bet: what wins, in falling order of pay, each with its pay to one.

    meter: the two player cards that, with the bet `meter_with` placed too, also win the meter.
    """

    name: str
    pays: tuple[tuple[str, Fraction], ...]
    needs_minimum: bool = True
    meter: tuple[str, ...] = ()
    meter_with: str | None = None


@dataclass(frozen=True)
class Profile:
    """One house's rules. `sentences` holds, by rule, what the source document says."""

    name: str
    dealer_soft_17: Literal["stand", "hit"]
    decks: int | None = None
    dealer_draws_when_no_live_hand: bool | None = None
    hole_card: Literal["dealt", "none"] = "dealt"
    peek: tuple[str, ...] = ()
    peek_seen: bool = False
    blackjack_pays: Fraction = Fraction(3, 2)
    blackjack_rounding: Literal["exact", "down", "up"] = "exact"
    smallest_chip: int = 50
    blackjack_paid: Literal["at_once", "at_end"] | None = None
    even_money: bool | None = None
    dealer_blackjack_takes: Literal["all", "original"] | None = None
    two_card_21_beats_more: bool | None = None
    double_on: Literal["any_two", "9-11", "10-11", "11"] = "any_two"
    double_on_21: bool = True
    double_for_less: bool = True
    double_after_split: bool = True
    double_split_aces: bool | None = None
    split_by: Literal["value", "rank"] = "value"
    max_hands: int | None = None
    split_second_card: Literal["in_turn"] | None = None
    resplit_aces: bool | None = None
    hit_split_aces: bool = False
    split_ace_ten_is_blackjack: bool | None = None
    insurance: Insurance | None = None
    insurance_until: Literal["first_draw", "peek"] | None = None
    insurance_rounding: Literal["down_to_chip"] | None = None
    surrender: Literal["none", "late", "early"] = "none"
    charlie: int = 0
    bust_taken: Literal["at_once", "at_end"] | None = None
    burn: int | None = None
    side_bets: Mapping[str, SideBet] = field(default_factory=dict)
    sentences: Mapping[str, str] = field(default_factory=dict)

    def rule_id(self, rule: str) -> str:
        """How findings name a rule: "greektown.blackjack_pays"."""
        return f"{self.name}.{rule}"

    def sentence(self, rule: str) -> str:
        """What the source says about a rule, "" when it says nothing."""
        return self.sentences.get(rule, "")


_CHOICES: dict[str, tuple[object, ...]] = {
    "dealer_soft_17": ("stand", "hit"),
    "dealer_draws_when_no_live_hand": (True, False, None),
    "hole_card": ("dealt", "none"),
    "peek_seen": (True, False),
    "blackjack_rounding": ("exact", "down", "up"),
    "blackjack_paid": ("at_once", "at_end", None),
    "even_money": (True, False, None),
    "dealer_blackjack_takes": ("all", "original", None),
    "two_card_21_beats_more": (True, False, None),
    "double_on": ("any_two", "9-11", "10-11", "11"),
    "double_on_21": (True, False),
    "double_for_less": (True, False),
    "double_after_split": (True, False),
    "double_split_aces": (True, False, None),
    "split_by": ("value", "rank"),
    "split_second_card": ("in_turn", None),
    "resplit_aces": (True, False, None),
    "hit_split_aces": (True, False),
    "split_ace_ten_is_blackjack": (True, False, None),
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
_RULES = tuple(f.name for f in fields(Profile) if f.name not in ("name", "sentences"))
_WINS = ("player_blackjack", "dealer_blackjack")


def load_profile(source: str | Mapping[str, Any]) -> Profile:
    """A built-in profile by name, or one with single rules overridden: `{"profile": "greektown", "burn": 1}`.

    Raises UserError naming the profile or the rule, with the closest known name.
    """
    if isinstance(source, str):
        return _builtin(source)
    overrides = dict(source)
    base = overrides.pop("profile", None)
    if not isinstance(base, str):
        raise UserError(
            f"the rules need 'profile', one of {', '.join(PROFILES)}, beside the rules that they override"
        )
    profile = _builtin(base)
    values = {f.name: getattr(profile, f.name) for f in fields(Profile)}
    sentences = dict(profile.sentences)
    for rule, value in overrides.items():
        values[rule] = _read(rule, value)
        sentences[rule] = SET_HERE
    return Profile(**{**values, "sentences": sentences})


@cache
def _builtin(name: str) -> Profile:
    if name not in PROFILES:
        raise UserError(
            f"there are no house rules {name!r}{_close(name, PROFILES)}; known are {', '.join(PROFILES)}"
        )
    data = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    values = {rule: _read(rule, row["value"]) for rule, row in data["rules"].items()}
    rows = {**data["rules"], **data["also"]}
    sentences = {rule: row["source"] for rule, row in rows.items() if row["source"]}
    return Profile(name=name, **values, sentences=sentences)


def _close(word: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(word, known, 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _read(rule: str, value: Any) -> Any:
    def wrong(should: str) -> UserError:
        return UserError(f"rule {rule!r} is {value!r}; it should be {should}")

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
        return {
            name: _side_bet(name, bet, wrong(f"a pay table of {', '.join(_WINS)}"))
            for name, bet in value.items()
        }
    raise UserError(f"there is no rule {rule!r}{_close(rule, _RULES)}")


def _side_bet(name: str, bet: Any, should: UserError) -> SideBet:
    if not isinstance(bet, Mapping) or set(bet) - {"pays", "needs_minimum", "meter", "meter_with"}:
        raise should
    pays = bet.get("pays")
    if not isinstance(pays, Mapping) or not pays or not all(k in _WINS for k in pays):
        raise should
    table = tuple(sorted(((k, _ratio(v, should)) for k, v in pays.items()), key=lambda p: -p[1]))
    needs_minimum, meter = bet.get("needs_minimum", True), tuple(bet.get("meter", ()))
    return SideBet(name, table, bool(needs_minimum), meter, bet.get("meter_with"))


def _ratio(value: Any, wrong: UserError) -> Fraction:
    """ "3:2", "1/2", 2 or "1.5" as an exact ratio above 0."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise wrong
    try:
        ratio = Fraction(str(value).replace(":", "/").replace(" ", ""))
    except (ValueError, ZeroDivisionError):
        raise wrong from None
    if ratio <= 0:
        raise wrong
    return ratio
