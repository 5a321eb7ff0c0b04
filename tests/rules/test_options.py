"""What every option makes of a hand: what may be done with it, and what it is owed."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pitwatch.rules import Profile, load_profile
from pitwatch.rules.actions import (
    even_money_offered,
    insurance_offered,
    legal_actions,
    surrender_forbidden_by,
)
from pitwatch.rules.hands import HandKind, Standing, dealer_hands, player_hands
from pitwatch.rules.settle import insurance_net, results, surrender_results

SPLIT = HandKind(from_split=True)


def house(**rules: object) -> Profile:
    return load_profile({"profile": "signage", **rules})


def hand(profile: Profile, text: str, kind: HandKind | None = None) -> Standing:
    found = player_hands([c + "s" for c in text], profile, kind or HandKind())
    assert len(found) == 1
    return next(iter(found))


def dealer(profile: Profile, text: str) -> Standing:
    found = dealer_hands([c + "s" for c in text], profile)
    assert len(found) == 1
    return next(iter(found))


def owed(
    profile: Profile, mine: str, theirs: str, stake: int = 1000, kind: HandKind | None = None
) -> set[int]:
    at_risk = 500 if kind is not None and kind.doubled_at else None
    return {
        int(r.net)
        for r in results(profile, hand(profile, mine, kind), dealer(profile, theirs), stake, at_risk)
    }


@pytest.mark.parametrize(
    ("rules", "mine", "theirs", "net"),
    [
        ({"blackjack_pays": "6:5"}, "AK", "T7", 1200),
        ({"blackjack_pays": "1:1"}, "AK", "T7", 1000),
        ({"dealer_soft_17": "hit"}, "T8", "A64", -1000),  # 21
        ({"dealer_soft_17": "stand"}, "T8", "A64", 1000),  # 17: the 4 is void
        ({"charlie": 5}, "23456", "T65", 1000),
        ({"charlie": 6}, "23456", "T65", -1000),
        ({"charlie": 6}, "234222", "T65", 1000),
        ({"charlie": 5}, "2345K", "T65", -1000),  # bust
        ({"push_22": True}, "T8", "T66", 0),
        ({"push_22": True}, "T8", "T67", 1000),
        ({"push_22": True}, "T9T", "T66", -1000),
        ({"push_22": True}, "AK", "T66", 1500),
        ({"push_22": True, "charlie": 5}, "23456", "T66", 1000),
        ({"push_22": False}, "T8", "T66", 1000),
    ],
)
def test_what_a_hand_is_owed(rules: dict[str, object], mine: str, theirs: str, net: int) -> None:
    assert owed(house(**rules), mine, theirs) == {net}


@pytest.mark.parametrize(("takes", "net"), [("all", {-1000}), ("original", {-500}), (None, {-1000, -500})])
def test_what_a_blackjack_takes_of_a_double(takes: str | None, net: set[int]) -> None:
    profile = house(hole_card="none", peek=[], dealer_blackjack_takes=takes)
    assert owed(profile, "569", "KA", kind=HandKind(doubled_at=2)) == net


@pytest.mark.parametrize(
    ("rule", "theirs", "nets"),
    [
        ("late", "T7", {-500}),
        ("late", "TA", {-1000}),
        ("late", "T", {-500, -1000}),
        ("late", "A", {-500, -1000}),
        ("late", "6", {-500}),
        ("late", "", {-500, -1000}),
        ("early", "TA", {-500}),
        ("early", "T", {-500}),
        ("none", "TA", {-500}),
    ],
)
def test_what_a_surrender_loses(rule: str, theirs: str, nets: set[int]) -> None:
    profile = house(surrender=rule)
    assert {int(r.net) for r in surrender_results(profile, dealer(profile, theirs), 1000)} == nets


@pytest.mark.parametrize(
    ("rules", "text", "from_split", "hands", "acts"),
    [
        ({}, "88", False, 1, "double hit split stand"),
        ({"max_hands": 1}, "88", False, 1, "double hit stand"),
        ({"max_hands": 2}, "88", True, 2, "double hit stand"),
        ({"surrender": "late"}, "T6", False, 1, "double hit stand surrender"),
        ({"surrender": "early"}, "T6", False, 1, "double hit stand surrender"),
        ({"surrender": "late"}, "T6", True, 2, "double hit stand"),
        ({"surrender": "late"}, "T24", False, 1, "hit stand"),
        ({"double_on": "9-11"}, "T6", False, 1, "hit stand"),
        ({"double_on": "9-11"}, "54", False, 1, "double hit stand"),
        ({"double_on": "9-11"}, "A9", False, 1, "hit stand"),
        ({"double_on": "11"}, "55", False, 1, "hit split stand"),
        ({"double_after_split": False}, "56", True, 2, "hit stand"),
        ({"double_after_split": False}, "56", False, 1, "double hit stand"),
        ({"charlie": 3}, "234", False, 1, ""),
        ({}, "A5", True, 2, ""),
        ({"double_split_aces": True}, "A5", True, 2, "double"),
        ({"double_split_aces": True}, "AA", True, 2, "double split"),
        ({"hit_split_aces": True}, "A5", True, 2, "double hit stand"),
        ({"hit_split_aces": True, "double_split_aces": False}, "A5", True, 2, "hit stand"),
        ({"resplit_aces": False}, "AA", True, 2, ""),
        ({"split_by": "rank"}, "JK", False, 1, "double hit stand"),
        ({"split_by": "value"}, "JK", False, 1, "double hit split stand"),
        ({}, "AK", False, 1, ""),
        ({}, "T92", False, 1, "stand"),
        ({}, "T9T", False, 1, ""),
        ({}, "8", True, 2, ""),
    ],
)
def test_what_may_be_done(
    rules: dict[str, object], text: str, from_split: bool, hands: int, acts: str
) -> None:
    profile = house(**rules)
    standing = hand(profile, text, SPLIT if from_split else None)
    found = legal_actions(profile, standing, tuple(c + "s" for c in text), hands=hands, from_split=from_split)
    assert " ".join(sorted(found)) == acts


def test_a_doubled_split_ace_gets_its_card_where_it_may_be_doubled() -> None:
    doubled = HandKind(from_split=True, doubled_at=2)
    standing = hand(house(double_split_aces=True), "A56", doubled)
    assert (standing.total, standing.over, standing.void) == (12, "doubled", 0)
    assert hand(house(), "A56", doubled).void == 1


def test_offers_under_an_upcard() -> None:
    profile = house(even_money=True)
    blackjack, other = hand(profile, "AK"), hand(profile, "T9")
    assert insurance_offered(profile, "Ad")
    assert not insurance_offered(profile, "Kd")
    assert not insurance_offered(house(insurance=None), "Ad")
    assert even_money_offered(profile, blackjack, "Ad") is True
    assert even_money_offered(profile, blackjack, "Kd") is False
    assert even_money_offered(profile, other, "Ad") is False
    assert even_money_offered(house(even_money=None), blackjack, "Ad") is None
    assert even_money_offered(house(), blackjack, "Ad") is False
    assert surrender_forbidden_by(profile, cards=2, from_split=False) == "surrender"
    assert surrender_forbidden_by(house(surrender="late"), cards=2, from_split=False) is None


def test_insurance_is_paid_two_to_one_and_even_money_is_the_same() -> None:
    profile = house()
    assert insurance_net(profile, 500, natural=True) == 1000
    assert insurance_net(profile, 500, natural=False) == -500
    three_to_two = Fraction(3, 2) * 1000
    assert insurance_net(profile, 500, natural=True) + 0 == three_to_two + insurance_net(
        profile, 500, natural=False
    )
    with pytest.raises(ValueError, match="signage offers no insurance"):
        insurance_net(house(insurance=None), 500, natural=True)
