"""The wizard in a real browser on a phone's screen, end to end: pictures of a table in, a table's file out.

Its process is killed in the middle and goes on. With PITWATCH_SHOTS=FOLDER pictures of every step are kept:
on a phone and on a laptop, in light and dark.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from tests.setup.practice_pictures import render

from pitwatch.config import load_table
from pitwatch.sim.practice import PracticeTable

from .chromium import Chromium, find_chromium

pytestmark = pytest.mark.skipif(
    find_chromium() is None and "CI" not in os.environ,
    reason="no Chromium is installed; run: apt-get install chromium",
)
# a busy machine may take its time; nothing is waited for that has happened
PATIENT = float(os.environ.get("PITWATCH_PATIENT", "60"))
SHOTS = os.environ.get("PITWATCH_SHOTS")
PHONE = (390, 844)
LOOKS = {
    "phone": (*PHONE, False),
    "phone-dark": (*PHONE, True),
    "laptop": (1366, 768, False),
    "laptop-dark": (1366, 768, True),
}
RUNNING: list[subprocess.Popen[str]] = []


class Setup:
    """`pitwatch setup` in a process of its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        command = [sys.executable, "-m", "pitwatch", "setup", "--folder", str(folder), "--port", "0", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        RUNNING.append(self.process)
        assert self.process.stdout is not None
        self.said = []
        for line in self.process.stdout:
            self.said.append(line)
            if found := re.match(r"Page: (http://\S+)", line):
                self.url = found[1]
                return
        raise AssertionError(self.said)

    def state(self) -> dict[str, Any]:
        answer: dict[str, Any] = httpx.get(f"{self.url}/api/state", timeout=PATIENT).json()
        return answer

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


class Technician:
    """Whoever holds the phone: finds things by their words, taps the picture where something lies."""

    def __init__(self, browser: Chromium, table: PracticeTable) -> None:
        self.browser, self.table = browser, table
        self.shots = 0

    def see(self, name: str) -> None:
        if SHOTS:
            self.shots += 1
            for looks, (width, height, dark) in LOOKS.items():
                self.browser.resize(width, height, dark)
                time.sleep(0.6)
                self.browser.screenshot(Path(SHOTS, f"{self.shots:02}-{name}-{looks}.png"))
            self.browser.resize(*PHONE)
            time.sleep(0.3)

    def press(self, text: str) -> None:
        """Press the visible button that says so, once nothing else is going on."""
        find = (
            "[...document.querySelectorAll('#panel button, footer button, .tabs button')]"
            f".find(b => b.textContent.trim() === {json.dumps(text)} && b.offsetParent && !b.disabled)"
        )
        self.browser.wait_for(f"!document.body.classList.contains('working') && !!{find}", PATIENT)
        self.browser.evaluate(f"{find}.click()")

    def wait(self, script: str) -> Any:
        return self.browser.wait_for(f"!document.body.classList.contains('working') && ({script})", PATIENT)

    def step(self, name: str) -> None:
        self.wait(f"document.body.dataset.step === {json.dumps(name)}")

    def next_picture(self, name: str) -> None:
        """Page through the folder until it shows this picture."""
        for _ in range(3):
            if self.wait("pitwatchSetup.state.live.place").startswith(name):
                break
            self.press("Next picture ▶")
            time.sleep(0.1)
        assert self.wait("pitwatchSetup.state.live.place").startswith(name)

    def on_screen(self, px: Any) -> tuple[float, float]:
        """Where a pixel of the camera's picture is on the phone, CSS pixels."""
        x, y = (float(v) for v in px)
        at = self.browser.evaluate(
            "(() => { const r = document.getElementById('picture').getBoundingClientRect();"
            "const b = pitwatchSetup.view.box;"
            f"return [r.left + ({x} + .5 - b[0]) / b[2] * r.width,"
            f"r.top + ({y} + .5 - b[1]) / b[3] * r.height]; }})()"
        )
        return float(at[0]), float(at[1])

    def tap_felt(self, mm: tuple[float, float]) -> None:
        self.browser.tap(*self.on_screen(self.table.camera.project([mm])[0]))

    def fill(self, id_: str, text: str) -> None:
        self.browser.evaluate(
            f"(() => {{ const i = document.getElementById('{id_}'); i.value = {json.dumps(text)};"
            "i.dispatchEvent(new Event('change')); })()"
        )

    def refused(self) -> str:
        said = self.wait(
            "!document.getElementById('refused').hidden && document.getElementById('refused').textContent"
        )
        return str(said)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, PracticeTable]:
    folder = tmp_path_factory.mktemp("pictures")
    return folder, render(folder)


@pytest.fixture(scope="module")
def phone() -> Iterator[Chromium]:
    with Chromium(390, 844) as browser:
        browser.touch()
        yield browser


@pytest.fixture(autouse=True)
def _nothing_is_left_running() -> Iterator[None]:
    yield
    while RUNNING:
        process = RUNNING.pop()
        process.kill()
        process.communicate()


def test_from_pictures_to_a_judged_table(
    pictures: tuple[Path, PracticeTable], phone: Chromium, tmp_path: Path
) -> None:
    folder, table = pictures
    out = tmp_path / "BJ-07"
    setup = Setup(out)
    phone.open(setup.url)
    who = Technician(phone, table)

    # the camera, here a folder of pictures
    who.step("camera")
    who.see("camera")
    phone.evaluate("document.querySelector('#panel details').open = true")
    who.fill("source", str(folder / "missing"))
    who.press("Open")
    assert "does not exist" in who.refused()
    who.fill("source", str(folder))
    who.press("Open")
    who.wait("pitwatchSetup.state.live?.kind === 'folder' && document.getElementById('waiting').hidden")
    who.see("camera-chosen")
    who.press("Next")

    # an ordinary lens
    who.step("lens")
    who.see("lens")
    who.press("Skip: an ordinary lens")
    who.wait("pitwatchSetup.state.progress.lens?.skipped")
    who.press("Next")

    # the pose from cards, the printed circles and a tap
    who.step("pose")
    who.press("Find out")
    assert "nothing says where the table's middle is" in who.refused().lower()
    who.tap_felt((0, 0))
    who.wait("document.querySelector('.handle.edge')")
    assert phone.evaluate("document.getElementById('refused').hidden")
    who.see("pose-tapped")
    who.press("Find out")
    who.wait("pitwatchSetup.state.progress.pose")
    who.wait("document.querySelectorAll('.shapes .card').length >= 6")
    who.see("pose")
    phone.evaluate("document.getElementById('pose-result').scrollIntoView()")
    who.see("pose-figures")
    spread = {s["place"]: s["mm"] for s in setup.state()["progress"]["pose"]["spread"]}
    assert len(spread) == 7
    assert max(spread.values()) < 8

    # the device dies, and goes on where it was
    setup.end(signal.SIGKILL)
    phone.evaluate("pitwatchSetup.post('/api/step', { step: 'layout' })")
    assert "does not answer" in who.refused()
    setup = Setup(out)
    phone.open(setup.url)
    who.step("pose")
    assert phone.evaluate("pitwatchSetup.state.done.join()") == "camera,lens,pose,layout"
    who.press("Next")

    # the layout came with the circles; a spot is dragged off its print and back, by finger
    who.step("layout")
    who.wait("document.querySelectorAll('.handle').length >= 9 && document.getElementById('waiting').hidden")
    who.see("layout")
    felt = setup.state()["layout"]
    true = np.array(table.layout.spots)
    found = table.camera.to_table(np.array([_seen(phone, p) for p in felt["spots"]]))
    assert np.hypot(*(found - true).T).max() < 2.5
    start = who.on_screen(_seen(phone, felt["spots"][2]))
    for i, _ in enumerate(phone.dragging(start, (start[0] + 24, start[1] + 30))):
        if i == 4:
            assert phone.evaluate("!document.getElementById('loupe').hidden")
            who.see("layout-dragged")
    who.wait("pitwatchSetup.state.progress.layout.how === 'drawn'")
    moved = setup.state()["layout"]["spots"][2]
    assert np.hypot(*np.subtract(moved, felt["spots"][2])) > 30
    phone.drag((start[0] + 24, start[1] + 30), start)
    who.wait(f"Math.abs(pitwatchSetup.state.layout.spots[2][0] - {felt['spots'][2][0]}) < 4")
    # dragged beyond its neighbour: refused in one sentence, and back where it was
    phone.drag(start, who.on_screen(_seen(phone, [420, 560])))
    assert "wrong side" in who.refused()
    assert setup.state()["layout"]["spots"][2][0] < 0
    # other things on the felt
    phone.evaluate("document.querySelector('[data-area=rack]').click()")
    who.wait("!!pitwatchSetup.state.layout.areas?.rack")
    phone.evaluate("document.querySelector('[placeholder=\"21+3\"]').value = '21+3'")
    who.press("Add")
    who.wait("pitwatchSetup.state.layout.side['21+3']?.length === 6")
    who.see("layout-more")
    who.press("Next")

    # what can be judged
    who.step("check")
    who.next_picture("2-empty")
    who.press("Check now")
    who.wait(
        "pitwatchSetup.state.progress.check && document.querySelectorAll('#check tbody tr').length === 7"
    )
    who.see("check")
    rows = setup.state()["progress"]["check"]["rows"]
    assert {r["cards"] for r in rows} <= {"ranks and suits", "ranks"}
    assert all(r["in_view"] for r in rows)
    assert not any("another camera" in a for a in setup.state()["progress"]["check"]["advice"])
    who.press("Next")

    # the house; what will not do is said
    who.step("house")
    who.wait("!!document.querySelector('select option')")
    who.fill("name", "BJ 07")
    who.press("Next")
    assert "use letters, digits" in who.refused()
    who.fill("name", "BJ-07")
    who.fill("minimum", "500")
    who.fill("maximum", "100")
    who.press("Keep")
    assert "above" in who.refused()
    who.fill("minimum", "10")
    who.fill("maximum", "500")
    who.fill("mqtt", "mqtt://BJ-07:secret@127.0.0.1")
    who.press("Keep")
    assert "password" in who.refused()
    who.fill("mqtt", "mqtt://127.0.0.1:9")
    who.press("Try the broker")
    assert "does not answer" in who.refused()
    who.see("house")
    who.press("Next")

    # the test deal
    who.step("deal")
    who.wait("document.getElementById('deal').textContent === 'Lay the five of hearts on seat 3'")
    who.wait("document.getElementById('deal-said').textContent.includes('No card')")
    who.see("deal-asked")
    who.next_picture("3-deal")
    who.wait(
        "document.getElementById('deal-said').textContent.startsWith('Seen: the five of hearts on seat 3')"
    )
    who.wait("pitwatchSetup.state.progress.deals.length === 1")
    who.see("deal")
    who.press("Next")

    # the end
    who.step("finish")
    who.press("Write the table’s file")
    assert "your name is missing" in who.refused().lower()
    who.fill("who", "A. Technician")
    who.press("Write the table’s file")
    who.wait("!!document.querySelector('#files a')")
    who.see("finish")
    # what was refused on purpose, and the picture of a camera that is not there
    assert all("net::ERR_" in m or "422" in m or "/picture.jpg" in m for m in phone.messages)
    for width in (360, 390, 1280):
        phone.resize(width, 844)
        assert phone.evaluate("document.documentElement.scrollWidth") <= width
    who.see("finish-laptop")
    phone.resize(390, 844)

    config = load_table(out / "table.toml")
    assert config.table.name == "BJ-07"
    assert (config.table.minimum, config.table.maximum) == (1000, 50000)
    assert config.camera.source == str(folder)
    assert config.load_layout().areas["rack"]
    text = (out / "table.toml").read_text()
    assert "A. Technician" in text
    sheet = httpx.get(f"{setup.url}/commissioning.pdf").content
    assert sheet.startswith(b"%PDF")
    backup = httpx.get(f"{setup.url}/backup.zip").content
    assert setup.end() == 0

    # a swapped device goes on from the backup
    archive = tmp_path / "backup.zip"
    archive.write_bytes(backup)
    swapped = Setup(tmp_path / "swapped", "--restore", str(archive))
    phone.open(swapped.url)
    who.step("camera")
    assert phone.evaluate("pitwatchSetup.state.done.length") == 7
    phone.evaluate("pitwatchSetup.change('/api/camera/picture', { by: 1 })")
    who.press("Compare")
    assert "lies where it should" in who.wait("document.getElementById('stands')?.textContent")
    who.see("restored")
    swapped.end()


def _seen(phone: Chromium, mm: Any) -> list[float]:
    """Where the page draws a felt point, px of the camera's picture."""
    px: list[float] = phone.evaluate(f"pitwatchSetup.grid.toPixel({json.dumps(list(mm))})")
    back = phone.evaluate(f"pitwatchSetup.grid.toFelt({json.dumps(px)})")
    assert np.allclose(back, mm, atol=0.05)
    return px
