"""House rules checked: unknown keys, values that cannot be, rules that contradict each other.

In: rules as they are written. Out: what is wrong with them, one sentence each, with the key and a remedy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pitwatch.errors import UserError
from pitwatch.rules.profile import ALSO, PROFILES, Profile, load_profile
from pitwatch.rules.reading import RULES, did_you_mean, ratio_text
from pitwatch.rules.wins import WINS

__all__ = ["check_rules", "contradictions"]

_ABOUT = ("name", "document")


def check_rules(rules: Mapping[str, Any]) -> list[str]:
    """All that is wrong with a profile of one's own; none when it can be judged by.

    Every key is read by itself, so that one mistake does not hide the next.
    """
    base = rules.get("profile")
    if not isinstance(base, str):
        return [f"'profile' is missing; name the house whose rules these change: {', '.join(PROFILES)}"]
    if base not in PROFILES:
        return [f"'profile' is {base!r}{did_you_mean(base, PROFILES)}; known are {', '.join(PROFILES)}"]
    wrong, right = [], {"profile": base}
    for key, value in rules.items():
        if key == "profile":
            continue
        if key not in (*RULES, *ALSO, *_ABOUT):
            close = did_you_mean(key, (*RULES, *ALSO, *_ABOUT, "profile"))
            wrong.append(f"{key!r} is no rule{close}; take it out or write the rule's name")
            continue
        try:
            load_profile({"profile": base, key: value})
            right[key] = value
        except UserError as e:
            wrong.append(str(e))
    return wrong + list(contradictions(load_profile(right)))


def contradictions(profile: Profile) -> Iterator[str]:
    """What cannot be, or cannot be at once, in a profile whose values are each in order."""
    yield from _impossible(profile)
    p = profile
    if p.hole_card == "none" and p.peek:
        yield "'peek' names upcards, but 'hole_card' is \"none\"; set 'peek' to []"
    if p.peek_seen and not p.peek:
        yield "'peek_seen' is true, but 'peek' names no upcard; set 'peek', or 'peek_seen' to false"
    if p.insurance_until == "peek" and not p.peek:
        yield "'insurance_until' is \"peek\", but 'peek' names no upcard; set 'peek', or null"
    for rule in ("insurance_until", "insurance_rounding"):
        if p.insurance is None and getattr(p, rule) is not None:
            yield f"{rule!r} is set, but 'insurance' is null; set it to null, or offer insurance"
    if p.double_on_21 and p.double_on != "any_two":
        yield (f"'double_on_21' is true, but 'double_on' is \"{p.double_on}\"; set 'double_on_21' to false")
    if p.double_split_aces and not p.double_after_split:
        yield "'double_split_aces' is true, but 'double_after_split' is false; set one of them as the other"
    if p.max_hands == 1 and p.double_split_aces:
        yield "'double_split_aces' is true, but 'max_hands' is 1; set it to null, or allow two hands"
    if p.max_hands is not None and p.max_hands < 3 and p.resplit_aces:
        yield f"'resplit_aces' is true, but 'max_hands' is {p.max_hands}; set it to null, or allow three"
    if p.surrender == "early" and not p.peek and p.hole_card == "dealt":
        yield "'surrender' is \"early\", but 'peek' names no upcard; write \"late\", or set 'peek'"
    if p.charlie and p.charlie <= 2:
        yield f"'charlie' is {p.charlie}, and every hand has two cards; set 3 or more, or 0 for none"
    for bet in p.side_bets.values():
        ratios = dict(bet.pays)
        if bet.meter_with is not None and bet.meter_with not in p.side_bets:
            close = did_you_mean(bet.meter_with, p.side_bets)
            with_ = repr(bet.meter_with) + close
            yield f"side bet {bet.name!r} has 'meter_with' {with_}, which is no side bet; add it"
        if bet.meter_with is not None and not bet.meter:
            yield f"side bet {bet.name!r} has 'meter_with' but no 'meter'; name its two cards, or take it out"
        if any(n.startswith("dealer_bust") for n in ratios):
            yield from _busts(bet.name, list(ratios))
        for name, ratio in ratios.items():
            for other in WINS[name].also:
                if not WINS[name].adds and ratios.get(other, 0) > ratio:
                    yield (
                        f"side bet {bet.name!r} pays {ratio_text(ratio)} on {name!r}, less than "
                        f"{ratio_text(ratios[other])} on {other!r}, which it is too; pay it no less"
                    )


def _busts(bet: str, names: list[str]) -> Iterator[str]:
    """Lines of a bust table that can never pay, for a line of more cards begins before them."""
    plain = [n for n in names if not n.endswith("_and_blackjack")]
    least = min((int(n.split("_")[2]) for n in plain if n.endswith("_or_more")), default=99)
    for n in plain:
        if n.split("_")[2:3] and not n.endswith("_or_more") and int(n.split("_")[2]) > least:
            yield f"side bet {bet!r} pays on {n!r} beside 'dealer_bust_{least}_or_more'; take one of them out"


def _impossible(p: Profile) -> Iterator[str]:
    if p.decks is not None and p.decks > 12:
        yield f"'decks' is {p.decks}; no shoe holds more than 12"
    if p.charlie > 21:
        yield f"'charlie' is {p.charlie}; no hand has more than 21 cards without going over, set 5 or 6"
    if p.blackjack_pays < 1:
        turned = ratio_text(1 / p.blackjack_pays)
        yield f"'blackjack_pays' is {ratio_text(p.blackjack_pays)}, less than the wager; write \"{turned}\""
    if p.insurance is not None and p.insurance.limit > 1:
        yield "the 'limit' of 'insurance' is more than the wager; it is a share of it, like \"1/2\""
    if p.insurance is not None and p.insurance.pays < 1:
        yield "'insurance' pays less than was placed; write what it pays to one, like \"2:1\""
    if p.burn is not None and p.burn > 52:
        yield f"'burn' is {p.burn}; no more than one deck is burnt, write the number of cards"
    if p.smallest_chip > 100_00:
        yield f"'smallest_chip' is {p.smallest_chip} cents; it is counted in cents, write 100 for $1"
