"""The publisher: its own thread drains the journal's outbox to a broker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from pitwatch.journal import Journal
from pitwatch.mqtt.url import BrokerUrl

__all__ = ["Publisher"]


class Publisher:
    """Sends what the journal holds while a broker is there, and keeps trying while it is not.

    It begins at once, in a thread of its own, and never raises from there.
    """

    def __init__(
        self,
        journal: Journal,
        url: str | BrokerUrl,
        site: str,
        table: str,
        *,
        ca_file: str | Path | None = None,
        health: Callable[[], Mapping[str, Any]] | None = None,
        on_status: Callable[[str], None] | None = None,
    ) -> None:
        """Begin to publish `journal` to the broker at `url` under `pitwatch/<site>/<table>/`.

        ca_file: certificates to trust for mqtts:// instead of the system's. health: further figures for each
        heartbeat. on_status: told each new status sentence.
        Raises UserError for a malformed URL, or a site or table that cannot be a topic level.
        """
        raise NotImplementedError

    @property
    def connected(self) -> bool:
        """Whether the broker has accepted us and has not gone since."""
        raise NotImplementedError

    @property
    def status(self) -> str:
        """One sentence on the connection, for the screen."""
        raise NotImplementedError

    def flush(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for an empty outbox; whether it is."""
        raise NotImplementedError

    def close(self, timeout: float = 5.0) -> None:
        """Say offline, disconnect, end the thread; what is unsent stays in the journal. Twice is nothing."""
        raise NotImplementedError

    def __enter__(self) -> Publisher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
