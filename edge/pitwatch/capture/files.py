"""Frames from disk: a video, or a folder of pictures in the order of their names.

In: a path. Out: every readable frame, `t` in seconds from the video's time stamps, from the frame rate given,
or one second a picture at rest. What cannot be decoded is skipped and counted.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.capture.frame import Frame
from pitwatch.errors import UserError

__all__ = ["PICTURES", "FolderSource", "VideoSource"]

PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff")
# a container that states its number of frames; others estimate it from the duration
_COUNTED = (".mp4", ".mov", ".m4v", ".avi")
# so many packets in a row without a frame: the end, or nothing readable to it
_GIVE_UP = 64

Image = NDArray[np.uint8]


class VideoSource:
    """A video file. `t` is the frame's own time stamp; with `fps`, its number divided by that."""

    live = False

    def __init__(self, path: str | Path, fps: float | None = None) -> None:
        """Open the file and decode its first frame.

        Raises UserError when there is none.
        """
        self.path = Path(path)
        self.skipped = 0
        self._fps = fps
        self._given, self._last = 0, 0.0
        self._closed = False
        # the decoder must not be released under a read that runs in another thread
        self._lock = threading.Lock()
        self._capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
        self._first = self._next() if self._capture.isOpened() else None
        if self._first is None:
            self.close()
            raise UserError(
                f"{path} holds no video that can be read; convert it with "
                f"`ffmpeg -i {self.path.name} out.mp4`, or give a folder of pictures"
            )
        self.height, self.width = self._first[1].shape[:2]
        self._rate = fps or float(self._capture.get(cv2.CAP_PROP_FPS)) or 25.0

    def _next(self) -> tuple[float, Image] | None:
        with self._lock:
            for _ in range(_GIVE_UP):
                if self._closed:
                    return None
                if not self._capture.grab():
                    continue
                stamp = float(self._capture.get(cv2.CAP_PROP_POS_MSEC)) / 1000
                ok, image = self._capture.retrieve()
                if ok:
                    return stamp, np.asarray(image, dtype=np.uint8)
                self.skipped += 1
        return None

    def __iter__(self) -> Iterator[Frame]:
        """The frames, from where the last iteration stopped."""
        while not self._closed:
            taken = self._first or self._next()
            self._first = None
            if taken is None:
                self._count_missing()
                return
            stamp, image = taken
            index = self._given + self.skipped
            if self._fps is not None:
                stamp = index / self._fps
            elif self._given and stamp <= self._last:
                # a stream without time stamps, or with broken ones
                stamp = self._last + 1 / self._rate
            self._last = stamp
            self._given += 1
            yield Frame(stamp, image, index, name=self.path.name)

    def _count_missing(self) -> None:
        if self._closed:
            return
        stated = round(float(self._capture.get(cv2.CAP_PROP_FRAME_COUNT)))
        missing = stated - self._given - self.skipped
        if missing > (0 if self.path.suffix.lower() in _COUNTED else 2):
            self.skipped += missing

    def close(self) -> None:
        """Close the file; iterating ends."""
        self._closed = True
        with self._lock:
            self._capture.release()


class FolderSource:
    """A folder's pictures, or one picture, in the order of their names, numbers in them by value."""

    live = False

    def __init__(self, path: str | Path, fps: float | None = None, settled: bool = False) -> None:
        """List the folder and decode its first readable picture.

        fps: pictures a second. settled: every picture is at rest, one a second.
        Raises UserError when there is none, or it is not said when the pictures were taken.
        """
        self.path = Path(path)
        self.skipped = 0
        self._settled = settled
        self._closed = False
        if fps is None and not settled:
            raise UserError(
                f"{path} does not say when its pictures were taken; add --fps N for N pictures a second, "
                f"or --settled if the table is at rest in each"
            )
        self._step = 1 / fps if fps is not None else 1.0
        found = [self.path] if self.path.is_file() else list(self.path.iterdir())
        self.files = sorted((p for p in found if p.suffix.lower() in PICTURES), key=_by_number)
        first = next((image for image in map(_read, self.files) if image is not None), None)
        if first is None:
            what = "no readable picture" if self.files else "no picture"
            raise UserError(f"{path} holds {what}; put pictures of the table into it ({', '.join(PICTURES)})")
        self.height, self.width = first.shape[:2]

    def __iter__(self) -> Iterator[Frame]:
        """Every readable picture, from the first.

        Raises UserError at a picture of another size than the first.
        """
        self.skipped = 0
        for index, path in enumerate(self.files):
            if self._closed:
                return
            image = _read(path)
            if image is None:
                self.skipped += 1
                continue
            if image.shape[:2] != (self.height, self.width):
                raise UserError(
                    f"{path} is {image.shape[1]} x {image.shape[0]} pixels, the pictures before it "
                    f"{self.width} x {self.height}; keep pictures of one camera in a folder"
                )
            yield Frame(index * self._step, image, index, settled=self._settled, name=path.name)

    def close(self) -> None:
        """Iterating ends."""
        self._closed = True


def _by_number(path: Path) -> list[tuple[int, str]]:
    parts = re.split(r"(\d+)", path.name)
    return [(int(s), s) if s.isdigit() else (0, s) for s in parts]


def _read(path: Path) -> Image | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    # some versions of the decoder fill what a cut-off JPEG lacks with grey
    if not data or (data[:2] == b"\xff\xd8" and b"\xff\xd9" not in data[-4096:]):
        return None
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    return None if image is None else np.asarray(image, dtype=np.uint8)
