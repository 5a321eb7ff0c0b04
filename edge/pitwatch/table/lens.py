"""A lens from views of the board: focal length, principal point, distortion, and how sure they are.

In: views of one board. Out: K and the distortion, ordinary (k1, k2, with k3 where it helps), rational (k1 to
k6, for wide lenses that keep lines fairly straight) or of a fisheye lens (Kannala and Brandt 2006), whichever
the views warrant (Schwarz 1978, BIC).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError
from pitwatch.table.camera import Camera, LensModel, project_points
from pitwatch.table.views import View, tilt_of, tilts_lacking

__all__ = ["LensResult", "solve_lens"]

Array = NDArray[np.float64]

_MODELS = {
    "ordinary": (cv2.CALIB_FIX_K3, 2),
    "ordinary with k3": (0, 3),
    "fisheye": (0, 4),
    "rational": (cv2.CALIB_RATIONAL_MODEL, 6),
}
_FISHEYE: Any = cv2 if hasattr(cv2, "CALIB_RECOMPUTE_EXTRINSIC") else cv2.fisheye  # OpenCV 5, and 4
_FOCAL_SIGMA = 0.005  # share; more is no calibration
_STRETCH = 0.003  # share by which a print may be longer one way
_FEW = 6  # corners that say something of a view


@dataclass(frozen=True)
class LensResult:
    """width, height: px. K, dist: as `Camera` has them. model: which distortion. rms_px: of all corners, px.
    focal_sigma: standard deviation of the focal length, as a share. stretch: by how much the board is taller
    than it should be for its width. views: those that were used; tilts: (views, 2) degrees about x and y;
    residuals: (N, 2) px for each view.
    """

    width: int
    height: int
    K: Array
    dist: Array
    model: str
    rms_px: float
    focal_sigma: float
    stretch: float
    tilts: Array
    views: tuple[View, ...]
    residuals: tuple[Array, ...]

    @property
    def camera(self) -> Camera:
        """This lens, looking straight down from 1 mm."""
        model: LensModel = "fisheye" if self.model == "fisheye" else "pinhole"
        R, t = np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 1.0])
        return Camera(self.width, self.height, self.K, R, t, self.dist, model)

    @property
    def field_of_view(self) -> float:
        """Degrees across the middle of the picture."""
        x = self.camera.to_table([(0.0, self.K[1, 2]), (self.width - 1.0, self.K[1, 2])])[:, 0]
        return math.degrees(math.atan(x[1]) - math.atan(x[0]))

    def faults(self) -> list[str]:
        """Why this is no calibration to rely on; empty when it is."""
        out = []
        most = max(0.5, 0.0006 * self.width)
        if self.rms_px > most:
            out.append(
                f"the corners lie {self.rms_px:.2f} px from where this lens puts them, at most {most:.2f} "
                "will do: glue the board on a flat plate, fix the focus, and hold it still"
            )
        if lacking := tilts_lacking(self.tilts):
            out.append(lacking)
        elif self.focal_sigma > _FOCAL_SIGMA:
            out.append(
                f"tilt: the focal length is known to {100 * self.focal_sigma:.1f} % only; turn the board by "
                "30 degrees and more, each way"
            )
        if self._folds():
            out.append("corners: the lens is not known out to the picture's corners; hold the board there")
        if abs(self.stretch) > _STRETCH:
            how = "taller" if self.stretch > 0 else "less tall"
            out.append(
                f"the board is {100 * abs(self.stretch):.1f} % {how} than it should be for its width: print "
                "it anew at 100 %, not fitted to the page, and measure both bars"
            )
        return out

    def _folds(self) -> bool:
        """Whether a corner of the picture is where this lens never puts anything."""
        flat = self.camera
        ends = np.array([(x, y) for x in (0.0, self.width - 1.0) for y in (0.0, self.height - 1.0)])
        with np.errstate(all="ignore"):
            again = flat.project(flat.to_table(ends))
        return not bool((np.hypot(*(again - ends).T) < 1).all())

    def to_json(self) -> dict[str, Any]:
        """What `calibrate pose --lens` reads, and how it came about."""
        return {
            "width": self.width,
            "height": self.height,
            "K": self.K.tolist(),
            "dist": self.dist.tolist(),
            "model": self.model,
            "rms_px": round(self.rms_px, 4),
            "focal_sigma": round(self.focal_sigma, 6),
            "views": len(self.views),
        }


@dataclass(frozen=True)
class _Fit:
    K: Array
    dist: Array
    rms: float
    focal_sigma: float
    tilts: Array
    residuals: tuple[Array, ...]
    bic: float


def solve_lens(views: Sequence[View]) -> LensResult:
    """Fit each kind of lens and keep the one that the views warrant; wrong corners and views are left out.

    Raises UserError when the views determine no lens.
    """
    used = [v for v in views if len(v.corners.ids) >= _FEW]
    if len(used) < 3:
        raise UserError(f"{len(used)} views of the board determine no lens; take at least eight")
    size = used[0].size
    rough = _fit(used, "ordinary with k3", size)
    for name in ("fisheye", "rational"):
        wide = _fit(used, name, size)
        if wide is not None and (rough is None or wide.rms < 0.9 * rough.rms):
            rough = wide
    if rough is None:
        raise UserError("no lens sees the board so; take the views anew, with the board flat and held still")
    used = _cleaned(used, rough)
    best, model = None, ""
    for name in _MODELS:
        fit = _fit(used, name, size)
        if fit is not None and (best is None or (fit.bic < best.bic - 10 and fit.rms < 0.99 * best.rms)):
            best, model = fit, name
    if best is None:
        raise UserError("no lens sees the board so; take the views anew, with the board flat and held still")
    return LensResult(
        size[0],
        size[1],
        best.K,
        best.dist,
        model,
        best.rms,
        best.focal_sigma,
        _stretch(used, model, size, best.rms),
        best.tilts,
        tuple(used),
        best.residuals,
    )


def _fit(views: Sequence[View], model: str, size: tuple[int, int], stretch: float = 0.0) -> _Fit | None:
    flags, coefficients = _MODELS[model]
    scale = np.array([1.0, -1.0 - stretch])  # the board's y runs up
    mm = [
        np.column_stack([v.corners.mm * scale, np.zeros(len(v.corners.ids))]).astype(np.float32)
        for v in views
    ]
    px = [v.corners.px.astype(np.float32).reshape(-1, 1, 2) for v in views]
    criteria = (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 80, 1e-9)
    if model == "fisheye":
        return _fit_fisheye(views, mm, size)
    try:
        _, K_, dist_, rvecs, tvecs, sigmas, _, _ = cv2.calibrateCameraExtended(
            mm, px, size, np.eye(3), np.zeros(5), flags=flags, criteria=criteria
        )
    except cv2.error:
        return None
    K, dist = np.asarray(K_, np.float64), np.asarray(dist_, np.float64).ravel()
    dist = dist[: 8 if model == "rational" else 5]
    if not (np.isfinite(K).all() and np.isfinite(dist).all() and 0.15 < K[0, 0] / size[0] < 15):
        return None
    sigma = float(np.ravel(sigmas)[0]) / float(K[0, 0])
    return _judged(views, mm, rvecs, tvecs, K, dist, "pinhole", coefficients, sigma)


def _fit_fisheye(views: Sequence[View], mm: Sequence[Any], size: tuple[int, int]) -> _Fit | None:
    flags = _FISHEYE.CALIB_RECOMPUTE_EXTRINSIC | _FISHEYE.CALIB_FIX_SKEW
    criteria = (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 100, 1e-9)
    points = [np.asarray(m, np.float64).reshape(1, -1, 3) for m in mm]
    px = [v.corners.px.astype(np.float64).reshape(1, -1, 2) for v in views]
    try:
        _, K_, dist_, rvecs, tvecs = cv2.fisheye.calibrate(
            points, px, size, np.eye(3), np.zeros((4, 1)), flags=flags, criteria=criteria
        )
    except cv2.error:
        return None
    K, dist = np.asarray(K_, np.float64), np.asarray(dist_, np.float64).ravel()
    if not (np.isfinite(K).all() and np.isfinite(dist).all() and 0.15 < K[0, 0] / size[0] < 15):
        return None
    fit = _judged(views, mm, rvecs, tvecs, K, dist, "fisheye", _MODELS["fisheye"][1], 0.0)
    return replace(fit, focal_sigma=_fisheye_sigma(points, rvecs, tvecs, K, dist, fit.rms))


def _fisheye_sigma(
    points: Sequence[Array], rvecs: Sequence[Any], tvecs: Sequence[Any], K: Array, dist: Array, rms: float
) -> float:
    """Standard deviation of the focal length, as a share: the poses taken out of the normal equations."""
    A = np.zeros((8, 8))
    for p, r, t in zip(points, rvecs, tvecs, strict=True):
        _, J_ = cv2.fisheye.projectPoints(p, r, t, K, dist)
        J = np.asarray(J_, np.float64)
        own, lens = J[:, 8:14], J[:, :8]
        A += lens.T @ lens - lens.T @ own @ np.linalg.pinv(own.T @ own) @ own.T @ lens
    variance = float(np.linalg.pinv(A)[0, 0]) * rms**2 / 2
    return math.sqrt(max(variance, 0.0)) / float(K[0, 0])


def _judged(
    views: Sequence[View],
    mm: Sequence[Any],
    rvecs: Sequence[Any],
    tvecs: Sequence[Any],
    K: Array,
    dist: Array,
    model: LensModel,
    coefficients: int,
    sigma: float,
) -> _Fit:
    residuals = tuple(
        project_points(np.asarray(m, np.float64), np.ravel(r), np.ravel(t), K, dist, model)[0] - v.corners.px
        for v, m, r, t in zip(views, mm, rvecs, tvecs, strict=True)
    )
    every = np.concatenate(residuals)
    n, rss = every.size, float((every**2).sum())
    bic = n * math.log(rss / n) + (coefficients + 6 + 6 * len(views)) * math.log(n)
    normals = [np.asarray(cv2.Rodrigues(r)[0], np.float64)[:, 2] for r in rvecs]
    tilts = np.array([tilt_of(n) for n in normals])
    return _Fit(K, dist, math.sqrt(rss / len(every)), sigma, tilts, residuals, bic)


def _cleaned(views: Sequence[View], fit: _Fit) -> list[View]:
    """Without corners, and views, that lie far off what the others agree on."""
    off = [np.hypot(*r.T) for r in fit.residuals]
    usual = float(np.median(np.concatenate(off))) + 0.02
    out = []
    for view, error in zip(views, off, strict=True):
        good = error < 6 * usual
        if good.sum() < max(_FEW, 0.6 * len(good)) or float(np.median(error)) > 3.5 * usual:
            continue
        c = view.corners
        kept = type(c)(c.board, c.ids[good], c.px[good])
        out.append(View(kept, view.blur_px, view.size, view.name))
    return out if len(out) >= 3 else list(views)


def _stretch(views: Sequence[View], model: str, size: tuple[int, int], rms: float) -> float:
    """By what share the board is taller than it should be, from where the fit is best (a parabola)."""
    step = 0.01
    less, more = (_fit(views, model, size, s) for s in (-step, step))
    if less is None or more is None:
        return 0.0
    a, b, c = less.rms**2, rms**2, more.rms**2
    bend = a - 2 * b + c
    # a flat parabola: views that cannot tell
    if bend < 0.02 * b:
        return 0.0
    return float(np.clip(step * (a - c) / (2 * bend), -0.05, 0.05))
