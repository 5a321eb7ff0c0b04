"""Findings, rounds and tables as they are looked for: filters, pages, totals, hostile values."""

from __future__ import annotations

import io
import json
import zipfile
from hashlib import sha256
from itertools import pairwise

import pytest
from sqlalchemy import Engine, select, update

from pitwatch.game.audit import run_audit
from pitwatch.game.notation import parse
from pitwatch.pit import schema
from pitwatch.pit.filters import COUNTED
from pitwatch.pit.sql import writing

from .pages import Page
from .played import player, tape, written

FOUND = sum(kind == "finding" for _, kind, _ in tape().items)


@pytest.fixture
def full(page: Page, store: Engine) -> Page:
    """Two tables of four rounds each, and an administrator."""
    written(store, player("BJ-07"), player("BJ-08"))
    return page.sign_in()


def test_tables_rounds_and_findings_are_listed_whole(full: Page) -> None:
    tables = full.json("/api/tables")
    assert tables["total"] == {"count": 2, "more": False}
    tile = tables["items"][0]
    assert (tile["state"], tile["rules"], tile["open_alerts"] + tile["open_notices"]) == (
        "online",
        "greektown",
        FOUND,
    )
    assert tile["hands_per_hour"] > 0
    rounds = full.json("/api/rounds")
    assert rounds["total"] == {"count": 8, "more": False}
    assert [r["ended_at"] for r in rounds["items"]] == sorted(
        (r["ended_at"] for r in rounds["items"]), reverse=True
    )
    for r in rounds["items"]:
        assert parse(r["notation"]).number == r["number"]
    findings = full.json("/api/findings")
    assert findings["total"] == {"count": 2 * FOUND, "more": False}
    for f in findings["items"]:
        assert f["round_id"]
        assert f["sentence"]
        assert f["pictures"][0]["here"]
        assert full.get(f["pictures"][0]["url"]).content[:2] == b"\xff\xd8"
    live = full.json(f"/api/tables/{tile['id']}")
    assert live["live"]["phase"]
    assert len(live["rounds"]) == 4


@pytest.mark.parametrize(
    "path",
    [
        "/api/rounds?",
        "/api/rounds?sort=oldest&",
        "/api/findings?",
        "/api/findings?sort=worst&",
        "/api/findings?sort=oldest&",
        "/api/findings/bundles?",
        "/api/findings/bundles?sort=worst&",
        "/api/tables?",
    ],
)
def test_pages_follow_each_other_without_a_gap_or_a_double(full: Page, path: str) -> None:
    whole = [x.get("id") or x["key"] for x in full.json(path + "limit=500")["items"]]
    assert len(whole) == len(set(whole)) > 1
    paged, following = [], ""
    while following is not None:
        part = full.json(f"{path}limit=1&cursor={following}")
        assert len(part["items"]) == 1
        paged += [x.get("id") or x["key"] for x in part["items"]]
        following = part["next"]
    assert paged == whole


@pytest.mark.parametrize("query", ["", "sort=worst", "sort=oldest", "severity=notice", "table=1", "seat=1"])
def test_bundles_are_all_findings_by_round(full: Page, query: str) -> None:
    every = full.json(f"/api/findings?limit=500&{query}")["items"]
    by_round: dict[int, set[int]] = {}
    for f in every:
        by_round.setdefault(f["round_id"], set()).add(f["id"])
    answer = full.json(f"/api/findings/bundles?limit=500&{query}")
    bundles = answer["items"]
    assert {b["round_id"]: {f["id"] for f in b["findings"]} for b in bundles} == by_round
    assert answer["total"] == {"count": len(by_round), "more": False}
    if query != "sort=worst":
        assert [b["at"] for b in bundles] == sorted(
            (b["at"] for b in bundles), reverse=query != "sort=oldest"
        )
    else:
        assert [b["findings"][0]["round_id"] for b in bundles] == list(
            dict.fromkeys(f["round_id"] for f in every)
        )


def test_tables_and_sites_are_asked_for_in_any_number(full: Page) -> None:
    written(full.engine, player("BJ-09"))
    with writing(full.engine) as db:
        db.execute(update(schema.tables).values(site="windsor").where(schema.tables.c.name == "BJ-09"))
    for query, tables in (
        ("table=1&table=2", {1, 2}),
        ("table=1&table=2&table=3", {1, 2, 3}),
        ("site=windsor", {3}),
        ("site=windsor&site=detroit", {1, 2, 3}),
        ("site=detroit&table=1&table=3", {1}),
        ("site=elsewhere", set()),
        ("table=77", set()),
    ):
        for kind in ("rounds", "findings"):
            items = full.json(f"/api/{kind}?limit=500&{query}")["items"]
            assert {x["table"]["id"] for x in items} == tables, (kind, query)


def test_seat_card_outcome_and_amount_are_those_of_one_hand(full: Page) -> None:
    every = [full.json(f"/api/rounds/{r['id']}") for r in full.json("/api/rounds")["items"]]
    hand = next(h for h in every[0]["record"]["hands"] if h["cards"])
    for query, fits in (
        (
            f"seat={hand['seat']}&card={hand['cards'][0]}&amount_min={hand['stake']}",
            lambda h: (
                h["seat"] == hand["seat"] and hand["cards"][0] in h["cards"] and h["stake"] >= hand["stake"]
            ),
        ),
        ("outcome=won&card=T", lambda h: h["outcome"] == "won" and any(c[0] == "T" for c in h["cards"])),
        ("amount_min=999999999", lambda h: False),
    ):
        got = {r["id"] for r in full.json(f"/api/rounds?{query}")["items"]}
        assert got == {r["id"] for r in every if any(fits(h) for h in r["record"]["hands"])}, query
    up = every[0]["record"]["dealer"][0]
    got = {r["id"] for r in full.json(f"/api/rounds?seat=0&card={up}")["items"]}
    assert got == {r["id"] for r in every if up in r["record"]["dealer"]}
    kind = next(f["kind"] for f in full.json("/api/findings")["items"])
    got = {r["id"] for r in full.json(f"/api/rounds?finding={kind}")["items"]}
    assert got == {r["id"] for r in every if any(f["kind"] == kind for f in r["findings"])}


def test_a_count_is_exact_up_to_ten_thousand(full: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    assert COUNTED == 10_000
    monkeypatch.setattr("pitwatch.pit.filters.COUNTED", 8)
    assert full.json("/api/rounds")["total"] == {"count": 8, "more": False}
    monkeypatch.setattr("pitwatch.pit.filters.COUNTED", 7)
    assert full.json("/api/rounds")["total"] == {"count": 7, "more": True}


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/rounds?nothing=1", 422, "invalid"),
        ("/api/rounds?seat=' OR 1=1", 422, "invalid"),
        ("/api/rounds?card=Zz", 422, "invalid"),
        ("/api/rounds?from=yesterday", 422, "invalid"),
        ("/api/rounds?limit=0", 422, "invalid"),
        ("/api/rounds?limit=99999999999999999999999", 422, "invalid"),
        ("/api/rounds?cursor=' OR 1=1", 400, "bad_cursor"),
        ("/api/rounds?cursor=WyJ4Il0=", 400, "bad_cursor"),
        ("/api/rounds?cursor=WzFd", 400, "bad_cursor"),
        ("/api/rounds?outcome=%00", 422, "invalid"),
        ("/api/rounds?number=99999999999", 422, "invalid"),
        ("/api/rounds/99999999999999999999999999", 404, "not_found"),
        ("/api/rounds/0", 404, "not_found"),
        ("/api/rounds/../../etc/passwd", 404, "not_found"),
        ("/api/evidence/1/..%2f..%2fetc%2fpasswd.jpg", 404, "not_found"),
        ("/api/evidence/1/none.jpg", 404, "not_found"),
        ("/api/findings?kind=<script>", 422, "invalid"),
        ("/api/findings?assigned=x", 422, "invalid"),
        ("/api/reports/salary", 404, "not_found"),
        ("/api/reports/seat", 422, "invalid"),
        ("/static/../app.py", 404, "not_found"),
        ("/static/%2e%2e/web/app.py", 404, "not_found"),
    ],
)
def test_a_bad_filter_is_told_cleanly(full: Page, path: str, status: int, code: str) -> None:
    answer = full.get(path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text
    assert "Traceback" not in answer.text
    assert "<script>" not in answer.text or "application/json" in answer.headers["content-type"]


def test_a_verdict_is_kept_once_noted_and_counted(full: Page) -> None:
    one, two = (f["id"] for f in full.json("/api/findings")["items"][:2])
    assert full.post(f"/api/findings/{one}/verdict", {"verdict": "dismissed"}).status_code == 422
    done = full.post(
        f"/api/findings/{one}/verdict", {"verdict": "dismissed", "reason": "misread_card", "version": 1}
    )
    assert done.json()["verdict"]["reason"] == "misread_card"
    late = full.post(f"/api/findings/{one}/verdict", {"verdict": "confirmed", "version": 1})
    assert late.json()["error"]["code"] == "conflict"
    kind = done.json()["kind"]
    assert full.post("/api/findings/verdicts", {"ids": [two], "verdict": "confirmed"}).json()["items"]
    assert full.post(f"/api/findings/{two}/notes", {"text": "asked the dealer <b>"}).json()["notes"] == 1
    me = full.json("/api/me")["user"]["id"]
    assert full.post(f"/api/findings/{two}/assign", {"user": me}).json()["assigned"]["id"] == me
    assert [f["id"] for f in full.json("/api/findings?assigned=me")["items"]] == [two]
    assert {f["id"] for f in full.json("/api/findings?status=dismissed&status=confirmed")["items"]} == {
        one,
        two,
    }
    thread = full.json(f"/api/findings/{two}")["thread"]
    assert [x["what"] for x in thread] == ["confirmed", "note", "assigned"]
    by_kind = {p["kind"]: p for p in full.json("/api/findings/precision")["items"]}
    judged = by_kind[kind]
    assert judged["dismissed"] == 1
    assert sum(p["confirmed"] for p in by_kind.values()) == 1
    actions = [a["action"] for a in full.json(f"/api/audit?what=finding {two}")["items"]]
    assert {"finding.confirmed", "finding.note", "finding.assign", "finding.view"} <= set(actions)
    back = full.post(f"/api/findings/{one}/verdict", {"verdict": "open"}).json()
    assert (back["status"], back["verdict"]) == ("open", None)


def test_a_round_is_replayed_step_by_step(full: Page) -> None:
    rounds = full.json("/api/rounds?sort=oldest&table=1")["items"]
    for n, item in enumerate(rounds):
        r = full.json(f"/api/rounds/{item['id']}")
        steps = r["steps"]
        assert len(steps) > 10
        assert all(a["t"] < b["t"] for a, b in pairwise(steps))
        assert steps[0]["live"]["dealer"]["cards"] == []
        # the last of those with the most cards: the hole card is turned by then
        most = max(reversed(steps), key=lambda s: len(s["live"]["dealer"]["cards"]))
        assert most["live"]["dealer"]["cards"] == r["record"]["dealer"]
        assert {i for s in steps for i in s["findings"]} == {f["id"] for f in r["all_findings"]}
        assert r["previous"] == (rounds[n - 1]["id"] if n else None)


def test_an_export_is_a_case_that_the_audit_agrees_with(full: Page, tmp_path) -> None:
    for f in full.json("/api/findings?table=1")["items"]:
        full.post(f"/api/findings/{f['id']}/verdict", {"verdict": "confirmed"})
        case = tmp_path / "case.jsonl"
        case.write_bytes(full.get(f"/api/findings/{f['id']}/case.jsonl").content)
        said: list[str] = []
        assert run_audit(case, said.append) == 1
        kinds = {json.loads(line)["kind"] for line in said if '"finding"' in line}
        expect = json.loads(case.read_text().splitlines()[-1])["expect"]
        assert kinds == {e["kind"] for e in expect}
    with zipfile.ZipFile(io.BytesIO(full.get("/api/findings/cases.zip").content)) as z:
        assert any(n.startswith("cases/") for n in z.namelist())
        pictures = {n for n in z.namelist() if n.startswith("confirmed/") and n.endswith(".jpg")}
        labels = [json.loads(line) for line in z.read("labels.jsonl").splitlines()]
    assert pictures
    assert {x["file"] for x in labels} == pictures
    for x in labels:
        assert x["verdict"] == "confirmed"
        assert x["cards"]
        assert x["seat"] == 0 or x["wager"]


def test_the_evidence_bundle_holds_what_its_hashes_say(full: Page) -> None:
    finding = full.json("/api/findings")["items"][0]
    round_id = finding["round_id"]
    assert full.post(f"/api/rounds/{round_id}/hold", {"held": True, "reason": "a dispute"}).json()["held"]
    assert full.json(f"/api/findings/{finding['id']}")["held"]
    assert [r["id"] for r in full.json("/api/rounds?held=true")["items"]] == [round_id]
    with zipfile.ZipFile(io.BytesIO(full.get(f"/api/rounds/{round_id}/bundle.zip").content)) as z:
        files = {n.partition("/")[2]: z.read(n) for n in z.namelist()}
    sums = dict(reversed(line.split("  ")) for line in files.pop("SHA256SUMS").decode().splitlines())
    assert sums == {n: sha256(c).hexdigest() for n, c in files.items()}
    assert any(n.startswith("pictures/") for n in files)
    assert parse(files["round.txt"].decode().strip())
    log = json.loads(files["log.json"])["audit"]
    assert {"round.hold", "finding.view", "round.bundle"} <= {a["action"] for a in log}


def test_rounds_are_exported_as_csv_and_parquet(full: Page, tmp_path) -> None:
    import pyarrow.parquet as pq

    lines = full.get("/api/rounds/export.csv?table=1").text.splitlines()
    hands = sum(r["hands"] for r in full.json("/api/rounds?table=1")["items"])
    assert len(lines) == 1 + hands
    path = tmp_path / "rounds.parquet"
    path.write_bytes(full.get("/api/rounds/export.parquet?table=1").content)
    table = pq.read_table(path)
    assert table.num_rows == hands
    assert table.column("stake").type == "int64"


def test_a_spreadsheet_runs_nothing(full: Page) -> None:
    with writing(full.engine) as db:
        db.execute(
            update(schema.tables).values(name='=HYPERLINK("http://evil")').where(schema.tables.c.id == 1)
        )
    rows = full.get("/api/rounds/export.csv?table=1").text.splitlines()[1:]
    assert rows
    assert all("\"'=HYPERLINK" in row for row in rows)


def test_reports_add_up(full: Page) -> None:
    rounds = full.json("/api/rounds")["items"]
    for by in ("dealer", "table", "shift", "day"):
        items = full.json(f"/api/reports/{by}")["items"]
        assert sum(i["rounds"] for i in items) == 8
        assert sum(i["hands"] for i in items) == sum(r["hands"] for r in rounds)
        assert sum(i["handle"] for i in items) == sum(r["handle"] for r in rounds)
        for i in items:
            assert i["error_low"] <= i["error_rate"] <= i["error_high"]
        assert full.get(f"/api/reports/{by}.csv").text.startswith("key,label")
    series = full.json("/api/reports/series?bucket=day")["items"]
    assert sum(i["rounds"] for i in series) == 8
    seats = full.json("/api/reports/seat?table=1")["items"]
    own = [
        h
        for r in full.json("/api/rounds?table=1")["items"]
        for h in full.json(f"/api/rounds/{r['id']}")["record"]["hands"]
    ]
    assert sum(s["handle"] for s in seats) == sum(h["stake"] or 0 for h in own if h["outcome"] != "dead")


def test_days_shifts_and_the_recorders_clock_are_the_houses(page: Page, store: Engine) -> None:
    page.sign_in()
    settings = {
        "time_zone": "America/Detroit",
        "gaming_day_start": "05:00",
        "shifts": [{"name": "early", "start": "05:00"}, {"name": "late", "start": "17:00"}],
        "recorder_offset": 2.5,
    }
    assert page.send("PUT", "/api/settings", settings).status_code == 200
    # 04:30 in Detroit, still the day before
    written(store, player(began=1_795_772_400.0 + 30 * 60 * 0))
    (first, *_) = page.json("/api/rounds?sort=oldest")["items"]
    with store.connect() as db:
        at = db.execute(
            select(schema.rounds.c.ended_at).where(schema.rounds.c.id == first["id"])
        ).scalar_one()
    from datetime import datetime, timedelta
    from zoneinfo import ZoneInfo

    local = datetime.fromtimestamp(at / 1000, ZoneInfo("America/Detroit"))
    assert first["gaming_day"] == str((local - timedelta(hours=5)).date())
    assert first["shift"] == ("early" if 5 <= local.hour < 17 else "late")
    ended, recorder = (
        datetime.fromisoformat(first[k].replace("Z", "+00:00")) for k in ("ended_at", "recorder_at")
    )
    assert recorder - ended == timedelta(seconds=2.5)
    assert page.json(f"/api/rounds?day={first['gaming_day']}&shift={first['shift']}")["items"]
    for wrong in ({"time_zone": "Mars/Olympus"}, {"shifts": 3}, {"gaming_day_start": "25:00"}, {"x": 1}):
        assert page.send("PUT", "/api/settings", wrong).status_code == 422


@pytest.mark.parametrize("few", [10_000, 2, 1])
def test_a_search_finds_the_same_whether_it_is_rare_or_common(
    full: Page, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    every = [full.json(f"/api/rounds/{r['id']}") for r in full.json("/api/rounds")["items"]]
    day = every[0]["gaming_day"]
    monkeypatch.setattr("pitwatch.pit.filters.COUNTED", few)

    def hands(r: dict) -> list[dict]:
        return [
            *r["record"]["hands"],
            {"seat": 0, "cards": r["record"]["dealer"], "stake": None, "outcome": ""},
        ]

    def found(query: str) -> list[int]:
        return [r["id"] for r in full.json(f"/api/rounds?limit=500&{query}")["items"]]

    first = hands(every[0])[0]
    a, b = first["cards"][:2]
    for query, fits in (
        (f"card={a}&card={b}", lambda h: {a, b} <= set(h["cards"])),
        (f"card={a}&seat={first['seat']}", lambda h: a in h["cards"] and h["seat"] == first["seat"]),
        (f"card={a[0]}", lambda h: any(c and c[0] == a[0] for c in h["cards"])),
        (
            f"card={a}&outcome={first['outcome']}",
            lambda h: a in h["cards"] and h["outcome"] == first["outcome"],
        ),
        ("outcome=blackjack", lambda h: h["outcome"] == "blackjack"),
        ("amount_min=2500", lambda h: h["stake"] is not None and h["stake"] >= 2500),
        (f"card={a}&day={day}", lambda h: a in h["cards"]),
        ("amount_min=2500&from=2020-01-01", lambda h: h["stake"] is not None and h["stake"] >= 2500),
        ("amount_min=2500&from=2090-01-01", lambda h: False),
    ):
        for more, here in (("", None), ("&table=1", 1)):
            expected = [
                r["id"] for r in every if here in (None, r["table"]["id"]) and any(fits(h) for h in hands(r))
            ]
            assert found(query + more) == expected, (query, more)
            total = full.json(f"/api/rounds?{query}{more}")["total"]
            assert total["more"] == (len(expected) > few), (query, more)
    kinds = {f["kind"] for r in every for f in r["all_findings"]}
    for kind in kinds:
        expected = [r["id"] for r in every if any(f["kind"] == kind for f in r["all_findings"])]
        assert found(f"finding={kind}") == expected
