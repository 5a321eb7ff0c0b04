"""What a broker sends arrives whole, however the network cuts it, from a real broker and from raw bytes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pitwatch.mqtt.connection import Connection, Lasting, Lost
from pitwatch.mqtt.payloads import Message
from pitwatch.mqtt.url import BrokerUrl, parse_url

from .brokers import Mosquitto, until

_ACCEPTED = bytes([0x20, 3, 0, 0, 0])  # MQTT 5: CONNACK, success, no properties


def _published(topic: str, payload: bytes) -> bytes:
    """A PUBLISH of QoS 0 as MQTT 5 has it."""
    body = len(topic).to_bytes(2, "big") + topic.encode() + b"\0" + payload
    n, length = len(body), b""
    while True:
        n, low = divmod(n, 128)
        length += bytes([low | (128 if n else 0)])
        if not n:
            return b"\x30" + length + body


@contextmanager
def _peer(*pieces: bytes) -> Iterator[BrokerUrl]:
    """Something that lets one client in and then sends these pieces, one when the one before was read."""
    server = socket.create_server(("127.0.0.1", 0))
    go = threading.Event()

    def serve() -> None:
        with suppress(OSError):
            client, _ = server.accept()
            with client:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                client.recv(4096)
                client.sendall(_ACCEPTED)
                for piece in pieces:
                    client.sendall(piece)
                    threading.Event().wait(0.05)
                go.wait(10)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield parse_url(f"mqtt://127.0.0.1:{server.getsockname()[1]}")
    finally:
        go.set()
        server.close()
        thread.join()


def _open(broker: BrokerUrl) -> Connection:
    return Connection(
        broker,
        version="5",
        client_id="test",
        will=None,
        password=None,
        tls=None,
        keepalive=30,
        timeout=5.0,
        lasting=Lasting(60, 500),
    )


@pytest.fixture
def wake() -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours


def test_many_packets_in_one_piece_and_one_in_many(wake: socket.socket) -> None:
    many = b"".join(_published("a/b", str(i).encode()) for i in range(450))
    large = _published("a/large", bytes(200_000))
    with _peer(many + large[:5], large[5:70_000], large[70_000:]) as broker:
        connection = _open(broker)
        until(lambda: connection.step(wake, 0.05) or len(connection.received) == 451)
        assert [r.payload for r in connection.received[:450]] == [str(i).encode() for i in range(450)]
        assert len(connection.received[450].payload) == 200_000
        connection.close(in_order=False)


def test_what_was_read_ahead_is_seen_before_the_end_is(wake: socket.socket) -> None:
    many = b"".join(_published("a/b", str(i).encode()) for i in range(350))
    with _peer(many) as broker:
        connection = _open(broker)
        until(lambda: connection.step(wake, 0.05) or bool(connection.received))
        # a step leaves room for other work, and the next does not wait for the network
        assert 0 < len(connection.received) < 350
        while len(connection.received) < 350:
            connection.step(wake, 0.0)
        connection.close(in_order=False)


def test_an_end_in_the_middle_of_a_packet_is_an_end(wake: socket.socket) -> None:
    with _peer(_published("a/b", b"whole") + _published("a/b", bytes(500))[:100]) as broker:
        connection = _open(broker)
        until(lambda: connection.step(wake, 0.05) or bool(connection.received))
        assert [r.payload for r in connection.received] == [b"whole"]

    def on_and_on() -> None:
        for _ in range(100):
            connection.step(wake, 0.05)

    with pytest.raises(Lost, match="closed the connection"):
        on_and_on()


def test_a_lasting_session_goes_on_after_a_cut(tmp_path: Path, wake: socket.socket) -> None:
    with Mosquitto.simple(tmp_path) as broker:
        connection = _open(parse_url(broker.url))
        until(lambda: connection.step(wake, 0.05) or connection.accepted)
        connection.subscribe("a/#")
        for i in range(300):
            connection.publish(Message("a/b", str(i).encode()))
        until(lambda: connection.step(wake, 0.05) or len(connection.received) == 300)
        for received in connection.received[:120]:
            connection.confirm(received)
        connection.step(wake, 0.05)
        connection.close(in_order=True)
        again = _open(parse_url(broker.url))
        until(lambda: again.step(wake, 0.05) or len(again.received) == 180)
        assert again.resumed
        assert [int(r.payload) for r in again.received] == list(range(120, 300))
        again.close(in_order=True)
