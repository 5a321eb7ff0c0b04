"""A plain painter of scenes and eyes that see them as badly as a detector does, for testing the watcher.

The pixels and the looks come from one `Scene`, by geometry; nothing of the events gets through. Units: mm in
the table frame, degrees, seconds, cents.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from pitwatch.capture.frame import Frame
from pitwatch.cards import RANKS, SUITS
from pitwatch.game.events import CardLaid, Chips, Clear, Gone, Move, TableEvent, Turn
from pitwatch.sim.scene import ArmPose, CardPose, Scene, StackPose
from pitwatch.sim.spec import mounted_camera
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout, Point, template
from pitwatch.vision.looks import CardSeen, HandSeen, Look, StackSeen, Zone
from pitwatch.vision.tracks import box_outline, card_outline
from pitwatch.vision.watcher import Watcher

CHIP_BGR = {100: (235, 235, 235), 250: (180, 120, 240), 500: (50, 50, 215), 2500: (70, 150, 40)}
CHIP_BGR |= {10000: (40, 40, 40), 50000: (150, 60, 120)}
ARM_R = 38.0


def seeded(*parts: object) -> np.random.Generator:
    """The same numbers for the same parts, on every machine."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


class Painter:
    """Draws scenes as quads and discs on felt."""

    def __init__(self, camera: Camera, layout: Layout, noise: float = 2.0) -> None:
        self.camera, self.layout, self.noise = camera, layout, noise
        self._drawn: dict[object, list[tuple[str, np.ndarray, tuple[int, ...]]]] = {}
        self._stacks: dict[object, list[tuple[np.ndarray, np.ndarray]]] = {}
        h, w = camera.height, camera.width
        self.felt = np.full((h, w, 3), (60, 100, 30), np.uint8)
        self.felt[:] = np.clip(self.felt + seeded("felt").normal(0, 4, (h, w, 1)), 0, 255).astype(np.uint8)
        ring = np.linspace(0, 2 * math.pi, 40)
        for x, y in layout.spots:
            p = [(x + 45 * math.cos(a), y + 45 * math.sin(a)) for a in ring]
            cv2.polylines(self.felt, [self._px(p)], True, (60, 210, 230), 2, cv2.LINE_AA)
        if layout.insurance_r:
            arc = np.linspace(0.2, math.pi - 0.2, 60)
            p = [
                (layout.cx + layout.insurance_r * math.cos(a), layout.cy + layout.insurance_r * math.sin(a))
                for a in arc
            ]
            cv2.polylines(self.felt, [self._px(p)], False, (60, 210, 230), 3, cv2.LINE_AA)

    def _px(self, points: object, z: float = 0.0) -> np.ndarray:
        p = np.asarray(points, dtype=np.float64)
        p = np.column_stack([p, np.full(len(p), z)])
        return np.round(self.camera.project(p)).astype(np.int32)

    def paint(self, scene: Scene, index: int = 0) -> np.ndarray:
        """The picture (h, w, 3), BGR."""
        im = self.felt.copy()
        for card in sorted(scene.cards, key=lambda c: (c.z > 10, c.order, c.z)):
            if card.z <= 10:
                self._card(im, card)
        for stack in sorted(scene.stacks, key=lambda s: -s.y):
            self._stack(im, stack)
        for card in sorted(scene.cards, key=lambda c: (c.order, c.z)):
            if card.z > 10:
                self._card(im, card)
        for arm in scene.arms:
            for poly in self.arm_px(arm):
                colour = (90, 60, 50) if arm.side == "dealer" else (70, 80, 170)
                cv2.fillConvexPoly(im, poly, colour, cv2.LINE_AA)
            hand = self._px(
                [
                    (arm.hand_x + 36 * math.cos(a), arm.hand_y + 36 * math.sin(a))
                    for a in np.linspace(0, 6.2, 16)
                ],
                arm.z,
            )
            cv2.fillConvexPoly(im, cv2.convexHull(hand), (150, 170, 225), cv2.LINE_AA)
        if self.noise:
            im = cv2.add(im, _noise(im.shape, self.noise, index), dtype=cv2.CV_8U)
        return im

    def arm_px(self, arm: ArmPose) -> list[np.ndarray]:
        """Convex outlines of an arm in pixels."""
        dx, dy = arm.hand_x - arm.root_x, arm.hand_y - arm.root_y
        d = math.hypot(dx, dy) or 1.0
        ux, uy = dx / d, dy / d
        back = (arm.root_x - 250 * ux, arm.root_y - 250 * uy)
        side = (-uy * ARM_R, ux * ARM_R)
        quad = [
            (back[0] + side[0], back[1] + side[1]),
            (back[0] - side[0], back[1] - side[1]),
            (arm.hand_x - side[0] - 20 * ux, arm.hand_y - side[1] - 20 * uy),
            (arm.hand_x + side[0] - 20 * ux, arm.hand_y + side[1] - 20 * uy),
        ]
        ring = [
            (arm.hand_x + 45 * math.cos(a), arm.hand_y + 45 * math.sin(a)) for a in np.linspace(0, 6.2, 16)
        ]
        return [self._px(quad, arm.z), cv2.convexHull(self._px(ring, arm.z))]

    def _card(self, im: np.ndarray, c: CardPose) -> None:
        for kind, poly, ink in self._card_px(c):
            if kind == "fill":
                cv2.fillConvexPoly(im, poly, ink, cv2.LINE_AA)
            else:
                cv2.polylines(im, [poly], True, ink, 1, cv2.LINE_AA)

    def _card_px(self, c: CardPose) -> list[tuple[str, np.ndarray, tuple[int, ...]]]:
        key = (c.card, c.face_up, c.x, c.y, c.yaw, c.z, c.lift)
        if key in self._drawn:
            return self._drawn[key]
        q = self._bent(c, card_outline(c.x, c.y, c.yaw))
        out: list[tuple[str, np.ndarray, tuple[int, ...]]] = []
        if not c.face_up:
            out.append(("fill", q, (150, 60, 50)))
            lines = (self._bent(c, card_outline(c.x, c.y, c.yaw, g)) for g in (-5.0, -12.0, -19.0))
            out += [("line", line, (230, 200, 200)) for line in lines]
        else:
            out.append(("fill", q, (245, 245, 245)))
            ink = (30, 30, 200) if c.card[1] in "dh" else (40, 40, 40)
            a = math.radians(c.yaw)
            u, v = (math.cos(a), math.sin(a)), (-math.sin(a), math.cos(a))
            rng = seeded("face", c.card)
            for i in range(-3, 4):
                for j in range(-2, 3):
                    if rng.random() < 0.35:
                        x, y = c.x + i * 11 * u[0] + j * 11 * v[0], c.y + i * 11 * u[1] + j * 11 * v[1]
                        out.append(("fill", self._px(box_outline(x, y, 9, 9, c.yaw), c.z), ink))
            out.append(("line", q, (150, 150, 150)))
        if len(self._drawn) > 500:
            self._drawn.clear()
        self._drawn[key] = out
        return out

    def _bent(self, c: CardPose, points: np.ndarray) -> np.ndarray:
        """Points on a card, to pixels; the short edge nearer to the dealer is bent up."""
        a = math.radians(c.yaw if math.sin(math.radians(c.yaw)) > 0 else c.yaw + 180)
        up = np.array([math.cos(a), math.sin(a)])
        far = 44 - (points - (c.x, c.y)) @ up
        lift = math.radians(c.lift)
        moved = points + np.outer(far * (1 - math.cos(lift)), up)
        z = c.z + far * math.sin(lift)
        return np.round(self.camera.project(np.column_stack([moved, z]))).astype(np.int32)

    def _stack(self, im: np.ndarray, s: StackPose) -> None:
        key = (s.chips, s.x, s.y, s.z)
        if key not in self._stacks:
            ring = np.linspace(0, 2 * math.pi, 16, endpoint=False)
            p = [(s.x + 19.5 * math.cos(a), s.y + 19.5 * math.sin(a)) for a in ring]
            levels = [self._px(p, s.z + 3.4 * i) for i in range(len(s.chips) + 1)]
            if len(self._stacks) > 200:
                self._stacks.clear()
            self._stacks[key] = [
                (cv2.convexHull(np.vstack([a, b])), b) for a, b in itertools.pairwise(levels)
            ]
        for (side, top), cents in zip(self._stacks[key], s.chips, strict=True):
            colour = CHIP_BGR[cents]
            cv2.fillConvexPoly(im, side, tuple(int(k * 0.75) for k in colour))
            cv2.fillConvexPoly(im, top, colour, cv2.LINE_AA)
            cv2.polylines(im, [top], True, (200, 200, 200), 1, cv2.LINE_AA)


_NOISE: dict[tuple[int, ...], list[np.ndarray]] = {}


def _noise(shape: tuple[int, ...], sigma: float, index: int) -> np.ndarray:
    if shape not in _NOISE:
        _NOISE[shape] = [
            np.round(seeded("noise", k).normal(0, sigma, shape)).astype(np.int16) for k in range(7)
        ]
    return _NOISE[shape][index * 5 % 7]


@dataclass(frozen=True)
class Faults:
    """How badly eyes see. mm, degrees: largest errors of a pose. The others: probabilities a look."""

    mm: float = 3.0
    degrees: float = 3.0
    miss: float = 0.02
    invent: float = 0.02
    twin: float = 0.03
    misread: float = 0.01
    hand_miss: float = 0.05
    chips_unclear: float = 0.03


CLEAR = Faults(0.5, 0.5, 0, 0, 0, 0, 0, 0)


class NoisyEyes:
    """Looks made from the scene at the frame's time."""

    def __init__(
        self, scene_of: Callable[[float], Scene], painter: Painter, faults: Faults = CLEAR, seed: int = 0
    ) -> None:
        self.scene_of, self.painter, self.faults, self.seed = scene_of, painter, faults, seed
        self.asked: list[tuple[float, str]] = []

    def look(self, frame: Frame, zone: Zone) -> Look:
        self.asked.append((frame.t, zone.name))
        scene = self.scene_of(frame.t)
        rng = seeded(self.seed, frame.index, zone.name)
        f = self.faults
        arms = [p for a in scene.arms for p in self.painter.arm_px(a)]
        cards = []
        for c in scene.cards:
            seen = self._card(c, scene, arms, zone, rng)
            if seen is None or rng.random() < f.miss:
                continue
            cards.append(seen)
            if rng.random() < f.twin:
                cards.append(replace(seen, x=seen.x + 4, y=seen.y - 3, score=seen.score - 0.2))
        if rng.random() < f.invent:
            x, y = (float(v) + at for v, at in zip(rng.uniform(-120, 120, 2), (zone.x, zone.y), strict=True))
            logp = (
                _logp(RANKS[int(rng.integers(13))], RANKS, 0.6),
                _logp(SUITS[int(rng.integers(4))], SUITS, 0.7),
            )
            cards.append(CardSeen(x, y, float(rng.uniform(0, 180)), True, 0.6, *logp, 0.3, 1.0))
        stacks = []
        for s in scene.stacks:
            stack = self._stack(s, scene, arms, zone, rng)
            if stack is not None and rng.random() >= f.miss:
                stacks.append(stack)
        hands = []
        for a in scene.arms:
            if zone.holds(a.hand_x, a.hand_y, -30) and rng.random() >= f.hand_miss:
                yaw = math.degrees(math.atan2(a.hand_y - a.root_y, a.hand_x - a.root_x))
                hands.append(HandSeen(a.hand_x, a.hand_y, 110, 90, yaw, 0.9))
        return Look(frame.t, zone, tuple(cards), tuple(stacks), tuple(hands))

    def _card(
        self, c: CardPose, scene: Scene, arms: list[np.ndarray], zone: Zone, rng: np.random.Generator
    ) -> CardSeen | None:
        if not zone.holds(c.x, c.y, -20):
            return None
        f = self.faults
        pts = np.array([(i, j) for i in np.linspace(-40, 40, 9) for j in np.linspace(-28, 28, 7)])
        a = math.radians(c.yaw)
        mm = pts @ np.array([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]) + (c.x, c.y)
        inside = (np.abs(mm - (zone.x, zone.y)) <= zone.size / 2).all(axis=1)
        shown = np.ones(len(mm), bool)
        for o in scene.cards:
            if o is not c and o.order > c.order and math.hypot(o.x - c.x, o.y - c.y) < 115:
                b = math.radians(o.yaw)
                q = (mm - (o.x, o.y)) @ np.array([[math.cos(b), -math.sin(b)], [math.sin(b), math.cos(b)]])
                shown &= ~((np.abs(q[:, 0]) <= 44) & (np.abs(q[:, 1]) <= 31.5))
        px = self.painter.camera.project(np.column_stack([mm, np.full(len(mm), c.z)])).astype(np.float32)
        for poly in arms:
            shown &= np.array([cv2.pointPolygonTest(poly, (float(x), float(y)), False) < 0 for x, y in px])
        visible = float((shown & inside).mean())
        if visible < 0.1 or inside.mean() < 0.4:
            return None
        k = f.mm * (1 + 1.5 * (visible < 0.4))
        dx, dy = (float(v) for v in rng.uniform(-k, k, 2))
        yaw = (c.yaw + float(rng.uniform(-f.degrees, f.degrees)) + 180 * int(rng.integers(2))) % 180
        score = 0.95 if visible > 0.3 else 0.7
        if not c.face_up:
            return CardSeen(c.x + dx, c.y + dy, yaw, False, score)
        # what a reader makes of one picture is the same every time
        same = seeded(self.seed, c.card, round(c.x), round(c.y), round(visible, 1))
        unread = 0.03 + (0.9 * (0.45 - visible) / 0.35 if visible < 0.45 else 0.0)
        unread = min(max(unread + float(rng.normal(0, 0.01)), 0.01), 0.97)
        rank, suit, sure = c.card[0], c.card[1], 0.985
        if same.random() < f.misread * (1 if visible > 0.6 else 4):
            rank, sure = RANKS[int(same.integers(13))], float(same.uniform(0.4, 0.75))
        return CardSeen(
            c.x + dx,
            c.y + dy,
            yaw,
            True,
            score,
            _logp(rank, RANKS, sure),
            _logp(suit, SUITS, sure),
            unread,
            visible,
        )

    def _stack(
        self, s: StackPose, scene: Scene, arms: list[np.ndarray], zone: Zone, rng: np.random.Generator
    ) -> StackSeen | None:
        if not zone.holds(s.x, s.y, 5):
            return None
        ring = [
            (s.x + r * math.cos(a), s.y + r * math.sin(a)) for r in (5, 16) for a in np.linspace(0, 5.5, 8)
        ]
        top = s.z + 3.4 * len(s.chips)
        px = self.painter.camera.project(np.array([(x, y, top) for x, y in ring])).astype(np.float32)
        shown = np.ones(len(px), bool)
        for poly in arms:
            shown &= np.array([cv2.pointPolygonTest(poly, (float(x), float(y)), False) < 0 for x, y in px])
        if shown.mean() < 0.3:
            return None
        k = self.faults.mm
        dx, dy = (float(v) for v in rng.uniform(-k, k, 2))
        same = seeded(self.seed, s.chips, round(s.x), round(s.y))
        p = 0.94 if shown.mean() > 0.8 and same.random() >= self.faults.chips_unclear else 0.45
        wrong = s.cents + int(s.chips[0])
        p = min(max(p + float(rng.normal(0, 0.02)), 0.1), 0.99)
        return StackSeen(s.x + dx, s.y + dy, 0.9, len(s.chips), s.chips, ((s.cents, p), (wrong, (1 - p) / 2)))


def _logp(which: str, of: str, p: float) -> tuple[float, ...]:
    return tuple(math.log(p if k == which else (1 - p) / (len(of) - 1)) for k in of)


# -- a table for tests

LAYOUT = template(6)
CAMERA = mounted_camera(LAYOUT, 640, 360)
_PAINTER: list[Painter] = []


def painter() -> Painter:
    """One painter for all tests."""
    if not _PAINTER:
        _PAINTER.append(Painter(CAMERA, LAYOUT))
    return _PAINTER[0]


def laid(
    code: str, seat: int, k: int = 0, *, up: bool = True, side: float = 0.0, across: bool = False
) -> CardPose:
    """The k-th card of a seat, 0 the dealer's. side: mm to the left. across: laid sideways."""
    if seat == 0:
        return CardPose(code, up, (45.0, -33.0, 118.0, 191.0, 264.0)[k], 216.0, 90.0, 0.3, k, 0)
    x, y = LAYOUT.at(seat, 128 + 26 * k, side + 14 * k)
    ux, uy = LAYOUT.axis(seat)
    yaw = math.degrees(math.atan2(uy, ux)) + (90 if across else 0)
    return CardPose(code, up, x, y, yaw, 0.3 * (k + 1), k, seat)


def chips(*cents: int, seat: int, inward: float = 0.0, side: float = 0.0) -> StackPose:
    """A stack in, or this far from the middle of, a seat's spot."""
    x, y = LAYOUT.at(seat, inward, side)
    return StackPose(cents, x, y, 0.0, seat, "main")


Change = Callable[[Scene], Scene]


def plus(*things: CardPose | StackPose) -> Change:
    """These things are laid."""
    cards = tuple(c for c in things if isinstance(c, CardPose))
    stacks = tuple(s for s in things if isinstance(s, StackPose))
    return lambda s: replace(s, cards=s.cards + cards, stacks=s.stacks + stacks)


def minus(*things: CardPose | StackPose) -> Change:
    """These things are taken."""
    return lambda s: replace(
        s,
        cards=tuple(c for c in s.cards if c not in things),
        stacks=tuple(k for k in s.stacks if k not in things),
    )


def both(*changes: Change) -> Change:
    """One change after the other, at once."""

    def change(s: Scene) -> Scene:
        for c in changes:
            s = c(s)
        return s

    return change


class Story:
    """A scene that changes under arms; call it with a time."""

    def __init__(self, *things: CardPose | StackPose) -> None:
        self._now = plus(*things)(Scene(0.0))
        self._parts: list[tuple[float, Scene, Callable[[float], tuple[ArmPose, ...]]]] = []
        self.t = 0.0

    def _add(self, seconds: float, arms: Callable[[float], tuple[ArmPose, ...]]) -> None:
        self._parts.append((self.t, self._now, arms))
        self.t += seconds

    def rest(self, seconds: float = 1.2) -> Story:
        """Nothing happens."""
        self._add(seconds, lambda _: ())
        return self

    def hold(self, seconds: float, *arms: ArmPose) -> Story:
        """Arms hold still."""
        self._add(seconds, lambda _: arms)
        return self

    def change(self, change: Change) -> Story:
        """Something is otherwise, from now on."""
        self._now = change(self._now)
        return self

    def reach(
        self,
        who: int,
        to: Point,
        change: Change = lambda s: s,
        stay: float = 0.2,
        then: float = 0.9,
        also: tuple[ArmPose, ...] = (),
    ) -> Story:
        """An arm comes (0 the dealer's, else a seat's), does something there, leaves; then a rest.

        also: arms that are there all the while.
        """
        door = (0.5 * to[0], -140.0) if who == 0 else LAYOUT.at(who, -330.0)

        def arm(x: float, y: float) -> tuple[ArmPose, ...]:
            if who == 0:
                root = (0.5 * to[0], min(-10.0, y - 40))
            else:
                root = LAYOUT.at(who, min(-240.0, LAYOUT.local(who, x, y)[0] - 40))
            return (*also, ArmPose("dealer" if who == 0 else "player", *root, x, y))

        def between(a: Point, b: Point, t0: float) -> Callable[[float], tuple[ArmPose, ...]]:
            def at(t: float) -> tuple[ArmPose, ...]:
                u = min(max((t - t0) / 0.3, 0.0), 1.0)
                return arm(a[0] + (b[0] - a[0]) * u, a[1] + (b[1] - a[1]) * u)

            return at

        self._add(0.3, between(door, to, self.t))
        self.change(change)
        self._add(stay, lambda _: arm(*to))
        self._add(0.3, between(to, door, self.t))
        return self.rest(then)

    def __call__(self, t: float) -> Scene:
        part = next((p for p in reversed(self._parts) if p[0] <= t + 1e-9), self._parts[0])
        return replace(part[1], t=t, arms=part[2](t))


def film(scene_of: Callable[[float], Scene], seconds: float, fps: float = 10.0) -> Iterator[Frame]:
    """Frames of what `scene_of` says."""
    for i in range(int(seconds * fps) + 1):
        yield Frame(i / fps, painter().paint(scene_of(i / fps), i), i)


def watch(
    story: Story, faults: Faults = CLEAR, seed: int = 0, eyes: NoisyEyes | None = None, **kw: object
) -> tuple[list[TableEvent], Watcher]:
    """All events that come of a story, and the watcher."""
    watcher = Watcher(CAMERA, LAYOUT, eyes or NoisyEyes(story, painter(), faults, seed), **kw)  # type: ignore[arg-type]
    events: list[TableEvent] = []
    for frame in film(story, story.t):
        events += watcher.feed(frame)
    return events + watcher.flush(), watcher


def stills(scenes: Sequence[Scene], eyes: NoisyEyes | None = None) -> tuple[list[TableEvent], Watcher]:
    """All events that come of pictures vouched to be at rest, a second apart."""
    watcher = Watcher(CAMERA, LAYOUT, eyes or NoisyEyes(lambda t: scenes[round(t)], painter()))
    events: list[TableEvent] = []
    for i, scene in enumerate(scenes):
        events += watcher.feed(Frame(float(i), painter().paint(scene, i), i, settled=True))
    return events + watcher.flush(), watcher


def brief(events: Iterable[TableEvent]) -> list[str]:
    """Events as short texts: "1 main 5000", "1 As", "0 down", "turn Kd", "clear 1"."""
    return [_brief(e) for e in events]


def _brief(e: TableEvent) -> str:
    match e:
        case Chips():
            hand = f".{e.hand}" if e.hand else ""
            return f"{e.seat}{hand} {e.spot} {e.amount}"
        case CardLaid():
            hand = f".{e.hand}" if e.hand else ""
            what = "down" if e.face == "down" else e.card
            return f"{e.seat}{hand} {what}" + (" across" if e.sideways else "")
        case Turn():
            return f"turn {e.card}"
        case Clear():
            return f"clear {e.seat}" + (f".{e.hand}" if e.hand is not None else "")
        case Gone():
            return f"gone {e.seat}.{e.hand} {e.card}"
        case Move():
            return f"move {e.seat}.{e.hand} to {e.to}"
    return e.type
