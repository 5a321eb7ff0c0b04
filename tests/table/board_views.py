"""Pictures of the printed board through a camera whose lens is known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import cv2
import numpy as np

from pitwatch.table.board import BOARDS, Board
from pitwatch.table.camera import Camera

SHEET_PX_MM = 4.0


def sheet(
    board: Board, margin_mm: float = 12.0, modules: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The printed board, grey, and the homography from its mm to the sheet's pixels."""
    black = board.modules() if modules is None else modules
    w, h = board.size_mm
    s, m = SHEET_PX_MM, margin_mm
    printed = cv2.resize(
        np.where(black, 25, 235).astype(np.uint8),
        (round(w * s), round(h * s)),
        interpolation=cv2.INTER_NEAREST,
    )
    edge = round(m * s)
    printed = cv2.copyMakeBorder(printed, edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=235)
    # a pixel's middle is at its whole number
    to_px = np.array([[s, 0, w / 2 * s + edge - 0.5], [0, -s, h / 2 * s + edge - 0.5], [0, 0, 1.0]])
    return printed, to_px


@dataclass
class Rays:
    """The direction of every pixel of a lens, (h, w, 2) in focal lengths."""

    width: int
    height: int
    directions: np.ndarray

    @classmethod
    def of(cls, camera: Camera) -> Rays:
        """camera: K and dist count."""
        flat = replace(camera, R=np.diag([1.0, -1, -1]), t_mm=np.array([0, 0, 1.0]))
        xs, ys = np.meshgrid(np.arange(camera.width), np.arange(camera.height))
        at = flat.to_table(np.column_stack([xs.ravel(), ys.ravel()])) * [1, -1]
        return cls(camera.width, camera.height, at.reshape(camera.height, camera.width, 2))

    @classmethod
    def fisheye(cls, width: int, height: int, focal: float) -> Rays:
        """An equidistant lens: the picture's radius grows with the angle."""
        xs, ys = np.meshgrid(np.arange(width) - (width - 1) / 2, np.arange(height) - (height - 1) / 2)
        r = np.hypot(xs, ys) + 1e-9
        far = np.tan(np.minimum(r / focal, 1.5)) / r
        return cls(width, height, np.stack([xs * far, ys * far], axis=2))

    def view(
        self,
        printed: tuple[np.ndarray, np.ndarray],
        R: np.ndarray,
        t: np.ndarray,
        blur: float = 0.7,
        noise: float = 3.0,
        seed: int = 0,
    ) -> np.ndarray:
        """The picture of a sheet whose frame lies at R, t before the camera, BGR."""
        image, to_px = printed
        H = to_px @ np.linalg.inv(np.column_stack([R[:, 0], R[:, 1], t]))
        p = np.concatenate([self.directions, np.ones((self.height, self.width, 1))], axis=2) @ H.T
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(p[..., 2:] > 0, p[..., :2] / p[..., 2:], -1e4)
        at = np.clip(at, -1e4, 1e4).astype(np.float32)
        # shrunk pictures are averaged, as a sensor does
        seen = cv2.remap(
            cv2.GaussianBlur(image, (0, 0), 1.2), at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderValue=90
        )
        if blur:
            seen = cv2.GaussianBlur(seen, (0, 0), blur)
        noisy = seen + np.random.default_rng(seed).normal(0, noise, seen.shape)
        return cv2.cvtColor(np.clip(noisy, 0, 255).astype(np.uint8), cv2.COLOR_GRAY2BGR)


def facing(
    camera: Camera,
    board: Board,
    u: float,
    v: float,
    share: float,
    tilt: float,
    toward: float,
    roll: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """R, t of a board in the picture's (u, v), 0 to 1, `share` of its width wide; angles in degrees."""
    mm = board.size_mm[0]
    depth = camera.K[0, 0] * mm / (share * camera.width)
    x, y = (u - 0.5) * camera.width / camera.K[0, 0], (v - 0.5) * camera.height / camera.K[1, 1]
    a, b = math.radians(toward), math.radians(tilt)
    turn = cv2.Rodrigues(np.array([math.cos(a) * b, math.sin(a) * b, 0.0]))[0]
    spin = cv2.Rodrigues(np.array([0, 0, math.radians(roll)]))[0]
    return turn @ spin @ np.diag([1.0, -1.0, -1.0]), np.array([x * depth, y * depth, depth])


def varied(
    camera: Camera, board: Board = BOARDS["a3"], n: int = 20, tilt: float = 32.0, seed: int = 0
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Places of a board that somebody waves about the whole picture."""
    rng = np.random.default_rng(seed)
    grid = [(u, v) for v in (0.25, 0.5, 0.75) for u in (0.22, 0.5, 0.78)]
    for i in range(n):
        u, v = grid[i % 9]
        share = (0.42, 0.55, 0.34)[i % 3]
        yield facing(
            camera,
            board,
            u + rng.normal(0, 0.02),
            v + rng.normal(0, 0.02),
            share,
            tilt * (0.6 + 0.5 * rng.random()),
            i * 77.0,
            rng.normal(0, 12),
        )
