"""What the store forgets and what it never does; clips; who looked at what."""

from __future__ import annotations

import io
import zipfile

import pytest
from sqlalchemy import Engine, func, select, update

from pitwatch.pit import gaps, schema
from pitwatch.pit.clips import clip_ref, pictures_of_clip
from pitwatch.pit.gaps import look_for_gaps
from pitwatch.pit.ingest import Ingest
from pitwatch.pit.retention import Retention
from pitwatch.pit.sql import now, writing

from .pages import Page
from .played import JPEG, player, written

DAY = 86_400_000
CLIP = JPEG[:2] + b"\xff\xfe\x00\x0at=61.20" + JPEG[2:] + JPEG[:2] + b"\xff\xfe\x00\x0at=61.53" + JPEG[2:]


def rows(store: Engine, name: str) -> int:
    table = schema.metadata.tables[name]
    with store.connect() as db:
        return int(db.execute(select(func.count()).select_from(table)).scalar_one())


@pytest.fixture
def old(page: Page, store: Engine) -> Page:
    """A table whose rounds are 600 s old, and whose seqs are known to be complete."""
    p = player()
    done = written(store, p)
    look_for_gaps(store, done.boots)
    return page.sign_in()


def test_what_is_too_old_goes_and_what_is_held_stays(old: Page, store: Engine) -> None:
    every = old.json("/api/rounds")["items"]
    held = next(r for r in every if r["findings"])
    other = next(r for r in every if r["findings"] and r["id"] != held["id"])
    assert old.post(f"/api/rounds/{held['id']}/hold", {"held": True, "reason": "x"}).json()["held"]
    assert old.post(f"/api/findings/{other['findings'][0]['id']}/notes", {"text": "x"}).status_code == 200
    retention = Retention(store)
    assert retention.forget() == (0, 0)  # nothing is old yet
    before = old.json(f"/api/rounds/{held['id']}")
    with writing(store) as db:
        for table, columns in (
            (schema.rounds, ("started_at", "ended_at")),
            (schema.findings, ("at",)),
            (schema.pictures, ("at",)),
            (schema.items, ("at",)),
        ):
            db.execute(update(table).values({c: table.c[c] - 400 * DAY for c in columns}))
    pictures = rows(store, "pictures")
    assert retention.forget() == (0, pictures - len(held["findings"]))  # of the settings as they come
    assert old.send("PUT", "/api/settings", {"keep_rounds_days": 399}).status_code == 200
    assert retention.forget() == (len(every) - 1, 0)
    assert retention.forget() == (0, 0)
    assert [r["id"] for r in old.json("/api/rounds")["items"]] == [held["id"]]
    after = old.json(f"/api/rounds/{held['id']}")
    assert len(after["steps"]) == len(before["steps"]) > 5
    for f in after["all_findings"]:
        assert old.get(f["pictures"][0]["url"]).status_code == 200
    assert rows(store, "thread") == 0
    with store.connect() as db:
        assert {r for (r,) in db.execute(select(schema.hands.c.round_id).distinct())} == {held["id"]}
    # released, it goes as well; what went is not asked for again
    old.post(f"/api/rounds/{held['id']}/hold", {"held": False})
    assert retention.forget() == (1, len(held["findings"]))
    for name in ("rounds", "hands", "findings", "unverified", "pictures", "thread"):
        assert rows(store, name) == 0, name
    with store.connect() as db:
        boots = set(db.execute(select(schema.boots.c.id)).scalars())
    assert look_for_gaps(store, boots) == []


def test_what_is_still_missing_is_not_forgotten_over(
    page: Page, store: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from .played import everything

    p = player()
    told = [x for x in everything(p) if getattr(x, "seq", 0) != 3]
    done = Ingest(store).write(told)
    look_for_gaps(store, done.boots)
    with writing(store) as db:
        db.execute(update(schema.rounds).values(ended_at=now() - 900 * DAY))
    page.sign_in()
    page.send("PUT", "/api/settings", {"keep_rounds_days": 1})
    assert Retention(store).forget()[0] == 0
    monkeypatch.setattr(gaps, "now", lambda: now() + 60_000)
    assert [(w.first, w.last) for w in look_for_gaps(store)] == [(3, 3)]


@pytest.mark.parametrize("days", [-1, 40_000, 1.5, "7", None, True])
def test_days_to_keep_are_days(page: Page, days: object) -> None:
    page.sign_in()
    for key in ("keep_rounds_days", "keep_pictures_days"):
        assert page.send("PUT", "/api/settings", {key: days}).json()["error"]["code"] == "invalid"


def test_a_clip_is_single_pictures_with_their_times() -> None:
    shown = pictures_of_clip(CLIP)
    assert [t for t, _ in shown] == [61.2, 61.53]
    assert b"".join(j for _, j in shown) == CLIP
    for nonsense in (b"", b"\xff\xd8", b"\xff\xd9" * 5, b"\xff\xd8\xff\xfe\x00", JPEG[::-1]):
        assert all(j[:2] == b"\xff\xd8" and j[-2:] == b"\xff\xd9" for _, j in pictures_of_clip(nonsense))


def test_the_bundle_holds_the_clip_picture_by_picture(old: Page, store: Engine) -> None:
    finding = old.json("/api/findings")["items"][0]
    with writing(store) as db:
        db.execute(
            schema.pictures.insert().values(
                table_id=finding["table"]["id"], ref=clip_ref(finding["uid"]), at=now(), sha256="", jpeg=CLIP
            )
        )
    assert old.json(f"/api/findings/{finding['id']}")["clip"]["here"]
    with zipfile.ZipFile(io.BytesIO(old.get(f"/api/rounds/{finding['round_id']}/bundle.zip").content)) as z:
        names = [n.rpartition("/")[2] for n in z.namelist() if f"/clips/finding-{finding['id']}/" in n]
    assert names == ["000-61.20.jpg", "001-61.53.jpg"]


def test_who_looked_at_a_round_is_said(old: Page) -> None:
    finding = old.json("/api/findings")["items"][0]
    other = old.other().sign_in("viewer", "Vic")
    other.json(f"/api/findings/{finding['id']}")
    old.json(f"/api/rounds/{finding['round_id']}")
    seen = old.json(f"/api/rounds/{finding['round_id']}")["seen"]
    assert [s["by"]["name"] for s in seen] == ["admin", "Vic"]
    assert all(s["at"].endswith("Z") and s["by"]["id"] for s in seen)
    assert other.json(f"/api/rounds/{finding['round_id']}")["seen"]
