"""The picture that the wizard shows: the newest of a camera, a clip, a folder or the practice table.

In: a source's name. Out: frames on demand, and as JPEG. A camera that fails is said and waited for.
"""

from __future__ import annotations

import itertools
import re
import threading
import time
from pathlib import Path
from typing import Literal, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.capture import Frame, FrameSource, open_source
from pitwatch.capture.controls import Settings
from pitwatch.capture.files import PICTURES, FolderSource
from pitwatch.capture.opening import of_the_demo
from pitwatch.errors import UserError

__all__ = ["Camera", "Devices", "Kind", "Live", "devices", "encode", "open_live"]

Kind = Literal["camera", "clip", "folder", "practice"]
Devices = list[dict[str, str]]

_WIDE = 1600  # px; what the page is sent at most, but for still pictures
_WAIT_S = 6.0
_CLIP_S = 0.12
_NUMBERS = itertools.count(1)


class Camera(Protocol):
    """Anything that has a newest picture. Raises UserError saying why there is none."""

    def newest(self) -> Frame: ...
    def close(self) -> None: ...


class Live:
    """The newest frame of a source. kind: what it is; spec: what it was called."""

    def __init__(self, spec: str, kind: Kind, camera: Camera) -> None:
        self.spec, self.kind, self.camera = spec, kind, camera
        try:
            image = camera.newest().image
        except BaseException:
            camera.close()
            raise
        self.height, self.width = image.shape[:2]
        self._lock = threading.Lock()
        self.number = next(_NUMBERS)
        self._coded: tuple[tuple[int, float], bytes] | None = None

    def frame(self) -> Frame:
        """The newest picture. Raises UserError where there is none, or of another size than at first."""
        frame = self.camera.newest()
        h, w = frame.image.shape[:2]
        if (w, h) != (self.width, self.height):
            raise UserError(
                f"the camera now gives {w} x {h} pixels, not {self.width} x {self.height}; choose it anew"
            )
        return frame

    def jpeg(self) -> tuple[bytes, str]:
        """The newest picture for the page, and a name that changes with it."""
        frame = self.frame()
        with self._lock:
            key = (frame.index, frame.t)
            if self._coded is None or self._coded[0] != key:
                self._coded = (key, encode(frame.image, _WIDE, 80))
            return self._coded[1], f"{self.number}-{frame.index}-{frame.t}"

    def step(self, by: int) -> None:
        """Show the next or an earlier picture of a folder; nothing for others."""
        if isinstance(self.camera, _Folder):
            self.camera.step(by)

    def place(self) -> str:
        """Which picture of how many, "" where that means nothing."""
        return self.camera.place() if isinstance(self.camera, _Folder) else ""

    def close(self) -> None:
        """Release it."""
        self.camera.close()


def encode(image: NDArray[np.uint8], wide: int, quality: int) -> bytes:
    """JPEG of a picture, made smaller when it is wider than `wide` px."""
    scale = wide / image.shape[1]
    if scale < 1:
        image = np.asarray(
            cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8
        )
    return bytes(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1])


def open_live(spec: str, size: tuple[int, int] | None = None, controls: Settings | None = None) -> Live:
    """Open a camera, a clip, a folder or `sim:`. Raises UserError naming it and the remedy."""
    spec = spec.strip()
    if spec.startswith("sim:"):
        practice = of_the_demo("pitwatch.sim.practice", "the practice table")
        return Live(spec, "practice", practice.PracticeTable.parse(spec))
    path = Path(spec).expanduser()
    if path.exists() and (path.is_dir() or path.suffix.lower() in PICTURES):
        return Live(spec, "folder", _Folder(path))
    source = open_source(spec, size=size, controls=controls)
    if source.live:
        return Live(spec, "camera", _Running(source, spec))
    source.close()
    return Live(spec, "clip", _Running(None, spec))


def devices() -> Devices:
    """The V4L2 cameras of this computer: what `open_live` takes and what each calls itself."""
    from pitwatch.capture.controls import V4l2Controls

    out: Devices = []
    nodes = sorted(Path("/dev").glob("video*"), key=lambda p: [int(n) for n in re.findall(r"\d+", p.name)])
    for node in nodes:
        try:
            with V4l2Controls(str(node)) as camera:
                if camera.captures:
                    out.append(
                        {"spec": f"v4l2:{node}", "name": camera.card, "detail": f"{node}, {camera.bus}"}
                    )
        except UserError as e:
            out.append({"spec": "", "name": str(node), "detail": str(e)})
    return out


class _Running:
    """A live camera, or a clip played over and over at its own pace, read by a thread."""

    def __init__(self, source: FrameSource | None, spec: str) -> None:
        self._source, self._spec = source, spec
        self._new = threading.Condition()
        self._frame: Frame | None = None
        self._error: UserError | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="setup camera", daemon=True)
        self._thread.start()

    @property
    def source(self) -> FrameSource | None:
        """The camera, None for a clip."""
        return self._source

    def newest(self) -> Frame:
        with self._new:
            self._new.wait_for(lambda: self._frame is not None or self._error is not None, _WAIT_S)
            if self._error is not None:
                raise self._error
            if self._frame is None:
                raise UserError(f"{self._spec} has given no picture yet; check its cable and power")
            return self._frame

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._play() if self._source is None else self._film(self._source)
            except UserError as e:
                with self._new:
                    self._error = e
                    self._new.notify_all()
                self._stop.wait(0.5)

    def _film(self, source: FrameSource) -> None:
        for frame in source:
            self._put(frame)
            if self._stop.is_set():
                return

    def _play(self) -> None:
        source = open_source(self._spec)
        try:
            last: float | None = None
            for frame in source:
                # a clip's pictures are shown at the pace of its time stamps, but no more than eight a second
                if last is not None and frame.t - last < _CLIP_S:
                    continue
                if last is not None and self._stop.wait(min(frame.t - last, 1.0)):
                    return
                last = frame.t
                self._put(frame)
        finally:
            source.close()

    def _put(self, frame: Frame) -> None:
        with self._new:
            self._frame, self._error = frame, None
            self._new.notify_all()

    def close(self) -> None:
        self._stop.set()
        if self._source is not None:
            self._source.close()
        self._thread.join(timeout=3)


class _Folder:
    """A folder's pictures, one at a time."""

    def __init__(self, path: Path) -> None:
        self._files = FolderSource(path, settled=True).files
        self._lock = threading.Lock()
        self._at = 0
        self._frame: Frame | None = None

    def step(self, by: int) -> None:
        with self._lock:
            self._at = (self._at + by) % len(self._files)
            self._frame = None

    def place(self) -> str:
        return f"{self._files[self._at].name}, {self._at + 1} of {len(self._files)}"

    def newest(self) -> Frame:
        with self._lock:
            if self._frame is None:
                path = self._files[self._at]
                first = next(iter(FolderSource(path, settled=True)))
                self._frame = Frame(time.monotonic(), first.image, self._at, settled=True, name=path.name)
            return self._frame

    def close(self) -> None:
        self._frame = None
