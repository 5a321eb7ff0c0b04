from __future__ import annotations

import dataclasses
import io

import pytest
from rich.console import Console

from pitwatch.game.findings import Unverified
from pitwatch.game.record import HandRecord, RoundRecord
from pitwatch.monitor.board import BoardState, CardShown, FindingShown, HandShown, Health, SeatShown
from pitwatch.monitor.terminal import PlainLines, TerminalDisplay, cards_text, clock, display_for

FINDING = FindingShown(
    "1", 748.5, 7, "paid_short", 1, 0, "alert", "Seat 1 was paid $25.00, short of $37.50.", rule="greektown.x"
)
STATE = BoardState(
    table="BJ-07",
    rules="greektown",
    t=754.2,
    round=7,
    phase="players act: seat 3",
    dealer=HandShown((CardShown("6d"), CardShown(None, face_up=False)), "6"),
    seats=(
        SeatShown(1, (HandShown((CardShown("Ks"), CardShown("Ah")), "21", 2500, "blackjack"),)),
        SeatShown(
            3,
            (
                HandShown((CardShown("8h"), CardShown("Td", sideways=True)), "18", 20000, "doubled"),
                HandShown((CardShown("8s"), CardShown(None)), "?", None, turn=True),
            ),
            {"insurance": 500},
        ),
    ),
    felt=dataclasses.replace(BoardState().felt, spots=((0, 0),) * 6),
    health=Health(fps=14.9, hands_judged=41, hands_total=42, broker="connected"),
)


def drawn(width: int, display_height: int = 40) -> tuple[TerminalDisplay, io.StringIO]:
    out = io.StringIO()
    console = Console(file=out, width=width, height=display_height, force_terminal=True, color_system=None)
    return TerminalDisplay(console), out


def text_of(display: TerminalDisplay, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(display.render())
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_the_whole_table_is_shown(width: int) -> None:
    display, _ = drawn(width)
    display.state(STATE, None)  # type: ignore[arg-type]
    display.finding(FINDING)
    text = text_of(display, width)
    for part in (
        "BJ-07",
        "round 7",
        "players act: seat 3",
        "dealer   6♦ ▒▒",
        "K♠ A♥",
        "$25",
        "blackjack",
        "3.1      8♥ 10♦",
        "8♠ ??",
        "insurance $5",
        "14.9 pictures/s",
        "97 % of 42 hands judged",
        "MQTT connected",
        "12:28 seat 1 Seat 1 was paid $25.00, short of $37.50.",
    ):
        assert part in text
    assert max(len(line) for line in text.splitlines()) <= width
    acting = next(line for line in text.splitlines() if "▶" in line)
    assert "3.2" in acting


def test_a_low_terminal_shows_the_newest_findings_only() -> None:
    display, _ = drawn(80, display_height=24)
    display.state(STATE, None)  # type: ignore[arg-type]
    for i in range(60):
        display.finding(dataclasses.replace(FINDING, text=f"Finding number {i}."))
    text = text_of(display, 80)
    assert "Finding number 59." in text
    assert "Finding number 1." not in text
    assert len(text.splitlines()) <= 24


def test_the_live_display_draws_and_stops() -> None:
    display, out = drawn(80)
    with display:
        display.state(STATE, None)  # type: ignore[arg-type]
        display.notice("The disk is full.")
        display.notice("The disk is full.")
    assert out.getvalue().count("The disk is full.") == 1


def test_where_there_is_no_terminal_a_line_is_written_for_each_thing() -> None:
    out = io.StringIO()
    display = display_for(Console(file=out, width=40))
    assert isinstance(display, PlainLines)
    with display:
        display.state(STATE, None)  # type: ignore[arg-type]
        display.finding(FINDING)
        display.unverified(Unverified(750.0, 2, 1, "a card was not read"))
        hand = HandRecord(1, 0, ("Ks", "Ah"), 2500)
        display.round(RoundRecord(7, 700.0, 761.0, (hand,), ("6d", "Td")))
        display.notice("A sentence.")
    assert out.getvalue().splitlines() == [
        "12:28 ALERT seat 1: Seat 1 was paid $25.00, short of $37.50. [greektown.x]",
        "12:30 not judged, seat 2 hand 2: a card was not read",
        "12:41 round 7: 1 hand, no finding",
        "A sentence.",
    ]


def test_red_suits_are_red() -> None:
    text = cards_text((CardShown("Th"), CardShown("As"), CardShown("7?")))
    assert text.plain == "10♥ A♠ 7?"
    assert [str(s.style) for s in text.spans if s.style] == ["bold red", "bold", "bold"]


def test_clocks() -> None:
    assert (clock(0), clock(75.9), clock(3725), clock(-1)) == ("00:00", "01:15", "1:02:05", "00:00")
