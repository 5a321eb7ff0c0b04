"""Random rounds audited, blanked and shaken: what the tests and the long run hold against each other."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from pitwatch.game.audit import Audit
from pitwatch.game.events import CardLaid, Chips, TableEvent, Turn
from pitwatch.game.findings import Finding, Unverified

from .dealer_play import Play
from .houses import random_rules

SEEDS = st.integers(min_value=0, max_value=2**32)
Said = Finding | Unverified


def played(seed: int, mistake: str = "", rounds: int = 2) -> Play:
    """Rounds under a random house; the mistake, if any, comes in the last."""
    rng = Random(seed)
    play = Play(rng, random_rules(rng, mistake))
    for n in range(rounds):
        play.mistake = mistake if n == rounds - 1 else ""
        play.round()
    return play


def audited(play: Play, events: list[TableEvent] | None = None) -> tuple[Audit, list[Said]]:
    """The audit of a play's events, or of others in their place."""
    audit = Audit(play.header)
    out = [s for e in (play.events if events is None else events) for s in audit.feed(e)]
    return audit, out + audit.finish()


def found(said: list[Said]) -> list[tuple[str, int, int]]:
    """The findings by kind, seat and hand."""
    return [(s.kind, s.seat, s.hand) for s in said if isinstance(s, Finding)]


def faults_of(play: Play, said: list[Said]) -> str:
    """What is wrong with what was found in a play with at most one mistake, "" when nothing is."""
    got = found(said)
    if play.planted is None:
        return f"false {got}" if got else ""
    if got == [play.planted]:
        return ""
    # where no arm was seen, a take may be taken for the player's own, or not be judged
    if play.blind and all((seat, hand) == play.planted[1:] for _, seat, hand in got):
        return ""
    return f"planted {play.planted}, found {got}"


def blanked(events: list[TableEvent], rng: Random, share: float) -> list[TableEvent]:
    """The same events with a share of the cards and amounts unread."""
    out: list[TableEvent] = []
    for e in events:
        if rng.random() < share:
            if isinstance(e, (CardLaid, Turn)) and e.card is not None:
                e = replace(e, card=rng.choice((None, e.card[0] + "?")))
            elif isinstance(e, Chips) and e.amount:
                e = replace(e, amount=None)
        out.append(e)
    return out


def shaken(events: list[TableEvent], rng: Random) -> list[TableEvent]:
    """The same events as a camera sees them that notices each place up to half a second late."""
    last: dict[tuple[str, int], float] = {}
    out: list[TableEvent] = []
    for e in events:
        place = ("chips" if isinstance(e, Chips) else "cards", getattr(e, "seat", 0))
        last[place] = round(max(e.t + rng.random() * 0.45, last.get(place, 0.0) + 0.01), 2)
        out.append(replace(e, t=last[place]))
    return sorted(out, key=lambda e: e.t)


def at_once(events: list[TableEvent], rng: Random, grain: float) -> list[TableEvent]:
    """The same events as a camera sees them that looks once in `grain` seconds: what it sees at one look has
    one time and no order, but the totals of one spot follow each other.
    """
    looks: dict[float, list[TableEvent]] = {}
    for e in events:
        t = round(round(e.t / grain) * grain, 2)
        looks.setdefault(t, []).append(replace(e, t=t))
    out: list[TableEvent] = []
    for look in looks.values():
        totals: dict[tuple[int, str, int], list[TableEvent]] = {}
        for e in look:
            if isinstance(e, Chips):
                totals.setdefault((e.seat, e.spot, e.hand), []).append(e)
        shuffled = rng.sample(look, len(look))
        out += [totals[e.seat, e.spot, e.hand].pop(0) if isinstance(e, Chips) else e for e in shuffled]
    return out
