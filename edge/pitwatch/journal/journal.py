"""One table's journal: a SQLite file with the outbox in it, and the pictures in a folder beside it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from types import TracebackType

from pitwatch.journal.records import Counts, Outgoing, Recordable

__all__ = ["Journal"]


class Journal:
    """A journal open for writing; one process at a time. All methods may be called from any thread.

    notice: None, or one sentence for the user when a damaged file was found and moved aside on opening.
    """

    notice: str | None

    def __init__(
        self, path: str | Path, site: str, table: str, *, evidence_budget: int = 2_000_000_000
    ) -> None:
        """Open the journal at `path`, made with its folders when missing, and begin a boot.

        evidence_budget: bytes of pictures kept; over it the oldest without a finding go first.
        Raises JournalError naming the file when another process has it open or it cannot be read or written.
        """
        raise NotImplementedError

    @property
    def boot(self) -> str:
        """The UUID of this opening."""
        raise NotImplementedError

    @property
    def last_seq(self) -> int:
        """The last `seq` given in this boot, 0 when nothing was recorded yet."""
        raise NotImplementedError

    def record(
        self,
        *,
        events: Iterable[Recordable] = (),
        findings: Iterable[Recordable] = (),
        unverified: Iterable[Recordable] = (),
        rounds: Iterable[Recordable] = (),
        state: Recordable | None = None,
    ) -> list[Outgoing]:
        """Write all of it and its outbox rows in one transaction, on disk when this returns.

        Pictures that a finding names in `evidence` are kept as a finding's and sent too. A `state` replaces
        the one before it, also in the outbox; one equal to the last is not written again.
        Raises JournalFull or JournalError; then nothing of it was written, and it may be called again.
        """
        raise NotImplementedError

    def keep_evidence(self, name: str, jpeg: bytes) -> str:
        """Keep a picture and return the reference to put into events' `evidence`.

        The reference is `name` made unique over all boots. Raises JournalFull when there is no room for it.
        """
        raise NotImplementedError

    def evidence(self, ref: str) -> bytes | None:
        """The JPEG of a reference, None when there is none (any more)."""
        raise NotImplementedError

    def pending(self, limit: int = 100) -> list[Outgoing]:
        """What waits in the outbox, oldest first, pictures after everything else."""
        raise NotImplementedError

    def mark_sent(self, ids: str | Collection[str]) -> None:
        """Take delivered things out of the outbox; unknown ids are ignored."""
        raise NotImplementedError

    def state(self) -> Outgoing | None:
        """The last state recorded, whether sent or not."""
        raise NotImplementedError

    def counts(self) -> Counts:
        """How much lies in the journal."""
        raise NotImplementedError

    def on_record(self, listener: Callable[[], None]) -> None:
        """Have `listener` called after each recording, in the recording thread; it must return at once."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the file; closing twice is nothing."""
        raise NotImplementedError

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
