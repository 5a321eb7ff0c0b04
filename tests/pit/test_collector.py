"""The collector against a real Mosquitto and both stores: nothing lost, nothing double, whatever dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, func, select
from tests.mqtt.brokers import Mosquitto, free_port, until

from pitwatch.journal import Journal
from pitwatch.mqtt import Publisher
from pitwatch.pit import schema
from pitwatch.pit.clips import pictures_of_clip
from pitwatch.pit.collector import Collector
from pitwatch.pit.database import open_store

from .pages import page_over
from .played import JPEG

ROOT = Path(__file__).parents[2]
HIT = {"type": "card", "t": 1.0, "seat": 1, "card": "9c", "face": "up"}
FINDING = {"type": "finding", "t": 1.0, "kind": "paid_short", "seat": 1, "severity": "alert", "text": "x"}


def count(engine: Engine, name: str) -> int:
    table = schema.metadata.tables[name]
    with engine.connect() as db:
        return int(db.execute(select(func.count()).select_from(table)).scalar_one())


def complete(engine: Engine) -> bool:
    """Whether the store has everything that it knows of."""
    b = schema.boots.c
    with engine.connect() as db:
        rows = db.execute(select(b.known, b.complete, b.missing)).all()
    return bool(rows) and all(r.known == r.complete and not r.missing for r in rows)


def command(*words: str, home: Path, **more: Any) -> subprocess.Popen[str]:
    # without its own home the log of a test would go to the user's
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'edge'}:{ROOT}", "XDG_STATE_HOME": str(home)}
    return subprocess.Popen(
        [sys.executable, "-m", "pitwatch", *words], env=environment, text=True, stdout=subprocess.PIPE, **more
    )


@contextmanager
def traffic(broker: Mosquitto, home: Path, **options: object) -> Iterator[subprocess.Popen[str]]:
    words = [w for k, v in options.items() for w in (f"--{k}", str(v))]
    process = command("sim", "traffic", "--mqtt", broker.url, "--json", *words, home=home)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def figures(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = process.communicate(timeout=180)
    assert process.returncode == 0
    told: dict[str, Any] = json.loads(out.splitlines()[-1])
    return told


def test_a_watched_tables_pictures_gaps_and_stills_are_asked_of_it(
    store: Engine, broker: Mosquitto, tmp_path: Path
) -> None:
    """With the real journal and publisher, as `watch` has them."""
    with (
        Journal(tmp_path / "journal" / "t.db", "detroit", "BJ-07") as journal,
        Publisher(
            journal, broker.url, "detroit", "BJ-07", heartbeat=0.3, backoff=(0.05, 0.2), still=lambda: JPEG
        ) as table,
    ):
        # before anyone listened: the broker kept none of it
        ref = journal.keep_evidence("seat-1-1.00-before", JPEG)
        journal.record(events=[HIT] * 5, findings=[FINDING | {"evidence": [ref]}], state={"phase": "dealing"})
        assert table.flush(20)
        with Collector(store, broker.url) as collector, page_over(store, collector=collector) as page:
            page.sign_in()
            until(lambda: complete(store) and count(store, "items") == 6, 60)
            (finding,) = page.json("/api/findings")["items"]
            (picture,) = finding["pictures"]
            assert (picture["role"], picture["here"]) == ("before", False)
            assert page.get(picture["url"]).status_code == 404  # and it is asked for
            assert until(lambda: (a := page.get(picture["url"])).status_code == 200 and a.content) == JPEG
            assert page.post("/api/tables/1/still").status_code == 202
            assert until(lambda: (a := page.get("/api/tables/1/still.jpg")).status_code == 200 and a.content)
            assert page.json("/api/tables")["items"][0]["state"] == "online"
            # the clip stays at the table until somebody wants it, or the finding is confirmed
            clip = JPEG[:2] + b"\xff\xfe\x00\x08t=1.25" + JPEG[2:] + JPEG
            journal.keep_clip(finding["uid"], clip)
            assert not finding["clip"]["here"]
            done = page.post(f"/api/findings/{finding['id']}/verdict", {"verdict": "confirmed"})
            assert done.status_code == 200
            until(lambda: page.json(f"/api/findings/{finding['id']}")["clip"]["here"])
            answer = page.get(finding["clip"]["url"])
            assert (answer.content, answer.headers["content-type"]) == (clip, "video/x-motion-jpeg")
            assert [t for t, _ in pictures_of_clip(answer.content)] == [1.25, None]
        table.close()


def test_nothing_that_comes_in_ends_the_collector(store: Engine, broker: Mosquitto, tmp_path: Path) -> None:
    import paho.mqtt.publish as paho

    with Collector(store, broker.url) as collector:
        until(lambda: collector.connected)
        evil = [
            ("pitwatch/a/b/events", b"\xff\x00"),
            ("pitwatch/a/b/events", b"[" * 50_000),
            ("pitwatch/a/b/findings", json.dumps({"site": "a", "table": "b"}).encode()),
            ("pitwatch/a/b/evidence/x", b"no picture"),
            ("pitwatch/a/'; DROP TABLE items;--/rounds", b"{}"),
            ("pitwatch/a/b/health", b"null"),
        ]
        paho.multiple(
            [{"topic": t, "payload": p, "qos": 1} for t, p in evil], hostname="127.0.0.1", port=broker.port
        )
        with Journal(tmp_path / "journal" / "t.db", "detroit", "BJ-07") as journal:
            journal.record(events=[HIT])
            with Publisher(journal, broker.url, "detroit", "BJ-07", backoff=(0.05, 0.2)):
                until(lambda: count(store, "items") == 1)
        assert collector.nonsense >= len(evil)


def test_a_store_that_is_away_loses_nothing(postgres_url: str, broker: Mosquitto, tmp_path: Path) -> None:
    engine = open_store(postgres_url)
    with (
        Collector(engine, broker.url) as collector,
        Journal(tmp_path / "journal" / "t.db", "detroit", "BJ-07") as journal,
        Publisher(journal, broker.url, "detroit", "BJ-07", backoff=(0.05, 0.2)),
    ):
        until(lambda: collector.connected)
        with engine.connect() as holder:
            # as a database that does not take anything
            holder.exec_driver_sql("SET lock_timeout = 0")
            holder.exec_driver_sql("ALTER TABLE items RENAME TO items_away")
            holder.commit()
            journal.record(events=[HIT] * 20)
            until(lambda: "does not take" in collector.status)
            holder.exec_driver_sql("ALTER TABLE items_away RENAME TO items")
            holder.commit()
        until(lambda: count(engine, "items") == 20)
        until(lambda: "Connected" in collector.status)
    engine.dispose()


def test_a_collector_killed_and_restarted_loses_and_doubles_nothing(
    store_url: str, broker: Mosquitto, tmp_path: Path
) -> None:
    words = ["pit", "--mqtt", broker.url, "--db", store_url, "--no-page"]
    first = command(*words, home=tmp_path)
    store = open_store(store_url)
    try:
        assert first.stdout is not None
        first.stdout.readline()
        with traffic(broker, tmp_path, tables=4, rounds=6, speed=60, linger=20) as sending:
            until(lambda: count(store, "items") > 50, 90)
            first.send_signal(signal.SIGKILL)
            first.wait()
            first.stdout.close()
            time.sleep(0.5)
            second = command(*words, home=tmp_path)
            try:
                told = figures(sending)
                total = told["events"] + told["rounds"] + told["findings"] + told["unverified"]
                until(lambda: count(store, "items") == total and complete(store), 60)
                assert count(store, "rounds") == told["rounds"] == 24
                assert count(store, "findings") == told["findings"]
            finally:
                second.terminate()
                assert second.wait(30) == 0
                assert second.stdout is not None
                second.stdout.close()
    finally:
        store.dispose()


def test_three_collectors_share_one_postgresql(postgres_url: str, broker: Mosquitto, tmp_path: Path) -> None:
    store = open_store(postgres_url)
    engines = [open_store(postgres_url) for _ in range(3)]
    collectors = [Collector(e, broker.url, name=f"c-{n}", share="pit") for n, e in enumerate(engines)]
    try:
        until(lambda: all(c.connected for c in collectors))
        with traffic(broker, tmp_path, tables=6, rounds=5, speed=60, linger=10) as sending:
            told = figures(sending)
            total = told["events"] + told["rounds"] + told["findings"] + told["unverified"]
            until(lambda: count(store, "items") == total and complete(store), 60)
        assert count(store, "rounds") == told["rounds"] == 30
        assert count(store, "findings") == told["findings"]
        assert sum(c.items for c in collectors) == total
        assert all(c.items for c in collectors)
        f = schema.findings.c
        with store.connect() as db:
            until(lambda: db.execute(select(func.count()).where(f.round_id.is_(None))).scalar() == 0)
    finally:
        for c in collectors:
            c.close()
        for e in (*engines, store):
            e.dispose()


def test_the_command_serves_makes_accounts_and_tokens(broker: Mosquitto, tmp_path: Path) -> None:
    db, port = f"sqlite:///{tmp_path / 'pit.db'}", free_port()
    pit = command("pit", "--mqtt", broker.url, "--db", db, "--port", str(port), home=tmp_path)
    try:
        assert pit.stdout is not None
        lines = [pit.stdout.readline(), pit.stdout.readline()]
        assert lines[0].strip() == f"The pit: http://127.0.0.1:{port}"
        assert f"http://127.0.0.1:{port}/#setup=" in lines[1]
        url = f"http://127.0.0.1:{port}"

        def healthy() -> dict[str, Any] | None:
            try:
                said: dict[str, Any] = httpx.get(f"{url}/healthz").json()
            except httpx.TransportError:
                return None
            return said if said["broker"] == "connected" else None

        assert until(healthy, 60)["status"] == "ok"
        made = command("pit", "token", "--db", db, home=tmp_path)
        token, _ = made.communicate(timeout=120)
        assert made.returncode == 0
        bearer = {"Authorization": f"Bearer {token.strip()}"}
        for path in ("tables", "rounds", "findings"):
            assert httpx.get(f"{url}/api/{path}", headers=bearer).json()["total"] == {
                "count": 0,
                "more": False,
            }
        user = command(
            "pit", "user", "Ann", "--role", "administrator", "--db", db, home=tmp_path, stdin=subprocess.PIPE
        )
        said, _ = user.communicate("a long enough one\n", timeout=120)
        assert said == "Ann is an administrator now.\n"
        login = {"name": "ann", "password": "a long enough one"}
        assert httpx.post(f"{url}/api/login", json=login).status_code == 200
    finally:
        pit.terminate()
        assert pit.wait(30) == 0
        assert pit.stdout is not None
        pit.stdout.close()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["pit"], "name the broker with --mqtt"),
        (["pit", "--mqtt", "mqtt://u:secret@h"], "has a password in it"),
        (["pit", "--mqtt", "off", "--share", "x"], "several collectors need one PostgreSQL"),
        (["pit", "--mqtt", "off", "--db", "oracle://x"], "is no database that pitwatch knows"),
        (["pit", "user", "x", "--db", "sqlite:///{home}/p.db", "--role", "king"], "there is no role 'king'"),
        (
            ["sim", "traffic", "--mqtt", "mqtt://127.0.0.1:1", "--rounds", "1", "--tables", "1"],
            "cannot be reached",
        ),
    ],
)
def test_a_users_mistake_is_told_in_one_sentence(words: list[str], says: str, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'edge'}:{ROOT}", "XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "pitwatch", *(w.format(home=tmp_path) for w in words)],
        env=environment,
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr
