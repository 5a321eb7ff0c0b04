"""The end of a played round: the dealer's hand, what every wager is paid, and the felt cleared.

In: hands as they were played. Out: table events. Payments come from `oracle`.
"""

from __future__ import annotations

from .floor import Floor, Seat
from .oracle import insurance_owed, is_blackjack, must_draw, owed, points, side_owed, value


class Ending(Floor):
    """What a dealer does once the players are done."""

    insured: dict[int, int]
    bets: dict[tuple[int, str], int]
    strangers: list[int]
    void_from: int | None
    shown: bool

    @property
    def europe(self) -> bool:
        return bool(self.rules["hole_card"] == "none")

    @property
    def checks(self) -> bool:
        """The dealer looks for a blackjack under this upcard."""
        return not self.europe and {1: "A", 10: "ten"}.get(self.up) in self.rules["peek"]

    @property
    def bj(self) -> bool:
        return is_blackjack(self.dealer)

    @property
    def up(self) -> int:
        return value(self.dealer[0])

    def in_play(self, h: Seat) -> bool:
        charlie = self.rules["charlie"] and len(h.cards) >= self.rules["charlie"]
        return not h.done and not h.natural and not charlie and points(h.cards) <= 21

    def turn(self) -> None:
        if len(self.dealer) == 2 and not self.shown:
            self.step()
            self.shown = True
            self.emit(type="turn", seat=0, card=self.dealer[1])

    def take_insurance(self) -> None:
        for seat, stake in list(self.insured.items()):
            del self.insured[seat]
            if self.errs("insurance_not_taken", seat):
                continue
            self.step(0.2)
            if self.errs("insurance_loser_paid", seat):
                self.chips(seat, 2 * stake, "dealer", spot="insurance")
                self.step(0.2)
                self.chips(seat, 0, "player", spot="insurance")
            self.chips(seat, 0, "dealer", spot="insurance")

    # -- the dealer's hand

    def dealer_plays(self) -> None:
        live = any(self.in_play(h) for h in self.hands)
        waiting = any(not h.done for h in self.hands) or bool(self.insured) or self.bet_on_dealer()
        if self.pending is not None and self.pending[0] == "bust_not_taken":
            self.pending = None
        if not self.europe and (waiting or self.rng.random() < 0.5):
            self.turn()
        if not live and not self.europe and self.draws_needlessly():
            return
        if not waiting:
            return
        while len(self.dealer) < 2 or (live and self.draws()):
            if len(self.dealer) == 2:
                self.take_insurance()
            self.step()
            card = self.draw()
            self.dealer.append(card)
            self.emit(type="card", seat=0, card=card)
        if not self.bj:
            self.take_insurance()

    def bet_on_dealer(self) -> bool:
        return self.europe and any(bet == "bet_dealer" for _, bet in self.bets)

    def draws_needlessly(self) -> bool:
        if self.rules["dealer_draws_when_no_live_hand"] is not False or not must_draw(
            self.rules, self.dealer
        ):
            return False
        if self.insured or not self.errs("dealer_drew_needlessly"):
            return False
        self.turn()
        self.step()
        self.emit(type="card", seat=0, card=self.draw())
        return True

    def draws(self) -> bool:
        if self.planted is not None and self.planted[0] in ("dealer_drew_over", "dealer_stood_short"):
            return False  # the dealer's mistake is made
        draws = must_draw(self.rules, self.dealer)
        if not draws and points(self.dealer) < 21 and self.errs("dealer_drew_over"):
            self.void_from = len(self.dealer)
            return True
        return draws and not (len(self.dealer) > 1 and self.errs("dealer_stood_short"))

    # -- settlement

    def owed(self, h: Seat) -> int:
        """The player's net, from the documents."""
        dealer = self.dealer if self.void_from is None else self.dealer[: self.void_from]
        original = 0 if h.number else h.wager
        net = owed(self.rules, h.cards, dealer, h.stake, from_split=h.from_split, original=original)
        return int(net)

    def settle(self) -> None:
        if self.planted is not None and self.planted[0] in ("blackjack_paid_late", "insurance_not_taken"):
            self.step()  # within half a second the camera may have seen two places in the wrong order
        order = [h for h in self.hands if not h.done]
        if self.rng.random() < 0.5:
            order.reverse()
        self.settle_bets()
        for h in order:
            self.settle_hand(h)
        for seat, stake in self.insured.items():
            net = insurance_owed(self.dealer, stake)
            assert net > 0
            if self.errs("insurance_paid_short", seat):
                net -= 100
            elif self.errs("insurance_paid_over", seat):
                net += 100
            self.step(0.3)
            self.chips(seat, stake + net, "dealer", spot="insurance")
            self.step(0.3)
            self.chips(seat, 0, "player", spot="insurance")
        self.clear_all()

    def settle_bets(self) -> None:
        """Side bets, when all cards are known."""
        for (seat, bet), stake in self.bets.items():
            cards = next(h.first_two for h in self.hands if h.seat == seat)
            ratio = side_owed(bet, cards, self.dealer)
            known = bet != "bet_dealer" or self.shown or self.europe or self.checks or self.up not in (1, 10)
            self.step(0.2)
            if ratio:
                paid = stake * ratio
                if known and self.errs("side_bet_paid_short", seat):
                    paid -= 100
                elif known and self.errs("side_bet_paid_over", seat):
                    paid += 100
                self.chips(seat, stake + paid, "dealer", spot=bet)
                self.step(0.2)
                self.chips(seat, 0, "player", spot=bet)
            elif known and self.errs("side_bet_not_taken", seat):
                self.chips(seat, 0, "player", spot=bet)
            elif known and self.errs("side_bet_loser_paid", seat):
                self.chips(seat, 2 * stake, "dealer", spot=bet)
                self.step(0.2)
                self.chips(seat, 0, "player", spot=bet)
            else:
                self.chips(seat, 0, "dealer", spot=bet)

    def settle_hand(self, h: Seat) -> None:
        net, rng = self.mispaid(h, self.owed(h)), self.rng
        here = self.lies(h.seat, "main", h.number)
        if rng.random() < 0.15:
            self.step(0.1)
            self.emit(type="clear", seat=h.seat, hand=h.number)
            h.cleared = True
        if net < 0:
            self.step(0.2)
            self.chips(h.seat, here + net, "dealer", h.number)
        elif net > 0:
            if rng.random() < 0.2 and net > 1000:
                self.step(0.2)
                self.chips(h.seat, here + 500, "dealer", h.number)
            self.step(0.2)
            self.chips(h.seat, here + net, "dealer", h.number)
        h.done = True

    def comes_back(self, h: Seat) -> bool:
        """Of what lies there the dealer's blackjack takes a part or nothing, whichever hand lost the first
        wager: with a bust among them it may be gone already.
        """
        of_seat = [x for x in self.hands if x.seat == h.seat]
        return -h.stake < self.owed(h) <= 0 and not any(points(x.cards) > 21 for x in of_seat)

    def mispaid(self, h: Seat, net: int) -> int:
        """The net with a mistake in it, should one of payment be due."""
        if h.natural and net == 0:
            return net
        tie = net == 0 and not self.bj
        back = self.bj and self.comes_back(h)
        wrong = {
            "paid_over": net + 500 if net > 0 else net,
            "paid_short": net - 500 if net > 500 else net,
            "winner_taken": -h.stake if net > 0 else net,
            "winner_not_paid": 0 if net > 0 else net,
            "push_paid": h.stake if tie else net,
            "push_taken": -h.stake if tie else net,
            "loser_paid": h.stake if net == -h.stake or back else net,
            "loser_not_taken": 0 if net == -h.stake else net,
            "taken_over": -h.stake if back else net,
        }.get(self.mistake, net)
        return wrong if wrong != net and self.errs(self.mistake, *h.place) else net

    def pay(self, h: Seat, net: int) -> None:
        self.step(0.2)
        self.chips(h.seat, self.lies(h.seat, "main", h.number) + net, "dealer", h.number)

    def pick_up(self, h: Seat) -> None:
        self.step(0.2)
        self.chips(h.seat, 0, "player", h.number)
        self.step(0.2)
        self.emit(type="clear", seat=h.seat)
        h.done = h.cleared = True

    def clear_all(self) -> None:
        """Chips picked up or left for the next round; cards swept one by one, or all at one instant."""
        rng = self.rng
        way = rng.randrange(4)
        gone = []
        for h in self.hands:
            split = any(x.number for x in self.hands if x.seat == h.seat)
            if self.lies(h.seat, "main", h.number) and (split or rng.random() < 0.7):
                gone.append(h.place)
        played = {h.place for h in self.hands}
        gone += [
            (s, n) for (s, spot, n), a in self.spots.items() if spot == "main" and a and (s, n) not in played
        ]
        seats = sorted({h.seat for h in self.hands if not h.cleared} | set(self.strangers))
        self.step(0.3)
        if way == 0:  # everything at once
            for seat, number in gone:
                self.chips(seat, 0, "player", number)
            for seat in seats:
                self.emit(type="clear", seat=seat)
            self.emit(type="clear", seat=0)
        else:
            for seat, number in gone:
                self.step(0.2)
                self.chips(seat, 0, "player", number)
            if way == 1:  # the dealer's cards first
                self.step(0.1)
                self.emit(type="clear", seat=0)
            for seat in seats:
                self.step(0.1)
                self.emit(type="clear", seat=seat)
            if way != 1:
                self.step(0.1)
                self.emit(type="clear", seat=0)
        for (seat, spot, _), amount in sorted(self.spots.items()):
            if amount and spot != "main":
                self.step(0.2)
                self.chips(seat, 0, "player", spot=spot)
        self.step(1.5)
