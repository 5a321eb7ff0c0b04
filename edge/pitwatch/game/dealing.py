"""Cards: the deal, the players' draws, splits, the dealer's hole card and draws.

In: card, turn, move, gone and clear events, through the round. Out: findings about how cards were dealt.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

from pitwatch.game.events import CardLaid, Clear, Gone, Move, TableEvent, Turn
from pitwatch.game.hand import Hand
from pitwatch.game.playing import end_of_turn, pass_others, pending_double, resolve_drop
from pitwatch.game.round import SLACK, Dealt, Round
from pitwatch.game.settling import begin_all, begin_hand, confirm_short, try_close
from pitwatch.game.sidebets import wants_a_dealer
from pitwatch.rules.actions import split_forbidden_by
from pitwatch.rules.hands import dealer_hands

__all__ = [
    "begin_play",
    "best_draws",
    "in_best_order",
    "on_card",
    "on_clear",
    "on_gone",
    "on_move",
    "on_turn",
    "without_split_wager",
]


def on_card(rnd: Round, e: CardLaid) -> None:
    """A further card lies with a hand."""
    if e.seat == 0:
        _dealer_card(rnd, e)
    else:
        _player_card(rnd, e)


def hand_of(rnd: Round, seat: int, number: int) -> Hand:
    """The hand, begun now when it was not there."""
    key = (seat, number)
    if key not in rnd.hands:
        rnd.hands[key] = Hand(seat, number, rnd.box(seat, "main", number), rnd.profile)
        if number:
            for h in rnd.of_seat(seat):
                h.doubt = "a split of this seat was not seen"
    return rnd.hands[key]


def _note(hand: Hand, e: TableEvent) -> None:
    hand.confidence = min(hand.confidence, e.confidence)
    if e.evidence:
        hand.evidence = e.evidence


def _player_card(rnd: Round, e: CardLaid) -> None:
    hand = hand_of(rnd, e.seat, e.hand)
    _note(hand, e)
    hand.last_card = e.t
    if e.face == "down":
        hand.down.add(len(hand.cards))
        rnd.say("card_face_wrong", e.seat, e.hand)
    if len(hand.cards) < 2 and not hand.from_split:
        if not hand.cards and rnd.box(e.seat).empty and not rnd.of_seat(e.seat)[1:]:
            rnd.wait(lambda: _without_wager(rnd, e.seat))
        if not hand.gone:  # a card that is laid back was dealt before
            rnd.dealt.append(Dealt(e.t, e.seat, len(hand.cards)))
        hand.cards.append(e.card)
        return
    _further_card(rnd, hand, e)


def _without_wager(rnd: Round, seat: int) -> None:
    if rnd.box(seat).empty and not rnd.said("wager_late", seat) and not rnd.said("wager_cut", seat):
        rnd.say("card_without_wager", seat)


def _further_card(rnd: Round, hand: Hand, e: CardLaid) -> None:
    begin_play(rnd)
    second = len(hand.cards) == 1  # of a split hand
    if hand.growth is None and hand.box.settling and not hand.surely(lambda s: bool(s.over)):
        _not_settled_yet(hand)
    pending_double(rnd, hand, e)
    pass_others(rnd, hand)
    before = hand.standings
    finished = {s.over for s in before}
    stood = hand.stood
    hand.stood = False
    unchecked = rnd.profile.peek_seen and rnd.peeked is None and rnd.needs_check() and not rnd.dealer_acts
    if unchecked and not any(f.kind == "peek_missed" for f in rnd.findings):  # the dealer's, once a round
        rnd.say("peek_missed", hand.seat, hand.number)
    if "" not in finished and not (hand.foul and len(hand.counted) == hand.doubled_at):
        reason = finished.pop() if len(finished) == 1 else "doubled"
        if hand.maybe_doubled and hand.doubled_at == len(hand.counted) and reason != "busted":
            hand.doubt = hand.doubt or "whether this hand was doubled could not be read"
        else:
            rnd.say("card_to_finished_hand", hand.seat, hand.number, reason=reason)
    elif rnd.passed(hand):
        hand.passed_cards.add(len(hand.cards))
        rnd.say("card_to_finished_hand", hand.seat, hand.number, reason="passed")
    else:
        if stood:
            rnd.say("card_against_signal", hand.seat, hand.number)
        elif (
            rnd.turned is not None
            and e.t > rnd.turned + SLACK
            and rnd.profile.hole_card == "dealt"
            and (rnd.dealer_natural is False or rnd.needs_check() is False)
        ):
            rnd.say("hole_exposed_early")
        _sequence(rnd, hand, second)
    if rnd.drew is None:
        rnd.drew = e.t
    hand.cards.append(e.card)
    if not second:
        hand.played = True
    elif hand.box.amount is not None:
        rnd.wait(lambda: _match_split(rnd, hand))
    rnd.act(hand.seat)
    resolve_drop(rnd, hand, by_card=True)
    if hand.bust or hand.surely(lambda s: s.over == "charlie"):
        begin_hand(hand)
    _bust_left(rnd, hand)


def _not_settled_yet(hand: Hand) -> None:
    """What looked like settlement was a double on a hand that was still to be played."""
    steps = hand.box.steps
    if not any((s.delta or 0) > 0 and s.by == "dealer" for s in steps):
        start, amount = hand.box.start, hand.box.amount
        hand.box.undo()
        if (start is not None and amount is not None and amount > start) or hand.box.doubt:
            hand.maybe_doubled, hand.doubled_at = True, len(hand.cards)


def _sequence(rnd: Round, hand: Hand, second: bool) -> None:
    """An earlier hand of the seat gets a card after a later one was played."""
    for other in rnd.of_seat(hand.seat):
        if other is hand or not hand.from_split:
            continue
        later = _after(rnd, other, hand)
        if later and (other.played or (rnd.profile.split_second_card == "in_turn" and len(other.cards) >= 2)):
            rnd.say("split_sequence", hand.seat, other.number)


def _after(rnd: Round, other: Hand, hand: Hand) -> bool:
    """Whether `other` surely comes after `hand`: both by number and by where the cards lie."""
    numbers = [h.number for h in rnd.of_seat(hand.seat)]
    places = rnd.places(hand.seat)
    if hand.number not in places or other.number not in places:
        return False
    return numbers.index(other.number) > numbers.index(hand.number) and places.index(
        other.number
    ) > places.index(hand.number)


def _bust_left(rnd: Round, acting: Hand) -> None:
    if rnd.profile.bust_taken != "at_once":
        return
    for h in rnd.open_hands():
        if h is not acting and h.bust and h.box.settling and h.box.amount and not h.box.steps:
            rnd.wait(lambda h=h: _still_there(rnd, h))  # type: ignore[misc]


def _still_there(rnd: Round, hand: Hand) -> None:
    if hand.box.amount and not hand.box.steps:
        rnd.say("bust_not_taken", hand.seat, hand.number)


def _match_split(rnd: Round, hand: Hand) -> None:
    """The new hand of a split must carry the original's wager."""
    base, laid = hand.split_base, hand.growth.base if hand.growth is not None else hand.box.known
    if hand.box.settling and hand.box.start is not None:
        laid = hand.box.start
    if not hand.number or base is None or hand.box.amount is None or laid == 0 or laid == base:
        return
    if hand.doubled_at is not None or hand.maybe_doubled or rnd.said("split_not_allowed", hand.seat):
        return
    first = rnd.hands.get((hand.seat, 0))
    if first is None or first.box.opened is None:
        return  # it is held against another new hand, and which of the two is wrong cannot be told
    rnd.say("split_wager_mismatch", hand.seat, hand.number, expected=base, observed=laid)


def without_split_wager(rnd: Round) -> None:
    """Nobody plays any more: a new hand of a split on which no chips ever lay was begun without a wager."""
    for h in rnd.in_order():
        base = h.split_base
        if not h.number or base is None or h.doubt or h.dead or h.box.used or len(h.cards) < 2:
            continue
        # chips may have been laid beside another hand of the seat and counted with it
        together = any(_more_than(x, base) for x in rnd.of_seat(h.seat) if x is not h)
        if not together and not rnd.said("split_not_allowed", h.seat):
            rnd.say("split_wager_mismatch", h.seat, h.number, expected=base, observed=0)


def _more_than(hand: Hand, base: int) -> bool:
    """Whether chips lay there beyond the hand's own wager and its double, or may have."""
    lay = hand.box.start if hand.box.settling else hand.box.amount
    if hand.before_double is not None:
        lay = hand.before_double
    unsure = hand.doubt or hand.escrow or hand.maybe_doubled or hand.growth is not None
    return bool(unsure) or lay is None or lay > base


def begin_play(rnd: Round) -> None:
    """The deal is over: who was left out, and did it go round in order?"""
    if rnd.played is not None:
        return
    rnd.played = rnd.now
    left_out = False
    for seat, wager in sorted(rnd.opened.items()):
        hand = rnd.hands.get((seat, 0))
        if (
            wager != 0
            and (hand is None or len(hand.cards) < 2)
            and not (hand and (hand.dead or hand.from_split))
        ):
            left_out = True
            if not rnd.said("wager_late", seat):
                rnd.say("seat_not_dealt", seat, observed=None)
    if left_out or any(f.kind == "card_without_wager" for f in rnd.findings):
        return
    first = rnd.dealt

    def place(d: Dealt) -> tuple[int, int]:
        return d.nth, d.seat or 1_000

    if any(a.t + SLACK < b.t and place(a) > place(b) for i, a in enumerate(first) for b in first[i + 1 :]):
        # a seat without a wager may yet prove to be the mistake
        rnd.wait(lambda: _order(rnd))


def _order(rnd: Round) -> None:
    if not any(f.kind in ("card_without_wager", "seat_not_dealt") for f in rnd.findings):
        rnd.say("deal_order")


def _dealer_card(rnd: Round, e: CardLaid) -> None:
    rnd.dealer_confidence = min(rnd.dealer_confidence, e.confidence)
    if len(rnd.dealer) < rnd.first_cards and rnd.played is None and not rnd.dealer_acts:
        rnd.dealt.append(Dealt(e.t, 0, len(rnd.dealer)))
        rnd.dealer.append(e.card)
        if e.face == "down":
            rnd.hidden = len(rnd.dealer) - 1
            rnd.up_place = 1 if rnd.hidden == 0 else 0
        elif len(rnd.dealer) == 2 and rnd.hidden is None:
            rnd.say("hole_exposed_early")
            rnd.shown_early = True
        return
    begin_play(rnd)
    if e.face == "down":
        if rnd.hidden is None and len(rnd.dealer) < 2:
            rnd.hidden = len(rnd.dealer)
        else:
            rnd.dealer_doubt = True
        rnd.dealer.append(e.card)
        return
    before = rnd.standings()
    end_of_turn(rnd)
    without_split_wager(rnd)
    rnd.short = None
    if rnd.turned is None:
        rnd.turned = e.t
    drew_over = len(rnd.dealer) >= 2 and not rnd.dealer_doubt and all(s.over for s in before)
    if drew_over:
        totals = {s.total for s in before}
        rnd.say("dealer_drew_over", expected=totals.pop() if len(totals) == 1 else None)
    elif (
        rnd.profile.dealer_draws_when_no_live_hand is False
        and len(rnd.dealer) >= 2
        and not any(_may_be_live(rnd, h) for h in rnd.hands.values())
        and not wants_a_dealer(rnd)
    ):
        rnd.say("dealer_drew_needlessly")
    for cards in (rnd.dealer, *rnd.orders):
        cards.append(e.card)
    if rnd.dealer_done:
        begin_all(rnd)


def _may_be_live(rnd: Round, hand: Hand) -> bool:
    if hand.done or hand.dead or hand.bust or hand.surrendered or hand.even_money is True:
        return hand.dead
    return (
        not hand.surely(lambda s: s.natural or s.over in ("busted", "charlie")) or rnd.dealer_natural is None
    )


def best_draws(rnd: Round, cards: list[CardLaid]) -> tuple[list[CardLaid], list[list[str | None]]]:
    """The dealer's cards of one instant, in an order in which none is drawn over a standing total, if any.

    Also the hands that the dealer would have in those other orders that make another one.
    """
    if not 2 <= len(cards) <= 4:
        return cards, []

    def hand(order: Iterable[CardLaid]) -> list[str | None]:
        return [*rnd.dealer, *(c.card for c in order)]

    def void(order: Iterable[CardLaid]) -> int:
        return min(s.void for s in dealer_hands(hand(order), rnd.profile))

    best = min(permutations(cards), key=void)
    made = {dealer_hands(hand(best), rnd.profile)}
    others = []
    for order in permutations(cards):
        standings = dealer_hands(hand(order), rnd.profile)
        if standings not in made:
            made.add(standings)
            others.append(hand(order))
    return list(best), others


def in_best_order(rnd: Round, events: list[TableEvent]) -> list[TableEvent]:
    """The same events; a player's cards of one instant in an order in which none comes to a finished hand,
    if any.
    """
    places: dict[tuple[int, int], list[int]] = {}
    for at, e in enumerate(events):
        if isinstance(e, CardLaid) and e.seat:
            places.setdefault((e.seat, e.hand), []).append(at)
    out = list(events)
    for key, spots in places.items():
        hand = rnd.hands.get(key)
        if hand is not None and 2 <= len(spots) <= 4:
            for i, e in zip(spots, _least_void(hand, [events[i] for i in spots]), strict=True):
                out[i] = e
    return out


def _least_void(hand: Hand, cards: list[TableEvent]) -> tuple[TableEvent, ...]:
    return min(permutations(cards), key=lambda order: _void(hand, order))


def _void(hand: Hand, cards: Iterable[TableEvent]) -> int:
    """How many of these cards would surely come to the hand after its end."""
    return min(s.void for s in hand.standings_with(e.card for e in cards if isinstance(e, CardLaid)))


def on_turn(rnd: Round, e: Turn) -> None:
    """A face-down card now lies face up."""
    if e.by == "player":
        rnd.say("cards_touched", e.seat, e.hand)
    if e.seat:
        hand = rnd.hands.get((e.seat, e.hand))
        place = hand.down.pop() if hand is not None and hand.down else None
        if hand is not None and place is not None and place < len(hand.cards):
            hand.cards[place] = e.card
            _note(hand, e)
            if hand.bust:
                begin_hand(hand)
        return
    rnd.dealer_confidence = min(rnd.dealer_confidence, e.confidence)
    begin_play(rnd)
    if rnd.hidden is not None:
        rnd.dealer[rnd.hidden] = e.card if e.card is not None else rnd.dealer[rnd.hidden]
    elif len(rnd.dealer) == 1:
        rnd.dealer.append(e.card)
    else:
        rnd.dealer_doubt = rnd.dealer_doubt or e.card not in rnd.dealer
    rnd.hidden = None
    natural = rnd.dealer_natural is not False and rnd.needs_check() is not False
    unplayed = (h for h in rnd.open_hands() if h.from_split and len(h.cards) == 1 and not h.dead)
    if any(unplayed) and not natural:
        rnd.say("hole_exposed_early")
    if rnd.turned is None:
        rnd.turned = e.t
    end_of_turn(rnd)
    without_split_wager(rnd)
    if rnd.dealer_done:
        begin_all(rnd)


def on_move(rnd: Round, e: Move) -> None:
    """A split."""
    begin_play(rnd)
    hand = hand_of(rnd, e.seat, e.hand)
    _note(hand, e)
    if e.by == "player":
        rnd.say("cards_touched", e.seat, e.hand)
    pass_others(rnd, hand)
    rnd.act(e.seat)
    if (e.seat, e.to) in rnd.hands or not hand.cards:
        hand.doubt = "the cards of a split were not all seen"
        return
    _judge_split(rnd, hand)
    if hand.growth is not None:
        hand.escrow = hand.growth.delta or 0
        hand.growth = None
    new = Hand(e.seat, e.to, rnd.box(e.seat, "main", e.to), rnd.profile, from_split=True)
    base = hand.split_base
    if base is None and hand.box.amount is not None and hand.box.opened is not None:
        base = hand.box.known - hand.escrow
    new.split_base = hand.split_base = base
    new.cards.append(hand.cards.pop())
    new.confidence, new.evidence, new.last_card = hand.confidence, hand.evidence, e.t
    hand.from_split = True
    hand.stood = False
    if len(hand.cards) > 1:  # a forbidden split of more than two cards
        hand.doubt = new.doubt = "the hand was split with more than two cards"
    rnd.hands[(e.seat, e.to)] = new
    rnd.split_off(e.seat, e.hand, e.to)


def _judge_split(rnd: Round, hand: Hand) -> None:
    if len(hand.cards) < 2:
        return
    hands, reasons = len(rnd.of_seat(hand.seat)), set()
    a, b = hand.cards[-2:]
    for first in [a] if a else [r + "?" for r in "A23456789TJQK"]:
        for second in [b] if b else [r + "?" for r in "A23456789TJQK"]:
            reasons.add(
                split_forbidden_by(
                    rnd.profile,
                    first,
                    second,
                    cards=len(hand.cards),
                    hands=hands,
                    from_split=hand.from_split,
                )
            )
    if None not in reasons:
        reason = sorted(r for r in reasons if r)[0]
        rnd.say(
            "split_not_allowed",
            hand.seat,
            hand.number,
            reason=reason,
            about=" ".join(c or "?" for c in hand.cards),
        )


def on_gone(rnd: Round, e: Gone) -> None:
    """One card was removed again."""
    if e.by == "player":
        rnd.say("cards_touched", e.seat, e.hand)
    if e.seat == 0:
        if e.card in rnd.dealer and e.card is not None:
            place = len(rnd.dealer) - 1 - rnd.dealer[::-1].index(e.card)
            del rnd.dealer[place]
            if rnd.hidden is not None and rnd.hidden > place:
                rnd.hidden -= 1
        else:
            rnd.dealer_doubt = True
        return
    hand = rnd.hands.get((e.seat, e.hand))
    if hand is None:
        return
    if e.card is not None and e.card in hand.cards:
        place = len(hand.cards) - 1 - hand.cards[::-1].index(e.card)
        if place in hand.passed_cards and place == len(hand.cards) - 1:
            hand.passed_cards.discard(place)
            hand.cards.pop()
            return
        del hand.cards[place]
    hand.gone = True
    hand.doubt = "a card was taken from this hand again"


def _waiting(rnd: Round) -> bool:
    return any(rnd.live(h) and h.drop is None for h in rnd.hands.values())


def on_clear(rnd: Round, e: Clear) -> None:
    """Cards were picked up."""
    if e.by == "player":
        rnd.say("cards_touched", e.seat, e.hand or 0)
    if e.seat == 0:
        if rnd.dealer_acts and rnd.exposed and not rnd.dealer_may_be_done and _waiting(rnd):
            rnd.short = e.t if rnd.short is None else rnd.short
        confirm_short(rnd)
        rnd.cleared = e.t
        return
    for hand in rnd.of_seat(e.seat):
        if hand.cleared is None and e.hand in (None, hand.number):
            resolve_drop(rnd, hand, by_clear=True)
            hand.cleared = e.t
            if hand.growth is not None and hand.growth.by_dealer:
                begin_hand(hand)
            try_close(rnd, hand)
