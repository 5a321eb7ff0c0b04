"""Where the watching thread leaves the newest state, and the page's threads pick it up.

In: board states, pictures (BGR uint8) and findings from the watch. Out: JSON and JPEG bytes on request;
a picture is only encoded when somebody asks for it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.monitor.board import BoardState, FindingShown, to_json

__all__ = ["Hub"]

PICTURE_WIDTH = 1600  # px; sharper than a wall screen's half, and a tenth of the bytes of a 4K picture


class Hub:
    """Thread-safe holder of what the page shows. evidence: finds a stored picture's JPEG by its reference."""

    def __init__(self, evidence: Callable[[str], bytes | None] = lambda ref: None, keep: int = 500) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._version = 0
        self._state = BoardState()
        self._findings: deque[dict[str, Any]] = deque(maxlen=keep)
        self._pictures: OrderedDict[int, NDArray[np.uint8]] = OrderedDict()
        self._total = 0
        self._encoded: tuple[int, bytes] = (-1, b"")
        self._evidence = evidence

    def show(self, state: BoardState, picture: NDArray[np.uint8] | None = None) -> None:
        """Take over the newest state, and the picture that its overlay belongs to."""
        with self._changed:
            self._state = state
            if picture is not None:
                self._pictures[state.overlay.picture] = picture
                while len(self._pictures) > 2:
                    self._pictures.popitem(last=False)
            self._version += 1
            self._changed.notify_all()

    def add_finding(self, finding: FindingShown) -> None:
        """Put a finding on top of the list."""
        with self._changed:
            self._findings.append(to_json(finding))
            self._total += 1
            self._version += 1
            self._changed.notify_all()

    @property
    def version(self) -> int:
        """A number that grows with every change."""
        with self._lock:
            return self._version

    def wait(self, version: int, timeout: float) -> int:
        """Block until something newer than `version` is there, or `timeout` seconds; the version then."""
        with self._changed:
            self._changed.wait_for(lambda: self._version > version, timeout)
            return self._version

    def state(self) -> dict[str, Any]:
        """The newest state as JSON."""
        with self._lock:
            state = self._state
        return to_json(state)

    def findings(self, after: int = 0) -> tuple[int, list[dict[str, Any]]]:
        """How many findings there were in all, and those after the first `after` of them, oldest first."""
        with self._lock:
            kept = list(self._findings)
            total = self._total
        return total, kept[max(0, len(kept) - (total - after)) :] if total > after else []

    def picture(self, number: int | None = None) -> bytes | None:
        """Picture `number`, or the newest, as JPEG; None before the first."""
        with self._lock:
            if not self._pictures:
                return None
            n = next(reversed(self._pictures))
            if number is not None and number in self._pictures:
                n = number
            if self._encoded[0] == n:
                return self._encoded[1]
            image = self._pictures[n]
        height, width = image.shape[:2]
        if width > PICTURE_WIDTH:
            size = (PICTURE_WIDTH, round(height * PICTURE_WIDTH / width))
            image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        jpeg = bytes(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 82])[1])
        with self._lock:
            self._encoded = (n, jpeg)
        return jpeg

    def evidence(self, ref: str) -> bytes | None:
        """A stored evidence picture as JPEG, None when there is none of that name."""
        return self._evidence(ref)
