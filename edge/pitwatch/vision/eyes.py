"""The eyes: one look at one zone of one frame.

In: frames and zones. Out: `Look`s in the table frame, mm and cents. Nothing is remembered from look to look
but where the pixels of a zone lie.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pitwatch.capture.frame import Frame
from pitwatch.chips import CASINO, ChipSet
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Point
from pitwatch.vision.card_reader import CardReader, Reading
from pitwatch.vision.crops import (
    ZONE_PX,
    card_crop,
    card_mask,
    layer_px,
    moved_base,
    stack_strip,
    zone_maps,
    zone_picture,
    zone_to_mm,
)
from pitwatch.vision.detector import Box, Detector, thin_out
from pitwatch.vision.fit import edge_picture, fit_card
from pitwatch.vision.looks import CARD_MM, CardSeen, HandSeen, Look, StackSeen, Zone
from pitwatch.vision.silhouette import count_likelihood, fit_stack
from pitwatch.vision.stack_reader import StackReader, StackReading
from pitwatch.vision.tracks import card_outline

__all__ = ["Eyes", "read_standing"]

_FIT_REACH_MM = 14.0
_FOOT_PASSES = 2
_EDGE_PX = 4.0
# a back has no face to tell it from print: the less sure, the more of its outline must lie on edges
_BACK_EDGES = ((0.35, 0.6), (0.5, 0.35))  # scores, shares


class Eyes:
    """Detector, card reader and stack reader on one calibrated camera.

    Raises UserError when weights are missing or changed.
    """

    def __init__(
        self, camera: Camera, chips: ChipSet = CASINO, *, weights: Path | None = None, threads: int = 1
    ) -> None:
        self.camera = camera
        self._detector = Detector(weights, threads)
        self._cards = CardReader(weights, threads)
        self._stacks = StackReader(chips, weights, threads)
        self._maps: dict[Zone, tuple[NDArray[np.float32], NDArray[np.float32]]] = {}

    def over(self, camera: Camera) -> Eyes:
        """The same networks behind another camera; nothing is opened again."""
        other = copy.copy(self)
        other.camera, other._maps = camera, {}
        return other

    def look(self, frame: Frame, zone: Zone) -> Look:
        """Everything to be seen in a zone."""
        if zone not in self._maps:
            self._maps[zone] = zone_maps(self.camera, zone)
        picture = zone_picture(frame.image, self._maps[zone])
        boxes = self._detector.boxes(picture)
        cards = _fitted(picture, zone, [b for b in boxes if b.kind < 2])
        cards = [b for b in cards if b.kind == 0 or self._whole(frame.image, zone, b)]
        stacks = [b for b in boxes if b.kind == 2]
        return Look(
            frame.t,
            zone,
            self._read_cards(frame.image, zone, cards, stacks),
            self._read_stacks(frame.image, zone, stacks),
            tuple(_hand(zone, b) for b in boxes if b.kind == 3),
        )

    def _whole(self, image: NDArray[np.uint8], zone: Zone, box: Box) -> bool:
        """Whether all of a card lies within the picture: of a back, less cannot be told from print."""
        px = self.camera.project(card_outline(*_place(zone, box), _yaw(box)))
        h, w = image.shape[:2]
        return bool(np.all((px > -_EDGE_PX) & (px < (w + _EDGE_PX, h + _EDGE_PX))))

    def _read_cards(
        self, image: NDArray[np.uint8], zone: Zone, boxes: list[Box], stacks: list[Box]
    ) -> tuple[CardSeen, ...]:
        poses = np.array([(*_place(zone, b), _yaw(b)) for b in boxes]).reshape(-1, 3)
        bases = np.array([_place(zone, b) for b in stacks]).reshape(-1, 2)
        faces = [i for i, b in enumerate(boxes) if b.kind == 0]
        crops = []
        for i in faces:
            x, y, yaw = poses[i]
            mask = card_mask(x, y, yaw, np.delete(poses, i, axis=0), bases)
            crops.append(np.dstack([card_crop(image, self.camera, x, y, yaw), mask]))
        readings = dict(zip(faces, self._cards.read(np.array(crops)), strict=True)) if crops else {}
        out = []
        for i, box in enumerate(boxes):
            x, y, yaw = (float(v) for v in poses[i])
            r = readings.get(i)
            if r is None:
                out.append(CardSeen(x, y, yaw, False, box.score))
            elif not _phantom(r, box.score):
                ranks, suits = tuple(map(float, r.rank_logp)), tuple(map(float, r.suit_logp))
                out.append(CardSeen(x, y, yaw, True, box.score, ranks, suits, r.unread, r.visible))
        return tuple(out)

    def _read_stacks(self, image: NDArray[np.uint8], zone: Zone, boxes: list[Box]) -> tuple[StackSeen, ...]:
        if not boxes:
            return ()
        found = [_place(zone, b) for b in boxes]
        places, readings = read_standing(self._stacks, image, self.camera, found, _FOOT_PASSES)
        return tuple(
            StackSeen(x, y, b.score, r.number, r.chips, r.values)
            for (x, y), b, r in zip(places, boxes, readings, strict=True)
            if r.nothing < 0.5
        )


def read_standing(
    reader: StackReader, image: NDArray[np.uint8], camera: Camera, places: Sequence[Point], passes: int
) -> tuple[list[Point], list[StackReading]]:
    """Stacks that stand about at `places`, mm: where they do stand, and what they are.

    passes: how often the reader first says how far off the places are. At least one place.
    """
    at = list(places)

    def strips() -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        scales = [(layer_px(camera, x, y), camera.px_per_mm(x, y)) for x, y in at]
        return np.array([stack_strip(image, camera, x, y) for x, y in at]), np.array(scales, np.float32)

    # the first readings tell where the stack stands, the last what it is
    for _ in range(passes):
        off = reader.astray(*strips()).tolist()
        at = [moved_base(camera, x, y, *by) for (x, y), by in zip(at, off, strict=True)]
    heights = np.array([count_likelihood(fit_stack(image, camera, x, y)) for x, y in at])
    return at, reader.read(*strips(), heights)


def _phantom(r: Reading, score: float) -> bool:
    """Whether a face may be but what the outlines of two others, or of print, suggest."""
    least = 0.75 if r.unread > 0.9 else 0.5 if r.unread > 0.5 else 0.0
    return r.visible < 0.32 and score < least


def _fitted(picture: NDArray[np.uint8], zone: Zone, boxes: list[Box]) -> list[Box]:
    """The boxes of cards, each moved to where the picture's edges say; two that meet become one."""
    if not boxes:
        return []
    edges, scale = edge_picture(picture), ZONE_PX / zone.size
    out = []
    for b in boxes:
        along = b.angle if b.w >= b.h else b.angle + np.pi / 2
        fit = fit_card(edges, b.x - 0.5, b.y - 0.5, along, scale)
        near = np.hypot(fit.x + 0.5 - b.x, fit.y + 0.5 - b.y) < _FIT_REACH_MM * scale
        x, y, angle = (
            (fit.x + 0.5, fit.y + 0.5, fit.angle) if near and fit.support > 0.35 else (b.x, b.y, along)
        )
        if b.kind == 1 and not any(b.score >= s and fit.support >= share for s, share in _BACK_EDGES):
            continue
        width, length = CARD_MM
        out.append(Box(x, y, length * scale, width * scale, angle, b.kind, b.score))
    return thin_out(out)


def _place(zone: Zone, box: Box) -> tuple[float, float]:
    x, y = zone_to_mm(zone, np.array([[box.x - 0.5, box.y - 0.5]]))[0]
    return float(x), float(y)


def _yaw(box: Box) -> float:
    """Direction of the long edge in the table frame, degrees modulo 180; the picture's y points down."""
    along = box.angle if box.w >= box.h else box.angle + np.pi / 2
    return float(np.degrees(-along) % 180)


def _hand(zone: Zone, box: Box) -> HandSeen:
    x, y = _place(zone, box)
    k = zone.size / ZONE_PX
    return HandSeen(x, y, box.w * k, box.h * k, float(np.degrees(-box.angle) % 180), box.score)
