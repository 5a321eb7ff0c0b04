"""Training pictures from labelled photographs: card crops, and zones of which every card is known.

In: a folder of photographs whose `labels.json` names each card with the box of its visible part. Out, beside
what the simulated table gives: `cards/train-photo.npz` and zones. Boxes do not say how a card lies; its place
is that of the outline which the detector in use finds there. A card that it misses teaches nothing, and a
photograph with such a card gives no zone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from models.training.data import make_folders, write_rows, write_zone, zone_line
from pitwatch.capture.frame import Frame
from pitwatch.cards import CARDS
from pitwatch.errors import UserError
from pitwatch.evaluate.folders import Photos, read_folder, read_picture
from pitwatch.evaluate.looking import card_corners
from pitwatch.evaluate.matching import match
from pitwatch.evaluate.photos import label_distances
from pitwatch.evaluate.report import trained_eyes
from pitwatch.evaluate.views import Views
from pitwatch.sim.light import random_lens, spoil
from pitwatch.sim.rows import Row, cut_card, stacked
from pitwatch.table.camera import Camera
from pitwatch.table.layout import ZONE_MM
from pitwatch.vision.crops import zone_maps, zone_picture
from pitwatch.vision.looks import CardSeen, Zone

__all__ = ["draw_photographs"]

_UNCOVERED = 0.72  # overlap of a card's box with the labelled one from which on nothing covers it
_VARIANTS = 8  # crops of each card
_ZONES = 3  # zones of each photograph
_SCALES = (1.0, 2.4)  # px/mm that a camera over a table gives

Picture = NDArray[np.uint8]
Poses = NDArray[np.float64]


@dataclass(frozen=True)
class _Laid:
    """A photograph with its cards. poses: (N, 3), mm and degrees. names: of each card, None where it is not
    known. open: nothing covers it. complete: all cards in the picture are among them."""

    image: Picture
    camera: Camera
    poses: Poses
    names: tuple[str | None, ...]
    open: tuple[bool, ...]
    complete: bool


def draw_photographs(
    folder: Path, cache: Path, seed: int, weights: Path | None = None, step: Callable[[], None] = lambda: None
) -> tuple[int, int]:
    """Cut crops and zones out of every photograph in `folder`; returns how many of each.

    weights: folder of the detector that finds the outlines. step: called after each photograph. Raises
    UserError naming the file when the folder is not one of labelled photographs.
    """
    photos = read_folder(folder)
    if not isinstance(photos, Photos):
        raise UserError(f"{folder} holds no labelled photographs; name a folder with a labels.json")
    make_folders(cache, "train")
    rng = np.random.default_rng([seed, 91])
    rows: list[Row] = []
    zones = 0
    views = Views(photos, partial(trained_eyes, weights=weights))
    for label in photos.images:
        image = read_picture(photos.folder, str(label["image"]), views.size)
        camera, seen, _ = views.look(label, Frame(0.0, image, 0, settled=True))
        laid = _laid(image, camera, label, seen.cards)
        rows += [r for i in range(len(laid.poses)) for r in _crops(laid, i, rng)]
        if laid.complete:
            for k, (picture, lines) in enumerate(_zones(laid, rng)):
                name = f"photo-{Path(str(label['image'])).stem}-{k}"
                write_zone(cache, "train", name, picture, lines)
                zones += 1
        step()
    if rows:
        write_rows(cache / "cards/train-photo.npz", stacked(rows))
    return len(rows), zones


def _laid(image: Picture, camera: Camera, label: Mapping[str, Any], seen: Sequence[CardSeen]) -> _Laid:
    """The cards that the eyes found, with the names of the labels in whose boxes they lie."""
    cards = [c for c in label["cards"] if c.get("box")]
    poses = np.array([(c.x, c.y, c.yaw) for c in seen]).reshape(-1, 3)
    middles = camera.project(poses[:, :2]) if len(poses) else np.zeros((0, 2))
    pairs = match(label_distances(cards, camera, middles))
    names: list[str | None] = [None] * len(seen)
    whole = [False] * len(seen)
    for i, j in pairs:
        names[j] = str(cards[i]["card"])
        px = camera.project(card_corners(*poses[j]))
        whole[j] = _overlap(cards[i]["box"], (*px.min(axis=0), *px.max(axis=0))) > _UNCOVERED
    complete = 0 < len(pairs) == len(label["cards"]) == len(seen) and not label.get("ignore")
    return _Laid(image, camera, poses, tuple(names), tuple(whole), complete)


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """Intersection over union of two upright boxes (x0, y0, x1, y1)."""
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    both = max(w, 0.0) * max(h, 0.0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def _taken(laid: _Laid, rng: np.random.Generator) -> tuple[Picture, Camera]:
    """The photograph as a camera far above a table would have taken it."""
    camera = laid.camera
    scale = np.exp(rng.uniform(*np.log(_SCALES))) / camera.px_per_mm(*laid.poses[0, :2])
    w, h = max(8, round(camera.width * scale)), max(8, round(camera.height * scale))
    small = cv2.resize(laid.image, (w, h), interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    K = np.diag([w / camera.width, h / camera.height, 1.0]) @ camera.K
    picture = spoil(np.asarray(small, np.uint8), random_lens(rng), rng)
    return picture, dataclasses.replace(camera, width=w, height=h, K=K)


def _crops(laid: _Laid, i: int, rng: np.random.Generator) -> Iterator[Row]:
    name = laid.names[i]
    if name not in CARDS or not laid.open[i]:
        return
    for _ in range(_VARIANTS):
        image, camera = _taken(laid, rng)
        poses = laid.poses + rng.normal(0, 1, laid.poses.shape) * [1.0, 1.0, 1.2]
        covers = np.delete(poses, i, axis=0), np.zeros((0, 2))
        yield cut_card(image, camera, poses[i], covers, name, 1.0, rng)


def _zones(laid: _Laid, rng: np.random.Generator) -> Iterator[tuple[Picture, list[str]]]:
    for _ in range(_ZONES):
        image, camera = _taken(laid, rng)
        x, y = laid.poses[int(rng.integers(len(laid.poses))), :2] + rng.uniform(-90, 90, 2)
        zone = Zone("photo", float(x), float(y), ZONE_MM)
        lines = [line for pose in laid.poses for line in zone_line(zone, 0, card_corners(*pose), 5)]
        if lines:
            maps = zone_maps(camera, zone)
            picture = zone_picture(image, maps)
            # beyond the photograph's edge the table goes on bare
            beyond = (
                (maps[0] < 0) | (maps[1] < 0) | (maps[0] > camera.width - 1) | (maps[1] > camera.height - 1)
            )
            bare = np.median(image[:: max(1, camera.height - 1)].reshape(-1, 3), axis=0)
            grain = rng.normal(0, 4, (int(beyond.sum()), 1))
            picture[beyond] = np.clip(bare + grain, 0, 255).astype(np.uint8)
            yield picture, lines
