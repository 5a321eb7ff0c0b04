"""`pitwatch pit`: the collector and the page; accounts and tokens from the command line.

In: the command line's words. Out: a running pit, or a line with what was made.
"""

from __future__ import annotations

import getpass
import secrets
import sys
from pathlib import Path
from typing import Annotated

import typer

from pitwatch.errors import UserError

__all__ = ["pit"]

_DB = "sqlite:///FILE, or postgresql://user@host/name with the password in PITWATCH_DB_PASSWORD."
_ROLES = "screen (the floor only), viewer, supervisor or administrator."

pit = typer.Typer(
    invoke_without_command=True,
    help="Collect from every table, and serve the pit's page over it.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
Db = Annotated[str, typer.Option("--db", help=_DB)]


def _need_extra() -> None:
    try:
        import alembic
        import argon2
        import sqlalchemy  # noqa: F401
    except ImportError as e:
        raise UserError(f"The pit is not installed ({e}); run pip install 'pitwatch[pit]'.") from None
    del alembic, argon2


@pit.callback()
def _run(
    ctx: typer.Context,
    mqtt: Annotated[
        str | None, typer.Option(help="The broker, mqtt://user@host:port; 'off' for none.")
    ] = None,
    db: Annotated[str, typer.Option("--db", help=_DB)] = "sqlite:///pit.db",
    host: Annotated[str, typer.Option(help="The address to serve at; a proxy brings TLS.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The page's port; 0 for any.")] = 8720,
    name: Annotated[
        str, typer.Option(help="This collector's name; no two at one broker may have the same.")
    ] = "pit",
    share: Annotated[
        str | None, typer.Option(help="Divide the work among all collectors of this name, on one PostgreSQL.")
    ] = None,
    ca_file: Annotated[Path | None, typer.Option(help="Certificates to trust for mqtts://.")] = None,
    page: Annotated[bool, typer.Option("--page/--no-page", help="Serve the page, or only collect.")] = True,
) -> None:
    if ctx.invoked_subcommand is not None:
        return
    _need_extra()
    if mqtt is None:
        raise UserError("name the broker with --mqtt, such as mqtt://127.0.0.1:1883, or 'off' for none")
    if share is not None and db.startswith("sqlite"):
        raise UserError("several collectors need one PostgreSQL; name it with --db postgresql://…")
    _serve(mqtt, db, host, port, name, share, ca_file, page)


def _serve(
    mqtt: str, db: str, host: str, port: int, name: str, share: str | None, ca_file: Path | None, page: bool
) -> None:
    import threading
    from contextlib import ExitStack

    from sqlalchemy import func, select

    from pitwatch.cli.main import start_log
    from pitwatch.cli.running import stopping
    from pitwatch.pit import schema
    from pitwatch.pit.collector import Collector
    from pitwatch.pit.database import open_store

    for what, value in (("--name", name), ("--share", share)):
        if value is not None and not (value.isascii() and value.replace("-", "").isalnum()):
            raise UserError(f"{what} is {value!r}; write letters, digits and -")
    start_log()
    with ExitStack() as stack:
        engine = open_store(db)
        stack.callback(engine.dispose)
        stop = threading.Event()
        if not page:
            if mqtt == "off":
                raise UserError("without a page and without a broker there is nothing to do")
            stack.enter_context(Collector(engine, mqtt, name=name, share=share, ca_file=ca_file))
            typer.echo("Collecting; end with Ctrl-C.")
            with stopping(stop.set):
                while not stop.wait(1.0):
                    pass
            return
        from pitwatch.pit.web.app import make_app, server

        with engine.connect() as connection:
            users = connection.execute(select(func.count()).select_from(schema.users)).scalar_one()
        setup = None if users else secrets.token_urlsafe(24)
        wakes: list[object] = []

        def told() -> None:
            for app in wakes:
                app.state.news.wake()  # type: ignore[attr-defined]

        collector = None
        if mqtt != "off":
            collector = stack.enter_context(
                Collector(engine, mqtt, name=name, share=share, ca_file=ca_file, told=told)
            )
        app = make_app(engine, collector, setup)
        wakes.append(app)
        serving, sock = server(app, host, port)
        stack.callback(sock.close)
        url = f"http://{host}:{sock.getsockname()[1]}"
        typer.echo(f"The pit: {url}")
        if setup:
            typer.echo(f"Make the first account: {url}/#setup={setup}")
        sys.stdout.flush()

        def end() -> None:
            app.state.readers.end()
            serving.should_exit = True

        thread = threading.Thread(
            target=serving.run, kwargs={"sockets": [sock]}, name="pit-page", daemon=True
        )
        with stopping(end):
            thread.start()
            while thread.is_alive():
                thread.join(0.5)


@pit.command()
def token(
    db: Db,
    name: Annotated[str, typer.Option(help="What it is for.")] = "script",
    role: Annotated[str, typer.Option(help=_ROLES)] = "viewer",
    days: Annotated[
        int | None, typer.Option(min=1, help="Days that it holds; else until it is ended.")
    ] = None,
) -> None:
    """Make a bearer token for scripts, and print it once."""
    _need_extra()
    from pitwatch.pit.accounts import add_token
    from pitwatch.pit.database import open_store
    from pitwatch.pit.sql import writing

    engine = open_store(db)
    with writing(engine) as connection:
        made = add_token(connection, name, role, days)
    typer.echo(made)


@pit.command()
def user(
    name: Annotated[str, typer.Argument(help="The account's name.")],
    db: Db,
    role: Annotated[
        str | None,
        typer.Option(help=_ROLES + " Viewer when it is new."),
    ] = None,
) -> None:
    """Make an account, or give one another password (asked for, or one line of standard input)."""
    _need_extra()
    from sqlalchemy import func, select, update

    from pitwatch.pit import schema
    from pitwatch.pit.accounts import ROLES, add_user, end_sessions, set_password
    from pitwatch.pit.database import open_store
    from pitwatch.pit.sql import writing

    if role is not None and role not in ROLES:
        raise UserError(f"there is no role {role!r}; there are {', '.join(ROLES)}")
    engine = open_store(db)
    u = schema.users
    with engine.connect() as connection:
        found = connection.execute(select(u.c.id).where(func.lower(u.c.name) == name.lower())).scalar()
    password = _password()
    with writing(engine) as connection:
        if found is None:
            add_user(connection, name, password, role or "viewer")
            typer.echo(f"{name} is {_a(role or 'viewer')} now.")
            return
        set_password(connection, found, password)
        if role is not None:
            connection.execute(update(u).where(u.c.id == found).values(role=role))
        end_sessions(connection, found)
    typer.echo(f"{name} has another password{f', and is {_a(role)}' if role else ''}.")


def _password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    first = getpass.getpass("Password (12 characters or more): ")
    if getpass.getpass("Once more: ") != first:
        raise UserError("the two passwords differ; try again")
    return first


def _a(role: str) -> str:
    return f"an {role}" if role[0] in "aeiou" else f"a {role}"
