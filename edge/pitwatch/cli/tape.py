"""What a watched table would send, worked out once and told for many: scripted rounds under the real audit.

In: a seed and a number of rounds. Out: a `Tape`, and by `Player` its payloads as one table sends them,
loop after loop. No picture is rendered. Times are seconds; the table's own count from the tape's beginning.
"""

from __future__ import annotations

import uuid
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any, Literal

from pitwatch.game.audit import Audit
from pitwatch.game.findings import Finding
from pitwatch.game.log import Header
from pitwatch.mqtt.payloads import Message, Topics, envelope
from pitwatch.sim.spec import SimSpec
from pitwatch.sim.stage import direct

__all__ = ["Player", "Tape", "record"]

Kind = Literal["event", "finding", "unverified", "round"]
_TOPIC = {"event": "events", "finding": "findings", "unverified": "findings", "round": "rounds"}
_SPACE = uuid.UUID("6f2a7f0e-3d2c-4a58-9f0b-0a5c6c1d7a11")


@dataclass(frozen=True)
class Tape:
    """One table's time. items: (when, kind, body) in order. states: (how many items went before, body)."""

    header: Header
    seconds: float
    rounds: int
    items: tuple[tuple[float, Kind, Mapping[str, Any]], ...]
    states: tuple[tuple[int, Mapping[str, Any]], ...]


def record(seed: int, rounds: int, misplays: float) -> Tape:
    """Play `rounds` rounds with staged misplays and have them judged, as a watched table would."""
    truth = direct(SimSpec(rounds=rounds, seed=seed, misplays=misplays)).truth
    header = Header.from_json(truth.header)
    audit = Audit(header)
    items: list[tuple[float, Kind, Mapping[str, Any]]] = []
    states: list[tuple[int, Mapping[str, Any]]] = []
    done = 0

    def take(t: float, said: list[Any]) -> None:
        nonlocal done
        items.extend((t, "finding" if isinstance(s, Finding) else "unverified", s.to_json()) for s in said)
        items.extend((t, "round", r.to_json()) for r in audit.rounds_done[done:])
        done = len(audit.rounds_done)
        states.append((len(items), audit.table.to_json()))

    for event in truth.events:
        if event.t > (items[-1][0] if items else event.t):
            take(event.t, audit.advance(event.t - 0.01))
        seen = replace(event, confidence=0.98)
        items.append((event.t, "event", seen.to_json()))
        take(event.t, audit.feed(seen))
    take(truth.duration, audit.finish())
    return Tape(header, truth.duration, done, tuple(items), tuple(states))


class Player:
    """One table that plays a tape over and over, `rounds` rounds in all.

    began: wall clock, seconds since 1970. offset: seconds of table time that it begins later than others.
    """

    def __init__(
        self, tape: Tape, site: str, table: str, rounds: int, *, began: float, offset: float, speed: float
    ) -> None:
        self.tape = tape
        self.site, self.table = site, table
        self.topics = Topics(site, table)
        self.boot = str(uuid.uuid4())
        self.header = replace(tape.header, table=table)
        self.judged = self.hands = 0
        self._began, self._offset, self._speed = began, offset, speed
        self._states = [n for n, _ in tape.states]
        loops, rest = divmod(rounds, tape.rounds)
        tail = 0
        if rest:
            ends = [n for n, (_, kind, _) in enumerate(tape.items) if kind == "round"]
            tail = ends[rest - 1] + 1
        self.last = loops * len(tape.items) + tail

    def due(self, seq: int) -> float:
        """When item `seq` is to be sent, wall clock in seconds."""
        loop, n = divmod(seq - 1, len(self.tape.items))
        t = loop * self.tape.seconds + self.tape.items[n][0] + self._offset
        return self._began + t / self._speed

    def item(self, seq: int) -> tuple[Kind, Mapping[str, Any], Message]:
        """Item `seq`: its kind, its body, and how it is published; always the same for the same number."""
        loop, n = divmod(seq - 1, len(self.tape.items))
        _, kind, body = self.tape.items[n]
        body = self._shifted(body, loop)
        if kind == "finding":
            body["evidence"] = [self.picture(seq)]
        return kind, body, Message(self.topics[_TOPIC[kind]], self._envelope(kind, body, seq, self.due(seq)))

    def picture(self, seq: int) -> str:
        """The reference of the picture of finding `seq`."""
        return f"{self.boot[:8]}-{seq}-after"

    def state(self, seq: int) -> Message:
        """The table as it stood after item `seq`."""
        loop, n = divmod(seq - 1, len(self.tape.items))
        _, body = self.tape.states[max(0, bisect_right(self._states, n + 1) - 1)]
        body = dict(body) | {"round": body["round"] + loop * self.tape.rounds}
        return Message(self.topics["state"], self._envelope("state", body, seq, self.due(seq)), retain=True)

    def availability(self, value: str, seq: int) -> Message:
        """Said at the beginning and the end."""
        said = envelope(
            "availability", value, boot=self.boot, seq=seq, site=self.site, table=self.table, at=None
        )
        return Message(self.topics["availability"], said, retain=True)

    def heart(self, seq: int, sent: int, interval: float, now: float) -> Message:
        """A heartbeat after item `seq`; what was not acknowledged is in the outbox."""
        figures = {
            "header": self.header.to_json(),
            "fps": 15.0,
            "ms_per_frame": 48.0,
            "late": 0,
            "skipped": 0,
            "hands_judged": self.judged,
            "hands_total": self.hands,
            "notice": "",
            "outbox": seq - sent,
            "sent": sent,
            "interval": interval,
        }
        return Message(self.topics["health"], self._envelope("health", figures, seq, now))

    def _envelope(self, name: str, body: object, seq: int, at: float) -> bytes:
        return envelope(
            name,
            body,
            boot=self.boot,
            seq=seq,
            site=self.site,
            table=self.table,
            at=datetime.fromtimestamp(at, timezone.utc).isoformat(timespec="milliseconds"),
            id=str(uuid.uuid5(_SPACE, f"{self.boot}/{name}/{seq}")),
        )

    def _shifted(self, body: Mapping[str, Any], loop: int) -> dict[str, Any]:
        """The body as it is in a later loop: later, and its round of a higher number."""
        out: dict[str, Any] = dict(body)
        by = loop * self.tape.seconds
        for key in ("t", "t_start", "t_end"):
            if key in out:
                out[key] = round(out[key] + by, 3)
        if "findings" in out:
            out["findings"] = [self._shifted(f, loop) for f in out["findings"]]
        if isinstance(out.get("round"), int):
            out["round"] += loop * self.tape.rounds
        return out
