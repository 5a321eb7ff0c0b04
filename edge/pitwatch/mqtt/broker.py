"""A broker inside this process, for one table that has no other.

In: nothing, or a port. Out: a URL on 127.0.0.1 that any MQTT 3.1.1 client can use, without a password.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from types import TracebackType

from pitwatch.errors import UserError
from pitwatch.mqtt.url import BrokerUrl

__all__ = ["EmbeddedBroker"]

_HOST = "127.0.0.1"
_USUAL = 1883
_PLUGINS = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}


class EmbeddedBroker:
    """An MQTT 3.1.1 broker on 127.0.0.1 in its own thread; port 1883 when that is free, else a free one."""

    def __init__(self, port: int | None = None) -> None:
        """Start listening; ready when this returns.

        Raises UserError when `port` is taken, or the broker is not installed (the `demo` extra).
        """
        self._port = _free(port)
        self._ready = threading.Event()
        self._failed: Exception | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        try:
            import amqtt.broker  # noqa: F401 - the demo's; the edge does without
        except ImportError as e:
            raise UserError(
                f"The embedded broker is not installed ({e}); "
                "run pip install 'pitwatch[demo]', or name a broker."
            ) from None
        self._thread = threading.Thread(target=self._run, name="pitwatch-broker", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failed is not None:
            self._thread.join()
            raise UserError(
                f"The embedded broker cannot listen on {_HOST}:{self._port} ({self._failed}); "
                "name another port."
            )

    @property
    def port(self) -> int:
        """The TCP port."""
        return self._port

    @property
    def url(self) -> str:
        """The broker's URL, for any MQTT client."""
        return str(self.address)

    @property
    def address(self) -> BrokerUrl:
        """The same for a `Publisher`, which then need not find out the version."""
        return BrokerUrl(_HOST, self._port, version="3.1.1")

    def close(self) -> None:
        """Stop the broker and its thread; twice is nothing."""
        loop, end = self._loop, self._end
        if loop is not None and end is not None and self._thread.is_alive():
            with contextlib.suppress(RuntimeError):  # its loop has just ended
                loop.call_soon_threadsafe(end.set)
            self._thread.join(5.0)

    def __enter__(self) -> EmbeddedBroker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as e:
            self._failed = e
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        from amqtt.broker import Broker
        from amqtt.contexts import BrokerConfig, ListenerConfig

        # it warns of every client that goes without a word
        logging.getLogger("amqtt").setLevel(logging.CRITICAL)
        logging.getLogger("transitions").setLevel(logging.ERROR)
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        listener = ListenerConfig(bind=f"{_HOST}:{self._port}")
        broker = Broker(BrokerConfig(listeners={"default": listener}, plugins=dict(_PLUGINS)))
        await broker.start()
        self._ready.set()
        try:
            await self._end.wait()
        finally:
            await broker.shutdown()


def _free(port: int | None) -> int:
    """`port` when given, else 1883 when free, else one that is."""
    if port is not None:
        return port
    for candidate in (_USUAL, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind((_HOST, candidate))
                return int(probe.getsockname()[1])
    raise UserError(f"No port is free on {_HOST} for the embedded broker; close some programs.")
