"""Rounds: looked for, replayed, exported, held, bundled.

In: requests. Out: rounds, steps of a replay, files.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, StreamingResponse
from sqlalchemy import func, select, update
from starlette.background import BackgroundTask

from pitwatch.pit import schema
from pitwatch.pit.bundle import evidence_bundle
from pitwatch.pit.filters import Page, Query, count
from pitwatch.pit.finding_lists import tell
from pitwatch.pit.house_time import to_text
from pitwatch.pit.received import clean
from pitwatch.pit.replaying import events_of_round, header_of, replay_steps
from pitwatch.pit.round_lists import FILTERS, as_csv, as_parquet, conditions, lines
from pitwatch.pit.shown import Names, bodies, live, pictures_of, show_findings, show_rounds
from pitwatch.pit.sql import now
from pitwatch.pit.web.guard import AsSupervisor, AsViewer, Body, Id, desk_of, found

__all__ = ["router"]

router = APIRouter(prefix="/api")
_LOOKED = ("round.view", "round.bundle", "finding.view", "finding.export")
_MOST_SEEN = 50


class _Hold(Body):
    held: bool
    reason: str = ""


@router.get("/rounds")
def rounds(request: Request, caller: AsViewer) -> dict[str, Any]:
    """Rounds, page by page."""
    desk = desk_of(request)
    r = schema.rounds
    with desk.read() as db:
        house = desk.house(db)
        q = Query(request.query_params.multi_items(), FILTERS, house)
        page = Page(q)
        down = q.word("sort", ("newest", "oldest"), "newest") == "newest"
        wanted = conditions(db, q)
        rows = db.execute(page.apply(select(r).where(*wanted.where), [r.c.ended_at, r.c.id], down)).all()
        kept, following = page.cut(rows, lambda x: (x.ended_at, x.id))
        total = wanted.total or count(db, select(r.c.id).where(*wanted.where))
        return {"items": show_rounds(db, kept, house), "total": total, "next": following}


def _lines(request: Request) -> Iterator[list[dict[str, Any]]]:
    desk = desk_of(request)
    with desk.read() as db:
        house = desk.house(db)
        q = Query(request.query_params.multi_items(), FILTERS, house)
        wanted = conditions(db, q)
    return lines(desk.engine, wanted.where, house)


@router.get("/rounds/export.csv")
def export_csv(request: Request, caller: AsViewer) -> Response:
    """What was looked for as CSV, one line a hand."""
    told = as_csv(_lines(request))
    desk_of(request).note(request, caller, "rounds.export", "csv", query=str(request.url.query)[:500])
    return StreamingResponse(
        told,
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="rounds.csv"'},
    )


@router.get("/rounds/export.parquet")
def export_parquet(request: Request, caller: AsViewer) -> Response:
    """The same as Parquet."""
    told = _lines(request)
    with tempfile.NamedTemporaryFile(suffix=".parquet", delete=False) as file:
        path = Path(file.name)
    try:
        as_parquet(told, str(path))
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    desk_of(request).note(request, caller, "rounds.export", "parquet", query=str(request.url.query)[:500])
    return FileResponse(
        path,
        media_type="application/vnd.apache.parquet",
        filename="rounds.parquet",
        background=BackgroundTask(path.unlink, missing_ok=True),
    )


def _row(db: Any, round_id: int) -> Any:
    r = schema.rounds
    return found(db.execute(select(r).where(r.c.id == round_id)).first(), "round")


@router.get("/rounds/{round_id}")
def one_round(request: Request, caller: AsViewer, round_id: Id) -> dict[str, Any]:
    """One round, step by step."""
    desk = desk_of(request)
    r, f, un = schema.rounds.c, schema.findings, schema.unverified.c
    with desk.read() as db:
        house = desk.house(db)
        row = _row(db, round_id)
        names = Names(db)
        (shown,) = show_rounds(db, [row], house, names)
        own = db.execute(select(f).where(f.c.round_id == round_id).order_by(f.c.t, f.c.id)).all()
        findings = show_findings(db, own, house, names)
        doubts = db.execute(
            select(un.seat, un.hand, un.why).where(
                un.boot_id == row.boot_id, un.t >= row.t_start, un.t <= row.t_end + 8
            )
        )
        shown |= {
            "record": next(iter(bodies(db, [row]).values()), None),
            "all_findings": findings,
            "unverified": [dict(x._mapping) for x in doubts],
            "steps": _steps(db, row, own),
            "table_seats": header_of(db, row.table_id).seats,
            "seen": _seen(db, [f"round {round_id}", *(f"finding {x.id}" for x in own)]),
        }
        beside = select(r.id).where(r.table_id == row.table_id, r.id != row.id).limit(1)
        here = (row.ended_at, row.id)
        shown["previous"] = db.execute(
            beside.where(r.ended_at <= here[0]).order_by(r.ended_at.desc(), r.id.desc())
        ).scalar()
        shown["next"] = db.execute(beside.where(r.ended_at >= here[0]).order_by(r.ended_at, r.id)).scalar()
    desk.note(request, caller, "round.view", f"round {round_id}")
    return shown


def _seen(db: Any, what: list[str]) -> list[dict[str, Any]]:
    """Who looked at a round or its findings and when last, newest first."""
    a, u = schema.audit.c, schema.users.c
    last = func.max(a.at)
    looked = db.execute(
        select(a.who, last.label("at"), func.max(u.id).label("id"))
        .outerjoin(schema.users, u.name == a.who)
        .where(a.what.in_(what), a.action.in_(_LOOKED))
        .group_by(a.who)
        .order_by(last.desc())
        .limit(_MOST_SEEN)
    )
    return [{"by": {"id": x.id, "name": x.who}, "at": to_text(x.at)} for x in looked]


def _steps(db: Any, row: Any, own: Any) -> list[dict[str, Any]]:
    events = events_of_round(db, row)
    p = schema.pictures.c
    refs = {
        ref for _, _, body in events for x in pictures_of(body, row.table_id, set()) for ref in [x["ref"]]
    }
    here = set()
    if refs:
        found_here = db.execute(select(p.ref).where(p.table_id == row.table_id, p.ref.in_(refs))).scalars()
        here = {(row.table_id, ref) for ref in found_here}
    out = []
    for n, step in enumerate(replay_steps(header_of(db, row.table_id), events)):
        at = row.ended_at - round((row.t_end - step.t) * 1000)
        table = step.table.to_json() | {"round": row.number}
        ids = [f.id for f in own for s in step.said if (f.kind, f.seat, f.hand) == (s.kind, s.seat, s.hand)]
        out.append(
            {
                "n": n,
                "t": step.t,
                "at": to_text(at),
                "text": step.text,
                "event": step.event,
                "live": live(table, at),
                "findings": sorted(set(ids)),
                "pictures": pictures_of(step.event, row.table_id, here),
            }
        )
    return out


@router.post("/rounds/{round_id}/hold")
def hold(request: Request, caller: AsSupervisor, round_id: Id, body: _Hold) -> dict[str, Any]:
    """Legal hold: what is held is never deleted."""
    desk = desk_of(request)
    r, f = schema.rounds, schema.findings.c
    with desk.noted(request, caller) as (db, noted):
        _row(db, round_id)
        db.execute(update(r).where(r.c.id == round_id).values(held=body.held))
        tell(db, list(db.execute(select(f.id).where(f.round_id == round_id)).scalars()))
        noted(
            "round.hold" if body.held else "round.release",
            f"round {round_id}",
            reason=clean(body.reason, 500),
        )
    if body.held:
        desk.ask_for_evidence(round_id)
    with desk.read() as db:
        return show_rounds(db, [_row(db, round_id)], desk.house(db))[0]


@router.get("/rounds/{round_id}/bundle.zip")
def bundle(request: Request, caller: AsSupervisor, round_id: Id) -> Response:
    """The round's evidence in one file."""
    desk = desk_of(request)
    # noted first, so that the bundle says that it was made
    desk.note(request, caller, "round.bundle", f"round {round_id}")
    with desk.read() as db:
        row = _row(db, round_id)
        content = evidence_bundle(db, row, desk.house(db), caller.name, now())
    return Response(
        content,
        media_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="round-{round_id}.zip"'},
    )
