"""A real Mosquitto for a test, and an independent subscriber to it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion


def absent(remedy: str) -> None:
    """Skip a test that needs a program which is not there; where everything must run, fail it instead."""
    if os.environ.get("CI"):
        pytest.fail(remedy, pytrace=False)
    pytest.skip(remedy)


def program(name: str) -> str:
    """Where one of Mosquitto's programs is; without it the test is skipped, with the remedy."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        package = "mosquitto" if name in ("mosquitto", "mosquitto_passwd") else "mosquitto-clients"
        absent(f"{name} is not installed; run: apt-get install {package}")
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(what: Callable[[], Any], timeout: float = 20.0) -> Any:
    """Wait for something true and return it; the test fails when it does not come."""
    deadline = time.monotonic() + timeout
    while not (value := what()):
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout} s in vain")
        time.sleep(0.01)
    return value


def listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Mosquitto:
    """A broker that can be stopped, killed and started again on the same port, with what it had stored."""

    def __init__(self, config: Path, port: int, *, verbose: bool = True) -> None:
        self.config = config
        self._verbose = verbose
        self.port = port
        self.url = f"mqtt://127.0.0.1:{port}"
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def simple(cls, folder: Path, *lines: str, verbose: bool = True) -> Mosquitto:
        """One with a store in `folder`; further lines of configuration replace anonymous access.

        verbose: it logs every packet, which costs as much again as passing it on."""
        port = free_port()
        config = folder / "mosquitto.conf"
        config.write_text(
            "\n".join(
                [
                    f"listener {port} 127.0.0.1",
                    # it gives up root for the user nobody otherwise, who may not write here
                    "user root",
                    "persistence true",
                    f"persistence_location {folder}/",
                    "max_queued_messages 0",
                    *(lines or ["allow_anonymous true"]),
                ]
            )
            + "\n"
        )
        return cls(config, port, verbose=verbose)

    def start(self) -> Mosquitto:
        log = self.config.with_suffix(".log").open("ab")
        self._process = subprocess.Popen(
            [program("mosquitto"), "-c", str(self.config), *(["-v"] if self._verbose else [])],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        log.close()
        until(lambda: listening(self.port) or self._process is None or self._process.poll() is not None)
        if self._process.poll() is not None:
            pytest.fail(f"mosquitto did not start:\n{self.log()}")
        return self

    def log(self) -> str:
        return self.config.with_suffix(".log").read_text(errors="replace")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(10)
            self._process = None

    def send(self, what: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(what)

    def __enter__(self) -> Mosquitto:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
        self.stop()


class Subscriber:
    """A pit's client: keeps every message, comes back by itself, and its session outlives the connection."""

    def __init__(
        self,
        port: int,
        topic: str = "pitwatch/#",
        user: str | None = None,
        password: str = "",
        name: str | None = None,
    ) -> None:
        self.messages: list[paho.MQTTMessage] = []
        self._subscribed = threading.Event()
        self.client = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=name or f"pit-{free_port()}",
            protocol=MQTTProtocolVersion.MQTTv311,
            clean_session=False,
        )
        self.client.reconnect_delay_set(1, 1)
        if user is not None:
            self.client.username_pw_set(user, password)
        self.client.on_message = lambda _c, _u, m: self.messages.append(m)
        self.client.on_connect = lambda c, *_: c.subscribe(topic, qos=1)
        self.client.on_subscribe = lambda *_: self._subscribed.set()
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()
        assert self._subscribed.wait(5)

    def payloads(self, topic: str) -> list[dict[str, Any]]:
        """The JSON payloads of the topics that end so, in the order of arrival."""
        return [json.loads(m.payload) for m in list(self.messages) if m.topic.endswith("/" + topic)]

    def numbers(self, topic: str = "events") -> set[int]:
        """The `seq` of what has come, each once."""
        return {p["seq"] for p in self.payloads(topic)}

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    def __enter__(self) -> Subscriber:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
