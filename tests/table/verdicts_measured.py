"""Whether what `pitwatch check` says agrees with what is read: `python -m tests.table.verdicts_measured`.

In: scenes with truth, and how many of their pictures; each is made smaller step by step, as a camera of fewer
pixels would have taken it. Out: for each height of a card's index, and of a chip, how many cards and stacks
that lie in the open were said, how many of those wrongly, and the verdict. Cards and stacks are read where
the truth puts them, so that reading alone is measured.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections import defaultdict
from pathlib import Path

import cv2
import numpy as np

from pitwatch.chips import CASINO
from pitwatch.table.camera import Camera
from pitwatch.table.files import load_camera, load_layout
from pitwatch.table.resolve import Resolved, resolve
from pitwatch.vision.card_reader import CardReader
from pitwatch.vision.crops import card_crop, card_mask
from pitwatch.vision.eyes import read_standing
from pitwatch.vision.looks import CardSeen
from pitwatch.vision.stack_reader import StackReader
from pitwatch.vision.tracks import Reading
from pitwatch.vision.watcher import WatchOptions

_SHOWS = 0.5  # share of a card that must show


def main(argv: list[str] | None = None) -> int:
    """Read and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.table.verdicts_measured", description=__doc__)
    parser.add_argument("scenes", nargs="+", type=Path)
    parser.add_argument("--pictures", type=int, default=5, help="of each scene")
    parser.add_argument("--scales", type=float, nargs="+", default=[1, 0.8, 0.65, 0.5, 0.4, 0.3, 0.22])
    args = parser.parse_args(argv)
    cards, stacks = CardReader(), StackReader(CASINO)
    said_cards: dict[int, list[str]] = defaultdict(list)
    said_stacks: dict[float, list[str]] = defaultdict(list)
    verdicts: dict[tuple[str, float], set[str]] = defaultdict(set)
    for scene in args.scenes:
        camera, layout = load_camera(scene / "calibration.json"), load_layout(scene / "layout.json")
        frames = [f for f in json.loads((scene / "truth.json").read_text())["frames"] if f["arm"] is None]
        for f in frames[:: max(1, len(frames) // args.pictures)]:
            full = cv2.imread(str(scene / f["file"]))
            for k in args.scales:
                small = scaled(camera, k)
                image = cv2.resize(full, (small.width, small.height), interpolation=cv2.INTER_AREA)
                seats = {r.seat: r for r in resolve(small, layout)}
                for seat, said, text in read_cards(cards, image, small, f["cards"]):
                    if said == "wrong":
                        px = seats[seat].index_px
                        sys.stdout.write(f"{scene.name} {f['file']} x {k}, {px:.1f} px: {text}\n")
                    said_cards[round(seats[seat].index_px)].append(said)
                    verdicts["index", round(seats[seat].index_px)].add(seats[seat].cards)
                for seat, said in read_stacks(stacks, image, small, f["stacks"]):
                    px = layer(seats[seat])
                    said_stacks[px].append(said)
                    verdicts["chip", px].add(str(seats[seat].chips))
    out = sys.stdout.write
    for what, table in (("index", said_cards), ("chip", said_stacks)):
        out(f"{what} px      n  whole  rank only  unread  wrong  verdict\n")
        for px, said in sorted(table.items()):
            n = {w: said.count(w) for w in ("right", "rank", "unread", "wrong")}
            verdict = " / ".join(sorted(verdicts[what, px]))
            counts = f"{len(said):>6} {n['right']:>6} {n['rank']:>10} {n['unread']:>7} {n['wrong']:>6}"
            out(f"{px:>8} {counts}  {verdict}\n")
    return 0


def scaled(camera: Camera, k: float) -> Camera:
    """The camera with k times the pixels across."""
    w, h = round(camera.width * k), round(camera.height * k)
    S = np.array([[w / camera.width, 0, 0], [0, h / camera.height, 0], [0, 0, 1.0]])
    S[:2, 2] = (np.diag(S)[:2] - 1) / 2
    return dataclasses.replace(camera, width=w, height=h, K=S @ camera.K)


def layer(r: Resolved) -> float:
    return round(2 * (r.layer_px or 0)) / 2


def read_cards(
    reader: CardReader, image: np.ndarray, camera: Camera, truth: list[dict]
) -> list[tuple[int, str, str]]:
    """Seat, how each open card came out, and that in words."""
    poses = np.array([(c["x"], c["y"], c["yaw"] % 180) for c in truth]).reshape(-1, 3)
    crops, of = [], []
    for i, c in enumerate(truth):
        if c["face_up"]:
            over = [j for j, o in enumerate(truth) if o["z"] > c["z"]]
            mask = card_mask(*poses[i], poses[over], np.zeros((0, 2)))
            crops.append(np.dstack([card_crop(image, camera, *poses[i]), mask]))
            of.append(c)
    out = []
    for c, r in zip(of, reader.read(np.array(crops)) if crops else [], strict=True):
        if r.visible < _SHOWS:
            continue
        reading = Reading()
        reading.add(CardSeen(0, 0, 0, True, 1, tuple(r.rank_logp), tuple(r.suit_logp), r.unread, r.visible))
        text, _ = reading.text(WatchOptions().card_p)
        if text is None:
            said = "unread"
        elif text == c["card"]:
            said = "right"
        else:
            said = "rank" if text[1] == "?" and text[0] == c["card"][0] else "wrong"
        told = f"{c['card']} read as {text}, {r.visible:.2f} of it shows"
        if c["seat"] is not None:
            out.append((int(c["seat"]), said, told))
    return out


def read_stacks(
    reader: StackReader, image: np.ndarray, camera: Camera, truth: list[dict]
) -> list[tuple[int, str]]:
    """Seat, and how each stack came out."""
    truth = [s for s in truth if s["seat"]]
    places = [(s["x"], s["y"]) for s in truth]
    if not places:
        return []

    _, readings = read_standing(reader, image, camera, places, passes=1)
    out = []
    for s, r in zip(truth, readings, strict=True):
        value, p = r.values[0] if r.values else (None, 0.0)
        if p < WatchOptions().chips_p:
            out.append((int(s["seat"]), "unread"))
        else:
            out.append((int(s["seat"]), "right" if value == s["cents"] else "wrong"))
    return out


if __name__ == "__main__":
    raise SystemExit(main())
