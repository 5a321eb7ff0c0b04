"""From checkpoints to ONNX files and the manifest: raw outputs, calibrated temperatures, hashes, licences."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from models.training.card_reader import logits
from models.training.data import CLASSES, RESOLVED_PX, UNREAD_RANK, UNREAD_SUIT
from models.training.loop import Data
from models.training.stack_reader import tensor as strip_tensor
from models.training.strips import moved
from pitwatch.chips import CASINO
from pitwatch.vision.crops import CARD_SHAPE, STRIP_SHAPE, ZONE_PX
from pitwatch.vision.stack_reader import counts, softmax, tempered, totals, views

__all__ = ["export_card_reader", "export_detector", "export_stack_reader"]

# how far off the foot is found, standard deviations: about a third of a chip, and a millimetre aside
_FOOT_ROWS = 1.5
_FOOT_COLUMNS = 0.7


def export_detector(best: Path, weights: Path, how: dict[str, Any]) -> None:
    """Ultralytics' raw export: no NMS in the graph, the angle kept as the last row."""
    from ultralytics import YOLO

    model = YOLO(str(best))
    made = model.export(
        format="onnx", imgsz=ZONE_PX, opset=17, simplify=True, nms=False, dynamic=False, device="cpu"
    )
    target = weights / "detector.onnx"
    shutil.move(str(made), target)
    about = {
        "input": [1, 3, ZONE_PX, ZONE_PX],
        "output": "x, y, w, h (pixels), a score a class, angle (radians)",
        "classes": list(CLASSES),
        "least_score": [0.35, 0.35, 0.2, 0.65],
        "licence": "AGPL-3.0 (trained with Ultralytics YOLO)",
    }
    _enter(weights, "detector", target, about | how)


def export_card_reader(net: nn.Module, cache: Path, weights: Path, how: dict[str, Any]) -> None:
    """The reader, with the temperature that suits the held-out decks best."""
    held = Data(cache / "cards", "val", ("crop", "rank", "suit"))
    rank, suit = logits(net, held.arrays["crop"])
    temperature = _temperature([(rank, held.arrays["rank"]), (suit, held.arrays["suit"])])
    target = weights / "card_reader.onnx"
    _export(net, torch.zeros(2, 4, *CARD_SHAPE), target, ["rank", "suit", "visible", "features"])
    known = held.arrays["rank"] != UNREAD_RANK
    r = rank[:, :UNREAD_RANK].argmax(1) == held.arrays["rank"]
    s = suit[:, :UNREAD_SUIT].argmax(1) == held.arrays["suit"]
    about = {
        "input": ["n", 4, *CARD_SHAPE],
        "classes": "A23456789TJQK and unread; cdhs and unread",
        "temperature": temperature,
        "heads": _heads(net, ("rank", "suit"), target),
        "licence": "Apache-2.0",
        "held_out": {
            "crops": int(known.sum()),
            "rank": float(r[known].mean()),
            "card": float((r & s)[known].mean()),
        },
    }
    _enter(weights, "card_reader", target, about | how)


def export_stack_reader(net: nn.Module, cache: Path, weights: Path, how: dict[str, Any]) -> None:
    """The reader, with temperatures for the count, for the layers and for the totals made of them."""
    held = Data(cache / "strips", "val", ("strip", "count", "chips", "layer"))
    net.eval()
    # at the table the foot is where the reader itself found it, not where the strip was cut
    spread = np.random.default_rng(8).normal(0, (_FOOT_ROWS, _FOOT_COLUMNS), (held.n, 2))
    astray = spread.round().astype(np.int64)
    with torch.inference_mode():
        # as at run time: the mean over several views of each strip
        both = []
        for i in range(0, held.n, 200):
            strips, layer = (held.arrays[k][i : i + 200] for k in ("strip", "layer"))
            seen = views(moved(strips, layer, *astray[i : i + 200].T))
            k = len(seen) // len(strips)
            out = net(strip_tensor(seen, np.tile(layer, (k, 1))))
            both.append([v.numpy().reshape(k, len(strips), *v.shape[1:]).mean(axis=0) for v in out])
    count, layers, _ = (np.concatenate(v) for v in zip(*both, strict=True))
    chips = held.arrays["chips"]
    # where a mounting resolves chips at all: the rest would make every reading look doubtful
    clear = held.arrays["layer"][:, 0] >= RESOLVED_PX
    there = (chips < len(CASINO.denominations)) & clear[:, None]
    # how far the foot really is where a row or a column is said (least squares through the origin)
    stands = held.arrays["count"] > 0
    strips, layer = held.arrays["strip"][stands], held.arrays["layer"][stands]
    off = np.random.default_rng(7).integers((-8, -3), (9, 4), (len(strips), 2))
    with torch.inference_mode():
        said = net(strip_tensor(moved(strips, layer, *off.T), layer))[2].numpy()
    scale = (off * said).sum(axis=0) / (said * said).sum(axis=0)
    cool_count = _temperature([(count[clear], held.arrays["count"][clear])])
    cool_layers = _temperature([(layers[there][:, : len(CASINO.denominations)], chips[there])])
    read = clear & stands
    target = weights / "stack_reader.onnx"
    _export(net, torch.zeros(2, 5, *STRIP_SHAPE), target, ["count", "layers", "foot", "features"])
    about = {
        "input": ["n", 5, *STRIP_SHAPE],
        "classes": [d.name for d in CASINO.denominations],
        "temperature_count": cool_count,
        "temperature_layers": cool_layers,
        "temperature_totals": _of_totals(count[read] / cool_count, layers[read] / cool_layers, chips[read]),
        "heads": _heads(net, ("layers",), target),
        "foot_scale": round(float(scale[0]), 4),
        "aside_scale": round(float(scale[1]), 4),
        "licence": "Apache-2.0",
        "held_out": {"stacks": len(chips), "count": float((count.argmax(1) == held.arrays["count"]).mean())},
    }
    _enter(weights, "stack_reader", target, about | how)


def _of_totals(count: np.ndarray, layers: np.ndarray, chips: np.ndarray) -> float:
    """The temperature of totals under which it is likeliest how often the likeliest is right."""
    cents = [d.cents for d in CASINO.denominations]
    worth = np.array([*cents, 0])[chips].sum(axis=1)
    said = [
        totals(counts(c), k, cents)
        for c, k in zip(softmax(count), softmax(layers[..., : len(cents)]), strict=True)
    ]
    right = np.array([v[0][0] == w for v, w in zip(said, worth, strict=True)])

    def miss(t: float) -> float:
        p = np.clip([tempered(v, t)[0][1] for v in said], 1e-3, 1 - 1e-3)
        return -float(np.log(np.where(right, p, 1 - p)).mean())

    return _least(miss, np.geomspace(0.5, 2.0, 29))


def _export(net: nn.Module, example: torch.Tensor, target: Path, outputs: list[str]) -> None:
    net.eval()
    torch.onnx.export(
        _WithFeatures(net).eval(),
        (example,),
        str(target),
        input_names=["picture"],
        output_names=outputs,
        opset_version=17,
        dynamo=False,
        dynamic_axes={name: {0: "n"} for name in ("picture", *outputs)},
    )


class _WithFeatures(nn.Module):
    """A reader that also gives the features by which a house's own heads are fitted."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        out: tuple[torch.Tensor, ...] = self.net.with_features(x)  # type: ignore[operator]
        return out


def _heads(net: nn.Module, names: tuple[str, ...], file: Path) -> dict[str, Any]:
    """Where in the file the weights of linear heads lie, so that a house's own can take their place."""
    data, out = file.read_bytes(), {}
    for name in names:
        layer = net.get_submodule(name)
        places = {}
        for part in ("weight", "bias"):
            raw = getattr(layer, part).detach().numpy().astype("<f4").tobytes()
            if data.count(raw) != 1:
                raise SystemExit(f"{file}: the {part} of head {name!r} does not lie in one place")
            places[part] = data.index(raw)
        out[name] = {"shape": [layer.weight.shape[0], layer.weight.shape[1]], **places}
    return out


def _temperature(sets: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """The divisor of the logits under which the truth is likeliest (temperature scaling, Guo et al. 2017)."""

    def miss(t: float) -> float:
        total = 0.0
        for z, y in sets:
            v = z / t
            v = v - v.max(axis=1, keepdims=True)
            p = v[np.arange(len(y)), y] - np.log(np.exp(v).sum(axis=1))
            total -= float(p.mean())
        return total

    return _least(miss, np.geomspace(0.4, 4.0, 47))


def _least(miss: Callable[[float], float], temperatures: np.ndarray) -> float:
    """The temperature under which `miss` is least."""
    return round(min(temperatures.tolist(), key=miss), 4)


def _enter(weights: Path, name: str, file: Path, about: dict[str, Any]) -> None:
    path = weights / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    entry = {
        "file": file.name,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "bytes": file.stat().st_size,
    }
    manifest["weights"][name] = entry | about
    path.write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", "utf-8")
