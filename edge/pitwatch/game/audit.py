"""The audit: table events in, findings out.

In: a log's header, then its events in order of time. Out: `Finding` and `Unverified`, in the order in which
they become certain; the rounds' transcripts; a live view of the table. No clock is read: time comes with the
events.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from pitwatch.game.events import TableEvent
from pitwatch.game.findings import Finding, Unverified
from pitwatch.game.log import Header, read_log
from pitwatch.game.record import HandRecord, RoundRecord
from pitwatch.game.view import HandView, TableView

__all__ = ["Audit", "HandRecord", "HandView", "RoundRecord", "TableView", "audit_file", "run_audit"]


class Audit:
    """Follows one table.

    Events of the same `t` are unordered, so they are judged together: when a later event comes, or when
    `advance` says that time has passed.
    """

    def __init__(self, header: Header) -> None:
        """Raises UserError when the header's rules are no profile."""
        self.header = header
        self.rounds_done: list[RoundRecord] = []
        self.hands_total = 0
        self.hands_judged = 0

    @property
    def table(self) -> TableView:
        """The table as it stands."""
        return TableView()

    def feed(self, event: TableEvent) -> list[Finding | Unverified]:
        """Take one event; returns what has become certain. Raises ValueError when `t` goes back."""
        return []

    def advance(self, t: float) -> list[Finding | Unverified]:
        """Say that every event before time `t` has been fed (call it once a frame): what waited is judged."""
        return []

    def finish(self) -> list[Finding | Unverified]:
        """The log ends: judge what waited, and say what could not be judged."""
        return []


def audit_file(path: str | Path) -> tuple[Audit, list[Finding | Unverified]]:
    """Audit a table-event file from its header to its end.

    Raises UserError naming the file and the line.
    """
    header, events, _ = read_log(path)
    audit = Audit(header)
    out: list[Finding | Unverified] = []
    for event in events:
        out += audit.feed(event)
    return audit, out + audit.finish()


def run_audit(path: str | Path, out: Callable[[str], None], notation: bool = False) -> int:
    """Print a file's findings through `out`, one JSON object a line, or its rounds in notation.

    Returns the exit status: 0 no finding, 1 findings. Raises UserError (status 2) when the file cannot be
    read.
    """
    audit, said = audit_file(path)
    if notation:
        for r in audit.rounds_done:
            out(r.notation())
    else:
        for s in said:
            out(json.dumps(s.to_json(), ensure_ascii=False))
    return 1 if any(isinstance(s, Finding) for s in said) else 0
