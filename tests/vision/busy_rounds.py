"""False alarms and bumps over simulated rounds: `python -m tests.vision.busy_rounds --rounds 500`.

In: how many rounds, and how large the pictures are. Out: how many looks at a table in play made the guard
stop judging, or correct a camera that stood still (neither should happen); and for every table a bump of half
a degree in the midst of play: how soon it was noticed, whether it was corrected, and how exactly. Exit status
1 when something is wrong, with the seed to see it again. Two looks a second are fewer than a watch takes, and
harder: a doubt is then believed after three of them instead of six.
"""

from __future__ import annotations

import argparse
import sys
import time

import cv2
import numpy as np

from pitwatch.capture.frame import Frame
from pitwatch.sim.spec import SimSpec
from pitwatch.sim.stage import Stage
from pitwatch.vision.guard import Guard

from ..monitor.mishaps import bumped

_BUMP_DEGREES = 0.5
_NOTICED_S = 3.0
_EXACT_MM = 3.0


def main(argv: list[str] | None = None) -> int:
    """Run and print; 0 when nothing is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.vision.busy_rounds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--width", type=int, default=640, help="pixels; the pictures are 16:9")
    parser.add_argument("--fps", type=float, default=2.0)
    parser.add_argument("--at-a-table", type=int, default=5, help="rounds, before the next felt and deck")
    parser.add_argument("--seed", type=int, default=0, help="where to begin")
    parser.add_argument("--no-bump", action="store_true", help="only look for false alarms")
    args = parser.parse_args(argv)
    cv2.setNumThreads(1)
    alarms = nudges = late = wrong = frames = 0
    spent = 0.0
    noticed: list[float] = []
    exact: list[float] = []
    done = 0
    for seed in range(args.seed, args.seed + -(-args.rounds // args.at_a_table)):
        spec = SimSpec(
            rounds=min(args.at_a_table, args.rounds - done),
            seed=seed,
            width=args.width,
            height=args.width * 9 // 16,
            fps=args.fps,
            seats=5 + seed % 3,
            distractions=1.0,
        )
        stage = Stage(spec)
        guard = Guard(stage.camera, stage.layout)
        for frame in stage:
            began = time.thread_time()
            ruling = guard.step(frame.t, frame.image)
            spent += time.thread_time() - began
            frames += 1
            if ruling in ("stop", "nudged"):
                alarms += ruling == "stop"
                nudges += ruling == "nudged"
                sys.stdout.write(f"seed {seed}, {frame.t:.1f} s: {ruling} {guard.state.stand}\n")
        if not args.no_bump:
            said = _bump(stage, seed)
            if said is None or said[0] > _NOTICED_S:
                late += 1
                sys.stdout.write(f"seed {seed}: the bump was not noticed in time\n")
            else:
                noticed.append(said[0])
            if said is not None and said[1] is not None:
                exact.append(said[1])
                if said[1] > _EXACT_MM:
                    wrong += 1
                    sys.stdout.write(f"seed {seed}: corrected to {said[1]:.1f} mm only\n")
        done += spec.rounds
        cpu = time.process_time() / done
        sys.stdout.write(f"{done} rounds, {frames} frames, {cpu:.1f} s of processor time each\n")
        sys.stdout.flush()
    looked = (
        f"{frames} frames of {args.rounds} rounds at {args.width} px, {1000 * spent / frames:.1f} ms a look"
    )
    sys.stdout.write(f"{looked}: {alarms} false alarms, {nudges} needless corrections\n")
    if noticed:
        sys.stdout.write(
            f"{len(noticed) + late} bumps of {_BUMP_DEGREES}°: noticed after {np.mean(noticed):.2f} s "
            f"(at most {max(noticed):.2f}), {late} late; {len(exact)} corrected, "
            f"to {np.mean(exact or [0]):.2f} mm at the worst spot (at most {max(exact or [0]):.2f})\n"
        )
    return 1 if alarms or nudges or late or wrong else 0


def _bump(stage: Stage, seed: int) -> tuple[float, float | None] | None:
    """Seconds until judging stopped, and mm by which the corrected camera is off; None when not noticed."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(0, 1, 3)
    true = bumped(
        stage.camera, *(axis / np.linalg.norm(axis) * _BUMP_DEGREES), shift_mm=tuple(rng.normal(0, 2, 3))
    )
    other = stage.before(true)
    fps = stage.spec.fps
    middle = int(stage.frames * rng.uniform(0.3, 0.7))
    guard = Guard(stage.camera, stage.layout)
    spots = np.array(stage.layout.spots)
    stopped: float | None = None
    for i in range(middle - int(4 * fps), middle + int(6 * fps)):
        frame: Frame = (other if i >= middle else stage).frame(i)
        ruling = guard.step(frame.t, frame.image)
        if ruling in ("stop", "nudged") and i >= middle and stopped is None:
            stopped = (i - middle) / fps
        if ruling in ("resume", "nudged") and stopped is not None:
            off = guard.camera.to_table(true.project(spots)) - spots
            return stopped, float(np.hypot(*off.T).max())
    return None if stopped is None else (stopped, None)


if __name__ == "__main__":
    raise SystemExit(main())
