"""Through which camera a photograph is looked at.

In: photographs, eyes for a camera. Out: for each picture a camera, and what is seen through it. A picture
with a calibration is looked at over the playing area of its layout; any other one by tiles, through the
camera that its own cards tell. Where too few of them lie whole and flat for that, many are tried: under the
right one outlines fit and cards are read.
"""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.capture.frame import Frame
from pitwatch.errors import UserError
from pitwatch.evaluate.folders import Photos
from pitwatch.evaluate.looking import (
    EyesFor,
    Seen,
    aslant,
    look_over,
    outlined,
    pictured,
    playing_area,
    tiles_over,
)
from pitwatch.table.camera import Camera
from pitwatch.table.card_outlines import card_outlines
from pitwatch.table.from_cards import pose_from_outlines, rough_camera
from pitwatch.table.layout import Layout
from pitwatch.vision.looks import CHIP_MM, CardSeen, Zone
from pitwatch.vision.watcher import Eyes

__all__ = ["Looked", "Views"]

Array = NDArray[np.float64]
Label = Mapping[str, Any]

# shares of the rough scale, which knows nothing of tilt, and degrees off the vertical: cards are still read
# through a camera that is tilted some ten degrees more or less
_ABOVE = (1.0, 0.8, 0.9, 1.13)
_ASLANT = ((20.0, 0.9), (38.0, 0.9), (52.0, 0.8))
_TURNS = (30.0, 90.0, 150.0, 210.0, 270.0, 330.0)
_TAKEN, _RESCALED = 3, (-0.15, 0.15, 0.3)  # guesses of which other scales are tried, and these
_STEPS = ((8.0, 20.0, 0.12), (4.0, 10.0, 0.06))  # degrees of tilt and turn, share of the scale
_FLATTEST = 62.0  # degrees off the vertical; flatter, a card cannot be read
# what a card counts for a camera when it is read and its outline lies on edges, and against it when it is not
_READ, _OUTLINED, _UNSURE = 0.5, 1.5, 0.5
_TWICE_MM = 47.0  # three quarters of a card's width


@dataclass(frozen=True)
class _View:
    """How pictures are looked at through one camera."""

    camera: Camera
    area: Array
    zones: tuple[Zone, ...]
    eyes: Eyes
    calibrated: bool

    def look(self, frame: Frame) -> Looked:
        begun = time.perf_counter()
        seen = look_over(self.eyes, frame, self.zones, self.area)
        if not self.calibrated:
            seen = replace(seen, cards=_each_once(seen.cards))
        return Looked(self.camera, seen, time.perf_counter() - begun)


def _each_once(cards: Sequence[CardSeen]) -> tuple[CardSeen, ...]:
    """The cards without those that are one and the same seen twice, as a wrong camera's tiles show it."""
    kept: list[CardSeen] = []
    for c in sorted(cards, key=lambda c: -c.score * c.confidence):
        near = (k for k in kept if math.dist((k.x, k.y), (c.x, c.y)) < _TWICE_MM)
        if not c.face_up or all(k.best != c.best for k in near):
            kept.append(c)
    return tuple(kept)


class Looked(NamedTuple):
    """A picture's camera, what is seen through it, and how long that one look took, s."""

    camera: Camera
    seen: Seen
    seconds: float


class _Guess(NamedTuple):
    """Degrees off the vertical, about which direction, and the share of the rough scale."""

    tilt: float
    turn: float
    share: float


class _Try(NamedTuple):
    """A look through a guessed camera, and how much it speaks for it."""

    told: float
    looked: Looked
    guess: _Guess


class Views:
    """How each picture of a set is looked at; the view through a calibrated camera is made once."""

    def __init__(self, photos: Photos, eyes_for: EyesFor) -> None:
        self.photos = photos
        self.eyes_for = eyes_for

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height of every picture, where one calibration is for all."""
        camera = self.photos.camera
        return None if camera is None else (camera.width, camera.height)

    def look(self, label: Label, frame: Frame) -> Looked:
        """A picture through its camera. Raises UserError for one without a scale."""
        if self._calibrated is not None:
            return self._calibrated.look(frame)
        scale = _rough_scale(self.photos, label)
        height, width = frame.image.shape[:2]
        outlines = card_outlines(frame.image, scale)
        pose = pose_from_outlines(outlines, width, height)
        if pose is not None and _likely(pose.camera, scale):
            return self._view(pose.camera).look(frame)
        search = _Search(self._view, frame, scale)
        best = search.best()
        rough = rough_camera(outlines, width, height)
        if rough is not None and _likely(rough, scale):
            looked = self._view(rough).look(frame)
            if search.told(looked) > best.told:
                return looked
        return best.looked

    @cached_property
    def _calibrated(self) -> _View | None:
        camera, layout = self.photos.camera, self.photos.layout
        return None if camera is None or layout is None else self._view(camera, layout)

    def _view(self, camera: Camera, layout: Layout | None = None) -> _View:
        area = pictured(camera) if layout is None else playing_area(layout)
        return _View(camera, area, tiles_over(area), self.eyes_for(camera), layout is not None)


class _Search:
    """Guessed cameras of one picture, and what is seen through them. scale: px/mm, roughly."""

    def __init__(self, view: Callable[[Camera], _View], frame: Frame, scale: float) -> None:
        self._view, self._frame, self._scale = view, frame, scale
        self._soft = cv2.GaussianBlur(frame.image, (0, 0), 0.8).astype(np.float32)

    def best(self) -> _Try:
        """The best of many guesses, and then of those around it; the first where nothing is read."""
        guesses = [_Guess(0.0, 0.0, share) for share in _ABOVE]
        guesses += [_Guess(t, turn, share) for (t, share), turn in itertools.product(_ASLANT, _TURNS)]
        tried = [self._tried(g) for g in guesses]
        likeliest = sorted(tried, key=_worth, reverse=True)
        if likeliest[0].told <= 0:  # nothing to go by
            return tried[0]
        rescaled = [_moved(t.guess, np.array([0.0, 0.0, by])) for t in likeliest[:_TAKEN] for by in _RESCALED]
        best = max(likeliest[0], *map(self._tried, rescaled), key=_worth)
        for tilt, turn, share in _STEPS:
            for way in ((tilt, 0.0, 0.0), (0.0, turn, 0.0), (0.0, 0.0, share)):
                around = [_moved(best.guess, sign * np.array(way)) for sign in (1, -1)]
                best = max(best, *map(self._tried, around), key=_worth)
        return best

    def told(self, looked: Looked) -> float:
        """How much a look speaks for its camera: faces that are read and whose outlines fit do, doubtful ones
        speak against it."""
        cards = looked.seen.cards
        told = sum(
            c.confidence * (_READ + _OUTLINED * share) - _UNSURE * (1 - c.confidence)
            for c, share in zip(cards, outlined(self._soft, looked.camera, cards), strict=True)
            if c.face_up
        )
        return float(told)

    def _tried(self, guess: _Guess) -> _Try:
        height, width = self._frame.image.shape[:2]
        camera = aslant(width, height, self._scale * guess.share, guess.tilt, guess.turn)
        looked = self._view(camera).look(self._frame)
        return _Try(self.told(looked), looked, guess)


def _worth(t: _Try) -> float:
    return t.told


def _moved(g: _Guess, by: Array) -> _Guess:
    tilt, turn = g.tilt + by[0], g.turn + by[1]
    if not g.tilt and by[1]:
        # a turn means nothing straight above: a tilt about the picture's other axis does
        tilt, turn = math.copysign(_STEPS[0][0], by[1]), 90.0
    return _Guess(float(np.clip(tilt, -_FLATTEST, _FLATTEST)), float(turn), float(g.share * (1 + by[2])))


def _likely(camera: Camera, scale: float) -> bool:
    return 0.6 < camera.px_per_mm(0, 0) / scale < 1.6


def _rough_scale(photos: Photos, label: Label) -> float:
    """Pixels a millimetre: as the picture's label says, else the set's, else from the width of the labelled
    stacks. Raises UserError naming the picture of which nothing says it."""
    for given in (label.get("px_per_mm"), photos.labels.get("px_per_mm")):
        if isinstance(given, (int, float)) and 0 < given < math.inf:
            return float(given)
    widths = [box[2] - box[0] for box in label.get("stacks") or [] if box[2] > box[0]]
    if not widths:
        raise UserError(
            f"{photos.folder / 'labels.json'} gives no px_per_mm for {label['image']}; add the rough scale "
            "on the table"
        )
    return float(round(statistics.median(widths) / CHIP_MM, 3))
