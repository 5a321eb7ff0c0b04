"""Whether the camera still stands and sees as it did when it was calibrated.

In: a picture of the calibrated table, then pictures as they come. Out: of each look alone: steady, moved
(with the camera as it stands now), lost (turned too far to say where), blurred, covered or dark.

The felt's own print is what is looked for: small patches of it, each found again or not. Hands, cards and
chips cover patches; they do not move many of them by one and the same turn of the camera.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout
from pitwatch.table.patches import AGREE_PX, Found, Patches, agreeing, edges, small_grey
from pitwatch.table.reaim import reaimed

__all__ = ["State", "Steadiness", "Verdict"]

Array = NDArray[np.float64]
Image = NDArray[np.uint8]
State = Literal["steady", "moved", "lost", "blurred", "covered", "dark"]

_FEWEST = 8  # patches that must agree
_SHARE = 0.15  # of those that were ever seen
_FEW_NEAR, _SHARE_NEAR = 6, 0.3
_THIRDS = 3  # a quick look takes every third patch
_STEADY_PX = 0.7  # of the small picture; less is noise
_DARK, _FLAT, _SOFT = 0.3, 0.45, 0.5
_SEEN_PX = 0.35  # how exactly a patch is found
_FIT_PX = 0.9  # rms of a pose to go on with
_SPREAD = 0.45  # of the print's extent must have been found again for that
_FAR_PX = 80.0  # a camera turned farther is for people to set right
# correlation of pictures reduced to a few dozen pixels: the same scene, and one like it
_SAME, _LIKE = 0.8, 0.5


@dataclass(frozen=True)
class Verdict:
    """One look. off_px: how far the print lies from where the camera in use puts it, in its own pixels.
    camera: as it stands now, None unless steady, or moved and surely known. seen: share of the patches that
    show.
    """

    state: State
    off_px: float
    camera: Camera | None
    seen: float


class Steadiness:
    """Compares pictures with the one taken at calibration. camera: the one in use, as `aim` has set it.

    Raises ValueError when the picture has too little print.
    """

    def __init__(self, reference: Image, camera: Camera, layout: Layout | None = None) -> None:
        """reference: BGR or grey, of the empty table as `camera` saw it, or of one at rest.

        layout: where cards and chips lie; print elsewhere is preferred.
        """
        self.camera = self._base = camera
        self._grey = small_grey(reference, camera)
        self._patches = Patches(self._grey, camera, layout)
        n = len(self._patches.points)
        if n < _FEWEST:
            raise ValueError(f"{n} patches of print are too few to tell a moved camera")
        self._known = np.zeros(n, bool)
        self._turn = 0
        self._expected = self._patches.points.astype(np.float64)
        self._level = float(np.median(self._grey)), float(np.percentile(self._grey, 90))
        self._edges = edges(self._grey)

    def aim(self, camera: Camera) -> None:
        """The camera now in use: steady is what it explains."""
        self.camera = camera
        self._expected = self._patches.expected(camera)

    def look(self, image: Image) -> Verdict | None:
        """What this picture alone says; None where it tells nothing, as of a table covered by arms."""
        grey = small_grey(image, self.camera)
        if self._is_dark(grey):
            return Verdict("dark", 0.0, None, 0.0)
        return self._near(grey) or self._far(grey)

    def _is_dark(self, grey: Image) -> bool:
        # not only dark clothes over much of it: what was bright is dark too
        now = float(np.median(grey[::4, ::4])), float(np.percentile(grey[::4, ::4], 90))
        return all(n < _DARK * was for n, was in zip(now, self._level, strict=True))

    def _near(self, grey: Image) -> Verdict | None:
        """Look where the camera in use puts the print: quick, and all there is to do on a good day."""
        self._turn = (self._turn + 1) % _THIRDS
        which = np.arange(self._turn, len(self._expected), _THIRDS)
        if len(which) < 2 * _FEW_NEAR:
            which = np.arange(len(self._expected))
        found = self._patches.find_near(grey, self._expected, which)
        agree = found.alike & (np.hypot(*found.off.T) < AGREE_PX)
        if agree.sum() < max(_FEW_NEAR, _SHARE_NEAR * len(which)):
            return None
        self._known[which[agree]] = True
        off = float(np.percentile(np.hypot(*found.off[agree].T), 75))
        if off >= _STEADY_PX or self._is_soft(found, agree):
            return None
        seen = float(found.alike.mean())
        return Verdict("steady", off / self._patches.scale, self.camera, seen)

    def _far(self, grey: Image) -> Verdict | None:
        """Look around for the print, and if it is not found, for why not."""
        every = np.arange(len(self._expected))
        found = self._patches.find_near(grey, self._expected, every)
        agree = agreeing(self._expected, found)
        if agree.sum() < self._need():
            found = self._patches.find_far(grey, self._expected)
            agree = agreeing(self._expected, found)
        seen = float(found.alike.mean())
        if agree.sum() >= self._need():
            self._known |= agree
            if self._is_soft(found, agree):
                return Verdict("blurred", 0.0, None, seen)
            # turned about its axis, the picture's middle stays where it is
            off = float(np.percentile(np.hypot(*found.off[agree].T), 75))
            if off > _FAR_PX:
                return Verdict("lost", off / self._patches.scale, None, seen)
            state: State = "steady" if off < _STEADY_PX else "moved"
            camera = self.camera if state == "steady" else self._reaimed(found, agree)
            return Verdict(state, off / self._patches.scale, camera, seen)
        alike_whole = _coarse(grey, self._grey)
        if alike_whole > _SAME and edges(grey) < _SOFT * self._edges:
            return Verdict("blurred", 0.0, None, seen)
        if edges(grey) < _FLAT * self._edges:
            return Verdict("covered", 0.0, None, seen)
        # a table so full that little of its print shows is still the same table
        return None if alike_whole > _LIKE else Verdict("lost", 0.0, None, seen)

    def _need(self) -> float:
        return max(_FEWEST, _SHARE * float(self._known.sum()))

    def _is_soft(self, found: Found, agree: NDArray[np.bool_]) -> bool:
        ratio = found.edges[agree] / self._patches.edges[found.which[agree]]
        return float(np.median(ratio)) < _SOFT

    def _reaimed(self, found: Found, agree: NDArray[np.bool_]) -> Camera | None:
        """The camera as it stands now; None where the print does not tell it surely."""
        at, every = self._expected[agree], self._expected
        extent = np.ptp(at, axis=0) / np.maximum(np.ptp(every, axis=0), 1)
        if extent.min() < _SPREAD:
            return None
        scale = self._patches.scale
        px = self._patches.full(at + found.off[agree])
        fit = reaimed(self._base, self._patches.mm[agree], px, _SEEN_PX / scale)
        return fit.camera if fit.rms_px * scale < _FIT_PX else None


def _coarse(a: Image, b: Image) -> float:
    """Correlation of two pictures reduced to 48 x 27 pixels."""
    x, y = (
        np.asarray(cv2.resize(g, (48, 27), interpolation=cv2.INTER_AREA), np.float64).ravel() for g in (a, b)
    )
    return float(np.corrcoef(x, y)[0, 1]) if min(x.std(), y.std()) > 1 else 0.0
