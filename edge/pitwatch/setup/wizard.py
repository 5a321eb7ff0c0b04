"""The wizard itself: what each step of the page does, one after the other or again.

In: taps and entries of the page, pictures of a camera. Out: a `Progress` that is on disk after each step,
and at the end the table's file, the commissioning sheet and the backup. Every refusal is a UserError of one
sentence.
"""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch import __version__
from pitwatch.errors import UserError
from pitwatch.setup import dealing, posing, tables
from pitwatch.setup.backup import make_backup
from pitwatch.setup.felt import checked_layout, drawn_layout
from pitwatch.setup.lens_job import LensJob
from pitwatch.setup.live import Live, encode, open_live
from pitwatch.setup.mounted import MountedCamera
from pitwatch.setup.progress import (
    STEPS,
    Check,
    Deal,
    Felt,
    Finish,
    House,
    Lens,
    Pose,
    Progress,
    Source,
    Store,
)
from pitwatch.setup.sheet import commissioning_sheet
from pitwatch.table.anchor import print_offset_mm
from pitwatch.table.camera import Camera
from pitwatch.table.drift import Steadiness
from pitwatch.table.files import read_json, write_felt
from pitwatch.table.from_print import found_layout
from pitwatch.table.layout import Layout, LayoutError, arc
from pitwatch.table.verdicts import Judged, advice_on, judge_mounting, verdict_picture
from pitwatch.vision.eyes import Eyes

__all__ = ["Wizard"]

Image = NDArray[np.uint8]

_OFF_PRINT_MM = 12.0  # felt and layout differ by more: another camera, or it has moved
_SHIFT_PX = 3.0


class Wizard:
    """One set-up in one folder. Methods may be called from any thread; long ones one at a time.

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

    # the lens

    def start_lens(self) -> None:
        """Begin to collect views of the board."""
        self.picture()
        assert self.live is not None
        if self.lens_job is not None:
            self.lens_job.close()
        self.lens_job = LensJob(self.live)

    def solve_lens(self) -> None:
        """Make the lens of the views. Raises UserError saying what they lack."""
        if self.lens_job is None:
            raise UserError("no view of the board has been taken yet; begin to collect")
        with self._work("Calibrating the lens"):
            result, picture = self.lens_job.solve()
        self.store.put_json("lens.json", {**result.to_json(), "note": f"from {self._source().spec}"})
        self.store.put("lens.jpg", picture)
        source = self._source()
        said = [
            f"{result.model} lens, {result.field_of_view:.0f}° across",
            f"focal length {result.K[0, 0]:.0f} px ± {100 * result.focal_sigma:.2f} %",
            f"{len(result.views)} views, {result.rms_px:.2f} px rms",
        ]
        self.lens_job = None
        self._keep(lens=Lens(said=said, width=source.width, height=source.height, card=source.card))

    def skip_lens(self) -> None:
        """Go on without: the focal length comes with the pose."""
        if self.lens_job is not None:
            self.lens_job.close()
            self.lens_job = None
        self.store.path("lens.json").unlink(missing_ok=True)
        self._keep(lens=Lens(skipped=True))

    # the pose

    def take_still(self) -> Image:
        """Hold the picture of now, to tap points in it."""
        self.still = self.picture()
        return self.still

    def solve_pose(self, asked: posing.PoseRequest) -> posing.Posed:
        """Find out how the camera stands. Raises UserError with what is wrong; then the old pose stays."""
        source = self._source()
        image = self.still if self.still is not None else self.take_still()
        lens = self.store.path("lens.json")
        known = lens if lens.exists() and self.progress.lens and not self.progress.lens.skipped else None
        with self._work("Finding out how the camera stands"):
            posed = posing.solve(image, asked, known, self._layout if asked.method != "cards" else None)
        note = f"from {asked.method}, by pitwatch setup {__version__}"
        self._put_camera(posed.camera, note)
        pose = Pose(
            method=asked.method,
            said=posed.said,
            spread=posed.spread,
            width=source.width,
            height=source.height,
            card=source.card,
            when=self._stamp(),
        )
        felt = self.progress.layout
        if posed.layout is not None:
            self._put_layout(posed.layout, posed.layout_said)
            felt = Felt(how="print", said=posed.layout_said)
        self._keep(pose=pose, layout=felt, check=None, finish=None)
        self.deal = None
        return posed

    def take_turn(self) -> dict[str, Any]:
        """Whether the camera still stands as it did when the felt was checked; if it has turned a little, the
        calibration is turned with it."""
        path = self.store.path("reference.jpg")
        if self._camera is None or not path.exists():
            return {"state": "unknown", "said": "There is nothing to compare with yet."}
        image = self.picture()
        if image.shape[1] != self._camera.width or image.shape[0] != self._camera.height:
            raise UserError(self.progress.mismatch()[0])
        reference = np.asarray(cv2.imread(str(path), cv2.IMREAD_COLOR), np.uint8)
        with self._work("Comparing with how it was"):
            try:
                verdict = Steadiness(reference, self._camera, self._layout).look(image)
            except ValueError as e:
                return {"state": "unknown", "said": f"That cannot be told: {e}."}
        if verdict is None:
            return {"state": "unknown", "said": "Too much of the felt is covered to tell; clear the table."}
        shift = f"{verdict.off_px:.1f} px"
        if verdict.state == "steady" or (verdict.camera is not None and verdict.off_px < _SHIFT_PX):
            return {"state": "steady", "said": f"The felt lies where it should, to {shift}."}
        if verdict.state == "moved" and verdict.camera is not None:
            note = f"turned by {shift} after a change of the camera"
            self._put_camera(verdict.camera, note)
            self._keep(check=None, finish=None)
            return {
                "state": "moved",
                "said": f"The felt has shifted by {shift}: the camera's turn has been taken into account. "
                "Look whether the circles lie on their print.",
            }
        what = {
            "dark": "It is too dark",
            "covered": "Most of the felt is covered",
            "blurred": "It is blurred",
        }
        said = what.get(verdict.state, "This is another view than before: the pose has to be made again")
        return {"state": verdict.state, "said": f"{said}."}

    def _put_camera(self, camera: Camera, note: str, felt: Image | None = None) -> None:
        """Keep a calibration. felt: the empty table as it sees it; none: what was kept is no longer so."""
        path = self.store.path("calibration.json")
        kept = {} if felt is None else write_felt(path, felt, camera)
        self.store.put_json("calibration.json", {**camera.to_json(), "note": note, **kept})
        self._camera = camera

    # the layout

    def layout_from_arc(self, seats: int, radius: float, first: float, cy: float, circle: float) -> None:
        """A felt by the parameters of its arc. Raises UserError for an arc that is none."""
        try:
            felt = arc(seats, radius, first, cy=cy, circle_r=circle, insurance_r=round(0.67 * radius, 1))
        except LayoutError as e:
            raise UserError(str(e)) from None
        said = f"{seats} spots on an arc of {radius:g} mm"
        self._put_layout(felt, said)
        self._keep(layout=Felt(how="template", said=said), check=None, finish=None)

    def layout_from_print(self, seats: int) -> None:
        """The felt as its printed circles tell. Raises UserError where they do not."""
        camera = self.camera()
        image = self.picture()
        with self._work("Looking for printed circles"):
            fitted = found_layout(image, camera, seats)
        felt = fitted.layout
        if self._layout is not None and self._layout.n == felt.n:
            felt = dataclasses.replace(felt, areas=self._layout.areas)
        self._put_layout(felt, fitted.said)
        how: Literal["template", "print"] = "template" if "template" in fitted.sources else "print"
        self._keep(layout=Felt(how=how, said=fitted.said), check=None, finish=None)

    def put_layout(self, value: dict[str, Any]) -> None:
        """A felt as it was dragged on the page. Raises UserError naming what cannot be."""
        felt = checked_layout(value)
        self._put_layout(felt, "adjusted by hand in pitwatch setup")
        before = self.progress.layout
        said = before.said if before else ""
        self._keep(layout=Felt(how="drawn", said=said), check=None, finish=None)

    def _put_layout(self, felt: Layout, note: str) -> None:
        self.store.put_json("layout.json", {**felt.to_json(), "note": note})
        self._layout, self.deal = felt, None

    # what can be judged

    def judge(self) -> None:
        """The verdicts on this mounting, by the picture of now, with the table empty or at rest."""
        camera, layout, image = self.camera(), self.layout(), self.picture()
        with self._work("Judging the mounting"):
            judged = judge_mounting(camera, layout, image)
            advice = advice_on(judged)
            off = print_offset_mm(image, camera, layout)
            if off is not None and off[1] > _OFF_PRINT_MM:
                advice.insert(
                    0,
                    f"the {off[0]} printed circles in view lie {off[1]:.0f} mm from the layout's: this "
                    "calibration is of another camera or resolution, or the camera has moved; make the pose "
                    "again",
                )
            drawn = verdict_picture(image, camera, layout, judged)
        self.store.put("check.jpg", encode(drawn, 1920, 88))
        self.store.put("reference.jpg", encode(image, image.shape[1], 95))
        # the empty felt as this camera sees it: by it a watch notices that the camera was moved
        path = self.store.path("calibration.json")
        self._put_camera(camera, read_json(path, "a calibration").get("note", ""), image)
        rows = [_row(j) for j in judged]
        self._keep(check=Check(rows=rows, advice=advice, when=self._stamp()), finish=None)

    # house and test deal

    def put_house(self, house: House) -> None:
        """Names, rules and where alerts go. Raises UserError naming the entry that will not do."""
        self._keep(house=tables.checked_house(house), finish=None)

    def ask_deal(self) -> None:
        """Ask for another card at another seat."""
        layout = self.layout()
        card, seat = dealing.ask(layout.n, len(self.progress.deals))
        with self._work("Opening the eyes"):
            self._eyes = self._eyes or Eyes(self.camera())
            self.deal = dealing.TestDeal(self.camera(), layout, card, seat, self._eyes)
        self._asked_at = self._clock()

    def look_deal(self) -> dict[str, Any]:
        """One look for the card that was asked for."""
        if self.deal is None:
            self.ask_deal()
        assert self.deal is not None
        deal, before = self.deal, self.deal.found
        if self.live is None:
            raise UserError(self.live_error or "no camera is chosen yet")
        seconds = self._clock() - self._asked_at
        seen = deal.look(self.live.frame(), seconds, still=self.live.kind in ("folder", "practice"))
        if seen and before is None:
            self._note_deal(deal)
        return {
            "card": deal.card,
            "name": dealing.card_name(deal.card),
            "seat": deal.seat,
            "seen": seen,
            "confidence": deal.confidence,
            "said": deal.sentence(),
            "sights": [dataclasses.asdict(s) for s in deal.sights],
        }

    def give_up_deal(self) -> None:
        """The card was laid and not seen: note it, and ask for another."""
        if self.deal is not None and self.deal.found is None:
            self._note_deal(self.deal)
        self.ask_deal()

    def skip_deal(self) -> None:
        """Go on without a test deal; the sheet says so."""
        self._keep(deal_skipped=True, finish=None)

    def _note_deal(self, deal: dealing.TestDeal) -> None:
        best = max(deal.sights, key=lambda s: s.confidence, default=None)
        noted = Deal(
            card=deal.card,
            seat=deal.seat,
            seen=None if best is None else best.card,
            confidence=deal.confidence if deal.found is not None else 0.0,
            seconds=None if deal.found is None else round(deal.found, 1),
            when=self._stamp(),
        )
        self._keep(deals=[*self.progress.deals, noted], finish=None)

    # the end

    def finish(self, who: str) -> None:
        """Write the table's file, the commissioning sheet and the backup. Raises UserError naming what is not
        done yet."""
        if not who.strip() or len(who) > 80:
            raise UserError("your name is missing; the commissioning sheet says who set the table up")
        done = set(self.progress.done())
        if missing := [s for s in STEPS[:-1] if s not in done]:
            raise UserError(
                f"the step '{missing[0]}' is not done yet; the page goes there from the list of steps"
            )
        if wrong := self.progress.mismatch():
            raise UserError(wrong[0])
        with self._work("Writing the table's file"):
            when = self._stamp()
            progress = self.progress.model_copy(update={"finish": Finish(who=who.strip(), when=when)})
            heading = f"Written by pitwatch setup {__version__}, {when[:16]}, for {who.strip()}."
            self.store.put("table.toml", tables.table_text(progress, heading).encode())
            tables.proven(self.store.path("table.toml"))
            reference = np.asarray(cv2.imread(str(self.store.path("reference.jpg"))), np.uint8)
            camera, layout = self.camera(), self.layout()
            felt = drawn_layout(reference, camera, layout)
            judged = judge_mounting(camera, layout, reference)
            sheet = commissioning_sheet(progress, felt, verdict_picture(reference, camera, layout, judged))
            self.store.put("commissioning.pdf", sheet)
            self.progress = progress
            self.store.write(progress)
            self.store.put(self.backup_path().name, make_backup(self.store))

    def backup_path(self) -> Path:
        """Where the backup lies."""
        name = self.progress.house.name if self.progress.house else "table"
        return self.store.path(f"{name}-backup.zip")

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


def _row(j: Judged) -> dict[str, Any]:
    r = {k: _rounded(v) for k, v in dataclasses.asdict(j.resolved).items()}
    return {
        **r,
        "chips_said": j.chips,
        "place": j.place,
        "verdict": j.verdict,
        "faults": list(j.quality.faults) if j.quality else [],
    }


def _rounded(v: Any) -> Any:
    return round(v, 3) if isinstance(v, float) and math.isfinite(v) else v
