"""Whether the pictures may be judged: the camera's state over time, from looks at the felt's print.

In: frames and their times. Out: what to do with each: go on, wait, stop judging, or go on with the camera as
it now stands. No clock is read. Units: seconds, mm in the table frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pitwatch.table.camera import Camera
from pitwatch.table.drift import State, Steadiness, Verdict
from pitwatch.table.layout import Layout
from pitwatch.table.patches import small_grey
from pitwatch.table.resolve import resolve

__all__ = ["CameraState", "Guard", "Ruling", "Stand"]

Image = NDArray[np.uint8]
Ruling = Literal["go", "wait", "stop", "nudged", "resume"]
Stand = Literal["learning", "unwatched", "steady", "moved", "lost", "blurred", "covered", "dark"]

_LOOK_S, _DOUBT_S = 0.25, 0.15  # between looks; when something seems wrong
_AGREE_S, _AGREE_LOOKS = 0.8, 3  # a bad state is believed when so many looks over so long say it
_AGAIN_S = 0.6  # and the end of it
_ALIKE_MM = 2.0  # cameras of several looks that are one; a swinging one is not gone on with
_SMALL_MM = 5.0  # at the spots: what the watcher does not even notice
_HIDDEN_S = 1.5  # no table in play hides nearly all of its print for longer
_LEARN_S, _LEARN_LOOKS, _RETRY_S = 0.4, 5, 30.0

_STOPPED: dict[State, str] = {
    "lost": "The felt is not seen as it was calibrated: take away what covers it, turn the camera back, or "
    "calibrate it anew",
    "blurred": "The picture is out of focus: set the lens sharp again, and clean it",
    "covered": "Something covers the lens: take it away",
    "dark": "The light over the table is off: switch it on",
}
_NOTHING = "; nothing is judged until then."


@dataclass(frozen=True)
class CameraState:
    """stand: what became of the camera. judging: whether its pictures are judged. since: when that began,
    seconds. text: a sentence for people, empty when all is as it should be."""

    stand: Stand
    judging: bool
    since: float
    text: str = ""


class Guard:
    """Watches over one camera. camera: the one in use, the calibrated one or as it stands now.

    state: for people. After "resume" it is not yet judging: the watcher says when, by `open_again`.
    """

    def __init__(self, camera: Camera, layout: Layout, reference: Image | None = None) -> None:
        """reference: a picture taken at calibration; without one, the first pictures are taken for it."""
        self.camera = camera
        self._layout = layout
        self._steadiness: Steadiness | None = None
        self._seats = {r.seat for r in resolve(camera, layout) if r.in_view}
        self._learnt: list[Image] = []
        self._next_t = float("-inf")
        self._doubts: list[tuple[float, Verdict]] = []
        self._holding = False
        self._stopped: State | None = None
        self._hidden_t: float | None = None
        self.state = CameraState("learning", True, 0.0)
        if reference is not None:
            self._begin(reference, 0.0)

    @property
    def stopped(self) -> bool:
        """Whether nothing is judged now."""
        return self._stopped is not None

    def step(self, t: float, image: Image) -> Ruling:
        """What to do with this frame.

        "wait": something seems wrong, or is; leave the frame out. "stop": from now on something is surely
        wrong. "nudged": go on, `camera` has changed a little. "resume": all is well again, or the
        camera was moved and `camera` says how it stands.
        """
        if t < self._next_t:
            return "wait" if self._holding else "go"
        if self._steadiness is None:
            self._learn(t, image)
            return "go"
        verdict = self._look(t, image, self._steadiness)
        ruling = self._watch(t, verdict) if self._stopped is None else self._wait(t, verdict)
        self._holding = ruling in ("wait", "stop")
        self._next_t = t + (_DOUBT_S if self._doubts or self._holding else _LOOK_S)
        return ruling

    def open_again(self, t: float) -> None:
        """The watcher has caught up, and a round may begin."""
        self.state = CameraState("steady", True, t)

    # -- learning

    def _learn(self, t: float, image: Image) -> None:
        self._next_t = t + _LEARN_S
        self._learnt.append(small_grey(image, self.camera))
        if len(self._learnt) >= _LEARN_LOOKS:
            # an arm over the table is not there in most of them
            usual = np.median(np.array(self._learnt), axis=0).astype(np.uint8)
            self._learnt = []
            self._begin(usual, t)

    def _begin(self, reference: Image, t: float) -> None:
        try:
            self._steadiness = Steadiness(reference, self.camera, self._layout)
            self.state = CameraState("steady", True, t)
        except ValueError:
            self._next_t = t + _RETRY_S
            text = "Too little print is seen on the felt to notice a moved camera."
            self.state = CameraState("unwatched", True, t, text)

    # -- looks

    def _look(self, t: float, image: Image, steadiness: Steadiness) -> Verdict | None:
        verdict = steadiness.look(image)
        if verdict is not None:
            self._hidden_t = None
            now = verdict.camera
            if now is not None and now is not self.camera and not self._in_view(now):
                return Verdict("lost", verdict.off_px, None, verdict.seen)
            return verdict
        self._hidden_t = t if self._hidden_t is None else self._hidden_t
        return Verdict("lost", 0.0, None, 0.0) if t - self._hidden_t >= _HIDDEN_S else None

    def _watch(self, t: float, verdict: Verdict | None) -> Ruling:
        """While all was well."""
        if verdict is None or verdict.state == "steady":
            self._doubts.clear()
            return "go"
        self._doubt(t, verdict)
        small = verdict.camera is not None and self._off_mm(self.camera, verdict.camera) < _SMALL_MM
        if not self._agreed(t, _AGREE_S):
            return "go" if small else "wait"
        self._doubts.clear()
        if small and verdict.camera is not None:
            self._use(verdict.camera)
            return "nudged"
        self._stop(t, verdict)
        return "stop"

    def _wait(self, t: float, verdict: Verdict | None) -> Ruling:
        """While nothing is judged."""
        if verdict is None:
            self._doubts.clear()
            return "wait"
        self._doubt(t, verdict)
        if not self._agreed(t, _AGAIN_S):
            return "wait"
        if verdict.camera is None:
            if verdict.state != self._stopped:
                self._stop(t, verdict)
            return "wait"
        if any(
            v.camera is None or self._off_mm(v.camera, verdict.camera) > _ALIKE_MM for _, v in self._doubts
        ):
            return "wait"  # still swinging
        off = self._off_mm(self.camera, verdict.camera)
        self._use(verdict.camera)
        self._doubts.clear()
        self._stopped = None
        again = "judging begins again with the next round."
        text = f"The camera sees the felt as it should again; {again}"
        if off > _ALIKE_MM:
            text = f"The camera was moved, by {off:.0f} mm at the spots; this is corrected, and {again}"
        self.state = CameraState("moved" if off > _ALIKE_MM else "steady", False, t, text)
        return "resume"

    def _doubt(self, t: float, verdict: Verdict) -> None:
        alike = self._doubts and self._kind(self._doubts[-1][1]) == self._kind(verdict)
        self._doubts = [*(self._doubts if alike else []), (t, verdict)][-8:]

    @staticmethod
    def _kind(verdict: Verdict) -> str:
        # steady or moved and known: both can be gone on with
        return "good" if verdict.camera is not None else verdict.state

    def _agreed(self, t: float, seconds: float) -> bool:
        return len(self._doubts) >= _AGREE_LOOKS and t - self._doubts[0][0] >= seconds - 1e-6

    def _stop(self, t: float, verdict: Verdict) -> None:
        self._stopped = verdict.state
        text = _STOPPED.get(verdict.state, "") + _NOTHING
        if verdict.state == "moved":
            text = (
                "The camera was moved; nothing is judged until the felt tells how it stands. If that "
                "lasts, turn it back, or calibrate it anew."
            )
        self.state = CameraState(verdict.state, False, t, text)

    def _use(self, camera: Camera) -> None:
        self.camera = camera
        if self._steadiness is not None:
            self._steadiness.aim(camera)

    def _off_mm(self, a: Camera, b: Camera) -> float:
        """How far apart, at most, two cameras take the spots to be."""
        spots = np.array(self._layout.spots)
        return float(np.hypot(*(b.to_table(a.project(spots)) - spots).T).max())

    def _in_view(self, camera: Camera) -> bool:
        return self._seats <= {r.seat for r in resolve(camera, self._layout) if r.in_view}
