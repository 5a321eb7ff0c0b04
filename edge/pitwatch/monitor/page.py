"""The local web page: the table live, as seen and as understood, with every finding's pictures.

In: a `Hub`. Out: HTTP on one local port: the page itself, JSON state (server-sent events, at most five a
second), the newest picture and evidence pictures as JPEG. Nothing is fetched from anywhere else.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import FileResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.middleware.trustedhost import TrustedHostMiddleware

from pitwatch.listening import listen
from pitwatch.monitor.hub import Hub

__all__ = ["PORT", "PageServer", "make_app"]

PORT = 8710
STATIC = Path(__file__).parent / "static"
PERIOD = 0.2  # seconds between two states sent to one reader
HEADERS = {
    # the page needs nothing from outside, and nothing outside may frame it or run in it
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def make_app(hub: Hub, ending: threading.Event | None = None) -> FastAPI:
    """The page's application. ending: once set, open event streams end."""
    app = FastAPI(title="pitwatch", docs_url=None, redoc_url=None, openapi_url=None)
    # a page elsewhere that resolves its own name to 127.0.0.1 gets nothing
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost", "[::1]"])
    over = ending or threading.Event()

    @app.middleware("http")
    async def add_headers(request: Request, call_next: Any) -> Response:
        response: Response = await call_next(request)
        response.headers.update(HEADERS)
        if not request.url.path.startswith("/evidence/"):
            response.headers["Cache-Control"] = "no-store"
        return response

    @app.get("/", include_in_schema=False)
    async def index() -> FileResponse:
        return FileResponse(STATIC / "index.html", media_type="text/html; charset=utf-8")

    @app.get("/api/state")
    async def state() -> dict[str, Any]:
        return {"state": hub.state(), "findings": hub.findings()[1]}

    @app.get("/api/live")
    async def live(request: Request) -> StreamingResponse:
        return StreamingResponse(_live(hub, request, over), media_type="text/event-stream")

    @app.get("/picture.jpg")
    def picture(n: int | None = None) -> Response:
        return _jpeg(hub.picture(n), "no picture yet")

    @app.get("/evidence/{ref}.jpg")
    def evidence(ref: str) -> Response:
        if not re.fullmatch(r"[\w.:-]{1,120}", ref):
            raise HTTPException(404, "no such picture")
        response = _jpeg(hub.evidence(ref), "no such picture")
        response.headers["Cache-Control"] = "max-age=86400, immutable"
        return response

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app


def _jpeg(content: bytes | None, missing: str) -> Response:
    if content is None:
        raise HTTPException(404, missing)
    return Response(content, media_type="image/jpeg")


async def _live(hub: Hub, request: Request, over: threading.Event) -> AsyncIterator[str]:
    seen, sent, quiet = -1, 0, 0.0
    while not over.is_set() and not await request.is_disconnected():
        version = hub.version
        if version != seen:
            seen, quiet = version, 0.0
            total, news = hub.findings(sent)
            for finding in news:
                yield _event("finding", finding)
            sent = total
            yield _event("state", hub.state())
        elif quiet > 5:
            quiet = 0.0
            yield ": still here\n\n"
        quiet += PERIOD
        await asyncio.sleep(PERIOD)
    yield _event("end", {})


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"


class PageServer:
    """The page on a port of this machine, served by a thread of its own while the context is open."""

    def __init__(self, hub: Hub, host: str = "127.0.0.1", port: int | None = None) -> None:
        """port: None takes 8710, or any free one when that is taken.

        Raises UserError when a `port` that was named is taken.
        """
        self._socket = listen(
            host,
            (PORT, 0) if port is None else (port,),
            "The page",
            "name another port with --port, or leave the page out with --no-page.",
        )
        self.url = f"http://{host}:{self._socket.getsockname()[1]}"
        self._ending = threading.Event()
        config = uvicorn.Config(
            make_app(hub, self._ending),
            log_config=None,
            log_level="warning",
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="page", daemon=True
        )

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def close(self) -> None:
        """Stop serving; open streams end within a second."""
        self._ending.set()
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(timeout=5)
        self._socket.close()

    def __enter__(self) -> PageServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
