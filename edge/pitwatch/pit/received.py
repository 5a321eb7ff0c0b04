"""From a publication to what the store understands, or to nothing: what comes from outside is checked here.

In: topics and bytes. Out: `Item`, `Word` or `Picture`. Instants are milliseconds since 1970 UTC.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pitwatch.pit.house_time import from_text

__all__ = ["REFERENCE", "Item", "Picture", "Word", "clean", "read", "seconds", "small_number"]

MOST_JSON = 262_144
MOST_PICTURE = 4_000_000
MOST_DEEP = 32  # objects and lists in one another
_MOST_CENTS = 10**10
_MOST_SECONDS = 10**10  # of a table's clock, which may count from 1970
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_NAME = re.compile(r"[^/+#\x00-\x1f\x7f]{1,100}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_HALVES = re.compile(r"[\ud800-\udfff]")

Kind = Literal["event", "finding", "unverified", "round"]
_ITEMS: dict[str, tuple[Kind, ...]] = {
    "events": ("event",),
    "findings": ("finding", "unverified"),
    "rounds": ("round",),
}


@dataclass(frozen=True)
class Item:
    """Something that a table counts: `seq` 1, 2, 3 … within its `boot`. text: the body as JSON, ASCII."""

    site: str
    table: str
    uid: str
    boot: str
    seq: int
    kind: Kind
    t: float | None
    at: int
    body: Mapping[str, Any]
    text: str


@dataclass(frozen=True)
class Word:
    """What a table says of itself now: its `state`, `health` or `availability`."""

    site: str
    table: str
    what: Literal["state", "health", "availability"]
    boot: str
    seq: int
    at: int | None
    body: Any
    retained: bool


@dataclass(frozen=True)
class Picture:
    """A JPEG; ref "" is a still. No jpeg: the table has it no longer."""

    site: str
    table: str
    ref: str
    jpeg: bytes
    sha256: str


def read(topic: str, payload: bytes, retained: bool = False) -> Item | Word | Picture | None:
    """What a publication says; None when it is nothing that a table may say."""
    parts = topic.split("/")
    if len(parts) < 4 or parts[0] != "pitwatch" or not all(_NAME.fullmatch(p) for p in parts[1:3]):
        return None
    site, table, what = parts[1], parts[2], "/".join(parts[3:])
    if what == "still" or what.startswith("evidence/"):
        return _picture(site, table, what, payload)
    if what not in (*_ITEMS, "state", "health", "availability"):
        return None
    said = _object(payload)
    if said is None or (said.get("site"), said.get("table")) != (site, table):
        return None
    boot, seq = said.get("boot"), said.get("seq")
    if not isinstance(boot, str) or not _UUID.fullmatch(boot):
        return None
    if type(seq) is not int or not 0 <= seq < 2**31:
        return None
    try:
        at = from_text(said.get("at"))
    except ValueError:
        if what != "availability":
            return None
        at = None
    if what in _ITEMS:
        return None if at is None or seq < 1 else _item(site, table, what, boot, seq, at, said)
    return _word(site, table, what, boot, seq, at, said.get(what), retained)


def _word(
    site: str, table: str, what: str, boot: str, seq: int, at: int | None, body: object, retained: bool
) -> Word | None:
    if what == "availability":
        if body not in ("online", "offline"):
            return None
        return Word(site, table, "availability", boot, seq, at, body, retained)
    if not isinstance(body, dict):
        return None
    return Word(site, table, "health" if what == "health" else "state", boot, seq, at, body, retained)


def _item(
    site: str, table: str, topic: str, boot: str, seq: int, at: int, said: Mapping[str, Any]
) -> Item | None:
    kind = next((k for k in _ITEMS[topic] if isinstance(said.get(k), dict)), None)
    uid = said.get("id")
    if kind is None or not isinstance(uid, str) or not _UUID.fullmatch(uid):
        return None
    body = said[kind]
    t = seconds(body.get("t_end" if kind == "round" else "t"))
    if not _makes_sense(kind, body, t):
        return None
    return Item(site, table, uid, boot, seq, kind, t, at, body, json.dumps(body, separators=(",", ":")))


def _makes_sense(kind: Kind, body: Mapping[str, Any], t: float | None) -> bool:
    if kind == "unverified":
        return isinstance(body.get("why"), str)
    if t is None:
        return False
    if kind == "event":
        return isinstance(body.get("type"), str)
    if kind == "finding":
        named = isinstance(body.get("kind"), str) and re.fullmatch(r"[a-z][a-z_]{0,59}", body["kind"])
        return bool(named) and isinstance(body.get("text"), str)
    hands = body.get("hands")
    return (
        seconds(body.get("t_start")) is not None
        and type(body.get("round")) is int
        and 0 <= body["round"] < 2**31
        and isinstance(hands, list)
        and len(hands) <= 100
        and all(isinstance(h, dict) for h in hands)
        and isinstance(body.get("dealer"), list)
    )


def _picture(site: str, table: str, what: str, payload: bytes) -> Picture | None:
    ref = "" if what == "still" else what.removeprefix("evidence/")
    if (ref and not REFERENCE.fullmatch(ref)) or len(payload) > MOST_PICTURE:
        return None
    if (payload or not ref) and (payload[:2] != b"\xff\xd8" or payload[-2:] != b"\xff\xd9"):
        return None
    return Picture(site, table, ref, payload, hashlib.sha256(payload).hexdigest())


def _object(payload: bytes) -> dict[str, Any] | None:
    if len(payload) > MOST_JSON:
        return None
    try:
        said = _DECODER.decode(payload.decode())
        # what is as short as most is neither deep nor has half a character in it
        if payload.count(b"{") + payload.count(b"[") > MOST_DEEP or b"\\u" in payload:
            said = _whole(said, MOST_DEEP)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _whole(value: Any, deep: int) -> Any:
    """The same without halves of characters, which no answer can carry. Raises ValueError when too deep."""
    if isinstance(value, str):
        return value if value.isascii() else _HALVES.sub("\ufffd", value)
    if not isinstance(value, (dict, list)):
        return value
    if deep <= 0:
        raise ValueError("nested too deeply")
    if isinstance(value, list):
        return [_whole(v, deep - 1) for v in value]
    return {_whole(k, deep): _whole(v, deep - 1) for k, v in value.items()}


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:20]} is out of all reason")
    return number


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_number)


def seconds(value: object) -> float | None:
    """A time on a table's clock; None of what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and abs(number) < _MOST_SECONDS else None


def clean(value: object, longest: int = 500) -> str:
    """Text that any database takes: no control characters, no halves of characters, not too long."""
    return _CONTROL.sub(" ", value)[:longest] if isinstance(value, str) else ""


def small_number(value: object, most: int = _MOST_CENTS) -> int | None:
    """A whole number up to `most` either way, else None."""
    return value if type(value) is int and abs(value) <= most else None
