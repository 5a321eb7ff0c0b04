"""How sure a pose is, said in millimetres at every spot.

In: a pose with its covariance, and places on the felt. Out: one standard deviation, mm, in the direction in
which it is largest (first-order propagation of errors).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.errors import UserError
from pitwatch.table.camera import Camera
from pitwatch.table.files import load_layout
from pitwatch.table.layout import Layout, LayoutError, Point, template
from pitwatch.table.pose import PoseResult

__all__ = ["CLICKED_PX", "moved", "propagated", "spots_of", "spread_mm", "told"]

Array = NDArray[np.float64]

CLICKED_PX = 0.5  # a point clicked with care
_SURE_MM = 3.0  # more is said aloud


def spread_mm(result: PoseResult, spots: Sequence[tuple[str, Point]], least_px: float = CLICKED_PX) -> Array:
    """± mm at each spot, (N,). least_px: how exact a point is at best; larger errors of the fit count."""
    sigma = max(least_px, result.noise_px)
    px = result.camera.project([p for _, p in spots])
    n = len(result.covariance)
    return propagated(
        lambda x: moved(result.camera, x).to_table(px), np.zeros(n), sigma**2 * result.covariance
    )


def moved(camera: Camera, x: Array) -> Camera:
    """The camera after small changes of its rotation vector, t_mm and, the seventh, its log focal length."""
    rvec = np.asarray(cv2.Rodrigues(camera.R)[0], np.float64).ravel() + x[:3]
    R = np.asarray(cv2.Rodrigues(rvec)[0], np.float64)
    K = camera.K
    if len(x) > 6:
        K = K @ np.diag([math.exp(x[6]), math.exp(x[6]), 1.0])
    return replace(camera, K=K, R=R, t_mm=camera.t_mm + x[3:6])


def propagated(places: Callable[[Array], Array], x: Array, covariance: Array) -> Array:
    """± mm of each place (N, 2) that follows from parameters `x` with this covariance, (N,)."""
    step = 1e-3 * np.sqrt(np.maximum(np.diag(covariance), 1e-18))
    J = np.stack(
        [
            (places(x + s * e) - places(x - s * e)) / (2 * s)
            for s, e in zip(step, np.eye(len(x)), strict=True)
        ],
        axis=2,
    )
    return np.array([math.sqrt(max(float(np.linalg.eigvalsh(j @ covariance @ j.T)[-1]), 0.0)) for j in J])


def spots_of(layout: str | None) -> list[tuple[str, Point]]:
    """The named places of a layout file, or of the usual felt of so many seats; None: of six.

    Raises UserError for what is neither.
    """
    if layout is None or layout.isdigit():
        try:
            felt: Layout = template(int(layout or 6))
        except LayoutError as e:
            raise UserError(f"--layout {layout}: {e}; or name a layout file") from None
    else:
        felt = load_layout(layout)
    x0, x1, y = felt.dealer_row
    return [
        *((f"seat {s}", felt.spots[s - 1]) for s in felt.seats),
        ("dealer's cards", ((x0 + x1) / 2, y)),
    ]


def told(spots: Sequence[tuple[str, Point]], spread: Array) -> list[str]:
    """A table of spot and ± mm, and a warning where it is too much."""
    lines = [f"{'spot':<14}  {'mm':>17}  {'± mm':>6}"]
    for (name, (x, y)), s in zip(spots, spread, strict=True):
        place = f"({x:.1f}, {y:.1f})"
        lines.append(f"{name:<14}  {place:>17}  {s:>6.1f}")
    if spread.max() > _SURE_MM:
        worst = spots[int(spread.argmax())][0]
        lines.append(
            f"warning: at {worst} the place is known to ± {spread.max():.0f} mm only; known points near "
            "there help"
        )
    return lines
