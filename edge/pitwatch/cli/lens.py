"""`pitwatch calibrate lens`: watches a board being moved about and writes the lens.

In: a source and where to write. Out: `lens.json`, a picture of coverage and errors beside it, and progress on
the terminal.
"""

from __future__ import annotations

from pathlib import Path

import cv2
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from pitwatch.capture import FrameSource, open_source
from pitwatch.errors import UserError
from pitwatch.table.board import board_named
from pitwatch.table.files import write_json
from pitwatch.table.lens import LensResult, solve_lens
from pitwatch.table.lens_picture import lens_picture
from pitwatch.table.views import ENOUGH, Views

__all__ = ["calibrate_lens"]

_APART_S = 0.1  # of a clip's pictures that are looked at


def calibrate_lens(source: str, out: Path, board: str | None, seconds: float) -> LensResult:
    """Collect views, solve, write.

    seconds: longest time to watch a live camera. Raises UserError saying what the views lack; then no lens is
    written, only the picture.
    """
    known = None if board is None else board_named(board)
    if not out.parent.is_dir():
        raise UserError(f"{out} cannot be written: its folder does not exist; make it first")
    check = out.with_suffix(".png")
    # of a folder every picture counts, however far apart they were taken
    frames = open_source(source, settled=Path(source).expanduser().is_dir())
    console = Console(highlight=False)
    try:
        views = Views((frames.width, frames.height), known)
        _watch(frames, views, console, seconds, apart_s=_APART_S if _is_clip(frames, source) else 0.0)
    finally:
        frames.close()
    missing = views.missing()
    if missing:
        _draw(check, views, None)
        raise UserError(f"{source}: {'; '.join(missing)} ({check} shows where the board was)")
    result = solve_lens(views.kept)
    _draw(check, views, result)
    if faults := result.faults():
        raise UserError(f"{source}: {'; '.join(faults)} ({check} shows the errors)")
    write_json(out, {**result.to_json(), "note": f"from {source}"})
    console.print(
        f"{result.model} lens, {result.field_of_view:.0f}° across: focal length {result.K[0, 0]:.1f} px "
        f"± {100 * result.focal_sigma:.2f} %, distortion {', '.join(f'{v:.4g}' for v in result.dist)}"
    )
    left = len(views.kept) - len(result.views)
    console.print(
        f"{len(result.views)} views{f', {left} left out' if left else ''}: {result.rms_px:.3f} px rms"
    )
    console.print(f"wrote {out}, and {check} to check it by; `calibrate pose --lens {out}` takes it")
    return result


def _is_clip(frames: FrameSource, source: str) -> bool:
    return not frames.live and Path(source).expanduser().is_file()


def _watch(frames: FrameSource, views: Views, console: Console, seconds: float, apart_s: float) -> None:
    first = last = None
    with Live(console=console, auto_refresh=False, transient=True) as live:
        try:
            for frame in frames:
                first = frame.t if first is None else first
                if last is not None and frame.t - last < apart_s:
                    continue
                last = frame.t
                seen = views.look(frame.image, frame.name or f"picture {frame.index + 1}")
                missing = views.missing()
                live.update(_shown(views, seen, missing), refresh=True)
                if frames.live and ((not missing and len(views.kept) >= ENOUGH) or frame.t - first > seconds):
                    break
        except KeyboardInterrupt:
            # whoever moves the board has had enough; what there is may do
            if not frames.live:
                raise


def _shown(views: Views, seen: str, missing: list[str]) -> Group:
    """The coverage as shades, and what to do next."""
    grid = Text()
    for row in views.coverage():
        for n in row:
            grid.append(
                "██" if n >= 10 else "▒▒" if n else "░░", "green" if n >= 10 else "yellow" if n else "red"
            )
        grid.append("\n")
    words = {"none": "no board", "blurred": "blurred: hold it still", "alike": "seen already: move it"}
    state = f"{len(views.kept)} views of {ENOUGH}; {words.get(seen, 'a new view')}"
    return Group(
        grid, Text(state), Text(f"next: {missing[0]}" if missing else "enough; more makes it better")
    )


def _draw(path: Path, views: Views, result: LensResult | None) -> None:
    if not cv2.imwrite(str(path), lens_picture(views.kept, views.size, result)):
        raise UserError(f"{path} cannot be written; choose another place with --out")
