"""What every wager is owed: pure functions, exact.

In: a profile, standings of a player's and the dealer's hand, cents. Out: results and the player's net in
cents as exact fractions, a loss negative. Where the house's source is silent, every reading of it is
returned.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, NamedTuple

from pitwatch.rules.hands import Standing
from pitwatch.rules.profile import Profile

__all__ = [
    "Outcome",
    "Result",
    "blackjack_net",
    "insurance_net",
    "results",
    "surrender_net",
    "surrender_results",
    "verdict",
]

Outcome = Literal["won", "blackjack", "pushed", "lost", "bust", "surrendered", "even money"]


class Result(NamedTuple):
    """How a hand ended, and the player's net in cents."""

    outcome: Outcome
    net: Fraction


def blackjack_net(profile: Profile, stake: int) -> Fraction:
    """What a winning blackjack is paid, rounded as the profile says."""
    exact = stake * profile.blackjack_pays
    if profile.blackjack_rounding == "exact":
        return exact
    chips, rest = divmod(exact, profile.smallest_chip)
    up = profile.blackjack_rounding == "up" and rest > 0
    return Fraction((chips + up) * profile.smallest_chip)


def insurance_net(profile: Profile, stake: int, *, natural: bool) -> Fraction:
    """What an insurance is owed when the dealer has a blackjack (natural) or not.

    Raises ValueError when the house offers none.
    """
    if profile.insurance is None:
        raise ValueError(f"{profile.name} offers no insurance, so that none can be settled")
    return stake * profile.insurance.pays if natural else Fraction(-stake)


def surrender_net(stake: int) -> Fraction:
    """What a surrendered hand loses."""
    return Fraction(-stake, 2)


def surrender_results(profile: Profile, dealer: Standing, stake: int) -> frozenset[Result]:
    """Every way in which a surrendered hand may be settled: a late surrender does not save a hand from the
    dealer's blackjack, an early one does.
    """
    half = Result("surrendered", surrender_net(stake))
    whole = Result("lost", Fraction(-stake))
    if profile.surrender != "late":
        return frozenset({half})
    if dealer.natural:
        return frozenset({whole})
    # one card, or none seen: a blackjack may yet come
    open_ = dealer.size == 0 or (dealer.size == 1 and (dealer.ace or dealer.hard == 10))
    return frozenset({half, whole} if open_ else {half})


def results(
    profile: Profile, hand: Standing, dealer: Standing, stake: int, original: int | None = None
) -> frozenset[Result]:
    """Every way in which this hand may be settled under the profile.

    stake: cents at risk, doubles included. original: what of it loses to a dealer's blackjack where doubles
    and splits come back; None = all of it.
    """
    if hand.bust:
        return frozenset({Result("bust", Fraction(-stake))})
    if hand.over == "charlie":
        return frozenset({Result("won", Fraction(stake))})
    if hand.natural and dealer.natural:
        return frozenset({Result("pushed", Fraction(0))})
    if hand.natural:
        return frozenset({Result("blackjack", blackjack_net(profile, stake))})
    if dealer.natural:
        takes = profile.dealer_blackjack_takes
        part = stake if original is None else original
        losses = {stake} if takes == "all" else {part} if takes == "original" else {stake, part}
        return frozenset(Result("lost", Fraction(-loss)) for loss in losses)
    won, pushed = Result("won", Fraction(stake)), Result("pushed", Fraction(0))
    if profile.push_22 and dealer.hard == 22:
        return frozenset({pushed})
    if dealer.bust or hand.total > dealer.total:
        return frozenset({won})
    if hand.total < dealer.total:
        return frozenset({Result("lost", Fraction(-stake))})
    # two cards after a split: the dealer's 21 is no blackjack, so it has more
    if hand.total == 21 and hand.size == 2:
        beats = profile.two_card_21_beats_more
        return frozenset({won, pushed} if beats is None else {won} if beats else {pushed})
    return frozenset({pushed})


def verdict(result: Result, net: int) -> str:
    """The finding kind that an observed net makes of a result, "" when it was settled rightly."""
    outcome, expected = result
    if abs(net - expected) < 1:  # a fraction of a cent may be rounded either way
        return ""
    if outcome in ("won", "blackjack", "even money"):
        if net < 0:
            return "winner_taken"
        if net == 0:
            return "winner_not_paid"
        return "paid_short" if net < expected else "paid_over"
    if outcome == "pushed":
        return "push_paid" if net > 0 else "push_taken"
    if outcome == "surrendered":
        return "surrender_wrong"
    if net > 0:
        return "loser_paid"
    return "loser_not_taken" if net > expected else "taken_over"
