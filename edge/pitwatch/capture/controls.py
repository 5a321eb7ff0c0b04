"""A camera's own controls: exposure, white balance, focus and the mains frequency, locked and kept so.

In: a V4L2 device and the values that a table's file keeps. Out: what was set and read back, and a plain
sentence for each thing that the camera does not allow. Talks to the driver itself (ioctl): OpenCV's
properties say neither what a camera has nor whether it obeyed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol

from pitwatch.errors import UserError

__all__ = ["CONTROLS", "Control", "Controls", "Locked", "Settings", "V4l2Controls", "lock", "restore"]

# linux/videodev2.h and v4l2-controls.h; the names are those of `v4l2-ctl --list-ctrls`
CONTROLS = {
    "power_line_frequency": 0x00980918,
    "auto_exposure": 0x009A0901,
    "exposure_time_absolute": 0x009A0902,
    "exposure_dynamic_framerate": 0x009A0903,
    "gain_automatic": 0x00980912,
    "gain": 0x00980913,
    "white_balance_automatic": 0x0098090C,
    "white_balance_temperature": 0x0098091A,
    "focus_automatic_continuous": 0x009A090C,
    "focus_absolute": 0x009A090A,
}
Settings = Mapping[str, int]

_QUERYCAP, _QUERYCTRL, _QUERYMENU = 0x80685600, 0xC0445624, 0xC02C5625
_G_CTRL, _S_CTRL = 0xC008561B, 0xC008561C
_CAPABILITY, _QUERY, _VALUE, _MENU = "=16s32s32sIII12x", "=II32siiiiI8x", "=Ii", "=II32sI"
_DISABLED, _READ_ONLY, _GRABBED = 0x1, 0x4, 0x2
_CAPTURES, _HAS_DEVICE_CAPS = 0x1, 0x80000000
_IS_MENU = 3

_MANUAL_EXPOSURE = 1
_MAINS = {50: 1, 60: 2}
# each automatism, what it moves, and what both are called
_AUTOMATISMS = (
    ("auto_exposure", _MANUAL_EXPOSURE, "exposure_time_absolute", "exposure"),
    ("gain_automatic", 0, "gain", "gain"),
    ("white_balance_automatic", 0, "white_balance_temperature", "white balance"),
    ("focus_automatic_continuous", 0, "focus_absolute", "focus"),
)


@dataclass(frozen=True)
class Control:
    """One control. choices: values of a menu that the camera really has, empty for a number."""

    name: str
    minimum: int
    maximum: int
    step: int
    default: int
    usable: bool
    choices: tuple[int, ...] = ()


class Controls(Protocol):
    """What of a camera is used to lock it; raises OSError where the driver refuses."""

    def find(self, name: str) -> Control | None: ...
    def get(self, name: str) -> int: ...
    def set(self, name: str, value: int) -> None: ...


@dataclass(frozen=True)
class Locked:
    """settings: every control as it was read back, by its name. said: a sentence for each thing that could
    not be locked; empty when all is."""

    settings: dict[str, int] = field(default_factory=dict)
    said: tuple[str, ...] = ()


class V4l2Controls:
    """The controls of one V4L2 device; use as a context. May be open beside the program that films.

    Raises UserError when the device cannot be opened, or is none.
    """

    def __init__(self, path: str, ioctl: Callable[[int, int, bytearray], int] | None = None) -> None:
        """ioctl: the kernel's; another one only where there is no camera."""
        self.path = path
        self._ioctl = ioctl or _kernel
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        except OSError as e:
            raise UserError(
                f"{path} cannot be opened ({e.strerror}); check the cable and permissions"
            ) from None
        try:
            answer = self._ask(_QUERYCAP, bytearray(struct.calcsize(_CAPABILITY)))
        except OSError as e:
            self.close()
            raise UserError(f"{path} is no camera ({e.strerror}); name another device") from None
        _, card, bus, _, capabilities, own = struct.unpack(_CAPABILITY, answer)
        self.card, self.bus = _text(card), _text(bus)
        flags = own if capabilities & _HAS_DEVICE_CAPS else capabilities
        self.captures = bool(flags & _CAPTURES)

    def find(self, name: str) -> Control | None:
        """What a control allows, None when the camera has none."""
        asked = bytearray(struct.pack(_QUERY, CONTROLS[name], 0, b"", 0, 0, 0, 0, 0))
        try:
            answer = self._ask(_QUERYCTRL, asked)
        except OSError as e:
            if e.errno in (errno.EINVAL, errno.ENOTTY):
                return None
            raise
        _, kind, _, low, high, step, default, flags = struct.unpack(_QUERY, answer)
        if flags & _DISABLED:
            return None
        choices = self._choices(CONTROLS[name], low, high) if kind == _IS_MENU else ()
        usable = not flags & (_READ_ONLY | _GRABBED)
        return Control(name, low, high, max(step, 1), default, usable, choices)

    def _choices(self, number: int, low: int, high: int) -> tuple[int, ...]:
        out = []
        for i in range(low, min(high, low + 63) + 1):
            try:
                self._ask(_QUERYMENU, bytearray(struct.pack(_MENU, number, i, b"", 0)))
            except OSError:
                continue
            out.append(i)
        return tuple(out)

    def get(self, name: str) -> int:
        """The value now. Raises OSError where the driver refuses."""
        answer = self._ask(_G_CTRL, bytearray(struct.pack(_VALUE, CONTROLS[name], 0)))
        return int(struct.unpack(_VALUE, answer)[1])

    def set(self, name: str, value: int) -> None:
        """Ask for a value; whether the camera took it, `get` tells. Raises OSError where it refuses."""
        self._ask(_S_CTRL, bytearray(struct.pack(_VALUE, CONTROLS[name], value)))

    def _ask(self, request: int, data: bytearray) -> bytes:
        self._ioctl(self._fd, request, data)
        return bytes(data)

    def close(self) -> None:
        """Close the device."""
        os.close(self._fd)

    def __enter__(self) -> V4l2Controls:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def lock(camera: Controls, mains_hz: int | None = None) -> Locked:
    """Switch every automatism off, hold what it had come to, and read all of it back.

    mains_hz: 50 or 60, of the lamps; None leaves the camera's choice. Do it when the picture looks right.
    """
    settings: dict[str, int] = {}
    said: list[str] = []
    if mains_hz is not None:
        _mains(camera, mains_hz, settings, said)
    if (c := _found(camera, "exposure_dynamic_framerate")) is not None and c.usable:
        _put(camera, c, 0, settings)
    for switch, off, value, thing in _AUTOMATISMS:
        knob = _found(camera, value)
        held = _read(camera, value) if knob is not None else None
        found = _found(camera, switch)
        if found is None:
            if knob is None and thing != "gain":
                said.append(f"this camera has no control of its {thing}: {_consequence(thing)}")
        elif not found.usable or (found.choices and off not in found.choices):
            said.append(
                f"this camera does not let its automatic {thing} be switched off: {_consequence(thing)}"
            )
            continue
        elif not _put(camera, found, off, settings):
            said.append(
                f"this camera keeps its automatic {thing} although told not to: {_consequence(thing)}"
            )
            continue
        # what the automatism had come to; the knob may have been inactive until now
        if knob is not None and held is not None:
            fresh = _found(camera, value) or knob
            if fresh.usable and not _put(camera, fresh, held, settings):
                said.append(
                    f"this camera did not hold its {thing} at {held} but at {settings.get(value, '?')}; look "
                    "whether the picture is still good"
                )
    return Locked(settings, tuple(said))


def restore(camera: Controls, settings: Settings) -> tuple[str, ...]:
    """Set controls as a table's file keeps them and read them back; a sentence for each that did not take."""
    said = []
    # switches before knobs: a knob is inactive while its automatism runs
    order = {name: i for i, name in enumerate(CONTROLS)}
    for name in sorted(settings, key=lambda n: (n not in _SWITCHES, order.get(n, 99))):
        wanted = settings[name]
        control = _found(camera, name) if name in CONTROLS else None
        if control is None:
            said.append(f"this camera has no control '{name}', which the table's file sets to {wanted}")
            continue
        now: dict[str, int] = {}
        if not _put(camera, control, wanted, now):
            stays = now.get(name)
            said.append(
                f"the camera's '{name}' should be {wanted}, but "
                + (f"stays {stays}" if stays is not None else "cannot be set")
            )
    return tuple(said)


_SWITCHES = {switch for switch, *_ in _AUTOMATISMS} | {"power_line_frequency", "exposure_dynamic_framerate"}


def _mains(camera: Controls, hz: int, settings: dict[str, int], said: list[str]) -> None:
    control = _found(camera, "power_line_frequency")
    wanted = _MAINS.get(hz)
    if wanted is None:
        raise UserError(f"{hz} Hz is no mains frequency; give 50 or 60")
    if control is None or not control.usable or (control.choices and wanted not in control.choices):
        said.append(f"this camera cannot be set to {hz} Hz lamps: bands may run through the picture")
    elif not _put(camera, control, wanted, settings):
        said.append(
            f"this camera did not take the setting for {hz} Hz lamps: bands may run through the picture"
        )


def _consequence(thing: str) -> str:
    return {
        "exposure": "keep the light constant, or brightness will follow arms and cards",
        "gain": "keep the light constant, or noise will come and go",
        "white balance": "keep the lamps as they are, or chips' colours will wander",
        "focus": "fix the lens's ring, or choose a camera whose focus is fixed",
    }[thing]


def _put(camera: Controls, control: Control, value: int, settings: dict[str, int]) -> bool:
    """Set, read back, and note what it is now; whether it is what was wanted, to a step."""
    wanted = min(max(value, control.minimum), control.maximum)
    try:
        camera.set(control.name, wanted)
        now = camera.get(control.name)
    except OSError:
        return False
    settings[control.name] = now
    return abs(now - value) < (1 if control.choices else control.step)


def _found(camera: Controls, name: str) -> Control | None:
    try:
        return camera.find(name)
    except OSError:
        return None


def _read(camera: Controls, name: str) -> int | None:
    try:
        return camera.get(name)
    except OSError:
        return None


def _kernel(fd: int, request: int, data: bytearray) -> int:
    return int(fcntl.ioctl(fd, request, data, True))


def _text(raw: bytes) -> str:
    return raw.split(b"\0")[0].decode("utf-8", "replace")
