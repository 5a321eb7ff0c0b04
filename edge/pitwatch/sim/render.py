"""The renderer: a scene in millimetres becomes the picture that a calibrated camera would take of it.

In: `Scene`s. Out: (height, width, 3) uint8 BGR frames, or a region of one; and, for training, which share of
every object shows. Lengths mm in the table frame, picture coordinates pixels.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.sim.chipart import ChipArt
from pitwatch.sim.deck import Deck
from pitwatch.sim.felt import Felt
from pitwatch.sim.layers import SHADOW_MARGIN, darken, over, shadow_texture, upsample
from pitwatch.sim.light import Light
from pitwatch.sim.scene import ArmPose, CardPose, Scene, StackPose
from pitwatch.sim.stackform import CHIP, PITCH, RADIUS, bands, stack_form
from pitwatch.table.camera import Camera

__all__ = ["IdMap", "Renderer", "arm_outline", "card_corners"]

Image8 = NDArray[Any]
Points = NDArray[np.float64]


def card_corners(card: CardPose) -> Points:
    """The card's corners (4, 3) mm: upper left, upper right, lower right, lower left of its own picture."""
    a = np.radians(card.yaw)
    up = np.array([np.cos(a), np.sin(a)])
    right = np.array([np.sin(a), -np.cos(a)])
    xy = np.array([card.x, card.y])
    flat = [
        xy + 44 * up - 31.5 * right,
        xy + 44 * up + 31.5 * right,
        xy - 44 * up + 31.5 * right,
        xy - 44 * up - 31.5 * right,
    ]
    out = np.column_stack([np.array(flat), np.full(4, card.z)])
    if card.lift:
        # the short edge nearer to the dealer bends up
        ends = [(0, 1), (2, 3)]
        near = min(ends, key=lambda e: out[list(e), 1].mean())
        out[list(near), 2] += 30 * np.sin(np.radians(card.lift))
        out[list(near), 1] += 30 * (1 - np.cos(np.radians(card.lift)))
    return out


def _capsule(p: Points, q: Points, rp: float, rq: float, n: int = 7) -> Points:
    """Outline (2 n, 3) of a tapered bar from p to q, flat in its own plane."""
    d = q[:2] - p[:2]
    a = np.arctan2(d[1], d[0])
    t = np.linspace(np.pi / 2, 3 * np.pi / 2, n)
    left = np.column_stack([p[0] + rp * np.cos(a + t), p[1] + rp * np.sin(a + t), np.full(n, p[2])])
    right = np.column_stack(
        [q[0] + rq * np.cos(a + t + np.pi), q[1] + rq * np.sin(a + t + np.pi), np.full(n, q[2])]
    )
    return np.vstack([left, right])


def arm_outline(arm: ArmPose) -> list[tuple[str, Points]]:
    """The parts of an arm as ("sleeve" | "cuff" | "skin", outline (N, 3) mm), in the order they are drawn."""
    rng = np.random.default_rng([arm.look, 3])
    root = np.array([arm.root_x, arm.root_y, arm.z + 45])
    hand = np.array([arm.hand_x, arm.hand_y, arm.z])
    d = hand[:2] - root[:2]
    length = max(float(np.hypot(*d)), 1.0)
    u = np.array([d[0] / length, d[1] / length, 0.0])
    n = np.array([-u[1], u[0], 0.0])
    palm = hand - u * 10
    wrist = hand - u * 62 + np.array([0, 0, 8.0])
    back = root - u * 300
    bare = rng.random() < 0.25
    width = rng.uniform(0.85, 1.2)
    parts: list[tuple[str, Points]] = []
    elbow = back if length < 80 else root - u * 60
    start = elbow if bare else wrist - u * rng.uniform(5, 90)
    parts.append(("skin", _capsule(start, wrist, 30 * width if not bare else 42 * width, 27 * width)))
    if not bare:
        parts.append(("sleeve", _capsule(back, start, 62 * width, 40 * width)))
        if rng.random() < 0.5:
            parts.append(("cuff", _capsule(start - u * 6, start, 41 * width, 41 * width)))
    parts.append(("skin", _capsule(wrist, palm, 27 * width, 38 * width)))
    spread = rng.uniform(0.5, 1.0)
    for i, (off, ln) in enumerate(((-27, 62), (-9, 72), (9, 70), (27, 56))):
        base = palm + n * off * 0.95 + u * 18
        tip = palm + n * off * (1 + 0.35 * spread) + u * (ln * rng.uniform(0.55, 0.95))
        tip[2] = max(4.0, arm.z - 18 - i)
        parts.append(("skin", _capsule(base, tip, 9.5 * width, 8 * width)))
    side = 1 if rng.random() < 0.5 else -1
    thumb = palm + n * side * 52 + u * rng.uniform(5, 40)
    thumb[2] = max(4.0, arm.z - 15)
    parts.append(("skin", _capsule(palm + n * side * 28 - u * 12, thumb, 11 * width, 9 * width)))
    return parts


@dataclass
class IdMap:
    """Which object is on top where: (h, w) int32 at `scale` of the region's resolution, 0 = felt.

    Cards have the numbers 1.. in the scene's order, then stacks, then arms.
    """

    image: NDArray[np.int32]
    scale: float
    x0: float
    y0: float

    def fill(self, outline_px: Points, number: int) -> None:
        """Paint a polygon given in frame pixels."""
        p = (outline_px - (self.x0, self.y0)) * self.scale
        cv2.fillPoly(self.image, [np.round(p * 16).astype(np.int32)], number, cv2.LINE_8, 4)

    def at(self, points_px: Points) -> NDArray[np.int32]:
        """The number at each frame pixel (N, 2); -1 outside the region."""
        p = np.floor((points_px - (self.x0, self.y0)) * self.scale + 0.5).astype(int)
        h, w = self.image.shape
        inside = (p[:, 0] >= 0) & (p[:, 1] >= 0) & (p[:, 0] < w) & (p[:, 1] < h)
        out = np.full(len(p), -1, np.int32)
        out[inside] = self.image[p[inside, 1], p[inside, 0]]
        return out


class Renderer:
    """Draws scenes for one camera, one felt, one deck, one chip set and one light.

    region: (x0, y0, width, height) pixels of the frame that is drawn; None for all of it.
    """

    def __init__(
        self,
        camera: Camera,
        felt: Felt,
        deck: Deck,
        chips: ChipArt,
        light: Light | None = None,
        region: tuple[int, int, int, int] | None = None,
    ) -> None:
        self.camera = camera
        self.deck = deck
        self.chips = chips
        self.light = light or Light()
        self.region = region or (0, 0, camera.width, camera.height)
        self._felt = self._draw_felt(felt)
        self._lying: tuple[object, ...] | None = None
        self._still: Image8 = self._felt

    def frame(self, scene: Scene) -> Image8:
        """The picture of a scene, without noise or blur."""
        lying_cards = tuple(c for c in scene.cards if c.z <= 10 and not c.lift)
        lying_stacks = tuple(s for s in scene.stacks if s.z <= 10)
        if (lying_cards, lying_stacks) != self._lying:
            self._still = self._felt.copy()
            self._draw(self._still, lying_cards, lying_stacks)
            self._lying = (lying_cards, lying_stacks)
        out: Image8 = self._still.copy()
        moving = [c for c in scene.cards if c.z > 10 or c.lift]
        carried = [s for s in scene.stacks if s.z > 10]
        self._draw(out, moving, carried)
        for arm in scene.arms:
            self._arm(out, arm)
        return out

    def ids(self, scene: Scene, scale: float = 0.5) -> IdMap:
        """Who covers whom, by outlines, in the order in which `frame` draws."""
        x0, y0, w, h = self.region
        ids = IdMap(np.zeros((max(1, round(h * scale)), max(1, round(w * scale))), np.int32), scale, x0, y0)
        for i in sorted(range(len(scene.cards)), key=lambda i: (scene.cards[i].z > 10, scene.cards[i].order)):
            ids.fill(self.camera.project(card_corners(scene.cards[i])), 1 + i)
        n = 1 + len(scene.cards)
        for j in self._far_first(list(scene.stacks)):
            ids.fill(self.stack_hull(scene.stacks[j]), n + j)
        n += len(scene.stacks)
        for k, arm in enumerate(scene.arms):
            for _, outline in arm_outline(arm):
                ids.fill(self.camera.project(outline), n + k)
        return ids

    def stack_hull(self, stack: StackPose) -> Points:
        """Outline (N, 2) of a stack in frame pixels."""
        ring = _around(stack, RADIUS)
        top = stack.z + len(stack.chips) * PITCH
        pts = np.vstack([np.column_stack([ring, np.full(len(ring), z)]) for z in (stack.z, top)])
        px = self.camera.project(pts).astype(np.float32)
        return np.asarray(cv2.convexHull(px), np.float64).reshape(-1, 2)

    # ------------------------------------------------------------------ parts

    def _draw_felt(self, felt: Felt) -> Image8:
        x0, y0, w, h = self.region
        step = 16
        # one more value on every side than the picture has, each at the middle of its block of pixels
        u, v = np.arange(-1.0, w // step + 3) * step, np.arange(-1.0, h // step + 3) * step
        gx, gy = np.meshgrid(u + (step - 1) / 2, v + (step - 1) / 2)
        mm = self.camera.to_table(np.column_stack([gx.ravel() + x0, gy.ravel() + y0]))
        cx, cy = self.camera.to_table([(x0 + w / 2, y0 + h / 2)])[0]
        image, H = felt.at_scale(self.camera.px_per_mm(float(cx), float(cy)))
        q = np.column_stack([mm, np.ones(len(mm))]) @ H.T
        maps = [upsample(q[:, i].reshape(gx.shape), step, w, h) for i in (0, 1)]
        edge = tuple(int(v) for v in image[0, 0])
        out = cv2.remap(
            image, maps[0], maps[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=edge
        )
        d2 = ((mm[:, 0] - self.light.bright_x) ** 2 + (mm[:, 1] - self.light.bright_y) ** 2) / 1e6
        fall = (1 - self.light.falloff * np.minimum(d2, 2.0)).reshape(gx.shape)
        gain = upsample(fall[..., None] * np.asarray(self.light.gain), step, w, h)
        return np.asarray(cv2.multiply(out, gain, dtype=cv2.CV_8U), np.uint8)

    def _draw(
        self,
        out: Image8,
        cards: tuple[CardPose, ...] | list[CardPose],
        stacks: tuple[StackPose, ...] | list[StackPose],
    ) -> None:
        for card in sorted(cards, key=lambda c: c.order):
            self._card(out, card)
        order = self._far_first(list(stacks))
        for j in order:
            self._stack_shadow(out, stacks[j])
        for j in order:
            self._stack(out, stacks[j])

    def _far_first(self, stacks: list[StackPose]) -> list[int]:
        c = self.camera.position_mm
        return sorted(
            range(len(stacks)), key=lambda j: (stacks[j].z, -np.hypot(stacks[j].x - c[0], stacks[j].y - c[1]))
        )

    def _window(self, px: Points, out: Image8, margin: int = 2) -> tuple[int, int, int, int] | None:
        """The part of `out` that frame pixels `px` reach: x0, y0, x1, y1 in `out`; None if nothing."""
        p = px - self.region[:2]
        h, w = out.shape[:2]
        x0, y0 = np.floor(p.min(axis=0)).astype(int) - margin
        x1, y1 = np.ceil(p.max(axis=0)).astype(int) + margin
        x0, y0, x1, y1 = max(int(x0), 0), max(int(y0), 0), min(int(x1), w), min(int(y1), h)
        return (x0, y0, x1, y1) if x1 - x0 > 1 and y1 - y0 > 1 else None

    def _card(self, out: Image8, card: CardPose) -> None:
        corners = card_corners(card)
        px = self.camera.project(corners)
        scale = float(np.linalg.norm(px[3] - px[0]) + np.linalg.norm(px[2] - px[1])) / 2 / 88
        self._card_shadow(out, card, corners)
        box = self._window(px, out)
        if box is None:
            return
        sprite, _ = self.deck.at_scale(card.card if card.face_up else None, scale)
        h, w = sprite.shape[:2]
        # pixel centres: the sprite's edge lies half a pixel outside its first pixel
        src = np.array([[-0.5, -0.5], [w - 0.5, -0.5], [w - 0.5, h - 0.5], [-0.5, h - 0.5]], np.float32)
        dst = (px - self.region[:2] - box[:2]).astype(np.float32)
        H = cv2.getPerspectiveTransform(src, dst)
        warped = cv2.warpPerspective(sprite, H, (box[2] - box[0], box[3] - box[1]), flags=cv2.INTER_LINEAR)
        gain = self.light.gain_at(card.x, card.y) * (1.0 + 0.02 * np.sin(card.order * 1.7))
        over(out[box[1] : box[3], box[0] : box[2]], warped, gain)

    def _card_shadow(self, out: Image8, card: CardPose, corners: Points) -> None:
        dx, dy = self.light.drift
        rise = card.z - 0.3 * min(card.order, 8) if card.z <= 10 else card.z
        rise = max(rise, 1.2)
        c = corners.mean(axis=0)
        flat = corners.copy()
        d = flat[:, :2] - c[:2]
        norm = np.linalg.norm(d, axis=1, keepdims=True)
        flat[:, :2] = c[:2] + d * (1 + SHADOW_MARGIN * 1.414 / norm) + np.array([dx, dy]) * rise
        flat[:, 2] = 0.3 if card.z > 10 else card.z
        px = self.camera.project(flat)
        box = self._window(px, out)
        if box is None:
            return
        soft = shadow_texture(2.0 if card.z <= 10 else 9.0)
        h, w = soft.shape
        src = np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32)
        H = cv2.getPerspectiveTransform(src, (px - self.region[:2] - box[:2]).astype(np.float32))
        m = cv2.warpPerspective(soft, H, (box[2] - box[0], box[3] - box[1]), flags=cv2.INTER_LINEAR)
        darken(out[box[1] : box[3], box[0] : box[2]], m, self.light.shadow)

    def _stack_shadow(self, out: Image8, stack: StackPose) -> None:
        dx, dy = self.light.drift
        top = stack.z + len(stack.chips) * PITCH
        ring = _around(stack, RADIUS)
        if stack.z < 1 and self.light.contact > 0:
            seam = ring + (ring - (stack.x, stack.y)) * (self.light.contact / RADIUS)
            self._cast(out, [seam], 0.4 * self.light.contact, 1.3)
        for share, way in ((1.0, 1.0), (self.light.second, -0.7)):
            if share > 0:
                both = np.vstack([ring + way * np.array([dx, dy]) * z for z in (stack.z, top)])
                self._cast(out, [both], self.light.edge + self.light.soft * top, share)

    def _cast(self, out: Image8, outlines_mm: list[Points], soft_mm: float, share: float = 1.0) -> None:
        """Darken the felt under the hulls of outlines (N, 2) mm, their edges blurred by `soft_mm`."""
        px = [self.camera.project(o) for o in outlines_mm]
        scale = self.camera.px_per_mm(*outlines_mm[-1].mean(axis=0))
        sigma = max(0.6, soft_mm * scale)
        box = self._window(np.vstack(px), out, margin=int(3 * sigma) + 2)
        if box is None:
            return
        k = 1.0 if sigma < 2.5 else 0.25
        w, h = max(2, round((box[2] - box[0]) * k)), max(2, round((box[3] - box[1]) * k))
        m: Image8 = np.zeros((h, w), np.uint8)
        for p in px:
            hull = cv2.convexHull(((p - self.region[:2] - box[:2]) * k).astype(np.float32)).reshape(-1, 2)
            cv2.fillConvexPoly(m, np.round(hull * 16).astype(np.int32), 255, cv2.LINE_AA, 4)
        m = cv2.GaussianBlur(m, (0, 0), max(sigma * k, 0.5))
        if k < 1:
            m = cv2.resize(m, (box[2] - box[0], box[3] - box[1]), interpolation=cv2.INTER_LINEAR)
        darken(out[box[1] : box[3], box[0] : box[2]], m, self.light.shadow * share)

    def _stack(self, out: Image8, stack: StackPose) -> None:
        n = len(stack.chips)
        form = stack_form(stack, self.camera.position_mm, self.chips)
        parts = [form.walls.reshape(-1, 3), form.rims.reshape(-1, 3), *form.spots]
        px = self.camera.project(np.vstack(parts))
        box = self._window(px, out)
        if box is None:
            return
        ss = 2
        w, h = box[2] - box[0], box[3] - box[1]
        q = np.round(((px - self.region[:2] - box[:2] + 0.5) * ss - 0.5) * 16).astype(np.int32)
        walls, rings, *wedges = np.split(q, np.cumsum([len(p) for p in parts])[:-1])
        sides, rims = walls.reshape(*form.walls.shape[:3], 2), rings.reshape(n, -1, 2)
        colour = np.zeros((h * ss, w * ss, 3), np.uint8)
        cover = np.zeros((h * ss, w * ss), np.uint8)
        gain = self.light.gain_at(stack.x, stack.y)
        edge, felt = self.chips.edge, self._felt_around(stack) / gain
        for i in range(n):
            side = self.chips.side(stack.chips[i], form.facing - form.twist[i]) * gain
            for band in bands(sides[i], i, edge.rounding):
                high = float(form.low[i] + band.height)
                c = side * self.light.on_edges(form.facing, high, felt, band.slope)
                for piece, fill in zip(band.pieces, np.minimum(c, 255).tolist(), strict=True):
                    cv2.fillConvexPoly(colour, piece, fill, cv2.LINE_8, 4)
                    cv2.fillConvexPoly(cover, piece, 255, cv2.LINE_8, 4)
            cv2.fillConvexPoly(cover, rims[i], 255, cv2.LINE_8, 4)
            design = self.chips.designs[stack.chips[i]]
            base = np.asarray(design.body) * edge.rim * gain
            cv2.fillConvexPoly(colour, rims[i], base.tolist(), cv2.LINE_8, 4)
            if i < n - 1:
                # the edge spots go on over the face, of which a chip that lies askew leaves a crescent open
                spot = (np.asarray(design.spot) * edge.rim * gain).tolist()
                for wedge in wedges[i].reshape(-1, 5, 2):
                    cv2.fillConvexPoly(colour, wedge, spot, cv2.LINE_8, 4)
            if abs(edge.bevel - 1) > 0.03:
                bright = np.minimum(c * edge.bevel, 255).tolist()
                for a, b, line in zip(sides[i, -1, :-1], sides[i, -1, 1:], bright, strict=True):
                    cv2.line(colour, a, b, line, 1, cv2.LINE_8, 4)
            if i and edge.groove < 0.97:
                dark = (c.mean(axis=0) * edge.groove).tolist()
                cv2.polylines(colour, [sides[i, 0]], False, dark, 1, cv2.LINE_8, 4)
        high, wide = float(form.low[-1] + CHIP), RADIUS - edge.rounding
        self._chip_top(colour, stack, form.centres[-1], high, wide, float(form.twist[-1]), box, ss, gain)
        alpha = cv2.resize(cover, (w, h), interpolation=cv2.INTER_AREA)
        flat = cv2.resize(cv2.bitwise_and(colour, colour, mask=cover), (w, h), interpolation=cv2.INTER_AREA)
        over(out[box[1] : box[3], box[0] : box[2]], np.dstack([flat, alpha]), None)

    def _felt_around(self, stack: StackPose) -> Points:
        """Mean colour (3,) of the felt around a stack, under its light."""
        x, y = np.round(self.camera.project(_around(stack, 1.6 * RADIUS, 12)) - self.region[:2]).astype(int).T
        h, w = self._felt.shape[:2]
        return np.asarray(self._felt[np.clip(y, 0, h - 1), np.clip(x, 0, w - 1)].mean(axis=0), np.float64)

    def _chip_top(
        self,
        colour: Image8,
        stack: StackPose,
        centre: Points,
        z: float,
        wide: float,
        twist: float,
        box: tuple[int, int, int, int],
        ss: int,
        gain: Points,
    ) -> None:
        top = self.chips.top(stack.chips[-1])
        size = top.shape[0]
        a = twist + np.radians([135, 45, -45, -135])
        corners = np.column_stack(
            [
                centre[0] + wide * 1.4142 * np.cos(a),
                centre[1] + wide * 1.4142 * np.sin(a),
                np.full(4, z),
            ]
        )
        px = ((self.camera.project(corners) - self.region[:2] - box[:2] + 0.5) * ss - 0.5).astype(np.float32)
        x0, y0 = np.maximum(np.floor(px.min(axis=0)).astype(int), 0)
        x1, y1 = np.minimum(np.ceil(px.max(axis=0)).astype(int) + 1, (colour.shape[1], colour.shape[0]))
        if x1 - x0 < 2 or y1 - y0 < 2:
            return
        # in two halvings at most, so that the lettering does not alias
        while size > 2.2 * (x1 - x0) and size > 24:
            top, size = cv2.resize(top, (size // 2, size // 2), interpolation=cv2.INTER_AREA), size // 2
        src = np.array(
            [[-0.5, -0.5], [size - 0.5, -0.5], [size - 0.5, size - 0.5], [-0.5, size - 0.5]], np.float32
        )
        H = cv2.getPerspectiveTransform(src, px - np.array([x0, y0], np.float32))
        over(
            colour[y0:y1, x0:x1],
            cv2.warpPerspective(top, H, (int(x1 - x0), int(y1 - y0)), flags=cv2.INTER_LINEAR),
            gain,
        )

    def _arm(self, out: Image8, arm: ArmPose) -> None:
        rng = np.random.default_rng([arm.look, 21])
        skin = np.array(
            [[125, 165, 215], [150, 185, 235], [75, 110, 165], [45, 65, 105], [110, 150, 210]][
                int(rng.integers(5))
            ]
        )
        cloth = (
            rng.uniform(15, 235, 3)
            if rng.random() < 0.5
            else np.array(
                [[25, 25, 28], [235, 235, 235], [60, 45, 40], [40, 30, 120]][int(rng.integers(4))], float
            )
        )
        cuff = np.array([235.0, 235.0, 235.0])
        dx, dy = self.light.drift
        parts = arm_outline(arm)
        shadows = [
            outline[:, :2] + np.column_stack([outline[:, 2] * dx, outline[:, 2] * dy]) for _, outline in parts
        ]
        self._cast(out, shadows, 3 + arm.z * self.light.soft)
        gain = self.light.gain_at(arm.hand_x, arm.hand_y)
        for kind, outline in parts:
            base = {"skin": skin, "sleeve": cloth, "cuff": cuff}[kind] * gain
            # lighter towards the middle: a rounded limb, in three steps
            for grow, bright in ((1.0, 0.72), (0.8, 0.88), (0.5, 1.0)):
                n = len(outline) // 2
                left, right = outline[:n], outline[n:]
                part = np.vstack(
                    [
                        left.mean(axis=0) + (left - left.mean(axis=0)) * grow,
                        right.mean(axis=0) + (right - right.mean(axis=0)) * grow,
                    ]
                )
                part[:, 2] += (1 - grow) * 12
                px = self.camera.project(part) - self.region[:2]
                hull = cv2.convexHull(px.astype(np.float32)).reshape(-1, 2)
                cv2.fillConvexPoly(
                    out,
                    np.round(hull * 16).astype(np.int32),
                    np.clip(base * bright, 0, 255).tolist(),
                    cv2.LINE_AA,
                    4,
                )


def _around(stack: StackPose, radius: float, n: int = 16) -> Points:
    """A circle (n, 2) around the middle of a stack's base, mm."""
    t = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return np.column_stack([stack.x + radius * np.cos(t), stack.y + radius * np.sin(t)])


def replace_region(camera: Camera, region: tuple[int, int, int, int]) -> Camera:
    """The camera whose picture is that region of another's."""
    K = camera.K.copy()
    K[0, 2] -= region[0]
    K[1, 2] -= region[1]
    return dataclasses.replace(camera, width=region[2], height=region[3], K=K)
