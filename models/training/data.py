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

__all__ = ["CLASSES", "DENOMINATIONS", "UNREAD_RANK", "UNREAD_SUIT", "draw_shard"]

CLASSES = ("card_face", "card_back", "stack", "hand")
DENOMINATIONS = tuple(d.cents for d in CASINO.denominations)
UNREAD_RANK, UNREAD_SUIT = len(RANKS), len(SUITS)
_EMPTY = len(DENOMINATIONS)


def draw_shard(root: Path, kind: str, shard: int, samples: int, held_out: bool, size: float, zones: bool) -> None:
    """Draw one shard of `samples` samples; kind is the name of its split, like "train"."""
    done = root / "done" / f"{kind}-{shard:04d}"
    if done.exists():
        return
    cv2.setNumThreads(1)
    sampler = Sampler(shard + (100_000 if held_out else 0), held_out, size)
    rng = np.random.default_rng([shard, 77])
    cards: dict[str, list[object]] = {k: [] for k in ("crop", "rank", "suit", "visible", "scale")}
    strips: dict[str, list[object]] = {k: [] for k in ("strip", "count", "chips", "layer")}
    for folder in ("zones/images", "zones/labels", "cards", "strips", "done"):
        (root / folder / (kind if "zones" in folder else "")).mkdir(parents=True, exist_ok=True)
    for i in range(samples):
        sample = sampler.next()
        if zones:
            name = f"{shard:04d}-{i:04d}"
            picture = zone_picture(sample.image, zone_maps(sample.camera, sample.zone))
            cv2.imwrite(str(root / "zones/images" / kind / f"{name}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 95])
            (root / "zones/labels" / kind / f"{name}.txt").write_text("".join(zone_labels(sample)))
        _card_rows(sample, rng, cards)
        _strip_rows(sample, rng, strips)
    np.savez(root / "cards" / f"{kind}-{shard:04d}.npz", **{k: np.array(v) for k, v in cards.items()})
    np.savez(root / "strips" / f"{kind}-{shard:04d}.npz", **{k: np.array(v) for k, v in strips.items()})
    done.touch()


def zone_labels(sample: Sample) -> list[str]:
    """Lines "class x1 y1 … x4 y4", corners as shares of the zone picture; only what lies wholly in it."""
    out = []
    for card in sample.cards:
        if card.visible >= 0.1:
            out += _line(sample, 0 if card.pose.face_up else 1, card_corners(card.pose)[:, :2], 6)
    for stack in sample.stacks:
        if stack.visible >= 0.3:
            box = np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]]) * 19.5 + (stack.pose.x, stack.pose.y)
            out += _line(sample, 2, box, 4)
    half = sample.zone.size / 2
    corners = np.array([[-half, -half], [half, -half], [half, half], [-half, half]], np.float32)
    square = (corners + (sample.zone.x, sample.zone.y)).astype(np.float32)
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


def _inside(sample: Sample, points_mm: NDArray[np.float64]) -> bool:
    px = sample.camera.project(points_mm)
    h, w = sample.image.shape[:2]
    return bool(px.min() >= 0 and (px[:, 0] < w).all() and (px[:, 1] < h).all())


def _card_rows(sample: Sample, rng: np.random.Generator, rows: dict[str, list[object]]) -> None:
    poses = np.array([[c.pose.x, c.pose.y, c.pose.yaw] for c in sample.cards]).reshape(-1, 3)
    poses = poses + rng.normal(0, 1, poses.shape) * [1.2, 1.2, 1.5]
    stacks = np.array([[s.pose.x, s.pose.y] for s in sample.stacks]).reshape(-1, 2)
    # the detector misses some of them
    known = [c.visible > 0.15 and rng.random() > 0.07 for c in sample.cards]
    for i, card in enumerate(sample.cards):
        if not card.pose.face_up or card.visible < 0.1 or not _inside(sample, card_corners(card.pose)):
            continue
        x, y, yaw = poses[i]
        yaw += 180 * int(rng.integers(2))
        others = poses[[j for j in range(len(poses)) if j != i and known[j]]]
        crop = card_crop(sample.image, sample.camera, x, y, yaw)
        mask = card_mask(x, y, yaw, others, stacks)
        rows["crop"].append(np.dstack([crop, mask]))
        rows["rank"].append(RANKS.index(card.pose.card[0]) if card.readable else UNREAD_RANK)
        rows["suit"].append(SUITS.index(card.pose.card[1]) if card.readable else UNREAD_SUIT)
        rows["visible"].append(np.float32(card.visible))
        rows["scale"].append(np.float32(sample.camera.px_per_mm(x, y)))


def _strip_rows(sample: Sample, rng: np.random.Generator, rows: dict[str, list[object]]) -> None:
    for stack in sample.stacks:
        if stack.visible < 0.35 or not _inside(sample, np.array([[stack.pose.x, stack.pose.y, 0.0]])):
            continue
        x, y = np.array([stack.pose.x, stack.pose.y]) + rng.normal(0, 1.3, 2)
        chips = np.full(STRIP_CHIPS, _EMPTY, np.uint8)
        chips[: len(stack.pose.chips)] = [DENOMINATIONS.index(c) for c in stack.pose.chips]
        rows["strip"].append(stack_strip(sample.image, sample.camera, x, y))
        rows["count"].append(np.uint8(len(stack.pose.chips)))
        rows["chips"].append(chips)
        rows["layer"].append(np.array([layer_px(sample.camera, x, y), sample.camera.px_per_mm(x, y)], np.float32))
