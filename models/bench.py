"""`make bench`: what each stage costs on this machine, as milliseconds and as ratios within one run; then
the rules engine's returns beside the published ones, random rounds with and without mistakes, and rounds/s.

Needs nothing but the shipped weights, the simulated table and the tests' players.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import cv2
import numpy as np
from rich.console import Console
from rich.table import Table

from pitwatch.capture.frame import Frame
from pitwatch.sim.samples import Sampler
from pitwatch.sim.spec import SimSpec
from pitwatch.sim.stage import Stage
from pitwatch.vision.crops import card_crop, stack_strip, zone_maps, zone_picture
from pitwatch.vision.eyes import Eyes


def _cost(work: Callable[[], object], seconds: float) -> float:
    """Median milliseconds of one call."""
    work()
    spent: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(spent) < 3:
        t = time.perf_counter()
        work()
        spent.append((time.perf_counter() - t) * 1e3)
    return float(np.median(spent))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("seeing", "rules"), help="leave the other out")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each stage of seeing")
    parser.add_argument("--rounds", type=int, default=5_000_000, help="for each game of the rules")
    parser.add_argument("--random", type=int, default=200_000, help="random legal rounds, audited")
    args = parser.parse_args()
    if args.only != "rules":
        _seeing(args.seconds)
    if args.only != "seeing":
        sys.exit(_rules(args.rounds, args.random))


def _rules(rounds: int, random: int) -> int:
    """Play against the published returns, then audit random rounds; 0 when both come out right."""
    from tests.game.long_run import main as long_run

    from pitwatch.rules.simulate import game_rules, simulate
    from pitwatch.rules.simulate import main as play

    began = time.process_time()
    simulate(game_rules(6, "stand"), 200_000)
    print(f"basic strategy: {200_000 / (time.process_time() - began):,.0f} rounds a second of processor time")
    wrong = play(["--rounds", str(rounds)])
    tenth = str(random // 10)
    return wrong | long_run(["--rounds", str(random), "--mutants", tenth, "--blanked", tenth])


def _seeing(seconds: float) -> None:
    cv2.setNumThreads(1)
    stage = Stage(SimSpec.parse("sim:rounds=1,seed=1"))
    frames = [f for f, _ in zip(stage, range(220), strict=False)]
    frame = Frame(0.0, frames[-1].image, 0)
    eyes = Eyes(stage.camera)
    zone = stage.layout.zones()[0]
    maps = zone_maps(stage.camera, zone)
    picture = zone_picture(frame.image, maps)
    crop = np.dstack(
        [card_crop(frame.image, stage.camera, zone.x, zone.y, 20.0), np.zeros((160, 112), np.uint8)]
    )
    strip = stack_strip(frame.image, stage.camera, zone.x, zone.y)
    scales = np.array([[1.5, 1.0]], np.float32)
    sampler = Sampler(1)
    small = Sampler(2, size=110.0)
    rows = [
        ("one look at a zone, everything", _cost(lambda: eyes.look(frame, zone), seconds)),
        ("- the zone's picture from the frame", _cost(lambda: zone_picture(frame.image, maps), seconds)),
        ("- detector", _cost(lambda: eyes._detector.boxes(picture), seconds)),
        ("- card reader, a card", _cost(lambda: eyes._cards.read(crop[None]), seconds)),
        ("- stack reader, a stack", _cost(lambda: eyes._stacks.read(strip[None], scales), seconds)),
        ("draw a whole zone for training", _cost(sampler.next, seconds)),
        ("draw a card's crop for training", _cost(small.next_card, seconds)),
    ]
    table = Table("stage", "ms", "looks at a zone")
    for name, ms in rows:
        table.add_row(name, f"{ms:.2f}", f"{ms / rows[0][1]:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
