"""The pit's service is one that systemd takes, and its command one that pitwatch knows."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

from tests.mqtt.brokers import absent
from typer.testing import CliRunner

from pitwatch.cli.commands import app

UNIT = Path(__file__).parents[2] / "deploy" / "systemd" / "pitwatch-pit.service"


def test_systemd_finds_nothing_wrong_with_the_service(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        absent("systemd-analyze is not installed; run: apt-get install systemd")
    text = UNIT.read_text().replace("/opt/pitwatch/bin/pitwatch", shutil.which("true") or "/bin/true")
    (tmp_path / UNIT.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / UNIT.name)],
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if UNIT.name in line]
    assert (done.returncode, said) == (0, [])


def test_the_services_options_are_the_commands() -> None:
    (line,) = re.findall(r"^ExecStart=\S+ pit (.*)$", UNIT.read_text(), re.M)
    told = CliRunner().invoke(app, ["pit", "--help"]).output
    for word in shlex.split(line):
        assert not word.startswith("--") or word in told
