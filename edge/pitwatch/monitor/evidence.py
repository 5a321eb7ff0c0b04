"""Evidence pictures: what the camera saw before, during and after a change, with the place marked.

In: BGR pictures of a zone at the camera's resolution, zones in mm. Out: JPEGs in the
journal, and the references that events carry.
"""

from __future__ import annotations

from collections import OrderedDict

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.journal import Journal, JournalError
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout, seat_of_zone
from pitwatch.vision.looks import Zone
from pitwatch.vision.watcher import evidence_box

__all__ = ["EvidenceKeeper"]

Image = NDArray[np.uint8]

_LONGEST = 900  # px; enough to read a card's index, small enough to send
_COLOUR = (90, 220, 255)  # BGR
_ROLES_KEPT = 4000


class EvidenceKeeper:
    """Called by the watcher to keep a picture; knows each kept picture's role afterwards.

    notice: a sentence when pictures cannot be kept, empty again when they can.
    """

    def __init__(self, journal: Journal, camera: Camera, layout: Layout) -> None:
        self._journal = journal
        self._camera = camera
        self._layout = layout
        self.roles: OrderedDict[str, str] = OrderedDict()
        self.notice = ""
        self._lost = 0

    def aim(self, camera: Camera) -> None:
        """Go on with the camera as it stands now."""
        self._camera = camera

    def __call__(self, t: float, role: str, image: Image, zone: Zone) -> str:
        """Keep one picture of a zone; the reference under which it is found again."""
        try:
            ref = self._journal.keep_evidence(f"{zone.name}-{t:.2f}-{role}", self._jpeg(image, zone))
            self.notice = ""
        except JournalError as e:
            # the finding is worth more than its picture
            self.notice = str(e)
            self._lost += 1
            return f"lost-{self._lost}"
        self.roles[ref] = role
        while len(self.roles) > _ROLES_KEPT:
            self.roles.popitem(last=False)
        return ref

    def _jpeg(self, image: Image, zone: Zone) -> bytes:
        out = np.array(image)
        seat = seat_of_zone(zone)
        if seat:
            x, y = self._layout.spots[seat - 1]
            a = np.linspace(0, 2 * np.pi, 40, endpoint=False)
            r = self._layout.circle_r
            ring = self._camera.project(np.column_stack([x + r * np.cos(a), y + r * np.sin(a)]))
            x0, y0, _, _ = evidence_box(self._camera, zone)
            points = np.round((ring - (x0, y0)) * 16).astype(np.int32)
            width = max(1, round(max(out.shape[:2]) / 250))
            cv2.polylines(out, [points], True, (0, 0, 0), width + 2, cv2.LINE_AA, 4)
            cv2.polylines(out, [points], True, _COLOUR, width, cv2.LINE_AA, 4)
        longest = max(out.shape[:2])
        if longest > _LONGEST:
            scale = _LONGEST / longest
            out = np.asarray(
                cv2.resize(out, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8
            )
        return bytes(cv2.imencode(".jpg", out, [cv2.IMWRITE_JPEG_QUALITY, 88])[1])
