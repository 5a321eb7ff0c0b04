"""What tables say, as publications: written by hand, or a tape of real rounds under the audit."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from datetime import datetime, timezone
from functools import cache
from typing import Any

from sqlalchemy import Engine

from pitwatch.cli.tape import Player, Tape, record
from pitwatch.mqtt.payloads import Message, Topics
from pitwatch.pit.ingest import Ingest, Written
from pitwatch.pit.received import Item, Picture, Word, read

JPEG = b"\xff\xd8" + bytes(300) + b"\xff\xd9"


@cache
def tape() -> Tape:
    """Four real rounds, three of them with a mistake."""
    return record(7, 4, 0.75)


def player(table: str = "BJ-07", rounds: int = 4, began: float | None = None) -> Player:
    at = time.time() - 600 if began is None else began
    return Player(tape(), "detroit", table, rounds, began=at, offset=0.0, speed=1.0)


def heard(message: Message) -> Item | Word | Picture:
    got = read(message.topic, message.payload, message.retain)
    assert got is not None, message.topic
    return got


def everything(p: Player) -> list[Item | Word | Picture]:
    """All that a player's table says, in order, with its pictures."""
    out = [heard(p.availability("online", 0))]
    for seq in range(1, p.last + 1):
        kind, _, said = p.item(seq)
        out.append(heard(said))
        if kind == "finding":
            out.append(heard(Message(p.topics[f"evidence/{p.picture(seq)}"], JPEG)))
    out.append(heard(p.state(p.last)))
    # a slow machine must not make a table look silent
    out.append(heard(p.heart(p.last, p.last, 600.0, time.time())))
    return out


def written(engine: Engine, *players: Player) -> Written:
    """What players' tables say, in the store."""
    return Ingest(engine).write([x for p in players for x in everything(p)])


def said(
    name: str,
    body: object,
    seq: int = 1,
    *,
    site: str = "detroit",
    table: str = "BJ-07",
    boot: str = "6e0f6a3c-0f0e-4f5e-9c55-0d6a7a4e3a01",
    at: float | None = None,
    changed: Mapping[str, Any] = {},
) -> Message:
    """One publication, its envelope as asked for."""
    instant = datetime.fromtimestamp(time.time() if at is None else at, timezone.utc)
    payload = {
        "schema_version": 1,
        "id": str(uuid.uuid4()),
        "seq": seq,
        "boot": boot,
        "site": site,
        "table": table,
        "at": instant.isoformat(timespec="milliseconds"),
        name: body,
        **changed,
    }
    topic = {"event": "events", "finding": "findings", "unverified": "findings", "round": "rounds"}
    return Message(Topics(site, table)[topic.get(name, name)], json.dumps(payload).encode())
