"""A scene measured picture by picture: the settled ones, each looked at whole.

In: a scene, eyes. Out: counts of its cards and stacks. Matching is in mm on the table: a card within 25 mm, a
stack within 20 mm of its truth, nearest first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from pitwatch.capture.frame import Frame
from pitwatch.evaluate.album import Album
from pitwatch.evaluate.counts import CardCounts, StackCounts
from pitwatch.evaluate.folders import Scene, ScenePicture, read_picture
from pitwatch.evaluate.looking import (
    card_corners,
    look_over,
    playing_area,
    stack_outline,
    tiles_over,
)
from pitwatch.evaluate.matching import (
    BACK,
    CardTruth,
    StackTruth,
    card_outcomes,
    distances,
    match,
    stack_outcomes,
)
from pitwatch.evaluate.visibility import CLEAR_SHARE, visible_shares
from pitwatch.table.camera import Camera
from pitwatch.vision.watcher import Eyes

__all__ = ["CARD_MM", "STACK_MM", "StillFigures", "card_truths", "measure_stills", "stack_truths"]

CARD_MM = 25.0
STACK_MM = 20.0


@dataclass(frozen=True)
class StillFigures:
    """Counts over single pictures, and the mean milliseconds of looking over one."""

    cards: CardCounts
    stacks: StackCounts
    ms_per_picture: float | None


def card_truths(camera: Camera, p: ScenePicture) -> list[CardTruth]:
    """The cards of a picture; a laid card is one code, one face, one place."""
    shares = visible_shares(
        camera,
        [(c.x, c.y, c.yaw, c.z) for c in p.cards],
        [(s.x, s.y, len(s.chips)) for s in p.stacks],
    )
    return [
        CardTruth(
            code=c.card if c.face_up else BACK,
            clear=share >= CLEAR_SHARE,
            laid=(c.card, c.face_up, c.x, c.y, c.yaw),
            outline=camera.project(card_corners(c.x, c.y, c.yaw)),
        )
        for c, share in zip(p.cards, shares, strict=True)
    ]


def stack_truths(camera: Camera, p: ScenePicture) -> list[StackTruth]:
    """The stacks of a picture."""
    return [
        StackTruth(
            count=len(s.chips),
            cents=s.cents,
            laid=(s.chips, s.x, s.y),
            outline=stack_outline(camera, s.x, s.y, len(s.chips)),
        )
        for s in p.stacks
    ]


def measure_stills(
    scene: Scene, eyes: Eyes, album: Album, step: Callable[[], None] = lambda: None
) -> StillFigures:
    """Look at every settled picture over the whole playing area; arm pictures are left out.

    step: called after each picture.
    """
    cards, stacks = CardCounts(), StackCounts()
    area = playing_area(scene.layout)
    zones = tiles_over(area)
    size = (scene.camera.width, scene.camera.height)
    spent, n = 0.0, 0
    for p in scene.pictures:
        if p.arm is not None:
            continue
        image = read_picture(scene.folder, p.file, size)
        frame = Frame(float(n), image, n, settled=True, name=p.file)
        begun = time.perf_counter()
        seen = look_over(eyes, frame, zones, area)
        spent, n = spent + time.perf_counter() - begun, n + 1

        d = distances([(c.x, c.y) for c in p.cards], [(c.x, c.y) for c in seen.cards])
        outcomes = card_outcomes(card_truths(scene.camera, p), seen.cards, match(d, CARD_MM))
        cards.add(outcomes)
        album.cards(scene.name, p.file, image, outcomes, scene.camera)

        d = distances([(s.x, s.y) for s in p.stacks], [(s.x, s.y) for s in seen.stacks])
        piles = stack_outcomes(stack_truths(scene.camera, p), seen.stacks, match(d, STACK_MM))
        stacks.add(piles)
        album.stacks(scene.name, p.file, image, piles, scene.camera)
        step()
    return StillFigures(cards, stacks, 1000 * spent / n if n else None)
