"""Where the broker is: `mqtt://user@host:port` or `mqtts://…`, and the password from where it is safe."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BrokerUrl", "parse_url"]


@dataclass(frozen=True)
class BrokerUrl:
    """A broker's address; `str()` of it is safe to show."""

    host: str
    port: int
    user: str | None = None
    tls: bool = False

    def __str__(self) -> str:
        raise NotImplementedError


def parse_url(url: str) -> BrokerUrl:
    """Read a broker URL.

    Raises UserError naming the URL (never a password in it) and what it should be.
    """
    raise NotImplementedError
