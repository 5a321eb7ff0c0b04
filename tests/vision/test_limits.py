"""What a mounting cannot resolve is seen but not read, and said once."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from pitwatch.capture.frame import Frame
from pitwatch.cards import RANKS, SUITS
from pitwatch.sim.spec import mounted_camera
from pitwatch.table.layout import seat_of_zone, template
from pitwatch.table.resolve import Resolved, resolve, unjudged
from pitwatch.vision.limits import LimitedEyes
from pitwatch.vision.looks import CardSeen, Look, StackSeen, Zone
from pitwatch.vision.tracks import Reading, Values

LAYOUT = template(6)
FRAME = Frame(0.0, np.zeros((2, 2, 3), np.uint8), 0)


class Sure:
    """Sees a seven of hearts and ten reds at each seat, surely."""

    def look(self, frame: Frame, zone: Zone) -> Look:
        seat = seat_of_zone(zone) or 1
        x, y = LAYOUT.at(seat, 150.0)
        ranks = tuple(math.log(0.99 if r == "7" else 0.01 / 12) for r in RANKS)
        suits = tuple(math.log(0.99 if s == "h" else 0.01 / 3) for s in SUITS)
        card = CardSeen(x, y, 90.0, True, 0.9, ranks, suits, 0.01)
        stack = StackSeen(*LAYOUT.spots[seat - 1], 0.9, 10, (500,) * 10, ((5000, 0.99),))
        return Look(frame.t, zone, (card,), (stack,))


def read(seat: int, verdicts: tuple[Resolved, ...]) -> tuple[str | None, int | None]:
    """What is said of the card and the stack of a seat under these verdicts."""
    zone = next(z for z in LAYOUT.zones() if seat_of_zone(z) == seat)
    look = LimitedEyes(Sure(), LAYOUT, verdicts).look(FRAME, zone)
    card, stack = Reading(), Values()
    card.add(look.cards[0])
    stack.add(look.stacks[0])
    assert (look.cards[0].x, look.stacks[0].count) == (LAYOUT.at(seat, 150.0)[0], 10)
    return card.text(0.8)[0], stack.best()[0]


def verdicts(seat: int, **changed: object) -> tuple[Resolved, ...]:
    good = resolve(mounted_camera(LAYOUT, 3840, 2160), LAYOUT)
    return tuple(dataclasses.replace(r, **changed) if r.seat == seat else r for r in good)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "card", "amount"),
    [
        ({}, "7h", 5000),
        ({"cards": "ranks"}, "7?", 5000),
        ({"cards": "none"}, None, 5000),
        ({"chips": "heights"}, "7h", None),
        ({"chips": "none"}, "7h", None),
        ({"tallest": 9}, "7h", None),
        ({"tallest": 10}, "7h", 5000),
        ({"in_view": False}, None, None),
    ],
)
def test_a_verdict_limits_what_is_read_at_its_seat(
    changed: dict[str, object], card: str | None, amount: int | None
) -> None:
    assert read(3, verdicts(3, **changed)) == (card, amount)
    assert read(2, verdicts(3, **changed)) == ("7h", 5000)


def test_it_is_said_once_for_all_seats_alike() -> None:
    assert unjudged(verdicts(0)) == ()
    far = resolve(mounted_camera(LAYOUT, 640, 360), LAYOUT)
    (said,) = unjudged(far)[:1]
    assert said.startswith("Not read from this mounting, and not judged: cards (the index is ")
    assert "dealer" in said
    assert unjudged(verdicts(4, in_view=False)) == ("Not judged: seat 4, not wholly in the picture.",)
