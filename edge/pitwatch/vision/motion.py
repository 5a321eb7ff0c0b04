"""What changed on the table between pictures: a small top view of the felt and cheap differences in it.

In: frames (BGR, the camera's size). Out: cells of 4 mm on the felt plane that moved since the picture before,
that differ from the background, or that look like bare felt. Places are given as `Foot`s: a box of cells
with a mask. Units: mm in the table frame, seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout

__all__ = ["Foot", "Motion", "TopView", "View", "differs", "share_changed"]

Image = NDArray[np.uint8]
Mask = NDArray[np.bool_]
S = TypeVar("S", bound=np.generic)

CELL_MM = 4.0
_AROUND_MM = 170.0  # of felt and rail outside the spots
MOVED = 14  # grey levels between two pictures, over sensor noise and compression
FORE = 24  # grey levels off the background
_SHADOW = (0.45, 1.06)
_ABSORB_S = 8.0
_HISTORY_S = 8.0


@dataclass(frozen=True)
class Foot:
    """A place on the felt: rows r0..r1 and columns c0..c1 of the top view, and which cells of these."""

    r0: int
    r1: int
    c0: int
    c1: int
    mask: Mask

    def of(self, a: NDArray[S]) -> NDArray[S]:
        """This box of a top-view array."""
        return a[self.r0 : self.r1, self.c0 : self.c1]

    def onto(self, other: Foot) -> Mask:
        """This place's cells within the box of another."""
        out = np.zeros(other.mask.shape, dtype=np.bool_)
        r0, r1, c0, c1 = (
            max(self.r0, other.r0),
            min(self.r1, other.r1),
            max(self.c0, other.c0),
            min(self.c1, other.c1),
        )
        if r1 > r0 and c1 > c0:
            there = out[r0 - other.r0 : r1 - other.r0, c0 - other.c0 : c1 - other.c0]
            there[:] = self.mask[r0 - self.r0 : r1 - self.r0, c0 - self.c0 : c1 - self.c0]
        return out

    @property
    def n(self) -> int:
        """Number of cells."""
        return int(self.mask.sum())


@dataclass(frozen=True)
class View:
    """One picture seen from the top.

    t: seconds. top: (h, w, 3) BGR, brightness evened out against the background. moved: cells that changed
    since the picture before. fore: cells that differ from the background.
    """

    t: float
    top: Image
    moved: Mask
    fore: Mask


class TopView:
    """The fixed warp from frames to the top view.

    x0, y0: mm of the first cell's middle. w, h: cells. valid: (h, w), which cells the camera sees.
    """

    def __init__(self, camera: Camera, layout: Layout, cell: float = CELL_MM) -> None:
        xs = [p[0] for p in layout.spots] + list(layout.dealer_row[:2])
        ys = [p[1] for p in layout.spots] + [layout.dealer_row[2]]
        self.cell = cell
        self.x0, self.y0 = min(xs) - _AROUND_MM, min(-20.0, layout.cy - 80.0)
        self.w = int((max(xs) + _AROUND_MM - self.x0) / cell) + 1
        self.h = int((max(ys) + _AROUND_MM - self.y0) / cell) + 1
        gx, gy = np.meshgrid(self.x0 + cell * np.arange(self.w), self.y0 + cell * np.arange(self.h))
        self._mm = np.column_stack([gx.ravel(), gy.ravel()])
        self.valid: Mask = np.ones((self.h, self.w), dtype=np.bool_)
        scale = camera.px_per_mm(float(np.mean(xs)), float(np.mean(ys)))
        self._halvings = next((n for n in (2, 1) if scale * cell / 2**n >= 0.8), 0)
        self.aim(camera)

    def aim(self, camera: Camera) -> None:
        """The same top view through the camera as it stands now."""
        self.camera = camera
        px = camera.project(self._mm)
        # a strong lens model folds points from far outside back into the picture
        there = np.linalg.norm(camera.to_table(px) - self._mm, axis=1) < 2 * self.cell
        inside = (px >= 0).all(axis=1) & (px[:, 0] < camera.width) & (px[:, 1] < camera.height)
        self.valid &= (there & inside).reshape(self.h, self.w)
        uv = ((px + 0.5) / 2**self._halvings - 0.5).astype(np.float32).reshape(self.h, self.w, 2)
        self._map, self._frac = cv2.convertMaps(uv[..., 0], uv[..., 1], cv2.CV_16SC2)
        p = camera.position_mm
        self._eye = (float(p[0]), float(p[1]), float(p[2]))

    def warp(self, image: Image) -> Image:
        """The top view (h, w, 3) of a frame."""
        for _ in range(self._halvings):  # OpenCV halves four times as fast as it quarters
            h, w = image.shape[:2]
            half = cv2.resize(
                image[: h // 2 * 2, : w // 2 * 2], (w // 2, h // 2), interpolation=cv2.INTER_AREA
            )
            image = np.asarray(half, dtype=np.uint8)
        out = cv2.remap(image, self._map, self._frac, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(out, dtype=np.uint8)

    def cells(self, points_mm: Sequence[tuple[float, float]] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Table points (N, 2) in mm to (column, row), fractional."""
        return (np.asarray(points_mm, dtype=np.float64) - (self.x0, self.y0)) / self.cell

    def foot(self, outline_mm: Sequence[tuple[float, float]] | NDArray[np.float64]) -> Foot:
        """The cells within a convex outline; empty when it lies outside the top view."""
        q = self.cells(outline_mm)
        c0, r0 = np.clip(np.floor(q.min(axis=0)).astype(int), 0, (self.w, self.h))
        c1, r1 = np.clip(np.ceil(q.max(axis=0)).astype(int) + 1, 0, (self.w, self.h))
        if r1 <= r0 or c1 <= c0:
            return Foot(0, 0, 0, 0, np.zeros((0, 0), dtype=np.bool_))
        m = np.zeros((r1 - r0, c1 - c0), dtype=np.uint8)
        cv2.fillConvexPoly(m, np.round((q - (c0, r0)) * 16).astype(np.int32), 1, shift=4)
        return Foot(int(r0), int(r1), int(c0), int(c1), m.astype(np.bool_) & self.valid[r0:r1, c0:c1])

    def raised(self, x: float, y: float, z: float) -> tuple[float, float]:
        """Where on the felt plane a point at height z appears, mm."""
        ex, ey, ez = self._eye
        k = ez / max(ez - z, 1.0)
        return (ex + (x - ex) * k, ey + (y - ey) * k)


def _off(a: Image, b: Image) -> Image:
    # (…, 3) to the largest difference of the three; numpy's max over a short axis takes ten times as long
    d = np.asarray(cv2.absdiff(a, b))
    return np.asarray(np.maximum(np.maximum(d[..., 0], d[..., 1]), d[..., 2]))


def differs(a: Image, b: Image, level: int = FORE, *, shadows: bool = True) -> Mask:
    """Which cells of two top views (…, 3) differ by more than `level`.

    shadows: cells of the first that are those of the second in a mere shadow do not differ.
    """
    out = _off(a, b) > level
    if shadows and out.any():
        out[out] = ~_shadow(a[out], b[out])
    return out


def share_changed(foot: Foot, a: Image, b: Image, where: Mask | None = None) -> float:
    """Share of a place's cells that differ between two box-shaped cuts (rows, columns, 3) of it, 0 to 1.

    where: only these cells count. 1.0 when none is left.
    """
    m = foot.mask if where is None else foot.mask & where
    n = int(m.sum())
    return float(differs(a, b)[m].mean()) if n else 1.0


def _shadow(cur: Image, ref: Image) -> Mask:
    """Cells (N, 3) that are the reference in a soft shadow: darker by the same factor in every colour."""
    c, r = cur.astype(np.float32) + 4.0, ref.astype(np.float32) + 4.0
    k = c.sum(axis=1) / r.sum(axis=1)
    off = np.abs(c - r * k[:, None]).max(axis=1)
    bright = r.max(axis=1) > 60
    return np.asarray((k > _SHADOW[0]) & (k < _SHADOW[1]) & (off < 9.0) & bright)


class Motion:
    """Keeps the background and the last seconds of a table's top view.

    The background has two layers, so that what a leaving object uncovers is known again at once.
    """

    def __init__(self, view: TopView) -> None:
        self.view = view
        shape = (view.h, view.w)
        self._bg: list[Image] = []
        self._last: Image | None = None
        self._gain = np.ones(3)
        self._drift_t = 0.0
        self._kernel = np.ones((3, 3), dtype=np.uint8)
        self.moved_t = np.full(shape, -1e9, dtype=np.float64)
        """(h, w) time at which each cell last moved."""
        self.history: deque[tuple[float, Image, Mask | None]] = deque()
        """Past top views, oldest first, each with the mask of the arms over it."""

    def step(self, t: float, image: Image) -> View:
        """Take in one picture."""
        raw = self.view.warp(image)
        if self._last is None:
            self._bg = [raw.copy(), raw.copy()]
            self._last = raw
            nothing = np.zeros(raw.shape[:2], dtype=np.bool_)
            return View(t, raw, nothing, nothing.copy())
        top = self._even(raw)
        moved = self._over(top, self._last, MOVED)
        fore = self._over(top, self._bg[0], FORE)
        at = np.flatnonzero(fore)
        if at.size:
            a, b, b1 = (np.take(p.reshape(-1, 3), at, axis=0) for p in (top, *self._bg))
            known = (_off(a, b1) <= FORE) | _shadow(a, b)
            known[~known] = _shadow(a[~known], b1[~known])
            fore.reshape(-1)[at[known]] = False
        self.moved_t[moved] = t
        self._last = top
        self._age(t, top, fore)
        return View(t, top, moved, fore)

    def remember(self, view: View, arms: Mask | None) -> None:
        """Keep this view in the history with the arms that were over it."""
        self.history.append((view.t, view.top, arms))
        while self.history[0][0] < view.t - _HISTORY_S:
            self.history.popleft()

    def absorb(self, view: View, foot: Foot, where: Mask) -> None:
        """Make what lies in these cells of a box now the background."""
        now, bg0, bg1 = foot.of(view.top), foot.of(self._bg[0]), foot.of(self._bg[1])
        old = where & differs(now, bg0)
        bg1[old] = bg0[old]
        bg0[where] = now[where]

    def still_since(self, foot: Foot, where: Mask | None = None) -> float | None:
        """The earliest time from which this place looked as it does now, wherever no arm hid it.

        where: only these cells of the foot's box count. None when nothing is known.
        """
        if not self.history:
            return None
        m = foot.mask if where is None else foot.mask & where
        n = int(m.sum())
        if n == 0:
            return None
        now = np.ascontiguousarray(foot.of(self.history[-1][1])[m])
        since: float | None = None
        for t, top, arms in reversed(self.history):
            if arms is not None and foot.of(arms)[m].mean() > 0.15:
                continue
            if (_off(np.ascontiguousarray(foot.of(top)[m]), now) > FORE).mean() > 0.25:
                break
            since = t
        return since

    def _over(self, a: Image, b: Image, level: int) -> Mask:
        m = _off(a, b) > level
        # a lone cell is noise
        few = cv2.boxFilter(m.astype(np.uint8), -1, (3, 3), normalize=False) >= 3
        return np.asarray(m & few & self.view.valid)

    def _even(self, raw: Image) -> Image:
        """Undo what the camera's exposure and white balance did to the whole picture."""
        a = raw[::7, ::11].reshape(-1, 3).astype(np.float32) + 1
        b = self._bg[0][::7, ::11].reshape(-1, 3).astype(np.float32) + 1
        keep = self.view.valid[::7, ::11].ravel() & (a.max(axis=1) < 250) & (b.max(axis=1) > 12)
        if keep.sum() < 50:
            return raw
        g = np.clip(np.median(b[keep] / a[keep], axis=0), 0.6, 1.7)
        if np.abs(g - 1).max() < 0.012:
            return raw
        lut = np.clip(np.arange(256)[:, None] * g[None, :], 0, 255).round().astype(np.uint8)
        return np.asarray(cv2.LUT(raw, lut.reshape(1, 256, 3)), dtype=np.uint8)

    def _age(self, t: float, top: Image, fore: Mask) -> None:
        if t - self._drift_t < 1.0:
            return
        self._drift_t = t
        calm = ~fore & (self.moved_t < t - 1.0)
        mixed = cv2.addWeighted(self._bg[0], 0.7, top, 0.3, 0.0)
        near = calm & (_off(top, self._bg[0]) <= FORE)
        self._bg[0][near] = mixed[near]
        stale = fore & (self.moved_t < t - _ABSORB_S)
        if stale.any():
            self._bg[1][stale] = self._bg[0][stale]
            self._bg[0][stale] = top[stale]
