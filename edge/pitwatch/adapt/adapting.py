"""`pitwatch models adapt`: from pictures of a house's deck and chips to a folder of weights that know them.

In: pictures, and the weights that come with pitwatch. Out: a folder of weights with its manifest and, for
chips, a chip set; on the terminal the scores before and after. A reader that would get worse stays as it is.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from pitwatch.adapt.cards import HouseDeck, drawn_cards, fit_cards, read_faces
from pitwatch.adapt.chip_pictures import ChipSeen, chip_seen
from pitwatch.adapt.chips import HouseChips, classes_for, drawn_stacks, fit_chips, house_set
from pitwatch.adapt.faces import deck_faces
from pitwatch.adapt.heads import Head, read_head, with_head
from pitwatch.cards import SUITS
from pitwatch.chips import CASINO, ChipSet, money, save_chips
from pitwatch.errors import UserError
from pitwatch.table.files import load_picture
from pitwatch.vision.card_reader import CardReader
from pitwatch.vision.stack_reader import StackReader
from pitwatch.vision.weights import Weights, read_manifest, verify

__all__ = ["adapt", "cents_of"]

_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp")


def adapt(
    deck: Sequence[Path],
    chips: Path | None,
    out: Path,
    *,
    suits: str = SUITS,
    name: str = "house",
    samples: int = 2400,
    seed: int = 1,
    base: Path | None = None,
    console: Console | None = None,
) -> None:
    """Fit the readers to a house and write their weights to the folder `out`.

    deck: pictures that together show the four suits in rows. suits: of the rows from the top, as "cdhs".
    chips: a folder with a picture a denomination, named by its value, "25.jpg". samples: crops or strips to
    draw for each. base: the weights to start from, those that come with pitwatch when None. Raises UserError
    naming the picture and the remedy.
    """
    if not deck and chips is None:
        raise UserError(
            "there is nothing to adapt to; give pictures of the deck (--deck) or of the chips (--chips)"
        )
    console = console or Console(stderr=True)
    if sorted(suits) != sorted(SUITS):
        raise UserError(
            f"--suits {suits!r} is no order of the suits; give all four letters, as in --suits {SUITS}"
        )
    entries = read_manifest(base)
    for w in entries.values():
        verify(w)
    files = {n: (w.path.read_bytes(), dict(w.about)) for n, w in entries.items()}
    house: ChipSet | None = None
    table = Table("reader", "read right of", "before", "after")
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        job = _Job(base, samples, seed, progress, table)
        if deck:
            files["card_reader"] = _cards(deck, suits, entries["card_reader"], job)
        if chips is not None:
            seen = {cents_of(p): chip_seen(_picture(p), str(p)) for p in _pictures_in(chips)}
            house = house_set(name, seen)
            files["stack_reader"] = _stacks(seen, house, entries["stack_reader"], job)
    _write(out, files, name, house)
    console.print(table)
    console.print(f"Written to {out}. In table.toml:", highlight=False)
    console.print(f'  [models]\n  folder = "{out}"', highlight=False, markup=False)
    if chips is not None:
        console.print(f'  [chips]\n  set = "{out / "chips.json"}"', highlight=False, markup=False)


@dataclass(frozen=True)
class _Job:
    """What fitting any reader needs: the weights to start from, how much to draw, and where to report."""

    base: Path | None
    samples: int
    seed: int
    progress: Progress
    table: Table

    def drawing(self, what: str) -> Callable[[], None]:
        """To be called after each picture drawn."""
        task = self.progress.add_task(f"drawing {what}", total=self.samples)
        return lambda: self.progress.advance(task)

    def report(self, what: str, n: int, before: float, after: float) -> None:
        """A line of the table of scores."""
        self.table.add_row(what, str(n), f"{before:.1%}", f"{after:.1%}")


def _cards(deck: Sequence[Path], suits: str, weights: Weights, job: _Job) -> tuple[bytes, dict[str, Any]]:
    reader = CardReader(job.base)
    faces = deck_faces([(str(p), _picture(p)) for p in deck], lambda f: read_faces(reader, f), suits)
    sharpest = float(np.clip(np.median([f.px_per_mm for f in faces.values()]), 0.9, 2.5))
    rows = drawn_cards(HouseDeck(faces), job.samples, job.seed, sharpest, job.drawing("cards"))
    data, heads = _heads(weights, ("rank", "suit"))
    fitted, before, after = fit_cards(reader, heads, rows)
    job.report("cards, rank", after.n, before.rank, after.rank)
    job.report("cards, rank and suit", after.n, before.card, after.card)
    about = dict(weights.about)
    if after.card > before.card:
        for k, head in fitted.items():
            data = with_head(data, about["heads"][k], head)
        about["adapted"] = {"before": asdict(before), "after": asdict(after)}
    return data, about


def _stacks(
    seen: dict[int, ChipSeen], chips: ChipSet, weights: Weights, job: _Job
) -> tuple[bytes, dict[str, Any]]:
    classes = classes_for(chips)
    rows = drawn_stacks(HouseChips(seen), classes, job.samples, job.seed, job.drawing("stacks"))
    data, heads = _heads(weights, ("layers",))
    head, before, after = fit_chips(StackReader(CASINO, job.base), heads["layers"], rows, classes)
    job.report("chips, denomination", after.n, before.chips, after.chips)
    job.report("stacks, value", after.n, before.value, after.value)
    about = dict(weights.about)
    about["classes"] = [f"unused {k}" if c is None else money(c) for k, c in enumerate(classes)]
    if after.chips > before.chips:
        data = with_head(data, about["heads"]["layers"], head)
        about["adapted"] = {"before": asdict(before), "after": asdict(after)}
    return data, about


def _heads(weights: Weights, names: tuple[str, ...]) -> tuple[bytes, dict[str, Head]]:
    places = weights.about.get("heads")
    if not isinstance(places, dict) or not set(names) <= set(places):
        raise UserError(
            f"the manifest does not say where the heads of {weights.path} lie; install pitwatch again"
        )
    data = weights.path.read_bytes()
    return data, {k: read_head(data, places[k]) for k in names}


def _picture(path: Path) -> NDArray[np.uint8]:
    return load_picture(path, "give a JPEG or PNG file")


def _pictures_in(folder: Path) -> list[Path]:
    found = sorted(p for p in folder.glob("*") if p.suffix.lower() in _SUFFIXES) if folder.is_dir() else []
    if not found:
        raise UserError(
            f"{folder} has no pictures; put one of each chip there, named by its value, like 25.jpg"
        )
    return found


def cents_of(path: Path) -> int:
    """The value that a picture is named by: "25.jpg" and "$2.50.png". Raises UserError naming the file."""
    match = re.fullmatch(r"\$?(\d{1,6})(?:[.,](\d{2}))?", path.stem)
    cents = int(match[1]) * 100 + int(match[2] or 0) if match else 0
    if cents <= 0:
        raise UserError(f"{path} is not named by a chip's value; name it like 25.jpg or 2.50.jpg")
    return cents


def _write(
    out: Path, files: dict[str, tuple[bytes, dict[str, Any]]], name: str, chips: ChipSet | None
) -> None:
    """The whole folder at once: a half-written one is never found by a watch."""
    new = out.with_name(out.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    manifest: dict[str, Any] = {"adapted_to": name, "weights": {}}
    for key, (data, about) in files.items():
        (new / about["file"]).write_bytes(data)
        manifest["weights"][key] = about | {
            "sha256": hashlib.sha256(data).hexdigest(),
            "bytes": len(data),
        }
    (new / "manifest.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", "utf-8")
    if chips is not None:
        save_chips(chips, new / "chips.json")
    elif (out / "chips.json").is_file():
        shutil.copy(out / "chips.json", new)
    old = out.with_name(out.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if out.exists():
        out.rename(old)
    new.rename(out)
    shutil.rmtree(old, ignore_errors=True)
