"""Findings as they are looked for, counted and judged.

In: filters, verdicts. Out: statements and rows over the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, or_, select, update

from pitwatch.game.findings import KINDS
from pitwatch.pit import schema
from pitwatch.pit.accounts import Caller
from pitwatch.pit.filters import BadFilter, Query, where_and_when
from pitwatch.pit.meaning import title, wilson
from pitwatch.pit.sql import now

__all__ = [
    "FILTERS",
    "SORTS",
    "conditions",
    "judge",
    "precision",
    "precision_item",
    "say",
    "sort_keys",
    "tell",
]

FILTERS = (
    "table",
    "site",
    "kind",
    "seat",
    "severity",
    "status",
    "assigned",
    "dealer",
    "from",
    "to",
    "day",
    "shift",
    "amount_min",
    "amount_max",
    "round",
    "held",
    "sort",
    "limit",
    "cursor",
)
SORTS = ("newest", "oldest", "worst")
STATUSES = ("open", "confirmed", "dismissed")
_f = schema.findings.c


def conditions(q: Query, caller: Caller) -> list[ColumnElement[bool]]:
    """What the filters ask of a finding."""
    out = where_and_when(q, _f, _f.at)
    if rounds := q.wholes("round"):
        out.append(_f.round_id.in_(rounds))
    if kinds := q.words("kind", tuple(KINDS)):
        out.append(_f.kind.in_(kinds))
    if seats := q.wholes("seat", 0, 999):
        out.append(_f.seat.in_(seats))
    if severities := q.words("severity", ("alert", "notice")):
        out.append(_f.severity.in_(severities))
    if statuses := q.words("status", STATUSES):
        out.append(_f.status.in_(statuses))
    if (low := q.whole("amount_min")) is not None:
        out.append(_f.amount >= low)
    if (high := q.whole("amount_max")) is not None:
        out.append(_f.amount <= high)
    if (assigned := q.one("assigned")) is not None:
        out.append(_assigned(assigned, caller))
    if (held := q.yes("held")) is not None:
        kept = select(schema.rounds.c.id).where(schema.rounds.c.held)
        out.append(_f.round_id.in_(kept) if held else or_(_f.round_id.is_(None), _f.round_id.not_in(kept)))
    return out


def _assigned(value: str, caller: Caller) -> ColumnElement[bool]:
    if value == "nobody":
        return _f.assigned_to.is_(None)
    if value == "me":
        return _f.assigned_to == (caller.user_id or -1)
    if not (value.isascii() and value.isdigit() and len(value) < 16):
        raise BadFilter("assigned", "'assigned' should be a person's id, 'me' or 'nobody'.")
    return _f.assigned_to == int(value)


def sort_keys(sort: str) -> tuple[list[ColumnElement[Any]], bool]:
    """The columns of an order, and whether it goes downwards."""
    if sort == "worst":
        open_alert = case((and_(_f.status == "open", _f.severity == "alert"), 1), else_=0)
        return [open_alert, func.coalesce(_f.amount, 0), _f.at, _f.id], True
    return [_f.at, _f.id], sort == "newest"


def judge(
    db: Connection,
    ids: Sequence[int],
    caller: Caller,
    verdict: str,
    reason: str | None,
    text: str,
    version: int | None = None,
) -> list[int]:
    """Confirm, dismiss or open findings again; the ids of those that were: nobody was faster."""
    f = schema.findings
    at = now()
    values: dict[str, Any] = {"status": verdict, "version": f.c.version + 1}
    if verdict == "open":
        values |= dict.fromkeys(("verdict_by", "verdict_at", "verdict_reason", "verdict_note"))
    else:
        values |= {
            "verdict_by": caller.user_id,
            "verdict_at": at,
            "verdict_reason": reason,
            "verdict_note": text,
        }
    change = update(f).where(f.c.id.in_(ids)).values(**values).returning(f.c.id)
    done = sorted(db.execute(change if version is None else change.where(f.c.version == version)).scalars())
    word = {"open": "opened", "confirmed": "confirmed", "dismissed": "dismissed"}[verdict]
    for one in done:
        say(db, one, caller, word, text if not reason else f"{reason}{': ' if text else ''}{text}")
    tell(db, done)
    return done


def say(db: Connection, finding: int, caller: Caller, what: str, text: str) -> None:
    """A line of a finding's thread."""
    db.execute(
        schema.thread.insert().values(
            finding_id=finding, at=now(), user_id=caller.user_id, who=caller.name, what=what, text=text
        )
    )


def tell(db: Connection, ids: Sequence[int]) -> None:
    """Have the pages told that findings have changed."""
    if not ids:
        return
    rows = db.execute(select(_f.id, _f.table_id).where(_f.id.in_(ids))).all()
    news = [{"at": now(), "what": "finding", "table_id": t, "ref": str(i)} for i, t in rows]
    if news:
        db.execute(schema.changes.insert(), news)


def precision(by: str) -> Select[Any]:
    """How many of each kind or table were confirmed, dismissed and are open."""
    keys = [c for c, name in ((_f.kind, "kind"), (_f.table_id, "table")) if name in by]
    counts = [func.sum(case((_f.status == status, 1), else_=0)).label(status) for status in STATUSES]
    return select(*keys, *counts).group_by(*keys).order_by(*keys)


def precision_item(row: Any, tables: dict[int, Any]) -> dict[str, Any]:
    """A row of `precision` as the page gets it."""
    kind, table = getattr(row, "kind", None), getattr(row, "table_id", None)
    confirmed, dismissed = int(row.confirmed), int(row.dismissed)
    n = confirmed + dismissed
    low, high = wilson(confirmed, n)
    return {
        "kind": kind,
        "title": title(kind) if kind else "",
        "table": tables.get(table) if table is not None else None,
        "open": int(row.open),
        "confirmed": confirmed,
        "dismissed": dismissed,
        "precision": round(confirmed / n, 4) if n else None,
        "low": None if low is None else round(low, 4),
        "high": None if high is None else round(high, 4),
    }
