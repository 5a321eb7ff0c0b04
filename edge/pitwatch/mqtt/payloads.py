"""Topics and payloads: what the outbox holds, as MQTT carries it.

In: `Outgoing` from the journal. Out: a topic and bytes, JSON as the files in `schemas/` describe it; a
picture is its JPEG. Every JSON payload has an envelope and one object named for what it is.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from pitwatch.errors import UserError
from pitwatch.journal import Kind, Outgoing

__all__ = [
    "SCHEMA_VERSION",
    "TOPICS",
    "Again",
    "Ask",
    "Message",
    "Topics",
    "envelope",
    "message",
    "read_again",
    "read_ask",
    "schema",
]

SCHEMA_VERSION = 1
TOPICS = ("availability", "state", "events", "rounds", "findings", "health", "again", "ask")
_TOPIC: dict[Kind, str] = {
    "event": "events",
    "finding": "findings",
    "unverified": "findings",
    "round": "rounds",
    "state": "state",
}
_MOST_AGAIN = 10_000
_LONGEST_WISH = 1000  # bytes
_REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Message:
    """One publication."""

    topic: str
    payload: bytes
    retain: bool = False


@dataclass(frozen=True)
class Again:
    """A consumer's wish: items `first` to `last` of a boot once more."""

    boot: str
    first: int
    last: int


@dataclass(frozen=True)
class Ask:
    """A consumer's wish for a picture: of evidence by its reference, or None for the camera's newest."""

    picture: str | None


class Topics:
    """The topics of one table: `pitwatch/<site>/<table>/…`."""

    def __init__(self, site: str, table: str) -> None:
        """Raises UserError when a name cannot be one level of a topic."""
        for key, name in (("site", site), ("table's name", table)):
            if not re.fullmatch(r"[^/+#\x00-\x1f\x7f]{1,100}", name) or not name.strip():
                raise UserError(
                    f"The {key} {name!r} cannot be part of an MQTT topic; "
                    "write 1 to 100 characters without / + #."
                )
        self.prefix = f"pitwatch/{site}/{table}/"

    def __getitem__(self, name: str) -> str:
        return self.prefix + name


def envelope(
    name: str,
    body: object,
    *,
    boot: str,
    seq: int,
    site: str,
    table: str,
    at: str | None,
    id: str | None = None,
) -> bytes:
    """A JSON payload: the envelope, and `body` under `name`; no `id`: one is made; no `at`: none is given."""
    out: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "id": id or str(uuid.uuid4()),
        "seq": seq,
        "boot": boot,
        "site": site,
        "table": table,
        "at": at,
        name: body,
    }
    if at is None:
        del out["at"]
    return json.dumps(out, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def message(outgoing: Outgoing, jpeg: bytes | None = None) -> Message:
    """What to publish for one thing of the outbox; `jpeg` for a picture.

    Raises UserError when its site or table cannot be in a topic.
    """
    topics = Topics(outgoing.site, outgoing.table)
    if outgoing.kind == "evidence":
        return Message(topics[f"evidence/{outgoing.ref}"], jpeg or b"")
    payload = envelope(
        outgoing.kind,
        outgoing.body,
        boot=outgoing.boot,
        seq=outgoing.seq,
        site=outgoing.site,
        table=outgoing.table,
        at=outgoing.at,
        id=outgoing.id,
    )
    return Message(topics[_TOPIC[outgoing.kind]], payload, retain=outgoing.kind == "state")


def read_again(payload: bytes) -> Again | None:
    """A consumer's wish for items that it misses; None when it is none, or asks for more than 10 000."""
    asked = _wish(payload)
    boot, first, last = asked.get("boot"), asked.get("first"), asked.get("last")
    if not isinstance(boot, str) or type(first) is not int or type(last) is not int:
        return None
    return Again(boot, first, last) if 1 <= first <= last < min(first + _MOST_AGAIN, 2**53) else None


def read_ask(payload: bytes) -> Ask | None:
    """A consumer's wish for a picture; None when it is none, or what it names cannot be one."""
    asked = _wish(payload)
    ref = asked.get("picture")
    if isinstance(ref, str) and _REFERENCE.fullmatch(ref):
        return Ask(ref)
    return Ask(None) if asked.get("still") is True else None


def _wish(payload: bytes) -> Mapping[str, Any]:
    if len(payload) > _LONGEST_WISH:
        return {}
    try:
        asked = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return asked if isinstance(asked, dict) else {}


@lru_cache
def _schema_text(topic: str) -> str:
    return (files("pitwatch.mqtt") / "schemas" / f"{topic}.json").read_text(encoding="utf-8")


def schema(topic: str) -> dict[str, Any]:
    """The JSON schema of a topic's payload, one of `TOPICS` (`evidence/<id>` has none: it is a JPEG)."""
    if topic not in TOPICS:
        raise ValueError(f"{topic!r} has no schema; one of {', '.join(TOPICS)} has")
    loaded: dict[str, Any] = json.loads(_schema_text(topic))
    return loaded
