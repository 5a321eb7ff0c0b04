"""The alert queue: findings looked for, judged, talked about, exported.

In: requests. Out: findings, bundles of them by round, precision, test cases.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from sqlalchemy import or_, select, update

from pitwatch.pit import schema
from pitwatch.pit.filters import Page, Query, count
from pitwatch.pit.finding_lists import (
    FILTERS,
    SORTS,
    bundled,
    conditions,
    judge,
    precision,
    say,
    sort_keys,
    tell,
)
from pitwatch.pit.house_time import to_text
from pitwatch.pit.meaning import REASONS
from pitwatch.pit.received import clean
from pitwatch.pit.replaying import case_lines, events_of_round, header_of
from pitwatch.pit.shown import Names, bodies, notation, show_findings
from pitwatch.pit.web.guard import AsSupervisor, AsViewer, Body, BodyId, Desk, Id, Problem, desk_of, found

__all__ = ["router"]

router = APIRouter(prefix="/api")
_MOST_CASES = 1000


class _Verdict(Body):
    verdict: Literal["confirmed", "dismissed", "open"]
    reason: str | None = None
    note: str = ""
    version: BodyId | None = None


class _Verdicts(_Verdict):
    ids: list[BodyId]


class _Assign(Body):
    user: BodyId | None


class _Note(Body):
    text: str


@router.get("/reasons")
def reasons(caller: AsViewer) -> dict[str, Any]:
    """Why a finding may be dismissed."""
    return {"items": [{"id": i, "text": t} for i, t in REASONS.items()]}


@router.get("/findings")
def findings(request: Request, caller: AsViewer) -> dict[str, Any]:
    """Findings, page by page."""
    desk = desk_of(request)
    with desk.read() as db:
        house = desk.house(db)
        q = Query(request.query_params.multi_items(), FILTERS, house)
        page = Page(q)
        keys, down = sort_keys(q.word("sort", SORTS, "newest"))
        where = conditions(db, q, caller)
        wanted = select(schema.findings).where(*where)
        names = [k.label(f"k{n}") for n, k in enumerate(keys)]
        rows = db.execute(page.apply(wanted.add_columns(*names), keys, down)).all()
        kept, following = page.cut(rows, lambda r: [getattr(r, n.name) for n in names])
        total = count(db, select(schema.findings.c.id).where(*where))
        return {"items": show_findings(db, kept, house), "total": total, "next": following}


@router.get("/findings/bundles")
def bundles(request: Request, caller: AsViewer) -> dict[str, Any]:
    """Findings bundled by round."""
    desk = desk_of(request)
    f = schema.findings.c
    with desk.read() as db:
        house = desk.house(db)
        q = Query(request.query_params.multi_items(), FILTERS, house)
        page = Page(q)
        heads, order, down = bundled(db, q, caller, q.word("sort", SORTS, "newest"))
        names = [k.label(f"k{n}") for n, k in enumerate(order)]
        rows = db.execute(page.apply(heads.add_columns(*names), order, down)).all()
        kept, following = page.cut(rows, lambda r: [getattr(r, n.name) for n in names])
        total = count(db, heads)
        wanted = [r.key for r in kept]
        own = or_(f.round_id.in_([k for k in wanted if k > 0]), f.id.in_([-k for k in wanted if k < 0]))
        members = db.execute(
            select(schema.findings).where(own, *conditions(db, q, caller)).order_by(f.t, f.id)
        ).all()
        shown = show_findings(db, members, house)
    by_key: dict[int, list[dict[str, Any]]] = {}
    for m, s in zip(members, shown, strict=True):
        by_key.setdefault(-m.id if m.round_id is None else m.round_id, []).append(s)
    return {"items": [_bundle(k, by_key[k]) for k in wanted], "total": total, "next": following}


def _bundle(key: int, own: list[dict[str, Any]]) -> dict[str, Any]:
    amounts = [f["amount"] for f in own if f["amount"] is not None]
    return {
        "key": f"r{key}" if key > 0 else f"f{-key}",
        "round_id": own[0]["round_id"],
        "round": own[0]["round"],
        "table": own[0]["table"],
        "at": max(f["at"] for f in own),
        "count": len(own),
        "open": sum(f["status"] == "open" for f in own),
        "severity": "alert" if any(f["severity"] == "alert" for f in own) else "notice",
        "amount": sum(amounts) if amounts else None,
        "findings": own,
    }


@router.get("/findings/precision")
def precisions(request: Request, caller: AsViewer) -> dict[str, Any]:
    """How often people agreed, per kind or table."""
    desk = desk_of(request)
    with desk.read() as db:
        q = Query(request.query_params.multi_items(), ("by", "from", "to", "table", "kind"), desk.house(db))
        by = q.word("by", ("kind", "table", "kind_table"), "kind")
        return {"items": precision(db, by, conditions(db, q, caller), Names(db).tables)}


@router.get("/findings/cases.zip")
def cases(request: Request, caller: AsSupervisor) -> Response:
    """Judged findings as test cases with their pictures, for tests and training."""
    desk = desk_of(request)
    f, p = schema.findings.c, schema.pictures.c
    out = io.BytesIO()
    labels: list[dict[str, Any]] = []
    with desk.read() as db, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        q = Query(request.query_params.multi_items(), FILTERS, desk.house(db))
        judged = select(schema.findings).where(
            *conditions(db, q, caller), f.status != "open", f.round_id.is_not(None)
        )
        rows = db.execute(judged.order_by(f.at, f.id).limit(_MOST_CASES)).all()
        rounds = schema.rounds
        played = db.execute(select(rounds).where(rounds.c.id.in_([r.round_id for r in rows]))).all()
        records = bodies(db, played)
        by_round = {r.id: records.get((r.boot_id, r.seq), {}) for r in played}
        done: set[int] = set()
        size = 0
        for row, shown in zip(rows, show_findings(db, rows, desk.house(db)), strict=True):
            name = f"{row.status}/{row.id:07d}-{row.kind}"
            if row.round_id not in done:
                done.add(row.round_id)
                z.writestr(f"cases/round-{row.round_id}.jsonl", _case(db, row))
            for picture in shown["pictures"]:
                jpeg = db.execute(
                    select(p.jpeg).where(p.table_id == row.table_id, p.ref == picture["ref"])
                ).scalar()
                if jpeg is not None and size < 500_000_000:
                    size += len(jpeg)
                    z.writestr(f"{name}-{picture['role']}.jpg", jpeg)
                    labels.append(_label(f"{name}-{picture['role']}.jpg", row, by_round[row.round_id]))
        z.writestr("labels.jsonl", "".join(json.dumps(line) + "\n" for line in labels))
    desk.note(request, caller, "findings.export", f"{len(rows)} findings")
    return _file(out.getvalue(), "application/zip", "pitwatch-cases.zip")


def _label(file: str, row: Any, record: Mapping[str, Any]) -> dict[str, Any]:
    """What a picture shows as far as the table read it, and whether people say that it read rightly."""
    hands = [h for h in record.get("hands", []) if (h.get("seat"), h.get("hand")) == (row.seat, row.hand)]
    hand = hands[0] if hands else {}
    return {
        "file": file,
        "finding": row.uid,
        "kind": row.kind,
        "verdict": row.status,
        "reason": row.verdict_reason,
        "seat": row.seat,
        "hand": row.hand,
        "cards": record.get("dealer") if row.seat == 0 else hand.get("cards"),
        "wager": hand.get("wager"),
    }


@router.get("/findings/{finding_id}")
def finding(request: Request, caller: AsViewer, finding_id: Id) -> dict[str, Any]:
    """One finding with all that belongs to it."""
    desk = desk_of(request)
    with desk.read() as db:
        out = _whole(db, desk, finding_id)
    desk.note(request, caller, "finding.view", f"finding {finding_id}")
    return out


def _row(db: Any, finding_id: int) -> Any:
    f = schema.findings
    return found(db.execute(select(f).where(f.c.id == finding_id)).first(), "finding")


def _whole(db: Any, desk: Desk, finding_id: int) -> dict[str, Any]:
    f, r, th, un = schema.findings, schema.rounds, schema.thread.c, schema.unverified.c
    house = desk.house(db)
    row = _row(db, finding_id)
    names = Names(db)
    (shown,) = show_findings(db, [row], house, names)
    thread = db.execute(
        select(th.at, th.who, th.what, th.text).where(th.finding_id == finding_id).order_by(th.id)
    )
    shown["thread"] = [{"at": to_text(x.at), "by": x.who, "what": x.what, "text": x.text} for x in thread]
    shown |= {"in_round": [], "notation": None, "unverified": []}
    if row.round_id is not None:
        played = db.execute(select(r).where(r.c.id == row.round_id)).one()
        others = db.execute(
            select(f).where(f.c.round_id == row.round_id, f.c.id != finding_id).order_by(f.c.t, f.c.id)
        ).all()
        shown["in_round"] = show_findings(db, others, house, names)
        shown["notation"] = notation(next(iter(bodies(db, [played]).values()), {})) or None
        doubts = db.execute(
            select(un.seat, un.hand, un.why).where(
                un.boot_id == played.boot_id, un.t >= played.t_start, un.t <= played.t_end + 8
            )
        )
        shown["unverified"] = [dict(x._mapping) for x in doubts]
    return shown


def _checked(body: _Verdict) -> tuple[str | None, str]:
    text = clean(body.note, 2000).strip()
    if body.verdict != "dismissed":
        return None, text
    if body.reason not in REASONS:
        raise Problem(422, "invalid", "To dismiss a finding, say why.", "reason")
    if body.reason == "other" and not text:
        raise Problem(422, "invalid", "Say in a note what the other reason is.", "note")
    return body.reason, text


@router.post("/findings/verdicts")
def verdicts(request: Request, caller: AsSupervisor, body: _Verdicts) -> dict[str, Any]:
    """Judge several at once."""
    desk = desk_of(request)
    if not 1 <= len(body.ids) <= 100:
        raise Problem(422, "invalid", "Judge 1 to 100 findings at once.", "ids")
    reason, text = _checked(body)
    with desk.noted(request, caller) as (db, noted):
        done = judge(db, body.ids, caller, body.verdict, reason, text)
        for one in done:
            noted(f"finding.{body.verdict}", f"finding {one}", reason=reason, note=text)
    if body.verdict == "confirmed":
        desk.ask_for_evidence(findings=done)
    with desk.read() as db:
        f = schema.findings
        rows = db.execute(select(f).where(f.c.id.in_(done)).order_by(f.c.id)).all()
        return {"items": show_findings(db, rows, desk.house(db))}


@router.post("/findings/{finding_id}/verdict")
def verdict(request: Request, caller: AsSupervisor, finding_id: Id, body: _Verdict) -> dict[str, Any]:
    """Confirm, dismiss with a reason, or open again."""
    desk = desk_of(request)
    reason, text = _checked(body)
    with desk.noted(request, caller) as (db, noted):
        _row(db, finding_id)
        if not judge(db, [finding_id], caller, body.verdict, reason, text, body.version):
            raise Problem(409, "conflict", "Somebody else has changed this finding meanwhile.")
        noted(f"finding.{body.verdict}", f"finding {finding_id}", reason=reason, note=text)
    if body.verdict == "confirmed":
        desk.ask_for_evidence(findings=[finding_id])
    with desk.read() as db:
        return _whole(db, desk, finding_id)


@router.post("/findings/{finding_id}/assign")
def assign(request: Request, caller: AsSupervisor, finding_id: Id, body: _Assign) -> dict[str, Any]:
    """Give a finding to somebody, or to nobody."""
    desk = desk_of(request)
    f, u = schema.findings, schema.users.c
    with desk.noted(request, caller) as (db, noted):
        _row(db, finding_id)
        name = "nobody"
        if body.user is not None:
            known = select(u.name).where(u.id == body.user, u.disabled.is_(False))
            name = found(db.execute(known).scalar(), "person")
        db.execute(
            update(f).where(f.c.id == finding_id).values(assigned_to=body.user, version=f.c.version + 1)
        )
        say(db, finding_id, caller, "assigned", name)
        tell(db, [finding_id])
        noted("finding.assign", f"finding {finding_id}", to=name)
    with desk.read() as db:
        return _whole(db, desk, finding_id)


@router.post("/findings/{finding_id}/notes")
def add_note(request: Request, caller: AsSupervisor, finding_id: Id, body: _Note) -> dict[str, Any]:
    """Write something down about a finding."""
    desk = desk_of(request)
    text = body.text.replace("\x00", " ").encode("utf-8", "replace").decode().strip()
    if not 1 <= len(text) <= 2000:
        raise Problem(422, "invalid", "A note has 1 to 2,000 characters.", "text")
    f = schema.findings
    with desk.noted(request, caller) as (db, noted):
        _row(db, finding_id)
        db.execute(update(f).where(f.c.id == finding_id).values(notes=f.c.notes + 1, version=f.c.version + 1))
        say(db, finding_id, caller, "note", text)
        tell(db, [finding_id])
        noted("finding.note", f"finding {finding_id}")
    with desk.read() as db:
        return _whole(db, desk, finding_id)


@router.get("/findings/{finding_id}/case.jsonl")
def case_file(request: Request, caller: AsSupervisor, finding_id: Id) -> Response:
    """The finding's round as a test case."""
    desk = desk_of(request)
    with desk.read() as db:
        row = _row(db, finding_id)
        if row.round_id is None:
            raise Problem(409, "conflict", "The round of this finding is not over yet.")
        text = _case(db, row)
    desk.note(request, caller, "finding.export", f"finding {finding_id}")
    return _file(text.encode(), "application/jsonl", f"finding-{finding_id}.jsonl")


def _case(db: Any, row: Any) -> str:
    f, r = schema.findings, schema.rounds
    played = db.execute(select(r).where(r.c.id == row.round_id)).one()
    own = db.execute(select(f).where(f.c.round_id == row.round_id).order_by(f.c.t, f.c.id)).all()
    note = f"round {played.number}, judged by people"
    return case_lines(header_of(db, row.table_id), events_of_round(db, played), list(own), note)


def _file(content: bytes, kind: str, name: str) -> Response:
    return Response(
        content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
