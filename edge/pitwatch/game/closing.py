"""The end of a round: what waited is judged, and the round becomes a record.

In: the round. Out: how many hands it had and how many were judged, what could not be verified, its
transcript.
"""

from __future__ import annotations

from pitwatch.game.dealing import begin_play, without_split_wager
from pitwatch.game.decisions import decisions
from pitwatch.game.findings import Unverified
from pitwatch.game.hand import Hand
from pitwatch.game.lines import INSURANCE, close_lines, insurance_closes
from pitwatch.game.record import HandRecord, RoundRecord, SideBetRecord
from pitwatch.game.round import Round
from pitwatch.game.settling import NOT_DONE, begin_hand, close_hand, confirm_short, share_original, verdicts

__all__ = ["record", "round_is_over", "settle_all"]

CUT_OFF = "the log ends before this hand was settled"


def round_is_over(rnd: Round) -> bool:
    """The dealer's and all hands' cards are gone, and every wager is settled rightly and off its spot."""
    if rnd.cleared is None:
        return False
    return all(h.done or h.dead or (h.cleared is not None and h.box.empty) for h in rnd.in_order())


def settle_all(rnd: Round, *, ended: bool) -> tuple[int, int, list[Unverified]]:
    """Judge every hand for good; ended: the dealer's cards were picked up, otherwise the log was cut off.

    Returns the number of hands, of hands judged, and a remark for each of the others.
    """
    confirm_short(rnd)
    insurance_closes(rnd)
    if ended and not rnd.doubt:
        without_split_wager(rnd)
    for hand in rnd.open_hands():
        _last_chance(rnd, hand, ended)
    for seat in {h.seat for h in rnd.open_hands()}:
        share_original(rnd, seat)
    for hand in list(rnd.open_hands()):
        close_hand(rnd, hand)
    if ended and len(rnd.dealer) >= rnd.first_cards and any(_settled(h) for h in rnd.hands.values()):
        begin_play(rnd)  # nobody drew: all were settled on their first two cards
        rnd.run_later(float("inf"))
    why = close_lines(rnd) if ended and not rnd.doubt else {}
    hands = [] if rnd.dead else [h for h in rnd.in_order() if _counts(h)]
    unverified = []
    for h in hands:
        reason = h.doubt or NOT_DONE if not h.judged else why.pop(h.seat, "")
        if reason:
            unverified.append(Unverified(rnd.now, h.seat, h.number, reason))
            why.pop(h.seat, None)
    return len(hands), sum(h.judged for h in hands), unverified


def _settled(hand: Hand) -> bool:
    """Whether the dealer was seen to settle the hand, so that the deal was no misdeal."""
    return hand.judged and any(s.by == "dealer" for s in hand.box.steps)


def _counts(hand: Hand) -> bool:
    """Whether there was something to judge: a hand with a wager, not declared dead."""
    return not hand.dead and (hand.from_split or (hand.box.opened != 0 and len(hand.cards) >= 2))


def _last_chance(rnd: Round, hand: Hand, ended: bool) -> None:
    if rnd.doubt:
        return
    if not ended:
        if not hand.box.settling or verdicts(rnd, hand)[0] != {""} or not hand.box.steps:
            hand.doubt = hand.doubt or CUT_OFF
        return
    if hand.escrow:
        hand.doubt = hand.doubt or "the chips of a split could not be told apart"
    if hand.box.settling:
        return
    if hand.drop is not None or not (rnd.exposed or hand.natural):
        hand.doubt = hand.doubt or NOT_DONE
    begin_hand(hand)


def _wager(hand: Hand) -> int | None:
    """What the hand was played for, before a double."""
    if not hand.number:
        return hand.box.opened
    if hand.before_double is not None:
        return hand.before_double
    return hand.split_base if hand.maybe_doubled or hand.box.start is None else hand.box.start


def _doubled(hand: Hand) -> bool:
    """It doubled; where that could not be seen, whether it is likelier than a hit."""
    if not hand.maybe_doubled:
        return hand.doubled_at is not None
    before, start = hand.split_base or hand.box.opened, hand.box.start
    if before is None:  # read only later, it may have been this from the beginning
        return hand.laid_across or start is None
    return start is None or start != before


def record(rnd: Round) -> RoundRecord:
    """The round's transcript."""
    hands = [
        HandRecord(
            seat=h.seat,
            hand=h.number,
            cards=tuple(h.cards),
            wager=_wager(h),
            doubled=_doubled(h),
            stake=h.box.start,
            payout=h.net,
            outcome="dead" if h.dead or rnd.dead else h.outcome,
            decisions=decisions(rnd, h),
        )
        for h in rnd.in_order()
    ]
    insurance, side_bets = [], []
    for (seat, spot, _), box in sorted(rnd.boxes.items()):
        if spot == "main" or not box.settling or box.start == 0:
            continue
        paid = any((step.delta or 0) > 0 for step in box.steps)
        net = box.net(loses=0 if paid else None)
        seen = net if isinstance(net, int) else None
        if spot == INSURANCE:
            insurance.append((seat, box.start, seen))
        elif spot in rnd.profile.side_bets:
            side_bets.append(SideBetRecord(seat, spot, box.start, seen))
    return RoundRecord(
        number=rnd.number,
        t_start=rnd.t_start,
        t_end=rnd.now,
        hands=tuple(hands),
        dealer=tuple(rnd.dealer),
        insurance=tuple(insurance),
        findings=tuple(rnd.findings),
        side_bets=tuple(side_bets),
    )
