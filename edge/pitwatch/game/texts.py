"""The sentence of each finding, and the rule that it breaks.

In: a finding's kind, seat, hand, cents. Out: one English sentence for a pit supervisor, a rule's name.
"""

from __future__ import annotations

from pitwatch.chips import money

__all__ = ["rule_of", "sentence"]

_RULES = {
    "dealer_drew_over": "dealer_soft_17",
    "dealer_stood_short": "dealer_soft_17",
    "dealer_drew_needlessly": "dealer_draws_when_no_live_hand",
    "hole_exposed_early": "hole_card",
    "card_face_wrong": "deal",
    "cards_touched": "handling",
    "peek_missed": "peek",
    "deal_order": "deal",
    "seat_not_dealt": "deal",
    "card_without_wager": "wagers",
    "card_against_signal": "signals",
    "split_sequence": "hand_order",
    "wager_late": "wagers",
    "wager_raised": "wagers",
    "wager_cut": "wagers",
    "live_hand_taken": "loses",
    "wager_below_minimum": "limits",
    "wager_above_maximum": "limits",
    "double_too_large": "double_for_less",
    "split_wager_mismatch": "split_wager",
    "insurance_not_allowed": "insurance",
    "insurance_late": "insurance_until",
    "insurance_too_large": "insurance",
    "side_bet_late": "side_bets_close",
    "side_bet_without_wager": "side_bets_minimum",
    "bust_not_taken": "bust_taken",
    "winner_not_paid": "win_pays",
    "winner_taken": "win_pays",
    "paid_short": "win_pays",
    "paid_over": "win_pays",
    "taken_over": "dealer_blackjack_takes",
    "push_paid": "tie",
    "push_taken": "tie",
    "loser_paid": "loses",
    "loser_not_taken": "loses",
    "blackjack_paid_early": "peek",
    "blackjack_paid_late": "blackjack_paid",
    "insurance_not_taken": "insurance_taken",
    "insurance_paid_short": "insurance",
    "insurance_paid_over": "insurance",
    "insurance_loser_paid": "insurance",
    "side_bet_not_taken": "side_bets",
    "side_bet_paid_short": "side_bets",
    "side_bet_paid_over": "side_bets",
    "side_bet_loser_paid": "side_bets",
    "surrender_not_allowed": "surrender",
    "surrender_wrong": "surrender",
    "card_impossible": "decks",
    "burn_missing": "burn",
}
_FINISHED = {
    "doubled": ("had doubled and gets one card only", "double_one_card"),
    "busted": ("was already bust", "bust"),
    "split aces": ("is a split ace and gets one card only", "hit_split_aces"),
    "blackjack": ("was a blackjack", "blackjack_pays"),
    "passed": ("had been passed: a later seat had already acted", "hand_order"),
    "charlie": ("had already won by its number of cards", "charlie"),
}


def rule_of(kind: str, reason: str | None = None, outcome: str = "") -> str:
    """The profile's rule behind a finding; reason: which of several, or the rule where the kind has none
    of its own. outcome: how the hand ended.
    """
    if kind == "card_to_finished_hand":
        return _FINISHED.get(reason or "", ("", "hand_order"))[1]
    if kind in ("double_not_allowed", "split_not_allowed"):
        return reason or "double_on"
    if outcome == "blackjack" and kind in ("winner_not_paid", "winner_taken", "paid_short", "paid_over"):
        return "blackjack_pays"
    if outcome == "even money":
        return "even_money"
    if outcome == "bust" and kind in ("loser_paid", "loser_not_taken"):
        return "bust"
    return _RULES[kind]


def sentence(
    kind: str,
    seat: int,
    hand: int,
    *,
    expected: int | None = None,
    observed: int | None = None,
    reason: str | None = None,
    about: str = "",
) -> str:
    """One sentence to act on; about: the hand against the dealer, such as "20 against 19"."""
    who = f"Seat {seat}" + (f", hand {hand + 1}," if hand else "")
    place = f"seat {seat}" + (f", hand {hand + 1}" if hand else "")
    why = f" ({about})" if about else ""

    def cents(value: int | None) -> str:
        return "an amount that was not read" if value is None else money(abs(value))

    due = "" if expected is None else f"; {money(abs(expected))} is due"
    lost = "; nothing" if expected == 0 else f"; only {cents(expected)}"
    took = "" if observed is None else f", {money(abs(observed))},"
    if kind == "card_to_finished_hand":
        state, _ = _FINISHED.get(reason or "", ("was finished", ""))
        return f"{who} was dealt a card although the hand {state}."
    total = "" if expected is None else f" of {expected}"
    short = "" if observed is None else f" of {observed}"
    rest = f" {about}" if about else "; this house offers no surrender"
    texts = {
        "dealer_drew_over": f"The dealer drew another card on a total{total}, on which this house stands.",
        "dealer_stood_short": f"The dealer settled on a total{short} and should have drawn another card.",
        "dealer_drew_needlessly": "The dealer drew a card although no player's hand was left in play.",
        "hole_exposed_early": "The dealer's hole card lay face up before the last player's hand was "
        "finished.",
        "card_face_wrong": f"{who} was dealt a card face down.",
        "cards_touched": f"A player handled the cards of {'the dealer' if seat == 0 else f'seat {seat}'}.",
        "peek_missed": f"{who} was dealt a card before the dealer had checked the hole card.",
        "deal_order": "The first two cards did not go round from seat 1 with the dealer last.",
        "seat_not_dealt": f"{who} had chips down before the first card and was not dealt a hand.",
        "card_without_wager": f"{who} was dealt a card and has no wager.",
        "card_against_signal": f"{who} was dealt a card after signalling to stand.",
        "split_sequence": f"{who} was dealt a card out of turn: its split hands are not played one "
        "after another.",
        "wager_late": f"{who} placed a wager after the first card was dealt.",
        "wager_raised": f"{who} has a wager raised during play to {cents(observed)}; it was "
        f"{cents(expected)}.",
        "wager_cut": f"{who} has a wager cut during play to {cents(observed)}; it was {cents(expected)}.",
        "live_hand_taken": f"The dealer took the wager of seat {seat} while that hand was still in play.",
        "wager_below_minimum": f"{who} wagers {cents(observed)}; the minimum is {cents(expected)}.",
        "wager_above_maximum": f"{who} wagers {cents(observed)}; the maximum is {cents(expected)}.",
        "double_not_allowed": f"{who} doubled on a hand that may not be doubled{why}.",
        "double_too_large": f"{who} doubled with {cents(observed)}; at most {cents(expected)} may be added.",
        "split_not_allowed": f"{who} split a hand that may not be split{why}.",
        "split_wager_mismatch": f"{who} has {cents(observed)} on the new hand; it should be "
        f"{cents(expected)}.",
        "insurance_not_allowed": f"{who} placed insurance that is not offered now{why}.",
        "insurance_late": f"{who} placed insurance too late{why}.",
        "insurance_too_large": f"{who} insured for {cents(observed)}; at most {cents(expected)} is allowed.",
        "side_bet_late": f"{who} placed a side bet after the first card{why}.",
        "side_bet_without_wager": f"{who} placed a side bet without the minimum wager{why}.",
        "bust_not_taken": f"{who} is bust and the wager still lay there when the next hand was played.",
        "winner_not_paid": f"{who} won{why} and was not paid{due}.",
        "winner_taken": f"The dealer took the winning wager of seat {seat}{why}{due}.",
        "paid_short": f"{who} was paid {cents(observed)}, too little{why}{due}.",
        "paid_over": f"{who} was paid {cents(observed)}, too much{why}{due}.",
        "taken_over": f"The dealer took {cents(observed)} from {place}{lost} was lost.",
        "push_paid": f"{who} tied{why} and was paid {cents(observed)}; the wager only comes back.",
        "push_taken": f"{who} tied{why} and the dealer took the wager{took} which should come back.",
        "loser_paid": f"{who} lost{why} and was paid {cents(observed)}; the wager should have been taken.",
        "loser_not_taken": f"{who} lost{why} and the wager was not taken; {cents(expected)} is due to "
        "the house.",
        "blackjack_paid_early": f"{who} was paid for a blackjack before the dealer had checked the hole "
        "card.",
        "blackjack_paid_late": f"{who} holds a blackjack that was not paid before the next card.",
        "insurance_not_taken": f"{who} lost its insurance and the {cents(expected)} was not taken.",
        "insurance_paid_short": f"{who} won its insurance and was paid {cents(observed)}, too little{due}.",
        "insurance_paid_over": f"{who} won its insurance and was paid {cents(observed)}, too much{due}.",
        "insurance_loser_paid": f"{who} lost its insurance and was paid {cents(observed)}.",
        "side_bet_not_taken": f"{who} lost a side bet{why} and it was not taken.",
        "side_bet_paid_short": f"{who} won a side bet{why} and was paid {cents(observed)}, too little{due}.",
        "side_bet_paid_over": f"{who} won a side bet{why} and was paid {cents(observed)}, too much{due}.",
        "side_bet_loser_paid": f"{who} lost a side bet{why} and was paid {cents(observed)}.",
        "surrender_not_allowed": f"{who} surrendered{rest}.",
        "surrender_wrong": f"{who} surrendered and lost {cents(observed)}; half of the wager, "
        f"{cents(expected)}, is due.",
        "card_impossible": f"More cards {about} lay on the table than this shoe has: misread, or a "
        "foreign card.",
        "burn_missing": "A new shoe's first card was dealt without a burnt card before it.",
    }
    return texts[kind]
