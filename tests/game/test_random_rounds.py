"""Random legal rounds under random houses stay silent, and blanking never makes a false finding."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pitwatch.cards import CARDS
from pitwatch.game.audit import Audit
from pitwatch.game.events import CardLaid, Chips, TableEvent, Turn, event_from_json
from pitwatch.game.findings import Finding, Unverified
from pitwatch.game.log import Header

from .dealer_play import Play, random_rules

SETTLED_WRONG = (
    "paid_over",
    "paid_short",
    "winner_not_paid",
    "push_paid",
    "loser_paid",
    "dealer_drew_over",
    "dealer_stood_short",
)
SEEDS = st.integers(min_value=0, max_value=2**32)
QUICK = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def played(seed: int, mistake: str = "", rounds: int = 2) -> Play:
    rng = Random(seed)
    play = Play(rng, random_rules(rng))
    for n in range(rounds):
        play.mistake = mistake if n == rounds - 1 else ""
        play.round()
    return play


def audited(play: Play, events: list[TableEvent] | None = None) -> tuple[Audit, list[Finding | Unverified]]:
    audit = Audit(Header(rules=play.rules, decks=6))
    out = [s for e in (play.events if events is None else events) for s in audit.feed(e)]
    return audit, out + audit.finish()


@given(SEEDS)
@QUICK
def test_legal_rounds_are_silent_and_judged(seed: int) -> None:
    audit, said = audited(played(seed))
    assert [s for s in said if isinstance(s, Finding)] == []
    unsure = [s for s in said if isinstance(s, Unverified)]
    assert audit.hands_judged + len(unsure) >= audit.hands_total
    assert audit.hands_total > 0


@given(SEEDS, st.sampled_from(SETTLED_WRONG))
@QUICK
def test_one_planted_mistake_is_all_that_is_found(seed: int, kind: str) -> None:
    play = played(seed, kind)
    _, said = audited(play)
    found = {(s.kind, s.seat) for s in said if isinstance(s, Finding)}
    # nothing else; and nothing at all only where no arm was seen doing it
    assert found <= ({play.planted} if play.planted else set())
    seen = all(not isinstance(e, Chips) or e.by is not None for e in play.events)
    if play.planted and (
        seen or play.planted[1] == 0 or kind in ("paid_over", "paid_short", "winner_not_paid")
    ):
        assert found == {play.planted}


@given(SEEDS, st.sampled_from(("", *SETTLED_WRONG)), st.sampled_from((0.03, 0.1, 0.3)))
@QUICK
def test_blanking_makes_no_finding_false(seed: int, kind: str, share: float) -> None:
    play = played(seed, kind)
    _, full = audited(play)
    rng = Random(seed)
    blanked: list[TableEvent] = []
    for e in play.events:
        if rng.random() < share:
            if isinstance(e, (CardLaid, Turn)) and e.card is not None:
                e = replace(e, card=rng.choice((None, e.card[0] + "?")))
            elif isinstance(e, Chips) and e.amount:
                e = replace(e, amount=None)
        blanked.append(e)
    _, said = audited(play, blanked)
    true = {(s.kind, s.seat, s.hand) for s in full if isinstance(s, Finding)}
    assert {(s.kind, s.seat, s.hand) for s in said if isinstance(s, Finding)} <= true


@given(SEEDS)
@QUICK
def test_a_camera_that_sees_places_half_a_second_apart_makes_no_finding(seed: int) -> None:
    play = played(seed)
    rng = Random(seed)
    last: dict[tuple[str, int], float] = {}
    shaken: list[TableEvent] = []
    for e in play.events:
        place = ("chips" if isinstance(e, Chips) else "cards", getattr(e, "seat", 0))
        last[place] = round(max(e.t + rng.random() * 0.45, last.get(place, 0.0) + 0.01), 2)
        shaken.append(replace(e, t=last[place]))
    _, said = audited(play, sorted(shaken, key=lambda e: e.t))
    assert [s for s in said if isinstance(s, Finding)] == []


@pytest.mark.parametrize("seed", range(30))
def test_events_without_sense_do_not_break_it(seed: int) -> None:
    rng = Random(seed)
    audit = Audit(Header(rules=random_rules(rng), decks=1, minimum=500, maximum=5000))
    t = 0.0
    for _ in range(100):
        t = round(t + rng.choice((0.0, 0.0, 0.3, 0.9, 2.5)), 2)
        audit.feed(event_from_json({"t": t, **senseless(rng)}))
        audit.table.to_json()
    audit.finish()
    for r in audit.rounds_done:
        assert r.notation()
        assert r.to_json()


def senseless(rng: Random) -> dict[str, object]:
    """Any event at any time."""
    card = rng.choice((None, rng.choice(CARDS), rng.choice("A7K") + "?"))
    seat, hand = rng.randint(1, 3), rng.choice((0, 0, 0, 1))
    dealt: dict[str, object] = {
        "type": "card",
        "seat": rng.randint(0, 3),
        "card": card,
        "face": rng.choice(("up", "down")),
    }
    laid = {
        "type": "chips",
        "seat": seat,
        "hand": hand,
        "spot": rng.choice(("main", "main", "insurance", "odd")),
        "amount": rng.choice((None, 0, 500, 1000, 2500)),
        "by": rng.choice(("dealer", "player", None)),
    }
    rest: tuple[dict[str, object], ...] = (
        {"type": "turn", "seat": rng.choice((0, 0, seat)), "card": card},
        {"type": "move", "seat": seat, "hand": hand, "to": rng.randint(1, 2)},
        {"type": "gone", "seat": rng.randint(0, 3), "card": card},
        {"type": "clear", "seat": rng.randint(0, 3)},
        {"type": "signal", "seat": seat, "signal": rng.choice(("hit", "stand", "surrender"))},
        {"type": "void", "seat": seat},
        {"type": "table", "state": rng.choice(("open", "open", "shuffle"))},
        {"type": "peek"},
        {"type": "shoe"},
    )
    return rng.choice((dealt, dealt, laid, laid, rng.choice(rest)))


@pytest.mark.parametrize("seed", range(5))
def test_feeding_and_advancing_find_the_same(seed: int) -> None:
    play = played(seed, "paid_over")
    _, want = audited(play)
    audit = Audit(Header(rules=play.rules, decks=6))
    got: list[Finding | Unverified] = []
    for e in play.events:
        got += audit.advance(e.t)
        got += audit.feed(e)
        str(audit.table)
    got += audit.finish()
    key = [(s.seat, s.hand, getattr(s, "kind", "")) for s in want]
    assert [(s.seat, s.hand, getattr(s, "kind", "")) for s in got] == key
