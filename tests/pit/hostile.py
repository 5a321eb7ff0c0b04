"""What nobody means well by: values, publications, questions; and how it is seen that they did nothing.

Out: Hypothesis strategies, `watched` for what a process does meanwhile, `clean_answer` for what a page gets.
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote_from_bytes

import httpx
from hypothesis import strategies as st

from pitwatch.mqtt.payloads import Message
from pitwatch.pit import finding_lists, reports, round_lists

from .pages import Page
from .played import JPEG, player, said

NASTY = (
    "",
    "'; DROP TABLE items;--",
    '"><script>document.title=1</script>',
    "<img src=x onerror=alert(1)>",
    "{{7*7}} ${7*7} %s %n {0.__class__}",
    "../../../../etc/passwd",
    "..\\..\\boot.ini",
    "file:///etc/passwd",
    "javascript:alert(1)",
    '=HYPERLINK("http://evil","x")',
    "$(touch /tmp/hurt) `touch /tmp/hurt` ; touch /tmp/hurt",
    "a\x00b",
    "\ud800",
    "\u202etxt.exe",
    "\r\nSet-Cookie: pitwatch_session=x",
    "\r\n\r\nevent: bye\r\ndata: {}",
    "A" * 5000,
    "🂡" * 300,
    "__proto__",
    "NaN",
    "-1",
)
WORDS = st.one_of(st.sampled_from(NASTY), st.text(max_size=30))
NUMBERS = st.one_of(
    st.integers(-(10**40), 10**40),
    st.sampled_from((0, -1, 2**31, 2**53, 2**63, -(2**63) - 1, 10**400, True, False)),
    st.floats(),
    st.sampled_from((1e308, -1e308, 5e-324, 1e15, float("inf"))),
)
VALUES = st.recursive(
    st.one_of(st.none(), WORDS, NUMBERS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=6,
)

# -- what must not happen

_WATCHES: list[list[str]] = []
_TEMPORARY = tempfile.gettempdir()  # now, for it opens files when it is asked first
_WRITES = {"os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.chmod", "os.truncate"}
_RUNS = {"os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "pickle.find_class"}


@contextmanager
def watched() -> Iterator[list[str]]:
    """What this process does meanwhile that nothing from outside may make it do: writing files, programs."""
    seen: list[str] = []
    _WATCHES.append(seen)
    try:
        yield seen
    finally:
        _WATCHES.remove(seen)


def _hear(event: str, words: tuple[Any, ...]) -> None:
    if not _WATCHES:
        return
    told = ""
    if event in _WRITES or (event == "open" and isinstance(words[1], str) and set(words[1]) & set("wax+")):
        told = str(words[0])
    elif event in _RUNS:
        told = "runs " + str(words[:1])
    # an export is made in a file that goes when it is sent
    if told and told != _TEMPORARY and not told.startswith(f"{_TEMPORARY}/tmp"):
        for seen in _WATCHES:
            seen.append(f"{event} {told}")


sys.addaudithook(_hear)


def clean_answer(answer: httpx.Response) -> None:
    """No error of ours, nothing of what is inside, nothing that a browser would run."""
    assert answer.status_code < 500, (answer.request.url, answer.text[:300])
    kind = answer.headers.get("content-type", "").partition(";")[0]
    assert kind != "text/html" or answer.request.url.path == "/"
    assert answer.headers["x-content-type-options"] == "nosniff"
    text = answer.text if "json" in kind or "text" in kind else ""
    assert "Traceback" not in text
    assert "sqlalchemy" not in text.lower()
    assert "site-packages" not in text
    if kind == "application/json" and answer.content:
        content = json.loads(answer.content, parse_constant=_no_constant)
        if answer.status_code >= 400:
            assert set(content) == {"error"}
            assert set(content["error"]) <= {"code", "message", "field"}


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def everywhere(pit: Page) -> Iterator[str]:
    """Every address that shows what tables said."""
    yield from (
        "/api/tables",
        "/api/dealers",
        "/api/findings/precision?by=kind_table",
        "/api/findings/cases.zip",
    )
    yield from ("/api/findings/bundles?sort=worst", "/api/findings?sort=worst", "/api/reports/dealer.csv")
    yield from ("/api/rounds", "/api/rounds/export.csv", "/api/rounds/export.parquet", "/api/reports/series")
    for t in pit.json("/api/tables")["items"]:
        yield from (f"/api/tables/{t['id']}", f"/api/tables/{t['id']}/still.jpg")
        yield f"/api/reports/seat?table={t['id']}"
    for f in pit.json("/api/findings?limit=5")["items"]:
        yield f"/api/findings/{f['id']}"
        if f["round_id"] is not None:
            yield f"/api/findings/{f['id']}/case.jsonl"
        yield from (p["url"] for p in f["pictures"])
    for r in pit.json("/api/rounds?limit=5")["items"]:
        yield from (f"/api/rounds/{r['id']}", f"/api/rounds/{r['id']}/bundle.zip")


# -- what tables say

_NO_TOPIC = dict.fromkeys((*range(32), *range(0x7F, 0xA0), *range(0xD800, 0xE000), *b"/+#"))
NAMES = st.one_of(
    st.sampled_from([n for text in NASTY if (n := text.translate(_NO_TOPIC)[:100])]),
    st.text(
        st.characters(exclude_characters="/+#", exclude_categories=("Cc", "Cs")), min_size=1, max_size=30
    ),
)


def bodies() -> dict[str, list[dict[str, Any]]]:
    """What a real table says, by kind."""
    p = player()
    out: dict[str, list[dict[str, Any]]] = {}
    for seq in range(1, p.last + 1):
        kind, _, message = p.item(seq)
        out.setdefault(kind, []).append(json.loads(message.payload)[kind])
    out["state"] = [json.loads(p.state(n).payload)["state"] for n in (5, p.last // 2, p.last)]
    out["health"] = [json.loads(p.heart(p.last, p.last, 10.0, time.time()).payload)["health"]]
    out["unverified"] = [{"type": "unverified", "t": 9.0, "seat": 2, "hand": 0, "why": "nothing was seen"}]
    return {k: v[:40] for k, v in out.items()}


@st.composite
def twisted(draw: st.DrawFn, value: Any, depth: int = 0) -> Any:
    """A value, some of what is in it replaced, left out, or added to."""
    if isinstance(value, dict) and value and depth < 4:
        out = dict(value)
        for key in draw(st.lists(st.sampled_from(sorted(value)), max_size=3, unique=True)):
            what = draw(st.sampled_from(("other", "other", "inside", "inside", "gone", "more")))
            if what == "gone":
                del out[key]
            elif what == "more":
                out[draw(WORDS)] = draw(VALUES)
            else:
                out[key] = draw(VALUES if what == "other" else twisted(value[key], depth + 1))
        return out
    if isinstance(value, list) and value and depth < 4:
        changed = list(value)
        for _ in range(draw(st.integers(1, 2))):
            place = draw(st.integers(0, len(changed) - 1))
            changed[place] = draw(st.one_of(twisted(changed[place], depth + 1), VALUES))
        return changed
    return draw(VALUES)


BODIES = bodies()


def as_sent(message: Message) -> Message:
    """JSON that is JSON, and still has in it what becomes infinite."""
    payload = message.payload
    for name, number in ((b": -Infinity", b": -1e999"), (b": Infinity", b": 1e999"), (b": NaN", b": 1e999")):
        payload = payload.replace(name, number)
    return Message(message.topic, payload, message.retain)


@st.composite
def publications(draw: st.DrawFn) -> list[Message]:
    """What one hostile table says."""
    site, table = draw(NAMES), draw(NAMES)
    kinds = draw(st.lists(st.sampled_from(sorted(BODIES)), min_size=1, max_size=5))
    out = []
    for seq, kind in enumerate(kinds, 1):
        body = draw(twisted(draw(st.sampled_from(BODIES[kind]))))
        at = draw(st.one_of(st.none(), st.sampled_from((0.0, 1.0, 4e9, 7e9))))
        out.append(said(kind, body, seq, site=site, table=table, at=at))
    good = draw(st.sampled_from(BODIES["round"]))
    out.append(said("round", good, len(out) + 1, site=site, table=table))
    return [as_sent(m) for m in out]


REFERENCES = st.one_of(
    st.sampled_from(
        ("x", "../../etc/passwd", "..%2f..%2fx", "a/b", ".", "..", "-", "clip-x", "a" * 101, "x.jpg\x00.php")
    ),
    WORDS,
)
PICTURES = st.one_of(
    st.sampled_from(
        (
            b"",
            JPEG,
            b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
            b"GIF89a" + bytes(20),
            b"\x89PNG\r\n\x1a\n" + bytes(50),
            b"#!/bin/sh\ntouch /tmp/hurt\n",
            b"\xff\xd8<script>alert(1)</script>\xff\xd9",
            b"\xff\xd8" + bytes(4_000_000) + b"\xff\xd9",
            b"\xff\xd8" + bytes(3_999_000) + b"\xff\xd9",
            b"\xff\xd8\xff\xd9" * 2000,
            b"\xff\xd8\xff\xfet=nan\xff\xd9",
        )
    ),
    st.binary(max_size=200),
    st.binary(max_size=200).map(lambda b: b"\xff\xd8" + b + b"\xff\xd9"),
)

# -- what is asked

_SPAN = ("limit", "cursor", "from", "to")
LISTS: Mapping[str, tuple[str, ...]] = {
    "/api/tables": ("site", "name", "state", "level", "limit", "cursor"),
    "/api/rounds": round_lists.FILTERS,
    "/api/rounds/export.csv": round_lists.FILTERS,
    "/api/rounds/export.parquet": round_lists.FILTERS,
    "/api/findings": finding_lists.FILTERS,
    "/api/findings/bundles": finding_lists.FILTERS,
    "/api/findings/precision": ("by", "from", "to", "table", "kind"),
    "/api/findings/cases.zip": finding_lists.FILTERS,
    "/api/audit": ("who", "action", "what", *_SPAN),
    **{
        f"/api/reports/{by}": (*reports.FILTERS, "bucket")
        for by in (*reports.KEYS, "seat", "series", "day.csv")
    },
}
_DATES = ("0001-01-01", "9999-12-31", "9999-12-31T23:59:59", "0001-01-01T00:00:00+14:00", "2026-02-30")
_RIGHT = (
    "Ah",
    "A",
    "any",
    "true",
    "open",
    "worst",
    "oldest",
    "won",
    "blackjack",
    "1",
    "2",
    "kind_table",
    "hour",
)
ASKED = st.one_of(
    WORDS.map(lambda w: w.encode("utf-8", "surrogatepass")),
    st.binary(max_size=20),
    NUMBERS.map(lambda n: str(n)[:290].encode()),
    st.sampled_from((*_DATES, *_RIGHT, *_RIGHT)).map(str.encode),
)
CURSORS = st.one_of(
    st.one_of(st.lists(st.one_of(NUMBERS, WORDS, st.none()), max_size=5), VALUES).map(
        lambda v: base64.urlsafe_b64encode(json.dumps(v).encode())
    ),
    st.sampled_from((b"WzEsMV0=", b"WzFd", base64.urlsafe_b64encode(b"[" * 200), b"=", b"\xff")),
    ASKED,
)


@st.composite
def questions(draw: st.DrawFn) -> str:
    """An address with filters that nobody means well by."""
    path = draw(st.sampled_from(sorted(LISTS)))
    known = draw(st.lists(st.sampled_from(LISTS[path]), max_size=4))
    pairs = [(k.encode(), draw(CURSORS if k == "cursor" else ASKED)) for k in known]
    if draw(st.integers(0, 5)) == 0:
        pairs.append((draw(ASKED), draw(ASKED)))
    return path + "?" + "&".join(f"{quote_from_bytes(k)}={quote_from_bytes(v)}" for k, v in pairs)


PLACES = (
    *(f"/api/tables/{{}}{x}" for x in ("", "/still.jpg", "/dealer", "/still")),
    *(f"/api/findings/{{}}{x}" for x in ("", "/verdict", "/assign", "/notes", "/case.jsonl")),
    *(f"/api/rounds/{{}}{x}" for x in ("", "/hold", "/bundle.zip")),
    *("/api/evidence/1/{}", "/api/evidence/{}/x.jpg", "/api/dealers/{}", "/api/reports/{}"),
    *("/api/users/{}", "/api/tokens/{}", "/static/{}", "/{}", "/api/{}"),
)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")
SENT: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("POST", "/api/login"): ("name", "password"),
    ("POST", "/api/setup"): ("token", "name", "password"),
    ("POST", "/api/me/password"): ("old", "new"),
    ("PUT", "/api/settings"): (
        *("gaming_day_start", "time_zone", "shifts", "recorder_offset", "site_title"),
        *("keep_rounds_days", "keep_pictures_days"),
    ),
    ("POST", "/api/users"): ("name", "password", "role"),
    ("POST", "/api/dealers"): ("name", "badge"),
    ("PATCH", "/api/dealers/1"): ("name", "badge", "active"),
    ("POST", "/api/tables/1/dealer"): ("dealer",),
    ("POST", "/api/findings/verdicts"): ("ids", "verdict", "reason", "note"),
    ("POST", "/api/findings/{}/verdict"): ("verdict", "reason", "note", "version"),
    ("POST", "/api/findings/{}/assign"): ("user",),
    ("POST", "/api/findings/{}/notes"): ("text",),
    ("POST", "/api/rounds/{}/hold"): ("held", "reason"),
}
_LIKELY = st.one_of(
    VALUES,
    st.sampled_from(
        ("confirmed", "dismissed", "open", "other", "misread_card", "viewer", "a long enough one")
    ),
    st.sampled_from((True, False, 1, [1, 2], "06:00", "America/Detroit", 0.5)),
    st.lists(
        st.fixed_dictionaries({"name": WORDS, "start": st.sampled_from(("06:00", "7", ""))}), max_size=3
    ),
    st.text("é\u2028<}", min_size=1500, max_size=1900),
)


@st.composite
def posts(draw: st.DrawFn) -> tuple[str, str, bytes]:
    """A method, an address and a body."""
    place = draw(st.sampled_from(sorted(SENT)))
    body: Any = {k: draw(_LIKELY) for k in SENT[place] if draw(st.integers(0, 4))}
    twist = draw(st.integers(0, 8))
    if twist == 0:
        body[draw(WORDS)] = draw(VALUES)
    elif twist == 1:
        body = draw(VALUES)
    return *place, json.dumps(body).encode()
