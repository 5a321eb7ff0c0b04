"""The guard over time, on a rendered table in play: a bump is noticed and corrected, blindness is noticed and
ends, and a busy table is neither."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from pitwatch.capture.frame import Frame
from pitwatch.sim.spec import SimSpec
from pitwatch.sim.stage import Stage
from pitwatch.table.camera import Camera
from pitwatch.vision.guard import Guard, Ruling

from ..monitor.mishaps import Mishap, Spoil, bumped, covered, dark, defocused, seen_by

SPEC = SimSpec(rounds=1, width=640, height=360, fps=5, seed=5, pace=2.0, distractions=0.6)
PLAYED = 60  # frame number in the middle of play


@pytest.fixture(scope="module")
def stage() -> Stage:
    return Stage(SPEC)


def watched(guard: Guard, frames: Iterable[Frame]) -> list[tuple[float, Ruling]]:
    """The rulings where they change."""
    out: list[tuple[float, Ruling]] = []
    for frame in frames:
        ruling = guard.step(frame.t, frame.image)
        if not out or out[-1][1] != ruling:
            out.append((frame.t, ruling))
    return out


def off_mm(stage: Stage, camera: Camera, true: Camera) -> float:
    spots = np.array(stage.layout.spots)
    return float(np.hypot(*(camera.to_table(true.project(spots)) - spots).T).max())


def test_a_round_in_play_is_no_alarm(stage: Stage) -> None:
    guard = Guard(stage.camera, stage.layout)
    assert watched(guard, Mishap(stage, 1e9, step=4)) == [(0.0, "go")]
    assert guard.state.stand == "steady"
    assert guard.state.text == ""
    assert guard.camera is stage.camera


@pytest.mark.parametrize("degrees", [(0.5, 0.0, 0.0), (0.0, -0.4, 0.3)])
def test_a_bump_in_play_is_noticed_and_corrected(stage: Stage, degrees: tuple[float, ...]) -> None:
    true = bumped(stage.camera, *degrees, shift_mm=(2.0, 0.0, 1.0))
    at = (PLAYED + 15) / SPEC.fps
    guard = Guard(stage.camera, stage.layout)
    other = seen_by(SPEC, true)
    rulings = watched(guard, Mishap(stage, at, other=other, first=PLAYED, frames=30))
    assert [r for _, r in rulings] == ["go", "wait", "stop", "wait", "resume", "go"]
    when = dict(zip(("go", "wait", "stop", "wait2", "resume"), (t for t, _ in rulings), strict=False))
    assert when["wait"] - at < 0.5
    assert when["stop"] - at < 1.5
    assert when["resume"] - at < 3
    assert off_mm(stage, stage.camera, true) > 8
    assert off_mm(stage, guard.camera, true) < 2.5
    assert guard.state.stand == "moved"
    assert not guard.state.judging
    assert "this is corrected" in guard.state.text


def test_a_small_drift_is_corrected_while_judging_goes_on(stage: Stage) -> None:
    true = bumped(stage.camera, 0.09, 0.05, 0.0)
    guard = Guard(stage.camera, stage.layout)
    rulings = watched(guard, Mishap(stage, 15.0, other=seen_by(SPEC, true), first=PLAYED, frames=27))
    assert [r for _, r in rulings] == ["go", "nudged", "go"]
    assert 2 < off_mm(stage, stage.camera, true) < 5
    assert off_mm(stage, guard.camera, true) < 1.2
    assert guard.state.judging


@pytest.mark.parametrize(("spoil", "stand"), [(defocused, "blurred"), (covered, "covered"), (dark, "dark")])
def test_blindness_is_noticed_and_ends(stage: Stage, spoil: Spoil, stand: str) -> None:
    guard = Guard(stage.camera, stage.layout)
    begins, ends = 15.0, 17.0
    source = Mishap(stage, begins, ends, spoil=spoil, first=PLAYED, frames=35)
    rulings = watched(guard, [f for f in source if f.t < ends])
    assert [r for _, r in rulings] == ["go", "wait", "stop", "wait"]
    assert rulings[2][0] - begins < 1.5
    assert guard.state.stand == stand
    assert guard.stopped
    assert guard.state.text.endswith("nothing is judged until then.")
    assert [r for _, r in watched(guard, [f for f in source if f.t >= ends])] == ["wait", "resume", "go"]
    assert not guard.stopped
    assert guard.camera is stage.camera


def test_what_lasts_for_a_moment_is_left_out_and_forgotten(stage: Stage) -> None:
    guard = Guard(stage.camera, stage.layout)
    rulings = watched(guard, Mishap(stage, 15.0, 15.5, spoil=covered, first=PLAYED, frames=22))
    assert [r for _, r in rulings] == ["go", "wait", "go"]
    assert guard.state.judging


def test_a_camera_turned_away_is_for_people_to_set_right(stage: Stage) -> None:
    guard = Guard(stage.camera, stage.layout)
    other = seen_by(SPEC, bumped(stage.camera, 7.0, 9.0, 0.0))
    watched(guard, Mishap(stage, 15.0, other=other, first=PLAYED, frames=31))
    assert guard.state.stand in ("lost", "moved")
    assert guard.stopped
    assert "calibrate it anew" in guard.state.text


def test_moved_before_the_watch_began_is_told_by_the_calibrations_picture(stage: Stage) -> None:
    true = bumped(stage.camera, 0.0, 0.6, 0.0)
    guard = Guard(stage.camera, stage.layout, stage.frame(0).image)
    rulings = watched(guard, Mishap(stage, 0.0, other=seen_by(SPEC, true), first=PLAYED, frames=12))
    assert [r for _, r in rulings] == ["wait", "stop", "wait", "resume", "go"]
    assert off_mm(stage, guard.camera, true) < 2.5


def test_a_bare_felt_is_said_to_be_unwatched(stage: Stage) -> None:
    guard = Guard(stage.camera, stage.layout)
    bare = np.full((SPEC.height, SPEC.width, 3), 80, np.uint8)
    for i in range(8):
        assert guard.step(i * 0.5, bare) == "go"
    assert guard.state.stand == "unwatched"
    assert "Too little print" in guard.state.text
