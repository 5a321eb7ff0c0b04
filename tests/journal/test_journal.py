"""What goes into a journal comes out of its outbox once, in order, and stays when the file is reopened."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pitwatch.game.events import CardLaid, Peek
from pitwatch.journal import Journal, JournalError

JPEG = b"\xff\xd8 a picture \xff\xd9"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table" / "pitwatch.db"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with Journal(path, "detroit", "BJ-07") as opened:
        yield opened


def finding(*evidence: str, t: float = 61.2) -> dict[str, Any]:
    return {"type": "finding", "t": t, "kind": "paid_short", "severity": "alert", "evidence": list(evidence)}


def test_everything_recorded_waits_in_order(journal: Journal) -> None:
    written = journal.record(
        events=[CardLaid(t=1.5, seat=3, card="Td"), Peek(t=2.0)],
        findings=[finding()],
        unverified=[{"type": "unverified", "t": 2.0, "seat": 1, "hand": 0, "why": "an unread card"}],
        rounds=[{"round": 1}],
    )
    waiting = journal.pending()
    assert waiting == written
    assert [w.kind for w in waiting] == ["event", "event", "finding", "unverified", "round"]
    assert [w.seq for w in waiting] == [1, 2, 3, 4, 5] == list(range(1, journal.last_seq + 1))
    assert {(w.boot, w.site, w.table) for w in waiting} == {(journal.boot, "detroit", "BJ-07")}
    assert len({w.id for w in waiting}) == 5
    assert waiting[0].body == {"t": 1.5, "type": "card", "seat": 3, "card": "Td", "face": "up"}
    assert journal.recorded("event") == written[:2]
    assert journal.counts() | {"evidence_bytes": 0} == {
        "event": 2,
        "finding": 1,
        "unverified": 1,
        "round": 1,
        "outbox": 5,
        "evidence": 0,
        "evidence_bytes": 0,
    }


def test_what_was_delivered_leaves_the_outbox_and_stays_in_the_journal(journal: Journal) -> None:
    a, b, c = journal.record(events=[Peek(t=float(t)) for t in range(3)])
    journal.mark_sent(a.id)
    assert journal.pending() == [b, c]
    journal.mark_sent([b.id, c.id, "unknown"])
    assert journal.pending() == []
    assert journal.waiting() == 0
    assert journal.counts()["event"] == 3


def test_a_new_boot_counts_from_one_and_still_holds_what_waits(path: Path) -> None:
    with Journal(path, "detroit", "BJ-07") as first:
        first.record(events=[Peek(t=1.0)])
    with Journal(path, "detroit", "BJ-08") as second:
        second.record(events=[Peek(t=2.0)])
        assert second.notice is None
        assert [(w.boot, w.seq, w.table) for w in second.pending()] == [
            (first.boot, 1, "BJ-07"),
            (second.boot, 1, "BJ-08"),
        ]


def test_only_the_newest_state_waits_and_an_equal_one_is_not_written_again(journal: Journal) -> None:
    journal.record(state={"phase": "dealing"})
    journal.record(events=[Peek(t=1.0)], state={"phase": "players"})
    (event, state) = journal.pending()
    assert (event.kind, state.kind, state.body, state.seq) == ("event", "state", {"phase": "players"}, 1)
    journal.mark_sent([event.id, state.id])
    assert journal.record(state={"phase": "players"}) == []
    assert journal.pending() == []
    assert journal.state() == state


def test_pictures_of_findings_are_sent_once_and_after_everything_else(journal: Journal) -> None:
    before, after = (
        journal.keep_evidence(name, JPEG) for name in ("12.4-seat-3-before", "12.4-seat-3-after")
    )
    other = journal.keep_evidence("9.0-seat-1-before", JPEG)
    journal.record(findings=[finding(before, after, "never-kept")])
    journal.record(events=[{"t": 9.0, "type": "peek", "evidence": [other]}])
    journal.record(findings=[finding(before)])
    waiting = journal.pending()
    assert [w.kind for w in waiting] == ["finding", "event", "finding", "evidence", "evidence"]
    assert [w.ref for w in waiting[3:]] == [before, after]
    assert journal.evidence(before) == JPEG
    assert journal.evidence(other) == JPEG
    assert journal.evidence("never-kept") is None


def test_a_refused_thing_makes_room_and_comes_back(journal: Journal) -> None:
    a, b = journal.record(events=[Peek(t=1.0), Peek(t=2.0)])
    journal.mark_refused(a.id)
    assert journal.pending() == [b]
    assert journal.waiting() == 2
    assert journal.refused() == 1
    assert journal.retry_refused(1) == [a.id]
    assert journal.refused() == 0
    assert journal.pending() == [a, b]
    journal.mark_refused([a.id, b.id])
    assert len(journal.retry_refused(1)) == 1
    assert len(journal.retry_refused()) == 1
    assert journal.pending() == [a, b]


def test_what_a_consumer_misses_is_sent_again_under_its_old_id(journal: Journal) -> None:
    items = journal.record(events=[Peek(t=float(t)) for t in range(5)])
    journal.mark_sent([i.id for i in items])
    assert journal.send_again(journal.boot, 2, 3) == 2
    assert journal.send_again(journal.boot, 3, 4) == 1
    assert journal.send_again("another boot", 1, 5) == 0
    assert journal.pending() == items[1:4]


def test_what_has_no_json_form_leaves_nothing_behind(journal: Journal) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        journal.record(events=[Peek(t=1.0), {"t": float("nan"), "type": "peek"}])
    with pytest.raises(TypeError):
        journal.record(events=[Peek(t=1.0)], state={"camera": object()})
    assert journal.pending() == []
    assert journal.last_seq == 0
    assert journal.record(events=[Peek(t=1.0)])[0].seq == 1


def test_the_oldest_is_forgotten_except_findings_and_what_waits(path: Path) -> None:
    with Journal(path, "detroit", "BJ-07", keep=2000) as journal:
        waiting = journal.record(events=[Peek(t=0.0)])[0]
        journal.record(findings=[finding()])
        for t in range(1, 80):
            items = journal.record(events=[Peek(t=float(t))] * 100)
            journal.mark_sent([i.id for i in items])
        counts = journal.counts()
        assert counts["finding"] == 1
        assert 2000 <= counts["event"] <= 3000
        assert journal.pending(1) == [waiting]
        newest = journal.recorded("event", 2000)
        assert [i.seq for i in newest] == list(range(journal.last_seq - 1999, journal.last_seq + 1))
    with Journal(path, "detroit", "BJ-07", keep=10) as journal:
        for _ in range(3):
            journal.record(events=[Peek(t=0.0)] * 1000)
        # all of them wait, and so does the first of the boot before
        assert journal.counts()["event"] == 3000 + 1
        assert journal.pending(1) == [waiting]


def test_listeners_hear_of_each_recording(journal: Journal) -> None:
    heard = []
    journal.on_record(lambda: heard.append(journal.last_seq))
    journal.record(events=[Peek(t=1.0), Peek(t=1.0)])
    journal.record()
    journal.record(state={})
    assert heard == [2, 2]


def test_threads_share_it(journal: Journal) -> None:
    def write() -> None:
        for t in range(20):
            journal.record(events=[Peek(t=float(t))])
            journal.mark_sent([w.id for w in journal.pending(1)])

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [r.seq for r in journal.recorded("event", 1000)] == list(range(1, 81))
    assert journal.counts()["event"] == 80


def test_a_second_watcher_is_told_which_file_is_taken(journal: Journal, path: Path) -> None:
    with pytest.raises(
        JournalError, match=rf"{path} is in use by another pitwatch \(process \d+\); stop that one"
    ):
        Journal(path, "detroit", "BJ-07")
    program = f"from pitwatch.journal import Journal\nJournal({str(path)!r}, 'detroit', 'BJ-07')"
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert f"The journal {path} is in use by another pitwatch" in other.stderr
    journal.record(events=[Peek(t=1.0)])


def test_another_programs_lock_is_an_error_and_then_over(journal: Journal, path: Path) -> None:
    with sqlite3.connect(path, isolation_level=None) as foreign:
        foreign.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalError, match=rf"{path} is locked by another program; close"):
            journal.record(events=[Peek(t=1.0)])
    foreign.close()
    assert journal.record(events=[Peek(t=1.0)])[0].seq == 1


def test_anothers_files_are_left_alone(tmp_path: Path) -> None:
    database = tmp_path / "other.db"
    with sqlite3.connect(database) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    table = tmp_path / "table.toml"
    table.write_text("[table]\n" + "# a long comment\n" * 100)
    for path, says in ((database, "another program's database"), (table, "no pitwatch journal")):
        was = path.read_bytes()
        with pytest.raises(JournalError, match=rf"{path} is {says}; name another file"):
            Journal(path, "detroit", "BJ-07")
        assert path.read_bytes() == was


def test_a_newer_schema_is_not_touched(journal: Journal, path: Path) -> None:
    journal.close()
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(JournalError, match=r"newer pitwatch \(schema 99, this one knows 1\); update"):
        Journal(path, "detroit", "BJ-07")


def test_a_folder_is_no_journal(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"is a folder; name a file in it, like .*pitwatch.db"):
        Journal(tmp_path, "detroit", "BJ-07")


def test_a_closed_journal_says_so(journal: Journal) -> None:
    journal.close()
    journal.close()
    for call in (journal.pending, journal.counts, lambda: journal.record(state={})):
        with pytest.raises(JournalError, match="is closed"):
            call()


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(body=st.dictionaries(st.text(), _JSON, max_size=4))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_object_comes_back_as_it_was(journal: Journal, body: dict[str, Any]) -> None:
    body.pop("t", None)
    (item,) = journal.record(rounds=[body])
    assert journal.recorded("round", 1) == [item]
    assert item.body == body
