"""Profiles are complete, quote their source, and say what is wrong with an override."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pitwatch.errors import UserError
from pitwatch.game.texts import rule_of
from pitwatch.rules import PROFILES, load_profile

SILENT = {"decks", "peek_seen", "blackjack_rounding", "smallest_chip", "surrender", "charlie", "push_22"}
NO_RULE = ("name", "sentences", "document", "unjudged")


@pytest.mark.parametrize("name", PROFILES)
def test_every_rule_that_is_said_quotes_its_source(name: str) -> None:
    profile = load_profile(name)
    for rule, value in vars(profile).items():
        if rule in NO_RULE or rule in SILENT or value is None or value in ({}, ()):
            continue
        assert len(profile.sentence(rule)) > 20, rule


@pytest.mark.parametrize("name", PROFILES)
def test_settlement_rules_quote_their_source(name: str) -> None:
    profile = load_profile(name)
    for kind in ("paid_short", "push_paid", "loser_paid", "hole_exposed_early"):
        assert profile.sentence(rule_of(kind)), kind


def test_the_houses_differ_as_their_documents_do() -> None:
    greektown, celebrity, signage = map(load_profile, PROFILES)
    assert (greektown.even_money, celebrity.even_money, signage.even_money) == (True, True, False)
    assert celebrity.peek == ()
    assert celebrity.burn == 1
    assert celebrity.dealer_blackjack_takes == "original"
    assert greektown.two_card_21_beats_more is True
    assert signage.max_hands is None
    assert dict(greektown.side_bets["bet_player"].pays) == {"player_blackjack": Fraction(15)}


def test_an_override_replaces_one_rule() -> None:
    profile = load_profile({"profile": "signage", "blackjack_pays": "6:5", "peek": "none"})
    assert profile.blackjack_pays == Fraction(6, 5)
    assert profile.peek == ()
    assert profile.even_money is False
    assert profile.rule_id("blackjack_pays") == "signage.blackjack_pays"


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("greektwon", "did you mean 'greektown'"),
        ({"profile": "greektown", "dealer_soft17": "hit"}, "did you mean 'dealer_soft_17'"),
        ({"profile": "greektown", "dealer_soft_17": "draw"}, '"stand" or "hit"'),
        ({"profile": "greektown", "burn": True}, "a whole number, 0 or more"),
        ({"profile": "greektown", "blackjack_pays": "3:0"}, 'a ratio like "3:2"'),
        ({"profile": "greektown", "insurance": {"upcard": "A"}}, "null or"),
        ({"profile": "greektown", "side_bets": {"lucky": {"pays": {}}}}, "a pay table"),
        ({"dealer_soft_17": "hit"}, "need 'profile'"),
        ({"profile": "greektown", "peek": ["K"]}, 'a list of "A" and "ten"'),
    ],
)
def test_what_bad_rules_get(rules: object, words: str) -> None:
    with pytest.raises(UserError, match=words.replace("(", r"\(")):
        load_profile(rules)  # type: ignore[arg-type]
