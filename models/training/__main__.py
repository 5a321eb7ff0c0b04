"""`make train`: draw the pictures, train the three networks, export them; stopped, it goes on later."""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from pitwatch.errors import UserError

_ROOT = Path(__file__).resolve().parents[2]
_CHECKPOINTS = _ROOT / "models/checkpoints"
# shards of each kind at scale 1: (samples a shard, shards to learn from, shards held out)
_SHARDS = {"zones": (500, 12, 1), "cards": (4000, 20, 1), "strips": (3000, 10, 1)}


def main() -> None:
    """Read the options and run the steps."""
    parser = argparse.ArgumentParser(prog="python -m models.training", description=__doc__)
    parser.add_argument(
        "--only",
        choices=["data", "detector", "cards", "strips", "export", "report", "choose"],
        help="one step instead of all",
    )
    parser.add_argument(
        "--scale", type=float, default=1.0, help="share of the pictures and of the time; 0.01 for a trial"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=_ROOT / "models/cache", help="training pictures")
    parser.add_argument("--runs", type=Path, default=_ROOT / "runs", help="checkpoints and curves")
    parser.add_argument(
        "--weights", type=Path, default=_ROOT / "models/weights", help="ONNX files and manifest"
    )
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, help="processes that draw pictures"
    )
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="longest training of each network at scale 1"
    )
    parser.add_argument(
        "--from-nothing", action="store_true", help="do not begin with the checkpoints in models/checkpoints"
    )
    parser.add_argument(
        "--photographs",
        type=Path,
        help="a folder of labelled photographs to learn from too: labels.json with a box for every card",
    )
    parser.add_argument(
        "--decks",
        type=Path,
        help="a folder of decks that others drew, to learn from too: folders of pictures named As to Kd",
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of each training")
    args = parser.parse_args()
    steps = [args.only] if args.only else ["data", "detector", "cards", "strips", "export", "report"]
    try:
        for step in steps:
            began = time.monotonic()
            _STEPS[step](args)
            print(f"{step}: {(time.monotonic() - began) / 60:.1f} min", flush=True)
    except UserError as e:
        print(e, file=sys.stderr)
        raise SystemExit(2) from None


def _start(args: argparse.Namespace, name: str) -> Path | None:
    """The checkpoint that a training begins with."""
    file = _CHECKPOINTS / f"{name}.pt"
    return file if file.exists() and not args.from_nothing else None


def _data(args: argparse.Namespace) -> None:
    from rich.progress import track

    from models.training.data import draw_shard
    from models.training.packaged import draw_packaged

    jobs = []
    for kind, (samples, train, held) in _SHARDS.items():
        n = max(8, round(samples * min(1.0, args.scale * 4)))
        jobs += [(args.cache, "val", i, n, True, kind) for i in range(held)]
        jobs += [
            (args.cache, "train", 1 + i, n, False, kind) for i in range(max(1, round(train * args.scale)))
        ]
    with ProcessPoolExecutor(args.processes) as pool:
        for future in track([pool.submit(draw_shard, *job) for job in jobs], "drawing pictures"):
            future.result()
        if args.decks is not None:
            shards = range(1, 1 + max(1, round(8 * args.scale)))
            work = [
                pool.submit(draw_packaged, args.cache, args.decks, k, _SHARDS["cards"][0]) for k in shards
            ]
            for future in track(work, "drawing decks that others drew"):
                future.result()
    if args.photographs is not None:
        from models.training.photographs import draw_photographs

        crops, zones = draw_photographs(args.photographs, args.cache, args.seed)
        print(f"{crops} crops and {zones} zones cut out of the photographs in {args.photographs}", flush=True)


def _detector(args: argparse.Namespace) -> None:
    from models.training.detector import train_detector

    epochs = max(1, round(14 * min(1.0, args.scale * 4)))
    train_detector(
        args.cache,
        args.runs / "detector",
        args.minutes * args.scale,
        epochs,
        args.seed,
        args.threads,
        _start(args, "detector"),
    )


def _cards(args: argparse.Namespace) -> None:
    import torch

    from models.training.card_reader import train_card_reader

    torch.set_num_threads(args.threads)
    minutes = args.minutes * args.scale
    start = _start(args, "card_reader")
    train_card_reader(args.cache, args.runs / "card_reader", minutes, 6, args.seed, start)


def _strips(args: argparse.Namespace) -> None:
    import torch

    from models.training.stack_reader import train_stack_reader

    torch.set_num_threads(args.threads)
    minutes = args.minutes * args.scale / 2
    start = _start(args, "stack_reader")
    train_stack_reader(args.cache, args.runs / "stack_reader", minutes, 10, args.seed, start)


def _export(args: argparse.Namespace) -> None:
    import torch

    from models.training import export
    from models.training.nets import CardReader, StackReader

    args.weights.mkdir(parents=True, exist_ok=True)
    if not (args.weights / "manifest.json").exists():
        (args.weights / "manifest.json").write_text('{"weights": {}}\n')
    rest = f"seed {args.seed}, scale {args.scale:g}, on CPU"

    def how(name: str, *others: str) -> dict[str, str]:
        """What a network learnt from; that which it began with learnt from what the model card says."""
        learnt = ", ".join(["pictures of the simulated table", *others])
        begun = "" if _start(args, name) is None else "begun with the checkpoint of the model card; "
        return {"trained": f"{begun}{learnt}, {rest}"}

    others = {"train-packaged*": "decks that others drew", "train-photo*": "photographs"}
    more = [what for name, what in others.items() if any((args.cache / "cards").glob(f"{name}.npz"))]
    if (args.runs / "detector/weights/best.pt").exists():
        zones = ["photographs"] if any((args.cache / "zones/images/train").glob("photo-*")) else []
        export.export_detector(args.runs / "detector/weights/best.pt", args.weights, how("detector", *zones))
    for name, net, write, also in (
        ("card_reader", CardReader(), export.export_card_reader, more),
        ("stack_reader", StackReader(), export.export_stack_reader, []),
    ):
        best = args.runs / name / "best.pt"
        if best.exists():
            net.load_state_dict(torch.load(best, weights_only=True))
            write(net, args.cache, args.weights, how(name, *also))


def _report(args: argparse.Namespace) -> None:
    from models.training.report import report

    print(report(args.cache, args.weights, args.weights.parent / "figures"), flush=True)


def _choose(args: argparse.Namespace) -> None:
    from models.training.choose import choose

    print(choose(args.cache, args.weights), flush=True)


_STEPS = {
    "data": _data,
    "detector": _detector,
    "cards": _cards,
    "strips": _strips,
    "export": _export,
    "report": _report,
    "choose": _choose,
}


if __name__ == "__main__":
    main()
