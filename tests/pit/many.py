"""A store with millions of rounds, and how long its searches take; `--help` says what to ask for.

Some rounds are played and written as a collector writes them; the rest are copies of these, each at a later
time and under other numbers and dealers. Events, which no search reads, are left out of the copies.
Out: one line of JSON a search: milliseconds of the whole HTTP answer, waited and of CPU (the same on a busy
machine), and how the store went about it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from contextlib import ExitStack
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, event, func, insert, select, text
from sqlalchemy.schema import CreateIndex, DropIndex

from pitwatch.cli.tape import Player, record
from pitwatch.pit import schema
from pitwatch.pit.database import open_store
from pitwatch.pit.house_time import HouseTime
from pitwatch.pit.ingest import Ingest
from pitwatch.pit.sql import writing

from .load import cpu
from .pages import page_over
from .played import everything
from .stores import postgres

TABLES = 100
DEALERS = 60
_EACH = 12  # rounds a tape
_BREAK = 30.0  # seconds between two tapes
_COPIED = (schema.items, schema.rounds, schema.hands, schema.hand_cards, schema.findings)
_SEARCHES = (
    "rounds?",
    "rounds?sort=oldest",
    "rounds?table=7",
    "rounds?table=7&day={day}",
    "rounds?table=7&table=8",
    "rounds?site=detroit",
    "rounds?from={day}T20:00&to={day}T21:00",
    "rounds?day={day}&shift=swing",
    "rounds?dealer=12",
    "rounds?number=5000",
    "rounds?seat=3",
    "rounds?card=Ah",
    "rounds?card=A",
    "rounds?card=Ah&dealer=12",
    "rounds?card=Ah&from={before}&to={day}",
    "rounds?card=Ah&amount_min=20000",
    "rounds?seat=3&card=Ah&card=Kd",
    "rounds?seat=0&card=Ah&card=Kd",
    "rounds?seat=3&card=A&card=8&card=5&card=2",
    "rounds?table=7&card=Ah&card=Kd",
    "rounds?table=7&seat=3&amount_min=20000",
    "rounds?amount_min=20000",
    "rounds?amount_min=20000&sort=oldest",
    "rounds?amount_min=20001&amount_max=40000",
    "rounds?amount_min=100000000",
    "rounds?outcome=won",
    "rounds?outcome=blackjack",
    "rounds?outcome=blackjack&amount_min=10000&dealer=12",
    "rounds?outcome=blackjack&card=Ah&seat=3",
    "rounds?finding=any",
    "rounds?finding=paid_short",
    "rounds?finding=paid_short&table=7",
    "rounds?finding=paid_short&dealer=12&day={day}",
    "rounds?held=true",
    "rounds/export.csv?table=7&day={day}",
    "rounds/export.csv?seat=3&card=Ah&card=Kd&dealer=12",
    "rounds/{round}",
    "findings?",
    "findings?sort=worst",
    "findings?site=detroit",
    "findings?status=confirmed",
    "findings?severity=notice",
    "findings?status=open&severity=alert&sort=worst",
    "findings?kind=paid_short&amount_min=5000",
    "findings?amount_min=100000",
    "findings?table=7&seat=2",
    "findings?seat=2",
    "findings?dealer=12&day={day}",
    "findings?assigned=me",
    "findings?held=true",
    "findings/bundles",
    "findings/bundles?sort=worst",
    "findings/bundles?status=open&day={day}",
    "findings/precision?by=kind_table",
    "tables?limit=500",
    "tables/7",
    "reports/dealer?day={day}",
)


def play(engine: Engine, rounds: int, played: int) -> None:
    """Write `played` rounds into an empty store as a collector does, so long ago that `rounds` find room."""
    tapes = [record(n, _EACH, 0.05) for n in range(max(1, played // _EACH))]
    began = time.time() - rounds / (len(tapes) * _EACH) * (max(t.seconds for t in tapes) + _BREAK)
    with writing(engine) as db:
        db.execute(insert(schema.dealers), [{"name": f"Dealer {n:02d}"} for n in range(1, DEALERS + 1)])
    ingest = Ingest(engine)
    for n, tape in enumerate(tapes):
        name = f"T-{n % TABLES + 1:03d}"
        ingest.write(everything(Player(tape, "detroit", name, _EACH, began=began, offset=0.0, speed=1.0)))


def multiply(engine: Engine, rounds: int) -> None:
    """Copy what was played, each time later, until there are about `rounds` rounds."""
    r, f = schema.rounds.c, schema.findings.c
    began, house = time.monotonic(), HouseTime()
    with engine.connect() as db:
        most = {
            "rounds": db.execute(select(func.max(r.id))).scalar_one(),
            "findings": db.execute(select(func.max(f.id))).scalar_one(),
            "seqs": db.execute(select(func.max(schema.items.c.seq))).scalar_one() + 1,
        }
        first, last = db.execute(select(func.min(r.started_at), func.max(r.ended_at))).one()
        copies, each = max(1, round(rounds / most["rounds"])), last - first + round(_BREAK * 1000)
        say(f"{most['rounds']} rounds played, {most['findings']} findings; {copies} times that …")
        db.commit()
        _quickly(db, True)
        indexes = sorted({i for t in _COPIED for i in t.indexes}, key=lambda i: str(i.name))
        for index in indexes:
            db.execute(DropIndex(index))
        db.execute(text("CREATE TEMPORARY TABLE copy (k BIGINT, ms BIGINT, day INTEGER, shift TEXT)"))
        for k in range(1, copies):
            at = last + k * each
            row = {"k": k, "ms": k * each, "day": house.day(at), "shift": house.shift(at)}
            db.execute(text("INSERT INTO copy VALUES (:k, :ms, :day, :shift)"), row)
        for table in _COPIED:
            _copy(db, table, most)
            db.commit()
            say(f"{table.name} {_after(began)}")
        for index in indexes:
            db.execute(CreateIndex(index))
            db.commit()
        _quickly(db, False)
    say(f"indices {_after(began)}")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        db.execute(text("PRAGMA optimize" if engine.dialect.name == "sqlite" else "VACUUM ANALYZE"))
    say(f"all {_after(began)}")


def _after(began: float) -> str:
    return f"after {time.monotonic() - began:.0f} s, {time.process_time():.0f} of this process's CPU"


def _quickly(db: Connection, on: bool) -> None:
    """Write without regard for what an interruption would leave; or again as a store is written."""
    if db.dialect.name == "sqlite":
        raw: Any = db.connection.driver_connection
        sync, journal, keys, cache = ("OFF", "OFF", "OFF", 2_000_000) if on else ("FULL", "WAL", "ON", 65_536)
        for pragma in (
            f"synchronous = {sync}",
            f"journal_mode = {journal}",
            f"foreign_keys = {keys}",
            f"cache_size = -{cache}",
        ):
            raw.execute(f"PRAGMA {pragma}")
        return
    db.execute(text(f"SET session_replication_role = {'replica' if on else 'DEFAULT'}"))
    db.execute(text(f"SET maintenance_work_mem = '{'1GB' if on else '64MB'}'"))
    cards = schema.hand_cards
    keys = ", ".join(c.name for c in cards.primary_key)
    change = "DROP CONSTRAINT pk_hand_cards" if on else f"ADD CONSTRAINT pk_hand_cards PRIMARY KEY ({keys})"
    db.execute(text(f"ALTER TABLE {cards.name} {change}"))
    if not on:
        for name in ("rounds", "findings"):
            db.execute(text(f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), max(id)) FROM {name}"))
    db.commit()


def _copy(db: Connection, table: Table, most: dict[str, int]) -> None:
    """What was played of a table once more for each row of `copy`: later, and under other numbers.

    In the order of the table's key, so that a B-tree only grows at its end. most: the largest numbers played.
    """
    numbered = f"""'{{"round":' || (100 * k) || substr(p.body, {_find(db)}(p.body, ','))"""
    seq, later = {"seq": "p.seq + k * :seqs"}, {"ended_at": "p.ended_at + ms"}
    dealt = {"day": "copy.day", "shift": "copy.shift", "dealer_id": "(p.table_id + k) % :dealers + 1"}
    of_round = {"round_id": "p.round_id + k * :rounds"}
    changed = {
        "items": seq
        | {"t": "p.t + ms / 1000", "at": "p.at + ms"}
        | {"body": f"CASE p.kind WHEN 'round' THEN {numbered} ELSE p.body END"},
        "rounds": seq
        | later
        | dealt
        | {"id": "p.id + k * :rounds", "number": "100 * k", "started_at": "p.started_at + ms"}
        | {"t_start": "p.t_start + ms / 1000", "t_end": "p.t_end + ms / 1000"},
        "hands": later | of_round,
        "hand_cards": of_round,
        "findings": seq
        | dealt
        | of_round
        | {"id": "p.id + k * :findings", "t": "p.t + ms / 1000", "at": "p.at + ms"}
        | {
            "status": "CASE WHEN (p.id + k) % 50 = 0 THEN 'open' WHEN (p.id + k) % 3 = 0 THEN 'dismissed' "
            "ELSE 'confirmed' END"
        },
    }[table.name]
    keys = [c.name for c in table.primary_key]
    # what stands before the part of the key that differs from copy to copy
    first = keys[: next(n for n, key in enumerate(keys) if key in changed)]
    name, own = f"played_{table.name}", ", ".join(first)
    told = "WHERE kind <> 'event'" if table is schema.items else ""
    made = f"CREATE TEMPORARY TABLE {name} AS SELECT * FROM {table.name} {told} ORDER BY {', '.join(keys)}"
    db.execute(text(made))
    groups = fits = ""
    if first:
        db.execute(text(f"CREATE INDEX {name}_key ON {name} ({own})"))
        groups = f"(SELECT DISTINCT {own} FROM {name} ORDER BY {own}) g CROSS JOIN"
        fits = "WHERE " + " AND ".join(f"p.{c} = g.{c}" for c in first)
    # SQLite goes through a CROSS JOIN from left to right
    columns = [c.name for c in table.c]
    wanted = ", ".join(changed.get(c, f"p.{c}") for c in columns)
    into = f"INSERT INTO {table.name} ({', '.join(columns)})"
    copied = f"{into} SELECT {wanted} FROM {groups} copy CROSS JOIN {name} p {fits}"
    db.execute(text(copied), {k: v for k, v in (most | {"dealers": DEALERS}).items() if f":{k}" in copied})


def _find(db: Connection) -> str:
    return "instr" if db.dialect.name == "sqlite" else "strpos"


def search(engine: Engine, times: int, plans: bool, only: str = "") -> list[dict[str, Any]]:
    """Ask everything `times` times over HTTP."""
    with engine.connect() as db:
        total = db.execute(select(func.max(schema.rounds.c.id))).scalar_one()
        middle = db.execute(
            select(schema.rounds.c.ended_at).where(schema.rounds.c.id == total * 3 // 4)
        ).scalar_one()
    when = datetime.fromtimestamp(middle / 1000, timezone.utc)
    words: dict[str, Any] = {"round": total * 3 // 4}
    words |= {"day": when.date().isoformat(), "before": (when.date() - timedelta(days=1)).isoformat()}
    out = []
    with page_over(engine) as page:
        token = page.token("supervisor")
        for search in _SEARCHES:
            asked = search.format(**words)
            if only not in asked:
                continue
            statements: list[tuple[str, Any]] = []

            def heard(
                c: Any, cursor: Any, statement: str, parameters: Any, *_: Any, to: Any = statements
            ) -> None:
                to.append((statement, parameters))

            took, cpu, size, said = [], [], 0, {}
            for n in range(times):
                if n == 0:
                    event.listen(engine, "before_cursor_execute", heard)
                busy, began = _cpu(engine), time.perf_counter()
                with page.client.stream("GET", f"/api/{asked}", headers=token) as answer:
                    assert answer.status_code == 200, answer.read()
                    content = b"".join(answer.iter_bytes())
                took.append((time.perf_counter() - began) * 1000)
                cpu.append((_cpu(engine) - busy) * 1000)
                size = len(content)
                said = json.loads(content) if content[:1] == b"{" else {}
                if n == 0:
                    event.remove(engine, "before_cursor_execute", heard)
            line = {
                "search": asked,
                "first_ms": round(took[0]),
                "median_ms": round(statistics.median(took[1:] or took)),
                "max_ms": round(max(took[1:] or took)),
                "cpu_ms": round(statistics.median(cpu[1:] or cpu)),
                "bytes": size,
                "total": said.get("total"),
            }
            if plans:
                line["plans"] = _plans(engine, statements)
            print(json.dumps(line), flush=True)  # noqa: T201
            out.append(line)
    return out


def _cpu(engine: Engine) -> float:
    """CPU seconds of this process, and of the PostgreSQL that works for it."""
    own = time.process_time()
    if engine.dialect.name == "sqlite":
        return own
    with engine.connect() as db:
        pids = db.execute(text("SELECT pid FROM pg_stat_activity WHERE datname = current_database()"))
        return own + sum(cpu(pid) for pid in pids.scalars())


def _plans(engine: Engine, statements: list[tuple[str, Any]]) -> list[str]:
    """How the store goes about what touches many rows."""
    explain = "EXPLAIN QUERY PLAN " if engine.dialect.name == "sqlite" else "EXPLAIN "
    out = []
    for statement, parameters in statements:
        if not statement.startswith("SELECT") or not ("rounds" in statement or "findings" in statement):
            continue
        with engine.connect() as db:
            rows = db.exec_driver_sql(explain + statement, parameters).all()
        out.append("; ".join(str(r[-1]).strip() for r in rows))
    return out


def say(words: str) -> None:
    """How far it is, to standard error."""
    print(words, file=sys.stderr, flush=True)  # noqa: T201


def main() -> None:
    """Fill a store, or take one that is full, and search it."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--rounds", type=int, default=10_000_000)
    words.add_argument("--played", type=int, default=1200)
    words.add_argument("--times", type=int, default=6)
    words.add_argument("--db", help="a SQLite file, or a PostgreSQL's URL; filled when it is empty")
    words.add_argument("--postgresql", action="store_true", help="a PostgreSQL of this run's own")
    words.add_argument("--only", default="", help="only the searches with this in them")
    words.add_argument("--plans", action="store_true", help="say how the store goes about each search")
    asked = words.parse_args()
    with ExitStack() as stack:
        url = asked.db or ""
        if asked.postgresql:
            url = stack.enter_context(postgres())
        elif not url.startswith("postgresql"):
            url = f"sqlite:///{Path(url).resolve()}"
        engine = open_store(url)
        stack.callback(engine.dispose)
        with engine.connect() as db:
            empty = db.execute(select(schema.rounds.c.id).limit(1)).first() is None
        if empty:
            play(engine, asked.rounds, asked.played)
            multiply(engine, asked.rounds)
        search(engine, asked.times, asked.plans, asked.only)


if __name__ == "__main__":
    main()
