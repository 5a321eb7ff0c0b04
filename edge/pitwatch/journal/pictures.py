"""Evidence pictures: JPEG files in a folder beside the journal, the oldest giving way to the newest.

In and out: JPEG bytes by reference. A picture of a finding is moved into `findings/` and goes last. Order is
in the files' names, not in their times: a small computer's clock may stand wrong after a power cut. Over the
budget the oldest without a finding goes, or the oldest of a finding while those fill four fifths of it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pitwatch.journal.errors import disk_is_full, explain

__all__ = ["Pictures"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FINDINGS_SHARE = 0.8
_FILE = re.compile(r"(\d{10})-(.+)\.jpg")


@dataclass
class _Picture:
    n: int
    size: int
    of_finding: bool


class Pictures:
    """The folder of pictures; the caller sees to it that one thread at a time is in here."""

    def __init__(self, folder: Path, budget: int) -> None:
        """Read what lies in `folder`, made when missing; `budget`: bytes.

        Raises JournalError naming the folder when it cannot be read.
        """
        self.folder = folder
        self.budget = budget
        self.size = 0
        self._of_findings = 0
        self._pictures: dict[str, _Picture] = {}  # oldest first
        try:
            (folder / "findings").mkdir(parents=True, exist_ok=True)
            found = [*self._scan(folder, False), *self._scan(folder / "findings", True)]
        except OSError as e:
            raise explain(folder, e) from e
        for ref, picture in sorted(found, key=lambda f: f[1].n):
            self._pictures[ref] = picture
            self.size += picture.size
            self._of_findings += picture.size * picture.of_finding
        self._next = 1 + max((p.n for p in self._pictures.values()), default=0)

    def __len__(self) -> int:
        return len(self._pictures)

    def __contains__(self, ref: str) -> bool:
        return ref in self._pictures

    def keep(self, ref: str, jpeg: bytes) -> None:
        """Write a picture under a reference not yet taken; it is surely on disk only once it is a finding's.

        Raises ValueError for a reference that cannot be a file's and a topic's name, or bytes that are no
        whole JPEG; JournalFull when there is no room even without the older pictures.
        """
        if not _NAME.fullmatch(ref) or ref in self._pictures:
            raise ValueError(f"{ref!r} cannot be a new picture's name; write up to 100 of A-Z a-z 0-9 . _ -")
        if not _is_whole(jpeg):
            raise ValueError(f"the picture {ref!r} is no whole JPEG")
        picture = _Picture(self._next, len(jpeg), False)
        path = self._path(ref, picture)
        partial = path.with_suffix(".part")
        while True:
            try:
                partial.write_bytes(jpeg)
                partial.rename(path)
                break
            except OSError as e:
                partial.unlink(missing_ok=True)
                if not disk_is_full(e) or not self.give_way(len(jpeg)):
                    raise explain(self.folder, e) from e
        self._next += 1
        self._pictures[ref] = picture
        self.size += picture.size
        while self.size > self.budget and len(self._pictures) > 1:
            self._remove_oldest(sparing=ref)

    def read(self, ref: str) -> bytes | None:
        """The bytes of a picture, None when it is gone or a power cut left only part of it."""
        picture = self._pictures.get(ref)
        if picture is None:
            return None
        try:
            jpeg = self._path(ref, picture).read_bytes()
        except OSError:
            return None
        return jpeg if _is_whole(jpeg) else None

    def protect(self, ref: str) -> bool:
        """Make a picture a finding's, and its bytes sure to be on disk; False when there is none such.

        Raises JournalError when the disk fails.
        """
        picture = self._pictures.get(ref)
        if picture is None:
            return False
        if picture.of_finding:
            return True
        old = self._path(ref, picture)
        new = old.parent / "findings" / old.name
        try:
            _sync(old)
            old.rename(new)
            _sync(new.parent)
            _sync(old.parent)
        except FileNotFoundError:
            self._forget(ref)
            return False
        except OSError as e:
            raise explain(self.folder, e) from e
        picture.of_finding = True
        self._of_findings += picture.size
        return True

    def give_way(self, size: int) -> bool:
        """Remove the oldest pictures without a finding until `size` bytes are freed; whether any went."""
        freed = 0
        for ref in [r for r, p in self._pictures.items() if not p.of_finding]:
            if freed >= size:
                break
            freed += self._pictures[ref].size
            self._remove(ref)
        return freed > 0

    def _remove_oldest(self, sparing: str) -> None:
        # were findings' pictures let to fill the budget, the next finding's would have no room to wait in
        full = self._of_findings > self.budget * _FINDINGS_SHARE
        oldest = (r for r, p in self._pictures.items() if r != sparing and p.of_finding == full)
        self._remove(next(oldest, None) or next(r for r in self._pictures if r != sparing))

    def _remove(self, ref: str) -> None:
        self._path(ref, self._pictures[ref]).unlink(missing_ok=True)
        self._forget(ref)

    def _forget(self, ref: str) -> None:
        picture = self._pictures.pop(ref)
        self.size -= picture.size
        self._of_findings -= picture.size * picture.of_finding

    def _path(self, ref: str, picture: _Picture) -> Path:
        folder = self.folder / "findings" if picture.of_finding else self.folder
        return folder / f"{picture.n:010d}-{ref}.jpg"

    @staticmethod
    def _scan(folder: Path, of_finding: bool) -> list[tuple[str, _Picture]]:
        found = []
        for entry in os.scandir(folder):
            name = _FILE.fullmatch(entry.name)
            if name is None:
                if entry.name.endswith(".part"):
                    Path(entry.path).unlink(missing_ok=True)
                continue
            found.append((name[2], _Picture(int(name[1]), entry.stat().st_size, of_finding)))
        return found


def _is_whole(jpeg: bytes) -> bool:
    return jpeg[:2] == b"\xff\xd8" and jpeg[-2:] == b"\xff\xd9"


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
