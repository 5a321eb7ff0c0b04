"""The simulated camera in a process of its own: frames come through shared memory, and nothing else does.

In: a `SimSpec`. Out: a `ChildSource` that knows pixels and capture times only; script and truth stay in the
other process. Rendering thus also has a core of its own.
"""

from __future__ import annotations

import json
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from pitwatch.capture.frame import Frame, FrameSource
from pitwatch.errors import UserError
from pitwatch.sim.spec import SimSpec

if TYPE_CHECKING:
    from pitwatch.sim.stage import Stage

__all__ = ["ChildSource", "start"]

SLOTS = 3
_START_TIMEOUT = 120.0


class ChildSource:
    """A frame source whose frames another process makes.

    Holds a socket and a piece of shared memory, and no way to what the frames were made from.
    """

    def __init__(self, channel: socket.socket, memory: int) -> None:
        """channel: the connection to the other process. memory: descriptor of the shared frames.

        Raises UserError that the other process sent, RuntimeError when it ended without a word.
        """
        self._channel = channel
        self._unread = b""
        self._closing = threading.Event()
        self._iterating = False
        channel.settimeout(_START_TIMEOUT)
        try:
            hello = self._receive()
            if hello is None:
                raise RuntimeError("the simulated camera ended before its first frame")
        except BaseException:
            channel.close()
            raise
        channel.settimeout(None)
        self.width: int = hello["width"]
        self.height: int = hello["height"]
        self.live: bool = hello["live"]
        self.skipped = 0
        self._memory = mmap.mmap(memory, SLOTS * self._size)

    @property
    def _size(self) -> int:
        return self.width * self.height * 3

    def __iter__(self) -> Iterator[Frame]:
        self._iterating = True
        try:
            while not self._closing.is_set():
                message = self._next()
                if message is None and not self._closing.is_set():
                    raise RuntimeError("the simulated camera ended in the middle of its frames")
                if message is None or message.get("end"):
                    return
                slot = message["slot"]
                shared = np.frombuffer(self._memory, np.uint8, self._size, slot * self._size)
                image = shared.reshape(self.height, self.width, 3).copy()
                del shared
                self._give_back(slot)
                yield Frame(message["t"], image, message["index"])
        finally:
            self._iterating = False
            self._release()

    def close(self) -> None:
        """Have the other process end; iterating ends too."""
        self._closing.set()
        with suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)
        # another thread that waits for a frame wakes up, and releases when it is done
        if not self._iterating:
            self._release()

    def _release(self) -> None:
        self._channel.close()
        self._memory.close()

    def _give_back(self, slot: int) -> None:
        with suppress(OSError):
            self._channel.send(bytes([slot]))

    def _next(self) -> dict[str, Any] | None:
        """The next message; of a live camera's frames that wait, the newest."""
        message = self._receive()
        while self.live and message is not None and "slot" in message and self._waits():
            newer = self._receive()
            if newer is None or "slot" in newer:
                self._give_back(message["slot"])
            message = newer
        return message

    def _waits(self) -> bool:
        return b"\n" in self._unread or bool(select.select([self._channel], [], [], 0)[0])

    def _receive(self) -> dict[str, Any] | None:
        try:
            while b"\n" not in self._unread:
                more = self._channel.recv(4096)
                if not more:
                    return None
                self._unread += more
        except OSError:  # closed, also by another thread
            return None
        line, _, self._unread = self._unread.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        if "error" in message:
            raise UserError(message["error"])
        return message


def start(spec: SimSpec) -> FrameSource:
    """Begin to film a simulated table in another process, which ends with the source.

    Raises UserError when no rounds can be made for this seed, RuntimeError when the process does not begin.
    """
    ours, theirs = socket.socketpair()
    memory = os.memfd_create("pitwatch-frames")
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "pitwatch.sim.child", str(spec), str(theirs.fileno()), str(memory)],
            pass_fds=(theirs.fileno(), memory),
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
        )
        theirs.close()
        # somebody has to take the status of a process that ends
        threading.Thread(target=process.wait, name="sim-wait", daemon=True).start()
        try:
            return ChildSource(ours, memory)
        except RuntimeError as e:
            process.wait(timeout=10)
            errors.seek(0)
            raise RuntimeError(f"{e}: {errors.read()[-2000:]}") from None
        finally:
            os.close(memory)


class _Sender:
    """The other process's end."""

    def __init__(self, channel: int, memory: int) -> None:
        self._channel = socket.socket(fileno=channel)
        self._memory_fd = memory
        self._free = list(range(SLOTS))

    def say(self, **message: Any) -> None:
        self._channel.setblocking(True)
        self._channel.sendall(json.dumps(message).encode() + b"\n")

    def send(self, source: Stage) -> None:
        """Every frame, until the watcher has gone."""
        size = source.width * source.height * 3
        os.ftruncate(self._memory_fd, SLOTS * size)
        memory = mmap.mmap(self._memory_fd, SLOTS * size)
        self.say(width=source.width, height=source.height, live=source.live)
        began: float | None = None
        for frame in source:
            if source.paced:
                now = time.monotonic()
                # after a wait for the watcher time goes on from there, and not faster
                if began is None or (not source.live and now - began - frame.t > 0.5):
                    began = now - frame.t
                time.sleep(max(0.0, began + frame.t - now))
            if not self._take_back(wait=not source.live):
                return
            if not self._free:
                continue  # nobody has time for this one
            slot = self._free.pop()
            memory[slot * size : (slot + 1) * size] = frame.image.tobytes()
            self.say(slot=slot, t=frame.t, index=frame.index)
        self.say(end=True)
        with suppress(OSError):
            # the last slots come back, then the end
            while self._channel.recv(SLOTS):
                pass

    def _take_back(self, wait: bool) -> bool:
        """Slots that the watcher has copied; False when it has gone."""
        while True:
            self._channel.setblocking(wait and not self._free)
            try:
                back = self._channel.recv(SLOTS)
            except BlockingIOError:
                return True
            if not back:
                return False
            self._free += back


def main() -> None:
    """The other process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the watcher's to answer
    spec, channel, memory = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    import cv2

    from pitwatch.sim.stage import Stage

    cv2.setNumThreads(1)  # the other cores are the watcher's
    sender = _Sender(channel, memory)
    try:
        sender.send(Stage(SimSpec.parse(spec)))
    except UserError as e:
        sender.say(error=str(e))
    except (BrokenPipeError, ConnectionResetError):
        pass  # the watcher has ended


if __name__ == "__main__":
    main()
