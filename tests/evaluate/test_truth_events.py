"""A scene's truth reads as the table events that a faultless watcher would make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pitwatch.evaluate.folders import Scene, read_folder
from pitwatch.evaluate.truth_events import PictureEvents, TrueHand, compare_events, true_hands, truth_events
from pitwatch.game.events import CardLaid, Chips, Clear, Peek, TableEvent, Turn


def flat(groups: list[PictureEvents]) -> list[TableEvent]:
    return [e for g in groups for e in g.events]


def test_a_round_as_events(scene: Scene) -> None:
    events = [{k: v for k, v in e.to_json().items() if k != "t"} for e in flat(truth_events(scene))]
    assert events[:3] == [
        {"type": "chips", "seat": 1, "spot": "main", "amount": 5000},
        {"type": "chips", "seat": 3, "spot": "main", "amount": 2500},
        {"type": "card", "seat": 1, "card": "Ts", "face": "up"},
    ]
    assert events[7:] == [
        {"type": "card", "seat": 0, "card": None, "face": "down"},
        {"type": "turn", "seat": 0, "card": "Kc"},
        {"type": "card", "seat": 0, "card": "2c", "face": "up"},
        {"type": "chips", "seat": 3, "spot": "main", "amount": 0, "by": "dealer"},
        {"type": "chips", "seat": 1, "spot": "main", "amount": 9500, "by": "dealer"},
        {"type": "chips", "seat": 1, "spot": "main", "amount": 0},
        {"type": "clear", "seat": 1},
        {"type": "clear", "seat": 3},
        {"type": "clear", "seat": 0},
    ]


def test_double_bust_push_and_settled(scene_writer: Callable[..., Path]) -> None:
    bet = {"chips": [500, 500], "cents": 1000, "x": 0.0, "y": 620.0, "seat": 2, "kind": "main"}
    more = {**bet, "x": 40.0, "kind": "double"}

    def frame(n: int, event: dict[str, object], stacks: list[object]) -> dict[str, object]:
        return {"file": f"{n:03d}.jpg", "arm": None, "event": event, "cards": [], "stacks": stacks}

    frames = [
        frame(0, {"type": "wagers", "wagers": {"1": 700, "2": 1000, "3": 900}}, [bet]),
        frame(1, {"type": "double", "seat": 2, "cents": 1000}, [bet, more]),
        frame(2, {"type": "bust_taken", "seat": 2}, []),
        frame(3, {"type": "push", "seat": 1}, []),
        frame(4, {"type": "settled", "seat": 3}, []),
        frame(5, {"type": "cleared"}, []),
    ]
    scene = read_folder(scene_writer(frames))
    assert isinstance(scene, Scene)
    groups = truth_events(scene)
    assert [e.amount for e in groups[1].events if isinstance(e, Chips)] == [2000]
    assert [type(e) for e in groups[2].events] == [Chips, Clear]
    assert groups[3].events == ()
    assert [type(e) for e in groups[4].events] == [Chips, Clear]
    assert [e.seat for e in groups[5].events] == [1, 0]
    dealt = {"wagers": {"1": 700, "2": 1000, "3": 900}, "doubled": [2]}
    dealt |= {"hands": {"1": ["Ts", "8c"], "2": ["5s", "6c", "Kd"], "3": ["As", "Kc"]}}
    assert true_hands(dealt, groups) == (
        TrueHand(1, 0, ("Ts", "8c"), 700, False, 0),
        TrueHand(2, 0, ("5s", "6c", "Kd"), 1000, True, -2000),
        TrueHand(3, 0, ("As", "Kc"), 900, False, 0),
    )


def test_the_hands_of_the_round(scene: Scene) -> None:
    assert scene.round is not None
    assert true_hands(scene.round, truth_events(scene)) == (
        TrueHand(1, 0, ("Ts", "Qh"), 5000, False, 4500),
        TrueHand(3, 0, ("9d", "7d"), 2500, False, -2500),
    )


def test_an_unknown_event_is_named(scene_writer: Callable[..., Path]) -> None:
    frames = [{"file": "000.jpg", "arm": None, "event": {"type": "juggle"}, "cards": [], "stacks": []}]
    scene = read_folder(scene_writer(frames))
    assert isinstance(scene, Scene)
    with pytest.raises(ValueError, match=r"000\.jpg .*'juggle'"):
        truth_events(scene)


def group(*events: TableEvent, by: bool = False) -> PictureEvents:
    return PictureEvents("f", events, by)


A = Chips(t=0, seat=1, spot="main", amount=500)
B = Chips(t=0, seat=2, spot="main", amount=700)
C = CardLaid(t=1, seat=1, card="7d")
T = Turn(t=2, seat=0, card="Kd")


def test_order_inside_a_picture_and_time_are_not_compared() -> None:
    made = [replace(B, t=3.1), replace(A, t=3.1), replace(C, t=9.0, confidence=0.8, evidence=("x",))]
    assert compare_events([group(A, B), group(C)], made).right == 3


def test_order_of_pictures_is_compared() -> None:
    c = compare_events([group(A), group(C)], [C, A])
    assert c.right == 1
    assert len(c.missing) == len(c.extra) == 1


def test_what_must_agree() -> None:
    for wrong in (
        replace(A, amount=None),
        replace(A, seat=2),
        replace(A, spot="insurance"),
        replace(A, hand=1),
    ):
        assert compare_events([group(A)], [wrong]).right == 0
    for wrong in (
        replace(C, card="7h"),
        replace(C, card=None),
        replace(C, sideways=True),
        replace(C, face="down"),
    ):
        assert compare_events([group(C)], [wrong]).right == 0
    assert compare_events([group(Clear(t=0, seat=1))], [Clear(t=0, seat=1, hand=0)]).right == 1


def test_by_is_compared_only_where_it_was_to_be_seen() -> None:
    taken = Chips(t=0, seat=1, spot="main", amount=0, by="dealer")
    for shown in (False, True):
        for by, right in (("dealer", True), (None, not shown), ("player", not shown)):
            made = replace(taken, by=by)
            assert compare_events([group(taken, by=shown)], [made]).right == right
    # where the truth knows nobody, anybody will do
    assert compare_events([group(A, by=True)], [replace(A, by="player")]).right == 1


def test_extra_and_missing_are_told_apart() -> None:
    c = compare_events([group(A, B), group(C), group(T)], [A, Peek(t=1), C, C])
    assert (c.right, c.truth) == (2, 4)
    assert c.missing == (B, T)
    assert c.extra == (Peek(t=1), C)


@given(st.lists(st.lists(st.sampled_from([A, B, C, T]), max_size=3), max_size=6), st.data())
def test_all_is_right_but_what_is_left_out(groups: list[list[TableEvent]], data: st.DataObject) -> None:
    truth = [group(*g) for g in groups]
    made = [e for g in groups for e in data.draw(st.permutations(g))]
    whole = compare_events(truth, made)
    assert whole.right == whole.truth == len(made)
    assert not whole.missing
    assert not whole.extra
    if made:
        lost = data.draw(st.integers(0, len(made) - 1))
        less = compare_events(truth, made[:lost] + made[lost + 1 :])
        assert less.right == len(made) - 1
        assert len(less.missing) == 1
