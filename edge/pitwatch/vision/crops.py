"""Cutting pictures out of a frame for the networks: zones on the table plane, upright cards, chip strips.

In: frames (H, W, 3) uint8 BGR and a calibrated camera. Out: uint8 arrays of fixed size. Training cuts with
the same functions, so that a network sees at the table what it saw when it learned.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.table.camera import Camera
from pitwatch.vision.looks import CHIP_PITCH_MM, Zone

__all__ = [
    "CARD_SHAPE",
    "STRIP_CHIPS",
    "STRIP_COLUMN_MM",
    "STRIP_ROWS",
    "STRIP_SHAPE",
    "ZONE_PX",
    "bulge_mm",
    "card_crop",
    "card_mask",
    "layer_px",
    "moved_base",
    "stack_strip",
    "zone_maps",
    "zone_picture",
    "zone_to_mm",
]

Image8 = NDArray[np.uint8]
Points = NDArray[np.float64]

ZONE_PX = 256  # a zone of 320 mm at 0.8 px/mm: half the work of 1 px/mm, and places as good
CARD_SHAPE = (160, 112)  # rows, columns
_CARD_SCALE = 1.6  # px per mm in the upright crop
STRIP_ROWS = 4  # rows a chip
STRIP_BELOW = 4  # chips' worth of rows below the base's front edge
STRIP_CHIPS = 25  # the tallest stack that is counted
STRIP_SHAPE = (STRIP_ROWS * (STRIP_BELOW + STRIP_CHIPS + 3), 32)  # rows, columns
STRIP_COLUMN_MM = 1.5
_STRIP_WIDTH_MM = STRIP_COLUMN_MM * STRIP_SHAPE[1]
_STRIP_PARTS = 4  # samples a column, at most
_STRIP_LEVELS = 9  # heights that are projected; rows between them are interpolated
_CHIP_RADIUS_MM = 19.5


def zone_maps(camera: Camera, zone: Zone) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """cv2.remap maps, (ZONE_PX, ZONE_PX) each: the zone from above, y away from the dealer upward."""
    step = 16
    n = ZONE_PX // step + 1
    g = np.arange(n, dtype=np.float64) * step
    gx, gy = np.meshgrid(g, g)
    px = camera.project(zone_to_mm(zone, np.column_stack([gx.ravel(), gy.ravel()])))
    t = np.arange(ZONE_PX, dtype=np.float32) / step
    mx, my = np.meshgrid(t, t)
    out = [
        cv2.remap(
            px[:, i].reshape(n, n).astype(np.float32),
            mx,
            my,
            cv2.INTER_CUBIC,
            borderMode=cv2.BORDER_REPLICATE,
        )
        for i in (0, 1)
    ]
    return np.asarray(out[0], np.float32), np.asarray(out[1], np.float32)


def zone_to_mm(zone: Zone, px: Points) -> Points:
    """Zone picture pixels (N, 2), centre of the first pixel at 0, to table mm (N, 2)."""
    scale = zone.size / ZONE_PX
    x = zone.x - zone.size / 2 + (px[:, 0] + 0.5) * scale
    y = zone.y + zone.size / 2 - (px[:, 1] + 0.5) * scale
    return np.column_stack([x, y])


def zone_picture(image: Image8, maps: tuple[NDArray[np.float32], NDArray[np.float32]]) -> Image8:
    """The zone from above, (ZONE_PX, ZONE_PX, 3)."""
    mx, my = maps
    # where the frame is much finer than the zone picture, average instead of skipping pixels
    c = ZONE_PX // 2
    fine = float(np.hypot(mx[c, c + 1] - mx[c, c], my[c, c + 1] - my[c, c]))
    if fine > 1.4:
        x0, y0 = max(int(mx.min()) - 2, 0), max(int(my.min()) - 2, 0)
        x1, y1 = min(int(mx.max()) + 3, image.shape[1]), min(int(my.max()) + 3, image.shape[0])
        if x1 - x0 < 4 or y1 - y0 < 4:
            return np.zeros((ZONE_PX, ZONE_PX, 3), np.uint8)
        part = cv2.resize(image[y0:y1, x0:x1], None, fx=1 / fine, fy=1 / fine, interpolation=cv2.INTER_AREA)
        kx, ky = part.shape[1] / (x1 - x0), part.shape[0] / (y1 - y0)
        mx, my = (mx - x0 + 0.5) * kx - 0.5, (my - y0 + 0.5) * ky - 0.5
        image = np.asarray(part, np.uint8)
    return np.asarray(
        cv2.remap(image, mx.astype(np.float32), my.astype(np.float32), cv2.INTER_LINEAR), np.uint8
    )


def _card_axes(yaw: float) -> tuple[Points, Points]:
    a = np.radians(yaw)
    return np.array([np.cos(a), np.sin(a)]), np.array([np.sin(a), -np.cos(a)])


def card_crop(image: Image8, camera: Camera, x: float, y: float, yaw: float, z: float = 0.5) -> Image8:
    """The card at (x, y) mm upright, CARD_SHAPE + (3,), at 1.6 px/mm with a margin of 3.5 and 6 mm."""
    up, right = _card_axes(yaw)
    h, w = CARD_SHAPE
    hw, hh = w / 2 / _CARD_SCALE, h / 2 / _CARD_SCALE
    c = np.array([x, y])
    corners = np.array(
        [
            c + hh * up - hw * right,
            c + hh * up + hw * right,
            c - hh * up + hw * right,
            c - hh * up - hw * right,
        ]
    )
    px = camera.project(np.column_stack([corners, np.full(4, z)])).astype(np.float32)
    src = np.array([[-0.5, -0.5], [w - 0.5, -0.5], [w - 0.5, h - 0.5], [-0.5, h - 0.5]], np.float32)
    side = float(np.linalg.norm(px[3] - px[0])) / h
    x0, y0 = np.floor(px.min(axis=0)).astype(int) - 2
    x1, y1 = np.ceil(px.max(axis=0)).astype(int) + 3
    x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, image.shape[1]), min(y1, image.shape[0])
    if x1 - x0 < 4 or y1 - y0 < 4:
        return np.zeros((h, w, 3), np.uint8)
    part = image[y0:y1, x0:x1]
    px = px - (x0, y0)
    if side > 1.5:
        k = 1 / side
        small = np.asarray(cv2.resize(part, None, fx=k, fy=k, interpolation=cv2.INTER_AREA), np.uint8)
        ks = np.array([small.shape[1] / part.shape[1], small.shape[0] / part.shape[0]], np.float32)
        part, px = small, (px + 0.5) * ks - 0.5
    H = cv2.getPerspectiveTransform(px.astype(np.float32), src)
    return np.asarray(
        cv2.warpPerspective(part, H, (w, h), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE), np.uint8
    )


def card_mask(x: float, y: float, yaw: float, cards: Points, stacks: Points) -> Image8:
    """Where other things are said to lie in this card's crop, CARD_SHAPE, 255 there.

    cards: (N, 3) x, y mm and yaw of the other cards. stacks: (M, 2) bases of stacks.
    """
    up, right = _card_axes(yaw)
    h, w = CARD_SHAPE
    out = np.zeros((h, w), np.uint8)

    def to_px(mm: Points) -> NDArray[np.int32]:
        d = mm - (x, y)
        q = np.column_stack([d @ right * _CARD_SCALE + w / 2 - 0.5, -(d @ up) * _CARD_SCALE + h / 2 - 0.5])
        return np.round(q * 16).astype(np.int32)

    for cx, cy, cyaw in cards:
        if np.hypot(cx - x, cy - y) > 115:
            continue
        u, r = _card_axes(cyaw)
        c = np.array([cx, cy])
        box = np.array(
            [c + 44 * u - 31.5 * r, c + 44 * u + 31.5 * r, c - 44 * u + 31.5 * r, c - 44 * u - 31.5 * r]
        )
        cv2.fillPoly(out, [to_px(box)], 255, cv2.LINE_8, 4)
    t = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    for sx, sy in stacks:
        if np.hypot(sx - x, sy - y) < 80:
            ring = np.column_stack([sx + _CHIP_RADIUS_MM * np.cos(t), sy + _CHIP_RADIUS_MM * np.sin(t)])
            cv2.fillPoly(out, [to_px(ring)], 255, cv2.LINE_8, 4)
    return out


def _facing(camera: Camera, x: float, y: float) -> tuple[Points, Points]:
    """Towards the camera on the felt, and to the right of that in a strip: unit vectors (2,)."""
    c = camera.position_mm
    d = np.hypot(c[0] - x, c[1] - y) or 1.0
    facing = np.array([c[0] - x, c[1] - y]) / d
    return facing, np.array([-facing[1], facing[0]])


def _front(camera: Camera, x: float, y: float) -> tuple[float, float]:
    """The point of a stack's base edge nearest to the camera."""
    facing, _ = _facing(camera, x, y)
    return float(x + facing[0] * _CHIP_RADIUS_MM), float(y + facing[1] * _CHIP_RADIUS_MM)


def layer_px(camera: Camera, x: float, y: float) -> float:
    """Pixels between one chip and the next of a stack standing at (x, y) mm."""
    fx, fy = _front(camera, x, y)
    p = camera.project([(fx, fy, 0.0), (fx, fy, CHIP_PITCH_MM)])
    return float(np.linalg.norm(p[1] - p[0]))


def moved_base(camera: Camera, x: float, y: float, rows: float, columns: float = 0.0) -> tuple[float, float]:
    """The base, mm, whose foot is `rows` higher and `columns` further left in the strip cut at (x, y)."""
    fx, fy = _front(camera, x, y)
    p = camera.project([(fx, fy, 0.0), (fx, fy, CHIP_PITCH_MM)])
    foot = camera.to_table([p[0] + (p[1] - p[0]) * rows / STRIP_ROWS])[0]
    _, across = _facing(camera, x, y)
    aside = columns * STRIP_COLUMN_MM * across
    return float(x + foot[0] - fx - aside[0]), float(y + foot[1] - fy - aside[1])


def bulge_mm(lateral: Points) -> Points:
    """How far a stack's side stands out towards the camera, `lateral` mm aside of its middle."""
    return np.asarray(np.sqrt(1 - np.minimum(np.abs(lateral) / _CHIP_RADIUS_MM, 0.97) ** 2) * _CHIP_RADIUS_MM)


def stack_strip(image: Image8, camera: Camera, x: float, y: float) -> Image8:
    """The side of a stack whose base is at (x, y) mm, unrolled upward, STRIP_SHAPE + (3,).

    Rows follow the height, STRIP_ROWS a chip, the bottom chip near the last rows; columns run across, 1.5 mm
    each. The side that faces the camera bulges, so every chip's edge comes to lie in a row of its own.
    """
    rows, cols = STRIP_SHAPE
    facing, across = _facing(camera, x, y)
    # a column is coarser than the frame: it is the mean of several, so that noise averages out
    one = camera.project(
        [(x - across[0] / 2, y - across[1] / 2, 0), (x + across[0] / 2, y + across[1] / 2, 0)]
    )
    fine = float(np.hypot(*(one[1] - one[0]))) * _STRIP_WIDTH_MM / cols
    parts = int(np.clip(round(fine), 1, _STRIP_PARTS))
    wide = cols * parts
    lateral = (np.arange(wide) + 0.5) / wide * _STRIP_WIDTH_MM - _STRIP_WIDTH_MM / 2
    felt = np.array([x, y]) + bulge_mm(lateral)[:, None] * facing + lateral[:, None] * across
    chips = rows / STRIP_ROWS
    heights = np.linspace(chips - STRIP_BELOW, -STRIP_BELOW, _STRIP_LEVELS) * CHIP_PITCH_MM
    points = np.column_stack([np.tile(felt, (_STRIP_LEVELS, 1)), np.repeat(heights, wide)])
    px = camera.project(points)
    x0, y0 = np.floor(px.min(axis=0)).astype(int) - 3
    x1, y1 = np.ceil(px.max(axis=0)).astype(int) + 4
    x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, image.shape[1]), min(y1, image.shape[0])
    if x1 - x0 < 4 or y1 - y0 < 4:
        return np.zeros((rows, cols, 3), np.uint8)
    part = image[y0:y1, x0:x1]
    px = px - (x0, y0)
    # between the levels, rows lie evenly; a row's middle is half a row below its upper edge
    at = (np.arange(rows) + 0.5) / rows * (_STRIP_LEVELS - 1)
    low = np.minimum(at.astype(int), _STRIP_LEVELS - 2)
    part_of = (at - low)[:, None, None]
    grid = px.reshape(_STRIP_LEVELS, wide, 2)
    maps = (grid[low] * (1 - part_of) + grid[low + 1] * part_of).astype(np.float32)
    out = cv2.remap(part, maps[..., 0], maps[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(
        cv2.resize(out, (cols, rows), interpolation=cv2.INTER_AREA) if parts > 1 else out, np.uint8
    )
