"""One table's journal: a SQLite file with the outbox in it, and the pictures in a folder beside it.

In: JSON objects and JPEG bytes. Out: what waits to be sent, oldest first, and what was recorded. `t` seconds
of capture time, `at` UTC text. What was recorded is on disk when the call returns, for power may go
at any instant.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from pitwatch.journal.errors import JournalError, JournalFull, explain
from pitwatch.journal.opening import evidence_folder, lock, open_database
from pitwatch.journal.pictures import Pictures
from pitwatch.journal.records import Counts, Kind, Outgoing, Recordable, utc_now
from pitwatch.journal.retention import Retention

__all__ = ["Journal"]

_FORGET_EVERY = 1000  # items recorded
_ROOM = 4_000_000  # bytes of pictures that give way when the disk is full and something must be recorded

_COLUMNS = """o.id, o.kind, coalesce(i.boot, s.boot, p.boot), coalesce(i.seq, s.seq, p.seq), b.site, b.name,
  coalesce(i.at, s.at, p.at), coalesce(i.body, s.body, '{}'), p.ref"""
_PENDING = f"""SELECT {_COLUMNS} FROM outbox o
  LEFT JOIN items i ON i.id = o.id LEFT JOIN state s ON s.id = o.id LEFT JOIN pictures p ON p.id = o.id
  JOIN boots b ON b.boot = coalesce(i.boot, s.boot, p.boot)
  WHERE o.refused = 0 ORDER BY o.late, o.n LIMIT ?"""
_STATE = """SELECT s.id, 'state', s.boot, s.seq, b.site, b.name, s.at, s.body, NULL
  FROM state s JOIN boots b ON b.boot = s.boot"""
_RECORDED = """SELECT i.id, i.kind, i.boot, i.seq, b.site, b.name, i.at, i.body, NULL
  FROM items i JOIN boots b ON b.boot = i.boot WHERE i.kind = ? ORDER BY i.n DESC LIMIT ?"""


class _Entry(NamedTuple):
    kind: Kind
    body: Mapping[str, Any]
    text: str


class Journal:
    """A journal open for writing; one process at a time. All methods may be called from any thread.

    boot: the UUID of this opening. notice: None, or one sentence for the user when a damaged file was found
    and moved aside on opening.
    """

    boot: str
    notice: str | None

    def __init__(
        self,
        path: str | Path,
        site: str,
        table: str,
        *,
        evidence_budget: int = 2_000_000_000,
        keep: int = 2_000_000,
    ) -> None:
        """Open the journal at `path`, made with its folders when missing, and begin a boot.

        evidence_budget: bytes of pictures kept; over it the oldest without a finding go first. keep: how many
        items are kept, about 0.4 kB each; of older ones only findings, and what is not delivered yet.
        Raises JournalError naming the file when another process has it open or it cannot be read or written.
        """
        self.path = Path(path)
        self.site = site
        self.table = table
        self.boot = str(uuid.uuid4())
        self._seq = 0
        self._state: str | None = None
        self._mutex = threading.RLock()
        self._listeners: list[Callable[[], None]] = []
        self._retention = Retention(keep)
        self._unlooked = 0  # items recorded since something was last forgotten
        self._db: sqlite3.Connection | None = None
        self._lock: int | None = lock(self.path)
        try:
            try:
                self._begin(evidence_budget)
            except JournalFull:
                folder = evidence_folder(self.path)
                if not folder.is_dir() or not Pictures(folder, evidence_budget).give_way(_ROOM):
                    raise
                self._begin(evidence_budget)
        except BaseException:
            self.close()
            raise

    @property
    def last_seq(self) -> int:
        """The last `seq` given in this boot, 0 when nothing was recorded yet."""
        return self._seq

    def record(
        self,
        *,
        events: Iterable[Recordable] = (),
        findings: Iterable[Recordable] = (),
        unverified: Iterable[Recordable] = (),
        rounds: Iterable[Recordable] = (),
        state: Recordable | None = None,
    ) -> list[Outgoing]:
        """Write all of it and its outbox rows in one transaction, on disk when this returns, as items.

        Pictures that a finding names in `evidence` are kept as a finding's and sent too. A `state` replaces
        the one before it, also in the outbox; one equal to the last is not written again, and no item.
        Raises JournalFull or JournalError; then nothing of it was written, and it may be called again.
        ValueError or TypeError for what has no JSON form.
        """
        entries = [
            *(_entry("event", e) for e in events),
            *(_entry("finding", f) for f in findings),
            *(_entry("unverified", u) for u in unverified),
            *(_entry("round", r) for r in rounds),
        ]
        new_state = None if state is None else _entry("state", state)
        with self._mutex:
            if new_state is not None and new_state.text == self._state:
                new_state = None
            if not entries and new_state is None:
                return []
            refs = [
                ref
                for e in entries
                if e.kind == "finding"
                for ref in e.body.get("evidence") or ()
                if self._pictures.protect(ref)
            ]
            try:
                written = self._write(entries, new_state, refs)
            except JournalFull:
                if not self._pictures.give_way(_ROOM):
                    raise
                written = self._write(entries, new_state, refs)
            self._seq += len(written)
            self._forget(len(written))
            if new_state is not None:
                self._state = new_state.text
        for listener in self._listeners:
            listener()
        return written

    def keep_evidence(self, name: str, jpeg: bytes) -> str:
        """Keep a picture and return the reference to put into an event's or finding's `evidence`.

        The reference is `name` made unique over all boots; name: up to 80 of A-Z a-z 0-9 . _ -
        Raises JournalFull when there is no room for it, ValueError for another name or no whole JPEG.
        """
        with self._mutex:
            stem = ref = f"{self.boot[:8]}-{name}"
            n = 1
            while ref in self._pictures:
                n += 1
                ref = f"{stem}-{n}"
            self._pictures.keep(ref, jpeg)
            return ref

    def keep_clip(self, finding: str, clip: bytes) -> None:
        """Keep a finding's clip, JPEGs one behind the other; `evidence` finds it as "clip-<finding's id>".

        Raises JournalError when there is no room for it, ValueError for what is no clip or there already.
        """
        ref = f"clip-{finding}"
        with self._mutex:
            self._pictures.keep(ref, clip)
            self._pictures.protect(ref)

    def evidence(self, ref: str) -> bytes | None:
        """The JPEG of a reference, None when there is none (any more)."""
        with self._mutex:
            return self._pictures.read(ref)

    def pending(self, limit: int = 100) -> list[Outgoing]:
        """What waits in the outbox, oldest first, pictures after everything else."""
        return self._read(_PENDING, limit)

    def mark_sent(self, ids: str | Collection[str]) -> None:
        """Take delivered things out of the outbox; unknown ids are ignored.

        Raises JournalFull or JournalError; then they stay in the outbox.
        """
        self._change("DELETE FROM outbox WHERE id = ?", ids)

    def mark_refused(self, ids: str | Collection[str]) -> None:
        """Put aside what the broker would not take; it stays in the outbox until `retry_refused`."""
        self._change("UPDATE outbox SET refused = 1 WHERE id = ?", ids)

    def retry_refused(self, limit: int | None = None) -> list[str]:
        """Let what the broker would not take wait to be sent again, `limit` of it at random; its ids."""
        with self._transaction() as db:
            query = "SELECT id FROM outbox WHERE refused = 1 ORDER BY random() LIMIT ?"
            ids = [i for (i,) in db.execute(query, (-1 if limit is None else limit,)).fetchall()]
            db.executemany("UPDATE outbox SET refused = 0 WHERE id = ?", [(i,) for i in ids])
            return ids

    def refused(self) -> int:
        """How many things in the outbox the broker would not take."""
        with self._mutex, self._explained() as db:
            return int(db.execute("SELECT count(*) FROM outbox WHERE refused = 1").fetchone()[0])

    def send_again(self, boot: str, first: int, last: int) -> int:
        """Put items `first` to `last` of a boot into the outbox again, ids unchanged; how many were put."""
        with self._transaction() as db:
            return db.execute(
                "INSERT OR IGNORE INTO outbox (id, kind) SELECT id, kind FROM items "
                "WHERE boot = ? AND seq BETWEEN ? AND ? ORDER BY seq",
                (boot, first, last),
            ).rowcount

    def recorded(self, kind: Kind, limit: int = 100) -> list[Outgoing]:
        """The last `limit` events, findings, unverified hands or rounds of all boots, oldest first."""
        return self._read(_RECORDED, kind, limit)[::-1]

    def state(self) -> Outgoing | None:
        """The last state recorded, whether sent or not."""
        return next(iter(self._read(_STATE)), None)

    def waiting(self) -> int:
        """How many things are in the outbox, refused ones included."""
        with self._mutex, self._explained() as db:
            return int(db.execute("SELECT count(*) FROM outbox").fetchone()[0])

    def counts(self) -> Counts:
        """How much lies in the journal."""
        with self._mutex, self._explained() as db:
            kinds = dict(db.execute("SELECT kind, count(*) FROM items GROUP BY kind").fetchall())
            return {
                "event": kinds.get("event", 0),
                "finding": kinds.get("finding", 0),
                "unverified": kinds.get("unverified", 0),
                "round": kinds.get("round", 0),
                "outbox": self.waiting(),
                "evidence": len(self._pictures),
                "evidence_bytes": self._pictures.size,
            }

    def on_record(self, listener: Callable[[], None]) -> None:
        """Have `listener` called after each recording, in the recording thread; it must return at once."""
        self._listeners.append(listener)

    def close(self) -> None:
        """Close the file; closing twice is nothing."""
        with self._mutex:
            if self._lock is None:
                return
            if self._db is not None:
                with suppress(sqlite3.Error):  # only the note of a clean end would be missing
                    self._db.execute("UPDATE boots SET ended = ? WHERE boot = ?", (utc_now(), self.boot))
                self._db.close()
                self._db = None
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin(self, evidence_budget: int) -> None:
        if self._db is not None:
            self._db.close()
        self._db, self.notice = open_database(self.path)
        self._pictures = Pictures(evidence_folder(self.path), evidence_budget)
        with self._transaction() as db:
            db.execute(
                "INSERT INTO boots VALUES (?, ?, ?, ?, NULL)", (self.boot, self.site, self.table, utc_now())
            )

    def _forget(self, recorded: int) -> None:
        self._unlooked += recorded
        if self._unlooked >= _FORGET_EVERY:
            self._unlooked = 0
            with suppress(JournalError), self._transaction() as db:
                self._retention.forget(db)

    def _write(self, entries: list[_Entry], state: _Entry | None, refs: list[str]) -> list[Outgoing]:
        at = utc_now()
        written = []
        with self._transaction() as db:
            for seq, e in enumerate(entries, self._seq + 1):
                item = Outgoing(str(uuid.uuid4()), e.kind, self.boot, seq, self.site, self.table, at, e.body)
                db.execute(
                    "INSERT INTO items (id, boot, seq, kind, t, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (item.id, self.boot, seq, e.kind, e.body.get("t"), at, e.text),
                )
                db.execute("INSERT INTO outbox (id, kind) VALUES (?, ?)", (item.id, e.kind))
                written.append(item)
            last = self._seq + len(entries)
            for ref in refs:
                picture = (ref, str(uuid.uuid4()), self.boot, last, at)
                if db.execute("INSERT OR IGNORE INTO pictures VALUES (?, ?, ?, ?, ?)", picture).rowcount:
                    db.execute("INSERT INTO outbox (id, kind, late) VALUES (?, 'evidence', 1)", picture[1:2])
            if state is not None:
                row = (str(uuid.uuid4()), self.boot, last, at, state.text)
                db.execute("DELETE FROM outbox WHERE kind = 'state'")
                db.execute("INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?, ?, ?)", row)
                db.execute("INSERT INTO outbox (id, kind) VALUES (?, 'state')", (row[0],))
        return written

    def _change(self, statement: str, ids: str | Collection[str]) -> None:
        with self._transaction() as db:
            db.executemany(statement, [(i,) for i in ([ids] if isinstance(ids, str) else ids)])

    def _read(self, query: str, *values: object) -> list[Outgoing]:
        with self._mutex, self._explained() as db:
            rows = db.execute(query, values).fetchall()
        return [
            Outgoing(id_, kind, boot, seq, site, table, at, json.loads(body), ref)
            for id_, kind, boot, seq, site, table, at, body, ref in rows
        ]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._mutex, self._explained() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:  # SQLite itself has rolled back after some errors
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self) -> Iterator[sqlite3.Connection]:
        if self._db is None:
            raise JournalError(f"The journal {self.path} is closed; open it again.")
        try:
            yield self._db
        except sqlite3.Error as e:
            raise explain(self.path, e) from e


def _entry(kind: Kind, what: Recordable) -> _Entry:
    body = dict(what) if isinstance(what, Mapping) else what.to_json()
    return _Entry(kind, body, json.dumps(body, allow_nan=False, ensure_ascii=False, separators=(",", ":")))
