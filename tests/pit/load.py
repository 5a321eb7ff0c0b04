"""Many tables at once through one Mosquitto into one collector or several; `--help` says what to ask for.

Out: one line of JSON for each number of tables: what was sent, lost and doubled, how long a finding takes to
a page's stream (since its table recorded it, and since the broker had it), how quick the page is in a real
browser, and the CPU seconds of each process apart. `--chart` draws the cost of what `--results` has, as SVG.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

import httpx
import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from sqlalchemy import func, select
from tests.browser.chromium import Chromium, find_chromium
from tests.mqtt.brokers import Mosquitto, free_port, until

from pitwatch.pit import schema
from pitwatch.pit.accounts import add_token, add_user
from pitwatch.pit.database import open_store
from pitwatch.pit.sql import writing

from .stores import postgres

ROOT = Path(__file__).parents[2]
PASSWORD = "a long enough one"
# as deploy/mosquitto/mosquitto.conf has them; passwords and access lists apart
BROKER = (
    "allow_anonymous true",
    "max_inflight_messages 500",
    "max_queued_messages 500000",
    "max_queued_bytes 2000000000",
    "autosave_interval 30",
)
WATCHED = """
window.gaps = [];
let last = performance.now();
setInterval(() => { const now = performance.now(); gaps.push(now - last - 50); last = now; }, 50);
"""


def cpu(pid: int) -> float:
    """CPU seconds of a process so far, and of those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def cpu_of_all(pid: int) -> float:
    """CPU seconds of a process and all its living descendants."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            children.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(
                int(stat.parent.name)
            )
    total, waiting = 0.0, [pid]
    while waiting:
        one = waiting.pop()
        with suppress(OSError):
            total += cpu(one)
        waiting += children.get(one, [])
    return total


class Reader(threading.Thread):
    """A page's stream: how late each finding comes, in seconds after its table recorded it, and its id."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(daemon=True)
        self.url, self.token = url, token
        self.seen: dict[str, float] = {}
        self.late: dict[str, float] = {}

    def run(self) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        event = ""
        while True:
            with (
                suppress(httpx.TransportError),
                httpx.stream("GET", f"{self.url}/api/stream", headers=headers, timeout=30) as answer,
            ):
                for line in answer.iter_lines():
                    if line.startswith("event: "):
                        event = line[7:]
                    elif line.startswith("data: ") and event == "finding":
                        said = json.loads(line[6:])
                        now = time.time()
                        at = datetime.fromisoformat(said["at"].replace("Z", "+00:00")).timestamp()
                        self.late.setdefault(said["uid"], now - at)
                        self.seen.setdefault(said["uid"], now)
            time.sleep(0.5)


class Ear:
    """Hears findings at the broker as soon as any client could: what is late before that is not the pit's."""

    def __init__(self, port: int) -> None:
        self.heard: dict[str, float] = {}
        self._client = paho.Client(CallbackAPIVersion.VERSION2, client_id="load-ear")
        self._client.on_message = self._on_message
        self._client.on_connect = lambda c, *_: c.subscribe("pitwatch/+/+/findings", qos=0)
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()

    def _on_message(self, client: object, data: object, message: paho.MQTTMessage) -> None:
        now = time.time()
        self.heard.setdefault(json.loads(message.payload)["id"], now)

    def close(self) -> None:
        """No more."""
        self._client.disconnect()
        self._client.loop_stop()


def share(values: Iterable[float], part: float) -> float | None:
    """The value below which a part of all lies."""
    every = sorted(values)
    return round(every[min(len(every) - 1, int(part * len(every)))], 3) if every else None


def spread(values: list[float]) -> dict[str, float | None]:
    """The middle, the 95th percentile and the longest."""
    return {"p50": share(values, 0.5), "p95": share(values, 0.95), "max": share(values, 1.0)}


class Run:
    """One run over an empty store."""

    def __init__(self, asked: argparse.Namespace, tables: int, url: str, folder: Path) -> None:
        folder.mkdir()
        self.asked, self.tables, self.url, self.folder = asked, tables, url, folder
        self.store = open_store(url)
        with writing(self.store) as db:
            self.token = add_token(db, "load", "viewer")
            add_user(db, "load", PASSWORD, "supervisor")
        self.port = free_port()
        self.page = f"http://127.0.0.1:{self.port}"
        self.before: list[float] = []

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Another `pitwatch`."""
        environment = os.environ | {
            "PYTHONPATH": f"{ROOT / 'edge'}:{ROOT}",
            "XDG_STATE_HOME": str(self.folder),
        }
        return subprocess.Popen(
            [sys.executable, "-m", "pitwatch", *words], env=environment, text=True, stdout=subprocess.PIPE
        )

    def pit(self, n: int) -> subprocess.Popen[str]:
        """The collector `n`; the first serves the page."""
        words = ["pit", "--mqtt", self.broker.url, "--db", self.url, "--name", f"load-{n}"]
        words += ["--share", "load"] if self.asked.collectors > 1 else []
        return self.start(*words, *(["--page", "--port", str(self.port)] if n == 0 else ["--no-page"]))

    def up(self) -> bool:
        """Whether the page answers and its collector hears."""
        try:
            return bool(httpx.get(f"{self.page}/healthz", timeout=5).json()["broker"] == "connected")
        except httpx.TransportError:
            return False

    def kept(self, table: Any) -> int:
        """How many rows there are."""
        with self.store.connect() as db:
            return int(db.execute(select(func.count()).select_from(table)).scalar_one())

    def look(self, stack: ExitStack) -> Chromium | None:
        """A real browser that looks at the floor."""
        if not self.asked.browser or find_chromium() is None:
            return None
        browser = stack.enter_context(Chromium(1920, 1080))
        browser.open(self.page)
        browser.wait_for("!!document.querySelector('.login input[type=password]')", 60)
        browser.evaluate(
            f"(() => {{ const f = document.querySelector('.login form'); f.elements.name.value = 'load'; "
            f"f.elements.password.value = '{PASSWORD}'; f.requestSubmit(); }})()"
        )
        browser.wait_for("!!document.querySelector('#tiles')", 60)
        browser.evaluate(WATCHED)
        return browser

    def measure(self) -> dict[str, Any]:
        """Send, wait until all is there, count."""
        asked = self.asked
        with ExitStack() as stack:
            self.broker = stack.enter_context(Mosquitto.simple(self.folder, *BROKER, verbose=False))
            pits = [self.pit(n) for n in range(asked.collectors)]
            stack.callback(lambda: [(p.terminate(), p.wait(30)) for p in pits])
            until(self.up, 180)
            ear, reader = Ear(self.broker.port), Reader(self.page, self.token)
            stack.callback(ear.close)
            reader.start()
            browser = self.look(stack)
            broker_pid = self.broker._process.pid if self.broker._process else 0
            began = [cpu(p.pid) for p in pits]
            broker_began, browser_began = cpu(broker_pid), browser and cpu_of_all(browser._process.pid)
            load = os.getloadavg()[0]
            sending = self.start(
                *("sim", "traffic", "--mqtt", self.broker.url, "--tables", str(self.tables)),
                *("--rounds", str(asked.rounds), "--speed", str(asked.speed), "--linger", "30", "--json"),
            )
            if asked.kill:
                until(lambda: self.kept(schema.rounds) > self.tables * asked.rounds // 4, 600)
                last = pits[-1]
                lost = cpu(last.pid) - began[-1]
                last.send_signal(signal.SIGKILL)
                last.wait()
                time.sleep(5)
                pits[-1] = self.pit(asked.collectors - 1)
                began[-1] = -lost
            opened = self.open_alerts(browser) if browser else None
            out, _ = sending.communicate()
            told = json.loads(out.splitlines()[-1])
            total = told["events"] + told["rounds"] + told["findings"] + told["unverified"]
            i, r, f = schema.items, schema.rounds, schema.findings
            deadline = time.monotonic() + 120
            while self.kept(i) < total and time.monotonic() < deadline:
                time.sleep(0.5)
            work = [round(cpu(p.pid) - b, 1) for p, b in zip(pits, began, strict=True)]
            since_broker = [reader.seen[u] - at for u, at in ear.heard.items() if u in reader.seen]
            gaps = browser.evaluate("gaps") if browser else []
            result = {
                "tables": self.tables,
                "speed": asked.speed,
                "collectors": asked.collectors,
                "killed": asked.kill,
                "store": self.url.partition(":")[0],
                **{k: told[k] for k in ("events", "rounds", "findings", "again", "seconds")},
                "lost": total - self.kept(i),
                "doubled": max(0, self.kept(r) - told["rounds"]) + max(0, self.kept(f) - told["findings"]),
                "findings_on_page": len(reader.late),
                "broker_to_page_s": spread(since_broker),
                "table_to_page_s": spread(list(reader.late.values())),
                "generator_late_s": told["late"],
                "cpu_s": {
                    "page_and_collector": work[0],
                    "collectors": work[1:],
                    "broker": round(cpu(broker_pid) - broker_began, 1),
                    "generator": told["cpu"],
                    "browser": browser and round(cpu_of_all(browser._process.pid) - browser_began, 1),
                },
                "browser": browser
                and {
                    "behind_ms": {"p95": share(gaps, 0.95), "max": share(gaps, 1.0)},
                    "alerts_open_ms": opened,
                    "errors": browser.messages[:3],
                },
                "others_load": round(load, 1),
            }
        self.store.dispose()
        return result

    @staticmethod
    def open_alerts(browser: Chromium) -> int:
        """In the middle of it: how long the alerts take to stand there, and back to the floor."""
        time.sleep(20)
        began = time.monotonic()
        browser.evaluate("location.hash = '#/alerts'")
        browser.wait_for("!!document.querySelector('#queue')", 60)
        took = time.monotonic() - began
        browser.evaluate("location.hash = '#/floor'")
        browser.wait_for("!!document.querySelector('#tiles')", 60)
        return round(took * 1000)


def chart(results: list[dict[str, Any]]) -> str:
    """CPU of one second of play, by the number of tables, each store and process a line."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for r in results:
        name = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[r["store"]]
        where = f"{name}, {r['collectors']} collector{'s' if r['collectors'] > 1 else ''}"
        used = r["cpu_s"]["page_and_collector"] + sum(r["cpu_s"]["collectors"])
        lines.setdefault(where, []).append((r["tables"], used / r["seconds"]))
        lines.setdefault("Mosquitto", []).append((r["tables"], r["cpu_s"]["broker"] / r["seconds"]))
    most_x = max(x for points in lines.values() for x, _ in points)
    most_y = max(0.1, max(y for points in lines.values() for _, y in points)) * 1.1
    left, top, w, h = 70, 50, 560, 300
    colours = ("#0a6b49", "#1f5fa8", "#b3261e", "#7a4f00", "#4a5a53")

    def at(x: float, y: float) -> str:
        return f"{left + w * x / most_x:.1f},{top + h * (1 - y / most_y):.1f}"

    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 420" font-family="sans-serif" '
        'font-size="14">',
        '<rect width="860" height="420" fill="#fff"/>',
        f'<text x="{left}" y="28" font-size="17" font-weight="600">Cores in use while tables play '
        f"at {results[0]['speed']:g} times real speed</text>",
    ]
    for n in range(6):
        y = most_y * n / 5
        place = at(0, y).split(",")[1]
        out.append(f'<path d="M{left} {place}h{w}" stroke="#cfd8d3"/>')
        out.append(f'<text x="{left - 8}" y="{float(place) + 5:.1f}" text-anchor="end">{y:.2f}</text>')
    for x in sorted({x for points in lines.values() for x, _ in points}):
        place = at(x, 0).split(",")[0]
        out.append(f'<text x="{place}" y="{top + h + 22}" text-anchor="middle">{x}</text>')
    out.append(f'<text x="{left + w / 2}" y="{top + h + 46}" text-anchor="middle">tables</text>')
    for n, (name, points) in enumerate(lines.items()):
        colour = colours[n % len(colours)]
        points = sorted(points)
        path = " ".join(at(x, y) for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        for x, y in points:
            cx, cy = at(x, y).split(",")
            out.append(f'<circle cx="{cx}" cy="{cy}" r="4" fill="{colour}"/>')
        out.append(f'<rect x="{left + w + 16}" y="{top + 24 * n}" width="14" height="14" fill="{colour}"/>')
        out.append(f'<text x="{left + w + 36}" y="{top + 24 * n + 12}">{escape(name)}</text>')
    return "\n".join([*out, "</svg>", ""])


def main() -> None:
    """Run what the command line asks for."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--tables", type=int, nargs="*", default=[50, 150, 500])
    words.add_argument("--rounds", type=int, default=10)
    words.add_argument("--speed", type=float, default=5.0)
    words.add_argument("--collectors", type=int, default=1, help="more than one on PostgreSQL")
    words.add_argument("--postgresql", action="store_true")
    words.add_argument("--kill", action="store_true", help="kill the last collector in the middle of it")
    words.add_argument("--browser", action="store_true", help="have a real browser look at the floor")
    words.add_argument("--results", type=Path, help="a file that the lines are added to")
    words.add_argument("--chart", type=Path, help="draw what is in --results, without those of --kill")
    asked = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="pitwatch-load-") as name, ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        for n, tables in enumerate(asked.tables):
            if asked.postgresql or asked.collectors > 1:
                url = stack.enter_context(postgres())
            else:
                url = f"sqlite:///{folder}/pit-{n}.db"
            line = json.dumps(Run(asked, tables, url, folder / f"run-{n}").measure())
            print(line, flush=True)  # noqa: T201
            if asked.results:
                with asked.results.open("a") as file:
                    file.write(line + "\n")
    if asked.chart:
        every = [json.loads(x) for x in asked.results.read_text().splitlines()]
        asked.chart.write_text(chart([r for r in every if not r["killed"]]))


if __name__ == "__main__":
    main()
