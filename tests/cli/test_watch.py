"""`watch` and `demo` as programs of their own, with the networks that come with pitwatch."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from pitwatch.journal import Journal
from pitwatch.sim.spec import mounted_camera
from pitwatch.table.files import write_json
from pitwatch.table.layout import template
from pitwatch.vision.weights import read_manifest

from ..mqtt.brokers import Mosquitto, Subscriber, free_port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not read_manifest(), reason="no weights are trained yet"),
]

KEYS = {"rounds", "staged", "found", "false", "hands", "unverified", "judged_share", "fps", "ms_per_frame"}


def start(*words: str | Path, state: Path) -> subprocess.Popen[str]:
    env = {**os.environ, "XDG_STATE_HOME": str(state)}
    env.pop("STATE_DIRECTORY", None)
    return subprocess.Popen(
        [sys.executable, "-m", "pitwatch", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )


def table_file(folder: Path, width: int, height: int) -> Path:
    write_json(folder / "calibration.json", mounted_camera(template(6), width, height).to_json())
    path = folder / "table.toml"
    path.write_text(
        '[table]\nname = "SIM-1"\nsite = "here"\n[camera]\ncalibration = "calibration.json"\n'
        "[layout]\ntemplate = 6\n"
    )
    return path


def events_in(journal: Path) -> int:
    if not journal.exists():
        return 0
    db = sqlite3.connect(f"file:{journal}?mode=ro", uri=True, timeout=5)
    try:
        return int(db.execute("SELECT count(*) FROM items WHERE kind = 'event'").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        db.close()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_watch_and_loses_nothing(tmp_path: Path, how: signal.Signals) -> None:
    table, journal, port = table_file(tmp_path, 1280, 720), tmp_path / "j.db", free_port()
    words = ["watch", "--table", table, "--source", "sim:rounds=2,width=1280,height=720,pace=2"]
    process = start(
        *words, "--mqtt", "off", "--journal", journal, "--json", "--page", "--port", str(port), state=tmp_path
    )
    deadline = time.monotonic() + 240
    while events_in(journal) < 3 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.5)
    page = httpx.get(f"http://127.0.0.1:{port}/api/state", timeout=30).json()
    assert page["state"]["table"] == "SIM-1"
    process.send_signal(how)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    figures = json.loads(out.splitlines()[-1])
    assert figures["frames"] > 10
    assert figures["skipped"] == 0
    with Journal(journal, "here", "SIM-1") as kept:
        counts = kept.counts()
    assert counts["event"] >= 3
    assert counts["unverified"] == figures["unverified"]


def test_the_demo_ends_by_itself_and_an_independent_subscriber_hears_it(tmp_path: Path) -> None:
    broker = Mosquitto.simple(tmp_path).start()
    with Subscriber(broker.port) as subscriber:
        process = start("demo", "--rounds", "1", "--json", "--no-page", "--mqtt", broker.url, state=tmp_path)
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        assert len(out.splitlines()) == 1
        figures = json.loads(out)
        assert figures.keys() >= KEYS
        assert figures["rounds"] == 1
        assert figures["hands"] >= 2
        assert len(subscriber.payloads("rounds")) == 1
        heard = [p for p in subscriber.payloads("findings") if "finding" in p]
        assert len(heard) == figures["found"] + figures["false"]
        availability = [p["availability"] for p in subscriber.payloads("availability")]
        assert availability[-1] in ("offline", {"status": "offline"}) or "offline" in str(availability[-1])
    broker.stop()


def test_a_broker_that_is_away_stops_nothing(tmp_path: Path) -> None:
    table, journal = table_file(tmp_path, 640, 360), tmp_path / "j.db"
    words = ["watch", "--table", table, "--source", "sim:rounds=1,width=640,height=360,pace=5,fps=3"]
    process = start(*words, "--mqtt", f"mqtt://127.0.0.1:{free_port()}", "--journal", journal, state=tmp_path)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "cannot be reached" in out
    with Journal(journal, "here", "SIM-1") as kept:
        assert kept.counts()["outbox"] > 0
