"""Frames from a camera that runs at its own pace: the newest frame wins.

In: something that grabs frames. Out: BGR frames, `t` in seconds of the monotonic clock, read at capture.

A thread grabs without pause, so that no buffer between camera and reader ever holds an old picture, and keeps
only the newest. A camera that fails is reopened; one that gives nothing for `stall_s` seconds is reported.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.capture.frame import Frame
from pitwatch.errors import UserError

__all__ = ["DeviceSource", "Grabber", "open_v4l2"]

_log = logging.getLogger("pitwatch.capture")


class Grabber(Protocol):
    """What of `cv2.VideoCapture` is used: `grab` waits for a frame, `retrieve` decodes it."""

    def isOpened(self) -> bool: ...  # noqa: N802
    def grab(self) -> bool: ...
    def retrieve(self) -> Any: ...
    def release(self) -> None: ...


def open_v4l2(device: str, size: tuple[int, int] | None = None, fps: float | None = None) -> Grabber:
    """Open a V4L2 camera, asking for Motion-JPEG, which USB cameras need for full size at full rate."""
    capture = cv2.VideoCapture(device, cv2.CAP_V4L2)
    if capture.isOpened():
        capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        if size is not None:
            capture.set(cv2.CAP_PROP_FRAME_WIDTH, size[0])
            capture.set(cv2.CAP_PROP_FRAME_HEIGHT, size[1])
        if fps is not None:
            capture.set(cv2.CAP_PROP_FPS, fps)
    return capture


class DeviceSource:
    """A live camera.

    dropped: frames that a newer one replaced before they were asked for. reopened: how often the camera had
    to be opened again. said: which of its kept controls the camera did not take when it was last opened.
    """

    live = True

    def __init__(
        self,
        name: str,
        opener: Callable[[], Grabber],
        *,
        prepare: Callable[[], tuple[str, ...]] | None = None,
        stall_s: float = 5.0,
        retry_s: float = 0.5,
        join_s: float = 2.0,
    ) -> None:
        """Start grabbing and wait for the first frame.

        name: what the user calls the camera. prepare: called after the first frame of each opening, since
        some cameras forget their controls when the stream starts; says what did not take. stall_s: report a
        camera silent for so long. retry_s: pause between attempts to open it. join_s: longest time that
        `close` waits for the thread.
        Raises UserError when no frame comes within `stall_s`.
        """
        self.name = name
        self.skipped = 0
        self.dropped = 0
        self.reopened = 0
        self.said: tuple[str, ...] = ()
        self._opener, self._prepare = opener, prepare
        self._stall_s, self._retry_s, self._join_s = stall_s, retry_s, join_s
        self._new = threading.Condition()
        self._latest: Frame | None = None
        self._stop = threading.Event()
        # a daemon: a driver that never returns from a read must not keep the program from ending
        self._thread = threading.Thread(target=self._run, name=f"capture {name}", daemon=True)
        self._thread.start()
        try:
            first = self._wait(take=False)
        except BaseException:
            self.close()
            raise
        if first is None:
            raise UserError(f"the camera {name} was closed before it gave a frame; open it again")
        self.height, self.width = first.image.shape[:2]

    def __iter__(self) -> Iterator[Frame]:
        """The newest frame each time, never the same one twice, until `close`.

        Raises UserError when the camera gives no frame for `stall_s` seconds, or frames of another size. It
        goes on being reopened: iterate again to go on waiting for it.
        """
        while True:
            frame = self._wait()
            if frame is None:
                return
            h, w = frame.image.shape[:2]
            if (w, h) != (self.width, self.height):
                raise UserError(
                    f"the camera {self.name} now gives {w} x {h} pixels, not {self.width} x {self.height}; "
                    f"set it back, or calibrate again"
                )
            yield frame

    def close(self) -> None:
        """Stop grabbing; iterating ends. Returns within `join_s` seconds, even if the driver hangs."""
        self._stop.set()
        with self._new:
            self._new.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(self._join_s)

    def _wait(self, take: bool = True) -> Frame | None:
        with self._new:
            there = self._new.wait_for(lambda: self._latest is not None or self._stop.is_set(), self._stall_s)
            if self._stop.is_set():
                return None
            if not there:
                raise UserError(
                    f"the camera {self.name} has given no frame for {self._stall_s:g} s; check its cable and "
                    f"power, and that no other program uses it (`fuser {self.name}`)"
                )
            frame = self._latest
            if take:
                self._latest = None
            return frame

    def _run(self) -> None:
        index, opened = 0, 0
        while not self._stop.is_set():
            grabber = self._opener()
            if grabber.isOpened():
                opened += 1
                self.reopened = opened - 1
                index = self._grab(grabber, index)
            # only this thread touches the grabber: to release it under a running read may crash the driver
            grabber.release()
            self._stop.wait(self._retry_s)

    def _grab(self, grabber: Grabber, index: int) -> int:
        failed, prepared = 0, self._prepare is None
        while not self._stop.is_set() and failed < 3:
            if not grabber.grab():
                failed += 1
                continue
            if not prepared and self._prepare is not None:
                prepared = True
                self.said = self._prepare()
                for line in self.said:
                    _log.warning("%s: %s", self.name, line)
                continue
            t = time.monotonic()
            ok, image = grabber.retrieve()
            index += 1
            if not ok or image is None:
                self.skipped += 1
                continue
            failed = 0
            self._put(Frame(t, _bgr(image), index - 1, name=self.name))
        return index

    def _put(self, frame: Frame) -> None:
        with self._new:
            self.dropped += self._latest is not None
            self._latest = frame
            self._new.notify_all()


def _bgr(image: Any) -> NDArray[np.uint8]:
    a = np.asarray(image, dtype=np.uint8)
    return a if a.ndim == 3 else np.asarray(cv2.cvtColor(a, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
