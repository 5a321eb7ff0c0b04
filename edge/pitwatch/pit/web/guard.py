"""What every route needs: the store, who asks, whether he may, and one form for every error.

In: requests. Out: `Desk` for the routes, JSON errors. Nothing of an exception's text reaches who asks.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, Path, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection, Engine, or_, select, update
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException

from pitwatch.errors import UserError
from pitwatch.pit import schema
from pitwatch.pit.accounts import Caller, Role, TooOften, by_session, by_token
from pitwatch.pit.collector import Collector
from pitwatch.pit.filters import BadFilter
from pitwatch.pit.house_time import HouseTime
from pitwatch.pit.received import clean
from pitwatch.pit.settings import house_time, load_settings
from pitwatch.pit.shown import show_findings
from pitwatch.pit.sql import now, reading, writing

__all__ = [
    "COOKIE",
    "AsAdministrator",
    "AsScreen",
    "AsSupervisor",
    "AsViewer",
    "Body",
    "BodyId",
    "Desk",
    "Id",
    "Problem",
    "address_of",
    "desk_of",
    "error_handlers",
    "found",
    "note",
    "who_asks",
]

COOKIE = "pitwatch_session"
_TOUCH = 20_000  # ms between two notes that a session is used
_LONGEST = 2000  # characters of what the audit log keeps of a text

_log = logging.getLogger(__name__)
T = TypeVar("T")

Id = Annotated[int, Path(ge=1, lt=2**53)]
BodyId = Annotated[int, Field(ge=1, lt=2**53)]


class Body(BaseModel):
    """What is posted: JSON with these keys and no others."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(Exception):  # noqa: N818 - what is said to who asks
    """An answer that is an error."""

    def __init__(self, status: int, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field = status, code, message, field


@dataclass
class Desk:
    """What the routes share. collector: None when nothing is collected here. setup: for the first account."""

    engine: Engine
    collector: Collector | None = None
    setup: str | None = None
    cache: dict[str, tuple[float, Any]] = field(default_factory=dict)

    def read(self) -> Any:
        """A connection that reads."""
        return reading(self.engine)

    def write(self) -> Any:
        """A transaction that writes."""
        return writing(self.engine)

    def house(self, db: Connection) -> HouseTime:
        """The house's time as it is set now."""
        return house_time(load_settings(db))

    def ask(self, table_id: int, wish: dict[str, object]) -> bool:
        """Ask a table for something; False when that cannot be done now. 404 when there is no such table."""
        t = schema.tables.c
        with self.read() as db:
            row = found(db.execute(select(t.site, t.name).where(t.id == table_id)).first(), "table")
        return self.collector is not None and self.collector.ask(row.site, row.name, wish)

    def ask_for_evidence(self, round_id: int | None = None, findings: Sequence[int] = ()) -> None:
        """Ask for the pictures and clips of what is to be kept, where they are not here yet."""
        f = schema.findings
        wanted = or_(f.c.id.in_(findings), f.c.round_id == round_id)
        with self.read() as db:
            rows = db.execute(select(f).where(wanted).limit(100)).all()
            shown = show_findings(db, rows, self.house(db))
        for row, said in zip(rows, shown, strict=True):
            for picture in (*said["pictures"], said["clip"]):
                if not picture["here"]:
                    self.ask(row.table_id, {"picture": picture["ref"]})

    @contextmanager
    def noted(self, request: Request, caller: Caller) -> Iterator[tuple[Connection, Callable[..., None]]]:
        """A transaction that writes, and how to note in it what was done, for the audit log."""
        with writing(self.engine) as db:
            yield db, lambda action, what, **detail: note(db, request, caller.name, action, what, **detail)

    def note(self, request: Request, caller: Caller, action: str, what: str, **detail: Any) -> None:
        """Note what somebody looked at."""
        with writing(self.engine) as db:
            note(db, request, caller.name, action, what, **detail)


def note(db: Connection, request: Request, who: str, action: str, what: str, **detail: Any) -> None:
    """A line of the audit log."""
    kept = {k: v[:_LONGEST] if isinstance(v, str) else v for k, v in detail.items()}
    db.execute(
        schema.audit.insert().values(
            at=now(),
            who=clean(who, 60),
            address=address_of(request),
            action=action,
            what=clean(what, 100),
            detail=json.dumps(kept),
        )
    )


def address_of(request: Request) -> str:
    """Where a request comes from."""
    return clean(request.client.host if request.client else "", 60)


def desk_of(request: Request) -> Desk:
    """The desk of this application."""
    desk: Desk = request.app.state.desk
    return desk


def found(thing: T | None, what: str) -> T:
    """It, or 404."""
    if thing is None:
        raise Problem(404, "not_found", f"There is no such {what}.")
    return thing


def who_asks(request: Request) -> Caller:
    """Who asks; 401 when nobody known does, 403 when a form elsewhere may have sent it."""
    desk = desk_of(request)
    bearer = request.headers.get("authorization", "")
    if bearer[:7].lower() == "bearer ":
        with desk.read() as db:
            token = by_token(db, bearer[7:].strip())
        if token is None:
            raise Problem(401, "signed_out", "This token is not known, or has expired.")
        caller, token_id, used = token
        if used is None or now() - used > _TOUCH:
            with desk.write() as db:
                t = schema.tokens
                db.execute(update(t).where(t.c.id == token_id).values(used_at=now()))
        return caller
    cookie = request.cookies.get(COOKIE)
    signed = None
    if cookie:
        with desk.read() as db:
            signed = by_session(db, cookie)
    if signed is None:
        raise Problem(401, "signed_out", "You are signed out; sign in again.")
    if request.method not in ("GET", "HEAD") and request.headers.get("x-csrf-token") != signed.csrf:
        raise Problem(403, "csrf", "This did not come from the page; load it anew.")
    if now() - signed.used_at > _TOUCH and request.url.path != "/api/stream":
        with desk.write() as db:
            s = schema.sessions
            db.execute(update(s).where(s.c.token == signed.session).values(used_at=now()))
    return signed


def _needs(role: Role) -> Callable[[Caller], Caller]:
    def check(caller: Annotated[Caller, Depends(who_asks)]) -> Caller:
        if not caller.may(role):
            raise Problem(403, "forbidden", f"This needs the role {role}.")
        return caller

    return check


AsScreen = Annotated[Caller, Depends(who_asks)]
AsViewer = Annotated[Caller, Depends(_needs("viewer"))]
AsSupervisor = Annotated[Caller, Depends(_needs("supervisor"))]
AsAdministrator = Annotated[Caller, Depends(_needs("administrator"))]


def error_handlers(app: FastAPI) -> None:
    """Have every error answered in the one form."""

    def answer(
        status: int, code: str, message: str, field: str | None = None, headers: dict[str, str] | None = None
    ) -> JSONResponse:
        error: dict[str, Any] = {"code": code, "message": message}
        if field is not None:
            error["field"] = field
        return JSONResponse({"error": error}, status, headers=headers)

    @app.exception_handler(Problem)
    async def problem(request: Request, e: Problem) -> JSONResponse:
        return answer(e.status, e.code, e.message, e.field)

    @app.exception_handler(BadFilter)
    async def bad_filter(request: Request, e: BadFilter) -> JSONResponse:
        return answer(400 if e.code == "bad_cursor" else 422, e.code, str(e), e.field)

    @app.exception_handler(UserError)
    async def user_error(request: Request, e: UserError) -> JSONResponse:
        text = str(e)
        return answer(422, "invalid", text[:1].upper() + text[1:] + ("" if text.endswith(".") else "."))

    @app.exception_handler(TooOften)
    async def too_often(request: Request, e: TooOften) -> JSONResponse:
        return answer(429, "slow_down", str(e), headers={"Retry-After": str(e.seconds)})

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, e: RequestValidationError) -> JSONResponse:
        first = e.errors()[0] if e.errors() else {}
        where = [str(p) for p in first.get("loc", ()) if p not in ("body", "path", "query")]
        if first.get("type") == "json_invalid":
            return answer(422, "invalid", "The body is no JSON.")
        named = clean(".".join(where), 60) or None
        if where and "path" in first.get("loc", ()):
            return answer(404, "not_found", "There is nothing here.")
        return answer(422, "invalid", f"{named or 'The body'}: {clean(first.get('msg'), 200)}.", named)

    @app.exception_handler(SQLAlchemyError)
    async def store(request: Request, e: SQLAlchemyError) -> JSONResponse:
        _log.error("the store failed at %s", request.url.path, exc_info=e)
        return answer(503, "store", "The database does not answer; try again in a moment.")

    @app.exception_handler(HTTPException)
    async def http(request: Request, e: HTTPException) -> JSONResponse:
        codes = {404: ("not_found", "There is nothing here."), 405: ("bad_request", "Not with this method.")}
        code, message = codes.get(e.status_code, ("bad_request", "This request makes no sense here."))
        return answer(e.status_code, code, message)

    @app.exception_handler(Exception)
    async def anything(request: Request, e: Exception) -> JSONResponse:
        _log.error("internal error at %s", request.url.path, exc_info=e)
        return answer(500, "internal", "Something went wrong here; it is in the log.")
