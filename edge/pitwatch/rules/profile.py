"""House rules as data: one profile a house, every rule with the sentence of the document it stands on.

In: a profile's name, a file of one's own, or a mapping that overrides single rules of one. Out: `Profile`,
checked, ratios exact. Money is integer cents. None = the source does not say, so nothing is judged by it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pitwatch.errors import UserError
from pitwatch.rules.reading import Insurance, did_you_mean, read_rule
from pitwatch.rules.sidebets import SideBet

__all__ = ["ALSO", "PROFILES", "SET_HERE", "Insurance", "Profile", "SideBet", "load_profile", "read_house"]

PROFILES = ("greektown", "celebrity", "signage")
_FOLDER = Path(__file__).parent / "profiles"

SET_HERE = "Set for this table; the house's document does not say it."

ALSO = (
    "object",
    "card_values",
    "wagers",
    "limits",
    "deal",
    "deal_order",
    "hit_or_stand",
    "hand_order",
    "dealer_turn",
    "win_pays",
    "tie",
    "loses",
    "bust",
    "dealer_bust",
    "blackjack_is",
    "blackjack_push",
    "split_deal",
    "split_wager",
    "double_one_card",
    "double_comes_back",
    "insurance_offer",
    "insurance_wins",
    "insurance_taken",
    "handling",
    "signals",
    "side_bets_close",
    "side_bets_minimum",
    "side_bets_amounts",
    "meter",
)
"""What documents say beyond the rules that may differ: it has a sentence, but no value."""


@dataclass(frozen=True)
class Profile:
    """One house's rules. `sentences` holds, by rule, what the source document says; `unjudged` what else it
    says, and why nothing is judged by it.
    """

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
    push_22: bool = False
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
    document: str = ""
    unjudged: Mapping[str, str] = field(default_factory=dict)

    def rule_id(self, rule: str) -> str:
        """How findings name a rule: "greektown.blackjack_pays"."""
        return f"{self.name}.{rule}"

    def sentence(self, rule: str) -> str:
        """What the source says about a rule, "" when it says nothing."""
        return self.sentences.get(rule, "")


def load_profile(source: str | Mapping[str, Any]) -> Profile:
    """A profile by name, one of one's own by its file (`house.json`), or one with single rules overridden:
    `{"profile": "greektown", "burn": 1}`.

    Raises UserError naming the profile, the file or the rule, with the closest known name.
    """
    if not isinstance(source, str):
        return _overridden(source)
    if not source.endswith(".json"):
        return _builtin(source)
    try:
        return _overridden(read_house(source))
    except UserError as e:
        raise e if source in str(e) else UserError(f"{source}: {e}") from None


def read_house(path: str | Path) -> dict[str, Any]:
    """The overrides in a file of one's own, unchecked.

    Raises UserError naming the file when it holds no JSON object.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        for name in names:
            if names.count(name) > 1:
                raise UserError(f"{path} says {name!r} twice; take one of them out")
        return dict(pairs)

    try:
        data = json.loads(Path(path).read_text(encoding="utf-8-sig"), object_pairs_hook=once)
    except OSError as e:
        raise UserError(f"{path} cannot be read ({e.strerror}); name a file of house rules") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text; house rules are JSON in UTF-8") from None
    except json.JSONDecodeError as e:
        raise UserError(f"{path}, line {e.lineno}: not JSON ({e.msg}); house rules are one object") from None
    except UserError:
        raise
    except (ValueError, RecursionError):  # a number of thousands of digits, brackets in brackets
        raise UserError(f"{path} is too large to read; house rules are one object") from None
    if not isinstance(data, dict):
        raise UserError(f'{path} holds no JSON object; write {{"profile": "greektown", "<rule>": value}}')
    return data


def _overridden(source: Mapping[str, Any]) -> Profile:
    """A base profile with single rules changed; a rule's value may bring its own sentence:
    `"burn": {"value": 1, "source": "..."}`.
    """
    overrides = dict(source)
    base = overrides.pop("profile", None)
    if not isinstance(base, str):
        raise UserError(
            f"the rules need 'profile', one of {', '.join(PROFILES)}, beside the rules that they override"
        )
    profile = _builtin(base)
    name, document = overrides.pop("name", profile.name), overrides.pop("document", profile.document)
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise UserError(f"'name' is {name!r}; it should be letters, digits, '.', '_' and '-'")
    if not isinstance(document, str):
        raise UserError(f"'document' is {document!r}; it should be a title")
    values = {f.name: getattr(profile, f.name) for f in fields(Profile)}
    sentences = dict(profile.sentences)
    for rule, row in overrides.items():
        if isinstance(row, Mapping) and "source" in row and set(row) <= {"value", "source"}:
            value, sentence = row.get("value"), row["source"]
            if not isinstance(sentence, str):
                raise UserError(f"rule {rule!r} has the source {sentence!r}; it should be a sentence")
        else:
            value, sentence = row, SET_HERE
        if rule not in ALSO:
            values[rule] = read_rule(rule, value)
        elif sentence is SET_HERE:
            raise UserError(f'{rule!r} is no rule with a value; quote a sentence as {{"source": "..."}}')
        sentences[rule] = sentence
    return Profile(**{**values, "name": name, "document": document, "sentences": sentences})


@cache
def _builtin(name: str) -> Profile:
    if name not in PROFILES:
        raise UserError(
            f"there are no house rules {name!r}{did_you_mean(name, PROFILES)}; known are "
            f"{', '.join(PROFILES)}, or name a file of your own that ends in .json"
        )
    data = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    values = {rule: read_rule(rule, row["value"]) for rule, row in data["rules"].items()}
    rows = {**data["rules"], **data["also"]}
    sentences = {rule: row["source"] for rule, row in rows.items() if row["source"]}
    unjudged = {row["source"]: row["why"] for row in data.get("unjudged", ())}
    return Profile(name=name, **values, sentences=sentences, document=data["document"], unjudged=unjudged)
