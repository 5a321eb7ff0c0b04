"""Sockets that a page is served from.

In: where, and the ports to try. Out: a listening socket, or a UserError with the remedy.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence

from pitwatch.errors import UserError

__all__ = ["listen"]


def listen(host: str, ports: Sequence[int], what: str, remedy: str) -> socket.socket:
    """A listening socket on the first of `ports` that is free; 0 is any free one.

    Raises UserError when none of them can be had: `what` cannot be served, and `remedy`.
    """
    for port in ports:
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
            # two sockets that do not listen yet could share the port
            sock.listen(64)
        except (OSError, OverflowError) as e:
            sock.close()
            reason = getattr(e, "strerror", None) or e
            wrong = f"{what} cannot be served at {host}:{port} ({reason}); {remedy}"
        else:
            return sock
    raise UserError(wrong)
