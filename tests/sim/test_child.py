"""The simulated camera gives frames and times, and no way to what they were made from."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from pitwatch.capture import open_source
from pitwatch.errors import UserError
from pitwatch.sim.spec import SimSpec, mounted_camera
from pitwatch.table.layout import template

SMALL = "sim:rounds=1,width=480,height=270,pace=5"


def test_the_watching_process_never_holds_script_or_truth() -> None:
    """Whatever can be reached from the source, and whatever the process has loaded."""
    script = f"""
import sys, types
from pitwatch.capture import open_source
source = open_source({SMALL!r})
frames = []
for frame in source:
    frames.append(frame)
    if len(frames) == 20:
        break
loaded = [m for m in sys.modules if m.startswith("pitwatch.sim.")]
assert set(loaded) <= {{"pitwatch.sim.spec", "pitwatch.sim.child", "pitwatch.sim.source"}}, loaded
seen, reached = set(), [source, *frames]
while reached:
    thing = reached.pop()
    if id(thing) in seen or isinstance(thing, (type, types.ModuleType)):
        continue
    seen.add(id(thing))
    name = type(thing).__module__ + "." + type(thing).__name__
    assert not any(w in name for w in ("sim.spec", "script", "director", "truth", "Popen", "scene")), name
    if isinstance(thing, str):
        assert "rounds=" not in thing and "/" not in thing, thing
    reached += list(getattr(thing, "__dict__", {{}}).values())
    if isinstance(thing, dict):
        reached += [*thing, *thing.values()]
    elif isinstance(thing, (list, tuple, set)):
        reached += list(thing)
source.close()
print("nothing found in", len(seen), "things")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("nothing found in")


def test_frames_come_in_order_and_end() -> None:
    source = open_source("sim:rounds=1,width=320,height=180,pace=5,fps=2,distractions=0")
    frames = list(source)
    source.close()
    assert (source.width, source.height, source.live) == (320, 180, False)
    assert [f.index for f in frames] == list(range(len(frames)))
    assert [f.t for f in frames] == [i / 2 for i in range(len(frames))]
    assert len(frames) > 10
    assert frames[0].image.shape == (180, 320, 3)
    assert not np.array_equal(frames[0].image, frames[len(frames) // 2].image)


def test_the_same_seed_gives_the_same_pictures() -> None:
    pictures = []
    for seed in (3, 3, 4):
        source = open_source(f"{SMALL},seed={seed}")
        frames = iter(source)
        pictures.append(np.stack([next(frames).image for _ in range(12)]))
        source.close()
        assert list(frames) == []
    assert np.array_equal(pictures[0], pictures[1])
    assert not np.array_equal(pictures[0], pictures[2])


def test_in_real_time_a_slow_watcher_misses_frames_but_never_lags() -> None:
    source = open_source("sim:rounds=1,width=320,height=180,realtime=1,fps=20")
    assert source.live
    began = None
    frames = iter(source)
    for frame in frames:
        began = began or time.monotonic() - frame.t
        time.sleep(0.3)
        if frame.t > 2:
            break
    assert frame.index > 30
    assert time.monotonic() - began - frame.t < 1.0
    source.close()
    assert list(frames) == []


def test_paced_frames_take_their_time_and_wait_for_a_slow_watcher() -> None:
    source = open_source("sim:rounds=1,width=320,height=180,paced=1,fps=20")
    assert not source.live
    frames = iter(source)
    first = next(frames)
    began, seen = time.monotonic(), [first.index]
    for frame in frames:
        seen.append(frame.index)
        if frame.index == 20:
            time.sleep(1.0)
        if frame.index == 40:
            break
    assert seen == list(range(41))
    assert time.monotonic() - began > 2.7
    source.close()
    assert list(frames) == []


def test_closing_ends_the_other_process() -> None:
    source = open_source(SMALL)
    frames = iter(source)
    next(frames)
    source.close()
    assert list(frames) == []
    source.close()


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("sim:round=2", "did you mean 'rounds'"),
        ("sim:rounds=two", "a whole number"),
        ("sim:misplays=2", "from 0 to 1"),
        ("sim:seats=9", "from 5 to 7"),
    ],
)
def test_a_wrong_spec_is_said_before_anything_starts(spec: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        open_source(spec)


def test_a_spec_reads_back() -> None:
    spec = SimSpec(rounds=7, misplays=0.25, realtime=1)
    assert SimSpec.parse(str(spec)) == spec
    assert SimSpec.parse("sim:") == SimSpec()


@pytest.mark.parametrize("seats", [5, 6, 7])
@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1280, 960), (3840, 2160)])
def test_the_whole_table_is_in_the_picture(seats: int, width: int, height: int) -> None:
    layout = template(seats)
    camera = mounted_camera(layout, width, height)
    points = [p for seat in range(seats + 1) for p in layout.card_area(seat)]
    points += [(x + dx, y + dy) for x, y in layout.spots for dx in (-75, 75) for dy in (-75, 75)]
    px = camera.project(points)
    assert (px >= 0).all()
    assert (px < (width, height)).all()
