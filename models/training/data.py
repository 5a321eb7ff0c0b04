"""Training data on disk: zone pictures with oriented boxes, upright card crops, chip strips.

In: seeds and numbers. Out, below a folder: `zones/` in the form Ultralytics reads, `cards/*.npz` and
`strips/*.npz` with uint8 pictures and their labels. A shard that exists is not drawn again, so that an
interrupted run goes on where it stopped.
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.cards import RANKS, SUITS
from pitwatch.chips import CASINO
from pitwatch.sim.render import card_corners
from pitwatch.sim.samples import Sample, Sampler
from pitwatch.vision.crops import (
    STRIP_CHIPS,
    ZONE_PX,
    card_crop,
    card_mask,
    layer_px,
    stack_strip,
    zone_maps,
    zone_picture,
)

__all__ = ["CLASSES", "DENOMINATIONS", "RESOLVED_PX", "UNREAD_RANK", "UNREAD_SUIT", "draw_shard"]

CLASSES = ("card_face", "card_back", "stack", "hand")
DENOMINATIONS = tuple(d.cents for d in CASINO.denominations)
UNREAD_RANK, UNREAD_SUIT = len(RANKS), len(SUITS)
RESOLVED_PX = 1.2  # height of a chip from which on a mounting is said to show chips at all
_EMPTY = len(DENOMINATIONS)
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
        320.0 if kind == "zones" else 110.0,
        usual=0.7 if kind == "strips" else 0.0,
    )
    rng = np.random.default_rng([shard, 77])
    rows: dict[str, list[object]] = {}
    for folder in (f"zones/images/{split}", f"zones/labels/{split}", "cards", "strips", "done"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for i in range(samples):
        if kind == "cards":
            _card_row(sampler.next_card(), rng, rows)
        elif kind == "strips" and rng.random() < _BLANK:
            _blank_row(*sampler.next_blank(), rows)
        elif kind == "strips":
            _strip_row(sampler.next_stack(), rng, rows)
        else:
            sample = sampler.next()
            name = f"{shard:04d}-{i:04d}"
            picture = zone_picture(sample.image, zone_maps(sample.camera, sample.zone))
            cv2.imwrite(
                str(root / "zones/images" / split / f"{name}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 95]
            )
            (root / "zones/labels" / split / f"{name}.txt").write_text("".join(zone_labels(sample)))
    if rows:
        np.savez(root / kind / f"{split}-{shard:04d}.npz", **{k: np.array(v) for k, v in rows.items()})
    done.touch()


def zone_labels(sample: Sample) -> list[str]:
    """Lines "class x1 y1 … x4 y4", corners as shares of the zone picture; only what lies wholly in it."""
    out = []
    for card in sample.cards:
        if card.visible >= 0.1:
            out += _line(sample, 0 if card.pose.face_up else 1, card_corners(card.pose)[:, :2], 5)
    for stack in sample.stacks:
        if stack.visible >= 0.3:
            box = np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]]) * 19.5 + (stack.pose.x, stack.pose.y)
            out += _line(sample, 2, box, 4)
    half = sample.zone.size / 2
    corners = np.array([[-half, -half], [half, -half], [half, half], [-half, half]], np.float32)
    square = corners + np.array([sample.zone.x, sample.zone.y], np.float32)
    for arm in sample.arms:
        area, piece = cv2.intersectConvexConvex(arm.astype(np.float32), square)
        if area > 1200 and piece is not None:
            box = cv2.boxPoints(cv2.minAreaRect(np.asarray(piece, np.float32).reshape(-1, 1, 2)))
            out += _line(sample, 3, np.asarray(box, np.float64), ZONE_PX)
    return out


def _line(sample: Sample, number: int, corners_mm: NDArray[np.float64], slack: float) -> list[str]:
    px = (corners_mm - (sample.zone.x, sample.zone.y)) * [1, -1] * (ZONE_PX / sample.zone.size) + ZONE_PX / 2
    if px.min() < -slack or px.max() > ZONE_PX + slack:
        return []
    share = np.clip(px / ZONE_PX, 0, 1)
    return [f"{number} " + " ".join(f"{v:.5f}" for v in share.ravel()) + "\n"]


def _card_row(sample: Sample, rng: np.random.Generator, rows: dict[str, list[object]]) -> None:
    """The first card of a sample, cut as the detector would: a little off, its neighbours partly missed."""
    card = sample.cards[0]
    if card.visible < 0.1:
        return
    poses = np.array([[c.x, c.y, c.yaw] for c in sample.scene.cards])
    poses = poses + rng.normal(0, 1, poses.shape) * [1.2, 1.2, 1.5]
    stacks = np.array([[s.x, s.y] for s in sample.scene.stacks]).reshape(-1, 2)
    known = rng.random(len(poses)) > 0.08
    known[0] = False
    x, y, yaw = poses[0]
    yaw += 180 * int(rng.integers(2))
    crop = card_crop(sample.image, sample.camera, x, y, yaw)
    row = {
        "crop": np.dstack([crop, card_mask(x, y, yaw, poses[known], stacks)]),
        "rank": RANKS.index(card.pose.card[0]) if card.readable else UNREAD_RANK,
        "suit": SUITS.index(card.pose.card[1]) if card.readable else UNREAD_SUIT,
        "visible": np.float32(card.visible),
        "scale": np.float32(sample.camera.px_per_mm(x, y)),
    }
    for k, v in row.items():
        rows.setdefault(k, []).append(v)


def _strip_row(sample: Sample, rng: np.random.Generator, rows: dict[str, list[object]]) -> None:
    """The first stack of a sample, its base nearly where it is: training moves it, and knows how far."""
    stack = sample.stacks[0]
    if stack.visible < 0.35:
        return
    x, y = np.array([stack.pose.x, stack.pose.y]) + rng.normal(0, 0.4, 2)
    _add_strip(sample, x, y, stack.pose.chips, rows)


def _blank_row(sample: Sample, x: float, y: float, rows: dict[str, list[object]]) -> None:
    """A place that holds no stack: what print and cards look like when they are taken for one."""
    _add_strip(sample, x, y, (), rows)


def _add_strip(
    sample: Sample, x: float, y: float, cents: tuple[int, ...], rows: dict[str, list[object]]
) -> None:
    chips = np.full(STRIP_CHIPS, _EMPTY, np.uint8)
    chips[: len(cents)] = [DENOMINATIONS.index(c) for c in cents]
    row = {
        "strip": stack_strip(sample.image, sample.camera, x, y),
        "count": np.uint8(len(cents)),
        "chips": chips,
        "layer": np.array([layer_px(sample.camera, x, y), sample.camera.px_per_mm(x, y)], np.float32),
    }
    for k, v in row.items():
        rows.setdefault(k, []).append(v)
