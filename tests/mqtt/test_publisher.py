"""The publisher against a real Mosquitto: everything arrives, as described, and leaves the outbox."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import jsonschema
import pytest

from pitwatch.errors import UserError
from pitwatch.game.events import Peek
from pitwatch.journal import Journal
from pitwatch.mqtt import BrokerUrl, EmbeddedBroker, Publisher, schema

from .brokers import Mosquitto, Subscriber, free_port, until

quick = partial(Publisher, site="detroit", table="BJ-07", backoff=(0.05, 0.2), heartbeat=0.5)
JPEG = b"\xff\xd8" + bytes(150_000) + b"\xff\xd9"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with Mosquitto.simple(tmp_path) as started:
        yield started


def test_all_topics_arrive_valid_and_the_outbox_is_empty(journal: Journal, broker: Mosquitto) -> None:
    with (
        Subscriber(broker.port) as pit,
        quick(journal, broker.url, health=lambda: {"frames_per_s": 15.0}) as sender,
    ):
        ref = journal.keep_evidence("61.2-seat-3-before", JPEG)
        journal.record(events=[Peek(t=1.0), Peek(t=2.0)], state={"phase": "idle"})
        journal.record(
            findings=[
                {
                    "type": "finding",
                    "t": 61.2,
                    "kind": "paid_short",
                    "severity": "alert",
                    "text": "Seat 3 was paid $25.00 of $37.50.",
                    "evidence": [ref],
                }
            ],
            unverified=[{"type": "unverified", "t": 61.2, "seat": 1, "hand": 0, "why": "an unread card"}],
            rounds=[{"round": 1, "t_start": 0.0, "t_end": 1.0, "hands": [], "dealer": []}],
        )
        assert sender.flush(15)
        assert sender.connected
        assert sender.status == f"Connected to {broker.url}."
        until(lambda: any(h["health"]["outbox"] == 0 and h["seq"] == 5 for h in pit.payloads("health")))
        until(lambda: any(m.topic.endswith(f"/evidence/{ref}") for m in pit.messages))
        sender.close()
        until(lambda: [a["availability"] for a in pit.payloads("availability")] == ["online", "offline"])
        for topic in ("events", "findings", "rounds", "state", "health", "availability"):
            assert pit.payloads(topic)
            for payload in pit.payloads(topic):
                jsonschema.validate(payload, schema(topic))
        assert [e["event"] for e in pit.payloads("events")] == [Peek(t=1.0).to_json(), Peek(t=2.0).to_json()]
        assert [p["seq"] for t in ("events", "findings", "rounds") for p in pit.payloads(t)] == [
            1,
            2,
            3,
            4,
            5,
        ]
        assert pit.payloads("health")[-1]["health"]["frames_per_s"] == 15.0
        (picture,) = [m.payload for m in pit.messages if "/evidence/" in m.topic]
        assert picture == JPEG
        assert {m.topic.rpartition("/")[0] for m in pit.messages} == {
            "pitwatch/detroit/BJ-07",
            "pitwatch/detroit/BJ-07/evidence",
        }
    assert sender.status == f"Disconnected from {broker.url}."
    assert journal.waiting() == 0


def test_a_late_subscriber_finds_availability_and_state(journal: Journal, broker: Mosquitto) -> None:
    with quick(journal, broker.url) as sender:
        journal.record(state={"phase": "players", "round": 3})
        assert sender.flush(15)
        with Subscriber(broker.port) as pit:
            until(lambda: pit.payloads("state") and pit.payloads("availability"))
            assert pit.payloads("state")[0]["state"] == {"phase": "players", "round": 3}
            assert pit.payloads("availability")[0]["availability"] == "online"
            assert all(m.retain for m in pit.messages if m.topic.endswith(("/state", "/availability")))


def test_a_finding_is_heard_within_a_second_while_pictures_queue(journal: Journal, broker: Mosquitto) -> None:
    with Subscriber(broker.port) as pit, quick(journal, broker.url) as sender:
        until(lambda: sender.connected)
        refs = [journal.keep_evidence(f"p{n}", JPEG) for n in range(30)]
        journal.record(findings=[{"type": "finding", "t": 1.0, "evidence": refs}])
        began = time.monotonic()
        journal.record(findings=[{"type": "finding", "t": 2.0}])
        until(lambda: len(pit.payloads("findings")) == 2)
        assert time.monotonic() - began < 1.0
        assert sender.flush(20)
        until(lambda: sum("/evidence/" in m.topic for m in pit.messages) == 30)


def test_a_consumer_gets_again_what_it_asks_for(journal: Journal, broker: Mosquitto) -> None:
    with Subscriber(broker.port) as pit, quick(journal, broker.url) as sender:
        journal.record(events=[Peek(t=float(t)) for t in range(6)])
        until(lambda: len(pit.payloads("events")) == 6)
        for payload in (b"what?", json.dumps({"boot": journal.boot, "first": 3, "last": 4}).encode()):
            pit.client.publish("pitwatch/detroit/BJ-07/again", payload, qos=1)
        until(lambda: len(pit.payloads("events")) == 8)
        first, again = pit.payloads("events")[2:4], pit.payloads("events")[6:]
        assert again == first
        assert sender.flush(15)


def test_hooks_that_fail_do_no_harm(journal: Journal, broker: Mosquitto) -> None:
    def fail(*_: object) -> dict[str, int]:
        raise RuntimeError("a hook failed")

    with Subscriber(broker.port) as pit, quick(journal, broker.url, health=fail, on_status=fail) as sender:
        journal.record(events=[Peek(t=1.0)])
        assert sender.flush(15)
        until(lambda: len(pit.payloads("health")) > 1)
        assert sender.connected


def test_many_threads_record_and_nothing_is_missed(journal: Journal, broker: Mosquitto) -> None:
    def write() -> None:
        for t in range(50):
            journal.record(events=[Peek(t=float(t)), Peek(t=float(t))])

    with Subscriber(broker.port) as pit, quick(journal, broker.url) as sender:
        threads = [threading.Thread(target=write) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sender.flush(20)
        until(lambda: len(pit.payloads("events")) >= 300)
        assert sorted(p["seq"] for p in pit.payloads("events")) == list(range(1, 301))
    assert sender.sent == 300


def test_two_boots_are_delivered_under_their_own_names(tmp_path: Path, broker: Mosquitto) -> None:
    path = tmp_path / "journal" / "pitwatch.db"
    with Journal(path, "detroit", "BJ-06") as old:
        old.record(events=[Peek(t=1.0)])
    with (
        Journal(path, "detroit", "BJ-07") as new,
        Subscriber(broker.port) as pit,
        quick(new, broker.url) as sender,
    ):
        new.record(events=[Peek(t=2.0)])
        assert sender.flush(15)
        until(lambda: len(pit.payloads("events")) == 2)
        assert [(p["boot"], p["table"], p["seq"]) for p in pit.payloads("events")] == [
            (old.boot, "BJ-06", 1),
            (new.boot, "BJ-07", 1),
        ]


def test_a_bad_url_or_ca_file_is_the_users_to_mend(journal: Journal, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="malformed"):
        quick(journal, "broker")
    with pytest.raises(UserError, match=r"ca\.crt cannot be read"):
        quick(journal, "mqtts://127.0.0.1", ca_file=tmp_path / "ca.crt")


def test_the_embedded_broker_serves_publisher_and_subscriber(journal: Journal) -> None:
    with EmbeddedBroker() as broker:
        assert broker.url == f"mqtt://127.0.0.1:{broker.port}"
        with Subscriber(broker.port) as pit, quick(journal, broker.address) as sender:
            ref = journal.keep_evidence("61.2-before", JPEG)
            journal.record(
                events=[Peek(t=float(t)) for t in range(100)],
                findings=[{"type": "finding", "t": 1.0, "evidence": [ref]}],
                state={"phase": "idle"},
            )
            assert sender.flush(20)
            until(lambda: pit.numbers() == set(range(1, 101)))
            until(lambda: [m.payload for m in pit.messages if "/evidence/" in m.topic] == [JPEG])
            sender.close()
            until(lambda: pit.payloads("availability")[-1]["availability"] == "offline")


def test_a_broker_that_knows_only_3_1_1_is_found_out(journal: Journal) -> None:
    with EmbeddedBroker(free_port()) as broker, quick(journal, broker.url, patience=0.3) as sender:
        journal.record(events=[Peek(t=1.0)])
        assert sender.flush(15)


def test_two_embedded_brokers_do_not_get_into_each_others_way(journal: Journal) -> None:
    with EmbeddedBroker() as one, EmbeddedBroker() as other:
        assert one.port != other.port
        with pytest.raises(UserError, match=f"cannot listen on 127.0.0.1:{one.port} .*; name another port"):
            EmbeddedBroker(one.port)
        with quick(journal, BrokerUrl("127.0.0.1", other.port, version="3.1.1")) as sender:
            until(lambda: sender.connected)
    other.close()


def test_a_picture_that_is_asked_for_comes_again_and_so_does_a_still(
    journal: Journal, broker: Mosquitto
) -> None:
    with Subscriber(broker.port) as pit, quick(journal, broker.url, still=lambda: JPEG) as sender:
        ref = journal.keep_evidence("seat-3-before", JPEG)
        until(lambda: sender.connected)
        prefix = "pitwatch/detroit/BJ-07/"

        def ask(wish: object) -> None:
            pit.client.publish(prefix + "ask", json.dumps(wish), qos=1)

        def come(topic: str) -> list[bytes]:
            return [m.payload for m in list(pit.messages) if m.topic == prefix + topic]

        def asked() -> None:
            until(lambda: pit.payloads("health"))
            for wish in ({"picture": ref}, {"picture": "gone-1"}, {"still": True}, {"still": True}):
                ask(wish)

        asked()
        for nonsense in ({"picture": "../x"}, {"picture": 3}, {"still": 1}, [], {"picture": "a" * 2000}):
            ask(nonsense)
        assert until(lambda: come(f"evidence/{ref}")) == [JPEG]
        assert until(lambda: come("evidence/gone-1")) == [b""]
        assert until(lambda: come("still")) == [JPEG]  # two at once are one
        journal.record(events=[Peek(t=1.0)])
        assert until(lambda: pit.numbers()) == {1}
