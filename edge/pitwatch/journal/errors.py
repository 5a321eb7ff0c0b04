"""What can go wrong with a journal, each as one sentence with its remedy."""

from __future__ import annotations

from pitwatch.errors import UserError

__all__ = ["JournalError", "JournalFull"]


class JournalError(UserError):
    """The journal cannot be opened, or its disk fails; nothing of the call that raised it was kept."""


class JournalFull(JournalError):  # noqa: N818 - a state of the disk, not a mistake
    """The disk is full; nothing of the call was kept, and the same call works once there is room."""
