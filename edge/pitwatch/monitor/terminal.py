"""The table in a terminal: as it stands, redrawn in place, and each finding as it is made.

In: what `pipeline.Monitor` tells its listeners. Out: text; where the output is no terminal, one plain line a
finding, a round and a notice. Money is cents, `t` seconds.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pitwatch.chips import money
from pitwatch.game.audit import RoundRecord
from pitwatch.game.findings import Unverified
from pitwatch.monitor.board import BoardState, CardShown, FindingShown, HandShown, Health
from pitwatch.monitor.pipeline import Listener

__all__ = ["PlainLines", "TerminalDisplay", "cards_text", "clock", "display_for", "seat_name"]

_SUITS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠", "?": "?"}
_RED = "bold red"
_BLACK = "bold"
_SEVERITY = {"alert": "bold red", "notice": "yellow"}


def display_for(console: Console) -> TerminalDisplay | PlainLines:
    """The live display on a terminal, plain lines anywhere else."""
    return TerminalDisplay(console) if console.is_terminal else PlainLines(console)


def clock(t: float) -> str:
    """Seconds as people read them: 12:34, or 1:02:03."""
    s = max(0, int(t))
    hours = f"{s // 3600}:" if s >= 3600 else ""
    return f"{hours}{s // 60 % 60:02d}:{s % 60:02d}"


def seat_name(seat: int, hand: int = 0) -> str:
    """The dealer, or a seat and which of its hands after a split."""
    if seat == 0:
        return "dealer"
    return f"seat {seat}" + (f" hand {hand + 1}" if hand else "")


def cards_text(cards: tuple[CardShown, ...]) -> Text:
    """Cards with their suits' symbols, red ones red; a back as ▒▒, an unread face as ??."""
    out = Text()
    for i, shown in enumerate(cards):
        if i:
            out.append(" ")
        if shown.card is None:
            out.append("??" if shown.face_up else "▒▒", "yellow" if shown.face_up else "blue")
            continue
        rank = "10" if shown.card[0] == "T" else shown.card[0]
        out.append(rank + _SUITS[shown.card[1]], _RED if shown.card[1] in "dh" else _BLACK)
    return out


class PlainLines(Listener):
    """One line a finding, a round and a notice; for logs and pipes."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._broker = ""

    def __enter__(self) -> PlainLines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def state(self, state: BoardState, picture: NDArray[np.uint8]) -> None:
        """Say what became of the broker, when that has changed."""
        said = state.health.broker_status
        if said != self._broker and state.health.broker != "off":
            self._broker = said
            self._line(said)

    def finding(self, finding: FindingShown) -> None:
        """Say it with time, severity, seat and rule."""
        where = seat_name(finding.seat, finding.hand)
        rule = f" [{finding.rule}]" if finding.rule else ""
        self._line(f"{clock(finding.t)} {finding.severity.upper()} {where}: {finding.text}{rule}")

    def round(self, record: RoundRecord) -> None:
        """Say how many hands it had and what was found."""
        found = len(record.findings)
        verdict = "no finding" if not found else "1 finding" if found == 1 else f"{found} findings"
        hands = "1 hand" if len(record.hands) == 1 else f"{len(record.hands)} hands"
        self._line(f"{clock(record.t_end)} round {record.number}: {hands}, {verdict}")

    def unverified(self, remark: Unverified) -> None:
        """Say which hand could not be judged, and why."""
        self._line(f"{clock(remark.t)} not judged, {seat_name(remark.seat, remark.hand)}: {remark.why}")

    def notice(self, sentence: str) -> None:
        """Say it."""
        self._line(sentence)

    def _line(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class TerminalDisplay(Listener):
    """The table drawn in place, findings below it; use as a context."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._state = BoardState()
        self._findings: deque[FindingShown] = deque(maxlen=200)
        self._notices: deque[str] = deque(maxlen=3)
        self._live = Live(console=console, refresh_per_second=5, get_renderable=self.render)

    def __enter__(self) -> TerminalDisplay:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def state(self, state: BoardState, picture: NDArray[np.uint8]) -> None:
        """Take over the newest state; it is drawn with the next refresh."""
        self._state = state

    def finding(self, finding: FindingShown) -> None:
        """Put it on top of the list."""
        self._findings.appendleft(finding)

    def notice(self, sentence: str) -> None:
        """Show it under the table."""
        if sentence not in self._notices:
            self._notices.append(sentence)

    def render(self) -> RenderableType:
        """The whole picture, at most as high as the terminal."""
        state = self._state
        parts: list[RenderableType] = [
            _head(state),
            _hands(state),
            Padding(_health(state.health), (1, 0, 0, 0)),
        ]
        used = 6 + sum(max(1, len(s.hands)) for s in state.seats) + 1
        for sentence in self._notices:
            parts.append(Text(sentence, "yellow"))
            used += 1 + len(sentence) // max(20, self._console.width)
        room = max(2, self._console.height - used - 3)
        parts.append(Padding(self._list(room), (1, 0, 0, 0)))
        return Group(*parts)

    def _list(self, room: int) -> RenderableType:
        if not self._findings:
            return Text("No finding so far.", "dim")
        table = Table(box=None, padding=(0, 1, 0, 0), show_header=False, expand=True)
        table.add_column(no_wrap=True, style="dim")
        table.add_column(no_wrap=True)
        table.add_column(ratio=1, overflow="fold")
        width = max(20, self._console.width - 16)
        for finding in self._findings:
            room -= 1 + len(finding.text) // width
            if room < 0:
                break
            style = _SEVERITY.get(finding.severity, "")
            who = "dealer" if finding.seat == 0 else f"seat {finding.seat}"
            table.add_row(clock(finding.t), Text(who, style), Text(finding.text, style))
        return table


def _head(state: BoardState) -> Text:
    out = Text(no_wrap=True, overflow="ellipsis")
    out.append("pitwatch", "bold green")
    out.append(f"  {state.table}", "bold")
    out.append(f"  {state.rules}", "dim")
    if state.round:
        out.append(f"  round {state.round}")
    out.append(f"  {state.phase}", "cyan")
    out.append(f"  {clock(state.t)}", "dim")
    return out


def _hands(state: BoardState) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), expand=False, header_style="dim")
    table.add_column("", width=1)
    table.add_column("seat", min_width=7, no_wrap=True)
    table.add_column("hand", min_width=20, overflow="fold")
    table.add_column("total", min_width=7, no_wrap=True)
    table.add_column("wager", min_width=8, justify="right", no_wrap=True)
    table.add_column("", overflow="ellipsis", no_wrap=True)
    _row(table, "dealer", state.dealer, "")
    shown = {s.seat: s for s in state.seats}
    for seat in range(1, len(state.felt.spots) + 1):
        here = shown.get(seat)
        if here is None or not here.hands:
            table.add_row("", Text(str(seat), "dim"), Text("·", "dim"), "", "", "")
            continue
        for i, hand in enumerate(here.hands):
            name = str(seat) if len(here.hands) == 1 else f"{seat}.{i + 1}"
            bets = ", ".join(f"{k} {_amount(v)}" for k, v in here.bets.items()) if i == 0 else ""
            _row(table, name, hand, _amount(hand.wager), bets)
    return table


def _row(table: Table, name: str, hand: HandShown, wager: str, bets: str = "") -> None:
    words = ", ".join(w for w in (hand.state, bets) if w)
    style = "red" if "bust" in words else "green" if "paid" in words or "blackjack" in words else "dim"
    marker = Text("▶", "bold cyan") if hand.turn else Text("")
    table.add_row(marker, name, cards_text(hand.cards), hand.total, wager, Text(words, style))


def _amount(cents: int | None) -> str:
    return "?" if cents is None else "" if cents == 0 else money(cents)


def _health(health: Health) -> Text:
    out = Text()
    out.append(f"{health.fps:.1f}", "bold")
    out.append(" pictures/s   ")
    share = health.judged_share
    if share is None:
        out.append("no hand finished yet")
    else:
        style = "bold green" if share >= 0.95 else "bold yellow" if share >= 0.9 else "bold red"
        out.append(f"{int(100 * share)} %", style)
        out.append(f" of {health.hands_total} hands judged")
    out.append("   MQTT ")
    out.append(health.broker, {"connected": "bold green", "trying": "bold red", "off": "dim"}[health.broker])
    if health.broker == "trying":
        out.append(f" ({health.broker_status.rstrip('.')})", "red")
    if not health.judging:
        out.append(f"   NOT JUDGING: camera {health.camera}", "bold red")
    for count, what in ((health.late, "passed over"), (health.skipped, "unreadable")):
        if count:
            out.append(f"   {count} {what}", "yellow")
    return out
