"""What a journal forgets, so that it does not grow for ever: the oldest that the pit has, findings excepted.

In: a connection in a transaction. Out: rows deleted, a bounded number a call; the file reuses their pages.
"""

from __future__ import annotations

import sqlite3

__all__ = ["Retention"]

_STEP = 4000  # rows looked at a call, so that no recording waits long for it


class Retention:
    """Keeps the newest `keep` items, and of the older ones the findings and what is not delivered yet."""

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self._floor: int | None = None  # up to here all has been looked at

    def forget(self, db: sqlite3.Connection) -> int:
        """Delete some of what is too old; how many rows went."""
        oldest, newest = db.execute("SELECT min(n), max(n) FROM items").fetchone()
        if newest is None:
            return 0
        floor = oldest - 1 if self._floor is None else self._floor
        edge = min(newest - self.keep, floor + _STEP)
        if edge <= floor:
            return 0
        self._floor = edge
        return db.execute(
            "DELETE FROM items WHERE n > ? AND n <= ? AND kind != 'finding' "
            "AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.id = items.id)",
            (floor, edge),
        ).rowcount
