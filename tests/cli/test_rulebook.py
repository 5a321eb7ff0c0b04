"""`pitwatch rules` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pitwatch.cli.commands import app
from pitwatch.errors import UserError

run = CliRunner()


def said(*words: str | Path) -> str:
    done = run.invoke(app, ["rules", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout


def wrong(*words: str | Path) -> tuple[str, int]:
    done = run.invoke(app, ["rules", *map(str, words)])
    return done.stderr, done.exit_code


@pytest.fixture(autouse=True)
def _piped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def test_list() -> None:
    text = said("list")
    for word in ("greektown", "celebrity", "signage", "super_sevens", "40:1 straight flush"):
        assert word in text


@pytest.mark.parametrize("name", ["greektown", "celebrity", "signage"])
def test_show_fits_a_hundred_columns_and_has_no_colour_codes_in_a_pipe(name: str) -> None:
    text = said("show", name)
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text
    assert "Blackjack pays 3 to 2." in text
    assert "Not said, and so not judged: decks" in text


def test_show_fits_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, said("show", "greektown").splitlines())) <= 60


def test_show_quotes_the_document_beside_the_rule() -> None:
    lines = [line.rstrip() for line in said("show", "greektown").splitlines()]
    at = next(i for i, line in enumerate(lines) if line.startswith("A 21 of two cards beats"))
    assert "A two card 21 wins over a multi-card card 21 in" in lines[at]
    assert lines[at + 1].startswith("two_card_21_beats_more")


def test_diff() -> None:
    text = said("diff", "greektown", "celebrity")
    assert "dealer_blackjack_takes" in text
    assert "(not said)" in text
    assert "max_hands" not in text
    assert said("diff", "signage", "signage") == "signage and signage play by the same rules.\n"


def test_files_of_ones_own(tmp_path: Path) -> None:
    house, table = tmp_path / "house.json", tmp_path / "table.toml"
    house.write_text(json.dumps({"profile": "signage", "name": "mine", "blackjack_pays": "6:5"}))
    table.write_text('[table]\nname = "T1"\nrules = { profile = "signage", surrender = "late" }\n')
    assert said("check", house) == f"{house} changes 1 rule of signage; nothing is wrong with it.\n"
    assert "changes 1 rule of signage" in said("check", table)
    assert "Set for this table" in said("show", house)
    assert "Late surrender" in said("show", table)
    assert "6 to 5" in said("diff", "signage", house)
    table.write_text('[table]\nname = "T1"\nrules = "house.json"\n')
    assert "6 to 5" in said("show", table)
    table.write_text('[table]\nname = "T1"\n')
    assert "changes no rule of greektown" in said("check", table)


def test_check_names_every_mistake(tmp_path: Path) -> None:
    house = tmp_path / "house.json"
    house.write_text(json.dumps({"profile": "signage", "dealer_soft17": "hit", "hole_card": "none"}))
    text, status = wrong("check", house)
    assert status == 2
    first, second = text.splitlines()
    assert first.startswith(f"pitwatch: {house}: 'dealer_soft17' is no rule (did you mean 'dealer_soft_17'?)")
    assert "'peek'" in second


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("nowhere.json", None, "cannot be read"),
        ("nowhere.toml", None, "cannot be read"),
        ("broken.toml", "[table", "is no TOML"),
        ("odd.toml", "[table]\nrules = 3\n", "a profile's name or a table of rules"),
        ("odd.toml", "table = 3\n", "a profile's name or a table of rules"),
        ("house.json", '{"profile": "signage", "burn": "x"}', "rule 'burn'"),
        ("house.toml", '[table]\nrules = "signal"\n', "there are no house rules 'signal'"),
    ],
)
def test_what_cannot_be_shown(tmp_path: Path, name: str, text: str | None, words: str) -> None:
    file = tmp_path / name
    if text is not None:
        file.write_text(text)
    done = run.invoke(app, ["rules", "show", str(file)])
    assert isinstance(done.exception, UserError)
    assert str(file) in str(done.exception)
    assert words in str(done.exception)
