"""`pitwatch calibrate pose`: from a picture and a file of points to a calibration.

In: paths. Out: `calibration.json`, a PNG with the points and a grid of 100 mm drawn over the picture, and
lines of text for the terminal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError
from pitwatch.table.camera import Camera, CameraError
from pitwatch.table.files import read_json, write_felt, write_json
from pitwatch.table.from_cards import CardsPose, anchored, cards_spread_mm, pose_from_cards, settled
from pitwatch.table.ideal import Ideal
from pitwatch.table.pose import PoseResult, solve_pose
from pitwatch.table.uncertain import spots_of, spread_mm, told

__all__ = [
    "anchored_by",
    "check_path",
    "check_picture",
    "in_arrays",
    "load_lens",
    "read_anchors",
    "read_picture",
    "read_points",
    "report",
    "run_calibrate_from_cards",
    "run_calibrate_pose",
    "settled_by",
    "stands",
    "write_calibration",
]

Image = NDArray[np.uint8]
Pair = tuple[list[float], list[float]]

_FEWEST_CARDS = 4
_SCALE_OFF = 0.04  # share by which cards and measured points may disagree
_FORM = '[{"px": [x, y], "mm": [X, Y]}, ...]'


def run_calibrate_pose(
    picture: str | Path,
    points: str | Path,
    lens: str | Path | None,
    out: str | Path,
    echo: Callable[[str], None],
    layout: str | None = None,
) -> PoseResult:
    """Solve the pose and write `out` and its check picture, `out` with the suffix .png.

    layout: a layout file or a number of seats, for the spots whose uncertainty is told. echo:
    told each line of the report.
    Raises UserError naming the file or the point, and the remedy; then no calibration is written.
    """
    image = read_picture(picture)
    pairs = read_points(points)
    spots = spots_of(layout)
    height, width = image.shape[:2]
    known = None if lens is None else load_lens(lens)
    try:
        result = solve_pose(pairs, width, height, known)
    except UserError as e:
        raise UserError(f"{points}: {e}") from None
    for line in [*report(pairs, result), *told(spots, spread_mm(result, spots))]:
        echo(line)
    note = f"from {len(pairs)} points of {Path(picture).name}; {result.rms_px:.2f} px rms"
    write_calibration(out, picture, image, pairs, result.camera, note, echo, felt=True)
    return result


def run_calibrate_from_cards(
    pictures: Sequence[str | Path],
    points: str | Path,
    lens: str | Path | None,
    out: str | Path,
    echo: Callable[[str], None],
    layout: str | None = None,
) -> Camera:
    """Solve the pose from the cards in pictures of one camera, anchor it by two or more known points in the
    first of them, write `out`.

    lens: a calibration whose lens to keep. layout, echo: as for `run_calibrate_pose`, and as there a check
    picture is written beside `out`. Raises UserError naming the file and the remedy; then no calibration is
    written.
    """
    images = [read_picture(picture) for picture in pictures]
    for picture, image in zip(pictures, images, strict=True):
        if image.shape != images[0].shape:
            raise UserError(f"{picture} has another size than {pictures[0]}; take all with one camera")
    pairs = read_anchors(points)
    ideal = None if lens is None else Ideal(_lens_of(lens, images[0]))
    if ideal is None:
        pose, seen = pose_from_cards(images), pairs
    else:
        # as if the lens did not bend, then behind it
        pose = pose_from_cards([ideal.picture(image) for image in images], focal=ideal.focal)
        seen = [(ideal.to_ideal([px])[0].tolist(), mm) for px, mm in pairs]
    cards = 0 if pose is None else len(pose.outlines)
    if pose is None or cards < _FEWEST_CARDS:
        raise UserError(
            f"{pictures[0]} shows {cards} whole cards with clear edges; lay six to ten face up, apart from "
            "each other, all over the felt"
        )
    camera, off = settled_by(points, seen, pose)
    spots = spots_of(layout)
    spread = cards_spread_mm(pose, camera, *in_arrays(seen), [p for _, p in spots], known=True)
    if ideal is not None:
        camera = ideal.camera(camera, [*(p for _, p in spots), (-200.0, 60.0), (200.0, 60.0)])
    fit = f"{cards} cards fit to {pose.rms_mm:.2f} mm rms"
    for line in [fit, *off, stands(camera), *told(spots, spread)]:
        echo(line)
    note = f"from {cards} cards of {', '.join(Path(p).name for p in pictures)}"
    write_calibration(out, pictures[0], images[0], pairs, camera, note, echo)
    return camera


def read_anchors(points: str | Path) -> list[Pair]:
    """Known points that are enough to say where the table's frame lies. Raises UserError naming the file."""
    pairs = read_points(points)
    if len(pairs) < 2:
        raise UserError(f"{points} holds {len(pairs)} points; two known felt points anchor the table's frame")
    return pairs


def in_arrays(pairs: list[Pair]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pixels (N, 2), and places on the felt (N, 2) mm."""
    px, mm = zip(*pairs, strict=True)
    return np.array(px, dtype=np.float64), np.array([m[:2] for m in mm], dtype=np.float64)


def anchored_by(
    points: str | Path, pairs: list[Pair], camera: Camera, *, most_off: float, by: str, remedy: str
) -> tuple[Camera, list[str]]:
    """The camera in the frame of known points, and a line about each of them.

    Raises UserError when their distances and those `by` which the camera was found differ by a share of more
    than `most_off`.
    """
    px, mm = in_arrays(pairs)
    wide, seen = _spread(mm), _spread(camera.to_table(px))
    if abs(seen / wide - 1) > most_off:
        raise UserError(
            f"{points}: the points lie {wide:.0f} mm apart, but by {by} it is {seen:.0f} mm; measure "
            f"them again, and {remedy}"
        )
    moved, off = anchored(camera, px, mm)
    return moved, _each_off(mm, off)


def settled_by(points: str | Path, pairs: list[Pair], pose: CardsPose) -> tuple[Camera, list[str]]:
    """The camera that cards and known points tell together, and a line about each point.

    Raises UserError as `anchored_by`.
    """
    remedy = "check that the cards are of poker size (63 x 88 mm) and the points the right ones"
    anchored_by(points, pairs, pose.camera, most_off=_SCALE_OFF, by="the cards", remedy=remedy)
    px, mm = in_arrays(pairs)
    camera = settled(pose, px, mm)
    return camera, _each_off(mm, np.hypot(*(camera.to_table(px) - mm).T))


def _each_off(mm: NDArray[np.float64], off: NDArray[np.float64]) -> list[str]:
    return [
        f"point {i} at ({x:.1f}, {y:.1f}) mm is {error:.1f} mm off"
        for i, ((x, y), error) in enumerate(zip(mm, off, strict=True), 1)
    ]


def _lens_of(path: str | Path, image: Image) -> Camera:
    lens = load_lens(path)
    if (lens.width, lens.height) != (image.shape[1], image.shape[0]):
        raise UserError(
            f"{path} is for {lens.width} x {lens.height} pixels, but the picture has {image.shape[1]} x "
            f"{image.shape[0]}; calibrate the lens at the resolution at which the camera watches"
        )
    return lens


def _spread(points: NDArray[np.float64]) -> float:
    """The longest distance between two of the points (N, 2)."""
    return float(max(np.hypot(*(a - b)) for a in points for b in points)) or 1e-9


def check_path(out: Path, picture: str | Path) -> Path:
    """Where the picture to check `out` by is written: beside it, and never over the picture it came from."""
    check = out.with_suffix(".png")
    if check == out or (check.exists() and check.samefile(picture)):
        check = out.with_name(f"{out.stem}-check.png")
    return check


def write_calibration(
    out: str | Path,
    picture: str | Path,
    image: Image,
    pairs: list[Pair],
    camera: Camera,
    note: str,
    echo: Callable[[str], None],
    *,
    felt: bool = False,
) -> None:
    """Write the calibration and its check picture, and say so. Raises UserError when it cannot be written.

    felt: the picture shows the table as it is played at, with nothing laid on it for calibrating: kept beside
    the calibration, it tells a watch whether the camera has moved since.
    """
    out = Path(out)
    check = check_path(out, picture)
    if not out.parent.is_dir() or not cv2.imwrite(str(check), check_picture(image, pairs, camera)):
        raise UserError(f"{check} cannot be written; choose another place with --out")
    kept = write_felt(out, image, camera) if felt else {}
    write_json(out, {**camera.to_json(), "note": note, **kept})
    echo(f"wrote {out}, and {check} to check it by: the grid should lie on the felt, 100 mm a square")


def report(pairs: list[Pair], result: PoseResult) -> list[str]:
    """The error at each point, and what the camera is."""
    lines = [f"{'point':>5}  {'px':>17}  {'mm':>19}  {'error px':>8}  {'error mm':>8}"]
    for i, ((px, mm), ep, em) in enumerate(zip(pairs, result.errors_px, result.errors_mm, strict=True), 1):
        seen = f"({px[0]:.1f}, {px[1]:.1f})"
        place = "(" + ", ".join(f"{v:.1f}" for v in mm) + ")"
        out = "  left out" if i - 1 in result.left_out else ""
        lines.append(f"{i:>5}  {seen:>17}  {place:>19}  {ep:>8.2f}  {em:>8.2f}{out}")
    camera = result.camera
    worst = int(result.errors_px.argmax())
    lines.append(
        f"rms {result.rms_px:.2f} px; worst is point {worst + 1}: {result.errors_px[worst]:.2f} px, "
        f"{result.errors_mm[worst]:.2f} mm"
    )
    focal = f"focal length {camera.K[0, 0]:.0f} px"
    if result.focal_estimated:
        focal += f" (estimated; ± {100 * result.focal_sigma:.1f} % for points half a pixel off)"
    lines.append(f"{stands(camera)}; {focal}")
    if result.doubt:
        what = "it was left out" if result.left_out else "the fit is poor"
        lines.append(f"warning: {what}: {result.doubt}")
    if result.focal_sigma > 0.05:
        lines.append(
            "warning: these points hardly tell the focal length, so heights of chips will be wrong; add "
            "points nearer and farther, or give --lens"
        )
    return lines


def stands(camera: Camera) -> str:
    """Where the camera is, in words."""
    tilt = math.degrees(math.acos(min(1.0, abs(camera.R[2, 2]))))
    x, y, z = camera.position_mm
    return (
        f"the camera is {z / 1000:.2f} m above the felt at x {x:.0f}, y {y:.0f} mm, tilted {tilt:.0f}° from "
        "straight down"
    )


def read_points(path: str | Path) -> list[Pair]:
    """Read a file of points, (px, mm) pairs.

    Raises UserError naming the file and the point.
    """
    obj = read_json(path, f"a list of points, {_FORM},")
    if not isinstance(obj, list):
        raise UserError(f"{path} holds no list; write the points as {_FORM}")
    pairs: list[Pair] = []
    for i, point in enumerate(obj, 1):
        pair = []
        for key, sizes in (("px", (2,)), ("mm", (2, 3))):
            value = point.get(key) if isinstance(point, dict) else None
            if not (isinstance(value, list) and len(value) in sizes and all(map(_is_number, value))):
                raise UserError(f"{path}: '{key}' of point {i} is missing or no point; write it as {_FORM}")
            pair.append([float(v) for v in value])
        pairs.append((pair[0], pair[1]))
    return pairs


def load_lens(path: str | Path) -> Camera:
    """Read a lens: a calibration whose pose may be missing.

    Raises UserError naming the file and the key.
    """
    obj = read_json(path, "a lens calibration")
    pose: dict[str, Any] = {"R": np.eye(3).tolist(), "t_mm": [0.0, 0.0, 1000.0]}
    try:
        if not isinstance(obj, dict):
            raise CameraError("it holds no JSON object")
        return Camera.from_json({**pose, **obj})
    except CameraError as e:
        raise UserError(f"{path} is no lens calibration: {e}; leave --lens out to estimate it") from None


def check_picture(image: Image, pairs: list[Pair], camera: Camera) -> Image:
    """The picture with a grid of 100 mm; a cross at each point, a circle where the camera puts it."""
    out: Image = image.copy()
    scale = max(image.shape[1] / 1920, 0.5)
    thin = max(1, round(scale))
    for v in range(-1000, 1001, 100):
        main = v == 0
        along = [(float(v), float(u)) for u in range(-100, 1001, 20)]
        _line(out, camera, along, (0, 0, 255) if main else (255, 255, 0), thin)
        if -100 <= v <= 1000:
            across = [(float(u), float(v)) for u in range(-1000, 1001, 20)]
            _line(out, camera, across, (0, 0, 255) if main else (255, 255, 0), thin)
    fitted = camera.project([[*mm, 0.0][:3] for _, mm in pairs])
    for i, ((px, _), (u, w)) in enumerate(zip(pairs, fitted, strict=True), 1):
        at = (round(px[0]), round(px[1]))
        cv2.drawMarker(out, at, (0, 255, 255), cv2.MARKER_CROSS, round(24 * scale), 2 * thin)
        cv2.circle(out, (round(u), round(w)), round(10 * scale), (255, 0, 255), 2 * thin, cv2.LINE_AA)
        corner = (at[0] + round(14 * scale), at[1] - round(14 * scale))
        cv2.putText(
            out, str(i), corner, cv2.FONT_HERSHEY_SIMPLEX, scale, (0, 255, 255), 2 * thin, cv2.LINE_AA
        )
    return out


def _line(
    out: Image, camera: Camera, mm: list[tuple[float, float]], colour: tuple[int, ...], thin: int
) -> None:
    points = np.column_stack([np.array(mm), np.zeros(len(mm))])
    depth = points @ camera.R[2] + camera.t_mm[2]
    px = np.full((len(mm), 2), np.inf)
    px[depth > 1] = camera.project(points[depth > 1]) if (depth > 1).any() else 0
    size = np.array([camera.width, camera.height])
    # far outside the picture a distortion model means nothing
    near = (depth > 1) & (np.abs(px - size / 2) < 0.75 * size).all(axis=1)
    for a, b, good in zip(px, px[1:], near[:-1] & near[1:], strict=False):
        if good:
            cv2.line(out, (round(a[0]), round(a[1])), (round(b[0]), round(b[1])), colour, thin, cv2.LINE_AA)


def read_picture(path: str | Path) -> Image:
    """Read a picture, BGR. Raises UserError naming the file."""
    if not Path(path).is_file():
        raise UserError(f"{path} does not exist; give a picture that the camera took")
    image = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if image is None:
        raise UserError(f"{path} cannot be read as a picture; save it as PNG or JPEG")
    return np.asarray(image, dtype=np.uint8)


def _is_number(v: object) -> bool:
    return isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v)
