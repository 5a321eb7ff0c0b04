"""What goes into a journal and what comes out of its outbox.

In: JSON objects. Out: `Outgoing`, one thing that the pit must still get. `t` seconds, `at` UTC text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, Protocol, TypedDict, get_args

__all__ = ["KINDS", "Counts", "HasJson", "Kind", "Outgoing", "Recordable", "utc_now"]

Kind = Literal["event", "finding", "unverified", "round", "state", "evidence"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class HasJson(Protocol):
    """A record that knows its JSON form: an event, a finding, a round."""

    def to_json(self) -> dict[str, Any]:
        """The record as a JSON object."""


Recordable = HasJson | Mapping[str, Any]


class Counts(TypedDict):
    """How much lies in a journal, all boots together; `evidence_bytes` is the pictures' size on disk."""

    event: int
    finding: int
    unverified: int
    round: int
    outbox: int
    evidence: int
    evidence_bytes: int


@dataclass(frozen=True)
class Outgoing:
    """One thing in the outbox.

    id: UUID; consumers drop what they have by it. boot: UUID of the journal's opening in which it was
    recorded. seq: 1, 2, 3 … within that boot for events, findings, unverified hands and rounds; for a state
    or a picture, which consumers need not have in full, the last number given when it was recorded.
    body: the JSON object; empty for a picture. ref: a picture's reference, else None.
    """

    id: str
    kind: Kind
    boot: str
    seq: int
    site: str
    table: str
    at: str
    body: Mapping[str, Any]
    ref: str | None = None


def utc_now() -> str:
    """The wall clock, RFC 3339 with milliseconds; for people, never for order."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
