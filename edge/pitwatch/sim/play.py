"""Plays a scripted round: who does what in which order, what every hand gets, which mistakes are made.

In: a round's wagers and a `Source` of cards and decisions. Out: `Played`: acts in order, the hands as they
ended, the staged mistake as a finding. Money is integer cents, nets negative for a loss. The little that has
to be known of a house is here and is the simulated table's own: two cards and a hole card, the dealer peeks
under an ace or a ten and stands on every 17, blackjack pays 3:2, insurance 2:1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pitwatch.cards import card_value, hand_total
from pitwatch.chips import make_change
from pitwatch.errors import UserError
from pitwatch.sim.played import Hand, Played, Source, StagedFinding
from pitwatch.sim.rounds import Act, Flow, Misplay, Stack

__all__ = ["play"]

MAX_HANDS = 4


def play(wagers: Mapping[int, Stack], source: Source, misplay: Misplay | None = None) -> Played:
    """Play one round to its end.

    Raises UserError when the source has a mistake, or the misplay finds no place in this round.
    """
    played = _Round(wagers, source, misplay).run()
    if misplay and not played.findings:
        raise UserError(
            f"the misplay {misplay.kind!r} at seat {misplay.seat}, hand {misplay.hand} cannot happen in its"
            " round of the script; choose another hand or kind"
        )
    return played


class _Round:
    def __init__(self, wagers: Mapping[int, Stack], source: Source, misplay: Misplay | None) -> None:
        self.wagers = dict(wagers)
        self.source = source
        self.misplay = misplay or Misplay("")
        self.acts: list[Act] = []
        self.findings: list[StagedFinding] = []
        self.dealer: list[str] = []
        self.dealer_void = 0
        self.hands: list[Hand] = []
        self.insurance: dict[int, int] = {}
        self.insurance_net: dict[int, int] = {}
        self.used = 0
        self.chances: set[tuple[str, int, int]] = set()
        self.pending = self.misplay.kind in ("wager_raised", "wager_cut", "live_hand_taken")
        self.passed: list[Hand] = []

    # -- small steps

    def act(self, kind: Any, seat: int, hand: int | None = 0, flow: Flow = "next", **more: Any) -> None:
        self.acts.append(Act(kind, seat, hand, flow=flow, **more))

    def stage(
        self, kind: str, seat: int, hand: int = 0, expected: int | None = None, observed: int | None = None
    ) -> None:
        self.findings.append(StagedFinding(kind, seat, hand, expected, observed, len(self.acts) - 1))

    def wrong(self, kind: str, hand: Hand | None = None) -> bool:
        m = self.misplay
        return m.kind == kind and (hand is None or (m.seat, m.hand) == (hand.seat, hand.number))

    def draw(self) -> str:
        self.used += 1
        return self.source.card()

    def of_seat(self, seat: int) -> list[Hand]:
        return [h for h in self.hands if h.seat == seat]

    @property
    def up(self) -> str:
        return self.dealer[0]

    @property
    def dealer_total(self) -> int:
        return hand_total(self.dealer[: len(self.dealer) - self.dealer_void]).value

    @property
    def dealer_blackjack(self) -> bool:
        return len(self.dealer) == 2 and self.dealer_total == 21

    # -- the round

    def run(self) -> Played:
        self.wager()
        self.deal()
        if self.before_play():
            for seat in sorted(self.wagers):
                for hand in self.of_seat(seat):
                    self.turn_of(hand)
            self.draw_dealer()
        self.settle()
        self.finish()
        return Played(
            tuple(self.acts),
            tuple(sorted(self.hands, key=lambda h: (h.seat, h.number))),
            tuple(self.dealer),
            tuple((s, self.insurance[s], self.insurance_net[s]) for s in sorted(self.insurance)),
            tuple(self.findings),
            self.used,
            frozenset(self.chances),
        )

    def wager(self) -> None:
        flow: Flow = "next"
        for seat in sorted(self.wagers):
            self.act("put", seat, role="wager", chips=self.wagers[seat], flow=flow)
            flow = "overlap"

    def deal(self) -> None:
        skipped = self.misplay.seat if self.wrong("seat_not_dealt") else None
        seats = [s for s in sorted(self.wagers) if s != skipped]
        for seat in seats:
            cents = sum(self.wagers[seat])
            self.hands.append(Hand(seat, 0, [], cents, cents))
        flow: Flow = "next"
        for lap in (0, 1):
            for hand in self.hands:
                self.card_to(hand, flow)
                flow = "chain"
            face_up = lap == 0 or self.wrong("hole_exposed_early")
            self.dealer.append(self.draw())
            self.act("card", 0, card=self.dealer[-1], face_up=face_up, flow=flow)
            if lap == 0 and self.wrong("wager_late"):
                self.act("put", self.misplay.seat, role="wager", chips=self.misplay.chips)
                self.stage("wager_late", self.misplay.seat)
                flow = "next"
        if self.wrong("hole_exposed_early"):
            self.stage("hole_exposed_early", 0)
        if skipped is not None:
            self.stage("seat_not_dealt", skipped)

    def card_to(self, hand: Hand, flow: Flow = "next", sideways: bool = False, role: str = "") -> None:
        hand.cards.append(self.draw())
        self.act("card", hand.seat, hand.number, card=hand.cards[-1], sideways=sideways, flow=flow, role=role)

    def before_play(self) -> bool:
        """Blackjacks, insurance and the peek; False when the dealer has a blackjack and nobody plays."""
        naturals = [h for h in reversed(self.hands) if h.blackjack]
        if card_value(self.up) not in (1, 10):
            for hand in naturals:
                self.pay_natural(hand)
            return True
        if card_value(self.up) == 1:
            self.offer_insurance()
        for hand in naturals:
            if self.wrong("blackjack_paid_early", hand):
                self.act("pay", hand.seat, 0, chips=make_change(hand.stake * 3 // 2))
                self.stage("blackjack_paid_early", hand.seat)
            elif not self.dealer_blackjack and card_value(self.up) == 10:
                self.chances.add(("blackjack_paid_early", hand.seat, 0))
        self.act("peek", 0)
        if self.dealer_blackjack:
            self.act("turn", 0, card=self.dealer[1])
            return False
        flow: Flow = "next"
        for seat in sorted(self.insurance, reverse=True):
            self.insurance_net[seat] = -self.insurance[seat]
            if self.misplay.kind == "insurance_not_taken" and self.misplay.seat == seat:
                continue
            self.act("take", seat, spot="insurance", flow=flow)
        for hand in naturals:
            if hand.payout is None:
                self.pay_natural(hand)
        return True

    def offer_insurance(self) -> None:
        flow: Flow = "next"
        for hand in self.hands:
            if hand.blackjack and self.source.even_money(hand.seat):
                self.act("pay", hand.seat, chips=make_change(hand.stake))
                hand.due = hand.payout = hand.stake
                hand.outcome = "even money"
                self.collect(hand)
                flow = "next"
                continue
            chips = self.source.insure(hand.seat, self.wagers[hand.seat])
            if not chips:
                continue
            if self.misplay.kind == "insurance_too_large" and self.misplay.seat == hand.seat:
                chips = self.misplay.chips
            self.act("put", hand.seat, spot="insurance", role="insurance", chips=chips, flow=flow)
            self.insurance[hand.seat] = sum(chips)
            if sum(chips) * 2 > hand.stake:
                self.stage("insurance_too_large", hand.seat)
            self.chances.add(("insurance_too_large", hand.seat, 0))
            flow = "overlap"

    def pay_natural(self, hand: Hand) -> None:
        """A blackjack is paid, picked up and cleared before play goes on."""
        hand.due = hand.payout = hand.stake * 3 // 2
        hand.outcome = "blackjack"
        if self.wrong("blackjack_paid_even", hand):
            hand.payout = sum(self.misplay.chips)
            self.act("pay", hand.seat, chips=self.misplay.chips)
            self.stage("paid_short", hand.seat, 0, hand.due, hand.payout)
        elif not self.wrong("blackjack_paid_early", hand):
            self.act("pay", hand.seat, chips=make_change(hand.due))
        self.collect(hand)

    def collect(self, hand: Hand) -> None:
        """The player picks up what lies there, the dealer clears the cards."""
        self.act("pickup", hand.seat, hand.number)
        self.act("clear", hand.seat, hand.number if len(self.of_seat(hand.seat)) > 1 else None)
        hand.chips_lie = hand.lying = False

    def turn_of(self, hand: Hand) -> None:
        """One hand after the other; a split makes further hands, played after this one."""
        queue = [hand]
        while queue:
            h = queue.pop(0)
            if h.payout is None and h.lying:
                self.play_hand(h)
            fresh = [n for n in self.of_seat(h.seat) if n.number > h.number and len(n.cards) == 1]
            queue = sorted(fresh, key=lambda n: n.number)

    def play_hand(self, hand: Hand) -> None:
        if len(hand.cards) == 1:
            self.card_to(hand)
        while hand.total < 21:
            first_two = len(hand.cards) == 2
            aces = hand.split and card_value(hand.cards[0]) == 1
            pair = first_two and card_value(hand.cards[0]) == card_value(hand.cards[1])
            can_split = pair and len(self.of_seat(hand.seat)) < MAX_HANDS
            if aces and not can_split:
                break
            said = self.source.decide(
                hand.seat, tuple(hand.cards), self.up, first_two and not aces, can_split
            )
            if said == "split":
                self.split(hand)
            elif said == "double":
                self.double(hand)
                break
            elif said == "hit" and not aces:
                self.card_to(hand, role="hit")
                self.meanwhile(hand)
            else:
                break
        if hand.total > 21:
            self.bust(hand)
        else:
            self.passed.append(hand)

    def split(self, hand: Hand) -> None:
        number = len(self.of_seat(hand.seat))
        chips = self.wagers[hand.seat]
        wrong = self.misplay.kind == "split_wager_mismatch" and (self.misplay.seat, self.misplay.hand) == (
            hand.seat,
            number,
        )
        if wrong:
            chips = self.misplay.chips
        self.act("split", hand.seat, hand.number, to=number)
        self.act("put", hand.seat, number, role="split", chips=chips)
        if wrong:
            self.stage("split_wager_mismatch", hand.seat, number)
        self.chances.add(("split_wager_mismatch", hand.seat, number))
        new = Hand(hand.seat, number, [hand.cards.pop()], sum(chips), sum(chips), split=True)
        hand.split = True
        self.hands.append(new)
        self.card_to(hand)

    def double(self, hand: Hand) -> None:
        chips = self.wagers[hand.seat]
        if sum(chips) != hand.stake:
            chips = make_change(hand.stake)
        if self.wrong("double_too_large", hand):
            chips = self.misplay.chips
        self.act("put", hand.seat, hand.number, role="double", chips=chips)
        if self.wrong("double_too_large", hand):
            self.stage("double_too_large", hand.seat, hand.number)
        hand.stake += sum(chips)
        hand.doubled = True
        self.card_to(hand, sideways=True)
        if hand.total > 21:
            return
        self.chances.add(("card_to_finished_hand", hand.seat, hand.number))
        if self.wrong("card_to_finished_hand", hand):
            self.card_to(hand)
            hand.void = 1
            self.stage("card_to_finished_hand", hand.seat, hand.number)

    def bust(self, hand: Hand) -> None:
        hand.due = hand.payout = -hand.stake
        hand.outcome = "bust"
        others = [h for h in self.of_seat(hand.seat) if h is not hand]
        self.act("take", hand.seat, hand.number)
        self.act("clear", hand.seat, hand.number if others else None, flow="same")
        hand.chips_lie = hand.lying = False

    def meanwhile(self, at: Hand) -> None:
        """After a card to a later seat: hands that were passed are there to be tampered with."""
        for hand in self.passed:
            if hand.seat >= at.seat or hand.doubled or hand.split or hand.payout is not None:
                continue
            for kind in ("wager_raised", "wager_cut", "live_hand_taken"):
                self.chances.add((kind, hand.seat, hand.number))
            if not self.pending or not self.wrong(self.misplay.kind, hand):
                continue
            self.pending = False
            chips = self.misplay.chips
            if self.misplay.kind == "wager_raised":
                self.act("put", hand.seat, hand.number, role="raise", chips=chips)
                hand.stake += sum(chips)
                self.stage("wager_raised", hand.seat, hand.number)
            elif self.misplay.kind == "wager_cut":
                self.act("cut", hand.seat, hand.number, chips=chips)
                hand.stake -= sum(chips)
                self.stage("wager_cut", hand.seat, hand.number)
            else:
                hand.due, hand.payout, hand.outcome = None, -hand.stake, "taken"
                self.act("take", hand.seat, hand.number)
                self.stage("live_hand_taken", hand.seat, hand.number)
                self.act("clear", hand.seat, None, flow="same")
                hand.chips_lie = hand.lying = False

    def draw_dealer(self) -> None:
        if not self.wrong("hole_exposed_early"):
            self.act("turn", 0, card=self.dealer[1])
        live = [h for h in self.hands if h.payout is None]
        if not live:
            return
        short = self.misplay.total if self.wrong("dealer_stood_short") else None
        while self.dealer_total < 17:
            if short is not None and self.dealer_total >= short:
                self.stage("dealer_stood_short", 0, 0, None, self.dealer_total)
                break
            self.chances.add(("dealer_stood_short", 0, self.dealer_total))
            self.dealer.append(self.draw())
            self.act("card", 0, card=self.dealer[-1])
        else:
            if self.dealer_total <= 21:
                self.chances.add(("dealer_drew_over", 0, 0))
            if self.wrong("dealer_drew_over"):
                standing = self.dealer_total
                self.dealer.append(self.draw())
                self.dealer_void = 1
                self.act("card", 0, card=self.dealer[-1])
                self.stage("dealer_drew_over", 0, 0, standing, None)

    # -- settling

    def net(self, hand: Hand) -> int:
        """What the hand is owed at the end."""
        mine, theirs = hand.total, self.dealer_total
        if self.dealer_blackjack:
            return 0 if hand.blackjack else -hand.stake
        if theirs > 21 or mine > theirs:
            return hand.stake
        if mine < theirs:
            return -hand.stake
        # a two-card 21 after a split beats a 21 of more cards
        return hand.stake if mine == 21 and len(hand.counted) == 2 and len(self.dealer) > 2 else 0

    def settle(self) -> None:
        open_hands = sorted((h for h in self.hands if h.payout is None), key=lambda h: (-h.seat, -h.number))
        for hand in open_hands:
            due = hand.due = self.net(hand)
            hand.outcome = "won" if due > 0 else "pushed" if due == 0 else "lost"
            hand.payout = self.pay_or_take(hand, due)
            if hand.payout != due:
                self.stage(self.named(due, hand.payout), hand.seat, hand.number, due, hand.payout)
        if self.dealer_blackjack:
            for seat in sorted(self.insurance, reverse=True):
                won = 2 * self.insurance[seat]
                self.insurance_net[seat] = won
                if self.misplay.kind == "insurance_paid_short" and self.misplay.seat == seat:
                    self.insurance_net[seat] = sum(self.misplay.chips)
                self.act("pay", seat, spot="insurance", chips=make_change(self.insurance_net[seat]))
                if self.insurance_net[seat] != won:
                    self.stage("insurance_paid_short", seat, 0, won, self.insurance_net[seat])
        elif self.misplay.kind == "insurance_not_taken":
            seat = self.misplay.seat
            self.act("take", seat, spot="insurance")
            net = self.insurance_net[seat]
            self.stage("insurance_not_taken", seat, 0, net, None)

    def pay_or_take(self, hand: Hand, due: int) -> int:
        """Do to this hand what the dealer does; returns the net that it got."""
        kind = self.misplay.kind if self.wrong(self.misplay.kind, hand) else ""
        if kind in ("winner_taken", "push_taken") or (
            due < 0 and kind not in ("loser_paid", "loser_not_taken")
        ):
            self.act("take", hand.seat, hand.number)
            hand.chips_lie = False
            return -hand.stake
        chips: Stack = ()
        if kind in ("paid_short", "paid_over", "push_paid", "loser_paid", "double_paid_single"):
            chips = self.misplay.chips
        elif due > 0 and kind != "winner_not_paid":
            chips = make_change(due)
        if chips:
            self.act("pay", hand.seat, hand.number, chips=chips)
        return sum(chips)

    def named(self, due: int, paid: int) -> str:
        if due > 0:
            if paid <= 0:
                return "winner_taken" if paid < 0 else "winner_not_paid"
            return "paid_short" if paid < due else "paid_over"
        if due == 0:
            return "push_paid" if paid > 0 else "push_taken"
        return "loser_paid" if paid > 0 else "loser_not_taken"

    def finish(self) -> None:
        """The players take up their chips, the dealer sweeps the cards."""
        late: list[Hand] = []
        flow: Flow = "next"
        for seat in sorted({*self.wagers, self.misplay.seat} - {0}):
            again = False
            for hand in self.of_seat(seat):
                if not hand.chips_lie:
                    continue
                if self.wrong("loser_not_taken", hand) or self.wrong("loser_paid", hand):
                    late.append(hand)
                    continue
                self.act("pickup", seat, hand.number, flow="same" if again else flow)
                again, flow = True, "overlap"
            undealt = (seat in self.wagers or self.wrong("wager_late")) and not self.of_seat(seat)
            if undealt:
                self.act("pickup", seat, flow=flow)
                flow = "overlap"
            if self.dealer_blackjack and seat in self.insurance:
                self.act("pickup", seat, spot="insurance", flow="same" if again else flow)
                flow = "overlap"
        flow = "next"
        for seat in sorted({h.seat for h in self.hands if h.lying}, reverse=True):
            self.act("clear", seat, None, flow=flow)
            flow = "same"
        for hand in late:
            # once his cards are gone it is certain, whoever's arm was seen, that a loser keeps his chips
            self.act("pickup", hand.seat, hand.number)
            flow = "next"
        self.act("clear", 0, None, flow=flow)
