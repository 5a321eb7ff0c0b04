"""The house's settings, kept in the store.

In: JSON from the page. Out: `HouseTime` and the JSON again. A change holds for what comes after it: a gaming
day that was closed keeps its rounds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from pitwatch.errors import UserError
from pitwatch.pit.house_time import HouseTime, Shift, clock_minutes
from pitwatch.pit.received import clean
from pitwatch.pit.schema import settings
from pitwatch.pit.sql import upsert

__all__ = ["DEFAULTS", "house_time", "load_settings", "save_settings"]

DEFAULTS: dict[str, Any] = {
    "gaming_day_start": "06:00",
    "time_zone": "UTC",
    "shifts": [
        {"name": "day", "start": "06:00"},
        {"name": "swing", "start": "14:00"},
        {"name": "grave", "start": "22:00"},
    ],
    "recorder_offset": 0.0,
    "site_title": "pitwatch",
    "keep_rounds_days": 0,
    "keep_pictures_days": 365,
}
LONGEST_KEPT = 36_500


def load_settings(db: Connection) -> dict[str, Any]:
    """All settings as the page knows them."""
    kept = {r.key: json.loads(r.value) for r in db.execute(select(settings.c.key, settings.c.value))}
    return DEFAULTS | {k: v for k, v in kept.items() if k in DEFAULTS}


def save_settings(db: Connection, new: Mapping[str, Any]) -> dict[str, Any]:
    """Check and keep what is given; all settings. Raises UserError naming the setting."""
    unknown = sorted(set(new) - set(DEFAULTS))
    if unknown:
        raise UserError(f"there is no setting {unknown[0][:40]!r}; there are {', '.join(DEFAULTS)}")
    whole = load_settings(db) | dict(new)
    house_time(whole).check()
    if not _is_text(whole["site_title"], 60):
        raise UserError("'site_title' should be 1 to 60 characters")
    for key in ("keep_rounds_days", "keep_pictures_days"):
        if type(whole[key]) is not int or not 0 <= whole[key] <= LONGEST_KEPT:
            raise UserError(f"{key!r} should be days, 1 to {LONGEST_KEPT}, or 0 for as long as there is room")
    for key in new:
        upsert(db, settings, {"key": key, "value": json.dumps(whole[key])}, ["key"])
    return whole


def house_time(values: Mapping[str, Any]) -> HouseTime:
    """The same for counting. Raises UserError naming the setting."""
    try:
        start = clock_minutes(str(values["gaming_day_start"]))
    except ValueError as e:
        raise UserError(f"'gaming_day_start': {e}") from None
    shifts = values["shifts"]
    if not isinstance(shifts, list) or len(shifts) > 12 or not all(isinstance(s, Mapping) for s in shifts):
        raise UserError("'shifts' should be a list of at most 12 objects with 'name' and 'start'")
    made = []
    for s in shifts:
        name = s.get("name")
        if not _is_text(name, 30):
            raise UserError("a shift's 'name' should be 1 to 30 characters")
        try:
            made.append(Shift(name.strip(), clock_minutes(str(s.get("start")))))
        except ValueError as e:
            raise UserError(f"shift {name!r}: {e}") from None
    if len({s.start for s in made}) < len(made) or len({s.name for s in made}) < len(made):
        raise UserError("two shifts have the same name or begin at the same time")
    zone = values["time_zone"]
    if not isinstance(zone, str) or len(zone) > 60:
        raise UserError("'time_zone' should be a name like America/Detroit")
    offset = values["recorder_offset"]
    # said so that what is no number at all is refused too
    if isinstance(offset, bool) or not isinstance(offset, (int, float)) or not abs(offset) <= 86_400:
        raise UserError("'recorder_offset' should be seconds, at most a day either way")
    return HouseTime(zone, start, tuple(made), float(offset))


def _is_text(value: Any, longest: int) -> bool:
    """Whether it is text of a length that is taken, of characters that can be shown."""
    return isinstance(value, str) and bool(value.strip()) and clean(value, longest) == value
