"""A player's hand during a round: its cards, what was done with it, what is still open about it.

In: card codes, None when unread. Out: every standing that the hand can have under the profile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pitwatch.game.box import Box, Change
from pitwatch.rules.hands import HandKind, Standing, player_hands
from pitwatch.rules.profile import Profile

__all__ = ["Hand", "Pending"]


@dataclass(frozen=True)
class Pending:
    """A change of chips whose meaning the next events decide. base: cents that lay there before it."""

    base: int
    changes: tuple[Change, ...]

    @property
    def t(self) -> float:
        """When the last of them was seen."""
        return self.changes[-1].event.t

    @property
    def delta(self) -> int | None:
        """Cents in all, None when not known."""
        deltas = [c.delta for c in self.changes]
        return None if None in deltas else sum(d for d in deltas if d is not None)

    @property
    def by_dealer(self) -> bool:
        """The dealer's arm did all of it."""
        return all(c.event.by == "dealer" for c in self.changes)

    @property
    def by_player(self) -> bool:
        """A player's arm did all of it."""
        return all(c.event.by == "player" for c in self.changes)

    @property
    def by(self) -> str | None:
        """Whose arm did it, None when not sure."""
        return "dealer" if self.by_dealer else "player" if self.by_player else None


@dataclass
class Hand:
    """One hand of a seat; `number` counts the seat's hands in the order in which they came to be."""

    seat: int
    number: int
    box: Box
    profile: Profile
    cards: list[str | None] = field(default_factory=list)
    passed_cards: set[int] = field(default_factory=set)
    """Places in `cards` of those dealt after the hand's turn: void."""
    down: set[int] = field(default_factory=set)
    from_split: bool = False
    split_base: int | None = None
    """Cents that a hand begun by a split has to match."""
    before_double: int | None = None
    """Cents that lay there when the chips of a double came."""
    doubled_at: int | None = None
    maybe_doubled: bool = False
    laid_across: bool = False
    """A card was laid sideways on it, as a double's is."""
    foul: bool = False
    loses: int | None = None
    """Cents that this hand of a split seat loses where only original bets do."""
    escrow: int = 0
    """Cents that were added to this hand's spot just before it was split."""
    growth: Pending | None = None
    drop: Pending | None = None
    stood: bool = False
    wants_surrender: bool = False
    wants_even: bool = False
    surrendered: bool = False
    even_money: bool | None = False
    """Settled as even money; None = the house does not say whether it may be."""
    paid_early: bool = False
    dead: bool = False
    gone: bool = False
    """A card was taken from it again."""
    lost: bool = False
    """It changed unjudged while the table was not playing: nothing more is said about it."""
    cleared: float | None = None
    done: bool = False
    judged: bool = False
    net: int | None = None
    outcome: str = "unknown"
    doubt: str = ""
    confidence: float = 1.0
    evidence: tuple[str, ...] = ()
    last_card: float = 0.0
    played: bool = False
    """It was given a card beyond its first two, or doubled."""

    @property
    def counted(self) -> tuple[str | None, ...]:
        """The cards that count, those void for being dealt out of turn left out."""
        return tuple(c for i, c in enumerate(self.cards) if i not in self.passed_cards)

    @property
    def standings(self) -> frozenset[Standing]:
        """Every standing the hand can have."""
        return self.standings_with(())

    def standings_with(self, cards: Iterable[str | None]) -> frozenset[Standing]:
        """Every standing that it would have with more cards."""
        kind = HandKind(self.from_split, self.doubled_at, self.maybe_doubled, self.foul)
        return player_hands((*self.counted, *cards), self.profile, kind)

    def surely(self, what: Callable[[Standing], bool]) -> bool:
        """Whether it holds for every standing."""
        return all(what(s) for s in self.standings)

    def maybe(self, what: Callable[[Standing], bool]) -> bool:
        """Whether it holds for some standing."""
        return any(what(s) for s in self.standings)

    @property
    def natural(self) -> bool:
        """Surely a blackjack."""
        return len(self.cards) >= 2 and self.surely(lambda s: s.natural)

    @property
    def unsure_natural(self) -> bool:
        """A blackjack for some values of its unread cards only."""
        return len(self.cards) >= 2 and not self.natural and self.maybe(lambda s: s.natural)

    @property
    def bust(self) -> bool:
        """Surely over 21."""
        return self.surely(lambda s: s.bust)

    @property
    def can_be_bust(self) -> bool:
        """Over 21 for some value of its unread cards."""
        return self.maybe(lambda s: s.bust)

    @property
    def first_is_ace(self) -> bool:
        """Its first card was read as an ace."""
        return bool(self.cards) and (self.cards[0] or "?")[0] == "A"
