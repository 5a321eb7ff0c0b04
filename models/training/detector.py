"""Training of the detector with Ultralytics: AGPL-3.0, and so are the weights that come of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from models.training.data import CLASSES
from models.training.loop import plot_curves
from pitwatch.vision.crops import ZONE_PX

__all__ = ["train_detector"]

_CONFIG = Path(__file__).with_name("detector.yaml")


def train_detector(
    cache: Path,
    out: Path,
    minutes: float,
    epochs: int,
    seed: int,
    threads: int | None = None,
    start: Path | None = None,
) -> Path:
    """Train, or go on from `out`/weights/last.pt; returns the path of the best checkpoint.

    Reads `cache`/zones. The run ends after `epochs`, or by itself after about `minutes`. start: a checkpoint
    to begin with instead of nothing.
    """
    os.environ.setdefault("YOLO_AUTOINSTALL", "false")
    import torch
    from ultralytics import YOLO, settings

    settings.update({"sync": False, "tensorboard": False})
    if threads:
        torch.set_num_threads(threads)
    out.mkdir(parents=True, exist_ok=True)
    data = out / "zones.yaml"
    names = "\n".join(f"  {i}: {name}" for i, name in enumerate(CLASSES))
    data.write_text(
        f"path: {(cache / 'zones').resolve()}\ntrain: images/train\nval: images/val\nnames:\n{names}\n"
    )
    last = out / "weights" / "last.pt"
    if (out / "done").exists():
        return out / "weights" / "best.pt"
    if last.exists() and not _finished(last):
        model = YOLO(str(last))
        model.train(trainer=_trainer(), resume=True)
    else:
        model = YOLO(str(_scaled(out) if start is None else start), task="obb")
        model.train(
            trainer=_trainer(),
            data=str(data),
            imgsz=ZONE_PX,
            epochs=epochs,
            time=minutes / 60 if minutes else None,
            batch=16,
            nbs=16,
            device="cpu",
            workers=1,
            seed=seed,
            project=str(out.parent.resolve()),
            name=out.name,
            exist_ok=True,
            plots=False,
            optimizer="AdamW",
            lr0=0.0015,
            lrf=0.02,
            cos_lr=True,
            warmup_epochs=0.5,
            weight_decay=0.01,
            amp=False,
            mosaic=0.0,
            mixup=0.0,
            degrees=0.0,
            scale=0.04,
            translate=0.02,
            fliplr=0.5,
            flipud=0.5,
            hsv_h=0.02,
            hsv_s=0.4,
            hsv_v=0.3,
            erasing=0.0,
            close_mosaic=0,
            max_det=100,
            val=True,
            save_period=-1,
        )
    results = out / "results.csv"
    if results.exists():
        plot_curves(results, out / "curve.png")
    (out / "done").touch()
    return out / "weights" / "best.pt"


def _trainer() -> type:
    """Ultralytics' trainer with pictures laid out channels last, which halves the time on a CPU."""
    import torch
    from ultralytics.models.yolo.obb import OBBTrainer

    class ChannelsLast(OBBTrainer):  # type: ignore[misc]
        def preprocess_batch(self, batch: dict[str, Any]) -> dict[str, Any]:
            batch = super().preprocess_batch(batch)
            batch["img"] = batch["img"].contiguous(memory_format=torch.channels_last)
            return batch

        def get_model(self, *args: Any, **kwargs: Any) -> Any:
            return super().get_model(*args, **kwargs).to(memory_format=torch.channels_last)

    return ChannelsLast


def _scaled(out: Path) -> Path:
    """Ultralytics reads the scale from the file's name: "p" for ours."""
    named = out / "yolo11p-obb.yaml"
    shutil.copy(_CONFIG, named)
    return named


def _finished(checkpoint: Path) -> bool:
    import torch

    return int(torch.load(checkpoint, weights_only=False, map_location="cpu").get("epoch", -1)) == -1
