"""The pose step: from a still picture and what the technician tapped to a calibrated camera.

In: a picture and a `PoseRequest` of the page. Out: the camera, what to say about it, ± mm at every spot.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from pitwatch.errors import UserError
from pitwatch.setup.progress import Spread
from pitwatch.table.anchor import anchored_on_print
from pitwatch.table.board import board_named
from pitwatch.table.calibrate import in_arrays, load_lens, run_calibrate_pose, settled_by, stands
from pitwatch.table.camera import Camera
from pitwatch.table.files import load_camera
from pitwatch.table.from_board import run_calibrate_from_board, run_calibrate_from_tags
from pitwatch.table.from_cards import cards_spread_mm, pose_from_cards
from pitwatch.table.from_print import with_line
from pitwatch.table.ideal import Ideal
from pitwatch.table.layout import Layout
from pitwatch.table.uncertain import spots_of

__all__ = ["Known", "PoseRequest", "Posed", "in_words", "solve"]

Image = NDArray[np.uint8]
_FEWEST_CARDS = 4
_FEW_CARDS = 6
_SHARE_OFF = 0.003
_PLAYERS_MM = 700.0  # y from which on a camera is nearer to the players


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Known(_Request):
    """A point tapped in the picture, px, and where it is on the felt, mm."""

    px: tuple[float, float]
    mm: tuple[float, float]


class PoseRequest(_Request):
    """What to solve. edge: the tapped middle of the dealer's edge, px. bar_mm: what the board's 100 mm bar
    measures. at: the board's middle (mm) and turn (degrees). tags: the place of each, mm."""

    method: Literal["cards", "points", "board", "tags"]
    seats: int = Field(default=6, ge=1, le=9)
    edge: tuple[float, float] | None = None
    points: list[Known] = Field(default_factory=list)
    paper: str = "a3"
    bar_mm: float | None = None
    at: tuple[float, float, float] | None = None
    tags: dict[str, tuple[float, float]] = Field(default_factory=dict)


@dataclass(frozen=True)
class Posed:
    """layout: where the printed circles gave it too. outlines: of the cards, (4, 2) px each."""

    camera: Camera
    said: list[str]
    spread: list[Spread]
    layout: Layout | None = None
    layout_said: str = ""
    outlines: list[list[list[float]]] = field(default_factory=list)


def solve(image: Image, asked: PoseRequest, lens: Path | None, layout: Layout | None) -> Posed:
    """Find the camera. lens: a calibrated lens to keep. layout: the felt, if known, for the ± mm.

    Raises UserError with one sentence for the page.
    """
    posed = _solved(image, asked, lens, layout)
    felt = posed.layout or layout
    spots = [p for _, p in _places(felt, asked.seats)]
    inside = [_in_picture(posed.camera, p) for p in spots]
    if sum(inside) < len(spots) / 2:
        raise UserError(
            "so the table would lie outside the picture: the points were tapped in the wrong order, or x and "
            "y were exchanged; x grows toward the dealer's right, y away from the dealer"
        )
    if posed.camera.position_mm[1] > _PLAYERS_MM:
        note = (
            "the camera hangs on the players' side; if it hangs behind the dealer, the points were tapped in "
            "the wrong order"
        )
        return replace(posed, said=[*posed.said, note])
    return posed


def _in_picture(camera: Camera, place: tuple[float, float]) -> bool:
    if camera.R[2] @ np.array([*place, 0.0]) + camera.t_mm[2] <= 0:
        return False
    x, y = camera.project([place])[0]
    return bool(0 <= x < camera.width and 0 <= y < camera.height)


def _solved(image: Image, asked: PoseRequest, lens: Path | None, layout: Layout | None) -> Posed:
    if asked.method == "cards":
        return _from_cards(image, asked, layout) if lens is None else _through(lens, image, asked, layout)
    with tempfile.TemporaryDirectory(prefix="pitwatch-setup-") as name:
        folder = Path(name)
        try:
            return _by_files(image, asked, lens, layout, folder)
        except UserError as e:
            raise UserError(in_words(str(e), folder)) from None


def _through(lens: Path, image: Image, asked: PoseRequest, layout: Layout | None) -> Posed:
    """From cards with a calibrated lens: as if it did not bend, then behind it."""
    known = load_lens(lens)
    if (known.width, known.height) != (image.shape[1], image.shape[0]):
        raise UserError(
            f"the lens was calibrated for {known.width} x {known.height} pixels, but the picture is "
            f"{image.shape[1]} x {image.shape[0]}; calibrate it again or skip it"
        )
    ideal = Ideal(known)

    def moved(px: tuple[float, float]) -> tuple[float, float]:
        x, y = ideal.to_ideal([px])[0]
        return float(x), float(y)

    points = [p.model_copy(update={"px": moved(p.px)}) for p in asked.points]
    edge = None if asked.edge is None else moved(asked.edge)
    posed = _from_cards(
        ideal.picture(image),
        asked.model_copy(update={"points": points, "edge": edge}),
        layout,
        ideal.focal,
    )
    places = _places(posed.layout or layout, asked.seats)
    camera = ideal.camera(posed.camera, [*(p for _, p in places), (-200.0, 60.0), (200.0, 60.0)])
    outlines = [np.round(ideal.to_real(o), 1).tolist() for o in posed.outlines]
    said = [*posed.said, "the calibrated lens was kept"]
    return replace(posed, camera=camera, outlines=outlines, said=said)


def _from_cards(image: Image, asked: PoseRequest, layout: Layout | None, focal: float | None = None) -> Posed:
    if len(asked.points) < 2 and asked.edge is None:
        raise UserError(
            "nothing says where the table's middle is: tap the middle of the dealer's edge, or two points "
            "whose place you know"
        )
    pose = pose_from_cards(image, focal=focal)
    if pose is None or len(pose.outlines) < _FEWEST_CARDS:
        n = 0 if pose is None else len(pose.outlines)
        raise UserError(
            f"{n} whole cards with clear edges are to be seen; lay six to ten face up, flat and apart from "
            "each other, all over the felt"
        )
    n = len(pose.outlines)
    said = [f"{n} cards fit to {pose.rms_mm:.1f} mm"]
    if n < _FEW_CARDS:
        said.append("six or more would make it surer: lay some more, farther apart")
    found, felt_said = layout, ""
    if len(asked.points) >= 2:
        pairs = [(list(p.px), list(p.mm)) for p in asked.points]
        camera, off = settled_by("the tapped points", pairs, pose)
        said += off
        px, mm = in_arrays(pairs)
    else:
        assert asked.edge is not None
        on = anchored_on_print(image, pose.camera, asked.edge, asked.seats)
        camera, fitted = on.camera, with_line(on.fitted, image, on.camera)
        found, felt_said = fitted.layout, fitted.said
        said.append(f"the table's frame follows from the felt: {fitted.said}")
        mm = np.array(found.spots, float)
        px = camera.project(mm)
    said.append(stands(camera))
    places = _places(found, asked.seats)
    known = len(asked.points) >= 2
    mms = cards_spread_mm(pose, camera, px, mm, [p for _, p in places], known=known)
    spread = [Spread(place=n, mm=round(float(s), 2)) for (n, _), s in zip(places, mms, strict=True)]
    outlines = [np.round(o, 1).tolist() for o in pose.outlines]
    return Posed(camera, said, spread, found if felt_said else None, felt_said, outlines)


def _places(layout: Layout | None, seats: int) -> list[tuple[str, tuple[float, float]]]:
    if layout is None:
        return spots_of(str(seats) if seats in (5, 6, 7) else None)
    x0, x1, y = layout.dealer_row
    return [
        *((f"seat {s}", layout.spots[s - 1]) for s in layout.seats),
        ("dealer's cards", ((x0 + x1) / 2, y)),
    ]


def _by_files(
    image: Image, asked: PoseRequest, lens: Path | None, layout: Layout | None, folder: Path
) -> Posed:
    """As the commands do it, whose rooms read and write files."""
    picture, points, out = folder / "picture.png", folder / "points.json", folder / "calibration.json"
    cv2.imwrite(str(picture), image, [cv2.IMWRITE_PNG_COMPRESSION, 1])
    points.write_text(json.dumps([{"px": p.px, "mm": p.mm} for p in asked.points]))
    felt = str(asked.seats) if asked.seats in (5, 6, 7) else None
    if layout is not None:
        (folder / "layout.json").write_text(json.dumps(layout.to_json()))
        felt = str(folder / "layout.json")
    said: list[str] = []
    if asked.method == "points":
        run_calibrate_pose(picture, points, lens, out, said.append, felt)
    elif asked.method == "board":
        board, note = board_named(asked.paper), ""
        if asked.bar_mm is not None:
            share = asked.bar_mm / 100.0
            if abs(share - 1) > _SHARE_OFF:
                note = (
                    f"the board was printed at {100 * share:.1f} %, not at 100 %; this is taken into account"
                )
            board = board_named(asked.paper, board.square_mm * share)
        known = points if len(asked.points) >= 2 else None
        at = None if known is not None else asked.at
        if known is None and at is None:
            raise UserError("say where the board's middle lies, or tap two points whose place you know")
        run_calibrate_from_board(picture, board, at, known, lens, out, said.append, felt)
        said += [note] if note else []
    else:
        tags = folder / "tags.json"
        tags.write_text(json.dumps(asked.tags))
        extra = points if asked.points else None
        run_calibrate_from_tags(picture, tags, extra, lens, out, said.append, felt)
    lines = [in_words(line, folder) for line in said]
    # the table of ± mm is shown as such, not as lines of text
    rows = [m for line in lines if (m := _ROW.match(line))]
    spread = [Spread(place=m[1].strip(), mm=float(m[2])) for m in rows]
    kept = [line for line in lines if not _ROW.match(line) and not _HEADINGS.match(line)]
    return Posed(load_camera(out), kept, spread)


_ROW = re.compile(r"^(seat \d+|dealer's cards)\s+\([^)]*\)\s+([\d.]+)$")
_HEADINGS = re.compile(r"^(wrote |spot\s+mm|point\s+px|\s*\d+\s+\()")


def in_words(text: str, folder: Path) -> str:
    """A message of the command line as the page says it: no files and options that nobody there has seen."""
    for file, name in (
        ("picture.png", "the picture"),
        ("points.json: ", ""),
        ("points.json", "the tapped points"),
        ("tags.json: ", ""),
        ("tags.json", "the tags"),
    ):
        text = text.replace(f"{folder}/{file}", name)
    for option, name in (
        ("give the side of a printed square with --square", "enter what the board's 100 mm bar measures"),
        ("--square", "the bar's length"),
        ("--board-at", "the board's place"),
        ("--points", "tapped points"),
        ("; or name a layout file", ""),
    ):
        text = text.replace(option, name)
    return text.removeprefix(f"{folder}/")
