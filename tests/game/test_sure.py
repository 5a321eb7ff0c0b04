"""A mistake is said only when it was read surely enough; what is right needs no more than agreement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pitwatch.game.audit import Audit
from pitwatch.game.box import Box
from pitwatch.game.events import Chips
from pitwatch.game.findings import Finding, Unverified
from pitwatch.game.log import read_log

GOLDEN = Path(__file__).parents[1] / "golden/rules"


def _audited(name: str, confidence: float, sure: float) -> tuple[list[Finding], list[Unverified]]:
    """The case's log, its chips read with `confidence`."""
    header, events, _ = read_log(GOLDEN / f"{name}.jsonl")
    audit, said = Audit(header, sure=sure), []
    for e in events:
        said += audit.feed(replace(e, confidence=confidence) if isinstance(e, Chips) else e)
    said += audit.finish()
    return [s for s in said if isinstance(s, Finding)], [s for s in said if isinstance(s, Unverified)]


def _cases(kind: str) -> list[str]:
    return [
        p.stem
        for p in sorted(GOLDEN.glob("*.jsonl"))
        if [f.kind for f in _audited(p.stem, 1.0, 0.0)[0]] == [kind]
    ]


@pytest.mark.parametrize("kind", ["paid_over", "paid_short"])
def test_a_doubtful_payment_is_unverified_and_not_wrong(kind: str) -> None:
    names = _cases(kind)
    assert names
    for name in names:
        found, _ = _audited(name, 0.85, 0.0)
        assert [f.kind for f in found] == [kind]
        found, open_ = _audited(name, 0.85, 0.9)
        assert not found, name
        assert open_ or "void" in name, name
        assert [f.kind for f in _audited(name, 0.95, 0.9)[0]] == [kind]


def test_a_doubtful_payment_that_is_right_is_judged() -> None:
    clean = [p.stem for p in sorted(GOLDEN.glob("*.jsonl")) if _audited(p.stem, 1.0, 0.0) == ([], [])]
    assert len(clean) > 20
    for name in clean:
        assert _audited(name, 0.85, 0.9) == ([], []), name


@pytest.mark.parametrize("kind", ["push_taken", "winner_taken"])
def test_that_everything_was_taken_is_sure_whatever_it_was(kind: str) -> None:
    names = _cases(kind)
    assert names
    for name in names:
        header, events, _ = read_log(GOLDEN / f"{name}.jsonl")
        audit, said = Audit(header, sure=0.93), []
        for e in events:
            doubtful = isinstance(e, Chips) and bool(e.amount)  # an empty spot is seen for sure
            said += audit.feed(replace(e, confidence=0.85) if doubtful else e)
        said += audit.finish()
        assert [s.kind for s in said if isinstance(s, Finding)] == [kind], name


def test_a_payment_is_as_sure_as_wager_and_payment_together() -> None:
    for case in _cases("paid_over"):
        # 0.95 of each is 0.9025 of both: enough for a bar of 0.9, not for one of 0.92
        assert _audited(case, 0.95, 0.9)[0]
        assert not _audited(case, 0.95, 0.92)[0]


def test_a_wager_put_during_the_round_is_as_sure_as_its_own_reading() -> None:
    box = Box(1, "main", 1)
    box.see(Chips(t=1.0, seat=1, spot="main", hand=1, amount=5000, by="player", confidence=0.9))
    box.see(Chips(t=2.0, seat=1, spot="main", hand=1, amount=10000, by="dealer", confidence=0.99))
    assert box.wager_confidence == 0.9
