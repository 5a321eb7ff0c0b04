"""The wizard's steps: what the page asks for, one after the other or again.

In: taps and entries of the page, pictures of a camera. Out: a `Progress` that is on disk after each step,
and at the end the table's file, the commissioning sheet and the backup. Every refusal is a UserError of one
sentence.
"""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pitwatch import __version__
from pitwatch.errors import UserError
from pitwatch.setup import dealing, posing, tables
from pitwatch.setup.backup import make_backup
from pitwatch.setup.felt import checked_layout, drawn_layout
from pitwatch.setup.lens_job import LensJob
from pitwatch.setup.live import encode
from pitwatch.setup.progress import (
    STEPS,
    Check,
    Deal,
    Felt,
    Finish,
    House,
    Lens,
    Pose,
)
from pitwatch.setup.session import Session
from pitwatch.setup.sheet import commissioning_sheet
from pitwatch.table.anchor import print_offset_mm
from pitwatch.table.drift import Steadiness
from pitwatch.table.files import load_picture, read_json
from pitwatch.table.from_print import found_layout
from pitwatch.table.layout import LayoutError, arc
from pitwatch.table.verdicts import Judged, advice_on, judge_mounting, verdict_picture
from pitwatch.vision.eyes import Eyes

__all__ = ["Wizard"]

Image = NDArray[np.uint8]

_OFF_PRINT_MM = 12.0  # felt and layout differ by more: another camera, or it has moved
_SHIFT_PX = 3.0


class Wizard(Session):
    """The steps, in their order; each can be done again."""

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
        reference = self._reference()
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
            reference = self._reference()
            camera, layout = self.camera(), self.layout()
            felt = drawn_layout(reference, camera, layout)
            judged = judge_mounting(camera, layout, reference)
            sheet = commissioning_sheet(progress, felt, verdict_picture(reference, camera, layout, judged))
            self.store.put("commissioning.pdf", sheet)
            self.progress = progress
            self.store.write(progress)
            self.store.put(self.backup_path().name, make_backup(self.store))

    def _reference(self) -> NDArray[np.uint8]:
        """The felt as it was when it was checked, BGR."""
        return load_picture(self.store.path("reference.jpg"), "go back to the step 'check'")

    def backup_path(self) -> Path:
        """Where the backup lies."""
        name = self.progress.house.name if self.progress.house else "table"
        return self.store.path(f"{name}-backup.zip")


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
