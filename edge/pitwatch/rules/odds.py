"""Exact figures: what a game returns, by going through every card that can come.

In: a profile that leaves nothing open. Out: returns per initial wager, a cost to the player negative, and
chances. What may be done and what is owed is asked of the functions that judge the table.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache

from pitwatch.cards import CARDS, card_value
from pitwatch.rules.hands import Standing
from pitwatch.rules.profile import Profile, SideBet
from pitwatch.rules.sidebets import Seen, looks_at, side_bet_owed
from pitwatch.rules.states import PIPS, UNIT, DealerState, Game, PlayerState

__all__ = ["InfiniteDeck", "dealer_outcomes", "insurance_return", "side_bet_return"]

VALUES = range(1, 11)
CHANCE = {v: (4 if v == 10 else 1) / 13 for v in VALUES}


class InfiniteDeck:
    """A game from a shoe without end: every card is as likely whatever came before.

    best: play whatever legal act returns most, instead of basic strategy.
    """

    def __init__(self, profile: Profile, *, best: bool = False) -> None:
        self.game = Game(profile)
        self.best = best
        self._values: dict[tuple[PlayerState, int], float] = {}
        self._splits: dict[tuple[str, str, int, int], float] = {}
        self._stands: dict[tuple[Standing, int, str], float] = {}
        self._dealt = cache(self._dealers)

    def total(self) -> float:
        """The return of a round, per initial wager."""
        whole = 0.0
        for up in VALUES:
            for first in VALUES:
                for second in VALUES:
                    chance = CHANCE[up] * CHANCE[first] * CHANCE[second]
                    whole += chance * self.hand(first, second, PIPS[up - 1])
        return whole

    def hand(self, first: int, second: int, upcard: str) -> float:
        """The return of two cards against an upcard, the dealer's blackjack included."""
        state = self.game.gets(self.game.start(PIPS[first - 1], upcard, split=False), second)
        natural, rest = self._naturals(upcard)
        lost = sum(p * self.game.net(state.standing, s) / UNIT for s, p in natural.items())
        if not rest:
            return lost
        return lost + sum(rest.values()) * self.value(state, 1)

    def value(self, state: PlayerState, hands: int) -> float:
        """What a hand returns from here, once the dealer is known to have no blackjack."""
        key = (state, hands if state.standing.size == 2 else 0)
        if key not in self._values:
            legal = self.game.legal(state, hands)
            if not legal:
                worth = self._settled(state.standing, UNIT, state.upcard)
            elif self.best:
                worth = max(self._act(state, act, hands) for act in legal)
            else:
                worth = self._act(state, self.game.act(state, hands), hands)
            self._values[key] = worth
        return self._values[key]

    def _act(self, state: PlayerState, act: str, hands: int) -> float:
        if act == "stand":
            return self._settled(state.standing, UNIT, state.upcard)
        if act == "surrender":
            return self.game.surrendered / UNIT
        if act == "split":
            return self._split(state.cards[0], state.upcard, 2, hands + 1)
        worth = 0.0
        for v in VALUES:
            if act == "double":
                last = self.game.doubles(state, v)
                worth += CHANCE[v] * self._settled(last.standing, 2 * UNIT, state.upcard)
            else:
                worth += CHANCE[v] * self.value(self.game.gets(state, v), hands)
        return worth

    def _split(self, pip: str, upcard: str, waiting: int, hands: int) -> float:
        """What `waiting` hands of one card each return, while the seat has so many hands in all."""
        if not waiting:
            return 0.0
        key = (pip, upcard, waiting, hands)
        if key not in self._splits:
            worth = 0.0
            for v in VALUES:
                state = self.game.gets(self.game.start(pip, upcard, split=True), v)
                legal = self.game.legal(state, hands)
                stay = self.value(state, 9) + self._split(pip, upcard, waiting - 1, hands)
                if "split" in legal and (self.best or self.game.act(state, hands) == "split"):
                    again = self._split(pip, upcard, waiting + 1, hands + 1)
                    stay = max(stay, again) if self.best else again
                worth += CHANCE[v] * stay
            self._splits[key] = worth
        return self._splits[key]

    def _settled(self, standing: Standing, stake: int, upcard: str) -> float:
        key = (standing, stake, upcard)
        if key not in self._stands:
            _, rest = self._naturals(upcard)
            whole = sum(rest.values())
            owed = sum(p * self.game.net(standing, s, stake) for s, p in rest.items())
            self._stands[key] = owed / whole / UNIT
        return self._stands[key]

    def _naturals(self, upcard: str) -> tuple[Mapping[Standing, float], Mapping[Standing, float]]:
        """The dealer's blackjacks that are found before anybody plays, and all other hands."""
        every = self._dealt(upcard)
        found = {s: p for s, p in every.items() if s.natural and self.game.checks(upcard)}
        return found, {s: p for s, p in every.items() if s not in found}

    def _dealers(self, upcard: str) -> Mapping[Standing, float]:
        out: dict[Standing, float] = {}
        waiting = [(self.game.upcard(upcard), 1.0)]
        while waiting:
            state, chance = waiting.pop()
            if state.stands:
                out[state.standing] = out.get(state.standing, 0.0) + chance
                continue
            waiting += [(self.game.dealer_gets(state, v), chance * CHANCE[v]) for v in VALUES]
        return out


def dealer_outcomes(profile: Profile, upcard: str, decks: int) -> dict[str, Fraction]:
    """The chances of "17" to "21", "blackjack" and "bust" under an upcard from full decks."""
    game = Game(profile)
    left = Counter({v: 4 * decks * (4 if v == 10 else 1) for v in VALUES})
    left[card_value(upcard)] -= 1
    out: dict[str, Fraction] = {}

    def draw(state: DealerState, chance: Fraction, cards: int) -> None:
        if state.stands:
            s = state.standing
            name = "blackjack" if s.natural else "bust" if s.bust else str(s.total)
            out[name] = out.get(name, Fraction(0)) + chance
            return
        for v in VALUES:
            if left[v]:
                share = Fraction(left[v], cards)
                left[v] -= 1
                draw(game.dealer_gets(state, v), chance * share, cards - 1)
                left[v] += 1

    draw(game.upcard(PIPS[card_value(upcard) - 1]), Fraction(1), 52 * decks - 1)
    return out


def insurance_return(profile: Profile, decks: int) -> Fraction:
    """What an insurance returns per cent laid, for one who knows the upcard only.

    Raises ValueError when the house offers none.
    """
    rule = profile.insurance
    if rule is None:
        raise ValueError(f"the house {profile.name} offers no insurance")
    game, whole, back = Game(profile), 52 * decks - 1, Fraction(0)
    up = game.upcard(rule.upcard + "s")
    for card in CARDS:
        copies = decks - (card == rule.upcard + "s")
        won = game.dealer_gets(up, card_value(card)).standing.natural
        back += Fraction(copies, whole) * (rule.pays if won else -1)
    return back


def side_bet_return(bet: SideBet, decks: int) -> Fraction:
    """What a side bet on the first cards returns per cent laid, from full decks.

    Raises ValueError when it looks at more than the player's two cards and the upcard.
    """
    needs = looks_at(bet)
    if not needs <= {"player", "upcard"}:
        raise ValueError(
            f"the bet {bet.name} looks at {', '.join(sorted(needs))}; only first cards are counted"
        )
    left, back = Counter(dict.fromkeys(CARDS, decks)), Fraction(0)
    whole = math.perm(52 * decks, 2) * (52 * decks - 2 if "upcard" in needs else 1)
    ups: tuple[str | None, ...] = CARDS if "upcard" in needs else (None,)
    for at, first in enumerate(CARDS):
        for second in CARDS[at:]:
            both = decks * (decks - 1) if first == second else 2 * decks * decks
            left[first] -= 1
            left[second] -= 1
            for up in ups:
                (owed,) = side_bet_owed(bet, Seen((first, second), upcard=up))
                ways = both * (1 if up is None else left[up])
                back += ways * (owed.ratio or Fraction(-1))
            left[first] += 1
            left[second] += 1
    return back / whole
