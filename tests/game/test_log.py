"""Logs are read back as written, and what is malformed is named with its file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pitwatch.errors import UserError
from pitwatch.game.audit import audit_file, run_audit
from pitwatch.game.events import CardLaid, Chips, Clear
from pitwatch.game.log import Header, read_log, write_log

GOLDEN = Path(__file__).parent.parent / "golden" / "rules"


def test_a_log_is_read_back_as_written(tmp_path: Path) -> None:
    header = Header("BJ-07", {"profile": "greektown", "burn": 1}, decks=6, minimum=1000)
    events = [
        Chips(t=1.0, seat=3, spot="main", amount=2500, stacks=((2500,),), by="player"),
        CardLaid(t=2.0, seat=3, card=None, face="down"),
        Clear(t=3.0, seat=0),
    ]
    write_log(tmp_path / "log.jsonl", header, events)
    assert read_log(tmp_path / "log.jsonl") == (header, events, None)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "is empty"),
        (["{"], "line 1: not JSON"),
        (['{"table_events": 2}'], "line 1: 'table_events' is 2"),
        (['{"table_events": 1, "decks": 0}'], "line 1: 'decks' is 0; leave it out where it is not known"),
        (['{"table_events": 1, "seats": 0}'], "line 1: 'seats' is 0"),
        (
            ['{"table_events": 1, "minimum": 2500, "maximum": 500}'],
            "line 1: 'minimum' is 2500 and 'maximum' 500, both in cents; exchange them",
        ),
        (['{"table_events": 1, "decks": "six"}'], "'decks' is 'six'"),
        (['{"table_events": 1}', '{"t": 1, "type": "crad"}'], "line 2: 'type' is 'crad'"),
        (
            ['{"table_events": 1}', '{"t": 1, "type": "card", "seat": 1, "card": "1s"}'],
            "'card' of a",
        ),
        (['{"table_events": 1}', '{"t": 2, "type": "peek"}', '{"t": 1, "type": "peek"}'], "line 3: 't' is 1"),
        (['{"table_events": 1}', "[]"], "line 2: the line is no JSON object"),
        (['{"table_events": 1}', '{"t": NaN, "type": "peek"}'], "line 2: 't' of a 'peek' event is nan"),
        (['{"table_events": 1}', '{"t": 1, "type": "peek", "confidence": 7}'], "from 0 to 1"),
        (['{"table_events": 1}', '{"t": 1, "type": "peek", "evidence": 5}'], "a list of references"),
        (['{"table_events": 1}', '{"t": 1, "type": "table", "state": "shut"}'], "one of open, closed,"),
        (
            ['{"table_events": 1}', '{"t": 1, "type": "signal", "seat": 1, "signal": "jump"}'],
            "one of hit, stand,",
        ),
        (
            [
                '{"table_events": 1}',
                '{"t": 1, "type": "chips", "seat": 1, "spot": "main", "amount": 5, "stacks": [5]}',
            ],
            "a list of lists of cents",
        ),
        (['{"table_events": 1}', f'{{"t": {"9" * 5000}, "type": "peek"}}'], "line 2: too large to read"),
        (['{"table_events": 1}', "[" * 100_000], "line 2: too large to read"),
        (['{"table_events": 1}', '{"note": "", "expect": 5}'], "'expect' is 5"),
        (['{"table_events": 1, "rules": {"profile": "greektown", "burn": -1}}'], "line 1: rule 'burn' is -1"),
    ],
)
def test_what_a_malformed_file_gets(tmp_path: Path, lines: list[str], words: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(UserError) as e:
        run_audit(path, print)
    assert words in str(e.value)
    assert "bad.jsonl" in str(e.value)


def test_marks_of_other_systems_are_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes('\ufeff{"table_events": 1}\r\n{"t": 1, "type": "peek", "x": "\u2028"}\r\n'.encode())
    assert len(read_log(path)[1]) == 1


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        audit_file(tmp_path / "no.jsonl")


def test_unknown_rules_are_said(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"table_events": 1, "rules": "greektwon"}\n')
    with pytest.raises(UserError, match="greektown"):
        audit_file(tmp_path / "log.jsonl")


def test_run_audit_prints_findings_and_notation() -> None:
    lines: list[str] = []
    assert run_audit(GOLDEN / "paid_short.jsonl", lines.append) == 1
    finding = json.loads(lines[0])
    assert finding["kind"] == "paid_short"
    assert finding["rule"] == "greektown.win_pays"
    assert finding["text"].startswith("Seat 2 was paid $35, too little (19 against 18); $40 is due")
    lines.clear()
    assert run_audit(GOLDEN / "clean_two_seats.jsonl", lines.append, notation=True) == 0
    assert lines == [
        "round 1, 3.3 to 17.6 s\ndealer: 8c Tc\nseat 2: $40, Qh 9s, stand, won +$40\n"
        "seat 5: $15, 6d 5h 7d, hit, stand, pushed $0"
    ]


def test_an_unread_hand_is_reported_once() -> None:
    lines: list[str] = []
    assert run_audit(GOLDEN / "dealer_draws_unread.jsonl", lines.append) == 0
    assert [json.loads(line) for line in lines] == [
        {
            "type": "unverified",
            "t": 11.0,
            "seat": 4,
            "hand": 0,
            "why": "a card of the dealer could not be read",
        }
    ]
