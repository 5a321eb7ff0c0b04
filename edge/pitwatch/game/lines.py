"""Insurance and side bets: the wagers beside the main one.

In: chips events on their spots, and the moments at which cards fall. Out: findings, each certain.
"""

from __future__ import annotations

from fractions import Fraction

from pitwatch.game import sidebets
from pitwatch.game.box import TAKEN_ALL, Box
from pitwatch.game.events import Chips
from pitwatch.game.round import SLACK, Round
from pitwatch.rules.actions import insurance_limit, insurance_offered
from pitwatch.rules.profile import SideBet
from pitwatch.rules.settle import insurance_net
from pitwatch.rules.sidebets import side_bet_verdict

__all__ = ["INSURANCE", "close_lines", "insurance_closes", "next_card", "on_line"]

INSURANCE = "insurance"
NOT_JUDGED = "could not be judged"


def _lines(rnd: Round) -> list[Box]:
    known = (INSURANCE, *rnd.profile.side_bets)
    return [b for _, b in sorted(rnd.boxes.items()) if b.spot in known and b.hand == 0]


def _judged(rnd: Round, seat: int) -> bool:
    return not rnd.dead and not any(h.dead for h in rnd.of_seat(seat))


def on_line(rnd: Round, e: Chips, *, swept: bool) -> None:
    """The chips of an insurance or side bet spot changed."""
    box = rnd.box(e.seat, e.spot)
    bet = rnd.profile.side_bets.get(e.spot)
    decided = _insurance_decided(rnd) if bet is None else sidebets.decided(rnd, box, bet)
    how = box.look(e).how
    begins = decided or (how == "fell" and e.by == "dealer")
    if bet is not None and how != "same":
        payable = sidebets.may_be_paid(rnd, box, bet)
        begins = (
            begins or (payable and (how != "grew" or e.by != "player")) or (how, e.by) == ("grew", "dealer")
        )
        if payable and how == "grew" and e.by is None and not decided and not box.settling:
            box.faint = True  # a payment, or a late bet
    late_bet = bet is not None and e.by == "player" and how != "fell"
    if not box.settling and box.amount != 0 and begins and not late_bet:
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
    elif e.t <= rnd.t_start + SLACK:
        box.opened = e.amount
    elif empty or not decided:
        rnd.say("side_bet_late", e.seat, observed=e.amount, about=e.spot, evidence=e.evidence)


# -- insurance


def _insurance_decided(rnd: Round) -> bool:
    return rnd.peeked is not None or rnd.dealer_acts or rnd.exposed or rnd.drew is not None


def _insured(rnd: Round, box: Box, e: Chips) -> None:
    rule = rnd.profile.insurance
    up = rnd.upcard
    if rule is None or (up is not None and not insurance_offered(rnd.profile, up)):
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


def next_card(rnd: Round) -> None:
    """A card is about to be dealt: lost insurance should be gone."""
    if rnd.known_natural is not False:
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
        reason = _close_insurance(rnd, box) if bet is None else _close_side_bet(rnd, box, bet)
        if reason:
            why[box.seat] = f"the {box.spot} {reason}"
    return why


def _close_insurance(rnd: Round, box: Box) -> str:
    """Judge an insurance; returns why it could not be."""
    natural = rnd.known_natural
    if natural is None or rnd.profile.insurance is None:
        return NOT_JUDGED
    stake = box.start
    right = frozenset({insurance_net(rnd.profile, stake or 1, natural=natural)})
    return _settle_line(rnd, box, "insurance", right, None)


def _close_side_bet(rnd: Round, box: Box, bet: SideBet) -> str:
    """Judge a side bet; returns why it could not be."""
    right, unknown_above = sidebets.right_nets(rnd, box, bet, box.start or 1)
    return _settle_line(rnd, box, "side_bet", right, unknown_above)


def _settle_line(
    rnd: Round, box: Box, what: str, right: frozenset[Fraction], unknown_above: Fraction | None
) -> str:
    """Hold a line's observed net against those that may be right; returns why it could not be judged."""
    kinds, nets = set(), set()
    for expected in right:
        net = box.net(loses=0 if expected > 0 else None)
        if net == TAKEN_ALL and expected < 0:
            kinds.add("")
            continue
        if not isinstance(net, int) or box.start is None:
            return NOT_JUDGED
        nets.add(net)
        if unknown_above is not None and net >= unknown_above:
            return NOT_JUDGED
        kinds.add(side_bet_verdict(expected, net))
    if kinds == {""}:
        return ""
    confidence = min(box.confidence, rnd.dealer_confidence)
    if box.faint or confidence < rnd.sure:
        return "could not be seen for sure"
    if len(kinds) != 1 or not right:
        return NOT_JUDGED
    due = int(next(iter(right))) if len(right) == 1 and next(iter(right)).denominator == 1 else None
    rnd.say(
        f"{what}_{kinds.pop()}",
        box.seat,
        expected=due,
        observed=nets.pop() if len(nets) == 1 else None,
        about="" if what == "insurance" else box.spot,
        confidence=confidence,
        evidence=box.evidence,
    )
    return ""
