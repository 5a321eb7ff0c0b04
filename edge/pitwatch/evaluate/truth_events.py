"""A scene's truth as table events, and how near other events come to them.

In: the pictures of a round with what each shows for the first time. Out: the table events that a faultless
watcher would make, picture by picture; counts of those that were made; the transcript of the round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pitwatch.evaluate.folders import Scene, ScenePicture
from pitwatch.game.events import By, CardLaid, Chips, Clear, TableEvent, Turn

__all__ = [
    "HOLD_S",
    "EventComparison",
    "PictureEvents",
    "TrueHand",
    "compare_events",
    "true_hands",
    "truth_events",
]

HOLD_S = 1.0


@dataclass(frozen=True)
class PictureEvents:
    """What becomes true in one settled picture. by_counts: a `by` was to be seen."""

    file: str
    events: tuple[TableEvent, ...]
    by_counts: bool


class _Lying:
    """What lies on the table so far, as far as events need it."""

    def __init__(self) -> None:
        self.chips: dict[int, int] = {}
        self.seats: set[int] = set()


def truth_events(scene: Scene) -> list[PictureEvents]:
    """The round as table events, a group a settled picture; `t` is the picture's number in seconds.

    Raises ValueError naming the picture whose event is of no known type.
    """
    lying = _Lying()
    out: list[PictureEvents] = []
    arm: str | None = None
    for p in scene.pictures:
        if p.arm is not None:
            arm = p.arm
            continue
        t = len(out) * HOLD_S
        shown = arm == "dealer" and p.event["type"] in ("pay", "take")
        out.append(PictureEvents(p.file, tuple(_events(p, lying, t)), shown))
        arm = None
    return out


def _events(p: ScenePicture, lying: _Lying, t: float) -> list[TableEvent]:
    e = p.event
    kind = e["type"]
    if kind == "wagers":
        return [_chips(lying, t, int(seat), int(cents)) for seat, cents in e["wagers"].items()]
    if kind == "card":
        lying.seats.add(e["seat"])
        return [
            CardLaid(
                t=t,
                seat=e["seat"],
                hand=e.get("hand", 0),
                card=e["card"] if e["face_up"] else None,
                face="up" if e["face_up"] else "down",
                sideways=e.get("sideways", False),
            )
        ]
    if kind == "hole":
        return [Turn(t=t, seat=0, card=e["card"])]
    if kind == "double":
        total = sum(s.cents for s in p.stacks if s.seat == e["seat"])
        return [_chips(lying, t, e["seat"], total)]
    if kind == "pay":
        return [_chips(lying, t, e["seat"], lying.chips.get(e["seat"], 0) + e["cents"], "dealer")]
    if kind == "take":
        return [_chips(lying, t, e["seat"], 0, "dealer")]
    if kind in ("bust_taken", "settled"):
        lying.seats.discard(e["seat"])
        # whose arm it was is not compared, but a bust is the dealer's to take and settled chips the player's
        by: By | None = "dealer" if kind == "bust_taken" else None
        return [_chips(lying, t, e["seat"], 0, by), Clear(t=t, seat=e["seat"])]
    if kind == "push":
        return []
    if kind == "cleared":
        left = [seat for seat, cents in sorted(lying.chips.items()) if cents]
        cleared = sorted(lying.seats - {0})
        lying.seats.clear()
        chips: list[TableEvent] = [_chips(lying, t, seat, 0) for seat in left]
        return [*chips, *(Clear(t=t, seat=s) for s in cleared), Clear(t=t, seat=0)]
    raise ValueError(f"{p.file} shows an event of the unknown type {kind!r}")


def _chips(lying: _Lying, t: float, seat: int, amount: int, by: By | None = None) -> Chips:
    lying.chips[seat] = amount
    return Chips(t=t, seat=seat, spot="main", amount=amount, by=by)


@dataclass(frozen=True)
class EventComparison:
    """right: how many of the true events were made, in their order. missing, extra: the others."""

    right: int
    truth: int
    missing: tuple[TableEvent, ...]
    extra: tuple[TableEvent, ...]


def _same(e: TableEvent, with_by: bool) -> Hashable:
    """What must agree: all but time, confidence, evidence, single stacks, and a `by` that cannot be seen."""
    by = e.by if with_by else None
    if isinstance(e, Chips):
        return "chips", e.seat, e.spot, e.hand, e.amount, by
    if isinstance(e, CardLaid):
        return "card", e.seat, e.hand, e.card, e.face, e.sideways
    if isinstance(e, Turn):
        return "turn", e.seat, e.hand, e.card
    if isinstance(e, Clear):
        # a seat that never split has one hand
        return "clear", e.seat, e.hand or 0
    return e.type, repr(replace(e, t=0.0, confidence=1.0, evidence=(), by=None))


def compare_events(truth: Sequence[PictureEvents], made: Sequence[TableEvent]) -> EventComparison:
    """Pair events one to one, in the pictures' order; within one picture any order will do.

    `by` is compared where the truth has one and the arm was in a picture.
    """
    n = len(made)
    # best[j]: most pairs of the pictures so far with the first j events made; from: where the last one began
    best = [0] * (n + 1)
    begins: list[list[int]] = []
    for group in truth:
        now = list(best)
        begin = list(range(n + 1))
        for i in range(n):
            wanted = Counter(_wanted(e, group) for e in group.events)
            got = best[i]
            for j in range(i, n):
                got += _take(wanted, made[j])
                if got > now[j + 1]:
                    now[j + 1], begin[j + 1] = got, i
        for j in range(n):
            if now[j] > now[j + 1]:
                now[j + 1], begin[j + 1] = now[j], -1
        best = now
        begins.append(begin)
    missing, used = _trace(truth, made, begins)
    return EventComparison(
        right=best[n],
        truth=sum(len(g.events) for g in truth),
        missing=missing,
        extra=tuple(e for j, e in enumerate(made) if j not in used),
    )


Wanted = tuple[bool, Hashable]


def _wanted(e: TableEvent, group: PictureEvents) -> Wanted:
    with_by = group.by_counts and e.by is not None
    return with_by, _same(e, with_by)


def _take(wanted: Counter[Wanted], e: TableEvent) -> bool:
    for with_by in (True, False):
        key = (with_by, _same(e, with_by))
        if wanted[key] > 0:
            wanted[key] -= 1
            return True
    return False


def _trace(
    truth: Sequence[PictureEvents], made: Sequence[TableEvent], begins: Sequence[Sequence[int]]
) -> tuple[tuple[TableEvent, ...], set[int]]:
    used: set[int] = set()
    missing: list[TableEvent] = []
    j = len(made)
    for group, begin in zip(reversed(truth), reversed(begins), strict=True):
        while begin[j] < 0:
            j -= 1
        wanted = Counter(_wanted(e, group) for e in group.events)
        for k in range(begin[j], j):
            if _take(wanted, made[k]):
                used.add(k)
        for e in reversed(group.events):
            key = _wanted(e, group)
            if wanted[key] > 0:
                wanted[key] -= 1
                missing.append(e)
        j = begin[j]
    return tuple(reversed(missing)), used


@dataclass(frozen=True)
class TrueHand:
    """One hand as it should stand in the record of the round. payout: the player's net, cents."""

    seat: int
    hand: int
    cards: tuple[str, ...]
    wager: int
    doubled: bool
    payout: int


def true_hands(dealt: Mapping[str, Any], groups: Sequence[PictureEvents]) -> tuple[TrueHand, ...]:
    """The hands of a round in order of seat and number.

    dealt: the truth's round, with its hands, wagers and doubles. What was paid comes from the chips that
    moved: growth by the dealer is paid, what the dealer took is lost, the rest is nobody's loss.
    """
    wagers = {int(s): int(c) for s, c in dealt["wagers"].items()}
    doubled = {int(s) for s in dealt.get("doubled", [])}
    payout: dict[int, int] = dict.fromkeys(wagers, 0)
    lying: dict[int, int] = {}
    for group in groups:
        for e in group.events:
            if isinstance(e, Chips):
                before, now = lying.get(e.seat, 0), e.amount or 0
                if e.by == "dealer":
                    payout[e.seat] = payout.get(e.seat, 0) + now - before
                lying[e.seat] = now
    out: list[TrueHand] = []
    for seat, cards in sorted((int(s), c) for s, c in dealt["hands"].items()):
        hands = cards if cards and isinstance(cards[0], list) else [cards]
        out += [
            TrueHand(seat, n, tuple(hand), wagers.get(seat, 0), seat in doubled, payout.get(seat, 0))
            for n, hand in enumerate(hands)
        ]
    return tuple(out)
