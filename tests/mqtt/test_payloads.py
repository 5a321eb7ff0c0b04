"""Every payload is what its schema file says, and the schemas refuse what is not."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pitwatch.errors import UserError
from pitwatch.game.events import (
    CardLaid,
    Chips,
    Clear,
    Dealer,
    Gone,
    Move,
    Peek,
    Shoe,
    ShoeBurn,
    Signal,
    Table,
    TableEvent,
    Turn,
    Void,
)
from pitwatch.game.findings import Finding, Unverified
from pitwatch.game.record import HandRecord, RoundRecord
from pitwatch.journal import Journal, Recordable
from pitwatch.mqtt import TOPICS, Publisher, schema
from pitwatch.mqtt.payloads import Again, message, read_again

EVENTS: list[TableEvent] = [
    Table(t=0.0, state="open"),
    Dealer(t=0.1, id="D-12"),
    Dealer(t=0.1),
    Shoe(t=0.2, decks=6),
    ShoeBurn(t=0.3, card=None),
    Chips(t=1.0, seat=3, spot="main", amount=2500, stacks=((2500,),), by="player"),
    Chips(t=1.0, seat=3, spot="main", amount=None),
    CardLaid(t=2.0, seat=3, card="Td", confidence=0.97, evidence=("a", "b", "c")),
    CardLaid(t=2.0, seat=0, card=None, face="down"),
    CardLaid(t=2.0, seat=1, hand=1, card="7?", sideways=True),
    Turn(t=3.0, seat=0, card="As"),
    Gone(t=3.0, seat=3),
    Move(t=3.0, seat=3, hand=0, to=1),
    Peek(t=3.0),
    Signal(t=3.0, seat=3, signal="hit"),
    Void(t=4.0),
    Clear(t=5.0, seat=0),
]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "pitwatch.db", "détroit 1", "BJ-07")


def validate(topic: str, payload: bytes | dict[str, Any]) -> None:
    form = schema(topic)
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    instance = json.loads(payload) if isinstance(payload, bytes) else payload
    jsonschema.Draft202012Validator(form, format_checker=checker).validate(instance)


@pytest.mark.parametrize("topic", TOPICS)
def test_each_schema_is_one(topic: str) -> None:
    form = schema(topic)
    jsonschema.Draft202012Validator.check_schema(form)
    assert form["$id"] == f"urn:pitwatch:mqtt:1:{topic}"
    assert form["title"]
    assert form["description"]


def test_there_is_a_schema_for_each_topic_and_no_other() -> None:
    assert {Path(f.name).stem for f in (files("pitwatch.mqtt") / "schemas").iterdir()} == set(TOPICS)
    with pytest.raises(ValueError, match="'evidence' has no schema"):
        schema("evidence")


def test_what_the_outbox_holds_becomes_topics_and_valid_payloads(journal: Journal) -> None:
    finding = Finding(
        t=61.2, kind="paid_short", seat=3, text="Seat 3 was paid $25.00 of $37.50.", expected=3750
    )
    hand = HandRecord(3, 0, ("Td", None), 2500, payout=None)
    with journal:
        journal.record(
            events=EVENTS,
            findings=[finding],
            unverified=[Unverified(5.0, 3, 0, "an unread card")],
            rounds=[RoundRecord(1, 0.0, 5.0, (hand,), ("As", None), ((3, 1000, None),), (finding,))],
            state={"phase": "idle"},
        )
        sent = [message(o) for o in journal.pending()]
    tails = [m.topic.removeprefix("pitwatch/détroit 1/BJ-07/") for m in sent]
    assert tails == ["events"] * len(EVENTS) + ["findings"] * 2 + ["rounds", "state"]
    assert [m.retain for m in sent] == [False] * (len(sent) - 1) + [True]
    for tail, m in zip(tails, sent, strict=True):
        validate(tail, m.payload)
    assert json.loads(sent[7].payload)["event"] == EVENTS[7].to_json()


@pytest.mark.parametrize(
    "event",
    [
        {"t": 1.0, "type": "card", "card": "Td"},
        {"t": 1.0, "type": "card", "seat": 3, "card": "10d"},
        {"t": 1.0, "type": "chips", "seat": 3, "spot": "main", "amount": 25.5},
        {"t": 1.0, "type": "chips", "seat": 3, "spot": "main"},
        {"t": 1.0, "type": "doubled", "seat": 3},
        {"type": "peek"},
        {"t": 1.0, "type": "peek", "by": "supervisor"},
        {"t": 1.0, "type": "peek", "confidence": 1.2},
    ],
)
def test_an_event_that_is_none_does_not_pass(journal: Journal, event: Recordable) -> None:
    with journal:
        journal.record(events=[event])
        (waiting,) = journal.pending()
    with pytest.raises(jsonschema.ValidationError):
        validate("events", message(waiting).payload)


def test_a_finding_is_one_thing_or_the_other(journal: Journal) -> None:
    with journal:
        journal.record(unverified=[Unverified(5.0, 3, 0, "an unread card")])
        payload = json.loads(message(journal.pending()[0]).payload)
    validate("findings", payload)
    for broken in (
        payload | {"finding": payload["unverified"]},
        payload | {"schema_version": 2},
        payload | {"id": "7"},
        {k: v for k, v in payload.items() if k != "unverified"},
        {k: v for k, v in payload.items() if k != "boot"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            validate("findings", broken)


@pytest.mark.parametrize("name", ["", " ", "a/b", "a+", "#", "a\nb", "x" * 101])
def test_a_site_or_table_must_do_for_a_topic(tmp_path: Path, name: str) -> None:
    with Journal(tmp_path / "pitwatch.db", "detroit", "BJ-07") as journal:
        with pytest.raises(UserError, match=r"The site .* cannot be part of an MQTT topic"):
            Publisher(journal, "mqtt://127.0.0.1", name, "BJ-07")
        with pytest.raises(UserError, match=r"The table's name .* cannot be part of an MQTT topic"):
            Publisher(journal, "mqtt://127.0.0.1", "detroit", name)


BOOT = "01234567-89ab-cdef-0123-456789abcdef"


def test_a_wish_for_missing_items_is_read(journal: Journal) -> None:
    journal.close()
    wish = {"boot": BOOT, "first": 3, "last": 5}
    validate("again", wish)
    assert read_again(json.dumps(wish).encode()) == Again(BOOT, 3, 5)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'{"boot": 1, "first": 1, "last": 2}',
        b'{"boot": "b", "first": true, "last": 2}',
        b'{"boot": "b", "first": 0, "last": 2}',
        b'{"boot": "b", "first": 3, "last": 2}',
        b'{"boot": "b", "first": 1, "last": 99999}',
        b'{"boot": "b", "first": 100000000000000000000000, "last": 100000000000000000000001}',
        b"[" * 100_000,
    ],
)
def test_a_wish_that_is_none_is_ignored(payload: bytes) -> None:
    assert read_again(payload) is None
