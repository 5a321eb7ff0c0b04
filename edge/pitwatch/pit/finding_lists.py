"""Findings as they are looked for, counted and judged.

In: filters, verdicts. Out: statements and rows over the store.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    case,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)

from pitwatch.game.findings import KINDS
from pitwatch.pit import schema
from pitwatch.pit.accounts import Caller
from pitwatch.pit.filters import BadFilter, Query, few, there_is, unindexed, where_and_when
from pitwatch.pit.meaning import title, wilson
from pitwatch.pit.sql import now

__all__ = [
    "FILTERS",
    "SORTS",
    "bundled",
    "conditions",
    "judge",
    "precision",
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
_LEADING = ("table", "kind", "seat", "dealer", "day", "round", "amount_min", "amount_max", "assigned")
SORTS = ("newest", "oldest", "worst")
STATUSES = ("open", "confirmed", "dismissed")
_f = schema.findings.c


def conditions(db: Connection, q: Query, caller: Caller, c: Any = _f) -> list[ColumnElement[bool]]:
    """What the filters ask of a finding's columns `c`."""
    out = where_and_when(db, q, c, c.at)
    if rounds := q.wholes("round"):
        out.append(c.round_id.in_(rounds))
    if kinds := q.words("kind", tuple(KINDS)):
        out.append(c.kind.in_(kinds))
    if seats := q.wholes("seat", 0, 999):
        out.append(c.seat.in_(seats))
    if severities := q.words("severity", ("alert", "notice")):
        out.append(c.severity.in_(severities))
    if statuses := q.words("status", STATUSES):
        # nearly all findings are open, or hardly any: whatever else is asked leads sooner
        out.append((unindexed(c.status) if any(map(q.all, _LEADING)) else c.status).in_(statuses))
    low, high = q.whole("amount_min"), q.whole("amount_max")
    money = [c.amount >= low] if low is not None else []
    money += [c.amount <= high] if high is not None else []
    if money:
        rare = few(db, select(c.id).where(*money))
        out += money if rare.ids is None else [rare.holds(db, c.id)]
    if (assigned := q.one("assigned")) is not None:
        out.append(_assigned(assigned, caller, c.assigned_to))
    if (held := q.yes("held")) is not None:
        # as the index of what is held says it
        kept = select(schema.rounds.c.id).where(literal_column("rounds.held"))
        out.append(c.round_id.in_(kept) if held else or_(c.round_id.is_(None), c.round_id.not_in(kept)))
    return out


def _assigned(value: str, caller: Caller, to: ColumnElement[int]) -> ColumnElement[bool]:
    if value == "nobody":
        return to.is_(None)
    if value == "me":
        return to == (caller.user_id or -1)
    if not (value.isascii() and value.isdigit() and len(value) < 16):
        raise BadFilter("assigned", "'assigned' should be a person's id, 'me' or 'nobody'.")
    return to == int(value)


def sort_keys(sort: str, c: Any = _f) -> tuple[list[ColumnElement[Any]], bool]:
    """The columns of an order, and whether it goes downwards."""
    if sort == "worst":
        # as the index says it
        name = f"{c.id.table.name}."
        return [*(literal_column(w.format(name)) for w in schema.WORST), c.at, c.id], True
    return [c.at, c.id], sort == "newest"


class _Unindexed:
    """Columns of rows that are looked up one by one: what else is asked of them leads nowhere."""

    def __init__(self, columns: Any) -> None:
        self._columns = columns

    def __getattr__(self, name: str) -> ColumnElement[Any]:
        return unindexed(getattr(self._columns, name))


def bundled(
    db: Connection, q: Query, caller: Caller, sort: str
) -> tuple[Select[Any], list[ColumnElement[Any]], bool]:
    """Findings, one of each round: the first of it in this order, whose place is the bundle's.

    A finding whose round is not over stands for itself. With the columns of the order, and whether it goes
    downwards; `key` is the round's id, or the finding's own as a negative number.
    """
    f, g = schema.findings, schema.findings.alias("other")
    keys, down = sort_keys(sort)
    # a bundle is as old as its newest finding, either way
    order, others = (sort_keys(sort if sort == "worst" else "newest", c)[0] for c in (f.c, g.c))
    later = tuple_(*others) > tuple_(*order)
    also = conditions(db, q, caller, _Unindexed(g.c))
    first = ~there_is(g.c.round_id == f.c.round_id, later, *also)
    key = case((f.c.round_id.is_(None), -f.c.id), else_=f.c.round_id)
    found = select(key.label("key")).where(*conditions(db, q, caller), first)
    return found, [*keys[:-1], key], down


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


def precision(
    db: Connection, by: str, where: list[ColumnElement[bool]], tables: Mapping[int, Any]
) -> list[dict[str, Any]]:
    """How many of each kind or table, or both, were confirmed, dismissed and are open."""
    keys = [c for c, name in ((_f.kind, "kind"), (_f.table_id, "table")) if name in by]
    counted = select(*keys, _f.status, func.count().label("n")).where(*where).group_by(*keys, _f.status)
    found: defaultdict[tuple[str, int], dict[str, int]] = defaultdict(dict)
    for row in db.execute(counted).mappings():
        found[row.get("kind", ""), row.get("table_id", 0)][row["status"]] = row["n"]
    return [_precise(kind or None, tables.get(table), n) for (kind, table), n in sorted(found.items())]


def _precise(kind: str | None, table: Any, counts: Mapping[str, int]) -> dict[str, Any]:
    opened, confirmed, dismissed = (counts.get(status, 0) for status in STATUSES)
    n = confirmed + dismissed
    low, high = wilson(confirmed, n)
    return {
        "kind": kind,
        "title": title(kind) if kind else "",
        "table": table,
        "open": opened,
        "confirmed": confirmed,
        "dismissed": dismissed,
        "precision": round(confirmed / n, 4) if n else None,
        "low": None if low is None else round(low, 4),
        "high": None if high is None else round(high, 4),
    }
