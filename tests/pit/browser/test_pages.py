"""The pages themselves: who may, an ended session, a broken connection, hostile names, every size, axe."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import delete, select
from tests.pit.played import said

from pitwatch.pit import schema
from pitwatch.pit.sql import writing

from .house import House, Person, begins, plays, table

HOSTILE = "<img src=x onerror=\"document.title='hurt'\">"
SIZES = {"phone": (390, 844), "laptop": (1440, 900), "wall": (1920, 1080)}
PLACES = {
    "#/floor": "$$('#tiles .tile').length >= 40",
    "#/tables/1": "$('#felt .seat') && $('.notation li')",
    "#/alerts": "$('#queue button')",
    "#/alerts/1": "$('#judge .sentence')",
    "#/rounds": "$('.rounds tbody tr')",
    "#/round/1": "$('#felt .seat')",
    "#/reports/dealer": "$('.chart svg')",
    "#/reports/seat": "$('.chart svg')",
    "#/reports/precision": "$('.report .panel')",
    "#/settings": "$('.form .shift')",
    "#/accounts": "$('.accounts tbody tr')",
    "#/audit": "$('.log tbody tr')",
    "#/password": "$('.form input')",
}
AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")

# the store makes no difference here; `test_work` runs over both
pytestmark = pytest.mark.parametrize("house", ["sqlite"], indirect=True, scope="module")


@pytest.fixture(scope="module", autouse=True)
def forty(house: House) -> None:
    """Forty tables, four of which have played."""
    tables = [table(f"BJ-{i:02}") for i in range(1, 40)] + [
        table(HOSTILE, site="<script>alert(1)</script>".replace("/", "|"))
    ]
    house.publish([m for p in tables for m in begins(p)])
    house.publish([m for p in (*tables[:3], tables[-1]) for m in plays(p)])


def test_wrong_words_are_said_plainly(person: Person) -> None:
    person.browser._call("Network.clearBrowserCookies")
    person.open()
    person.sign_in("Ann", "something else entirely")
    person.see("$('.login .error:not([hidden])')?.textContent.length > 5")
    person.sign_in("Ann")
    person.see("$('#tiles')")


def test_a_deep_link_waits_for_the_sign_in(person: Person) -> None:
    person.browser._call("Network.clearBrowserCookies")
    person.open()
    person.ask("location.hash = '#/reports/table?days=30'")
    person.see("$('.login form') && location.hash.startsWith('#/login')")
    person.sign_in("Vic")
    person.see("location.hash === '#/reports/table?days=30' && $('.report')")


def test_roles(person: Person) -> None:
    person.begin("Vic")
    person.go("#/alerts", "$('#judge [data-do=confirm]')")
    assert person.ask("$('#judge [data-do=confirm]').disabled")
    person.keys("c", "d")
    assert person.ask("$('dialog[open]')") is None
    for place in ("settings", "accounts", "audit"):
        person.go(
            f"#/{place}",
            "$('#view [role=alert]')?.textContent.includes('administrators')",
        )
    person.click("#menu button")
    assert "Settings" not in person.text("#menu-list")
    person.begin("Ann")
    person.click("#menu button")
    assert "Settings" in person.text("#menu-list")
    person.go("#/accounts", "$$('.accounts tbody tr').length === 4")


def test_an_ended_session_comes_back_to_where_one_was(person: Person, house: House) -> None:
    person.begin("Sam")
    person.go("#/alerts?severity=alert", "$('#judge [data-do=confirm]')")
    here = person.ask("location.hash")
    with writing(house.engine) as db:
        db.execute(delete(schema.sessions))
    person.keys("c")
    person.see("$('.login .expired')")
    person.sign_in("Sam")
    person.see("$('#judge [data-do=confirm]')")
    assert person.ask("location.hash") == here


def test_a_broken_connection_is_said_and_mended(person: Person, house: House) -> None:
    person.begin("Vic")
    person.see("$('#live').dataset.state === 'live'")
    house.stop()
    person.see("!$('#connection').hidden && $('#connection').textContent.includes('lost')")
    late = table("BJ-99", ago=30)
    house.publish(begins(late))
    house.start()
    person.see("$('#live').dataset.state === 'live'")
    person.see("$('#connection').textContent.includes('Connected again') || $('#connection').hidden")
    person.see("$$('#tiles .name').some((n) => n.textContent === 'BJ-99')")


def test_hostile_names_are_text(person: Person) -> None:
    person.begin("Ann")
    person.see(f"$$('#tiles .name').some((n) => n.textContent === {HOSTILE!r})")
    person.ask("$$('#tiles .tile').find((t) => t.textContent.includes('img src')).firstElementChild.click()")
    person.see("$('h1')?.textContent.includes('<img src=x')")
    for place, ready in PLACES.items():
        person.go(place, ready)
        assert person.ask("$('#view img[src=x], #view script')") is None
        assert "hurt" not in person.ask("document.title").split(" · ")[0].replace(HOSTILE, "")
    person.go("#/%E0%A4%A/<b>", "$('#view [role=alert]')")
    assert not [m for m in person.browser.messages if "Content Security" in m]


def shown(element: str) -> str:
    """That an element has the hostile text as text."""
    return f"{element}?.textContent.includes({HOSTILE!r})"


def test_hostile_values_are_text(person: Person, house: House) -> None:
    evil = table("BJ-66", ago=60)
    place = {"site": evil.site, "table": evil.table, "boot": evil.boot}
    finding = {"t": 9.0, "kind": "paid_short", "seat": 1, "hand": 0, "severity": "alert", "text": HOSTILE}
    finding |= {"expected": HOSTILE, "observed": f"javascript:{HOSTILE}", "rule": HOSTILE, "reason": HOSTILE}
    hand = {"seat": 1, "hand": 0, "cards": ["Ah", "Kd"], "wager": 500, "payout": 500, "outcome": HOSTILE}
    hand["decisions"] = [HOSTILE]
    played = {"round": 1, "t_start": 1.0, "t_end": 9.5, "hands": [hand], "dealer": ["9c", None]}
    seen = {"type": "card", "t": 2.0, "seat": 1, "card": "Ah", "face": "up", "note": HOSTILE}
    felt = {"phase": HOSTILE, "round": 1, "hands": [{"seat": 1, "total": HOSTILE, "status": HOSTILE}]}
    health = {"notice": HOSTILE, "broker_status": HOSTILE, "interval": 600.0, "header": {"rules": HOSTILE}}
    house.publish(
        [
            evil.availability("online", 0),
            said("event", {"type": "dealer", "t": 0.5, "id": HOSTILE}, 1, **place),
            said("event", seen, 2, **place),
            said("finding", finding | {"evidence": [HOSTILE, "../x"]}, 3, **place),
            said("round", played | {"findings": [finding]}, 4, **place),
            said("unverified", {"why": HOSTILE, "t": 9.0, "seat": 1, "hand": 0}, 5, **place),
            said("state", felt, 6, **place),
            said("health", health, 6, **place),
        ]
    )
    person.begin("Ann")
    person.see(f"$$('#tiles .tile').some((t) => /BJ-66/.test(t.textContent) && {shown('t')})")
    f, t = schema.findings.c, schema.tables.c
    with house.engine.connect() as db:
        here = select(f.id, f.round_id, f.table_id).join(schema.tables, t.id == f.table_id)
        one = db.execute(here.where(t.name == "BJ-66")).one()
    for where, ready in (
        ("#/floor", "$('#tiles')"),
        (f"#/tables/{one.table_id}", "$('#felt .seat')"),
        (f"#/alerts/{one.id}?state=all", shown("$('#judge')")),
        (f"#/round/{one.round_id}", "$('#felt')"),
        (f"#/rounds?table={one.table_id}", "$('.rounds tbody tr')"),
        ("#/reports/dealer", shown("$('.report')")),
    ):
        person.go(where, ready)
        assert person.ask("$('#view img[src=x], #view script, a[href^=javascript]')") is None, where
        assert "hurt" not in person.ask("document.title"), where
    said_there = [m for m in person.browser.messages if "/api/me" not in m]
    assert not said_there


def test_what_matters_needs_no_scrolling(person: Person) -> None:
    person.begin("Ann")
    for name, (width, height) in SIZES.items():
        person.browser.resize(width, height)
        for place, ready in PLACES.items():
            person.go(place, ready)
            wide = person.ask("[$('html'), $('#view')].map((e) => e.scrollWidth - e.clientWidth)")
            assert max(wide) <= 0, f"{place} is too wide on the {name}"
        if name != "phone":
            person.go("#/floor", PLACES["#/floor"])
            person.see("$('#floor').scrollHeight <= $('#floor').clientHeight")
            person.go("#/alerts", PLACES["#/alerts"])
            person.see("$('#judge [data-do=confirm]')?.getBoundingClientRect().bottom <= innerHeight")
    person.browser.resize(1440, 900)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious(person: Person, dark: bool) -> None:
    person.browser.resize(1440, 900, dark=dark)
    person.begin("Ann")
    person.browser.evaluate(AXE + "; true")
    found = {}
    for place, ready in PLACES.items():
        person.go(place, ready)
        answer = person.ask(
            "axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) =>"
            " [v.impact, v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160))]))"
        )
        if serious := [v for v in answer if v[0] in ("serious", "critical")]:
            found[place] = serious
    person.browser.resize(1440, 900)
    assert not found


def test_keys_are_listed_and_the_theme_changes(person: Person) -> None:
    person.begin("Vic")
    person.keys("?")
    person.see("$('dialog.help[open] dl')")
    person.keys("Escape")
    person.see("!$('dialog[open]')")
    themes = set()
    for _ in range(3):
        person.keys("t")
        themes.add(person.ask("document.documentElement.dataset.theme"))
    assert themes == {"light", "dark"}


def test_nothing_is_made_of_markup_or_inline_code() -> None:
    import pitwatch.pit

    static = Path(pitwatch.pit.__file__).parent / "static"
    files = [p for p in static.rglob("*") if p.suffix in (".js", ".html")]
    assert files
    for path in files:
        text = path.read_text(encoding="utf-8")
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            " onclick=",
            " style=",
            "javascript:",
        ):
            assert word not in text, f"{path.name} uses {word}"
