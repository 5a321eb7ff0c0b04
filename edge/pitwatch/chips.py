"""Chips: denominations, a house's chip set, and money as text.

In: cents. Out: chips bottom to top, texts. Colours are RGB, 0 to 255. Knows nothing of rules or pictures.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["CASINO", "ChipSet", "Denomination", "load_chips", "make_change", "money", "save_chips"]

RGB = tuple[int, int, int]


@dataclass(frozen=True)
class Denomination:
    """One chip: its value in cents, its name, the colour of its body and of its edge spots."""

    cents: int
    name: str
    colour_rgb: RGB
    spot_rgb: RGB


@dataclass(frozen=True)
class ChipSet:
    """A house's chips, smallest value first.

    Raises ValueError when two chips share a value or one is worth nothing.
    """

    name: str
    denominations: tuple[Denomination, ...]

    def __post_init__(self) -> None:
        values = [d.cents for d in self.denominations]
        if not values or min(values) <= 0 or len(set(values)) != len(values):
            raise ValueError(
                f"chip set {self.name!r} needs chips of different values above 0, it has {values}"
            )
        object.__setattr__(self, "denominations", tuple(sorted(self.denominations, key=lambda d: d.cents)))

    def by_cents(self, cents: int) -> Denomination:
        """The chip worth `cents`; raises KeyError when the house has none."""
        for d in self.denominations:
            if d.cents == cents:
                return d
        raise KeyError(cents)


CASINO = ChipSet(
    "casino",
    (
        Denomination(100, "white", (226, 224, 214), (60, 80, 150)),
        Denomination(250, "pink", (222, 128, 158), (240, 236, 226)),
        Denomination(500, "red", (176, 32, 40), (238, 232, 220)),
        Denomination(2500, "green", (26, 112, 66), (238, 232, 220)),
        Denomination(10000, "black", (34, 34, 38), (226, 222, 212)),
        Denomination(50000, "purple", (92, 44, 128), (236, 216, 150)),
    ),
)


def load_chips(path: Path) -> ChipSet:
    """A chip set from a JSON file: {"name": ..., "chips": [{"cents", "name", "colour_rgb", "spot_rgb"}]}.

    Raises ValueError naming the file and what is wrong with it.
    """
    try:
        obj = json.loads(path.read_text("utf-8"))
        return ChipSet(str(obj["name"]), tuple(_denomination(d) for d in obj["chips"]))
    except (OSError, ValueError, KeyError, TypeError) as e:
        why = f"the key {e} is missing" if isinstance(e, KeyError) else str(e)
        raise ValueError(f"{path} is no chip set: {why}") from None


def _denomination(d: dict[str, Any]) -> Denomination:
    body, spot = (tuple(int(v) for v in d[k]) for k in ("colour_rgb", "spot_rgb"))
    if len(body) != 3 or len(spot) != 3:
        raise ValueError(f"the chip worth {d['cents']} needs colours of three numbers")
    return Denomination(int(d["cents"]), str(d["name"]), body, spot)


def save_chips(chips: ChipSet, path: Path) -> None:
    """Write a chip set as `load_chips` reads it."""
    obj = {"name": chips.name, "chips": [asdict(d) for d in chips.denominations]}
    path.write_text(json.dumps(obj, indent=1) + "\n", "utf-8")


def money(cents: int) -> str:
    """Cents as dollars: 2500 is "$25", 3750 is "$37.50", -500 is "-$5"."""
    sign = "-" if cents < 0 else ""
    dollars, rest = divmod(abs(cents), 100)
    return f"{sign}${dollars:,}" + (f".{rest:02d}" if rest else "")


def make_change(cents: int, chips: ChipSet = CASINO) -> tuple[int, ...]:
    """The fewest chips worth exactly `cents`, bottom to top: the biggest at the bottom.

    Raises ValueError when the set cannot make the amount.
    """
    if cents < 0:
        raise ValueError(f"{cents} cents cannot be laid in chips; give an amount of 0 or more")
    values = [d.cents for d in reversed(chips.denominations)]

    def lay(rest: int, k: int) -> tuple[int, ...] | None:
        if rest == 0:
            return ()
        if k == len(values):
            return None
        most = rest // values[k]
        # a bigger chip less may be needed: $3 in chips of $2.50 and $1
        for n in range(most, max(most - 5, -1), -1):
            above = lay(rest - n * values[k], k + 1)
            if above is not None:
                return (values[k],) * n + above
        return None

    stack = lay(cents, 0)
    if stack is None:
        raise ValueError(f"{money(cents)} cannot be made of the chips {', '.join(map(money, values))}")
    return stack
