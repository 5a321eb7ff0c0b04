"""The live camera's thread, against a camera that really blocks: Motion-JPEG through a FIFO.

No V4L2 device is needed; what only a V4L2 driver can show (its formats and time-outs) is not tested here.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from pitwatch.capture import open_source
from pitwatch.capture.device import DeviceSource, Grabber
from pitwatch.errors import UserError


class PipeGrabber:
    """Reads the FIFO's pictures, blocking like a driver."""

    def __init__(self, path: Path) -> None:
        self.pipe = path.open("rb")
        self.data = b""

    def isOpened(self) -> bool:
        return True

    def grab(self) -> bool:
        head = self.pipe.read(4)
        self.data = self.pipe.read(struct.unpack("<I", head)[0]) if len(head) == 4 else b""
        return bool(self.data)

    def retrieve(self) -> tuple[bool, object]:
        image = cv2.imdecode(np.frombuffer(self.data, np.uint8), cv2.IMREAD_COLOR)
        return image is not None, image

    def release(self) -> None:
        self.pipe.close()


class Stream:
    """A camera made of a FIFO: writes JPEGs of growing brightness at a steady rate until told otherwise."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        self.running = threading.Event()
        self.running.set()
        self.ended = threading.Event()
        self.size = (64, 48)
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def open(self) -> Grabber:
        return PipeGrabber(self.path)

    def _write(self) -> None:
        n = 0
        while not self.ended.is_set():
            with contextlib.suppress(BrokenPipeError), self.path.open("wb", buffering=0) as fifo:
                while not self.ended.is_set():
                    if not self.running.is_set():
                        time.sleep(0.01)
                        continue
                    n = (n + 1) % 25
                    image = np.full((self.size[1], self.size[0], 3), 10 * n, np.uint8)
                    data = cv2.imencode(".jpg", image)[1].tobytes()
                    fifo.write(struct.pack("<I", len(data)) + data)
                    time.sleep(0.005)

    def end(self) -> None:
        self.ended.set()
        # wake a writer that waits for a reader
        with contextlib.suppress(OSError):
            os.close(os.open(self.path, os.O_RDONLY | os.O_NONBLOCK))
        self._thread.join(5)
        assert not self._thread.is_alive()


@pytest.fixture
def stream(tmp_path: Path) -> Iterator[Stream]:
    made = Stream(tmp_path / "camera.mjpeg")
    yield made
    made.end()


def test_the_newest_frame_wins(stream: Stream) -> None:
    source = DeviceSource("cam", stream.open)
    assert (source.width, source.height, source.live) == (64, 48, True)
    frames = []
    for frame in source:
        assert time.monotonic() - frame.t < 0.5
        frames.append(frame)
        # a reader slower than the camera
        time.sleep(0.05)
        if len(frames) == 6:
            break
    source.close()
    assert all(a.t < b.t and a.index < b.index for a, b in itertools.pairwise(frames))
    assert source.dropped > 0
    assert frames[-1].index - frames[0].index > 6
    assert list(source) == []


def test_a_silent_camera_is_reported_and_awaited(stream: Stream) -> None:
    source = DeviceSource("/dev/video7", stream.open, stall_s=0.3, join_s=0.5)
    next(iter(source))
    stream.running.clear()
    began = time.monotonic()
    with pytest.raises(UserError, match=r"/dev/video7 has given no frame for 0\.3 s; check its cable"):
        list(source)
    assert time.monotonic() - began < 2
    stream.running.set()
    assert next(iter(source)).image.shape == (48, 64, 3)
    source.close()


def test_close_does_not_wait_for_a_driver_that_hangs(stream: Stream) -> None:
    source = DeviceSource("cam", stream.open, stall_s=0.5, join_s=0.2)
    stream.running.clear()
    time.sleep(0.1)
    began = time.monotonic()
    source.close()
    assert time.monotonic() - began < 0.5
    assert list(source) == []


def test_close_ends_an_iteration_in_another_thread(stream: Stream) -> None:
    source = DeviceSource("cam", stream.open, join_s=0.2)
    stream.running.clear()
    ended = threading.Event()

    def read() -> None:
        list(source)
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    time.sleep(0.05)
    source.close()
    assert ended.wait(1)


class Flaky:
    """A grabber around a real one that gives `n` frames, a broken one in three of them, then fails."""

    def __init__(self, inner: Grabber, n: int) -> None:
        self.inner, self.n, self.released = inner, n, False

    def isOpened(self) -> bool:
        return self.inner.isOpened()

    def grab(self) -> bool:
        self.n -= 1
        return self.n >= 0 and self.inner.grab()

    def retrieve(self) -> tuple[bool, object]:
        ok, image = self.inner.retrieve()
        return (False, None) if self.n % 3 == 0 else (ok, image)

    def release(self) -> None:
        self.released = True
        self.inner.release()


def test_a_camera_that_fails_is_opened_again(stream: Stream) -> None:
    made: list[Flaky] = []

    def opener() -> Grabber:
        made.append(Flaky(stream.open(), 9))
        return made[-1]

    source = DeviceSource("cam", opener, retry_s=0.01)
    frames = []
    for frame in source:
        frames.append(frame)
        if source.reopened >= 2:
            break
    source.close()
    assert all(flaky.released for flaky in made)
    assert source.skipped >= 4
    assert all(a.index < b.index for a, b in itertools.pairwise(frames))


def test_a_camera_that_cannot_be_opened(tmp_path: Path) -> None:
    tries = []

    def opener() -> Grabber:
        tries.append(1)
        return cv2.VideoCapture(str(tmp_path / "none.mjpeg"), cv2.CAP_FFMPEG)

    with pytest.raises(UserError, match="cam has given no frame"):
        DeviceSource("cam", opener, stall_s=0.2, retry_s=0.02)
    assert len(tries) > 2


def test_frames_of_another_size_are_an_error(stream: Stream) -> None:
    source = DeviceSource("cam", stream.open, retry_s=0.01)
    stream.size = (128, 48)
    with pytest.raises(UserError, match="now gives 128 x 48 pixels, not 64 x 48"):
        list(source)
    source.close()


@pytest.mark.parametrize("spec", ["/dev/video99", "v4l2:/dev/video99", "v4l2:99"])
def test_no_such_camera(spec: str) -> None:
    with pytest.raises(UserError, match="there is no camera /dev/video99; plug it in"):
        open_source(spec)


def test_a_device_that_is_no_camera() -> None:
    with pytest.raises(UserError, match="the camera /dev/null has given no frame"):
        open_source("v4l2:/dev/null", stall_s=0.2)
