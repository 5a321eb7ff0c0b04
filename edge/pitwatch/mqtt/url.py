"""Where the broker is: `mqtt://user@host:port` or `mqtts://…`, and the password from where it is safe.

In: a URL, the environment, a systemd credential. Out: a `BrokerUrl` and a password that is in neither.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from pitwatch.errors import UserError

__all__ = ["PASSWORD_CREDENTIAL", "PASSWORD_VARIABLE", "BrokerUrl", "parse_url", "password"]

PASSWORD_VARIABLE = "PITWATCH_MQTT_PASSWORD"
PASSWORD_CREDENTIAL = "mqtt-password"
_PORTS = {"mqtt": 1883, "mqtts": 8883}
_LIKE = "write it like mqtt://broker.example:1883 or mqtts://user@broker.example:8883"


@dataclass(frozen=True)
class BrokerUrl:
    """A broker's address; `str()` of it is its URL and safe to show.

    version: "3.1.1" for a broker known to speak only that, None when that is to be found out.
    """

    host: str
    port: int
    user: str | None = None
    tls: bool = False
    version: str | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        user = "" if self.user is None else quote(self.user, safe="") + "@"
        return f"{'mqtts' if self.tls else 'mqtt'}://{user}{host}:{self.port}"


def parse_url(url: str) -> BrokerUrl:
    """Read a broker URL; without a port it is 1883, for mqtts 8883.

    Raises UserError naming the URL (never a password in it) and what it should be.
    """
    shown = re.sub(r"//[^/]*@", "//…@", url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as e:
        raise UserError(f"The broker URL {shown!r} is malformed ({e}); {_LIKE}.") from None
    if parts.password is not None:
        raise UserError(
            f"The broker URL {shown!r} has a password in it, where others can read it; leave it out and put "
            f"it into the environment variable {PASSWORD_VARIABLE}, or the systemd credential "
            f"{PASSWORD_CREDENTIAL!r}."
        )
    if parts.scheme not in _PORTS or not parts.hostname or port == 0 or re.search(r"\s", url):
        raise UserError(f"The broker URL {shown!r} is malformed; {_LIKE}.")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise UserError(f"The broker URL {shown!r} has more than a host and a port in it; {_LIKE}.")
    return BrokerUrl(
        host=parts.hostname,
        port=port or _PORTS[parts.scheme],
        user=unquote(parts.username) if parts.username else None,
        tls=parts.scheme == "mqtts",
    )


def password() -> str | None:
    """The broker's password: the environment variable, else the systemd credential, else None."""
    given = os.environ.get(PASSWORD_VARIABLE)
    if given:
        return given
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    if not folder:
        return None
    try:
        return (Path(folder) / PASSWORD_CREDENTIAL).read_text(encoding="utf-8").rstrip("\r\n") or None
    except OSError:
        return None
