"""The page in a real browser: hands, totals, findings with their pictures, both schemes, by keyboard."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator

import httpx
import pytest

from pitwatch.errors import UserError
from pitwatch.monitor.board import FindingShown, PictureRef
from pitwatch.monitor.hub import Hub
from pitwatch.monitor.page import PageServer

from .chromium import Chromium, find_chromium
from .recorded import SIZE, STATE, jpeg, picture, recorded_hub

needs_browser = pytest.mark.skipif(
    find_chromium() is None and "CI" not in os.environ,
    reason="no Chromium is installed; run: apt-get install chromium",
)


@pytest.fixture
def hub() -> Hub:
    return recorded_hub()


@pytest.fixture
def server(hub: Hub) -> Iterator[PageServer]:
    with PageServer(hub) as server:
        yield server


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with Chromium() as browser:
        yield browser


@pytest.fixture
def browser(chromium: Chromium, server: PageServer) -> Chromium:
    chromium.messages.clear()
    chromium.resize(1600, 900)
    chromium.open(server.url)
    chromium.wait_for(
        "!!document.querySelector('#findings li') && !document.getElementById('picture').hidden"
    )
    return chromium


@needs_browser
def test_hands_totals_and_wagers_appear(browser: Chromium) -> None:
    rows = browser.evaluate("[...document.querySelectorAll('#hands tbody tr')].map(r => r.innerText)")
    table = "\n".join(" ".join(r.split()) for r in rows)
    assert "Dealer 6♦ face down 6" in table
    assert "Seat 1 K♠ A♥ 21, blackjack $25" in table
    assert "Seat 3, hand 1 8♥ 3♦ 10♦ 21, doubled $200" in table
    assert "Seat 3, hand 2 8♠ 7? 15 $100" in table
    assert "Seat 4 A♣ 6♣ soft 17 $12.50" in table
    assert "Seat 6 ? 4♦ ? ?" in table
    drawn = browser.evaluate("document.getElementById('felt').textContent")
    for text in ("soft 17", "$200 + $100", "insurance $5", "24 bust"):
        assert text in drawn
    assert browser.evaluate("document.querySelectorAll('#felt .hand.acts').length") == 1
    assert "Seat 1: K♠ A♥, 21" in browser.evaluate(
        "document.getElementById('felt').getAttribute('aria-label')"
    )
    assert browser.messages == []


@needs_browser
def test_a_finding_shows_what_was_owed_the_rule_and_both_pictures(browser: Chromium) -> None:
    found = "document.querySelector('#findings li[data-kind=paid_short]')"
    text = " ".join(browser.evaluate(f"{found}.innerText").split())
    assert "Alert Seat 1 Round 7 12:28" in text
    assert "Seat 1's blackjack was paid $25.00; 3:2 on $25.00 is $37.50." in text
    assert "Expected +$37.50" in text
    assert "Observed +$25" in text
    assert "Blackjack shall be paid at odds of 3 to 2." in text
    browser.evaluate(f"{found}.scrollIntoView()")
    browser.wait_for(f"[...{found}.querySelectorAll('img')].every(i => i.naturalWidth === 480)")
    assert browser.evaluate(f"[...{found}.querySelectorAll('button')].map(b => b.innerText)") == [
        "Before",
        "After",
    ]
    order = browser.evaluate("[...document.querySelectorAll('#findings > li')].map(l => l.dataset.kind)")
    assert order == ["deal_order", "paid_short", "wager_raised"]


@needs_browser
def test_the_picture_carries_its_marks(browser: Chromium) -> None:
    assert browser.evaluate("document.getElementById('picture').naturalWidth") == SIZE[0]
    labels = browser.evaluate("[...document.querySelectorAll('#overlay text')].map(t => t.textContent)")
    assert labels == ["K♠99%", "A♥97%", "7?81%", "?", "$2596%"]
    assert browser.evaluate("document.querySelectorAll('#overlay path.arm').length") == 1
    browser.evaluate("document.getElementById('marks').click()")
    assert browser.evaluate("document.getElementById('overlay').classList.contains('unseen')")


@needs_browser
def test_what_happens_next_arrives_by_itself(browser: Chromium, hub: Hub) -> None:
    dealt = dataclasses.replace(STATE.seats[4], hands=STATE.seats[0].hands)
    hub.show(dataclasses.replace(STATE, seats=(dealt,), phase="settling", round=8), picture((20, 20, 20)))
    hub.add_finding(
        FindingShown("f9", 760.0, 8, "paid_over", 5, 0, "alert", "Seat 5 was paid $10.00 too much.")
    )
    browser.wait_for("document.getElementById('phase').textContent === 'Round 8 · settling'")
    browser.wait_for("document.querySelectorAll('#findings > li').length === 4")
    assert "Seat 5" in browser.evaluate("document.querySelector('#hands tbody').innerText")
    assert (
        browser.evaluate("document.getElementById('announce').textContent")
        == "Seat 5 was paid $10.00 too much."
    )
    assert browser.evaluate("document.querySelectorAll('#felt .flagged').length") == 1


@needs_browser
def test_by_keyboard_alone_a_picture_is_enlarged_and_closed(browser: Chromium) -> None:
    browser.evaluate("document.querySelector('#findings .pictures button').focus()")
    browser.press("Enter", 13)
    browser.wait_for("document.getElementById('viewer').open")
    assert browser.evaluate("document.getElementById('viewer-text').textContent").startswith("Before: Seat 1")
    browser.press("Escape", 27)
    browser.wait_for("!document.getElementById('viewer').open")
    assert browser.evaluate("document.activeElement.matches('#findings .pictures button')")


@needs_browser
@pytest.mark.parametrize("width", [360, 400, 768, 1024, 1600, 3840])
def test_nothing_is_wider_than_the_screen(browser: Chromium, width: int) -> None:
    browser.resize(width, 800)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("document.getElementById('felt').getBoundingClientRect().height") > 120


CONTRAST = """
(() => {
  const channel = (v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const parse = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const e of document.querySelectorAll('body *:not(svg):not(svg *):not(.live *)')) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !e.getClientRects().length || e.closest('script, noscript, [hidden], .unseen')) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(`${e.tagName} ${e.textContent.slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return low;
})()
"""


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_text_has_contrast_in_both_schemes(browser: Chromium, dark: bool) -> None:
    browser.resize(400, 800, dark)
    browser.wait_for("document.getAnimations().every(a => a.playState !== 'running')")
    assert browser.evaluate(CONTRAST) == []


@needs_browser
def test_a_lost_connection_is_said_and_an_ended_watch_too(chromium: Chromium, hub: Hub) -> None:
    with PageServer(hub) as server:
        chromium.open(server.url)
        chromium.wait_for("!!document.querySelector('#findings li')")
    chromium.wait_for("document.getElementById('notice').textContent.startsWith('The watch has ended')")


def test_the_page_takes_nothing_from_outside(server: PageServer) -> None:
    page = httpx.get(server.url)
    assert page.headers["content-security-policy"].startswith("default-src 'self'")
    for path in ("index.html", "page.js", "felt.js", "findings.js", "overlay.js", "words.js", "page.css"):
        text = httpx.get(f"{server.url}/static/{path}").raise_for_status().text
        assert "https://" not in text
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_another_hosts_name_gets_nothing(server: PageServer) -> None:
    assert httpx.get(f"{server.url}/api/state", headers={"host": "evil.example"}).status_code == 400


def test_state_picture_and_evidence_over_http(server: PageServer) -> None:
    both = httpx.get(f"{server.url}/api/state").json()
    assert both["state"]["seats"][0]["hands"][0]["total"] == "21"
    assert [f["id"] for f in both["findings"]] == ["f1", "f2", "f3"]
    shown = httpx.get(f"{server.url}/picture.jpg")
    assert shown.headers["content-type"] == "image/jpeg"
    assert httpx.get(f"{server.url}/evidence/p1.jpg").content == jpeg((60, 90, 30))
    for missing in ("nope", "..%2Fstate", "a b"):
        assert httpx.get(f"{server.url}/evidence/{missing}.jpg").status_code == 404


def test_without_a_picture_there_is_none() -> None:
    with PageServer(Hub()) as server:
        assert httpx.get(f"{server.url}/picture.jpg").status_code == 404
        assert httpx.get(f"{server.url}/api/state").json()["findings"] == []


def test_two_pages_find_two_ports_and_a_taken_one_is_said() -> None:
    with PageServer(Hub()) as one, PageServer(Hub()) as two:
        assert one.url != two.url
        port = int(two.url.rpartition(":")[2])
        with pytest.raises(UserError, match=r"--port"):
            PageServer(Hub(), port=port)


def test_a_big_picture_is_sent_smaller_and_only_encoded_once() -> None:
    hub = Hub()
    hub.show(STATE, picture((9, 9, 9), (3840, 2160)))
    first = hub.picture()
    assert first is not None
    assert hub.picture(STATE.overlay.picture) is first


def test_findings_beyond_what_is_kept_are_counted() -> None:
    hub = Hub(keep=2)
    for i in range(5):
        hub.add_finding(
            FindingShown(str(i), 0, 0, "k", 1, 0, "alert", "x", pictures=(PictureRef("before", "p"),))
        )
    total, kept = hub.findings()
    assert total == 5
    assert [f["id"] for f in kept] == ["3", "4"]
    assert [f["id"] for f in hub.findings(4)[1]] == ["4"]
    assert hub.findings(5)[1] == []
