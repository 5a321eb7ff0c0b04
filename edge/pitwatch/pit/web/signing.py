"""Signing in and out, and the first account.

In: names and passwords. Out: the session's cookie.
"""

from __future__ import annotations

import secrets
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy import delete, func, select

from pitwatch.pit import schema
from pitwatch.pit.accounts import (
    IDLE,
    Caller,
    add_user,
    begin_session,
    by_session,
    check_password,
    end_sessions,
    session_length,
    set_password,
    sign_in_user,
)
from pitwatch.pit.house_time import to_text
from pitwatch.pit.web.guard import COOKIE, AsScreen, AsViewer, Body, Desk, Problem, address_of, desk_of, note

__all__ = ["router"]

router = APIRouter(prefix="/api")


class _Login(Body):
    name: str
    password: str


class _Setup(Body):
    token: str
    name: str
    password: str


class _Passwords(Body):
    old: str
    new: str


def _me(caller: Caller) -> dict[str, Any]:
    ends = caller.created_at + session_length(caller.role)
    idle = ends if caller.role == "screen" else caller.used_at + IDLE
    return {
        "user": {"id": caller.user_id, "name": caller.name, "role": caller.role},
        "csrf": caller.csrf,
        "expires_at": to_text(min(idle, ends)) if caller.session else None,
        "ends_at": to_text(ends) if caller.session else None,
    }


def _signed_in(request: Request, desk: Desk, user_id: int, name: str) -> JSONResponse:
    with desk.write() as db:
        token, _ = begin_session(db, user_id)
        note(db, request, name, "login", f"user {user_id}")
        caller = by_session(db, token)
    assert caller is not None
    response = JSONResponse(_me(caller))
    response.set_cookie(
        COOKIE,
        token,
        max_age=session_length(caller.role) // 1000,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return response


@router.post("/login")
def login(request: Request, body: _Login) -> JSONResponse:
    """Sign in."""
    desk = desk_of(request)
    user = sign_in_user(desk.engine, body.name, body.password, address_of(request))
    if user is None:
        with desk.write() as db:
            note(db, request, body.name, "login.failed", "")
        raise Problem(401, "wrong_password", "The name or the password is wrong.")
    return _signed_in(request, desk, user.id, user.name)


@router.post("/logout", status_code=204)
def logout(request: Request, caller: AsScreen) -> Response:
    """End this session."""
    with desk_of(request).noted(request, caller) as (db, noted):
        db.execute(delete(schema.sessions).where(schema.sessions.c.token == caller.session))
        noted("logout", "")
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, path="/")
    return response


@router.get("/me")
def me(caller: AsScreen) -> dict[str, Any]:
    """Who is signed in."""
    return _me(caller)


@router.post("/me/password", status_code=204)
def change_password(request: Request, caller: AsViewer, body: _Passwords) -> Response:
    """Choose another password."""
    desk = desk_of(request)
    if caller.user_id is None:
        raise Problem(403, "forbidden", "A token has no password.")
    with desk.read() as db:
        name, hashed = db.execute(
            select(schema.users.c.name, schema.users.c.password).where(schema.users.c.id == caller.user_id)
        ).one()
    # counted as a sign-in, so that a session left open is no way to guess
    if sign_in_user(desk.engine, name, body.old, address_of(request)) is None or not check_password(
        hashed, body.old
    ):
        raise Problem(401, "wrong_password", "The old password is wrong.", "old")
    with desk.noted(request, caller) as (db, noted):
        set_password(db, caller.user_id, body.new)
        end_sessions(db, caller.user_id, but=caller.session)
        noted("password", f"user {caller.user_id}")
    return Response(status_code=204)


def _no_account(desk: Desk) -> bool:
    with desk.read() as db:
        return not db.execute(select(func.count()).select_from(schema.users)).scalar_one()


@router.get("/setup")
def setup_needed(request: Request) -> dict[str, bool]:
    """Whether the first account is still to be made."""
    return {"needed": _no_account(desk_of(request))}


@router.post("/setup")
def setup(request: Request, body: _Setup) -> JSONResponse:
    """Make the first administrator, with the link that the terminal showed."""
    desk = desk_of(request)
    right = desk.setup is not None and secrets.compare_digest(
        body.token.encode("utf-8", "replace"), desk.setup.encode()
    )
    if not right or not _no_account(desk):
        raise Problem(403, "forbidden", "This set-up link does not hold (any more).")
    with desk.write() as db:
        if db.execute(select(func.count()).select_from(schema.users)).scalar_one():
            raise Problem(403, "forbidden", "This set-up link does not hold (any more).")
        user_id = add_user(db, body.name, body.password, "administrator")
        note(db, request, body.name, "user.add", f"user {user_id}", role="administrator", first=True)
    desk.setup = None
    return _signed_in(request, desk, user_id, body.name)
