"""The engine plays: `python -m pitwatch.rules.simulate` holds its returns against the published ones.

In: how many rounds. Out: a table of returns, exact and sampled, beside the published values. Each sampled
round comes from full, freshly shuffled decks; every act and payment comes from the functions that judge.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing import Pool
from random import Random

from pitwatch.rules.odds import InfiniteDeck, dealer_outcomes, insurance_return, side_bet_return
from pitwatch.rules.profile import Profile, load_profile
from pitwatch.rules.states import PIPS, UNIT, Game, PlayerState

__all__ = ["GAMES", "Published", "Sample", "game_rules", "main", "sampled", "simulate"]

CHUNK = 250_000


@dataclass(frozen=True)
class Published:
    """A known return in percent of the initial wager; decks None = without end."""

    name: str
    decks: int | None
    soft_17: str
    percent: float
    blackjack: str = "3:2"


GAMES = (
    Published("infinite deck S17 DAS LS", None, "stand", -0.426),
    Published("infinite deck H17 DAS LS", None, "hit", -0.629),
    Published("8 decks S17 DAS LS", 8, "stand", -0.356),
    Published("8 decks H17 DAS LS", 8, "hit", -0.555),
    Published("6 decks S17 DAS LS", 6, "stand", -0.333),
    Published("1 deck S17 DAS LS", 1, "stand", 0.162),
    Published("8 decks H17 DAS LS 6:5", 8, "hit", -1.913, "6:5"),
)
DEALER_SIX = {
    "17": 0.166948,
    "18": 0.106454,
    "19": 0.107192,
    "20": 0.100705,
    "21": 0.097878,
    "bust": 0.420823,
}


@dataclass(frozen=True)
class Sample:
    """What so many rounds returned, in cents a wager of `UNIT`, and the sum of the squares."""

    rounds: int = 0
    cents: int = 0
    squares: int = 0

    def __add__(self, other: Sample) -> Sample:
        return Sample(self.rounds + other.rounds, self.cents + other.cents, self.squares + other.squares)

    @property
    def percent(self) -> float:
        """The return in percent of the initial wager."""
        return 100 * self.cents / self.rounds / UNIT

    @property
    def error(self) -> float:
        """Its standard error in percent."""
        mean = self.cents / self.rounds
        return 100 * math.sqrt((self.squares / self.rounds - mean * mean) / self.rounds) / UNIT


def game_rules(decks: int | None, soft_17: str, blackjack: str = "3:2") -> Profile:
    """The game of the published values: peek, double any two and after a split, up to four hands, aces split
    once with one card each, late surrender.
    """
    return load_profile(
        {
            "profile": "greektown",
            "decks": decks,
            "dealer_soft_17": soft_17,
            "blackjack_pays": blackjack,
            "dealer_blackjack_takes": "all",
            "two_card_21_beats_more": False,
            "double_on_21": True,
            "resplit_aces": False,
            "split_ace_ten_is_blackjack": False,
            "surrender": "late",
        }
    )


def _dealer_of(decks: int | None, rng: Random) -> tuple[Callable[[], int], Callable[[], None]]:
    """A way to draw a card's value, and to shuffle for the next round."""
    random = rng.random
    if decks is None:
        values = [min(n, 10) for n in range(1, 14)]
        return (lambda: values[int(random() * 13)]), (lambda: None)
    shoe = [min(n, 10) for n in range(1, 14)] * (4 * decks)
    size, at = len(shoe), 0

    def draw() -> int:
        # a shuffle that goes only as far as cards are dealt
        nonlocal at
        other = at + int(random() * (size - at))
        card = shoe[other]
        shoe[other] = shoe[at]
        shoe[at] = card
        at += 1
        return card

    def shuffle() -> None:
        nonlocal at
        at = 0

    return draw, shuffle


def simulate(profile: Profile, rounds: int, seed: int = 1) -> Sample:
    """Play rounds of one seat with basic strategy."""
    game = Game(profile)
    draw, shuffle = _dealer_of(profile.decks, Random(seed))
    starts = {
        (up, first): game.start(PIPS[first - 1], PIPS[up - 1], split=False)
        for up in range(1, 11)
        for first in range(1, 11)
    }
    ups = {up: game.upcard(PIPS[up - 1]) for up in range(1, 11)}
    checks = {up: game.checks(PIPS[up - 1]) for up in range(1, 11)}
    cents = squares = 0
    for _ in range(rounds):
        shuffle()
        first, up = draw(), draw()
        state = starts[up, first]
        second = draw()
        state = state.then[second] or game.gets(state, second)
        hole = draw()
        dealer = ups[up].then[hole] or game.dealer_gets(ups[up], hole)
        if dealer.standing.natural and checks[up]:
            net = game.net(state.standing, dealer.standing)
        else:
            net, waiting = _play(game, state, draw)
            if waiting:
                while not dealer.stands:
                    card = draw()
                    dealer = dealer.then[card] or game.dealer_gets(dealer, card)
                for hand, stake in waiting:
                    net += game.net(hand.standing, dealer.standing, stake)
        cents += net
        squares += net * net
    return Sample(rounds, cents, squares)


def _play(
    game: Game, state: PlayerState, draw: Callable[[], int]
) -> tuple[int, list[tuple[PlayerState, int]]]:
    """Play a seat's hands; returns the cents settled then, and hands with stakes that wait for the dealer."""
    net, hands = 0, 1
    done: list[tuple[PlayerState, int]] = []
    halves: list[PlayerState] = []
    while True:
        stake = UNIT
        act = state.acts[hands]
        if act is None:
            act = game.act(state, hands)
        while act == "hit":
            card = draw()
            state = state.then[card] or game.gets(state, card)
            act = state.acts[hands]
            if act is None:
                act = game.act(state, hands)
        if act == "split":
            hands += 1
            half = game.start(state.cards[0], state.upcard, split=True)
            halves += [half, half]
        elif act == "surrender":
            net += game.surrendered
        else:
            if act == "double":
                card, stake = draw(), 2 * UNIT
                state = state.doubled[card] or game.doubles(state, card)
            if state.standing.bust:
                net -= stake
            else:
                done.append((state, stake))
        if not halves:
            return net, done
        state = halves.pop()
        card = draw()
        state = state.then[card] or game.gets(state, card)


def _chunk(task: tuple[Published, int, int]) -> Sample:
    of, rounds, seed = task
    return simulate(game_rules(of.decks, of.soft_17, of.blackjack), rounds, seed)


def sampled(of: Published, rounds: int, processes: int = 1) -> Sample:
    """Play a game in so many processes."""
    sizes = [CHUNK] * (rounds // CHUNK) + ([rounds % CHUNK] if rounds % CHUNK else [])
    tasks = [(of, size, seed) for seed, size in enumerate(sizes, 1)]
    if processes == 1:
        return sum(map(_chunk, tasks), Sample())
    with Pool(processes) as pool:
        return sum(pool.imap_unordered(_chunk, tasks), Sample())


def main(argv: list[str] | None = None) -> int:
    """Print the table. Exit status 0 when every return agrees with what is published, 1 when not."""
    parser = argparse.ArgumentParser(prog="python -m pitwatch.rules.simulate", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5_000_000, help="for each sampled game")
    parser.add_argument("--processes", type=int, default=1)
    args = parser.parse_args(argv)
    say, wrong = sys.stdout.write, 0

    def row(name: str, published: float, found: float, allowed: float, how: str) -> None:
        nonlocal wrong
        good = abs(found - published) <= allowed
        wrong += not good
        say(f"{name:32} {published:9.4f} {found:10.4f}  {how:22} {'agrees' if good else 'DIFFERS'}\n")

    say(f"{'game':32} {'known %':>9} {'found %':>10}  how\n")
    for of in GAMES:
        if of.decks is None:
            exact = InfiniteDeck(game_rules(None, of.soft_17, of.blackjack)).total()
            row(of.name, of.percent, float(100 * exact), 0.002, "exact, within 0.002")
    rules = game_rules(1, "stand")
    for name, chance in dealer_outcomes(rules, "6s", 1).items():
        row(f"1 deck, dealer's six: {name}", 100 * DEALER_SIX[name], float(100 * chance), 5e-5, "exact")
    for decks, percent in ((6, -7.40), (8, -7.47)):
        found: Fraction = 100 * insurance_return(rules, decks)
        row(f"insurance, {decks} decks", percent, float(found), 0.005, "exact")
    bets = load_profile({"profile": "greektown", "side_bets": {"21+3": "21+3_flat"}}).side_bets
    bets = {**bets, "bet_player": load_profile("greektown").side_bets["bet_player"]}
    for bet, percent in (("21+3", -3.24), ("bet_player", -24.02)):
        row(f"{bet}, 6 decks", percent, float(100 * side_bet_return(bets[bet], 6)), 0.005, "exact")
    for of in GAMES:
        got = sampled(of, args.rounds, args.processes)
        row(of.name, of.percent, got.percent, 3 * got.error, f"{got.rounds:,} rounds ±{got.error:.3f}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
