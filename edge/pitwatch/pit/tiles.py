"""Tables as the floor sees them: what each does, how it is, and which one is worst.

In: the store. Out: tiles, and the felt of one table. Figures of the last hour are counted anew every few
seconds for all tables together, not for each request.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, literal_column, select

from pitwatch.pit import schema
from pitwatch.pit.house_time import to_text
from pitwatch.pit.received import clean, small_number
from pitwatch.pit.shown import live
from pitwatch.pit.sql import now

__all__ = ["Tiles", "as_object"]

_HOUR = 3_600_000
_PACE_FOR = 5.0  # seconds that the last hour's figures hold
_OPEN_FOR = 0.4
_LEVELS = ("ok", "warn", "bad")


class _Said(NamedTuple):
    """Of what a table said: its health as it came, what of it is shown, and what else a tile shows."""

    health: dict[str, Any]
    figures: dict[str, Any]
    shown: dict[str, Any]


class Tiles:
    """Makes tiles; keeps what is costly to count for a short while."""

    def __init__(self) -> None:
        self._pace: dict[int, tuple[float, float]] = {}
        self._pace_at = self._open_at = float("-inf")
        self._open: dict[int, dict[str, tuple[int, int]]] = {}
        self._said: dict[int, tuple[object, _Said]] = {}

    def all(self, db: Connection) -> list[dict[str, Any]]:
        """Every table's tile, the worst first."""
        self._count(db)
        t, d = schema.tables, schema.dealers
        missing = self._missing(db)
        rows = db.execute(select(t, d.c.name.label("dealer_name")).outerjoin(d, t.c.dealer_id == d.c.id))
        at = now()
        tiles = [self._tile(r, missing.get(r.id, 0), at) for r in rows]
        tiles.sort(key=_badness)
        return tiles

    def _count(self, db: Connection) -> None:
        clock = time.monotonic()
        if clock - self._open_at > _OPEN_FOR:
            self._open_at = clock
            f = schema.findings.c
            own: defaultdict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
            found = db.execute(
                select(f.table_id, f.severity, func.count(), func.max(f.at))
                .where(f.status == literal_column("'open'"))
                .group_by(f.table_id, f.severity)
            )
            for table, severity, n, newest in found:
                own[table][severity] = (n, newest)
            self._open = own
        if clock - self._pace_at > _PACE_FOR:
            self._pace_at = clock
            r = schema.rounds.c
            at = now()
            found = db.execute(
                select(r.table_id, func.count(), func.sum(r.hands), func.min(r.started_at))
                .where(r.ended_at > at - _HOUR, r.ended_at <= at + 60_000)
                .group_by(r.table_id)
            )
            self._pace = {}
            for table, rounds, hands, first in found:
                hours = max(min(at - first, _HOUR), 60_000) / _HOUR
                self._pace[table] = (rounds / hours, int(hands) / hours)

    @staticmethod
    def _missing(db: Connection) -> dict[int, int]:
        b = schema.boots.c
        found = db.execute(select(b.table_id, func.sum(b.missing)).where(b.missing > 0).group_by(b.table_id))
        return {table: int(n) for table, n in found}

    def _tile(self, r: Any, missing: int, at: int) -> dict[str, Any]:
        said = self._read(r)
        health = said.health
        opened = self._open.get(r.id, {})
        alerts, newest = opened.get("alert", (0, None))
        rounds, hands = self._pace.get(r.id, (None, None))
        judged, total = small_number(health.get("hands_judged")), small_number(health.get("hands_total"))
        state = _state(r, at)
        level, troubles = _troubles(state, health, missing, judged, total)
        return {
            "id": r.id,
            "site": r.site,
            "name": r.name,
            "state": state,
            **said.shown,
            "dealer": None if r.dealer_id is None else {"id": r.dealer_id, "name": r.dealer_name},
            "hands_per_hour": None if hands is None else round(hands, 1),
            "rounds_per_hour": None if rounds is None else round(rounds, 1),
            "open_alerts": alerts,
            "open_notices": opened.get("notice", (0, None))[0],
            "newest_alert_at": to_text(newest),
            "hands_judged": judged,
            "hands_total": total,
            "judged_share": round(judged / total, 4) if total and judged is not None else None,
            "level": level,
            "troubles": troubles,
            "health": said.figures,
            "missing": missing,
            "last_seen": to_text(r.seen_at),
            "last_round_at": to_text(r.round_at),
            "still_at": to_text(r.still_at),
        }

    def _read(self, r: Any) -> _Said:
        """What a table said of itself, read again only when it says something else."""
        key = (r.health, r.header, r.state_order)
        known = self._said.get(r.id)
        if known is None or known[0] != key:
            known = self._said[r.id] = (key, _read(r))
        return known[1]


def _read(r: Any) -> _Said:
    health, header = as_object(r.health), as_object(r.header)
    table = live(as_object(r.state), r.state_at)
    rules = header.get("rules")
    rules = rules.get("profile") if isinstance(rules, Mapping) else rules
    figures: dict[str, Any] = {
        k: v
        for k in ("fps", "ms_per_frame", "late", "skipped", "outbox")
        if isinstance(v := health.get(k), (int, float)) and not isinstance(v, bool)
    }
    if health:
        figures |= {k: clean(health.get(k), 300) for k in ("notice", "broker_status")}
    shown = {
        "phase": table["phase"],
        "round": table["round"],
        "rules": clean(rules, 60) or None,
        "minimum": small_number(header.get("minimum")),
        "maximum": small_number(header.get("maximum")),
        "seats": small_number(header.get("seats"), 20),
        "players": len({h["seat"] for h in table["hands"] if h["wager"] != 0}),
    }
    return _Said(health, figures, shown)


def _state(r: Any, at: int) -> str:
    if r.availability == "offline" and (r.health_at or 0) <= (r.availability_at or 0):
        return "offline"
    if r.health_at is None:
        return "online" if r.availability == "online" else "unknown"
    return "online" if at - r.health_at <= 3000 * (r.interval or 10.0) else "silent"


def _troubles(
    state: str, health: Mapping[str, Any], missing: int, judged: int | None, total: int | None
) -> tuple[str, list[str]]:
    said: list[tuple[int, str]] = []
    if state == "offline":
        said.append((2, "The table is offline."))
    elif state == "silent":
        said.append((2, "Nothing has been heard from the table for a while."))
    elif state == "unknown":
        said.append((1, "The table has not said how it is."))
    if notice := clean(health.get("notice"), 300):
        said.append((2, notice))
    if total and judged is not None and total >= 20:
        share = judged / total
        if share < 0.8:
            said.append((2 if share < 0.5 else 1, f"Only {share:.0%} of its hands could be judged."))
    waits = small_number(health.get("outbox")) or 0
    if waits > 500:
        said.append((1, f"{waits} things wait at the table to be sent."))
    if missing:
        said.append((1, f"{missing} things are missing and were asked for again."))
    said.sort(key=lambda s: -s[0])
    return _LEVELS[max((s[0] for s in said), default=0)], [s[1] for s in said]


def _badness(tile: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        -tile["open_alerts"],
        -_LEVELS.index(tile["level"]),
        -tile["open_notices"],
        tile["judged_share"] if tile["judged_share"] is not None else 1.0,
        tile["site"],
        tile["name"],
    )


def as_object(text: str | None) -> dict[str, Any]:
    """A JSON object that the store keeps as text; {} for none."""
    said = json.loads(text) if text else {}
    return said if isinstance(said, dict) else {}
