"""`pitwatch replay` in a pipe, with keys, at a speed; never a traceback."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from pitwatch.cli import replay as replaying
from pitwatch.cli.replay import replay, said_of, steps
from pitwatch.errors import UserError
from pitwatch.game.cases import case_files
from pitwatch.game.events import event_from_json
from pitwatch.game.findings import Finding
from pitwatch.game.log import read_log

GOLDEN = Path(__file__).parent.parent / "golden" / "rules"
CASE = GOLDEN / "paid_short.jsonl"


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pitwatch", "replay", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


def test_a_pipe_gets_plain_lines() -> None:
    done = run(CASE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    assert "seat 2 main: $40" in lines[0]
    assert any("seat 2 gets Qh" in line for line in lines)
    assert any("| settling | dealer 8c Tc (18) stands | seat 2 $40 Qh 9s (19)" in line for line in lines)
    assert any("! alert: Seat 2 was paid $35, too little" in line for line in lines)


def test_what_cannot_be_replayed_gets_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"table_events": 1}\n{"t": 1, "type": "crad"}\n')
    for words in ([tmp_path / "no.jsonl"], [tmp_path / "log.jsonl"], [CASE, "--speed", "0"]):
        done = run(*words)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith("pitwatch: ")
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("path", case_files([GOLDEN])[::9], ids=lambda p: p.stem)
def test_it_finds_what_the_audit_finds(path: Path) -> None:
    header, events, trailer = read_log(path)
    every = list(steps(header, events))
    found = [s.kind for step in every for s in step.said if isinstance(s, Finding)]
    assert trailer is not None
    assert sorted(found) == sorted(e["kind"] for e in trailer["expect"])
    assert [e for step in every for e in step.events] == events
    assert all(said_of(e) for e in events)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"type": "card", "seat": 0, "card": None, "face": "down"}, "dealer gets a card face down"),
        ({"type": "card", "seat": 3, "hand": 1, "card": None}, "seat 3 hand 2 gets ??"),
        ({"type": "chips", "seat": 3, "spot": "insurance", "amount": None}, "seat 3 insurance: unread"),
        ({"type": "move", "seat": 3, "hand": 0, "to": 1}, "seat 3 splits hand 1, begins hand 2"),
        ({"type": "gone", "seat": 3, "by": "player"}, "seat 3: a card is removed, by the player"),
        ({"type": "clear", "seat": 0}, "dealer: cards picked up"),
        ({"type": "signal", "seat": 2, "hand": 2, "signal": "stand"}, "seat 2 hand 3 signals stand"),
        ({"type": "signal", "seat": 2, "signal": "even_money"}, "seat 2 signals even money"),
        ({"type": "void"}, "the round is declared dead"),
        ({"type": "void", "seat": 4}, "seat 4 is declared dead"),
        ({"type": "table", "state": "buy_in"}, "table: buy in"),
        ({"type": "peek"}, "the dealer checks the hole card"),
        ({"type": "shoe"}, "a new shoe"),
        ({"type": "burn"}, "a card is burnt"),
        ({"type": "dealer"}, "another dealer"),
    ],
)
def test_events_in_words(event: dict[str, object], words: str) -> None:
    assert said_of(event_from_json({"t": 1.0, **event})) == words


def keyed(keys: str) -> list[str]:
    """Where each key leads: the step's number as it is shown."""
    header, events, _ = read_log(CASE)
    shown = Console(record=True, width=100, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    waiting: Iterator[str] = iter([*keys, ""])
    replaying._by_keys(list(steps(header, events)), shown, lambda: next(waiting))
    text = shown.export_text()
    shown.file.close()
    return [line.split()[1] for line in text.splitlines() if line.startswith("step ")]


def test_keys() -> None:
    assert keyed("") == ["1"]
    assert keyed("\n\nb\nq") == ["1", "2", "3", "2", "3"]
    assert keyed("bq") == ["1", "1"]
    number = keyed("fq")[1]
    assert int(number) > 10
    assert int(keyed("rq")[1]) == 3


def test_a_terminal_waits_for_a_key_and_is_left_as_it_was() -> None:
    main, side = pty.openpty()
    command = [sys.executable, "-m", "pitwatch", "replay", str(CASE)]
    child = subprocess.Popen(command, stdin=side, stdout=side, stderr=side)
    out = b""

    def until(words: bytes) -> None:
        nonlocal out
        while words not in out:
            ready, _, _ = select.select([main], [], [], 60)
            assert ready, f"{words!r} did not come, but {out[-500:]!r}"
            out += os.read(main, 4096)

    until(b"step 1 of")
    os.write(main, b"\n\n")
    until(b"step 3 of")
    os.write(main, b"q")
    assert child.wait(timeout=60) == 0
    os.close(side)
    os.close(main)
    assert b"Traceback" not in out


def test_it_plays_by_itself(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    waits: list[float] = []
    monkeypatch.setattr(replaying.time, "sleep", waits.append)
    replay(CASE, speed=2.0, plain=True)
    _, events, _ = read_log(CASE)
    assert sum(waits) == pytest.approx((events[-1].t - events[0].t) / 2)
    assert "! alert" in capsys.readouterr().out
    with pytest.raises(UserError, match="--speed is -1"):
        replay(CASE, speed=-1)
