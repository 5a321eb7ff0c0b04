"""`pitwatch replay FILE`: a table-event log step by step in the terminal.

In: a file, keys. Out: after each instant of the log the table as it stands, and findings as they come. A
terminal waits for keys, or plays by itself at a speed; a pipe gets plain lines and no waiting.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pitwatch.chips import money
from pitwatch.errors import UserError
from pitwatch.game.audit import Audit, HandView, TableView
from pitwatch.game.events import TableEvent
from pitwatch.game.findings import Finding, Unverified
from pitwatch.game.log import Header, read_log
from pitwatch.game.wording import said_of

__all__ = ["Step", "replay", "said_of", "steps"]

KEYS = "Enter next · b back · r next round · f next finding · q quit"
LONGEST_WAIT = 5.0
"""Seconds at most between two steps that play by themselves."""


@dataclass(frozen=True)
class Step:
    """One instant of a log: its events, the table after them, and what became certain by then."""

    t: float
    events: tuple[TableEvent, ...]
    table: TableView
    said: tuple[Finding | Unverified, ...]


def steps(header: Header, events: list[TableEvent]) -> Iterator[Step]:
    """The log's instants in order; events of one time are judged together."""
    audit = Audit(header)
    groups = [(t, tuple(group)) for t, group in groupby(events, key=lambda e: e.t)]
    for nth, (t, group) in enumerate(groups):
        said = [s for e in group for s in audit.feed(e)]
        after = groups[nth + 1][0] if nth + 1 < len(groups) else t + 1.0
        said += audit.advance((t + after) / 2)
        if nth + 1 == len(groups):
            table = audit.table
            yield Step(t, group, table, (*said, *audit.finish()))
        else:
            yield Step(t, group, audit.table, tuple(said))


def replay(path: Path, *, speed: float | None = None, plain: bool = False) -> None:
    """Step through a file. speed: play by itself, so many times as fast as it happened.

    Raises UserError when the file cannot be read or the speed is none.
    """
    if speed is not None and not speed > 0:
        raise UserError(f"--speed is {speed:g}; give a number above 0, such as 1 or 10")
    header, events, _ = read_log(path)
    every = steps(header, events)
    if plain or not sys.stdout.isatty():
        console = Console(highlight=False, color_system=None, soft_wrap=True, width=200)
        _plain(every, console, speed)
        return
    console = Console(highlight=False)
    if not events:
        console.print("the log has no events")
    elif speed is not None:
        _by_itself(every, console, speed)
    else:
        with _keys() as read:
            _by_keys(list(every), console, read)


# -- words


def _hand(h: HandView) -> str:
    name = "dealer" if h.seat == 0 else f"seat {h.seat}" + (f" hand {h.hand + 1}" if h.hand else "")
    chips = [] if h.seat == 0 else ["unread" if h.wager is None else money(h.wager)]
    insured = [f"insured {money(h.insurance)}"] if h.insurance else []
    cards = [" ".join(c or "??" for c in h.cards)] if h.cards else []
    words = [
        *chips,
        *insured,
        *cards,
        *([f"({h.total})"] if h.total else []),
        *([h.status] if h.status else []),
    ]
    return f"{name} {' '.join(words)}".rstrip()


def _verdict(s: Finding | Unverified) -> str:
    if isinstance(s, Finding):
        return f"{s.severity}: {s.text}"
    return f"not judged: seat {s.seat}{f' hand {s.hand + 1}' if s.hand else ''}, {s.why}"


# -- plain lines


def _plain(every: Iterator[Step], console: Console, speed: float | None) -> None:
    for step, wait in _paced(every, speed):
        time.sleep(wait)
        for line in _lines(step):
            console.print(line, markup=False)


def _lines(step: Step) -> Iterator[str]:
    for e in step.events:
        yield f"{step.t:9.2f}  {said_of(e)}"
    table = [h for h in (step.table.dealer, *step.table.hands) if h.cards or h.wager != 0]
    shown = [_hand(h) for h in table if h.seat or h.cards]
    yield f"{'':9}  | {' | '.join([step.table.phase, *shown])}"
    for s in step.said:
        yield f"{'':9}  ! {_verdict(s)}"


def _paced(every: Iterator[Step], speed: float | None) -> Iterator[tuple[Step, float]]:
    """Each step with the seconds to wait before it."""
    before: float | None = None
    for step in every:
        gap = 0.0 if speed is None or before is None else (step.t - before) / speed
        yield step, min(max(gap, 0.0), LONGEST_WAIT)
        before = step.t


# -- a terminal


def _by_itself(every: Iterator[Step], console: Console, speed: float) -> None:
    said: list[Finding | Unverified] = []
    for step, wait in _paced(every, speed):
        time.sleep(wait)
        said += step.said
        _show(step, said, console, "")


def _by_keys(every: list[Step], console: Console, read: Callable[[], str]) -> None:
    at = 0
    while True:
        said = [s for step in every[: at + 1] for s in step.said]
        _show(every[at], said, console, f"step {at + 1} of {len(every)}   {KEYS}")
        key = read()
        if key in ("q", ""):
            return
        ahead = range(at + 1, len(every))
        last = len(every) - 1
        if key == "b":
            at = max(0, at - 1)
        elif key == "r":
            number = every[at].table.round_number
            at = next((n for n in ahead if every[n].table.round_number > number), last)
        elif key == "f":
            at = next((n for n in ahead if any(isinstance(s, Finding) for s in every[n].said)), last)
        elif at == last:
            return
        else:
            at += 1


def _show(step: Step, said: list[Finding | Unverified], console: Console, foot: str) -> None:
    console.clear()
    view = step.table
    title = f"round {view.round_number}" if view.round_number else "no round yet"
    console.print(Text(f"{step.t:.2f} s   {title}   {view.phase}", style="bold"))
    table = Table(box=SIMPLE_HEAD)
    for name in ("seat", "wager", "cards", "total", "", "insurance"):
        table.add_column(name)
    for h in (view.dealer, *view.hands):
        table.add_row(
            Text("dealer" if h.seat == 0 else f"{h.seat}" + (f".{h.hand}" if h.hand else "")),
            Text("" if h.seat == 0 else "unread" if h.wager is None else money(h.wager)),
            Text(" ".join(c or "??" for c in h.cards)),
            Text(h.total),
            Text(h.status),
            Text(money(h.insurance) if h.insurance else ""),
        )
    console.print(table)
    for e in step.events:
        console.print(Text(said_of(e)))
    new = set(map(id, step.said))
    for s in said[-8:]:
        style = "dim" if isinstance(s, Unverified) else "bold red" if id(s) in new else "red"
        console.print(Text(_verdict(s), style=style))
    if foot:
        console.print(Text(foot, style="dim"))


@contextmanager
def _keys() -> Iterator[Callable[[], str]]:
    """A way to read one key; whole lines where the input is no terminal, "" when it has ended."""
    try:
        import termios
        import tty

        number = sys.stdin.fileno()
        before = termios.tcgetattr(number)
    except (ImportError, OSError, ValueError, termios.error):
        yield _line
        return
    try:
        tty.setcbreak(number, termios.TCSADRAIN)
        yield lambda: "\n" if (key := sys.stdin.read(1)) in ("\n", "\r", " ") else key
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def _line() -> str:
    line = sys.stdin.readline()
    return (line.strip()[:1] or "\n") if line else ""
