"""Training data on disk: zone pictures with oriented boxes, upright card crops, chip strips.

In: seeds and numbers. Out, below a folder: `zones/` in the form Ultralytics reads, `cards/*.npz` and
`strips/*.npz` with uint8 pictures and their labels. A shard that exists is not drawn again, so that an
interrupted run goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.chips import CASINO
from pitwatch.sim.render import card_corners
from pitwatch.sim.rows import UNREAD_RANK, UNREAD_SUIT, Row, Rows, blank_row, card_row, stacked, strip_row
from pitwatch.sim.samples import Sample, Sampler
from pitwatch.sim.stackform import RADIUS
from pitwatch.table.layout import ZONE_MM
from pitwatch.vision.crops import ZONE_PX, zone_maps, zone_picture
from pitwatch.vision.looks import Zone

__all__ = [
    "CLASSES",
    "DENOMINATIONS",
    "RESOLVED_PX",
    "UNREAD_RANK",
    "UNREAD_SUIT",
    "draw_shard",
    "make_folders",
    "write_rows",
    "write_zone",
    "zone_line",
]

CLASSES = ("card_face", "card_back", "stack", "hand")
DENOMINATIONS = tuple(d.cents for d in CASINO.denominations)
RESOLVED_PX = 1.2  # height of a chip from which on a mounting is said to show chips at all
_BLANK = 0.08  # share of the strips at whose foot no stack stands


def draw_shard(root: Path, split: str, shard: int, samples: int, held_out: bool, kind: str) -> None:
    """Draw a shard of `samples` samples of `kind` ("zones", "cards", "strips") for a split, like "train"."""
    done = root / "done" / f"{split}-{kind}-{shard:04d}"
    if done.exists():
        return
    cv2.setNumThreads(1)
    sampler = Sampler(
        shard * 3 + ("zones", "cards", "strips").index(kind),
        held_out,
        ZONE_MM if kind == "zones" else 110.0,
        usual=0.7 if kind == "strips" else 0.4 if kind == "zones" else 0.0,
        backs=0.3 if kind == "zones" else 0.12,
        photographs=3,
        # each layer is to be read by itself, not guessed from its neighbours
        wagers=0.4 if kind == "strips" else None,
    )
    rng = np.random.default_rng([shard, 77])
    rows: list[Row] = []
    make_folders(root, split)
    for i in range(samples):
        row: Row | None = None
        if kind == "cards":
            row = card_row(sampler.next_card(), rng)
        elif kind == "strips" and rng.random() < _BLANK:
            row = blank_row(*sampler.next_blank(), DENOMINATIONS)
        elif kind == "strips":
            row = strip_row(sampler.next_stack(), rng, DENOMINATIONS)
        else:
            sample = sampler.next()
            picture = zone_picture(sample.image, zone_maps(sample.camera, sample.zone))
            write_zone(root, split, f"{shard:04d}-{i:04d}", picture, zone_labels(sample))
        if row is not None:
            rows.append(row)
    if rows:
        write_rows(root / kind / f"{split}-{shard:04d}.npz", stacked(rows))
    done.touch()


def make_folders(root: Path, split: str) -> None:
    """The folders below `root` that a split's pictures go into."""
    for folder in (f"zones/images/{split}", f"zones/labels/{split}", "cards", "strips", "done"):
        (root / folder).mkdir(parents=True, exist_ok=True)


def write_rows(file: Path, rows: Rows) -> None:
    """A shard of what a reader learns from; under its own name only when it is whole."""
    new = file.with_name(f"new-{file.name}")
    np.savez(new, **rows)
    new.rename(file)


def write_zone(root: Path, split: str, name: str, picture: NDArray[np.uint8], lines: Sequence[str]) -> None:
    """A zone picture and the lines of what is in it, as Ultralytics reads them."""
    file = str(root / "zones/images" / split / f"{name}.jpg")
    cv2.imwrite(file, picture, [cv2.IMWRITE_JPEG_QUALITY, 95])
    (root / "zones/labels" / split / f"{name}.txt").write_text("".join(lines))


def zone_labels(sample: Sample) -> list[str]:
    """Lines "class x1 y1 … x4 y4", corners as shares of the zone picture; only what lies wholly in it."""
    out = []
    for card in sample.cards:
        if card.visible >= 0.1:
            out += zone_line(sample.zone, 0 if card.pose.face_up else 1, card_corners(card.pose)[:, :2], 5)
    for stack in sample.stacks:
        if stack.visible >= 0.3:
            box = np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]]) * RADIUS + (stack.pose.x, stack.pose.y)
            out += zone_line(sample.zone, 2, box, 4)
    half = sample.zone.size / 2
    corners = np.array([[-half, -half], [half, -half], [half, half], [-half, half]], np.float32)
    square = corners + np.array([sample.zone.x, sample.zone.y], np.float32)
    for arm in sample.arms:
        area, piece = cv2.intersectConvexConvex(arm.astype(np.float32), square)
        if area > 1200 and piece is not None:
            box = cv2.boxPoints(cv2.minAreaRect(np.asarray(piece, np.float32).reshape(-1, 1, 2)))
            out += zone_line(sample.zone, 3, np.asarray(box, np.float64), ZONE_PX)
    return out


def zone_line(zone: Zone, number: int, corners_mm: NDArray[np.float64], slack: float) -> list[str]:
    """The line of a thing of class `number` with these corners (4, 2), none when more than `slack` px are
    outside."""
    px = (corners_mm - (zone.x, zone.y)) * [1, -1] * (ZONE_PX / zone.size) + ZONE_PX / 2
    if px.min() < -slack or px.max() > ZONE_PX + slack:
        return []
    share = np.clip(px / ZONE_PX, 0, 1)
    return [f"{number} " + " ".join(f"{v:.5f}" for v in share.ravel()) + "\n"]
