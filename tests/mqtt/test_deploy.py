"""What `deploy/` ships really starts and keeps its promises: the broker's configuration and the service.

Only paths and ports differ from the shipped files. systemd itself does not run here; its command line does.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from pitwatch.game.events import Peek
from pitwatch.journal import Journal
from pitwatch.mqtt import Publisher
from pitwatch.vision.weights import read_manifest

from .brokers import Mosquitto, Subscriber, absent, free_port, program, until

DEPLOY = Path(__file__).parents[2] / "deploy"
UNIT = DEPLOY / "systemd" / "pitwatch@.service"
PASSWORDS = {"BJ-07": "seven", "BJ-08": "eight", "pit": "all of them"}

quick = partial(Publisher, site="detroit", backoff=(0.05, 0.2), heartbeat=0.5)


@pytest.fixture
def etc() -> Iterator[Path]:
    """A folder like /etc/mosquitto that the broker's own user, to whom it gives up root, may read."""
    folder = Path(tempfile.mkdtemp(prefix="pitwatch-mosquitto-"))
    folder.chmod(0o755)
    shutil.copy(DEPLOY / "mosquitto" / "acl", folder)
    (folder / "store").mkdir()
    passwords = folder / "passwords"
    passwords.touch()
    for user, word in PASSWORDS.items():
        subprocess.run(
            [program("mosquitto_passwd"), "-b", str(passwords), user, word], check=True, capture_output=True
        )
    yield folder
    shutil.rmtree(folder)


def shipped(etc: Path, tls: int | None = None) -> Mosquitto:
    """The shipped configuration in a folder of its own, on a free port, and with TLS on port `tls`."""
    port = free_port()
    text = (DEPLOY / "mosquitto" / "mosquitto.conf").read_text()
    text = text.replace("/etc/mosquitto/", f"{etc}/").replace("/var/lib/mosquitto/", f"{etc}/store/")
    text = text.replace("listener 1883", f"listener {port}")
    if tls is not None:
        text = text.replace("#tls ", "").replace("listener 8883", f"listener {tls}")
    config = etc / "mosquitto.conf"
    config.write_text(text)
    if os.geteuid() == 0:
        for path in (etc, *etc.rglob("*")):
            shutil.chown(path, "mosquitto", "mosquitto")
    return Mosquitto(config, port)


@pytest.fixture
def broker(etc: Path) -> Iterator[Mosquitto]:
    with shipped(etc) as started:
        yield started


def publish(port: int, user: str | None, topic: str) -> str:
    """The broker's word on one publication: its reason code, or that of the refused connection."""
    words: list[str] = []
    client = paho.Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
    if user is not None:
        client.username_pw_set(user, PASSWORDS[user])
    client.on_connect = lambda _c, _u, _f, code, _p: words.append(str(code)) if code.is_failure else None
    client.on_publish = lambda _c, _u, _m, code, _p: words.append(str(code))
    client.connect("127.0.0.1", port)
    client.publish(topic, user or "nobody", qos=1)
    deadline = time.monotonic() + 5
    while not words and time.monotonic() < deadline:
        client.loop(0.05)
    client.disconnect()
    return words[0]


def test_the_access_list_keeps_tables_apart(broker: Mosquitto) -> None:
    with (
        Subscriber(broker.port, user="pit", password=PASSWORDS["pit"]) as pit,
        Subscriber(broker.port, user="BJ-08", password=PASSWORDS["BJ-08"]) as eight,
    ):
        refused = "Not authorized"
        assert publish(broker.port, None, "pitwatch/detroit/BJ-07/findings") == refused
        for topic in ("findings", "events", "evidence/0b1c-before", "availability"):
            assert publish(broker.port, "BJ-07", f"pitwatch/detroit/BJ-07/{topic}") == "Success"
            assert publish(broker.port, "BJ-07", f"pitwatch/detroit/BJ-08/{topic}") == refused
            assert publish(broker.port, "pit", f"pitwatch/detroit/BJ-07/{topic}") == refused
        assert publish(broker.port, "BJ-07", "elsewhere") == refused
        assert publish(broker.port, "BJ-07", "pitwatch/detroit") == refused
        assert publish(broker.port, "pit", "pitwatch/detroit/BJ-08/again") == "Success"
        until(lambda: len(pit.messages) == 5 and len(eight.messages) == 1)
        assert [m.topic for m in eight.messages] == ["pitwatch/detroit/BJ-08/again"]
        assert {m.payload for m in pit.messages} == {b"BJ-07", b"pit"}


def test_a_table_delivers_and_is_asked_again_under_the_access_list(
    journal: Journal, broker: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PITWATCH_MQTT_PASSWORD", PASSWORDS["BJ-07"])
    url = broker.url.replace("//", "//BJ-07@")
    with Subscriber(broker.port, user="pit", password=PASSWORDS["pit"]) as pit:
        with quick(journal, url, table="BJ-07") as table:
            ref = journal.keep_evidence("before", b"\xff\xd8" + bytes(300_000) + b"\xff\xd9")
            journal.record(
                events=[Peek(t=1.0)],
                findings=[{"type": "finding", "t": 1.0, "evidence": [ref]}],
                rounds=[{"round": 1}],
                state={"phase": "idle"},
            )
            assert table.flush(15)
            pit.client.publish(
                "pitwatch/detroit/BJ-07/again",
                json.dumps({"boot": journal.boot, "first": 1, "last": 1}),
                qos=1,
            )
            until(lambda: len(pit.payloads("events")) == 2)
        until(lambda: pit.payloads("availability")[-1]["availability"] == "offline")
        tails = {m.topic.split("/")[3] for m in pit.messages}
        assert tails >= {"availability", "state", "events", "rounds", "findings", "evidence", "health"}


def test_a_table_named_otherwise_than_its_user_is_told(
    journal: Journal, broker: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PITWATCH_MQTT_PASSWORD", PASSWORDS["BJ-08"])
    with quick(journal, broker.url.replace("//", "//BJ-08@"), table="BJ-07") as table:
        journal.record(events=[Peek(t=1.0)])
        until(lambda: "refuses some of what this table sends (Not authorized)" in table.status)
    assert journal.waiting() == 1


def test_what_is_retained_or_waits_outlives_a_restart(
    journal: Journal, broker: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PITWATCH_MQTT_PASSWORD", PASSWORDS["BJ-07"])
    collector = {"user": "pit", "password": PASSWORDS["pit"], "name": "collector-1"}
    Subscriber(broker.port, **collector).close()
    with quick(journal, broker.url.replace("//", "//BJ-07@"), table="BJ-07") as table:
        journal.record(events=[Peek(t=float(t)) for t in range(50)], state={"phase": "idle"})
        assert table.flush(15)
    broker.stop()
    broker.start()
    with Subscriber(broker.port, **collector) as pit:
        until(lambda: pit.numbers() == set(range(1, 51)) and pit.payloads("state"))


def openssl(folder: Path, words: str) -> None:
    subprocess.run([program("openssl"), *words.split()], cwd=folder, check=True, capture_output=True)


def test_the_encrypted_listener(journal: Journal, etc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certs = etc / "certs"
    certs.mkdir()
    openssl(certs, "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.crt")
    openssl(certs, "req -newkey rsa:2048 -nodes -subj /CN=broker -keyout broker.key -out broker.csr")
    (certs / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    signing = "x509 -req -in broker.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names"
    openssl(certs, f"{signing} -out broker.crt")
    monkeypatch.setenv("PITWATCH_MQTT_PASSWORD", PASSWORDS["BJ-07"])
    port = free_port()
    with shipped(etc, tls=port) as broker:
        url = f"mqtts://BJ-07@127.0.0.1:{port}"
        with quick(journal, url, table="BJ-07") as stranger:
            until(lambda: "shows a certificate that is not trusted" in stranger.status)
        other_name = url.replace("127.0.0.1", "localhost")
        with quick(journal, other_name, table="BJ-07", ca_file=certs / "ca.crt") as misnamed:
            until(lambda: "shows a certificate that is not trusted" in misnamed.status)
        with (
            Subscriber(broker.port, user="pit", password=PASSWORDS["pit"]) as pit,
            quick(journal, url, table="BJ-07", ca_file=certs / "ca.crt") as table,
        ):
            ref = journal.keep_evidence("before", b"\xff\xd8" + bytes(300_000) + b"\xff\xd9")
            journal.record(
                events=[Peek(t=float(t)) for t in range(100)],
                findings=[{"type": "finding", "t": 1.0, "evidence": [ref]}],
            )
            assert table.flush(20)
            until(
                lambda: (
                    pit.numbers() == set(range(1, 101)) and any("/evidence/" in m.topic for m in pit.messages)
                )
            )


def test_the_configuration_listens_on_this_machine_only_until_tls_is_on() -> None:
    lines = (DEPLOY / "mosquitto" / "mosquitto.conf").read_text().splitlines()
    assert [line for line in lines if line.startswith("listener")] == ["listener 1883 127.0.0.1"]
    assert "allow_anonymous false" in lines


def unit(key: str) -> list[str]:
    """The values of a key in the shipped unit, for table BJ-07."""
    found = re.findall(rf"^{key}=(.*)$", UNIT.read_text(), re.M)
    return [value.replace("%i", "BJ-07") for value in found]


def test_the_unit_is_sound_to_systemd(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        absent("systemd-analyze is not installed; run: apt-get install systemd")
    text = UNIT.read_text().replace("/opt/pitwatch/bin/pitwatch", shutil.which("true") or "/bin/true")
    (tmp_path / UNIT.name).write_text(text)
    said = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / "pitwatch@BJ-07.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    ours = [line for line in said.stderr.splitlines() if "pitwatch" in line]
    assert (said.returncode, ours) == (0, [])


def test_the_unit_uses_options_that_there_are() -> None:
    (line,) = unit("ExecStart")
    executable, command, *options = shlex.split(line)
    assert (executable, command) == ("/opt/pitwatch/bin/pitwatch", "watch")
    shown = subprocess.run(
        [sys.executable, "-m", "pitwatch", command, "--help"], capture_output=True, text=True, check=True
    ).stdout
    for option in options:
        assert not option.startswith("--") or re.search(rf"{option}\b", shown)


@pytest.mark.slow
def test_the_units_command_line_watches_and_ends_in_order(broker: Mosquitto, tmp_path: Path) -> None:
    if not read_manifest():
        pytest.skip("there are no weights in this checkout; run: make train")
    width, height = 1152, 648
    etc, state = tmp_path / "etc", tmp_path / "state"
    etc.mkdir()
    calibration = json.loads((DEPLOY.parent / "calibration/mountings/round-a/calibration.json").read_text())
    scale = width / calibration["width"]
    calibration["K"] = [[scale * k for k in row] for row in calibration["K"][:2]] + [[0, 0, 1]]
    calibration |= {"width": width, "height": height}
    (etc / "calibration.json").write_text(json.dumps(calibration))
    film = cv2.VideoWriter(str(etc / "felt.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 15, (width, height))
    for _ in range(15):
        film.write(np.full((height, width, 3), (60, 110, 50), np.uint8))
    film.release()
    (etc / "BJ-07.toml").write_text(
        f"""
[table]
name = "BJ-07"
site = "detroit"
[camera]
calibration = "calibration.json"
source = "{etc / "felt.avi"}"
[layout]
template = 6
[mqtt]
url = "mqtt://BJ-07@127.0.0.1:{broker.port}"
"""
    )
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    (credentials / "mqtt-password").write_text(PASSWORDS["BJ-07"] + "\n")
    (line,) = unit("ExecStart")
    line = line.replace("/opt/pitwatch/bin/pitwatch", f"{sys.executable} -m pitwatch")
    line = line.replace("/etc/pitwatch", str(etc)).replace("/var/lib/pitwatch", str(state))
    with Subscriber(broker.port, user="pit", password=PASSWORDS["pit"]) as pit:
        done = subprocess.run(
            shlex.split(line),
            cwd=etc,
            env={
                "PATH": "/usr/bin:/bin",
                "PYTHONUNBUFFERED": "1",
                "STATE_DIRECTORY": str(state / "BJ-07"),
                "CREDENTIALS_DIRECTORY": str(credentials),
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        until(lambda: [a["availability"] for a in pit.payloads("availability")] == ["online", "offline"])
    assert (state / "BJ-07" / "pitwatch.db").exists()
    assert (state / "BJ-07" / "pitwatch.log").exists()


def test_the_unit_goes_on_by_itself_and_names_its_files_once() -> None:
    assert unit("Restart") == ["always"]
    (state,) = unit("StateDirectory")
    (line,) = unit("ExecStart")
    assert f"--journal /var/lib/{state}/pitwatch.db" in line
    assert "--table /etc/pitwatch/BJ-07.toml" in line
    assert unit("LoadCredential") == ["mqtt-password:/etc/pitwatch/BJ-07.mqtt-password"]
    # readable as a line of its own when the file is missing
    assert unit("SetCredential") == [r"mqtt-password:\n"]
