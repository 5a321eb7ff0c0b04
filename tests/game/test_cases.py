"""Every case file comes out exactly: the findings it states and no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pitwatch.game.audit import Audit
from pitwatch.game.cases import case_files, check_case, main
from pitwatch.game.findings import KINDS, Finding, Unverified
from pitwatch.game.log import read_log
from pitwatch.rules import PROFILES, load_profile

GOLDEN = Path(__file__).parent.parent / "golden" / "rules"

# What the audit cannot yet be shown to find, each to be struck off when it can.
WITHOUT_A_CASE: set[str] = set()


@pytest.mark.parametrize("path", case_files([GOLDEN]), ids=lambda p: p.stem)
def test_case(path: Path) -> None:
    assert check_case(path) == []


@pytest.mark.parametrize("path", case_files([GOLDEN]), ids=lambda p: p.stem)
def test_a_table_watched_live_says_the_same_at_the_same_time(path: Path) -> None:
    header, events, _ = read_log(path)
    replayed, live = Audit(header), Audit(header)
    want = [s for e in events for s in replayed.feed(e)] + replayed.finish()
    got: list[Finding | Unverified] = []
    before = events[0].t
    for e in events:
        for n in range(1, round((e.t - before) * 5) + 1):  # five looks a second
            got += live.advance(min(before + n / 5, e.t))
        got += live.feed(e)
        before = e.t
    got += live.finish()
    assert got == want


def test_every_finding_kind_has_a_case() -> None:
    shown = {e["kind"] for path in case_files([GOLDEN]) for e in (read_log(path)[2] or {})["expect"]}
    assert set(KINDS) - shown == WITHOUT_A_CASE


def trailers() -> list[dict[str, Any]]:
    return [read_log(path)[2] or {} for path in case_files([GOLDEN])]


def test_every_finding_kind_has_a_clean_look_alike() -> None:
    """A case that looks like the mistake and is none: "like" in its last line."""
    alike = {t["like"] for t in trailers() if "like" in t and not t["expect"]}
    assert alike == set(KINDS)


@pytest.mark.parametrize("name", PROFILES)
def test_every_sentence_of_every_house_has_a_case(name: str) -> None:
    """A finding by the rule, or "shows" in the last line of a case that is right by it."""
    shown = {rule for t in trailers() for rule in t.get("shows", ())}
    shown |= {e["rule"] for t in trailers() for e in t["expect"] if "rule" in e}
    said = {f"{name}.{rule}" for rule in load_profile(name).sentences}
    assert said - shown == set()


def test_a_missing_folder_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main([str(tmp_path / "nowhere")]) == 2
    assert "nowhere is not there" in capsys.readouterr().err


def test_a_case_that_comes_out_wrong_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = (GOLDEN / "paid_short.jsonl").read_text().splitlines()
    lines[-1] = json.dumps({"note": "", "expect": [{"kind": "paid_over", "seat": 2}]})
    (tmp_path / "wrong.jsonl").write_text("\n".join(lines))
    assert main([str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "missed paid_over 2" in out
    assert "extra paid_short 2 0 4000 3500" in out
    assert "0 of 1 cases" in out
