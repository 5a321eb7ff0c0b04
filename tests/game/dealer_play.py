"""A table that plays: legal rounds under one house's rules, as the table events a camera would report.

Its rules are written anew here, slowly and plainly from the documents, so that the audit is held against
something other than itself. A mistake of a named kind is planted when the chance comes.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

from pitwatch.game.events import TableEvent, event_from_json

RANKS = "A23456789TJQK"


def points(cards: list[str]) -> int:
    values = [min(RANKS.index(c[0]) + 1, 10) for c in cards]
    best = sum(values)
    for _ in range(values.count(1)):
        if best + 10 <= 21:
            best += 10
    return best


def is_soft(cards: list[str]) -> bool:
    return points(cards) != sum(min(RANKS.index(c[0]) + 1, 10) for c in cards)


class Seat:
    def __init__(self, seat: int, number: int, wager: int) -> None:
        self.seat, self.number, self.wager, self.stake = seat, number, wager, wager
        self.cards: list[str] = []
        self.from_split = self.doubled = self.done = self.cleared = False

    @property
    def natural(self) -> bool:
        return len(self.cards) == 2 and points(self.cards) == 21 and not self.from_split


class Play:
    """Plays rounds; `events` grows. `mistake`: the kind to plant once, when the chance comes."""

    def __init__(self, rng: Random, rules: dict[str, Any], seats: int = 5, mistake: str = "") -> None:
        self.rng, self.rules, self.seats, self.mistake = rng, rules, seats, mistake
        self.planted: tuple[str, int] | None = None
        self.t = 1.0
        self.events: list[TableEvent] = []
        self.spots: dict[tuple[int, str, int], int] = {}
        self.shoe: list[str] = []

    # -- events

    def step(self, least: float = 0.6) -> None:
        self.t = round(self.t + least + self.rng.random(), 2)

    def emit(self, **fields: Any) -> None:
        self.events.append(event_from_json({"t": self.t, **fields}))

    def chips(self, seat: int, amount: int, by: str | None, hand: int = 0, spot: str = "main") -> None:
        if self.spots.get((seat, spot, hand), 0) == amount:
            return
        self.spots[seat, spot, hand] = amount
        if self.rng.random() < 0.25:
            by = None
        self.emit(type="chips", seat=seat, spot=spot, hand=hand, amount=amount, by=by)

    def draw(self) -> str:
        if len(self.shoe) < 60:
            self.shoe = [r + s for r in RANKS for s in "cdhs"] * 6
            self.rng.shuffle(self.shoe)
            self.emit(type="table", state="shuffle")
            self.emit(type="table", state="open")
        return self.shoe.pop()

    def deal(self, h: Seat, **more: Any) -> None:
        self.step()
        card = self.draw()
        h.cards.append(card)
        self.emit(type="card", seat=h.seat, hand=h.number, card=card, **more)

    # -- a round

    def round(self) -> None:
        rng, rules = self.rng, self.rules
        if len(self.shoe) < 120:
            self.shoe = []
            self.shoe.insert(0, self.draw())
        self.step()
        hands: list[Seat] = []
        for seat in range(1, self.seats + 1):
            if rng.random() < 0.7 or self.spots.get((seat, "main", 0)):
                wager = self.spots.get((seat, "main", 0)) or rng.choice((1000, 1500, 2500, 5000, 7500))
                self.step(0.3)
                self.chips(seat, wager, "player")
                hands.append(Seat(seat, 0, self.spots[seat, "main", 0]))
        if not hands:
            self.step()
            self.chips(1, 2500, "player")
            hands.append(Seat(1, 0, 2500))
        self.dealer: list[str] = []
        self.hands = hands
        europe = rules["hole_card"] == "none"
        for nth in (0, 1):
            for h in hands:
                self.deal(h)
            if nth == 0 or not europe:
                self.step()
                card = self.draw()
                self.dealer.append(card)
                down = nth == 1
                self.emit(type="card", seat=0, card=None if down else card, face="down" if down else "up")
        up = self.dealer[0]
        value = min(RANKS.index(up[0]) + 1, 10)
        checks = not europe and (
            (value == 1 and "A" in rules["peek"]) or (value == 10 and "ten" in rules["peek"])
        )
        insured: dict[int, int] = {}
        if value == 1 and rules["insurance"]:
            for h in hands:
                if rng.random() < 0.4 and not h.natural:
                    self.step(0.3)
                    insured[h.seat] = h.wager // 200 * 100
                    self.chips(h.seat, insured[h.seat], "player", spot="insurance")
                elif h.natural and rules["even_money"] and rng.random() < 0.5 and checks:
                    self.pay(h, h.wager)
                    self.pick_up(h)
        bj = len(self.dealer) == 2 and points(self.dealer) == 21
        if checks:
            self.step()
            self.emit(type="peek")
            if bj:
                self.turn()
                self.settle(insured)
                return
            self.take_insurance(insured)
        if rules["blackjack_paid"] == "at_once" and not checks and value not in (1, 10):
            for h in hands:
                if h.natural:
                    self.pay(h, self.natural_pay(h))
                    self.pick_up(h)
        for h in tuple(hands):
            if not h.done and not h.natural:
                self.play(h)
        self.dealer_plays(europe, insured)
        self.settle(insured)

    def natural_pay(self, h: Seat) -> int:
        return int(h.wager * Fraction(self.rules["blackjack_pays"].replace(":", "/")))

    def turn(self) -> None:
        if len(self.dealer) == 2:
            self.step()
            self.emit(type="turn", seat=0, card=self.dealer[1])

    def take_insurance(self, insured: dict[int, int]) -> None:
        for seat in list(insured):
            if self.spots.get((seat, "insurance", 0)):
                self.step(0.2)
                self.chips(seat, 0, "dealer", spot="insurance")
            del insured[seat]

    def play(self, h: Seat) -> None:
        rng, rules = self.rng, self.rules
        hands_of_seat = [x for x in self.hands if x.seat == h.seat]
        aces = h.from_split and h.cards[0][0] == "A"
        if len(h.cards) == 1:
            self.deal(h)
        pair = len(h.cards) == 2 and (
            h.cards[0][0] == h.cards[1][0]
            if rules["split_by"] == "rank"
            else points([h.cards[0]]) == points([h.cards[1]])
        )
        limit = rules["max_hands"] or 4
        if (
            pair
            and len(hands_of_seat) < limit
            and not (aces and not rules["resplit_aces"])
            and rng.random() < 0.6
        ):
            new = Seat(h.seat, max(x.number for x in hands_of_seat) + 1, h.wager)
            new.from_split = h.from_split = True
            first = rng.random() < 0.5
            self.step(0.3)
            if first:
                self.chips(h.seat, h.wager, "player", new.number)
                self.step(0.3)
            self.emit(type="move", seat=h.seat, hand=h.number, to=new.number, by="dealer")
            new.cards.append(h.cards.pop())
            if not first:
                self.step(0.3)
                self.chips(h.seat, h.wager, "player", new.number)
            self.hands.insert(self.hands.index(h) + 1, new)
            self.play(h)
            self.play(new)
            return
        if aces:
            return
        if h.natural:
            return
        allowed = (
            points(h.cards)
            in {
                "any_two": range(22),
                "9-11": (9, 10, 11),
                "10-11": (10, 11),
                "11": (11,),
            }[rules["double_on"]]
        )
        allowed = allowed and (points(h.cards) != 21 or rules["double_on_21"])
        allowed = allowed and (not h.from_split or rules["double_after_split"])
        if allowed and rng.random() < 0.3:
            more = (
                h.wager
                if not rules["double_for_less"] or rng.random() < 0.8
                else h.wager // 2 // 500 * 500 or h.wager
            )
            self.step(0.3)
            h.stake += more
            h.doubled = True
            self.chips(h.seat, h.stake, "player", h.number)
            self.deal(h, sideways=True)
        else:
            while points(h.cards) < 21 and rng.random() < (0.95 if points(h.cards) < 12 else 0.4):
                self.deal(h)
                if rules["charlie"] and len(h.cards) >= rules["charlie"] and points(h.cards) <= 21:
                    break
        if points(h.cards) > 21:
            self.sweep_one(h)

    def sweep_one(self, h: Seat) -> None:
        """A bust: chips and cards go, in either order or at once."""
        way = self.rng.randrange(3)
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

    def in_play(self, h: Seat) -> bool:
        charlie = self.rules["charlie"] and len(h.cards) >= self.rules["charlie"]
        return not h.done and not h.natural and not charlie

    def dealer_plays(self, europe: bool, insured: dict[int, int]) -> None:
        live = any(self.in_play(h) for h in self.hands)
        waiting = any(not h.done for h in self.hands)
        if europe:
            if not waiting and not insured:
                return
        elif waiting or insured or self.rng.random() < 0.5:
            self.turn()
        if not waiting and not insured:
            return
        while len(self.dealer) < 2 or (live and self.must_draw()):
            if len(self.dealer) == 2:
                self.take_insurance(insured)
            self.step()
            card = self.draw()
            self.dealer.append(card)
            self.emit(type="card", seat=0, card=card)
        if not (len(self.dealer) == 2 and points(self.dealer) == 21):
            self.take_insurance(insured)

    def must_draw(self) -> bool:
        total, soft = points(self.dealer), is_soft(self.dealer)
        if self.planted is not None and self.planted[1] == 0:
            return False  # the dealer's mistake is made
        draws = total < 17 or (total == 17 and soft and self.rules["dealer_soft_17"] == "hit")
        if self.mistake == "dealer_drew_over" and not draws and total < 21:
            self.planted, self.void_from = (self.mistake, 0), len(self.dealer)
            return True
        if self.mistake == "dealer_stood_short" and draws:
            self.planted = (self.mistake, 0)
            return False
        return draws

    # -- settlement

    def owed(self, h: Seat) -> int:
        """The player's net, from the documents."""
        rules = self.rules
        dealer = self.dealer
        if self.planted and self.planted[0] == "dealer_drew_over":
            dealer = dealer[: self.void_from]
        dealer_natural = len(dealer) == 2 and points(dealer) == 21
        mine, theirs = points(h.cards), points(dealer)
        if mine > 21:
            return -h.stake
        if rules["charlie"] and len(h.cards) >= rules["charlie"]:
            return h.stake
        if h.natural:
            return 0 if dealer_natural else self.natural_pay(h)
        if dealer_natural:
            if rules["dealer_blackjack_takes"] == "original":
                return 0 if h.number else -h.wager
            return -h.stake
        if theirs > 21 or mine > theirs:
            return h.stake
        if mine < theirs:
            return -h.stake
        if mine == 21 and len(h.cards) == 2 and len(dealer) > 2 and rules["two_card_21_beats_more"]:
            return h.stake
        return 0

    def settle(self, insured: dict[int, int]) -> None:
        order = [h for h in self.hands if not h.done]
        if self.rng.random() < 0.5:
            order.reverse()
        for h in order:
            self.settle_hand(h)
        for seat, stake in insured.items():
            self.step(0.3)
            self.chips(seat, 3 * stake, "dealer", spot="insurance")
            self.step(0.3)
            self.chips(seat, 0, "player", spot="insurance")
        self.clear_all()

    def settle_hand(self, h: Seat) -> None:
        net, rng = self.owed(h), self.rng
        net = self.mispaid(h, net)
        here = self.spots.get((h.seat, "main", h.number), 0)
        early = rng.random() < 0.15
        if early:
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

    def mispaid(self, h: Seat, net: int) -> int:
        if self.planted is not None or not self.mistake:
            return net
        wrong = {
            "paid_over": net + 500 if net > 0 else net,
            "paid_short": net - 500 if net > 500 else net,
            "winner_taken": -h.stake if net > 0 else net,
            "winner_not_paid": 0 if net > 0 else net,
            "push_paid": h.stake if net == 0 else net,
            "push_taken": -h.stake if net == 0 else net,
            "loser_paid": h.stake if net == -h.stake else net,
            "loser_not_taken": 0 if net == -h.stake else net,
        }.get(self.mistake, net)
        if h.natural and net == 0:
            return net
        if wrong != net:
            self.planted = (self.mistake, h.seat)
        return wrong

    def pay(self, h: Seat, net: int) -> None:
        self.step(0.2)
        self.chips(h.seat, self.spots[h.seat, "main", h.number] + net, "dealer", h.number)

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
            here = self.spots.get((h.seat, "main", h.number), 0)
            split = any(x.number for x in self.hands if x.seat == h.seat)
            if here and (split or rng.random() < 0.7):
                gone.append(h)
        self.step(0.3)
        if way == 0:  # everything at once
            for h in gone:
                self.chips(h.seat, 0, "player", h.number)
            for seat in sorted({h.seat for h in self.hands if not h.cleared}):
                self.emit(type="clear", seat=seat)
            self.emit(type="clear", seat=0)
        else:
            for h in gone:
                self.step(0.2)
                self.chips(h.seat, 0, "player", h.number)
            if way == 1:  # the dealer's cards first
                self.step(0.1)
                self.emit(type="clear", seat=0)
            for seat in sorted({h.seat for h in self.hands if not h.cleared}):
                self.step(0.1)
                self.emit(type="clear", seat=seat)
            if way != 1:
                self.step(0.1)
                self.emit(type="clear", seat=0)
        self.step(1.5)


def random_rules(rng: Random) -> dict[str, Any]:
    """A house: every rule that the play above follows, at random."""
    none = rng.random() < 0.15
    return {
        "profile": rng.choice(("greektown", "celebrity", "signage")),
        "dealer_soft_17": rng.choice(("stand", "hit")),
        "hole_card": "none" if none else "dealt",
        "peek": [] if none else rng.choice((["A", "ten"], ["A"], [])),
        "blackjack_pays": rng.choice(("3:2", "6:5", "1:1")),
        "blackjack_paid": rng.choice(("at_once", None)),
        "even_money": rng.choice((True, False)),
        "dealer_blackjack_takes": rng.choice(("all", "original")),
        "two_card_21_beats_more": rng.choice((True, False)),
        "double_on": rng.choice(("any_two", "9-11", "10-11", "11")),
        "double_on_21": rng.choice((True, False)),
        "double_for_less": rng.choice((True, False)),
        "double_after_split": rng.choice((True, False)),
        "split_by": rng.choice(("value", "rank")),
        "max_hands": rng.choice((2, 4, None)),
        "resplit_aces": rng.choice((True, False)),
        "split_ace_ten_is_blackjack": False,
        "insurance": rng.choice((None, {"upcard": "A", "limit": "1/2", "pays": "2:1"})),
        "insurance_until": rng.choice(("first_draw", "peek", None)),
        "charlie": rng.choice((0, 0, 5, 6)),
        "burn": None,
        "side_bets": {},
    }
