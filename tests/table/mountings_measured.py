"""Whether `pitwatch check` is right about mountings: `python -m tests.table.mountings_measured`.

In: how many pictures. Out: for a high, an ordinary and a near mounting, and for each place at the table: what
is said to be judged there, and what share of its cards and stacks is then read rightly by the shipped
networks, unread or wrongly; and the same of stacks by their height, for how tall a stack may be promised.
With --pictures-to, `check`'s picture of each mounting. Cards and stacks are read
where they lie, so that reading alone is measured. Exit status 1 when a verdict promises what is not read.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from pathlib import Path

import cv2
import numpy as np

from pitwatch.cards import RANKS
from pitwatch.chips import CASINO
from pitwatch.sim.chipart import chip_art
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import random_design
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.light import Lens, Light, spoil
from pitwatch.sim.render import Renderer
from pitwatch.sim.scene import CardPose, Scene, StackPose
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout, template
from pitwatch.table.resolve import Resolved
from pitwatch.table.verdicts import judge_mounting, verdict_picture
from pitwatch.vision.card_reader import CardReader
from pitwatch.vision.stack_reader import StackReader

from .verdicts_measured import read_cards, read_stacks

LAYOUT = template(6)
# name, pixels across, mm above the felt, mm behind the dealer's edge, degrees across
MOUNTINGS = (
    ("1080p high", 1920, 2500.0, 300.0, 30.0),
    ("2304 px ordinary", 2304, 1400.0, 350.0, 53.0),
    ("3840 px near", 3840, 1100.0, 350.0, 62.0),
)
HEIGHTS = (1, 2, 3, 4, 6, 9)  # chips; every seat gets each in turn
_PROMISED = 0.9  # of what a verdict says is judged, so much is read, or it promised too much
_WRONG = 0.02  # and of what is said, no more is wrong


def hung(width: int, up: float, behind: float, degrees: float) -> Camera:
    """A 16:9 camera above and behind the dealer's edge that looks at the middle of the felt."""
    height = round(width * 9 / 16)
    at, target = np.array([0.0, -behind, up]), np.array([0.0, 330.0, 0.0])
    ahead = (target - at) / np.linalg.norm(target - at)
    right = np.array([1.0, 0.0, 0.0])
    # the picture's upper edge is the players' side
    R = np.vstack([right, np.cross(ahead, right), ahead])
    f = width / 2 / math.tan(math.radians(degrees) / 2)
    K = np.array([[f, 0, (width - 1) / 2], [0, f, (height - 1) / 2], [0, 0, 1]])
    return Camera(width, height, K, R, -R @ at)


def laid(layout: Layout, number: int, rng: np.random.Generator) -> Scene:
    """A card beside another at every place, and a stack on every spot."""
    deck = [r + s for r in RANKS for s in "cdhs"]
    names = [deck[i] for i in rng.permutation(52)]
    cards, stacks = [], []
    for seat in (0, *layout.seats):
        for side in (-45.0, 45.0):
            if seat:
                x, y = layout.at(seat, 0.3 * layout.spot_r, side)
                ux, uy = layout.axis(seat)
                yaw = math.degrees(math.atan2(uy, ux))
            else:
                x0, x1, y = layout.dealer_row
                x, yaw = (x0 + x1) / 2 + side, 90.0
            turned = yaw + float(rng.normal(0, 6))
            cards.append(CardPose(names.pop(), True, x, y, turned, seat=seat, order=len(cards)))
        if seat:
            x, y = (v + float(rng.uniform(-12, 12)) for v in layout.spots[seat - 1])
            chips = sorted(
                rng.choice([100, 500, 2500, 10000], HEIGHTS[(seat + number) % len(HEIGHTS)]), reverse=True
            )
            stacks.append(
                StackPose(tuple(int(c) for c in chips), x, y, seat=seat, look=int(rng.integers(1 << 30)))
            )
    return Scene(0.0, tuple(cards), tuple(stacks))


def main(argv: list[str] | None = None) -> int:
    """Read and print; 0 when every verdict holds."""
    parser = argparse.ArgumentParser(prog="python -m tests.table.mountings_measured", description=__doc__)
    parser.add_argument("--pictures", type=int, default=12, help="of each mounting")
    parser.add_argument("--pictures-to", type=Path, help="folder for what `check` draws")
    args = parser.parse_args(argv)
    cv2.setNumThreads(1)
    broken = 0
    for name, *how in MOUNTINGS:
        camera = hung(*how)
        judged = judge_mounting(camera, LAYOUT)
        cards, stacks, tall, first = read(camera, args.pictures)
        promised: list[str] = []
        sys.stdout.write(f"{name}\n  place    index px  cards said        right  unread  wrong   ")
        sys.stdout.write("chip px  chips said  right  unread  wrong\n")
        for j in judged:
            said = cards[j.resolved.seat]
            line = f"  {j.place:8} {j.resolved.index_px:8.1f}  {j.resolved.reads_cards:16} {shares(said)}"
            held = holds_cards(j.resolved, said)
            if j.resolved.layer_px is not None:
                heaps = stacks[j.resolved.seat]
                line += f"   {j.resolved.layer_px:7.2f}  {j.chips:10} {shares([s for _, s in heaps])}"
                promised += [s for n, s in heaps if n <= j.resolved.usual_chips]
            broken += not held
            sys.stdout.write(line + ("\n" if held else "  promises too much\n"))
        for height, said in sorted(tall.items()):
            sys.stdout.write(f"  stacks of {height:2} chips, {len(said):3}: {shares(said)}\n")
        if promised:
            held = holds(promised, ("right",))
            broken += not held
            sys.stdout.write(f"  stacks promised, {len(promised):3}: {shares(promised)}")
            sys.stdout.write("\n" if held else "  promises too much\n")
        sys.stdout.flush()
        if args.pictures_to is not None:
            args.pictures_to.mkdir(parents=True, exist_ok=True)
            drawn = verdict_picture(first, camera, LAYOUT, judge_mounting(camera, LAYOUT, first))
            cv2.imwrite(str(args.pictures_to / f"check-{name.replace(' ', '-')}.png"), drawn)
    return 1 if broken else 0


Said = dict[int, list[str]]


def read(camera: Camera, pictures: int) -> tuple[Said, dict[int, list[tuple[int, str]]], Said, np.ndarray]:
    """How each card and each stack came out, by seat, and stacks by height; and one of the pictures."""
    cards, stacks = CardReader(), StackReader(CASINO)
    out_cards: Said = defaultdict(list)
    out_stacks: dict[int, list[tuple[int, str]]] = defaultdict(list)
    tall: Said = defaultdict(list)
    first = None
    for seed in range(pictures):
        rng = np.random.default_rng([seed, 41])
        scene = laid(LAYOUT, seed, rng)
        art = draw_felt(LAYOUT, seed), Deck(random_design(rng)), chip_art(CASINO, seed)
        # an even light: exposure and glare are judged apart
        image = spoil(Renderer(camera, *art, Light()).frame(scene), Lens(noise=2.5, jpeg=90), rng)
        first = image if first is None else first
        truth = [
            {"card": c.card, "face_up": True, "x": c.x, "y": c.y, "yaw": c.yaw, "z": c.z, "seat": c.seat}
            for c in scene.cards
        ]
        for seat, said, _ in read_cards(cards, image, camera, truth):
            out_cards[seat].append(said)
        heaps = [
            {"x": s.x, "y": s.y, "seat": s.seat, "cents": sum(s.chips), "chips": s.chips}
            for s in scene.stacks
        ]
        for heap, (seat, said) in zip(heaps, read_stacks(stacks, image, camera, heaps), strict=True):
            out_stacks[seat].append((len(heap["chips"]), said))
            tall[len(heap["chips"])].append(said)
    assert first is not None
    return out_cards, out_stacks, tall, np.asarray(first, np.uint8)


def shares(said: list[str]) -> str:
    """Right, unread (of a card: the suit or both) and wrong, of all."""
    n = max(len(said), 1)
    right, wrong = said.count("right"), said.count("wrong")
    return f"{right / n:6.0%} {(len(said) - right - wrong) / n:7.0%} {wrong / n:6.0%}"


def holds_cards(r: Resolved, said: list[str]) -> bool:
    """Whether what is said to be judged of cards is read."""
    good = {"ranks and suits": ("right",), "ranks": ("right", "rank"), "none": ()}[r.reads_cards]
    return not good or holds(said, good)


def holds(said: list[str], good: tuple[str, ...]) -> bool:
    n = max(len(said), 1)
    return sum(s in good for s in said) >= _PROMISED * n and said.count("wrong") <= max(1, _WRONG * n)


if __name__ == "__main__":
    raise SystemExit(main())
