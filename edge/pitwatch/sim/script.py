"""The script of a simulated table: rounds written down, made at random, kept as JSON.

In: a seed, a layout, how much should go wrong; or a JSON file. Out: `Script`. Money is integer cents, seats
1.. from first base. The same seed gives the same script.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pitwatch.cards import CARDS, card_value
from pitwatch.chips import make_change
from pitwatch.errors import UserError
from pitwatch.sim.misplays import MISPLAYS, PLAIN, candidates
from pitwatch.sim.places import fits
from pitwatch.sim.play import play
from pitwatch.sim.played import Played, Recorded
from pitwatch.sim.rounds import Decision, Misplay, RoundScript, Stack
from pitwatch.sim.strategy import choose
from pitwatch.table.layout import Layout

__all__ = ["Misplay", "RoundScript", "Script", "random_round", "random_script"]

# a shoe is shuffled when the cut card comes, and no round takes more than this
_ROUND_CARDS = 50
_TRIES = 20000


@dataclass(frozen=True)
class Script:
    """Rounds at one table. seats: how many the table has. decks: None when the rounds take several shoes."""

    rounds: tuple[RoundScript, ...]
    seats: int
    table: str = "SIM-1"
    rules: str = "greektown"
    decks: int | None = 6
    minimum: int = 500
    maximum: int = 50000

    def header(self) -> dict[str, Any]:
        """The header line of a table-event file of this table."""
        out: dict[str, Any] = {"table_events": 1, "table": self.table, "rules": self.rules}
        if self.decks is not None:
            out["decks"] = self.decks
        return out | {"minimum": self.minimum, "maximum": self.maximum, "seats": self.seats}

    def played(self) -> list[Played]:
        """Every round as it is played. Raises UserError naming the round whose script has a mistake."""
        out = []
        for i, r in enumerate(self.rounds, 1):
            if max(r.wagers) > self.seats:
                raise UserError(
                    f"round {i} of the script has a wager at seat {max(r.wagers)} of {self.seats}"
                )
            try:
                out.append(play(r.wagers, Recorded(r), r.misplay))
            except UserError as e:
                raise UserError(f"round {i}: {e}") from None
        return out

    def to_json(self) -> dict[str, Any]:
        """The JSON object that `from_json` reads."""
        return {
            "sim_script": 1,
            "table": self.table,
            "rules": self.rules,
            "seats": self.seats,
            "decks": self.decks,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "rounds": [r.to_json() for r in self.rounds],
        }

    @classmethod
    def from_json(cls, obj: object) -> Script:
        """Raises UserError naming the key."""
        if not isinstance(obj, Mapping) or obj.get("sim_script") != 1:
            raise UserError('the script is no JSON object with "sim_script": 1')
        keys = {"sim_script", "table", "rules", "seats", "decks", "minimum", "maximum", "rounds"}
        unknown = sorted(set(obj) - keys)
        if unknown:
            raise UserError(f"the script has no key {unknown[0]!r}; there are {', '.join(sorted(keys))}")
        rounds = obj.get("rounds")
        if not isinstance(rounds, list) or not rounds:
            raise UserError("'rounds' of the script should be a list of at least one round")
        numbers: dict[str, Any] = {}
        for key, default in (("seats", None), ("decks", 6), ("minimum", 500), ("maximum", 50000)):
            value = obj.get(key, default)
            if not (key == "decks" and value is None) and (
                isinstance(value, bool) or not isinstance(value, int)
            ):
                raise UserError(f"{key!r} of the script should be a whole number, not {value!r}")
            numbers[key] = value
        return cls(
            rounds=tuple(RoundScript.from_json(r) for r in rounds),
            table=str(obj.get("table", "SIM-1")),
            rules=str(obj.get("rules", "greektown")),
            **numbers,
        )

    @classmethod
    def load(cls, path: str | Path) -> Script:
        """Read a script file. Raises UserError naming the file."""
        try:
            return cls.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
        except OSError as e:
            raise UserError(f"{path} cannot be read ({e.strerror}); name a script file") from None
        except (json.JSONDecodeError, UnicodeDecodeError):
            raise UserError(f"{path} is not JSON; write one with `Script.to_json`") from None
        except UserError as e:
            raise UserError(f"{path}: {e}") from None


class _Chance:
    """Cards from a shoe and decisions of players, kept as they fall."""

    def __init__(self, shoe: Sequence[str], rng: random.Random) -> None:
        self._shoe = iter(shoe)
        self._rng = rng
        self.cards: list[str] = []
        self.decisions: dict[int, list[Decision]] = {}
        self.insured: dict[int, Stack] = {}
        self.even: list[int] = []

    def card(self) -> str:
        self.cards.append(next(self._shoe))
        return self.cards[-1]

    def decide(
        self, seat: int, cards: tuple[str, ...], up: str, can_double: bool, can_split: bool
    ) -> Decision:
        said = choose(cards, up, can_double, can_split, self._rng)
        self.decisions.setdefault(seat, []).append(said)
        return said

    def insure(self, seat: int, wager: Stack) -> Stack:
        if self._rng.random() < 0.4:
            self.insured[seat] = make_change(sum(wager) // 2)
        return self.insured.get(seat, ())

    def even_money(self, seat: int) -> bool:
        if self._rng.random() < 0.5:
            self.even.append(seat)
        return seat in self.even


class _Replayed(Recorded):
    """A written round whose cards go on with the shoe where the script ends."""

    def __init__(self, script: RoundScript, shoe: Sequence[str]) -> None:
        super().__init__(script)
        self._rest = iter(shoe)
        self.drawn: list[str] = []

    def card(self) -> str:
        self.drawn.append(next(self._rest))
        return self.drawn[-1]


def random_round(
    rng: random.Random,
    layout: Layout,
    shoe: Sequence[str],
    misplay: str | None = None,
    max_hands: int = 3,
) -> tuple[RoundScript, Played]:
    """One round with cards from the front of the shoe, and with this kind of mistake in it.

    The round is one that fits on the felt and on which no rule is silent. Raises ValueError when the shoe
    gives no such round: shuffle it.
    """
    wagers = _wagers(rng, layout.n, keep_free=misplay == "wager_late")
    chance = _Chance(shoe, rng)
    played = play(wagers, chance)
    script = RoundScript(
        wagers,
        tuple(chance.cards),
        {s: tuple(d) for s, d in chance.decisions.items()},
        chance.insured,
        tuple(chance.even),
    )
    if misplay is not None:
        found = candidates(misplay, played, wagers, layout.n, rng)
        if not found:
            raise ValueError(f"no place for {misplay!r}")
        chosen = rng.choice(found)
        again = _Replayed(script, shoe)
        try:
            played = play(wagers, again, chosen)
        except UserError as e:
            # the mistake changed the course of the cards, and a decision fits no more
            raise ValueError(str(e)) from None
        script = RoundScript(
            wagers, tuple(again.drawn), script.decisions, script.insurance, script.even_money, chosen
        )
    if not _judgeable(played, max_hands) or not fits(layout, played):
        raise ValueError("the round does not fit, or a rule is silent on it")
    return script, played


def random_script(
    rounds: int,
    layout: Layout,
    seed: int,
    misplays: float | Sequence[str] = 0.5,
    *,
    decks: int = 6,
    max_hands: int = 3,
) -> Script:
    """A script of `rounds` rounds.

    misplays: the share of rounds in which something goes wrong, each time something else; or the kinds to be
    staged, spread over the rounds in this order, at most one a round. max_hands: into how many hands a seat
    splits at most. Up to 3 only its first hand splits again, so that each new one is laid beside it; at 4 a
    card may go across another hand, and the fourth hand has no room of its own for its chips. Raises
    UserError for an unknown kind, or for more kinds than rounds.
    """
    rng = random.Random(seed)
    staged = _staged(rounds, misplays, rng)
    out: list[RoundScript] = []
    whole = [c for c in CARDS for _ in range(decks)]
    shoe: list[str] = []
    shoes = 0
    for kind in staged:
        if len(shoe) < _ROUND_CARDS:
            shoe = whole[:]
            rng.shuffle(shoe)
            shoes += 1
        for _ in range(_TRIES):
            try:
                script, played = random_round(rng, layout, shoe[:_ROUND_CARDS], kind, max_hands)
                break
            except (ValueError, StopIteration):
                rng.shuffle(shoe)
        else:
            raise UserError(f"no round with {kind!r} was found for seed {seed}; try another seed")
        shoe = shoe[played.used :]
        out.append(script)
    return Script(tuple(out), layout.n, decks=decks if shoes == 1 else None)


def _staged(rounds: int, misplays: float | Sequence[str], rng: random.Random) -> list[str | None]:
    if isinstance(misplays, (int, float)):
        n = round(min(max(float(misplays), 0.0), 1.0) * rounds)
        kinds: list[str] = []
        while len(kinds) < n:
            kinds += rng.sample(PLAIN, len(PLAIN))
        kinds = kinds[:n]
        where = sorted(rng.sample(range(rounds), n))
    else:
        kinds = list(misplays)
        for k in kinds:
            if k not in MISPLAYS:
                raise UserError(f"{k!r} is no misplay; there are {', '.join(MISPLAYS)}")
        if len(kinds) > rounds:
            raise UserError(f"{len(kinds)} misplays do not go into {rounds} rounds; there is one a round")
        where = [i * rounds // max(len(kinds), 1) for i in range(len(kinds))]
    out: list[str | None] = [None] * rounds
    for i, k in zip(where, kinds, strict=True):
        out[i] = k
    return out


def _wagers(rng: random.Random, seats: int, keep_free: bool) -> dict[int, Stack]:
    most = min(seats - (1 if keep_free else 0), 5)
    taken = rng.sample(range(1, seats + 1), rng.randint(min(2, most), most))
    return {s: _wager(rng) for s in sorted(taken)}


def _wager(rng: random.Random) -> Stack:
    """Chips as people lay them: mostly of one colour, the biggest at the bottom."""
    style = rng.random()
    if style < 0.45:
        return (rng.choice([500, 500, 2500, 2500, 2500, 10000]),) * rng.randint(1, 4)
    if style < 0.8:
        return make_change(500 * rng.choice([2, 3, 4, 6, 7, 8, 9, 12, 15, 21, 26, 30]))
    if style < 0.9:
        return (500,) * rng.randint(4, 9)
    # even dollars, so that half of it and three halves can be laid
    return make_change(100 * rng.choice([6, 8, 12, 14, 16, 22, 26, 32]))


def _judgeable(played: Played, max_hands: int) -> bool:
    """Whether every rule that this round needs is one that houses write down, and its hands have room."""
    if max_hands < 4 and any(a.kind == "split" and a.hand for a in played.acts):
        return False
    for h in played.hands:
        if h.number >= max_hands:
            return False
        # whether ace and ten after a split are a blackjack, few say
        if h.split and len(h.counted) == 2 and h.total == 21:
            return False
        if h.split and h.doubled and card_value(h.cards[0]) == 1:
            return False
    return len(played.dealer) <= 7
