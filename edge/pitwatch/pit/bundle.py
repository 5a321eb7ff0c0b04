"""The evidence bundle of a round: all that a dispute is settled by, in one zip with its hashes.

In: the store, a round. Out: bytes of a zip. `SHA256SUMS` is what `sha256sum -c` reads.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

from sqlalchemy import Connection, or_, select

from pitwatch.pit import schema
from pitwatch.pit.clips import clip_ref, pictures_of_clip
from pitwatch.pit.house_time import HouseTime, to_text
from pitwatch.pit.replaying import events_of_round, header_of
from pitwatch.pit.shown import Names, bodies, detail_of, evidence_of, notation, show_findings

__all__ = ["evidence_bundle"]

_README = """\
Evidence of round {number} at table {table}, site {site}.

  started      {started}
  ended        {ended} (UTC)
  recorder     {recorder} (the surveillance recorder's clock)
  gaming day   {day}, shift {shift}
  dealer       {dealer}
  made         {made} by {who}

  round.txt       the round as text: wagers, cards, decisions, payments; what is wrong stands behind "!"
  record.json     the same as the table sent it
  events.jsonl    what was seen, one observation a line; `pitwatch audit events.jsonl` judges it anew,
                  `pitwatch replay events.jsonl` shows it step by step
  findings.json   what was found, and what people said about it
  pictures/       before, during and after
  clips/          the seconds before each finding, picture by picture; a name ends with its time (t)
  log.json        who looked at this round and its findings, who judged, what was said
  SHA256SUMS      check with: sha256sum -c SHA256SUMS

Amounts are in cents; a net is the player's, a loss negative.
"""


def evidence_bundle(db: Connection, row: Any, house: HouseTime, who: str, at: int) -> bytes:
    """The bundle of a row of `rounds`; who makes it, and when (ms)."""
    names = Names(db)
    f, th, au, p = schema.findings, schema.thread.c, schema.audit.c, schema.pictures.c
    body = next(iter(bodies(db, [row]).values()), {})
    own = db.execute(select(f).where(f.c.round_id == row.id).order_by(f.c.t, f.c.id)).all()
    shown = show_findings(db, own, house, names)
    events = events_of_round(db, row)
    table = names.tables[row.table_id]
    files: dict[str, bytes] = {}
    files["README.txt"] = _README.format(
        number=row.number,
        table=table["name"],
        site=table["site"],
        started=to_text(row.started_at),
        ended=to_text(row.ended_at),
        recorder=to_text(house.recorder(row.ended_at)),
        day=row.day,
        shift=row.shift,
        dealer=names.dealers.get(row.dealer_id, {"name": "not signed in"})["name"],
        made=to_text(at),
        who=who,
    ).encode()
    files["round.txt"] = (notation(body) + "\n").encode()
    files["record.json"] = _json(body)
    lines = [header_of(db, row.table_id).to_json(), *(raw for _, _, raw in events)]
    files["events.jsonl"] = "".join(json.dumps(x, ensure_ascii=False) + "\n" for x in lines).encode(
        "utf-8", "replace"
    )
    files["findings.json"] = _json(shown)
    whats = [f"finding {x.id}" for x in own] + [f"round {row.id}"]
    looked = db.execute(
        select(au.at, au.who, au.address, au.action, au.what, au.detail)
        .where(au.what.in_(whats))
        .order_by(au.id)
    )
    said = db.execute(
        select(th.finding_id, th.at, th.who, th.what, th.text)
        .where(or_(th.finding_id.in_([x.id for x in own])))
        .order_by(th.id)
    )
    files["log.json"] = _json(
        {
            "audit": [{**x._mapping, "at": to_text(x.at), "detail": detail_of(x.detail)} for x in looked],
            "thread": [{**x._mapping, "at": to_text(x.at)} for x in said],
        }
    )
    refs = evidence_of([body for _, _, body in events], [x.body for x in own])
    if refs:
        found = db.execute(select(p.ref, p.jpeg).where(p.table_id == row.table_id, p.ref.in_(refs)))
        files |= {f"pictures/{ref}.jpg": jpeg for ref, jpeg in found}
    for x in own:
        clip = db.execute(select(p.jpeg).where(p.table_id == row.table_id, p.ref == clip_ref(x.uid))).scalar()
        for n, (t, jpeg) in enumerate(pictures_of_clip(clip) if clip else ()):
            files[f"clips/finding-{x.id}/{n:03d}{'' if t is None else f'-{t:.2f}'}.jpg"] = jpeg
    sums = "".join(f"{hashlib.sha256(c).hexdigest()}  {n}\n" for n, c in sorted(files.items()))
    files["SHA256SUMS"] = sums.encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, content in files.items():
            z.writestr(f"round-{row.id}/{name}", content)
    return out.getvalue()


def _json(value: object) -> bytes:
    return json.dumps(value, indent=1).encode()
