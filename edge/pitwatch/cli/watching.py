"""`pitwatch watch`: one table, from its file.

In: paths and options. Out: the display on the terminal, and at the end a summary in words or JSON.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console

from pitwatch.capture import open_source
from pitwatch.chips import CASINO, ChipSet
from pitwatch.cli.main import start_log
from pitwatch.cli.running import Desk
from pitwatch.config import TableConfig, check_resolution, load_table
from pitwatch.errors import UserError
from pitwatch.game.log import Header
from pitwatch.monitor.pipeline import Summary
from pitwatch.table.files import load_felt
from pitwatch.vision.eyes import Eyes

__all__ = ["chip_set", "counted", "header_of", "summary_json", "summary_words", "watch_table"]


def watch_table(
    table: Path,
    source: str | None,
    *,
    fps: float | None,
    settled: bool,
    mqtt: str | None,
    journal: Path | None,
    page: bool,
    port: int | None,
    as_json: bool,
) -> None:
    """Watch until the source ends or Ctrl-C. Raises UserError for anything wrong in what was given."""
    start_log()
    config = load_table(table)
    camera, layout = config.load_camera(), config.load_layout()
    named = source or config.camera.source
    if named is None:
        raise UserError(f"no source was named; add --source, or 'source' in [camera] of {table}")
    opened = open_source(
        named,
        fps=fps,
        settled=settled,
        size=(camera.width, camera.height),
        controls=config.camera.controls,
    )
    try:
        check_resolution(camera, opened.width, opened.height, config.camera.calibration)
        header = header_of(config, layout.n)
        broker = mqtt or config.mqtt.url
        console = Console(highlight=False, stderr=as_json)
        with Desk(
            header,
            config.table.site,
            journal or config.journal.path,
            mqtt=broker,
            ca_file=config.mqtt.ca_file,
            page=page,
            port=port,
            console=console,
        ) as desk:
            for line in getattr(opened, "said", ()):
                console.print(f"Camera: {line}", highlight=False)
            if desk.page_url:
                console.print(f"Page: {desk.page_url}", highlight=False)
            summary = desk.watch(
                camera,
                layout,
                opened,
                Eyes(camera, chip_set(config)),
                reference=load_felt(config.camera.calibration),
            )
    finally:
        opened.close()
    if as_json:
        Console().print_json(json.dumps(summary_json(summary)), indent=None)
    else:
        console.print(summary_words(summary), highlight=False)


def header_of(config: TableConfig, seats: int) -> Header:
    """What the audit needs to know of a table."""
    t = config.table
    return Header(
        table=t.name,
        rules=t.rules,
        decks=t.decks,
        minimum=t.minimum,
        maximum=t.maximum,
        seats=seats,
        meter=t.meter,
    )


def chip_set(config: TableConfig) -> ChipSet:
    """The chips of a table. Raises UserError when the set is not known."""
    if config.chips.set != CASINO.name:
        raise UserError(f"there is no chip set {config.chips.set!r}; write set = {CASINO.name!r} in [chips]")
    return CASINO


def summary_json(summary: Summary) -> dict[str, Any]:
    """The figures of a watch; shares 0 to 1, None where there was nothing."""
    share = summary.judged_share
    return {
        "rounds": summary.rounds,
        "findings": summary.findings,
        "hands": summary.hands_total,
        "judged": summary.hands_judged,
        "judged_share": None if share is None else round(share, 4),
        "unverified": summary.unverified,
        "frames": summary.frames,
        "skipped": summary.skipped,
        "late": summary.late,
        "seconds": round(summary.seconds, 1),
        "fps": round(summary.fps, 2),
        "ms_per_frame": round(summary.ms_per_frame, 1),
    }


def summary_words(summary: Summary) -> str:
    """The same for people, two or three lines."""
    share = summary.judged_share
    judged = (
        "no hand was finished"
        if share is None
        else f"{share:.0%} of {counted(summary.hands_total, 'hand')} judged"
    )
    lines = [
        f"{counted(summary.rounds, 'round')}, {counted(summary.findings, 'finding')}, {judged}.",
        f"{counted(summary.frames, 'picture')} in {summary.seconds:.0f} s: {summary.fps:.1f} a second, "
        f"{summary.ms_per_frame:.0f} ms of work each.",
    ]
    if summary.skipped:
        lines.append(f"{counted(summary.skipped, 'picture')} could not be read and were skipped.")
    if summary.late:
        lines.append(
            f"{counted(summary.late, 'picture')} came while the watch was busy and were passed over."
        )
    return "\n".join(lines)


def counted(n: int, thing: str) -> str:
    """ "1 round", "2 rounds"."""
    return f"{n} {thing}" + ("" if n == 1 else "s")
