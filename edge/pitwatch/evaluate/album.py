"""Pictures of mistakes: what was there and what was read, drawn side by side.

In: a picture, outcomes, the camera. Out: one JPEG a mistake in a folder that the user names, green what is
true, red what was seen; and a text of what went wrong in a round.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError
from pitwatch.evaluate.looking import card_corners, stack_outline
from pitwatch.evaluate.matching import CardOutcome, StackOutcome, reading
from pitwatch.table.camera import Camera
from pitwatch.vision.looks import CardSeen, StackSeen

__all__ = ["Album"]

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

_GREEN, _RED = (60, 220, 60), (50, 50, 255)
_SIDE = 480  # px of a picture in the album


class Album:
    """Writes mistakes under `folder`, a sub-folder a set; with None it writes nothing.

    Raises UserError when the folder cannot be made or written.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._made: set[Path] = set()

    def cards(
        self, of: str, file: str, image: Picture, outcomes: Sequence[CardOutcome], camera: Camera
    ) -> None:
        """Draw every card that was not read rightly. of: the set's name. file: the picture's."""
        for n, o in enumerate(o for o in outcomes if o.verdict != "right"):
            seen = None if o.seen is None else camera.project(card_corners(o.seen.x, o.seen.y, o.seen.yaw))
            lines = [
                f"true: {o.truth.code}{', clear' if o.truth.clear else ''}" if o.truth else "true: no card",
                f"seen: {_card_text(o.seen)}" if o.seen else "seen: nothing",
            ]
            self._draw(
                of,
                f"{Path(file).stem}-card-{o.verdict}-{n:02d}",
                image,
                o.truth.outline if o.truth else None,
                seen,
                lines,
            )

    def stacks(
        self, of: str, file: str, image: Picture, outcomes: Sequence[StackOutcome], camera: Camera
    ) -> None:
        """Draw every stack that was missed, false, or wrong in count or value."""
        for n, o in enumerate(outcomes):
            kind = _stack_mistake(o)
            if kind is None:
                continue
            seen = None if o.seen is None else stack_outline(camera, o.seen.x, o.seen.y, o.seen.count)
            lines = [
                f"true: {o.truth.count} chips, {o.truth.cents} c" if o.truth else "true: no stack",
                f"seen: {_stack_text(o.seen)}" if o.seen else "seen: nothing",
            ]
            name = f"{Path(file).stem}-stack-{kind}-{n:02d}"
            self._draw(of, name, image, o.truth.outline if o.truth else None, seen, lines)

    def text(self, of: str, name: str, lines: Sequence[str]) -> None:
        """Write what cannot be drawn."""
        if self.folder is not None and lines:
            path = self._place(of) / f"{name}.txt"
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _place(self, of: str) -> Path:
        assert self.folder is not None
        place = self.folder / of
        if place not in self._made:
            try:
                place.mkdir(parents=True, exist_ok=True)
            except OSError as e:
                raise UserError(
                    f"{place} cannot be made ({e.strerror}); name another folder for the errors"
                ) from None
            self._made.add(place)
        return place

    def _draw(
        self,
        of: str,
        name: str,
        image: Picture,
        truth: Array | None,
        seen: Array | None,
        lines: Sequence[str],
    ) -> None:
        if self.folder is None:
            return
        marks = [(m, c) for m, c in ((truth, _GREEN), (seen, _RED)) if m is not None]
        if marks:
            every = np.concatenate([m for m, _ in marks])
            low, high = every.min(axis=0), every.max(axis=0)
            middle, half = (low + high) / 2, max(40.0, 0.9 * float((high - low).max()))
        else:
            middle, half = np.array(image.shape[1::-1]) / 2, max(image.shape[:2]) / 2
        scale = _SIDE / (2 * half)
        # a warp, for the crop may reach over the picture's edge
        M = np.array([[scale, 0, -scale * (middle[0] - half)], [0, scale, -scale * (middle[1] - half)]])
        how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
        crop = cv2.warpAffine(image, M, (_SIDE, _SIDE), flags=how)
        for outline, colour in marks:
            corners = (outline @ M[:, :2].T + M[:, 2]).round().astype(np.int32)
            cv2.polylines(crop, [corners.reshape(-1, 1, 2)], True, colour, 1, cv2.LINE_AA)
        caption = np.zeros((22 * len(lines) + 6, _SIDE, 3), np.uint8)
        for k, line in enumerate(lines):
            cv2.putText(
                caption,
                line,
                (6, 20 + 22 * k),
                cv2.FONT_HERSHEY_SIMPLEX,
                0.5,
                (_GREEN, _RED)[k % 2],
                1,
                cv2.LINE_AA,
            )
        path = self._place(of) / f"{name}.jpg"
        if not cv2.imwrite(str(path), np.vstack([caption, crop])):
            raise UserError(f"{path} cannot be written; name another folder for the errors")


def _card_text(c: CardSeen) -> str:
    said = reading(c) or f"unread ({c.best})"
    return (
        f"{said}  p {c.confidence:.2f}  unread {c.unread:.2f}  score {c.score:.2f}  visible {c.visible:.2f}"
    )


def _stack_text(s: StackSeen) -> str:
    return f"{s.count} chips, {s.amount} c  p {s.confidence:.2f}  score {s.score:.2f}"


def _stack_mistake(o: StackOutcome) -> str | None:
    if o.truth is None:
        return "false"
    if o.seen is None:
        return "missed"
    if o.count_right is False:
        return "count"
    return "value" if o.value_right is False else None
