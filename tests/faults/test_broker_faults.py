"""Brokers that restart, die, refuse, hang or lie: the watcher goes on, and nothing is lost."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from pitwatch.game.events import Peek
from pitwatch.journal import Journal
from pitwatch.mqtt import BrokerUrl, Publisher

from ..mqtt.brokers import Mosquitto, Subscriber, free_port, program, until

quick = partial(Publisher, site="detroit", table="BJ-07", backoff=(0.05, 0.2), heartbeat=0.5, patience=0.4)


def record(journal: Journal, count: int, pause: float = 0.0) -> None:
    for t in range(count):
        journal.record(events=[Peek(t=float(t))])
        time.sleep(pause)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_lost_over_a_brokers_restarts(
    journal: Journal, tmp_path: Path, how: signal.Signals
) -> None:
    broker = Mosquitto.simple(tmp_path).start()
    try:
        with Subscriber(broker.port) as pit, quick(journal, broker.url) as sender:
            writer = threading.Thread(target=record, args=(journal, 240, 0.005))
            writer.start()
            for _ in range(2):
                had = len(pit.messages)
                until(lambda had=had: len(pit.messages) > had + 20)
                broker.stop(how)
                time.sleep(0.2)
                broker.start()
            writer.join()
            assert sender.flush(20)
            # what the broker acknowledged and lost, or gave away before the pit was back, the pit asks for
            until(lambda: pit.payloads("health") and pit.payloads("health")[-1]["seq"] == 240)
            until(lambda: pit.numbers() == set(range(1, 241)) or ask_again(pit, journal), 10)
            ids = {p["seq"]: p["id"] for p in pit.payloads("events")}
            assert len(set(ids.values())) == 240
            if how is signal.SIGTERM:
                assert [o["availability"] for o in pit.payloads("availability")][-1] == "online"
    finally:
        broker.stop()


def ask_again(pit: Subscriber, journal: Journal) -> None:
    """As a collector does on a gap below a heartbeat's `seq`."""
    for seq in sorted(set(range(1, 241)) - pit.numbers()):
        asked = json.dumps({"boot": journal.boot, "first": seq, "last": seq})
        pit.client.publish("pitwatch/detroit/BJ-07/again", asked, qos=1)
    time.sleep(0.5)


def test_what_waited_while_no_broker_was_there_arrives_in_order(journal: Journal, tmp_path: Path) -> None:
    broker = Mosquitto.simple(tmp_path)
    # a session that waits, so that whoever comes first does not matter
    with broker, Subscriber(broker.port, name="pit"):
        pass
    with quick(journal, broker.url) as sender:
        record(journal, 100)
        until(lambda: "cannot be reached" in sender.status)
        assert sender.status == (
            f"The broker {broker.url} cannot be reached (Connection refused); "
            "the journal keeps everything, trying again."
        )
        assert not sender.connected
        assert not sender.flush(0.1)
        assert journal.waiting() == 100
        with broker:
            with Subscriber(broker.port, name="pit") as pit:
                assert sender.flush(20)
                until(lambda: len(pit.numbers()) == 100)
            sequence = [p["seq"] for p in pit.payloads("events")]
            assert sequence == sorted(sequence)


def test_a_watcher_killed_while_it_sends_sends_the_rest_next_time(tmp_path: Path) -> None:
    path = tmp_path / "journal" / "pitwatch.db"
    program_text = """
import sys, time
from pitwatch.journal import Journal
from pitwatch.mqtt import BrokerUrl, Publisher
journal = Journal(sys.argv[1], "detroit", "BJ-07")
Publisher(journal, sys.argv[2], "detroit", "BJ-07")
for t in range(100000):
    journal.record(events=[{"t": float(t), "type": "peek"}])
    print(t, flush=True)
"""
    with Mosquitto.simple(tmp_path) as broker, Subscriber(broker.port) as pit:
        watcher = subprocess.Popen(
            [sys.executable, "-c", program_text, str(path), broker.url], stdout=subprocess.PIPE, text=True
        )
        assert watcher.stdout is not None
        until(lambda: len(pit.payloads("events")) > 50)
        watcher.kill()
        watcher.wait()
        last = 1 + int(watcher.stdout.read().split()[-1])
        watcher.stdout.close()
        # the last will
        until(lambda: pit.payloads("availability")[-1]["availability"] == "offline")
        with Journal(path, "detroit", "BJ-07") as journal, quick(journal, broker.url) as sender:
            recorded = journal.counts()["event"]
            assert last <= recorded <= last + 1
            assert sender.flush(20)
            until(lambda: pit.numbers() == set(range(1, recorded + 1)))
            assert len({p["id"] for p in pit.payloads("events")}) == recorded


def test_refused_credentials_are_said_and_tried_again(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passwords = tmp_path / "passwords"
    subprocess.run(
        [program("mosquitto_passwd"), "-c", "-b", str(passwords), "BJ-07", "right"],
        check=True,
        capture_output=True,
    )
    monkeypatch.setenv("PITWATCH_MQTT_PASSWORD", "wrong")
    said: list[str] = []
    broker = Mosquitto.simple(tmp_path, "allow_anonymous false", f"password_file {passwords}")
    url = broker.url.replace("//", "//BJ-07@")
    with broker, quick(journal, url, on_status=said.append) as sender:
        record(journal, 3)
        refused = (
            f"The broker {url} refuses the user name or the password; check the URL's user and "
            "PITWATCH_MQTT_PASSWORD; the journal keeps everything, trying again."
        )
        until(lambda: sender.status == refused)
        assert "wrong" not in sender.status
        record(journal, 3)
        monkeypatch.setenv("PITWATCH_MQTT_PASSWORD", "right")
        assert sender.flush(20)
        assert said == [refused, f"Connected to {url}."]


def test_an_access_list_that_forbids_publishing_loses_nothing(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pitwatch.mqtt.publisher._RETRY_REFUSED", 0.3)
    acl = tmp_path / "acl"
    acl.write_text("topic readwrite pitwatch/elsewhere/#\n")
    with Mosquitto.simple(tmp_path, "allow_anonymous true", f"acl_file {acl}") as broker:
        with quick(journal, broker.url) as sender:
            record(journal, 40)
            refused = (
                f"The broker {broker.url} refuses some of what this table sends (Not authorized); check its "
                "access list and limits for pitwatch/detroit/BJ-07/#; the journal keeps everything, "
                "trying again."
            )
            until(lambda: sender.status == refused)
            assert not sender.flush(0.5)
            assert journal.waiting() == 40
            acl.write_text("topic readwrite pitwatch/#\n")
            broker.send(signal.SIGHUP)
            until(lambda: journal.waiting() == 0)
            assert sender.status == f"Connected to {broker.url}."
        assert sender.sent == 40


def test_a_list_that_forbids_one_topic_lets_the_others_through(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pitwatch.mqtt.publisher._RETRY_REFUSED", 0.3)
    acl = tmp_path / "acl"
    acl.write_text("topic deny pitwatch/+/+/evidence/#\ntopic readwrite pitwatch/#\n")
    with (
        Mosquitto.simple(tmp_path, "allow_anonymous true", f"acl_file {acl}") as broker,
        quick(journal, broker.url),
    ):
        refs = [journal.keep_evidence(f"p{n}", b"\xff\xd8 \xff\xd9") for n in range(3)]
        journal.record(findings=[{"type": "finding", "t": 1.0, "evidence": refs}])
        until(lambda: journal.refused() == 3)
        record(journal, 20)
        until(lambda: journal.waiting() == 3)
        acl.write_text("topic readwrite pitwatch/#\n")
        broker.send(signal.SIGHUP)
        until(lambda: journal.waiting() == 0)


@contextmanager
def listener(answer: bytes | None = None) -> Iterator[int]:
    """Something that accepts TCP and sends `answer`, or nothing ever."""
    server = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            held.append(connection)
            if answer is not None:
                try:
                    connection.sendall(answer)
                    connection.shutdown(socket.SHUT_WR)
                except OSError:
                    pass

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()
        for connection in held:
            connection.close()


def test_a_broker_that_never_answers_is_said_and_the_end_does_not_wait_for_it(journal: Journal) -> None:
    with listener() as port, quick(journal, f"mqtt://127.0.0.1:{port}") as sender:
        record(journal, 3)
        until(lambda: "accepts the connection but does not answer" in sender.status)
        assert not sender.flush(0.2)
        began = time.monotonic()
        sender.close()
        assert time.monotonic() - began < 1.0
    assert journal.waiting() == 3


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x20\x02\x00\x09", b"\x20\xff\xff\xff\xff"]
)
def test_something_that_is_no_broker_does_no_harm(journal: Journal, answer: bytes) -> None:
    with listener(answer) as port, quick(journal, f"mqtt://127.0.0.1:{port}") as sender:
        record(journal, 3)
        until(lambda: "trying again" in sender.status)
        time.sleep(0.3)
        assert sender._thread.is_alive()
    assert journal.waiting() == 3


def test_tls_where_there_is_none_is_said(journal: Journal, tmp_path: Path) -> None:
    with (
        Mosquitto.simple(tmp_path) as broker,
        quick(journal, broker.url.replace("mqtt:", "mqtts:")) as sender,
    ):
        until(lambda: "trying again" in sender.status)
        assert str(broker.port) in sender.status


def test_a_name_that_does_not_resolve_is_said(journal: Journal) -> None:
    with quick(journal, "mqtt://no-such-broker.invalid") as sender:
        until(lambda: "cannot be reached" in sender.status, 20)


def test_a_broker_that_freezes_is_left_and_found_again(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pitwatch.mqtt.publisher._ACK_TIMEOUT", 0.5)
    with Mosquitto.simple(tmp_path) as broker, quick(journal, broker.url) as sender:
        until(lambda: sender.connected)
        broker.send(signal.SIGSTOP)
        record(journal, 30)
        until(lambda: not sender.connected)
        broker.send(signal.SIGCONT)
        assert sender.flush(20)


def test_a_picture_too_large_for_the_broker_holds_nothing_up(journal: Journal, tmp_path: Path) -> None:
    with Mosquitto.simple(tmp_path, "allow_anonymous true", "max_packet_size 100000") as broker:
        with Subscriber(broker.port) as pit, quick(journal, broker.url) as sender:
            ref = journal.keep_evidence("large", b"\xff\xd8" + bytes(200_000) + b"\xff\xd9")
            journal.record(findings=[{"type": "finding", "t": 1.0, "evidence": [ref]}])
            until(lambda: "refuses some of what this table sends (too large)" in sender.status)
            record(journal, 10)
            until(lambda: len(pit.payloads("events")) == 10)
            assert sender.connected
        assert journal.waiting() == 1


def test_a_thing_at_which_the_connection_always_ends_is_put_aside(journal: Journal, tmp_path: Path) -> None:
    """A 3.1.1 broker has no word for "too large": it just closes."""
    with (
        Mosquitto.simple(tmp_path, "allow_anonymous true", "max_packet_size 100000") as broker,
        quick(journal, BrokerUrl("127.0.0.1", broker.port, version="3.1.1")) as sender,
    ):
        ref = journal.keep_evidence("large", b"\xff\xd8" + bytes(200_000) + b"\xff\xd9")
        journal.record(findings=[{"type": "finding", "t": 1.0, "evidence": [ref]}])
        until(lambda: journal.waiting() == 1 and not journal.pending(), 20)
        record(journal, 10)
        until(lambda: journal.waiting() == 1 and sender.sent == 11)


def test_a_second_watcher_of_the_same_table_ends_nothing(tmp_path: Path) -> None:
    with (
        Mosquitto.simple(tmp_path) as broker,
        Journal(tmp_path / "one.db", "detroit", "BJ-07") as one,
        Journal(tmp_path / "two.db", "detroit", "BJ-07") as two,
        quick(one, broker.url) as first,
        quick(two, broker.url) as second,
    ):
        for journal in (one, two):
            record(journal, 5)
        until(lambda: first.sent == 5 and second.sent == 5)


def test_a_port_nobody_listens_on_does_not_slow_recording(journal: Journal) -> None:
    with quick(journal, f"mqtt://127.0.0.1:{free_port()}"):
        began = time.monotonic()
        record(journal, 100)
        assert time.monotonic() - began < 5.0
    assert journal.counts()["outbox"] == 100
