from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from pitwatch.capture.frame import Frame
from pitwatch.errors import UserError
from pitwatch.monitor.reader import Reader

IMAGE = np.zeros((2, 2, 3), np.uint8)


class Source:
    """Frames at once, then whatever `then` does."""

    width, height, skipped = 2, 2, 0

    def __init__(self, frames: int, live: bool = False, fails: Exception | None = None) -> None:
        self.live = live
        self.given = 0
        self._frames, self._fails = frames, fails
        self._closed = threading.Event()

    def __iter__(self) -> Iterator[Frame]:
        for i in range(self._frames):
            if self._closed.is_set():
                return
            self.given = i + 1
            yield Frame(i / 10, IMAGE, i)
        if self._fails is not None:
            raise self._fails
        if self.live:
            self._closed.wait(10)

    def close(self) -> None:
        self._closed.set()


def take(reader: Reader) -> list[int]:
    out = []
    while not reader.ended:
        if (frame := reader.next(0.5)) is not None:
            out.append(frame.index)
    return out


def test_every_frame_of_a_file_is_handed_over_in_order() -> None:
    reader = Reader(Source(50))
    assert take(reader) == list(range(50))
    reader.close()


def test_a_file_is_not_read_far_ahead() -> None:
    source = Source(50)
    reader = Reader(source)
    time.sleep(0.1)
    assert source.given <= 3
    reader.close()


def test_of_a_live_source_the_newest_frame_wins() -> None:
    source = Source(50, live=True)
    reader = Reader(source)
    while source.given < 50:
        time.sleep(0.01)
    time.sleep(0.05)
    frame = reader.next(1)
    assert frame is not None
    assert frame.index == 49
    assert reader.next(0.05) is None
    assert not reader.ended
    reader.close()
    assert reader.ended


def test_what_the_source_raises_comes_after_the_frames_before_it() -> None:
    reader = Reader(Source(2, fails=UserError("the camera was unplugged")))
    assert [reader.next(1), reader.next(1)][1] is not None
    with pytest.raises(UserError, match="unplugged"):
        reader.next(1)
    reader.close()


def test_closing_ends_a_reader_that_waits() -> None:
    reader = Reader(Source(50))
    began = time.monotonic()
    reader.close()
    assert time.monotonic() - began < 2
