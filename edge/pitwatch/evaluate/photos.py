"""Real photographs measured against their labels.

In: a folder of labelled photographs, eyes for a camera. Out: counts of cards, and of stacks where they are
labelled.

Matching is in px: a card whose centre lies in the labelled box, or within half a card's width of the labelled
centre; without boxes and centres the cards of a picture are compared as a set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitwatch.capture.frame import Frame
from pitwatch.evaluate.album import Album
from pitwatch.evaluate.counts import CardCounts, StackCounts
from pitwatch.evaluate.folders import Photos, read_picture
from pitwatch.evaluate.laid import centre_of, laid_as_group, laid_in_place
from pitwatch.evaluate.looking import EyesFor, Seen, stack_outline
from pitwatch.evaluate.matching import (
    CardOutcome,
    CardTruth,
    StackOutcome,
    StackTruth,
    card_outcomes,
    match,
    match_as_set,
    stack_outcomes,
)
from pitwatch.evaluate.views import Views
from pitwatch.table.camera import Camera
from pitwatch.vision.looks import CARD_MM

__all__ = ["PhotoFigures", "label_distances", "measure_photos"]

Array = NDArray[np.float64]
Label = Mapping[str, Any]
Box = tuple[float, float, float, float]
Px = Sequence[float] | Array

_HIDDEN = 0.4
_BET_MM = 25.0  # from a labelled bet's middle; its neighbour stands 40 mm away
_NOT_SCORED = ("off-felt", "in-hand")


@dataclass(frozen=True)
class PhotoFigures:
    """Counts over photographs. stacks: None where none are labelled. bets: chips in the spots where only
    those are labelled; what else stands there is nobody's mistake. ms_per_picture: mean of the
    one look through its camera; finding that camera is not counted."""

    cards: CardCounts
    stacks: StackCounts | None
    bets: StackCounts | None
    ms_per_picture: float | None


def measure_photos(
    photos: Photos, eyes_for: EyesFor, album: Album, step: Callable[[], None] = lambda: None
) -> PhotoFigures:
    """Look at every labelled photograph and at those named as empty.

    step: called after each picture. Raises UserError for a picture that is missing or without a scale.
    """
    cards, stacks, bets = CardCounts(), StackCounts(), StackCounts()
    any_stacks, any_bets = False, False
    empty: list[Label] = [{"image": name, "cards": []} for name in photos.labels.get("empty", [])]
    laid = _laid(photos)
    views = Views(photos, eyes_for)
    spent, n = 0.0, 0
    for k, label in enumerate([*photos.images, *empty]):
        file = str(label["image"])
        image = read_picture(photos.folder, file, views.size)
        frame = Frame(float(n), image, n, settled=True, name=file)
        camera, seen, seconds = views.look(label, frame)
        spent, n = spent + seconds, n + 1

        ids = laid[k] if k < len(laid) else []
        outcomes = _cards(label, ids, seen, camera)
        cards.add(outcomes)
        album.cards(photos.name, file, image, outcomes, camera)
        if label.get("stacks") is not None:
            any_stacks = True
            piles = _stacks(label, ids[len(label["cards"]) :], seen, camera)
            stacks.add(piles)
            album.stacks(photos.name, file, image, piles, camera)
        elif label.get("bets"):
            any_bets = True
            piles = _bets(label, ids[len(label["cards"]) :], seen, camera)
            bets.add(piles)
            album.stacks(photos.name, file, image, piles, camera)
        step()
    return PhotoFigures(
        cards,
        stacks if any_stacks else None,
        bets if any_bets else None,
        1000 * spent / n if n else None,
    )


def _laid(photos: Photos) -> list[list[Hashable]]:
    """An id for every card of every picture, then for its stacks or bets."""
    camera = photos.camera
    if camera is None:
        return laid_as_group([{"cards": [*i["cards"], *_stack_codes(i)]} for i in photos.images])
    things = [
        {"cards": [*i["cards"], *({**b, "card": b.get("colours")} for b in i.get("bets") or [])]}
        for i in photos.images
    ]
    return laid_in_place(things, lambda c: _reach(camera, centre_of(c) or (0.0, 0.0)))


def _stack_codes(label: Label) -> list[Label]:
    """What tells stacks apart as codes tell cards: their colours, else their counts."""
    if label.get("stacks") is None:
        return [{"card": f"stack of {b.get('colours')}"} for b in label.get("bets") or []]
    told = label.get("colours") or label.get("counts") or [None] * len(label["stacks"])
    return [{"card": f"stack of {t}"} for t in told]


def _reach(camera: Camera, px: tuple[float, float], mm: float = CARD_MM[0] / 2) -> float:
    """So many millimetres of the table at this place, px."""
    x, y = camera.to_table([px])[0]
    return float(mm * camera.px_per_mm(float(x), float(y)))


def _scored(card: Label) -> bool:
    return not (card.get("in_hand") or card.get("sure") is False or card.get("area") in _NOT_SCORED)


def _holds(box: Box, px: Px) -> bool:
    return box[0] <= px[0] <= box[2] and box[1] <= px[1] <= box[3]


def _corners(box: Box) -> Array:
    x0, y0, x1, y1 = box
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], dtype=np.float64)


class _Place:
    """Where a label says that something is: a box, or about a centre; px."""

    def __init__(self, label: Label, camera: Camera, mm: float = CARD_MM[0] / 2) -> None:
        self.box: Box | None = tuple(label["box"]) if label.get("box") is not None else None
        self.centre = centre_of(label)
        self.reach = 0.0 if self.centre is None or self.box else _reach(camera, self.centre, mm)

    def distance(self, px: Px) -> float:
        """To the labelled centre; infinite where it cannot be this thing."""
        if self.centre is None:
            return math.inf
        d = math.dist(px, self.centre)
        near = _holds(self.box, px) if self.box else d <= self.reach
        return d if near else math.inf

    @property
    def outline(self) -> Array | None:
        """(N, 2) px, for drawing."""
        if self.box:
            return _corners(self.box)
        if self.centre is None:
            return None
        a = np.linspace(0, 2 * np.pi, 24, endpoint=False)
        return np.asarray(self.centre) + self.reach * np.column_stack([np.cos(a), np.sin(a)])


def label_distances(labels: Sequence[Label], camera: Camera, px: Array) -> Array:
    """From each label's centre to each point of `px` (M, 2), (N, M) px; infinite where that cannot be its
    thing."""
    return _distances([_Place(x, camera) for x in labels], px)


def _distances(places: Sequence[_Place], px: Sequence[Px] | Array) -> Array:
    return np.array([[p.distance(q) for q in px] for p in places]).reshape(len(places), len(px))


def _cards(label: Label, laid: Sequence[Hashable], seen: Seen, camera: Camera) -> list[CardOutcome]:
    places = [_Place(c, camera) for c in label["cards"]]
    truth = [
        CardTruth(
            code=str(c["card"]),
            clear=(c.get("hidden") or 0.0) <= _HIDDEN,
            laid=laid[i],
            scored=_scored(c),
            outline=places[i].outline,
        )
        for i, c in enumerate(label["cards"])
    ]
    centres = camera.project([(c.x, c.y) for c in seen.cards]) if seen.cards else np.zeros((0, 2))
    pairs = match(_distances(places, centres))
    # nothing that is found where nothing is scored is a mistake
    ignored = [tuple(box) for box in label.get("ignore") or []]
    unscored = [p for p, t in zip(places, truth, strict=True) if not t.scored]
    paired = {j for _, j in pairs}
    left = [
        j
        for j, px in enumerate(centres)
        if j not in paired
        and not any(_holds(box, px) for box in ignored)
        and not any(math.isfinite(p.distance(px)) for p in unscored)
    ]
    nowhere = [i for i, p in enumerate(places) if p.centre is None and truth[i].scored]
    as_set = match_as_set([truth[i] for i in nowhere], [seen.cards[j] for j in left])
    pairs += [(nowhere[i], left[j]) for i, j in as_set]
    keep = sorted({j for _, j in pairs} | set(left))
    at = {j: k for k, j in enumerate(keep)}
    return card_outcomes(truth, [seen.cards[j] for j in keep], [(i, at[j]) for i, j in pairs])


def _middles(seen: Seen, camera: Camera) -> list[Array]:
    """The middle of what each stack covers of the picture, px."""
    outlines = [stack_outline(camera, s.x, s.y, s.count) for s in seen.stacks]
    return [np.asarray((o.min(axis=0) + o.max(axis=0)) / 2, dtype=np.float64) for o in outlines]


def _piles(
    truth: Sequence[StackTruth], places: Sequence[_Place], seen: Seen, camera: Camera, ignored: Sequence[Box]
) -> list[StackOutcome]:
    middles = _middles(seen, camera)
    pairs = match(_distances(places, middles))
    paired = {j for _, j in pairs}
    keep = [j for j, px in enumerate(middles) if j in paired or not any(_holds(b, px) for b in ignored)]
    at = {j: k for k, j in enumerate(keep)}
    return stack_outcomes(truth, [seen.stacks[j] for j in keep], [(i, at[j]) for i, j in pairs])


def _stacks(label: Label, laid: Sequence[Hashable], seen: Seen, camera: Camera) -> list[StackOutcome]:
    counts = label.get("counts") or [None] * len(label["stacks"])
    places = [_Place({"box": box}, camera) for box in label["stacks"]]
    truth = [
        StackTruth(
            count=int(c["total"]) if c is not None and c.get("sure", True) else None,
            laid=laid[i],
            outline=places[i].outline,
        )
        for i, c in enumerate(counts)
    ]
    return _piles(truth, places, seen, camera, [tuple(b) for b in label.get("ignore") or []])


def _bets(label: Label, laid: Sequence[Hashable], seen: Seen, camera: Camera) -> list[StackOutcome]:
    places = [_Place(b, camera, _BET_MM) for b in label["bets"]]
    truth = [
        StackTruth(count=b.get("chips"), laid=laid[i], outline=places[i].outline)
        for i, b in enumerate(label["bets"])
    ]
    return [o for o in _piles(truth, places, seen, camera, ()) if o.truth is not None]
