"""What a list is asked for: filters, page by page, and how many there are.

In: a request's query. Out: conditions for the store. A page begins after the last row of the one before it,
so that a list does not shift while it is being read.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    String,
    Text,
    cast,
    column,
    func,
    literal,
    literal_column,
    select,
    tuple_,
)
from sqlalchemy.dialects.postgresql import JSON

from pitwatch.pit import schema
from pitwatch.pit.house_time import HouseTime, day_number

__all__ = [
    "BadFilter",
    "Few",
    "Page",
    "Query",
    "count",
    "few",
    "of_tables",
    "there_is",
    "total",
    "unindexed",
    "where_and_when",
]

COUNTED = 10_000


class BadFilter(ValueError):  # noqa: N818 - what is said to who asks
    """A filter that is none; `field` names it, the message says what it should be."""

    def __init__(self, field: str, message: str, code: str = "invalid") -> None:
        super().__init__(message)
        self.field = field
        self.code = code


class Query:
    """The filters of a request, each checked when it is read."""

    def __init__(
        self,
        items: Sequence[tuple[str, str]],
        known: Collection[str],
        house: HouseTime,
    ) -> None:
        """Raises BadFilter for a filter that is not `known`, or one given too often."""
        self.house = house
        self._values: dict[str, list[str]] = {}
        for key, value in items:
            if key not in known:
                shown = key[:40]
                raise BadFilter(shown, f"There is no filter {shown!r} here; there are {', '.join(known)}.")
            if len(value) > 300 or "\x00" in value:
                raise BadFilter(key, f"{key!r} is too long, or no text.")
            self._values.setdefault(key, []).append(value)
            if len(self._values[key]) > 50:
                raise BadFilter(key, f"{key!r} was given too often.")

    def all(self, key: str) -> list[str]:
        """Every value of a filter that is not empty."""
        return [v for v in self._values.get(key, []) if v != ""]

    def one(self, key: str) -> str | None:
        """Its last value."""
        return next(reversed(self.all(key)), None)

    def whole(self, key: str, low: int = 0, high: int = 10**15) -> int | None:
        """A whole number."""
        value = self.one(key)
        return None if value is None else _whole(key, value, low, high)

    def wholes(self, key: str, low: int = 0, high: int = 10**15) -> list[int]:
        """Whole numbers."""
        return [_whole(key, v, low, high) for v in self.all(key)]

    def words(self, key: str, allowed: Collection[str]) -> list[str]:
        """Words out of a list."""
        for value in self.all(key):
            if value not in allowed:
                raise BadFilter(key, f"{key!r} should be one of {', '.join(allowed)}.")
        return self.all(key)

    def word(self, key: str, allowed: Collection[str], usual: str) -> str:
        """One word out of a list."""
        found = self.words(key, allowed)
        return found[-1] if found else usual

    def yes(self, key: str) -> bool | None:
        """true or false."""
        found = self.words(key, ("true", "false"))
        return None if not found else found[-1] == "true"

    def instant(self, key: str) -> int | None:
        """Milliseconds of an instant, or of a date or time of the house."""
        value = self.one(key)
        if value is None:
            return None
        try:
            return self.house.instant(value)
        except (ValueError, OverflowError):
            raise BadFilter(key, f"{key!r} should be a date or an instant, like 2026-11-24T14:00.") from None

    def days(self, key: str) -> list[int]:
        """Gaming days."""
        try:
            return [day_number(v) for v in self.all(key)]
        except ValueError:
            raise BadFilter(key, f"{key!r} should be a date, like 2026-11-24.") from None

    def span(self, column: ColumnElement[int]) -> list[ColumnElement[bool]]:
        """`from` and `to` of a column of instants."""
        out: list[ColumnElement[bool]] = []
        if (first := self.instant("from")) is not None:
            out.append(column >= first)
        if (last := self.instant("to")) is not None:
            out.append(column < last)
        return out


def where_and_when(
    db: Connection, q: Query, c: Any, time: ColumnElement[int], most: int = 10**15
) -> list[ColumnElement[bool]]:
    """What the filters that findings and rounds share ask of the columns `c`: table, site, dealer, day, shift
    and the span of `time`. most: the largest id that is taken for one."""
    out = q.span(time)
    out += of_tables(db, q, c.table_id, most)
    if dealers := q.wholes("dealer", 0, most):
        out.append(c.dealer_id.in_(dealers))
    if days := q.days("day"):
        out.append(c.day.in_(days))
    if shifts := q.all("shift"):
        out.append(c.shift.in_(shifts))
    return out


def of_tables(db: Connection, q: Query, table_id: ColumnElement[int], most: int) -> list[ColumnElement[bool]]:
    """What the filters of table and site ask of the column `table_id`."""
    named, sites = q.wholes("table", 0, most), q.all("site")
    if not sites and len(named) < 2:
        return [table_id == n for n in named]
    t = schema.tables.c
    every = {row.id: row.site for row in db.execute(select(t.id, t.site))}
    wanted = sorted(
        i for i, site in every.items() if (not named or i in named) and (not sites or site in sites)
    )
    if len(wanted) == len(every):
        return []
    # of many tables the newest are found sooner by going through all in order of time, not table by table
    many = len(wanted) > max(1, len(every) // 10)
    return [(unindexed(table_id) if many else table_id).in_(wanted)]


class Page:
    """`limit` and `cursor` of a request, over rows ordered by `keys` downwards (or upwards)."""

    def __init__(self, query: Query, usual: int = 50) -> None:
        """Raises BadFilter."""
        self.limit = query.whole("limit", 1, 500) or usual
        self._after: list[Any] | None = None
        if (cursor := query.one("cursor")) is not None:
            try:
                after = json.loads(base64.urlsafe_b64decode(cursor.encode()))
                if not isinstance(after, list) or not all(type(v) is int and abs(v) < 2**62 for v in after):
                    raise ValueError
            except (ValueError, RecursionError):
                raise BadFilter("cursor", "This cursor is none of ours.", "bad_cursor") from None
            self._after = after

    def apply(
        self, statement: Select[Any], keys: Sequence[ColumnElement[Any]], down: bool = True
    ) -> Select[Any]:
        """The rows of this page and one more, ordered."""
        if self._after is not None:
            if len(self._after) != len(keys):
                raise BadFilter("cursor", "This cursor is of another list.", "bad_cursor")
            last = tuple_(*(literal(v) for v in self._after))
            statement = statement.where(tuple_(*keys) < last if down else tuple_(*keys) > last)
        order = [k.desc() if down else k.asc() for k in keys]
        return statement.order_by(*order).limit(self.limit + 1)

    def place(self) -> int | None:
        """Where this page begins, of a list that is cut from the whole."""
        if self._after is None:
            return None
        if len(self._after) != 1 or self._after[0] < 0:
            raise BadFilter("cursor", "This cursor is of another list.", "bad_cursor")
        return int(self._after[0])

    @staticmethod
    def cursor_of(values: Sequence[Any]) -> str:
        """The cursor of the page that begins after these values."""
        text = json.dumps([int(v) for v in values], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode()

    def cut(self, rows: Sequence[Any], key: Any) -> tuple[list[Any], str | None]:
        """The rows of the page, and the cursor of the next; key: a row's values of `keys`."""
        if len(rows) <= self.limit:
            return list(rows), None
        kept = list(rows[: self.limit])
        return kept, self.cursor_of(key(kept[-1]))


def total(n: int) -> dict[str, Any]:
    """`n` as a list says it: exact up to 10,000."""
    return {"count": min(n, COUNTED), "more": n > COUNTED}


def count(db: Connection, statement: Select[Any]) -> Mapping[str, Any]:
    """How many rows a statement has, exact up to 10,000."""
    some = statement.order_by(None).limit(COUNTED + 1).subquery()
    return total(db.execute(select(func.count()).select_from(some)).scalar_one())


def there_is(*where: ColumnElement[bool]) -> ColumnElement[bool]:
    """EXISTS, in words by which it is looked up for each row come to, never worked out for all beforehand."""
    found = select(literal_column("1")).where(*where).limit(1).scalar_subquery()
    return func.coalesce(found, literal_column("0")) > literal_column("0")


def unindexed(c: ColumnElement[Any]) -> ColumnElement[Any]:
    """A column in words by which no index of it is used: another one, known to say more, is to lead."""
    return c + literal_column("''" if isinstance(c.type, String) else "0")


class Few(NamedTuple):
    """Different ids that a statement names: how many, None when it is not known; and which, unless too many.

    ids: JSON, which the database made and takes back as it is.
    """

    n: int | None
    ids: str | None

    def holds(self, db: Connection, id_column: ColumnElement[int]) -> ColumnElement[bool]:
        """That a column is one of them."""
        assert self.ids is not None
        given = literal(self.ids, Text)
        if db.dialect.name == "sqlite":
            return id_column.in_(select(column("value")).select_from(func.json_each(given)))
        each = func.json_array_elements_text(cast(given, JSON)).table_valued("value")
        return id_column.in_(select(cast(each.c.value, BigInteger)))


def few(db: Connection, statement: Select[Any]) -> Few:
    """The ids that a statement of one column names, if they are so few that they are counted.

    So that what is rare is looked up once, and what is common is known to be so without going through it all.
    """
    if db.dialect.name == "sqlite":
        # the limit keeps it from going through all of a table in the order of these ids, to tell them apart
        named = statement.limit(2**62).subquery()
        some = select(named.c[0].label("id")).distinct().limit(COUNTED + 1).subquery()
        n, ids = db.execute(select(func.count(), func.json_group_array(some.c.id))).one()
        return Few(n, ids if n <= COUNTED else None)
    # PostgreSQL tells apart only when it has them all
    most = 3 * COUNTED
    looked = statement.limit(most).cte("looked")
    some = select(looked.c[0].label("id")).distinct().subquery()
    seen = select(func.count()).select_from(looked).scalar_subquery()
    n, ids, times = db.execute(select(func.count(), cast(func.json_agg(some.c.id), Text), seen)).one()
    if n > COUNTED or times >= most:
        return Few(n if n > COUNTED else None, None)
    return Few(n, ids or "[]")


def _whole(key: str, value: str, low: int, high: int) -> int:
    try:
        number = int(value) if value.isascii() else None
    except ValueError:
        number = None
    if number is None or not low <= number <= high:
        raise BadFilter(key, f"{key!r} should be a whole number from {low} to {high}.")
    return number
