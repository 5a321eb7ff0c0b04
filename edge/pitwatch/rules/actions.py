"""What a player's hand may do now: pure functions of a profile and a standing.

In: a profile, a hand's standing, its cards. Out: the rule that forbids an act, or None when it is allowed
or the house's source does not say.
"""

from __future__ import annotations

from pitwatch.cards import card_value, rank_of
from pitwatch.rules.hands import Standing
from pitwatch.rules.profile import Profile

__all__ = [
    "double_forbidden_by",
    "even_money_offered",
    "insurance_limit",
    "insurance_offered",
    "legal_actions",
    "split_forbidden_by",
    "surrender_forbidden_by",
]

_DOUBLE_TOTALS = {"9-11": (9, 10, 11), "10-11": (10, 11), "11": (11,)}


def double_forbidden_by(profile: Profile, hand: Standing, *, from_split: bool, aces: bool) -> str | None:
    """The rule that forbids doubling this hand; `aces`: it is half of a split pair of aces."""
    if hand.natural:
        return "double_on_21" if from_split else "double_on"
    if hand.size != 2:
        return "double_on"
    if from_split and not profile.double_after_split:
        return "double_after_split"
    if from_split and aces and profile.double_split_aces is False:
        return "double_split_aces"
    if hand.total == 21 and not profile.double_on_21:
        return "double_on_21"
    if profile.double_on != "any_two" and hand.total not in _DOUBLE_TOTALS[profile.double_on]:
        return "double_on"
    return None


def split_forbidden_by(
    profile: Profile, first: str, second: str, *, cards: int, hands: int, from_split: bool
) -> str | None:
    """The rule that forbids splitting a pair; cards: how many the hand has, hands: the seat's before it."""
    alike = (
        rank_of(first) == rank_of(second)
        if profile.split_by == "rank"
        else card_value(first) == card_value(second)
    )
    if cards != 2 or not alike:
        return "split_by"
    if profile.max_hands is not None and hands >= profile.max_hands:
        return "max_hands"
    if from_split and card_value(first) == 1 and profile.resplit_aces is False:
        return "resplit_aces"
    return None


def surrender_forbidden_by(profile: Profile, *, cards: int, from_split: bool) -> str | None:
    """The rule that forbids surrendering a hand of so many cards: only the first two, never after a split."""
    return "surrender" if profile.surrender == "none" or cards != 2 or from_split else None


def insurance_offered(profile: Profile, upcard: str) -> bool:
    """Whether the house offers insurance under this upcard."""
    return profile.insurance is not None and rank_of(upcard) == profile.insurance.upcard


def even_money_offered(profile: Profile, hand: Standing, upcard: str) -> bool | None:
    """Whether a hand may be paid even money under an unchecked upcard; None = the house does not say."""
    return profile.even_money if hand.natural and rank_of(upcard) == "A" else False


def insurance_limit(profile: Profile, wager: int) -> int:
    """The largest insurance in cents on a wager; 0 where the house offers none."""
    return 0 if profile.insurance is None else int(wager * profile.insurance.limit)


def legal_actions(
    profile: Profile, hand: Standing, cards: tuple[str, ...], *, hands: int = 1, from_split: bool = False
) -> frozenset[str]:
    """What the hand may do now: of stand, hit, double, split, surrender (late and early alike)."""
    aces = bool(cards) and card_value(cards[0]) == 1
    if hand.over == "split aces" and len(cards) == 2:
        fault = split_forbidden_by(profile, *cards, cards=2, hands=hands, from_split=True)
        acts = set() if fault else {"split"}
        if profile.double_split_aces is True and not double_forbidden_by(
            profile, hand, from_split=True, aces=True
        ):
            acts.add("double")
        return frozenset(acts)
    if hand.over or hand.size < 2:
        return frozenset()
    acts = {"stand"}
    if hand.total < 21:
        acts.add("hit")
    if double_forbidden_by(profile, hand, from_split=from_split, aces=aces) is None:
        acts.add("double")
    if len(cards) == 2:
        fault = split_forbidden_by(profile, *cards, cards=2, hands=hands, from_split=from_split)
        if fault is None:
            acts.add("split")
        if surrender_forbidden_by(profile, cards=2, from_split=from_split) is None:
            acts.add("surrender")
    return frozenset(acts)
