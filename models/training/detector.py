"""Training of the detector with Ultralytics (AGPL-3.0, and so are the weights): oriented boxes on zone pictures."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from models.training.data import CLASSES
from models.training.loop import plot_curves

__all__ = ["train_detector"]

_CONFIG = Path(__file__).with_name("detector.yaml")


def train_detector(cache: Path, out: Path, minutes: float, epochs: int, seed: int, threads: int | None = None) -> Path:
    """Train, or go on from `out`/weights/last.pt; returns the path of the best checkpoint.

    Reads `cache`/zones. The run ends after `epochs`, or by itself after about `minutes`.
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
    data.write_text(f"path: {(cache / 'zones').resolve()}\ntrain: images/train\nval: images/val\nnames:\n{names}\n")
    last = out / "weights" / "last.pt"
    if (out / "done").exists():
        return out / "weights" / "best.pt"
    if last.exists() and not _finished(last):
        model = YOLO(str(last))
        model.train(resume=True)
    else:
        model = YOLO(str(_scaled(out)), task="obb")
        model.train(
            data=str(data), imgsz=320, epochs=epochs, time=minutes / 60 if minutes else None, batch=24, device="cpu",
            workers=1, seed=seed, project=str(out.parent.resolve()), name=out.name, exist_ok=True, plots=False, optimizer="AdamW",
            lr0=0.002, lrf=0.02, cos_lr=True, warmup_epochs=0.5, weight_decay=0.01, amp=False,
            mosaic=0.0, mixup=0.0, degrees=0.0, scale=0.04, translate=0.02, fliplr=0.5, flipud=0.5,
            hsv_h=0.02, hsv_s=0.4, hsv_v=0.3, erasing=0.0, close_mosaic=0, max_det=100, val=True, save_period=-1,
        )  # fmt: skip
    results = out / "results.csv"
    if results.exists():
        plot_curves(results, out / "curve.png")
    (out / "done").touch()
    return out / "weights" / "best.pt"


def _scaled(out: Path) -> Path:
    """Ultralytics reads the scale from the file's name: "p" for ours."""
    named = out / "yolo11p-obb.yaml"
    shutil.copy(_CONFIG, named)
    return named


def _finished(checkpoint: Path) -> bool:
    import torch

    return int(torch.load(checkpoint, weights_only=False, map_location="cpu").get("epoch", -1)) == -1
