"""One set-up in one folder: the live picture, what is known so far, and where the page stands.

In: a folder and a camera's name. Out: pictures, and a `Progress` that is on disk after each change. What each
step does, `Wizard` adds. Every refusal is a UserError of one sentence.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitwatch import __version__
from pitwatch.errors import UserError
from pitwatch.setup import dealing
from pitwatch.setup.lens_job import LensJob
from pitwatch.setup.live import Live, open_live
from pitwatch.setup.mounted import MountedCamera
from pitwatch.setup.progress import STEPS, Progress, Source, Store
from pitwatch.table.camera import Camera
from pitwatch.table.files import write_felt
from pitwatch.table.layout import Layout
from pitwatch.vision.eyes import Eyes

__all__ = ["Session"]

Image = NDArray[np.uint8]


class Session:
    """Methods may be called from any thread; long ones one at a time.

    now: the wall clock, for people. clock: seconds, for how long something took.
    """

    def __init__(self, store: Store, now: Callable[[], datetime], clock: Callable[[], float]) -> None:
        """Go on where the folder's state stands. Raises UserError when that cannot be read."""
        self.store = store
        self._now, self._clock = now, clock
        self.progress: Progress = store.read()
        self.live: Live | None = None
        self.live_error = ""
        self.device: MountedCamera | None = None
        self.still: Image | None = None
        self.lens_job: LensJob | None = None
        self.deal: dealing.TestDeal | None = None
        self._eyes: Eyes | None = None
        self._asked_at = 0.0
        self._working = threading.Lock()
        self.busy = ""
        self._camera, self._layout = store.camera(), store.layout()
        if self.progress.source is not None:
            try:
                self._open(self.progress.source)
            except UserError as e:
                self.live_error = str(e)

    # the picture

    def choose(self, spec: str, size: tuple[int, int] | None = None) -> None:
        """Film with this camera from now on. Raises UserError when it gives no picture; then the old one goes
        on."""
        with self._work("Opening the camera"):
            before = self.live
            if before is not None and before.spec == spec.strip() and before.kind == "camera":
                # two programs cannot film with one device
                before.close()
            live = open_live(spec, size)
            self._release()
            self._film(live)
            assert self.live is not None
            s = Source(spec=live.spec, width=live.width, height=live.height)
            if self.device is not None:
                s.card, s.bus = self.device.card, self.device.bus
            self._keep(source=s, check=None, finish=None)

    def _open(self, source: Source) -> None:
        size = (source.width, source.height)
        self._film(open_live(source.spec, size, source.controls))

    def _film(self, live: Live) -> None:
        self.live, self.live_error, self.still = live, "", None
        self.device = MountedCamera.of(live)

    def _release(self) -> None:
        if self.lens_job is not None:
            self.lens_job.close()
            self.lens_job = None
        if self.live is not None:
            self.live.close()
            self.live = None
        self.deal = None

    def picture(self) -> Image:
        """The newest picture. Raises UserError where there is none."""
        if self.live is None:
            raise UserError(self.live_error or "no camera is chosen yet; go back to the first step")
        return self.live.frame().image

    def step_picture(self, by: int) -> None:
        """The next or an earlier picture of a folder."""
        if self.live is not None:
            self.live.step(by)
            self.still = None

    def practise(self, what: str) -> None:
        """Lay something on the practice table. Raises UserError for a real one."""
        if self.live is None or self.live.kind != "practice":
            raise UserError("only the practice table lays cards by itself")
        table: Any = self.live.camera
        table.lay(what)
        self.still = None

    # the camera's controls

    def lock_controls(self, mains_hz: int | None) -> None:
        """Lock what the camera allows, verify, keep. Raises UserError where there is no camera."""
        source = self._source()
        if self.device is None:
            raise UserError("this source has no exposure or focus to lock; a camera has")
        with self._work("Locking the camera's controls"):
            locked = self.device.lock(mains_hz)
        self._keep(
            source=source.model_copy(
                update={"mains_hz": mains_hz, "controls": locked.settings, "said": list(locked.said)}
            )
        )

    def set_control(self, name: str, value: int) -> None:
        """Set one locked control and keep what the camera made of it. Raises UserError where it refuses."""
        source = self._source()
        if self.device is None or name not in source.controls:
            raise UserError(f"'{name}' is no control that is locked; lock the camera's controls first")
        now = self.device.set(name, value)
        self._keep(source=source.model_copy(update={"controls": {**source.controls, name: now}}))

    # for all steps

    def go(self, step: str) -> None:
        """Stand at a step; every step can be gone back to."""
        if step not in STEPS:
            raise UserError(f"there is no step '{step}'")
        if step != "lens" and self.lens_job is not None:
            self.lens_job.close()
            self.lens_job = None
        self._keep(step=step)

    def camera(self) -> Camera:
        """The calibrated camera. Raises UserError before there is one, or when it is another's."""
        if self._camera is None or self.progress.pose is None:
            raise UserError("the pose is not known yet; that step comes first")
        if wrong := [m for m in self.progress.mismatch() if m.startswith("The pose")]:
            raise UserError(wrong[0])
        return self._camera

    def layout(self) -> Layout:
        """The felt. Raises UserError before there is one."""
        if self._layout is None or self.progress.layout is None:
            raise UserError("where the spots are is not known yet; the layout comes first")
        return self._layout

    def state(self) -> dict[str, Any]:
        """Everything that the page shows."""
        live = self.live
        return {
            "version": __version__,
            "folder": str(self.store.folder.resolve()),
            "steps": list(STEPS),
            "done": self.progress.done(),
            "mismatch": self.progress.mismatch(),
            "progress": self.progress.model_dump(mode="json"),
            "live": None
            if live is None
            else {
                "spec": live.spec,
                "kind": live.kind,
                "width": live.width,
                "height": live.height,
                "place": live.place(),
            },
            "live_error": self.live_error,
            "controls": [] if self.device is None else self.device.knobs(self._source().controls),
            "device": self.device is not None,
            "camera": None if self._camera is None else self._camera.to_json(),
            "layout": None if self._layout is None else self._layout.to_json(),
            "lens_job": None if self.lens_job is None else self.lens_job.state(),
            "reference": self.store.path("reference.jpg").exists(),
            "busy": self.busy,
        }

    def close(self) -> None:
        """Release the camera."""
        self._release()

    def _source(self) -> Source:
        if self.progress.source is None:
            raise UserError("no camera is chosen yet; go back to the first step")
        return self.progress.source

    def _keep(self, **changes: Any) -> None:
        progress = self.progress.model_copy(update=changes)
        self.store.write(progress)
        self.progress = progress

    def _stamp(self) -> str:
        return self._now().isoformat(timespec="seconds")

    @contextmanager
    def _work(self, what: str) -> Iterator[None]:
        if not self._working.acquire(blocking=False):
            raise UserError(f"{self.busy or 'something else'} is still going on; wait a moment")
        self.busy = what
        try:
            yield
        finally:
            self.busy = ""
            self._working.release()

    def _put_camera(self, camera: Camera, note: str, felt: Image | None = None) -> None:
        """Keep a calibration. felt: the empty table as it sees it; none: what was kept is no longer so."""
        path = self.store.path("calibration.json")
        kept = {} if felt is None else write_felt(path, felt, camera)
        self.store.put_json("calibration.json", {**camera.to_json(), "note": note, **kept})
        self._camera = camera

    def _put_layout(self, felt: Layout, note: str) -> None:
        self.store.put_json("layout.json", {**felt.to_json(), "note": note})
        self._layout, self.deal = felt, None
