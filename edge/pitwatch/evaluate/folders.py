"""Folders of pictures with truth, read and checked.

In: a folder with `truth.json` (a scene) or `labels.json` (photographs). Out: a `Scene` or a `Photos`; a
UserError naming the file and what to do about it when it is neither or not whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError
from pitwatch.table.camera import Camera, CameraError
from pitwatch.table.layout import Layout, LayoutError

__all__ = ["Photos", "Scene", "SceneCard", "ScenePicture", "SceneStack", "read_folder", "read_picture"]

T = TypeVar("T")


@dataclass(frozen=True)
class SceneCard:
    """A card of a scene. x, y, yaw: table frame, mm and degrees. z: a higher one lies over a lower one."""

    card: str
    face_up: bool
    x: float
    y: float
    yaw: float
    z: float


@dataclass(frozen=True)
class SceneStack:
    """A stack of a scene: cents bottom to top, middle of its base in mm. kind: "main", "pay", ..."""

    chips: tuple[int, ...]
    cents: int
    x: float
    y: float
    seat: int | None
    kind: str | None


@dataclass(frozen=True)
class ScenePicture:
    """One picture of a scene. arm: whose arm is in it, None when settled. event: what it shows for the first
    time, an arm's picture the last one's."""

    file: str
    arm: str | None
    event: Mapping[str, Any]
    cards: tuple[SceneCard, ...]
    stacks: tuple[SceneStack, ...]


@dataclass(frozen=True)
class Scene:
    """Rendered pictures of one table in order of time. round: what was dealt, None for single stills."""

    folder: Path
    name: str
    camera: Camera
    layout: Layout
    pictures: tuple[ScenePicture, ...]
    round: Mapping[str, Any] | None


@dataclass(frozen=True)
class Photos:
    """Photographs. labels: `labels.json` as it is; camera and layout: None where nothing is calibrated."""

    folder: Path
    name: str
    labels: Mapping[str, Any]
    camera: Camera | None
    layout: Layout | None

    @property
    def images(self) -> Sequence[Mapping[str, Any]]:
        """The labelled pictures, in their order."""
        images: Sequence[Mapping[str, Any]] = self.labels["images"]
        return images


def read_folder(folder: Path) -> Scene | Photos:
    """Read what a folder holds.

    Raises UserError naming the folder or file when it cannot be measured.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is no folder; name a folder that holds truth.json or labels.json")
    if (folder / "truth.json").is_file():
        return _scene(folder)
    if (folder / "labels.json").is_file():
        return _photos(folder)
    raise UserError(
        f"{folder} holds neither truth.json (a scene) nor labels.json (photographs); "
        "name a folder that does, or several"
    )


def read_picture(folder: Path, file: str, size: tuple[int, int] | None = None) -> NDArray[np.uint8]:
    """A picture (height, width, 3), BGR.

    Raises UserError when it cannot be read, or is not `size` (width, height) large.
    """
    path = folder / file
    image = cv2.imread(str(path), cv2.IMREAD_COLOR) if path.is_file() else None
    if image is None:
        raise UserError(f"{path} is missing or no picture; get the folder again, or take it out of its list")
    if size is not None and (image.shape[1], image.shape[0]) != size:
        raise UserError(
            f"{path} is {image.shape[1]} x {image.shape[0]}, but the calibration is for {size[0]} x {size[1]}"
            "; put the calibration of this camera beside it"
        )
    return np.asarray(image, dtype=np.uint8)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise UserError(
            f"{path} cannot be read ({e.strerror}); put it there, or name another folder"
        ) from None
    except ValueError as e:
        raise UserError(f"{path} is no JSON ({e}); get it again") from None


def _part(path: Path, make: Callable[[Any], T]) -> T:
    try:
        return make(_json(path))
    except (CameraError, LayoutError) as e:
        raise UserError(f"{path}: {e}; correct it") from None


def _scene(folder: Path) -> Scene:
    path = folder / "truth.json"
    obj = _json(path)
    try:
        pictures = tuple(_picture(f) for f in obj["frames"])
        dealt = obj["truth"]
        if dealt is not None:
            for key in ("hands", "wagers", "dealer", "findings"):
                dealt[key]
    except (KeyError, TypeError, ValueError) as e:
        raise UserError(
            f"{path} is no scene's truth ({_what(e)}); see the form in the documentation"
        ) from None
    return Scene(
        folder=folder,
        name=folder.resolve().name,
        camera=_part(folder / "calibration.json", Camera.from_json),
        layout=_part(folder / "layout.json", Layout.from_json),
        pictures=pictures,
        round=dealt,
    )


def _picture(f: Mapping[str, Any]) -> ScenePicture:
    cards = tuple(
        SceneCard(
            str(c["card"]), bool(c["face_up"]), float(c["x"]), float(c["y"]), float(c["yaw"]), float(c["z"])
        )
        for c in f["cards"]
    )
    stacks = tuple(
        SceneStack(
            tuple(int(v) for v in s["chips"]),
            int(s["cents"]),
            float(s["x"]),
            float(s["y"]),
            s.get("seat"),
            s.get("kind"),
        )
        for s in f["stacks"]
    )
    event = f["event"]
    if not isinstance(event, dict) or "type" not in event:
        raise ValueError(f"the event of {f['file']} has no type")
    return ScenePicture(str(f["file"]), f.get("arm"), event, cards, stacks)


def _photos(folder: Path) -> Photos:
    path = folder / "labels.json"
    labels = _json(path)
    try:
        for i in labels["images"]:
            if not isinstance(i["image"], str) or not isinstance(i["cards"], list):
                raise ValueError("an entry of 'images' lacks 'image' or a list of 'cards'")
            for c in i["cards"]:
                c["card"]
    except (KeyError, TypeError, ValueError) as e:
        raise UserError(
            f"{path} is no list of labels ({_what(e)}); see the form in the documentation"
        ) from None
    calibrated = (folder / "calibration.json").is_file() and (folder / "layout.json").is_file()
    return Photos(
        folder=folder,
        name=str(labels.get("set", folder.resolve().name)),
        labels=labels,
        camera=_part(folder / "calibration.json", Camera.from_json) if calibrated else None,
        layout=_part(folder / "layout.json", Layout.from_json) if calibrated else None,
    )


def _what(e: Exception) -> str:
    return f"the key {e} is missing" if isinstance(e, KeyError) else str(e)
