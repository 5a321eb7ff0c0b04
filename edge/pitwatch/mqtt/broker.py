"""A broker inside this process, for one table that has no other."""

from __future__ import annotations

from types import TracebackType

__all__ = ["EmbeddedBroker"]


class EmbeddedBroker:
    """An MQTT 3.1.1 broker on 127.0.0.1 in its own thread; port 1883 when that is free, else a free one."""

    def __init__(self, port: int | None = None) -> None:
        """Start listening; ready when this returns.

        Raises UserError when `port` is taken, or the broker is not installed (the `demo` extra).
        """
        raise NotImplementedError

    @property
    def port(self) -> int:
        """The TCP port."""
        raise NotImplementedError

    @property
    def url(self) -> str:
        """The broker's URL, for a publisher or any MQTT client."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop the broker and its thread; twice is nothing."""
        raise NotImplementedError

    def __enter__(self) -> EmbeddedBroker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
