"""Training crops of decks that others drew: whole faces, and their court figures under indices of our own.

In: a folder of decks, each a folder of 52 pictures named by card (`As.png` to `Kd.svg`), or of the twelve
court cards alone. Out: `cards/*.npz` shards like those of drawn decks. SVG needs `rsvg-convert`.
"""

from __future__ import annotations

import subprocess
from functools import lru_cache, partial
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from models.training.data import write_rows
from pitwatch.adapt.cards import HouseDeck
from pitwatch.adapt.faces import Face
from pitwatch.cards import CARDS
from pitwatch.errors import UserError
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import casino_design, random_design
from pitwatch.sim.rows import Row, card_row, drawn
from pitwatch.sim.samples import Sampler
from pitwatch.sim.typefaces import every_typeface

__all__ = ["draw_packaged", "packaged_decks"]

_SIZE = (252, 352)
_FIGURE = (0.18, 0.13)  # of a card's width and height, left out on every side: what lies within is the figure
_COURTS = "JQK"
_WHOLE = 0.5  # share of the decks whose faces are taken as they are

Picture = NDArray[np.uint8]


@lru_cache(maxsize=1)
def packaged_decks(folder: Path) -> dict[str, dict[str, Picture]]:
    """Faces, (352, 252, 3) BGR, by deck and card: all 52 or the court cards. Any other deck is named and left
    out."""
    if not folder.is_dir():
        raise UserError(f"{folder} is no folder; name one that holds folders of pictures named As to Kd")
    decks = {}
    for place in sorted(p for p in folder.iterdir() if p.is_dir()):
        files = {f.stem: f for f in place.iterdir() if f.suffix.lower() in (".png", ".jpg", ".svg")}
        missing = [c for c in CARDS if c not in files]
        if any(c[0] in _COURTS for c in missing) or 0 < len(missing) < len(CARDS) - 12:
            print(f"{place} is left out: it has no picture of {', '.join(missing[:4])}", flush=True)
            continue
        decks[place.name] = {c: _picture(files[c]) for c in CARDS if c in files}
    return decks


def _picture(file: Path) -> Picture:
    data = file.read_bytes()
    if file.suffix.lower() == ".svg":
        size = [str(2 * n) for n in _SIZE]
        try:
            data = subprocess.run(
                ["rsvg-convert", "-w", size[0], "-h", size[1], str(file)], check=True, capture_output=True
            ).stdout
        except FileNotFoundError:
            raise UserError(f"{file} needs rsvg-convert; install librsvg2-bin") from None
        except subprocess.CalledProcessError:
            data = b""
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if image is None:
        raise UserError(f"{file} is no picture; get it again, or take its deck out")
    if image.ndim == 2:
        image = cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)
    small = cv2.resize(image, _SIZE, interpolation=cv2.INTER_AREA).astype(np.float32)
    if small.shape[2] == 4:
        a = small[..., 3:] / 255
        small = small[..., :3] * a + 252 * (1 - a)
    return small.astype(np.uint8)


def _deck(faces: dict[str, Picture], rng: np.random.Generator, fonts: tuple[str, ...]) -> Deck:
    paper = np.array([*rng.uniform(0.94, 1.0, 3)])
    if len(faces) == len(CARDS) and rng.random() < _WHOLE:
        return HouseDeck({c: Face((f * paper).astype(np.uint8), 4.0) for c, f in faces.items()})
    dx, dy = round(_FIGURE[0] * _SIZE[0]), round(_FIGURE[1] * _SIZE[1])
    figures = {
        c: np.ascontiguousarray((f * paper).astype(np.uint8)[dy:-dy, dx:-dx, ::-1])
        for c, f in faces.items()
        if c[0] in _COURTS
    }
    # under these figures casinos print their large indices
    return Deck(casino_design(rng) if rng.random() < 0.5 else random_design(rng, fonts), figures)


def draw_packaged(cache: Path, folder: Path, shard: int, samples: int, decks: int = 8) -> None:
    """Draw a shard of `samples` crops, of `decks` decks one after another; one that exists is not drawn
    again."""
    target = cache / "cards" / f"train-packaged-{shard:04d}.npz"
    if target.exists():
        return
    cv2.setNumThreads(1)
    target.parent.mkdir(parents=True, exist_ok=True)
    packaged = list(packaged_decks(folder).values())
    if not packaged:
        raise UserError(f"{folder} holds no whole deck; put folders of 52 pictures named As to Kd there")
    rng = np.random.default_rng([shard, 55])
    fonts = every_typeface()
    parts = []
    for k in range(decks):
        deck = _deck(packaged[int(rng.integers(len(packaged)))], rng, fonts)
        sampler = Sampler(shard * 1000 + k, size=110.0, deck=deck, photographs=3)
        parts.append(drawn(samples // decks, partial(_row, sampler, rng), lambda: None))
    write_rows(target, {k: np.concatenate([p[k] for p in parts]) for k in parts[0]})


def _row(sampler: Sampler, rng: np.random.Generator) -> Row | None:
    return card_row(sampler.next_card(), rng)
