"""What tables say comes into both stores once, whole, and in its place, in whatever order it arrives."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine, func, inspect, select, text

from pitwatch.errors import UserError
from pitwatch.journal import Journal
from pitwatch.pit import database, schema
from pitwatch.pit.database import open_store
from pitwatch.pit.gaps import look_for_gaps
from pitwatch.pit.ingest import Ingest, link_late, sign_in
from pitwatch.pit.received import Item, read
from pitwatch.pit.sql import now, writing

from .pages import page_over
from .played import everything, heard, player, said, tape, written


def rows(engine: Engine, name: str) -> int:
    with engine.connect() as db:
        return int(db.execute(select(func.count()).select_from(schema.metadata.tables[name])).scalar_one())


def kinds() -> Counter[str]:
    return Counter(kind for _, kind, _ in tape().items)


def test_everything_is_there_once_however_often_and_in_whatever_order(store: Engine) -> None:
    p, others = player(), [player(f"T-{n}") for n in range(2)]
    things = [x for one in (p, *others) for x in everything(one)]
    rng = random.Random(5)
    again = things + rng.sample(things, len(things) // 3)
    rng.shuffle(again)
    # as two collectors would share it
    first, second = Ingest(store), Ingest(store)
    for n in range(0, len(again), 40):
        (first if n % 80 else second).write(again[n : n + 40])
    link_late(store, 0)
    expected = kinds()
    assert rows(store, "items") == 3 * len(tape().items)
    assert rows(store, "rounds") == 3 * expected["round"] == 12
    assert rows(store, "findings") == 3 * expected["finding"]
    assert rows(store, "unverified") == 3 * expected["unverified"]
    assert rows(store, "pictures") == 3 * expected["finding"] > 0
    f, r = schema.findings.c, schema.rounds.c
    with store.connect() as db:
        assert db.execute(select(func.count()).where(f.round_id.is_(None))).scalar() == 0
        for t, start, end in db.execute(
            select(f.t, r.t_start, r.t_end).join(schema.rounds, r.id == f.round_id)
        ):
            assert start <= t <= end + 8
        boots = db.execute(select(schema.boots.c.known)).scalars().all()
        assert boots == [p.last] * 3
    assert look_for_gaps(store, [1, 2, 3]) == []


def test_a_gap_is_noticed_asked_for_once_and_closed(store: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    p = player()
    items = [heard(p.item(seq)[2]) for seq in range(1, p.last + 1)]
    ingest = Ingest(store)
    ingest.write(items[:10] + items[14:20])
    assert look_for_gaps(store, [1]) == []  # it may be under way
    clock = now()
    monkeypatch.setattr("pitwatch.pit.gaps.now", lambda: clock + 6_000)
    (wish,) = look_for_gaps(store)
    assert (wish.topic, wish.boot, wish.first, wish.last) == ("pitwatch/detroit/BJ-07/again", p.boot, 11, 14)
    assert look_for_gaps(store) == []  # whoever else looks does not ask too
    monkeypatch.setattr("pitwatch.pit.gaps.now", lambda: clock + 17_000)
    assert look_for_gaps(store) == [wish]
    # the heartbeat says that there is more, and that nothing is under way
    ingest.write([heard(p.heart(p.last, p.last, 10.0, time.time())), *items[10:14]])
    assert look_for_gaps(store, [1]) == []
    monkeypatch.setattr("pitwatch.pit.gaps.now", lambda: clock + 90_000)
    (wish,) = look_for_gaps(store)
    assert (wish.first, wish.last) == (21, p.last)
    ingest.write(items)
    assert look_for_gaps(store, [1]) == []
    with store.connect() as db:
        b = db.execute(select(schema.boots)).one()
    assert (b.complete, b.missing) == (p.last, 0)


def test_a_boot_of_millions_is_asked_for_in_parts(store: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    Ingest(store).write([heard(said("event", {"type": "peek", "t": 1.0}, 2_000_000_000))])
    look_for_gaps(store, [1])
    clock = now()
    monkeypatch.setattr("pitwatch.pit.gaps.now", lambda: clock + 6_000)
    (wish,) = look_for_gaps(store)
    assert (wish.first, wish.last) == (1, 10_000)


def test_a_round_belongs_to_who_dealt_it_and_to_its_gaming_day(store: Engine) -> None:
    p = player()
    with writing(store) as db:
        db.execute(schema.dealers.insert(), [{"name": "Ann"}, {"name": "Bob"}])
        table = Ingest(store).table_id(db, "detroit", "BJ-07")
        middle = round(p.due(p.last // 2) * 1000)
        sign_in(db, table, 1, round(p.due(1) * 1000) - 10, None)
        sign_in(db, table, 2, middle, None)
    written(store, p)
    with store.connect() as db:
        r = schema.rounds.c
        dealt = db.execute(select(r.ended_at, r.dealer_id)).all()
    assert {d for at, d in dealt if at < middle} <= {1}
    assert {d for at, d in dealt if at > middle} == {2}


def test_a_dealers_own_sign_in_at_the_table_counts(store: Engine) -> None:
    at = time.time()
    ingest = Ingest(store)
    ingest.write([heard(said("event", {"type": "dealer", "t": 1.0, "id": "D-12"}, 1, at=at))])
    body = {"round": 1, "t_start": 2.0, "t_end": 9.0, "hands": [], "dealer": ["6h", None]}
    ingest.write([heard(said("round", body, 2, at=at + 10))])
    with store.connect() as db:
        (dealer,) = db.execute(select(schema.dealers)).all()
        assert dealer.badge == "D-12"
        assert db.execute(select(schema.rounds.c.dealer_id)).scalar_one() == dealer.id
        assert db.execute(select(schema.tables.c.dealer_id)).scalar_one() == dealer.id


EVIL = "'; DROP TABLE items;-- <script>alert(1)</script> ${7*7} \u202e Ω"
FINDING = {"type": "finding", "t": 3.0, "kind": "paid_short", "seat": 1, "severity": "alert", "text": "x"}


@pytest.mark.parametrize(
    "topic_and_payload",
    [
        ("pitwatch/a/b/events", b"\xff\xfe not json"),
        ("pitwatch/a/b/events", b"[" * 100_000),
        ("pitwatch/a/b/events", b'{"a": NaN}'),
        ("pitwatch/a/b/events", b"{}" + b" " * 300_000),
        ("pitwatch/a/b", b"{}"),
        ("pitwatch/a/b/commands", b"{}"),
        ("elsewhere/a/b/events", b"{}"),
        ("pitwatch/a/b/evidence/../../etc/passwd", b"\xff\xd8\xff\xd9"),
        ("pitwatch/a/b/evidence/x", b"<svg onload=alert(1)>"),
        ("pitwatch/a/b/evidence/x", b"\xff\xd8" + bytes(5_000_000) + b"\xff\xd9"),
        ("pitwatch/a/b/still", b""),
    ],
)
def test_what_no_table_may_say_is_nothing(topic_and_payload: tuple[str, bytes]) -> None:
    assert read(*topic_and_payload) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"site": "elsewhere"},
        {"boot": "../../x"},
        {"seq": 2**40},
        {"seq": True},
        {"seq": -1},
        {"at": "yesterday"},
        {"at": "9999999-01-01T00:00:00Z"},
        {"id": EVIL},
        {"finding": FINDING | {"t": 1e400}},
        {"finding": FINDING | {"kind": EVIL}},
        {"finding": {**FINDING, "text": None}},
        {"finding": "a text"},
    ],
)
def test_a_malformed_envelope_is_nothing(changed: dict[str, Any]) -> None:
    good = said("finding", FINDING)
    assert isinstance(read(good.topic, good.payload), Item)
    bad = said("finding", FINDING, changed=changed)
    assert read(good.topic, bad.payload.replace(b"Infinity", b"1e400")) is None


def test_hostile_names_and_values_do_no_harm(store: Engine) -> None:
    table = EVIL.replace("/", "|")[:100]
    hostile = FINDING | {
        "text": "\u0000\ud800" + EVIL,
        "rule": "../../../etc/passwd.json",
        "expected": 10**40,
        "observed": -(10**40),
        "evidence": ["../../x", EVIL, 7, "a" * 500],
        "seat": 10**30,
        "confidence": "high",
    }
    body = {
        "round": 1,
        "t_start": 1.0,
        "t_end": 2.0,
        "hands": [
            {"seat": EVIL, "hand": None, "cards": [EVIL, 3, None], "wager": 1e300, "outcome": "\u0000"}
        ],
        "dealer": [{}, None],
        "findings": [3, {"t": "x", "kind": 4}],
        "insurance": EVIL,
    }
    state = {"phase": EVIL, "round": "x", "hands": [EVIL, {"cards": EVIL, "wager": {}}], "dealer": []}
    health = {"outbox": EVIL, "interval": -1, "header": {"rules": "/etc/passwd.json"}, "hands_total": "x"}
    Ingest(store).write(
        [
            heard(said(name, what, n, table=table))
            for n, (name, what) in enumerate(
                [
                    ("event", {"type": EVIL, "t": 0.5}),
                    ("finding", hostile),
                    ("round", body),
                    ("unverified", {"type": "unverified", "why": "\u0000" + EVIL, "seat": -(10**20)}),
                    ("state", state),
                    ("health", health),
                ],
                1,
            )
        ]
    )
    assert rows(store, "items") == 4


def indices(engine: Engine) -> dict[str, str]:
    """Every index of the store, and how it was made."""
    asked = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    if engine.dialect.name != "sqlite":
        asked = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
    with engine.connect() as db:
        return {row[0]: row[1] for row in db.execute(text(asked))}


def test_migrations_build_what_the_schema_says(store: Engine) -> None:
    looked, there = inspect(store), indices(store)
    for name, table in schema.metadata.tables.items():
        assert {c["name"] for c in looked.get_columns(name)} == set(table.columns.keys()), name
        for index in table.indexes:
            words = re.findall(r"\w+", there.pop(str(index.name)).partition("(")[2])
            places = [words.index(c.name) for c in index.columns]
            assert places == sorted(places), index.name
    assert not [name for name in there if name.startswith("ix_")]
    again = open_store(store.url.render_as_string(hide_password=False).replace("+psycopg", ""))
    again.dispose()


def test_an_older_store_keeps_what_it_has_and_can_be_searched_alike(store_url: str) -> None:
    engine = create_engine(store_url.replace("postgresql:", "postgresql+psycopg:"))
    config = Config()
    config.set_main_option("script_location", str(Path(database.__file__).parent / "migrations"))
    with engine.begin() as db:
        config.attributes["connection"] = db
        command.upgrade(config, "0002")
        assert "ix_findings_worst" not in indices(engine)
        db.execute(text("INSERT INTO tables (id, site, name) VALUES (1, 'detroit', 'BJ-07')"))
        db.execute(text("INSERT INTO boots (id, table_id, boot) VALUES (1, 1, 'b')"))
        db.execute(
            text(
                "INSERT INTO rounds (id, table_id, boot_id, seq, number, t_start, t_end, started_at, "
                "ended_at, day, shift, seats, hands, handle) "
                "VALUES (1, 1, 1, 9, 3, 1, 2, 1000, 2000, 20261124, 'day', 1, 1, 500)"
            )
        )
        db.execute(
            text(
                "INSERT INTO hands (round_id, seat, hand, table_id, ended_at, cards, ranks, stake, outcome) "
                "VALUES (1, 3, 0, 1, 2000, 8, 1, 500, 'blackjack')"
            )
        )
    engine.dispose()
    engine = open_store(store_url)
    assert {str(i.name) for t in schema.metadata.tables.values() for i in t.indexes} <= set(indices(engine))
    with page_over(engine) as page:
        page.sign_in()
        for query in ("card=As&seat=3", "outcome=blackjack&amount_min=500", "number=3"):
            assert [r["id"] for r in page.json(f"/api/rounds?{query}")["items"]] == [1], query
    engine.dispose()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("sqlite://", "names no file"),
        ("sqlite:////nowhere/at/all/pit.db", "folder /nowhere/at/all"),
        ("mysql://x/y", "'mysql' is no database"),
        ("nonsense", "malformed"),
        ("postgresql://pit:secret@127.0.0.1:1/none", "cannot be used"),
    ],
)
def test_a_store_that_cannot_be_is_told_in_one_sentence(url: str, says: str) -> None:
    with pytest.raises(UserError, match=says) as told:
        open_store(url)
    assert "secret" not in str(told.value)
    assert "\n" not in str(told.value)


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    path.write_bytes(b"this is no database, but somebody's letter" * 100)
    with pytest.raises(UserError, match="cannot be used"):
        open_store(f"sqlite:///{path}")
    assert path.read_bytes().startswith(b"this is no database")
    with Journal(tmp_path / "journal.db", "detroit", "BJ-07"):
        pass
    with pytest.raises(UserError, match="another program's database"):
        open_store(f"sqlite:///{tmp_path / 'journal.db'}")
