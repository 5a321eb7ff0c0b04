"""How much of a card's face a camera sees, from the truth's geometry.

In: cards and stacks in mm, the camera. Out: the share of each card's outline in the picture that no card
over it, no stack and no edge of the picture hides, 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.evaluate.looking import card_corners, stack_outline
from pitwatch.table.camera import Camera

__all__ = ["CLEAR_SHARE", "visible_shares"]

CLEAR_SHARE = 0.6
_FINE = 4  # raster steps a pixel
_SHIFT = 4  # binary digits after the point in cv2's polygon corners

Array = NDArray[np.float64]


def visible_shares(
    camera: Camera,
    cards: Sequence[tuple[float, float, float, float]],
    stacks: Sequence[tuple[float, float, int]],
) -> list[float]:
    """The visible share of each card.

    cards: (x, y, yaw, z), a card with a higher z lies over one with a lower. stacks: (x, y, chips); whatever
    a stack covers of the picture, it covers of the cards, for it stands on them or before them.
    """
    outlines = [camera.project(card_corners(x, y, yaw)) for x, y, yaw, _ in cards]
    towers = [stack_outline(camera, x, y, n) for x, y, n in stacks]
    picture = np.array(
        [
            (-0.5, -0.5),
            (camera.width - 0.5, -0.5),
            (camera.width - 0.5, camera.height - 0.5),
            (-0.5, camera.height - 0.5),
        ]
    )
    shares = []
    for i, outline in enumerate(outlines):
        over = [o for o, c in zip(outlines, cards, strict=True) if c[3] > cards[i][3]]
        shares.append(_share(outline, [*over, *towers], picture))
    return shares


def _share(outline: Array, over: Sequence[Array], picture: Array) -> float:
    low = np.floor(outline.min(axis=0)) - 1
    size = ((np.ceil(outline.max(axis=0)) + 1 - low) * _FINE).astype(int)

    def raster(polygons: Sequence[Array]) -> NDArray[np.uint8]:
        mask = np.zeros((size[1], size[0]), np.uint8)
        for p in polygons:
            corners = ((p - low) * _FINE * 2**_SHIFT).round().astype(np.int32)
            cv2.fillConvexPoly(mask, corners, 1, shift=_SHIFT)
        return mask

    card = raster([outline])
    near = [p for p in over if (p.max(axis=0) >= low).all() and (p.min(axis=0) <= outline.max(axis=0)).all()]
    shown = card & ~raster(near) & raster([picture])
    return float(shown.sum()) / max(1.0, float(card.sum()))
