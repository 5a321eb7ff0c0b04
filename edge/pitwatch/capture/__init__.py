"""Frames from a file, a folder of pictures, a camera or the simulated table, each stamped at capture.

In: a source's name. Out: a `FrameSource` of `Frame`s (BGR uint8, t in seconds).
"""

from __future__ import annotations

from pitwatch.capture.frame import Frame, FrameSource
from pitwatch.capture.opening import open_source

__all__ = ["Frame", "FrameSource", "open_source"]
