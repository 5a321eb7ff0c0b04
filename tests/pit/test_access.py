"""Who may: roles, sessions, tokens, forms from elsewhere, guessing of passwords."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select, update

from pitwatch.pit import accounts, schema
from pitwatch.pit.sql import now, writing

from .pages import PASSWORD, Page, page_over
from .played import player, written

SCREEN, VIEWER, SUPERVISOR, ADMINISTRATOR = range(4)
ROUTES = [
    ("GET", "/api/tables", None, SCREEN),
    ("GET", "/api/tables/1", None, VIEWER),
    ("GET", "/api/evidence/1/a.jpg", None, VIEWER),
    ("GET", "/api/rounds", None, VIEWER),
    ("GET", "/api/rounds/1", None, VIEWER),
    ("GET", "/api/rounds/export.csv", None, VIEWER),
    ("GET", "/api/findings", None, VIEWER),
    ("GET", "/api/findings/1", None, VIEWER),
    ("GET", "/api/settings", None, SCREEN),
    ("GET", "/api/people", None, VIEWER),
    ("GET", "/api/reports/table", None, VIEWER),
    ("GET", "/api/rounds/1/bundle.zip", None, SUPERVISOR),
    ("GET", "/api/findings/cases.zip", None, SUPERVISOR),
    ("POST", "/api/findings/1/verdict", {"verdict": "confirmed"}, SUPERVISOR),
    ("POST", "/api/findings/verdicts", {"ids": [1], "verdict": "confirmed"}, SUPERVISOR),
    ("POST", "/api/findings/1/notes", {"text": "x"}, SUPERVISOR),
    ("POST", "/api/findings/1/assign", {"user": None}, SUPERVISOR),
    ("POST", "/api/rounds/1/hold", {"held": False}, SUPERVISOR),
    ("POST", "/api/tables/1/dealer", {"dealer": None}, SUPERVISOR),
    ("POST", "/api/dealers", {"name": "Ann"}, SUPERVISOR),
    ("PUT", "/api/settings", {"site_title": "x"}, ADMINISTRATOR),
    ("GET", "/api/users", None, ADMINISTRATOR),
    ("POST", "/api/users", {"name": "x", "password": "long enough for it", "role": "viewer"}, ADMINISTRATOR),
    ("GET", "/api/tokens", None, ADMINISTRATOR),
    ("GET", "/api/audit", None, ADMINISTRATOR),
]


def test_every_route_lets_in_who_may_and_nobody_else(page: Page, store: Engine) -> None:
    written(store, player())
    pages = [page.other().sign_in(role) for role in accounts.ROLES]
    tokens = [page.token(role) for role in accounts.ROLES]
    for method, path, body, least in ROUTES:
        answer = page.send(method, path, body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "signed_out"), path
        for role, own in enumerate(pages):
            status = own.send(method, path, body).status_code
            assert (status == 403) == (role < least), (path, role, status)
            assert status < 500
            bare = page.client.request(method, path, json=body, headers=tokens[role])
            assert (bare.status_code == 403) == (role < least), path
    known = {r for _, r, _, _ in ROUTES}
    for route in page.app.routes:
        path = getattr(route, "path", "")
        if (
            path.startswith("/api/")
            and path not in known
            and path
            not in (
                "/api/login",
                "/api/setup",
            )
        ):
            for method in route.methods - {"HEAD"}:
                filled = path
                for name in ("table_id", "round_id", "finding_id", "user_id", "dealer_id", "token_id"):
                    filled = filled.replace("{" + name + "}", "1")
                assert page.send(method, filled.replace("{name}", "table"), {}).status_code == 401, path


def test_a_form_elsewhere_does_nothing(page: Page) -> None:
    page.sign_in()
    body = {"site_title": "mine now"}
    assert page.client.put("/api/settings", json=body).json()["error"]["code"] == "csrf"
    assert page.send("PUT", "/api/settings", body, Origin="https://evil.example").status_code == 403
    assert page.send("PUT", "/api/settings", body, Origin=page.url).status_code == 200
    page.csrf = "x" * 32
    assert page.send("PUT", "/api/settings", body).json()["error"]["code"] == "csrf"


def test_the_cookie_and_the_headers_protect_the_page(page: Page) -> None:
    page.sign_in()
    answer = page.client.post("/api/login", json={"name": "admin", "password": PASSWORD})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "secure" not in cookie
    proxy = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "10.0.0.7"}
    # a cookie for https only is not sent over http: that is another browser's
    login = {"name": "admin", "password": PASSWORD}
    answer = page.other().client.post("/api/login", json=login, headers=proxy)
    assert "secure" in answer.headers["set-cookie"].lower()
    assert "10.0.0.7" in {a["address"] for a in page.json("/api/audit")["items"]}
    for path in ("/", "/api/tables", "/api/nothing", "/healthz"):
        headers = page.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_a_session_ends(page: Page, store: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    page.sign_in("viewer")
    start = now()
    for minutes, status in ((29, 200), (58, 200), (89, 401)):
        monkeypatch.setattr(accounts, "now", lambda m=minutes: start + m * 60_000)
        monkeypatch.setattr("pitwatch.pit.web.guard.now", lambda m=minutes: start + m * 60_000)
        assert page.get("/api/me").status_code == status, minutes
    monkeypatch.undo()
    page.client.post("/api/login", json={"name": "viewe", "password": PASSWORD})
    with writing(store) as db:
        db.execute(update(schema.sessions).values(created_at=start - 13 * 3_600_000))
    assert page.get("/api/me").status_code == 401


def test_a_wall_screen_stays_signed_in_and_sees_the_floor_only(
    page: Page, store: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(store, player())
    other = page.other().sign_in()
    page.sign_in("screen")
    start = now()
    for days in (0.1, 5, 89):
        at = start + round(days * 86_400_000)
        monkeypatch.setattr(accounts, "now", lambda at=at: at)
        assert page.get("/api/tables").status_code == 200, days
    # another one's signing in sweeps out what has ended
    with writing(store) as db:
        accounts.begin_session(db, 1)
    assert page.get("/api/tables").status_code == 200
    monkeypatch.setattr(accounts, "now", lambda: start + 91 * 86_400_000)
    assert page.get("/api/tables").status_code == 401
    monkeypatch.undo()
    assert page.json("/api/me")["user"]["role"] == "screen"
    other.client.post("/api/login", json={"name": "admin", "password": PASSWORD})
    other.csrf = other.json("/api/me")["csrf"]
    assert "scree" not in {p["name"] for p in other.json("/api/people")["items"]}

    def heard(reader: Page, judged: str) -> set[str]:
        events: set[str] = set()
        with reader.client.stream("GET", "/api/stream") as answer:
            for line in answer.iter_lines():
                if line.startswith("event: "):
                    events.add(line[7:])
                if "hello" in events and judged:
                    body = {"verdict": judged}
                    assert other.post("/api/findings/1/verdict", body).status_code == 200
                    judged = ""
                if "finding" in events or "bye" in events or {"hello", "tables"} <= events:
                    break
        return events

    assert heard(page, "confirmed") == {"hello", "tables"}


def test_signing_out_a_new_password_and_an_ended_account_end_sessions(page: Page) -> None:
    page.sign_in()
    phone = page.other()
    phone.csrf = phone.client.post("/api/login", json={"name": "admin", "password": PASSWORD}).json()["csrf"]
    assert (
        phone.post("/api/me/password", {"old": "wrong wrong wrong", "new": "another long one"}).status_code
        == 401
    )
    assert phone.post("/api/me/password", {"old": PASSWORD, "new": "short"}).status_code == 422
    assert phone.post("/api/me/password", {"old": PASSWORD, "new": "another long one"}).status_code == 204
    assert page.get("/api/me").status_code == 401
    assert phone.get("/api/me").status_code == 200
    made = phone.post("/api/users", {"name": "Eve", "password": PASSWORD, "role": "administrator"}).json()
    eve = page.other()
    assert eve.client.post("/api/login", json={"name": "eve", "password": PASSWORD}).status_code == 200
    assert phone.send("PATCH", f"/api/users/{made['id']}", {"disabled": True}).status_code == 200
    assert eve.get("/api/me").status_code == 401
    assert eve.client.post("/api/login", json={"name": "eve", "password": PASSWORD}).status_code == 401
    own = phone.json("/api/me")["user"]["id"]
    last = phone.send("PATCH", f"/api/users/{own}", {"role": "viewer"})
    assert (last.status_code, last.json()["error"]["code"]) == (409, "conflict")
    assert (
        phone.post("/api/users", {"name": "ADMIN", "password": PASSWORD, "role": "viewer"}).status_code == 409
    )
    assert phone.post("/api/logout").status_code == 204
    assert phone.get("/api/me").status_code == 401


def test_passwords_cannot_be_guessed_at_will(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    page.sign_in()
    guess = {"name": "admin", "password": "a wrong password"}
    told = [page.client.post("/api/login", json=guess) for _ in range(7)]
    assert [t.status_code for t in told] == [401] * 5 + [429] * 2
    assert 0 < int(told[-1].headers["retry-after"]) <= 900
    # not even with the right one
    assert page.client.post("/api/login", json={"name": "admin", "password": PASSWORD}).status_code == 429
    nobody = [page.client.post("/api/login", json={"name": f"n{n}", "password": "x"}) for n in range(16)]
    assert {t.status_code for t in nobody[:15]} == {401}
    assert nobody[15].status_code == 429
    assert told[0].json() == nobody[0].json()  # nothing says which names there are
    later = now() + 16 * 60_000
    monkeypatch.setattr(accounts, "now", lambda: later)
    assert page.client.post("/api/login", json={"name": "admin", "password": PASSWORD}).status_code == 200


def test_nothing_secret_is_kept_as_it_is(page: Page, store: Engine) -> None:
    page.sign_in()
    bearer = page.token()["Authorization"].removeprefix("Bearer ")
    cookie = page.client.cookies["pitwatch_session"]
    with store.connect() as db:
        kept = "\n".join(
            str(row)
            for t in ("users", "sessions", "tokens", "audit")
            for row in db.execute(select(schema.metadata.tables[t]))
        )
    assert "$argon2id$" in kept
    for secret in (PASSWORD, bearer, cookie):
        assert secret not in kept


def test_the_first_account_is_made_with_the_link_from_the_terminal(store: Engine) -> None:
    with page_over(store, setup="the token") as page:
        assert page.json("/api/setup") == {"needed": True}
        body = {"token": "another", "name": "Ann", "password": PASSWORD}
        assert page.post("/api/setup", body).status_code == 403
        assert page.post("/api/setup", body | {"token": "the token", "password": "short"}).status_code == 422
        made = page.post("/api/setup", body | {"token": "the token"})
        assert made.json()["user"]["role"] == "administrator"
        assert page.get("/api/users").status_code == 200
        assert (
            page.other().post("/api/setup", body | {"token": "the token", "name": "Eve"}).status_code == 403
        )
        assert page.json("/api/setup") == {"needed": False}


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 422),
        (b"[]", {}, 422),
        (b'{"name": 3, "password": []}', {}, 422),
        (b'{"name": "a", "password": "b", "role": "administrator"}', {}, 422),
        (b'{"name": "\\u0000\\ud800", "password": "\\ud800"}', {}, 401),
        (b"x" * 200_000, {}, 413),
        (b'{"name": "' + b"a" * 50_000 + b'", "password": "x"}', {}, 401),
    ],
)
def test_malformed_bodies_are_told_cleanly(
    page: Page, body: bytes, headers: dict[str, str], status: int
) -> None:
    answer = page.client.post(
        "/api/login", content=body, headers={"Content-Type": "application/json", **headers}
    )
    assert (answer.status_code, "error" in answer.json()) == (status, True), answer.text
