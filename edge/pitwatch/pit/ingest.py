"""Writing what tables said into the store: each thing once, whoever brings it and however often.

In: batches of `Item`s, `Word`s and `Picture`s. Out: rows, in one transaction a batch. Several collectors may
write at the same time, in any order: `boot` and `seq` say what is there already and what belongs together.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, and_, bindparam, or_, select, update

from pitwatch.pit import schema
from pitwatch.pit.house_time import HouseTime
from pitwatch.pit.received import Item, Picture, Word, clean, seconds, small_number
from pitwatch.pit.rows import card_rows, finding_row, hand_rows, round_row, unverified_row
from pitwatch.pit.settings import house_time, load_settings
from pitwatch.pit.sql import add_new, now, reading, upsert, writing

__all__ = ["Ingest", "Written", "link_late", "link_round", "sign_in"]

_SIGNED_IN_FOR = 36 * 3_600_000  # ms that a sign-in holds at most
_SETTINGS_FOR = 5_000  # ms
_LATEST = 10.0  # seconds after its end that a finding of a round may be said
_LATE_FOR = 60_000  # ms that a round may have ended before its finding


_t, _b = schema.tables, schema.boots
_HEARD = {
    columns: update(_t).where(_t.c.id == bindparam("k")).values(**{c: bindparam(f"v_{c}") for c in columns})
    for columns in (
        ("availability", "availability_at"),
        ("health", "health_at", "interval", "seen_at"),
        ("header",),
    )
}
_ROUND_AT = (
    update(_t)
    .where(_t.c.id == bindparam("k"), or_(_t.c.round_at.is_(None), _t.c.round_at < bindparam("v")))
    .values(round_at=bindparam("v"))
)
_STATE = (
    update(_t)
    .where(_t.c.id == bindparam("k"), _t.c.state_order < bindparam("order"))
    .values(state=bindparam("v"), state_at=bindparam("at"), state_order=bindparam("order"))
)
_KNOWN = update(_b).where(_b.c.id == bindparam("k"), _b.c.known < bindparam("v")).values(known=bindparam("v"))


@dataclass
class Written:
    """What a batch amounted to. items: new ones; known: those that were there already. boots: touched."""

    items: int = 0
    known: int = 0
    boots: set[int] = field(default_factory=set)


class Ingest:
    """Writes batches; remembers ids that never change. One thread at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._tables: dict[tuple[str, str], int] = {}
        self._boots: dict[tuple[int, str], int] = {}
        self._house = HouseTime()
        self._house_at = 0

    def write(self, batch: Sequence[Item | Word | Picture]) -> Written:
        """Write a batch, all of it or nothing. Raises SQLAlchemyError."""
        done = Written()
        try:
            with writing(self._engine) as db:
                self._write(db, batch, done)
        except BaseException:
            # ids may have been given in what was just undone
            self._tables.clear()
            self._boots.clear()
            raise
        return done

    def table_id(self, db: Connection, site: str, name: str) -> int:
        """The id of a table, given when it is new."""
        self._know_tables(db, {(site, name)})
        return self._tables[site, name]

    def _write(self, db: Connection, batch: Sequence[Item | Word | Picture], done: Written) -> None:
        at = now()
        if at - self._house_at > _SETTINGS_FOR:
            self._house, self._house_at = house_time(load_settings(db)), at
        items = [b for b in batch if isinstance(b, Item)]
        words = [b for b in batch if isinstance(b, Word)]
        pictures = [b for b in batch if isinstance(b, Picture)]
        self._know_tables(db, {(b.site, b.table) for b in batch})
        told: list[Item | Word] = [*items, *words]
        self._know_boots(db, {(self._tables[b.site, b.table], b.boot) for b in told if b.boot})
        newest = self._items(db, items, at, done) if items else {}
        self._words(db, words, newest, at, done)
        self._pictures(db, pictures, at)

    # -- who they are

    def _know_tables(self, db: Connection, names: set[tuple[str, str]]) -> None:
        new = sorted(names - set(self._tables))
        if not new:
            return
        t = schema.tables
        add_new(db, t, [{"site": s, "name": n} for s, n in new], "id")
        for site, name in new:
            found = db.execute(select(t.c.id).where(t.c.site == site, t.c.name == name)).scalar_one()
            self._tables[site, name] = found

    def _know_boots(self, db: Connection, keys: set[tuple[int, str]]) -> None:
        new = sorted(keys - set(self._boots))
        if not new:
            return
        b = schema.boots
        add_new(db, b, [{"table_id": t, "boot": boot} for t, boot in new], "id")
        for table, boot in new:
            found = db.execute(select(b.c.id).where(b.c.table_id == table, b.c.boot == boot)).scalar_one()
            self._boots[table, boot] = found

    def _place(self, b: Item | Word) -> tuple[int, int]:
        table = self._tables[b.site, b.table]
        return table, self._boots[table, b.boot]

    # -- items

    def _items(self, db: Connection, items: Iterable[Item], at: int, done: Written) -> dict[int, int]:
        by_place: dict[tuple[int, int], tuple[int, Item]] = {}
        for item in items:
            table, boot = self._place(item)
            if by_place.setdefault((boot, item.seq), (table, item))[1] is not item:
                done.known += 1
        # in one order everywhere, so that two collectors with the same things never wait for each other
        rows = [
            {
                "boot_id": boot,
                "seq": seq,
                "kind": item.kind,
                "t": item.t,
                "at": item.at,
                "body": item.text,
            }
            for (boot, seq), (_, item) in sorted(by_place.items(), key=lambda p: p[0])
        ]
        fresh = {(b, s): by_place[b, s] for b, s in add_new(db, schema.items, rows, "boot_id", "seq")}
        done.items += len(fresh)
        done.known += len(rows) - len(fresh)
        done.boots |= {boot for boot, _ in by_place}
        ordered = [
            (table, boot, item) for (boot, _), (table, item) in sorted(fresh.items(), key=lambda p: p[0])
        ]
        for table, _, item in ordered:
            if item.kind == "event" and item.body.get("type") == "dealer":
                self._dealer(db, table, item)
        told = [(t, b, i) for t, b, i in ordered if i.kind != "event"]
        return self._told(db, told, at) if told else {}

    def _told(self, db: Connection, told: list[tuple[int, int, Item]], at: int) -> dict[int, int]:
        """Rows of what is not an event; when the newest round of each table ended."""
        dealing = _Dealing(db, {t for t, _, _ in told}, min(i.at for _, _, i in told))
        house = self._house
        rounds = [(t, b, i) for t, b, i in told if i.kind == "round"]
        rows = [round_row(i, t, b, house, dealing) for t, b, i in rounds]
        ids = {(b, s): n for n, b, s in add_new(db, schema.rounds, rows, "id", "boot_id", "seq")}
        hands = [h for t, b, i in rounds if (b, i.seq) in ids for h in hand_rows(i, t, ids[b, i.seq])]
        if hands:
            add_new(db, schema.hands, hands, "round_id")
            cards = [c for h in hands for c in card_rows(h)]
            if cards:
                db.execute(schema.hand_cards.insert(), cards)
        rows = [finding_row(i, t, b, house, dealing) for t, b, i in told if i.kind == "finding"]
        found = add_new(db, schema.findings, rows, "id", "table_id")
        rows = [unverified_row(i, t, b, house, dealing) for t, b, i in told if i.kind == "unverified"]
        add_new(db, schema.unverified, rows, "id")
        for _, b, i in rounds:
            if (b, i.seq) in ids and i.body.get("findings"):
                link_round(db, ids[b, i.seq], b, i.body)
        news = [{"at": at, "what": "finding", "table_id": t, "ref": str(n)} for n, t in found]
        news += [
            {"at": at, "what": "round", "table_id": t, "ref": str(ids[b, i.seq])}
            for t, b, i in rounds
            if (b, i.seq) in ids
        ]
        if news:
            db.execute(schema.changes.insert(), news)
        return _newest(rounds)

    def _dealer(self, db: Connection, table: int, item: Item) -> None:
        """A dealer's own sign-in at the table, by what is on his badge; without one he goes."""
        badge = clean(item.body.get("id"), 60).strip()
        dealer = None
        if badge:
            d = schema.dealers
            add_new(db, d, [{"name": badge, "badge": badge}], "id")
            dealer = db.execute(select(d.c.id).where(d.c.badge == badge)).scalar_one()
        sign_in(db, table, dealer, item.at, None)

    # -- what holds now

    def _words(
        self, db: Connection, words: Iterable[Word], rounds: Mapping[int, int], at: int, done: Written
    ) -> None:
        """What tables say of themselves now, and when the newest round of each ended."""
        heard: defaultdict[int, dict[str, Any]] = defaultdict(dict)
        states: dict[int, Word] = {}
        known: dict[int, int] = {}
        for word in words:
            table, boot = self._place(word)
            if word.what == "state":
                if table not in states or _order(states[table]) < _order(word):
                    states[table] = word
                continue
            done.boots.add(boot)
            if word.what == "availability":
                heard[table] |= {"availability": word.body, "availability_at": at}
                continue
            heard[table] |= _health(word.body, at)
            if word.body.get("outbox") == 0:
                known[boot] = max(known.get(boot, 0), word.seq)
        touched = sorted({*heard, *states, *rounds})
        if touched:
            # in one order everywhere: collectors that write at the same time would otherwise wait for each
            # other in a circle
            t = schema.tables.c
            db.execute(select(t.id).where(t.id.in_(touched)).order_by(t.id).with_for_update(key_share=True))
        for columns, change in _HEARD.items():
            own = [
                {"k": table} | {f"v_{c}": heard[table][c] for c in columns}
                for table in touched
                if table in heard and columns[0] in heard[table]
            ]
            if own:
                db.execute(change, own)
        if rounds:
            db.execute(_ROUND_AT, [{"k": t, "v": ended} for t, ended in sorted(rounds.items())])
        if states:
            changed = [
                {"k": t, "v": _short(w.body), "at": w.at, "order": _order(w)}
                for t, w in sorted(states.items())
            ]
            db.execute(_STATE, changed)
        if known:
            db.execute(_KNOWN, [{"k": boot, "v": seq} for boot, seq in sorted(known.items())])

    def _pictures(self, db: Connection, pictures: Iterable[Picture], at: int) -> None:
        for p in pictures:
            table = self._tables[p.site, p.table]
            row = {"table_id": table, "ref": p.ref, "at": at, "sha256": p.sha256, "jpeg": p.jpeg}
            if not p.ref:
                upsert(db, schema.pictures, row, ["table_id", "ref"])
                db.execute(update(schema.tables).where(schema.tables.c.id == table).values(still_at=at))
            elif p.jpeg and not add_new(db, schema.pictures, [row], "ref"):
                continue
            what = "still" if not p.ref else "picture" if p.jpeg else "gone"
            db.execute(schema.changes.insert(), [{"at": at, "what": what, "table_id": table, "ref": p.ref}])


def sign_in(db: Connection, table: int, dealer: int | None, at: int, user: int | None) -> None:
    """Note who deals at a table from an instant on."""
    s, t = schema.sign_ins, schema.tables
    db.execute(s.insert(), [{"table_id": table, "dealer_id": dealer, "at": at, "user_id": user}])
    newest = db.execute(
        select(s.c.dealer_id).where(s.c.table_id == table).order_by(s.c.at.desc(), s.c.id.desc()).limit(1)
    ).scalar()
    db.execute(update(t).where(t.c.id == table).values(dealer_id=newest))


def link_round(db: Connection, round_id: int, boot: int, body: Any) -> None:
    """Say of a round's findings that they are its; the round lists them as the table judged them."""
    f = schema.findings
    said = body.get("findings")
    own = [
        and_(f.c.t == t, f.c.kind == s["kind"], f.c.seat == seat, f.c.hand == hand)
        for s in (said[:100] if isinstance(said, list) else [])
        if isinstance(s, dict)
        and (t := seconds(s.get("t"))) is not None
        and isinstance(s.get("kind"), str)
        and s["kind"] == clean(s["kind"], 60)
        and (seat := small_number(s.get("seat", 0), 999)) is not None
        and (hand := small_number(s.get("hand", 0), 999)) is not None
    ]
    if own:
        db.execute(
            update(f).where(f.c.boot_id == boot, f.c.round_id.is_(None), or_(*own)).values(round_id=round_id)
        )


def link_late(engine: Engine, since: int) -> int:
    """Link findings since `since` (ms) that came after their round, or beside it on another collector."""
    f, r, i = schema.findings.c, schema.rounds.c, schema.items.c
    alone = (
        select(r.id, r.boot_id, i.body)
        .distinct()
        .join(schema.findings, and_(f.boot_id == r.boot_id, r.t_start <= f.t, r.t_end >= f.t - _LATEST))
        .join(schema.items, and_(i.boot_id == r.boot_id, i.seq == r.seq))
        .where(f.round_id.is_(None), f.at >= since, r.findings > 0, r.ended_at >= since - _LATE_FOR)
        .limit(200)
    )
    with reading(engine) as db:
        found = db.execute(alone).all()
    if found:
        with writing(engine) as db:
            for round_id, boot, body in found:
                link_round(db, round_id, boot, json.loads(body))
    return len(found)


class _Dealing:
    """Who dealt when, at the tables of a batch."""

    def __init__(self, db: Connection, tables: set[int], since: int) -> None:
        s = schema.sign_ins
        self._ins: defaultdict[int, list[tuple[int, int | None]]] = defaultdict(list)
        found = db.execute(
            select(s.c.table_id, s.c.at, s.c.dealer_id)
            .where(s.c.table_id.in_(tables), s.c.at >= since - _SIGNED_IN_FOR)
            .order_by(s.c.at, s.c.id)
        )
        for table, at, dealer in found:
            self._ins[table].append((at, dealer))

    def __call__(self, table: int, at: int) -> int | None:
        ins = self._ins.get(table, [])
        n = bisect_right([a for a, _ in ins], at)
        return ins[n - 1][1] if n else None


def _newest(rounds: Iterable[tuple[int, int, Item]]) -> dict[int, int]:
    out: dict[int, int] = {}
    for table, _, item in rounds:
        out[table] = max(out.get(table, 0), item.at)
    return out


def _order(word: Word) -> str:
    """Text by which states follow each other, also from one boot to the next."""
    return f"{word.at or 0:015d}-{word.seq:010d}"


def _health(body: Mapping[str, Any], at: int) -> dict[str, Any]:
    interval = body.get("interval")
    usual = isinstance(interval, (int, float)) and 0 < interval < 3600
    out = {
        "health": _short({k: v for k, v in body.items() if k != "header"}),
        "health_at": at,
        "interval": float(interval) if usual and interval is not None else 10.0,
        "seen_at": at,
    }
    header = body.get("header")
    return out | {"header": _short(header)} if isinstance(header, dict) else out


def _short(body: Any) -> str:
    text = json.dumps(body, separators=(",", ":"))
    return text if len(text) <= 60_000 else "{}"
