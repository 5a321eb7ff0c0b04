"""Who may use the wizard: this computer, and with a one-time code one browser of the local network at a time.

In: requests' hosts, origins, codes and cookies. Out: yes or no. A code serves once; ten wrong ones and it is
replaced. What was admitted keeps a random token in a cookie until the wizard ends.
"""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import secrets
import socket
import threading
from collections.abc import Callable
from urllib.parse import urlsplit

__all__ = ["COOKIE", "Access", "own_addresses"]

COOKIE = "pitwatch_setup"
_WRONG = 10


class Access:
    """network: whether other computers may come in at all, with a code. say: told each new code."""

    def __init__(self, network: bool, say: Callable[[str], None] | None = None) -> None:
        self.network = network
        self._say = say or (lambda code: None)
        self._lock = threading.Lock()
        self._tokens: set[str] = set()
        self._wrong = 0
        self.code = ""
        if network:
            self._renew()

    def _renew(self) -> None:
        self.code = f"{secrets.randbelow(10**6):06d}"
        self._wrong = 0

    def admit(self, code: str) -> str | None:
        """A token for a right code, which is then used up; None for a wrong one."""
        with self._lock:
            if not self.network:
                return None
            if not hmac.compare_digest(code.strip().encode(), self.code.encode()):
                self._wrong += 1
                if self._wrong >= _WRONG:
                    self._renew()
                    self._say(self.code)
                return None
            token = secrets.token_urlsafe(32)
            self._tokens.add(token)
            self._renew()
            self._say(self.code)
            return token

    def allowed(self, client: str | None, cookie: str | None) -> bool:
        """Whether a request may pass: from this computer, or with a token. client: its address."""
        if not self.network or _is_loopback(client):
            return True
        with self._lock:
            return cookie is not None and any(
                hmac.compare_digest(cookie.encode(), t.encode()) for t in self._tokens
            )

    def good_host(self, host: str, origin: str | None) -> bool:
        """Whether a request was meant for this page: an address or this computer's own name, and if it comes
        from a page, from this one. A name of somebody else's that resolves to here gets nothing."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if not (name == "localhost" or _is_loopback(name) or (self.network and _is_ours(name))):
            return False
        return origin is None or urlsplit(origin).netloc.lower() == host.lower()


def own_addresses() -> list[str]:
    """This computer's addresses in the local network, the likeliest first."""
    out: list[str] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # nothing is sent: connecting a datagram socket only picks the address to send from
            probe.connect(("192.0.2.1", 9))
            out.append(str(probe.getsockname()[0]))
        except OSError:
            pass
    with contextlib.suppress(OSError):
        out += [str(a[4][0]) for a in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    return [a for a in dict.fromkeys(out) if not _is_loopback(a)]


def _is_loopback(address: str | None) -> bool:
    try:
        return ipaddress.ip_address(address or "").is_loopback
    except ValueError:
        return False


def _is_ours(name: str) -> bool:
    own = socket.gethostname().lower()
    if name.lower() in (own, f"{own}.local", own.split(".")[0]):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
