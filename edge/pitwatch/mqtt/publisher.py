"""The publisher: its own thread drains the journal's outbox to a broker, and keeps trying until there is one.

In: the journal. Out: QoS 1 publications; a thing leaves the outbox when the broker has acknowledged it. Times
are seconds. Delivery is at least once: consumers drop by `id` what they have.
"""

from __future__ import annotations

import logging
import random
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from pitwatch.errors import UserError
from pitwatch.journal import Journal, JournalError, Outgoing
from pitwatch.journal.records import utc_now
from pitwatch.mqtt.connection import Connection, Lost
from pitwatch.mqtt.payloads import Message, Topics, envelope, message, read_again, read_ask
from pitwatch.mqtt.url import BrokerUrl, parse_url, password

__all__ = ["Publisher"]

WINDOW = 16
_PICTURES = 2  # of the window, so that a finding never waits behind sixteen pictures
_KEEPALIVE = 30
_ACK_TIMEOUT = 60.0
_KEPT = "the journal keeps everything, trying again"
_RETRY_REFUSED = 60.0
_LONG = 10.0  # a connection that lasted this long was a good one
_MARK_AT = 4 * WINDOW
_MOST_SHOWN = 2 * WINDOW  # in flight, before what is asked for is left unanswered
_STILL_EVERY = 1.0
_STRIKES = 5  # connections that ended with the same thing first in flight

_InFlight = dict[int, tuple[Outgoing | None, float]]  # by number: what of the outbox, and since when

_log = logging.getLogger(__name__)


class Publisher:
    """Sends what the journal holds while a broker is there, and keeps trying while it is not.

    It begins at once, in a thread of its own, and never raises from there. `sent`: how many things of the
    outbox the broker has acknowledged.
    """

    def __init__(
        self,
        journal: Journal,
        url: str | BrokerUrl,
        site: str,
        table: str,
        *,
        ca_file: str | Path | None = None,
        health: Callable[[], Mapping[str, Any]] | None = None,
        still: Callable[[], bytes | None] | None = None,
        on_status: Callable[[str], None] | None = None,
        heartbeat: float = 10.0,
        backoff: tuple[float, float] = (0.5, 30.0),
        patience: float = 3.0,
    ) -> None:
        """Begin to publish `journal` to the broker at `url` under `pitwatch/<site>/<table>/`.

        ca_file: certificates to trust for mqtts:// instead of the system's. health: further figures for each
        heartbeat. still: the camera's newest picture as JPEG, for whoever asks. on_status: told each new
        status sentence, in the publisher's thread. backoff: the first and the longest wait between attempts.
        patience: how long a broker may take to let us in.
        Raises UserError for a malformed URL, a site or table that cannot be a topic level, a bad `ca_file`.
        """
        self.broker = parse_url(url) if isinstance(url, str) else url
        self.sent = 0
        self._journal = journal
        self._site, self._table = site, table
        self._topics = Topics(site, table)
        self._tls = _tls(ca_file) if self.broker.tls else None
        self._health = health
        self._still = still
        self._still_at = float("-inf")
        self._on_status = on_status
        self._heartbeat = heartbeat
        self._first_wait, self._longest_wait = backoff
        self._patience = patience
        self._version = self.broker.version or "5"
        self._status = f"Connecting to {self.broker}."
        self._connected = False
        self._complaint = ""
        self._retry_at = 0.0
        self._probes: set[str] = set()
        self._acked: set[str] = set()  # delivered, not yet marked: the disk may be full
        self._strikes: Counter[str] = Counter()
        self._stop = threading.Event()
        self._beat_now = threading.Event()
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        journal.on_record(self._wake)
        self._thread = threading.Thread(target=self._run, name="pitwatch-publisher", daemon=True)
        self._thread.start()

    @property
    def connected(self) -> bool:
        """Whether the broker has accepted us and has not gone since."""
        return self._connected

    @property
    def status(self) -> str:
        """One sentence on the connection, for the screen."""
        return self._status

    def beat(self) -> None:
        """Send a heartbeat now: something in it has changed that the pit should know at once."""
        self._beat_now.set()
        self._wake()

    def flush(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for an empty outbox; whether it is."""
        deadline = time.monotonic() + timeout
        while self._journal.pending(1) and self._thread.is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        return self._journal.waiting() == 0

    def close(self, timeout: float = 5.0) -> None:
        """Say offline, disconnect, end the thread; what is unsent stays in the journal. Twice is nothing."""
        self._stop.set()
        self._wake()
        self._thread.join(timeout)
        if not self._thread.is_alive():
            self._wake_in.close()
            self._wake_out.close()

    def __enter__(self) -> Publisher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _wake(self) -> None:
        with suppress(OSError):  # closed, or full of wakes already
            self._wake_in.send(b"!")

    # what follows runs in the publisher's thread only

    def _run(self) -> None:
        wait = self._first_wait
        while not self._stop.is_set():
            began, sent = time.monotonic(), self.sent
            try:
                self._session()
            except Lost as e:
                if self._stop.is_set():
                    break
                self._say(f"The broker {self.broker} {e}; {_KEPT}.")
            except Exception as e:
                _log.exception("the publisher's session ended")
                self._say(f"Publishing to {self.broker} stopped short ({e}); trying again.")
            finally:
                self._connected = False
            if time.monotonic() - began > _LONG or self.sent > sent:
                wait = self._first_wait
            # spread, so that a pit's tables do not come back to a restarted broker all at once
            self._stop.wait(wait * random.uniform(0.7, 1.3))
            wait = min(2 * wait, self._longest_wait)

    def _session(self) -> None:
        connection = Connection(
            self.broker,
            version=self._version,
            client_id=f"pitwatch-{self._site}-{self._table}",
            will=self._availability("offline"),
            password=password(),
            tls=self._tls,
            keepalive=_KEEPALIVE,
            timeout=self._patience,
        )
        in_flight: _InFlight = {}
        in_order = False
        try:
            self._be_let_in(connection)
            self._serve(connection, in_flight)
            in_order = True
        except Lost:
            # Mosquitto closes the connection after it has said no
            refused = any(a.refused for a in connection.acks)
            self._settle(connection, in_flight)
            if refused:
                raise Lost(self._complaint) from None
            # so does a broker that knows only the other version
            if not connection.answered and self.broker.version is None:
                self._version = "3.1.1" if self._version == "5" else "5"
            first = next((o for o, _ in in_flight.values() if o is not None), None)
            if first is not None:
                self._strike(first)
            raise
        finally:
            connection.close(in_order)

    def _be_let_in(self, connection: Connection) -> None:
        deadline = time.monotonic() + self._patience
        while not connection.accepted:
            left = deadline - time.monotonic()
            if left <= 0 or self._stop.is_set():
                raise Lost("accepts the connection but does not answer")
            connection.step(self._wake_out, left)

    def _serve(self, connection: Connection, in_flight: _InFlight) -> None:
        self._connected = True
        if not self._complaint:
            self._say(f"Connected to {self.broker}.")
        self._send(connection, in_flight, self._availability("online"))
        self._send(connection, in_flight, self._heart())
        # the broker may have lost what it retained
        if (state := self._journal.state()) is not None and state.table == self._table:
            self._send(connection, in_flight, message(state))
        connection.subscribe(self._topics["again"])
        connection.subscribe(self._topics["ask"], qos=0)  # a picture asked for while away is not wanted later
        beat = time.monotonic() + self._heartbeat
        while not self._stop.is_set():
            now = time.monotonic()
            if now >= self._retry_at:
                # one, to see whether it would go now: each no may cost a connection
                self._probes.update(self._journal.retry_refused(1))
                self._retry_at = now + _RETRY_REFUSED
            if now >= beat or self._beat_now.is_set():
                self._beat_now.clear()
                self._send(connection, in_flight, self._heart())
                beat = now + self._heartbeat
            self._fill(connection, in_flight)
            if in_flight and now - next(iter(in_flight.values()))[1] > _ACK_TIMEOUT:
                raise Lost("has stopped acknowledging")
            connection.step(self._wake_out, max(0.0, min(beat - now, 1.0)))
            self._settle(connection, in_flight)
            self._answer(connection, in_flight)
        self._leave(connection, in_flight)

    def _fill(self, connection: Connection, in_flight: _InFlight) -> None:
        window = min(WINDOW, connection.window)
        if len(in_flight) > window // 2:  # asking the journal for every single ack would be most of the work
            return
        flying = {o.id: o.kind for o, _ in in_flight.values() if o is not None}
        pictures = sum(kind == "evidence" for kind in flying.values())
        for outgoing in self._journal.pending(window + len(self._acked)):
            if len(in_flight) >= window:
                break
            if outgoing.id in flying or outgoing.id in self._acked:
                continue
            jpeg = None
            if outgoing.kind == "evidence":
                if pictures >= _PICTURES:
                    break
                jpeg = self._journal.evidence(outgoing.ref or "")
                if jpeg is None:  # gave way to newer ones
                    self._journal.mark_sent(outgoing.id)
                    continue
                pictures += 1
            publication = message(outgoing, jpeg)
            if len(publication.payload) + len(publication.topic) + 64 > connection.largest:
                self._refused(outgoing, "too large")
                continue
            self._send(connection, in_flight, publication, outgoing)

    def _send(
        self,
        connection: Connection,
        in_flight: _InFlight,
        publication: Message,
        outgoing: Outgoing | None = None,
    ) -> None:
        in_flight[connection.publish(publication)] = (outgoing, time.monotonic())

    def _settle(self, connection: Connection, in_flight: _InFlight) -> None:
        """Take out of the outbox what was taken, and put aside what was refused."""
        taken = False
        for mid, reason in connection.acks:
            outgoing, _ = in_flight.pop(mid, (None, 0.0))
            taken |= reason is None
            if reason is not None:
                self._refused(outgoing, reason)
            elif outgoing is not None:
                self._acked.add(outgoing.id)
                self._strikes.pop(outgoing.id, None)
                self.sent += 1
        connection.acks.clear()
        # every marking waits for the disk: while things keep flowing, many in one
        if len(self._acked) >= _MARK_AT or (self._acked and not in_flight):
            try:
                self._journal.mark_sent(self._acked)
            except JournalError as e:
                self._say(str(e))
                return
            if self._probes & self._acked:
                self._probes.clear()
                self._journal.retry_refused()
            self._acked.clear()
        if taken and self._complaint and self._journal.refused() == 0:
            self._complaint = ""
            self._say(f"Connected to {self.broker}.")

    def _refused(self, outgoing: Outgoing | None, reason: str) -> None:
        if outgoing is not None:
            self._journal.mark_refused(outgoing.id)
            self._probes.discard(outgoing.id)
        self._complaint = (
            f"refuses some of what this table sends ({reason}); check its access list and limits for "
            f"{self._topics['#']}"
        )
        self._say(f"The broker {self.broker} {self._complaint}; {_KEPT}.")

    def _strike(self, outgoing: Outgoing) -> None:
        self._strikes[outgoing.id] += 1
        if self._strikes[outgoing.id] >= _STRIKES:
            del self._strikes[outgoing.id]
            self._refused(outgoing, "the connection ends at it")

    def _answer(self, connection: Connection, in_flight: _InFlight) -> None:
        asked, connection.received = connection.received, []
        for wish in asked:
            if wish.retain:
                continue
            if wish.topic == self._topics["ask"]:
                self._show(connection, in_flight, wish.payload)
            elif (again := read_again(wish.payload)) is not None:
                self._journal.send_again(again.boot, again.first, again.last)

    def _show(self, connection: Connection, in_flight: _InFlight, wish: bytes) -> None:
        """Send a picture that was asked for; one that does not fit, or too soon a still, is not sent."""
        if (ask := read_ask(wish)) is None or len(in_flight) >= _MOST_SHOWN:
            return
        if ask.picture is not None:
            jpeg = self._journal.evidence(ask.picture)
            topic = self._topics[f"evidence/{ask.picture}"]
        elif self._still is None or (now := time.monotonic()) - self._still_at < _STILL_EVERY:
            return
        else:
            self._still_at = now
            try:
                jpeg = self._still()
            except Exception:
                _log.exception("the newest picture could not be had")
                return
            topic = self._topics["still"]
            if jpeg is None:
                return
        publication = Message(topic, jpeg or b"")
        if len(publication.payload) + len(publication.topic) + 64 <= connection.largest:
            self._send(connection, in_flight, publication)

    def _leave(self, connection: Connection, in_flight: _InFlight) -> None:
        """Say offline, and wait a second for what is in flight; an orderly end fires no last will."""
        self._send(connection, in_flight, self._availability("offline"))
        deadline = time.monotonic() + 1.0
        while in_flight and (left := deadline - time.monotonic()) > 0:
            connection.step(self._wake_out, left)
            self._settle(connection, in_flight)
        self._say(f"Disconnected from {self.broker}.")

    def _availability(self, value: Literal["online", "offline"]) -> Message:
        return Message(
            self._topics["availability"], self._envelope("availability", value, at=None), retain=True
        )

    def _heart(self) -> Message:
        figures: dict[str, Any] = {}
        if self._health is not None:
            try:
                figures.update(self._health())
            except Exception:
                _log.exception("the figures for the heartbeat could not be had")
        figures |= {"outbox": self._journal.waiting(), "sent": self.sent, "interval": self._heartbeat}
        return Message(self._topics["health"], self._envelope("health", figures, at=utc_now()))

    def _envelope(self, name: str, body: object, at: str | None) -> bytes:
        return envelope(
            name,
            body,
            boot=self._journal.boot,
            seq=self._journal.last_seq,
            site=self._site,
            table=self._table,
            at=at,
        )

    def _say(self, sentence: str) -> None:
        if sentence == self._status:
            return
        self._status = sentence
        _log.info("%s", sentence)
        if self._on_status is not None:
            try:
                self._on_status(sentence)
            except Exception:
                _log.exception("whoever listens to the status failed")


def _tls(ca_file: str | Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    except (OSError, ssl.SSLError) as e:
        raise UserError(f"The certificates in {ca_file} cannot be read ({e}); name a PEM file.") from None
