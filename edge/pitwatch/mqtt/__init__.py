"""From the journal's outbox to a broker, and nothing lost on the way.

In: a journal. Out: MQTT publications (QoS 1) under `pitwatch/<site>/<table>/`: JSON as `schemas/` has it,
pictures as JPEG. Knows nothing of the game.
"""

from __future__ import annotations

from pitwatch.mqtt.broker import EmbeddedBroker
from pitwatch.mqtt.payloads import SCHEMA_VERSION, TOPICS, schema
from pitwatch.mqtt.publisher import Publisher
from pitwatch.mqtt.url import BrokerUrl, parse_url

__all__ = [
    "SCHEMA_VERSION",
    "TOPICS",
    "BrokerUrl",
    "EmbeddedBroker",
    "Publisher",
    "parse_url",
    "schema",
]
