"""Rounds as they are looked for, and as files.

In: filters. Out: statements over the store, and rows of hands for CSV and Parquet.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, exists, or_, select

from pitwatch.cards import RANKS
from pitwatch.game.findings import KINDS
from pitwatch.pit import schema
from pitwatch.pit.filters import BadFilter, Query, where_and_when
from pitwatch.pit.house_time import HouseTime, day_text, to_text
from pitwatch.pit.meaning import bits, rank_bits
from pitwatch.pit.shown import Names, bodies

__all__ = ["COLUMNS", "FILTERS", "as_csv", "as_parquet", "conditions", "harmless", "lines"]

FILTERS = (
    "table",
    "site",
    "from",
    "to",
    "day",
    "shift",
    "dealer",
    "number",
    "seat",
    "card",
    "outcome",
    "amount_min",
    "amount_max",
    "finding",
    "held",
    "sort",
    "limit",
    "cursor",
)
COLUMNS = (
    "round_id",
    "site",
    "table",
    "number",
    "started_at",
    "ended_at",
    "gaming_day",
    "shift",
    "dealer",
    "dealer_cards",
    "seat",
    "hand",
    "cards",
    "wager",
    "doubled",
    "stake",
    "payout",
    "outcome",
    "decisions",
    "findings",
)
_NUMBERS = {"round_id", "number", "seat", "hand", "wager", "stake", "payout", "findings"}
MOST_LINES = 1_000_000
_CHUNK = 1000
_r, _h = schema.rounds.c, schema.hands.c


def conditions(q: Query) -> list[ColumnElement[bool]]:
    """What the filters ask of a round; seat, card, outcome and amounts of one and the same hand."""
    out = where_and_when(q, _r, _r.ended_at, 2**53)
    if numbers := q.wholes("number", 0, 2**31 - 1):
        out.append(_r.number.in_(numbers))
    if (held := q.yes("held")) is not None:
        out.append(_r.held if held else ~_r.held)
    if kinds := q.words("finding", ("any", *KINDS)):
        f = schema.findings.c
        own = exists().where(f.round_id == _r.id)
        out.append(_r.findings > 0)
        out.append(own if "any" in kinds else own.where(f.kind.in_(kinds)))
    if hand := _hand(q):
        span = q.span(_h.ended_at)
        out.append(exists().where(_h.round_id == _r.id, *hand, *span))
    return out


def _hand(q: Query) -> list[ColumnElement[bool]]:
    out: list[ColumnElement[bool]] = []
    if seats := q.wholes("seat", 0, 999):
        out.append(_h.seat.in_(seats))
    cards = q.all("card")
    for card in cards:
        if card in RANKS and len(card) == 1:
            mask = rank_bits([card])
            out.append(_h.ranks.op("&")(mask) == mask)
        elif mask := bits([card]):
            out.append(_h.cards.op("&")(mask) == mask)
        else:
            raise BadFilter("card", "'card' should be a card like Ah, or a rank like A.")
    if outcomes := q.all("outcome"):
        out.append(_h.outcome.in_(outcomes))
    if (low := q.whole("amount_min")) is not None:
        out.append(_h.stake >= low)
    if (high := q.whole("amount_max")) is not None:
        out.append(_h.stake <= high)
    return out


def lines(
    engine: Engine, wanted: list[ColumnElement[bool]], house: HouseTime
) -> Iterator[list[dict[str, Any]]]:
    """One line a hand, newest round first, in chunks, at most a million."""
    r = schema.rounds
    after: tuple[int, int] | None = None
    told = 0
    while told < MOST_LINES:
        with engine.connect() as db:
            names = Names(db)
            page = select(r).where(*wanted).order_by(r.c.ended_at.desc(), r.c.id.desc()).limit(_CHUNK)
            if after is not None:
                at, last = after
                page = page.where(or_(r.c.ended_at < at, (r.c.ended_at == at) & (r.c.id < last)))
            rows = db.execute(page).all()
            if not rows:
                return
            after = (rows[-1].ended_at, rows[-1].id)
            chunk = list(_lines(db, rows, names))
        told += len(chunk)
        yield chunk


def _lines(db: Connection, rows: Any, names: Names) -> Iterator[dict[str, Any]]:
    said = bodies(db, rows)
    for row in rows:
        body = said.get((row.boot_id, row.seq), {})
        table = names.tables.get(row.table_id, {"site": "", "name": ""})
        dealer = names.dealers.get(row.dealer_id)
        shared = {
            "round_id": row.id,
            "site": table["site"],
            "table": table["name"],
            "number": row.number,
            "started_at": to_text(row.started_at),
            "ended_at": to_text(row.ended_at),
            "gaming_day": day_text(row.day),
            "shift": row.shift,
            "dealer": dealer["name"] if dealer else None,
            "dealer_cards": _cards(body.get("dealer")),
            "findings": row.findings,
        }
        for h in body.get("hands", []):
            yield shared | {
                "seat": _whole(h.get("seat")),
                "hand": _whole(h.get("hand")),
                "cards": _cards(h.get("cards")),
                "wager": _whole(h.get("wager")),
                "doubled": bool(h.get("doubled")),
                "stake": _whole(h.get("stake")),
                "payout": _whole(h.get("payout")),
                "outcome": str(h.get("outcome") or "")[:40],
                "decisions": " ".join(str(d)[:20] for d in _list(h.get("decisions"))),
            }


def as_csv(chunks: Iterator[list[dict[str, Any]]]) -> Iterator[str]:
    """The lines as CSV, a header first."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for chunk in chunks:
        for line in chunk:
            writer.writerow([harmless(line[c]) for c in COLUMNS])
        yield out.getvalue()
        out.seek(0)
        out.truncate()
    yield out.getvalue()


def as_parquet(chunks: Iterator[list[dict[str, Any]]], path: str) -> None:
    """The lines as a Parquet file; amounts are integer cents, instants UTC text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    form = pa.schema(
        [(c, pa.int64() if c in _NUMBERS else pa.bool_() if c == "doubled" else pa.string()) for c in COLUMNS]
    )
    with pq.ParquetWriter(path, form) as writer:
        for chunk in chunks:
            writer.write_table(pa.Table.from_pylist(chunk, schema=form))


def harmless(value: object) -> object:
    """Text that a spreadsheet would take for a formula, made plain text."""
    return "'" + value if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _cards(value: object) -> str:
    return " ".join(c if isinstance(c, str) and len(c) == 2 else "??" for c in _list(value))


def _list(value: object) -> list[Any]:
    return value[:60] if isinstance(value, list) else []


def _whole(value: object) -> int | None:
    return value if type(value) is int and abs(value) < 2**53 else None
