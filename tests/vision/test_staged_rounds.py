"""Whole staged rounds of the simulated table against their truth, with eyes that err in every way.

As stills of the moments at which no arm is over the table but at the shoe, and one round as a film.
"""

from __future__ import annotations

from collections import Counter

import pytest
from builders import CAMERA, LAYOUT, Faults, NoisyEyes, brief, film, painter, stills

from pitwatch.sim.director import Director
from pitwatch.sim.script import random_script
from pitwatch.vision.watcher import Watcher

# misreadings are the reader's business; a miss in a still, of which there is one look, is believed
ROUGH = Faults(misread=0, chips_unclear=0)
STILL = Faults(miss=0, invent=0, misread=0, chips_unclear=0)


def staged(seed: int, rounds: int = 1, **kw: float) -> Director:
    return Director(random_script(rounds, LAYOUT, seed), LAYOUT, seed, **kw)


def told(director: Director) -> list[str]:
    return [b for b in brief(director.truth.events) if b != "peek"]


@pytest.mark.parametrize("seed", [23])
def test_a_round_in_stills(seed: int) -> None:
    director = staged(seed)
    times, last = [0.0], -1.0
    events = director.truth.events
    for i in range(int(director.duration * 10)):
        t = i / 10
        done = sum(e.t < t for e in events)
        if done > last and all(a.hand_x < -560 for a in director.scene(t).arms):
            times.append(t)
            last = done
    scenes = [director.scene(t) for t in times]
    eyes = NoisyEyes(lambda t: scenes[round(t)], painter(), STILL, seed)
    got, watcher = stills(scenes, eyes)
    assert Counter(brief(got)) == Counter(told(director))
    assert [e.t for e in got] == sorted(e.t for e in got)
    assert not watcher.snapshot().cards


def test_a_round_in_motion():
    director = staged(8, pace=1.6, distractions=0.2)
    watcher = Watcher(CAMERA, LAYOUT, NoisyEyes(director.scene, painter(), ROUGH, 8))
    got = [e for f in film(director.scene, director.duration, 12.0) for e in watcher.feed(f)]
    got += watcher.flush()
    assert Counter(b for b in brief(got) if b != "peek") == Counter(told(director))
    truth = dict(zip(brief(director.truth.events), director.truth.events, strict=True))
    pairs = [(e, truth[b]) for b, e in zip(brief(got), got, strict=True) if b in truth]
    assert all(e.by in (None, t.by) and abs(e.t - t.t) < 2.5 for e, t in pairs)
