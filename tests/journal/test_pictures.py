"""Pictures stay within their budget, the oldest without a finding going first, whatever the clock says."""

from __future__ import annotations

from pathlib import Path

import pytest

from pitwatch.journal import Journal
from pitwatch.journal.pictures import Pictures


def jpeg(size: int = 1000) -> bytes:
    return b"\xff\xd8" + bytes(size - 4) + b"\xff\xd9"


def on_disk(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())


def test_the_oldest_gives_way(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path, budget=3500)
    for name in "abcde":
        pictures.keep(name, jpeg())
    assert [name for name in "abcde" if name in pictures] == ["c", "d", "e"]
    assert pictures.size == on_disk(tmp_path) == 3000
    assert pictures.read("a") is None
    assert pictures.read("e") == jpeg()


def test_a_findings_picture_outlasts_the_others(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path, budget=3500)
    pictures.keep("proof", jpeg())
    assert pictures.protect("proof")
    for n in range(10):
        pictures.keep(f"n{n}", jpeg())
    assert "proof" in pictures
    assert not pictures.protect("n0")


def test_findings_leave_room_for_what_may_become_one(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path, budget=10_000)
    for n in range(20):
        pictures.keep(f"p{n}", jpeg())
        pictures.protect(f"p{n}")
    for n in range(3):
        pictures.keep(f"new{n}", jpeg())
    assert [n for n in range(3) if f"new{n}" in pictures] == [1, 2]
    assert "p19" in pictures
    assert "p0" not in pictures
    assert on_disk(tmp_path) <= 10_000


def test_order_and_findings_survive_reopening(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path, budget=10_000)
    for name in ("z-first", "a-second", "m-third"):
        pictures.keep(name, jpeg())
    pictures.protect("z-first")
    (tmp_path / "0000000009-cut.part").write_bytes(b"\xff\xd8")
    (tmp_path / "notes.txt").write_text("a technician's")

    again = Pictures(tmp_path, budget=2500)
    again.keep("fourth", jpeg())
    assert [n for n in ("z-first", "a-second", "m-third", "fourth") if n in again] == ["z-first", "fourth"]
    assert {f.name for f in tmp_path.iterdir()} == {"findings", "notes.txt", "0000000004-fourth.jpg"}


@pytest.mark.parametrize("left", [0, 2, 500])
def test_a_picture_cut_short_by_the_power_is_no_picture(tmp_path: Path, left: int) -> None:
    Pictures(tmp_path, budget=10_000).keep("cut", jpeg())
    (file,) = tmp_path.glob("*.jpg")
    file.write_bytes(jpeg()[:left])
    assert Pictures(tmp_path, budget=10_000).read("cut") is None


@pytest.mark.parametrize("name", ["", "a/b", "../up", ".hidden", "a+b", "a#", "x" * 101, "é", "a\n"])
def test_a_name_must_do_for_a_file_and_a_topic(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="cannot be a new picture's name"):
        Pictures(tmp_path, budget=10_000).keep(name, jpeg())


def test_only_whole_jpegs_are_kept(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'half' is no whole JPEG"):
        Pictures(tmp_path, budget=10_000).keep("half", jpeg()[:-1])


def test_the_same_name_twice_is_two_pictures_also_over_boots(tmp_path: Path) -> None:
    refs = []
    for _ in range(2):
        with Journal(tmp_path / "pitwatch.db", "detroit", "BJ-07") as journal:
            refs += [journal.keep_evidence("12.4-before", jpeg(n)) for n in (1000, 1100)]
    with Journal(tmp_path / "pitwatch.db", "detroit", "BJ-07") as journal:
        assert len(set(refs)) == 4
        assert [len(journal.evidence(r) or b"") for r in refs] == [1000, 1100, 1000, 1100]
        assert journal.counts()["evidence_bytes"] == 4200


def test_a_picture_deleted_by_hand_is_gone_without_harm(tmp_path: Path) -> None:
    with Journal(tmp_path / "pitwatch.db", "detroit", "BJ-07") as journal:
        ref = journal.keep_evidence("12.4-before", jpeg())
        next(tmp_path.rglob("*.jpg")).unlink()
        assert journal.evidence(ref) is None
        journal.record(findings=[{"type": "finding", "t": 1.0, "evidence": [ref]}])
        assert [w.kind for w in journal.pending()] == ["finding"]
