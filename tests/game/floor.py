"""The felt under a played round: events, chips, the shoe, and what happens between rounds.

In: a source of chance, a house's rules. Out: table events as a camera would report them.
"""

from __future__ import annotations

from random import Random
from typing import Any

from pitwatch.game.events import EVENT_TYPES, TableEvent
from pitwatch.game.log import Header

from .oracle import RANKS, is_blackjack


class Seat:
    """A hand: what lies there and what was done with it."""

    def __init__(self, seat: int, number: int, wager: int) -> None:
        self.seat, self.number, self.wager, self.stake = seat, number, wager, wager
        self.cards: list[str] = []
        self.first_two: list[str] = []
        self.from_split = self.doubled = self.done = self.cleared = self.stood = False

    @property
    def natural(self) -> bool:
        return is_blackjack(self.cards) and not self.from_split

    @property
    def place(self) -> tuple[int, int]:
        return self.seat, self.number


class Floor:
    """Emits events. `mistake`: the kind to plant once, when the chance comes; `planted`: where it was."""

    def __init__(self, rng: Random, rules: dict[str, Any], seats: int = 5, mistake: str = "") -> None:
        self.rng, self.rules, self.seats, self.mistake = rng, rules, seats, mistake
        self.planted: tuple[str, int, int] | None = None
        self.pending: tuple[str, int, int] | None = None
        """A mistake that the next card makes one."""
        self.blind = rng.random() < 0.3
        """Not every arm is seen."""
        self.t = 1.0
        self.events: list[TableEvent] = []
        self.spots: dict[tuple[int, str, int], int] = {}
        self.shoe: list[str] = []
        self.hands: list[Seat] = []
        self.dealer: list[str] = []

    @property
    def header(self) -> Header:
        return Header("T1", self.rules, decks=6, minimum=500, maximum=100_000, seats=self.seats)

    def errs(self, kind: str, seat: int = 0, hand: int = 0, *, next_card: bool = False) -> bool:
        """Whether to plant this mistake here and now; next_card: the next card dealt makes it one."""
        if self.mistake != kind or self.planted is not None or self.pending is not None:
            return False
        if next_card:
            self.pending = (kind, seat, hand)
        else:
            self.planted = (kind, seat, hand)
        return True

    # -- events

    def step(self, least: float = 0.6) -> None:
        self.t = round(self.t + least + self.rng.random(), 2)

    def emit(self, **fields: Any) -> None:
        self.events.append(EVENT_TYPES[fields.pop("type")](t=self.t, **fields))

    def chips(
        self, seat: int, amount: int, by: str | None, hand: int = 0, spot: str = "main", *, sure: bool = False
    ) -> None:
        if self.spots.get((seat, spot, hand), 0) == amount:
            return
        self.spots[seat, spot, hand] = amount
        if self.rng.random() < 0.25 and not sure and (self.blind or not self.mistake):
            by = None
        self.emit(type="chips", seat=seat, spot=spot, hand=hand, amount=amount, by=by)

    def lies(self, seat: int, spot: str = "main", hand: int = 0) -> int:
        return self.spots.get((seat, spot, hand), 0)

    def signal(self, h: Seat, what: str) -> None:
        self.step(0.1)
        self.emit(type="signal", seat=h.seat, hand=h.number, signal=what)

    # -- the shoe

    def draw(self) -> str:
        if len(self.shoe) < 60:
            self.new_shoe()
        if self.pending is not None:
            self.planted, self.pending = self.pending, None
        return self.shoe.pop()

    def rig(self, ranks: str) -> None:
        """Makes one of these ranks the next card."""
        at = max((i for i, c in enumerate(self.shoe) if c[0] in ranks), default=-1)
        self.shoe[at], self.shoe[-1] = self.shoe[-1], self.shoe[at]

    def new_shoe(self) -> None:
        self.shoe = [r + s for r in RANKS for s in "cdhs"] * 6
        self.rng.shuffle(self.shoe)
        self.emit(type="table", state="shuffle")
        self.emit(type="table", state="open")
        self.step(0.2)
        self.emit(type="shoe", decks=6)
        forgets = self.rules["burn"] and self.errs("burn_missing", next_card=True)
        if not forgets:
            for _ in range(self.rules["burn"] or 0):
                self.step(0.2)
                self.emit(type="burn", card=self.rng.choice((None, self.shoe[-1])))
                self.shoe.pop()

    def deal(self, h: Seat, **more: Any) -> None:
        self.step()
        card = self.draw()
        h.cards.append(card)
        self.emit(type="card", seat=h.seat, hand=h.number, card=card, **more)

    def deal_void(self, h: Seat) -> None:
        """A card that should not come and does not count."""
        self.step()
        self.emit(type="card", seat=h.seat, hand=h.number, card=self.draw())

    # -- between rounds

    def pause(self) -> None:
        """What happens at a table that is no round."""
        self.step(2.5)
        what = self.rng.choice(("fill", "buy_in", "closed", "dealer", "shuffle", "chips"))
        if what == "dealer":
            self.emit(type="dealer", id=self.rng.choice((None, "D-12")))
        elif what == "shuffle":
            self.shoe = []
        elif what == "chips":  # a player thinks again
            seat = self.rng.randint(1, self.seats)
            for amount in (1000, 2000, 0):
                self.step(0.3)
                self.chips(seat, amount, "player")
        else:
            self.emit(type="table", state=what)
            self.step(2.0)
            self.emit(type="table", state="open")

    def misdeal(self) -> None:
        """A deal that the floor declares dead: cards and wagers go back."""
        self.step(2.5)
        seat = self.rng.randint(1, self.seats)
        self.chips(seat, self.lies(seat) or 1000, "player")
        dead = Seat(seat, 0, 1000)
        for _ in range(self.rng.randint(1, 2)):
            self.deal(dead)
        self.step()
        self.emit(type="void")
        self.step(0.3)
        self.emit(type="clear", seat=seat)
        self.emit(type="clear", seat=0)
        self.step(0.3)
        self.leave()
        self.step(2.5)

    def leave(self) -> None:
        """All chips left on the felt are picked up."""
        for (seat, spot, hand), amount in sorted(self.spots.items()):
            if amount:
                self.step(0.2)
                self.chips(seat, 0, "player", hand, spot)
