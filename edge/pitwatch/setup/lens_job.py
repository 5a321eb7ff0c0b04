"""The lens step: views of the board are collected while it is moved about, until there are enough.

In: frames of a `Live`. Out: coverage and what is missing, for the page; at the end a lens.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from pitwatch.errors import UserError
from pitwatch.setup.live import Live, encode
from pitwatch.table.lens import LensResult, solve_lens
from pitwatch.table.lens_picture import lens_picture
from pitwatch.table.views import ENOUGH, Views

__all__ = ["LensJob"]

_SEEN = {
    "none": "no board in the picture",
    "blurred": "blurred: hold it still for a moment",
    "alike": "this view is there already: move the board",
    "kept": "a new view",
    "sharper": "a sharper view",
}


class LensJob:
    """Collects views in a thread of its own until `close`, or until they are enough."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._views = Views((live.width, live.height))
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._said, self._missing, self._error = "", self._views.missing(), ""
        self._thread = threading.Thread(target=self._run, name="setup lens", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        last = None
        pictures = int(self._live.place().rpartition(" ")[2]) if self._live.kind == "folder" else 0
        while not self._stop.is_set():
            try:
                frame = self._live.frame()
                if (key := (frame.index, frame.t)) == last:
                    self._stop.wait(0.05)
                    continue
                last = key
                seen = self._views.look(frame.image, frame.name)
            except UserError as e:
                self._error = str(e)
                self._stop.wait(0.5)
                continue
            with self._lock:
                self._error, self._said = "", _SEEN[seen]
                self._missing = self._views.missing()
                enough = not self._missing and len(self._views.kept) >= ENOUGH
            if self._live.kind == "folder":
                # each of its pictures once
                if self._views.pictures >= pictures:
                    return
                self._live.step(1)
            elif enough:
                return

    def state(self) -> dict[str, Any]:
        """For the page."""
        with self._lock:
            return {
                "running": self._thread.is_alive(),
                "views": len(self._views.kept),
                "enough": ENOUGH,
                "coverage": self._views.coverage().tolist(),
                "missing": list(self._missing),
                "said": self._error or self._said,
                "outline": self._outline(),
            }

    def _outline(self) -> list[list[float]]:
        """Where the last board kept was, px."""
        kept = self._views.kept
        return np.round(kept[-1].corners.px, 1).tolist() if kept else []

    def solve(self) -> tuple[LensResult, bytes]:
        """The lens and the picture that shows how good it is (JPEG).

        Raises UserError saying what the views lack.
        """
        self.close()
        if self._missing:
            raise UserError("; ".join(self._missing))
        result = solve_lens(self._views.kept)
        if faults := result.faults():
            raise UserError("; ".join(faults))
        return result, encode(lens_picture(self._views.kept, self._views.size, result), 1280, 85)

    def close(self) -> None:
        """Stop looking."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=10)
