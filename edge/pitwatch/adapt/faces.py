"""The faces of a deck from pictures in which its suits lie in rows, ace to king.

In: pictures, the order of the suits, and a reader that tells from which side the rows are seen: over thirteen
cards it is right about that long before it is right about each. Suits it is not asked for: those of a deck
that it does not know are what it takes for each other. Out: 52 flattened faces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.cards import RANKS, SUITS
from pitwatch.errors import UserError
from pitwatch.table.card_outlines import card_outlines, guessed_scale
from pitwatch.vision.looks import CARD_MM

__all__ = ["Face", "deck_faces", "laid_rows"]

Image = NDArray[np.uint8]
Floats = NDArray[np.float64]
Read = Callable[[Sequence["Face"]], Floats]
"""Faces to the log-probabilities of their ranks, (N, 13)."""

_ROW = 13
_FACE_PX_PER_MM = 4.0
_AGREES = 0.5  # share of the cards whose rank the reader must confirm
_PIPS = 10  # ace to ten: court cards have red in every suit
_RED = 0.01
_WHOLE = 0.65  # of the usual card's area; the picture's far cards are smaller
_NAMES = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}


@dataclass(frozen=True)
class Face:
    """A card cut out and flattened. picture: (352, 252, 3) BGR, upright or upside down. px_per_mm: of the
    photograph that it comes from."""

    picture: Image
    px_per_mm: float


def deck_faces(pictures: Sequence[tuple[str, Image]], read: Read, suits: str = SUITS) -> dict[str, Face]:
    """Faces by card, "As". pictures: names and BGR pictures that together show the four rows.

    suits: of the rows from the top, when the aces are on the left; seen from the other side, the rows are
    taken from the bottom. Raises UserError naming the picture and the row when cards are missing or lie in
    another order.
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
    says = [read(row) for _, row in rows]
    turned = sum(float(np.trace(r[::-1]) - np.trace(r)) for r in says) > 0
    out: dict[str, Face] = {}
    red: dict[str, float] = {}
    for (where, row), ranks, suit in zip(rows, says, suits[::-1] if turned else suits, strict=True):
        best = (ranks[::-1] if turned else ranks).argmax(axis=1)
        right = float((best == np.arange(_ROW)).mean())
        if right < _AGREES:
            raise UserError(
                f"{where} from the top does not read as ace to king ({right:.0%} of its cards do); lay it in "
                "that order, or take the picture nearer and sharper"
            )
        faces = row[::-1] if turned else row
        out |= {RANKS[k] + suit: face for k, face in enumerate(faces)}
        red[suit] = float(np.mean([_red(f.picture) for f in faces[:_PIPS]]))
    if max(red["c"], red["s"]) > min(red["d"], red["h"]) + _RED:
        raise UserError(
            f"{pictures[0][0]}: a row of red cards lies where clubs or spades should be; lay the suits "
            f"in the order {', '.join(_NAMES[s] for s in suits)} from the top, or say another with --suits"
        )
    return out


def _red(picture: Image) -> float:
    """Share of a face that is printed in red."""
    b, g, r = (picture[..., i].astype(np.int16) for i in range(3))
    return float(((r - g > 60) & (r - b > 50)).mean())


def laid_rows(image: Image) -> list[list[Face]]:
    """The whole cards in a picture by rows, top to bottom and left to right as the rows run."""
    outlines = card_outlines(image, guessed_scale(image))
    if not outlines:
        return []
    # most are whole cards: now that their size is known, the frames within court cards are none
    area = float(np.median([cv2.contourArea(q.astype(np.float32)) for q in outlines]))
    outlines = card_outlines(image, float(np.sqrt(area / (CARD_MM[0] * CARD_MM[1]))), _WHOLE)
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
