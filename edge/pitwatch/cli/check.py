"""`pitwatch check`: what this mounting can and cannot judge, seat by seat, and what would help.

In: a table's file, and a picture of the empty table or of one at rest. Out: a table on the terminal, a
picture with a verdict at each seat, or JSON.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table

from pitwatch.config import check_resolution, load_table
from pitwatch.errors import UserError
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout
from pitwatch.table.quality import Quality, measure_quality
from pitwatch.table.resolve import MOST_CHIPS, RANK_PX, SUIT_PX, VALUE_PX, Resolved, resolve

__all__ = ["check_table"]

_COLOURS = {"good": (80, 200, 80), "some": (60, 190, 240), "none": (60, 60, 230)}


def check_table(table: Path, picture: Path | None, out: Path | None, as_json: bool) -> None:
    """Print the verdicts. Raises UserError for a table file, a picture or a place that will not do."""
    config = load_table(table)
    camera, layout = config.load_camera(), config.load_layout()
    if out is not None and picture is None:
        raise UserError("--out draws over a picture; name one with --picture")
    seats = resolve(camera, layout)
    qualities: list[Quality | None] = [None] * len(seats)
    if picture is not None:
        image = _read(picture)
        check_resolution(camera, image.shape[1], image.shape[0], config.camera.calibration)
        qualities = [measure_quality(image, _outline(camera, layout, r.seat)) for r in seats]
        if out is not None and not cv2.imwrite(str(out), _drawn(image, camera, layout, seats, qualities)):
            raise UserError(f"{out} cannot be written; choose another place with --out, ending in .png")
    advice = _advice(seats, qualities)
    if as_json:
        rows = [
            dataclasses.asdict(r) | {"quality": None if q is None else dataclasses.asdict(q)}
            for r, q in zip(seats, qualities, strict=True)
        ]
        Console().print_json(json.dumps({"seats": rows, "advice": advice}), indent=None)
        return
    console = Console(highlight=False)
    console.print(_table(seats, qualities))
    for line in advice:
        console.print(f"- {line}")
    if out is not None:
        console.print(f"wrote {out}")


def _read(path: Path) -> NDArray[np.uint8]:
    image = cv2.imread(str(path), cv2.IMREAD_COLOR) if path.is_file() else None
    if image is None:
        raise UserError(f"{path} is no picture that can be read; give one that the mounted camera took")
    return np.asarray(image, np.uint8)


def _outline(camera: Camera, layout: Layout, seat: int) -> NDArray[np.float64]:
    """Where a seat's cards and wager lie in the picture: a convex outline (N, 2), px."""
    corners = list(layout.card_area(seat))
    if seat:
        x, y = layout.spots[seat - 1]
        r = layout.circle_r
        corners += [(x + dx, y + dy) for dx in (-r, r) for dy in (-r, r)]
    hull = cv2.convexHull(camera.project(corners).astype(np.float32))
    return np.asarray(hull, np.float64).reshape(-1, 2)


def _verdict(r: Resolved, q: Quality | None) -> str:
    """ "good" when all is judged, "some" when less, "none"."""
    if not r.in_view or r.cards == "none" or (q is not None and {"out of focus", "too dark"} & set(q.faults)):
        return "none"
    full = r.cards == "ranks and suits" and r.chips in (None, "values") and (q is None or not q.faults)
    return "good" if full else "some"


def _chips(r: Resolved) -> str:
    """What is judged of chips, in a few words."""
    values = "values" if r.tallest == MOST_CHIPS else f"values to {r.tallest}"
    words = {"values": values, "heights": "heights", "none": "none"}
    return "" if r.chips is None else words[r.chips]


def _table(seats: Sequence[Resolved], qualities: Sequence[Quality | None]) -> Table:
    table = Table(box=box.SIMPLE)
    for name in ("place", "px/mm", "index px", "px a chip", "seen at", "cards", "chips"):
        table.add_column(name, no_wrap=True)
    if any(q is not None for q in qualities):
        table.add_column("picture")
    paint = {"good": "green", "some": "yellow", "none": "red"}
    for r, q in zip(seats, qualities, strict=True):
        row = [
            "dealer" if r.seat == 0 else f"seat {r.seat}",
            f"{r.px_per_mm:.2f}",
            f"{r.index_px:.1f}",
            "" if r.layer_px is None else f"{r.layer_px:.1f}",
            f"{r.steepness:.0f}°",
            r.cards if r.in_view else "not wholly in the picture",
            _chips(r),
        ]
        if len(table.columns) > len(row):
            row.append("-" if q is None else ", ".join(q.faults) or "good")
        table.add_row(*row, style=paint[_verdict(r, q)])
    return table


def _advice(seats: Sequence[Resolved], qualities: Sequence[Quality | None]) -> list[str]:
    """What to change, the most important first."""

    def names(which: Sequence[Resolved]) -> str:
        if len(which) == len(seats):
            return "everywhere"
        numbers = [str(r.seat) for r in which if r.seat]
        if len(numbers) == len(seats) - 1:
            return "every seat"
        players = f"seat{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}" if numbers else ""
        return ", ".join(w for w in ("dealer" if any(r.seat == 0 for r in which) else "", players) if w)

    def times(wanted: float, least: float) -> str:
        return f"{math.ceil(10 * wanted / max(least, 0.1)) / 10:.1f} times the pixels across"

    out = []
    if hidden := [r for r in seats if not r.in_view]:
        out.append(
            f"{names(hidden)}: not wholly in the picture; turn the camera, mount it higher, or a wider lens"
        )
    seen = [r for r in seats if r.in_view]
    if small := [r for r in seen if r.cards != "ranks and suits"]:
        least = min(r.index_px for r in small)
        lost = "neither ranks nor suits" if least < RANK_PX else "suits not surely"
        out.append(
            f"{names(small)}: {lost}; the index is {least:.1f} px high and wants {SUIT_PX:g}: a camera "
            f"nearer, a longer lens, or {times(SUIT_PX, least)}"
        )
    if low := [r for r in seen if r.layer_px is not None and r.chips != "values"]:
        least = min(r.layer_px or 0.0 for r in low)
        out.append(
            f"{names(low)}: stacks of several values not surely; a chip is {least:.1f} px high and wants "
            f"{VALUE_PX:g}: a camera lower or farther behind the dealer, or {times(VALUE_PX, least)}"
        )
    remedies = {
        "out of focus": "turn the lens until print is sharp, then fix it",
        "too dark": "more light, or a longer exposure of at most 1/100 s",
        "too bright": "a shorter exposure",
        "clipped white": "a shorter exposure, or move the lamp or the camera until nothing mirrors there",
    }
    for fault, remedy in remedies.items():
        where = [r for r, q in zip(seats, qualities, strict=True) if q is not None and fault in q.faults]
        if where:
            out.append(f"{names(where)}: {fault}; {remedy}")
    return out or ["everything can be judged from here"]


def _drawn(
    image: NDArray[np.uint8],
    camera: Camera,
    layout: Layout,
    seats: Sequence[Resolved],
    qualities: Sequence[Quality | None],
) -> NDArray[np.uint8]:
    out: NDArray[np.uint8] = image.copy()
    size = max(0.5, image.shape[1] / 1920)
    for r, q in zip(seats, qualities, strict=True):
        colour = _COLOURS[_verdict(r, q)]
        outline = np.round(_outline(camera, layout, r.seat)).astype(np.int32)
        cv2.polylines(out, [outline], True, colour, max(2, round(3 * size)), cv2.LINE_AA)
        chips = "" if r.layer_px is None else f", chips {r.layer_px:.1f} px: {_chips(r)}"
        lines = [f"index {r.index_px:.1f} px: {r.cards}{chips}", *(q.faults if q is not None else ())]
        x, y = int(outline[:, 0].min()), int(outline[:, 1].min())
        for i, text in enumerate(reversed(lines)):
            at = (max(4, min(x, image.shape[1] - round(430 * size))), max(20, y - round((8 + 24 * i) * size)))
            (w, h), below = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, 0.6 * size, 1)
            cv2.rectangle(out, (at[0] - 3, at[1] - h - 3), (at[0] + w + 3, at[1] + below), (25, 25, 25), -1)
            cv2.putText(out, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.6 * size, colour, 1, cv2.LINE_AA)
    return out
