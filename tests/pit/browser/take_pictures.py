"""Pictures of every page of a real pit: `sim traffic` and one table that is really watched, a real Chromium.

Both themes, three sizes: a wall screen, a desk, a phone. `--docs` writes the pictures that the README shows.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import cv2
import httpx
from tests.browser.chromium import Chromium
from tests.pit.browser.house import House, Person

from pitwatch.pit.accounts import add_token
from pitwatch.pit.sql import writing

ROOT = Path(__file__).parents[3]
SIZES = {"wall": (1920, 1080), "desk": (1366, 768), "phone": (390, 844)}
DOCS = {
    "floor": "pit-floor",
    "alerts": "pit-alerts",
    "table": "pit-table",
    "round": "pit-round",
    "reports": "pit-reports",
}


class Pit:
    """A pit in the middle of a shift."""

    def __init__(self, folder: Path, stack: ExitStack, tables: int, minutes: float) -> None:
        self.house = House(folder, f"sqlite:///{folder / 'pit.db'}")
        stack.callback(self.house.close)
        with writing(self.house.engine) as db:
            token = add_token(db, "pictures", "administrator")
        self.client = httpx.Client(
            base_url=self.house.url, headers={"Authorization": f"Bearer {token}"}, timeout=60
        )
        self.settle()
        words = [sys.executable, "-m", "pitwatch"]
        seen = subprocess.Popen(
            [
                *(*words, "demo", "--fast", "--no-page", "--seed", "4"),
                *("--mqtt", self.house.broker.url, "--journal", str(folder / "watched.db")),
            ],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        stack.callback(lambda: (seen.terminate(), seen.wait(60)))
        sent = subprocess.Popen(
            [
                *(*words, "sim", "traffic", "--tables", str(tables), "--rounds", "400", "--speed", "2"),
                *("--site", "Main floor", "--mqtt", self.house.broker.url),
            ],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        stack.callback(lambda: (sent.terminate(), sent.wait(60)))
        self.wait(tables, minutes)
        self.judge()

    def settle(self) -> None:
        """Dealers and the house's settings."""
        body = {"site_title": "Greektown", "time_zone": "America/Detroit", "recorder_offset": 2.5}
        assert self.client.put("/api/settings", json=body).status_code == 200
        for name in ("Ann Lee", "Ben Ortiz", "Carla Rossi", "Dev Patel", "Eva Novak", "Finn Berg"):
            self.client.post("/api/dealers", json={"name": name, "badge": name.split()[0].lower()})

    def wait(self, tables: int, minutes: float) -> None:
        """Let them play, a dealer at each table."""
        deadline = time.monotonic() + 120
        while (n := len(self.tables())) < tables and time.monotonic() < deadline:
            time.sleep(1)
        assert n >= tables
        for place, t in enumerate(self.tables()):
            self.client.post(f"/api/tables/{t['id']}/dealer", json={"dealer": place % 6 + 1})
        time.sleep(minutes * 60)

    def tables(self) -> list[dict]:
        return self.client.get("/api/tables", params={"limit": 500}).json()["items"]

    def judge(self) -> None:
        """Most of the findings judged, some dismissed: as a shift leaves them."""
        found = self.client.get("/api/findings", params={"limit": 200, "sort": "oldest"}).json()["items"]
        for n, f in enumerate(found[: -max(4, len(found) // 8)]):
            body = {"verdict": "confirmed"} if n % 6 else {"verdict": "dismissed", "reason": "misread_chips"}
            self.client.post(f"/api/findings/{f['id']}/verdict", json=body)

    def places(self) -> dict[str, tuple[str, str]]:
        """Each page, and what stands there once it is ready."""
        found = self.client.get("/api/findings", params={"limit": 200, "severity": "alert"}).json()["items"]
        watched = [f for f in found if f["table"]["name"].startswith("SIM")] or found
        best = next((f for f in watched if f["status"] == "open"), watched[0])
        table = best["table"]["id"]
        told = next((f["round_id"] for f in watched if f["round_id"]), None) or best["round_id"]
        return {
            "floor": ("#/floor", "$$('#tiles .tile').length > 2"),
            "alerts": (f"#/alerts/{best['id']}?status=all", "$('#judge .sentence')"),
            "table": (f"#/tables/{table}", "$('#felt .seat')"),
            "rounds": ("#/rounds", "$$('.rounds tbody tr').length > 3"),
            "round": (f"#/round/{told}", "$('#felt .seat')"),
            "reports": ("#/reports", "$('table tbody tr')"),
            "settings": ("#/settings", "$('form [name=time_zone]')"),
            "accounts": ("#/accounts", "$('table.accounts tbody tr')"),
            "audit": ("#/audit", "$('table tbody tr')"),
        }


def main() -> None:
    """Take them."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--out", type=Path, required=True)
    words.add_argument("--docs", type=Path, help="write the README's pictures here")
    words.add_argument("--tables", type=int, default=24)
    words.add_argument("--minutes", type=float, default=3.0, help="that the tables play before")
    words.add_argument("--pages", nargs="*")
    words.add_argument("--sizes", nargs="*", default=list(SIZES))
    asked = words.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pitwatch-pictures-") as name, ExitStack() as stack:
        pit = Pit(Path(name), stack, asked.tables, asked.minutes)
        places = pit.places()
        person = None
        for size in asked.sizes:
            with Chromium(*SIZES[size]) as browser:
                person = Person(browser, pit.house)
                person.open()
                person.sign_in()
                person.see("$('#tiles')")
                for dark in (True, False):
                    browser.resize(*SIZES[size], dark=dark)
                    for page, (place, ready) in places.items():
                        if asked.pages and page not in asked.pages:
                            continue
                        person.go(place, ready)
                        time.sleep(2.5)
                        theme = "dark" if dark else "light"
                        shot = asked.out / f"{page}-{size}-{theme}.png"
                        browser.screenshot(shot)
                        if asked.docs and size == "wall" and dark and page in DOCS:
                            image = cv2.imread(str(shot))
                            target = asked.docs / f"{DOCS[page]}.jpg"
                            cv2.imwrite(str(target), image, [cv2.IMWRITE_JPEG_QUALITY, 86])
                if browser.messages:
                    print(size, browser.messages[:5])  # noqa: T201


if __name__ == "__main__":
    main()
