"""One connection to a broker, from the TCP handshake to its end; the thread that steps it owns it alone.

In: publications. Out: which of them the broker has taken or refused, and why the connection ended. Waits in
seconds. paho's own thread is not used: an exception in it would end it while `is_connected()` stays true,
and its client would queue what is published offline.
"""

from __future__ import annotations

import select
import socket
import ssl
import time
from contextlib import suppress
from typing import Any, NamedTuple

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from pitwatch.mqtt.payloads import Message
from pitwatch.mqtt.url import PASSWORD_VARIABLE, BrokerUrl

__all__ = ["Ack", "Connection", "Lasting", "Lost", "Received"]

_CREDENTIALS = ("Bad user name or password", "Not authorized")
_MOST_IN_FLIGHT = 65_535
_AHEAD = 65_536  # bytes
_AT_ONCE = 100  # packets read before anything else has its turn


class Lost(Exception):  # noqa: N818 - an end, not always an error
    """The connection has ended or was never made; the text completes "The broker … "."""


class Ack(NamedTuple):
    """The broker's answer to one publication: `refused` is its reason, None when it took it."""

    mid: int
    refused: str | None


class Received(NamedTuple):
    """What the broker sent; `mid` names it to `Connection.confirm`."""

    topic: str
    payload: bytes
    retain: bool
    mid: int = 0
    qos: int = 0


class Lasting(NamedTuple):
    """A session that outlives its connection: for `expiry` seconds the broker keeps what comes meanwhile.

    Of what it sends, `window` things may be unconfirmed at a time; what is not confirmed is sent again.
    MQTT 5 only.
    """

    expiry: int
    window: int


class _TlsSocket(ssl.SSLSocket):
    """One that paho need not close when the handshake fails; it does not."""

    def do_handshake(self, block: bool = False) -> None:
        try:
            super().do_handshake(block)
        except BaseException:
            self.close()
            raise


class _Client(paho.Client):
    """paho's client, which asks the system for the parts of each packet one by one; this one reads ahead.

    For one connection: what was read ahead of it is not another's. Should paho no longer call `_sock_recv`,
    nothing is read ahead and all goes on as before.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._ahead, self._at = b"", 0

    @property
    def has_ahead(self) -> bool:
        """Whether something was received that has not been looked at."""
        return self._at < len(self._ahead)

    def _sock_recv(self, bufsize: int) -> bytes:
        if not self.has_ahead:
            if bufsize >= _AHEAD:
                return super()._sock_recv(bufsize)
            self._ahead, self._at = super()._sock_recv(_AHEAD), 0
        out = self._ahead[self._at : self._at + bufsize]
        self._at += len(out)
        return out


class Connection:
    """A connection to one broker.

    answered: whether the broker has understood the question to be let in. accepted: whether it let us in.
    window: how many publications it takes unanswered. largest: bytes of the largest packet it takes. acks,
    received: what came in; whoever reads them empties them. resumed: the broker still had our session.
    """

    def __init__(
        self,
        broker: BrokerUrl,
        *,
        version: str,
        client_id: str,
        will: Message | None,
        password: str | None,
        tls: ssl.SSLContext | None,
        keepalive: int,
        timeout: float,
        lasting: Lasting | None = None,
    ) -> None:
        """Open the TCP connection and ask to be let in; version: "5" or "3.1.1", timeout: for TCP and TLS.

        lasting: what is received must be confirmed, by `confirm`. Raises Lost.
        """
        self.answered = False
        self.accepted = False
        self.window = _MOST_IN_FLIGHT
        self.largest = 268_435_455
        self.acks: list[Ack] = []
        self.received: list[Received] = []
        self.resumed = False
        self._end: str | None = None
        five = version == "5"
        self._client = client = _Client(
            CallbackAPIVersion.VERSION2,
            client_id=client_id,
            clean_session=None if five else True,
            protocol=MQTTProtocolVersion.MQTTv5 if five else MQTTProtocolVersion.MQTTv311,
            manual_ack=lasting is not None,
        )
        client.connect_timeout = timeout
        client.max_inflight_messages_set(
            _MOST_IN_FLIGHT
        )  # the window is kept here, where what is in it is known
        if will is not None:
            client.will_set(will.topic, will.payload, qos=1, retain=will.retain)
        how: dict[str, Any] = {}
        if lasting is not None:
            asked = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            asked.SessionExpiryInterval = lasting.expiry
            asked.ReceiveMaximum = lasting.window
            how = {"clean_start": False, "properties": asked}
        if broker.user is not None:
            client.username_pw_set(broker.user, password)
        if tls is not None:
            tls.sslsocket_class = _TlsSocket
            client.tls_set_context(tls)
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_publish = self._on_publish
        client.on_message = self._on_message
        try:
            client.connect(broker.host, broker.port, keepalive=keepalive, **how)
        except ssl.SSLCertVerificationError as e:
            raise Lost(f"shows a certificate that is not trusted ({e.verify_message}); trust its CA") from e
        except ssl.SSLError as e:
            raise Lost(
                f"does not speak TLS as it should ({e.reason}); check that the port is its TLS port"
            ) from e
        except TimeoutError as e:
            raise Lost("cannot be reached (no answer)") from e
        except (OSError, ValueError) as e:
            why = e.strerror if isinstance(e, OSError) and e.strerror else str(e)
            raise Lost(f"cannot be reached ({why})") from e

    def step(self, wake: socket.socket, timeout: float) -> None:
        """Read, write and keep alive; waits up to `timeout` for something to do or a byte on `wake`.

        Raises Lost when the connection has ended.
        """
        try:
            self._step(wake, timeout)
        except Lost:
            raise
        except Exception as e:  # paho on a malformed packet
            raise Lost(f"sent what is no MQTT ({type(e).__name__}: {e})") from e

    def publish(self, message: Message) -> int:
        """Send with QoS 1; returns the number by which its ack will name it.

        Raises Lost when the connection has ended.
        """
        info = self._client.publish(message.topic, message.payload, qos=1, retain=message.retain)
        if info.rc != paho.MQTT_ERR_SUCCESS:
            raise Lost(self._end or "closed the connection")
        return info.mid

    def subscribe(self, topic: str, qos: int = 1) -> None:
        """Ask for a topic's messages; a refusal is nothing."""
        self._client.subscribe(topic, qos=qos)

    def confirm(self, received: Received) -> None:
        """Say that this has been kept; of a lasting session only."""
        if received.qos:
            self._client.ack(received.mid, received.qos)

    def close(self, in_order: bool) -> None:
        """End it; `in_order` says so to the broker, else it publishes the last will. Nothing is raised."""
        with suppress(Exception):
            sock = self._client.socket()
            if sock is None:
                return
            if in_order:
                self._client.disconnect()
                deadline = time.monotonic() + 0.2
                while self._client.want_write() and time.monotonic() < deadline:
                    select.select([], [sock], [], 0.05)
                    self._client.loop_write()
            sock.close()

    def _step(self, wake: socket.socket, timeout: float) -> None:
        client = self._client
        sock = client.socket()
        if sock is None:
            raise Lost(self._end or "closed the connection")
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        poll.register(sock, select.POLLIN | (select.POLLOUT if client.want_write() else 0))
        buffered = client.has_ahead or (isinstance(sock, ssl.SSLSocket) and sock.pending() > 0)
        ready = dict(poll.poll(0 if buffered else timeout * 1000))
        if wake.fileno() in ready:
            wake.recv(4096)
        events = ready.get(sock.fileno(), 0)
        failed = paho.MQTT_ERR_SUCCESS
        if buffered or events & ~select.POLLOUT:
            for _ in range(_AT_ONCE):
                failed = client.loop_read()
                if failed or not client.has_ahead:
                    break
        if not failed and events & select.POLLOUT:
            failed = client.loop_write()
        if not failed:
            failed = client.loop_misc()
        if self._end is not None or failed:
            raise Lost(self._end or "closed the connection")

    # the callbacks only take note: paho's loop must come back from them whatever happens

    def _on_connect(
        self, client: object, userdata: object, flags: object, code: ReasonCode, properties: Properties | None
    ) -> None:
        if code.is_failure:
            reason = str(code)
            self.answered = reason != "Unsupported protocol version"
            if reason in _CREDENTIALS:
                self._end = (
                    f"refuses the user name or the password; check the URL's user and {PASSWORD_VARIABLE}"
                )
            else:
                self._end = f"refuses the connection ({reason})"
            return
        if properties is not None:
            self.window = getattr(properties, "ReceiveMaximum", self.window)
            self.largest = getattr(properties, "MaximumPacketSize", self.largest)
        self.resumed = bool(getattr(flags, "session_present", False))
        self.answered = self.accepted = True

    def _on_disconnect(
        self,
        client: object,
        userdata: object,
        flags: paho.DisconnectFlags,
        code: ReasonCode,
        properties: Properties | None,
    ) -> None:
        if self._end is None:
            told = flags.is_disconnect_packet_from_server
            self._end = f"closed the connection ({code})" if told else "closed the connection"

    def _on_publish(
        self, client: object, userdata: object, mid: int, code: ReasonCode, properties: Properties | None
    ) -> None:
        self.acks.append(Ack(mid, str(code) if code.is_failure else None))

    def _on_message(self, client: object, userdata: object, message: paho.MQTTMessage) -> None:
        self.received.append(
            Received(message.topic, bytes(message.payload), bool(message.retain), message.mid, message.qos)
        )
