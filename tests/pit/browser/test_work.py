"""A shift's work over both stores: see it come, judge it, find the round again, replay, export."""

from __future__ import annotations

import json

from sqlalchemy import select
from tests.mqtt.brokers import until

from pitwatch.mqtt.payloads import Message
from pitwatch.pit import schema

from .house import House, Person, begins, findings, jpeg, plays, table

ROW = "$$('#tiles .tile').length"


def test_from_the_table_to_the_verdict(person: Person, house: House) -> None:
    one, other = table("BJ-01"), table("BJ-02")
    first, *rest = findings(one)
    house.publish([*begins(one), *begins(other), *plays(one, 1, first - 1), *plays(other)])
    person.begin("Sam")
    person.see(f"{ROW} === 2")
    tile = "$$('#tiles .tile').find((t) => t.textContent.includes('BJ-01'))"
    person.see(f"{tile} && !{tile}.classList.contains('alert')")

    # it comes while one looks
    house.publish(plays(one, first))
    person.see(f"{tile}.classList.contains('alert') || {tile}.classList.contains('notice')")
    count = len(findings(other)) + len(rest) + 1
    person.see("$('#nav .badge')")

    # judged by keyboard alone
    person.keys("g", "a")
    person.see(f"$$('#queue button').length === {count}")
    person.see("$('#judge [data-do=confirm]')")
    assert person.text("#judge .sentence")
    person.see("$$('#judge .pictures img').some((i) => i.naturalWidth > 0)")
    person.keys("c")
    person.see(f"$$('#queue button').length === {count - 1}")
    person.see("$('#judge [data-do=dismiss]')")
    person.keys("d")
    person.see("$('dialog.ask[open] input[type=radio]')")
    person.keys("7", "Enter")  # another reason needs words
    person.see("$('dialog.ask .error:not([hidden])')")
    person.keys("2", "Enter")
    person.see(f"!$('dialog[open]') && $$('#queue button').length === {count - 2}")

    with house.engine.connect() as db:
        stored = schema.findings
        verdicts = db.execute(
            select(stored.c.status, stored.c.verdict_reason).where(stored.c.status != "open")
        ).all()
    assert sorted(verdicts) == [("confirmed", None), ("dismissed", "misread_chips")]

    # and taken back
    person.keys("3")
    person.see("$$('#queue button').length === 1 && $('#judge [data-do=reopen]')")
    person.keys("u")
    person.see("$('#judge [data-do=confirm]')")
    person.keys("1")
    person.see(f"$$('#queue button').length === {count - 1}")


def test_a_note_is_text_whatever_it_says(person: Person) -> None:
    person.begin("Sam")
    person.go("#/alerts", "$('#judge [data-do=note]')")
    person.keys("n")
    person.see("$('dialog.ask textarea')")
    person.fill("dialog.ask textarea", "<img src=x onerror='document.title=1'> called upstairs")
    person.click("dialog.ask button[type=submit]")
    person.see("$('#judge .history')?.textContent.includes('<img src=x onerror=')")
    assert person.ask("$('#judge .history img')") is None


def test_find_a_round_and_replay_it(person: Person, house: House) -> None:
    person.begin("Sam")
    person.go("#/rounds", "$$('.rounds tbody tr').length === 8")
    person.fill("form.search [name=card]", "zz")
    person.click("form.search button[type=submit]")
    person.see("$('.page .empty:not([hidden])')?.textContent.includes('zz is no card')")
    dealer = person.ask(
        "fetch('/api/rounds?limit=1').then((r) => r.json()).then((a) => a.items[0].dealer_cards.join(' '))"
    )
    person.fill("form.search [name=seat]", "0")
    person.fill("form.search [name=card]", dealer)
    person.click("form.search button[type=submit]")
    person.see("$$('.rounds tbody tr').length === 2")
    export = person.ask("fetch($('a[href*=\"export.csv\"]').href).then((r) => r.text())")
    assert len(export.splitlines()) > 2
    parquet = person.ask(
        "fetch($('a[href*=\"export.parquet\"]').href)"
        ".then((r) => r.arrayBuffer()).then((b) => String.fromCharCode(...new Uint8Array(b.slice(0, 4))))"
    )
    assert parquet == "PAR1"

    person.click(".rounds tbody a.stretch")
    person.see("$$('#felt .card').length > 2")
    person.keys("Home")
    person.see("$('.controls .num').textContent.startsWith('1 /')")
    before = person.ask("$$('#felt .card').length")
    person.keys(*["ArrowRight"] * 12)
    person.see("$('.controls .num').textContent.startsWith('13 /')")
    assert person.ask("$$('#felt .card').length") > before
    assert "step=13" in person.ask("location.hash")
    person.keys(" ")
    person.see("$('.controls .num').textContent.startsWith('14 /')")
    bundle = person.ask("fetch($('.head a[download]').href).then((r) => r.status)")
    assert bundle == 200


def test_the_felt_is_drawn_as_the_table_stands(person: Person, house: House) -> None:
    live = table("BJ-03", ago=60)
    house.publish([*begins(live), *plays(live, 1, 6)])
    person.begin("Vic")
    person.ask("$$('#tiles a').find((a) => a.textContent.startsWith('BJ-03')).click()")
    person.see("$('#felt .seat')")
    for last in range(7, live.last):
        kind, body, _ = live.item(last)
        if kind == "event" and body["type"] == "card":
            break
    house.publish(plays(live, 7, last))
    person.see("$$('#felt .card').length > 0")
    assert "Seat" in person.ask("$('#felt').getAttribute('aria-label')")


def test_a_clip_is_fetched_from_its_table_and_looked_at(person: Person, house: House) -> None:
    one = table("BJ-04", ago=60)
    first, *_ = findings(one)
    house.publish([*begins(one), *plays(one, 1, first)])
    uid = json.loads(one.item(first)[2].payload)["id"]
    f = schema.findings.c
    with house.engine.connect() as db:
        known = until(lambda: db.execute(select(f.id).where(f.uid == uid)).scalar() or db.rollback(), 60)
    person.begin("Sam")
    person.go(f"#/alerts/{known}", "$('#judge [data-do=clip]')")
    person.keys("v")
    person.see("$('dialog.clip')?.textContent.includes('Asked of the table')")
    clip = b"".join(
        jpeg(n > 1)[:2] + b"\xff\xfe\x00\x09" + f"t=6{n}.50".encode() + jpeg(n > 1)[2:] for n in range(3)
    )
    house.publish([Message(one.topics[f"evidence/clip-{uid}"], clip)])
    person.see("$('dialog.clip img').naturalWidth === 480 && $('dialog.clip input').max === '3'")
    person.keys("Home")
    person.see("$('dialog.clip .num').textContent === '−2.0 s'")
    person.keys("ArrowRight", "ArrowRight")
    person.see("$('dialog.clip .num').textContent === '0.0 s'")
    person.keys("Escape")
    person.see("!$('dialog[open]')")


def test_a_wall_screen_shows_the_floor_and_nothing_else(person: Person) -> None:
    person.begin("Wall")
    person.see("$$('#tiles .tile').length > 0 && $('#live').dataset.state === 'live'")
    assert person.ask("$$('#nav a').map((a) => a.textContent.trim())") == ["Floor"]
    assert person.ask("$$('#tiles a[href]').length") == 0
    person.go("#/alerts", "$('#view').textContent.includes('floor only')")
    assert not [m for m in person.browser.messages if "403" in m]
