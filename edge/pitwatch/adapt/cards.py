"""The card reader for one house's deck: its faces drawn under every light, the heads fitted to them.

In: the deck's faces and the weights that come with pitwatch. Out: heads, and how many cards were read right
before and after, on drawn crops that the fit did not see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.adapt.faces import Face
from pitwatch.adapt.heads import Head, fit_head, learnt_from
from pitwatch.sim.deck import Deck, printed
from pitwatch.sim.designs import DeckDesign
from pitwatch.sim.rows import UNREAD_RANK, UNREAD_SUIT, Rows, card_row, drawn
from pitwatch.sim.samples import Sampler
from pitwatch.vision.card_reader import CardReader
from pitwatch.vision.crops import CARD_SHAPE
from pitwatch.vision.looks import CARD_MM

__all__ = ["CardScore", "HouseDeck", "drawn_cards", "fit_cards", "read_faces"]

Floats = NDArray[np.float64]

_FELT = (60, 95, 40)
_CROP_PX_PER_MM = 1.6


@dataclass(frozen=True)
class CardScore:
    """Shares of `n` crops whose rank, and whose rank and suit, were read right."""

    n: int
    rank: float
    card: float


class HouseDeck(Deck):
    """A deck whose faces were photographed; its back, when no picture is given, is any."""

    def __init__(self, faces: dict[str, Face], back: Face | None = None) -> None:
        super().__init__(DeckDesign(font=""))
        for card, face in faces.items():
            self._faces[card] = printed(self.design, cv2.cvtColor(face.picture, cv2.COLOR_BGR2RGB))
        if back is not None:
            self._faces[None] = printed(self.design, cv2.cvtColor(back.picture, cv2.COLOR_BGR2RGB))


def read_faces(reader: CardReader, faces: Sequence[Face]) -> Floats:
    """Log-probabilities of faces' ranks, (N, 13), as if each lay alone on a felt."""
    h, w = CARD_SHAPE
    size = (round(CARD_MM[0] * _CROP_PX_PER_MM), round(CARD_MM[1] * _CROP_PX_PER_MM))
    x, y = (w - size[0]) // 2, (h - size[1]) // 2
    crops = np.zeros((len(faces), h, w, 4), np.uint8)
    crops[..., :3] = _FELT
    for crop, face in zip(crops, faces, strict=True):
        small = cv2.resize(face.picture, size, interpolation=cv2.INTER_AREA)
        crop[y : y + size[1], x : x + size[0], :3] = small
    return np.array([r.rank_logp for r in reader.read(crops)])


def drawn_cards(
    deck: Deck, n: int, seed: int, sharpest: float, step: Callable[[], None] = lambda: None
) -> Rows:
    """n crops of a deck under lights, lenses, felts and covers of every kind, with their labels.

    sharpest: px/mm, no sharper than the pictures that the faces come from. step: called after each.
    """
    sampler = Sampler(seed, size=110.0, deck=deck, sharpest=sharpest)
    rng = np.random.default_rng([seed, 78])
    return drawn(n, lambda: card_row(sampler.next_card(), rng), step)


def fit_cards(
    reader: CardReader, start: dict[str, Head], rows: Rows
) -> tuple[dict[str, Head], CardScore, CardScore]:
    """Heads "rank" and "suit" for these crops, and the scores of the old and of the new ones."""
    features = reader.features(rows["crop"].astype(np.uint8))
    learn = learnt_from(len(features))
    heads = {}
    for name in ("rank", "suit"):
        labels = rows[name].astype(np.int64)
        seen = features[learn].reshape(-1, features.shape[2])
        heads[name] = fit_head(seen, np.repeat(labels[learn], features.shape[1]), start[name])
    rest = {k: v[~learn] for k, v in rows.items()}
    return heads, _score(features[~learn], start, rest), _score(features[~learn], heads, rest)


def _score(features: Floats, heads: dict[str, Head], rows: Rows) -> CardScore:
    rank, suit = (heads[k].logits(features).mean(axis=1) for k in ("rank", "suit"))
    known = rows["rank"] != UNREAD_RANK
    r = (rank[:, :UNREAD_RANK].argmax(axis=1) == rows["rank"])[known]
    s = (suit[:, :UNREAD_SUIT].argmax(axis=1) == rows["suit"])[known]
    return CardScore(int(known.sum()), float(r.mean()), float((r & s).mean()))
