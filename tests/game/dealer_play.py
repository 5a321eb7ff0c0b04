"""A table that plays: legal rounds under one house's rules, as the table events a camera would report.

What may be done and what is owed is written anew here and in `oracle`, slowly and plainly from the documents,
so that the audit is held against something other than itself. A mistake of a named kind is planted when the
chance comes; `planted` then says where.
"""

from __future__ import annotations

from typing import Any

from .ending import Ending
from .floor import Seat
from .oracle import owed, points, value

DOUBLES = {"any_two": range(22), "9-11": (9, 10, 11), "10-11": (10, 11), "11": (11,)}
UNDER_AN_ACE = (
    "insurance_late",
    "insurance_too_large",
    "insurance_not_taken",
    "insurance_loser_paid",
    "insurance_paid_short",
    "insurance_paid_over",
)
ON_A_PAIR = ("split_not_allowed", "split_wager_mismatch", "cards_touched")


class Play(Ending):
    """Plays rounds; `events` grows."""

    def round(self) -> None:
        if len(self.shoe) < 120 or self.mistake == "burn_missing":
            self.new_shoe()
        self.step()
        self.insured: dict[int, int] = {}
        self.bets: dict[tuple[int, str], int] = {}
        self.strangers: list[int] = []
        self.void_from: int | None = None
        self.shown = False
        self.hands = self.wagers()
        self.dealer = []
        self.deal_all()
        if self.rules["surrender"] == "early":
            self.surrenders()
        if self.before_play():
            for h in tuple(self.hands):
                if not h.done and not h.natural:
                    self.meddle(h)
                    self.play(h)
            self.dealer_plays()
        self.settle()

    # -- wagers and the deal

    def wagers(self) -> list[Seat]:
        rng, hands = self.rng, []
        for seat in range(1, self.seats + 1):
            if self.lies(seat) > 40_000:
                self.chips(seat, 0, "player")
            if rng.random() < 0.7 or self.lies(seat) or (seat == self.seats and not hands):
                wager = self.lies(seat) or rng.choice((1000, 1500, 2500, 5000, 7500))
                if not self.lies(seat) and self.errs("wager_below_minimum", seat):
                    wager = 400
                elif not self.lies(seat) and self.errs("wager_above_maximum", seat):
                    wager = 200_000
                self.step(0.3)
                self.chips(seat, wager, "player")
                hands.append(Seat(seat, 0, wager))
                for bet in self.rules["side_bets"] if wager >= 500 else ():
                    if rng.random() < 0.4 or (self.mistake.startswith("side_bet") and rng.random() < 0.7):
                        self.bet(seat, bet, rng.choice((500, 1000)))
        if self.rules["side_bets"] and len(hands) < self.seats and self.mistake == "side_bet_without_wager":
            seat = next(s for s in range(1, self.seats + 1) if s not in {h.seat for h in hands})
            if not self.lies(seat) and self.errs("side_bet_without_wager", seat):
                self.step(0.3)
                self.chips(seat, 500, "player", spot=next(iter(self.rules["side_bets"])))
        return hands

    def bet(self, seat: int, bet: str, amount: int) -> None:
        self.step(0.2)
        self.bets[seat, bet] = amount
        self.chips(seat, amount, "player", spot=bet)

    def empty_seat(self) -> int | None:
        taken = {h.seat for h in self.hands} | {s for (s, _, _), a in self.spots.items() if a}
        free = [s for s in range(1, self.seats + 1) if s not in taken]
        return self.rng.choice(free) if free else None

    def deal_all(self) -> None:
        hands, rng = list(self.hands), self.rng
        if len(hands) > 1 and self.mistake == "seat_not_dealt":
            left_out = rng.choice(hands)
            if not any(s == left_out.seat for s, _ in self.bets) and self.errs(
                "seat_not_dealt", left_out.seat
            ):
                hands.remove(left_out)
                self.hands.remove(left_out)
        for nth in (0, 1):
            if nth == 1:
                self.during_the_deal()
                if len(hands) > 1 and self.errs("deal_order"):
                    hands[0], hands[1] = hands[1], hands[0]
            for h in hands:
                self.lure(h, nth)
                if nth == 1 and self.errs("card_face_wrong", h.seat):
                    self.step()
                    h.cards.append(self.draw())
                    self.emit(type="card", seat=h.seat, card=None, face="down")
                    self.emit(type="turn", seat=h.seat, card=h.cards[-1])
                    h.first_two = h.cards[:2]
                    continue
                self.deal(h)
                if nth == 1:
                    h.first_two = h.cards[:2]
            if nth == 0 or not self.europe:
                self.step()
                self.lure(None, nth)
                card = self.draw()
                self.dealer.append(card)
                self.shown = nth == 1 and self.errs("hole_exposed_early")
                down = nth == 1 and not self.shown
                self.emit(type="card", seat=0, card=None if down else card, face="down" if down else "up")

    def lure(self, h: Seat | None, nth: int) -> None:
        """Half the time, a card that gives the mistake its chance."""
        kind = self.mistake
        if self.rng.random() < 0.5:
            return
        if h is None:
            if kind in UNDER_AN_ACE:
                self.rig("A" if nth == 0 else "TJQK" if "paid_" in kind else "23456789")
            elif kind in ("taken_over", "blackjack_paid_early"):
                self.rig("TJQK" if nth == 0 else "A" if kind == "taken_over" else "23456789TJQK")
            elif kind == "blackjack_paid_late" and nth == 0:
                self.rig("23456789")
        elif h is self.hands[0]:
            if kind in ON_A_PAIR and nth == 1:
                self.rig(h.cards[0][0])
            elif kind.startswith("blackjack_paid"):
                self.rig("A" if nth == 0 else "TJQK")
            elif kind == "taken_over":
                self.rig("56")

    def during_the_deal(self) -> None:
        seat = self.empty_seat()
        if seat is not None and self.errs("wager_late", seat):
            self.step(0.8)
            self.chips(seat, 1000, "player")
        elif seat is not None and self.errs("card_without_wager", seat):
            self.strangers.append(seat)
            self.step()
            self.emit(type="card", seat=seat, card=self.draw())
        if self.rules["side_bets"] and self.mistake == "side_bet_late":
            bet, h = next(iter(self.rules["side_bets"])), self.rng.choice(self.hands)
            if (h.seat, bet) not in self.bets and self.errs("side_bet_late", h.seat):
                self.step(0.8)
                self.bet(h.seat, bet, 500)

    # -- before anybody plays

    def before_play(self) -> bool:
        """Insurance, even money, the check, blackjacks; returns whether the round goes on."""
        checks = self.checks
        if self.up == 1 and self.rules["insurance"] and not self.shown:
            self.insure(checks)
        elif self.mistake == "insurance_not_allowed" and not self.bj and not self.europe:
            h = self.rng.choice(self.hands)
            if not h.natural and not h.done and self.errs("insurance_not_allowed", h.seat):
                self.place_and_take(h)
        if checks:
            self.paid_before_the_check()
            misses = not self.bj and not self.insured and not any(h.natural for h in self.hands)
            if not (self.rules["peek_seen"] and misses and self.mistake == "peek_missed"):
                self.step()
                self.emit(type="peek")
            elif self.planted is None:
                self.unchecked = True
            if self.bj:
                self.turn()
                return False
            self.late_insurance()
            self.take_insurance()
        if self.rules["blackjack_paid"] == "at_once" and not checks and self.up not in (1, 10):
            for h in self.hands:
                if h.natural and not self.errs("blackjack_paid_late", h.seat, next_card=True):
                    self.pay(h, int(owed(self.rules, h.cards, self.dealer[:1], h.stake)))
                    self.pick_up(h)
        if self.rules["surrender"] == "late" or self.mistake == "surrender_not_allowed":
            self.surrenders()
        return True

    unchecked = False

    def insure(self, checks: bool) -> None:
        for h in self.hands:
            if self.rng.random() < 0.4 and not h.natural and not h.done:
                self.step(0.3)
                stake = h.wager // 200 * 100
                if self.errs("insurance_too_large", h.seat):
                    stake = h.wager // 2 + 500
                self.insured[h.seat] = stake
                self.chips(h.seat, stake, "player", spot="insurance")
            elif h.natural and self.rules["even_money"] and self.rng.random() < 0.5 and checks:
                self.pay(h, h.wager)
                self.pick_up(h)

    def place_and_take(self, h: Seat) -> None:
        self.step(0.9)
        self.chips(h.seat, 500, "player", spot="insurance")
        self.step(0.9)
        self.chips(h.seat, 0, "dealer", spot="insurance")

    def late_insurance(self) -> None:
        free = [h for h in self.hands if h.seat not in self.insured and not h.done and not h.natural]
        if free and self.up == 1 and self.rules["insurance"] and self.errs("insurance_late", free[0].seat):
            self.place_and_take(free[0])

    def paid_before_the_check(self) -> None:
        for h in self.hands:
            if h.natural and not h.done and not self.bj and self.errs("blackjack_paid_early", h.seat):
                if (
                    self.up == 1
                    and self.rules["even_money"] is not False
                    and self.rules["blackjack_pays"] == "1:1"
                ):
                    self.planted = None
                    return
                self.pay(h, int(owed(self.rules, h.cards, self.dealer[:1], h.stake)))
                self.pick_up(h)

    def surrenders(self) -> None:
        for h in self.hands:
            offered = self.rules["surrender"] != "none" and not self.shown
            if self.rules["surrender"] == "late" and self.up in (1, 10) and not self.checks:
                offered = False  # whether the dealer has a blackjack would show too late
            chance = 0.1 if self.mistake not in ("surrender_wrong", "surrender_not_allowed") else 0.5
            if h.done or h.natural or self.rng.random() > chance:
                continue
            none = self.rules["surrender"] == "none"
            if not offered and not (none and self.errs("surrender_not_allowed", h.seat)):
                continue
            self.signal(h, "surrender")
            self.step(0.3)
            left = h.stake - h.stake // 2
            if offered and self.errs("surrender_wrong", h.seat):
                left = h.stake // 2 - 100
            self.chips(h.seat, left, "dealer")
            self.pick_up(h)

    # -- the players

    def meddle(self, turn: Seat) -> None:
        """Somebody does what is not done to a hand that waits for the dealer."""
        for h in self.hands:
            waits = h.seat < turn.seat and self.in_play(h) and h.stake > 500
            if not waits or h.from_split or h.doubled:
                continue
            if self.errs("wager_raised", *h.place):
                h.stake += 500
            elif self.errs("wager_cut", *h.place):
                h.stake -= 500
            elif self.errs("live_hand_taken", *h.place):
                self.step(2.5)
                self.chips(h.seat, 0, "dealer", sure=True)
                h.done = True
                self.step(2.5)
            if h.stake != self.lies(h.seat) and not h.done:
                h.wager = h.stake
                self.step(2.5)
                self.chips(h.seat, h.stake, "player")
                self.step(2.5)

    def deal(self, h: Seat, **more: Any) -> None:
        if self.unchecked and (len(h.cards) >= 2 or h.from_split):
            self.unchecked = False
            self.errs("peek_missed", *h.place)
        super().deal(h, **more)

    def play(self, h: Seat) -> None:
        if len(h.cards) == 1:
            self.deal(h)
        if self.splits(h):
            return
        aces = h.from_split and h.cards[0][0] == "A" and not self.rules["hit_split_aces"]
        if aces or h.natural:
            return
        if not self.doubles(h):
            self.hits(h)
        if points(h.cards) > 21:
            self.bust(h)

    def splits(self, h: Seat) -> bool:
        rng, rules = self.rng, self.rules
        of_seat = [x for x in self.hands if x.seat == h.seat]
        alike = h.cards[0][0] == h.cards[1][0] or (
            rules["split_by"] == "value" and value(h.cards[0]) == value(h.cards[1])
        )
        if not alike or rng.random() > 0.6:
            return False
        again = h.from_split and h.cards[0][0] == "A" and not rules["resplit_aces"]
        forbidden = again or (rules["max_hands"] is not None and len(of_seat) >= rules["max_hands"])
        if (forbidden and not self.errs("split_not_allowed", *h.place)) or len(of_seat) > 5:
            return False
        new = Seat(h.seat, max(x.number for x in of_seat) + 1, of_seat[0].wager)
        if new.wager > 1000 and not forbidden and self.errs("split_wager_mismatch", new.seat, new.number):
            new.wager = new.stake = new.wager - 500
        new.from_split = h.from_split = True
        first = rng.random() < 0.5
        self.step(0.3)
        if first:
            self.chips(h.seat, new.wager, "player", new.number)
            self.step(0.3)
        by = "player" if self.errs("cards_touched", *h.place) else "dealer"
        self.emit(type="move", seat=h.seat, hand=h.number, to=new.number, by=by)
        new.cards.append(h.cards.pop())
        if not first:
            self.step(0.3)
            self.chips(h.seat, new.wager, "player", new.number)
        self.hands.insert(self.hands.index(h) + 1, new)
        self.play(h)
        self.play(new)
        return True

    def doubles(self, h: Seat) -> bool:
        rules, total = self.rules, points(h.cards)
        allowed = total in DOUBLES[rules["double_on"]] and (total != 21 or rules["double_on_21"])
        allowed = allowed and (not h.from_split or rules["double_after_split"])
        allowed = allowed and not (
            h.from_split and h.cards[0][0] == "A" and rules["double_split_aces"] is False
        )
        if self.rng.random() > 0.3 or (not allowed and not self.errs("double_not_allowed", *h.place)):
            return False
        more = h.wager
        if allowed and rules["double_for_less"] and self.rng.random() < 0.2:
            more = h.wager // 2 // 500 * 500 or h.wager
        if allowed and self.errs("double_too_large", *h.place):
            more = 2 * h.wager
        self.double(h, more)
        if allowed and points(h.cards) <= 21 and self.errs("card_to_finished_hand", *h.place):
            self.deal_void(h)
        return True

    def double(self, h: Seat, more: int) -> None:
        self.step(0.3 if len(h.cards) == 2 else 0.6)
        h.stake += more
        h.doubled = True
        self.chips(h.seat, h.stake, "player", h.number)
        self.deal(h, sideways=True)

    def hits(self, h: Seat) -> None:
        rng = self.rng
        bold = 1.0 if self.mistake == "dealer_drew_needlessly" else 0.4
        while points(h.cards) < 21 and rng.random() < (0.95 if points(h.cards) < 12 else bold):
            if len(h.cards) == 3 and self.errs("double_not_allowed", *h.place):
                self.double(h, h.wager)
                return
            if self.errs("card_against_signal", *h.place):
                self.signal(h, "stand")
            elif rng.random() < 0.2:
                self.signal(h, "hit")
            self.deal(h)
            if self.rules["charlie"] and len(h.cards) >= self.rules["charlie"] and points(h.cards) <= 21:
                return
        if points(h.cards) <= 21 and rng.random() < 0.2:
            self.signal(h, "stand")

    def bust(self, h: Seat) -> None:
        """A bust: chips and cards go, in either order or at once."""
        way = self.rng.randrange(3)
        later = [x for x in self.hands if x.seat > h.seat and not x.done and not x.natural]
        if (
            self.rules["bust_taken"] == "at_once"
            and later
            and not h.from_split
            and self.errs("bust_not_taken", *h.place, next_card=True)
        ):
            return
        self.step(0.1)
        if way == 1:
            self.emit(type="clear", seat=h.seat, hand=h.number)
            self.step(0.1)
        self.chips(h.seat, 0, "dealer", h.number)
        if way == 2:
            self.step(0.1)
        if way != 1:
            self.emit(type="clear", seat=h.seat, hand=h.number)
        h.done = h.cleared = True
