"""A store with millions of rounds, and how long its searches take; `--help` says what to ask for.

Some rounds are played and written as a collector writes them; the rest are copies of these, each at a later
time and under other numbers and dealers. Events, which no search reads, are left out of the copies.
Out: one line of JSON a search: milliseconds of the whole HTTP answer, and how the store went about it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event, func, insert, select, text
from sqlalchemy.schema import CreateIndex, DropIndex

from pitwatch.cli.tape import Player, Tape, record
from pitwatch.pit import schema
from pitwatch.pit.database import open_store
from pitwatch.pit.house_time import HouseTime
from pitwatch.pit.ingest import Ingest
from pitwatch.pit.sql import writing

from .pages import page_over
from .played import everything
from .stores import postgres

TABLES = 100
DEALERS = 60
_COPIED = (schema.items, schema.rounds, schema.hands, schema.hand_cards, schema.findings)
_SEARCHES = (
    "rounds?",
    "rounds?sort=oldest",
    "rounds?table=7",
    "rounds?table=7&day={day}",
    "rounds?from={day}T20:00&to={day}T21:00",
    "rounds?day={day}&shift=swing",
    "rounds?dealer=12",
    "rounds?number=5000",
    "rounds?seat=3",
    "rounds?card=Ah",
    "rounds?seat=3&card=Ah&card=Kd",
    "rounds?seat=0&card=Ah&card=Kd",
    "rounds?seat=3&card=A&card=8&card=5&card=2",
    "rounds?table=7&card=Ah&card=Kd",
    "rounds?table=7&seat=3&amount_min=20000",
    "rounds?amount_min=20000",
    "rounds?amount_min=20001&amount_max=40000",
    "rounds?amount_min=100000000",
    "rounds?outcome=blackjack",
    "rounds?outcome=blackjack&amount_min=10000&dealer=12",
    "rounds?finding=any",
    "rounds?finding=paid_short",
    "rounds?finding=paid_short&table=7",
    "rounds?finding=paid_short&dealer=12&day={day}",
    "rounds?held=true",
    "findings?",
    "findings?status=open&severity=alert&sort=worst",
    "findings?kind=paid_short&amount_min=5000",
    "findings?table=7&seat=2",
    "findings?dealer=12&day={day}",
    "findings/bundles?status=open&day={day}",
    "tables?limit=500",
    "reports/dealer?day={day}",
)


def fill(engine: Engine, rounds: int, played: int) -> None:
    """Write about `rounds` rounds into an empty store, `played` of them really played."""
    began = time.monotonic()
    each = 12
    tapes = [record(n, each, 0.05) for n in range(max(1, played // each))]
    seconds = max(t.seconds for t in tapes) + 30
    copies = max(1, round(rounds / (len(tapes) * each)))
    start = time.time() - copies * seconds
    with writing(engine) as db:
        db.execute(insert(schema.dealers), [{"name": f"Dealer {n:02d}"} for n in range(1, DEALERS + 1)])
    ingest = Ingest(engine)
    for n, tape in enumerate(tapes):
        ingest.write(everything(_player(tape, f"T-{n % TABLES + 1:03d}", each, start)))
    with engine.connect() as db:
        rounds_each = db.execute(select(func.max(schema.rounds.c.id))).scalar_one()
        seqs = db.execute(select(func.max(schema.items.c.seq))).scalar_one() + 1
        findings_each = db.execute(select(func.max(schema.findings.c.id))).scalar_one()
    say(f"{rounds_each} rounds played, {findings_each} findings; {copies} times that …")
    ids = {"rounds": rounds_each, "findings": findings_each, "seqs": seqs}
    sqlite = engine.dialect.name == "sqlite"
    house = HouseTime()
    with engine.connect() as db:
        raw = db.connection.driver_connection
        if sqlite:
            for pragma in (
                "synchronous = OFF",
                "journal_mode = OFF",
                "foreign_keys = OFF",
                "cache_size = -3000000",
            ):
                raw.execute(f"PRAGMA {pragma}")
        indexes = sorted({i for t in _COPIED for i in t.indexes}, key=lambda i: str(i.name))
        for index in indexes:
            db.execute(DropIndex(index))
        for table in _COPIED:
            told = "WHERE kind <> 'event'" if table is schema.items else ""
            db.execute(
                text(f"CREATE TEMPORARY TABLE played_{table.name} AS SELECT * FROM {table.name} {told}")
            )
        db.commit()
        for k in range(1, copies):
            at = round((start + k * seconds) * 1000)
            _copy(db, k, round(k * seconds), ids, house.day(at), house.shift(at))
            if k % 500 == 0:
                db.commit()
                say(f"{k} of {copies} after {time.monotonic() - began:.0f} s")
        db.commit()
        for index in indexes:
            db.execute(CreateIndex(index))
            db.commit()
            say(f"{index.name} after {time.monotonic() - began:.0f} s")
        if sqlite:
            for pragma in (
                "synchronous = FULL",
                "journal_mode = WAL",
                "foreign_keys = ON",
                "cache_size = -65536",
            ):
                raw.execute(f"PRAGMA {pragma}")
    if not sqlite:
        with writing(engine) as db:
            for name in ("rounds", "findings"):
                db.execute(
                    text(f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), max(id)) FROM {name}")
                )
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        db.execute(text("ANALYZE" if sqlite else "VACUUM ANALYZE"))
    say(f"filled after {time.monotonic() - began:.0f} s")


def _player(tape: Tape, table: str, rounds: int, began: float) -> Player:
    return Player(tape, "detroit", table, rounds, began=began, offset=0.0, speed=1.0)


def _copy(db: Any, k: int, by: int, ids: dict[str, int], day: int, shift: str) -> None:
    """The played rounds once more, `by` seconds later."""
    where = {"k": k, "s": by, "ms": by * 1000, "day": day, "shift": shift, "dealers": DEALERS}
    where |= ids
    find = "instr" if db.dialect.name == "sqlite" else "strpos"
    numbered = f"'{{\"round\":' || (100 * :k) || substr(body, {find}(body, ','))"
    seq, later = {"seq": "seq + :k * :seqs"}, {"ended_at": "ended_at + :ms"}
    items = {"t": "t + :s", "at": "at + :ms", "body": f"CASE kind WHEN 'round' THEN {numbered} ELSE body END"}
    dealt = {
        "day": "CAST(:day AS INTEGER)",
        "shift": "CAST(:shift AS TEXT)",
        "dealer_id": "(table_id + :k) % :dealers + 1",
    }
    rounds = {
        "id": "id + :k * :rounds",
        "number": "100 * :k",
        "t_start": "t_start + :s",
        "t_end": "t_end + :s",
        "started_at": "started_at + :ms",
    }
    findings = {
        "id": "id + :k * :findings",
        "round_id": "round_id + :k * :rounds",
        "t": "t + :s",
        "at": "at + :ms",
        "status": "CASE WHEN (id + :k) % 50 = 0 THEN 'open' WHEN (id + :k) % 3 = 0 THEN 'dismissed' "
        "ELSE 'confirmed' END",
    }
    for table, changed in (
        (schema.items, seq | items),
        (schema.rounds, seq | later | dealt | rounds),
        (schema.hands, later | {"round_id": "round_id + :k * :rounds"}),
        (schema.hand_cards, {"round_id": "round_id + :k * :rounds"}),
        (schema.findings, seq | dealt | findings),
    ):
        names = [c.name for c in table.c]
        wanted = ", ".join(changed.get(n, n) for n in names)
        keys = ", ".join(c.name for c in table.primary_key)
        into = f"INSERT INTO {table.name} ({', '.join(names)}) "
        db.execute(text(f"{into} SELECT {wanted} FROM played_{table.name} ORDER BY {keys}"), where)


def search(engine: Engine, times: int, plans: bool) -> list[dict[str, Any]]:
    """Ask everything `times` times over HTTP."""
    with engine.connect() as db:
        total = db.execute(select(func.max(schema.rounds.c.id))).scalar_one()
        middle = db.execute(
            select(schema.rounds.c.ended_at).where(schema.rounds.c.id == total * 3 // 4)
        ).scalar_one()
    day = datetime.fromtimestamp(middle / 1000, timezone.utc).date().isoformat()
    out = []
    with page_over(engine) as page:
        token = page.token("supervisor")
        for words in _SEARCHES:
            asked = words.format(day=day)
            statements: list[tuple[str, Any]] = []

            def heard(
                c: Any, cursor: Any, statement: str, parameters: Any, *_: Any, to: Any = statements
            ) -> None:
                to.append((statement, parameters))

            event.listen(engine, "before_cursor_execute", heard)
            took = []
            for _ in range(times):
                began = time.perf_counter()
                answer = page.client.get(f"/api/{asked}", headers=token)
                took.append((time.perf_counter() - began) * 1000)
                assert answer.status_code == 200, answer.text
            event.remove(engine, "before_cursor_execute", heard)
            said = answer.json()
            line = {
                "search": asked,
                "first_ms": round(took[0]),
                "median_ms": round(statistics.median(took[1:] or took)),
                "max_ms": round(max(took[1:] or took)),
                "total": said.get("total"),
            }
            if plans:
                line["plans"] = _plans(engine, statements[: len(statements) // times])
            print(json.dumps(line), flush=True)  # noqa: T201
            out.append(line)
    return out


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
            fill(engine, asked.rounds, asked.played)
        search(engine, asked.times, asked.plans)


if __name__ == "__main__":
    main()
