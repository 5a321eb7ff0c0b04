"""A profile in plain English, as a table's signage would put it, with the sentence that each line stands on.

In: profiles. Out: sections of lines; what two profiles say differently. Knows no terminal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any, NamedTuple

from pitwatch.chips import money
from pitwatch.rules.profile import ALSO, Profile
from pitwatch.rules.reading import ratio_text, side_bet_tables
from pitwatch.rules.sidebets import SideBet
from pitwatch.rules.wins import WINS

__all__ = ["Line", "Section", "differences", "in_short", "pay_table", "said_by", "sections", "unsaid"]


class Line(NamedTuple):
    """One rule: its name, what it says, the sentence of the document, "" where the document has none."""

    rule: str
    text: str
    source: str = ""


class Section(NamedTuple):
    """A heading and its lines."""

    title: str
    lines: tuple[Line, ...]


def _peek(upcards: tuple[str, ...]) -> str:
    if not upcards:
        return "The dealer does not check the hole card before the players act."
    names = {"A": "an ace", "ten": "a ten-value card"}
    return f"The dealer checks the hole card under {' or '.join(names[u] for u in upcards)}."


def _doubles(on: str) -> str:
    if on == "any_two":
        return "Any first two cards may be doubled, a blackjack excepted."
    totals = on.split("-")
    which = totals[0] if len(totals) == 1 else f"{totals[0]} to {totals[1]}" if on == "9-11" else "10 or 11"
    return f"Only a total of {which} on two cards may be doubled."


def _cards(n: int) -> str:
    return "one card" if n == 1 else "no card" if n == 0 else f"{n} cards"


def _insurance(line: Any) -> str:
    if line is None:
        return "No insurance is offered."
    limit = "half" if line.limit == Fraction(1, 2) else f"{line.limit} of"
    whole = "all of the" if line.limit == 1 else f"{limit} the"
    return f"Against an ace, insurance of up to {whole} wager may be placed; it pays {ratio_text(line.pays)}."


def _pick(**texts: str) -> Callable[[Any], str]:
    """A text for each value of a choice, written `yes` and `no` for true and false."""
    return lambda value: texts[
        {True: "yes", False: "no"}.get(value, value) if value in (True, False) else value
    ]


_SURRENDER = {
    "none": "No surrender.",
    "late": "Late surrender: the first two cards may be given up for half of the wager, which does not save "
    "them from a dealer's blackjack.",
    "early": "Early surrender: the first two cards may be given up for half of the wager before the dealer "
    "checks for a blackjack.",
}

_TEXTS: dict[str, Callable[[Any], str]] = {
    "decks": lambda n: f"{n} deck{'s' * (n > 1)} of cards.",
    "burn": lambda n: f"From a new shoe {_cards(n)} {'are' if n > 1 else 'is'} burnt before the first deal.",
    "hole_card": _pick(
        dealt="The dealer's second card is dealt face down, and turned when the players are finished.",
        none="The dealer takes no second card until the players' hands are finished (no hole card).",
    ),
    "peek": _peek,
    "peek_seen": _pick(
        yes="A check of the hole card that the camera does not see counts as missed.",
        no="A check of the hole card that the camera does not see is taken as made.",
    ),
    "dealer_soft_17": _pick(
        stand="The dealer draws to 16 and stands on all 17s.",
        hit="The dealer draws to 16 and hits soft 17.",
    ),
    "dealer_draws_when_no_live_hand": _pick(
        yes="The dealer draws even when no player's hand is left in play.",
        no="The dealer draws no card when no player's hand is left in play.",
    ),
    "blackjack_pays": lambda r: f"Blackjack pays {r.numerator} to {r.denominator}.",
    "blackjack_rounding": _pick(
        exact="A blackjack is paid exactly.",
        down="A blackjack's pay is rounded down to the smallest chip.",
        up="A blackjack's pay is rounded up to the smallest chip.",
    ),
    "smallest_chip": lambda c: f"The smallest chip is {money(c)}.",
    "blackjack_paid": _pick(
        at_once="A blackjack is paid at once, unless the upcard is an ace or a ten-value card.",
        at_end="A blackjack is paid when the round is settled.",
    ),
    "even_money": _pick(
        yes="Against an ace, a blackjack may be paid even money at once.",
        no="No even money for a blackjack against an ace.",
    ),
    "dealer_blackjack_takes": _pick(
        all="A dealer's blackjack takes doubles and splits as well.",
        original="A dealer's blackjack takes the original wagers only; doubles and splits come back.",
    ),
    "two_card_21_beats_more": _pick(
        yes="A 21 of two cards beats a 21 of more cards.",
        no="After a split, a 21 of two cards ties with any other 21.",
    ),
    "push_22": _pick(
        yes="A dealer's 22 is a push with every hand that is not bust, a blackjack excepted.",
        no="A dealer's 22 is a bust.",
    ),
    "charlie": lambda n: (
        f"{n} cards without going over 21 win at once." if n else "No win by number of cards."
    ),
    "bust_taken": _pick(
        at_once="A bust hand's wager is taken at once.",
        at_end="A bust hand's wager is taken when the round is settled.",
    ),
    "split_by": _pick(
        value="Two cards of the same value may be split: a king with a ten.",
        rank="Only two cards of the same rank may be split: no king with a ten.",
    ),
    "max_hands": lambda n: "Pairs may not be split." if n == 1 else f"Pairs may be split to {n} hands.",
    "resplit_aces": _pick(yes="Aces may be split again.", no="Aces may be split once only."),
    "hit_split_aces": _pick(
        yes="Split aces may be given any number of cards.", no="Split aces get one card each."
    ),
    "split_second_card": _pick(
        in_turn="A split hand gets its second card when the hand before it is finished."
    ),
    "split_ace_ten_is_blackjack": _pick(
        yes="An ace and a ten after a split are a blackjack.",
        no="An ace and a ten after a split are 21, no blackjack.",
    ),
    "double_on": _doubles,
    "double_on_21": _pick(
        yes="A two-card 21 that is no blackjack may be doubled.", no="A two-card 21 may not be doubled."
    ),
    "double_for_less": _pick(
        yes="A double may be less than the wager, never more.", no="A double must be as much as the wager."
    ),
    "double_after_split": _pick(
        yes="Hands of a split pair may be doubled.", no="Hands of a split pair may not be doubled."
    ),
    "double_split_aces": _pick(yes="Split aces may be doubled.", no="Split aces may not be doubled."),
    "insurance": _insurance,
    "insurance_until": _pick(
        first_draw="Insurance closes when anyone is dealt a further card.",
        peek="Insurance closes when the dealer checks the hole card.",
    ),
    "insurance_rounding": _pick(
        down_to_chip="Where half of the wager cannot be made in chips, the next lower amount may be insured."
    ),
    "surrender": lambda value: _SURRENDER[value],
}

_ALSO = {
    "object": "The hand closer to 21 wins, without going over.",
    "card_values": "King, queen and jack count 10, an ace 11 or 1, other cards their number.",
    "wagers": "Each wager is against the dealer and lies there before the first card.",
    "limits": "The table's minimum and maximum hold for every wager.",
    "deal": "Every player is dealt two cards face up, the dealer one face up.",
    "deal_order": "The dealer deals round the table, to the dealer last.",
    "hit_or_stand": "A player may draw cards, or stand.",
    "hand_order": "Hands are played one after another; a split pair's first hand is finished first.",
    "dealer_turn": "Then the dealer's hand is played.",
    "win_pays": "A winning hand is paid even money.",
    "tie": "A tie is a push: nobody wins.",
    "loses": "The higher hand wins; a wager on a lower hand is lost.",
    "bust": "A hand over 21 is bust and loses.",
    "dealer_bust": "When the dealer is bust, every hand that is not wins.",
    "blackjack_is": "An ace and a ten-value card as the first two cards are a blackjack.",
    "blackjack_push": "A blackjack against a dealer's blackjack is a push.",
    "split_deal": "A pair is split when the second wager lies there, and the first hand gets a card.",
    "split_wager": "Each hand of a split pair carries the original wager.",
    "double_one_card": "A doubled hand gets one card only.",
    "double_comes_back": "A double comes back when the dealer has a blackjack.",
    "insurance_offer": "Insurance is offered against an ace, when the deal is complete.",
    "insurance_wins": "Insurance wins when the dealer has a blackjack.",
    "insurance_taken": "Insurance is lost when the dealer has no blackjack.",
    "handling": "Players do not touch the cards.",
    "signals": "Players signal to hit or to stand.",
    "side_bets_close": "Side bets close with the first card.",
    "side_bets_minimum": "A side bet needs the minimum wager on the hand itself.",
    "side_bets_amounts": "Side bets may differ in amount.",
    "meter": "Several who win the meter at once share it.",
}

_SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("The game", ("object", "card_values", "decks", "wagers", "limits", "handling", "signals")),
    ("The deal", ("burn", "deal", "deal_order", "hole_card", "peek", "peek_seen")),
    (
        "Blackjack",
        (
            "blackjack_is",
            "blackjack_pays",
            "blackjack_rounding",
            "smallest_chip",
            "blackjack_paid",
            "even_money",
            "blackjack_push",
        ),
    ),
    ("Playing a hand", ("hit_or_stand", "hand_order", "bust", "bust_taken", "charlie", "surrender")),
    (
        "Splitting",
        (
            "split_by",
            "split_wager",
            "split_deal",
            "split_second_card",
            "max_hands",
            "resplit_aces",
            "hit_split_aces",
            "split_ace_ten_is_blackjack",
        ),
    ),
    (
        "Doubling",
        (
            "double_on",
            "double_on_21",
            "double_for_less",
            "double_one_card",
            "double_after_split",
            "double_split_aces",
        ),
    ),
    (
        "Insurance",
        (
            "insurance_offer",
            "insurance",
            "insurance_rounding",
            "insurance_until",
            "insurance_wins",
            "insurance_taken",
        ),
    ),
    (
        "The dealer, and who wins",
        (
            "dealer_turn",
            "dealer_soft_17",
            "dealer_draws_when_no_live_hand",
            "dealer_bust",
            "push_22",
            "win_pays",
            "loses",
            "tie",
            "two_card_21_beats_more",
            "dealer_blackjack_takes",
            "double_comes_back",
        ),
    ),
    ("Side bets", ("side_bets", "side_bets_minimum", "side_bets_amounts", "side_bets_close", "meter")),
)

_NEUTRAL: dict[str, object] = {
    f.name: f.default
    for f in fields(Profile)
    if f.name in ("peek_seen", "blackjack_rounding", "smallest_chip", "surrender", "charlie", "push_22")
}


def said_by(profile: Profile, rule: str) -> str:
    """What the profile says by a rule, in a sentence; "" when it does not say."""
    if rule in ALSO:
        return _ALSO[rule] if profile.sentence(rule) else ""
    value = getattr(profile, rule)
    if rule == "side_bets":
        return "; ".join(_bet(b) for b in value.values()) + "." if value else ""
    return "" if value is None else _TEXTS[rule](value)


def _bet(bet: SideBet) -> str:
    """A side bet in a clause: "bet_player pays 15:1 (the player has a blackjack)"."""
    lines = ", ".join(f"{ratio_text(ratio)} ({WINS[name].text})" for name, ratio in bet.pays)
    also = ""
    if bet.meter:
        cards = " ".join(c[0] + {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}[c[1]] for c in bet.meter)
        also = f", and the meter with {cards}" + (f" and {bet.meter_with} placed" if bet.meter_with else "")
    least = "" if bet.needs_minimum else ", whatever the wager"
    return f"{bet.name} pays {lines}{also}{least}"


def sections(profile: Profile) -> tuple[Section, ...]:
    """All that a profile says, in the order of a round. What is neutral and quotes nothing is left out."""
    out = []
    for title, rules in _SECTIONS:
        lines = []
        for rule in rules:
            source = profile.sentence(rule)
            neutral = rule in _NEUTRAL and not source and getattr(profile, rule) == _NEUTRAL[rule]
            if rule == "side_bets":
                bets = profile.side_bets.values()
                lines += [Line(rule, f"{_bet(b)}.", source if n == 0 else "") for n, b in enumerate(bets)]
            elif (text := said_by(profile, rule)) and not neutral:
                lines.append(Line(rule, text, source))
        if lines:
            out.append(Section(title, tuple(lines)))
    return tuple(out)


def unsaid(profile: Profile) -> tuple[str, ...]:
    """The rules that the profile leaves open, by which nothing is judged."""
    return tuple(r for _, rules in _SECTIONS for r in rules if r in _TEXTS and getattr(profile, r) is None)


def differences(a: Profile, b: Profile) -> tuple[tuple[str, str, str], ...]:
    """(rule, what `a` says, what `b` says) of each rule on which they differ, "" = not said."""
    return tuple(
        (rule, said_by(a, rule), said_by(b, rule))
        for _, rules in _SECTIONS
        for rule in rules
        if rule not in ALSO and getattr(a, rule) != getattr(b, rule)
    )


def in_short(profile: Profile) -> str:
    """The rules that players ask about, in a line: "stands on all 17s, blackjack 3:2, ..."."""
    p = profile
    parts = [
        "hits soft 17" if p.dealer_soft_17 == "hit" else "stands on all 17s",
        f"blackjack pays {ratio_text(p.blackjack_pays)}",
        "no hole card" if p.hole_card == "none" else "checks for blackjack" if p.peek else "no check",
        "double any two" if p.double_on == "any_two" else f"double {p.double_on}",
        "double after split" if p.double_after_split else "no double after split",
        f"up to {p.max_hands} hands" if p.max_hands else "",
        "original wagers only to a blackjack" if p.dealer_blackjack_takes == "original" else "",
        f"{p.surrender} surrender" if p.surrender != "none" else "no surrender",
        f"{p.charlie}-card win" if p.charlie else "",
        "22 pushes" if p.push_22 else "",
        f"side bets: {', '.join(p.side_bets)}" if p.side_bets else "",
    ]
    return ", ".join(part for part in parts if part)


def pay_table(name: str) -> tuple[tuple[str, str], ...]:
    """A side bet's pay table by its name: (what wins, "9:1")."""
    return tuple((WINS[win].text, ratio) for win, ratio in side_bet_tables()[name]["pays"].items())
