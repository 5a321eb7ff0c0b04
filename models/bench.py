"""`make bench`: what each stage costs on this machine, as milliseconds and as ratios within one run.

Needs nothing but the shipped weights and the simulated table.
"""

from __future__ import annotations

import argparse
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
    parser.add_argument("--seconds", type=float, default=2.0, help="for each stage")
    args = parser.parse_args()
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
        ("one look at a zone, everything", _cost(lambda: eyes.look(frame, zone), args.seconds)),
        ("- the zone's picture from the frame", _cost(lambda: zone_picture(frame.image, maps), args.seconds)),
        ("- detector", _cost(lambda: eyes._detector.boxes(picture), args.seconds)),
        ("- card reader, a card", _cost(lambda: eyes._cards.read(crop[None]), args.seconds)),
        ("- stack reader, a stack", _cost(lambda: eyes._stacks.read(strip[None], scales), args.seconds)),
        ("draw a whole zone for training", _cost(sampler.next, args.seconds)),
        ("draw a card's crop for training", _cost(small.next_card, args.seconds)),
    ]
    table = Table("stage", "ms", "looks at a zone")
    for name, ms in rows:
        table.add_row(name, f"{ms:.2f}", f"{ms / rows[0][1]:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
