"""Topics and payloads: what the outbox holds, as MQTT carries it."""

from __future__ import annotations

from typing import Any

__all__ = ["SCHEMA_VERSION", "TOPICS", "schema"]

SCHEMA_VERSION = 1
TOPICS = ("availability", "state", "events", "rounds", "findings", "health")


def schema(topic: str) -> dict[str, Any]:
    """The JSON schema of a topic's payload (`evidence/<id>` has none: it is a JPEG)."""
    raise NotImplementedError
