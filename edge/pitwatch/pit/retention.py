"""What the store forgets when its time is over, as the settings say; what is on legal hold it never forgets.

In: the store, now and then. Out: rows deleted, a bounded number a call, so that nothing waits long for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Engine, and_, delete, func, select, tuple_

from pitwatch.pit import schema
from pitwatch.pit.clips import clip_ref
from pitwatch.pit.replaying import events_of_round
from pitwatch.pit.rows import card_rows
from pitwatch.pit.settings import load_settings
from pitwatch.pit.shown import evidence_of
from pitwatch.pit.sql import now, reading, writing

__all__ = ["Retention", "held_pictures"]

_DAY = 86_400_000  # ms
_ROUNDS, _PICTURES = 200, 500  # a transaction
_STEPS = 5


class Retention:
    """Forgets; remembers how far it has looked."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._after: tuple[int, int, str] = (0, 0, "")

    def forget(self) -> tuple[int, int]:
        """Delete what is too old, a part of it: how many rounds and pictures went. Raises SQLAlchemyError."""
        with reading(self._engine) as db:
            settings = load_settings(db)
        rounds = pictures = 0
        for _ in range(_STEPS):
            gone = self._rounds(settings)
            rounds += gone
            if gone < _ROUNDS:
                break
        for _ in range(_STEPS):
            seen, gone = self._pictures(settings)
            pictures += gone
            if seen < _PICTURES:
                break
        return rounds, pictures

    def _rounds(self, settings: Mapping[str, Any]) -> int:
        if not (days := settings["keep_rounds_days"]):
            return 0
        r, b, f = schema.rounds.c, schema.boots.c, schema.findings.c
        old = now() - days * _DAY
        with writing(self._engine) as db:
            # what is not surely complete is still asked for again
            rows = db.execute(
                select(r.id, r.boot_id, r.seq)
                .join(schema.boots, b.id == r.boot_id)
                .where(r.ended_at < old, r.held.is_(False), r.seq <= b.complete)
                .order_by(r.ended_at, r.id)
                .limit(_ROUNDS)
                .with_for_update(of=schema.rounds, skip_locked=True)
            ).all()
            for row in rows:
                _forget_round(db, row)
            alone = db.execute(
                select(f.id)
                .join(schema.boots, b.id == f.boot_id)
                .where(f.at < old, f.round_id.is_(None), f.seq <= b.complete)
                .limit(_ROUNDS)
            )
            _forget_findings(db, list(alone.scalars()))
        return len(rows)

    def _pictures(self, settings: Mapping[str, Any]) -> tuple[int, int]:
        """How many old ones were looked at, and how many of these went."""
        if not (days := settings["keep_pictures_days"]):
            return 0, 0
        p = schema.pictures
        key = tuple_(p.c.at, p.c.table_id, p.c.ref)
        with writing(self._engine) as db:
            old = db.execute(
                select(p.c.at, p.c.table_id, p.c.ref)
                .where(p.c.at < now() - days * _DAY, p.c.ref != "", key > tuple_(*self._after))
                .order_by(p.c.at, p.c.table_id, p.c.ref)
                .limit(_PICTURES)
            ).all()
            held = held_pictures(db) if old else set()
            gone = [(t, ref) for _, t, ref in old if (t, ref) not in held]
            for table, ref in gone:
                db.execute(delete(p).where(p.c.table_id == table, p.c.ref == ref))
        self._after = tuple(old[-1]) if len(old) == _PICTURES else (0, 0, "")
        return len(old), len(gone)


def held_pictures(db: Connection) -> set[tuple[int, str]]:
    """The pictures and clips of rounds on legal hold, by table and reference."""
    r, f = schema.rounds, schema.findings.c
    out: set[tuple[int, str]] = set()
    for row in db.execute(select(r).where(r.c.held)).all():
        said = [body for _, _, body in events_of_round(db, row)]
        own = db.execute(select(f.uid, f.body).where(f.round_id == row.id)).all()
        out |= {(row.table_id, ref) for ref in evidence_of(said, [x.body for x in own])}
        out |= {(row.table_id, clip_ref(x.uid)) for x in own}
    return out


def _forget_round(db: Connection, row: Any) -> None:
    """A round with all that led to it, back to the one before it that is still there."""
    r, i, f, u, h = schema.rounds, schema.items, schema.findings, schema.unverified, schema.hands
    before = db.execute(
        select(func.max(r.c.seq)).where(r.c.boot_id == row.boot_id, r.c.seq < row.seq)
    ).scalar()

    def own(c: Any) -> Any:
        return and_(c.boot_id == row.boot_id, c.seq > (before or 0), c.seq <= row.seq)

    _forget_findings(db, list(db.execute(select(f.c.id).where(f.c.round_id == row.id)).scalars()))
    db.execute(delete(u).where(own(u.c)))
    db.execute(delete(i).where(own(i.c)))
    c = schema.hand_cards.c
    for hand in db.execute(select(h).where(h.c.round_id == row.id)).mappings().all():
        cards = [x["card"] for x in card_rows(dict(hand))]
        same = (c[k] == hand[k] for k in ("table_id", "seat", "round_id", "hand"))
        db.execute(delete(schema.hand_cards).where(c.card.in_(cards), *same))
    db.execute(delete(h).where(h.c.round_id == row.id))
    db.execute(delete(r).where(r.c.id == row.id))


def _forget_findings(db: Connection, ids: list[int]) -> None:
    if ids:
        db.execute(delete(schema.thread).where(schema.thread.c.finding_id.in_(ids)))
        db.execute(delete(schema.findings).where(schema.findings.c.id.in_(ids)))
