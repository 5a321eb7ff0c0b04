"""The wizard's page: HTTP on one port, plain JavaScript, nothing fetched from anywhere else.

In: a `Wizard` and who may use it. Out: the page, its state as JSON, the live picture as JPEG; a refusal is
status 422 with {"error": one sentence}.
"""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import Body, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles

from pitwatch.errors import UserError
from pitwatch.listening import listen
from pitwatch.setup import live, tables
from pitwatch.setup.access import COOKIE, Access
from pitwatch.setup.felt import felt_grid
from pitwatch.setup.posing import PoseRequest
from pitwatch.setup.progress import House
from pitwatch.setup.wizard import Wizard
from pitwatch.table.board_pdf import write_board, write_tags

__all__ = ["PORT", "bound", "make_app", "server"]

PORT = 8720
STATIC = Path(__file__).parent / "static"
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob:; frame-ancestors 'none'; "
    "base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
# what is shown before a code is given
_OPEN = ("/enter", "/static/setup.css", "/static/enter.html", "/static/enter.js", "/static/icon.svg")
_Number = Annotated[float, Body(allow_inf_nan=False)]


def make_app(wizard: Wizard, access: Access) -> FastAPI:
    """The application."""
    app = FastAPI(title="pitwatch setup", docs_url=None, redoc_url=None, openapi_url=None)

    @app.middleware("http")
    async def guard(request: Request, call_next: Any) -> Response:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        client = request.client.host if request.client else None
        if not access.good_host(host, origin):
            response: Response = JSONResponse({"error": "this page is not served under that name"}, 400)
        elif request.url.path not in _OPEN and not access.allowed(client, request.cookies.get(COOKIE)):
            response = (
                RedirectResponse("/enter", 303)
                if request.url.path == "/"
                else JSONResponse({"error": "enter the code that `pitwatch setup` shows"}, 403)
            )
        else:
            response = await call_next(request)
        response.headers.update(HEADERS)
        return response

    @app.exception_handler(UserError)
    async def refused(_: Request, error: UserError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, 422)

    @app.exception_handler(RequestValidationError)
    async def misread(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        name = str(first["loc"][-1]) if first["loc"] else "an entry"
        return JSONResponse({"error": f"'{name}' will not do: {first['msg']}"}, 422)

    @app.get("/", include_in_schema=False)
    def index() -> FileResponse:
        return FileResponse(STATIC / "index.html", media_type="text/html; charset=utf-8")

    _entrance(app, access)
    _pictures(app, wizard)
    _steps(app, wizard)
    _results(app, wizard)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app


def _entrance(app: FastAPI, access: Access) -> None:
    @app.get("/enter", include_in_schema=False)
    def enter() -> FileResponse:
        return FileResponse(STATIC / "enter.html", media_type="text/html; charset=utf-8")

    @app.post("/enter")
    def admit(code: Annotated[str, Body(embed=True, max_length=20)]) -> Response:
        token = access.admit(code)
        if token is None:
            return JSONResponse({"error": "that is not the code that the terminal shows now"}, 403)
        response = JSONResponse({})
        response.set_cookie(COOKIE, token, httponly=True, samesite="strict")
        return response


def _pictures(app: FastAPI, wizard: Wizard) -> None:
    @app.get("/picture.jpg")
    def picture(seen: str = "") -> Response:
        if wizard.live is None:
            raise HTTPException(404, wizard.live_error or "no camera yet")
        content, name = wizard.live.jpeg()
        # what the page shows already is not sent again
        response = Response(status_code=204) if name == seen else _jpeg(content)
        response.headers["X-Picture"] = name
        return response

    @app.post("/api/still")
    def take_still() -> dict[str, Any]:
        wizard.take_still()
        return wizard.state()

    @app.get("/still.jpg")
    def still() -> Response:
        image = wizard.still if wizard.still is not None else wizard.take_still()
        # whole, since points are tapped in it
        return _jpeg(live.encode(image, image.shape[1], 90))

    @app.get("/{name}.jpg")
    def kept(name: str) -> Response:
        path = wizard.store.path(f"{name}.jpg")
        if name not in ("check", "lens", "reference") or not path.exists():
            raise HTTPException(404, "no such picture")
        return _jpeg(path.read_bytes())


def _jpeg(content: bytes) -> Response:
    return Response(content, media_type="image/jpeg")


def _steps(app: FastAPI, wizard: Wizard) -> None:
    @app.get("/api/state")
    def state() -> dict[str, Any]:
        return wizard.state()

    @app.get("/api/grid")
    def grid() -> dict[str, Any]:
        return felt_grid(wizard.camera())

    @app.post("/api/step")
    def go(step: Annotated[str, Body(embed=True)]) -> dict[str, Any]:
        wizard.go(step)
        return wizard.state()

    @app.get("/api/cameras")
    def cameras() -> dict[str, Any]:
        return {"cameras": live.devices()}

    @app.post("/api/camera")
    def choose(
        spec: Annotated[str, Body(max_length=400)],
        size: Annotated[tuple[int, int] | None, Body()] = None,
    ) -> dict[str, Any]:
        wizard.choose(spec, size)
        return wizard.state()

    @app.post("/api/camera/picture")
    def step_picture(by: Annotated[int, Body(embed=True)]) -> dict[str, Any]:
        wizard.step_picture(by)
        return wizard.state()

    @app.post("/api/camera/practise")
    def practise(lay: Annotated[str, Body(embed=True, max_length=20)]) -> dict[str, Any]:
        wizard.practise(lay)
        return wizard.state()

    @app.post("/api/camera/lock")
    def lock(mains_hz: Annotated[int | None, Body(embed=True)] = None) -> dict[str, Any]:
        wizard.lock_controls(mains_hz)
        return wizard.state()

    @app.post("/api/camera/control")
    def control(name: Annotated[str, Body()], value: Annotated[int, Body()]) -> dict[str, Any]:
        wizard.set_control(name, value)
        return wizard.state()

    @app.post("/api/camera/stands")
    def stands() -> dict[str, Any]:
        return {"stands": wizard.take_turn(), **wizard.state()}

    @app.post("/api/lens/{what}")
    def lens(what: str) -> dict[str, Any]:
        steps = {"start": wizard.start_lens, "solve": wizard.solve_lens, "skip": wizard.skip_lens}
        if what not in steps:
            raise HTTPException(404, "no such step")
        steps[what]()
        return wizard.state()

    @app.post("/api/pose")
    def pose(asked: PoseRequest) -> dict[str, Any]:
        return {"outlines": wizard.solve_pose(asked).outlines, **wizard.state()}

    @app.post("/api/layout/arc")
    def arc(
        seats: Annotated[int, Body()], radius: _Number, first: _Number, cy: _Number, circle: _Number
    ) -> dict[str, Any]:
        wizard.layout_from_arc(seats, radius, first, cy, circle)
        return wizard.state()

    @app.post("/api/layout/print")
    def printed(seats: Annotated[int, Body(embed=True)]) -> dict[str, Any]:
        wizard.layout_from_print(seats)
        return wizard.state()

    @app.put("/api/layout")
    def layout(value: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
        wizard.put_layout(value)
        return wizard.state()

    @app.post("/api/check")
    def check() -> dict[str, Any]:
        wizard.judge()
        return wizard.state()


def _results(app: FastAPI, wizard: Wizard) -> None:
    @app.get("/api/rules")
    def rules() -> dict[str, Any]:
        return {"rules": tables.house_choices()}

    @app.put("/api/house")
    def house(value: House) -> dict[str, Any]:
        wizard.put_house(value)
        return wizard.state()

    @app.post("/api/house/broker")
    def broker(url: Annotated[str, Body(embed=True, max_length=300)]) -> dict[str, str]:
        return {"said": tables.answers(url)}

    @app.post("/api/deal/{what}")
    def deal(what: str) -> dict[str, Any]:
        if what == "look":
            return wizard.look_deal()
        steps = {"ask": wizard.ask_deal, "missed": wizard.give_up_deal, "skip": wizard.skip_deal}
        if what not in steps:
            raise HTTPException(404, "no such step")
        steps[what]()
        return wizard.state()

    @app.post("/api/finish")
    def finish(who: Annotated[str, Body(embed=True, max_length=200)]) -> dict[str, Any]:
        wizard.finish(who)
        return wizard.state()

    @app.get("/print/{what}-{paper}.pdf")
    def print_sheet(what: str, paper: str) -> Response:
        sheets = {"board": write_board, "tags": write_tags}
        if what not in sheets:
            raise HTTPException(404, "no such sheet")
        with tempfile.TemporaryDirectory() as folder:
            sheet = Path(folder, "sheet.pdf")
            sheets[what](sheet, paper)
            return Response(sheet.read_bytes(), media_type="application/pdf")

    @app.get("/commissioning.pdf")
    def sheet() -> FileResponse:
        return _download(wizard.store.path("commissioning.pdf"), "application/pdf")

    @app.get("/table.toml")
    def table() -> FileResponse:
        return _download(wizard.store.path("table.toml"), "text/plain; charset=utf-8")

    @app.get("/backup.zip")
    def backup() -> FileResponse:
        return _download(wizard.backup_path(), "application/zip")


def _download(path: Path, kind: str) -> FileResponse:
    if not path.exists():
        raise HTTPException(404, "not written yet")
    return FileResponse(path, media_type=kind, filename=path.name, content_disposition_type="inline")


def bound(host: str, port: int | None) -> socket.socket:
    """A listening socket. port: None takes 8720, or any free one when that is taken.

    Raises UserError when a `port` that was named is taken.
    """
    ports = (PORT, 0) if port is None else (port,)
    return listen(host, ports, "the page", "name another port with --port")


def server(app: FastAPI) -> uvicorn.Server:
    """What serves it; `run(sockets=[...])` until a signal, or until `should_exit`."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            log_level="warning",
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
    )
