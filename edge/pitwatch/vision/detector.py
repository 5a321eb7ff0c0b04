"""The detector: where cards, stacks and hands are in a zone picture.

In: (256, 256, 3) uint8 BGR zone pictures, 0.8 px/mm. Out: oriented boxes in the picture's pixels. The network
is exported raw; boxes are decoded and thinned out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.vision.weights import open_session

__all__ = ["Box", "Detector", "decode", "thin_out"]

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Box:
    """An oriented box. x, y: centre, w, h: edges, pixels. angle: of edge w, radians clockwise from +x as seen
    (y down). kind: 0 card face, 1 card back, 2 stack, 3 hand."""

    x: float
    y: float
    w: float
    h: float
    angle: float
    kind: int
    score: float


class Detector:
    """The network with its thresholds. Raises UserError when its weights are missing or changed."""

    def __init__(self, folder: Path | None = None, threads: int = 1) -> None:
        self._session, weights = open_session("detector", folder, threads)
        self._input = self._session.get_inputs()[0].name
        self.least = tuple(float(v) for v in weights.about.get("least_score", (0.3, 0.3, 0.3, 0.4)))

    def boxes(self, picture: NDArray[np.uint8]) -> list[Box]:
        """Everything found in a zone picture, likeliest first."""
        x = np.ascontiguousarray(picture[..., ::-1].transpose(2, 0, 1)[None], np.float32) / 255
        raw = np.asarray(self._session.run(None, {self._input: x})[0], np.float32)
        return thin_out(decode(raw[0], self.least))


def decode(raw: Floats, least: tuple[float, ...]) -> list[Box]:
    """Raw output (4 + classes + 1, anchors): x, y, w, h in pixels, class scores, angle in radians; to boxes
    whose score reaches their class's `least`, likeliest first."""
    scores = raw[4:-1]
    kind = scores.argmax(axis=0)
    best = scores[kind, np.arange(scores.shape[1])]
    keep = np.flatnonzero(best >= np.asarray(least, np.float32)[kind])
    keep = keep[np.argsort(-best[keep], kind="stable")][:300]
    return [
        Box(
            float(raw[0, i]),
            float(raw[1, i]),
            float(raw[2, i]),
            float(raw[3, i]),
            float(raw[-1, i]),
            int(kind[i]),
            float(best[i]),
        )
        for i in keep
    ]


def thin_out(boxes: list[Box], overlap: float = 0.62) -> list[Box]:
    """Drop boxes over a likelier one of their group (cards, stacks, hands) by more than `overlap`."""
    kept: list[Box] = []
    for box in boxes:
        group = max(box.kind, 1)
        if all(max(k.kind, 1) != group or _iou(k, box) <= (overlap if group < 3 else 0.4) for k in kept):
            kept.append(box)
    return kept


def _iou(a: Box, b: Box) -> float:
    """Intersection over union of two oriented boxes."""
    if np.hypot(a.x - b.x, a.y - b.y) > (max(a.w, a.h) + max(b.w, b.h)) * 0.71:
        return 0.0
    ra = ((a.x, a.y), (a.w, a.h), np.degrees(a.angle))
    rb = ((b.x, b.y), (b.w, b.h), np.degrees(b.angle))
    kind, points = cv2.rotatedRectangleIntersection(ra, rb)
    if kind == cv2.INTERSECT_NONE or points is None:
        return 0.0
    common = float(cv2.contourArea(cv2.convexHull(points)))
    return common / max(a.w * a.h + b.w * b.h - common, 1e-6)
