"""What a camera with a known lens would see without its distortion: a picture in which straight lines are.

In: a calibrated lens. Out: ideal pictures and pixels (square pixels, centred principal point, the lens's own
focal length), there and back; and the real camera that stands where an ideal one does.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from pitwatch.table.camera import Camera
from pitwatch.table.pose import solve_pose

__all__ = ["Ideal"]

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

_COARSE = 8  # px between the points at which the lens is asked


class Ideal:
    """lens: its K, distortion and size count, not its pose."""

    def __init__(self, lens: Camera) -> None:
        # looking straight down from a height of 1, the table's points are the directions
        self._lens = replace(lens, R=np.diag([1.0, -1.0, -1.0]), t_mm=np.array([0.0, 0.0, 1.0]))
        self._f = float(lens.K[0, 0])
        self._c = np.array([(lens.width - 1) / 2, (lens.height - 1) / 2])

    @property
    def focal(self) -> float:
        """Of the ideal pictures, px."""
        return self._f

    def picture(self, image: Image) -> Image:
        """The picture (h, w, 3) without distortion, of the same size; what the lens did not see is black."""
        w, h = self._lens.width, self._lens.height
        nx, ny = w // _COARSE + 2, h // _COARSE + 2
        xs, ys = np.meshgrid(np.arange(nx) * float(_COARSE), np.arange(ny) * float(_COARSE))
        maps = self.to_real(np.column_stack([xs.ravel(), ys.ravel()])).reshape(ny, nx, 2).astype(np.float32)
        u, v = np.meshgrid(np.arange(w) / _COARSE, np.arange(h) / _COARSE)
        fine = cv2.remap(maps, u.astype(np.float32), v.astype(np.float32), cv2.INTER_LINEAR)
        return np.asarray(cv2.remap(image, fine[..., 0], fine[..., 1], cv2.INTER_LINEAR), np.uint8)

    def to_real(self, px: ArrayLike) -> Array:
        """Ideal pixels (N, 2) to those of the lens."""
        n = (np.asarray(px, np.float64).reshape(-1, 2) - self._c) / self._f
        return self._lens.project(n * (1.0, -1.0))

    def to_ideal(self, px: ArrayLike) -> Array:
        """Pixels of the lens (N, 2) to ideal ones."""
        return np.asarray(self._lens.to_table(px) * (1.0, -1.0) * self._f + self._c, np.float64)

    def camera(self, ideal: Camera, places: ArrayLike) -> Camera:
        """The real camera that sees `places` (N, 2) mm where an ideal one, of whatever focal length, does.

        Raises UserError where the places determine no camera.
        """
        mm = np.asarray(places, np.float64)
        K = np.array([[self._f, 0, self._c[0]], [0, self._f, self._c[1]], [0, 0, 1.0]])
        flat = replace(ideal, K=K)
        pairs = [(p.tolist(), m.tolist()) for p, m in zip(ideal.project(mm), mm, strict=True)]
        posed = solve_pose(pairs, ideal.width, ideal.height, flat).camera
        return replace(self._lens, R=posed.R, t_mm=posed.t_mm)
