"""Side bets: every win of every pay table, what unread cards leave open, and returns as published."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import comb

import pytest

from pitwatch.cards import CARDS
from pitwatch.errors import UserError
from pitwatch.rules import load_profile
from pitwatch.rules.reading import side_bet_tables
from pitwatch.rules.sidebets import (
    ANY_BUST,
    Owed,
    Seen,
    SideBet,
    looks_at,
    meter_share,
    side_bet_nets,
    side_bet_owed,
    side_bet_verdict,
)
from pitwatch.rules.wins import WINS

NO = frozenset({False})
YES = frozenset({True})
NO_BUST = frozenset({0})


@cache
def bet(table: str) -> SideBet:
    return load_profile({"profile": "signage", "side_bets": {"b": table}}).side_bets["b"]


def pays(table: str, cards: str, up: str | None = None, third: str | None = "", **more: object) -> set[str]:
    """The ratios that the bet may be owed, as texts; cards: "7h7d", "?" for an unread one."""
    seen = [None if c == "??" else c for c in (cards[:2], cards[2:])]
    what = Seen(player=(seen[0], seen[1]), upcard=up, third=third, **more)  # type: ignore[arg-type]
    return {str(o.ratio) for o in side_bet_owed(bet(table), what)}


@pytest.mark.parametrize(
    ("table", "cards", "up", "third", "ratio"),
    [
        ("21+3", "7h7h", "7h", "", "100"),
        ("21+3", "7h8h", "9h", "", "40"),
        ("21+3", "QhKh", "Ah", "", "40"),
        ("21+3", "7h7d", "7h", "", "30"),
        ("21+3", "3h2d", "Ac", "", "10"),
        ("21+3", "QhKd", "Ac", "", "10"),
        ("21+3", "KhAd", "2c", "", "0"),  # an ace is no middle
        ("21+3", "2h9h", "Kh", "", "5"),
        ("21+3", "7h7d", "8h", "", "0"),
        ("21+3_flat", "7h8h", "9h", "", "9"),
        ("21+3_flat", "7h7h", "7h", "", "9"),
        ("perfect_pairs", "KhKh", None, "", "25"),
        ("perfect_pairs", "KhKd", None, "", "12"),
        ("perfect_pairs", "KsKc", None, "", "12"),
        ("perfect_pairs", "KsKd", None, "", "6"),
        ("perfect_pairs", "KsQs", None, "", "0"),  # ten and ten are no pair
        ("lucky_ladies", "QhQd", None, "", "4"),
        ("lucky_ladies", "KsKs", None, "", "19"),
        ("lucky_ladies", "TsKs", None, "", "9"),
        ("lucky_ladies", "Ah9h", None, "", "9"),
        ("lucky_ladies", "Ah9d", None, "", "4"),
        ("lucky_ladies", "AhKd", None, "", "0"),
        ("royal_match", "KhQh", None, "", "25"),
        ("royal_match", "QdKd", None, "", "25"),
        ("royal_match", "2h9h", None, "", "5/2"),
        ("royal_match", "KhQd", None, "", "0"),
        ("match_the_dealer", "7h2d", "7h", "", "11"),
        ("match_the_dealer", "7h7d", "7h", "", "15"),
        ("match_the_dealer", "7h7h", "7h", "", "22"),
        ("match_the_dealer", "7s7d", "7h", "", "8"),
        ("match_the_dealer", "KsQs", "Ts", "", "0"),  # K, Q and T do not match
        ("super_sevens", "7h2d", None, "", "3"),
        ("super_sevens", "2d7h", None, "", "0"),
        ("super_sevens", "7h7d", None, "2c", "50"),
        ("super_sevens", "7h7h", None, "2c", "100"),
        ("super_sevens", "7h7h", None, "", "100"),
        ("super_sevens", "7h7d", None, "7c", "500"),
        ("super_sevens", "7h7h", None, "7h", "5000"),
    ],
)
def test_pay_tables(table: str, cards: str, up: str | None, third: str, ratio: str) -> None:
    assert pays(table, cards, up, third, natural=NO) == {ratio}


@pytest.mark.parametrize(
    ("cards", "bust", "ratio"),
    [
        ("2c3d", 0, "0"),
        ("2c3d", 3, "2"),
        ("2c3d", 4, "2"),
        ("2c3d", 5, "4"),
        ("2c3d", 6, "12"),
        ("2c3d", 7, "50"),
        ("2c3d", 8, "250"),
        ("2c3d", 11, "250"),
        ("AcKd", 7, "800"),
        ("AcKd", 8, "2000"),
        ("AcKd", 3, "2"),
    ],
)
def test_buster(cards: str, bust: int, ratio: str) -> None:
    assert pays("buster", cards, bust=frozenset({bust})) == {ratio}


def test_the_queens_wait_for_the_dealer() -> None:
    assert pays("lucky_ladies", "QhQh") == {"125", "1000"}
    assert pays("lucky_ladies", "QhQh", natural=NO) == {"125"}
    assert pays("lucky_ladies", "QhQh", natural=YES) == {"1000"}
    assert pays("lucky_ladies", "2h3h") == {"0"}


def test_what_unread_and_coming_cards_leave_open() -> None:
    assert pays("perfect_pairs", "K?K?") == {"25", "12", "6"}
    assert pays("perfect_pairs", "K?Q?") == {"0"}
    assert pays("perfect_pairs", "??Kd") == {"0", "25", "12", "6"}
    assert pays("match_the_dealer", "7h2d", None) == {"0", "11", "4"}
    assert pays("match_the_dealer", "????", None) >= {"0", "4", "8", "11", "15", "22"}
    assert pays("super_sevens", "7h7d", third=None, third_may_come=True) == {"50", "500"}
    assert pays("super_sevens", "7h7h", third=None) == {"100", "500", "5000"}
    assert pays("super_sevens", "7h2d", third=None, third_may_come=True) == {"3"}
    assert pays("super_sevens", "7h2d", ordered=False) == {"0", "3"}
    assert pays("21+3", "????", None) == {"0", "5", "10", "30", "40", "100"}
    assert pays("buster", "2c3d") == {"0", "2", "4", "12", "50", "250"}
    assert pays("buster", "2c3d", bust=NO_BUST) == {"0"}


@pytest.mark.parametrize("table", side_bet_tables())
def test_unread_cards_leave_open_what_the_read_ones_pay(table: str) -> None:
    cards = [CARDS[(17 * n) % 52] for n in range(60)]
    for first, second, up, third in zip(cards, cards[3:], cards[7:], cards[20:], strict=False):
        full = Seen((first, second), upcard=up, third=third, natural=NO, bust=NO_BUST)
        for blank in (
            Seen((None, second), upcard=up, third=third, natural=NO, bust=NO_BUST),
            Seen((first[0] + "?", second), upcard=up[0] + "?", third=third, natural=NO),
            Seen((first, second), upcard=None, third=None, third_may_come=True, bust=ANY_BUST),
            Seen(),
        ):
            if blank.third == "" and "third" in looks_at(bet(table)):
                continue
            assert side_bet_owed(bet(table), full) <= side_bet_owed(bet(table), blank)


def pairs(decks: int) -> Iterator[tuple[str, str, int]]:
    """Every two cards with in how many ways they can be dealt."""
    for a, b in combinations_with_replacement(CARDS, 2):
        yield a, b, comb(decks, 2) if a == b else decks * decks


def returns(table: str, decks: int) -> float:
    """What a bet of one returns on two cards of fresh decks."""
    total = sum(
        (next(iter(side_bet_owed(bet(table), Seen((a, b), natural=NO)))).ratio or -1) * n
        for a, b, n in pairs(decks)
    )
    return float(100 * total / comb(52 * decks, 2))


def test_returns_as_published() -> None:
    assert returns("perfect_pairs", 8) == pytest.approx(-4.10, abs=0.005)
    assert returns("perfect_pairs", 6) == pytest.approx(-6.11, abs=0.005)
    assert returns("royal_match", 6) == pytest.approx(-6.67, abs=0.005)


def upcard_returns(table: str, decks: int, ups: int = 13) -> float:
    """What a bet of one returns on two cards and an upcard. The upcard is a club: suits are alike."""
    total, all_ = Fraction(0), 0
    for up in CARDS[:ups]:
        for a, b, _ in pairs(decks):
            left = dict.fromkeys((a, b), decks)
            left[up] = decks - 1
            n = comb(left[a], 2) if a == b else left[a] * left[b]
            owed = next(iter(side_bet_owed(bet(table), Seen((a, b), upcard=up)))).ratio
            total, all_ = total + n * (owed or -1), all_ + n
    return float(100 * total / all_)


def test_returns_with_an_upcard_as_published() -> None:
    assert upcard_returns("21+3_flat", 6) == pytest.approx(-3.24, abs=0.005)
    assert upcard_returns("match_the_dealer", 6, ups=1) == pytest.approx(-4.06, abs=0.005)


def test_bet_player_returns_as_published() -> None:
    blackjacks = Fraction(2 * 24 * 96, 312 * 311)
    bet_ = load_profile("greektown").side_bets["bet_player"]
    ratio = dict(bet_.pays)["player_blackjack"]
    assert float(100 * (blackjacks * ratio - (1 - blackjacks))) == pytest.approx(-24.02, abs=0.005)


def test_super_sevens_returns_as_published() -> None:
    """Six decks, a third card always given."""
    sevens, suit = Fraction(24, 312), Fraction(1, 1)
    two = sevens * Fraction(23, 311)
    two_suited = sevens * Fraction(5, 311)
    three = two * Fraction(22, 310)
    three_suited = two_suited * Fraction(4, 310) * suit
    # two of a suit and then a seven of another are three sevens
    two_suited_only = two_suited * Fraction(310 - 22, 310)
    two_only = (two - two_suited) * Fraction(310 - 22, 310)
    table = dict(bet("super_sevens").pays)
    back = (
        table["first_seven"] * (sevens - two)
        + table["two_sevens"] * two_only
        + table["two_suited_sevens"] * two_suited_only
        + table["three_sevens"] * (three - three_suited)
        + table["three_suited_sevens"] * three_suited
        - (1 - sevens)
    )
    assert float(100 * back) == pytest.approx(-11.4, abs=0.05)


METER = load_profile("greektown").side_bets["bet_player"]


def test_the_meter() -> None:
    def owed(first: str | None, second: str, both: bool = True) -> set[Owed]:
        return set(side_bet_owed(METER, Seen((first, second)), meter=both))

    assert owed("As", "Js") == owed("Js", "As") == {Owed(Fraction(15), True)}
    assert owed("As", "Js", both=False) == owed("As", "Jc") == {Owed(Fraction(15))}
    assert owed("A?", "Js") == {Owed(Fraction(15), True), Owed(Fraction(15))}
    assert owed("9s", "Js") == {Owed(Fraction(0))}
    assert meter_share(100_000, 3) == Fraction(100_000, 3)


def test_nets_and_verdicts() -> None:
    lost, won, meter = Owed(Fraction(0)), Owed(Fraction(15)), Owed(Fraction(15), True)
    assert side_bet_nets(500, {lost, won}) == {-500, 7500}
    assert side_bet_nets(500, {meter}) == set()
    assert side_bet_nets(500, {meter}, {Fraction(100_000), Fraction(50_000)}) == {107_500, 57_500}
    assert side_bet_nets(25, {Owed(Fraction(5, 2))}) == {Fraction(125, 2)}
    for expected, net, kind in (
        (-500, -500, ""),
        (-500, 0, "not_taken"),
        (-500, 500, "loser_paid"),
        (-500, -1000, ""),
        (7500, 7500, ""),
        (7500, 0, "paid_short"),
        (7500, -500, "paid_short"),
        (7500, 8000, "paid_over"),
    ):
        assert side_bet_verdict(Fraction(expected), net) == kind
    assert side_bet_verdict(Fraction(125, 2), 62) == side_bet_verdict(Fraction(125, 2), 63) == ""


def test_a_line_pays_no_less_than_the_lines_it_is_part_of() -> None:
    for table in side_bet_tables():
        ratios = dict(bet(table).pays)
        for name, ratio in ratios.items():
            assert all(ratios.get(other, 0) <= ratio for other in WINS[name].also), (table, name)
    assert all(other in WINS for win in WINS.values() for other in win.also)


def test_a_table_with_some_lines_changed() -> None:
    profile = load_profile(
        {
            "profile": "signage",
            "side_bets": {
                "pp": {"table": "perfect_pairs", "pays": {"perfect_pair": "30:1", "mixed_pair": None}},
                "own": {"pays": {"pair": "11:1"}, "needs_minimum": False},
            },
        }
    )
    assert profile.side_bets["pp"].pays == (("perfect_pair", Fraction(30)), ("coloured_pair", Fraction(12)))
    assert not profile.side_bets["own"].needs_minimum


@pytest.mark.parametrize(
    ("bets", "words"),
    [
        ({"pp": "perfect_pair"}, "did you mean 'perfect_pairs'"),
        ({"pp": {"pays": {"prefect_pair": "25:1"}}}, "did you mean 'perfect_pair'"),
        ({"pp": {"pays": {"pair": "11"}, "minimum": 1}}, "no 'minimum'"),
        ({"pp": {"pays": {"pair": "eleven"}}}, "a ratio like"),
        ({"pp": {"pays": {}}}, "needs a pay table"),
        ({"pp": 3}, "is no pay table"),
        ({"main": "buster"}, "another spot"),
        ({"b": {"table": "buster", "needs_minimum": 1}}, "true or false"),
        ({"b": {"table": "buster", "meter": ["As"]}}, "two cards"),
        ({"b": {"table": "buster", "meter_with": 1}}, "another side bet"),
        ("buster", "an object"),
    ],
)
def test_what_a_bad_table_gets(bets: object, words: str) -> None:
    with pytest.raises(UserError, match=words):
        load_profile({"profile": "signage", "side_bets": bets})
