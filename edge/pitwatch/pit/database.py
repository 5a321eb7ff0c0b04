"""Opening the store: a URL in, an engine out, its schema brought up to date.

In: `sqlite:///FILE` or `postgresql://user@host/name`. Out: a SQLAlchemy engine. The same
migrations build both.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from pitwatch.errors import UserError

__all__ = ["open_store", "upgrade"]

PASSWORD_VARIABLE = "PITWATCH_DB_PASSWORD"
_LIKE = "write it like sqlite:///pit.db or postgresql://pitwatch@db.example/pitwatch"
_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x50697457  # "PitW": several collectors may start at once


def open_store(url: str) -> Engine:
    """Connect to the store at `url`, made when it is a SQLite file that is missing, and bring it up to date.

    Raises UserError naming the URL (without a password) and the remedy.
    """
    address = _address(url)
    shown = address.render_as_string(hide_password=True)
    sqlite = address.get_backend_name() == "sqlite"
    if sqlite:
        engine = create_engine(address, connect_args={"timeout": 20.0})
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
    else:
        engine = create_engine(
            address, pool_size=10, max_overflow=20, pool_pre_ping=True, connect_args={"connect_timeout": 10}
        )
    try:
        upgrade(engine)
    except (SQLAlchemyError, sqlite3.Error) as e:
        engine.dispose()
        why = str(getattr(e, "orig", None) or e).strip().splitlines()[0]
        raise UserError(f"The database {shown} cannot be used ({why}); check its name and rights.") from None
    except CommandError:
        engine.dispose()
        raise UserError(
            f"The database {shown} was written by a newer pitwatch; update this one or name another."
        ) from None
    if sqlite and address.database:
        Path(address.database).chmod(0o600)
    return engine


def upgrade(engine: Engine) -> None:
    """Bring the schema up to date; one at a time when several try."""
    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": _LOCK})
        head = ScriptDirectory.from_config(config).get_current_head()
        at = MigrationContext.configure(connection).get_current_revision()
        if at == head:
            return
        if at is None and engine.dialect.name == "sqlite" and inspect(connection).get_table_names():
            raise UserError(
                f"{engine.url.database} is another program's database; name another file, like pit.db."
            )
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        raise UserError(f"The database URL is malformed; {_LIKE}.") from None
    shown = address.render_as_string(hide_password=True)
    backend = address.get_backend_name()
    if backend == "sqlite":
        if not address.database or address.database == ":memory:":
            raise UserError(f"The database URL {shown} names no file; {_LIKE}.")
        folder = Path(address.database).parent
        if not folder.is_dir():
            raise UserError(f"The folder {folder} of the database is not there; make it or name another.")
        return address.set(drivername="sqlite")
    if backend != "postgresql":
        raise UserError(f"{backend!r} is no database that pitwatch knows; {_LIKE}.")
    password = os.environ.get(PASSWORD_VARIABLE)
    if password and not address.password:
        address = address.set(password=password)
    return address.set(drivername="postgresql+psycopg")


def _prepare(connection: sqlite3.Connection, record: Any) -> None:
    # transactions begin where SQLAlchemy says, not where the driver guesses
    connection.isolation_level = None
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "cache_size = -65536"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Any) -> None:
    mode = connection.get_execution_options().get("begin", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {mode}")
