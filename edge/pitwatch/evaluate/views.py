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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

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
from pitwatch.table.from_cards import pose_from_cards, rough_camera
from pitwatch.table.layout import Layout
from pitwatch.vision.looks import CHIP_MM, Zone
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


@dataclass(frozen=True)
class _View:
    """How pictures are looked at through one camera."""

    camera: Camera
    area: Array
    zones: tuple[Zone, ...]
    eyes: Eyes

    def look(self, frame: Frame) -> Looked:
        begun = time.perf_counter()
        seen = look_over(self.eyes, frame, self.zones, self.area)
        spent = time.perf_counter() - begun
        on_edges = outlined(frame.image, self.camera, seen.cards)
        told = sum(
            c.confidence * (_READ + _OUTLINED * share) - _UNSURE * (1 - c.confidence)
            for c, share in zip(seen.cards, on_edges, strict=True)
            if c.face_up
        )
        return Looked(self.camera, seen, spent, told)


class Looked(NamedTuple):
    """A picture's camera, what is seen through it, and how long that one look took, s. told: how much speaks
    for the camera: faces that are read and whose outlines fit do, doubtful ones speak against it."""

    camera: Camera
    seen: Seen
    seconds: float
    told: float


class _Guess(NamedTuple):
    """Degrees off the vertical, about which direction, and the share of the rough scale."""

    tilt: float
    turn: float
    share: float


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
        pose = pose_from_cards(frame.image, scale)
        if pose is not None and _likely(pose.camera, scale):
            return self._view(pose.camera).look(frame)
        best = self._searched(frame, scale)
        rough = rough_camera(frame.image, scale)
        if rough is not None and _likely(rough, scale):
            best = max(best, self._view(rough).look(frame), key=lambda look: look.told)
        return best

    @cached_property
    def _calibrated(self) -> _View | None:
        camera, layout = self.photos.camera, self.photos.layout
        return None if camera is None or layout is None else self._view(camera, layout)

    def _view(self, camera: Camera, layout: Layout | None = None) -> _View:
        area = pictured(camera) if layout is None else playing_area(layout)
        return _View(camera, area, tiles_over(area), self.eyes_for(camera))

    def _searched(self, frame: Frame, scale: float) -> Looked:
        """The best of many guessed cameras, and then of those around it."""
        guesses = [_Guess(0.0, 0.0, share) for share in _ABOVE]
        guesses += [_Guess(t, turn, share) for (t, share), turn in itertools.product(_ASLANT, _TURNS)]
        tried = self._tried(frame, scale, guesses)
        if tried[0][0].told <= 0:  # nothing to go by
            return self._guessed(frame, scale, guesses[0])
        rescaled = [_moved(g, np.array([0.0, 0.0, by])) for _, g in tried[:_TAKEN] for by in _RESCALED]
        best, guess = max(tried[0], *self._tried(frame, scale, rescaled), key=lambda t: t[0].told)
        for tilt, turn, share in _STEPS:
            for way in ((tilt, 0.0, 0.0), (0.0, turn, 0.0), (0.0, 0.0, share)):
                around = [_moved(guess, sign * np.array(way)) for sign in (1, -1)]
                near = self._tried(frame, scale, around)[0]
                best, guess = max((best, guess), near, key=lambda t: t[0].told)
        return best

    def _tried(self, frame: Frame, scale: float, guesses: Sequence[_Guess]) -> list[tuple[Looked, _Guess]]:
        """What is seen by each guess, the one that tells most first."""
        looks = [(self._guessed(frame, scale, g), g) for g in guesses]
        return sorted(looks, key=lambda t: -t[0].told)

    def _guessed(self, frame: Frame, scale: float, g: _Guess) -> Looked:
        height, width = frame.image.shape[:2]
        return self._view(aslant(width, height, scale * g.share, g.tilt, g.turn)).look(frame)


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
