"""`pitwatch models`: the trained weights that come with pitwatch.

Out: lines for people.
"""

from __future__ import annotations

from collections.abc import Callable

from pitwatch.errors import UserError
from pitwatch.vision.weights import Weights, read_manifest, verify, weights_folder

__all__ = ["print_weights", "verify_weights"]


def print_weights(say: Callable[[str], None]) -> None:
    """A paragraph for each file. Raises UserError when there is no readable manifest."""
    for name, weights in _entries().items():
        about = weights.about
        size = f"{weights.path.stat().st_size / 1e6:.1f} MB" if weights.path.is_file() else "missing"
        say(f"{name}  ({weights.path.name}, {size}, {about.get('licence', 'no licence named')})")
        for key, value in about.items():
            if key not in ("file", "licence", "sha256"):
                say(f"  {key}: {value}")


def verify_weights(say: Callable[[str], None]) -> None:
    """Check every file against its hash. Raises UserError naming the first that is missing or changed."""
    for name, weights in _entries().items():
        verify(weights)
        say(f"{name}: {weights.path.name} is what the manifest says")


def _entries() -> dict[str, Weights]:
    entries = read_manifest()
    if not entries:
        raise UserError(f"there are no weights in {weights_folder()}; train them with: make train")
    return entries
