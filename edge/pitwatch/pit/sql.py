"""The few statements that SQLite and PostgreSQL say alike but SQLAlchemy makes for each.

In: tables and rows. Out: what was really written.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import Connection, Engine, Table
from sqlalchemy.dialects import postgresql, sqlite

__all__ = ["add_new", "now", "reading", "upsert", "writing"]


def now() -> int:
    """The wall clock, milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


def writing(engine: Engine) -> AbstractContextManager[Connection]:
    """A transaction that writes; on SQLite it takes its turn at once, not at its first write."""
    return engine.execution_options(begin="IMMEDIATE").begin()


def reading(engine: Engine) -> AbstractContextManager[Connection]:
    """A connection that reads."""
    return engine.connect()


def _insert(db: Connection, table: Table) -> Any:
    return (postgresql if db.dialect.name == "postgresql" else sqlite).insert(table)


def add_new(
    db: Connection, table: Table, rows: Sequence[Mapping[str, Any]], *returning: str
) -> list[tuple[Any, ...]]:
    """Insert rows, and pass over those that are there already; `returning` of those that were not."""
    if not rows:
        return []
    statement = _insert(db, table).on_conflict_do_nothing()
    statement = statement.returning(*(table.c[name] for name in returning))
    return [tuple(r) for r in db.execute(statement, list(rows))]


def upsert(db: Connection, table: Table, row: Mapping[str, Any], key: Sequence[str]) -> None:
    """Insert a row, or put its values into the one of the same key."""
    statement = _insert(db, table).values(**row)
    new = {k: statement.excluded[k] for k in row if k not in key}
    db.execute(statement.on_conflict_do_update(index_elements=list(key), set_=new))
