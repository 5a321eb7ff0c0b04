"""`pitwatch audit --statistics`: a log's figures as tables, or as one JSON object.

In: a table-event file. Out: text. Money is shown in dollars, in JSON it is integer cents.
"""

from __future__ import annotations

import json
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from pitwatch.cards import RANKS, SUITS
from pitwatch.chips import money
from pitwatch.game.log import read_log
from pitwatch.game.statistics import SeatFigures, ShoeFigures, TableFigures, figures

__all__ = ["print_figures"]


def print_figures(path: Path, *, as_json: bool, console: Console | None = None) -> int:
    """Print a file's figures; returns 1 when the audit made findings, else 0.

    Raises UserError when the file cannot be read.
    """
    header, events, _ = read_log(path)
    found = figures(header, events)
    console = console or Console(highlight=False)
    if as_json:
        console.print(json.dumps(found.to_json(), ensure_ascii=False), soft_wrap=True, markup=False)
    else:
        _print(found, console)
    return 1 if found.findings else 0


def _print(found: TableFigures, console: Console) -> None:
    judged = f"{found.hands_judged} of {found.hands} hands judged" if found.hands else "no hands"
    findings = f"{found.findings} finding{'' if found.findings == 1 else 's'}"
    name = f"{found.table}: " if found.table else ""
    rounds = f"{found.rounds} round{'' if found.rounds == 1 else 's'}"
    console.print(f"{name}{rounds}, {judged}, {findings}", markup=False)
    if found.seats:
        console.print(_seats(found.seats))
    for shoe in found.shoes:
        console.print(f"Shoe: {_dealt(shoe)}", markup=False)
        console.print(_copies(shoe))


def _seats(seats: tuple[SeatFigures, ...]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for name in ("seat", "rounds", "hands", "handle", "average", "win/loss", "side bets", "count"):
        table.add_column(name, justify="right")
    for s in seats:
        average, follows = s.average_wager, s.count_correlation
        table.add_row(
            str(s.seat),
            str(s.rounds),
            str(s.hands),
            _sum(money(s.handle), s.handle_unread),
            _sum("-" if average is None else money(round(average)), s.rounds - len(s.wagers)),
            _sum(_signed(s.net), s.net_unread),
            _sum(f"{money(s.side_handle)} {_signed(s.side_net)}" if s.side_handle else "-", s.side_unread),
            "-" if follows is None else f"{follows:+.2f} of {len(s.pairs)}",
        )
    table.caption = "average: the wager at the first card; count: its correlation with the Hi-Lo true count"
    table.caption_justify = "left"
    return table


def _signed(cents: int) -> str:
    return ("+" if cents > 0 else "") + money(cents)


def _sum(text: str, unread: int) -> str:
    return f"{text} ({unread} unread)" if unread else text


def _dealt(shoe: ShoeFigures) -> str:
    words = [
        f"{shoe.decks} deck{'' if shoe.decks == 1 else 's'}" if shoe.decks else "decks not known",
        f"{shoe.out} cards out",
    ]
    if shoe.penetration is not None:
        words.append(f"{'' if shoe.from_start else 'at least '}{shoe.penetration:.0%} dealt")
    words += [f"{n} {what}" for n, what in ((shoe.unread, "unread"), (shoe.unseen, "not shown")) if n]
    words.append(f"running count {shoe.running:+d}")
    if shoe.true_count is not None:
        words.append(f"true {shoe.true_count:+.1f}")
    if not shoe.from_start:
        words.append("counted from the log's first card")
    return ", ".join(words)


def _copies(shoe: ShoeFigures) -> Table:
    """How often each card came."""
    table = Table(box=SIMPLE_HEAD)
    table.add_column("")
    for rank in RANKS:
        table.add_column(rank, justify="right")
    for suit in SUITS:
        seen = [shoe.copies[rank + suit] for rank in RANKS]
        over = [shoe.decks is not None and n > shoe.decks for n in seen]
        table.add_row(suit, *(f"{n}!" if o else str(n) for n, o in zip(seen, over, strict=True)))
    if shoe.ranks:
        table.add_row("?", *(str(shoe.ranks[rank]) for rank in RANKS))
    if shoe.too_many:
        table.caption, table.caption_justify = "!: more than the shoe has", "left"
    return table
