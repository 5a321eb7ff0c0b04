"""The long run: `python -m tests.game.long_run` plays random houses for as many rounds as asked.

In: how many rounds. Out: false findings over legal rounds (there should be none), planted mistakes found by
kind, findings made false by blanking (none), rounds a second; exit status 1 when something is wrong, with the
seed to play it again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from random import Random

from .houses import KINDS
from .proofs import audited, blanked, faults_of, found, played

LENGTH = 20
"""Rounds under one house."""


def legal(rounds: int, first: int) -> Iterator[tuple[int, int, str]]:
    """Seeds, rounds played, and what was found in them though nothing was wrong."""
    for seed in range(first, first + (rounds + LENGTH - 1) // LENGTH):
        length = min(LENGTH, rounds - (seed - first) * LENGTH)
        got = found(audited(played(seed, rounds=length))[1])
        yield seed, length, str(got) if got else ""


def main(argv: list[str] | None = None) -> int:
    """Run and print; 0 when nothing is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.game.long_run", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200_000, help="legal rounds")
    parser.add_argument("--mutants", type=int, default=20_000, help="rounds with one mistake planted")
    parser.add_argument("--blanked", type=int, default=20_000, help="rounds with cards and amounts unread")
    parser.add_argument("--seed", type=int, default=0, help="where to begin")
    args = parser.parse_args(argv)
    say, wrong = sys.stdout.write, 0

    began, rounds, false = time.process_time(), 0, 0
    for seed, length, what in legal(args.rounds, args.seed):
        rounds += length
        if what:
            false += 1
            say(f"seed {seed}, {length} rounds: {what}\n")
    speed = rounds / max(time.process_time() - began, 1e-9)
    say(f"{rounds} legal rounds: {false} false findings, {speed:.0f} rounds a second of processor time\n")

    planted: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    bad = 0
    for seed in range(args.seed, args.seed + args.mutants):
        kind = KINDS[seed % len(KINDS)]
        play = played(seed, kind)
        said = audited(play)[1]
        if fault := faults_of(play, said):
            bad += 1
            say(f"seed {seed}, {kind}: {fault}\n")
        if play.planted and not play.blind:
            planted[kind] += 1
            hits[kind] += found(said) == [play.planted]
    total = sum(planted.values())
    say(f"{args.mutants} rounds for one mistake: {total} planted in full sight, {sum(hits.values())} found")
    say(f" exactly and alone; {bad} wrong\n")
    for kind in KINDS if total >= 1000 else ():
        say(f"  {kind:24} {hits[kind]:5} of {planted[kind]:5}\n")

    lies, kept, all_kept = 0, 0, 0
    for seed in range(args.seed, args.seed + args.blanked):
        kind = ("", *KINDS)[seed % (len(KINDS) + 1)]
        play = played(seed, kind)
        full = set(found(audited(play)[1]))
        dim = set(found(audited(play, blanked(play.events, Random(seed), (0.03, 0.1, 0.3)[seed % 3]))[1]))
        kept += len(dim & full)
        all_kept += len(full)
        if dim - full:
            lies += 1
            say(f"seed {seed}, {kind or 'legal'}, blanked: {sorted(dim - full)}\n")
    say(f"{args.blanked} rounds blanked: {lies} findings made false, {kept} of {all_kept} still found\n")
    wrong = false + bad + lies
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
