"""The application: the routes, the page's files, and what every answer carries.

In: a store and, where this process collects, its collector. Out: an ASGI application, and a server for it.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pitwatch import __version__
from pitwatch.errors import UserError
from pitwatch.pit.collector import Collector
from pitwatch.pit.news import News
from pitwatch.pit.tiles import Tiles
from pitwatch.pit.web import admin, findings, reports, rounds, signing, stream, tables
from pitwatch.pit.web.guard import Desk, desk_of, error_handlers

__all__ = ["make_app", "server"]

STATIC = Path(__file__).parents[1] / "static"
MOST_BODY = 100_000  # bytes
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def make_app(engine: Engine, collector: Collector | None = None, setup: str | None = None) -> FastAPI:
    """The application over a store. setup: the token of the set-up link, while there is no account."""
    readers = stream.Readers()
    news = News(engine, readers.tell)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        yield
        readers.end()
        news.close()

    app = FastAPI(title="pitwatch pit", docs_url=None, redoc_url=None, openapi_url=None, lifespan=life)
    app.state.desk = Desk(engine, collector, setup)
    app.state.readers, app.state.news, app.state.tiles = readers, news, Tiles()
    error_handlers(app)
    app.add_middleware(_Guarded)

    @app.get("/healthz")
    def healthz(request: Request) -> JSONResponse:
        """Whether this works; without signing in."""
        desk = desk_of(request)
        try:
            with desk.read() as db:
                db.execute(text("SELECT 1"))
            database = "ok"
        except SQLAlchemyError:
            database = "failing"
        broker = "off"
        if desk.collector is not None:
            broker = "connected" if desk.collector.connected else "trying"
        fine = database == "ok"
        return JSONResponse(
            {
                "status": "ok" if fine else "failing",
                "version": __version__,
                "database": database,
                "broker": broker,
            },
            200 if fine else 503,
        )

    for room in (signing, tables, findings, rounds, reports, admin, stream):
        app.include_router(room.router)

    @app.get("/", include_in_schema=False)
    def index() -> FileResponse:
        return FileResponse(STATIC / "index.html", media_type="text/html; charset=utf-8")

    app.mount("/static", StaticFiles(directory=STATIC, check_dir=False), name="static")
    return app


class _Guarded:
    """Headers on every answer, no body beyond reason, nothing from a page of another origin."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {k.lower(): v for k, v in scope["headers"]}
        own = scope["path"]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = list(message.get("headers", []))
                kept += [(k.lower().encode(), v.encode()) for k, v in _HEADERS.items()]
                if not any(k.lower() == b"cache-control" for k, _ in kept):
                    kept.append(
                        (b"cache-control", b"no-cache" if own.startswith("/static/") else b"no-store")
                    )
                message["headers"] = kept
            await send(message)

        async def refuse(status: int, code: str, text: str) -> None:
            answer = JSONResponse({"error": {"code": code, "message": text}}, status)
            await answer(scope, receive, send_with_headers)

        if scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            origin = headers.get(b"origin")
            if origin is not None and urlsplit(origin.decode("latin-1")).netloc.encode() != headers.get(
                b"host"
            ):
                await refuse(403, "csrf", "This comes from another page.")
                return
            length = headers.get(b"content-length", b"0")
            if not length.isdigit() or int(length) > MOST_BODY or b"transfer-encoding" in headers:
                await refuse(413, "too_large", "This is more than is taken at once.")
                return
        await self._app(scope, receive, send_with_headers)


def server(app: FastAPI, host: str, port: int) -> tuple[uvicorn.Server, socket.socket]:
    """A server for it and its socket, bound to the port. Raises UserError when that is taken."""
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(256)
    except OSError as e:
        sock.close()
        raise UserError(
            f"The pit cannot be served at {host}:{port} ({e.strerror}); name another port with --port."
        ) from None
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=2,
        # a proxy on this machine says who asks, and that it was over TLS
        proxy_headers=True,
        forwarded_allow_ips="127.0.0.1,::1",
    )
    return uvicorn.Server(config), sock
