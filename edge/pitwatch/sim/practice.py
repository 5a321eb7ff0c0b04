"""A table to practise setting up: it lays out what the wizard asks for, so that no camera is needed.

In: what is to lie there. Out: frames of one calibrated camera, lengths mm in the
table frame. What the camera's calibration is, the wizard has to find out.
"""

from __future__ import annotations

import dataclasses
import math
import threading

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.capture.frame import Frame
from pitwatch.chips import CASINO
from pitwatch.errors import UserError
from pitwatch.sim.chipart import chip_art
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import casino_design
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.light import Lens, Light, spoil
from pitwatch.sim.render import Renderer
from pitwatch.sim.scene import CardPose, Scene
from pitwatch.sim.spec import SimSpec, mounted_camera
from pitwatch.table.board import BOARDS
from pitwatch.table.layout import template

__all__ = ["PLACES", "PracticeTable"]

Image = NDArray[np.uint8]

PLACES = (
    (-470, 180, 80),
    (-270, 360, 100),
    (-60, 180, 20),
    (20, 470, 95),
    (200, 300, 60),
    (340, 420, 130),
    (470, 170, 40),
    (-190, 80, 10),
)
_CARDS = ("5h", "7c", "Td", "2s", "Ah", "8c", "Kd", "3s")
_VIEWS = 24


class PracticeTable:
    """What a camera over it sees. camera: its true calibration, layout: its true felt."""

    def __init__(self, spec: SimSpec) -> None:
        self.layout = template(spec.seats)
        self.camera = dataclasses.replace(
            mounted_camera(self.layout, spec.width, spec.height), dist=np.zeros(5)
        )
        deck = Deck(casino_design(np.random.default_rng([spec.seed, 3])))
        felt, chips = draw_felt(self.layout, spec.seed), chip_art(CASINO, spec.seed)
        self._renderer = Renderer(self.camera, felt, deck, chips, Light())
        self._rng = np.random.default_rng([spec.seed, 29])
        self._lens = Lens(blur=0.5, noise=spec.noise)
        self._lock = threading.Lock()
        self._cards: tuple[CardPose, ...] = ()
        self._board = False
        self._scene: Image | None = None
        self._index = 0

    @classmethod
    def parse(cls, text: str) -> PracticeTable:
        """`sim:` or `sim:key=value,...`, of which width, height, seats, seed and noise count.

        Raises UserError naming the key and what it should be.
        """
        return cls(SimSpec.parse(text))

    def lay(self, what: str) -> None:
        """Lay out "nothing", "cards", "board" (held before the camera, moving), or "5h@3": a card at a seat.

        Raises UserError for anything else.
        """
        card, _, seat = what.partition("@")
        with self._lock:
            if what == "nothing":
                self._cards = ()
            elif what == "cards":
                self._cards = tuple(
                    CardPose(c, True, float(x), float(y), float(yaw), order=i)
                    for i, (c, (x, y, yaw)) in enumerate(zip(_CARDS, PLACES, strict=True))
                )
            elif seat.isdigit() and 1 <= int(seat) <= self.layout.n and card:
                x, y = self.layout.at(int(seat), 0.3 * self.layout.spot_r)
                ux, uy = self.layout.axis(int(seat))
                yaw = math.degrees(math.atan2(uy, ux))
                self._cards = (CardPose(card, True, x, y, yaw, seat=int(seat)),)
            elif what != "board":
                raise UserError(f"the practice table cannot lay {what!r}")
            self._board = what == "board"
            self._scene = None
            self._index += 1

    def newest(self) -> Frame:
        """The picture now."""
        with self._lock:
            if self._scene is None:
                clean = np.asarray(self._renderer.frame(Scene(0.0, self._cards)), np.uint8)
                if self._board:
                    clean = _with_board(clean, self.camera.K, self._index % _VIEWS)
                self._scene = np.asarray(spoil(clean, self._lens, self._rng), np.uint8)
            frame = Frame(float(self._index), self._scene, self._index, settled=True)
            if self._board:
                self._index += 1
                self._scene = None
            return frame

    def close(self) -> None:
        """Nothing has to be released."""


def _with_board(image: Image, K: NDArray[np.float64], number: int) -> Image:
    """The A3 board held before the camera, in one of a few places, turned this way and that."""
    board = BOARDS["a3"]
    (w, h), px = board.size_mm, 4.0
    black = cv2.resize(
        np.where(board.modules(), 20, 235).astype(np.uint8),
        (round(w * px), round(h * px)),
        interpolation=cv2.INTER_NEAREST,
    )
    edge = round(14 * px)
    sheet = cv2.copyMakeBorder(black, edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=235)
    column, row, tilt = number % 4, (number // 4) % 3, number % 5
    turn = np.radians([(-32, 0, 32, -20, 20)[tilt], (0, -32, 20, 32, -25)[(tilt + row) % 5], 7.0 * column])
    R = np.asarray(cv2.Rodrigues(turn)[0], np.float64)
    far = 620.0 + 90.0 * (number % 3)
    height, width = image.shape[:2]
    at = np.array([(0.2 + 0.2 * column) * width, (0.25 + 0.25 * row) * height, 1.0])
    t = far * (np.linalg.inv(K) @ at)
    to_mm = np.array(
        [[1 / px, 0, -(sheet.shape[1] / 2) / px], [0, 1 / px, -(sheet.shape[0] / 2) / px], [0, 0, 1]]
    )
    H = K @ np.column_stack([R[:, 0], R[:, 1], t]) @ to_mm
    seen = cv2.warpPerspective(sheet, H, (width, height), flags=cv2.INTER_AREA)
    mask = cv2.warpPerspective(np.full_like(sheet, 255), H, (width, height))
    share = (mask / 255.0)[..., None]
    return np.asarray(image * (1 - share) + seen[..., None] * share, np.uint8)
