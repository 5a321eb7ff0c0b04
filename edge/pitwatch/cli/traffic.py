"""`pitwatch sim traffic`: publishes what many watched tables would, on the real topics, for trying a pit.

In: how many tables, rounds and how fast. Out: publications, and at the end one line of figures. What a
collector asks for again, it gets. Times are seconds.
"""

from __future__ import annotations

import heapq
import json
import socket
import sys
import time
from collections import Counter, deque
from dataclasses import dataclass, field

import cv2
import numpy as np

from pitwatch.cli.running import stopping
from pitwatch.cli.tape import Player, record
from pitwatch.errors import UserError
from pitwatch.mqtt.connection import Connection, Lost
from pitwatch.mqtt.payloads import Message, read_again, read_ask
from pitwatch.mqtt.url import BrokerUrl, parse_url, password

__all__ = ["run_traffic"]

_TAPES = 6
_TAPE_ROUNDS = 12
_PER_CONNECTION = 50
_HEARTBEAT = 10.0
_PATIENCE = 5.0


@dataclass
class _Line:
    """A connection that carries some tables. waiting: to be published. flying: what is unacknowledged."""

    connection: Connection
    waiting: deque[tuple[Message, Player | None]] = field(default_factory=deque)
    flying: dict[int, Player | None] = field(default_factory=dict)


class _Traffic:
    def __init__(self, broker: BrokerUrl, players: list[Player], speed: float) -> None:
        self.players = players
        self.counts: Counter[str] = Counter()
        self.late = 0.0
        self.stopped = False
        self._speed = speed
        self._sent: Counter[str] = Counter()
        self._at: dict[str, int] = {}
        self._jpeg = _small_picture()
        self._clip = b"".join(_small_picture(n / 23) for n in range(24))
        # kept open: a closed end would wake every wait at once
        self._waker, self._wake = socket.socketpair()
        self._lines: list[_Line] = []
        self._line: dict[str, _Line] = {}
        self._by_prefix = {p.topics.prefix: p for p in players}
        for first in range(0, len(players), _PER_CONNECTION):
            line = _Line(self._connect(broker, first // _PER_CONNECTION))
            self._lines.append(line)
            for p in players[first : first + _PER_CONNECTION]:
                self._line[p.table] = line
                for wish in ("again", "ask"):
                    line.connection.subscribe(p.topics[wish])

    def stop(self) -> None:
        self.stopped = True

    def run(self, linger: float) -> None:
        """Publish everything when its time has come, then answer for `linger` seconds more."""
        for p in self.players:
            self._put(p, p.availability("online", 0))
        agenda = [(p.due(1), n, 1) for n, p in enumerate(self.players) if p.last]
        heapq.heapify(agenda)
        beat = 0.0
        while (agenda or self._unsent()) and not self.stopped:
            now = time.time()
            while agenda and agenda[0][0] <= now and self._room():
                due, n, seq = heapq.heappop(agenda)
                self.late = max(self.late, now - due)
                self._play(self.players[n], seq)
                if seq < self.players[n].last:
                    heapq.heappush(agenda, (self.players[n].due(seq + 1), n, seq + 1))
            if now >= beat:
                beat = now + _HEARTBEAT
                self._hearts()
            self._turn(0.0 if agenda and agenda[0][0] <= now else 0.005)
        self._hearts()
        deadline = time.time() + linger
        while (time.time() < deadline or self._unsent()) and not self.stopped:
            self._turn(0.02)
        for p in self.players:
            self._put(p, p.availability("offline", self._at.get(p.table, 0)))
        deadline = time.time() + _PATIENCE
        while self._unsent() and time.time() < deadline:
            self._turn(0.02)
        for line in self._lines:
            line.connection.close(True)
        self._waker.close()
        self._wake.close()

    def _connect(self, broker: BrokerUrl, n: int) -> Connection:
        connection = Connection(
            broker,
            version=broker.version or "5",
            client_id=f"pitwatch-traffic-{self.players[0].boot[:8]}-{n}",
            will=None,
            password=password(),
            tls=None,
            keepalive=60,
            timeout=_PATIENCE,
        )
        deadline = time.time() + _PATIENCE
        while not connection.accepted:
            if time.time() > deadline:
                raise Lost("accepts the connection but does not answer")
            connection.step(self._wake, 0.2)
        return connection

    def _play(self, p: Player, seq: int) -> None:
        kind, body, said = p.item(seq)
        self._at[p.table] = seq
        self.counts[kind] += 1
        self._put(p, said, counted=True)
        if kind == "finding":
            self._put(p, Message(p.topics[f"evidence/{p.picture(seq)}"], self._jpeg))
        elif kind == "round":
            p.hands += len(body["hands"])
            p.judged += len(body["hands"])
        # one state for all that happens at one instant, as a journal has it
        if seq == p.last or p.due(seq + 1) > p.due(seq):
            self._put(p, p.state(seq))

    def _put(self, p: Player, said: Message, counted: bool = False) -> None:
        self._line[p.table].waiting.append((said, p if counted else None))

    def _hearts(self) -> None:
        for p in self.players:
            if seq := self._at.get(p.table):
                self._put(p, p.heart(seq, self._sent[p.table], _HEARTBEAT, time.time()))

    def _room(self) -> bool:
        return all(len(line.waiting) < 5000 for line in self._lines)

    def _unsent(self) -> bool:
        return any(line.waiting or line.flying for line in self._lines)

    def _turn(self, wait: float) -> None:
        for line in self._lines:
            c = line.connection
            while line.waiting and len(line.flying) < min(c.window, 400):
                said, player = line.waiting.popleft()
                line.flying[c.publish(said)] = player
            c.step(self._wake, wait / len(self._lines))
            for mid, refused in c.acks:
                p = line.flying.pop(mid, None)
                if refused:
                    raise Lost(f"refuses what a table sends ({refused}); check its access list")
                if p is not None:
                    self._sent[p.table] += 1
            c.acks.clear()
            for wish in c.received:
                self._answer(wish.topic, wish.payload)
            c.received.clear()

    def _answer(self, topic: str, payload: bytes) -> None:
        prefix, _, what = topic.rpartition("/")
        p = self._by_prefix.get(prefix + "/")
        if p is None:
            return
        if what == "again" and (again := read_again(payload)) is not None and again.boot == p.boot:
            for seq in range(again.first, min(again.last, self._at.get(p.table, 0)) + 1):
                self._put(p, p.item(seq)[2])
                self.counts["again"] += 1
        elif what == "ask" and (ask := read_ask(payload)) is not None:
            clip = ask.picture is not None and ask.picture.startswith("clip-")
            known = clip or ask.picture is None or ask.picture.startswith(p.boot[:8])
            topic = "still" if ask.picture is None else f"evidence/{ask.picture}"
            self._put(p, Message(p.topics[topic], self._clip if clip else self._jpeg if known else b""))


def run_traffic(
    *, tables: int, rounds: int, speed: float, mqtt: str, seed: int, site: str, linger: float, as_json: bool
) -> None:
    """Publish `rounds` rounds of each of `tables` tables. Raises UserError when the broker does not."""
    broker = parse_url(mqtt)
    print("playing the rounds to be told …", file=sys.stderr)  # noqa: T201
    tapes = [record(seed * 1000 + n, min(rounds, _TAPE_ROUNDS), 0.25) for n in range(min(tables, _TAPES))]
    began, cpu = time.time() + 0.5, time.process_time()
    players = []
    for n in range(tables):
        tape = tapes[n % len(tapes)]
        # as tables are: each somewhere else in its round
        offset = (n * 0.618 % 1.0) * tape.seconds / tape.rounds
        players.append(Player(tape, site, f"T-{n + 1:03d}", rounds, began=began, offset=offset, speed=speed))
    try:
        traffic = _Traffic(broker, players, speed)
        with stopping(traffic.stop):
            traffic.run(linger)
    except Lost as e:
        raise UserError(f"The broker {broker} {e}.") from None
    seconds = time.time() - began
    c = traffic.counts
    figures = {
        "tables": tables,
        "events": c["event"],
        "rounds": c["round"],
        "findings": c["finding"],
        "unverified": c["unverified"],
        "again": c["again"],
        "seconds": round(seconds, 1),
        "late": round(max(0.0, traffic.late), 2),
        "cpu": round(time.process_time() - cpu, 1),
    }
    if as_json:
        print(json.dumps(figures))  # noqa: T201
    else:
        print(  # noqa: T201
            f"{c['round']} rounds of {tables} tables in {seconds:.0f} s: {c['event']} events, "
            f"{c['finding']} findings."
        )


def _small_picture(when: float = 0.5) -> bytes:
    """Felt with a chip that moves across it from 0 to 1."""
    image = np.full((180, 320, 3), (48, 92, 38), np.uint8)
    cv2.circle(image, (round(40 + 240 * when), 95), 46, (90, 220, 255), 2, cv2.LINE_AA)
    cv2.putText(image, "simulated", (98, 165), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (235, 235, 235), 1, cv2.LINE_AA)
    return bytes(cv2.imencode(".jpg", image)[1])
