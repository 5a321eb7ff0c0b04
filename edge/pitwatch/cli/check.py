"""`pitwatch check`: what this mounting can and cannot judge, seat by seat, and what would help.

In: a table's file, and a picture of the empty table or of one at rest. Out: a table on the terminal, a
picture with a verdict at each seat, or JSON.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import cv2
from rich import box
from rich.console import Console
from rich.table import Table

from pitwatch.config import check_resolution, load_table
from pitwatch.errors import UserError
from pitwatch.table.files import load_picture
from pitwatch.table.verdicts import Judged, advice_on, judge_mounting, verdict_picture

__all__ = ["check_table"]


def check_table(table: Path, picture: Path | None, out: Path | None, as_json: bool) -> None:
    """Print the verdicts. Raises UserError for a table file, a picture or a place that will not do."""
    config = load_table(table)
    camera, layout = config.load_camera(), config.load_layout()
    if out is not None and picture is None:
        raise UserError("--out draws over a picture; name one with --picture")
    image = None
    if picture is not None:
        image = load_picture(picture, "give one that the mounted camera took")
        check_resolution(camera, image.shape[1], image.shape[0], config.camera.calibration)
    judged = judge_mounting(camera, layout, image)
    if image is not None and out is not None:
        drawn = verdict_picture(image, camera, layout, judged)
        if not cv2.imwrite(str(out), drawn):
            raise UserError(f"{out} cannot be written; choose another place with --out, ending in .png")
    advice = advice_on(judged)
    if as_json:
        rows = [
            dataclasses.asdict(j.resolved)
            | {"quality": None if j.quality is None else dataclasses.asdict(j.quality)}
            for j in judged
        ]
        Console().print_json(json.dumps({"seats": rows, "advice": advice}), indent=None)
        return
    console = Console(highlight=False)
    console.print(_table(judged))
    for line in advice:
        console.print(f"- {line}")
    if out is not None:
        console.print(f"wrote {out}")


def _table(judged: Sequence[Judged]) -> Table:
    table = Table(box=box.SIMPLE)
    for name in ("place", "px/mm", "index", "a chip", "angle", "cards", "chips"):
        table.add_column(name, no_wrap=True)
    if any(j.quality is not None for j in judged):
        table.add_column("picture")
    paint = {"good": "green", "some": "yellow", "none": "red"}
    for j in judged:
        r, q = j.resolved, j.quality
        row = [
            j.place,
            f"{r.px_per_mm:.2f}",
            f"{r.index_px:.1f} px",
            "" if r.layer_px is None else f"{r.layer_px:.1f} px",
            f"{r.steepness:.0f}°",
            r.cards if r.in_view else "not wholly in the picture",
            j.chips,
        ]
        if len(table.columns) > len(row):
            row.append("-" if q is None else ", ".join(q.faults) or "good")
        table.add_row(*row, style=paint[j.verdict])
    return table
