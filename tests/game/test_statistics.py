"""A pit's figures: shoe, seats, and what could not be read counted as such."""

from __future__ import annotations

import io
import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from rich.console import Console

from pitwatch.cards import CARDS, card_value
from pitwatch.cli.figures import print_figures
from pitwatch.game.events import TableEvent, event_from_json
from pitwatch.game.log import Header, read_log, write_log
from pitwatch.game.statistics import SeatFigures, figures, hi_lo

from .test_random_rounds import SEEDS, audited, blanked, played

GOLDEN = Path(__file__).parent.parent / "golden" / "rules"


def events(*rows: dict[str, object]) -> list[TableEvent]:
    return [event_from_json({"t": float(t), **row}) for t, row in enumerate(rows, 1)]


def card(seat: int, code: str | None, **more: object) -> dict[str, object]:
    return {"type": "card", "seat": seat, "card": code, **more}


def test_a_deck_counts_to_nothing() -> None:
    assert sum(map(hi_lo, CARDS)) == 0
    assert [hi_lo(c) for c in ("2s", "6?", "7d", "9c", "Td", "As")] == [1, 1, 0, 0, -1, -1]


def test_a_shoe_is_counted_card_by_card() -> None:
    log = events(
        {"type": "shoe", "decks": 1},
        {"type": "burn"},
        {"type": "chips", "seat": 1, "spot": "main", "amount": 1000},
        card(1, "5s"),
        card(0, "6d"),
        card(1, "4?"),
        card(0, None, face="down"),
        {"type": "turn", "seat": 0, "card": "Kd"},
        card(0, "2c"),
    )
    (shoe,) = figures(Header(decks=6), log).shoes
    assert (shoe.decks, shoe.from_start, shoe.out, shoe.unseen, shoe.unread) == (1, True, 6, 1, 0)
    assert shoe.running == 4 - 1
    assert shoe.penetration == pytest.approx(6 / 52)
    assert shoe.true_count == pytest.approx(3 / (46 / 52))
    assert (shoe.copies["Kd"], shoe.ranks["4"]) == (1, 1)


def test_an_unread_card_leaves_the_count_open() -> None:
    log = events({"type": "shoe"}, card(1, "5s"), card(0, None), {"type": "shoe"}, card(1, "5s"))
    first, second = figures(Header(decks=2), log).shoes
    assert (first.unread, first.true_count, first.running) == (1, None, 1)
    assert second.true_count == pytest.approx(1 / (103 / 52))


def test_a_log_that_begins_within_a_shoe_says_so() -> None:
    shoes = figures(Header(decks=1), events(card(1, "5s"), card(0, "5s"))).shoes
    assert [(s.from_start, s.too_many, s.out) for s in shoes] == [(False, ("5s",), 2)]
    assert figures(Header(), events(card(1, "5s"))).shoes[0].penetration is None


def test_seats() -> None:
    header, log, _ = read_log(GOLDEN / "split_and_double.jsonl")
    (seat,) = figures(header, log).seats
    assert (seat.seat, seat.rounds, seat.hands, seat.handle, seat.net) == (2, 1, 2, 6000, -2000)
    assert (seat.average_wager, seat.handle_unread, seat.net_unread) == (2000, 0, 0)
    header, log, _ = read_log(GOLDEN / "insurance_paid.jsonl")
    (seat,) = figures(header, log).seats
    assert (seat.side_handle, seat.side_net, seat.net) == (800, 1600, -2000)
    header, log, _ = read_log(GOLDEN / "voided_round.jsonl")
    assert [s.hands for s in figures(header, log).seats if s.seat == 0] == []


def test_the_correlation_of_wagers_with_the_count() -> None:
    up = SeatFigures(1, pairs=[(-1.0, 1000), (0.0, 2000), (2.0, 4000)])
    assert up.count_correlation == pytest.approx(1.0)
    assert SeatFigures(1, pairs=[(-1.0, 1000), (2.0, 1000)]).count_correlation is None
    assert SeatFigures(1, pairs=[(1.0, 1000)]).count_correlation is None
    assert SeatFigures(1, pairs=[(0.0, 2000), (1.0, 1000)]).to_json()["count_correlation"] == -1.0


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_the_figures_are_the_rounds_summed(seed: int) -> None:
    play = played(seed, rounds=4)
    audit, _ = audited(play)
    found = figures(play.header, play.events)
    records = [h for r in audit.rounds_done for h in r.hands]
    assert sum(s.hands for s in found.seats) == len(records)
    assert sum(s.net for s in found.seats) == sum(h.payout or 0 for h in records)
    assert sum(s.handle for s in found.seats) == sum(h.stake or 0 for h in records)
    assert sum(s.out for s in found.shoes) == sum(e.type in ("card", "burn") for e in play.events)
    shoe = found.shoes[-1]
    assert shoe.running == sum(n * hi_lo(c) for c, n in shoe.copies.items())
    assert all(card_value(c) for c in shoe.copies)


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_what_is_blanked_is_counted_and_never_guessed(seed: int) -> None:
    play = played(seed, rounds=3)
    whole = figures(play.header, play.events)
    dim = figures(play.header, blanked(play.events, Random(seed), 0.2))
    assert sum(s.out for s in dim.shoes) == sum(s.out for s in whole.shoes)
    for shoe, full in zip(dim.shoes, whole.shoes, strict=True):
        assert abs(shoe.running - full.running) <= shoe.unread
        assert all(n <= full.copies[c] for c, n in shoe.copies.items())
        assert shoe.true_count is None or shoe.unread == 0
    for seat in dim.seats:
        assert len(seat.wagers) <= seat.rounds
        assert len(seat.pairs) <= len(seat.wagers)


def test_the_command_prints_tables_or_json(tmp_path: Path) -> None:
    play = played(5, rounds=3)
    write_log(tmp_path / "log.jsonl", Header("BJ-07", play.rules, decks=6), play.events)
    out = io.StringIO()
    assert print_figures(tmp_path / "log.jsonl", as_json=False, console=Console(file=out, width=100)) == 0
    text = out.getvalue()
    assert text.startswith("BJ-07: 3 rounds")
    assert "win/loss" in text
    assert "6 decks" in text
    out = io.StringIO()
    print_figures(tmp_path / "log.jsonl", as_json=True, console=Console(file=out, width=40))
    found = json.loads(out.getvalue())
    assert found["rounds"] == 3
    assert len(out.getvalue().splitlines()) == 1
