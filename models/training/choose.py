"""Float or int8, and what a user would otherwise pick: accuracy and milliseconds side by side, in one run.

In: the exported weights, the held-out pictures. Out: a table; the reference is YOLO11n at 640 px, which reads
a whole frame at once, through the same onnxruntime (its speed only: nobody has trained it on this).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import onnxruntime as ort

from models.training.card_reader import tensor as crop_tensor
from models.training.data import DENOMINATIONS, RESOLVED_PX, UNREAD_RANK, UNREAD_SUIT
from models.training.loop import Data
from models.training.stack_reader import tensor as strip_tensor
from pitwatch.vision.crops import ZONE_PX
from pitwatch.vision.detector import decode, thin_out
from pitwatch.vision.weights import read_manifest

__all__ = ["choose"]

_CALIBRATE = 256
_CHECK = 1200
_NEAR_PX = 8.0

Feeds = list[dict[str, np.ndarray]]


def choose(cache: Path, weights: Path) -> str:
    """The table as text."""
    entries = read_manifest(weights)
    lines = [f"{'network':34} {'MB':>5} {'ms':>8}  accuracy on held-out pictures"]
    for name, feeds, score in (
        ("card_reader", *_cards(cache)),
        ("stack_reader", *_stacks(cache)),
        ("detector", *_zones(cache, tuple(entries["detector"].about["least_score"]))),
    ):
        path = entries[name].path
        with tempfile.TemporaryDirectory() as folder:
            small = Path(folder, f"{name}.int8.onnx")
            _quantised(path, small, feeds[:_CALIBRATE])
            for kind, file in (("float", path), ("int8", small)):
                session = _open(file)
                mb = file.stat().st_size / 1e6
                lines.append(
                    f"{name + ', ' + kind:34} {mb:5.1f} {_ms(session, feeds[0]):8.2f}  {score(session)}"
                )
    with tempfile.TemporaryDirectory() as folder:
        file = _reference(Path(folder))
        session = _open(file)
        feed = {session.get_inputs()[0].name: np.zeros((1, 3, 640, 640), np.float32)}
        ms = _ms(session, feed)
        lines.append(
            f"{'YOLO11n, 640 px, every frame':34} {file.stat().st_size / 1e6:5.1f} {ms:8.2f}  (not trained)"
        )
    return "\n".join(lines)


def _open(file: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _ms(session: ort.InferenceSession, feed: dict[str, np.ndarray]) -> float:
    spent = []
    for _ in range(60):
        t = time.perf_counter()
        session.run(None, feed)
        spent.append((time.perf_counter() - t) * 1e3)
    return float(np.median(spent))


def _quantised(file: Path, out: Path, feeds: Feeds) -> None:
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.rows: Iterator[dict[str, np.ndarray]] = iter(feeds)

        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(self.rows, None)

    ready = out.with_suffix(".pre.onnx")
    quant_pre_process(str(file), str(ready), skip_symbolic_shape=True)
    quantize_static(
        str(ready),
        str(out),
        Reader(),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
    )


Score = Callable[[ort.InferenceSession], str]


def _cards(cache: Path) -> tuple[Feeds, Score]:
    held = Data(cache / "cards", "val", ("crop", "rank", "suit"))
    a = {k: v[:_CHECK] for k, v in held.arrays.items()}
    x = crop_tensor(a["crop"]).numpy()
    feeds = [{"picture": x[i : i + 1]} for i in range(len(x))]
    known = a["rank"] != UNREAD_RANK

    def score(session: ort.InferenceSession) -> str:
        out = [session.run(["rank", "suit"], f) for f in feeds]
        r = np.concatenate([o[0] for o in out])[:, :UNREAD_RANK].argmax(1) == a["rank"]
        s = np.concatenate([o[1] for o in out])[:, :UNREAD_SUIT].argmax(1) == a["suit"]
        return f"rank {r[known].mean():.1%}, card {(r & s)[known].mean():.1%} of {known.sum()} single looks"

    return feeds, score


def _stacks(cache: Path) -> tuple[Feeds, Score]:
    held = Data(cache / "strips", "val", ("strip", "count", "chips", "layer"))
    clear = (held.arrays["layer"][:, 0] >= RESOLVED_PX) & (held.arrays["count"] > 0)
    held.keep(clear)
    a = {k: v[:_CHECK] for k, v in held.arrays.items()}
    x = strip_tensor(a["strip"], a["layer"]).numpy()
    feeds = [{"picture": np.ascontiguousarray(x[i : i + 1])} for i in range(len(x))]
    value = np.array([*DENOMINATIONS, 0])

    def score(session: ort.InferenceSession) -> str:
        out = [session.run(["count", "layers"], f) for f in feeds]
        n = np.concatenate([o[0] for o in out]).argmax(1)
        kinds = np.concatenate([o[1] for o in out])[..., : len(DENOMINATIONS)].argmax(2)
        right = n == a["count"]
        sums = np.array([value[k[:m]].sum() for k, m in zip(kinds, n, strict=True)])
        exact = right & (sums == value[a["chips"]].sum(axis=1))
        return f"count {right.mean():.1%}, value {exact.mean():.1%} of {len(n)} single looks"

    return feeds, score


def _zones(cache: Path, least: tuple[float, ...]) -> tuple[Feeds, Score]:
    files = sorted((cache / "zones/images/val").glob("*.jpg"))[:300]
    feeds, truth = [], []
    for file in files:
        image = cv2.imread(str(file))
        assert image is not None
        if image.shape[0] != ZONE_PX:
            image = cv2.resize(image, (ZONE_PX, ZONE_PX), interpolation=cv2.INTER_AREA)
        x = np.ascontiguousarray(image[..., ::-1].transpose(2, 0, 1)[None], np.float32) / 255
        feeds.append({"images": x})
        label = (cache / "zones/labels/val" / f"{file.stem}.txt").read_text().split("\n")
        rows = [np.array(line.split(), float) for line in label if line]
        truth.append([(int(r[0]), *(r[1:].reshape(4, 2).mean(axis=0) * ZONE_PX)) for r in rows if r[0] < 3])

    def score(session: ort.InferenceSession) -> str:
        hits = wanted = said = 0
        for feed, things in zip(feeds, truth, strict=True):
            boxes = [b for b in thin_out(decode(session.run(None, feed)[0][0], least)) if b.kind < 3]
            left = list(boxes)
            for kind, x, y in things:
                near = [b for b in left if b.kind == kind and np.hypot(b.x - x, b.y - y) < _NEAR_PX]
                if near:
                    hits += 1
                    left.remove(min(near, key=lambda b: float(np.hypot(b.x - x, b.y - y))))
            wanted, said = wanted + len(things), said + len(boxes)
        return f"found {hits / wanted:.1%} of {wanted}, {1 - hits / max(said, 1):.1%} of {said} false"

    return feeds, score


def _reference(folder: Path) -> Path:
    """YOLO11n as its own configuration makes it, exported like our detector; weights as they begin."""
    import os

    from ultralytics import YOLO

    here = Path.cwd()
    os.chdir(folder)
    try:
        made = YOLO("yolo11n.yaml", task="detect").export(
            format="onnx", imgsz=640, opset=17, simplify=True, nms=False, device="cpu"
        )
        return (folder / str(made)).resolve()
    finally:
        os.chdir(here)
