"""A camera bumped while a table is watched, from pictures to MQTT: judging stops, the pit is told, the
picture is corrected, and the next round is judged as if nothing had been."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import numpy as np
import pytest

from pitwatch.capture.frame import Frame
from pitwatch.game.log import Header
from pitwatch.journal import Journal
from pitwatch.monitor.pipeline import Monitor
from pitwatch.mqtt import Publisher
from pitwatch.sim.spec import SimSpec
from pitwatch.sim.stage import Stage
from pitwatch.sim.truth import compare
from pitwatch.vision.looks import Look, Zone

from ..mqtt.brokers import Mosquitto, Subscriber
from .mishaps import Mishap, bumped, covered, seen_by
from .seeing import SceneEyes
from .test_pipeline import Heard, monitor

SPEC = SimSpec(rounds=1, width=640, height=360, fps=8, pace=1.2, misplays=1.0, seed=5, distractions=0.0)


class LateEyes(SceneEyes):
    """Sees a stage that begins to play so many seconds late."""

    def __init__(self, stage: Stage, late: float) -> None:
        super().__init__(stage._director)
        self._late = late

    def look(self, frame: Frame, zone: Zone) -> Look:
        seen = super().look(dataclasses.replace(frame, t=max(0.0, frame.t - self._late)), zone)
        return dataclasses.replace(seen, t=frame.t)


class Quiet(Heard):
    """Does not look at the pictures."""

    def state(self, state, picture) -> None:  # type: ignore[no-untyped-def]
        self.states.append(state)


@pytest.fixture(scope="module")
def stage() -> Stage:
    return Stage(SPEC)


def first_card_t(stage: Stage) -> float:
    return min(e.t for e in stage.truth.events if e.type == "card")


def test_a_bump_between_rounds(stage: Stage, tmp_path: Path) -> None:
    true = bumped(stage.camera, 0.4, -0.3, 0.0)
    begins, before = 0.8, 4.0
    heard = Quiet()
    watches: list[Monitor] = []
    broker = Mosquitto.simple(tmp_path).start()
    with (
        Journal(tmp_path / "j.db", "here", "SIM-1") as journal,
        Subscriber(broker.port) as subscriber,
        Publisher(journal, broker.url, "here", "SIM-1", health=lambda: told(watches)) as publisher,
    ):
        source = Mishap(stage, begins, other=seen_by(SPEC, true), before=before)
        watch = Monitor(
            Header.from_json(stage.truth.header),
            "here",
            stage.camera,
            stage.layout,
            source,
            LateEyes(stage, before),
            journal,
            publisher=publisher,
            listeners=[heard],
            keep_record=True,
            reference=stage.frame(0).image,
        )
        watches.append(watch)
        record = watch.run().record
        assert publisher.flush(10)
        time.sleep(0.2)
    broker.stop()
    assert record is not None
    table = [(e.state, e.t) for e in record.events if e.type == "table"]
    assert [s for s, _ in table] == ["closed", "open"]
    assert table[0][1] - begins < 1.6
    assert table[1][1] < first_card_t(stage) + before
    # the round that came after is judged in full
    score = compare(
        stage.truth,
        [{**f.to_json(), "t": f.t - before} for f in record.findings],
        [r.to_json() for r in record.rounds],
    )
    assert (score.staged, score.found, score.false, score.rounds_right) == (1, 1, 0, 1)
    assert record.unverified == []
    # everybody heard of it
    assert [n.split(",")[0].split(";")[0] for n in heard.notices] == [
        "The camera was moved",
        "The camera was moved",
        "Judging has begun again.",
    ]
    beats = [p["health"] for p in subscriber.payloads("health")]
    assert False in [b["judging"] for b in beats if "judging" in b]
    assert beats[-1]["judging"]
    stopped = [s for s in heard.states if not s.health.judging]
    assert stopped
    assert all(s.health.camera == "moved" for s in stopped)
    assert any(s.phase == "not playing: closed" for s in stopped)
    # and the marks lie where the spots are now
    marks = [m for m in heard.states[-1].overlay.marks if m.kind == "spot"]
    at = np.array([np.mean(m.points, axis=0) for m in marks])
    assert np.abs(at - true.project(stage.layout.spots)).max() < 2.0


def told(watches: list[Monitor]) -> dict[str, object]:
    if not watches:
        return {}
    h = watches[0].health()
    return {"camera": h.camera, "judging": h.judging, "notice": h.notice}


def test_blind_in_the_midst_of_a_round_nothing_is_judged_and_nothing_invented(
    stage: Stage, tmp_path: Path
) -> None:
    begins = first_card_t(stage) + 9.0  # every hand has its two cards
    heard = Quiet()
    with Journal(tmp_path / "j.db", "here", "SIM-1") as journal:
        frames = int((begins + 6.5) * SPEC.fps)
        source = Mishap(stage, begins, begins + 3.0, spoil=covered, frames=frames)
        watch = monitor(stage, journal, source, listeners=[heard], keep_record=True)
        summary = watch.run()
    record = summary.record
    assert record is not None
    assert record.findings == []
    table = [(e.state, e.t) for e in record.events if e.type == "table"]
    assert table[0][0] == "closed"
    assert begins < table[0][1] < begins + 1.6
    # cards lie on the table: play goes on with the next round only
    assert [s for s, _ in table] == ["closed"]
    assert summary.hands_total > 0
    assert summary.hands_judged == 0
    assert len(record.unverified) == summary.hands_total
    assert all("the table" in u.why for u in record.unverified)
    assert heard.notices[0].startswith("Something covers the lens")
    assert heard.notices[1].startswith("The camera sees the felt as it should again")
    assert not heard.states[-1].health.judging
