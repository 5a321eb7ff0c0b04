"""Findings, rounds and tables as the page gets them; `docs/pit-api.md` says what each key is.

In: rows of the store. Out: JSON objects. Names of tables, dealers and people are looked up once a request.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, and_, or_, select

from pitwatch.errors import UserError
from pitwatch.game.notation import write
from pitwatch.game.view import HandView
from pitwatch.pit import schema
from pitwatch.pit.clips import clip_ref
from pitwatch.pit.house_time import HouseTime, day_text, to_text
from pitwatch.pit.meaning import in_words, rule_sentence, title, unit
from pitwatch.pit.received import REFERENCE, clean
from pitwatch.pit.replaying import round_record

__all__ = [
    "Names",
    "bodies",
    "detail_of",
    "evidence_of",
    "live",
    "notation",
    "pictures_of",
    "show_findings",
    "show_rounds",
]

_AT_ONCE = 100  # in one statement


class Names:
    """Tables, dealers and people by id."""

    def __init__(self, db: Connection) -> None:
        t, d, u = schema.tables, schema.dealers, schema.users
        self.tables = {
            i: {"id": i, "site": s, "name": n} for i, s, n in db.execute(select(t.c.id, t.c.site, t.c.name))
        }
        self.dealers = {i: {"id": i, "name": n} for i, n in db.execute(select(d.c.id, d.c.name))}
        self.people = {i: {"id": i, "name": n} for i, n in db.execute(select(u.c.id, u.c.name))}


def show_findings(
    db: Connection, rows: Sequence[Any], house: HouseTime, names: Names | None = None
) -> list[dict[str, Any]]:
    """Rows of `findings` as the page gets them."""
    names = names or Names(db)
    said = [json.loads(r.body) for r in rows]
    refs = {(r.table_id, ref) for r, b in zip(rows, said, strict=True) for ref in _refs(b)}
    refs |= {(r.table_id, clip_ref(r.uid)) for r in rows}
    here = _here(db, refs)
    rounds = {r.round_id for r in rows if r.round_id is not None}
    held: dict[int, tuple[int, bool]] = {}
    if rounds:
        c = schema.rounds.c
        found = db.execute(select(c.id, c.number, c.held).where(c.id.in_(rounds)))
        held = {i: (n, h) for i, n, h in found}
    out = []
    for r, b in zip(rows, said, strict=True):
        what = unit(r.kind)
        sentence, source = rule_sentence(clean(b.get("rule"), 100))
        number, is_held = held.get(r.round_id, (None, False))
        verdict = None
        if r.status != "open":
            verdict = {
                "by": names.people.get(r.verdict_by),
                "at": to_text(r.verdict_at),
                "reason": r.verdict_reason,
                "note": r.verdict_note or "",
            }
        out.append(
            {
                "id": r.id,
                "uid": r.uid,
                "table": names.tables.get(r.table_id),
                "round_id": r.round_id,
                "round": number,
                "at": to_text(r.at),
                "recorder_at": to_text(house.recorder(r.at)),
                "gaming_day": day_text(r.day),
                "shift": r.shift,
                "dealer": names.dealers.get(r.dealer_id),
                "kind": r.kind,
                "title": title(r.kind),
                "seat": r.seat,
                "hand": r.hand,
                "severity": r.severity,
                "text": clean(b.get("text"), 500),
                "expected": b.get("expected") if isinstance(b.get("expected"), (int, str)) else None,
                "observed": b.get("observed") if isinstance(b.get("observed"), (int, str)) else None,
                "unit": what,
                "expected_text": in_words(b.get("expected"), what),
                "observed_text": in_words(b.get("observed"), what),
                "amount": r.amount,
                "favours": r.favours,
                "rule": clean(b.get("rule"), 100),
                "sentence": sentence,
                "source": source,
                "reason": clean(b.get("reason"), 100) or None,
                "confidence": b["confidence"] if isinstance(b.get("confidence"), (int, float)) else None,
                "pictures": pictures_of(b, r.table_id, here),
                "clip": _clip(r, here),
                "status": r.status,
                "verdict": verdict,
                "assigned": names.people.get(r.assigned_to),
                "notes": r.notes,
                "held": bool(is_held),
                "version": r.version,
            }
        )
    return out


def show_rounds(
    db: Connection, rows: Sequence[Any], house: HouseTime, names: Names | None = None
) -> list[dict[str, Any]]:
    """Rows of `rounds` as the page gets them."""
    names = names or Names(db)
    f = schema.findings.c
    ids = [r.id for r in rows]
    own: dict[int, list[dict[str, Any]]] = {}
    if ids:
        found = db.execute(
            select(f.round_id, f.id, f.kind, f.severity, f.status)
            .where(f.round_id.in_(ids))
            .order_by(f.t, f.id)
        )
        for round_id, i, kind, severity, status in found:
            item = {"id": i, "kind": kind, "title": title(kind), "severity": severity, "status": status}
            own.setdefault(round_id, []).append(item)
    said = bodies(db, rows)
    out = []
    for r in rows:
        body = said.get((r.boot_id, r.seq), {})
        out.append(
            {
                "id": r.id,
                "table": names.tables.get(r.table_id),
                "number": r.number,
                "started_at": to_text(r.started_at),
                "ended_at": to_text(r.ended_at),
                "recorder_at": to_text(house.recorder(r.ended_at)),
                "gaming_day": day_text(r.day),
                "shift": r.shift,
                "dealer": names.dealers.get(r.dealer_id),
                "seats": r.seats,
                "hands": r.hands,
                "handle": r.handle,
                "net": r.net,
                "dealer_cards": [c if isinstance(c, str) else None for c in body.get("dealer", [])],
                "findings": own.get(r.id, []),
                "held": bool(r.held),
                "notation": notation(body),
            }
        )
    return out


def bodies(db: Connection, rows: Iterable[Any]) -> dict[tuple[int, int], dict[str, Any]]:
    """What tables sent of rows of `rounds`, by (boot_id, seq)."""
    i, r = schema.items.c, schema.rounds.c
    ids = [row.id for row in rows]
    said = select(i.boot_id, i.seq, i.body).join(schema.rounds, and_(i.boot_id == r.boot_id, i.seq == r.seq))
    out = {}
    for n in range(0, len(ids), _AT_ONCE):
        for boot, seq, body in db.execute(said.where(r.id.in_(ids[n : n + _AT_ONCE]))):
            out[boot, seq] = json.loads(body)
    return out


def notation(body: Mapping[str, Any]) -> str:
    """A round as text, "" when it is none that can be written down."""
    try:
        return write(round_record(body))
    except (UserError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError):
        return ""


def live(state: Mapping[str, Any] | None, at: int | None) -> dict[str, Any]:
    """The table as it stands, from its `state`; what is malformed is left out."""
    state = state or {}
    phase = clean(state.get("phase"), 60)
    hands = [_hand(h) for h in _dicts(state.get("hands"))]
    acting = phase.removeprefix("players act: seat ") if phase.startswith("players act: seat ") else ""
    for h in hands:
        if str(h["seat"]) == acting and not h["status"]:
            h["turn"] = True
            break
    dealer = _hand(state.get("dealer") if isinstance(state.get("dealer"), dict) else {})
    dealer["turn"] = phase.startswith("dealer")
    number = state.get("round")
    return {
        "round": number if type(number) is int else None,
        "phase": phase,
        "at": to_text(at),
        "dealer": dealer,
        "hands": hands,
    }


def _hand(said: Any) -> dict[str, Any]:
    cards = said.get("cards") if isinstance(said.get("cards"), list) else []
    return HandView(
        seat=_number(said.get("seat")) or 0,
        hand=_number(said.get("hand")) or 0,
        cards=tuple(c if isinstance(c, str) and len(c) == 2 else None for c in cards[:30]),
        total=clean(said.get("total"), 30),
        wager=_number(said.get("wager")),
        status=clean(said.get("status"), 30),
        insurance=_number(said.get("insurance")),
    ).to_json() | {"turn": False}


def pictures_of(body: Mapping[str, Any], table_id: int, here: set[tuple[int, str]]) -> list[dict[str, Any]]:
    """A finding's or an event's pictures: one before, one during, one after."""
    by_role: dict[str, str] = {}
    for ref in _refs(body):
        role = ref.rpartition("-")[2]
        role = role if role in ("before", "after") else "during"
        if role != "before" or role not in by_role:
            by_role[role] = ref
    return [
        {
            "role": role,
            "ref": by_role[role],
            "url": f"/api/evidence/{table_id}/{by_role[role]}.jpg",
            "here": (table_id, by_role[role]) in here,
        }
        for role in ("before", "during", "after")
        if role in by_role
    ]


def evidence_of(events: Iterable[Mapping[str, Any]], findings: Iterable[str] = ()) -> set[str]:
    """The references of the pictures of events, and of findings as they are stored."""
    return {ref for body in (*events, *map(json.loads, findings)) for ref in _refs(body)}


def detail_of(text: str) -> dict[str, Any]:
    """The detail of a line of the audit log; {} of one that was cut off."""
    try:
        said = json.loads(text)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _clip(row: Any, here: set[tuple[int, str]]) -> dict[str, Any]:
    ref = clip_ref(row.uid)
    return {
        "ref": ref,
        "url": f"/api/evidence/{row.table_id}/{ref}.mjpeg",
        "here": (row.table_id, ref) in here,
    }


def _here(db: Connection, refs: set[tuple[int, str]]) -> set[tuple[int, str]]:
    p = schema.pictures.c
    by_table: dict[int, list[str]] = {}
    for table, ref in sorted(refs):
        by_table.setdefault(table, []).append(ref)
    own = [and_(p.table_id == table, p.ref.in_(named)) for table, named in by_table.items()]
    out = set()
    for n in range(0, len(own), _AT_ONCE):
        found = db.execute(select(p.table_id, p.ref).where(or_(*own[n : n + _AT_ONCE])))
        out |= {(table, ref) for table, ref in found}
    return out


def _refs(body: Mapping[str, Any]) -> list[str]:
    refs = body.get("evidence")
    # anything else could name another address than a picture's
    known = refs[:12] if isinstance(refs, list) else []
    return [r for r in known if isinstance(r, str) and REFERENCE.fullmatch(r)]


def _dicts(value: object) -> list[dict[str, Any]]:
    return [v for v in value[:60] if isinstance(v, dict)] if isinstance(value, list) else []


def _number(value: object) -> int | None:
    return value if type(value) is int and abs(value) < 10**13 else None
