"""A round as it was played, and where its cards and decisions come from.

In: a written round. Out: the types that `play` works with. Money is integer cents, nets negative for a loss.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from pitwatch.cards import hand_total
from pitwatch.errors import UserError
from pitwatch.sim.rounds import Act, Decision, RoundScript, Stack

__all__ = ["Hand", "Played", "Recorded", "Source", "StagedFinding"]


@dataclass
class Hand:
    """One player's hand. number: 0, then further ones as they are split off. cards: void ones included.

    wager: cents at the first card. stake: cents at risk, with doubles. void: how many of its last cards do
    not count. due: the player's net as it should be, payout: as it was; None before the hand is settled.
    """

    seat: int
    number: int
    cards: list[str]
    wager: int
    stake: int
    split: bool = False
    doubled: bool = False
    void: int = 0
    due: int | None = None
    payout: int | None = None
    outcome: str = ""
    lying: bool = True
    chips_lie: bool = True

    @property
    def counted(self) -> list[str]:
        """The cards that count."""
        return self.cards[: len(self.cards) - self.void]

    @property
    def total(self) -> int:
        """Their total."""
        return hand_total(self.counted).value

    @property
    def blackjack(self) -> bool:
        """Two cards of 21 as they were dealt."""
        return len(self.counted) == 2 and self.total == 21 and not self.split


@dataclass(frozen=True)
class StagedFinding:
    """A mistake that was made on purpose: what the audit should say about it.

    act: index of the act with which it is done. expected, observed: as the findings' contract has them, None
    where it says nothing.
    """

    kind: str
    seat: int
    hand: int
    expected: int | None
    observed: int | None
    act: int


@dataclass(frozen=True)
class Played:
    """A round that was played. insurance: (seat, placed, net) in cents. used: cards that left the shoe.

    chances: what could have gone wrong here, as far as the course of play shows it: (kind, seat, hand).
    """

    acts: tuple[Act, ...]
    hands: tuple[Hand, ...]
    dealer: tuple[str, ...]
    insurance: tuple[tuple[int, int, int], ...]
    findings: tuple[StagedFinding, ...]
    used: int
    chances: frozenset[tuple[str, int, int]] = field(default=frozenset())


class Source(Protocol):
    """Where cards and decisions come from."""

    def card(self) -> str:
        """The next card from the shoe."""
        ...

    def decide(
        self, seat: int, cards: tuple[str, ...], up: str, can_double: bool, can_split: bool
    ) -> Decision:
        """What the player does with this hand."""
        ...

    def insure(self, seat: int, wager: Stack) -> Stack:
        """The chips he puts on insurance, none for none."""
        ...

    def even_money(self, seat: int) -> bool:
        """Whether he takes even money for a blackjack under an ace."""
        ...


class Recorded:
    """Cards and decisions of a written round."""

    def __init__(self, script: RoundScript) -> None:
        self._script = script
        self._cards = iter(script.cards)
        self._decisions = {s: iter(d) for s, d in script.decisions.items()}

    def card(self) -> str:
        """Raises UserError when the script has none left."""
        try:
            return next(self._cards)
        except StopIteration:
            n = len(self._script.cards)
            raise UserError(f"the round of the script runs out of cards after {n}; add some") from None

    def decide(
        self, seat: int, cards: tuple[str, ...], up: str, can_double: bool, can_split: bool
    ) -> Decision:
        """Raises UserError for a decision that the hand does not allow."""
        said: Decision = next(self._decisions.get(seat, iter(())), "stand")
        if (said == "double" and not can_double) or (said == "split" and not can_split):
            raise UserError(
                f"seat {seat} of the script cannot {said} {' '.join(cards)}; change its 'decisions'"
            )
        return said

    def insure(self, seat: int, wager: Stack) -> Stack:
        """As the script says."""
        return self._script.insurance.get(seat, ())

    def even_money(self, seat: int) -> bool:
        """As the script says."""
        return seat in self._script.even_money
