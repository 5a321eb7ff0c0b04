"""`pitwatch sim`: a simulated table on disk, with all that `watch`, `audit` and people need to read it.

Out, in a folder: `video.mp4` or `frames/`, `calibration.json`, `layout.json`, `table.toml`, `preview.png`,
`events.jsonl` (the true table events) and `truth.json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from pitwatch.errors import UserError
from pitwatch.sim.spec import SimSpec
from pitwatch.sim.stage import Stage
from pitwatch.table.files import write_json

__all__ = ["write_sim"]

_TABLE = """\
# The simulated table in this folder.
[table]
name = "SIM-1"
site = "sim"
rules = "{rules}"
{decks}minimum = {minimum}
maximum = {maximum}

[camera]
calibration = "calibration.json"
source = "{source}"

[layout]
file = "layout.json"
"""


def write_sim(
    out: Path,
    *,
    rounds: int,
    seed: int,
    width: int,
    height: int,
    fps: float,
    video: bool,
    say: Callable[[str], None],
) -> None:
    """Render `rounds` rounds into `out`. Raises UserError when the folder cannot be written."""
    spec = SimSpec(rounds=rounds, seed=seed, width=width, height=height, fps=fps)
    stage = Stage(spec)
    try:
        out.mkdir(parents=True, exist_ok=True)
        _write_facts(out, stage, video)
        put, done = _video(out, spec) if video else _pictures(out)
        preview = stage.frames * 2 // 5 // rounds
        for index in track(range(stage.frames), "rendering", console=Console(stderr=True), transient=True):
            image = stage.frame(index).image
            put(index, image)
            if index == preview:
                _write_picture(out / "preview.png", image)
        done()
    except OSError as e:
        raise UserError(f"{out} cannot be written ({e.strerror}); name another folder") from None
    what = "video.mp4" if video else "frames"
    source = f" --source {out / what}" + ("" if video else f" --fps {fps:g}")
    say(f"{stage.frames} pictures of {rounds} rounds are in {out / what}; preview.png shows one.")
    say(f"Watch them: pitwatch watch --table {out / 'table.toml'}{source}")


def _write_facts(out: Path, stage: Stage, video: bool) -> None:
    truth = stage.truth
    write_json(out / "calibration.json", stage.camera.to_json())
    write_json(out / "layout.json", stage.layout.to_json())
    h = truth.header
    decks = f"decks = {h['decks']}\n" if "decks" in h else ""
    source = "video.mp4" if video else "frames"
    text = _TABLE.format(
        rules=h["rules"], decks=decks, minimum=h["minimum"], maximum=h["maximum"], source=source
    )
    (out / "table.toml").write_text(text, encoding="utf-8")
    truth.write_log(out / "events.jsonl")
    (out / "truth.json").write_text(json.dumps(truth.to_json(), indent=1), encoding="utf-8")


Put = Callable[[int, NDArray[np.uint8]], object]


def _video(out: Path, spec: SimSpec) -> tuple[Put, Callable[[], None]]:
    path = out / "video.mp4"
    fourcc = cv2.VideoWriter.fourcc(*"mp4v")
    writer = cv2.VideoWriter(str(path), cv2.CAP_FFMPEG, fourcc, spec.fps, (spec.width, spec.height))
    if not writer.isOpened():
        raise UserError(f"{path} cannot be written as a video; write pictures with --frames")
    return lambda _, image: writer.write(image), writer.release


def _pictures(out: Path) -> tuple[Put, Callable[[], None]]:
    folder = out / "frames"
    folder.mkdir(exist_ok=True)
    return lambda index, image: _write_picture(folder / f"{index:06d}.jpg", image), lambda: None


def _write_picture(path: Path, image: NDArray[np.uint8]) -> None:
    parameters = [cv2.IMWRITE_JPEG_QUALITY, 95] if path.suffix == ".jpg" else []
    path.write_bytes(bytes(cv2.imencode(path.suffix, image, parameters)[1]))
