"""How fast the watch runs, and whether it keeps up with a live source.

In: for each frame its number, its capture time and how long it took. Out: frames a second, milliseconds a
frame, frames passed over, and once a sentence when the source is faster than the watch.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

__all__ = ["Pace"]

_WINDOW = 5.0  # seconds over which the present rate is taken
_PATIENCE = 8.0  # seconds of falling behind before it is said
_TOLERATED = 0.05  # share of frames that may be passed over


class Pace:
    """Counts frames. live: the source passes over what the watch has no time for. clock: seconds."""

    def __init__(self, live: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._live = live
        self._clock = clock
        self._recent: deque[tuple[float, int, float]] = deque()  # (now, frame number, capture time)
        self._began: float | None = None
        self._last_index: int | None = None
        self._last_skipped = 0
        self._busy = 0.0
        self._said = False
        self.frames = 0
        self.late = 0
        self.seconds = 0.0

    def frame(self, index: int, t: float, took: float, skipped: int = 0) -> str | None:
        """Count one watched frame; a sentence for the user the first time that the watch falls behind.

        index: the frame's number in its source. t: capture time. took: seconds of work. skipped: frames of
        the source that could not be read so far.
        """
        now = self._clock()
        if self._began is None:
            self._began = now - took
        self.seconds = now - self._began
        if self._live and self._last_index is not None:
            gap = index - self._last_index - 1 - (skipped - self._last_skipped)
            self.late += max(0, gap)
        self._last_index, self._last_skipped = index, skipped
        self.frames += 1
        self._busy += took
        self._recent.append((now, index, t))
        while self._recent[0][0] < now - _WINDOW and len(self._recent) > 2:
            self._recent.popleft()
        return self._behind()

    @property
    def fps(self) -> float:
        """Frames watched a second, over the last seconds."""
        if len(self._recent) < 2:
            return 0.0
        span = self._recent[-1][0] - self._recent[0][0]
        return (len(self._recent) - 1) / span if span > 0 else 0.0

    @property
    def mean_fps(self) -> float:
        """Frames watched a second, since the first."""
        return self.frames / self.seconds if self.seconds > 0 else 0.0

    @property
    def ms_per_frame(self) -> float:
        """Milliseconds of work a frame, on average."""
        return 1000 * self._busy / self.frames if self.frames else 0.0

    def _behind(self) -> str | None:
        if not self._live or self._said or self.seconds < _PATIENCE or len(self._recent) < 2:
            return None
        (_, i0, t0), (_, i1, t1) = self._recent[0], self._recent[-1]
        offered, watched = i1 - i0, len(self._recent) - 1
        if t1 <= t0 or watched >= (1 - _TOLERATED) * offered:
            return None
        self._said = True
        return (
            f"The watch cannot keep up: it sees {self.fps:.1f} of {offered / (t1 - t0):.1f} pictures a "
            "second; lower the camera's rate with --fps, or its resolution, or use a faster computer."
        )
