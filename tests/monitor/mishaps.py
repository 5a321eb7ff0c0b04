"""A simulated table whose camera meets with a mishap: bumped, defocused, covered, or the light goes out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import cv2
import numpy as np

from pitwatch.capture.frame import Frame
from pitwatch.sim.spec import SimSpec
from pitwatch.sim.stage import Stage
from pitwatch.table.camera import Camera

Spoil = Callable[[np.ndarray], np.ndarray]


def bumped(camera: Camera, *degrees: float, shift_mm: tuple[float, float, float] = (0, 0, 0)) -> Camera:
    """The camera turned about its own axes, and shifted along them."""
    dR = np.asarray(cv2.Rodrigues(np.radians(degrees))[0])
    return dataclasses.replace(camera, R=dR @ camera.R, t_mm=dR @ camera.t_mm + shift_mm)


def seen_by(spec: SimSpec, camera: Camera) -> Stage:
    """The same table played before another camera."""
    return Stage(spec).before(camera)


def defocused(image: np.ndarray) -> np.ndarray:
    return cv2.GaussianBlur(image, (0, 0), image.shape[1] / 240)


def covered(image: np.ndarray) -> np.ndarray:
    hand = np.full_like(image, (60, 80, 120))
    hand[:, :60] = (50, 70, 100)
    return noisy(cv2.GaussianBlur(hand, (0, 0), 20), 2.0)


def dark(image: np.ndarray) -> np.ndarray:
    return noisy((image * 0.06).astype(np.uint8), 3.0)


def noisy(image: np.ndarray, sigma: float) -> np.ndarray:
    noise = np.random.default_rng(1).normal(0, sigma, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


class Mishap:
    """A source of the stage's frames, those from `begins` to `ends` (seconds) as `other` or `spoil` has them.

    step: every so many frames of the stage; first, frames: of the stage. before: seconds that the stage is at
    rest before it begins to play.
    """

    live = False
    skipped = 0

    def __init__(
        self,
        stage: Stage,
        begins: float,
        ends: float = 1e9,
        *,
        other: Stage | None = None,
        spoil: Spoil | None = None,
        frames: int | None = None,
        step: int = 1,
        first: int = 0,
        before: float = 0.0,
    ) -> None:
        self.width, self.height = stage.width, stage.height
        self._stage, self._other, self._spoil = stage, other or stage, spoil
        self._begins, self._ends = begins, ends
        self._indices = range(first, stage.frames if frames is None else first + frames, step)
        self._before = round(before * stage.spec.fps)

    def __iter__(self) -> Iterator[Frame]:
        waiting = [self._indices[0]] * self._before
        for n, i in enumerate([*waiting, *self._indices]):
            t = (self._before + i if n >= self._before else i + n) / self._stage.spec.fps
            hit = self._begins <= t < self._ends
            frame = (self._other if hit else self._stage).frame(i)
            image = self._spoil(frame.image) if hit and self._spoil is not None else frame.image
            yield Frame(t, image, n)

    def close(self) -> None:
        pass
