"""Poses on pictures with a given calibration: `python -m tests.table.poses_measured SCENES...`.

In: folders with pictures, `calibration.json`, and `layout.json` (the casino's lies in calibration/mountings).
Out: for each picture, how far the spots lie from where the given calibration has them, mm: in the pose from
the cards alone, anchored at two points of the felt, and in the pose from felt points that are clicked half a
pixel off (the worst of five clickings), also with one of them 15 px beside. Exit status 1 when more than
5 mm.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import cv2
import numpy as np

from pitwatch.table.camera import Camera
from pitwatch.table.files import load_camera, load_layout
from pitwatch.table.from_cards import anchored, guessed_scale, pose_from_cards
from pitwatch.table.layout import Layout
from pitwatch.table.pose import solve_pose

_MOUNTING = Path(__file__).parents[2] / "calibration/mountings/casino-frames/layout.json"
_MOST_MM = 5.0
_CLICKINGS = 5


def main(argv: list[str] | None = None) -> int:
    """Measure and print; 0 when every pose is within 5 mm."""
    parser = argparse.ArgumentParser(prog="python -m tests.table.poses_measured", description=__doc__)
    parser.add_argument("scenes", nargs="*", type=Path)
    parser.add_argument("--casino", type=Path)
    parser.add_argument("--pictures", type=int, default=3, help="of each folder, those with most cards")
    args = parser.parse_args(argv)
    bad = 0
    for folder in [*args.scenes, *([args.casino] if args.casino else [])]:
        camera = load_camera(folder / "calibration.json")
        layout = load_layout(_MOUNTING if folder == args.casino else folder / "layout.json")
        for name, said, worst in [
            *from_points(camera, layout),
            *from_cards(folder, camera, layout, args.pictures),
        ]:
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


def from_cards(folder: Path, camera: Camera, layout: Layout, pictures: int) -> list[tuple[str, str, float]]:
    """The pose from the cards of the pictures that show most: what, how, and mm at the worst spot."""
    found = []
    files = sorted(p for p in folder.glob("*.jpg") if "arm" not in p.name)
    # the end of a round shows most cards; a handful is looked at
    for file in files[len(files) // 2 :: max(1, len(files) // (4 * pictures))]:
        image = cv2.imread(str(file))
        pose = pose_from_cards(image, guessed_scale(image))
        if pose is not None and len(pose.outlines) >= 4:
            found.append((len(pose.outlines), file.name, pose.camera, pose.rms_mm))
    found.sort(key=lambda f: -f[0])
    spots = np.array(layout.spots)
    px = camera.project(spots)
    spots = spots[((px > 0) & (px < (camera.width, camera.height))).all(axis=1)]
    ends = np.array([spots[0], spots[-1]])
    out = []
    for n, name, pose_camera, rms in found[:pictures]:
        placed, _ = anchored(pose_camera, camera.project(ends), ends)
        out.append((f"{n} cards of {name}", f"{rms:.2f} mm rms", off_mm(placed, camera, spots)))
    return out


def off_mm(found: Camera, true: Camera, places: np.ndarray) -> float:
    """How far apart two cameras see places, mm, at most."""
    return float(np.hypot(*(found.to_table(true.project(places)) - places).T).max())


if __name__ == "__main__":
    raise SystemExit(main())
