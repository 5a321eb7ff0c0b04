"""Clips of findings: what a table's watch keeps of the seconds before one, as single pictures.

In: a finding's id, a clip's bytes. Out: the reference it is kept under, its pictures with their `t`, seconds.
"""

from __future__ import annotations

import re

__all__ = ["clip_ref", "is_clip", "pictures_of_clip"]

_PREFIX = "clip-"
_MOST = 500
_TIME = re.compile(rb"t=(\d{1,9}\.\d{2})")


def clip_ref(finding: str) -> str:
    """The reference of a finding's clip, by the finding's own id."""
    return _PREFIX + finding


def is_clip(ref: str) -> bool:
    """Whether a reference is a clip's, not a single picture's."""
    return ref.startswith(_PREFIX)


def pictures_of_clip(clip: bytes) -> list[tuple[float | None, bytes]]:
    """The JPEGs of a clip, each with its time; a clip is JPEGs one behind the other."""
    out: list[tuple[float | None, bytes]] = []
    # within a JPEG's picture data 0xff is always followed by something else
    for part in clip.split(b"\xff\xd9")[:_MOST]:
        if part[:2] != b"\xff\xd8":
            continue
        said = _TIME.match(part[6:24]) if part[2:4] == b"\xff\xfe" else None
        out.append((float(said[1]) if said else None, part + b"\xff\xd9"))
    return out
