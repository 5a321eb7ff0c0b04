"""Power cuts, damaged files and full disks: what was recorded stays, and what cannot be is said."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pitwatch.game.events import Peek
from pitwatch.journal import Journal, JournalError, JournalFull

_WRITER = """
import sys
from pitwatch.journal import Journal
journal = Journal(sys.argv[1], "detroit", "BJ-07")
jpeg = b"\\xff\\xd8" + bytes(20_000) + b"\\xff\\xd9"
n = 0
while True:
    n += 1
    ref = journal.keep_evidence(f"p{n}", jpeg)
    items = journal.record(
        events=[{"t": float(n), "type": "peek"}] * 3,
        findings=[{"type": "finding", "t": float(n), "evidence": [ref]}],
        rounds=[{"round": n}],
        state={"round": n},
    )
    print(n, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pitwatch.db"


def fill(path: Path, records: int = 400) -> None:
    with Journal(path, "detroit", "BJ-07") as journal:
        journal.record(events=[{"t": float(t), "type": "peek", "note": "x" * 200} for t in range(records)])


@pytest.mark.parametrize("seed", range(4))
def test_a_writer_killed_in_the_middle_leaves_whole_records(path: Path, seed: int) -> None:
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    try:
        for _ in range(20 + random.Random(seed).randrange(20)):
            writer.stdout.readline()
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    said = [int(line) for line in writer.stdout.read().split()]
    writer.stdout.close()
    committed = said[-1] if said else 20

    with Journal(path, "detroit", "BJ-07") as journal:
        assert journal.notice is None
        rounds = journal.recorded("round", 10_000)
        assert [r.body["round"] for r in rounds] == list(range(1, len(rounds) + 1))
        # what it said it had recorded is there, and at most the one that it had no time to say
        assert committed <= len(rounds) <= committed + 1 or not said
        waiting = journal.pending(100_000)
        kinds = [w.kind for w in waiting]
        assert kinds.count("event") == 3 * len(rounds)
        assert kinds.count("finding") == kinds.count("evidence") == len(rounds)
        assert kinds.count("state") == 1
        assert sorted(w.seq for w in waiting if w.kind not in ("state", "evidence")) == list(
            range(1, 5 * len(rounds) + 1)
        )
        assert all(journal.evidence(w.ref) for w in waiting if w.ref)


def test_a_truncated_file_is_moved_aside_and_a_new_one_begun(path: Path) -> None:
    fill(path)
    size = path.stat().st_size
    for n, left in enumerate((size // 2, size - 100, 4096, 100), 1):
        os.truncate(path, left)
        with Journal(path, "detroit", "BJ-07") as journal:
            assert journal.notice == (
                f"The journal {path} was damaged: it is kept as {path}.damaged-{n}, "
                "and a new one has been begun."
            )
            assert journal.pending() == []
            journal.record(events=[Peek(t=1.0)])
        assert Path(f"{path}.damaged-{n}").stat().st_size == left
        with Journal(path, "detroit", "BJ-07") as again:
            assert again.notice is None
            assert again.counts()["event"] == 1
        path.unlink()
        fill(path)


@pytest.mark.parametrize("damage", ["page", "header", "rubbish"])
def test_a_garbled_file_is_moved_aside(path: Path, damage: str) -> None:
    fill(path)
    if damage == "rubbish":
        path.write_bytes(random.Random(7).randbytes(50_000))
    else:
        with path.open("r+b") as file:
            file.seek(0 if damage == "header" else 3 * 4096)
            file.write(random.Random(7).randbytes(4096))
    with Journal(path, "detroit", "BJ-07") as journal:
        assert journal.notice is not None
        journal.record(events=[Peek(t=1.0)])
    assert Path(f"{path}.damaged-1").exists()


def test_a_wal_without_its_database_is_kept_too(path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    for _ in range(5):
        writer.stdout.readline()
    writer.kill()
    writer.wait()
    writer.stdout.close()
    os.truncate(path, 0)
    with Journal(path, "detroit", "BJ-07") as journal:
        assert journal.notice is not None
        assert journal.pending() == []
    assert Path(f"{path}.damaged-1-wal").stat().st_size > 0


def test_damage_while_it_runs_is_said_and_mended_by_a_restart(path: Path) -> None:
    fill(path, records=4000)
    journal = Journal(path, "detroit", "BJ-07")
    with path.open("r+b") as file:
        size = path.stat().st_size
        for page in range(2, size // 4096):
            file.seek(page * 4096)
            file.write(b"\xff" * 4096)
    with pytest.raises(JournalError, match=f"{path} is damaged; start pitwatch again"):
        journal.recorded("event", 10_000)
    journal.close()
    with Journal(path, "detroit", "BJ-07") as again:
        assert again.notice is not None


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 3 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small disk can be mounted by root only; the test with a file limit covers the rest")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_keeps_what_was_recorded_and_goes_on_when_there_is_room(small_disk: Path) -> None:
    path = small_disk / "pitwatch.db"
    event = {"t": 1.0, "type": "peek", "note": "x" * 2000}
    with Journal(path, "detroit", "BJ-07") as journal:
        recorded = failed = 0
        with contextlib.suppress(OSError), (small_disk / "ballast").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        for n in range(200):
            # what the write-ahead log has room for still goes
            try:
                journal.record(events=[event] * 10, state={"n": n})
                recorded += 10
            except JournalFull:
                failed += 1
        assert failed > 100
        with pytest.raises(JournalFull, match=rf"The disk of the journal {path}-evidence is full; free"):
            journal.keep_evidence("before", b"\xff\xd8" + bytes(200_000) + b"\xff\xd9")
        assert journal.last_seq == recorded == journal.counts()["event"]
        assert journal.counts()["outbox"] - recorded in (0, 1)
        assert not list(small_disk.rglob("*.part"))

        subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
        (first, *_) = journal.record(events=[event] * 10)
        assert first.seq == recorded + 1
    with Journal(path, "detroit", "BJ-07") as journal:
        assert journal.notice is None
        assert [i.seq for i in journal.recorded("event", 10_000)] == list(range(1, recorded + 11))


def test_old_pictures_give_way_to_what_must_be_recorded(small_disk: Path) -> None:
    event = {"t": 1.0, "type": "peek", "note": "x" * 2000}
    jpeg = b"\xff\xd8" + bytes(100_000) + b"\xff\xd9"
    with Journal(small_disk / "pitwatch.db", "detroit", "BJ-07") as journal:
        proof = journal.keep_evidence("proof", jpeg)
        journal.record(findings=[{"type": "finding", "t": 1.0, "evidence": [proof]}])
        for n in range(40):
            last = journal.keep_evidence(f"p{n}", jpeg)
        assert journal.counts()["evidence"] < 35
        assert journal.evidence(last) == journal.evidence(proof) == jpeg
        for _ in range(20):
            journal.record(events=[event] * 10)
        assert journal.counts()["event"] == 200
        assert journal.evidence(proof) == jpeg


def test_old_pictures_give_way_to_a_new_start_on_a_full_disk(small_disk: Path) -> None:
    path = small_disk / "pitwatch.db"
    with Journal(path, "detroit", "BJ-07") as journal:
        for n in range(10):
            journal.keep_evidence(f"p{n}", b"\xff\xd8" + bytes(100_000) + b"\xff\xd9")
    with contextlib.suppress(OSError), (small_disk / "ballast").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    with Journal(path, "detroit", "BJ-07") as journal:
        assert journal.record(events=[Peek(t=1.0)])
        assert journal.counts()["evidence"] == 0


def test_a_disk_that_is_full_from_the_start_is_named(small_disk: Path) -> None:
    with contextlib.suppress(OSError), (small_disk / "ballast").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    path = small_disk / "table" / "pitwatch.db"
    with pytest.raises(JournalError, match=rf"{small_disk}.* is full; free some room"):
        Journal(path, "detroit", "BJ-07")


def test_a_write_that_fails_half_way_leaves_nothing(path: Path) -> None:
    event = {"t": 1.0, "type": "peek", "note": "x" * 2000}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(path, "detroit", "BJ-07") as journal:
        journal.record(events=[event])
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
        try:
            recorded = 1
            failed = None
            for _ in range(100):
                try:
                    journal.record(events=[event] * 7)
                    recorded += 7
                except JournalError as e:
                    failed = str(e)
            assert failed is not None
            assert str(path) in failed
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert journal.last_seq == recorded
        journal.record(events=[event])
    with Journal(path, "detroit", "BJ-07") as journal:
        assert [i.seq for i in journal.recorded("event", 10_000)] == list(range(1, recorded + 2))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(JournalError, match="cannot be written: Permission denied"):
        Journal(tmp_path / "pitwatch.db", "detroit", "BJ-07")


def test_the_commit_is_on_disk_before_record_returns(path: Path) -> None:
    with Journal(path, "detroit", "BJ-07") as journal:
        journal.record(events=[Peek(t=1.0)])
        assert journal._db is not None
        (synchronous,) = journal._db.execute("PRAGMA synchronous").fetchone()
        (mode,) = journal._db.execute("PRAGMA journal_mode").fetchone()
        assert (synchronous, mode) == (2, "wal")
        # another program may look on meanwhile
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as reader:
            assert reader.execute("SELECT count(*) FROM outbox").fetchone() == (1,)
