"""The collector: hears every table through one broker and keeps what they say, each thing once.

In: a broker's URL and a store. Out: rows. A thread of its own, which nothing that comes in can end; what was
received is confirmed to the broker once the store has it, so that a collector that dies loses nothing.
"""

from __future__ import annotations

import json
import logging
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from sqlalchemy import Engine, delete
from sqlalchemy.exc import InterfaceError, OperationalError, ProgrammingError, SQLAlchemyError, TimeoutError

from pitwatch.errors import UserError
from pitwatch.mqtt.connection import Connection, Lasting, Lost, Received
from pitwatch.mqtt.payloads import Message
from pitwatch.mqtt.url import parse_url, password
from pitwatch.pit import schema
from pitwatch.pit.gaps import look_for_gaps
from pitwatch.pit.ingest import Ingest, Written, link_late
from pitwatch.pit.received import Item, Picture, Word, read
from pitwatch.pit.retention import Retention
from pitwatch.pit.sql import now, writing

__all__ = ["Collector"]

_log = logging.getLogger(__name__)

WINDOW = 500  # things received and not confirmed
_GATHER = 0.03  # seconds that the first thing of a batch is waited for
_MORE = 0.005  # seconds that it waits for the next
_LONGEST = 0.15  # seconds in all: of many, each then costs less
_KEEPALIVE = 30
_RETRY = 1.0  # seconds between two tries to write
_LOOK = 2.0  # seconds between two looks for gaps
_EXPIRY = 14 * 86_400  # seconds that the broker keeps what comes while we are away
_CHANGES_FOR = 600_000  # ms
# what only holds until the next is not worth a place in the broker's queue while we are away
_TOPICS = {
    "availability": 0,
    "state": 0,
    "health": 0,
    "still": 0,
    "events": 1,
    "rounds": 1,
    "findings": 1,
    "evidence/+": 1,
}
_MOST_WISHES = 1000


class Collector:
    """Hears the tables of one site, or of all, until it is closed.

    received, items, known: what came, what of it was new, what the store had already.
    """

    def __init__(
        self,
        engine: Engine,
        url: str,
        *,
        name: str = "pit",
        share: str | None = None,
        ca_file: str | Path | None = None,
        told: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin to listen to the broker at `url`.

        name: tells this collector's session from others'. share: collectors of one such name divide the
        tables' messages among them and write to one store. told: called after each batch, in our thread.
        Raises UserError for a malformed URL or certificates that cannot be read.
        """
        self.broker = parse_url(url)
        self.received = self.items = self.known = self.nonsense = 0
        self._engine = engine
        self._ingest = Ingest(engine)
        self._retention = Retention(engine)
        self._client_id = f"pitwatch-collector-{name}"
        prefix = f"$share/{share}/" if share else ""
        # what is retained does not come through a shared subscription, so everyone hears who is there
        self._topics = [
            (f"{'' if t == 'availability' else prefix}pitwatch/+/+/{t}", qos) for t, qos in _TOPICS.items()
        ]
        self._tls: ssl.SSLContext | None = None
        if self.broker.tls:
            try:
                self._tls = ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
            except (OSError, ssl.SSLError) as e:
                raise UserError(
                    f"The certificates in {ca_file} cannot be read ({e}); name a PEM file."
                ) from None
        self._told = told
        self._waiting: list[Received] = []
        self._read: list[Item | Word | Picture] | None = None
        self._retry_at = self._look_at = self._sweep_at = 0.0
        self._boots: set[int] = set()
        self._wishes: list[Message] = []
        self._connected = False
        self._status = f"Connecting to {self.broker}."
        self._trouble = ""
        self._mutex = threading.Lock()
        self._stop = threading.Event()
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="pitwatch-collector", daemon=True)
        self._thread.start()

    @property
    def connected(self) -> bool:
        """Whether the broker has let us in and has not gone since."""
        return self._connected

    @property
    def status(self) -> str:
        """One sentence on the connection, or on why nothing can be written."""
        return self._trouble or self._status

    def ask(self, site: str, table: str, wish: dict[str, object]) -> bool:
        """Ask a table for a picture or a still; False when there is no connection to ask through."""
        if not self._connected:
            return False
        with self._mutex:
            if len(self._wishes) >= _MOST_WISHES:
                return False
            self._wishes.append(Message(f"pitwatch/{site}/{table}/ask", json.dumps(wish).encode()))
        with suppress(OSError):
            self._wake_in.send(b"!")
        return True

    def close(self, timeout: float = 10.0) -> None:
        """Write what was received, disconnect, end the thread; twice is nothing."""
        self._stop.set()
        with suppress(OSError):
            self._wake_in.send(b"!")
        self._thread.join(timeout)
        if not self._thread.is_alive():
            self._wake_in.close()
            self._wake_out.close()

    def __enter__(self) -> Collector:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # what follows runs in the collector's thread only

    def _run(self) -> None:
        wait = 0.3
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                self._session()
            except Lost as e:
                if not self._stop.is_set():
                    self._say(f"The broker {self.broker} {e}; trying again.")
            except Exception as e:
                _log.exception("the collector's session ended")
                self._say(f"Collecting from {self.broker} stopped short ({type(e).__name__}); trying again.")
            finally:
                self._connected = False
                # unconfirmed, it comes again
                self._waiting, self._read = [], None
            wait = 0.3 if time.monotonic() - began > 10 else min(2 * wait, 15.0)
            self._stop.wait(wait * random.uniform(0.7, 1.3))

    def _session(self) -> None:
        connection = Connection(
            self.broker,
            version="5",
            client_id=self._client_id,
            will=None,
            password=password(),
            tls=self._tls,
            keepalive=_KEEPALIVE,
            timeout=5.0,
            lasting=Lasting(_EXPIRY, WINDOW),
        )
        in_order = False
        try:
            deadline = time.monotonic() + 5.0
            while not connection.accepted:
                if (left := deadline - time.monotonic()) <= 0 or self._stop.is_set():
                    raise Lost("accepts the connection but does not answer")
                connection.step(self._wake_out, left)
            for topic, qos in self._topics:
                connection.subscribe(topic, qos)
            self._connected = True
            self._say(f"Connected to {self.broker}.")
            while not self._stop.is_set():
                self._serve(connection)
            self._write(connection)
            in_order = True
        finally:
            connection.close(in_order)

    def _serve(self, connection: Connection) -> None:
        idle = not self._waiting and not connection.received
        connection.step(self._wake_out, 0.5 if idle else _GATHER)
        connection.acks.clear()
        if connection.received:
            began = time.monotonic()
            while (
                len(self._waiting) + len(connection.received) < WINDOW and time.monotonic() - began < _LONGEST
            ):
                count = len(connection.received)
                connection.step(self._wake_out, _MORE)
                if len(connection.received) == count:
                    break
            self._waiting += connection.received
            connection.received.clear()
            self._read = None
        if self._waiting and time.monotonic() >= self._retry_at:
            self._write(connection)
        self._look(connection)
        with self._mutex:
            wishes, self._wishes = self._wishes, []
        for wish in wishes:
            connection.publish(wish)

    def _write(self, connection: Connection) -> None:
        """Write what was received, then confirm it; what cannot be written now is tried again."""
        if not self._waiting:
            return
        if self._read is None:
            self._read = [r for m in self._waiting if (r := read(m.topic, m.payload, m.retain)) is not None]
        try:
            done = self._kept(self._read)
        except SQLAlchemyError as e:
            self._retry_at = time.monotonic() + _RETRY
            why = str(getattr(e, "orig", None) or e).strip().splitlines()[0]
            if not self._trouble:
                _log.warning("the database does not take what was received: %s", e)
            self._trouble = f"The database does not take what was received ({why}); the broker keeps it."
            return
        self._trouble = ""
        self.nonsense += len(self._waiting) - len(self._read)
        self.received += len(self._waiting)
        self.items += done.items
        self.known += done.known
        self._boots |= done.boots
        for message in self._waiting:
            connection.confirm(message)
        self._waiting, self._read = [], None
        self._told_safely()

    def _kept(self, things: list[Item | Word | Picture]) -> Written:
        """Write things; one that no database takes is left out, so that it does not stop the others."""
        if not things:
            return Written()
        try:
            return self._ingest.write(things)
        except (OperationalError, InterfaceError, ProgrammingError, TimeoutError):
            raise  # the database is away, or not as it should be: that passes
        except Exception as e:
            if len(things) == 1:
                _log.error("left out what cannot be kept: %r: %s", things[0], e)
                self.nonsense += 1
                return Written()
        half = len(things) // 2
        first, second = self._kept(things[:half]), self._kept(things[half:])
        return Written(first.items + second.items, first.known + second.known, first.boots | second.boots)

    def _look(self, connection: Connection) -> None:
        at = time.monotonic()
        if at < self._look_at or self._trouble:
            return
        self._look_at = at + _LOOK
        boots, self._boots = self._boots, set()
        try:
            for wish in look_for_gaps(self._engine, boots):
                connection.publish(Message(wish.topic, wish.payload))
            link_late(self._engine, now() - 600_000)
            if at >= self._sweep_at:
                self._sweep_at = at + 60
                with writing(self._engine) as db:
                    db.execute(delete(schema.changes).where(schema.changes.c.at < now() - _CHANGES_FOR))
                self._retention.forget()
        except SQLAlchemyError as e:
            self._boots |= boots
            _log.warning("gaps could not be looked for: %s", e)

    def _told_safely(self) -> None:
        try:
            self._told()
        except Exception:
            _log.exception("whoever listens to the collector failed")

    def _say(self, sentence: str) -> None:
        if sentence != self._status:
            self._status = sentence
            _log.info("%s", sentence)
