"""The mistakes that can be staged, and where in a round each of them can happen.

In: a round that was played without a mistake. Out: `Misplay`s that would be certain from what is to be seen.
Money is integer cents.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from pitwatch.chips import CASINO, make_change
from pitwatch.sim.played import Hand, Played
from pitwatch.sim.rounds import Misplay, Stack

__all__ = ["MISPLAYS", "PLAIN", "candidates"]

PLAIN = (
    "paid_short",
    "paid_over",
    "winner_not_paid",
    "winner_taken",
    "push_paid",
    "push_taken",
    "loser_paid",
    "loser_not_taken",
    "dealer_drew_over",
    "dealer_stood_short",
    "blackjack_paid_even",
    "double_paid_single",
    "wager_raised",
    "wager_late",
)
"""What goes wrong at tables every day."""

MISPLAYS = (
    *PLAIN,
    "wager_cut",
    "live_hand_taken",
    "card_to_finished_hand",
    "hole_exposed_early",
    "seat_not_dealt",
    "blackjack_paid_early",
    "double_too_large",
    "split_wager_mismatch",
    "insurance_too_large",
    "insurance_not_taken",
    "insurance_paid_short",
)
"""Everything that can be staged."""


def candidates(
    kind: str, played: Played, wagers: Mapping[int, Stack], seats: int, rng: random.Random
) -> list[Misplay]:
    """Every way in which `kind` can happen in this round, none when it cannot.

    seats: how many the table has. Raises KeyError for a kind that is not in MISPLAYS.
    """
    if kind in _SETTLING:
        want, chips = _SETTLING[kind]
        hands = [h for h in played.hands if h.outcome == want and (kind != "double_paid_single" or h.doubled)]
        out = [Misplay(kind, h.seat, h.number, chips(h, rng)) for h in hands]
        # a winner that gets nothing is another mistake than one paid short
        return [m for m in out if m.chips or kind not in _PAYING]
    return _OTHER[kind](kind, played, wagers, seats, rng)


def _nothing(hand: Hand, rng: random.Random) -> Stack:
    return ()


def _stake(hand: Hand, rng: random.Random) -> Stack:
    return make_change(hand.stake)


def _single(hand: Hand, rng: random.Random) -> Stack:
    return make_change(hand.stake // 2)


def _short(hand: Hand, rng: random.Random) -> Stack:
    """As paid, but with a chip too few, or with smaller ones."""
    due = hand.due or 0
    steps = [c for c in (500, 1000, 2500, 5000, 10000) if c < due]
    return make_change(due - rng.choice(steps)) if steps else ()


def _over(hand: Hand, rng: random.Random) -> Stack:
    due = hand.due or 0
    return make_change(due + rng.choice([c for c in (500, 1000, 2500, 10000) if c <= 2 * due]))


_SETTLING: dict[str, tuple[str, Callable[[Hand, random.Random], Stack]]] = {
    "paid_short": ("won", _short),
    "paid_over": ("won", _over),
    "winner_not_paid": ("won", _nothing),
    "winner_taken": ("won", _nothing),
    "double_paid_single": ("won", _single),
    "blackjack_paid_even": ("blackjack", _stake),
    "push_paid": ("pushed", _stake),
    "push_taken": ("pushed", _nothing),
    "loser_paid": ("lost", _stake),
    "loser_not_taken": ("lost", _nothing),
}
_PAYING = ("paid_short", "paid_over", "double_paid_single", "blackjack_paid_even", "push_paid", "loser_paid")


def _from_course(
    kind: str, played: Played, wagers: Mapping[int, Stack], seats: int, rng: random.Random
) -> list[Misplay]:
    """Where the course of play left an opening."""
    out = []
    for _, seat, hand in sorted(c for c in played.chances if c[0] == kind):
        wager = wagers.get(seat, ())
        chips: Stack = ()
        if kind == "wager_raised":
            chips = (rng.choice([500, 2500, 2500, 10000]),) * rng.choice([1, 2])
        elif kind == "wager_cut":
            if len(wager) < 2:
                continue
            chips = wager[-1:]
        elif kind == "double_too_large":
            chips = (*wager, wager[-1])
        elif kind == "split_wager_mismatch":
            chips = wager[:-1] if len(wager) > 1 else (*wager, wager[-1])
        elif kind == "insurance_too_large":
            chips = wager
        if kind == "dealer_stood_short":
            # nobody would stand on less
            if hand >= 12:
                out.append(Misplay(kind, 0, 0, total=hand))
            continue
        out.append(Misplay(kind, seat, hand, chips))
    return out


def _double(
    kind: str, played: Played, wagers: Mapping[int, Stack], seats: int, rng: random.Random
) -> list[Misplay]:
    return [
        Misplay(kind, h.seat, h.number, (*wagers[h.seat], wagers[h.seat][-1]))
        for h in played.hands
        if h.doubled and h.outcome != "bust"
    ]


def _late(
    kind: str, played: Played, wagers: Mapping[int, Stack], seats: int, rng: random.Random
) -> list[Misplay]:
    chips = (rng.choice([d.cents for d in CASINO.denominations if 500 <= d.cents <= 10000]),) * rng.choice(
        [1, 2, 3]
    )
    return [Misplay(kind, s, 0, chips) for s in range(1, seats + 1) if s not in wagers]


def _skipped(
    kind: str, played: Played, wagers: Mapping[int, Stack], seats: int, rng: random.Random
) -> list[Misplay]:
    return [Misplay(kind, s) for s in wagers] if len(wagers) > 1 else []


def _exposed(
    kind: str, played: Played, wagers: Mapping[int, Stack], seats: int, rng: random.Random
) -> list[Misplay]:
    # under an ace or a ten the exposed card would end the question of the peek, and the round differs
    return [Misplay(kind)] if played.dealer[0][0] in "23456789" else []


def _insurance(
    kind: str, played: Played, wagers: Mapping[int, Stack], seats: int, rng: random.Random
) -> list[Misplay]:
    if kind == "insurance_paid_short":
        return [Misplay(kind, s, 0, make_change(placed)) for s, placed, net in played.insurance if net > 0]
    # what is left lying is only wrong when play goes on
    goes_on = any(len(h.cards) > 2 or h.split for h in played.hands) or len(played.dealer) > 2
    return [Misplay(kind, s) for s, _, net in played.insurance if net < 0 and goes_on]


_Finder = Callable[[str, Played, Mapping[int, Stack], int, random.Random], list[Misplay]]
_OTHER: dict[str, _Finder] = {
    "dealer_drew_over": _from_course,
    "dealer_stood_short": _from_course,
    "wager_raised": _from_course,
    "wager_late": _late,
    "wager_cut": _from_course,
    "live_hand_taken": _from_course,
    "card_to_finished_hand": _from_course,
    "hole_exposed_early": _exposed,
    "seat_not_dealt": _skipped,
    "blackjack_paid_early": _from_course,
    "double_too_large": _double,
    "split_wager_mismatch": _from_course,
    "insurance_too_large": _from_course,
    "insurance_not_taken": _insurance,
    "insurance_paid_short": _insurance,
}
