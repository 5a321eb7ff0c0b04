"""The engine plays: its returns are the published ones, by enumeration and by dealing."""

from __future__ import annotations

import pytest

import pitwatch.rules.simulate as command
from pitwatch.rules.basic import UPCARDS, basic_act, chart_for
from pitwatch.rules.hands import player_hands
from pitwatch.rules.odds import InfiniteDeck, dealer_outcomes, insurance_return, side_bet_return
from pitwatch.rules.profile import Profile, load_profile
from pitwatch.rules.simulate import DEALER_SIX, GAMES, Published, game_rules, main, sampled, simulate
from pitwatch.rules.states import Game

EVERY_ACT = frozenset({"stand", "hit", "double", "split", "surrender"})


@pytest.fixture(scope="module", params=[g for g in GAMES if g.decks is None], ids=lambda g: g.name)
def endless(request: pytest.FixtureRequest) -> tuple[Published, Profile]:
    return request.param, game_rules(None, request.param.soft_17)


def test_the_infinite_deck_returns_what_is_published(endless: tuple[Published, Profile]) -> None:
    published, rules = endless
    basic = 100 * InfiniteDeck(rules).total()
    assert basic == pytest.approx(published.percent, abs=0.002)
    # nothing that is legal is better than the chart
    assert 100 * InfiniteDeck(rules, best=True).total() == pytest.approx(basic, abs=1e-9)


@pytest.mark.parametrize(
    ("rule", "value", "least"), [("double_after_split", False, 0.1), ("blackjack_pays", "6:5", 1.3)]
)
def test_a_rule_taken_away_costs_the_player(rule: str, value: object, least: float) -> None:
    worse = load_profile(
        {
            "profile": "greektown",
            "dealer_blackjack_takes": "all",
            "two_card_21_beats_more": False,
            "double_on_21": True,
            "resplit_aces": False,
            "split_ace_ten_is_blackjack": False,
            "surrender": "late",
            rule: value,
        }
    )
    assert least < GAMES[0].percent - 100 * InfiniteDeck(worse).total() < least + 0.2


def test_the_dealers_six_in_a_single_deck() -> None:
    found = dealer_outcomes(game_rules(1, "stand"), "6s", 1)
    assert set(found) == set(DEALER_SIX)
    assert sum(found.values()) == 1
    for name, chance in DEALER_SIX.items():
        assert round(float(found[name]), 6) == chance


def test_insurance_costs_what_is_published() -> None:
    rules = load_profile("greektown")
    assert round(float(100 * insurance_return(rules, 6)), 2) == -7.40
    assert round(float(100 * insurance_return(rules, 8)), 2) == -7.47
    with pytest.raises(ValueError, match="offers no insurance"):
        insurance_return(load_profile({"profile": "greektown", "insurance": None}), 6)


@pytest.mark.parametrize("of", GAMES, ids=lambda g: g.name)
def test_a_short_game_lies_near(of: Published) -> None:
    got = sampled(of, 10_000)
    assert got.rounds == 10_000
    assert abs(got.percent - of.percent) < 4 * got.error
    assert 1.0 < got.error < 1.3  # a round's deviation is 1.15 wagers


def test_the_same_seed_plays_the_same_rounds() -> None:
    rules = game_rules(2, "hit")
    assert simulate(rules, 500, seed=3) == simulate(rules, 500, seed=3) != simulate(rules, 500, seed=4)


def test_the_command_prints_a_row_for_every_game(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    games = tuple(g for g in GAMES if g.decks is not None)
    monkeypatch.setattr(command, "GAMES", games)
    assert main(["--rounds", "1000"]) == 0
    out = capsys.readouterr().out
    assert all(g.name in out for g in games)
    assert "DIFFERS" not in out
    wrong = Published("8 decks", 8, "stand", 30.0)
    monkeypatch.setattr(command, "GAMES", (wrong,))
    assert main(["--rounds", "1000"]) == 1
    assert "DIFFERS" in capsys.readouterr().out


def test_a_profile_that_leaves_something_open_cannot_be_played() -> None:
    game = Game(load_profile({"profile": "greektown"}))
    pair = game.start("As", "6s", split=True)
    with pytest.raises(ValueError, match="leaves open what a player's hand is"):
        game.gets(pair, 10)


@pytest.mark.parametrize(
    ("decks", "soft_17", "cards", "upcard", "act"),
    [
        (6, "stand", "6sTd", "Ts", "surrender"),
        (6, "stand", "8s8d", "As", "split"),
        (6, "hit", "8s8d", "As", "surrender"),
        (6, "stand", "5s6d", "As", "hit"),
        (6, "hit", "5s6d", "As", "double"),
        (6, "stand", "As7d", "3s", "double"),
        (6, "stand", "As7d", "8s", "stand"),
        (6, "stand", "5s5d", "9s", "double"),
        (6, "stand", "TsKd", "6s", "stand"),
        (1, "stand", "7s7d", "Ts", "surrender"),
        (1, "stand", "2s6d", "6s", "double"),
        (6, "stand", "9s9d", "7s", "stand"),
        (6, "stand", "2s3d5h", "6s", "hit"),
    ],
)
def test_basic_strategy(decks: int, soft_17: str, cards: str, upcard: str, act: str) -> None:
    rules = game_rules(decks, soft_17)
    hand = tuple(cards[i : i + 2] for i in range(0, len(cards), 2))
    (standing,) = player_hands(hand, rules)
    legal = EVERY_ACT if len(hand) == 2 else frozenset({"stand", "hit"})
    assert basic_act(chart_for(rules), standing, hand, upcard, legal) == act


def test_every_row_of_every_chart_has_a_letter_for_every_upcard() -> None:
    for decks in (None, 1, 8):
        for soft_17 in ("stand", "hit"):
            rows = chart_for(game_rules(decks, soft_17)).rows
            assert all(len(letters) == len(UPCARDS) for letters in rows.values())
            assert {n for kind, n in rows if kind == "hard"} == set(range(4, 22))
            assert {n for kind, n in rows if kind == "soft"} == set(range(12, 22))


def test_side_bets_cost_what_is_published() -> None:
    bets = {
        **load_profile({"profile": "greektown", "side_bets": {"flat": "21+3_flat"}}).side_bets,
        **load_profile("greektown").side_bets,
    }
    assert round(float(100 * side_bet_return(bets["flat"], 6)), 2) == -3.24
    assert round(float(100 * side_bet_return(bets["bet_player"], 6)), 2) == -24.02
    with pytest.raises(ValueError, match="only first cards are counted"):
        side_bet_return(bets["bet_dealer"], 6)
