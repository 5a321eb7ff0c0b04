"""Calibrations and layouts on disk.

In: paths of `calibration.json` and `layout.json` files. Out: `Camera` and `Layout`, or a UserError that names
the file, what is wrong in it and the remedy.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError
from pitwatch.table.camera import Camera, CameraError
from pitwatch.table.layout import Layout, LayoutError
from pitwatch.table.patches import small_grey

__all__ = [
    "check_resolution",
    "load_camera",
    "load_felt",
    "load_layout",
    "load_picture",
    "read_json",
    "write_felt",
    "write_json",
]


def load_camera(path: str | Path) -> Camera:
    """Read a calibration file.

    Raises UserError naming the file and the key.
    """
    obj = read_json(path, "a calibration")
    try:
        if not isinstance(obj, dict):
            raise CameraError("it holds no JSON object")
        return Camera.from_json(obj)
    except CameraError as e:
        remedy = "make it anew with `pitwatch calibrate pose`"
        raise UserError(f"{path} is no calibration: {e}; {remedy}") from None


def load_layout(path: str | Path) -> Layout:
    """Read a layout file.

    Raises UserError naming the file and the key.
    """
    obj = read_json(path, "a layout")
    try:
        return Layout.from_json(obj)
    except LayoutError as e:
        remedy = "calibration/layouts has examples for 5, 6 and 7 seats"
        raise UserError(f"{path} is no layout: {e}; {remedy}") from None


def load_picture(path: Path, remedy: str) -> NDArray[np.uint8]:
    """A picture (h, w, 3), BGR. Raises UserError naming the file, and `remedy`."""
    image = cv2.imread(str(path), cv2.IMREAD_COLOR) if path.is_file() else None
    if image is None:
        raise UserError(f"{path} is no picture that can be read; {remedy}")
    return np.asarray(image, np.uint8)


def load_felt(path: str | Path) -> NDArray[np.uint8] | None:
    """The felt as a calibration's camera saw it, grey (h, w); None when none was kept with it.

    Raises UserError naming the file that it names but that is not there.
    """
    obj = read_json(path, "a calibration")
    if not isinstance(obj, dict) or obj.get("felt") is None:
        return None
    file = Path(path).parent / str(obj["felt"])
    image = cv2.imread(str(file), cv2.IMREAD_GRAYSCALE) if file.is_file() else None
    if image is None:
        raise UserError(
            f"{path} names {file}, which is no picture that can be read; copy it beside the calibration, or "
            "take the key 'felt' out"
        )
    return np.asarray(image, np.uint8)


def write_felt(path: str | Path, image: NDArray[np.uint8], camera: Camera) -> dict[str, str]:
    """Keep a picture of the felt, BGR, beside the calibration at `path`; what to write into that.

    Raises UserError when it cannot be written.
    """
    file = Path(path).with_suffix(".felt.jpg")
    if not cv2.imwrite(str(file), small_grey(image, camera), [cv2.IMWRITE_JPEG_QUALITY, 92]):
        raise UserError(f"{file} cannot be written; choose another place with --out")
    return {"felt": file.name}


def check_resolution(camera: Camera, width: int, height: int, path: str | Path) -> None:
    """Make sure that frames of this size are what the calibration is for.

    Raises UserError naming both sizes.
    """
    if (camera.width, camera.height) != (width, height):
        raise UserError(
            f"{path} was calibrated for {camera.width} x {camera.height} pixels, but the frames are "
            f"{width} x {height}; set the camera to {camera.width} x {camera.height}, or calibrate again "
            f"with a picture of {width} x {height}"
        )


def read_json(path: str | Path, what: str) -> Any:
    """The JSON value in a file; `what` says what it should be, as in "a calibration".

    Raises UserError when the file is missing, unreadable or not JSON.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path} does not exist; it should be {what} in JSON") from None
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is not UTF-8 text"
        raise UserError(f"{path} cannot be read ({reason}); it should be {what} in JSON") from None
    try:
        return json.loads(text)
    except json.JSONDecodeError as e:
        raise UserError(f"{path}, line {e.lineno}: {e.msg}; it should be {what} in JSON") from None


def write_json(path: str | Path, obj: Any) -> None:
    """Write a JSON value for people to read: a line a key, points on one line.

    Raises UserError when the file cannot be written.
    """
    if isinstance(obj, dict):
        lines = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in obj.items()]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
    else:
        text = json.dumps(obj) + "\n"
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as e:
        raise UserError(f"{path} cannot be written ({e.strerror}); choose another place with --out") from None
