"""The state of one round, and the questions that the audit asks of it.

In: what the other modules of this room write into it. Out: answers that hold for every value of what was not
read ("surely"), and the findings made so far. Money in integer cents, `t` seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from pitwatch.cards import card_value
from pitwatch.game.box import Box
from pitwatch.game.findings import KINDS, Finding, Unverified
from pitwatch.game.hand import Hand
from pitwatch.game.log import Header
from pitwatch.game.texts import rule_of, sentence
from pitwatch.rules.hands import Standing, dealer_hands
from pitwatch.rules.profile import Profile

__all__ = ["HOLD", "SLACK", "UNSURE", "Round", "Said"]

SLACK = 0.5
"""Seconds within which a camera may see two things in the wrong order."""

HOLD = 2.0
"""Seconds for which a change of chips may wait for the event that explains it."""

UNSURE = "something looked wrong, but what was read of it is not sure enough to say so"

Said = Finding | Unverified


class Dealt(NamedTuple):
    """One of the first cards: when, to whom (0 the dealer), which of that hand."""

    t: float
    seat: int
    nth: int


class Later(NamedTuple):
    """Something to judge when time has passed `due`, should it still hold."""

    due: float
    judge: Callable[[], None]


@dataclass
class Round:
    """One round from its first card. `boxes` are the table's, by (seat, spot, hand)."""

    number: int
    t_start: float
    profile: Profile
    header: Header
    boxes: dict[tuple[int, str, int], Box]
    hands: dict[tuple[int, int], Hand] = field(default_factory=dict)
    dealer: list[str | None] = field(default_factory=list)
    orders: list[list[str | None]] = field(default_factory=list)
    """Other orders in which cards of one instant may have been drawn, where they make another hand."""
    hidden: int | None = None
    """Place of the dealer's card that lies face down."""
    up_place: int = 0
    """Place of the card that was dealt face up."""
    turned: float | None = None
    """When the hole card was turned, or the dealer drew."""
    shown_early: bool = False
    peeked: float | None = None
    unchecked: list[tuple[Hand, int, tuple[str, ...]]] = field(default_factory=list)
    played: float | None = None
    """When the first act after the deal was seen."""
    went_on: bool = False
    """A player was given a further card after the check."""
    drew: float | None = None
    """When the first further card went to a player."""
    acted: dict[int, float] = field(default_factory=dict)
    """When each seat first acted."""
    dealt: list[Dealt] = field(default_factory=list)
    opened: dict[int, int | None] = field(default_factory=dict)
    """Wagers by seat at the first card."""
    short: float | None = None
    """When settlement seemed to begin on a total that must draw."""
    cleared: float | None = None
    """When the dealer's cards were picked up."""
    dead: bool = False
    lost: bool = False
    """The dealer's cards changed while the table was not playing: nothing more is said."""
    doubt: str = ""
    dealer_doubt: bool = False
    dealer_confidence: float = 1.0
    evidence: tuple[str, ...] = ()
    findings: list[Finding] = field(default_factory=list)
    out: list[Said] = field(default_factory=list)
    later: list[Later] = field(default_factory=list)
    lying: dict[int, list[int]] = field(default_factory=dict)
    """A seat's hands as they lie side by side, by number."""
    now: float = 0.0
    unsure: bool = False
    """It was said that something of the dealer's could not be verified."""
    sure: float = 0.0
    """The least confidence with which a mistake is said; what is less sure is said to be unverified."""

    # -- what is there

    def box(self, seat: int, spot: str = "main", hand: int = 0) -> Box:
        """The box of a spot, empty when no chips were ever seen there."""
        key = (seat, spot, hand)
        if key not in self.boxes:
            self.boxes[key] = Box(seat, spot, hand)
        return self.boxes[key]

    def in_order(self) -> list[Hand]:
        """Every hand by seat and number."""
        return [self.hands[k] for k in sorted(self.hands)]

    def of_seat(self, seat: int) -> list[Hand]:
        """A seat's hands by number."""
        return [h for h in self.in_order() if h.seat == seat]

    def places(self, seat: int) -> list[int]:
        """A seat's hands as they lie side by side."""
        return self.lying.get(seat, [0])

    def split_off(self, seat: int, number: int, new: int) -> None:
        """A new hand lies beside the one it was split from."""
        order = self.lying.setdefault(seat, [0])
        order.insert(order.index(number) + 1 if number in order else len(order), new)

    def open_hands(self) -> Iterator[Hand]:
        """Hands that are still to be judged."""
        return (h for h in self.in_order() if not h.done)

    @property
    def upcard(self) -> str | None:
        """The dealer's card that was dealt face up, None when it is not there or unread."""
        there = len(self.dealer) > self.up_place and self.hidden != self.up_place
        return self.dealer[self.up_place] if there else None

    @property
    def first_cards(self) -> int:
        """How many cards the deal gives the dealer."""
        return 1 if self.profile.hole_card == "none" else 2

    @property
    def deal_complete(self) -> bool:
        """Everybody who wagers and was dealt in, the dealer too, has the first cards."""
        return len(self.dealer) >= self.first_cards and all(
            len(h.cards) >= 2
            for h in self.hands.values()
            if not h.from_split and self.opened.get(h.seat, 0) != 0
        )

    def standings(self) -> frozenset[Standing]:
        """Every standing that the dealer's hand can have, the hole card included.

        A hole card that was checked and stayed face down makes no blackjack.
        """
        every = dealer_hands(self.dealer, self.profile)
        for cards in self.orders:
            every |= dealer_hands(cards, self.profile)
        if self.hidden is not None and self.checked and self.needs_check():
            return frozenset(s for s in every if not s.natural) or every
        return every

    @property
    def checked(self) -> bool:
        """The hole card was checked, and had it made a blackjack it would have been shown by now."""
        return self.peeked is not None and (self.went_on or self.now > self.peeked + HOLD)

    @property
    def even_money_open(self) -> bool | None:
        """Whether a blackjack may be paid even money now: under an ace not checked; None = not known."""
        even = self.profile.even_money
        if even is False or self.peeked is not None or self.exposed:
            return False
        if self.upcard is None:
            return None
        return even if self.upcard[0] == "A" else False

    @property
    def exposed(self) -> bool:
        """The dealer has at least two cards and none is face down."""
        return len(self.dealer) >= 2 and self.hidden is None

    @property
    def dealer_acts(self) -> bool:
        """The dealer's own turn has come."""
        return self.turned is not None

    @property
    def dealer_done(self) -> bool:
        """The dealer's hand is exposed and surely finished."""
        return self.exposed and not self.dealer_doubt and all(s.over for s in self.standings())

    @property
    def dealer_may_be_done(self) -> bool:
        """The dealer's hand is exposed and finished for some value of its unread cards."""
        return self.exposed and (self.dealer_doubt or any(s.over for s in self.standings()))

    @property
    def dealer_natural(self) -> bool | None:
        """Whether the dealer has a blackjack; None = not known yet, or never."""
        if self.dealer_doubt or not self.exposed:
            return None
        naturals = {s.natural for s in self.standings()}
        return None if len(naturals) > 1 else naturals.pop()

    @property
    def known_natural(self) -> bool | None:
        """Whether the dealer has a blackjack: seen, checked for and not shown, or no longer possible; None =
        not known.
        """
        if self.dealer_doubt or not self.dealer:
            return None
        if len(self.dealer) < 2:
            return False if self.upcard is not None and card_value(self.upcard) not in (1, 10) else None
        naturals = {s.natural for s in self.standings()}
        return None if len(naturals) > 1 else naturals.pop()

    def needs_check(self) -> bool | None:
        """Whether the profile has the dealer check the hole card under this upcard; None = not known."""
        if not self.profile.peek:
            return False
        if self.upcard is None:
            return None
        value = card_value(self.upcard)
        return (value == 1 and "A" in self.profile.peek) or (value == 10 and "ten" in self.profile.peek)

    def live(self, hand: Hand) -> bool:
        """Surely in play: neither bust nor settled, and the dealer's next card may change its result."""
        if hand.done or hand.dead or hand.can_be_bust or hand.surrendered or hand.even_money is not False:
            return False
        if hand.cleared is not None and (self.turned is None or hand.cleared < self.turned):
            return False  # its cards went before the dealer's turn: it was settled, whatever was seen of it
        if hand.doubt and hand.box.empty:
            return False  # its wager went, and nobody saw for sure who took it
        return not hand.maybe(lambda s: s.natural or s.over == "charlie") and len(hand.cards) >= 2

    def passed(self, hand: Hand) -> bool:
        """A later seat has acted."""
        return any(seat > hand.seat and t + SLACK < self.now for seat, t in self.acted.items())

    @property
    def last_seat(self) -> int:
        """The last seat that acted, 0 when none has."""
        return max(self.acted, default=0)

    def act(self, seat: int) -> None:
        """A seat acts."""
        self.acted.setdefault(seat, self.now)

    # -- what is said

    def say(
        self,
        kind: str,
        seat: int = 0,
        hand: int = 0,
        *,
        expected: int | None = None,
        observed: int | None = None,
        reason: str | None = None,
        about: str = "",
        outcome: str = "",
        t: float | None = None,
        confidence: float | None = None,
        evidence: tuple[str, ...] = (),
    ) -> bool:
        """Make a finding, each kind once a hand; returns whether it is new."""
        if self.dead or self.lost or self.said(kind, seat, hand):
            return False
        owner = self.hands.get((seat, hand))
        if owner is not None and (owner.dead or owner.lost):
            return False
        if confidence is None:
            confidence = (
                self.dealer_confidence if owner is None else min(owner.confidence, owner.box.confidence)
            )
        if confidence < self.sure:
            if owner is not None:
                owner.doubt = owner.doubt or UNSURE
            elif seat == 0 and not self.unsure:
                self.unsure = True
                self.out.append(Unverified(self.now if t is None else t, 0, 0, UNSURE))
            return False
        self.findings.append(
            Finding(
                t=self.now if t is None else t,
                kind=kind,
                seat=seat,
                hand=hand,
                expected=expected,
                observed=observed,
                severity=KINDS[kind],
                rule=self.profile.rule_id(rule_of(kind, reason, outcome)),
                confidence=confidence,
                text=sentence(
                    kind, seat, hand, expected=expected, observed=observed, reason=reason, about=about
                ),
                reason=reason if kind == "card_to_finished_hand" else None,
                evidence=evidence or self.evidence,
            )
        )
        self.out.append(self.findings[-1])
        return True

    def said(self, kind: str, seat: int, hand: int | None = None) -> bool:
        """Whether a finding of this kind was made for the hand (None: any hand of the seat)."""
        return any(f.kind == kind and f.seat == seat and hand in (None, f.hand) for f in self.findings)

    def wait(self, judge: Callable[[], None], seconds: float = SLACK) -> None:
        """Judge when `seconds` have passed since now."""
        self.later.append(Later(self.now + seconds, judge))

    def run_later(self, t: float) -> None:
        """Judge what was due before `t`."""
        due = sorted((x for x in self.later if x.due < t), key=lambda x: x.due)
        self.later = [x for x in self.later if x.due >= t]
        for x in due:
            with self.as_of(x.due):
                x.judge()

    @contextmanager
    def as_of(self, t: float) -> Iterator[None]:
        """What is judged now became certain at time `t`, whenever the next event comes."""
        now, self.now = self.now, t
        try:
            yield
        finally:
            self.now = max(now, t)
