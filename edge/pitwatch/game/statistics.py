"""What a pit keeps of a table: how far the shoe is dealt, and each seat's hands, handle and wagers.

In: a log's header and events. Out: figures, without judgement: cents, cards, Hi-Lo counts. What was not read
is counted as such and left out of sums; nothing is guessed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import StatisticsError, correlation
from typing import Any

from pitwatch.cards import card_value
from pitwatch.game.audit import Audit
from pitwatch.game.events import CardLaid, Shoe, ShoeBurn, Table, TableEvent, Turn
from pitwatch.game.log import Header
from pitwatch.game.record import HandRecord, RoundRecord

__all__ = ["SeatFigures", "ShoeFigures", "TableFigures", "add_round", "figures", "hi_lo"]

DECK = 52


def hi_lo(card: str) -> int:
    """A card's tag in the Hi-Lo count: two to six 1, tens and aces -1."""
    value = card_value(card)
    return 1 if 2 <= value <= 6 else -1 if value in (1, 10) else 0


@dataclass
class ShoeFigures:
    """The cards that came out of one shoe.

    decks: None = not known. from_start: the log saw it begin; otherwise what came out before is missing.
    copies: by card. ranks: cards of which only the rank was read, by rank. unread: lay face up and were not
    read. unseen: face down to the end, or burnt. running: Hi-Lo, of the cards that were read.
    """

    decks: int | None
    from_start: bool
    rounds: int = 0
    copies: Counter[str] = field(default_factory=Counter)
    ranks: Counter[str] = field(default_factory=Counter)
    unread: int = 0
    unseen: int = 0
    running: int = 0

    def take(self, card: str | None, *, seen: bool = True) -> None:
        """A card came out; None: it was not read, or not even `seen` face up."""
        if card is None:
            self.unread += seen
            self.unseen += not seen
            return
        self.running += hi_lo(card)
        if card[1] == "?":
            self.ranks[card[0]] += 1
        else:
            self.copies[card] += 1

    @property
    def out(self) -> int:
        """Cards that came out, read or not."""
        return self.copies.total() + self.ranks.total() + self.unread + self.unseen

    @property
    def penetration(self) -> float | None:
        """The share of the shoe that came out, at least; None when its decks are not known."""
        return None if self.decks is None else self.out / (DECK * self.decks)

    @property
    def true_count(self) -> float | None:
        """The running count a deck still to come; None when the decks or a card's value are not known."""
        if self.decks is None or self.unread or self.out >= DECK * self.decks:
            return None
        return self.running / (self.decks - self.out / DECK)

    @property
    def too_many(self) -> tuple[str, ...]:
        """Cards of which more were read than the shoe has."""
        return tuple(sorted(c for c, n in self.copies.items() if self.decks is not None and n > self.decks))

    def to_json(self) -> dict[str, Any]:
        """The shoe as a JSON object."""
        return {
            "decks": self.decks,
            "from_start": self.from_start,
            "rounds": self.rounds,
            "cards_out": self.out,
            "penetration": _rounded(self.penetration, 4),
            "unread": self.unread,
            "unseen": self.unseen,
            "running_count": self.running,
            "true_count": _rounded(self.true_count, 2),
            "copies": dict(sorted(self.copies.items())),
            "rank_only": dict(sorted(self.ranks.items())),
            "too_many": list(self.too_many),
        }


@dataclass
class SeatFigures:
    """One seat. Sums hold what was read; the `_unread` beside them counts what was not.

    rounds: with a wager. hands: split hands counted each. handle: cents at stake in all, doubles and splits
    included. wagers: cents at the first card, one a round. net: the player's, in cents, a loss negative.
    side: the same of insurance and side bets. pairs: true count and wager of each round that has both.
    """

    seat: int
    rounds: int = 0
    hands: int = 0
    handle: int = 0
    handle_unread: int = 0
    wagers: list[int] = field(default_factory=list)
    net: int = 0
    net_unread: int = 0
    side_handle: int = 0
    side_net: int = 0
    side_unread: int = 0
    pairs: list[tuple[float, int]] = field(default_factory=list)

    @property
    def average_wager(self) -> float | None:
        """Cents; None when no wager was read."""
        return sum(self.wagers) / len(self.wagers) if self.wagers else None

    @property
    def count_correlation(self) -> float | None:
        """Of the wagers with the true count, -1 to 1; None when either never changed or was not known."""
        try:
            return correlation([c for c, _ in self.pairs], [float(w) for _, w in self.pairs])
        except StatisticsError:
            return None

    def to_json(self) -> dict[str, Any]:
        """The seat as a JSON object."""
        return {
            "seat": self.seat,
            "rounds": self.rounds,
            "hands": self.hands,
            "handle": self.handle,
            "handle_unread": self.handle_unread,
            "average_wager": _rounded(self.average_wager, 2),
            "wagers_unread": self.rounds - len(self.wagers),
            "net": self.net,
            "net_unread": self.net_unread,
            "side_handle": self.side_handle,
            "side_net": self.side_net,
            "side_unread": self.side_unread,
            "count_correlation": _rounded(self.count_correlation, 4),
            "count_rounds": len(self.pairs),
        }


@dataclass(frozen=True)
class TableFigures:
    """A log's figures: shoes in order of time, seats from first base."""

    table: str
    rounds: int
    hands: int
    hands_judged: int
    findings: int
    shoes: tuple[ShoeFigures, ...]
    seats: tuple[SeatFigures, ...]

    def to_json(self) -> dict[str, Any]:
        """The figures as a JSON object."""
        return {
            "table": self.table,
            "rounds": self.rounds,
            "hands": self.hands,
            "hands_judged": self.hands_judged,
            "findings": self.findings,
            "shoes": [s.to_json() for s in self.shoes],
            "seats": [s.to_json() for s in self.seats],
        }


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def figures(header: Header, events: Sequence[TableEvent]) -> TableFigures:
    """Audit the events and count. Raises UserError when the header's rules are no profile."""
    audit = Audit(header)
    for event in events:
        audit.feed(event)
    audit.finish()
    count = _Count(header.decks or audit.profile.decks)
    for event in events:
        count.see(event)
    seats: dict[int, SeatFigures] = {}
    for r in audit.rounds_done:
        true_count = count.at(r.t_start)
        count.shoe_at(r.t_start).rounds += 1
        add_round(seats, r, true_count)
    return TableFigures(
        header.table,
        len(audit.rounds_done),
        audit.hands_total,
        audit.hands_judged,
        sum(len(r.findings) for r in audit.rounds_done),
        tuple(s for s in count.shoes if s.out),
        tuple(seats[s] for s in sorted(seats)),
    )


class _Count:
    """Follows the shoes; remembers the true count before each instant at which cards came."""

    def __init__(self, decks: int | None) -> None:
        self.decks = decks
        self.shoes = [ShoeFigures(decks, from_start=False)]
        self._times: list[float] = []
        self._before: list[tuple[float | None, ShoeFigures]] = []
        self._down: defaultdict[tuple[int, int], list[str | None]] = defaultdict(list)

    def see(self, e: TableEvent) -> None:
        if isinstance(e, Shoe):
            self._new(e.decks or self.decks)
        elif isinstance(e, Table) and e.state == "shuffle":
            self._new(self.shoes[-1].decks)
        elif isinstance(e, ShoeBurn):
            self._stamp(e.t)
            self._card(e.card, seen=e.card is not None)
        elif isinstance(e, CardLaid):
            self._stamp(e.t)
            self._card(e.card, seen=e.face == "up" or e.card is not None)
            if e.face == "down":
                self._down[e.seat, e.hand].append(e.card)
        elif isinstance(e, Turn):
            down = self._down[e.seat, e.hand]
            before = down.pop() if down else None
            if before is None:
                shoe = self.shoes[-1]
                shoe.unseen = max(0, shoe.unseen - 1)
                self._card(e.card, seen=True)

    def _new(self, decks: int | None) -> None:
        self.shoes.append(ShoeFigures(decks, from_start=True))
        self._down.clear()

    def _stamp(self, t: float) -> None:
        if not self._times or t > self._times[-1]:
            self._times.append(t)
            self._before.append((self.shoes[-1].true_count, self.shoes[-1]))

    def _card(self, card: str | None, *, seen: bool) -> None:
        shoe = self.shoes[-1]
        shoe.take(card, seen=seen)

    def at(self, t: float) -> float | None:
        """The true count before the cards of an instant."""
        return self._before[bisect_left(self._times, t)][0]

    def shoe_at(self, t: float) -> ShoeFigures:
        """The shoe that the cards of an instant came from."""
        return self._before[bisect_left(self._times, t)][1]


def add_round(seats: dict[int, SeatFigures], r: RoundRecord, true_count: float | None) -> None:
    """Count a round to its seats; true_count: before its first card, None when it is not known."""
    for number, hands in _by_seat(r.hands):
        seat = seats.setdefault(number, SeatFigures(number))
        seat.rounds += 1
        for h in hands:
            seat.hands += 1
            stake = h.stake if h.stake is not None else None if h.doubled else h.wager
            seat.handle += stake or 0
            seat.handle_unread += stake is None
            seat.net += h.payout or 0
            seat.net_unread += h.payout is None
        wager = hands[0].wager
        if wager is not None and hands[0].hand == 0:
            seat.wagers.append(wager)
            if true_count is not None:
                seat.pairs.append((true_count, wager))
    sides = [*r.insurance, *((b.seat, b.placed, b.payout) for b in r.side_bets)]
    for number, placed, net in sides:
        seat = seats.setdefault(number, SeatFigures(number))
        seat.side_handle += placed or 0
        seat.side_net += net or 0
        seat.side_unread += placed is None or net is None


def _by_seat(hands: Iterable[HandRecord]) -> list[tuple[int, list[HandRecord]]]:
    """The hands that were played for something, seat by seat; hands declared dead are not."""
    out: defaultdict[int, list[HandRecord]] = defaultdict(list)
    for h in hands:
        if h.outcome != "dead" and (h.hand or h.wager != 0):
            out[h.seat].append(h)
    return sorted(out.items())
