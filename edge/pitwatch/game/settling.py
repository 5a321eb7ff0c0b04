"""Settlement: what each hand was owed, and whether it got it.

In: the round. Out: findings, each holding for every value of what was not read; otherwise the hand is
unverified.
"""

from __future__ import annotations

from fractions import Fraction

from pitwatch.game.box import TAKEN_ALL, Net, Step
from pitwatch.game.hand import Hand
from pitwatch.game.round import HOLD, UNSURE, Round
from pitwatch.rules.hands import Standing
from pitwatch.rules.settle import Result, results, surrender_results, verdict

__all__ = ["about", "begin_all", "begin_hand", "close_hand", "confirm_short", "try_close", "verdicts"]

NOT_DONE = "the dealer's hand was not seen to its end"


def begin_hand(hand: Hand) -> None:
    """Settlement of a hand begins on what lies there; a payment seen just before belongs to it."""
    if hand.box.settling or hand.done:
        return
    already: tuple[Step, ...] = ()
    if hand.growth is not None and not hand.growth.by_player:
        already = tuple(Step(c.event.t, c.delta, c.event.by) for c in hand.growth.changes)
    if hand.drop is not None:
        already += tuple(Step(c.event.t, c.delta, c.event.by) for c in hand.drop.changes)
    hand.growth = hand.drop = None
    hand.box.begin(already)


def begin_all(rnd: Round) -> None:
    """The dealer's hand is finished: settlement of every hand begins."""
    for hand in rnd.open_hands():
        begin_hand(hand)


def confirm_short(rnd: Round) -> None:
    """No card followed: the dealer did settle on a total that must draw."""
    if rnd.short is None:
        return
    rnd.short = None
    totals = {s.total for s in rnd.standings()}
    rnd.say("dealer_stood_short", observed=totals.pop() if len(totals) == 1 else None)


def possible_results(rnd: Round, hand: Hand, stake: int) -> set[Result]:
    """Every way in which the hand may have ended and what it is then owed."""
    if hand.surrendered:
        dealers = rnd.standings() if rnd.profile.surrender == "late" else {Standing()}
        return {r for d in dealers for r in surrender_results(rnd.profile, d, stake)}
    if hand.even_money is True:
        return {Result("even money", Fraction(stake))}
    out: set[Result] = set()
    if hand.even_money is None:
        out.add(Result("even money", Fraction(stake)))
    dealers = {Standing()} if hand.bust else rnd.standings()
    split = len(rnd.of_seat(hand.seat)) > 1
    originals = {_original(hand)} | ({0} if split else set()) if hand.loses is None else {hand.loses}
    for standing in hand.standings:
        for dealer in dealers:
            for original in originals:
                out |= results(rnd.profile, standing, dealer, stake, original)
    if any(s.size < 2 for s in dealers) and not hand.bust and not hand.natural:
        out |= {
            Result("won", Fraction(stake)),
            Result("pushed", Fraction(0)),
            Result("lost", Fraction(-stake)),
        }
    return out


def _loses(result: Result, stake: int | None) -> int | None:
    if result.net >= 0:
        return 0
    return None if stake is None or result.net.denominator != 1 else -int(result.net)


def _original_unread(rnd: Round, hand: Hand) -> bool:
    """What a dealer's blackjack takes of this hand's chips was not read."""
    if hand.bust or rnd.profile.dealer_blackjack_takes == "all" or hand.split_base is not None:
        return False
    doubled = hand.maybe_doubled or hand.doubled_at is not None or hand.from_split
    return (
        doubled and (hand.box.opened is None or hand.from_split) and any(s.natural for s in rnd.standings())
    )


def _original(hand: Hand) -> int | None:
    if hand.split_base is not None:
        return hand.split_base
    if hand.maybe_doubled or hand.doubled_at is not None:
        return hand.box.opened
    return None


def verdicts(rnd: Round, hand: Hand) -> tuple[set[str], set[int | None], Net, set[str]]:
    """(kinds, expected nets, observed net, outcomes) over all that may be; a kind "" = settled rightly.

    No kinds = it cannot be judged.
    """
    box = hand.box
    stake = box.start
    if stake == 0:
        return {""}, {0}, 0, {"unknown"}
    options = possible_results(rnd, hand, stake if stake is not None else 1)
    if _original_unread(rnd, hand) and any(r.outcome == "lost" for r in options):
        return set(), set(), None, {r.outcome for r in options}
    kinds: set[str] = set()
    nets: set[Net] = set()
    for r in options:
        net = box.net(loses=_loses(r, stake))
        nets.add(net)
        if net is None or (stake is None and net != TAKEN_ALL and not (net == 0 and r.outcome == "pushed")):
            return set(), set(), None, {o.outcome for o in options}
        if net == TAKEN_ALL:
            if r.outcome in ("lost", "bust") and (stake is not None or r.net == -1):
                kinds.add("" if stake is None or r.net == -stake else "taken_over")
            elif r.outcome in ("won", "blackjack", "even money"):
                kinds.add("winner_taken")
            elif r.outcome == "pushed":
                kinds.add("push_taken")
            else:
                return set(), set(), None, set()
        else:
            assert isinstance(net, int)
            kinds.add(verdict(r, net))
    expected = {None if stake is None or r.net.denominator != 1 else int(r.net) for r in options}
    return kinds, expected, nets.pop() if len(nets) == 1 else None, {r.outcome for r in options}


def try_close(rnd: Round, hand: Hand, t: float | None = None) -> None:
    """Close a hand that was settled rightly; one that was not waits for being put right. t: it is so late."""
    if hand.done or not hand.box.settling:
        return
    kinds, *_ = verdicts(rnd, hand)
    if hand.cleared is None or len(kinds) != 1:
        return
    if hand.box.empty:
        close_hand(rnd, hand)
        return
    # a returned or paid wager may yet be taken: while chips lie there, only what is wrong for long is judged
    until = max(hand.cleared, *(s.t for s in hand.box.steps), 0.0) + HOLD
    if kinds != {""} and (rnd.now if t is None else t) > until:
        with rnd.as_of(until):
            close_hand(rnd, hand)


def share_original(rnd: Round, seat: int) -> None:
    """Only original bets lose to the dealer's blackjack: of a split seat's hands one loses, whichever."""
    hands = [h for h in rnd.of_seat(seat) if not h.bust]
    if len(hands) < 2 or rnd.profile.dealer_blackjack_takes != "original" or rnd.dealer_natural is not True:
        return
    if any(h.done or h.dead or h.doubt or not h.box.settling or h.natural for h in hands):
        return
    nets = [h.box.net(loses=h.split_base if h is hands[0] else 0) for h in hands]
    base = hands[0].split_base
    if base is not None and all(isinstance(n, int) for n in nets):
        lost = -sum(n for n in nets if isinstance(n, int))
        # whether a hand that was bust before was the original is not said
        whole = lost == base or (lost == 0 and len(hands) < len(rnd.of_seat(seat)))
        first = next((h for h, n in zip(hands, nets, strict=True) if n == -base), hands[0])
        for hand, net in zip(hands, nets, strict=True):
            assert isinstance(net, int)
            hand.loses = -net if whole else base if hand is first else 0


def close_hand(rnd: Round, hand: Hand) -> None:
    """Judge a hand for good."""
    if hand.done:
        return
    if rnd.dead or hand.dead:
        hand.done = True
        hand.outcome = "dead"
        return
    why = hand.doubt or rnd.doubt or hand.box.doubt
    if len(hand.cards) < 2:
        why = why or "it had fewer than two cards"
    kinds, expected, net, outcomes = (set(), set(), None, set()) if why else verdicts(rnd, hand)
    hand.done = True
    if len(outcomes) == 1:
        hand.outcome = next(iter(outcomes))
    if isinstance(net, int):
        hand.net = net
    if kinds == {""}:
        hand.judged = True
        return
    if len(kinds) != 1 or (hand.box.faint and net != TAKEN_ALL):
        hand.doubt = why or _why(rnd, hand)
        return
    confidence = hand.box.confidence
    all_taken = net == TAKEN_ALL or (hand.box.start is not None and net == -hand.box.start)
    if net != 0 and not all_taken:  # what is due is held against what was paid: both readings must be right
        confidence *= hand.box.wager_confidence
    confidence = min(confidence, hand.confidence, rnd.dealer_confidence)
    if confidence < rnd.sure:
        hand.doubt = UNSURE
        return
    hand.judged = True
    kind = kinds.pop()
    if hand.paid_early and kind == "push_paid":
        return
    if kind == "surrender_wrong" and rnd.said("surrender_not_allowed", hand.seat, hand.number):
        return
    if rnd.said("live_hand_taken", hand.seat, hand.number):
        return
    due = expected.pop() if len(expected) == 1 else None
    got = net if isinstance(net, int) else None
    if kind in ("taken_over", "surrender_wrong"):
        due, got = (None if due is None else -due), (None if got is None else -got)
    rnd.say(
        kind,
        hand.seat,
        hand.number,
        expected=due,
        observed=got,
        about=about(rnd, hand),
        outcome=hand.outcome,
        confidence=confidence,
        evidence=hand.box.evidence or hand.evidence,
    )


def _why(rnd: Round, hand: Hand) -> str:
    if any(c is None for c in hand.cards):
        return "a card of this hand could not be read"
    if rnd.hidden is not None or len(rnd.dealer) < 2:
        return NOT_DONE
    if any(c is None for c in rnd.dealer):
        return "a card of the dealer could not be read"
    if hand.box.start is None:
        return "the wager could not be read"
    return "what was paid or taken could not be seen for sure"


def about(rnd: Round, hand: Hand) -> str:
    """The hand against the dealer in words, as far as it is known: "20 against 19"."""

    def words(standings: frozenset[Standing]) -> str:
        texts = {"blackjack" if s.natural else "bust" if s.bust else str(s.total) for s in standings}
        return texts.pop() if len(texts) == 1 else ""

    mine, dealers = words(hand.standings), words(rnd.standings()) if rnd.exposed else ""
    if not mine or hand.bust:
        return mine
    return f"{mine} against {dealers}" if dealers else mine
