"""What can go wrong with a journal: SQLite's and the disk's errors as one sentence with its remedy."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from pathlib import Path

from pitwatch.errors import UserError

__all__ = ["JournalError", "JournalFull", "disk_is_full", "explain", "is_damage"]

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class JournalError(UserError):
    """The journal cannot be opened, or its disk fails; nothing of the call that raised it was kept."""


class JournalFull(JournalError):  # noqa: N818 - a state of the disk, not a mistake
    """The disk is full; nothing of the call was kept, and the same call works once there is room."""


def disk_is_full(error: OSError) -> bool:
    """Whether an operating system's error means that there is no room."""
    return error.errno in _FULL


def is_damage(error: sqlite3.Error) -> bool:
    """Whether SQLite says that the file is damaged, or no database at all."""
    text = str(error)
    return "malformed" in text or "not a database" in text or "unsupported file format" in text


def explain(path: Path, error: sqlite3.Error | OSError) -> JournalError:
    """The sentence for an error that came up while the journal at `path` was read or written."""
    text = str(error)
    if isinstance(error, OSError):
        if disk_is_full(error):
            return _full(path)
        return JournalError(
            f"The journal {path} cannot be written: {error.strerror}; make {path.parent} writable."
        )
    if "full" in text:
        return _full(path)
    if "locked" in text or "busy" in text:
        return JournalError(
            f"The journal {path} is locked by another program; close that program or name another file."
        )
    if is_damage(error):
        return JournalError(f"The journal {path} is damaged; start pitwatch again, it then begins a new one.")
    if "disk I/O error" in text:
        # a limit on the file's size, and a full disk under the wal-index, reach SQLite as this
        if _no_room(path):
            return _full(path)
        return JournalError(
            f"The journal {path} cannot be written: its disk reports an error; replace the disk or the card."
        )
    return JournalError(f"The journal {path} cannot be used: {text}; check that its folder is writable.")


def _full(path: Path) -> JournalFull:
    return JournalFull(f"The disk of the journal {path} is full; free some room, and recording goes on.")


def _no_room(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < 1_000_000
    except OSError:
        return False
