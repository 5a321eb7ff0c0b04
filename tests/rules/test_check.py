"""House rules checked: each mistake one sentence with the key and a remedy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pitwatch.errors import UserError
from pitwatch.rules import PROFILES, load_profile
from pitwatch.rules.check import check_rules, contradictions


@pytest.mark.parametrize("name", PROFILES)
def test_the_houses_do_not_contradict_themselves(name: str) -> None:
    assert list(contradictions(load_profile(name))) == []


NO_HOLE_CARD = {"hole_card": "none", "peek": []}


@pytest.mark.parametrize(
    "rules",
    [
        {"blackjack_pays": "6:5", "blackjack_rounding": "down"},
        {"blackjack_pays": "1:1"},
        {"dealer_soft_17": "hit"},
        {**NO_HOLE_CARD, "dealer_blackjack_takes": "all"},
        {**NO_HOLE_CARD, "dealer_blackjack_takes": "original"},
        {"surrender": "late"},
        {"surrender": "early"},
        {**NO_HOLE_CARD, "surrender": "late"},
        {"double_on": "9-11"},
        {"double_after_split": False},
        {"charlie": 5},
        {"charlie": 6},
        {"push_22": True},
        {"max_hands": 2, "resplit_aces": False},
        {"side_bets": {"21+3": "21+3", "pp": "perfect_pairs", "ll": "lucky_ladies", "rm": "royal_match"}},
        {"side_bets": {"mtd": "match_the_dealer", "buster": "buster", "sevens": "super_sevens"}},
        {"burn": {"value": 1, "source": "One card is burnt."}, "name": "riverboat", "document": "The felt"},
    ],
)
def test_what_an_installer_must_be_able_to_write(rules: dict[str, object]) -> None:
    assert check_rules({"profile": "signage", **rules}) == []


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"dealer_soft17": "hit"}, "'dealer_soft17' is no rule (did you mean 'dealer_soft_17'?)"),
        ({"profil": "greektown"}, "did you mean 'profile'"),
        ({"burn": "one"}, "rule 'burn' is \"one\"; it should be a whole number"),
        ({"blackjack_pays": "1e999999999"}, "it should be a ratio like"),
        ({"blackjack_pays": "9" * 6000 + ":1"}, "999 and so on; it should be a ratio like"),
        ({"side_bets": {"x": {"table": ["a"]}}}, "names the table ['a']"),
        ({"side_bets": {" ": "buster"}}, "has no name"),
        ({"hole_card": "none"}, "set 'peek' to []"),
        ({"peek_seen": True, "peek": []}, "'peek_seen' is true"),
        ({"insurance_until": "peek", "peek": []}, "'insurance_until' is \"peek\""),
        ({"insurance": None, "insurance_until": "first_draw"}, "offer insurance"),
        ({"insurance": None, "insurance_rounding": "down_to_chip"}, "offer insurance"),
        ({"double_on": "9-11", "double_on_21": True}, "'double_on_21' is true"),
        ({"double_after_split": False, "double_split_aces": True}, "'double_split_aces' is true"),
        ({"max_hands": 1, "resplit_aces": False, "double_split_aces": True}, "'max_hands' is 1"),
        ({"max_hands": 2, "resplit_aces": True}, "'resplit_aces' is true"),
        ({"surrender": "early", "peek": []}, "'surrender' is \"early\""),
        ({"charlie": 2}, "set 3 or more"),
        ({"charlie": 50}, "set 5 or 6"),
        ({"decks": 52}, "no shoe holds more than 12"),
        ({"blackjack_pays": "2:3"}, 'write "3:2"'),
        ({"insurance": {"upcard": "A", "limit": "2:1", "pays": "2:1"}}, 'like "1/2"'),
        ({"insurance": {"upcard": "A", "limit": "1/2", "pays": "1:2"}}, 'like "2:1"'),
        ({"burn": 100}, "write the number of cards"),
        ({"smallest_chip": 50_000}, "counted in cents"),
        ({"name": "my house"}, "'name' is 'my house'"),
        ({"document": 3}, "'document' is 3"),
        ({"burn": {"value": 1, "source": None}}, "it should be a sentence"),
        ({"tie": "push"}, "quote a sentence"),
        ({"side_bets": {"pp": "perfect_pears"}}, "did you mean 'perfect_pairs'"),
        ({"side_bets": {"x": {"table": "21+3", "pays": {"flush": "50:1"}}}}, "pay it no less"),
        ({"side_bets": {"x": {"table": "21+3", "meter_with": "y"}}}, "no side bet"),
        ({"side_bets": {"x": {"table": "buster", "pays": {"dealer_bust_9": "9:1"}}}}, "take one of them out"),
    ],
)
def test_what_is_wrong_is_named_with_a_remedy(rules: dict[str, object], words: str) -> None:
    wrong = check_rules({"profile": "signage", **rules})
    if "meter_with" in str(rules):
        assert len(wrong) == 2
    else:
        assert len(wrong) == 1, wrong
    assert words in wrong[0]


def test_a_missing_or_misspelt_house() -> None:
    assert "'profile' is missing" in check_rules({"burn": 1})[0]
    assert "did you mean 'greektown'" in check_rules({"profile": "greektwon"})[0]


def test_every_mistake_is_said() -> None:
    wrong = check_rules({"profile": "greektown", "bern": 1, "burn": "x", "hole_card": "none"})
    assert len(wrong) == 3


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "riverboat.json"
    rules = {
        "profile": "greektown",
        "name": "riverboat",
        "document": "The felt of the Riverboat",
        "blackjack_pays": {"value": "6:5", "source": "BLACKJACK PAYS 6 TO 5"},
        "tie": {"source": "TIES STAND"},
        "dealer_soft_17": "hit",
    }
    file.write_text(json.dumps(rules))
    profile = load_profile(str(file))
    assert profile.rule_id("blackjack_pays") == "riverboat.blackjack_pays"
    assert profile.sentence("blackjack_pays") == "BLACKJACK PAYS 6 TO 5"
    assert profile.sentence("tie") == "TIES STAND"
    assert profile.dealer_soft_17 == "hit"
    assert profile.document == "The felt of the Riverboat"
    assert profile.max_hands == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read"),
        ("{", "line 1: not JSON"),
        ("[1]", "no JSON object"),
        ('{"profile": "greektown", "burn": "x"}', "rule 'burn'"),
        ('{"burn": 1}', "need 'profile'"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, text: str | None, words: str) -> None:
    file = tmp_path / "house.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError) as e:
        load_profile(str(file))
    assert str(file) in str(e.value)
    assert words in str(e.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"profile": "greektown", "burn": 1, "burn": 2}', "says 'burn' twice"),
        ("[" * 100_000, "is too large to read"),
        (f'{{"profile": "greektown", "burn": {"9" * 5000}}}', "is too large to read"),
    ],
)
def test_files_that_cannot_be_meant(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "house.json"
    path.write_text(text)
    with pytest.raises(UserError) as e:
        load_profile(str(path))
    assert words in str(e.value)
    assert "house.json" in str(e.value)
