"""The networks' files: where they lie, whether they are what the manifest says, and how to open them.

Out: onnxruntime sessions and the manifest's entries. In a wheel the weights lie in the package, in a checkout
in `models/weights`; both are found alike.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import onnxruntime as ort

from pitwatch.errors import UserError

__all__ = ["Weights", "open_session", "read_manifest", "verify", "weights_folder"]

_HERE = Path(__file__).resolve()


@dataclass(frozen=True)
class Weights:
    """One entry of the manifest: the file, and all that stands there about it."""

    name: str
    path: Path
    about: dict[str, Any]

    def number(self, key: str, default: float = 1.0) -> float:
        """A figure of the entry, like a temperature."""
        return float(self.about.get(key, default))


def weights_folder() -> Path:
    """The folder with `manifest.json`.

    Raises UserError when neither the package nor the checkout has one.
    """
    places = (_HERE.parents[1] / "weights", _HERE.parents[3] / "models" / "weights")
    for place in places:
        if (place / "manifest.json").is_file():
            return place
    raise UserError(
        f"no weights in {places[0]} or {places[1]}; install pitwatch again, or train them with: make train"
    )


def read_manifest(folder: Path | None = None) -> dict[str, Weights]:
    """Every entry of the manifest by name. Raises UserError naming the file when it cannot be read."""
    folder = folder or weights_folder()
    path = folder / "manifest.json"
    try:
        entries = json.loads(path.read_text("utf-8"))["weights"]
        return {name: Weights(name, folder / about["file"], about) for name, about in entries.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise UserError(f"{path} is no manifest of weights ({e}); install pitwatch again") from None


def verify(weights: Weights) -> None:
    """Raise UserError unless the file is there and has the manifest's hash."""
    if not weights.path.is_file():
        raise UserError(f"{weights.path} is missing; install pitwatch again, or train it with: make train")
    if _sha256(weights.path, weights.path.stat().st_mtime_ns) != weights.about.get("sha256"):
        raise UserError(
            f"{weights.path} is not the file that its manifest names (wrong hash); install pitwatch again"
        )


@lru_cache(maxsize=16)
def _sha256(path: Path, _changed: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def open_session(
    name: str, folder: Path | None = None, threads: int = 1
) -> tuple[ort.InferenceSession, Weights]:
    """A session on the network `name`, checked against the manifest, and its entry.

    Raises UserError naming the file when it is missing, changed or unreadable.
    """
    entries = read_manifest(folder)
    if name not in entries:
        raise UserError(
            f"the manifest of weights has no '{name}'; install pitwatch again, or train it with: make train"
        )
    weights = entries[name]
    verify(weights)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = ort.InferenceSession(str(weights.path), options, providers=["CPUExecutionProvider"])
    except Exception as e:
        raise UserError(
            f"{weights.path} is no network that onnxruntime {ort.__version__} can open ({e})"
        ) from None
    return session, weights
