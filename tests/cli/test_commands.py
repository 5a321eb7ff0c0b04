"""The command line as a user meets it: help, errors in one sentence, exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pitwatch
from pitwatch.cli import main as cli

HEADER = '{"table_events": 1, "table": "T1", "rules": "greektown"}\n'


def run(
    *words: str | Path, state: Path | None = None, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    env = dict(os.environ)
    if state is not None:
        env["XDG_STATE_HOME"] = str(state)
        env.pop("STATE_DIRECTORY", None)
    command = [sys.executable, "-m", "pitwatch", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=env)


def refused(*words: str | Path) -> str:
    """The one sentence with which bad input is refused."""
    done = run(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("pitwatch: ")
    return lines[0]


def test_help_and_version() -> None:
    help_ = run("--help")
    assert help_.returncode == 0
    for command in ("watch", "demo", "sim", "audit", "eval", "calibrate", "models", "rules"):
        assert f"\n  {command} " in help_.stdout
    assert run("--version").stdout == f"pitwatch {pitwatch.__version__}\n"
    for command in (["watch"], ["demo"], ["calibrate", "pose"], ["models", "verify"]):
        assert run(*command, "--help").returncode == 0


def test_help_is_quick() -> None:
    """Processor time, so that a busy machine does not matter."""
    script = (
        "import sys, time; sys.argv = ['pitwatch', '--help']\n"
        "from pitwatch.cli.main import _status\n"
        "_status(); print(time.process_time(), [m for m in ('numpy', 'cv2', 'onnxruntime', 'pydantic_core') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    seconds, loaded = done.stdout.splitlines()[-1].split(" ", 1)
    assert float(seconds) < 0.5
    assert "cv2" not in loaded
    assert "onnxruntime" not in loaded


def test_a_wrong_word_is_answered_with_the_right_one() -> None:
    done = run("wach")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "watch" in done.stderr


def test_bad_input_gets_one_sentence_and_status_2(tmp_path: Path) -> None:
    assert "table.toml" in refused("watch", "--table", tmp_path / "table.toml")
    misspelt = tmp_path / "misspelt.toml"
    misspelt.write_text('[table]\nname = "BJ-07"\nminimun = 1000\n')
    assert "'minimum'" in refused("watch", "--table", misspelt)
    assert "nothing.jsonl" in refused("audit", tmp_path / "nothing.jsonl")
    broken = tmp_path / "broken.jsonl"
    broken.write_text(HEADER + '{"t": 1, "type": "crad"}\n')
    assert "line 2" in refused("audit", broken)
    assert str(tmp_path) in refused("eval", tmp_path)


def table_file(folder: Path, *, width: int = 640, height: int = 360) -> Path:
    from pitwatch.sim.spec import mounted_camera
    from pitwatch.table.files import write_json
    from pitwatch.table.layout import template

    write_json(folder / "calibration.json", mounted_camera(template(6), width, height).to_json())
    path = folder / "table.toml"
    path.write_text(
        '[table]\nname = "SIM-1"\n[camera]\ncalibration = "calibration.json"\n[layout]\ntemplate = 6\n'
    )
    return path


def test_what_a_watch_needs_is_checked_before_it_begins(tmp_path: Path) -> None:
    table = table_file(tmp_path)
    assert "--source" in refused("watch", "--table", table)
    assert "missing.mp4" in refused("watch", "--table", table, "--source", tmp_path / "missing.mp4")
    assert "/dev/video77" in refused("watch", "--table", table, "--source", "/dev/video77")
    assert "'rounds'" in refused("watch", "--table", table, "--source", "sim:round=3")


def test_findings_are_lines_of_json_and_status_1(tmp_path: Path) -> None:
    log = tmp_path / "round.jsonl"
    events = [
        {"t": 1, "type": "chips", "seat": 1, "spot": "main", "amount": 2500},
        {"t": 2, "type": "card", "seat": 1, "card": "Ts"},
        {"t": 3, "type": "card", "seat": 0, "card": "7h"},
        {"t": 4, "type": "card", "seat": 1, "card": "9s"},
        {"t": 5, "type": "card", "seat": 0, "card": None, "face": "down"},
        {"t": 6, "type": "turn", "seat": 0, "card": "Tc"},
        {"t": 7, "type": "chips", "seat": 1, "spot": "main", "amount": 4500, "by": "dealer"},
        {"t": 8, "type": "chips", "seat": 1, "spot": "main", "amount": 0, "by": "player"},
        {"t": 9, "type": "clear", "seat": 1},
        {"t": 10, "type": "clear", "seat": 0},
    ]
    log.write_text(HEADER + "".join(json.dumps(e) + "\n" for e in events))
    done = run("audit", log)
    assert done.returncode == 1
    (finding,) = map(json.loads, done.stdout.splitlines())
    assert (finding["kind"], finding["expected"], finding["observed"]) == ("paid_short", 2500, 2000)
    events[6]["amount"] = 5000
    log.write_text(HEADER + "".join(json.dumps(e) + "\n" for e in events))
    clean = run("audit", log)
    assert (clean.returncode, clean.stdout) == (0, "")
    notation = run("audit", log, "--notation").stdout
    assert "Ts 9s" in notation


def test_an_error_of_its_own_is_one_sentence_too_and_the_trace_is_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import logging

    import pitwatch.game.audit

    def broken(*_: object) -> int:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(pitwatch.game.audit, "run_audit", broken)
    monkeypatch.setattr(sys, "argv", ["pitwatch", "audit", "x"])
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    before = list(logging.getLogger().handlers)
    try:
        with pytest.raises(SystemExit) as ended:
            cli()
    finally:
        for handler in set(logging.getLogger().handlers) - set(before):
            logging.getLogger().removeHandler(handler)
            handler.close()
        logging.captureWarnings(False)
    assert ended.value.code == 70
    log = tmp_path / "pitwatch" / "pitwatch.log"
    assert capsys.readouterr().err == f"pitwatch: internal error (ZeroDivisionError), details in {log}\n"
    assert "of all things" in log.read_text()
    assert "Traceback" in log.read_text()


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    log = tmp_path / "empty.jsonl"
    log.write_text(HEADER)
    command = f"{sys.executable} -m pitwatch watch --help | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=60
    )
    assert "Traceback" not in done.stderr


def test_the_simulated_table_on_disk(tmp_path: Path) -> None:
    """Everything that `watch` and `audit` need is there, and the truth passes the audit as staged."""
    out = tmp_path / "sim"
    done = run(
        "sim", "--out", out, "--width", "480", "--height", "270", "--fps", "2", "--seed", "5", timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert {p.name for p in out.iterdir()} == {
        "calibration.json",
        "events.jsonl",
        "layout.json",
        "preview.png",
        "table.toml",
        "truth.json",
        "video.mp4",
    }
    from pitwatch.capture import open_source
    from pitwatch.config import check_resolution, load_table

    config = load_table(out / "table.toml")
    source = open_source(str(out / "video.mp4"))
    check_resolution(config.load_camera(), source.width, source.height, "calibration.json")
    frames = list(source)
    source.close()
    truth = json.loads((out / "truth.json").read_text())
    assert abs(frames[-1].t - truth["duration"]) < 1.5
    assert run("audit", out / "events.jsonl").returncode == (1 if truth["findings"] else 0)


def test_pictures_instead_of_a_video(tmp_path: Path) -> None:
    out = tmp_path / "sim"
    done = run(
        "sim", "--out", out, "--width", "320", "--height", "180", "--fps", "1", "--frames", timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert f"--source {out / 'frames'} --fps 1" in done.stdout
    assert len(list((out / "frames").glob("*.jpg"))) > 20
