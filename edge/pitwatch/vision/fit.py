"""Fitting the known card to a picture: from a rough box to the pose of a 63 × 88 mm rectangle.

In: a zone picture and a rough pose in its pixels. Out: the pose whose four sides lie on edges of the picture,
to a fraction of a pixel. Sides that are covered find no edge and have no say.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.vision.looks import CARD_MM

__all__ = ["Fit", "edge_picture", "fit_card"]

Floats = NDArray[np.float32]

_REACH_MM = (8.0, 5.0, 3.0)  # how far from its side an edge is looked for, pass by pass
_SURE = 0.5  # support beyond which nothing else is tried
_BESIDE_MM = 5.0
_STEP_MM = 0.5
_ALONG = 22  # samples a side
_CLOSE_MM = 1.3


class Fit(NamedTuple):
    """x, y: centre in pixels. angle: of the long edge, radians, as in the picture (y down). support: share of
    the outline that lies on an edge, 0 to 1."""

    x: float
    y: float
    angle: float
    support: float


def edge_picture(zone_picture: NDArray[np.uint8]) -> Floats:
    """(H, W, 2): brightness and the least of the three colours, both smoothed a little. Paper is bright in
    every colour; cloth, print and chips are not."""
    soft = cv2.GaussianBlur(zone_picture, (0, 0), 0.7)
    grey = cv2.cvtColor(soft, cv2.COLOR_BGR2GRAY)
    return np.dstack([grey, soft.min(axis=2)]).astype(np.float32)


def fit_card(edges: Floats, x: float, y: float, angle: float, px_per_mm: float) -> Fit:
    """The card near a rough pose; of the rough angle and the one across it, the better supported."""
    fit = _settled(edges, x, y, angle, px_per_mm)
    if fit.support >= 0.5:
        return fit
    # the box's own angle is right far more often than not
    turned = _settled(edges, x, y, angle + np.pi / 2, px_per_mm)
    return turned if turned.support > fit.support + 0.08 else fit


def _settled(edges: Floats, x: float, y: float, angle: float, px_per_mm: float) -> Fit:
    """The best supported fit from this pose, or from a little beside it: a table's edge or a neighbour's may
    be stronger than the card's own."""
    best = _fit(edges, x, y, angle, px_per_mm, _REACH_MM)
    if best.support >= _SURE:
        return best
    along = np.array([np.cos(angle), np.sin(angle)]) * _BESIDE_MM * px_per_mm
    for dx, dy in (along, -along, (-along[1], along[0]), (along[1], -along[0])):
        fit = _fit(edges, x + dx, y + dy, angle, px_per_mm, _REACH_MM[1:])
        if fit.support > best.support + 0.05:
            best = fit
    return best


def _fit(
    edges: Floats, x: float, y: float, angle: float, px_per_mm: float, reaches: tuple[float, ...]
) -> Fit:
    support = 0.0
    for reach in reaches:
        u, n = _outline(angle)
        c = np.array([x, y])
        points = c + u * px_per_mm
        offsets = np.arange(-reach, reach + _STEP_MM / 2, _STEP_MM)
        at = points[:, None] + n[:, None] * (offsets * px_per_mm)[None, :, None]
        mx, my = (at[..., i].astype(np.float32) for i in (0, 1))
        samples = cv2.remap(edges, mx, my, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        # outward: the paper is inside, so brightness falls
        fall = samples[:, :-2] - samples[:, 2:]
        strength = np.maximum(fall, -0.6 * fall).max(axis=2) * np.exp(-((offsets[1:-1] / (1.6 * reach)) ** 2))
        best = strength.argmax(axis=1)
        rows = np.arange(len(best))
        height = strength[rows, best]
        k = np.clip(best, 1, strength.shape[1] - 2)
        before, peak, after = strength[rows, k - 1], strength[rows, k], strength[rows, k + 1]
        curve = before - 2 * peak + after
        part = np.where(
            np.abs(curve) > 1e-3, np.clip(0.5 * (before - after) / np.where(curve == 0, 1, curve), -1, 1), 0
        )
        d = offsets[k + 1] + part * _STEP_MM
        seen = height > 7.0
        if seen.sum() < 12:
            return Fit(x, y, angle, 0.0)
        # along each normal: d = n · shift + turn * (n · (u rotated by 90 degrees))
        J = np.column_stack([n, n[:, 1] * u[:, 0] - n[:, 0] * u[:, 1]])
        step = np.zeros(3)
        weight = seen * np.minimum(height, 40.0)
        for scale in (reach * 0.7, reach * 0.35, 1.0):
            r = d - J @ step
            w = weight * np.clip(1 - (r / (2.2 * scale)) ** 2, 0, 1) ** 2
            A = J.T @ (J * w[:, None]) + np.diag([1e-2, 1e-2, 3.0])
            step = np.linalg.solve(A, J.T @ (w * d))
        x, y = x + step[0] * px_per_mm, y + step[1] * px_per_mm
        angle += float(np.clip(step[2], -0.2, 0.2))
        support = float((seen & (np.abs(d - J @ step) < _CLOSE_MM)).mean())
    return Fit(float(x), float(y), angle, support)


def _outline(angle: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points of the card's sides about its centre and their outward normals, (N, 2) each, mm, picture axes.

    The rounded corners are left out.
    """
    width, length = CARD_MM
    along = np.array([np.cos(angle), np.sin(angle)])
    across = np.array([-along[1], along[0]])
    t = np.linspace(-1, 1, _ALONG)[:, None]
    sides = []
    for sign in (1.0, -1.0):
        sides.append((sign * across * width / 2 + along * t * (length / 2 - 6), sign * across))
        sides.append((sign * along * length / 2 + across * t * (width / 2 - 6), sign * along))
    points = np.vstack([p for p, _ in sides])
    normals = np.vstack([np.broadcast_to(n, (_ALONG, 2)) for _, n in sides])
    return points, normals
