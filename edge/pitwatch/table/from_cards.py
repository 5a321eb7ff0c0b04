"""The camera's pose from playing cards: every card is a rectangle of 63 × 88 mm that lies flat.

In: a picture and about how many pixels a millimetre has. Out: a `Camera` whose table frame has its origin
where the picture's middle points; `anchored` moves it to where known points say. Whole cards with a clear
outline have a say; what is no card is left out.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.table.camera import Camera
from pitwatch.vision.looks import CARD_MM

__all__ = ["CardsPose", "anchored", "card_outlines", "guessed_scale", "left_one_out", "pose_from_cards"]

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

_USUAL_FOCAL = 1.15  # picture widths; webcams and phones lie within half and double of it
_FEWEST = 3  # cards
_GOOD_MM = 1.8  # rms of a card's four corners
_LEAST_SHARE = 0.25
_LEVELS = (70, 95, 120, 145, 170, 195, 220)


@dataclass(frozen=True)
class CardsPose:
    """camera: straight above or tilted, without distortion. outlines: (4, 2) px of the cards that it rests
    on. rms_mm: of their corners."""

    camera: Camera
    outlines: tuple[Array, ...]
    rms_mm: float


def card_outlines(image: Image, px_per_mm: float, least: float = _LEAST_SHARE) -> list[Array]:
    """Four corners (4, 2) px of everything bright with four straight sides and about a card's size.

    least: of its area; where the scale is well known, more keeps out the frames printed on court cards.

    The corners are those of the rectangle before its corners were rounded, in the order of the picture's
    clock.
    """
    return _of_size(_quads(image, *_sizes(px_per_mm, least)), px_per_mm, least)


def _sizes(px_per_mm: float, least: float = _LEAST_SHARE) -> tuple[float, float]:
    """From what area on, and up to which, a thing may be a card, px²; both excluded."""
    whole = CARD_MM[0] * CARD_MM[1] * px_per_mm**2
    return least * whole, 2.5 * whole


def _quads(image: Image, smallest: float, largest: float) -> list[tuple[float, float, Array]]:
    """Everything bright with four straight sides: how far it strays from them, its area, its corners."""
    # paper is bright in every colour
    least = cv2.GaussianBlur(image, (0, 0), 0.8).min(axis=2)
    found = []
    for level in _LEVELS:
        contours, _ = cv2.findContours((least > level).astype(np.uint8), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
        for c in contours:
            area = cv2.contourArea(c)
            if smallest < area < largest and (quad := _quad(c, area)) is not None:
                found.append((quad[0], area, quad[1]))
    return sorted(found, key=lambda q: q[0])


def _of_size(
    quads: list[tuple[float, float, Array]], px_per_mm: float, least: float = _LEAST_SHARE
) -> list[Array]:
    """Those of about a card's size, each once, by its straightest outline."""
    smallest, largest = _sizes(px_per_mm, least)
    kept: list[Array] = []
    for _, area, corners in quads:
        if not smallest < area < largest:
            continue
        centre, reach = corners.mean(axis=0), math.sqrt(cv2.contourArea(corners.astype(np.float32))) / 3
        if all(np.hypot(*(k.mean(axis=0) - centre)) > reach for k in kept):
            kept.append(corners)
    return kept


def _quad(contour: NDArray[np.int32], area: float) -> tuple[float, Array] | None:
    """How far a contour strays from four straight lines, px, and where these meet; None if it has others."""
    hull = cv2.convexHull(contour)
    if area < 0.94 * cv2.contourArea(hull):
        return None
    length = cv2.arcLength(hull, True)
    rough = next(
        (q for e in (0.02, 0.03, 0.045, 0.06) if len(q := cv2.approxPolyDP(hull, e * length, True)) == 4),
        None,
    )
    if rough is None:
        return None
    corners = rough.reshape(4, 2).astype(np.float64)
    points = contour.reshape(-1, 2).astype(np.float64)
    lines, strays = [], []
    for i in range(4):
        a, b = corners[i], corners[(i + 1) % 4]
        side = float(np.hypot(*(b - a)))
        along = ((points - a) @ (b - a)) / side**2
        away = np.abs((points - a) @ np.array([a[1] - b[1], b[0] - a[0]])) / side
        near = points[(along > 0.16) & (along < 0.84) & (away < 0.05 * side + 2)]
        if len(near) < 0.4 * side:
            return None
        vx, vy, x0, y0 = (
            float(v) for v in np.ravel(cv2.fitLine(near.astype(np.float32), cv2.DIST_HUBER, 0, 0.01, 0.01))
        )
        lines.append((vx, vy, x0, y0))
        strays.append(np.abs((near - (x0, y0)) @ np.array([-vy, vx])).mean())
    exact = [_meet(lines[i - 1], lines[i]) for i in range(4)]
    if any(p is None for p in exact):
        return None
    out = np.array(exact, dtype=np.float64)
    if np.hypot(*(out - corners).T).max() > 0.08 * length or max(strays) > 0.012 * length:
        return None
    sides = np.hypot(*(np.roll(out, -1, axis=0) - out).T)
    if sides.max() > 3.5 * sides.min():
        return None
    return float(np.mean(strays)) / length, out


def _meet(p: tuple[float, ...], q: tuple[float, ...]) -> Array | None:
    A = np.array([[p[0], -q[0]], [p[1], -q[1]]])
    if abs(np.linalg.det(A)) < 0.15:
        return None
    s = np.linalg.solve(A, np.array([q[2] - p[2], q[3] - p[3]]))
    return np.array([p[2] + s[0] * p[0], p[3] + s[0] * p[1]])


def pose_from_cards(image: Image, px_per_mm: float) -> CardsPose | None:
    """The camera under which the outlines in the picture are cards; None when none lies whole.

    px_per_mm: a rough scale, up to a third off. The more cards there are, and the farther apart, the better
    do tilt and focal length follow from them alone; with fewer than three, or when they do not fit, the
    camera is taken to look straight down.
    """
    outlines = card_outlines(image, px_per_mm)
    if not outlines:
        return None
    height, width = image.shape[:2]
    quads = np.array(outlines)
    return _tilted(quads, px_per_mm, width, height) or _from_above(quads, width, height)


def guessed_scale(image: Image) -> float:
    """The scale, px/mm, at which most outlines in a picture could be cards; for when nobody knows it."""
    width = image.shape[1]
    # a table is one to three metres wide and fills the picture
    scales = [float(s) for s in width / np.geomspace(3000.0, 500.0, 8)]
    quads = _quads(image, _sizes(scales[0])[0], _sizes(scales[-1])[1])
    return max(scales, key=lambda s: len(_of_size(quads, s)))


def anchored(camera: Camera, px: Array, mm: Array) -> tuple[Camera, Array]:
    """The camera in the table frame in which the points at `px` (N, 2) lie at `mm` (N, 2), N >= 2.

    The frame is moved and turned, never scaled: the cards have settled what a millimetre is. Returns the
    camera and how far off each point is, (N,) mm (Kabsch 1976, in the plane).
    """
    seen = camera.to_table(px)
    a, b = seen - seen.mean(axis=0), mm - mm.mean(axis=0)
    turn = math.atan2(float((b[:, 0] * a[:, 1] - b[:, 1] * a[:, 0]).sum()), float((a * b).sum()))
    c, s = math.cos(turn), math.sin(turn)
    # a felt point in the cards' frame is Rz times its place on the table, plus d
    Rz = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    d = np.append(seen.mean(axis=0) - Rz[:2, :2] @ mm.mean(axis=0), 0.0)
    moved = replace(camera, R=camera.R @ Rz, t_mm=camera.R @ d + camera.t_mm)
    return moved, np.hypot(*(moved.to_table(px) - mm).T)


def left_one_out(pose: CardsPose) -> list[Camera]:
    """The camera that the cards give without each of them in turn: how far these differ says how sure it is
    (the jackknife; Quenouille 1956). Empty for fewer than four."""
    quads = np.array(pose.outlines)
    if len(quads) <= _FEWEST:
        return []
    c = pose.camera
    turn = np.asarray(cv2.Rodrigues(c.R @ np.diag([1.0, -1.0, -1.0]))[0], np.float64).ravel()
    x = np.array([turn[0], turn[1], math.log(c.t_mm[2]), math.log(c.K[0, 0])])
    return [
        _camera(_descend(x, np.delete(quads, i, axis=0), c.width, c.height)[1], c.width, c.height)
        for i in range(len(quads))
    ]


def _tilted(quads: Array, px_per_mm: float, width: int, height: int) -> CardsPose | None:
    if len(quads) < _FEWEST:
        return None
    starts = []
    for tilt, turn, focal in itertools.product(
        np.radians([0, 15, 30, 45, 58]), np.radians(np.arange(0, 360, 30)), (0.8, _USUAL_FOCAL, 1.8)
    ):
        if tilt == 0 and turn > 0:
            continue
        f = focal * width
        x = np.array([tilt * math.cos(turn), tilt * math.sin(turn), math.log(f / px_per_mm), math.log(f)])
        starts.append((_cost(x, quads, width, height), x))
    starts.sort(key=lambda s: s[0])
    x = min((_descend(x, quads, width, height) for _, x in starts[:6]), key=lambda s: s[0])[1]
    pose = _rests_on(x, quads, width, height, _FEWEST)
    # a few cards fit many a tilt more or less: the fewer they are, the better they must fit
    n = 0 if pose is None else len(pose.outlines)
    return None if pose is None or pose.rms_mm > (0.45 if n < 5 else 0.65 if n < 8 else 1.5) else pose


def _from_above(quads: Array, width: int, height: int) -> CardsPose | None:
    """A camera straight above at the scale of what already looks like cards."""
    scales = np.array([math.sqrt(cv2.contourArea(q.astype(np.float32)) / math.prod(CARD_MM)) for q in quads])
    f = _USUAL_FOCAL * width
    found = (
        _rests_on(np.array([0.0, 0.0, math.log(f / s), math.log(f)]), quads, width, height, 1)
        for s in sorted(scales, key=lambda s: float(np.abs(scales - s).sum()))
    )
    return next((pose for pose in found if pose is not None), None)


def _rests_on(x: Array, quads: Array, width: int, height: int, fewest: int) -> CardsPose | None:
    """The pose, when at least `fewest` outlines and half of them all are cards under it."""
    rms = np.sqrt((_errors(x, quads, width, height) ** 2).mean(axis=(1, 2)))
    good = rms < _GOOD_MM
    if good.sum() < max(fewest, 0.5 * len(quads)):
        return None
    overall = float(np.sqrt((rms[good] ** 2).mean()))
    kept = tuple(quads[i] for i in np.flatnonzero(good))
    return CardsPose(_camera(x, width, height), kept, overall)


def _camera(x: Array, width: int, height: int) -> Camera:
    """x: two parts of the tilt (radians), logarithm of the distance in mm, and of the focal length in px."""
    f, R = math.exp(x[3]), np.asarray(cv2.Rodrigues(np.array([x[0], x[1], 0.0]))[0], np.float64)
    K = np.array([[f, 0, (width - 1) / 2], [0, f, (height - 1) / 2], [0, 0, 1]], np.float64)
    return Camera(
        width, height, K, R @ np.diag([1.0, -1.0, -1.0]), np.array([0, 0, math.exp(x[2])], np.float64)
    )


def _errors(x: Array, quads: Array, width: int, height: int) -> Array:
    """How far each corner lies from the best card under it, (N, 4, 2) mm."""
    mm = _camera(x, width, height).to_table(quads.reshape(-1, 2)).reshape(-1, 4, 2)
    centred = mm - mm.mean(axis=1, keepdims=True)
    w, h = CARD_MM[0] / 2, CARD_MM[1] / 2
    best: Array | None = None
    least = np.full(len(quads), np.inf)
    for a, b in ((w, h), (h, w)):
        for spin in (1, -1):
            card = np.array([(-a, -b), (a, -b), (a, b), (-a, b)])[::spin]
            # the rotation that suits best, in closed form
            c = centred[..., 0] * card[:, 0] + centred[..., 1] * card[:, 1]
            s = centred[..., 1] * card[:, 0] - centred[..., 0] * card[:, 1]
            t = np.arctan2(s.sum(axis=1), c.sum(axis=1))[:, None]
            turned = np.stack(
                [
                    np.cos(t) * card[:, 0] - np.sin(t) * card[:, 1],
                    np.sin(t) * card[:, 0] + np.cos(t) * card[:, 1],
                ],
                axis=2,
            )
            off = centred - turned
            size = (off**2).sum(axis=(1, 2))
            best = off if best is None else np.where((size < least)[:, None, None], off, best)
            least = np.minimum(least, size)
    assert best is not None
    return best


def _residual(x: Array, quads: Array, width: int, height: int) -> Array:
    """Errors in mm, each card's bounded softly, and what keeps the focal length and the tilt sane."""
    e = _errors(x, quads, width, height).reshape(len(quads), 8)
    size = np.sqrt((e**2).mean(axis=1, keepdims=True)) + 1e-9
    # beyond a few mm it is no card: its pull fades (Geman-McClure)
    e = e / np.sqrt(1 + (size / (2 * _GOOD_MM)) ** 2)
    # few cards say little of tilt and focal length: then the usual ones hold
    usual = [3.0 * (x[3] - math.log(_USUAL_FOCAL * width)), 2.5 * x[0], 2.5 * x[1]]
    return np.concatenate([e.ravel(), usual])


def _cost(x: Array, quads: Array, width: int, height: int) -> float:
    if math.hypot(x[0], x[1]) > 1.2:
        return math.inf
    r = _residual(x, quads, width, height)
    return float(r @ r) if np.isfinite(r).all() else math.inf


def _descend(x: Array, quads: Array, width: int, height: int) -> tuple[float, Array]:
    """Levenberg-Marquardt with a numeric Jacobian."""
    cost, damping = _cost(x, quads, width, height), 1e-2
    for _ in range(40):
        r = _residual(x, quads, width, height)
        J = np.empty((len(r), 4))
        for i in range(4):
            y = x.copy()
            y[i] += 1e-4
            J[:, i] = (_residual(y, quads, width, height) - r) / 1e-4
        A = J.T @ J
        step = np.linalg.solve(A + damping * np.diag(np.diag(A) + 1e-9), J.T @ r)
        y = x - step
        again = _cost(y, quads, width, height)
        if again < cost:
            done = cost - again < 1e-6 * cost
            x, cost, damping = y, again, damping / 4
            if done:
                break
        else:
            damping *= 6
            if damping > 1e7:
                break
    return cost, x
