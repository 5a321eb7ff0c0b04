"""The stream of what is new, as server-sent events.

In: `News`. Out: one queue a reader; a reader that is too slow is let go, and comes back.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from pitwatch import __version__
from pitwatch.pit.accounts import by_session
from pitwatch.pit.filters import Query
from pitwatch.pit.house_time import HouseTime, to_text
from pitwatch.pit.sql import now
from pitwatch.pit.web.guard import COOKIE, AsScreen, Desk, Problem, desk_of

__all__ = ["Readers", "router"]

router = APIRouter(prefix="/api")
_QUEUE = 2000
_QUIET = 10.0  # seconds to a comment line
_CHECK = 20.0  # seconds between two looks whether the session still holds
_MOST_READERS = 400
_FLOOR = ("tables", "bye")


class Readers:
    """Those who read the stream; told from any thread."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._queues: dict[asyncio.Queue[str | None], tuple[asyncio.AbstractEventLoop, int | None, bool]] = {}
        self.ending = False

    def add(self, table: int | None, floor: bool) -> asyncio.Queue[str | None]:
        """A reader's queue; None in it says that it ends. floor: told of the floor only."""
        queue: asyncio.Queue[str | None] = asyncio.Queue(_QUEUE)
        with self._mutex:
            if len(self._queues) >= _MOST_READERS:
                raise Problem(503, "slow_down", "Too many pages are open.")
            self._queues[queue] = (asyncio.get_running_loop(), table, floor)
        return queue

    def remove(self, queue: asyncio.Queue[str | None]) -> None:
        """Forget a reader."""
        with self._mutex:
            self._queues.pop(queue, None)

    def tell(self, event: str, data: Any, table: int | None = None) -> None:
        """Tell everyone, or the readers of one table."""
        line = _message(event, data)
        with self._mutex:
            for queue, (loop, own, floor) in self._queues.items():
                if (table is None or own == table) and (not floor or event in _FLOOR):
                    loop.call_soon_threadsafe(self._put, queue, line)

    def end(self) -> None:
        """Let everyone go."""
        self.ending = True
        self.tell("bye", {"why": "ending"})
        with self._mutex:
            for queue, (loop, _, _) in self._queues.items():
                loop.call_soon_threadsafe(self._put, queue, None)

    @staticmethod
    def _put(queue: asyncio.Queue[str | None], line: str | None) -> None:
        try:
            queue.put_nowait(line)
        except asyncio.QueueFull:
            while not queue.empty():
                queue.get_nowait()
            queue.put_nowait(None)


def _message(event: str, data: Any) -> str:
    """One event as it is sent."""
    return f"event: {event}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"


@router.get("/stream")
async def stream(request: Request, caller: AsScreen) -> StreamingResponse:
    """What is new, from now on."""
    q = Query(request.query_params.multi_items(), ("table",), HouseTime())
    table = q.whole("table", 1, 2**53)
    readers: Readers = request.app.state.readers
    queue = readers.add(table, not caller.may("viewer"))
    return StreamingResponse(
        _lines(request, desk_of(request), readers, queue, table),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _lines(
    request: Request,
    desk: Desk,
    readers: Readers,
    queue: asyncio.Queue[str | None],
    table: int | None,
) -> AsyncIterator[str]:
    news = request.app.state.news
    news.listen(table)
    cookie = request.cookies.get(COOKIE)
    loop = asyncio.get_running_loop()
    checked = loop.time()
    try:
        yield _message("hello", {"at": to_text(now()), "version": __version__})
        while not readers.ending:
            try:
                line = await asyncio.wait_for(queue.get(), _QUIET)
            except asyncio.TimeoutError:
                line = ": still here\n\n"
            if line is None:
                return
            yield line
            if cookie and loop.time() - checked > _CHECK:
                checked = loop.time()
                if not await run_in_threadpool(_holds, desk, cookie):
                    yield _message("bye", {"why": "signed_out"})
                    return
    finally:
        readers.remove(queue)
        news.leave(table)


def _holds(desk: Desk, cookie: str) -> bool:
    with desk.read() as db:
        return by_session(db, cookie) is not None
