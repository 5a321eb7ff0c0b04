"""Chips on the main spots while cards are dealt and played, and what they turn out to mean.

In: chips events, through the round. Out: findings about wagers, doubles and splits; payments go to
settlement. A change whose meaning the next events decide waits in `hand.growth` or `hand.drop`.
"""

from __future__ import annotations

from dataclasses import replace

from pitwatch.game.box import Box, Change
from pitwatch.game.events import CardLaid, Chips
from pitwatch.game.hand import Hand, Pending
from pitwatch.game.round import HOLD, SLACK, Round
from pitwatch.game.settling import about, begin_hand, close_hand, confirm_short, try_close, verdicts
from pitwatch.rules.actions import double_forbidden_by, surrender_forbidden_by
from pitwatch.rules.settle import blackjack_net

__all__ = ["end_of_turn", "expire", "on_main", "pass_others", "pending_double", "resolve_drop"]

UNSURE_NATURAL = "whether this hand was a blackjack could not be read"
UNREAD_FALL = "the chips could not be read while some were taken"


def on_main(rnd: Round, e: Chips, *, swept: bool) -> None:
    """The chips of a main spot changed; swept: the hand's cards went at the same instant."""
    box = rnd.box(e.seat, "main", e.hand)
    hand = rnd.hands.get((e.seat, e.hand))
    change = box.look(e)
    grew = change.how in ("grew", "appeared")
    if hand is None:
        box.see(e)
        if e.hand == 0 and grew:
            _on_empty_seat(rnd, box, change)
        elif e.hand == 0 and change.how == "read" and e.seat in rnd.opened and rnd.played is None:
            rnd.opened[e.seat] = box.opened = e.amount
        return
    if hand.done or hand.dead:
        box.see(e)
        return
    hand.evidence = e.evidence or hand.evidence
    if box.settling:
        if grew and e.by != "dealer" and hand.cleared is not None and verdicts(rnd, hand)[0] == {""}:
            close_hand(rnd, hand)  # the next round's wager
            box.see(e)
            return
        if grew and e.by == "player" and not rnd.exposed and hand.bust:
            close_hand(rnd, hand)
            box.see(e)
            return
        box.see(e)
        box.settle(change, swept=swept)
        _paid_natural(rnd, hand, e)
        try_close(rnd, hand)
        return
    if change.how in ("same", "unread", "read"):
        box.see(e)
        over = rnd.dealer_acts or rnd.dealer_may_be_done
        paid = over or hand.maybe(lambda s: s.natural) or e.by == "dealer"
        if change.how == "read" and paid:
            hand.doubt = "the wager could not be read before it was settled"
        elif change.how == "read" and rnd.played is None and not rnd.deal_complete:
            rnd.opened[e.seat] = box.opened = e.amount
        elif change.how == "same":
            hand.growth = hand.drop = None
        return
    if box.opened == 0 and hand.number == 0 and box.empty and grew and not hand.drop:
        box.see(e)
        _on_empty_seat(rnd, box, change)
        return
    if _settles(rnd, hand, change):
        begin_hand(hand)
        box.see(e)
        box.settle(change, swept=swept)
        _paid_natural(rnd, hand, e)
        try_close(rnd, hand)
        return
    if (
        change.how == "fell"
        and hand.drop
        and e.by != "dealer"
        and e.amount == 0
        and _is_half(hand, hand.drop)
    ):
        _surrender(rnd, hand)  # half was taken, and the player picks the other half up
        box.see(e)
        box.settle(change, swept=swept)
        try_close(rnd, hand)
        return
    before = box.known
    box.see(e)
    back = hand.drop is not None and (change.how == "appeared" or hand.drop.delta is None)
    if back and change.how in ("grew", "appeared"):
        hand.drop, hand.doubt = None, hand.doubt or UNREAD_FALL  # how much came back cannot be told
    elif change.how == "grew":
        _grew(rnd, hand, change, before)
    elif change.how == "fell":
        _fell(rnd, hand, change, before)


def _on_empty_seat(rnd: Round, box: Box, change: Change) -> None:
    """Chips came to a spot that had none at the first card."""
    t = change.event.t
    if rnd.opened.get(box.seat, 0) != 0 or (box.opened != 0 and change.how != "appeared"):
        return
    if t <= rnd.t_start + SLACK:
        rnd.opened[box.seat] = box.opened = change.event.amount
    elif (
        not rnd.dealer_acts
        and rnd.cleared is None
        and rnd.say("wager_late", box.seat, observed=change.event.amount, evidence=change.event.evidence)
    ):
        box.opened = change.event.amount


def _settles(rnd: Round, hand: Hand, change: Change) -> bool:
    """Whether this change belongs to settlement."""
    by, grew = change.event.by, change.how == "grew"
    if rnd.dealer_may_be_done and (by == "dealer" or not grew):
        return True
    if rnd.dealer_may_be_done and by is None and hand.surely(lambda s: bool(s.over)):
        return True  # the hole card was shown early: nothing more comes to this hand but its payment
    if rnd.dealer_acts:
        if grew and by == "player":
            return rnd.dealer_done or not rnd.exposed
        if rnd.exposed and not rnd.dealer_may_be_done and any(rnd.live(h) for h in rnd.hands.values()):
            rnd.short = change.event.t if rnd.short is None else rnd.short
        return True
    if hand.can_be_bust and not grew:
        if not hand.bust:
            hand.doubt = "whether this hand was bust could not be read"
        return True
    if hand.unsure_natural and (not grew or by == "dealer"):
        hand.doubt = UNSURE_NATURAL
        return True
    if not hand.natural:
        return False
    if not grew and (change.blurred or hand.doubt or rnd.needs_check() is None):
        hand.doubt = hand.doubt or "whether this blackjack had been paid could not be seen"
        return True
    if not grew:
        return rnd.needs_check() is False
    if by is None and hand.box.amount is not None:
        stake, paid = hand.box.known, change.delta
        even = rnd.profile.even_money and rnd.even_money_open is not False and paid == stake
        return paid == blackjack_net(rnd.profile, stake) or bool(even)
    return by == "dealer"


def _paid_natural(rnd: Round, hand: Hand, e: Chips) -> None:
    """A blackjack was paid: may it have been, before the hole card was checked?"""
    box = hand.box
    if (
        not hand.natural
        or box.start is None
        or box.amount is None
        or not any((s.delta or 0) > 0 for s in box.steps)
    ):
        return
    paid = sum(s.delta for s in box.steps if s.delta is not None and s.by != "player")
    check, even = rnd.needs_check(), rnd.even_money_open
    if (
        (check is False and not even)
        or rnd.peeked is not None
        or rnd.dealer_acts
        or rnd.drew is not None
        or rnd.exposed
    ):
        return
    if e.amount is None or e.amount < box.start:
        return
    if even is not False and paid <= box.start:
        # less may become even money with the next chips
        if paid == box.start or hand.wants_even:
            hand.even_money = even
        return
    hand.even_money = False
    if not check:
        return
    if rnd.profile.peek_seen:
        paid_early(rnd, hand, paid, e.evidence)
    else:
        # a peek can be missed: only one that comes after the payment proves that there was none before
        rnd.unchecked.append((hand, paid, e.evidence))


def paid_early(rnd: Round, hand: Hand, paid: int, evidence: tuple[str, ...]) -> None:
    """Say that a blackjack was paid before the hole card was checked."""
    if rnd.say("blackjack_paid_early", hand.seat, hand.number, observed=paid, evidence=evidence):
        hand.paid_early = True


def checked(rnd: Round) -> None:
    """The hole card is checked, or turns out a blackjack: what was paid until now was paid too early."""
    for hand, paid, evidence in rnd.unchecked:
        paid_early(rnd, hand, paid, evidence)
    rnd.unchecked.clear()


def _grew(rnd: Round, hand: Hand, change: Change, before: int) -> None:
    e = change.event
    if hand.drop is not None:
        if e.amount is not None and e.amount >= hand.drop.base:
            base, hand.drop = hand.drop.base, None
            if e.amount == base:
                return
            change, before = replace(change, delta=e.amount - base), base
        else:
            hand.drop = Pending(hand.drop.base, (*hand.drop.changes, change))
            return
    if not rnd.deal_complete and rnd.played is None:
        if e.t <= rnd.t_start + SLACK:
            rnd.opened[hand.seat] = hand.box.opened = e.amount
            return
        rnd.wait(lambda: _raised_while_dealing(rnd, hand))
    if hand.from_split and len(hand.cards) < 2:
        return  # laid for the split
    late = SLACK if hand.doubled_at is None else 0.0
    if hand.maybe_doubled or (
        len(hand.cards) >= 3 and e.t <= hand.last_card + late and (change.delta or 0) <= before
    ):
        # the chips of a double, seen after its card
        hand.maybe_doubled = hand.maybe_doubled or hand.doubled_at is None
        hand.doubled_at = hand.doubled_at or len(hand.counted) - 1
        return
    g = hand.growth
    hand.growth = Pending(before, (change,)) if g is None else Pending(g.base, (*g.changes, change))
    # a hand that was passed, and no arm seen: the hole card may be turned just now, and this be its payment
    passed = rnd.passed(hand) and e.by == "player"
    over = passed or hand.surely(lambda s: s.over in ("busted", "doubled", "charlie"))
    if (e.by != "dealer" and not hand.natural and over) or (rnd.dealer_acts and not rnd.shown_early):
        pending, hand.growth = hand.growth, None
        _raised(rnd, hand, pending)


def _raised_while_dealing(rnd: Round, hand: Hand) -> None:
    g = hand.growth
    if g is not None and not g.by_dealer and not rnd.deal_complete and rnd.played is None:
        hand.growth = None
        _raised(rnd, hand, g)


def _raised(rnd: Round, hand: Hand, g: Pending) -> None:
    after = None if g.delta is None else g.base + g.delta
    rnd.say(
        "wager_raised",
        hand.seat,
        hand.number,
        expected=g.base,
        observed=after,
        evidence=g.changes[-1].event.evidence,
    )


def _fell(rnd: Round, hand: Hand, change: Change, before: int) -> None:
    e = change.event
    if hand.escrow and change.delta is not None and -change.delta <= hand.escrow:
        hand.escrow += change.delta  # moved over to the new hand
        return
    if hand.from_split and hand.split_base is None:  # what lay there may have been for both hands
        hand.doubt = hand.doubt or UNREAD_FALL
        return
    if hand.growth is not None:
        base, hand.growth = hand.growth.base, None
        if e.amount is not None and e.amount >= base:
            if e.amount > base:
                hand.growth = Pending(base, (replace(change, how="grew", delta=e.amount - base),))
            return
        before = base
        change = replace(change, delta=None if e.amount is None else e.amount - base)
    d = hand.drop
    hand.drop = Pending(before, (change,)) if d is None else Pending(d.base, (*d.changes, change))
    if hand.wants_surrender and change.blurred:
        hand.doubt = hand.doubt or UNREAD_FALL
        begin_hand(hand)
    elif hand.wants_surrender and e.by != "player":
        _surrender(rnd, hand)


def pending_double(rnd: Round, hand: Hand, e: CardLaid) -> None:
    """The hand gets a card: chips added just before were a double."""
    g, hand.growth = hand.growth, None
    cards = len(hand.counted)
    if hand.from_split and cards < 2:
        return
    if g is None:
        box = hand.box
        unread = box.opened is None or (box.amount is None and not box.settling)
        if hand.doubled_at is None and cards == 2 and ((unread and box.stirred) or e.sideways):
            hand.maybe_doubled, hand.doubled_at = True, cards
            hand.laid_across = e.sideways
        return
    hand.played = True
    faults = {
        double_forbidden_by(rnd.profile, s, from_split=hand.from_split, aces=aces)
        for s in hand.standings
        for aces in ({hand.first_is_ace} if hand.cards[0] else {True, False})
    }
    again = hand.doubled_at is not None
    if not again:
        hand.doubled_at, hand.maybe_doubled, hand.before_double = cards, False, g.base
    words = about(rnd, hand).split(" against")[0]
    if None not in faults:
        hand.foul = not again
        reason = sorted(f for f in faults if f)[0]
        rnd.say("double_not_allowed", hand.seat, hand.number, reason=reason, about=words)
    elif len(faults) == 1 and g.delta is not None:
        if g.delta > g.base:
            rnd.say("double_too_large", hand.seat, hand.number, expected=g.base, observed=g.delta)
        elif g.delta < g.base and not rnd.profile.double_for_less:
            rnd.say("double_not_allowed", hand.seat, hand.number, reason="double_for_less", about="for less")


def pass_others(rnd: Round, acting: Hand) -> None:
    """A hand acts: what waited on the others is now no double, and no bust that was seen late."""
    for h in rnd.open_hands():
        if h is acting:
            continue
        if h.growth is not None:
            earlier = (h.seat, h.number) < (acting.seat, acting.number)
            if _was_paid(rnd, h, h.growth):
                begin_hand(h)
            elif earlier and rnd.exposed and h.growth.by is None:
                h.doubt = h.doubt or "whether the chips that came were a payment could not be seen"
            elif earlier and not (h.from_split and len(h.cards) < 2) and rnd.now > h.growth.t + SLACK:
                pending, h.growth = h.growth, None
                _raised(rnd, h, pending)
        if h.drop is not None and rnd.now > h.drop.t + SLACK:
            _convict(rnd, h)


def _was_paid(rnd: Round, h: Hand, g: Pending) -> bool:
    """Whether what grew may be the payment of a blackjack."""
    if h.unsure_natural and not g.by_player:
        h.doubt = UNSURE_NATURAL
        return True
    return h.natural and not g.by_player and rnd.needs_check() is False


def end_of_turn(rnd: Round) -> None:
    """The dealer acts: no more doubles."""
    for h in rnd.open_hands():
        if h.growth is not None:
            if _was_paid(rnd, h, h.growth):
                begin_hand(h)
            elif h.growth.by_player or (not h.growth.by_dealer and rnd.now > h.growth.t + SLACK):
                pending, h.growth = h.growth, None
                _raised(rnd, h, pending)
        if h.drop is not None:
            if rnd.dealer_natural is False and rnd.now > h.drop.t + SLACK:
                _convict(rnd, h)
            else:
                if rnd.dealer_natural is None and rnd.now > h.drop.t + SLACK:
                    h.doubt = "whether the dealer had a blackjack could not be read"
                begin_hand(h)


def resolve_drop(rnd: Round, hand: Hand, *, by_card: bool = False, by_clear: bool = False) -> None:
    """A card came to the hand, or its cards went: was the fall of its chips a bust, or a surrender?"""
    d = hand.drop
    if d is None:
        return
    if by_card and hand.can_be_bust:
        if not hand.bust:
            hand.doubt = "whether this hand was bust could not be read"
        begin_hand(hand)
    elif by_clear and _is_half(hand, d):
        _surrender(rnd, hand)
    else:
        _convict(rnd, hand)


def _is_half(hand: Hand, d: Pending) -> bool:
    if hand.wants_surrender:
        return d.by != "player"
    two = len(hand.cards) == 2 and not hand.from_split
    return two and d.by_dealer and d.delta is not None and -2 * d.delta == d.base


def _surrender(rnd: Round, hand: Hand) -> None:
    d = hand.drop
    hand.surrendered = True
    begin_hand(hand)
    if surrender_forbidden_by(rnd.profile, cards=len(hand.cards), from_split=hand.from_split):
        took = None if d is None or d.delta is None else -d.delta
        late = "a hand of a split pair" if hand.from_split else "after a third card"
        words = "" if rnd.profile.surrender == "none" else late
        rnd.say("surrender_not_allowed", hand.seat, hand.number, observed=took, about=words)


def _convict(rnd: Round, hand: Hand) -> None:
    d, hand.drop = hand.drop, None
    if d is None:
        return
    seen = d.changes[-1].event.evidence
    unread = hand.number == 0 and hand.box.opened is None  # some may have gone before it was first read
    if hand.doubt or unread or any(c.blurred for c in d.changes):  # whose arm took what cannot be told
        hand.doubt = hand.doubt or UNREAD_FALL
        return
    if d.by_dealer:
        took = None if d.delta is None else d.delta
        rnd.say("live_hand_taken", hand.seat, hand.number, observed=took, evidence=seen)
        hand.done = hand.judged = True
        hand.net = took
        hand.outcome = "taken in play"
        return
    left = 0 if d.delta is None else d.base + d.delta
    rnd.say("wager_cut", hand.seat, hand.number, expected=d.base, observed=left, evidence=seen)


def expire(rnd: Round, t: float) -> None:
    """Time goes on to `t`: what has waited for an explanation had none."""
    if rnd.short is not None and t > rnd.short + HOLD:
        with rnd.as_of(rnd.short + HOLD):
            confirm_short(rnd)
    for h in list(rnd.open_hands()):
        if h.drop is not None and t > h.drop.t + HOLD:
            with rnd.as_of(h.drop.t + HOLD):
                if not _is_half(h, h.drop):
                    _convict(rnd, h)
                elif h.cleared is not None:  # the cards went before the half
                    _surrender(rnd, h)
        if h.box.settling and h.cleared is not None:
            try_close(rnd, h, t)
