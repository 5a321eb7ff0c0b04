"""The audit: table events in, findings out.

In: a log's header, then its events in order of time. Out: `Finding` and `Unverified`, in the order in which
they become certain; the rounds' transcripts; a live view of the table. No clock is read: time comes with the
events.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from pitwatch.cards import card_value
from pitwatch.errors import UserError
from pitwatch.game import dealing, lines, playing, sidebets
from pitwatch.game.box import Box
from pitwatch.game.closing import record, round_is_over, settle_all
from pitwatch.game.events import (
    CardLaid,
    Chips,
    Clear,
    Gone,
    Move,
    Peek,
    Shoe,
    ShoeBurn,
    Signal,
    Table,
    TableEvent,
    Turn,
    Void,
)
from pitwatch.game.findings import Finding, Unverified
from pitwatch.game.hand import Hand
from pitwatch.game.log import Header, read_log
from pitwatch.game.order import in_order
from pitwatch.game.record import HandRecord, RoundRecord
from pitwatch.game.round import HOLD, SLACK, Round
from pitwatch.game.shoe import Shoe as ShoeCount
from pitwatch.game.show import view
from pitwatch.game.view import HandView, TableView
from pitwatch.rules.profile import load_profile

__all__ = ["SURE", "Audit", "HandRecord", "HandView", "RoundRecord", "TableView", "audit_file", "run_audit"]

SURE = 0.93
"""The least confidence with which a watched table's mistake is said. Dealers err less often than readers:
a payment that looks right confirms what was read, one that looks wrong must be read better than that."""

STOPPED = "it changed while the table was not playing"


class Audit:
    """Follows one table.

    Events of the same `t` are unordered, so they are judged together: when a later event comes, or when
    `advance` says that time has passed.
    """

    def __init__(self, header: Header, sure: float = 0.0) -> None:
        """sure: the least confidence with which a mistake is said, 0 to 1; below it the hand is unverified.

        Raises UserError when the header's rules are no profile.
        """
        self.header = header
        self._sure = sure
        self.profile = load_profile(header.rules)
        self.rounds_done: list[RoundRecord] = []
        self.hands_total = 0
        self.hands_judged = 0
        self._boxes: dict[tuple[int, str, int], Box] = {}
        self._round: Round | None = None
        self._number = 0
        self._shoe = ShoeCount(header.decks or self.profile.decks)
        self._burns: list[float] = []
        self._idle = ""
        """Why the table is not playing, "" while it is."""
        self._waiting: list[TableEvent] = []
        self._time = float("-inf")
        self._out: list[Finding | Unverified] = []

    @property
    def table(self) -> TableView:
        """The table as it stands."""
        return view(self._round, self._boxes, self._number, self._idle)

    def feed(self, event: TableEvent) -> list[Finding | Unverified]:
        """Take one event; returns what has become certain. Raises ValueError when `t` goes back."""
        if event.t < self._time:
            raise ValueError(
                f"event at t = {event.t} after one at {self._time}; feed events in order of time"
            )
        if self._waiting and event.t > self._waiting[-1].t:
            self._judge()
        self._time = event.t
        self._waiting.append(event)
        return self._said()

    def advance(self, t: float) -> list[Finding | Unverified]:
        """Say that every event before time `t` has been fed (call it once a frame): what waited is judged."""
        if self._waiting and t > self._waiting[-1].t:
            self._judge()
        self._time = max(self._time, t)
        self._pass_time(t, [])
        return self._said()

    def finish(self) -> list[Finding | Unverified]:
        """The log ends: judge what waited, and say what could not be judged."""
        self._judge()
        if self._round is not None:
            self._round.run_later(float("inf"))
            self._close(ended=self._round.cleared is not None)
        return self._said()

    # -- time

    def _said(self) -> list[Finding | Unverified]:
        if self._round is not None:
            self._out += self._round.out
            self._round.out = []
        out, self._out = self._out, []
        return out

    def _pass_time(self, t: float, batch: list[TableEvent]) -> None:
        rnd = self._round
        if rnd is None:
            return
        rnd.run_later(t)
        playing.expire(rnd, t)
        late = rnd.cleared is not None and t > rnd.cleared + HOLD
        if rnd.cleared is not None and (late or round_is_over(rnd)):
            with rnd.as_of(max(rnd.now, rnd.cleared + HOLD) if late else rnd.now):
                self._close(ended=True)
            return
        rnd.now = max(rnd.now, t)
        if rnd.cleared is not None and any(isinstance(e, CardLaid) for e in batch):
            self._close(ended=True)

    def _judge(self) -> None:
        """Take the events of one instant."""
        batch, self._waiting = self._waiting, []
        if not batch:
            return
        self._pass_time(batch[0].t, batch)
        rnd = self._round
        deal = 1 if self.profile.hole_card == "none" else 2
        ordered = in_order(batch, self._known, self._count, deal)
        others: list[list[str | None]] = []
        cleared = {(e.seat, e.hand) for e in ordered if isinstance(e, Clear)}
        draws = [e for e in ordered if isinstance(e, CardLaid) and e.seat == 0 and self._count(0, 0) >= deal]
        if rnd is not None and len(draws) > 1:
            at = ordered.index(draws[0])
            ordered = [e for e in ordered if e not in draws]
            ordered[at:at], others = dealing.best_draws(rnd, draws)
        if rnd is not None:
            ordered = dealing.in_best_order(rnd, ordered)
        for event in ordered:
            self._take(event, cleared)
            if self._round is not None:
                self._out += self._round.out
                self._round.out = []
        if rnd is not None and others:
            rnd.orders = others
        if self._round is not None and self._round.cleared is not None and round_is_over(self._round):
            self._close(ended=True)

    def _known(self, e: Chips) -> int:
        box = self._boxes.get((e.seat, e.spot, e.hand))
        return box.known if box else 0

    def _count(self, seat: int, hand: int) -> int:
        rnd = self._round
        if rnd is None or rnd.cleared is not None:
            return 0
        if seat == 0:
            return len(rnd.dealer)
        return len(rnd.hands[seat, hand].cards) if (seat, hand) in rnd.hands else 0

    # -- events

    def _take(self, e: TableEvent, cleared: set[tuple[int, int | None]]) -> None:
        rnd = self._round
        if rnd is not None:
            rnd.now = e.t
            if e.evidence:
                rnd.evidence = e.evidence
        if isinstance(e, Table):
            self._table(e)
        elif isinstance(e, Shoe):
            self._shoe.new(e.decks)
            self._shoe.burnt = sum(e.t - t <= SLACK for t in self._burns)
        elif isinstance(e, ShoeBurn):
            self._shoe.burnt += 1
            self._burns.append(e.t)
            self._see(e.card)
        elif isinstance(e, Chips):
            swept = bool({(e.seat, e.hand), (e.seat, None)} & cleared) and (0, None) in {
                (s, None) for s, _ in cleared
            }
            self._chips(e, swept)
        elif self._idle:
            self._while_idle(e)
        elif isinstance(e, CardLaid):
            self._card(e)
        elif rnd is None:
            return
        elif isinstance(e, Void):
            self._void(rnd, e)
        elif isinstance(e, Peek):
            lines.insurance_closes(rnd)
            playing.checked(rnd)
            rnd.peeked = e.t if rnd.peeked is None else rnd.peeked
        elif isinstance(e, Signal):
            self._signal(rnd, e)
        elif isinstance(e, Move):
            lines.insurance_closes(rnd)
            dealing.on_move(rnd, e)
        elif isinstance(e, Turn):
            lines.insurance_closes(rnd)
            if e.card is None or e.card != self._face_down(rnd, e):
                self._see(e.card)
            dealing.on_turn(rnd, e)
            if rnd.dealer_natural:
                playing.checked(rnd)
        elif isinstance(e, Gone):
            self._shoe.back(e.card)
            dealing.on_gone(rnd, e)
        elif isinstance(e, Clear):
            dealing.on_clear(rnd, e)

    @staticmethod
    def _face_down(rnd: Round, e: Turn) -> str | None:
        """The card that is turned, where it was known while it lay face down."""
        if e.seat == 0:
            return None if rnd.hidden is None else rnd.dealer[rnd.hidden]
        hand = rnd.hands.get((e.seat, e.hand))
        place = next(iter(hand.down), None) if hand is not None and len(hand.down) == 1 else None
        return hand.cards[place] if hand and place is not None and place < len(hand.cards) else None

    def _see(self, card: str | None) -> None:
        rnd = self._round
        if self._shoe.see(card) and rnd is not None and card is not None:
            rnd.say("card_impossible", 0, 0, about=card)

    def _table(self, e: Table) -> None:
        self._idle = "" if e.state == "open" else e.state
        if e.state == "shuffle":
            self._shoe.shuffled()
        rnd = self._round
        if rnd is not None and rnd.cleared is None and e.state in ("shuffle", "closed"):
            rnd.doubt, rnd.lost = "the table stopped during this round", True
            if e.state == "shuffle":  # its cards are gone
                rnd.cleared = e.t

    def _while_idle(self, e: TableEvent) -> None:
        """The table is not playing: nothing is judged, but a round that was on may end, and what was done to
        it in the meantime leaves doubt.
        """
        rnd = self._round
        if rnd is None or rnd.cleared is not None:
            return
        if isinstance(e, Clear) and e.seat == 0:
            rnd.cleared = e.t
        seat = getattr(e, "seat", None)
        if isinstance(e, (CardLaid, Turn, Gone, Move, Clear)) and seat == 0:
            rnd.doubt, rnd.lost = STOPPED, True
        elif isinstance(e, Void):
            self._void(rnd, e)
        elif isinstance(e, (CardLaid, Turn, Gone, Move, Clear)):
            for h in rnd.of_seat(e.seat):
                h.doubt, h.lost = h.doubt or STOPPED, True

    def _chips(self, e: Chips, swept: bool) -> None:
        rnd = self._round
        if rnd is None or self._idle:
            key = (e.seat, e.spot, e.hand)
            box = self._boxes.setdefault(key, Box(e.seat, e.spot, e.hand))
            change = box.see(e)
            if rnd is not None and change.how != "same" and (rnd.cleared is None or box.settling):
                box.doubt = STOPPED
                if (e.seat, e.hand) in rnd.hands and e.spot == "main":
                    hand = rnd.hands[e.seat, e.hand]
                    hand.doubt, hand.lost = STOPPED, True
            return
        if e.spot == "main":
            playing.on_main(rnd, e, swept=swept)
        elif e.spot == lines.INSURANCE or e.spot in self.profile.side_bets:
            lines.on_line(rnd, e, swept=swept)
        else:
            rnd.box(e.seat, e.spot, e.hand).see(e)

    def _card(self, e: CardLaid) -> None:
        rnd = self._round
        if rnd is not None and self._begins_anew(rnd, e):
            self._close(ended=True)
            rnd = None
        if rnd is None:
            rnd = self._open(e)
        if e.face == "up" or e.card is not None:
            self._see(e.card)
        further = self._further(rnd, e)
        if further:
            rnd.went_on = rnd.went_on or (rnd.peeked is not None and e.seat != 0)
            lines.insurance_closes(rnd)
            lines.next_card(rnd)
            self._unpaid_naturals(rnd)
        dealing.on_card(rnd, e)

    @staticmethod
    def _begins_anew(rnd: Round, e: CardLaid) -> bool:
        """Whether this card is the first of another round, though the dealer's cards were not seen to go."""
        if rnd.cleared is not None:
            return True
        hand = rnd.hands.get((e.seat, e.hand))
        return hand is not None and hand.cleared is not None and (rnd.dead or rnd.dealer_acts)

    @staticmethod
    def _further(rnd: Round, e: CardLaid) -> bool:
        if e.seat == 0:
            return len(rnd.dealer) >= rnd.first_cards or rnd.played is not None
        hand = rnd.hands.get((e.seat, e.hand))
        return hand is not None and (hand.from_split or len(hand.cards) >= 2)

    def _unpaid_naturals(self, rnd: Round) -> None:
        up = rnd.upcard
        if self.profile.blackjack_paid != "at_once" or up is None or not rnd.deal_complete:
            return
        if card_value(up) in (1, 10):  # it may be a dealer's blackjack
            return
        for h in rnd.open_hands():
            if (
                h.natural
                and not h.from_split
                and not h.doubt
                and h.box.amount
                and not h.box.steps
                and h.growth is None
            ):
                rnd.wait(lambda h=h: self._still_unpaid(rnd, h))  # type: ignore[misc]

    @staticmethod
    def _still_unpaid(rnd: Round, h: Hand) -> None:
        if h.box.amount and not h.box.steps and h.growth is None and not h.dead and not h.doubt:
            rnd.say("blackjack_paid_late", h.seat, h.number)

    def _open(self, e: CardLaid) -> Round:
        """The first card of a round: what lies on the spots is wagered."""
        self._number += 1
        rnd = Round(
            self._number,
            e.t,
            self.profile,
            self.header,
            self._boxes,
            now=e.t,
            evidence=e.evidence,
            sure=self._sure,
        )
        self._round = rnd
        for box in self._boxes.values():
            box.open_round()
        for (seat, spot, hand), box in sorted(self._boxes.items()):
            if spot != "main":
                continue
            if hand == 0:
                rnd.opened[seat] = box.amount
            elif not box.empty:  # chips left where a split hand lay: how they count cannot be told
                rnd.opened[seat] = rnd.box(seat).opened = None
        for seat, wager in sorted(rnd.opened.items()):
            if not wager:
                continue
            if self.header.minimum is not None and wager < self.header.minimum:
                rnd.say("wager_below_minimum", seat, expected=self.header.minimum, observed=wager)
            if self.header.maximum is not None and wager > self.header.maximum:
                rnd.say("wager_above_maximum", seat, expected=self.header.maximum, observed=wager)
        sidebets.open_side_bets(rnd)
        if self._shoe.fresh and self.profile.burn is not None and self._shoe.burnt < self.profile.burn:
            rnd.say("burn_missing")
        self._shoe.fresh = False
        return rnd

    def _void(self, rnd: Round, e: Void) -> None:
        if e.seat is None:
            rnd.dead = True
            rnd.later = []
            return
        for h in rnd.of_seat(e.seat):
            h.dead = True
            h.growth = h.drop = None
        rnd.opened[e.seat] = 0

    @staticmethod
    def _signal(rnd: Round, e: Signal) -> None:
        hand = rnd.hands.get((e.seat, e.hand))
        if hand is None:
            return
        if e.signal == "stand":
            hand.stood = True
        elif e.signal in ("hit", "double", "split"):
            hand.stood = False
        if e.signal == "surrender":
            hand.wants_surrender = True
        elif e.signal == "even_money":
            hand.wants_even = True
        if e.signal in ("hit", "stand", "double", "split"):
            rnd.act(e.seat)

    # -- the end of a round

    def _close(self, *, ended: bool) -> None:
        rnd, self._round = self._round, None
        if rnd is None:
            return
        total, judged, unverified = settle_all(rnd, ended=ended)
        self.hands_total += total
        self.hands_judged += judged
        self._out += rnd.out
        self._out += unverified
        self.rounds_done.append(record(rnd))
        for box in self._boxes.values():
            box.close_round()


def audit_file(path: str | Path) -> tuple[Audit, list[Finding | Unverified]]:
    """Audit a table-event file from its header to its end.

    Raises UserError naming the file and the line.
    """
    header, events, _ = read_log(path)
    try:
        audit = Audit(header)
    except UserError as e:
        raise UserError(f"{path}, line 1: {e}") from None
    out: list[Finding | Unverified] = []
    for event in events:
        out += audit.feed(event)
    return audit, out + audit.finish()


def run_audit(path: str | Path, out: Callable[[str], None], notation: bool = False) -> int:
    """Print a file's findings through `out`, one JSON object a line, or its rounds in notation.

    Returns the exit status: 0 no finding, 1 findings. Raises UserError (status 2) when the file cannot be
    read.
    """
    audit, said = audit_file(path)
    if notation:
        for r in audit.rounds_done:
            out(r.notation())
    else:
        for s in said:
            out(json.dumps(s.to_json(), ensure_ascii=False))
    return 1 if any(isinstance(s, Finding) for s in said) else 0
