"""Insurance and side bets: the wagers beside the main one.

In: chips events on their spots, and the moments at which cards fall. Out: findings, each certain.
"""

from __future__ import annotations

from fractions import Fraction

from pitwatch.game.box import TAKEN_ALL, Box
from pitwatch.game.events import Chips
from pitwatch.game.round import SLACK, Round
from pitwatch.rules.actions import insurance_limit
from pitwatch.rules.hands import player_hands
from pitwatch.rules.profile import SideBet

__all__ = ["INSURANCE", "close_lines", "insurance_closes", "next_card", "on_line", "open_side_bets"]

INSURANCE = "insurance"


def _lines(rnd: Round) -> list[Box]:
    known = (INSURANCE, *rnd.profile.side_bets)
    return [b for _, b in sorted(rnd.boxes.items()) if b.spot in known and b.hand == 0]


def _judged(rnd: Round, seat: int) -> bool:
    return not rnd.dead and not any(h.dead for h in rnd.of_seat(seat))


def on_line(rnd: Round, e: Chips, *, swept: bool) -> None:
    """The chips of an insurance or side bet spot changed."""
    box = rnd.box(e.seat, e.spot)
    bet = rnd.profile.side_bets.get(e.spot)
    decided = _insurance_decided(rnd) if bet is None else _won(rnd, box, bet) is not None
    falls = box.look(e).how == "fell"
    early = falls and e.by == "dealer"
    late_bet = bet is not None and e.by == "player" and not falls
    if not box.settling and box.amount != 0 and (decided or early) and not late_bet:
        box.begin()
    empty = box.empty
    change = box.see(e)
    if not _judged(rnd, e.seat):
        return
    if box.settling:
        box.settle(change, swept=swept)
        return
    if change.how not in ("grew", "appeared") or e.by == "dealer":
        return
    if bet is None:
        _insured(rnd, box, e)
    elif e.t > rnd.t_start + SLACK and (empty or not decided):
        rnd.say("side_bet_late", e.seat, observed=e.amount, about=e.spot, evidence=e.evidence)


# -- insurance


def _insurance_decided(rnd: Round) -> bool:
    return rnd.peeked is not None or rnd.dealer_acts or rnd.exposed or rnd.drew is not None


def _insured(rnd: Round, box: Box, e: Chips) -> None:
    rule = rnd.profile.insurance
    up = rnd.upcard
    if rule is None or (up is not None and up[0] != rule.upcard):
        about = "the house offers none" if rule is None else f"the upcard is {up}"
        rnd.say("insurance_not_allowed", e.seat, observed=e.amount, about=about, evidence=e.evidence)
        return
    if not rnd.deal_complete and rnd.played is None:
        rnd.wait(lambda: _before_the_deal_was_complete(rnd, e))
        return
    until = rnd.profile.insurance_until
    drawn = until == "first_draw" and rnd.drew is not None and e.t > rnd.drew + SLACK
    peeked = rnd.peeked is not None and e.t > rnd.peeked + SLACK
    turned = until is not None and rnd.turned is not None and e.t > rnd.turned + SLACK
    if (drawn or peeked or turned) and not rnd.said("insurance_not_allowed", e.seat):
        about = "after the dealer had checked" if peeked else "after the next card"
        rnd.say("insurance_late", e.seat, observed=e.amount, about=about, evidence=e.evidence)


def _before_the_deal_was_complete(rnd: Round, e: Chips) -> None:
    if not rnd.deal_complete and not rnd.box(e.seat, INSURANCE).empty and _judged(rnd, e.seat):
        rnd.say("insurance_not_allowed", e.seat, observed=e.amount, about="the deal is not complete")


def insurance_closes(rnd: Round) -> None:
    """No more insurance: what lies there must not be over the limit."""
    for box in _lines(rnd):
        if box.spot != INSURANCE or box.settling or not box.amount or not _judged(rnd, box.seat):
            continue
        wager = rnd.opened.get(box.seat)
        if wager is None or any(rnd.said(k, box.seat) for k in ("insurance_not_allowed", "insurance_late")):
            continue
        limit = insurance_limit(rnd.profile, wager)
        if rnd.profile.insurance is not None and box.amount > limit:
            rnd.say(
                "insurance_too_large", box.seat, expected=limit, observed=box.amount, evidence=box.evidence
            )


def _dealer_natural(rnd: Round) -> bool | None:
    """Whether the dealer has a blackjack: seen, or checked for and not shown."""
    if len(rnd.dealer) < 2 or rnd.dealer_doubt:
        return None
    naturals = {s.natural for s in rnd.standings()}
    return None if len(naturals) > 1 else naturals.pop()


def next_card(rnd: Round) -> None:
    """A card is about to be dealt: lost insurance should be gone."""
    if _dealer_natural(rnd) is not False:
        return
    for box in _lines(rnd):
        if (
            box.spot == INSURANCE
            and box.known
            and not box.empty
            and not any(s.by != "player" for s in box.steps)
        ):
            rnd.wait(lambda b=box: _still_there(rnd, b))  # type: ignore[misc]


def _still_there(rnd: Round, box: Box) -> None:
    if box.empty or any((s.delta or -1) < 0 for s in box.steps) or not _judged(rnd, box.seat):
        return
    stake = box.start if box.settling else box.amount
    if stake is not None:
        rnd.say("insurance_not_taken", box.seat, expected=-stake, observed=0, evidence=box.evidence)


# -- side bets


def open_side_bets(rnd: Round) -> None:
    """The first card falls: is the main wager there that the side bets ask for?"""
    for box in _lines(rnd):
        bet = rnd.profile.side_bets.get(box.spot)
        if bet is None or box.empty or not bet.needs_minimum:
            continue
        main = rnd.opened.get(box.seat, 0)
        least = rnd.header.minimum or 1
        if main is not None and main < least:
            rnd.say("side_bet_without_wager", box.seat, expected=least, observed=main, about=box.spot)


def _first_two(rnd: Round, seat: int) -> tuple[str | None, ...]:
    hands = rnd.of_seat(seat)
    if any(h.from_split for h in hands):
        return tuple(h.cards[0] if h.cards else None for h in hands[:2])
    return tuple(hands[0].cards[:2]) if hands else ()


def _won(rnd: Round, box: Box, bet: SideBet) -> Fraction | None:
    """What the bet pays to one, 0 when it lost, None when that is not known."""
    paid: set[Fraction] = set()
    for what, ratio in bet.pays:
        if what == "player_blackjack":
            cards = _first_two(rnd, box.seat)
            naturals = (
                {s.natural for s in player_hands(cards, rnd.profile)} if len(cards) == 2 else {True, False}
            )
        else:
            natural = _dealer_natural(rnd)
            naturals = {True, False} if natural is None else {natural}
        if len(naturals) > 1:
            return None
        paid.add(ratio if naturals.pop() else Fraction(0))
    return max(paid)


def _meter(rnd: Round, box: Box, bet: SideBet) -> bool:
    """Whether the bet may also have won the meter, whose payment is not judged."""
    cards = _first_two(rnd, box.seat)
    other = rnd.box(box.seat, bet.meter_with or "")
    unread = any(c is None or c[1] == "?" for c in cards)
    return (
        bool(bet.meter)
        and other.opened != 0
        and (unread or sorted(c or "" for c in cards) == sorted(bet.meter))
    )


# -- the end


def close_lines(rnd: Round) -> dict[int, str]:
    """The round is over: judge insurance and side bets. Returns, by seat, why one could not be judged."""
    why: dict[int, str] = {}
    for box in _lines(rnd):
        if box.amount != 0 and not box.settling:
            box.begin()
        if not box.settling or box.start == 0 or not _judged(rnd, box.seat):
            continue
        bet = rnd.profile.side_bets.get(box.spot)
        insured = bet is None
        if insured:
            natural = _dealer_natural(rnd)
            pays = (
                None
                if natural is None or rnd.profile.insurance is None
                else rnd.profile.insurance.pays * natural
            )
        else:
            assert bet is not None
            pays = _won(rnd, box, bet)
            if pays and _meter(rnd, box, bet):
                pays = None
        net = None if pays is None else box.net(loses=0 if pays else None)
        if pays is None or net is None or (box.start is None and not (net == TAKEN_ALL and pays == 0)):
            why[box.seat] = f"the {'insurance' if insured else box.spot} could not be judged"
            continue
        if net == TAKEN_ALL:
            continue
        assert isinstance(net, int)
        assert box.start is not None
        if box.faint and net != (Fraction(pays) * box.start if pays else -box.start):
            why[box.seat] = f"the {'insurance' if insured else box.spot} could not be seen for sure"
            continue
        _settle_line(rnd, box, "insurance" if insured else "side_bet", Fraction(pays) * box.start, net)
    return why


def _settle_line(rnd: Round, box: Box, what: str, won: Fraction, net: int) -> None:
    assert box.start is not None
    expected = won if won else Fraction(-box.start)
    if net == expected:
        return
    if won:
        kind = f"{what}_paid_short" if net < expected else f"{what}_paid_over"
    elif net > 0:
        kind = f"{what}_loser_paid"
    else:
        kind = f"{what}_not_taken"
        if net < expected:
            return
    due = int(expected) if expected.denominator == 1 else None
    rnd.say(
        kind,
        box.seat,
        expected=due,
        observed=net,
        about="" if what == "insurance" else box.spot,
        confidence=min(box.confidence, rnd.dealer_confidence),
        evidence=box.evidence,
    )
