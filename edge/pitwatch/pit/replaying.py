"""A round again, from the events that its table sent: step by step, as a record, as a test case.

In: the store. Out: steps with the table as it stood after each, `RoundRecord`, lines of a table-event file.
What came from outside and is malformed makes no steps, never an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from pitwatch.cards import is_card
from pitwatch.errors import UserError
from pitwatch.game.audit import Audit
from pitwatch.game.events import EventError, TableEvent, event_from_json
from pitwatch.game.findings import Finding
from pitwatch.game.log import Header
from pitwatch.game.record import HandRecord, RoundRecord, SideBetRecord
from pitwatch.game.view import TableView
from pitwatch.game.wording import said_of
from pitwatch.pit import schema
from pitwatch.pit.received import small_number

__all__ = [
    "ReplayStep",
    "case_lines",
    "events_of_round",
    "finding_record",
    "header_of",
    "replay_steps",
    "round_record",
]

_BEFORE = 180.0  # seconds in which wagers were laid, when the round before is not known
_AFTER = 8.0  # seconds after its end that a round's last sweep may take
_MOST_EVENTS = 2000


class ReplayStep(NamedTuple):
    """What was on the felt after the events of one instant. said: findings that were certain by then."""

    t: float
    text: str
    event: Mapping[str, Any]
    table: TableView
    said: tuple[Finding, ...]


def round_record(body: Mapping[str, Any]) -> RoundRecord:
    """A round as a table sent it. Raises ValueError, KeyError or TypeError when it is none."""
    return RoundRecord(
        number=_small(body["round"]),
        t_start=float(body["t_start"]),
        t_end=float(body["t_end"]),
        hands=tuple(
            HandRecord(
                seat=_small(h["seat"]),
                hand=_small(h["hand"]),
                cards=_cards(h["cards"]),
                wager=_read(h["wager"]),
                doubled=bool(h.get("doubled", False)),
                stake=_read(h.get("stake")),
                payout=_read(h["payout"]),
                outcome=str(h["outcome"]),
                decisions=tuple(str(d) for d in h.get("decisions", ())),
            )
            for h in body["hands"]
        ),
        dealer=_cards(body["dealer"]),
        insurance=tuple(
            (_small(b["seat"]), _read(b["placed"]), _read(b["payout"])) for b in body.get("insurance", ())
        ),
        findings=tuple(finding_record(f) for f in body.get("findings", ())),
        side_bets=tuple(
            SideBetRecord(_small(b["seat"]), str(b["bet"]), _read(b["placed"]), _read(b["payout"]))
            for b in body.get("side_bets", ())
        ),
    )


def _small(value: object) -> int:
    number = small_number(value)
    if number is None:
        raise ValueError("no number of ours")
    return number


def _read(value: object) -> int | None:
    """An amount; None when it was not read."""
    return None if value is None else _small(value)


def _cards(value: object) -> tuple[str | None, ...]:
    if not isinstance(value, list) or not all(c is None or is_card(c) for c in value):
        raise ValueError("no cards")
    return tuple(value)


def finding_record(f: Mapping[str, Any]) -> Finding:
    """A finding as a table sent it. Raises KeyError when it is none."""
    return Finding(
        t=f["t"],
        kind=f["kind"],
        seat=f.get("seat") or 0,
        text=f["text"],
        hand=f.get("hand") or 0,
        expected=f.get("expected"),
        observed=f.get("observed"),
        severity="notice" if f.get("severity") == "notice" else "alert",
        rule=f.get("rule") or "",
        confidence=f.get("confidence", 1.0),
        reason=f.get("reason"),
        evidence=tuple(f.get("evidence") or ()),
    )


def header_of(db: Connection, table_id: int) -> Header:
    """What the table is judged by; rules that are a file's name are not followed."""
    t = schema.tables.c
    name, text = db.execute(select(t.name, t.header).where(t.id == table_id)).one()
    said = json.loads(text) if text else {}
    rules = said.get("rules", "greektown")
    profile = rules.get("profile", "greektown") if isinstance(rules, Mapping) else rules
    if not isinstance(profile, str) or not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", profile):
        rules = "greektown"
    try:
        header = Header.from_json({"table_events": 1, **said, "rules": rules})
        Audit(header)
    except (EventError, UserError, ValueError, TypeError):
        return Header(table=name)
    return replace(header, table=name)


def events_of_round(db: Connection, row: Any) -> list[tuple[int, TableEvent, Mapping[str, Any]]]:
    """(seq, event, as it was sent) of a round, from the end of the one before it to its own."""
    i, r = schema.items.c, schema.rounds.c
    before = db.execute(
        select(r.t_end)
        .where(r.boot_id == row.boot_id, r.t_start < row.t_start)
        .order_by(r.t_start.desc())
        .limit(1)
    ).scalar()
    first = row.t_start - _BEFORE if before is None else max(before, row.t_start - _BEFORE)
    # events are numbered as they were recorded, and a round is told after its last
    found = db.execute(
        select(i.seq, i.body)
        .where(i.boot_id == row.boot_id, i.kind == "event", i.t > first, i.t <= row.t_end + _AFTER)
        .where(i.seq < row.seq, i.seq > row.seq - 5 * _MOST_EVENTS)
        .order_by(i.t, i.seq)
        .limit(_MOST_EVENTS)
    )
    out = []
    for seq, text in found:
        body = json.loads(text)
        try:
            event = event_from_json(body)
        except (EventError, TypeError, ValueError):
            continue
        out.append((seq, event, body))
    return out


def replay_steps(header: Header, events: list[tuple[int, TableEvent, Mapping[str, Any]]]) -> list[ReplayStep]:
    """What the table looked like after each event; nothing when the events make no round."""
    audit = Audit(header)
    out: list[ReplayStep] = []
    try:
        groups = [(t, list(g)) for t, g in groupby(events, key=lambda e: e[1].t)]
        for n, (t, group) in enumerate(groups):
            said = [s for _, e, _ in group for s in audit.feed(e)]
            following = groups[n + 1][0] if n + 1 < len(groups) else t + 1.0
            said += audit.advance((t + following) / 2)
            table = audit.table
            if n + 1 == len(groups):
                said += audit.finish()
            texts = [said_of(e) for _, e, _ in group]
            found = tuple(s for s in said if isinstance(s, Finding))
            out.append(ReplayStep(t, "; ".join(texts), group[-1][2], table, found))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, AssertionError, ArithmeticError):
        return []
    return out


def case_lines(
    header: Header, events: list[tuple[int, TableEvent, Mapping[str, Any]]], findings: list[Any], note: str
) -> str:
    """A table-event file with what the audit must say about it, from the confirmed of its `findings`."""
    lines: list[dict[str, Any]] = [header.to_json()]
    lines += [e.to_json() for _, e, _ in events]
    expect = []
    for f in findings:
        if f.status == "confirmed":
            body = json.loads(f.body)
            one = {"kind": f.kind, "seat": f.seat, "hand": f.hand}
            one |= {k: body[k] for k in ("expected", "observed") if type(body.get(k)) is int}
            expect.append(one)
    lines.append({"note": note, "expect": expect})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
