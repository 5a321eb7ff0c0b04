"""`pitwatch eval`: folders of pictures with truth in, one line of figures a folder out.

A line is a JSON object: `set`, `cards`, `stacks`, `round`, `ms_per_frame`, and beside them `ms_per_picture`
and `bets`. `ms_per_frame` is what the whole pipeline takes a video frame where there is a round, else what
looking over one picture takes through its camera; `ms_per_picture` is always the latter. Means, without
decoding, and without finding the camera of a photograph that has no calibration.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pitwatch.chips import CASINO
from pitwatch.errors import UserError
from pitwatch.evaluate.album import Album
from pitwatch.evaluate.folders import Photos, Scene, read_folder
from pitwatch.evaluate.looking import EyesFor, straight_down
from pitwatch.evaluate.photos import measure_photos
from pitwatch.evaluate.rounds import judge_round, run_pipeline, video_length
from pitwatch.evaluate.scenes import measure_stills
from pitwatch.table.camera import Camera
from pitwatch.vision.watcher import Eyes

if TYPE_CHECKING:
    from pitwatch.vision.eyes import Eyes as TrainedEyes

__all__ = ["measure", "run_eval", "trained_eyes"]


def run_eval(
    paths: Sequence[Path],
    errors: Path | None = None,
    echo: Callable[[str], None] = print,
    eyes_for: EyesFor | None = None,
    *,
    weights: Path | None = None,
) -> int:
    """Measure folders and `echo` a line of JSON for each, in their order.

    errors: where to write a picture of every mistake. eyes_for: makes eyes for a camera, the trained ones by
    default, with the weights of the folder `weights` or those that come with pitwatch. Returns the exit
    status 0. Raises UserError for a folder that is not one of pictures with truth; all folders are read
    before the first is measured.
    """
    if not paths:
        raise UserError("no folder was named; name folders that hold truth.json or labels.json")
    folders = [read_folder(Path(p)) for p in paths]
    album = Album(errors)
    make = eyes_for or (lambda camera: trained_eyes(camera, weights))
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        for folder in folders:
            task = progress.add_task(folder.name, total=_steps(folder))
            line = measure(folder, make, album, lambda task=task: progress.advance(task))  # type: ignore[misc]
            progress.remove_task(task)
            echo(json.dumps(line))
    return 0


def trained_eyes(camera: Camera, weights: Path | None = None) -> Eyes:
    """The project's own eyes for this camera, with the casino's usual chips."""
    return _opened(weights).over(camera)


@lru_cache(maxsize=2)
def _opened(weights: Path | None) -> TrainedEyes:
    """The networks, opened once for all cameras; only when something is really looked at."""
    from pitwatch.vision.eyes import Eyes as TrainedEyes

    return TrainedEyes(straight_down(320, 320, 1.0), CASINO, weights=weights)


def measure(
    folder: Scene | Photos, eyes_for: EyesFor, album: Album, step: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """The report's object for one folder. step: called after each picture and each frame."""
    if isinstance(folder, Scene):
        return _scene(folder, eyes_for, album, step)
    figures = measure_photos(folder, eyes_for, album, step)
    return {
        "set": folder.name,
        "cards": figures.cards.to_json(),
        "stacks": figures.stacks.to_json() if figures.stacks else None,
        "round": None,
        "ms_per_frame": _ms(figures.ms_per_picture),
        "ms_per_picture": _ms(figures.ms_per_picture),
        "bets": figures.bets.to_json() if figures.bets else None,
    }


def _scene(scene: Scene, eyes_for: EyesFor, album: Album, step: Callable[[], None]) -> dict[str, Any]:
    stills = measure_stills(scene, eyes_for(scene.camera), album, step)
    round_, ms = None, stills.ms_per_picture
    if scene.round is not None:
        run = run_pipeline(scene, eyes_for(scene.camera), step)
        figures = judge_round(scene, run)
        album.text(scene.name, "round", figures.mistakes)
        round_, ms = figures.to_json(), run.ms_per_frame
    return {
        "set": scene.name,
        "cards": stills.cards.to_json(),
        "stacks": stills.stacks.to_json(),
        "round": round_,
        "ms_per_frame": _ms(ms),
        "ms_per_picture": _ms(stills.ms_per_picture),
        "bets": None,
    }


def _ms(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _steps(folder: Scene | Photos) -> int:
    if isinstance(folder, Photos):
        return len(folder.images) + len(folder.labels.get("empty", []))
    settled = sum(p.arm is None for p in folder.pictures)
    return settled if folder.round is None else settled + video_length(folder)
