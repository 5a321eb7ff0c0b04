"""Type faces for indices, inlays and felts: files of fonts found in installed packages, and the system's.

Out: paths of TrueType and OpenType files, in a fixed order.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path

from PIL import ImageFont

from pitwatch.errors import UserError

__all__ = ["every_typeface", "packaged_typefaces", "typeface"]

_PACKAGES = (
    "font_roboto",
    "font_source_serif_pro",
    "font_source_sans_pro",
    "font_caladea",
    "font_manrope",
)
_SKIP = (
    "italic",
    "oblique",
    "mathsymbols",
    "dingbat",
    "symbol",
    "emoji",
    "thin",
    "hairline",
    "cmex",
    "cmsy",
    "cmmi",
    "extralight",
    "ultralight",
    "stixsiz",
    "d050000l",
    "z003",
    "fontawesome",
    "materialdesign",
    "outline",
    "keyboard",
    "wasy",
    "initials",
    "stixnon",
    "variablefont",
    "linbiolinum_k",
)


# of families with a file for every script, whose digits are all alike, only these
_FEW = ("notosans-", "notoserif-", "notosansmono-", "notosanssymbols2-")


def _fonts_below(folder: Path) -> list[str]:
    found = sorted(p for p in folder.rglob("*") if p.suffix.lower() in (".ttf", ".otf"))
    names = [(p, p.name.lower()) for p in found]
    few = [(p, n) for p, n in names if not n.startswith("noto") or n.startswith(_FEW)]
    return [str(p) for p, n in few if not any(s in n for s in _SKIP)]


@lru_cache(maxsize=1)
def packaged_typefaces() -> tuple[str, ...]:
    """Fonts of the packages that the `demo` extra installs.

    Raises UserError when none of them is there.
    """
    out: list[str] = []
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            out += _fonts_below(Path(folder))
    if not out:
        raise UserError("the simulated table finds no fonts; install them with: pip install 'pitwatch[demo]'")
    return tuple(out)


@lru_cache(maxsize=1)
def every_typeface() -> tuple[str, ...]:
    """The packaged fonts and every upright Latin font of the system: for training, where variety counts."""
    out = list(packaged_typefaces())
    for folder in (Path("/usr/share/fonts/truetype"), Path("/usr/share/fonts/opentype")):
        out += _fonts_below(folder)
    spec = importlib.util.find_spec("matplotlib")
    for place in (spec.submodule_search_locations or []) if spec else []:
        out += _fonts_below(Path(place) / "mpl-data" / "fonts" / "ttf")
    return tuple(p for p in out if _reads_digits(p))


def _reads_digits(path: str) -> bool:
    try:
        font = ImageFont.truetype(path, 20)
        boxes = {font.getbbox(c) for c in "AJQK2345678910"}
    except (OSError, ValueError):
        return False
    return len(boxes) > 4


@lru_cache(maxsize=256)
def typeface(path: str, size: int) -> ImageFont.FreeTypeFont:
    """The font at `path`, `size` pixels an em."""
    return ImageFont.truetype(path, size)
