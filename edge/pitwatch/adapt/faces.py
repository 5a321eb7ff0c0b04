"""The faces of a deck from pictures in which its suits lie in rows, ace to king.

In: pictures, and a reader that tells which row is which. Out: 52 flattened faces. A row may run either way
and the rows may come in any order: over thirteen cards the reader is right about that long before it is right
about each card.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.cards import RANKS, SUITS
from pitwatch.errors import UserError
from pitwatch.table.from_cards import card_outlines, guessed_scale
from pitwatch.vision.looks import CARD_MM

__all__ = ["Face", "deck_faces", "laid_rows"]

Image = NDArray[np.uint8]
Floats = NDArray[np.float64]
Read = Callable[[Sequence["Face"]], tuple[Floats, Floats]]
"""Faces to log-probabilities: (N, 13) of the ranks, (N, 4) of the suits."""

_ROW = 13
_FACE_PX_PER_MM = 4.0
_AGREES = 0.5  # share of the cards whose rank the reader must confirm


@dataclass(frozen=True)
class Face:
    """A card cut out and flattened. picture: (352, 252, 3) BGR, upright or upside down. px_per_mm: of the
    photograph that it comes from."""

    picture: Image
    px_per_mm: float


def deck_faces(pictures: Sequence[tuple[str, Image]], read: Read) -> dict[str, Face]:
    """Faces by card, "As". pictures: names and BGR pictures that together show the four rows.

    Raises UserError naming the picture and the row when cards are missing or lie in another order.
    """
    rows: list[tuple[str, list[Face]]] = []
    for name, image in pictures:
        rows += [(f"{name}, row {i}", row) for i, row in enumerate(laid_rows(image), 1)]
    for where, row in rows:
        if len(row) != _ROW:
            raise UserError(
                f"{where} from the top has {len(row)} whole cards, not 13; lay each suit in a row from ace "
                "to king, no card touching another, on a ground darker than the cards"
            )
    if len(rows) != len(SUITS):
        raise UserError(
            f"there are {len(rows)} rows of cards, not four; lay each suit in a row of its own, and give all "
            "pictures at once"
        )
    return _named(rows, read)


def _named(rows: Sequence[tuple[str, list[Face]]], read: Read) -> dict[str, Face]:
    says = [read(row) for _, row in rows]
    ahead = [float(np.trace(ranks)) for ranks, _ in says]
    back = [float(np.trace(ranks[::-1])) for ranks, _ in says]
    suit = np.array([suits.sum(axis=0) for _, suits in says])
    order = max(
        itertools.permutations(range(len(SUITS))),
        key=lambda p: sum(float(suit[i, k]) for i, k in enumerate(p)),
    )
    out = {}
    for i, (where, row) in enumerate(rows):
        turned = back[i] > ahead[i]
        ranks = says[i][0][::-1] if turned else says[i][0]
        right = float((ranks.argmax(axis=1) == np.arange(_ROW)).mean())
        if right < _AGREES:
            raise UserError(
                f"{where} from the top does not read as ace to king ({right:.0%} of its cards do); lay it in "
                "that order, or take the picture nearer and sharper"
            )
        for k, face in enumerate(row[::-1] if turned else row):
            out[RANKS[k] + SUITS[order[i]]] = face
    return out


def laid_rows(image: Image) -> list[list[Face]]:
    """The whole cards in a picture by rows, top to bottom and left to right as the rows run."""
    scale = guessed_scale(image)
    outlines = card_outlines(image, scale)
    if not outlines:
        return []
    quads = np.array([_upright(q) for q in outlines])
    centres = quads.mean(axis=1)
    # rows run across the cards when those lie side by side, and along them when they lie end to end
    across = (quads[:, 1] - quads[:, 0] + quads[:, 2] - quads[:, 3]).mean(axis=0)
    across /= np.hypot(*across) or 1.0
    if across[0] < 0:
        across = -across
    height = float(np.median(np.hypot(*(quads[:, 3] - quads[:, 0]).T)))
    x, y = centres @ across, centres @ np.array([-across[1], across[0]])
    by_y = np.argsort(y)
    rows: list[list[int]] = []
    for i in by_y:
        if rows and y[i] - np.mean(y[rows[-1]]) < 0.5 * height:
            rows[-1].append(int(i))
        else:
            rows.append([int(i)])
    return [[_flattened(image, quads[i]) for i in sorted(row, key=lambda i: x[i])] for row in rows]


def _upright(quad: Floats) -> Floats:
    """Corners in the order upper left, upper right, lower right, lower left of a card whose long edges point
    down the picture, or to its right."""
    sides = np.hypot(*(np.roll(quad, -1, axis=0) - quad).T)
    q = quad if sides[0] + sides[2] < sides[1] + sides[3] else np.roll(quad, -1, axis=0)
    if cv2.contourArea(q.astype(np.float32), oriented=True) < 0:
        q = q[[1, 0, 3, 2]]
    down = q[3] - q[0]
    return np.asarray(q if down[1] > abs(down[0]) * 0.2 or down[0] > 0 else np.roll(q, 2, axis=0))


def _flattened(image: Image, quad: Floats) -> Face:
    w, h = (round(v * _FACE_PX_PER_MM) for v in CARD_MM)
    dst = np.array([[-0.5, -0.5], [w - 0.5, -0.5], [w - 0.5, h - 0.5], [-0.5, h - 0.5]], np.float32)
    sides = np.hypot(*(np.roll(quad, -1, axis=0) - quad).T)
    scale = float((sides[0] + sides[2]) / 2 / CARD_MM[0] + (sides[1] + sides[3]) / 2 / CARD_MM[1]) / 2
    part, k = image, 1.0
    if scale > _FACE_PX_PER_MM * 1.4:
        k = _FACE_PX_PER_MM / scale
        part = np.asarray(cv2.resize(image, None, fx=k, fy=k, interpolation=cv2.INTER_AREA), np.uint8)
    src = ((quad + 0.5) * k - 0.5).astype(np.float32)
    H = cv2.getPerspectiveTransform(src, dst)
    flat = cv2.warpPerspective(part, H, (w, h), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return Face(_white(np.asarray(flat, np.uint8)), min(scale, _FACE_PX_PER_MM))


def _white(flat: Image) -> Image:
    """The paper white in every colour: the light of the photograph is not the table's."""
    paper = np.percentile(flat.reshape(-1, 3), 85, axis=0)
    return np.clip(flat * (248.0 / np.maximum(paper, 60.0)), 0, 255).astype(np.uint8)
