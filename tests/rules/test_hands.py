"""Totals, drawing and settlement, and the mistakes that other engines shipped."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pitwatch.cards import hand_total
from pitwatch.rules import load_profile
from pitwatch.rules.actions import double_forbidden_by, insurance_limit, legal_actions, split_forbidden_by
from pitwatch.rules.hands import HandKind, Standing, dealer_hands, dealer_stands, player_hands
from pitwatch.rules.settle import Result, blackjack_net, results, verdict

GREEKTOWN = load_profile("greektown")


def cards(text: str) -> list[str | None]:
    return [None if c == "?" else c + "s" for c in text]


def only(standings: frozenset[Standing]) -> Standing:
    assert len(standings) == 1
    return next(iter(standings))


@pytest.mark.parametrize(
    ("hand", "total", "soft"),
    [
        ("5AA5", 12, False),
        ("AAA6", 19, True),
        ("A47", 12, False),
        ("KAA", 12, False),
        ("AK", 21, True),
        ("A6", 17, True),
        ("T67", 23, False),
        ("AAAAAAAAAA", 20, True),
    ],
)
def test_totals(hand: str, total: int, soft: bool) -> None:
    assert hand_total(c for c in cards(hand) if c) == (total, soft)


@pytest.mark.parametrize(
    ("hand", "rule", "stands"),
    [
        ("T6", "stand", False),
        ("T7", "stand", True),
        ("A6", "stand", True),
        ("A6", "hit", False),
        ("A7", "hit", True),
        ("A6T", "hit", True),
        ("A24", "hit", False),
        ("T", "stand", False),
    ],
)
def test_dealer_stands(hand: str, rule: str, stands: bool) -> None:
    profile = load_profile({"profile": "greektown", "dealer_soft_17": rule})
    values = [10 if c == "T" else 1 if c == "A" else int(c) for c in hand]
    standing = Standing(sum(values), 1 in values, len(values))
    assert dealer_stands(standing, profile) is stands


def test_cards_over_a_standing_total_are_void() -> None:
    standing = only(dealer_hands(cards("T74"), GREEKTOWN))
    assert (standing.total, standing.void) == (17, 1)


def test_an_unread_card_makes_every_total() -> None:
    assert {s.total for s in player_hands(cards("T?"), GREEKTOWN)} == {*range(12, 22)}
    assert {s.total for s in dealer_hands(cards("9?"), GREEKTOWN)} == {*range(11, 21)}


def test_ace_and_ten_after_a_split() -> None:
    def after_split(value: bool | None) -> set[bool]:
        profile = load_profile({"profile": "greektown", "split_ace_ten_is_blackjack": value})
        return {s.natural for s in player_hands(cards("AT"), profile, HandKind(from_split=True))}

    assert after_split(True) == {True}
    assert after_split(False) == {False}
    assert after_split(None) == {True, False}


PLAIN = HandKind()


def settled(
    mine: str, dealer: str, stake: int = 2500, kind: HandKind = PLAIN, **rules: object
) -> set[tuple[str, int]]:
    profile = load_profile({"profile": "greektown", **rules})
    d = only(dealer_hands(cards(dealer), profile))
    return {
        (r.outcome, int(r.net))
        for h in player_hands(cards(mine), profile, kind)
        for r in results(profile, h, d, stake, 1000 if kind.doubled_at else None)
    }


SPLIT = HandKind(from_split=True)


@pytest.mark.parametrize(
    ("mine", "dealer", "kind", "rules", "expected"),
    [
        ("T9", "T8", HandKind(), {}, {("won", 2500)}),
        ("T8", "T8", HandKind(), {}, {("pushed", 0)}),
        ("T7", "T8", HandKind(), {}, {("lost", -2500)}),
        ("T6", "T6T", HandKind(), {}, {("won", 2500)}),
        ("T6T", "T6T", HandKind(), {}, {("bust", -2500)}),
        ("AT", "T56", HandKind(), {}, {("blackjack", 3750)}),
        ("AT", "KA", HandKind(), {}, {("pushed", 0)}),
        ("777", "KA", HandKind(), {}, {("lost", -2500)}),
        ("T8", "9T2", HandKind(), {}, {("lost", -2500)}),
        ("A9", "T56", SPLIT, {}, {("lost", -2500)}),
        ("AT", "T56", SPLIT, {"split_ace_ten_is_blackjack": False}, {("won", 2500)}),
        (
            "AT",
            "T56",
            SPLIT,
            {"split_ace_ten_is_blackjack": False, "two_card_21_beats_more": False},
            {("pushed", 0)},
        ),
        (
            "AT",
            "T56",
            SPLIT,
            {"split_ace_ten_is_blackjack": False, "two_card_21_beats_more": None},
            {("pushed", 0), ("won", 2500)},
        ),
        ("AT", "T9", SPLIT, {}, {("won", 2500), ("blackjack", 3750)}),
        ("562", "KA", HandKind(doubled_at=2), {"dealer_blackjack_takes": "original"}, {("lost", -1000)}),
        ("562", "KA", HandKind(doubled_at=2), {"dealer_blackjack_takes": "all"}, {("lost", -2500)}),
        ("562", "KA", HandKind(doubled_at=2), {}, {("lost", -1000), ("lost", -2500)}),
        ("23432", "T9", HandKind(), {"charlie": 5}, {("won", 2500)}),
        ("23432", "T9", HandKind(), {"charlie": 6}, {("lost", -2500)}),
    ],
)
def test_settlement(
    mine: str, dealer: str, kind: HandKind, rules: dict[str, object], expected: set[tuple[str, int]]
) -> None:
    if dealer == "9T2":
        # the 2 is drawn over a standing 19: it is void
        assert only(dealer_hands(cards(dealer), GREEKTOWN)).void == 1
    assert settled(mine, dealer, kind=kind, **rules) == expected


@pytest.mark.parametrize(
    ("pays", "rounding", "stake", "net"),
    [
        ("3:2", "exact", 2500, Fraction(3750)),
        ("6:5", "exact", 2500, Fraction(3000)),
        ("6:5", "exact", 125, Fraction(150)),
        ("3:2", "down", 501, Fraction(750)),
        ("3:2", "up", 501, Fraction(800)),
        ("3:2", "up", 500, Fraction(750)),
        ("1:1", "exact", 500, Fraction(500)),
    ],
)
def test_blackjack_net(pays: str, rounding: str, stake: int, net: Fraction) -> None:
    profile = load_profile({"profile": "greektown", "blackjack_pays": pays, "blackjack_rounding": rounding})
    assert blackjack_net(profile, stake) == net


def test_a_fraction_of_a_cent_may_be_rounded_either_way() -> None:
    owed = Result("blackjack", Fraction(28125, 2))
    assert [verdict(owed, net) for net in (14061, 14062, 14063, 14064)] == ["paid_short", "", "", "paid_over"]


@pytest.mark.parametrize(
    ("outcome", "owed", "net", "kind"),
    [
        ("won", 2500, 2500, ""),
        ("won", 2500, 0, "winner_not_paid"),
        ("won", 2500, -2500, "winner_taken"),
        ("won", 2500, 2000, "paid_short"),
        ("blackjack", 3750, 5000, "paid_over"),
        ("pushed", 0, 2500, "push_paid"),
        ("pushed", 0, -2500, "push_taken"),
        ("lost", -2500, 2500, "loser_paid"),
        ("lost", -2500, 0, "loser_not_taken"),
        ("bust", -2500, -1000, "loser_not_taken"),
        ("lost", -2500, -5000, "taken_over"),
        ("surrendered", -1250, -2500, "surrender_wrong"),
    ],
)
def test_verdict(outcome: str, owed: int, net: int, kind: str) -> None:
    assert verdict(Result(outcome, Fraction(owed)), net) == kind  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("hand", "from_split", "rules", "rule"),
    [
        ("56", False, {}, None),
        ("AT", False, {}, "double_on"),
        ("AT", True, {"split_ace_ten_is_blackjack": False}, "double_split_aces"),
        ("TA", True, {"split_ace_ten_is_blackjack": False}, "double_on_21"),
        ("TA", True, {"split_ace_ten_is_blackjack": False, "double_on_21": True}, None),
        ("345", False, {}, "double_on"),
        ("35", False, {"double_on": "9-11"}, "double_on"),
        ("A8", False, {"double_on": "9-11"}, "double_on"),
        ("45", False, {"double_on": "9-11"}, None),
        ("45", False, {"double_on": "10-11"}, "double_on"),
        ("45", True, {"double_after_split": False}, "double_after_split"),
    ],
)
def test_doubles(hand: str, from_split: bool, rules: dict[str, object], rule: str | None) -> None:
    profile = load_profile({"profile": "greektown", **rules})
    standing = only(player_hands(cards(hand), profile, HandKind(from_split=from_split)))
    assert double_forbidden_by(profile, standing, from_split=from_split, aces=hand[0] == "A") == rule


@pytest.mark.parametrize(
    ("pair", "rules", "hands", "from_split", "rule"),
    [
        ("88", {}, 1, False, None),
        ("JK", {}, 1, False, None),
        ("JK", {"split_by": "rank"}, 1, False, "split_by"),
        ("89", {}, 1, False, "split_by"),
        ("88", {}, 4, True, "max_hands"),
        ("88", {"max_hands": None}, 7, True, None),
        ("AA", {"resplit_aces": False}, 2, True, "resplit_aces"),
        ("AA", {"resplit_aces": False}, 1, False, None),
    ],
)
def test_splits(pair: str, rules: dict[str, object], hands: int, from_split: bool, rule: str | None) -> None:
    profile = load_profile({"profile": "greektown", **rules})
    first, second = pair[0] + "c", pair[1] + "d"
    assert split_forbidden_by(profile, first, second, cards=2, hands=hands, from_split=from_split) == rule


def test_six_six_ace_cannot_be_split() -> None:
    assert split_forbidden_by(GREEKTOWN, "6c", "6d", cards=3, hands=1, from_split=False) == "split_by"


def test_legal_actions() -> None:
    def may(text: str, **more: bool) -> set[str]:
        hand = tuple(c for c in cards(text) if c)
        kind = HandKind(from_split=more.get("from_split", False))
        return set(legal_actions(GREEKTOWN, only(player_hands(hand, GREEKTOWN, kind)), hand, **more))

    assert may("88") == {"stand", "hit", "double", "split"}
    assert may("T6") == {"stand", "hit", "double"}
    assert may("T65") == {"stand"}
    assert may("AT") == set()
    assert may("A5", from_split=True) == set()
    assert may("AA", from_split=True) == {"split"}


def test_insurance_limit() -> None:
    assert insurance_limit(GREEKTOWN, 750) == 375
    assert insurance_limit(load_profile({"profile": "greektown", "insurance": None}), 750) == 0
