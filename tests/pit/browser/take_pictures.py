"""Pictures of every page of a real pit: `sim traffic` and one table that is really watched, a real Chromium.

Both themes, three sizes: a wall screen, a laptop, a phone. `--docs` writes those that people read about.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import cv2
import httpx
from tests.browser.chromium import Chromium
from tests.mqtt.brokers import until
from tests.pit.browser.house import House, Person

from pitwatch.pit.accounts import add_token
from pitwatch.pit.sql import writing

SIZES = {"wall": (1920, 1080), "laptop": (1366, 768), "phone": (390, 844)}
LIVE = ("floor", "table", "alert", "alerts")  # while the watched table plays
DOCS = {"floor": "floor", "alert": "alerts", "table": "table", "round": "round", "reports": "reports"}
SMALL = 150_000  # bytes that a picture for people who read about it may have


class Pit:
    """A pit in the middle of a shift: tables that only send, and one that is really watched."""

    def __init__(self, folder: Path, stack: ExitStack, tables: int, minutes: float) -> None:
        self.house = House(folder, f"sqlite:///{folder / 'pit.db'}")
        stack.callback(self.house.close)
        with writing(self.house.engine) as db:
            token = add_token(db, "pictures", "administrator")
        self.client = httpx.Client(
            base_url=self.house.url, headers={"Authorization": f"Bearer {token}"}, timeout=60
        )
        stack.callback(self.client.close)
        self.settle()
        self.folder, self.stack = folder, stack
        self.begin(
            *("sim", "traffic", "--tables", str(tables), "--rounds", "400", "--speed", "2"),
            *("--site", "Main floor", "--mqtt", self.house.broker.url),
        )
        self.watched = self.begin(
            *("demo", "--fast", "--no-page", "--seed", "4"),
            *("--mqtt", self.house.broker.url, "--journal", str(folder / "watched.db")),
        )
        self.wait(tables + 1, minutes)
        self.judge()

    def begin(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a command of pitwatch's."""
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        begun = subprocess.Popen([sys.executable, "-m", "pitwatch", *words], cwd=self.folder, **quiet)
        self.stack.callback(lambda: (begun.terminate(), begun.wait(60)))
        return begun

    def settle(self) -> None:
        """Dealers and the house's settings."""
        body = {"site_title": "Greektown", "time_zone": "America/Detroit", "recorder_offset": 2.5}
        assert self.client.put("/api/settings", json=body).status_code == 200
        for name in ("Ann Lee", "Ben Ortiz", "Carla Rossi", "Dev Patel", "Eva Novak", "Finn Berg"):
            self.client.post("/api/dealers", json={"name": name, "badge": name.split()[0].lower()})

    def wait(self, tables: int, minutes: float) -> None:
        """Let them play, a dealer at each table, and until the watched one has something to show."""
        until(lambda: len(self.items("tables")) >= tables, 240)
        for place, t in enumerate(self.items("tables")):
            self.client.post(f"/api/tables/{t['id']}/dealer", json={"dealer": place % 6 + 1})
        time.sleep(minutes * 60)
        deadline = time.monotonic() + 600
        while not self.shown() and time.monotonic() < deadline:
            time.sleep(3)

    def items(self, what: str, **filters: object) -> list[dict]:
        """A list of the pit's, the newest of it."""
        return self.client.get(f"/api/{what}", params={"limit": 500, **filters}).json()["items"]

    def shown(self) -> list[dict]:
        """Findings worth a picture, the best first: of the table that is watched, their pictures here."""
        found = [f for f in self.items("findings") if f["round_id"] and f["table"]["name"].startswith("DEMO")]
        for f in found:
            for picture in (*f["pictures"], f["clip"]):
                if not picture["here"]:
                    self.client.get(picture["url"])  # asked of the table; it comes in a moment
        whole = [f for f in found if f["pictures"] and all(p["here"] for p in f["pictures"])]
        return sorted(
            whole, key=lambda f: (f["severity"] != "alert", -len(f["pictures"]), -(f["amount"] or 0))
        )

    def fetch(self, round_id: int) -> None:
        """Have the pictures of a round's steps come, for as long as its table is there to send them."""
        for _ in range(5):
            steps = self.client.get(f"/api/rounds/{round_id}").json()["steps"]
            away = [p["url"] for step in steps for p in step["pictures"] if not p["here"]]
            for url in away:
                self.client.get(url)
            if not away:
                return
            time.sleep(2)

    def judge(self) -> None:
        """Most of the findings judged, some dismissed: as a shift leaves them."""
        found = self.items("findings", sort="oldest")
        keep = {f["id"] for f in self.shown()[:1]}
        for n, f in enumerate(found[: -max(6, len(found) // 8)]):
            if f["id"] not in keep:
                wrong = {"verdict": "dismissed", "reason": "misread_chips"}
                body = wrong if n % 6 == 5 else {"verdict": "confirmed"}
                self.client.post(f"/api/findings/{f['id']}/verdict", json=body)

    def places(self) -> dict[str, tuple[str, str]]:
        """Each page, and what stands there once it is ready."""
        best = self.shown()[0]
        table = best["table"]["id"]
        self.fetch(best["round_id"])
        return {
            "floor": ("#/floor", "$$('#tiles .tile').length > 2"),
            "table": (f"#/tables/{table}", "$('#felt .seat') && $('.notation li')"),
            "alert": (f"#/alerts/{best['id']}?state=all", "$('#judge .sentence')"),
            "alerts": ("#/alerts", "$('#queue button')"),
            "rounds": ("#/rounds", "$$('.rounds tbody tr').length > 3"),
            "round": (f"#/round/{best['round_id']}", "$('#felt .seat')"),
            "reports": ("#/reports/dealer", "$('.chart svg') && $('table tbody tr')"),
            "seats": (f"#/reports/seat?table={table}", "$('.report')"),
            "precision": ("#/reports/precision", "$('.report .panel')"),
            "settings": ("#/settings", "$('form [name=time_zone]')"),
            "accounts": ("#/accounts", "$('table.accounts tbody tr')"),
            "audit": ("#/audit", "$('table tbody tr')"),
            "password": ("#/password", "$('.form input')"),
        }


def take(person: Person, pages: Mapping[str, tuple[str, str]], sizes: Sequence[str], out: Path) -> None:
    """Pictures of pages in both themes and in sizes."""
    for size in sizes:
        for theme in ("dark", "light"):
            person.browser.resize(*SIZES[size], dark=theme == "dark")
            for page, (place, ready) in pages.items():
                person.go(place, ready)
                time.sleep(1.5)  # pictures and charts come a little later
                person.browser.screenshot(out / f"{page}-{size}-{theme}.png")


def for_people(out: Path, docs: Path) -> None:
    """The wall's dark pictures as JPEGs that are quick to load."""
    for page, name in DOCS.items():
        if (shot := out / f"{page}-wall-dark.png").exists():
            image = cv2.resize(cv2.imread(str(shot)), (1600, 900), interpolation=cv2.INTER_AREA)
            for quality in range(90, 40, -4):
                ok, content = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
                if ok and len(content) < SMALL:
                    (docs / f"pit-{name}.jpg").write_bytes(content.tobytes())
                    break


def main() -> None:
    """Take them."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--out", type=Path, required=True)
    words.add_argument("--docs", type=Path, help="write those that people read about here")
    words.add_argument("--tables", type=int, default=24)
    words.add_argument("--minutes", type=float, default=3.0, help="that the tables play before")
    words.add_argument("--pages", nargs="*")
    words.add_argument("--sizes", nargs="*", default=list(SIZES), choices=list(SIZES))
    asked = words.parse_args()
    for folder in filter(None, (asked.out, asked.docs)):
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pitwatch-pictures-") as name, ExitStack() as stack:
        pit = Pit(Path(name), stack, asked.tables, asked.minutes)
        person = Person(stack.enter_context(Chromium(*SIZES["laptop"])), pit.house)
        person.open()
        take(person, {"login": ("#/login", "$('.login form')")}, asked.sizes, asked.out)
        person.sign_in()
        person.see("$('#tiles')")
        places = {k: v for k, v in pit.places().items() if not asked.pages or k in asked.pages}
        take(person, {k: v for k, v in places.items() if k in LIVE}, asked.sizes, asked.out)
        pit.watched.terminate()  # it takes all the machine that it gets
        take(person, {k: v for k, v in places.items() if k not in LIVE}, asked.sizes, asked.out)
        if said := [m for m in person.browser.messages if "/api/me" not in m]:
            print(said[:5])  # noqa: T201
    if asked.docs:
        for_people(asked.out, asked.docs)


if __name__ == "__main__":
    main()
