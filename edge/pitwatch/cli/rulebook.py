"""`pitwatch rules`: house rules in plain English, side by side, and checked.

In: the name of a profile, or a file of one's own: a `.json` of rules, or a table's `.toml`. Out: tables that
fit a terminal of 100 columns and stay legible in a pipe.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from pitwatch.rules import Profile

__all__ = ["rules"]

rules = typer.Typer(no_args_is_help=True, help="The house rules that tables are judged by.")

PIPED = 100
"""Columns when no terminal says how many it has."""

_Name = Annotated[str, typer.Argument(help="greektown, celebrity, signage, or a .json or .toml file.")]


@rules.command(name="list")
def list_rules() -> None:
    """Say which house rules and side bets come with pitwatch."""
    from pitwatch.rules import PROFILES, load_profile
    from pitwatch.rules.reading import side_bet_tables
    from pitwatch.rules.wording import in_short, pay_table

    out = _console()
    table = _table("Name", "Document", "In short")
    for name in PROFILES:
        profile = load_profile(name)
        table.add_row(name, profile.document, in_short(profile))
    out.print(table)
    out.print()
    bets = _table("Side bet", "Wins when", "Pays")
    for name, about in side_bet_tables().items():
        lines = [f"{ratio} {text}" for text, ratio in pay_table(name)]
        bets.add_row(name, about["about"], "\n".join(lines))
    out.print(bets)
    out.print()
    out.print("Read them with: pitwatch rules show greektown")


@rules.command()
def show(name: _Name) -> None:
    """Say house rules in plain English, each beside the sentence of the house's document."""
    from rich.text import Text

    from pitwatch.rules.profile import SET_HERE
    from pitwatch.rules.wording import sections, unsaid

    profile, out = _load(name), _console()
    out.print(Text(f"{profile.name}: {profile.document}", style="bold"))
    out.print()
    table = _table("Rule", "As the document says it")
    table.padding = (0, 2, 1, 0)
    for section in sections(profile):
        table.add_row(Text(section.title.upper(), style="bold"), "")
        for line in section.lines:
            source = Text(line.source, style="italic dim" if line.source == SET_HERE else "")
            table.add_row(Text.assemble(line.text, "\n", (line.rule, "dim")), source)
    out.print(table)
    if open_ := unsaid(profile):
        out.print(Text("Not said, and so not judged: ", style="bold") + Text(", ".join(open_) + "."))
    if profile.unjudged:
        rest = _table("Said, and nothing is judged by it", "Why")
        out.print()
        for sentence, why in profile.unjudged.items():
            rest.add_row(Text(sentence), f"{why[0].upper()}{why[1:]}.")
        out.print(rest)


@rules.command()
def diff(a: _Name, b: _Name) -> None:
    """Say in which rules two houses differ."""
    from pitwatch.rules.wording import differences

    first, second, out = _load(a), _load(b), _console()
    rows = differences(first, second)
    if not rows:
        out.print(f"{a} and {b} play by the same rules.")
        return
    table = _table("Rule", a, b)
    for rule, left, right in rows:
        table.add_row(rule, left or "(not said)", right or "(not said)")
    out.print(table)


@rules.command()
def check(file: Annotated[Path, typer.Argument(help="A .json file of rules, or a table's .toml.")]) -> None:
    """Check house rules of your own. Status 2 when something is wrong with them."""
    from pitwatch.rules.check import check_rules

    written = _written(file)
    own = {"profile": written} if isinstance(written, str) else dict(written)
    wrong = check_rules(own)
    for sentence in wrong:
        typer.echo(f"pitwatch: {file}: {sentence}", err=True)
    if wrong:
        raise typer.Exit(2)
    count = len(own.keys() - {"profile", "name", "document"})
    changed = "no rule" if count == 0 else "1 rule" if count == 1 else f"{count} rules"
    typer.echo(f"{file} changes {changed} of {own['profile']}; nothing is wrong with it.")


def _load(name: str) -> Profile:
    """A profile by name or file. Raises UserError naming it."""
    from pitwatch.errors import UserError
    from pitwatch.rules import load_profile

    if not name.endswith(".toml"):
        return load_profile(name)
    try:
        return load_profile(_written(Path(name)))
    except UserError as e:
        raise e if name in str(e) else UserError(f"{name}: {e}") from None


def _written(path: Path) -> str | Mapping[str, Any]:
    """The rules in a file, unchecked: a profile's name or an object. Raises UserError naming the file."""
    from pitwatch.errors import UserError
    from pitwatch.rules.profile import read_house

    if path.suffix != ".toml":
        return read_house(path)
    from importlib import import_module

    toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table = toml.loads(path.read_text(encoding="utf-8")).get("table", {})
    except OSError as e:
        raise UserError(f"{path} cannot be read ({e.strerror}); name a table's file") from None
    except (toml.TOMLDecodeError, UnicodeDecodeError) as e:
        raise UserError(f"{path} is no TOML ({e}); name a table's file") from None
    written = table.get("rules", "greektown") if isinstance(table, dict) else None
    if isinstance(written, str) and written.endswith(".json"):
        return read_house(path.parent / written)
    if not isinstance(written, (str, dict)):
        raise UserError(f"{path}: 'rules' under [table] should be a profile's name or a table of rules")
    return written


def _console() -> Console:
    from rich.console import Console

    out = Console(highlight=False)
    if not out.is_terminal and "COLUMNS" not in out._environ:
        out = Console(highlight=False, width=PIPED)
    return out


def _table(*columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
