"""Opening the database file: the lock, the check for damage, the schema.

In: a path. Out: a connection in WAL mode with every commit on disk, and a sentence when a damaged file was
moved aside. Nothing is ever deleted here.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from pathlib import Path
from typing import Any

from pitwatch.journal.errors import JournalError, explain, is_damage

__all__ = ["SCHEMA_VERSION", "evidence_folder", "lock", "open_database"]

SCHEMA_VERSION = 1
_APPLICATION_ID = 0x50697457  # "PitW"
_SUFFIXES = (".db", ".sqlite", ".sqlite3", ".journal")
_COMPANIONS = ("-wal", "-shm", "-journal")

_SCHEMA = """
CREATE TABLE boots (
  boot TEXT PRIMARY KEY, site TEXT NOT NULL, name TEXT NOT NULL, began TEXT NOT NULL, ended TEXT
);
CREATE TABLE items (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, boot TEXT NOT NULL REFERENCES boots, seq INTEGER NOT NULL,
  kind TEXT NOT NULL, t REAL, at TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (boot, seq)
);
CREATE INDEX items_by_kind ON items (kind, n);
-- the pictures that findings name, and that are sent; the others lie in the folder only
CREATE TABLE pictures (
  ref TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, boot TEXT NOT NULL REFERENCES boots, seq INTEGER NOT NULL,
  at TEXT NOT NULL
);
CREATE TABLE state (
  one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL UNIQUE, boot TEXT NOT NULL REFERENCES boots,
  seq INTEGER NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL
);
-- late: pictures go after everything else; refused: the broker said no, tried again with the next connection
CREATE TABLE outbox (
  n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
  late INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX outbox_in_order ON outbox (refused, late, n);
"""


def evidence_folder(path: Path) -> Path:
    """Where the pictures of the journal at `path` lie."""
    return path.with_name(path.name + "-evidence")


def lock(path: Path) -> int:
    """Make the journal at `path` this process's own; returns the descriptor that holds it while it is open.

    The lock ends with the process however it ends. Raises JournalError naming the file when it is taken.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(
            path.with_name(path.name + "-lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644
        )
    except OSError as e:
        raise explain(path, e) from e
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
        os.close(descriptor)
        who = f"another pitwatch (process {holder})" if holder else "another pitwatch"
        raise JournalError(
            f"The journal {path} is in use by {who}; stop that one or name another file."
        ) from None
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError:
        pass  # on a full disk: the lock holds all the same, only the number is missing
    return descriptor


def open_database(path: Path) -> tuple[sqlite3.Connection, str | None]:
    """Open or create the database; the second value is a sentence when a damaged one was moved aside.

    Raises JournalError naming the file when it cannot be opened or is something else's, JournalFull.
    """
    if path.is_dir():
        raise JournalError(f"The journal {path} is a folder; name a file in it, like {path / 'pitwatch.db'}.")
    if not _hollow(path):
        try:
            return _connect(path), None
        except sqlite3.Error as e:
            if not is_damage(e):
                raise explain(path, e) from e
        if path.suffix not in _SUFFIXES and not evidence_folder(path).is_dir():
            raise JournalError(f"{path} is no pitwatch journal; name another file, like pitwatch.db.")
    try:
        aside = _move_aside(path)
        connection = _connect(path)
    except (sqlite3.Error, OSError) as e:
        raise explain(path, e) from e
    return connection, f"The journal {path} was damaged: it is kept as {aside}, and a new one has been begun."


def _hollow(path: Path) -> bool:
    """An empty file with a filled WAL: SQLite would take it for new and throw the WAL away."""
    wal = path.with_name(path.name + "-wal")
    return path.exists() and path.stat().st_size == 0 and wal.exists() and wal.stat().st_size > 0


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=2.0, isolation_level=None, check_same_thread=False)
    try:
        (application,) = _row(connection, "PRAGMA application_id")
        (version,) = _row(connection, "PRAGMA user_version")
        (tables,) = _row(connection, "SELECT count(*) FROM sqlite_schema")
        if tables and application != _APPLICATION_ID:
            raise JournalError(f"{path} is another program's database; name another file, like pitwatch.db.")
        if version > SCHEMA_VERSION:
            raise JournalError(
                f"The journal {path} was written by a newer pitwatch (schema {version}, this one knows "
                f"{SCHEMA_VERSION}); update pitwatch or name another file."
            )
        if tables and _row(connection, "PRAGMA quick_check(1)") != ("ok",):
            raise sqlite3.DatabaseError("database disk image is malformed")
        (mode,) = _row(connection, "PRAGMA journal_mode = WAL")
        if mode != "wal":
            raise JournalError(f"The journal {path} lies where SQLite has no WAL; put it on a local disk.")
        if tables and _cut_short(connection, path):
            raise sqlite3.DatabaseError("database disk image is malformed")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        if not tables:
            connection.executescript(
                f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA application_id = {_APPLICATION_ID};"
                f"PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
    except BaseException:
        connection.close()
        raise
    return connection


def _cut_short(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file ends within a page: quick_check reads the rest of it as zeros and is content."""
    (busy, _, _) = _row(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
    (size,) = _row(connection, "PRAGMA page_size")
    return not busy and path.stat().st_size % int(size) != 0


def _row(connection: sqlite3.Connection, query: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] = connection.execute(query).fetchone()
    return row


def _move_aside(path: Path) -> Path:
    n = 1
    while any(path.with_name(f"{path.name}.damaged-{n}{c}").exists() for c in ("", *_COMPANIONS)):
        n += 1
    aside = path.with_name(f"{path.name}.damaged-{n}")
    # companions first: a WAL left beside a new database would be taken for its own
    for companion in (*_COMPANIONS, ""):
        old = path.with_name(path.name + companion)
        if old.exists():
            old.rename(aside.with_name(aside.name + companion))
    return aside
