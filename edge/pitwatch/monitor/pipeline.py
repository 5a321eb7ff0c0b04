"""Watching one table: frames in; events, findings and rounds into the journal and to whoever listens.

In: a `FrameSource`, and the rooms that see, judge, keep and send. Out: `Summary`. Everything that happened
is on disk before anyone is told. Money is cents, `t` seconds of the frames.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitwatch.capture.frame import Frame, FrameSource
from pitwatch.game.audit import SURE, Audit, RoundRecord
from pitwatch.game.events import TableEvent
from pitwatch.game.findings import Finding, Unverified
from pitwatch.game.log import Header
from pitwatch.journal import Journal, JournalError
from pitwatch.monitor import show
from pitwatch.monitor.board import BoardState, FindingShown, Health
from pitwatch.monitor.clips import Clips
from pitwatch.monitor.evidence import EvidenceKeeper
from pitwatch.monitor.pace import Pace
from pitwatch.monitor.reader import Reader
from pitwatch.mqtt import Publisher
from pitwatch.rules import load_profile
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout
from pitwatch.vision.guard import CameraState, Guard
from pitwatch.vision.watcher import Eyes, Watcher, WatchOptions

__all__ = ["Listener", "Monitor", "Record", "Summary"]

log = logging.getLogger(__name__)

_SHOW_EVERY = 0.15  # seconds between two states shown
_RETRY_EVERY = 1.0  # seconds between two tries to write to a journal that had no room


class Listener:
    """Someone who is told; each method may be left out. What it raises is logged and stops nothing."""

    def state(self, state: BoardState, picture: NDArray[np.uint8]) -> None:
        """The table as it stands now, and the camera's picture (BGR) to which its overlay belongs."""

    def finding(self, finding: FindingShown) -> None:
        """A finding was made; it is in the journal already."""

    def unverified(self, remark: Unverified) -> None:
        """A hand could not be judged."""

    def round(self, record: RoundRecord) -> None:
        """A round is over."""

    def notice(self, sentence: str) -> None:
        """Something about the watch itself that the user should know."""


@dataclass
class Record:
    """Everything that was seen and said, in order."""

    events: list[TableEvent] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unverified: list[Unverified] = field(default_factory=list)
    rounds: list[RoundRecord] = field(default_factory=list)


@dataclass
class Summary:
    """What a watch amounted to, in numbers.

    t: capture time of the last frame. seconds: of wall time. fps: frames watched a second of it.
    ms_per_frame: of work, without waiting for frames. late: frames of a live source that were passed over.
    record: None unless it was asked for.
    """

    t: float = 0.0
    frames: int = 0
    skipped: int = 0
    late: int = 0
    seconds: float = 0.0
    fps: float = 0.0
    ms_per_frame: float = 0.0
    rounds: int = 0
    findings: int = 0
    unverified: int = 0
    hands_total: int = 0
    hands_judged: int = 0
    record: Record | None = None

    @property
    def judged_share(self) -> float | None:
        """Share of the finished hands that were judged, None without a hand."""
        return self.hands_judged / self.hands_total if self.hands_total else None


class Monitor:
    """One table's watch, from the first frame to the last."""

    def __init__(
        self,
        header: Header,
        site: str,
        camera: Camera,
        layout: Layout,
        source: FrameSource,
        eyes: Eyes,
        journal: Journal,
        *,
        publisher: Publisher | None = None,
        listeners: Sequence[Listener] = (),
        options: WatchOptions | None = None,
        keep_record: bool = False,
        reference: NDArray[np.uint8] | None = None,
    ) -> None:
        """keep_record: collect everything in the summary; a watch of months should not. reference: the table
        as the camera saw it when it was calibrated, BGR; without it, the first pictures are taken for that.

        Raises UserError when the header's rules are no profile.
        """
        self._header, self._site = header, site
        self._source, self._journal, self._publisher = source, journal, publisher
        self._listeners = list(listeners)
        self._failing: set[int] = set()
        self._profile = load_profile(header.rules)
        self._audit = Audit(header, sure=SURE)
        self._clips = Clips(journal, source.live)
        self._keeper = EvidenceKeeper(journal, camera, layout)
        self._layout = layout
        self._guard = Guard(camera, layout, reference)
        self._camera_state = self._guard.state
        self._watcher = Watcher(camera, layout, eyes, options=options, keep=self._keeper, guard=self._guard)
        self._felt = show.felt(layout, camera)
        self._overlay = show.OverlayMaker(layout, camera)
        self._pace = Pace(source.live)
        self._stop = threading.Event()
        self._shown_at = -1e9
        self._certain_t = float("-inf")
        self._rounds_seen = 0
        self._backlog: list[dict[str, Any]] = []
        self._retry_at = 0.0
        self._behind = ""
        self._journal_trouble = ""
        self.summary = Summary(record=Record() if keep_record else None)

    def stop(self) -> None:
        """Have `run` end after the frame in hand; may be called from a signal handler or another thread."""
        self._stop.set()

    def run(self) -> Summary:
        """Watch until the source ends or `stop`; everything seen is judged and in the journal afterwards.

        Raises what the source raised, after keeping what was seen before it.
        """
        reader = Reader(self._source)
        self._clips.start()
        last: Frame | None = None
        try:
            while not self._stop.is_set():
                frame = reader.next(timeout=0.2)
                if frame is None:
                    if reader.ended:
                        break
                    self._record_backlog()
                    continue
                last = frame
                self._watch(frame)
        finally:
            reader.close()
            try:
                self._finish(last)
            finally:
                self._clips.close()
        return self.summary

    def _watch(self, frame: Frame) -> None:
        began = time.perf_counter()
        self._clips.frame(frame)
        camera = self._guard.camera
        events, said = self._judge(self._watcher.feed(frame))
        if self._guard.camera is not camera:
            self._overlay = show.OverlayMaker(self._layout, self._guard.camera)
            self._keeper.aim(self._guard.camera)
        self._certain_t = max(self._certain_t, self._watcher.certain_t)
        said += self._audit.advance(self._certain_t)
        self._take(events, said)
        took = time.perf_counter() - began
        sentence = self._pace.frame(frame.index, frame.t, took, self._source.skipped)
        if sentence:
            self._behind = sentence
            self._tell("notice", sentence)
        now = time.monotonic()
        changed = self._guard.state is not self._camera_state
        if changed:
            self._camera_changed(self._guard.state)
        if now - self._shown_at >= _SHOW_EVERY or said or changed:
            self._shown_at = now
            self._show(frame)

    def _camera_changed(self, state: CameraState) -> None:
        """Tell people, and the pit at once, what became of the camera."""
        before, self._camera_state = self._camera_state, state
        text = state.text
        if not text and before.text and not before.judging:
            text = "Judging has begun again."
        if text:
            self._tell("notice", text)
        if self._publisher is not None and (before.judging, before.stand) != (state.judging, state.stand):
            self._publisher.beat()

    def _judge(self, events: list[TableEvent]) -> tuple[list[TableEvent], list[Finding | Unverified]]:
        """The events as the audit got them, and what it said."""
        # what was found out late must not come before what has been judged
        events = [replace(e, t=self._certain_t) if e.t < self._certain_t else e for e in events]
        said: list[Finding | Unverified] = []
        for event in events:
            said += self._audit.feed(event)
        return events, said

    def _finish(self, last: Frame | None) -> None:
        events, said = self._judge(self._watcher.flush())
        said += self._audit.finish()
        self._take(events, said)
        self._retry_at = 0.0
        self._record_backlog()
        if self._backlog:
            log.error("%d records could not be written: %s", len(self._backlog), self._journal_trouble)
        self._sum_up()
        self.summary.t = 0.0 if last is None else last.t
        if last is not None:
            self._show(last, running=False)

    def _take(self, events: list[TableEvent], said: list[Finding | Unverified]) -> None:
        """Keep what happened, then tell it."""
        rounds = self._audit.rounds_done[self._rounds_seen :]
        self._rounds_seen = len(self._audit.rounds_done)
        findings = [s for s in said if isinstance(s, Finding)]
        remarks = [s for s in said if isinstance(s, Unverified)]
        if events or said or rounds:
            self._backlog.append(
                {
                    "events": events,
                    "findings": findings,
                    "unverified": remarks,
                    "rounds": rounds,
                    "state": self._audit.table,
                }
            )
            self._record_backlog()
        summary = self.summary
        summary.unverified += len(remarks)
        summary.rounds += len(rounds)
        if (record := summary.record) is not None:
            record.events += events
            record.findings += findings
            record.unverified += remarks
            record.rounds += rounds
        for finding in findings:
            summary.findings += 1
            number = self._audit.table.round_number
            shown = show.finding(finding, summary.findings, number, self._profile, self._keeper.roles)
            self._tell("finding", shown)
        for remark in remarks:
            self._tell("unverified", remark)
        for played in rounds:
            self._tell("round", played)

    def _record_backlog(self) -> None:
        """Write what waits, oldest first; what finds no room stays and is tried again."""
        if not self._backlog or time.monotonic() < self._retry_at:
            return
        while self._backlog:
            try:
                written = self._journal.record(**self._backlog[0])
            except JournalError as e:
                self._retry_at = time.monotonic() + _RETRY_EVERY
                if not self._journal_trouble:
                    self._tell("notice", str(e))
                self._journal_trouble = str(e)
                return
            self._backlog.pop(0)
            for item in written:
                if item.kind == "finding":
                    self._clips.finding(item.id, item.body)
        self._journal_trouble = ""

    def _show(self, frame: Frame, running: bool = True) -> None:
        if not self._listeners:
            return
        snapshot, table = self._watcher.snapshot(), self._audit.table
        dealer, seats = show.hands(table, snapshot)
        state = BoardState(
            table=self._header.table,
            site=self._site,
            rules=self._profile.name,
            t=frame.t,
            round=table.round_number,
            phase=table.phase,
            dealer=dealer,
            seats=seats,
            felt=self._felt,
            overlay=self._overlay(snapshot, frame.index),
            health=self.health(),
            running=running,
        )
        self._tell("state", state, frame.image)

    def health(self) -> Health:
        """How the watch is doing now."""
        camera = self._camera_state
        notice = camera.text or self._journal_trouble or self._keeper.notice or self._behind
        publisher = self._publisher
        return Health(
            frames=self._pace.frames,
            fps=round(self._pace.fps, 1),
            ms_per_frame=round(self._pace.ms_per_frame, 1),
            late=self._pace.late,
            skipped=self._source.skipped,
            hands_judged=self._audit.hands_judged,
            hands_total=self._audit.hands_total,
            broker="off" if publisher is None else "connected" if publisher.connected else "trying",
            broker_status="" if publisher is None else publisher.status,
            notice=notice,
            camera=camera.stand,
            judging=camera.judging,
        )

    def _sum_up(self) -> None:
        s, pace = self.summary, self._pace
        s.frames, s.skipped, s.late = pace.frames, self._source.skipped, pace.late
        s.seconds, s.fps, s.ms_per_frame = pace.seconds, pace.mean_fps, pace.ms_per_frame
        s.hands_total, s.hands_judged = self._audit.hands_total, self._audit.hands_judged

    def _tell(self, what: str, *things: object) -> None:
        for listener in self._listeners:
            method: Callable[..., None] = getattr(listener, what)
            try:
                method(*things)
            except Exception:
                # said once a listener: a display that fails on every frame must not fill the log
                if id(listener) not in self._failing:
                    self._failing.add(id(listener))
                    log.exception("%s failed at %s", type(listener).__name__, what)
