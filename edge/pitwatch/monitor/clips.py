"""Clips: what the whole table looked like in the seconds before a finding, a few small pictures a second.

In: frames, findings as the journal has them. Out: clips in the journal, kept there until somebody asks for
one. A clip is JPEGs, one behind the other (Motion-JPEG), each with its time `t` in seconds in its comment: it
costs a small computer next to nothing, can be looked at picture by picture, and many players show it.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.capture.frame import Frame
from pitwatch.journal import Journal, JournalError

__all__ = ["Clips", "joined", "moment"]

_log = logging.getLogger(__name__)
Image = NDArray[np.uint8]

_EVERY = 0.33  # seconds between two pictures
_WIDTH = 960  # px
_QUALITY = 68
_REMEMBERED = 30.0  # seconds
_LONGEST, _SHORTEST = 20.0, 6.0  # seconds of a clip before its finding
_BEFORE, _AFTER = 2.0, 1.0  # seconds before the first of a finding's pictures, and after the finding
_MOST = 2_500_000  # bytes; a broker takes no more than four million at once


class Clips:
    """Remembers the last half minute, and makes clips of it in a thread of its own; never raises there."""

    def __init__(self, journal: Journal, live: bool) -> None:
        """live: frames come at their own pace; a picture too many is then left out, else waited for."""
        self._journal = journal
        self._live = live
        self._taken_at = float("-inf")
        self._work: queue.Queue[tuple[float, Image] | tuple[str, float, float] | None] = queue.Queue(8)
        self._pictures: deque[tuple[float, bytes]] = deque()
        self._wanted: list[tuple[str, float, float]] = []
        self._thread = threading.Thread(target=self._run, name="pitwatch-clips", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def frame(self, frame: Frame) -> None:
        """Remember a frame, where it is time for one."""
        if not 0 <= frame.t - self._taken_at < _EVERY:
            self._taken_at = frame.t
            self._put((frame.t, frame.image), wait=not self._live)

    def finding(self, uid: str, body: Mapping[str, Any]) -> None:
        """Make a clip of a finding, by its id in the journal, once what follows it has been seen too."""
        t = float(body["t"])
        self._put((uid, moment(t, body.get("evidence") or ()), t + _AFTER), wait=True)

    def close(self) -> None:
        """Make the clips that are still wanted, and end the thread."""
        self._put(None, wait=True)
        self._thread.join(10)

    def _put(self, work: tuple[float, Image] | tuple[str, float, float] | None, wait: bool) -> None:
        try:
            self._work.put(work, wait, 5.0)
        except queue.Full:
            if wait:
                _log.warning("clips are not made as fast as they are wanted")

    # what follows runs in the thread only

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                if len(work) == 3:
                    self._wanted.append(work)
                else:
                    self._remember(*work)
            except Exception:
                _log.exception("a clip's picture was lost")
        self._make(self._wanted)

    def _remember(self, t: float, image: Image) -> None:
        if self._pictures and t < self._pictures[-1][0]:
            self._pictures.clear()
        self._pictures.append((t, _jpeg(t, image)))
        while self._pictures[0][0] < t - _REMEMBERED:
            self._pictures.popleft()
        due = [w for w in self._wanted if w[2] <= t]
        if due:
            self._wanted = [w for w in self._wanted if w[2] > t]
            self._make(due)

    def _make(self, wanted: Iterable[tuple[str, float, float]]) -> None:
        for uid, first, last in wanted:
            clip = joined([jpeg for t, jpeg in self._pictures if first <= t <= last + _EVERY])
            try:
                if clip:
                    self._journal.keep_clip(uid, clip)
            except (JournalError, ValueError) as e:
                _log.warning("a clip could not be kept: %s", e)


def moment(t: float, evidence: Iterable[str]) -> float:
    """When the clip of a finding of time `t` begins: a little before the first of its pictures."""
    first = t - _SHORTEST + _BEFORE
    for ref in evidence:
        # <boot>-<zone>-<t>-<role>
        for part in ref.split("-")[-2:-1]:
            try:
                first = min(first, float(part))
            except ValueError:
                continue
    return max(first - _BEFORE, t - _LONGEST)


def joined(pictures: list[bytes]) -> bytes:
    """Pictures as one clip; of too many bytes, every other picture as often as it takes."""
    while len(pictures) > 2 and sum(map(len, pictures)) > _MOST:
        pictures = pictures[-1::-2][::-1]
    return b"".join(pictures)


def _jpeg(t: float, image: Image) -> bytes:
    h, w = image.shape[:2]
    # every other row and column first: averaging a picture of 4K costs more than all the rest
    step = max(1, w // (2 * _WIDTH))
    small = image[::step, ::step]
    if small.shape[1] > _WIDTH:
        size = (_WIDTH, max(1, round(_WIDTH * h / w)))
        small = np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_AREA), np.uint8)
    jpeg = bytes(cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])[1])
    note = f"t={t:.2f}".encode()
    return jpeg[:2] + b"\xff\xfe" + (len(note) + 2).to_bytes(2, "big") + note + jpeg[2:]
