"""The staged table: everything that happens, happens in somebody's hand."""

from __future__ import annotations

import math
import time
from collections import defaultdict

import pytest

from pitwatch.errors import UserError
from pitwatch.game.audit import Audit
from pitwatch.game.events import CardLaid, Chips, Clear
from pitwatch.game.log import Header
from pitwatch.sim.director import Director
from pitwatch.sim.misplays import MISPLAYS
from pitwatch.sim.scene import Scene
from pitwatch.sim.script import random_script
from pitwatch.sim.truth import compare
from pitwatch.table.layout import Layout, template

NEAR_MM = 80.0
FAST_MM_S = 3000.0


def staged(seed: int, rounds: int = 2, misplays: object = 0.5, **more: float) -> tuple[Layout, Director]:
    layout = template(5 + seed % 3)
    script = random_script(rounds, layout, seed, misplays)  # type: ignore[arg-type]
    return layout, Director(script, layout, seed, **more)


def scenes(director: Director, dt: float) -> list[Scene]:
    return [director.scene(i * dt) for i in range(int(director.duration / dt))]


@pytest.fixture(scope="module", params=range(3))
def table(request: pytest.FixtureRequest) -> tuple[Layout, Director]:
    return staged(request.param, distractions=1.0)


def test_same_seed_same_motion():
    (_, a), (_, b) = staged(3), staged(3)
    assert a.duration == b.duration
    assert a.truth == b.truth
    assert all(a.scene(t) == b.scene(t) for t in (0.0, 7.3, 31.9, a.duration))


def test_scene_is_a_pure_function_of_time(table: tuple[Layout, Director]):
    _, d = table
    times = [0.31 * i for i in range(int(d.duration / 0.31))]
    forward = [d.scene(t) for t in times]
    assert [d.scene(t) for t in reversed(times)] == forward[::-1]


def test_scenes_come_quickly(table: tuple[Layout, Director]):
    _, d = table
    begun = time.perf_counter()
    n = len(scenes(d, 0.1))
    assert (time.perf_counter() - begun) / n < 1e-3


def test_nothing_changes_but_in_a_hand(table: tuple[Layout, Director]):
    _, d = table
    before = d.scene(0.0)
    for scene in scenes(d, 0.03)[1:]:
        palms = [(a.hand_x, a.hand_y) for a in before.arms + scene.arms]
        changed = [*set(before.cards) ^ set(scene.cards), *set(before.stacks) ^ set(scene.stacks)]
        for o in changed:
            assert min((math.dist((o.x, o.y), p) for p in palms), default=math.inf) <= NEAR_MM, (scene.t, o)
        before = scene


def test_nothing_moves_faster_than_a_hand_can(table: tuple[Layout, Director]):
    _, d = table
    dt = 0.03
    before = d.scene(0.0)
    for scene in scenes(d, dt)[1:]:
        for arm in scene.arms:
            was = [a for a in before.arms if a.look == arm.look]
            if was:
                step = math.dist((was[0].hand_x, was[0].hand_y), (arm.hand_x, arm.hand_y))
                assert step <= FAST_MM_S * dt, (scene.t, arm)
        for stack in scene.stacks:
            there = [s for s in before.stacks if s.look == stack.look]
            if there:
                assert math.dist((there[0].x, there[0].y), (stack.x, stack.y)) <= FAST_MM_S * dt
        before = scene


def test_carried_things_are_up_and_things_at_rest_lie(table: tuple[Layout, Director]):
    _, d = table
    for scene in scenes(d, 0.2):
        if not scene.arms:
            assert all(c.z < 4 and c.lift == 0 for c in scene.cards)
            assert all(s.z == 0 for s in scene.stacks)


def test_everything_rests_before_its_own_seat(table: tuple[Layout, Director]):
    layout, d = table
    for scene in scenes(d, 0.25):
        if scene.arms:
            continue
        for c in scene.cards:
            assert layout.seat_of(c.x, c.y) == c.seat
        for s in scene.stacks:
            assert layout.spot_of(s.x, s.y) == (None if s.spot is None else (s.seat, s.spot))


def test_events_agree_with_what_lies_there(table: tuple[Layout, Director]):
    """Replaying the events gives the same cards and chips that lie on the felt at every rest."""
    _, d = table
    events = list(d.truth.events)
    assert [e.t for e in events] == sorted(e.t for e in events)
    chips: dict[tuple[int, int, str], int] = {}
    cards: dict[int, int] = defaultdict(int)
    by_hand: dict[tuple[int, int], int] = defaultdict(int)
    for scene in scenes(d, 0.2):
        while events and events[0].t <= scene.t:
            e = events.pop(0)
            if isinstance(e, Chips):
                chips[e.seat, e.hand, e.spot] = e.amount or 0
            elif isinstance(e, CardLaid):
                by_hand[e.seat, e.hand] += 1
            elif isinstance(e, Clear):
                for key in [k for k in by_hand if k[0] == e.seat and e.hand in (None, k[1])]:
                    del by_hand[key]
            elif e.type == "move":
                by_hand[e.seat, e.hand] -= 1  # type: ignore[attr-defined]
                by_hand[e.seat, e.to] += 1  # type: ignore[attr-defined]
        if scene.arms:
            continue
        lying: dict[tuple[int, int, str], int] = defaultdict(int)
        for s in scene.stacks:
            if s.spot is not None:
                lying[s.seat or 0, s.hand, s.spot] += s.cents
        assert dict(lying) == {k: v for k, v in chips.items() if v}
        cards = defaultdict(int)
        for c in scene.cards:
            cards[c.seat or 0, c.hand] += 1  # type: ignore[index]
        assert dict(cards) == {k: v for k, v in by_hand.items() if v}
    assert not any(chips.values())


def test_between_acts_the_table_is_seen_without_arms():
    _, d = staged(1, 2, 0.0, distractions=0.0)
    arms = [bool(s.arms) for s in scenes(d, 0.05)]
    quiet = rests = 0
    for over in arms:
        if over and quiet:
            rests += 1
            assert quiet * 0.05 >= 0.8
        quiet = 0 if over else quiet + 1
    assert rests > 15


def test_pace_shortens_the_rests():
    _, slow = staged(2)
    _, quick = staged(2, pace=2.0)
    assert quick.duration < 0.85 * slow.duration


@pytest.mark.parametrize("kind", MISPLAYS)
def test_every_misplay_is_staged_and_told(kind: str):
    _, d = staged(MISPLAYS.index(kind), 1, [kind])
    (finding,) = d.truth.findings
    assert d.truth.rounds[0].t_start < finding.t < d.truth.rounds[0].t_end


def test_a_script_for_another_table_is_refused():
    script = random_script(1, template(6), 0)
    with pytest.raises(UserError, match="6 seats"):
        Director(script, template(5))


def perfect(d: Director) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Findings and rounds as somebody would make them who saw everything."""
    truth = d.truth.to_json()
    found = [{"type": "finding", **f} for f in truth["findings"]]
    rounds = [{**r, "hands": [h for h in r["hands"] if h["cards"]]} for r in truth["rounds"]]
    return found, rounds


def test_compare_gives_full_marks_for_the_truth():
    _, d = staged(5, 4, 1.0)
    score = compare(d.truth, *perfect(d))
    assert (score.staged, score.found, score.false, score.unverified) == (4, 4, 0, 0)
    assert score.hands_right == score.hands > 4
    assert score.rounds_right == score.rounds == 4
    assert score.cards_right == score.cards


def test_compare_counts_what_is_missing_and_what_is_invented():
    _, d = staged(5, 4, 1.0)
    found, rounds = perfect(d)
    first = d.truth.rounds[0]
    found[0] = {**found[0], "seat": 99}
    found.append({"type": "unverified", "t": first.t_end - 1, "seat": first.hands[0].seat, "hand": 0})
    score = compare(d.truth, found, rounds[:-1])
    assert (score.found, score.false) == (3, 1)
    assert score.unverified == 1 + sum(bool(h.cards) for h in d.truth.rounds[-1].hands)
    assert score.rounds_right == 3


def test_compare_takes_another_settlement_kind_with_the_same_amounts():
    _, d = staged(6, 1, ["paid_short"])
    found, rounds = perfect(d)
    assert compare(d.truth, [{**found[0], "kind": "taken_over"}], rounds).found == 1
    assert compare(d.truth, [{**found[0], "kind": "taken_over", "observed": 1}], rounds).found == 0


def audited(d: Director) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Findings and rounds as the audit makes them from the true events."""
    audit = Audit(Header.from_json(d.truth.header))
    said = [s for e in d.truth.events for s in audit.feed(e)] + audit.finish()
    return [s.to_json() for s in said], [r.to_json() for r in audit.rounds_done]


@pytest.mark.parametrize("kind", MISPLAYS)
def test_the_audit_finds_what_was_staged_and_nothing_else(kind: str):
    for seed in range(2):
        _, d = staged(100 + seed, 1, [kind])
        said, rounds = audited(d)
        score = compare(d.truth, said, rounds)
        assert (score.found, score.false, score.unverified) == (1, 0, 0), (seed, score)
        (want,), (got,) = d.truth.findings, said
        assert got["kind"] == want.kind
        assert got["hand"] == want.hand
        assert want.expected in (None, got.get("expected"))
        assert want.observed in (None, got.get("observed"))


def test_the_audit_has_the_rounds_as_they_were_played():
    for seed in range(5):
        _, d = staged(seed, 5, 0.4)
        score = compare(d.truth, *audited(d))
        assert score.rounds_right == score.rounds == 5
        assert (score.found, score.false, score.unverified) == (2, 0, 0)
