"""Hands and spots: splits, tucked and covered cards, partial clears, payouts beside, insurance. On stills."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from builders import (
    CAMERA,
    CLEAR,
    LAYOUT,
    Faults,
    NoisyEyes,
    Story,
    both,
    brief,
    chips,
    film,
    laid,
    minus,
    painter,
    plus,
    stills,
    watch,
)

from pitwatch.sim.scene import ArmPose, CardPose, Scene, StackPose
from pitwatch.vision.watcher import Watcher

ARM = ArmPose("dealer", 0.0, -10.0, *LAYOUT.at(3, 140.0))


def scenes(*steps, start: Scene) -> list[Scene]:  # type: ignore[no-untyped-def]
    """The scene after each step: things that are laid, or a change."""
    out = []
    for step in steps:
        start = plus(step)(start) if isinstance(step, (CardPose, StackPose)) else step(start)
        out.append(start)
    return out


def told(*steps, faults: Faults = CLEAR) -> list[str]:  # type: ignore[no-untyped-def]
    start = Scene(0.0)
    all_scenes = [start, *scenes(*steps, start=start)]
    eyes = NoisyEyes(lambda t: all_scenes[round(t)], painter(), faults, 5)
    return brief(stills(all_scenes, eyes)[0])


def test_a_still_needs_one_look():
    assert told(chips(2500, seat=2), laid("As", 2), laid("7d", 2, 1)) == ["2 main 2500", "2 As", "2 7d"]


def test_in_a_still_what_is_near_a_hand_waits_and_the_side_is_known():
    before = plus(laid("As", 3))(Scene(0.0))
    under = replace(plus(laid("7d", 3, 1))(before), arms=(ARM,))
    after = replace(under, arms=())
    events, _ = stills([before, under, after])
    assert brief(events) == ["3 As", "3 7d"]
    assert (events[1].t, events[1].by) == (2.0, "dealer")


def test_several_new_cards_are_ordered_by_how_they_lie():
    three = plus(laid("9c", 3, 2), laid("As", 3), laid("7d", 3, 1))
    events, _ = stills([Scene(0.0), three(Scene(0.0))])
    assert brief(events) == ["3 As", "3 7d", "3 9c"]
    assert [e.t for e in events] == sorted({e.t for e in events})


def test_a_card_is_sideways_from_the_third_on():
    said = told(laid("As", 3), laid("7d", 3, 1, across=True), laid("9c", 3, 2, across=True))
    assert said == ["3 As", "3 7d", "3 9c across"]


def test_the_dealers_cards_are_one_hand_as_they_lie():
    hole = laid("6c", 0, 1, up=False)
    turned = replace(hole, face_up=True, x=hole.x + 25, y=hole.y - 8)
    steps = (laid("Kh", 0), hole, both(minus(hole), plus(turned)), laid("5d", 0, 2), laid("2s", 0, 3))
    assert told(*steps) == ["0 Kh", "0 down", "turn 6c", "0 5d", "0 2s"]


def test_a_pushed_hand_is_the_same_hand():
    cards = [laid("8s", 3), laid("8h", 3, 1), laid("5c", 3, 2)]
    pushed = [replace(c, x=c.x + 40, y=c.y - 22, yaw=c.yaw + 4) for c in cards]
    assert told(*cards, both(minus(*cards), plus(*pushed))) == ["3 8s", "3 8h", "3 5c"]


def test_a_covered_card_stays_and_what_covered_it_goes():
    under = laid("As", 3)
    over = replace(laid("7d", 3), x=under.x + 4, y=under.y + 3, order=1, z=0.6)
    said = told(under, over, minus(over), lambda s: s)
    assert said == ["3 As", "3 7d", "gone 3.0 7d"]


def parted(seat: int = 3) -> tuple[list[CardPose], list[CardPose]]:
    pair = [laid("8s", seat), laid("8h", seat, 1)]
    apart = [laid("8s", seat, side=-52), replace(laid("8h", seat, side=52), order=1)]
    return pair, apart


def test_a_split_its_wagers_and_its_cards():
    pair, apart = parted()
    wager = chips(2500, seat=3)
    columns = chips(2500, seat=3, side=-42), chips(2500, seat=3, side=42)
    said = told(
        wager,
        *pair,
        both(minus(*pair, wager), plus(*apart, columns[0])),
        columns[1],
        replace(laid("Ts", 3, 1, side=-52), order=5),
        replace(laid("3h", 3, 1, side=52), order=6),
        chips(2500, seat=3, side=42, inward=43),
        chips(2500, seat=3, side=-42, inward=-43),
        minus(replace(laid("Ts", 3, 1, side=-52), order=5), apart[0]),
    )
    assert said == [
        "3 main 2500",
        "3 8s",
        "3 8h",
        "move 3.0 to 1",
        "3.1 main 2500",
        "3 Ts",
        "3.1 3h",
        "3.1 main 5000",
        "3 main 5000",
        "clear 3.0",
    ]


def test_a_split_shows_in_a_film_before_its_first_card():
    pair, apart = parted()
    story = Story(*pair).rest(1.2)
    story.reach(0, LAYOUT.at(3, 140.0), both(minus(*pair), plus(*apart)))
    story.reach(0, LAYOUT.at(3, 150.0, -52.0), plus(replace(laid("Ts", 3, 1, side=-52), order=5)))
    events, _ = watch(story)
    assert sorted(brief(events[:2])) == ["3 8h", "3 8s"]
    assert brief(events[2:]) == ["move 3.0 to 1", "3 Ts"]


def test_cards_that_meet_again_within_three_seconds_were_not_split():
    pair, apart = parted()
    story = Story(*pair).rest(1.2)
    story.reach(0, LAYOUT.at(3, 140.0), both(minus(*pair), plus(*apart)), then=0.8)
    story.reach(0, LAYOUT.at(3, 140.0), both(minus(*apart), plus(*pair)), then=3.5)
    assert sorted(brief(watch(story)[0])) == ["3 8h", "3 8s"]


def test_part_of_a_hand_is_gone_after_two_seconds_and_a_lifted_card_may_come_back():
    first, second = laid("As", 3), laid("7d", 3, 1)
    story = Story(first, second).rest(1.2)
    story.reach(0, LAYOUT.at(3, 150.0), minus(second), then=0.8)
    story.reach(0, LAYOUT.at(3, 150.0), plus(second))
    story.reach(0, LAYOUT.at(3, 150.0), minus(second), then=3.2)
    watcher = Watcher(CAMERA, LAYOUT, NoisyEyes(story, painter()))
    events = [(f.t, e) for f in film(story, story.t) for e in watcher.feed(f)]
    assert sorted(brief(e for _, e in events[:2])) == ["3 7d", "3 As"]
    assert brief(e for _, e in events[2:]) == ["gone 3.0 7d"]
    at, gone = events[2]
    assert at - gone.t >= 2.0


def test_doubles_and_payouts_beside_count_to_the_spot():
    said = told(
        chips(2500, 500, seat=4),
        chips(2500, 500, seat=4, inward=-45, side=8),
        chips(2500, 2500, 500, 500, seat=4, inward=46, side=-10),
        chips(500, seat=4, inward=-125),
    )
    assert said == ["4 main 3000", "4 main 6000", "4 main 12000"]


def test_restacking_is_silent():
    apart = chips(2500, seat=4), chips(2500, seat=4, side=40)
    one = chips(2500, 2500, seat=4)
    assert told(plus(*apart), both(minus(*apart), plus(one))) == ["4 main 5000"]


def test_insurance_lies_on_its_line():
    r = float(np.hypot(*(np.subtract(LAYOUT.spots[3], (LAYOUT.cx, LAYOUT.cy)))))
    inward = r - (LAYOUT.insurance_r or 0.0) + 20
    side = chips(500, 500, seat=4, inward=inward, side=-60)
    assert told(chips(2500, seat=4), side, minus(side)) == [
        "4 main 2500",
        "4 insurance 1000",
        "4 insurance 0",
    ]


def test_the_table_is_cleared_with_the_dealer_last():
    cards = [laid("As", 3), laid("7d", 3, 1), laid("Kh", 5), laid("Kh", 0), laid("6c", 0, 1)]
    wager = chips(2500, seat=3)
    said = told(plus(*cards, wager), minus(*cards, wager))
    assert said[-4:] == ["3 main 0", "clear 3", "clear 5", "clear 0"]


def test_rough_eyes_on_stills():
    cards = [laid("As", 3), laid("7d", 3, 1), laid("9c", 3, 2)]
    said = told(*cards, minus(*cards), faults=Faults(miss=0, invent=0, misread=0, chips_unclear=0))
    assert said == ["3 As", "3 7d", "3 9c", "clear 3"]
