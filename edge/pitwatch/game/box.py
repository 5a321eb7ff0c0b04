"""A spot: the chips that lie there, and how they came and went once settlement began.

In: `Chips` events of one seat, spot and hand. Out: changes, and the player's net in integer cents as far as
it was seen. An amount of None means chips of unread value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pitwatch.game.events import By, Chips

__all__ = ["TAKEN_ALL", "Box", "Change", "Net", "Step"]

TAKEN_ALL: Literal["all"] = "all"
"""A net whose size was not read: the dealer took everything that lay there."""

Net = int | Literal["all"] | None


@dataclass(frozen=True)
class Change:
    """What one event changed.

    how: same, unread (a read value became unclear), appeared (unread chips on an empty spot), read (the
    first value of chips that had appeared), grew, fell. delta: cents, None when not known. blurred: the value
    was unclear in between.
    """

    how: Literal["same", "unread", "appeared", "read", "grew", "fell"]
    delta: int | None
    blurred: bool
    event: Chips


@dataclass(frozen=True)
class Step:
    """Chips coming (delta above 0) or going while a wager is settled; None = all of an unread amount went.

    swept: they went at the instant at which the hand's cards did.
    """

    t: float
    delta: int | None
    by: By | None
    swept: bool = False


@dataclass
class Box:
    """One spot of one seat. `known` is the last value that was read, `start` what lay there when settlement
    began.
    """

    seat: int
    spot: str
    hand: int = 0
    amount: int | None = 0
    known: int = 0
    opened: int | None = 0
    used: bool = False
    """Chips have lain here since the first card."""
    stirred: bool = False
    """Something was said of it since the first card: chips may have been added, read or not."""
    settling: bool = False
    start: int | None = None
    steps: list[Step] = field(default_factory=list)
    doubt: str = ""
    faint: bool = False
    """Its value was unclear for a time during settlement: it can be seen to be right, not to be wrong."""
    confidence: float = 1.0
    """Of the least sure reading since the first card."""
    newest_confidence: float = 1.0
    """Confidence of the newest reading."""
    wager_confidence: float = 1.0
    """Confidence with which the wager was read."""
    evidence: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Surely no chips."""
        return self.amount == 0

    def see(self, event: Chips) -> Change:
        """Take in an event; says what it changed."""
        change = self.look(event)
        self.stirred = True
        self.confidence = min(self.confidence, event.confidence)
        self.newest_confidence = event.confidence
        if event.by != "dealer" and event.amount and not self.settling:
            self.wager_confidence = event.confidence
        if event.evidence:
            self.evidence = event.evidence
        self.amount = event.amount
        self.used = self.used or event.amount != 0
        if event.amount is not None:
            self.known = event.amount
        return change

    def look(self, event: Chips) -> Change:
        """What an event will change."""
        blurred, before = self.amount is None, self.known
        if event.amount is None:
            how: Literal["same", "unread", "appeared"] = (
                "same" if blurred else "appeared" if before == 0 else "unread"
            )
            return Change(how, None, blurred, event)
        delta = event.amount - before
        if blurred and before == 0:
            if event.amount == 0:
                return Change("fell", None, True, event)
            return Change("read", delta, True, event)
        if delta == 0:
            return Change("same", 0, blurred, event)
        if delta > 0:
            return Change("grew", delta, blurred, event)
        return Change("fell", None if blurred and event.amount == 0 else delta, blurred, event)

    def open_round(self) -> None:
        """The first card of a round is dealt: what lies here is the wager."""
        self.opened, self.wager_confidence = self.amount, self.newest_confidence
        self.used, self.stirred = self.amount != 0, False
        self.settling, self.start, self.doubt, self.faint, self.confidence = False, None, "", False, 1.0
        self.steps = []

    def close_round(self) -> None:
        """The round is over: what lies here is the next wager."""
        if self.amount is None:
            self.known = 0
        self.open_round()

    def begin(self, already: tuple[Step, ...] = ()) -> None:
        """Settlement begins; `already`: steps seen a moment before, which belong to it."""
        if self.settling:
            return
        self.settling = True
        self.steps = list(already)
        self.start = None if self.amount is None else self.amount - sum(s.delta or 0 for s in already)
        if any(s.delta is None for s in already):
            self.start = None

    def undo(self) -> None:
        """Settlement had not begun after all."""
        self.settling, self.start, self.steps = False, None, []

    def settle(self, change: Change, *, swept: bool = False) -> None:
        """Take in a change during settlement."""
        event = change.event
        self.faint = self.faint or change.blurred
        if change.how in ("same", "unread", "appeared"):
            again = change.how == "same" and self.start is None
            if change.how == "appeared" or (again and event.amount is None):
                self.doubt = "chips of unread value came or went during settlement"
            elif again and change.blurred and not self.steps:
                self.start = event.amount
            return
        if change.how == "read" or (self.start is None and change.delta is not None):
            self.doubt = "the chips could not be read when settlement began"
            return
        if change.how == "grew" and event.by == "player":
            self.doubt = "a player added chips during settlement"
            return
        if change.how == "fell" and change.blurred and event.amount != 0:
            self.doubt = "the chips could not be read during settlement"
            return
        self.steps.append(Step(event.t, change.delta, event.by, swept))

    def net(self, *, loses: int | None) -> Net:
        """The player's net so far, None when it cannot be known.

        loses: cents that the wager lost, 0 when it did not, None = all of it. A fall that nobody was seen
        doing is a take as far as the wager lost, otherwise the player's own.
        """
        if self.doubt or self.amount is None:
            return None
        paid = taken = picked = 0
        for s in self.steps:
            if s.delta is None:
                own = s.by == "player" or (s.by is None and loses == 0)
                if own and self.start is None and len(self.steps) == 1:
                    return 0
                if own or picked:
                    return None
                if self.start is None:
                    return TAKEN_ALL
                return -self.start if s.by == "dealer" or loses is None else -loses
            if s.delta > 0:
                paid += s.delta
            elif s.by == "dealer":
                taken -= s.delta
            elif s.by == "player" or (s.swept and paid > taken):
                picked -= s.delta  # a loser that was paid and vanished with its cards was not put right
            else:
                owed = -s.delta if loses is None else max(0, loses + paid - taken)
                part = min(-s.delta, owed) if loses != 0 else 0
                taken += part
                picked += -s.delta - part
        if self.start is None and self.steps:
            return None
        return paid - taken
