"""The house's time: gaming days, shifts, its time zone and its recorder's clock.

In: instants as milliseconds since 1970 UTC, settings. Out: yyyymmdd days, shifts' names, RFC 3339 text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from functools import cached_property
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pitwatch.errors import UserError

__all__ = ["HouseTime", "Shift", "clock_minutes", "day_number", "day_text", "from_text", "to_text"]

_FURTHEST = 7_258_118_400_000  # the year 2200


@dataclass(frozen=True)
class Shift:
    """A shift's name, and when it begins, minutes after midnight."""

    name: str
    start: int


@dataclass(frozen=True)
class HouseTime:
    """How the house counts time. day_start: minutes after midnight. recorder_offset: seconds ahead."""

    zone: str = "UTC"
    day_start: int = 6 * 60
    shifts: tuple[Shift, ...] = field(
        default=(Shift("day", 6 * 60), Shift("swing", 14 * 60), Shift("grave", 22 * 60))
    )
    recorder_offset: float = 0.0

    @cached_property
    def _zone(self) -> ZoneInfo:
        try:
            return ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise UserError(f"there is no time zone {self.zone!r}; write one like America/Detroit") from None

    @cached_property
    def _starts(self) -> list[Shift]:
        return sorted(self.shifts, key=lambda s: s.start)

    def check(self) -> None:
        """Raises UserError for a time zone that there is not."""
        assert self._zone

    def day(self, at: int) -> int:
        """The gaming day of an instant, yyyymmdd."""
        local = datetime.fromtimestamp(at / 1000, self._zone) - timedelta(minutes=self.day_start)
        return local.year * 10_000 + local.month * 100 + local.day

    def shift(self, at: int) -> str:
        """The shift of an instant, "" when there are none."""
        if not self._starts:
            return ""
        local = datetime.fromtimestamp(at / 1000, self._zone)
        n = bisect_right([s.start for s in self._starts], local.hour * 60 + local.minute)
        return self._starts[n - 1].name

    def recorder(self, at: int) -> int:
        """The same instant on the recorder's clock."""
        return at + round(self.recorder_offset * 1000)

    def instant(self, text: str) -> int:
        """Milliseconds of RFC 3339 text, or of a local date or date and time. Raises ValueError."""
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            text += "T00:00"
        when = datetime.fromisoformat(text.strip().replace("Z", "+00:00").replace(" ", "+"))
        if when.tzinfo is None:
            when = when.replace(tzinfo=self._zone)
        return round(when.timestamp() * 1000)

    def hour(self, at: int) -> int:
        """The beginning of the local hour of an instant, ms."""
        local = datetime.fromtimestamp(at / 1000, self._zone)
        return at - ((local.minute * 60 + local.second) * 1000 + at % 1000)


def day_number(text: str) -> int:
    """yyyymmdd of a date. Raises ValueError."""
    day = date.fromisoformat(text)
    return day.year * 10_000 + day.month * 100 + day.day


def day_text(number: int) -> str:
    """A day as people write it, 2026-11-24."""
    return f"{number // 10_000:04d}-{number // 100 % 100:02d}-{number % 100:02d}"


def clock_minutes(text: str) -> int:
    """Minutes after midnight of "06:00". Raises ValueError."""
    if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", text):
        raise ValueError(f"{text!r} is no time of day; write it like 06:00")
    return int(text[:2]) * 60 + int(text[3:])


def to_text(at: int | None) -> str | None:
    """RFC 3339 with milliseconds, UTC."""
    if at is None:
        return None
    when = datetime.fromtimestamp(at / 1000, timezone.utc)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_text(text: object) -> int:
    """Milliseconds of RFC 3339 text. Raises ValueError for anything else, or what is no time of ours."""
    if not isinstance(text, str) or len(text) > 40:
        raise ValueError("no instant")
    when = datetime.fromisoformat(text.replace("Z", "+00:00"))
    if when.tzinfo is None:
        raise ValueError("an instant without its offset")
    at = round(when.timestamp() * 1000)
    if not 0 <= at <= _FURTHEST:
        raise ValueError("an instant out of all reason")
    return at
