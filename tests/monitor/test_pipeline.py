"""A simulated round watched from pictures to MQTT: the real watcher, audit, journal and broker, and eyes that
see what lies there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from pitwatch.capture.frame import Frame
from pitwatch.errors import UserError
from pitwatch.game.audit import RoundRecord
from pitwatch.game.log import Header
from pitwatch.journal import Journal, JournalFull
from pitwatch.monitor.board import BoardState, FindingShown
from pitwatch.monitor.pipeline import Listener, Monitor, Summary
from pitwatch.mqtt import Publisher
from pitwatch.pit.clips import pictures_of_clip
from pitwatch.sim.spec import SimSpec
from pitwatch.sim.stage import Stage
from pitwatch.sim.truth import compare
from pitwatch.vision.watcher import Eyes

from ..mqtt.brokers import Mosquitto, Subscriber
from .seeing import SceneEyes

SPEC = SimSpec(rounds=1, width=800, height=450, fps=10, misplays=1.0, seed=5, distractions=0.0)


class Heard(Listener):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.states: list[BoardState] = []
        self.findings: list[FindingShown] = []
        self.rounds: list[RoundRecord] = []
        self.notices: list[str] = []

    def state(self, state: BoardState, picture: NDArray[np.uint8]) -> None:
        assert picture.shape == (SPEC.height, SPEC.width, 3)
        self.states.append(state)

    def finding(self, finding: FindingShown) -> None:
        self.findings.append(finding)

    def round(self, record: RoundRecord) -> None:
        self.rounds.append(record)

    def notice(self, sentence: str) -> None:
        self.notices.append(sentence)


class Broken(Listener):
    """Raises whatever it is told."""

    def state(self, state: BoardState, picture: NDArray[np.uint8]) -> None:
        raise RuntimeError("no display")

    def finding(self, finding: FindingShown) -> None:
        raise ZeroDivisionError


def header_of(stage: Stage) -> Header:
    return Header.from_json(stage.truth.header)


def monitor(stage: Stage, journal: Journal, source: object = None, **more: object) -> Monitor:
    eyes: Eyes = SceneEyes(stage._director)
    return Monitor(
        header_of(stage),
        "here",
        stage.camera,
        stage.layout,
        source or stage,
        eyes,
        journal,
        **more,  # type: ignore[arg-type]
    )


@dataclass
class Watched:
    stage: Stage
    summary: Summary
    heard: Heard
    journal: Journal
    subscriber: Subscriber


@pytest.fixture(scope="module")
def stage() -> Stage:
    return Stage(SPEC)


@pytest.fixture(scope="module")
def watched(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """One round with a misplay, watched once for all the tests of what came of it."""
    folder = tmp_path_factory.mktemp("watched")
    heard = Heard()
    broker = Mosquitto.simple(folder).start()
    with (
        Journal(folder / "j.db", "here", "SIM-1") as journal,
        Subscriber(broker.port) as subscriber,
        Publisher(journal, broker.url, "here", "SIM-1") as publisher,
    ):
        watch = monitor(stage, journal, publisher=publisher, listeners=[Broken(), heard], keep_record=True)
        summary = watch.run()
        assert publisher.flush(10)
        deadline = time.monotonic() + 5
        while not subscriber.payloads("rounds") and time.monotonic() < deadline:
            time.sleep(0.05)
        yield Watched(stage, summary, heard, journal, subscriber)
    broker.stop()


def test_what_was_staged_is_found_and_nothing_else(watched: Watched) -> None:
    record = watched.summary.record
    assert record is not None
    said = [f.to_json() for f in record.findings]
    score = compare(watched.stage.truth, said, [r.to_json() for r in record.rounds])
    assert (score.staged, score.found, score.false) == (1, 1, 0)
    assert score.rounds_right == 1
    assert watched.summary.judged_share == 1.0
    assert watched.summary.rounds == 1
    assert watched.summary.findings == 1


def test_everything_is_in_the_journal_and_went_out(watched: Watched) -> None:
    record = watched.summary.record
    assert record is not None
    counts = watched.journal.counts()
    assert counts["event"] == len(record.events)
    assert (counts["finding"], counts["round"], counts["outbox"]) == (1, 1, 0)
    payloads = watched.subscriber.payloads
    assert len({p["id"] for p in payloads("events")}) == len(record.events)
    assert [p["finding"]["kind"] for p in payloads("findings")] == [f.kind for f in record.findings]
    assert payloads("rounds")[0]["round"]["round"] == 1


def test_a_finding_comes_with_its_rule_and_pictures(watched: Watched) -> None:
    (shown,) = watched.heard.findings
    (told,) = watched.subscriber.payloads("findings")
    assert shown.text == told["finding"]["text"]
    assert shown.sentence
    assert shown.round == 1
    assert {p.role for p in shown.pictures} >= {"before", "after"}
    sent = {
        m.topic.rpartition("/")[2]: m.payload for m in watched.subscriber.messages if "/evidence/" in m.topic
    }
    for p in shown.pictures:
        jpeg = watched.journal.evidence(p.ref)
        assert jpeg is not None
        assert jpeg in sent.values()
        image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
        assert image is not None
        assert min(image.shape[:2]) > 60


def test_a_finding_has_a_clip_of_the_seconds_before_it(watched: Watched) -> None:
    (told,) = watched.subscriber.payloads("findings")
    clip = watched.journal.evidence(f"clip-{told['id']}")
    assert clip is not None
    shown = pictures_of_clip(clip)
    times = [t for t, _ in shown if t is not None]
    assert len(times) == len(shown) >= 10
    assert times == sorted(times)
    at = told["finding"]["t"]
    assert times[0] <= at - 4
    assert at <= times[-1] <= at + 2
    for _, jpeg in shown:
        image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
        assert image.shape == (SPEC.height, SPEC.width, 3)
    # it stays here until somebody asks for it
    assert not [m for m in watched.subscriber.messages if "/evidence/clip-" in m.topic]


def test_displays_saw_the_table_as_it_stood(watched: Watched) -> None:
    states = watched.heard.states
    phases = {s.phase.split(":")[0] for s in states}
    assert {"waiting for wagers", "dealing", "players act", "settling"} <= phases
    full = max(states, key=lambda s: sum(len(h.cards) for seat in s.seats for h in seat.hands))
    truth = watched.stage.truth.rounds[0]
    assert {s.seat for s in full.seats} >= {h.seat for h in truth.hands}
    dealer = next(s.dealer for s in states if len(s.dealer.cards) == 2)
    assert [c.face_up for c in dealer.cards] == [True, False]
    cards = [m for m in full.overlay.marks if m.kind == "card"]
    assert len(cards) >= 4
    assert all(0 <= x <= SPEC.width and -20 <= y <= SPEC.height for m in cards for x, y in m.points)
    assert {m.kind for s in states for m in s.overlay.marks} == {"card", "stack", "arm", "spot"}
    assert states[-1].running is False
    assert states[-1].health.broker == "connected"
    assert len(watched.heard.rounds) == 1
    assert watched.heard.notices == []


def test_a_display_that_fails_stops_nothing_and_is_logged_once_a_display(
    stage: Stage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard = Heard()
    with Journal(tmp_path / "j.db", "here", "SIM-1") as journal:
        watch = monitor(stage, journal, Cut(stage, 40), listeners=[Broken(), heard])
        summary = watch.run()
    assert summary.frames == 40
    assert heard.states
    assert [r.message for r in caplog.records if "Broken failed" in r.message] == ["Broken failed at state"]


class Cut:
    """The first frames of a stage; then whatever `then` raises, or the end."""

    live = False
    skipped = 0

    def __init__(self, stage: Stage, frames: int, then: Exception | None = None) -> None:
        self.width, self.height = stage.width, stage.height
        self._stage, self._frames, self._then = stage, frames, then

    def __iter__(self) -> Iterator[Frame]:
        for i in range(self._frames):
            yield self._stage.frame(i)
        if self._then is not None:
            raise self._then

    def close(self) -> None:
        pass


def test_a_stopped_watch_keeps_what_it_has_seen(stage: Stage, tmp_path: Path) -> None:

    class Stopper(Listener):
        def state(self, state: BoardState, picture: NDArray[np.uint8]) -> None:
            if sum(len(h.cards) for s in state.seats for h in s.hands) >= 2:
                watch.stop()

    path = tmp_path / "j.db"
    with Journal(path, "here", "SIM-1") as journal:
        watch = monitor(stage, journal, Cut(stage, 400), listeners=[Stopper()], keep_record=True)
        summary = watch.run()
    assert 0 < summary.t < stage.truth.duration - 5
    record = summary.record
    assert record is not None
    assert sum(e.type == "card" for e in record.events) >= 2
    with Journal(path, "here", "SIM-1") as again:
        counts = again.counts()
    assert counts["event"] == len(record.events)
    # the round was not over: what could not be judged is said
    assert counts["unverified"] == len(record.unverified) == summary.hands_total - summary.hands_judged


def test_when_the_source_fails_what_came_before_is_kept(stage: Stage, tmp_path: Path) -> None:
    with Journal(tmp_path / "j.db", "here", "SIM-1") as journal:
        watch = monitor(stage, journal, Cut(stage, 80, UserError("the camera was unplugged")))
        with pytest.raises(UserError, match="unplugged"):
            watch.run()
        assert watch.summary.frames == 80
        assert journal.counts()["event"] > 0


def test_a_full_disk_is_said_and_made_up_for_when_there_is_room(stage: Stage, tmp_path: Path) -> None:
    """The journal's own tests fill a disk; here one that says so for a while."""
    heard = Heard()

    class Filling(Journal):
        full = 1  # tries: the next comes a second later, or when the watch ends

        def record(self, **what: object) -> list[object]:  # type: ignore[override]
            if self.full:
                self.full -= 1
                raise JournalFull("The disk is full; free some room, and recording goes on.")
            return super().record(**what)  # type: ignore[arg-type,return-value]

    with Filling(tmp_path / "j.db", "here", "SIM-1") as journal:
        watch = monitor(stage, journal, Cut(stage, 120), listeners=[heard], keep_record=True)
        summary = watch.run()
        assert summary.record is not None
        assert len(summary.record.events) > 3
        assert journal.counts()["event"] == len(summary.record.events)
    assert heard.notices == ["The disk is full; free some room, and recording goes on."]
    assert any(s.health.notice.startswith("The disk is full") for s in heard.states)
    assert heard.states[-1].health.notice == ""


def test_an_unknown_profile_is_said_at_once(stage: Stage, tmp_path: Path) -> None:
    with Journal(tmp_path / "j.db", "here", "SIM-1") as journal, pytest.raises(UserError, match="greektwon"):
        Monitor(
            Header("T", "greektwon"),
            "here",
            stage.camera,
            stage.layout,
            stage,
            SceneEyes(stage._director),
            journal,
        )
