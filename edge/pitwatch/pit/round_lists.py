"""Rounds as they are looked for, and as files.

In: filters. Out: statements over the store, and rows of hands for CSV and Parquet.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Select,
    func,
    literal,
    literal_column,
    select,
    tuple_,
)

from pitwatch.cards import RANKS
from pitwatch.game.findings import KINDS
from pitwatch.pit import schema
from pitwatch.pit.filters import BadFilter, Query, few, of_tables, there_is, total, unindexed, where_and_when
from pitwatch.pit.house_time import HouseTime, day_text, to_text
from pitwatch.pit.meaning import bits, rank_bits
from pitwatch.pit.schema import COMMON_OUTCOMES, RARE_OUTCOME
from pitwatch.pit.shown import Names, bodies

__all__ = ["COLUMNS", "FILTERS", "Wanted", "as_csv", "as_parquet", "conditions", "harmless", "lines"]

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
_HANDS = ("table", "seat", "card", "outcome", "amount_min", "amount_max")
_SHORT = 4 * 86_400_000  # ms of hands that are gone through in order of time
_r, _h = schema.rounds.c, schema.hands.c


class Wanted(NamedTuple):
    """What is asked of a round. total: how many rounds are so, where that is known already."""

    where: list[ColumnElement[bool]]
    total: Mapping[str, Any] | None


def conditions(db: Connection, q: Query) -> Wanted:
    """What the filters ask of a round; seat, card, outcome and amounts of one and the same hand.

    What is rare is looked up first, and its rounds named one by one; what is common is found soonest by going
    through the rounds. Raises BadFilter.
    """
    out = where_and_when(db, q, _r, _r.ended_at, 2**53)
    span = _span(db, q)
    if span and q.all("day"):
        out += [_r.ended_at >= span[0], _r.ended_at <= span[1]]  # a table's or a dealer's rounds lie by time
    if numbers := q.wholes("number", 0, 2**31 - 1):
        out.append(_r.number.in_(numbers))
    if (held := q.yes("held")) is not None:
        # as the index of what is held says it
        out.append(literal_column("rounds.held" if held else "NOT rounds.held"))
    known: int | None = None
    if kinds := q.words("finding", ("any", *KINDS)):
        found = _found(db, q, kinds)
        out += found.where
        known = found.n if _only(q, ("finding", "table", "site")) else None
    if wanted := _hand(q, _h):
        hands = _of_hands(db, q, wanted, span)
        out += hands.where
        known = hands.n
    return Wanted(out, None if known is None else total(known))


class _Part(NamedTuple):
    """What some filters ask. n: how many rounds that are, None when it is not known."""

    where: list[ColumnElement[bool]]
    n: int | None = None


def _only(q: Query, keys: tuple[str, ...]) -> bool:
    """Whether nothing but these filters is asked for."""
    return not any(q.all(k) for k in FILTERS if k not in (*keys, "sort", "limit", "cursor"))


def _found(db: Connection, q: Query, kinds: list[str]) -> _Part:
    """Rounds with findings of these kinds."""
    f = schema.findings.c
    # as the index of rounds with findings says it
    some = _r.findings > literal_column("0")
    if "any" in kinds:
        return _Part([some, there_is(f.round_id == _r.id)])
    here = of_tables(db, q, f.table_id, 2**53)
    rare = few(db, select(f.round_id).where(f.kind.in_(kinds), f.round_id.is_not(None), *here))
    if rare.ids is not None:
        return _Part([rare.holds(db, _r.id)], rare.n)
    # by a round's findings, never by all of a kind, which are many
    return _Part([some, there_is(f.round_id == _r.id, unindexed(f.kind).in_(kinds))], rare.n)


def _of_hands(
    db: Connection, q: Query, wanted: list[ColumnElement[bool]], span: tuple[int, int] | None
) -> _Part:
    """Rounds with a hand that is as `wanted`; span: of time, ms, its ends included."""
    tables = q.wholes("table", 0, 2**53)
    here = [*wanted, *([_h.table_id.in_(tables)] if tables else [])]
    if span:
        here += [_h.ended_at >= span[0], _h.ended_at <= span[1]]
    outcomes, cards = q.all("outcome"), q.all("card")
    rarely = bool(outcomes) and not set(COMMON_OUTCOMES) & set(outcomes)
    in_span = (*_HANDS, "from", "to")
    looked: list[tuple[Select[Any], tuple[str, ...]]] = []
    if rarely and len(cards) < 2:
        rare = select(_h.round_id).where(*here, literal_column(RARE_OUTCOME))
        looked.append((rare, in_span))
    elif cards:
        looked.append((_of_cards(db, q, tables), _HANDS))
    elif tables or q.all("amount_min") or q.all("amount_max"):
        looked.append((select(_h.round_id).where(*here), in_span))
    if span and span[1] - span[0] <= _SHORT and not (looked and looked[0][1] == in_span):
        looked.append((select(_h.round_id).where(*here), in_span))
    n = None
    for statement, all_that in looked:
        some = few(db, statement)
        n = some.n if _only(q, all_that) else None
        if some.ids is not None:
            return _Part([some.holds(db, _r.id)], n)
    return _Part([there_is(_h.round_id == _r.id, *wanted)], n)


def _of_cards(db: Connection, q: Query, tables: list[int]) -> Select[Any]:
    """The rounds of hands with these cards, by each card of each hand."""
    c = schema.hand_cards.c
    rare = select(c.round_id).where(c.card.in_(_entries(q.all("card"))), *_hand(q, c))
    if tables or q.all("seat"):
        # all tables named, so that a seat's cards lie together too
        every = tables or db.execute(select(schema.tables.c.id)).scalars().all()
        rare = rare.where(c.table_id.in_(every))
    if outcomes := q.all("outcome"):
        same = (_h.round_id == c.round_id, _h.seat == c.seat, _h.hand == c.hand)
        rare = rare.where(there_is(*same, _h.outcome.in_(outcomes)))
    return rare


def _span(db: Connection, q: Query) -> tuple[int, int] | None:
    """The span of time that is asked for, its ends included, None when it has no beginning."""
    first, last = q.instant("from"), q.instant("to")
    if days := q.days("day"):
        # a day's length is the house's, and may have been changed since
        ends = select(func.min(_r.ended_at), func.max(_r.ended_at)).where(_r.day.in_(days))
        low, high = db.execute(ends).one()
        if low is None:
            return 0, -1
        first, last = max(low, first or low), min(high + 1, last or high + 1)
    if first is None:
        return None
    return first, 2**53 if last is None else last - 1


def _entries(cards: list[str]) -> list[int]:
    """Where to look the first of these cards up: a whole card rather than a rank."""
    card = max(cards, key=len)
    if len(card) == 2:
        return [bits([card]).bit_length() - 1]
    rank = rank_bits([card]).bit_length() - 1
    return [4 * rank, 4 * rank + 1, 4 * rank + 2, 4 * rank + 3, 52 + rank]


def _hand(q: Query, h: Any) -> list[ColumnElement[bool]]:
    """What is asked of a hand's columns `h`, as far as it has them."""
    out: list[ColumnElement[bool]] = []
    if seats := q.wholes("seat", 0, 999):
        out.append(h.seat.in_(seats))
    for card in q.all("card"):
        if card in RANKS and len(card) == 1:
            mask = rank_bits([card])
            out.append(h.ranks.op("&")(mask) == mask)
        elif mask := bits([card]):
            out.append(h.cards.op("&")(mask) == mask)
        else:
            raise BadFilter("card", "'card' should be a card like Ah, or a rank like A.")
    if (outcomes := q.all("outcome")) and "outcome" in h:
        out.append(h.outcome.in_(outcomes))
    if (low := q.whole("amount_min")) is not None:
        out.append(h.stake >= low)
    if (high := q.whole("amount_max")) is not None:
        out.append(h.stake <= high)
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
                page = page.where(tuple_(r.c.ended_at, r.c.id) < tuple_(*map(literal, after)))
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
