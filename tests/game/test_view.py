"""The live view says what stands on the table, step by step."""

from __future__ import annotations

from pathlib import Path

from pitwatch.game.audit import Audit
from pitwatch.game.log import read_log

GOLDEN = Path(__file__).parent.parent / "golden" / "rules"


def test_a_round_step_by_step() -> None:
    header, events, _ = read_log(GOLDEN / "clean_two_seats.jsonl")
    audit = Audit(header)
    phases: list[str] = []
    shown: dict[str, list[str]] = {}
    for e in events:
        audit.feed(e)
        audit.advance(e.t + 0.01)
        view = audit.table
        if not phases or phases[-1] != view.phase:
            phases.append(view.phase)
        shown[view.phase] = [f"{h.seat} {h.total} {h.wager} {h.status}".strip() for h in view.hands]
    assert phases == [
        "waiting for wagers",
        "dealing",
        "players act: seat 2",
        "players act: seat 5",
        "settling",
        "waiting for wagers",
    ]
    assert shown["players act: seat 5"] == ["2 19 4000", "5 18 1500"]
    assert audit.rounds_done[0].hands[0].payout == 4000
    assert (audit.hands_judged, audit.hands_total) == (2, 2)


def test_statuses() -> None:
    header, events, _ = read_log(GOLDEN / "double_paid_single.jsonl")
    audit = Audit(header)
    seen: list[str] = []
    for e in events:
        audit.feed(e)
        audit.advance(e.t + 0.01)
        seen += [h.status for h in audit.table.hands if h.status and h.status not in seen]
    assert seen == ["doubled", "paid $25"]


def test_dealer_total_and_soft_hands() -> None:
    header, events, _ = read_log(GOLDEN / "dealer_stands_soft_17_under_h17.jsonl")
    audit = Audit(header)
    totals: list[str] = []
    for e in events:
        audit.feed(e)
        audit.advance(e.t + 0.01)
        totals += [audit.table.dealer.total] if audit.table.dealer.total not in totals else []
    assert totals == ["", "6 up", "soft 17"]
