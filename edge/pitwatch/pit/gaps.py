"""Noticing what is missing: which `seq` of which boot the store lacks, and when to ask for it again.

In: the store. Out: `Wish`es to publish on `again`. A table has 5 s to bring what is under way; after that it
is asked, twice as long apart each time, up to an hour: a table that is switched off answers when it is back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, and_, bindparam, func, select, update

from pitwatch.pit import schema
from pitwatch.pit.sql import now, writing

__all__ = ["GRACE", "MOST", "Wish", "look_for_gaps"]

GRACE = 5_000  # ms
MOST = 10_000  # seq at a time, as many as a table lets itself be asked for
_AT_ONCE = 50_000  # seq looked at
_SHORTEST, _LONGEST = 10_000, 3_600_000  # ms between two questions for the same


@dataclass(frozen=True)
class Wish:
    """Items `first` to `last` of a boot of a table, once more."""

    site: str
    table: str
    boot: str
    first: int
    last: int

    @property
    def topic(self) -> str:
        """Where to publish it."""
        return f"pitwatch/{self.site}/{self.table}/again"

    @property
    def payload(self) -> bytes:
        """What to publish."""
        return json.dumps({"boot": self.boot, "first": self.first, "last": self.last}).encode()


def look_for_gaps(engine: Engine, boots: Iterable[int] = (), limit: int = 50) -> list[Wish]:
    """Look at `boots` and at those that were incomplete; what to ask for now.

    Of several collectors that look at the same time only one gets the wish. Raises SQLAlchemyError.
    """
    b = schema.boots
    at = now()
    wishes: list[Wish] = []
    with writing(engine) as db:
        waiting = select(b.c.id).where(b.c.missing > 0, b.c.ask_at <= at).order_by(b.c.ask_at).limit(limit)
        incomplete = set(db.execute(waiting).scalars())
        touched = sorted({*boots} - incomplete)
        for first in range(0, len(touched), 500):
            incomplete |= _advance(db, touched[first : first + 500])
        for boot in sorted(incomplete):
            wishes += _look_closely(db, boot, at)
    return wishes


def _advance(db: Connection, boots: list[int]) -> set[int]:
    """Note how far these boots are complete; those in which something is missing."""
    b, i = schema.boots, schema.items
    rows = db.execute(
        select(
            b.c.id,
            b.c.known,
            b.c.complete,
            b.c.missing,
            func.count(i.c.seq).label("n"),
            func.max(i.c.seq).label("last"),
        )
        .outerjoin(i, and_(i.c.boot_id == b.c.id, i.c.seq > b.c.complete))
        .where(b.c.id.in_(boots))
        .group_by(b.c.id, b.c.known, b.c.complete, b.c.missing)
    ).all()
    whole, gaps = [], set()
    for row in rows:
        known = max(row.known, row.last or 0)
        if row.n != known - row.complete:
            gaps.add(row.id)
        elif row.n or row.missing or known != row.known:
            whole.append({"k": row.id, "v": known})
    if whole:
        change = update(b).where(b.c.id == bindparam("k"), b.c.complete <= bindparam("v"))
        db.execute(
            change.values(known=bindparam("v"), complete=bindparam("v"), missing=0),
            sorted(whole, key=lambda w: w["k"]),
        )
    return gaps


def _look_closely(db: Connection, boot: int, at: int) -> list[Wish]:
    """What is missing of a boot, where it is time to ask for it."""
    b, i = schema.boots, schema.items
    row = db.execute(
        select(b, schema.tables.c.site, schema.tables.c.name)
        .join(schema.tables)
        .where(b.c.id == boot)
        .with_for_update(of=b, key_share=True)
    ).one()
    seen = db.execute(select(func.max(i.c.seq)).where(i.c.boot_id == boot)).scalar() or 0
    known = max(row.known, seen)
    step = select(i.c.seq).where(i.c.boot_id == boot, i.c.seq > row.complete, i.c.seq <= known)
    there = db.execute(step.order_by(i.c.seq).limit(_AT_ONCE)).scalars().all()
    upto = there[-1] if len(there) == _AT_ONCE else known
    ranges, complete = _missing(row.complete, upto, there)
    missing = sum(last - first + 1 for first, last in ranges)
    progress = complete > row.complete or missing < row.missing
    values = {"known": known, "complete": complete, "missing": missing}
    wishes: list[Wish] = []
    if missing and not row.missing:
        values |= {"ask_at": at + GRACE, "asks": 0}
    elif missing and row.ask_at <= at:
        asks = 0 if progress else row.asks
        values |= {"asks": asks + 1, "ask_at": at + min(_SHORTEST * 2 ** min(asks, 12), _LONGEST)}
        wishes = _wishes(row.site, row.name, row.boot, ranges)
    if any(getattr(row, k) != v for k, v in values.items()):
        db.execute(update(b).where(b.c.id == boot).values(**values))
    return wishes


def _missing(complete: int, known: int, there: Iterable[int]) -> tuple[list[tuple[int, int]], int]:
    """Ranges that are not there above `complete`, and up to where all is."""
    ranges: list[tuple[int, int]] = []
    last = complete
    for seq in there:
        if seq > last + 1:
            ranges.append((last + 1, seq - 1))
        last = seq
    if last < known:
        ranges.append((last + 1, known))
    return ranges, ranges[0][0] - 1 if ranges else known


def _wishes(site: str, table: str, boot: str, ranges: list[tuple[int, int]]) -> list[Wish]:
    """At most `MOST` seq at a time, in at most eight questions."""
    out: list[Wish] = []
    left = MOST
    for first, last in ranges[:8]:
        last = min(last, first + left - 1)
        out.append(Wish(site, table, boot, first, last))
        left -= last - first + 1
        if left <= 0:
            break
    return out
