"""From what the user calls a source to the source."""

from __future__ import annotations

import importlib
import math
import os
import re
from pathlib import Path
from types import ModuleType

import cv2

from pitwatch.capture.controls import Settings, V4l2Controls, restore
from pitwatch.capture.device import DeviceSource, open_v4l2
from pitwatch.capture.files import PICTURES, FolderSource, VideoSource
from pitwatch.capture.frame import FrameSource
from pitwatch.errors import UserError

__all__ = ["of_the_demo", "open_source"]

_DEVICE = re.compile(r"v4l2:(?P<spec>.*)|(?P<path>/dev/(video|v4l/).+)")


def open_source(
    spec: str,
    *,
    fps: float | None = None,
    settled: bool = False,
    size: tuple[int, int] | None = None,
    stall_s: float = 5.0,
    controls: Settings | None = None,
) -> FrameSource:
    """Open a source and make sure that it gives a frame.

    spec: a video file, a folder of pictures or one picture, `v4l2:/dev/video0`, `v4l2:0` or `/dev/video0`, or
    `sim:...`. fps: pictures a second of a folder; for a camera the rate asked for; for a video instead of its
    own time stamps. settled: the table is at rest in every picture of the folder, `t` is its number. size:
    (width, height) asked of a camera. stall_s: longest silence of a camera before it is reported. controls:
    what a camera's controls are set to, each time that it is opened; without meaning for other sources.

    Raises UserError naming what cannot be read and the remedy.
    """
    if not spec.strip():
        raise UserError(
            "no source was named; give a video file, a folder of pictures, v4l2:/dev/video0 or sim:"
        )
    if fps is not None and not (math.isfinite(fps) and 0 < fps <= 1000):
        raise UserError(f"--fps {fps:g} is no frame rate; give pictures a second, like --fps 15")
    if settled and fps is not None:
        raise UserError("--fps and --settled exclude each other; keep one of them")
    # the decoders' own complaints about what is skipped and counted here anyway
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "8")
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    if spec.startswith("sim:"):
        return _open_sim(spec)
    device = _DEVICE.fullmatch(spec)
    path = Path(spec).expanduser()
    if settled and not (device is None and (path.is_dir() or path.suffix.lower() in PICTURES)):
        raise UserError(f"--settled is for folders of pictures, and {spec} is none; leave it out")
    if device is not None:
        return _open_device(device["path"] or device["spec"], fps, size, stall_s, controls or {})
    scheme = re.match(r"([A-Za-z0-9+]{2,}):", spec)
    if scheme is not None and not path.exists():
        raise UserError(
            f"{spec} is not a source that this version knows; give a video file, a folder of pictures, "
            f"v4l2:/dev/video0 or sim:"
        )
    if not path.exists():
        raise UserError(
            f"{spec} does not exist; give a video file, a folder of pictures, v4l2:/dev/video0 or sim:"
        )
    if not os.access(path, os.R_OK):
        raise UserError(f"{spec} may not be read by this user; change its permissions (`chmod +r`)")
    if path.is_dir() or path.suffix.lower() in PICTURES:
        return FolderSource(path, fps, settled)
    return VideoSource(path, fps)


def _open_device(
    name: str, fps: float | None, size: tuple[int, int] | None, stall_s: float, controls: Settings
) -> FrameSource:
    device = f"/dev/video{name}" if name.isdigit() else name or "/dev/video0"
    if not Path(device).exists():
        raise UserError(
            f"there is no camera {device}; plug it in, and see `v4l2-ctl --list-devices` for its name"
        )
    if not os.access(device, os.R_OK | os.W_OK):
        raise UserError(f"{device} may not be used by this user; add the user to the group 'video'")

    def prepare() -> tuple[str, ...]:
        try:
            with V4l2Controls(device) as camera:
                return restore(camera, controls)
        except UserError as e:
            return (str(e),)

    return DeviceSource(
        device,
        lambda: open_v4l2(device, size, fps),
        prepare=prepare if controls else None,
        stall_s=stall_s,
    )


def of_the_demo(module: str, what: str) -> ModuleType:
    """A module that needs what only the demo extra installs. Raises UserError saying that `what` needs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as e:
        raise UserError(
            f"{what} needs '{e.name}', which is not installed; `pip install 'pitwatch[demo]'`"
        ) from None


def _open_sim(spec: str) -> FrameSource:
    source: FrameSource = of_the_demo("pitwatch.sim.source", "the simulated table").open_sim(spec)
    return source
