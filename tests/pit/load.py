"""Many tables at once through one Mosquitto into one collector or several; `--help` says what to ask for.

Out: one line of JSON for each number of tables: what was sent, lost and doubled, how long a finding takes
from its table to a page's stream, and the CPU seconds of page, collectors and generator apart.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import func, select
from tests.mqtt.brokers import Mosquitto, free_port, until

from pitwatch.pit import schema
from pitwatch.pit.accounts import add_token
from pitwatch.pit.database import open_store
from pitwatch.pit.sql import writing

from .stores import postgres

ROOT = Path(__file__).parents[2]


def cpu(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Reader(threading.Thread):
    """A page's stream: how late each finding comes, in seconds after its table recorded it."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(daemon=True)
        self.url, self.token = url, token
        self.late: dict[int, float] = {}

    def run(self) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        event = ""
        with httpx.stream("GET", f"{self.url}/api/stream", headers=headers, timeout=None) as answer:
            for line in answer.iter_lines():
                if line.startswith("event: "):
                    event = line[7:]
                elif line.startswith("data: ") and event == "finding":
                    said = json.loads(line[6:])
                    at = datetime.fromisoformat(said["at"].replace("Z", "+00:00")).timestamp()
                    self.late.setdefault(said["id"], time.time() - at)


def share(values: list[float], part: float) -> float | None:
    """The value below which a part of all lies."""
    return round(sorted(values)[min(len(values) - 1, int(part * len(values)))], 3) if values else None


def once(tables: int, rounds: int, speed: float, collectors: int, url: str, folder: Path) -> dict[str, Any]:
    """One run over an empty store."""
    folder.mkdir()
    store = open_store(url)
    with writing(store) as db:
        token = add_token(db, "load", "viewer")
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'edge'}:{ROOT}", "XDG_STATE_HOME": str(folder)}

    def start(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "pitwatch", *words], env=environment, text=True, stdout=subprocess.PIPE
        )

    with ExitStack() as stack:
        lines = ("allow_anonymous true", "max_inflight_messages 500")
        broker = stack.enter_context(Mosquitto.simple(folder, *lines))
        port = free_port()
        pits = []
        for n in range(collectors):
            words = ["pit", "--mqtt", broker.url, "--db", url, "--name", f"load-{n}"]
            words += ["--share", "load"] if collectors > 1 else []
            pits.append(start(*words, *(["--page", "--port", str(port)] if n == 0 else ["--no-page"])))
            stack.callback(pits[-1].wait, 30)
            stack.callback(pits[-1].terminate)

        def up() -> bool:
            try:
                return bool(httpx.get(f"http://127.0.0.1:{port}/healthz").json()["broker"] == "connected")
            except httpx.TransportError:
                return False

        until(up, 120)
        reader = Reader(f"http://127.0.0.1:{port}", token)
        reader.start()
        began = [cpu(p.pid) for p in pits]
        sending = start(
            *("sim", "traffic", "--mqtt", broker.url, "--tables", str(tables), "--rounds", str(rounds)),
            *("--speed", str(speed), "--linger", "20", "--json"),
        )
        out, _ = sending.communicate()
        told = json.loads(out.splitlines()[-1])
        total = told["events"] + told["rounds"] + told["findings"] + told["unverified"]
        i, r, f = schema.items, schema.rounds, schema.findings

        def kept(table: Any) -> int:
            with store.connect() as db:
                return int(db.execute(select(func.count()).select_from(table)).scalar_one())

        deadline = time.monotonic() + 60
        while kept(i) < total and time.monotonic() < deadline:
            time.sleep(0.5)
        work = [round(cpu(p.pid) - b, 1) for p, b in zip(pits, began, strict=True)]
        late = list(reader.late.values())
        result = {
            "tables": tables,
            "collectors": collectors,
            "store": url.partition(":")[0],
            **{k: told[k] for k in ("events", "rounds", "findings", "again", "seconds", "late")},
            "lost": total - kept(i),
            "doubled": max(0, kept(r) - told["rounds"]) + max(0, kept(f) - told["findings"]),
            "finding_to_page_s": {"p50": share(late, 0.5), "p95": share(late, 0.95), "max": share(late, 1.0)},
            "findings_on_page": len(late),
            "cpu_s": {"page_and_collector": work[0], "collectors": work[1:], "generator": told["cpu"]},
        }
    store.dispose()
    return result


def main() -> None:
    """Run what the command line asks for."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--tables", type=int, nargs="+", default=[50, 150, 500])
    words.add_argument("--rounds", type=int, default=10)
    words.add_argument("--speed", type=float, default=5.0)
    words.add_argument("--collectors", type=int, default=1, help="more than one on PostgreSQL")
    words.add_argument("--postgresql", action="store_true")
    asked = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="pitwatch-load-") as name, ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        for n, tables in enumerate(asked.tables):
            if asked.postgresql or asked.collectors > 1:
                url = stack.enter_context(postgres())
            else:
                url = f"sqlite:///{folder}/pit-{n}.db"
            run = once(tables, asked.rounds, asked.speed, asked.collectors, url, folder / f"run-{n}")
            print(json.dumps(run), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
