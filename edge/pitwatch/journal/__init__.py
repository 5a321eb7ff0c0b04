"""The journal: everything that happened at one table, on disk before it is sent anywhere.

In: table events, findings, unverified hands, rounds, the table's state (anything with `to_json`, or a JSON
object) and evidence pictures (JPEG bytes). Out: the outbox, oldest first, and what was recorded. `t` is
seconds of capture time, `at` wall-clock UTC (RFC 3339), sizes are bytes. Knows nothing of MQTT.
"""

from __future__ import annotations

from pitwatch.journal.errors import JournalError, JournalFull
from pitwatch.journal.journal import Journal
from pitwatch.journal.records import KINDS, Counts, Kind, Outgoing, Recordable

__all__ = ["KINDS", "Counts", "Journal", "JournalError", "JournalFull", "Kind", "Outgoing", "Recordable"]
