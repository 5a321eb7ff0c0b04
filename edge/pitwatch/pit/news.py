"""What has changed in the store, for every page that is open, whichever collector wrote it.

In: the store, looked at a few times a second in a thread of its own, sooner when our own collector has
written. Out: lists of (event, data) for each listener, ready to be sent.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError

from pitwatch.pit import schema
from pitwatch.pit.clips import is_clip
from pitwatch.pit.settings import house_time, load_settings
from pitwatch.pit.shown import Names, live, show_findings, show_rounds
from pitwatch.pit.sql import now
from pitwatch.pit.tiles import Tiles, as_object

__all__ = ["News"]

_log = logging.getLogger(__name__)
Told = Callable[[str, Any, "int | None"], None]
"""Called with an event, its data and, where only one table's readers want it, that table's id."""

_PERIOD = 0.25
_TILES_EVERY = 1.0
_TILES_REST = 8.0  # as long again as many tables took, that findings go before tiles
_LATE = 15_000  # ms in which a transaction that began earlier may still show


class News:
    """Looks while anyone listens."""

    def __init__(self, engine: Engine, told: Told) -> None:
        self._engine = engine
        self._told = told
        self._tiles = Tiles()
        self._last: dict[int, dict[str, Any]] = {}
        self._seen: dict[int, int] = {}
        self._looked = 0
        self._live: dict[int, str] = {}
        self._wanted: dict[int, int] = {}
        self._listeners = 0
        self._mutex = threading.Lock()
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pitwatch-news", daemon=True)
        self._thread.start()

    def listen(self, table: int | None) -> None:
        """One more listener, to one table's felt or to none."""
        with self._mutex:
            self._listeners += 1
            if table is not None:
                self._wanted[table] = self._wanted.get(table, 0) + 1
                self._live.pop(table, None)
        self._wake.set()

    def leave(self, table: int | None) -> None:
        """One less."""
        with self._mutex:
            self._listeners -= 1
            if table is not None:
                self._wanted[table] -= 1
                if not self._wanted[table]:
                    del self._wanted[table]

    def wake(self) -> None:
        """Something was written."""
        self._wake.set()

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        self._wake.set()
        self._thread.join(5)

    def _run(self) -> None:
        tiles_at = 0.0
        listening = False
        while not self._stop.is_set():
            self._wake.wait(_PERIOD if self._listeners else 2.0)
            if self._wake.is_set():
                # a burst is one look
                self._stop.wait(0.05)
                self._wake.clear()
            if not self._listeners:
                listening = False
                continue
            try:
                if not listening:
                    self._catch_up()
                    listening = True
                self._changes()
                self._felts()
                if (began := time.monotonic()) >= tiles_at:
                    self._floor()
                    took = time.monotonic() - began
                    tiles_at = began + max(_TILES_EVERY, _TILES_REST * took)
            except SQLAlchemyError as e:
                _log.warning("the store could not be looked at: %s", e)
                self._stop.wait(1.0)
            except Exception:
                _log.exception("what is new could not be told")
                self._stop.wait(1.0)

    def _catch_up(self) -> None:
        """What is there already is no news."""
        c = schema.changes.c
        self._looked = now()
        with self._engine.connect() as db:
            found = db.execute(select(c.id, c.at).where(c.at > self._looked - _LATE))
            self._seen = {r.id: r.at for r in found}
        self._last = {}

    def _changes(self) -> None:
        c = schema.changes.c
        # from the last look on, however long ago: a store that was away or a busy machine hides nothing
        at = now()
        since = min(self._looked, at) - _LATE
        self._seen = {i: at for i, at in self._seen.items() if at > since - _LATE}
        with self._engine.connect() as db:
            found = db.execute(select(schema.changes).where(c.at > since).order_by(c.id).limit(5000)).all()
            self._looked = at
            fresh = [r for r in found if r.id not in self._seen]
            if not fresh:
                return
            self._seen |= {r.id: r.at for r in fresh}
            wanted = set(self._wanted)
            found_ids = sorted({int(x.ref) for x in fresh if x.what == "finding"})[-200:]
            played = {int(x.ref) for x in fresh if x.what == "round" and x.table_id in wanted}
            round_ids = sorted(played)[-50:]
            if found_ids or round_ids:
                house, names = house_time(load_settings(db)), Names(db)
            f, r = schema.findings, schema.rounds
            if found_ids:
                rows = db.execute(select(f).where(f.c.id.in_(found_ids)).order_by(f.c.id)).all()
                for shown in show_findings(db, rows, house, names):
                    self._told("finding", shown, None)
            if round_ids:
                rows = db.execute(select(r).where(r.c.id.in_(round_ids)).order_by(r.c.ended_at)).all()
                for row, shown in zip(rows, show_rounds(db, rows, house, names), strict=True):
                    self._told("round", shown, row.table_id)
        for x in fresh:
            if x.what in ("picture", "gone"):
                kind = "mjpeg" if is_clip(x.ref) else "jpg"
                url = f"/api/evidence/{x.table_id}/{x.ref}.{kind}"
                told = {"table": x.table_id, "ref": x.ref, "url": url, "gone": x.what == "gone"}
                self._told("picture", told, None)
            elif x.what == "still":
                url = f"/api/tables/{x.table_id}/still.jpg?n={x.id}"
                self._told("still", {"table": x.table_id, "url": url}, None)

    def _felts(self) -> None:
        wanted = list(self._wanted)
        if not wanted:
            return
        t = schema.tables.c
        with self._engine.connect() as db:
            rows = db.execute(select(t.id, t.state, t.state_at, t.state_order).where(t.id.in_(wanted))).all()
        for r in rows:
            if self._live.get(r.id) != r.state_order:
                self._live[r.id] = r.state_order
                self._told("live", {"table": r.id, "live": live(as_object(r.state), r.state_at)}, r.id)

    def _floor(self) -> None:
        with self._engine.connect() as db:
            tiles = self._tiles.all(db)
        changed = [t for t in tiles if _shown(self._last.get(t["id"])) != _shown(t)]
        self._last = {t["id"]: t for t in tiles}
        if changed:
            self._told("tables", changed, None)


def _shown(tile: dict[str, Any] | None) -> dict[str, Any]:
    """What of a tile is worth telling anew."""
    return {k: v for k, v in (tile or {}).items() if k != "last_seen"}
