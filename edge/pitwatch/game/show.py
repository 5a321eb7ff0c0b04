"""The live view of a table, made from the round's state.

In: the round, the spots. Out: `TableView` in the pit's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pitwatch.chips import money
from pitwatch.game.box import Box
from pitwatch.game.hand import Hand
from pitwatch.game.lines import INSURANCE
from pitwatch.game.round import Round
from pitwatch.game.view import HandView, TableView
from pitwatch.rules.hands import Standing

__all__ = ["view"]

_OUTCOMES = {
    "pushed": "pushed",
    "lost": "lost",
    "bust": "bust",
    "surrendered": "surrendered",
    "taken in play": "taken in play",
}


def view(rnd: Round | None, boxes: Mapping[tuple[int, str, int], Box], number: int, idle: str) -> TableView:
    """The table as it stands; rnd: the round on the table, None between rounds; idle: why nobody plays."""
    hands: list[HandView] = []
    places = {(s, h) for (s, spot, h), b in boxes.items() if spot == "main" and b.amount != 0}
    if rnd is not None:
        places |= {k for k, h in rnd.hands.items() if h.cleared is None or not h.box.empty}
    for seat, n in sorted(places):
        box = boxes.get((seat, "main", n))
        hand = rnd.hands.get((seat, n)) if rnd is not None else None
        line = boxes.get((seat, INSURANCE, 0))
        shown = hand is not None and hand.cleared is None
        hands.append(
            HandView(
                seat,
                n,
                cards=tuple(hand.cards) if hand is not None and shown else (),
                total=_total(hand.standings) if hand is not None and shown and hand.cards else "",
                wager=box.amount if box else 0,
                status=_status(rnd, hand) if rnd is not None and hand is not None else "",
                insurance=line.amount if line is not None and n == 0 else 0,
            )
        )
    return TableView(number, _phase(rnd, idle), tuple(hands), _dealer(rnd))


def _dealer(rnd: Round | None) -> HandView:
    if rnd is None or rnd.cleared is not None or not rnd.dealer:
        return HandView(0, 0)
    cards = tuple(None if i == rnd.hidden else c for i, c in enumerate(rnd.dealer))
    status = ""
    if rnd.exposed:
        standings = rnd.standings()
        if all(s.natural for s in standings):
            status = "blackjack"
        elif all(s.bust for s in standings):
            status = "bust"
        elif rnd.dealer_acts and all(s.over for s in standings):
            status = "stands"
        total = _total(standings)
    else:
        total = f"{rnd.upcard[0]} up" if rnd.upcard else ""
    return HandView(0, 0, cards, total, None, status)


def _total(standings: Iterable[Standing]) -> str:
    texts = {f"soft {s.total}" if s.soft and s.total < 21 else str(s.total) for s in standings}
    return texts.pop() if len(texts) == 1 else "?"


def _status(rnd: Round, h: Hand) -> str:
    if h.dead or rnd.dead:
        return "dead"
    if h.done and h.net is not None and h.net > 0:
        return f"paid {money(h.net)}"
    if h.done and h.outcome in _OUTCOMES:
        return _OUTCOMES[h.outcome]
    paid = sum(s.delta for s in h.box.steps if s.delta is not None and s.delta > 0)
    if h.box.settling and paid:
        return f"paid {money(paid)}"
    if h.box.settling and any((s.delta or 0) < 0 and s.by == "dealer" for s in h.box.steps):
        return "taken"
    if h.natural:
        return "blackjack"
    if h.bust:
        return "bust"
    if h.doubled_at is not None and not h.maybe_doubled:
        return "doubled"
    if len(h.cards) >= 2 and h.surely(lambda s: s.total == 21):
        return "21"
    return "split" if h.from_split else ""


def _phase(rnd: Round | None, idle: str) -> str:
    if idle:
        return f"not playing: {idle.replace('_', ' ')}"
    if rnd is None or rnd.cleared is not None:
        return "waiting for wagers"
    if rnd.dealer_acts:
        live = any(rnd.live(h) for h in rnd.hands.values())
        return "dealer draws" if live and not rnd.dealer_may_be_done else "settling"
    if not rnd.deal_complete and rnd.played is None:
        return "dealing"
    turn = rnd.last_seat or next((h.seat for h in rnd.open_hands() if not h.natural), 0)
    current = [h for h in rnd.open_hands() if h.seat == turn and not h.surely(lambda s: bool(s.over))]
    if not current:
        turn = next((h.seat for h in rnd.open_hands() if h.seat > turn and not h.natural), 0)
    return f"players act: seat {turn}" if turn else "settling"
