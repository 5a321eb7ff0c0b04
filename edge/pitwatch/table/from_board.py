"""`pitwatch calibrate pose` from a printed board or from tags that lie on the felt.

In: paths and where things lie, mm. Out: `calibration.json`, a check picture beside it, and lines of text:
errors, where the camera is, ± mm at every spot.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError
from pitwatch.table.board import TAG_MM, Board, Corners, find_any_board, find_board, find_tags, why_none
from pitwatch.table.calibrate import (
    anchored_by,
    in_arrays,
    load_lens,
    read_anchors,
    read_picture,
    read_points,
    report,
    stands,
    write_calibration,
)
from pitwatch.table.camera import Camera
from pitwatch.table.files import read_json
from pitwatch.table.from_cards import anchored
from pitwatch.table.pose import PoseResult, solve_pose
from pitwatch.table.uncertain import CLICKED_PX, moved, propagated, spots_of, spread_mm, told

__all__ = ["board_place", "read_tags", "run_calibrate_from_board", "run_calibrate_from_tags"]

Array = NDArray[np.float64]
Image = NDArray[np.uint8]
Pair = tuple[list[float], list[float]]

_CORNER_PX = 0.15  # how exact a found corner is at best
_LAID_MM = 1.0  # how exact a board is laid on its mark, and a point is measured
_SCALE_OFF = 0.02  # share by which print and measured places may disagree


def run_calibrate_from_board(
    picture: str | Path,
    board: Board,
    at: tuple[float, float, float] | None,
    points: str | Path | None,
    lens: str | Path | None,
    out: str | Path,
    echo: Callable[[str], None],
    layout: str | None = None,
) -> Camera:
    """Solve the pose from a board that lies flat and write `out`.

    at: (x, y, turn) of the board's middle, mm, and by how many degrees it is turned counter-clockwise; None:
    it lies anywhere, and two or more known `points` say where. lens: a calibration whose lens holds.
    Raises UserError naming what is wrong and the remedy; then no calibration is written.
    """
    if (at is None) == (points is None):
        raise UserError(
            "--board needs either --board-at X,Y,TURN, where its middle lies, or --points with two known "
            "points"
        )
    image = read_picture(picture)
    spots = spots_of(layout)
    corners = _corners(image, board, picture)
    known = None if lens is None else load_lens(lens)
    x, y, turn = at or (0.0, 0.0, 0.0)
    mm = corners.mm @ _turned(turn).T + (x, y)
    pairs = [(p.tolist(), m.tolist()) for p, m in zip(corners.px, mm, strict=True)]
    try:
        result = solve_pose(pairs, image.shape[1], image.shape[0], known)
    except UserError as e:
        raise UserError(f"{picture}: the board's corners: {e}") from None
    echo(f"{len(pairs)} corners of the {board.paper} board: {result.rms_px:.2f} px rms")
    camera = result.camera
    places = np.array([p for _, p in spots])
    if at is not None:
        # laid by hand: the farther from the board, the more a slight turn of it matters
        far = np.hypot(*(places - (x, y)).T) / (board.size_mm[0] / 2)
        spread = np.hypot(spread_mm(result, spots, _CORNER_PX), _LAID_MM * np.hypot(1.0, far))
        pairs = [pairs[0], pairs[-1]]
    else:
        assert points is not None
        pairs = read_anchors(points)
        camera, off = anchored_by(
            points,
            pairs,
            result.camera,
            most_off=_SCALE_OFF,
            by="the board",
            remedy=f"give the side of a printed square with --square (now {board.square_mm:g} mm)",
        )
        for line in off:
            echo(line)
        spread = _anchored_spread(result, pairs, camera.project(places))
    echo(stands(camera) + _focal(result))
    for line in told(spots, spread):
        echo(line)
    note = f"from the {board.paper} board in {Path(picture).name}"
    write_calibration(out, picture, image, pairs, camera, note, echo)
    return camera


def run_calibrate_from_tags(
    picture: str | Path,
    tags: str | Path,
    points: str | Path | None,
    lens: str | Path | None,
    out: str | Path,
    echo: Callable[[str], None],
    layout: str | None = None,
) -> PoseResult:
    """Solve the pose from tags whose middles' places are in the file `tags`, with `points` as well if given.

    Raises UserError as `run_calibrate_from_board` does.
    """
    image = read_picture(picture)
    spots = spots_of(layout)
    places = read_tags(tags)
    known = None if lens is None else load_lens(lens)
    seen = {i: c for i, c in find_tags(image).items() if i in places}
    extra = [] if points is None else read_points(points)
    if len(seen) + len(extra) < 4:
        lost = ", ".join(str(i) for i in places if i not in seen)
        raise UserError(
            f"{picture} shows {len(seen)} of the {len(places)} tags in {tags}"
            f"{f' (not {lost})' if lost else ''}; four are wanted: lay them flat and uncovered"
        )
    pairs = [([*_middle(c, known)], list(places[i])) for i, c in seen.items()] + extra
    try:
        result = solve_pose(pairs, image.shape[1], image.shape[0], known)
    except UserError as e:
        names = ", ".join(f"point {k} is tag {i}" for k, i in enumerate(seen, 1))
        raise UserError(f"{tags}: {e} ({names})") from None
    sides = [
        float(np.hypot(*(np.roll(at, -1, axis=0) - at).T).mean())
        for at in (result.camera.to_table(c) for c in seen.values())
    ]
    scale = float(np.median(sides)) / TAG_MM if sides else 1.0
    # a blurred tag's corners are found a quarter of a pixel too far inside
    side_px = float(np.median([np.hypot(*(c[1] - c[0])) for c in seen.values()])) if seen else 1.0
    if abs(scale - 1) > max(_SCALE_OFF, 1.0 / side_px):
        raise UserError(
            f"{tags}: by the places given a tag's side is {scale * TAG_MM:.1f} mm, but it is printed "
            f"{TAG_MM:g} mm: measure the places again, and the sheet's bar"
        )
    echo(f"tags {', '.join(str(i) for i in seen)}; their sides measure {scale * TAG_MM:.1f} mm")
    for line in [*report(pairs, result), *told(spots, spread_mm(result, spots))]:
        echo(line)
    note = f"from {len(seen)} tags in {Path(picture).name}; {result.rms_px:.2f} px rms"
    write_calibration(out, picture, image, pairs, result.camera, note, echo)
    return result


def board_place(text: str) -> tuple[float, float, float]:
    """X,Y or X,Y,TURN in words to numbers. Raises UserError for anything else."""
    parts = text.split(",")
    try:
        numbers = [float(p) for p in parts]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or not all(math.isfinite(n) for n in numbers):
        raise UserError(
            f"--board-at {text} is no place; give the board's middle in mm and its turn in degrees, as in "
            "--board-at 0,300 or --board-at 0,300,180"
        )
    return (numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else 0.0)


def read_tags(path: str | Path) -> dict[int, tuple[float, float]]:
    """Read {"0": [X, Y], ...}: where the middle of each tag lies, mm. Raises UserError naming the tag."""
    form = '{"0": [X, Y], "1": [X, Y], ...}'
    obj = read_json(path, f"the tags' places, {form},")
    if not isinstance(obj, dict):
        raise UserError(f"{path} holds no object; write the tags' places as {form}")
    out: dict[int, tuple[float, float]] = {}
    for key, place in obj.items():
        good = (
            isinstance(place, list)
            and len(place) == 2
            and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in place)
        )
        if not key.isdigit() or not good:
            raise UserError(f"{path}: tag '{key}' is {place!r}; write the tags' places in mm as {form}")
        out[int(key)] = (float(place[0]), float(place[1]))
    return out


def _corners(image: Image, board: Board, picture: str | Path) -> Corners:
    found = find_board(image, board)
    if found is not None:
        return found
    other = find_any_board(image)
    if other is not None:
        raise UserError(
            f"{picture} shows the {other.board.paper} board, not {board.paper}; give its own name"
        )
    why = why_none(image) or "lay it flat, uncovered and without glare, with text upright for the dealer"
    raise UserError(f"{picture} shows no {board.paper} board: {why}")


def _anchored_spread(result: PoseResult, pairs: list[Pair], at: Array) -> Array:
    """± mm at pixels `at` (N, 2) of a camera that known points have anchored."""
    px, mm = in_arrays(pairs)
    n, k = len(result.covariance), px.size

    def found(x: Array) -> Array:
        shifted = moved(result.camera, x[:n])
        return anchored(shifted, px + x[n : n + k].reshape(-1, 2), mm + x[n + k :].reshape(-1, 2))[
            0
        ].to_table(at)

    covariance = np.zeros((n + 2 * k, n + 2 * k))
    covariance[:n, :n] = max(_CORNER_PX, result.noise_px) ** 2 * result.covariance
    covariance[n:, n:] = np.diag([CLICKED_PX**2] * k + [_LAID_MM**2] * k)
    return propagated(found, np.zeros(n + 2 * k), covariance)


def _turned(degrees: float) -> Array:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[c, -s], [s, c]])


def _middle(corners: Array, lens: Camera | None) -> Array:
    """A tag's middle, px: where its diagonals meet once the lens is undone."""
    flat = None
    if lens is not None:
        flat = replace(lens, R=np.diag([1.0, -1.0, -1.0]), t_mm=np.array([0.0, 0.0, 1.0]))
    a, b, c, d = corners if flat is None else flat.to_table(corners)
    s = np.linalg.solve(np.column_stack([c - a, b - d]), b - a)
    at: Array = a + s[0] * (c - a)
    return at if flat is None else flat.project([at])[0]


def _focal(result: PoseResult) -> str:
    if not result.focal_estimated:
        return ""
    sigma = result.focal_sigma * _CORNER_PX / CLICKED_PX
    return f"; focal length {result.camera.K[0, 0]:.0f} px (estimated; ± {100 * sigma:.1f} %)"
