"""Reports as JSON and CSV.

In: requests. Out: lines of `pitwatch.pit.reports`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request, Response

from pitwatch.pit.filters import Query
from pitwatch.pit.house_time import to_text
from pitwatch.pit.reports import FILTERS, KEYS, report, seats, series
from pitwatch.pit.round_lists import harmless
from pitwatch.pit.web.guard import AsViewer, Problem, desk_of

__all__ = ["router"]

router = APIRouter(prefix="/api/reports")


@router.get("/{name}")
def one_report(request: Request, caller: AsViewer, name: str) -> Any:
    """A report by its name, `.csv` behind it for a file."""
    desk = desk_of(request)
    by, dot, kind = name.partition(".")
    if by not in (*KEYS, "seat", "series") or (dot and kind != "csv"):
        raise Problem(
            404, "not_found", f"There is no such report; there are {', '.join(KEYS)}, seat, series."
        )
    with desk.read() as db:
        house = desk.house(db)
        known = (*FILTERS, "bucket") if by == "series" else FILTERS
        q = Query(request.query_params.multi_items(), known, house)
        if by == "series":
            items = series(db, q.word("bucket", ("hour", "day"), "hour"), q, house)
        else:
            items = seats(db, q) if by == "seat" else report(db, by, q)
    if kind == "csv":
        desk.note(request, caller, "report.export", by)
        return Response(
            _csv(items),
            media_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{by}.csv"'},
        )
    return {"items": items, "from": to_text(q.instant("from")), "to": to_text(q.instant("to"))}


def _csv(items: Sequence[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    if items:
        writer.writerow(list(items[0]))
    for item in items:
        flat = [v["name"] if isinstance(v, Mapping) else v for v in item.values()]
        writer.writerow([harmless(v) for v in flat])
    return out.getvalue()
