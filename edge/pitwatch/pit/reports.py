"""What the house asks at the end of a shift: per dealer, table, shift, day and seat.

In: filters. Out: sums, rates with their confidence intervals, a series for charts. Money is cents.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, and_, case, cast, func, or_, select

from pitwatch.game.audit import Audit
from pitwatch.game.record import RoundRecord
from pitwatch.game.statistics import SeatFigures, ShoeFigures, add_round
from pitwatch.pit import schema
from pitwatch.pit.filters import BadFilter, Query, where_and_when
from pitwatch.pit.house_time import HouseTime, day_text, to_text
from pitwatch.pit.meaning import wilson
from pitwatch.pit.replaying import header_of, round_record
from pitwatch.pit.shown import Names

__all__ = ["FILTERS", "KEYS", "report", "seats", "series"]

FILTERS = ("from", "to", "day", "table", "site", "dealer", "shift")
KEYS = ("dealer", "table", "shift", "day")
_SLOT = 300_000  # ms: a table plays during a slot in which a round ended
_MOST_ROUNDS = 50_000
_r, _f, _u = schema.rounds.c, schema.findings.c, schema.unverified.c


def report(db: Connection, by: str, q: Query) -> list[dict[str, Any]]:
    """One line a dealer, table, shift or day."""
    columns = {"dealer": "dealer_id", "table": "table_id", "shift": "shift", "day": "day"}
    name = columns[by]
    slots = func.count(
        func.distinct(cast(_r.table_id, BigInteger) * 100_000_000 + cast(_r.ended_at, BigInteger) // _SLOT)
    )
    key = _r[name]
    known_net = case((_r.net.is_not(None), _r.handle), else_=0)
    rounds = db.execute(
        select(
            key.label("key"),
            func.count().label("rounds"),
            func.sum(_r.hands).label("hands"),
            slots.label("slots"),
            func.sum(_r.handle).label("handle"),
            func.sum(_r.net).label("net"),
            func.sum(known_net).label("known"),
        )
        .where(*where_and_when(db, q, _r, _r.ended_at))
        .group_by(key)
    ).all()
    amount = case((_f.status != "dismissed", func.coalesce(_f.amount, 0)), else_=0)
    found = db.execute(
        select(
            _f[name].label("key"),
            func.sum(case((and_(_f.severity == "alert", _f.status != "dismissed"), 1), else_=0)).label(
                "errors"
            ),
            func.sum(case((_f.status == "confirmed", 1), else_=0)).label("confirmed"),
            func.sum(case((_f.status == "dismissed", 1), else_=0)).label("dismissed"),
            func.sum(amount).label("money"),
            func.sum(case((_f.favours == "house", amount), else_=0)).label("house"),
            func.sum(case((_f.favours == "player", amount), else_=0)).label("players"),
        )
        .where(*where_and_when(db, q, _f, _f.at))
        .group_by(_f[name])
    )
    doubts = db.execute(
        select(_u[name].label("key"), func.count().label("n"))
        .where(*where_and_when(db, q, _u, _u.at))
        .group_by(_u[name])
    )
    by_key: defaultdict[Any, dict[str, Any]] = defaultdict(lambda: defaultdict(int))
    for part in (rounds, found):
        for row in part:
            by_key[row.key] |= {k: int(v or 0) for k, v in row._mapping.items() if k != "key"}
    for row in doubts:
        by_key[row.key]["unverified"] = int(row.n)
    names = Names(db)
    out = [_line(by, key, v, names) for key, v in by_key.items()]
    if by == "day":
        return sorted(out, key=lambda x: str(x["key"]))
    return sorted(out, key=lambda x: (-(x["error_rate"] or 0.0), str(x["label"])))


def _line(by: str, key: Any, v: dict[str, Any], names: Names) -> dict[str, Any]:
    hands, errors = v.get("hands", 0), v.get("errors", 0)
    hours = v.get("slots", 0) * _SLOT / 3_600_000
    low, high = wilson(min(errors, hands), hands)
    unverified = v.get("unverified", 0)
    label = str(key or "no shift")
    if by == "dealer":
        label = names.dealers.get(key, {"name": "nobody signed in"})["name"]
    elif by == "table":
        label = names.tables.get(key, {"name": "?"})["name"]
    elif by == "day":
        label = day_text(key)
    return {
        "key": day_text(key) if by == "day" else key,
        "label": label,
        "rounds": v.get("rounds", 0),
        "hands": hands,
        "hours": round(hours, 2),
        "hands_per_hour": round(hands / hours, 1) if hours else None,
        "errors": errors,
        "confirmed": v.get("confirmed", 0),
        "dismissed": v.get("dismissed", 0),
        "error_rate": round(errors / hands, 6) if hands else None,
        "error_low": None if low is None else round(low, 6),
        "error_high": None if high is None else round(high, 6),
        "money_in_error": v.get("money", 0),
        "for_house": v.get("house", 0),
        "for_players": v.get("players", 0),
        "handle": v.get("handle", 0),
        "house_net": -v.get("net", 0),
        "hold": round(-v["net"] / v["known"], 4) if v.get("known") else None,
        "judged_share": round(max(0.0, 1 - unverified / hands), 4) if hands else None,
        "unverified": unverified,
    }


def series(db: Connection, bucket: str, q: Query, house: HouseTime) -> list[dict[str, Any]]:
    """Rounds, hands, errors and money by hour or day, oldest first."""
    rounds_key: ColumnElement[Any]
    findings_key: ColumnElement[Any]
    if bucket == "day":
        rounds_key, findings_key = _r.day, _f.day
    else:
        rounds_key, findings_key = _r.ended_at // 3_600_000, _f.at // 3_600_000
    out: defaultdict[int, dict[str, Any]] = defaultdict(
        lambda: {"rounds": 0, "hands": 0, "errors": 0, "handle": 0, "house_net": 0}
    )
    for row in db.execute(
        select(
            rounds_key.label("key"),
            func.count().label("rounds"),
            func.sum(_r.hands).label("hands"),
            func.sum(_r.handle).label("handle"),
            func.sum(_r.net).label("net"),
        )
        .where(*where_and_when(db, q, _r, _r.ended_at))
        .group_by(rounds_key)
    ):
        out[row.key] |= {
            "rounds": row.rounds,
            "hands": int(row.hands or 0),
            "handle": int(row.handle or 0),
            "house_net": -int(row.net or 0),
        }
    for row in db.execute(
        select(findings_key.label("key"), func.count().label("n"))
        .where(*where_and_when(db, q, _f, _f.at), _f.severity == "alert", _f.status != "dismissed")
        .group_by(findings_key)
    ):
        out[row.key]["errors"] = row.n
    keyed = sorted(out.items())[-2000:]
    return [
        {"at": to_text(house.instant(day_text(k)) if bucket == "day" else k * 3_600_000), **v}
        for k, v in keyed
    ]


def seats(db: Connection, q: Query) -> list[dict[str, Any]]:
    """Each seat of the tables asked for: handle, wagers, net, and whether wagers follow the count."""
    tables = q.wholes("table")
    if not tables:
        raise BadFilter("table", "Name the table whose seats are asked for.")
    names = Names(db)
    out = []
    for table in tables[:10]:
        if table not in names.tables:
            continue
        header = header_of(db, table)
        decks = header.decks or Audit(header).profile.decks
        i = schema.items.c
        rows = db.execute(
            select(_r.boot_id, _r.seq, _r.t_start, i.body)
            .join(schema.items, and_(i.boot_id == _r.boot_id, i.seq == _r.seq))
            .where(*where_and_when(db, q, _r, _r.ended_at), _r.table_id == table)
            .order_by(_r.ended_at, _r.id)
            .limit(_MOST_ROUNDS)
        ).all()
        figures: dict[int, SeatFigures] = {}
        fresh = _new_shoes(db, {r.boot_id for r in rows})
        shoe, boot, t = ShoeFigures(decks, from_start=False), None, 0.0
        for row in rows:
            begins = any(t < s <= row.t_start for s in fresh.get(row.boot_id, ()))
            if row.boot_id != boot or begins:
                shoe = ShoeFigures(decks, from_start=row.boot_id == boot)
            boot, t = row.boot_id, row.t_start
            try:
                record = round_record(json.loads(row.body))
                add_round(figures, record, shoe.true_count)
            except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError):
                continue
            for card in _cards(record):
                shoe.take(card)
        out += [{"table": names.tables[table], **figures[s].to_json()} for s in sorted(figures)]
    return out


def _new_shoes(db: Connection, boots: set[int]) -> dict[int, list[float]]:
    """When new shoes came, and shuffles, by boot."""
    i = schema.items.c
    out: defaultdict[int, list[float]] = defaultdict(list)
    if boots:
        begins = or_(i.body.like('%"type":"shoe"%'), i.body.like('%"state":"shuffle"%'))
        found = db.execute(
            select(i.boot_id, i.t).where(i.boot_id.in_(boots), i.kind == "event", begins).order_by(i.t)
        )
        for boot, t in found:
            out[boot].append(t)
    return out


def _cards(record: RoundRecord) -> Iterable[str | None]:
    yield from record.dealer
    for hand in record.hands:
        yield from hand.cards
