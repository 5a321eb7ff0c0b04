"""What signage would say: every value of every rule has its words, and differences name both sides."""

from __future__ import annotations

from dataclasses import fields

import pytest

from pitwatch.rules import PROFILES, Profile, load_profile
from pitwatch.rules.profile import ALSO, SET_HERE
from pitwatch.rules.reading import RULES, side_bet_tables
from pitwatch.rules.wording import differences, in_short, pay_table, said_by, sections, unsaid


def own(**rules: object) -> Profile:
    return load_profile({"profile": "signage", **rules})


VALUES: dict[str, tuple[object, ...]] = {
    "decks": (1, 6),
    "burn": (0, 1, 2),
    "smallest_chip": (50, 100),
    "max_hands": (1, 2, 4),
    "charlie": (0, 5, 6),
    "peek": ([], ["A"], ["A", "ten"]),
    "blackjack_pays": ("3:2", "6:5", "1:1"),
    "insurance": (
        {"upcard": "A", "limit": "1/2", "pays": "2:1"},
        {"upcard": "A", "limit": 1, "pays": "2:1"},
        {"upcard": "A", "limit": "1/3", "pays": "2:1"},
    ),
    "hole_card": ("dealt", "none"),
    "dealer_soft_17": ("stand", "hit"),
    "blackjack_rounding": ("exact", "down", "up"),
    "blackjack_paid": ("at_once", "at_end"),
    "dealer_blackjack_takes": ("all", "original"),
    "double_on": ("any_two", "9-11", "10-11", "11"),
    "split_by": ("value", "rank"),
    "split_second_card": ("in_turn",),
    "insurance_until": ("first_draw", "peek"),
    "insurance_rounding": ("down_to_chip",),
    "surrender": ("none", "late", "early"),
    "bust_taken": ("at_once", "at_end"),
    "side_bets": tuple({"bet": name} for name in side_bet_tables()),
}


def test_the_rules_are_the_fields_of_a_profile() -> None:
    assert {f.name for f in fields(Profile)} == {*RULES, "name", "sentences", "document", "unjudged"}


@pytest.mark.parametrize("rule", RULES)
def test_every_value_has_its_own_words(rule: str) -> None:
    values = VALUES.get(rule, (True, False))
    said = [said_by(own(**{rule: v}), rule) for v in values]
    assert len(set(said)) == len(values)
    for text in said:
        assert text[0].isupper() or rule in ("decks", "charlie", "side_bets")
        assert text.endswith(".")


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        ({"blackjack_pays": "6:5"}, "Blackjack pays 6 to 5."),
        ({"dealer_soft_17": "hit"}, "The dealer draws to 16 and hits soft 17."),
        ({"double_on": "9-11"}, "Only a total of 9 to 11 on two cards may be doubled."),
        ({"double_on": "10-11"}, "Only a total of 10 or 11 on two cards may be doubled."),
        ({"charlie": 5}, "5 cards without going over 21 win at once."),
        ({"max_hands": 1}, "Pairs may not be split."),
        ({"insurance": None}, ""),
        (
            {"side_bets": {"match": "match_the_dealer"}},
            "match pays 11:1 (each card of the upcard's rank and suit), "
            "4:1 (each card of the upcard's rank and another suit).",
        ),
    ],
)
def test_some_words(rules: dict[str, object], text: str) -> None:
    rule = next(iter(rules))
    assert said_by(own(**rules), rule) == text


def test_what_is_set_here_says_so() -> None:
    lines = {line.rule: line for s in sections(own(surrender="late", push_22=True)) for line in s.lines}
    assert lines["surrender"].source == lines["push_22"].source == SET_HERE
    assert "charlie" not in lines


@pytest.mark.parametrize("name", PROFILES)
def test_every_rule_is_shown_or_named_as_unsaid(name: str) -> None:
    profile = load_profile(name)
    shown = {line.rule for s in sections(profile) for line in s.lines}
    neutral = {"peek_seen", "blackjack_rounding", "smallest_chip", "surrender", "charlie", "push_22"}
    assert shown | set(unsaid(profile)) | neutral | {"side_bets"} >= set(RULES)
    assert shown >= set(profile.sentences)
    assert shown <= {*RULES, *ALSO}


def test_differences() -> None:
    a, b = own(), own(blackjack_pays="6:5", max_hands=4)
    assert differences(a, a) == ()
    assert differences(a, b) == (
        ("blackjack_pays", "Blackjack pays 3 to 2.", "Blackjack pays 6 to 5."),
        ("max_hands", "", "Pairs may be split to 4 hands."),
    )


def test_in_short() -> None:
    text = in_short(own(dealer_soft_17="hit", surrender="late", charlie=6, push_22=True, hole_card="none"))
    for words in ("hits soft 17", "late surrender", "6-card win", "22 pushes", "no hole card"):
        assert words in text
    assert pay_table("royal_match")[1] == ("two cards of one suit", "5:2")
