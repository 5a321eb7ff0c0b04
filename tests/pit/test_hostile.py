"""Whatever is sent to a collector or asked of the pit: clean answers, and nothing outside the store."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, delete

from pitwatch.pit import schema
from pitwatch.pit.database import open_store
from pitwatch.pit.ingest import Ingest, link_late
from pitwatch.pit.received import Item, Picture, Word, read
from pitwatch.pit.sql import writing

from .conftest import STORES, _fresh
from .hostile import (
    ASKED,
    BODIES,
    METHODS,
    NAMES,
    NASTY,
    PICTURES,
    PLACES,
    REFERENCES,
    VALUES,
    as_sent,
    clean_answer,
    everywhere,
    posts,
    publications,
    questions,
    watched,
)
from .pages import Page, page_over
from .played import heard, player, said, written


def some(n: int) -> settings:
    """So many examples, the same each time."""
    quiet = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(
        max_examples=n, deadline=None, database=None, derandomize=True, suppress_health_check=quiet
    )


KEPT = {"users", "sessions", "tokens"}
INFINITE = float("inf")
ROUND, FINDING = BODIES["round"][0], BODIES["finding"][0]
STATE, HEALTH = BODIES["state"][1], BODIES["health"][0]
EVENTS = [("event", e) for e in BODIES["event"]]


class Errors(logging.Handler):
    """What the program itself says went wrong."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        why = record.exc_info[1] if record.exc_info else None
        self.said.append(f"{record.getMessage()}: {why!r}")


@pytest.fixture(scope="module", params=STORES)
def pit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A pit over each store, and its administrator."""
    url = f"sqlite:///{tmp_path_factory.mktemp('hostile') / 'pit.db'}"
    if request.param == "postgresql":
        url = _fresh(request.getfixturevalue("cluster"))
    engine = open_store(url)
    with page_over(engine) as page:
        yield page.sign_in()
    engine.dispose()


@pytest.fixture(scope="module")
def filled(pit: Page) -> Page:
    """With a table that has played."""
    emptied(pit.engine)
    written(pit.engine, player())
    return pit


@pytest.fixture(scope="module")
def errors() -> Iterator[list[str]]:
    """What the log says went wrong."""
    handler = Errors()
    logger = logging.getLogger("pitwatch")
    logger.addHandler(handler)
    yield handler.said
    logger.removeHandler(handler)


def emptied(engine: Engine) -> None:
    """Forget all but who may."""
    with writing(engine) as db:
        for table in reversed(schema.metadata.sorted_tables):
            if table.name not in KEPT:
                db.execute(delete(table))


def shown_cleanly(pit: Page, got: list[Item | Word | Picture], errors: list[str]) -> None:
    """What was read can be written, and every page that has it in it is as it should be."""
    with watched() as done:
        Ingest(pit.engine).write(got)
        link_late(pit.engine, 0)
        for path in everywhere(pit):
            clean_answer(pit.get(path))
    assert done == []
    assert errors == []


# -- what tables say


@some(20)
@given(publications())
def test_what_a_hostile_table_says_is_kept_or_not_and_shown_cleanly(
    pit: Page, errors: list[str], sent: list[Any]
) -> None:
    emptied(pit.engine)
    shown_cleanly(pit, [r for m in sent if (r := read(m.topic, m.payload)) is not None], errors)


def hand(**changed: Any) -> list[tuple[str, Any]]:
    """A round, one of whose hands is other."""
    body = deepcopy(ROUND)
    body["hands"][0].update(changed)
    return [("round", body)]


def named(**changed: Any) -> list[tuple[str, Any]]:
    """A finding, and a round that names it otherwise."""
    one = {"t": 1.0, "kind": "paid_short", "seat": 1, "hand": 0} | changed
    return [("finding", FINDING), ("round", ROUND | {"findings": [one]})]


def judged_by(**changed: Any) -> list[tuple[str, Any]]:
    """A round of a table whose header is other."""
    return [("health", HEALTH | {"header": HEALTH["header"] | changed}), *EVENTS[:30], ("round", ROUND)]


@pytest.mark.parametrize(
    "told",
    [
        hand(wager=10**400, stake=10**400, payout=-(10**400)),
        hand(wager=INFINITE),
        hand(wager=1e300, payout=True),
        hand(outcome="\ud800", decisions=["\ud800"], cards=["\ud800h", "Ah"]),
        hand(cards="AhKd"),
        hand(cards=None, decisions=5),
        hand(seat=-3, hand=10**30, outcome={}),
        [("round", ROUND | {"dealer": [{}, [], None, True, "A", "Ahh", "A\ud800"]})],
        [("round", ROUND | {"insurance": [{"seat": "x"}], "side_bets": [[]], "findings": {"a": 1}})],
        [EVENTS[3], ("round", ROUND | {"t_start": -9e9, "t_end": 9e9})],
        [EVENTS[3], ("round", ROUND | {"t_start": 9e9, "t_end": -9e9})],
        named(t=True),
        named(t=10**400),
        named(seat=10**30),
        named(hand=2**40),
        named(kind="\ud800"),
        named(kind="a\x00b"),
        [("finding", FINDING | {"confidence": INFINITE, "expected": "\ud800"})],
        [("finding", FINDING | {"confidence": 10**400, "expected": 10**400, "observed": -(10**400)})],
        [("finding", FINDING | {"evidence": ["\ud800", "../../x", "a" * 500, "-before"], "rule": "os.path"})],
        [("state", STATE | {"phase": "\ud800", "dealer": {"cards": ["\ud800\ud800", 3]}, "hands": [7, {}]})],
        [("health", HEALTH | {"fps": -1e999, "interval": True, "hands_judged": -5, "notice": "\ud800"})],
        judged_by(decks=-1, seats=10**9, minimum="x"),
        judged_by(decks=10**12),
        judged_by(rules={"profile": "../../etc/passwd", "blackjack_pays": "\ud800"}),
        [*(("event", e | {"card": "\ud800", "seat": 10**30}) for _, e in EVENTS[:20]), ("round", ROUND)],
        [("event", {"type": "dealer", "t": 1.0, "id": "<b>\x00\ud800" * 30}), ("round", ROUND)],
        [("unverified", {"why": "\ud800", "t": 10**400, "seat": 10**30}), ("round", ROUND)],
        [("round", ROUND | {"more": json.loads("[" * deep + "]" * deep)}) for deep in (25, 40, 300, 480)],
    ],
)
def test_what_once_was_too_much_is_shown_cleanly(pit: Page, errors: list[str], told: list[Any]) -> None:
    emptied(pit.engine)
    sent = [as_sent(said(kind, body, seq)) for seq, (kind, body) in enumerate(told, 1)]
    shown_cleanly(pit, [r for m in sent if (r := read(m.topic, m.payload)) is not None], errors)


TOPICS = st.sampled_from(("events", "rounds", "findings", "still", "evidence/x", "state", "health"))


@some(200)
@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(st.sampled_from(NASTY), max_size=6).map("/".join),
        st.tuples(NAMES, NAMES, TOPICS).map(lambda p: "pitwatch/" + "/".join(p)),
    ),
    st.one_of(
        st.binary(max_size=300),
        VALUES.map(lambda v: json.dumps(v).encode()),
        st.tuples(st.sampled_from(('{"a":', "[", '[{"":')), st.integers(1, 30_000)).map(
            lambda p: (p[0] * p[1]).encode()
        ),
    ),
    st.booleans(),
)
def test_any_topic_and_payload_is_something_or_nothing(topic: str, payload: bytes, retained: bool) -> None:
    got = read(topic, payload, retained)
    assert got is None or isinstance(got, (Item, Word, Picture))


@pytest.mark.parametrize("deep", [900, 940, 960, 970, 980, 990, 1000, 2000, 20_000])
def test_what_is_nested_too_deeply_is_nothing(deep: int) -> None:
    message = said("round", ROUND | {"extra": "deep"})
    for opened, closed in ((b"[", b"]"), (b'{"a":', b"}")):
        inside = opened * deep + b"1" + closed * deep
        assert read(message.topic, message.payload.replace(b'"deep"', inside)) is None


@some(15)
@given(NAMES, NAMES, st.lists(st.tuples(st.booleans(), REFERENCES, PICTURES), min_size=1, max_size=4))
def test_pictures_are_jpegs_of_a_bearable_size_in_the_store_or_nothing(
    pit: Page, errors: list[str], site: str, table: str, sent: list[tuple[bool, str, bytes]]
) -> None:
    emptied(pit.engine)
    finding = FINDING | {"evidence": [ref for _, ref, _ in sent]}
    got = [heard(said("finding", finding, site=site, table=table))]
    for still, ref, content in sent:
        topic = f"pitwatch/{site}/{table}/" + ("still" if still else f"evidence/{ref}")
        if (one := read(topic, content)) is not None:
            assert isinstance(one, Picture)
            assert len(one.jpeg) <= 4_000_000
            got.append(one)
    shown_cleanly(pit, got, errors)
    folder = Path(str(pit.engine.url.database)).parent
    if pit.engine.dialect.name == "sqlite":
        assert {p.name for p in folder.iterdir()} <= {"pit.db", "pit.db-wal", "pit.db-shm"}
    (t,) = pit.json("/api/tables")["items"]
    for _, ref, _ in sent:
        name = quote_from_bytes(ref.encode("utf-8", "replace"), safe="")
        for kind in ("jpg", "mjpeg"):
            answer = pit.get(f"/api/evidence/{t['id']}/{name}.{kind}")
            clean_answer(answer)
            if answer.status_code == 200:
                assert answer.headers["content-type"] in ("image/jpeg", "video/x-motion-jpeg")
                assert answer.content[:2] == b"\xff\xd8"


# -- what is asked


@some(150)
@given(questions())
def test_no_filter_or_cursor_breaks_a_list(filled: Page, errors: list[str], path: str) -> None:
    with watched() as done:
        clean_answer(filled.get(path))
    assert done == []
    assert errors == []


@some(100)
@given(st.sampled_from(METHODS), st.sampled_from(PLACES), ASKED, st.booleans())
def test_no_address_breaks_anything(
    filled: Page, errors: list[str], method: str, place: str, name: bytes, slash: bool
) -> None:
    path = place.format(quote_from_bytes(name, safe="/" if slash else ""))
    with watched() as done:
        answer = filled.send(method, path, {} if method in ("POST", "PUT", "PATCH") else None)
        if answer.status_code != 307:
            clean_answer(answer)
    assert done == []
    assert errors == []


@some(60)
@given(posts())
def test_nothing_that_is_posted_breaks_anything(
    filled: Page, errors: list[str], post: tuple[str, str, bytes]
) -> None:
    method, path, content = post
    finding = filled.json("/api/findings")["items"][0]
    one = finding["round_id"] if "rounds" in path else finding["id"]
    headers = {"X-CSRF-Token": filled.csrf, "Content-Type": "application/json"}
    with watched() as done:
        clean_answer(filled.client.request(method, path.format(one), content=content, headers=headers))
        # what was kept is shown
        for shown in ("settings", "audit", "dealers", f"rounds/{finding['round_id']}/bundle.zip"):
            clean_answer(filled.get(f"/api/{shown}"))
    assert done == []
    assert errors == []


def test_an_evidence_bundle_has_whatever_was_noted(filled: Page, errors: list[str]) -> None:
    finding = filled.json("/api/findings")["items"][0]
    for note in ("é" * 1900, "}" * 1900, '"\\' * 900, "x\u2028" * 900 + "x"):
        body = {"verdict": "dismissed", "reason": "other", "note": note}
        assert filled.post(f"/api/findings/{finding['id']}/verdict", body).status_code == 200
        clean_answer(filled.get(f"/api/rounds/{finding['round_id']}/bundle.zip"))
        assert filled.json("/api/audit?action=finding.dismissed")["items"][0]["detail"]["note"] == note
    assert errors == []


@pytest.mark.parametrize(
    "setting",
    [
        {"recorder_offset": "x"},
        {"recorder_offset": float("nan")},
        {"recorder_offset": 10**400},
        {"recorder_offset": []},
        {"site_title": "\ud800"},
        {"shifts": [{"name": "a\x00", "start": "06:00"}]},
        {"time_zone": "../../etc/passwd"},
        {"time_zone": "America"},
        {"keep_rounds_days": 1e999},
        {"\ud800": 1},
    ],
)
def test_a_setting_that_is_none_is_told_cleanly(
    filled: Page, errors: list[str], setting: dict[str, Any]
) -> None:
    headers = {"X-CSRF-Token": filled.csrf, "Content-Type": "application/json"}
    content = json.dumps(setting).encode()
    answer = filled.client.request("PUT", "/api/settings", content=content, headers=headers)
    assert answer.status_code == 422
    clean_answer(answer)
    assert errors == []


HEADERS = ("authorization", "cookie", "x-csrf-token", "origin", "x-forwarded-for", "x-forwarded-proto")


@some(60)
@given(
    st.sampled_from(HEADERS),
    st.one_of(
        st.binary(max_size=60),
        st.sampled_from((b"Bearer ", b"Bearer \xff\xfe", b"pitwatch_session=\xff", b"null", b"http://[::1")),
        st.just(b"pitwatch_session=" + b"A" * 3000),
    ),
    st.sampled_from(("/api/me", "/api/tables", "/api/logout", "/api/settings")),
)
def test_no_header_lets_anybody_in(
    filled: Page, errors: list[str], name: str, value: bytes, path: str
) -> None:
    value = bytes(b for b in value if b >= 32 and b != 127).strip()
    with httpx.Client(base_url=filled.url, verify=False) as stranger:
        headers = [(name.encode(), value)]
        answer = stranger.request("POST" if path == "/api/logout" else "GET", path, headers=headers)
    clean_answer(answer)
    assert answer.status_code in (400, 401, 403)
    assert errors == []


def test_too_much_at_once_is_refused(pit: Page) -> None:
    contents: list[Any] = [b"x" * 200_000, iter([b"x" * 70_000] * 3)]
    for content in contents:
        answer = pit.client.post("/api/login", content=content, headers={"X-CSRF-Token": pit.csrf})
        assert answer.status_code == 413
        clean_answer(answer)
