"""Poses on pictures with a given calibration: `python -m tests.table.poses_measured SCENES...`.

In: folders with pictures, `calibration.json`, and `layout.json` (the casino's lies in calibration/mountings).
Out: how far the spots lie at most from where the given calibration has them, mm: in the pose from the cards
of the pictures that show most of them, and of several pictures together, with two points of the felt; and in
the pose from felt points that are clicked half a pixel off (the worst of five clickings), also with one of
them 15 px beside. Exit status 1 when more than 5 mm, 2 when a folder is missing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import cv2
import numpy as np

from pitwatch.table.camera import Camera
from pitwatch.table.files import load_camera, load_layout
from pitwatch.table.from_cards import anchored, pose_from_cards, settled
from pitwatch.table.layout import Layout
from pitwatch.table.pose import solve_pose

_MOUNTING = Path(__file__).parents[2] / "calibration/mountings/casino-frames/layout.json"
_MOST_MM = 5.0
_CLICKINGS = 5
_FEWEST = 4  # cards, as the command wants them


def main(argv: list[str] | None = None) -> int:
    """Measure and print; 0 when every pose is within 5 mm."""
    parser = argparse.ArgumentParser(prog="python -m tests.table.poses_measured", description=__doc__)
    parser.add_argument("scenes", nargs="*", type=Path)
    parser.add_argument("--casino", type=Path)
    parser.add_argument("--pictures", type=int, default=2, help="of each folder, those with most cards")
    parser.add_argument("--of", type=int, default=24, help="pictures that are looked at in each folder")
    parser.add_argument("--cards-only", action="store_true", help="leave the clicked points out")
    args = parser.parse_args(argv)
    bad = 0
    for folder in [*args.scenes, *([args.casino] if args.casino else [])]:
        if not (folder / "calibration.json").is_file():
            sys.stdout.write(f"{folder} is not there, or holds no calibration.json: nothing to measure\n")
            return 2
    for folder in [*args.scenes, *([args.casino] if args.casino else [])]:
        camera = load_camera(folder / "calibration.json")
        layout = load_layout(_MOUNTING if folder == args.casino else folder / "layout.json")
        clicked = [] if args.cards_only else from_points(camera, layout)
        for name, said, worst in [*clicked, *from_cards(folder, camera, layout, args.pictures, args.of)]:
            bad += worst > _MOST_MM
            sys.stdout.write(f"{folder.name:14} {name:24} {said}, spots at most {worst:.1f} mm off\n")
            sys.stdout.flush()
    return 1 if bad else 0


def from_points(camera: Camera, layout: Layout) -> list[tuple[str, str, float]]:
    """The pose from clicked felt points, without a lens: what, how, and mm at the worst spot."""
    spots = np.array(layout.spots)
    px = camera.project(spots)
    inside = ((px > 0) & (px < (camera.width, camera.height))).all(axis=1)
    spots = spots[inside]
    line = [layout.at(s, 0.3 * layout.spot_r) for s in layout.seats]
    mm = np.array([*spots, *line, *((x, layout.dealer_row[2]) for x in layout.dealer_row[:2])])
    px = camera.project(mm)
    shown = ((px > 0) & (px < (camera.width, camera.height))).all(axis=1)
    mm, px = mm[shown], px[shown]
    worst = [0.0, 0.0]
    for seed in range(_CLICKINGS):
        clicked = px + np.random.default_rng(seed).normal(0, 0.5, px.shape)
        for k in (0, 1):
            if k:
                clicked[seed % len(clicked)] += (9, -12)
            pairs = [(p.tolist(), m.tolist()) for p, m in zip(clicked, mm, strict=True)]
            found = solve_pose(pairs, camera.width, camera.height).camera
            worst[k] = max(worst[k], off_mm(found, camera, spots))
    n = f"{len(mm)} clicked points"
    return [(n, "all right", worst[0]), (n, "one wrong", worst[1])]


def from_cards(
    folder: Path, camera: Camera, layout: Layout, pictures: int, of: int
) -> list[tuple[str, str, float]]:
    """The pose from cards: what, how, and mm at the worst spot. Empty where no picture shows four."""
    files = sorted(p for p in folder.glob("*.jpg") if "arm" not in p.name)
    images = {p.name: cv2.imread(str(p)) for p in files[:: max(1, len(files) // of)]}
    found = {name: pose_from_cards(image) for name, image in images.items()}
    tilted = {name: len(pose.outlines) for name, pose in found.items() if pose is not None}
    best = sorted((n for n in tilted if tilted[n] >= _FEWEST), key=lambda n: -tilted[n])[:pictures]
    together = pose_from_cards([images[name] for name in tilted]) if tilted else None
    spots = np.array(layout.spots)
    px = camera.project(spots)
    spots = spots[((px > 0) & (px < (camera.width, camera.height))).all(axis=1)]
    ends = np.array([spots[0], spots[-1]])
    out = []
    for name, pose in [*((name, found[name]) for name in best), (f"{len(tilted)} pictures", together)]:
        if pose is None or len(pose.outlines) < _FEWEST:
            continue
        by_cards, _ = anchored(pose.camera, camera.project(ends), ends)
        placed = settled(pose, camera.project(ends), ends)
        said = f"{pose.rms_mm:.2f} mm rms, cards alone {off_mm(by_cards, camera, spots):.1f} mm"
        out.append((f"{len(pose.outlines)} cards of {name}", said, off_mm(placed, camera, spots)))
    return out


def off_mm(found: Camera, true: Camera, places: np.ndarray) -> float:
    """How far apart two cameras see places, mm, at most."""
    return float(np.hypot(*(found.to_table(true.project(places)) - places).T).max())


if __name__ == "__main__":
    raise SystemExit(main())
