"""Where the pips of the number cards lie, as most printers lay them and as some do.

In: ranks. Out: places, shares of the pip field.
"""

from __future__ import annotations

__all__ = ["OTHER_PIPS", "PIPS", "Places"]

Places = tuple[tuple[float, float], ...]

# Where the pips of two to ten lie: shares of the pip field, x from left to right, y from the top; a pip in
# the lower half stands on its head.
_L, _M, _R = 0.0, 0.5, 1.0
PIPS: dict[str, Places] = {
    "2": ((_M, 0), (_M, 1)),
    "3": ((_M, 0), (_M, 0.5), (_M, 1)),
    "4": ((_L, 0), (_R, 0), (_L, 1), (_R, 1)),
    "5": ((_L, 0), (_R, 0), (_M, 0.5), (_L, 1), (_R, 1)),
    "6": ((_L, 0), (_R, 0), (_L, 0.5), (_R, 0.5), (_L, 1), (_R, 1)),
    "7": ((_L, 0), (_R, 0), (_L, 0.5), (_R, 0.5), (_L, 1), (_R, 1), (_M, 0.25)),
    "8": ((_L, 0), (_R, 0), (_L, 0.5), (_R, 0.5), (_L, 1), (_R, 1), (_M, 0.25), (_M, 0.75)),
    "9": ((_L, 0), (_R, 0), (_L, 1 / 3), (_R, 1 / 3), (_L, 2 / 3), (_R, 2 / 3), (_L, 1), (_R, 1), (_M, 0.5)),
    "T": (
        (_L, 0),
        (_R, 0),
        (_L, 1 / 3),
        (_R, 1 / 3),
        (_L, 2 / 3),
        (_R, 2 / 3),
        (_L, 1),
        (_R, 1),
        (_M, 1 / 6),
        (_M, 5 / 6),
    ),
}
# How some printers lay them otherwise: whole columns, a square of nine, the odd pip below the middle.
_COLUMNS = {n: tuple((x, i / (n - 1)) for i in range(n) for x in (_L, _R)) for n in (4, 5)}
OTHER_PIPS: dict[str, Places] = {
    "6": ((_L, 0.2), (_R, 0.2), (_L, 0.5), (_R, 0.5), (_L, 0.8), (_R, 0.8)),
    "7": ((_L, 0), (_R, 0), (_L, 0.5), (_R, 0.5), (_L, 1), (_R, 1), (_M, 0.75)),
    "8": _COLUMNS[4],
    "9": tuple((x, y) for y in (0, 0.5, 1) for x in (_L, _M, _R)),
    "T": _COLUMNS[5],
}
