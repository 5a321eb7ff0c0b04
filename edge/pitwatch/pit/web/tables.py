"""The floor, a table, its stills, who deals there.

In: requests. Out: tiles, live tables, JPEGs.
"""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from pitwatch.pit import schema
from pitwatch.pit.filters import Page, Query
from pitwatch.pit.ingest import sign_in
from pitwatch.pit.received import clean
from pitwatch.pit.shown import live, show_rounds
from pitwatch.pit.sql import now
from pitwatch.pit.tiles import Tiles, as_object
from pitwatch.pit.web.guard import (
    AsScreen,
    AsSupervisor,
    AsViewer,
    Body,
    BodyId,
    Desk,
    Id,
    Problem,
    desk_of,
    found,
)

__all__ = ["router"]

router = APIRouter(prefix="/api")
_FILTERS = ("site", "name", "state", "level", "limit", "cursor")
_STATES = ("online", "silent", "offline", "unknown")


class _SignIn(Body):
    dealer: BodyId | None


class _Dealer(Body):
    name: str
    badge: str | None = None


class _DealerChange(Body):
    name: str | None = None
    badge: str | None = None
    active: bool | None = None


def _tiles(request: Request) -> Tiles:
    tiles: Tiles = request.app.state.tiles
    return tiles


def _tile(request: Request, desk: Desk, table_id: int) -> dict[str, Any]:
    with desk.read() as db:
        every = _tiles(request).all(db)
    return found(next((t for t in every if t["id"] == table_id), None), "table")


@router.get("/tables")
def tables(request: Request, caller: AsScreen) -> dict[str, Any]:
    """Every table, the worst first."""
    desk = desk_of(request)
    with desk.read() as db:
        query = Query(request.query_params.multi_items(), _FILTERS, desk.house(db))
        every = _tiles(request).all(db)
    sites, name = query.all("site"), (query.one("name") or "").lower()
    states, levels = query.words("state", _STATES), query.words("level", ("ok", "warn", "bad"))
    kept = [
        t
        for t in every
        if (not sites or t["site"] in sites)
        and name in t["name"].lower()
        and (not states or t["state"] in states)
        and (not levels or t["level"] in levels)
    ]
    page = Page(query, 500)
    # a floor is small: its pages are cut from the whole
    start = page.place() or 0
    items = kept[start : start + page.limit]
    following = start + page.limit
    return {
        "items": items,
        "total": {"count": min(len(kept), 10_000), "more": len(kept) > 10_000},
        "next": page.cursor_of([following]) if following < len(kept) else None,
    }


@router.get("/tables/{table_id}")
def table(request: Request, caller: AsViewer, table_id: Id) -> dict[str, Any]:
    """One table: how it is, the felt, its last rounds."""
    desk = desk_of(request)
    tile = _tile(request, desk, table_id)
    t, r = schema.tables.c, schema.rounds
    with desk.read() as db:
        state, at = db.execute(select(t.state, t.state_at).where(t.id == table_id)).one()
        last = db.execute(
            select(r).where(r.c.table_id == table_id).order_by(r.c.ended_at.desc(), r.c.id.desc()).limit(20)
        ).all()
        rounds = show_rounds(db, last, desk.house(db))
    return tile | {"live": live(as_object(state), at), "rounds": rounds}


@router.get("/tables/{table_id}/still.jpg")
def still(request: Request, caller: AsViewer, table_id: Id) -> Response:
    """The camera's newest still that has come."""
    return _picture(desk_of(request), table_id, "", "no-store")


@router.post("/tables/{table_id}/still", status_code=202)
def ask_for_still(request: Request, caller: AsViewer, table_id: Id) -> dict[str, bool]:
    """Ask the table for a new one."""
    desk = desk_of(request)
    if not desk.ask(table_id, {"still": True}):
        raise Problem(503, "broker", "The table cannot be asked: there is no connection to the broker.")
    return {"asked": True}


@router.get("/evidence/{table_id}/{name}")
def evidence(request: Request, caller: AsViewer, table_id: Id, name: str) -> Response:
    """An evidence picture; one that is not here yet is asked for."""
    desk = desk_of(request)
    named = re.fullmatch(r"(?!clip-)([A-Za-z0-9][A-Za-z0-9._-]{0,99})\.jpg|(clip-[0-9a-f-]{36})\.mjpeg", name)
    if named is None:
        raise Problem(404, "not_found", "There is no such picture.")
    ref = named[1] or named[2]
    kind = "image/jpeg" if named[1] else "video/x-motion-jpeg"
    try:
        return _picture(desk, table_id, ref, "private, max-age=86400, immutable", kind)
    except Problem:
        desk.ask(table_id, {"picture": ref})
        raise


def _picture(desk: Desk, table_id: int, ref: str, cache: str, kind: str = "image/jpeg") -> Response:
    p = schema.pictures.c
    with desk.read() as db:
        jpeg = db.execute(select(p.jpeg).where(p.table_id == table_id, p.ref == ref)).scalar()
    return Response(
        found(jpeg, "picture, or it has not come yet"),
        media_type=kind,
        headers={"Cache-Control": cache},
    )


@router.post("/tables/{table_id}/dealer")
def sign_dealer_in(request: Request, caller: AsSupervisor, table_id: Id, body: _SignIn) -> dict[str, Any]:
    """Say who deals at a table from now on; null: nobody."""
    desk = desk_of(request)
    with desk.noted(request, caller) as (db, noted):
        t, d = schema.tables.c, schema.dealers.c
        found(db.execute(select(t.id).where(t.id == table_id)).first(), "table")
        if body.dealer is not None:
            known = select(d.id).where(d.id == body.dealer, d.active.is_(True))
            found(db.execute(known).first(), "dealer")
        sign_in(db, table_id, body.dealer, now(), caller.user_id)
        noted("dealer.sign_in" if body.dealer else "dealer.sign_out", f"table {table_id}", dealer=body.dealer)
    return _tile(request, desk, table_id)


@router.get("/dealers")
def dealers(request: Request, caller: AsViewer) -> dict[str, Any]:
    """Every dealer, and where he deals now."""
    d, t = schema.dealers.c, schema.tables.c
    with desk_of(request).read() as db:
        at = {
            r.dealer_id: {"id": r.id, "site": r.site, "name": r.name}
            for r in db.execute(select(t.id, t.site, t.name, t.dealer_id).where(t.dealer_id.is_not(None)))
        }
        rows = db.execute(select(d.id, d.name, d.badge, d.active).order_by(d.name)).all()
    return {"items": [dict(r._mapping) | {"table": at.get(r.id)} for r in rows]}


@router.post("/dealers", status_code=201)
def add_dealer(request: Request, caller: AsSupervisor, body: _Dealer) -> dict[str, Any]:
    """A new dealer."""
    d = schema.dealers
    values = {"name": _name(body.name), "badge": _badge(body.badge)}
    try:
        with desk_of(request).noted(request, caller) as (db, noted):
            made = db.execute(d.insert().values(**values).returning(d.c.id)).scalar_one()
            noted("dealer.add", f"dealer {made}", **values)
    except IntegrityError:
        raise Problem(409, "conflict", "Another dealer has this badge.", "badge") from None
    return {"id": made, **values, "active": True, "table": None}


@router.patch("/dealers/{dealer_id}")
def change_dealer(
    request: Request, caller: AsSupervisor, dealer_id: Id, body: _DealerChange
) -> dict[str, Any]:
    """Change a dealer's name or badge, or take him off the list."""
    d = schema.dealers
    given = body.model_dump(exclude_unset=True)
    values: dict[str, Any] = {}
    if given.get("name") is not None:
        values["name"] = _name(given["name"])
    if "badge" in given:
        values["badge"] = _badge(given["badge"])
    if given.get("active") is not None:
        values["active"] = given["active"]
    try:
        with desk_of(request).noted(request, caller) as (db, noted):
            found(db.execute(select(d.c.id).where(d.c.id == dealer_id)).first(), "dealer")
            if values:
                db.execute(update(d).where(d.c.id == dealer_id).values(**values))
                noted("dealer.change", f"dealer {dealer_id}", **values)
            row = db.execute(select(d).where(d.c.id == dealer_id)).one()
    except IntegrityError:
        raise Problem(409, "conflict", "Another dealer has this badge.", "badge") from None
    return {**row._mapping, "table": None}


def _name(text: str) -> str:
    name = clean(text, 60).strip()
    if not name:
        raise Problem(422, "invalid", "A dealer needs a name of 1 to 60 characters.", "name")
    return name


def _badge(text: str | None) -> str | None:
    return clean(text, 60).strip() or None
