"""The camera's pose, and without a known lens its focal length, from points known on the table.

In: points in pixels with their place in table mm. Out: a `Camera` and the error at each point, px and mm.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError
from pitwatch.table.camera import Camera, project_points, undistorted

__all__ = ["PoseResult", "solve_pose"]

Array = NDArray[np.float64]
Points = Sequence[tuple[Sequence[float], Sequence[float]]]

# beyond this share of the picture's diagonal (rms) the points are not what they are said to be
_HOPELESS = 0.01
# and beyond this one of them is probably wrong
_POOR = 0.001
# thinner than this share of its length, a cloud of points is a line
_LINE = 0.02

# focal lengths of real lenses, in picture widths
_SANE = (0.2, 12.0)


@dataclass(frozen=True)
class PoseResult:
    """A camera and how well the points fit it.

    errors_px, errors_mm: (N,) distance at each point, in the picture and on the table. focal_estimated: the
    focal length comes from the points too. focal_sigma: standard deviation of the focal length, as a share
    of it, when the points are half a pixel off; 0 with a lens. doubt: what would explain a poor fit, else "".
    covariance: of the rotation vector, t_mm and, where it was estimated, the logarithm of the focal length,
    per square pixel of error. left_out: indices of points that had no say, since they contradict the others.
    """

    camera: Camera
    errors_px: Array
    errors_mm: Array
    focal_estimated: bool
    focal_sigma: float
    doubt: str = ""
    covariance: Array = field(default_factory=lambda: np.zeros((6, 6)))
    left_out: tuple[int, ...] = ()

    @property
    def rms_px(self) -> float:
        """Root mean square of the errors in the picture of the points that had a say, px."""
        return float(np.sqrt((np.delete(self.errors_px, self.left_out) ** 2).mean()))

    @property
    def noise_px(self) -> float:
        """How far off a point is in x or y, as the errors tell beyond what the fit has taken up; 0 when there
        are too few points to tell."""
        used = np.delete(self.errors_px, self.left_out)
        spare = 2 * len(used) - len(self.covariance)
        return math.sqrt(float((used**2).sum()) / spare) if spare > 0 else 0.0


def solve_pose(points: Points, width: int, height: int, lens: Camera | None = None) -> PoseResult:
    """Find the camera that sees each point where it was seen.

    points: (px, mm) pairs, at least four; px is (x, y); mm is (x, y) on the felt or (x, y, z). width,
    height: of the picture, px. lens: a camera whose K and dist hold; without one, square pixels, a centred
    principal point and no distortion are assumed.

    Raises UserError when the points do not determine a camera, or contradict each other.
    """
    if lens is not None and (lens.width, lens.height) != (width, height):
        raise UserError(
            f"the lens was calibrated for {lens.width} x {lens.height} pixels, but the picture is {width} x "
            f"{height}; take the picture with the lens's resolution"
        )
    px, mm = _arrays(points)
    _check_spread(px, mm, width, height)
    _check_side(px, mm)
    fit = _solve(px, mm, width, height, lens)
    rms = math.inf if fit is None else fit.rms_px
    diagonal = math.hypot(width, height)
    doubt, wrong = _culprit(px, mm, width, height, lens, rms) if rms > _POOR * diagonal else ("", None)
    if fit is None or rms > _HOPELESS * diagonal:
        off = "" if fit is None else f" (the best is {rms:.0f} px off)"
        raise UserError(
            f"no camera sees these points so{off}: {doubt or 'check that px and mm belong together'}"
        )
    if wrong is None:
        return replace(fit, doubt=doubt)
    without = _solve(np.delete(px, wrong, axis=0), np.delete(mm, wrong, axis=0), width, height, lens)
    if without is None or without.rms_px > _POOR * diagonal:
        return replace(fit, doubt=doubt)
    errors_px, errors_mm = _errors(without.camera, px, mm)
    return replace(without, errors_px=errors_px, errors_mm=errors_mm, doubt=doubt, left_out=(wrong,))


def _errors(camera: Camera, px: Array, mm: Array) -> tuple[Array, Array]:
    on_table = np.concatenate([camera.to_table(p, z) for p, z in zip(px, mm[:, 2], strict=True)])
    return np.hypot(*(camera.project(mm) - px).T), np.hypot(*(on_table - mm[:, :2]).T)


def _arrays(points: Points) -> tuple[Array, Array]:
    if len(points) < 4:
        raise UserError(
            f"{len(points)} points are too few; give at least four, better six, spread over the table"
        )
    for i, (p, m) in enumerate(points, 1):
        if len(p) != 2 or len(m) not in (2, 3) or not np.isfinite([*p, *m]).all():
            raise UserError(f"point {i} is no point; give px as [x, y] and mm as [x, y] or [x, y, z]")
    px = np.array([p for p, _ in points], dtype=np.float64)
    mm = np.array([[m[0], m[1], m[2] if len(m) == 3 else 0.0] for _, m in points], dtype=np.float64)
    return px, mm


def _check_spread(px: Array, mm: Array, width: int, height: int) -> None:
    for i, (x, y) in enumerate(px, 1):
        if not (-0.5 <= x <= width - 0.5 and -0.5 <= y <= height - 0.5):
            raise UserError(
                f"point {i} at pixel ({x:g}, {y:g}) lies outside the picture of {width} x {height}; were the "
                f"points taken in a picture of another size?"
            )
    for i, j in itertools.combinations(range(len(px)), 2):
        if np.hypot(*(px[i] - px[j])) < 1 or np.linalg.norm(mm[i] - mm[j]) < 1:
            raise UserError(f"points {i + 1} and {j + 1} are the same point; take one of them out")
    if _is_line(mm):
        raise UserError("all points lie on one line of the table; add points well beside it")
    for i in range(len(mm)):
        if _is_line(np.delete(mm, i, axis=0)):
            raise UserError(
                f"all points but point {i + 1} lie on one line of the table; add another beside that line"
            )
    if _is_line(px):
        raise UserError("all points lie on one line in the picture; the camera must look down at the table")


def _is_line(points: Array) -> bool:
    s = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(s[1] < _LINE * s[0])


def _check_side(px: Array, mm: Array) -> None:
    """Refuse points that only a camera under the table, or a mirror, could see."""
    H, _ = cv2.findHomography(mm[:, :2], px, 0)
    if H is None:
        return
    w = np.column_stack([mm[:, :2], np.ones(len(mm))]) @ H[2]
    # seen from above, y runs away from the dealer and the picture's y runs down: the handedness turns over
    if (np.linalg.det(H) / w**3 > 0).all():
        raise UserError(
            "the points are mirrored: no camera above the table sees them so; x must grow toward the "
            "dealer's right, y away from the dealer, and the picture's y downward"
        )


def _solve(px: Array, mm: Array, width: int, height: int, lens: Camera | None) -> PoseResult | None:
    if lens is not None:
        starts = [lens]
    else:
        centre = (width / 2, height / 2)
        focals = width * np.geomspace(0.3, 6.0, 25)
        starts = [
            _lens(np.array([[f, 0, centre[0]], [0, f, centre[1]], [0, 0, 1.0]]), width, height)
            for f in focals
        ]
    found = [pose for start in starts if (pose := _place(px, mm, start)) is not None]
    best: PoseResult | None = None
    for _, rvec, tvec, start in sorted(found, key=lambda pose: pose[0])[:3]:
        fit = _refine(px, mm, rvec, tvec, start, lens is None)
        if fit is not None and (best is None or fit.rms_px < best.rms_px):
            best = fit
    return best


_Pose = tuple[float, Array, Array, Camera]


def _lens(K: Array, width: int, height: int) -> Camera:
    """A lens that bends nothing, its pose left open."""
    return Camera(width, height, K, np.eye(3), np.array([0.0, 0.0, 1000.0]))


def _place(px: Array, mm: Array, lens: Camera) -> _Pose | None:
    """The best pose with a given lens, above the table: (rms px, rvec, tvec, lens)."""
    flat = not mm[:, 2].any()
    flag = cv2.SOLVEPNP_IPPE if flat else cv2.SOLVEPNP_SQPNP
    # as a lens of focal length 1 that bends nothing would see them
    seen_flat = undistorted(px, lens.K, lens.dist, lens.model)
    if not np.isfinite(seen_flat).all():
        return None
    try:
        _, rvecs, tvecs, _ = cv2.solvePnPGeneric(mm, seen_flat, np.eye(3), np.zeros(5), flags=flag)
    except cv2.error:
        return None
    best: _Pose | None = None
    for rvec, tvec in zip(rvecs, tvecs, strict=True):
        R = cv2.Rodrigues(rvec)[0]
        if (-R.T @ tvec)[2, 0] <= 0 or ((mm @ R.T + tvec.ravel())[:, 2] <= 0).any():
            continue
        seen, _ = project_points(mm, _flat(rvec), _flat(tvec), lens.K, lens.dist, lens.model)
        rms = float(np.sqrt(((seen - px) ** 2).sum(axis=1).mean()))
        if best is None or rms < best[0]:
            best = (rms, _flat(rvec), _flat(tvec), lens)
    return best


def _flat(a: object) -> Array:
    return np.asarray(a, dtype=np.float64).ravel()


def _refine(px: Array, mm: Array, rvec: Array, tvec: Array, start: Camera, focal: bool) -> PoseResult | None:
    """Least squares over the pose, and with `focal` the focal length (Levenberg-Marquardt)."""
    K = start.K
    x = np.concatenate([rvec, tvec, [math.log(K[0, 0])]])
    free = 7 if focal else 6

    def lens(x: Array) -> Array:
        if not focal:
            return K
        f = math.exp(x[6])
        return np.array([[f, 0, K[0, 2]], [0, f, K[1, 2]], [0, 0, 1.0]])

    def residual(x: Array) -> tuple[Array, Array]:
        seen, d = project_points(mm, x[:3], x[3:6], lens(x), start.dist, start.model)
        J = np.column_stack([d[:, :6], (d[:, 6] + d[:, 7]) * math.exp(x[6])])
        return _flat(seen) - px.ravel(), J[:, :free]

    r, J = residual(x)
    damping = 1e-3
    for _ in range(60):
        A, g = J.T @ J, J.T @ r
        step = np.linalg.solve(A + damping * np.diag(np.diag(A) + 1e-12), g)
        y = x.copy()
        y[:free] -= step
        if not _SANE[0] < math.exp(min(y[6], 99.0)) / start.width < _SANE[1]:
            damping *= 5
            continue
        r2, J2 = residual(y)
        if r2 @ r2 < r @ r:
            done = r @ r - r2 @ r2 < 1e-12 * (1 + r @ r)
            x, r, J, damping = y, r2, J2, damping / 5
            if done:
                break
        else:
            damping *= 5
            if damping > 1e8:
                break
    R = np.asarray(cv2.Rodrigues(x[:3])[0], dtype=np.float64)
    camera = replace(start, K=lens(x), R=R, t_mm=x[3:6].copy())
    if camera.position_mm[2] <= 0 or ((mm @ R.T + x[3:6])[:, 2] <= 0).any():
        return None
    covariance = np.asarray(np.linalg.pinv(J.T @ J), dtype=np.float64)
    # half a pixel in x and in y
    sigma = 0.5 * math.sqrt(max(float(covariance[6, 6]), 0.0)) if focal else 0.0
    return PoseResult(camera, *_errors(camera, px, mm), focal, sigma, covariance=covariance)


def _culprit(
    px: Array, mm: Array, width: int, height: int, lens: Camera | None, rms: float
) -> tuple[str, int | None]:
    """What explains a fit as poor as `rms`: two swapped points, or one wrong one, with its index; "" when
    neither does."""

    def without_it(p: Array, m: Array) -> float:
        again = None if _is_line(m) else _solve(p, m, width, height, lens)
        return math.inf if again is None else again.rms_px

    best, said, wrong = min(rms, _HOPELESS * math.hypot(width, height)) / 3, "", None
    n = len(px)
    # beyond twenty points nobody types them
    for i, j in itertools.combinations(range(n), 2) if n <= 20 else ():
        swapped = px.copy()
        swapped[[i, j]] = px[[j, i]]
        left = without_it(swapped, mm)
        if left < best:
            best, said = left, f"points {i + 1} and {j + 1} seem swapped; exchange them"
    # with one left out, there must still be more measurements than unknowns
    for i in range(n) if n >= (6 if lens is None else 5) else ():
        left = without_it(np.delete(px, i, axis=0), np.delete(mm, i, axis=0))
        if left < best:
            best, said, wrong = left, f"point {i + 1} does not fit the others; measure it again", i
    return said, wrong
