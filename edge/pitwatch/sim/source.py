"""The simulated table as a frame source: `sim:` where a camera's name would stand.

In: a spec like `sim:rounds=5,seed=1`. Out: frames and capture times, and nothing of what is played.
"""

from __future__ import annotations

from pitwatch.capture.frame import FrameSource
from pitwatch.sim.child import start
from pitwatch.sim.spec import SimSpec

__all__ = ["open_sim"]


def open_sim(spec: str) -> FrameSource:
    """Begin to film a simulated table.

    spec: `sim:` and, if wished, `key=value` pairs with commas between; the keys are the fields of `SimSpec`.
    Raises UserError naming the key and what it should be.
    """
    return start(SimSpec.parse(spec))
