"""What a simulated table is like, in one short text, and how its camera hangs.

In: a spec like `sim:rounds=5,seed=1,width=1920,height=1080`. Out: `SimSpec`, and the calibrated camera that a
watcher is told of. Lengths mm in the table frame, pictures in pixels. Knows nothing of what is played.
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, fields

import numpy as np

from pitwatch.errors import UserError
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout

__all__ = ["SimSpec", "mounted_camera"]


@dataclass(frozen=True)
class SimSpec:
    """What a simulated table is like.

    misplays: share of the rounds in which something goes wrong. fps: frames a second. pace: 1 as people
    deal, 2 twice as fast. distractions: how often somebody reaches over the table for nothing, 0 to 1.
    noise: of the sensor, grey levels. realtime: 1 when frames come at their own time, as from a camera, and
    a watcher that is busy misses them. paced: 1 when they come no faster than that, but wait for the watcher.
    """

    rounds: int = 5
    seed: int = 1
    width: int = 1920
    height: int = 1080
    fps: float = 15.0
    seats: int = 6
    misplays: float = 0.6
    pace: float = 1.0
    distractions: float = 0.3
    noise: float = 2.0
    realtime: int = 0
    paced: int = 0

    @classmethod
    def parse(cls, text: str) -> SimSpec:
        """Read `sim:` or `sim:key=value,...`. Raises UserError naming the key and what it should be."""
        values: dict[str, float] = {}
        whole = {f.name: f.type == "int" for f in fields(cls)}
        for item in filter(None, text.removeprefix("sim:").split(",")):
            key, _, value = item.partition("=")
            key = key.strip()
            if key not in whole:
                close = difflib.get_close_matches(key, whole, 1)
                hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(whole)}"
                raise UserError(f"{text!r} has the unknown key '{key}'; {hint}")
            try:
                values[key] = int(value) if whole[key] else float(value)
            except ValueError:
                kind = "a whole number" if whole[key] else "a number"
                raise UserError(f"'{key}' in {text!r} is {value!r}; it should be {kind}") from None
        spec = cls(**values)  # type: ignore[arg-type]
        for key, low, high in _LIMITS:
            if not low <= getattr(spec, key) <= high:
                raise UserError(
                    f"'{key}' in {text!r} is {getattr(spec, key):g}; it should be from {low:g} to {high:g}"
                )
        return spec

    def __str__(self) -> str:
        own = ((f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default)
        return "sim:" + ",".join(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in own)


_LIMITS: tuple[tuple[str, float, float], ...] = (
    ("rounds", 1, 100_000),
    ("width", 320, 7680),
    ("height", 180, 4320),
    ("fps", 1, 120),
    ("seats", 5, 7),
    ("misplays", 0, 1),
    ("pace", 0.2, 5),
    ("distractions", 0, 1),
    ("noise", 0, 20),
    ("realtime", 0, 1),
    ("paced", 0, 1),
)


def mounted_camera(layout: Layout, width: int, height: int) -> Camera:
    """A camera over the dealer's shoulder that has the whole table in its picture, of this size in pixels."""
    at = np.array([40.0, -360.0, 1180.0])
    reach = max(math.hypot(x, y) for x, y in layout.spots) + 120
    half = max(abs(x) for x, _ in layout.spots) + 95
    edge = [(x, y, 0.0) for x in (-half, half) for y in (20.0, 330.0)]
    edge += [(reach * math.cos(a), reach * math.sin(a), 0.0) for a in np.radians([50, 70, 90, 110, 130])]
    points = np.array([*edge, (0.0, -10.0, 0.0)])
    target = np.array([0.0, 330.0, 0.0])
    for _ in range(6):
        forward = (target - at) / np.linalg.norm(target - at)
        right = np.cross(forward, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        R = np.vstack([right, np.cross(forward, right), forward])
        seen = (points - at) @ R.T
        u, v = seen[:, 0] / seen[:, 2], seen[:, 1] / seen[:, 2]
        # the middle of what is seen into the middle of the picture
        target[1] -= (v.max() + v.min()) / 2 * float(np.linalg.norm(target - at)) * 0.9
    f = 0.97 * min(width / (u.max() - u.min()), height / (v.max() - v.min()))
    cx = width / 2 - 0.5 - f * (u.max() + u.min()) / 2
    K = np.array([[f, 0.0, cx], [0.0, f, height / 2 - 0.5], [0.0, 0.0, 1.0]])
    dist = np.array([-0.06, 0.02, 0.0, 0.0, 0.0])
    return Camera(width, height, K, R, -R @ at, dist)
