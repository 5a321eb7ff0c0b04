"""Settings, accounts, tokens and the audit log.

In: requests. Out: what is kept, and lines of the audit log.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection, delete, func, select, update

from pitwatch.pit import schema
from pitwatch.pit.accounts import Role, add_user, check_name, end_sessions, set_password
from pitwatch.pit.filters import Page, Query, count
from pitwatch.pit.house_time import to_text
from pitwatch.pit.settings import load_settings, save_settings
from pitwatch.pit.shown import detail_of
from pitwatch.pit.web.guard import AsAdministrator, AsScreen, AsViewer, Body, Id, Problem, desk_of, found

__all__ = ["router"]

router = APIRouter(prefix="/api")
_AUDIT = ("who", "action", "what", "from", "to", "limit", "cursor")


class _User(Body):
    name: str
    password: str
    role: Role


class _UserChange(Body):
    role: Role | None = None
    disabled: bool | None = None
    password: str | None = None


@router.get("/settings")
def settings(request: Request, caller: AsScreen) -> dict[str, Any]:
    """The house's settings."""
    with desk_of(request).read() as db:
        return load_settings(db)


@router.put("/settings")
def change_settings(request: Request, caller: AsAdministrator, body: dict[str, Any]) -> dict[str, Any]:
    """Change some of them; it holds for what comes from then on."""
    with desk_of(request).noted(request, caller) as (db, noted):
        out = save_settings(db, body)
        noted("settings", "", **{k: out[k] for k in body})
    return out


@router.get("/people")
def people(request: Request, caller: AsViewer) -> dict[str, Any]:
    """Whom a finding can be assigned to."""
    u = schema.users.c
    with desk_of(request).read() as db:
        rows = db.execute(
            select(u.id, u.name, u.role).where(u.disabled.is_(False), u.role != "screen").order_by(u.name)
        )
        return {"items": [dict(r._mapping) for r in rows]}


def _user(row: Any) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "role": row.role,
        "disabled": bool(row.disabled),
        "created_at": to_text(row.created_at),
        "last_login_at": to_text(row.last_login_at),
    }


@router.get("/users")
def users(request: Request, caller: AsAdministrator) -> dict[str, Any]:
    """Every account."""
    u = schema.users
    with desk_of(request).read() as db:
        return {"items": [_user(r) for r in db.execute(select(u).order_by(u.c.name))]}


@router.post("/users", status_code=201)
def new_user(request: Request, caller: AsAdministrator, body: _User) -> dict[str, Any]:
    """A new account."""
    u = schema.users
    with desk_of(request).noted(request, caller) as (db, noted):
        if db.execute(select(u.c.id).where(func.lower(u.c.name) == check_name(body.name).lower())).first():
            raise Problem(409, "conflict", f"The name {body.name} is taken.", "name")
        made = add_user(db, body.name, body.password, body.role)
        noted("user.add", f"user {made}", name=body.name, role=body.role)
        return _user(db.execute(select(u).where(u.c.id == made)).one())


@router.patch("/users/{user_id}")
def change_user(request: Request, caller: AsAdministrator, user_id: Id, body: _UserChange) -> dict[str, Any]:
    """Another role, another password, or the end of an account; its sessions end."""
    u = schema.users
    with desk_of(request).noted(request, caller) as (db, noted):
        row = found(db.execute(select(u).where(u.c.id == user_id)).first(), "account")
        values: dict[str, Any] = {}
        if body.role is not None:
            values["role"] = body.role
        if body.disabled is not None:
            values["disabled"] = body.disabled
        if values:
            db.execute(update(u).where(u.c.id == user_id).values(**values))
        if body.password is not None:
            set_password(db, user_id, body.password)
        if row.role == "administrator" and not _administrators(db):
            raise Problem(409, "conflict", "This is the last administrator; name another one first.")
        end_sessions(db, user_id, but=caller.session if user_id == caller.user_id else None)
        noted("user.change", f"user {user_id}", **values, password=body.password is not None)
        return _user(db.execute(select(u).where(u.c.id == user_id)).one())


def _administrators(db: Connection) -> int:
    u = schema.users.c
    active = select(func.count()).where(u.role == "administrator", u.disabled.is_(False))
    return int(db.execute(active).scalar_one())


@router.get("/tokens")
def tokens(request: Request, caller: AsAdministrator) -> dict[str, Any]:
    """The bearer tokens; not what they are, only that they are."""
    t = schema.tokens.c
    with desk_of(request).read() as db:
        rows = db.execute(select(t.id, t.name, t.role, t.created_at, t.used_at, t.expires_at).order_by(t.id))
        return {
            "items": [
                {
                    "id": r.id,
                    "name": r.name,
                    "role": r.role,
                    "created_at": to_text(r.created_at),
                    "last_used_at": to_text(r.used_at),
                    "expires_at": to_text(r.expires_at),
                }
                for r in rows
            ]
        }


@router.delete("/tokens/{token_id}", status_code=204)
def end_token(request: Request, caller: AsAdministrator, token_id: Id) -> Response:
    """End a token."""
    t = schema.tokens
    with desk_of(request).noted(request, caller) as (db, noted):
        found(db.execute(select(t.c.id).where(t.c.id == token_id)).first(), "token")
        db.execute(delete(t).where(t.c.id == token_id))
        noted("token.end", f"token {token_id}")
    return Response(status_code=204)


@router.get("/audit")
def audit_log(request: Request, caller: AsAdministrator) -> dict[str, Any]:
    """Who did and looked at what, newest first."""
    desk = desk_of(request)
    a = schema.audit
    with desk.read() as db:
        q = Query(request.query_params.multi_items(), _AUDIT, desk.house(db))
        page = Page(q)
        wanted = q.span(a.c.at)
        for key in ("who", "action", "what"):
            if values := q.all(key):
                wanted.append(a.c[key].in_(values))
        rows = db.execute(page.apply(select(a).where(*wanted), [a.c.id])).all()
        kept, following = page.cut(rows, lambda r: (r.id,))
        total = count(db, select(a.c.id).where(*wanted))
    items = [
        {
            "id": r.id,
            "at": to_text(r.at),
            "who": r.who,
            "address": r.address,
            "action": r.action,
            "what": r.what,
            "detail": detail_of(r.detail),
        }
        for r in kept
    ]
    return {"items": items, "total": total, "next": following}
