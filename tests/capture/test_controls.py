"""A camera's controls, through the kernel's own structures: no camera is needed, a driver stands in that
keeps to linux/videodev2.h. What only a real driver shows (its quirks) is not tested here."""

from __future__ import annotations

import errno
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pitwatch.capture import controls
from pitwatch.capture.controls import CONTROLS, V4l2Controls, lock, restore
from pitwatch.capture.device import DeviceSource
from pitwatch.errors import UserError

HEADER = Path("/usr/include/linux/videodev2.h")
WEBCAM = {
    # name: (type, minimum, maximum, step, default, value); 1 integer, 2 boolean, 3 menu
    "power_line_frequency": (3, 0, 2, 1, 1, 1),
    "auto_exposure": (3, 0, 3, 1, 3, 3),
    "exposure_time_absolute": (1, 3, 2047, 1, 250, 166),
    "exposure_dynamic_framerate": (2, 0, 1, 1, 0, 1),
    "gain": (1, 0, 255, 1, 0, 40),
    "white_balance_automatic": (2, 0, 1, 1, 1, 1),
    "white_balance_temperature": (1, 2800, 6500, 1, 4000, 3912),
    "focus_automatic_continuous": (2, 0, 1, 1, 1, 1),
    "focus_absolute": (1, 0, 250, 5, 0, 35),
}


class Driver:
    """Answers as a UVC driver does. stubborn: controls that take every value and keep their own. menus:
    the choices that a menu has, where not all."""

    def __init__(self, has: dict[str, tuple[int, ...]], **menus: tuple[int, ...]) -> None:
        self.has = {CONTROLS[n]: list(c) for n, c in has.items()}
        self.menus = {CONTROLS[n]: c for n, c in menus.items()}
        self.stubborn: set[str] = set()
        self.refused: set[str] = set()

    def ioctl(self, fd: int, request: int, data: bytearray) -> int:
        size = (request >> 16) & 0x3FFF
        assert len(data) == size, "the kernel reads and writes as many bytes as the request's number says"
        if request == 0x80685600:
            data[:] = struct.pack(
                "=16s32s32sIII12x", b"uvcvideo", b"HD Webcam", b"usb-1.2", 6, 0x84A00001, 0x04200001
            )
            return 0
        number = struct.unpack_from("=I", data)[0]
        if number not in self.has:
            raise OSError(errno.EINVAL, "Invalid argument")
        kind, low, high, step, default, value = self.has[number]
        name = next(n for n, i in CONTROLS.items() if i == number)
        if request == 0xC0445624:
            data[:] = struct.pack("=II32siiiiI8x", number, kind, name.encode(), low, high, step, default, 0)
        elif request == 0xC02C5625:
            index = struct.unpack_from("=II", data)[1]
            if index not in self.menus.get(number, range(low, high + 1)):
                raise OSError(errno.EINVAL, "Invalid argument")
        elif request == 0xC008561B:
            data[:] = struct.pack("=Ii", number, value)
        elif request == 0xC008561C:
            wanted = struct.unpack("=Ii", data)[1]
            if name in self.refused:
                raise OSError(errno.EIO, "Input/output error")
            if not low <= wanted <= high:
                raise OSError(errno.ERANGE, "Numerical result out of range")
            if name not in self.stubborn:
                self.has[number][5] = wanted - (wanted - low) % step
        else:
            raise OSError(errno.ENOTTY, "Inappropriate ioctl for device")
        return 0

    def value(self, name: str) -> int:
        return self.has[CONTROLS[name]][5]


@contextmanager
def opened(driver: Driver, tmp_path: Path) -> Iterator[V4l2Controls]:
    node = tmp_path / "video0"
    node.touch()
    with V4l2Controls(str(node), driver.ioctl) as camera:
        yield camera


@pytest.mark.skipif(not HEADER.exists() or shutil.which("gcc") is None, reason="needs the kernel's headers")
def test_numbers_are_those_of_the_kernels_header(tmp_path: Path) -> None:
    """Compiled against videodev2.h: requests, sizes and ids."""
    names = {
        "power_line_frequency": "POWER_LINE_FREQUENCY",
        "auto_exposure": "EXPOSURE_AUTO",
        "exposure_time_absolute": "EXPOSURE_ABSOLUTE",
        "exposure_dynamic_framerate": "EXPOSURE_AUTO_PRIORITY",
        "gain_automatic": "AUTOGAIN",
        "gain": "GAIN",
        "white_balance_automatic": "AUTO_WHITE_BALANCE",
        "white_balance_temperature": "WHITE_BALANCE_TEMPERATURE",
        "focus_automatic_continuous": "FOCUS_AUTO",
        "focus_absolute": "FOCUS_ABSOLUTE",
    }
    assert set(names) == set(CONTROLS)
    requests = ("QUERYCAP", "QUERYCTRL", "QUERYMENU", "G_CTRL", "S_CTRL")
    numbers = [f"V4L2_CID_{n}" for n in names.values()] + [f"VIDIOC_{r}" for r in requests]
    lines = "".join(f'printf("%lu\\n", (unsigned long)({n}));' for n in numbers)
    source = tmp_path / "numbers.c"
    source.write_text(f"#include <stdio.h>\n#include <linux/videodev2.h>\nint main(void){{{lines}return 0;}}")
    program = tmp_path / "numbers"
    subprocess.run(["gcc", str(source), "-o", str(program)], check=True, timeout=60)
    said = [int(n) for n in subprocess.run([str(program)], capture_output=True, check=True).stdout.split()]
    assert said[: len(names)] == [CONTROLS[n] for n in names]
    mine = [controls._QUERYCAP, controls._QUERYCTRL, controls._QUERYMENU, controls._G_CTRL, controls._S_CTRL]
    assert said[len(names) :] == mine


def test_every_automatism_is_switched_off_and_what_it_came_to_is_held(tmp_path: Path) -> None:
    driver = Driver(WEBCAM, auto_exposure=(1, 3))
    with opened(driver, tmp_path) as camera:
        assert (camera.card, camera.bus, camera.captures) == ("HD Webcam", "usb-1.2", True)
        locked = lock(camera, 60)
    assert locked.said == ()
    assert driver.value("auto_exposure") == 1
    assert driver.value("exposure_time_absolute") == 166
    assert driver.value("exposure_dynamic_framerate") == 0
    assert driver.value("white_balance_automatic") == 0
    assert driver.value("white_balance_temperature") == 3912
    assert driver.value("focus_automatic_continuous") == 0
    assert driver.value("focus_absolute") == 35
    assert driver.value("power_line_frequency") == 2
    assert locked.settings == {n: driver.value(n) for n in WEBCAM}


def test_what_a_camera_does_not_allow_is_said_in_plain_sentences(tmp_path: Path) -> None:
    few = {n: WEBCAM[n] for n in ("auto_exposure", "exposure_time_absolute", "white_balance_automatic")}
    driver = Driver(few, auto_exposure=(0, 3))
    driver.stubborn.add("white_balance_automatic")
    with opened(driver, tmp_path) as camera:
        said = " ".join(lock(camera, 50).said)
    assert "cannot be set to 50 Hz lamps" in said
    assert "does not let its automatic exposure be switched off" in said
    assert "keeps its automatic white balance although told not to" in said
    assert "no control of its focus" in said


def test_a_restarted_camera_gets_its_settings_back_and_says_what_did_not_take(tmp_path: Path) -> None:
    driver = Driver(WEBCAM)
    with opened(driver, tmp_path) as camera:
        settings = lock(camera, 50).settings
    fresh = Driver(WEBCAM)
    with opened(fresh, tmp_path) as camera:
        assert restore(camera, settings) == ()
    assert {n: fresh.value(n) for n in WEBCAM} == settings
    other = Driver({n: c for n, c in WEBCAM.items() if not n.startswith("focus")})
    other.stubborn.add("auto_exposure")
    other.refused.add("gain")
    with opened(other, tmp_path) as camera:
        said = restore(camera, settings)
    assert len(said) == 4
    assert "'auto_exposure' should be 1, but stays 3" in " ".join(said)
    assert "'gain' should be 40, but cannot be set" in " ".join(said)
    assert "no control 'focus_absolute'" in " ".join(said)


def test_what_is_no_camera_is_said_as_such(tmp_path: Path) -> None:
    node = tmp_path / "video0"
    with pytest.raises(UserError, match="cannot be opened"):
        V4l2Controls(str(node))
    node.touch()
    # a plain file: the kernel itself refuses
    with pytest.raises(UserError, match="is no camera"):
        V4l2Controls(str(node))


class _Reopened:
    """A camera that breaks off after two frames each time."""

    def __init__(self) -> None:
        self.left = 3

    def isOpened(self) -> bool:
        return True

    def grab(self) -> bool:
        self.left -= 1
        return self.left >= 0

    def retrieve(self) -> tuple[bool, object]:
        import numpy as np

        return True, np.zeros((4, 4, 3), np.uint8)

    def release(self) -> None:
        pass


def test_controls_are_set_again_at_every_opening(tmp_path: Path) -> None:
    driver = Driver(WEBCAM)
    prepared = []

    def prepare() -> tuple[str, ...]:
        with opened(driver, tmp_path) as camera:
            prepared.append(restore(camera, {"auto_exposure": 1, "gain_automatic": 0}))
        return prepared[-1]

    source = DeviceSource("/dev/video0", _Reopened, prepare=prepare, retry_s=0.01)
    try:
        frames = iter(source)
        for _ in range(3):
            next(frames)
        assert len(prepared) >= 2
        assert driver.value("auto_exposure") == 1
        assert source.said == (
            "this camera has no control 'gain_automatic', which the table's file sets to 0",
        )
    finally:
        source.close()
