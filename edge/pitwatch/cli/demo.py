"""`pitwatch demo`: a simulated table, watched like a real one, and then compared with what really happened.

In: rounds and a seed. Out: the display, the page, MQTT; at the end how many of the staged misplays were
found. The watch gets frames and times from another process; the truth is only looked up when it is over.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from pitwatch.capture import open_source
from pitwatch.chips import CASINO
from pitwatch.cli.main import start_log
from pitwatch.cli.running import Desk, stopping
from pitwatch.cli.watching import counted
from pitwatch.game.findings import Finding, Unverified
from pitwatch.game.log import Header
from pitwatch.monitor.pipeline import Summary
from pitwatch.sim.spec import SimSpec, mounted_camera
from pitwatch.table.layout import template
from pitwatch.vision.eyes import Eyes

if TYPE_CHECKING:
    from pitwatch.sim.truth import Score

__all__ = ["run_demo"]

_ENDLESS = 120  # rounds; about two hours
_ONE_SHOE = 8  # rounds that surely come out of one shoe


def run_demo(
    rounds: int | None,
    seed: int,
    *,
    as_json: bool,
    page: bool,
    port: int | None,
    realtime: bool | None,
    mqtt: str | None,
    journal: Path | None,
) -> None:
    """Watch `rounds` rounds, or until Ctrl-C. Raises UserError for anything wrong in what was given."""
    start_log()
    paced = realtime is None and rounds is None
    spec = SimSpec(rounds=rounds or _ENDLESS, seed=seed, realtime=int(bool(realtime)), paced=int(paced))
    layout = template(spec.seats)
    camera = mounted_camera(layout, spec.width, spec.height)
    decks = 6 if spec.rounds <= _ONE_SHOE else None
    header = Header("DEMO-1", "greektown", decks=decks, minimum=500, maximum=50000, seats=layout.n)
    console = Console(highlight=False, stderr=as_json)
    eyes = Eyes(camera, CASINO)
    with tempfile.TemporaryDirectory(prefix="pitwatch-demo-") as folder:
        kept = journal or Path(folder, "demo.db")
        with Desk(header, "demo", kept, mqtt=mqtt, page=page, port=port, console=console) as desk:
            source = open_source(str(spec))
            try:
                _introduce(desk, console, spec)
                summary = desk.watch(camera, layout, source, eyes, keep_record=True)
            finally:
                source.close()
            score = _score(spec, summary)
            if as_json:
                print(json.dumps(_figures(score, summary)))  # noqa: T201
                return
            console.print(_words(score, summary), highlight=False)
            if rounds is None and desk.page_url and summary.t > 0 and sys.stdin.isatty() and not desk.stopped:
                console.print(f"The page stays at {desk.page_url} until Ctrl-C.")
                over = threading.Event()
                with stopping(over.set):
                    over.wait()


def _introduce(desk: Desk, console: Console, spec: SimSpec) -> None:
    pace = "as fast as this computer can"
    if spec.realtime or spec.paced:
        pace = "as a camera would deliver it" if spec.realtime else "at the pace of a real one"
    many = "until Ctrl-C" if spec.rounds == _ENDLESS else counted(spec.rounds, "round")
    console.print(f"A simulated table, {many}, {pace}. Misplays are staged; seed {spec.seed}.")
    if desk.page_url:
        console.print(f"The table on a page:          {desk.page_url}")
    if line := desk.subscribe_line():
        console.print(f"Findings in another terminal: {line}", soft_wrap=True)
    console.print()


def _score(spec: SimSpec, summary: Summary) -> Score:
    """What was found against what was staged, up to where the watch ended."""
    from pitwatch.sim.stage import direct
    from pitwatch.sim.truth import compare

    truth = direct(spec).truth
    over = tuple(r for r in truth.rounds if r.t_end <= summary.t)
    if len(over) < len(truth.rounds):
        numbers = {r.number for r in over}
        staged = tuple(f for f in truth.findings if f.round in numbers)
        truth = dataclasses.replace(truth, rounds=over, findings=staged)
    record = summary.record
    assert record is not None
    end = over[-1].t_end if over else 0.0
    everything: list[Finding | Unverified] = [*record.findings, *record.unverified]
    said = [s.to_json() for s in everything if s.t <= end + 1.5]
    return compare(truth, said, [r.to_json() for r in record.rounds])


def _figures(score: Score, summary: Summary) -> dict[str, Any]:
    judged = (score.hands - score.unverified) / score.hands if score.hands else None
    return {
        "rounds": score.rounds,
        "staged": score.staged,
        "found": score.found,
        "false": score.false,
        "hands": score.hands,
        "unverified": score.unverified,
        "judged_share": None if judged is None else round(judged, 4),
        "hands_right": score.hands_right,
        "rounds_right": score.rounds_right,
        "cards": score.cards,
        "cards_right": score.cards_right,
        "frames": summary.frames,
        "fps": round(summary.fps, 2),
        "ms_per_frame": round(summary.ms_per_frame, 1),
        "late": summary.late,
        "missed": list(score.missed),
        "invented": list(score.invented),
    }


def _words(score: Score, summary: Summary) -> str:
    if not score.rounds:
        return "No round was over yet."
    judged = (score.hands - score.unverified) / score.hands if score.hands else 0.0
    false = "no false alarm" if not score.false else counted(score.false, "false alarm")
    lines = [
        f"{counted(score.rounds, 'round')}: {score.staged} staged misplays, {score.found} found, {false}.",
        f"{counted(score.hands, 'hand')}, {judged:.0%} of them judged; {score.hands_right} read without any "
        f"mistake, and {score.cards_right} of {score.cards} cards.",
        f"{counted(summary.frames, 'picture')}: {summary.fps:.1f} a second, {summary.ms_per_frame:.0f} ms of "
        "work each.",
    ]
    lines += [f"Missed: {m}." for m in score.missed]
    lines += [f"False alarm: {i}." for i in score.invented]
    return "\n".join(lines)
