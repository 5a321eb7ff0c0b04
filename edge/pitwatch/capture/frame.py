"""A frame and where frames come from.

Out: `Frame`s in order of capture. A source stamps every frame at capture, in monotonic seconds; nothing
downstream asks a clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Frame", "FrameSource"]


@dataclass(frozen=True)
class Frame:
    """One picture.

    t: capture time, seconds, never decreasing. image: (height, width, 3) uint8, BGR. index: number of the
    frame in its source, counting skipped ones. settled: the source vouches that the table is at rest.
    name: the file it came from, if any.
    """

    t: float
    image: NDArray[np.uint8]
    index: int
    settled: bool = False
    name: str = ""


class FrameSource(Protocol):
    """Where frames come from.

    width, height: pixels. live: frames come at their own pace, and the newest wins; otherwise every frame
    is handed over. skipped: frames that could not be read so far.
    """

    width: int
    height: int
    live: bool
    skipped: int

    def __iter__(self) -> Iterator[Frame]: ...

    def close(self) -> None:
        """Release the device; iterating ends."""
        ...
