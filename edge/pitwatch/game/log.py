"""Table-event files: a header, then one event a line (JSON Lines, UTF-8).

In: paths. Out: `Header`, events in the order of the file, and a case file's trailer. Money is integer cents,
`t` seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pitwatch.errors import UserError
from pitwatch.game.events import EventError, TableEvent, event_from_json

__all__ = ["Header", "read_log", "write_log"]

FORMAT = 1


@dataclass(frozen=True)
class Header:
    """The first line of a log: which table, which rules. None = not known, nothing is judged by it.

    rules: a profile's name, or a mapping with `profile` and single rules that override it.
    """

    table: str = ""
    rules: str | Mapping[str, Any] = "greektown"
    decks: int | None = None
    minimum: int | None = None
    maximum: int | None = None
    seats: int | None = None
    meter: int | None = None

    @classmethod
    def from_json(cls, obj: Mapping[str, Any]) -> Header:
        """Read a header object; raises EventError naming the field and what it should be."""
        if obj.get("table_events") != FORMAT:
            raise EventError(f"'table_events' is {obj.get('table_events')!r}; a log begins with {FORMAT}")
        rules = obj.get("rules", "greektown")
        if not isinstance(rules, (str, Mapping)):
            raise EventError(
                f"'rules' is {rules!r}; it should be a profile's name or an object with 'profile'"
            )
        numbers: dict[str, int | None] = {}
        for name in ("decks", "minimum", "maximum", "seats", "meter"):
            value = obj.get(name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise EventError(f"{name!r} is {value!r}; it should be a whole number, 0 or more")
            if value == 0 and name in ("decks", "seats"):
                raise EventError(f"{name!r} is 0; leave it out where it is not known")
            numbers[name] = value
        least, most = numbers["minimum"], numbers["maximum"]
        if least is not None and most is not None and least > most:
            raise EventError(f"'minimum' is {least} and 'maximum' {most}, both in cents; exchange them")
        return cls(table=str(obj.get("table", "")), rules=rules, **numbers)

    def to_json(self) -> dict[str, Any]:
        """The header as a JSON object; what is not known is left out."""
        rules = self.rules if isinstance(self.rules, str) else dict(self.rules)
        out: dict[str, Any] = {"table_events": FORMAT, "table": self.table, "rules": rules}
        for name in ("decks", "minimum", "maximum", "seats", "meter"):
            if getattr(self, name) is not None:
                out[name] = getattr(self, name)
        return out


def read_log(path: str | Path) -> tuple[Header, list[TableEvent], dict[str, Any] | None]:
    """Header, events and, for a case file, its last line `{"note", "expect"}` (otherwise None).

    Raises UserError naming the file and the line.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text; a table-event file is JSON Lines in UTF-8") from None
    except OSError as e:
        raise UserError(f"{path} cannot be read ({e.strerror}); name a table-event file") from None
    header: Header | None = None
    events: list[TableEvent] = []
    trailer: dict[str, Any] | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            obj = json.loads(line)
            if not isinstance(obj, dict):
                raise EventError("the line is no JSON object; write one object a line")
            if header is None:
                header = Header.from_json(obj)
            elif trailer is not None:
                raise EventError("there is a line after the expected findings; these should come last")
            elif "expect" in obj and "type" not in obj:
                expected = obj["expect"]
                if not isinstance(expected, list) or not all(isinstance(x, dict) for x in expected):
                    raise EventError(f"'expect' is {expected!r}; it should be a list of findings")
                trailer = obj
            else:
                event = event_from_json(obj)
                if events and event.t < events[-1].t:
                    raise EventError(
                        f"'t' is {event.t}, less than {events[-1].t} before it; events go in order of time"
                    )
                events.append(event)
        except json.JSONDecodeError as e:
            raise UserError(f"{path}, line {number}: not JSON ({e.msg}); write one object a line") from None
        except EventError as e:
            raise UserError(f"{path}, line {number}: {e}") from None
        except (ValueError, RecursionError):  # a number of thousands of digits, brackets in brackets
            raise UserError(f"{path}, line {number}: too large to read; write one object a line") from None
    if header is None:
        raise UserError(f"{path} is empty; a table-event file begins with a header line")
    return header, events, trailer


def write_log(path: str | Path, header: Header, events: Iterable[TableEvent]) -> None:
    """Write a log that `read_log` reads back to equal values."""
    with Path(path).open("w", encoding="utf-8") as out:
        for obj in (header.to_json(), *(e.to_json() for e in events)):
            out.write(json.dumps(obj, ensure_ascii=False) + "\n")
