"""Training samples: random pieces of random tables, rendered directly, with what is to be learned from them.

Out: `Sample`s, one zone each: the native picture, its camera, and the truth of every card, stack and arm
with the share of it that shows. Lengths mm in the table frame.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.cards import CARDS
from pitwatch.chips import CASINO
from pitwatch.sim.chipart import ChipArt, chip_art, random_chip_design, random_edge
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import random_design
from pitwatch.sim.felt import Felt
from pitwatch.sim.light import random_lens, random_light, spoil
from pitwatch.sim.render import IdMap, Renderer, arm_outline, card_corners, replace_region
from pitwatch.sim.scene import ArmPose, CardPose, Scene, StackPose
from pitwatch.sim.stackform import PITCH
from pitwatch.sim.suits import prints_suits
from pitwatch.sim.tops import random_felt
from pitwatch.sim.typefaces import every_typeface
from pitwatch.table.camera import Camera
from pitwatch.table.layout import template
from pitwatch.vision.looks import Zone

__all__ = ["CardTruth", "Sample", "Sampler", "StackTruth"]

Points = NDArray[np.float64]


@dataclass(frozen=True)
class CardTruth:
    """A card, the share of it that shows (0 to 1), and whether enough shows to name it."""

    pose: CardPose
    visible: float
    readable: bool


@dataclass(frozen=True)
class StackTruth:
    """A stack and the share of it that shows (0 to 1)."""

    pose: StackPose
    visible: float


_ASIDE_MM = 20.0
_IN_ORDER = 0.5  # share of stacks of any kind that are of one colour or sorted


@dataclass(frozen=True)
class Sample:
    """image: (h, w, 3) uint8 BGR as `camera` took it. arms: outlines (N, 2) on the felt, mm."""

    image: NDArray[np.uint8]
    camera: Camera
    zone: Zone
    scene: Scene
    cards: tuple[CardTruth, ...]
    stacks: tuple[StackTruth, ...]
    arms: tuple[Points, ...]


def random_camera(
    rng: np.random.Generator, x: float, y: float, sharpest: float = 2.5, steepest: float = 4.0
) -> Camera:
    """A camera above the players or the dealer that looks at (x, y) with 0.75 to `sharpest` px/mm, from
    `steepest` to 56 degrees off the vertical."""
    tilt = np.radians(rng.uniform(steepest, 56))
    azimuth = rng.uniform(0, 2 * np.pi)
    if rng.random() < 0.5:
        azimuth = rng.choice([-np.pi / 2, np.pi / 2]) + rng.normal(0, 0.5)
    far = rng.uniform(900, 2400)
    scale = (
        float(np.exp(rng.uniform(np.log(0.75), np.log(sharpest))))
        if rng.random() < 0.45
        else rng.uniform(0.78, 1.3)
    )
    eye = np.array([x, y, 0.0]) + far * np.array(
        [np.sin(tilt) * np.cos(azimuth), np.sin(tilt) * np.sin(azimuth), np.cos(tilt)]
    )
    forward = np.array([x, y, 0.0]) - eye
    forward /= np.linalg.norm(forward)
    side = np.cross(forward, [0, 0, 1.0])
    side /= np.linalg.norm(side)
    down = np.cross(forward, side)
    roll = rng.normal(0, 0.12) if rng.random() < 0.7 else rng.uniform(-np.pi, np.pi)
    right = np.cos(roll) * side + np.sin(roll) * down
    below = -np.sin(roll) * side + np.cos(roll) * down
    R = np.vstack([right, below, forward])
    f = scale * far / np.sqrt(np.cos(tilt))
    K = np.array([[f, 0, 0.0], [0, f, 0.0], [0, 0, 1.0]])
    return Camera(1, 1, K, R, -R @ eye)


def _is_held_out(font: str) -> bool:
    """Every seventh type face, by its name: the same whatever else is installed."""
    return zlib.crc32(Path(font).name.encode()) % 7 == 3


class Sampler:
    """Random samples without end, the same for the same seed.

    held_out: draw with type faces and seeds that training never uses. size: edge of the zones, mm; small
    ones give crops for the readers at less cost. usual: share of chip sets that look like most casinos', and
    unless `wagers` says otherwise of stacks that are laid as wagers are (few chips, sorted), the others being
    of any kind. deck, chips: one house's own, of which alone is drawn then. sharpest: px/mm of the nearest
    camera. backs: share of the cards that lie face down. photographs: how often each drawn card or stack is
    photographed, through other lenses each time: drawing costs more than photographing.
    """

    def __init__(
        self,
        seed: int,
        held_out: bool = False,
        size: float = 320.0,
        usual: float = 0.0,
        *,
        deck: Deck | None = None,
        chips: ChipArt | None = None,
        sharpest: float = 2.5,
        backs: float = 0.12,
        photographs: int = 1,
        wagers: float | None = None,
    ) -> None:
        self.size = size
        self.photographs = photographs
        self.usual = usual
        self.wagers = usual if wagers is None else wagers
        self.sharpest = sharpest
        self.backs = backs
        self._own_deck, self._own_chips = deck, chips
        self.rng = np.random.default_rng([seed, int(held_out)])
        fonts = every_typeface()
        self.fonts = tuple(f for f in fonts if _is_held_out(f) == held_out)
        self.suit_fonts = tuple(f for f in self.fonts if prints_suits(f))
        self.layout = template(6)
        self._decks = [self._deck() for _ in range(7)]
        self._felts = [self._felt() for _ in range(4)]
        self._chips = [self._chip_art() for _ in range(12)]
        self._drawn = 0
        self._again: list[Sample] = []
        self._clean: dict[str, tuple[Sample, int]] = {}

    def _deck(self) -> Deck:
        if self._own_deck is not None:
            return self._own_deck
        return Deck(random_design(self.rng, self.fonts, self.suit_fonts))

    def _felt(self) -> Felt:
        return random_felt(self.layout, self.rng, self.fonts)

    def _chip_art(self) -> ChipArt:
        if self._own_chips is not None:
            return self._own_chips
        if self.rng.random() < self.usual:
            return chip_art(CASINO, int(self.rng.integers(1 << 30)), self.rng.normal(0, 1, 64))
        shared: dict[str, object] = {}
        return ChipArt(
            {d.cents: random_chip_design(d, self.rng, self.fonts, shared) for d in CASINO.denominations},
            random_edge(self.rng),
        )

    def next(self) -> Sample:
        """The next sample. Each scene gives two or more, of zones a little apart and through other lenses."""
        rng = self.rng
        if self._again:
            first = self._again.pop()
            dx, dy = (float(v) for v in rng.uniform(-_ASIDE_MM, _ASIDE_MM, 2))
            aside = replace(first.zone, x=first.zone.x + dx, y=first.zone.y + dy)
            return replace(self._taken(first), zone=aside)
        self._renew()
        zone = Zone("train", float(rng.uniform(-620, 620)), float(rng.uniform(100, 720)), self.size)
        # zones are looked at with 0.8 px/mm: what is sharper costs time and shows nothing more
        whole = random_camera(rng, zone.x, zone.y, 1.4)
        h = zone.size / 2 + 4 + _ASIDE_MM
        square = np.array(
            [[zone.x + sx * h, zone.y + sy * h, z] for sx in (-1, 1) for sy in (-1, 1) for z in (0.0, 30.0)]
        )
        drawn = self._render(whole, zone, self._scene(zone), square)
        self._again = [drawn] * max(1, self.photographs - 1)
        return self._taken(drawn)

    def next_card(self) -> Sample:
        """A sample whose picture holds little more than one card of a hand, the first in `cards`."""
        return self._photographed("card", self._card)

    def _card(self) -> Sample:
        rng = self.rng
        self._renew()
        zone = Zone("train", float(rng.uniform(-620, 620)), float(rng.uniform(100, 720)), 110.0)
        scene = self._scene(zone)
        while not any(c.face_up for c in scene.cards):
            scene = self._scene(zone)
        faces = [i for i, c in enumerate(scene.cards) if c.face_up]
        target = scene.cards[faces[int(rng.integers(len(faces)))]]
        scene = replace(scene, cards=(target, *(c for c in scene.cards if c is not target)))
        card = card_corners(replace(target, lift=0.0))
        centre = card.mean(axis=0)
        camera = random_camera(rng, target.x, target.y, self.sharpest)
        return self._render(camera, zone, scene, centre + (card - centre) * 1.2, target=True)

    def next_stack(self) -> Sample:
        """A sample whose picture holds little more than one stack, the first in `stacks`."""
        return self._photographed("stack", self._stack_alone)

    def _photographed(self, kind: str, draw: Callable[[], Sample]) -> Sample:
        """One of several photographs of what `draw` gives, through other lenses."""
        clean, left = self._clean.get(kind, (None, 0))
        if clean is None or left == 0:
            clean, left = draw(), self.photographs
        self._clean[kind] = clean, left - 1
        return self._taken(clean)

    def _stack_alone(self) -> Sample:
        rng = self.rng
        self._renew()
        zone = Zone("train", float(rng.uniform(-620, 620)), float(rng.uniform(100, 720)), 130.0)
        scene = self._scene(zone)
        while not scene.stacks:
            scene = self._scene(zone)
        if rng.random() < 0.6:
            scene = replace(scene, cards=())  # wagers stand on the felt, now and then beside or on a card
        target = scene.stacks[0]
        box = _column(target.x, target.y, len(target.chips) * PITCH + 10)
        # seen from right above, a stack shows its top chip and nothing else
        camera = random_camera(rng, target.x, target.y, self.sharpest, 15.0)
        return self._render(camera, zone, scene, box, target=True)

    def next_blank(self) -> tuple[Sample, float, float]:
        """A sample around a place (x, y) mm on which no stack stands, but print, a card or an arm may lie."""
        rng = self.rng
        self._renew()
        zone = Zone("train", float(rng.uniform(-620, 620)), float(rng.uniform(100, 720)), 130.0)
        x, y = zone.x + float(rng.uniform(-30, 30)), zone.y + float(rng.uniform(-30, 30))
        scene = self._scene(zone)
        if rng.random() < 0.5:
            scene = replace(scene, cards=())
        scene = replace(scene, stacks=tuple(s for s in scene.stacks if np.hypot(s.x - x, s.y - y) > 32))
        camera = random_camera(rng, x, y)
        return self._taken(self._render(camera, zone, scene, _column(x, y, 15.0), target=True)), x, y

    def _renew(self) -> None:
        """New decks, felts and chips now and then: designs without end at little cost."""
        rng = self.rng
        self._drawn += 1
        each = 1 if self.size > 250 else 3
        if self._drawn % (250 * each) == 0:
            self._decks[int(rng.integers(len(self._decks)))] = self._deck()
        if self._drawn % (250 * each) == 0:
            self._felts[int(rng.integers(len(self._felts)))] = self._felt()
        if self._drawn % (60 * each) == 0:
            self._chips[int(rng.integers(len(self._chips)))] = self._chip_art()

    def _render(
        self, whole: Camera, zone: Zone, scene: Scene, extent_mm: Points, target: bool = False
    ) -> Sample:
        """Draw what `extent_mm` (N, 3) reaches of the picture, clean; with `target` only the first card's
        and the first stack's truth is worked out."""
        rng = self.rng
        px = whole.project(extent_mm)
        x0, y0 = np.floor(px.min(axis=0)).astype(int) - 3
        x1, y1 = np.ceil(px.max(axis=0)).astype(int) + 3
        camera = replace_region(whole, (int(x0), int(y0), int(x1 - x0), int(y1 - y0)))
        deck = self._decks[int(rng.integers(len(self._decks)))]
        art = self._chips[int(rng.integers(len(self._chips)))]
        light = random_light(rng)
        light = replace(light, bright_x=zone.x + light.bright_x, bright_y=zone.y + light.bright_y - 350)
        renderer = Renderer(camera, self._felts[int(rng.integers(len(self._felts)))], deck, art, light)
        return self._truth(renderer.frame(scene), camera, zone, scene, renderer, target)

    def _taken(self, clean: Sample) -> Sample:
        return replace(clean, image=self._photograph(clean.image))

    def _photograph(self, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The picture with a lamp's glare, as some lens, sensor and encoder give it."""
        return spoil(_glare(image, self.rng), random_lens(self.rng), self.rng)

    # ------------------------------------------------------------------ what lies there

    def _scene(self, zone: Zone) -> Scene:
        rng = self.rng
        cards: list[CardPose] = []
        stacks: list[StackPose] = []
        busy = rng.random()
        if busy > 0.06 or zone.size < 250:
            for _ in range(int(rng.choice([0, 1, 1, 2, 2, 3] if zone.size > 250 else [1, 1, 1, 2]))):
                self._hand(zone, cards)
            for _ in range(int(rng.choice([0, 1, 1, 2, 3, 5] if zone.size > 250 else [0, 0, 1, 1, 2]))):
                self._stack(zone, stacks)
        arms = tuple(
            self._arm(zone)
            for _ in range(
                int(rng.choice([0, 1, 2], p=[0.68, 0.27, 0.05] if zone.size > 250 else [0.85, 0.15, 0.0]))
            )
        )
        return Scene(0.0, tuple(cards), tuple(stacks), arms)

    def _hand(self, zone: Zone, cards: list[CardPose]) -> None:
        rng = self.rng
        u = rng.uniform
        reach = 0.47 if zone.size > 250 else 0.3
        x, y = zone.x + u(-reach, reach) * zone.size, zone.y + u(-reach, reach) * zone.size
        yaw = u(0, 360)
        n = int(rng.choice([1, 2, 2, 3, 3, 4, 5, 6]))
        style = rng.random()
        a = np.radians(yaw)
        up, right = np.array([np.cos(a), np.sin(a)]), np.array([np.sin(a), -np.cos(a)])
        if style < 0.5:
            step = -up * u(14, 34) + right * u(4, 22) * rng.choice(
                [-1, 1, 1]
            )  # a dealer's fan: each index shows
        elif style < 0.68:
            step = right * u(48, 86) * rng.choice([-1, 1]) + up * u(-8, 8)  # a row
        elif style < 0.86:
            step = up * u(-60, 60) + right * u(-55, 55)
        else:
            step = up * u(-16, 16) + right * u(-14, 14)  # nearly squared
        thrown = 25.0 if rng.random() < 0.15 else 4.0  # degrees: laid by a dealer, or thrown in
        down = rng.random() < self.backs
        for i in range(n):
            sideways = i >= 2 and i == n - 1 and rng.random() < 0.15
            order = len(cards)
            cards.append(
                CardPose(
                    card=CARDS[int(rng.integers(52))],
                    face_up=not (down and rng.random() < 0.7) and rng.random() > self.backs / 2,
                    x=float(x + u(-3, 3)),
                    y=float(y + u(-3, 3)),
                    yaw=float(yaw + rng.normal(0, thrown) + (90 if sideways else 0)),
                    z=0.3 * (i + 1) + (float(u(0, 3)) if rng.random() < 0.15 else 0.0),
                    order=order,
                )
            )
            x, y = x + step[0], y + step[1]

    def _stack(self, zone: Zone, stacks: list[StackPose]) -> None:
        rng = self.rng
        u = rng.uniform
        cents = sorted((self._own_chips or self._chips[0]).designs)
        if stacks and rng.random() < 0.35:
            # a payout or a double beside a wager, touching or nearly
            a, near = u(0, 2 * np.pi), stacks[int(rng.integers(len(stacks)))]
            x, y = near.x + np.cos(a) * u(39.5, 50), near.y + np.sin(a) * u(39.5, 50)
        else:
            x, y = zone.x + u(-0.48, 0.48) * zone.size, zone.y + u(-0.48, 0.48) * zone.size
        if any(np.hypot(s.x - x, s.y - y) < 39.3 for s in stacks):
            return
        n = int(rng.choice([1, 2, 3, 4, 5])) if rng.random() < 0.55 else int(rng.integers(1, 26))
        style, most = rng.random(), len(cents)
        if rng.random() < self.wagers:
            # a wager as people lay it: few chips, the dearest at the bottom
            n = int(rng.choice([1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 8, 10]))
            style, most = style * _IN_ORDER, min(most, 3)
        if style < _IN_ORDER / 2:
            chips = [int(rng.choice(cents))] * n
        elif style < _IN_ORDER:
            kinds = rng.choice(cents, size=int(rng.integers(min(2, most), most + 1)), replace=False)
            chips = sorted((int(c) for c in rng.choice(kinds, size=n)), reverse=True)
        else:
            chips = [int(c) for c in rng.choice(cents, size=n)]
        stacks.append(StackPose(tuple(chips), float(x), float(y), look=int(rng.integers(1 << 30))))

    def _arm(self, zone: Zone) -> ArmPose:
        rng = self.rng
        x, y = zone.x + rng.uniform(-0.6, 0.6) * zone.size, zone.y + rng.uniform(-0.6, 0.6) * zone.size
        a = rng.uniform(0, 2 * np.pi)
        far = rng.uniform(250, 600)
        return ArmPose(
            "dealer",
            float(x + far * np.cos(a)),
            float(y + far * np.sin(a)),
            float(x),
            float(y),
            float(rng.uniform(20, 90)),
            int(rng.integers(1 << 30)),
        )

    # ------------------------------------------------------------------ truth

    def _truth(
        self,
        image: NDArray[np.uint8],
        camera: Camera,
        zone: Zone,
        scene: Scene,
        renderer: Renderer,
        target: bool,
    ) -> Sample:
        ids, d = renderer.ids(scene, 0.5 if not target else 1.0), renderer.deck.design
        tall = (
            (d.index_y + d.index_height + d.index_gap + d.index_suit)
            if not d.beside
            else d.index_y + d.index_height
        )
        wide = 2 * d.index_x if not d.beside else 2 * d.index_x + d.index_suit
        cards = []
        for i, card in enumerate(scene.cards[:1] if target else scene.cards):
            corners = [(1.5, wide, 2.0, tall), (63 - wide, 61.5, 88 - tall, 86.0)]
            if d.four_index:
                corners += [(63 - wide, 61.5, 2.0, tall), (1.5, wide, 88 - tall, 86.0)]
            points = np.vstack([_grid(3, 60, 3, 85, 8, 10), *(_grid(*c, 4, 6) for c in corners)])
            seen = _seen(ids, camera, card, points) == 1 + i
            seen, shows = seen[:80], seen[80:].reshape(-1, 24).mean(axis=1)
            rank = card.card[0]
            # without its index a card is named only by pips that can be counted
            readable = max(shows) > 0.85 or (seen.mean() > 0.8 and rank not in "JQK")
            cards.append(CardTruth(card, float(seen.mean()), bool(readable)))
        stacks = []
        n = 1 + len(scene.cards)
        for j, stack in enumerate(scene.stacks[:1] if target else scene.stacks):
            area = float(cv2.contourArea(renderer.stack_hull(stack).astype(np.float32))) * ids.scale**2
            stacks.append(
                StackTruth(stack, min(1.0, float(np.count_nonzero(ids.image == n + j)) / max(area, 1.0)))
            )
        arms = []
        for arm in () if target else scene.arms:
            px = np.vstack([camera.project(o) for _, o in arm_outline(arm)])
            arms.append(camera.to_table(cv2.convexHull(px.astype(np.float32)).reshape(-1, 2)))
        return Sample(image, camera, zone, scene, tuple(cards), tuple(stacks), tuple(arms))


def _column(x: float, y: float, tall: float) -> Points:
    """Corners (8, 3) of the room that a stack `tall` mm high takes, with some felt around."""
    return np.array([[x + sx * 30, y + sy * 30, z] for sx in (-1, 1) for sy in (-1, 1) for z in (0.0, tall)])


def _grid(x0: float, x1: float, y0: float, y1: float, nx: int, ny: int) -> Points:
    """Points (N, 2) on a card, mm from its upper left corner."""
    gx, gy = np.meshgrid(np.linspace(x0, x1, nx), np.linspace(y0, y1, ny))
    return np.column_stack([gx.ravel(), gy.ravel()])


def _seen(ids: IdMap, camera: Camera, card: CardPose, points: Points) -> NDArray[np.int32]:
    c = card_corners(card)
    origin, along, below = c[0], (c[1] - c[0]) / 63, (c[3] - c[0]) / 88
    return ids.at(camera.project(origin + points[:, :1] * along + points[:, 1:] * below))


def _glare(image: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Now and then a lamp's reflection, a broad shadow, or both."""
    if rng.random() > 0.35:
        return image
    h, w = image.shape[:2]
    mask = np.zeros((h // 8 + 1, w // 8 + 1), np.float32)
    centre = (int(rng.integers(mask.shape[1])), int(rng.integers(mask.shape[0])))
    axes = (int(rng.integers(3, mask.shape[1])), int(rng.integers(3, mask.shape[0])))
    cv2.ellipse(mask, centre, axes, float(rng.uniform(0, 180)), 0, 360, 1.0, -1)
    mask = cv2.GaussianBlur(mask, (0, 0), float(rng.uniform(2, 12)))
    mask = cv2.resize(mask, (w, h), interpolation=cv2.INTER_LINEAR)[..., None]
    if rng.random() < 0.5:
        out = image * (1 - mask * rng.uniform(0.2, 0.6))
    else:
        out = image + mask * rng.uniform(20, 90)
    return np.clip(out, 0, 255).astype(np.uint8)
