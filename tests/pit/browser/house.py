"""A whole pit for a browser: real broker, real store, `pitwatch pit` as one starts it, tables that play."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np
import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from sqlalchemy import Engine
from tests.browser.chromium import Chromium
from tests.mqtt.brokers import Mosquitto, free_port, until
from tests.pit.played import tape

from pitwatch.cli.tape import Player
from pitwatch.mqtt.payloads import Message
from pitwatch.pit.accounts import add_user
from pitwatch.pit.database import open_store
from pitwatch.pit.sql import writing

PASSWORD = "a long enough one"
PEOPLE = {"Ann": "administrator", "Sam": "supervisor", "Vic": "viewer", "Wall": "screen"}
PATIENCE = 240.0  # seconds; a machine that is busy with other things is slow, not wrong


@cache
def jpeg(after: bool) -> bytes:
    """A felt with a marked spot; chips lie there after."""
    image = np.full((360, 480, 3), (52, 96, 30), np.uint8)
    cv2.circle(image, (240, 190), 70, (90, 220, 255), 3, cv2.LINE_AA)
    cv2.rectangle(image, (70, 70), (150, 190), (240, 244, 244), -1)
    for i in range(4 if after else 2):
        cv2.ellipse(image, (240, 200 - 12 * i), (38, 16), 0, 0, 360, (40, 40, 190), -1, cv2.LINE_AA)
        cv2.ellipse(image, (240, 200 - 12 * i), (38, 16), 0, 0, 360, (250, 250, 250), 1, cv2.LINE_AA)
    return bytes(cv2.imencode(".jpg", image)[1])


class House:
    """Everything but the browser. `url` is the page's address; the process can be ended and started again."""

    def __init__(self, folder: Path, db: str) -> None:
        self.db = db
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.broker = Mosquitto.simple(folder).start()
        self.engine: Engine = open_store(db)
        with writing(self.engine) as connection:
            for name, role in PEOPLE.items():
                add_user(connection, name, PASSWORD, role)
        self._log = folder / "pit.log"
        self._pit: subprocess.Popen[bytes] | None = None
        self._client = paho.Client(CallbackAPIVersion.VERSION2, client_id="tables")
        self._client.max_inflight_messages_set(100)
        self._client.connect("127.0.0.1", self.broker.port)
        self._client.loop_start()
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        """Start `pitwatch pit`, and wait until it serves and collects."""
        words = ["pit", "--mqtt", self.broker.url, "--db", self.db, "--port", str(self.port)]
        with self._log.open("ab") as log:
            self._pit = subprocess.Popen(
                [sys.executable, "-m", "pitwatch", *words], stdout=log, stderr=log, env={**os.environ}
            )
        until(lambda: self._healthy() or self._ended(), PATIENCE)

    def _healthy(self) -> bool:
        try:
            return bool(httpx.get(f"{self.url}/healthz", timeout=5).json()["broker"] == "connected")
        except (httpx.HTTPError, ValueError, KeyError):
            return False

    def _ended(self) -> bool:
        assert self._pit is not None
        if self._pit.poll() is None:
            return False
        raise AssertionError(f"the pit ended: {self._log.read_text()}")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the process; the broker, the store and the tables stay."""
        if self._pit is not None:
            self._pit.send_signal(how)
            self._pit.wait(30)
            self._pit = None

    def publish(self, messages: Iterable[Message]) -> None:
        """Publish in order, and wait until the broker has everything."""
        sent = [self._client.publish(m.topic, m.payload, qos=1, retain=m.retain) for m in messages]
        for s in sent:
            s.wait_for_publish(30)

    def close(self) -> None:
        self.stop()
        self._client.disconnect()
        self._client.loop_stop()
        self.engine.dispose()
        self.broker.stop()


def table(name: str, site: str = "main-floor", rounds: int = 4, ago: float = 120.0) -> Player:
    """A table that began to play `ago` seconds ago."""
    return Player(tape(), site, name, rounds, began=time.time() - ago, offset=0.0, speed=1.0)


def begins(p: Player, hands: int = 40, judged: int = 39) -> list[Message]:
    """What a table says first."""
    p.hands, p.judged = hands, judged
    return [p.availability("online", 0), p.heart(0, 0, 600.0, time.time())]


def plays(p: Player, first: int = 1, last: int | None = None) -> list[Message]:
    """Items `first` to `last`, with the pictures of findings, and the table as it stands after them."""
    out: list[Message] = []
    last = p.last if last is None else last
    for seq in range(first, last + 1):
        kind, _, said = p.item(seq)
        out.append(said)
        if kind == "finding":
            out.append(Message(p.topics[f"evidence/{p.picture(seq)}"], jpeg(after=True)))
    return [*out, p.state(last), p.heart(last, last, 600.0, time.time())]


def findings(p: Player) -> list[int]:
    """The numbers of a table's findings among its items."""
    return [seq for seq in range(1, p.last + 1) if p.item(seq)[0] == "finding"]


# what scripts may call: $ one element, $$ all of them
SHORT = "const $ = (s) => document.querySelector(s), $$ = (s) => [...document.querySelectorAll(s)];"
KEYS = {"Enter": 13, "Escape": 27, "Tab": 9, " ": 32, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40}


class Person:
    """Somebody at the browser."""

    def __init__(self, browser: Chromium, house: House) -> None:
        self.browser = browser
        self.house = house

    def see(self, script: str, timeout: float = PATIENCE) -> None:
        """Wait until something is so in the page."""
        self.browser.wait_for(f"(() => {{ {SHORT} return Boolean({script}); }})()", timeout)

    def ask(self, script: str) -> Any:
        """The value of an expression in the page."""
        return self.browser.evaluate(f"(() => {{ {SHORT} return ({script}); }})()")

    def text(self, selector: str) -> str:
        return str(self.ask(f"$({selector!r})?.textContent ?? ''"))

    def keys(self, *names: str) -> None:
        for name in names:
            self.browser.press(name, KEYS.get(name, ord(name[0].upper())))

    def click(self, selector: str) -> None:
        self.see(f"$({selector!r})")
        self.ask(f"$({selector!r}).click()")

    def fill(self, selector: str, value: str) -> None:
        self.ask(f"$({selector!r}).value = {value!r}")

    def go(self, place: str, ready: str) -> None:
        """Go to the part after #, and wait until it is there."""
        self.ask(f"location.hash = {place!r}")
        self.see(ready)

    def open(self) -> None:
        """Load the page anew, and wait until it shows something of its own."""
        self.browser._call("Page.navigate", url="about:blank")
        self.browser._call("Page.navigate", url=self.house.url)
        self.see("$('body.inside #nav a, .login form')")

    def sign_in(self, name: str = "Ann", password: str = PASSWORD) -> None:
        """As somebody, from the page for it."""
        self.see("$('.login input[type=password]')")
        self.fill(".login input[name=name]", name)
        self.fill(".login input[name=password]", password)
        self.click(".login button[type=submit]")

    def begin(self, name: str = "Ann") -> None:
        """Signed in as somebody, on the floor."""
        self.browser._call("Network.clearBrowserCookies")
        self.open()
        self.sign_in(name)
        self.see("$('#tiles')")
