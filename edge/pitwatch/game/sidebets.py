"""Side bets on the table: what their cards have come to, and what each bet may be owed.

In: the round. Out: answers that hold for every value of what was not read; findings when the first card
falls.
"""

from __future__ import annotations

from fractions import Fraction

from pitwatch.game.box import Box
from pitwatch.game.round import Round
from pitwatch.rules.sidebets import (
    ANY_BUST,
    Owed,
    Seen,
    SideBet,
    looks_at,
    meter_share,
    side_bet_nets,
    side_bet_owed,
)
from pitwatch.rules.wins import NO_BUST, WINS

__all__ = ["decided", "may_be_paid", "open_side_bets", "right_nets", "wants_a_dealer"]


def open_side_bets(rnd: Round) -> None:
    """The first card falls: is the main wager there that the side bets ask for?"""
    for box in [b for _, b in sorted(rnd.boxes.items())]:
        bet = rnd.profile.side_bets.get(box.spot)
        if bet is None or box.hand or box.empty or not bet.needs_minimum:
            continue
        main = rnd.opened.get(box.seat, 0)
        least = rnd.header.minimum or 1
        if main is not None and main < least:
            rnd.say("side_bet_without_wager", box.seat, expected=least, observed=main, about=box.spot)


def _seen(rnd: Round, seat: int) -> Seen:
    """What is known of the cards that the seat's side bets look at."""
    hands = rnd.of_seat(seat)
    split = len(hands) > 1
    first = [h.cards[0] if h.cards else None for h in hands[:2]] if split else [*hands[0].cards[:2]]
    first += [None] * (2 - len(first))
    third: str | None = ""
    if len(hands) > 2 or (split and any(h.doubt for h in hands)):
        third = None  # a further split has moved the cards
    elif split:
        third = hands[0].counted[1] if len(hands[0].counted) > 1 else ""
    elif len(hands[0].counted) > 2:
        third = hands[0].counted[2]
    may_come = third == "" and not rnd.dealer_acts and hands[0].cleared is None and not rnd.passed(hands[0])
    natural = rnd.known_natural
    return Seen(
        player=(first[0], first[1]),
        ordered=_ordered(rnd, seat),
        upcard=rnd.upcard,
        third=None if may_come else third,
        third_may_come=may_come or (third is None and not split),
        natural=frozenset({True, False} if natural is None else {natural}),
        bust=_busts(rnd),
    )


def _ordered(rnd: Round, seat: int) -> bool:
    """Whether the seat's first two cards surely fell one after the other."""
    times = [d.t for d in rnd.dealt if d.seat == seat]
    return len(set(times)) == len(times)


def _busts(rnd: Round) -> frozenset[int]:
    """How many cards the dealer's bust hand can have."""
    if rnd.dealer_doubt or not rnd.dealer_done:
        return ANY_BUST
    return frozenset(s.size if s.bust else NO_BUST for s in rnd.standings())


def _meter_asked(rnd: Round, seat: int, bet: SideBet) -> bool:
    """Whether the seat placed the other bet that the meter asks for."""
    if not bet.meter:
        return False
    return bet.meter_with is None or rnd.box(seat, bet.meter_with).opened != 0


def _owed(rnd: Round, seat: int, bet: SideBet) -> frozenset[Owed]:
    """All that the bet may be owed as things are."""
    if not rnd.of_seat(seat):
        return side_bet_owed(bet, Seen())
    return side_bet_owed(bet, _seen(rnd, seat), meter=_meter_asked(rnd, seat, bet))


def decided(rnd: Round, box: Box, bet: SideBet) -> bool:
    """Whether what the bet pays is known."""
    return len({o.ratio for o in _owed(rnd, box.seat, bet)}) == 1


def may_be_paid(rnd: Round, box: Box, bet: SideBet) -> bool:
    """Whether the cards of some line of the pay table lie there, read or not: chips may be a payment."""
    hands = rnd.of_seat(box.seat)
    there = set()
    if hands and (len(hands[0].cards) >= 2 or len(hands) > 1):
        there.add("player")
        if len(hands) > 1 or len(hands[0].cards) > 2:
            there.add("third")
    if rnd.dealer:
        there.add("upcard")
    over = all(h.cleared is not None for h in rnd.hands.values())
    if rnd.known_natural is not None or rnd.dealer_acts or (over and len(rnd.dealer) > 1):
        there.add("natural")  # when all are paid, so is this, whether or not the hole card was seen
    if rnd.dealer_acts:
        there.add("bust")
    return any(set(WINS[name].looks_at) <= there for name, _ in bet.pays)


def wants_a_dealer(rnd: Round) -> bool:
    """Whether a bet lies there that is decided by how the dealer's hand ends."""
    return any(
        box.spot in rnd.profile.side_bets
        and not box.empty
        and "bust" in looks_at(rnd.profile.side_bets[box.spot])
        for box in rnd.boxes.values()
    )


def _holders(rnd: Round, bet: SideBet) -> tuple[int, int]:
    """How many seats win the meter, at least and at most."""
    least = most = 0
    for (seat, spot, hand), box in rnd.boxes.items():
        if spot != bet.name or hand or box.opened == 0 or any(h.dead for h in rnd.of_seat(seat)):
            continue
        owed = {o.meter for o in _owed(rnd, seat, bet)}
        least, most = least + (owed == {True}), most + (True in owed)
    return least, most


def right_nets(rnd: Round, box: Box, bet: SideBet, stake: int) -> tuple[frozenset[Fraction], Fraction | None]:
    """The player's nets in cents that may be right, and above which net nothing can be told: where the
    meter's share is not known, None where it is.
    """
    owed = _owed(rnd, box.seat, bet)
    if not any(o.meter for o in owed):
        return side_bet_nets(stake, owed), None
    if rnd.header.meter is None:
        without = side_bet_nets(stake, (Owed(o.ratio) for o in owed))
        return without, min(stake * o.ratio for o in owed if o.meter)
    least, most = _holders(rnd, bet)
    shares = {meter_share(rnd.header.meter, n) for n in range(max(least, 1), max(most, 1) + 1)}
    return side_bet_nets(stake, owed, shares), None
