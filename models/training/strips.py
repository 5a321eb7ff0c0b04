"""A stack's strip as if its base had been taken elsewhere: what the stack reader must know its way out of.

In: strips cut at the true base, (N, 128, 32, 3) uint8. Out: the same, moved. Rows and columns are those of
`pitwatch.vision.crops.stack_strip`.
"""

from __future__ import annotations

import numpy as np

from pitwatch.vision.crops import CHIP_PITCH_MM, STRIP_COLUMN_MM, STRIP_ROWS, bulge_mm

__all__ = ["moved", "rows_a_mm"]


def rows_a_mm(scales: np.ndarray) -> np.ndarray:
    """How many rows lower a strip shows what lies a millimetre nearer to the camera, (N,).

    scales: (N, 2), px a layer and px a mm. From a camera at an elevation e over the felt, at s px/mm, a layer
    covers 3.4 s cos(e) and a millimetre towards it s sin(e); the mean scale on the felt is s sqrt(sin(e)).
    """
    q = (scales[:, 0] / np.maximum(scales[:, 1], 1e-6) / CHIP_PITCH_MM).astype(np.float64) ** 2
    sine = np.clip((np.sqrt(q**2 + 4) - q) / 2, 0.0, 0.995)
    return np.asarray(STRIP_ROWS / CHIP_PITCH_MM * sine / np.sqrt(1 - sine**2), np.float64)


def moved(strips: np.ndarray, scales: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Strips (N, h, w, 3) as if each one's base had been taken `rows` (N,) lower and `columns` (N,) aside.

    A strip follows the roundness of the stack that it was cut for: cut aside, a chip's edge runs aslant.
    scales: (N, 2) as in `rows_a_mm`. Columns are whole numbers. The picture's edge is repeated.
    """
    n, h, w = strips.shape[:3]
    lateral = (np.arange(w) + 0.5 - w / 2) * STRIP_COLUMN_MM
    nearer = bulge_mm(lateral) - bulge_mm(lateral + columns[:, None] * STRIP_COLUMN_MM)
    lower = rows[:, None] + nearer * rows_a_mm(scales)[:, None]
    across = np.clip(np.arange(w) + columns[:, None], 0, w - 1)
    down = np.clip(np.arange(h)[:, None] + lower[:, None, :], 0, h - 1)
    first = down.astype(np.int64)
    part = (down - first)[..., None].astype(np.float32)
    of, column = np.arange(n)[:, None, None], across[:, None, :]
    upper, under = strips[of, first, column], strips[of, np.minimum(first + 1, h - 1), column]
    return np.asarray(np.rint(upper + (under.astype(np.float32) - upper) * part), np.uint8)
