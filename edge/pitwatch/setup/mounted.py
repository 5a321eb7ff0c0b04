"""The V4L2 device behind the wizard's picture: its name, and its controls while it films.

In: a `Live`. Out: what `pitwatch.capture.controls` locks and reads back. Opened anew for each question, so
that a camera that is unplugged in between is said and not stuck to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pitwatch.capture.controls import Locked, V4l2Controls, lock
from pitwatch.errors import UserError
from pitwatch.setup.live import Live

__all__ = ["MountedCamera"]

_KNOBS = {
    "exposure_time_absolute": "exposure, 1/10 ms",
    "gain": "gain",
    "white_balance_temperature": "white balance, K",
    "focus_absolute": "focus",
}


class MountedCamera:
    """card, bus: what the device calls itself and where it is plugged in."""

    def __init__(self, path: str, opener: Callable[[str], V4l2Controls] = V4l2Controls) -> None:
        """Raises UserError when it is no camera."""
        self._path, self._opener = path, opener
        with opener(path) as camera:
            self.card, self.bus = camera.card, camera.bus

    @classmethod
    def of(cls, live: Live) -> MountedCamera | None:
        """The device that films, None for anything else."""
        if live.kind != "camera":
            return None
        name = live.spec.removeprefix("v4l2:") or "/dev/video0"
        path = f"/dev/video{name}" if re.fullmatch(r"\d+", name) else name
        if not Path(path).is_char_device():
            return None
        try:
            return cls(path)
        except UserError:
            return None

    def lock(self, mains_hz: int | None) -> Locked:
        """Lock and verify. Raises UserError when the camera is gone."""
        with self._opener(self._path) as camera:
            return lock(camera, mains_hz)

    def set(self, name: str, value: int) -> int:
        """Set one control; what it is then. Raises UserError where the camera refuses."""
        with self._opener(self._path) as camera:
            try:
                camera.set(name, value)
                return camera.get(name)
            except OSError as e:
                raise UserError(f"the camera does not take {value} for '{name}' ({e.strerror})") from None

    def knobs(self, settings: Mapping[str, int]) -> list[dict[str, Any]]:
        """The locked controls that may be turned: name, label, range and value."""
        out = []
        try:
            with self._opener(self._path) as camera:
                for name, label in _KNOBS.items():
                    c = camera.find(name) if name in settings else None
                    if c is not None:
                        out.append(
                            {
                                "name": name,
                                "label": label,
                                "minimum": c.minimum,
                                "maximum": c.maximum,
                                "step": c.step,
                                "value": settings[name],
                            }
                        )
        except (UserError, OSError):
            return []
        return out
