"""Reads a frame source in a thread of its own, so that decoding and watching share two cores.

In: a `FrameSource`. Out: its frames, one by one. From a live source the newest wins; from any other every
frame is handed over, and the source waits while the watch is busy.
"""

from __future__ import annotations

import threading
from collections import deque

from pitwatch.capture.frame import Frame, FrameSource

__all__ = ["Reader"]

_AHEAD = 2  # frames decoded before they are asked for


class Reader:
    """Frames of a source, read ahead. Raises from `next` what the source raised."""

    def __init__(self, source: FrameSource) -> None:
        self._source = source
        self._frames: deque[Frame] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._ended = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._read, name="capture", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            for frame in self._source:
                with self._changed:
                    if self._source.live:
                        self._frames.clear()
                    else:
                        self._changed.wait_for(lambda: len(self._frames) < _AHEAD or self._closing)
                    if self._closing:
                        return
                    self._frames.append(frame)
                    self._changed.notify_all()
        except BaseException as e:
            self._error = e  # raised in the watching thread
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def next(self, timeout: float) -> Frame | None:
        """The next frame, or None after `timeout` seconds or at the end (`ended` tells which)."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._frames) or self._ended, timeout)
            if self._frames:
                frame = self._frames.popleft()
                self._changed.notify_all()
                return frame
            if self._error is not None and not self._closing:
                raise self._error
            return None

    @property
    def ended(self) -> bool:
        """Whether the source has no further frame."""
        with self._changed:
            return self._ended and not self._frames

    def close(self) -> None:
        """Stop reading and release the source."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._source.close()
        self._thread.join(timeout=5)
