"""Events on their way out: held until they are sure, and put in the order in which things came to rest.

In: drafts with the time at which their place came to rest. Out: `TableEvent`s, `t` never decreasing. Units:
seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pitwatch.game.events import By, TableEvent
from pitwatch.vision.looks import Zone
from pitwatch.vision.motion import Foot, Image, Mask

__all__ = ["Draft", "Keep", "Outbox", "Pictures", "Rest"]

Keep = Callable[[float, str, NDArray[np.uint8], Zone], str]
"""Stores an evidence picture: capture time, role (`before`, `during` or `after`), BGR picture of the zone at
the camera's own resolution, zone. Gives the reference that the event will carry."""

_SWEEP_S = 0.5


@dataclass
class Pictures:
    """The evidence of one comparison: the last rest before, the arm, the first rest after."""

    zone: Zone | None
    shots: tuple[tuple[float, str, Image], ...] = ()
    _refs: tuple[str, ...] | None = None

    def refs(self, keep: Keep | None) -> tuple[str, ...]:
        """Store the pictures, once, and give their references."""
        if keep is None or self.zone is None:
            return ()
        if self._refs is None:
            zone = self.zone
            self._refs = tuple(keep(t, role, image, zone) for t, role, image in self.shots)
        return self._refs


@dataclass(frozen=True)
class Rest:
    """A zone that came to rest and was compared.

    t: now. top: the top view. rested: when a place (its cells under a mask) came to look as it does. by:
    whose hand came near a place during the disturbance, None when nobody's or both. touched: whether
    anything came near it. pictures: the evidence of a place. vouched: the source says that everything is at
    rest; there is no waiting.
    """

    t: float
    vouched: bool
    top: Image
    rested: Callable[[Foot, Mask | None], float]
    by: Callable[[Foot], By | None]
    touched: Callable[[Foot], bool]
    pictures: Callable[[Foot], Pictures]


@dataclass
class Draft:
    """An event that is to come.

    t: when its place came to rest. make: the event with that time, None when there is nothing to say after
    all. ready: whether it is sure enough by now. removal: something was taken away.
    rank: order among those of the same time.
    """

    t: float
    make: Callable[[float], TableEvent | None]
    pictures: Pictures
    by: By | None = None
    rank: int = 5
    removal: bool = False
    ready: Callable[[float], bool] = field(default=lambda _: True)


class Outbox:
    """Drafts in order of rest."""

    def __init__(self, order_s: float, keep: Keep | None) -> None:
        self._order_s = order_s
        self._keep = keep
        self._drafts: list[tuple[float, int, int, Draft]] = []
        self._n = 0
        self._last_t = -np.inf

    def add(self, draft: Draft) -> None:
        """Take in a draft."""
        self._n += 1
        self._drafts.append((draft.t, draft.rank, self._n, draft))
        self._drafts.sort(key=lambda d: d[:3])

    @property
    def first_t(self) -> float:
        """When the first of what waits came to rest; infinity when nothing waits."""
        return float(self._drafts[0][3].t) if self._drafts else float("inf")

    def pop(self, t: float, unsettled_t: float | None) -> list[TableEvent]:
        """The events that may go out at time `t`.

        unsettled_t: the earliest rest that is not yet compared; what rested later waits for it a while.
        """
        out: list[TableEvent] = []
        while self._drafts:
            head = self._drafts[0][3]
            early = unsettled_t is not None and head.t > unsettled_t
            if (early and t - head.t < self._order_s) or not head.ready(t):
                break
            if head.removal:
                self._sweep()
            del self._drafts[0]
            self._emit(head, out)
        return out

    def passed(self, t: float) -> None:
        """Something was said at time `t` without a draft; what is said from now on comes after it."""
        self._last_t = max(self._last_t, t)

    def flush(self) -> list[TableEvent]:
        """Everything, as it stands."""
        out: list[TableEvent] = []
        for _, _, _, draft in self._drafts:
            self._emit(draft, out)
        self._drafts.clear()
        return out

    def _emit(self, draft: Draft, out: list[TableEvent]) -> None:
        event = draft.make(float(max(draft.t, self._last_t)))
        if event is None:
            return
        self._last_t = event.t
        out.append(replace(event, by=draft.by, evidence=draft.pictures.refs(self._keep)))

    def _sweep(self) -> None:
        """What one sweep takes away within moments is taken at once."""
        run: list[Draft] = []
        for _, _, _, d in self._drafts:
            if not d.removal or (run and d.t - run[-1].t > _SWEEP_S):
                break
            run.append(d)
        for d in run:
            d.t = run[-1].t
        self._drafts = sorted(((d.t, d.rank, n, d) for _, _, n, d in self._drafts), key=lambda d: d[:3])
