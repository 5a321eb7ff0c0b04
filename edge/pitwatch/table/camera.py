"""The calibrated camera: lens and pose, millimetres on the table to pixels and back.

In: table points in mm (origin at the middle of the dealer's edge, x to the dealer's right, y away from the
dealer, z up). Out: pixels, x right and y down, centre of the first pixel at 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "USUAL_FOCAL",
    "Camera",
    "CameraError",
    "LensModel",
    "centred_camera",
    "project_points",
    "undistorted",
]

Array = NDArray[np.float64]
LensModel = Literal["pinhole", "fisheye"]
USUAL_FOCAL = 1.15  # picture widths; webcams and phones lie within half and double of it
_PINHOLES = ("ordinary", "ordinary with k3", "rational")


class CameraError(ValueError):
    """A calibration that is none; the message names the key."""


@dataclass(frozen=True)
class Camera:
    """A camera with its lens, and where it is.

    width, height: pixels. K: (3, 3) intrinsics in pixels. dist: OpenCV distortion coefficients, 4 to 14 of
    them for a pinhole with distortion, 4 for a fisheye lens. R, t_mm: table to camera, (3, 3) and (3,),
    OpenCV axes (x right, y down, z forward). model: which lens `dist` is for (Kannala and Brandt 2006).
    """

    width: int
    height: int
    K: Array
    R: Array
    t_mm: Array
    dist: Array = field(default_factory=lambda: np.zeros(5))
    model: LensModel = "pinhole"

    @classmethod
    def from_json(cls, obj: Mapping[str, Any]) -> Camera:
        """Read a `calibration.json` object. Raises CameraError naming a missing or malformed key."""
        shapes = {"K": (3, 3), "R": (3, 3), "t_mm": (3,)}
        arrays: dict[str, Array] = {}
        for key, shape in shapes.items():
            if key not in obj:
                raise CameraError(f"the key '{key}' is missing")
            try:
                a = np.asarray(obj[key], dtype=np.float64)
            except (TypeError, ValueError):
                raise CameraError(f"'{key}' is not an array of numbers") from None
            if a.shape != shape or not np.isfinite(a).all():
                raise CameraError(f"'{key}' has the shape {a.shape}, expected {shape} finite numbers")
            arrays[key] = a
        for key in ("width", "height"):
            if not isinstance(obj.get(key), int) or obj[key] <= 0:
                raise CameraError(f"'{key}' should be a whole number of pixels")
        dist = np.asarray(obj.get("dist", [0.0] * 5), dtype=np.float64).ravel()
        # the names of what `calibrate lens` fits; all but one are a pinhole with distortion
        model = obj.get("model", "pinhole")
        if model in _PINHOLES:
            model = "pinhole"
        if model not in get_args(LensModel):
            raise CameraError(f"'model' is {model!r}; it should be 'pinhole' or 'fisheye'")
        if model == "fisheye" and dist.size != 4:
            raise CameraError(f"'dist' has {dist.size} coefficients, a fisheye lens has 4")
        if dist.size not in (4, 5, 8, 12, 14):
            raise CameraError(f"'dist' has {dist.size} coefficients, expected 4, 5, 8, 12 or 14")
        if abs(float(np.linalg.det(arrays["R"])) - 1.0) > 1e-2:
            raise CameraError("'R' is not a rotation")
        return cls(
            int(obj["width"]), int(obj["height"]), arrays["K"], arrays["R"], arrays["t_mm"], dist, model
        )

    def to_json(self) -> dict[str, Any]:
        """The object that `from_json` reads."""
        return {
            "width": self.width,
            "height": self.height,
            "K": self.K.tolist(),
            "dist": self.dist.tolist(),
            "R": self.R.tolist(),
            "t_mm": self.t_mm.tolist(),
            **({"model": self.model} if self.model != "pinhole" else {}),
        }

    @property
    def is_straight(self) -> bool:
        """Whether straight lines stay straight in the picture."""
        return self.model == "pinhole" and not self.dist.any()

    @cached_property
    def position_mm(self) -> Array:
        """Where the camera stands, table frame, (3,) mm."""
        return np.asarray(-self.R.T @ self.t_mm, dtype=np.float64)

    @cached_property
    def _rvec(self) -> Array:
        return np.asarray(cv2.Rodrigues(self.R)[0], dtype=np.float64).reshape(3)

    @cached_property
    def _matrix(self) -> tuple[Array, Array]:
        return np.asarray((self.K @ self.R).T), np.asarray(self.K @ self.t_mm)

    def project(self, points_mm: ArrayLike) -> Array:
        """Table points (N, 3), or (N, 2) on the felt, in mm to pixels (N, 2)."""
        p = np.asarray(points_mm, dtype=np.float64).reshape(-1, np.shape(points_mm)[-1])
        if p.shape[1] == 2:
            p = np.column_stack([p, np.zeros(len(p))])
        if self.is_straight:
            turn, shift = self._matrix
            c = p @ turn + shift
            return np.asarray(c[:, :2] / c[:, 2:], dtype=np.float64)
        return project_points(p, self._rvec, self.t_mm, self.K, self.dist, self.model)[0]

    def to_table(self, px: ArrayLike, z_mm: float = 0.0) -> Array:
        """Pixels (N, 2) to table points (N, 2) in mm on the plane at height `z_mm`."""
        q = np.asarray(px, dtype=np.float64).reshape(-1, 2)
        if not self.is_straight:
            n = undistorted(q, self.K, self.dist, self.model)
        else:
            n = (q - self.K[:2, 2]) @ np.linalg.inv(self.K[:2, :2]).T
        rays = np.column_stack([n, np.ones(len(n))]) @ self.R
        c = self.position_mm
        s = (z_mm - c[2]) / rays[:, 2]
        return np.asarray(c[:2] + rays[:, :2] * s[:, None], dtype=np.float64)

    def plane_homography(self, z_mm: float = 0.0) -> Array:
        """(3, 3) from mm on the plane at height `z_mm` to pixels, distortion left out."""
        M = np.column_stack([self.R[:, 0], self.R[:, 1], self.R[:, 2] * z_mm + self.t_mm])
        return np.asarray(self.K @ M, dtype=np.float64)

    def px_per_mm(self, x: float, y: float) -> float:
        """Scale at a felt point: the square root of the area that a square millimetre covers, pixels."""
        p = self.project([(x - 0.5, y), (x + 0.5, y), (x, y - 0.5), (x, y + 0.5)])
        u, v = p[1] - p[0], p[3] - p[2]
        return float(np.sqrt(abs(u[0] * v[1] - u[1] * v[0])))


# the library's own five iterations leave more than a pixel at the corners of a lens that bends strongly
_EXACT = (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 100, 1e-10)


def centred_camera(width: int, height: int, focal: float, distance_mm: float, turn: Array) -> Camera:
    """A camera without distortion, the middle of whose picture shows the table's origin.

    width, height, focal: pixels. turn: (3,) rotation vector, radians, from looking straight down with the
    table's x to the right.
    """
    K = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1]], np.float64)
    R = np.asarray(cv2.Rodrigues(np.asarray(turn, np.float64))[0], np.float64) @ np.diag([1.0, -1.0, -1.0])
    return Camera(width, height, K, R, np.array([0.0, 0.0, distance_mm]))


def project_points(
    points_mm: Array, rvec: Array, t_mm: Array, K: Array, dist: Array, model: LensModel
) -> tuple[Array, Array]:
    """Pixels (N, 2) of table points (N, 3), and their derivatives (2 N, 8) by rvec, t_mm, fx and fy."""
    if model == "fisheye":
        # wants its points in a row of their own
        px, J = cv2.fisheye.projectPoints(points_mm.reshape(-1, 1, 3), rvec, t_mm, K, dist[:4])
        order = [8, 9, 10, 11, 12, 13, 0, 1]
    else:
        px, J = cv2.projectPoints(points_mm, rvec, t_mm, K, dist)
        order = [0, 1, 2, 3, 4, 5, 6, 7]
    return np.asarray(px, np.float64).reshape(-1, 2), np.asarray(J, np.float64)[:, order]


def undistorted(px: Array, K: Array, dist: Array, model: LensModel) -> Array:
    """Pixels (N, 2) to directions (N, 2) in units of the focal length, distortion taken out."""
    q = np.asarray(px, np.float64).reshape(-1, 1, 2)
    if model == "fisheye":
        n = cv2.fisheye.undistortPoints(q, K, dist[:4], criteria=_EXACT)
    elif hasattr(cv2, "undistortPointsIter"):  # OpenCV 4
        n = cv2.undistortPointsIter(q, K, dist, np.eye(3), np.eye(3), _EXACT)
    else:
        n = cv2.undistortPoints(q, K, dist, criteria=_EXACT)
    return np.asarray(n, dtype=np.float64).reshape(-1, 2)
