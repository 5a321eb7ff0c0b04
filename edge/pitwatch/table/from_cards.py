"""The camera's pose from playing cards: every card is a rectangle of 63 × 88 mm that lies flat.

In: pictures of one camera that stands still, and about how many pixels a millimetre has; points whose place
is known, where there are any. Out: a `Camera` whose table frame has its origin where the picture's middle
points; `anchored` moves it to where known points say. Whole cards with a clear outline have a say; what is no
card is left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.table.camera import USUAL_FOCAL, Camera, centred_camera
from pitwatch.table.card_outlines import all_outlines, card_outlines
from pitwatch.table.layout import Point
from pitwatch.vision.looks import CARD_MM

__all__ = [
    "CardsPose",
    "anchored",
    "cards_spread_mm",
    "pose_from_cards",
    "pose_from_outlines",
    "rough_camera",
    "settled",
]

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

_FEWEST = 3  # cards
_GOOD_MM = 1.8  # rms of a card's four corners
_SURE_MM = 0.35
_BENT_MM = 3.0  # the same of cards that lie on a cushion
_BOUND_MM = 0.8  # rms beyond which a card's pull fades, once the camera is roughly known
_MIDDLING = (0.25, 0.5, 0.75)  # shares of the outlines that are smaller than a card's, where some are none
_SAME_CARD = 0.03  # of its length; two outlines nearer than that are of one card, seen twice
# how exactly a corner is seen, mm; how much farther in than where the paper ends outlines are seen all around
# (some cards have a printed rim); and a known point, whose place was measured and tapped
_CORNER_MM, _RIM_MM, _KNOWN_MM = 0.3, 0.3, 1.5
_CLICKED_PX = 1.0


@dataclass(frozen=True)
class CardsPose:
    """camera: straight above or tilted, without distortion. outlines: (4, 2) px of the cards that it rests
    on. rms_mm: of their corners. focal: px, where it was known."""

    camera: Camera
    outlines: tuple[Array, ...]
    rms_mm: float
    focal: float | None = None


@dataclass(frozen=True)
class _Seen:
    """What a camera has to explain. quads: (N, 4, 2) px. bound_mm: rms beyond which a
    card's pull fades. px, mm: (M, 2) known points."""

    quads: Array
    width: int
    height: int
    focal: float | None = None
    bound_mm: float = 2 * _GOOD_MM
    px: Array = field(default_factory=lambda: np.zeros((0, 2)))
    mm: Array = field(default_factory=lambda: np.zeros((0, 2)))


def pose_from_cards(
    pictures: Image | Sequence[Image], px_per_mm: float | None = None, focal: float | None = None
) -> CardsPose | None:
    """The camera under which the outlines in the pictures are cards; None when none lies whole.

    px_per_mm: a rough scale, up to a third off; else it is guessed. focal: px, where the lens is known. The
    more cards there are, and the farther apart, the better do tilt and focal length follow from them alone;
    with fewer than three, or when they do not fit, the camera is taken to look straight down.
    """
    images = [pictures] if isinstance(pictures, np.ndarray) else list(pictures)
    if px_per_mm is None:
        outlines = all_outlines(images)
    else:
        outlines = [q for image in images for q in card_outlines(image, px_per_mm)]
    height, width = images[0].shape[:2]
    return pose_from_outlines(outlines, width, height, focal)


def pose_from_outlines(
    outlines: Sequence[Array], width: int, height: int, focal: float | None = None
) -> CardsPose | None:
    """`pose_from_cards` from what may be cards' outlines, (4, 2) px each, in pictures of this size."""
    quads = np.array(_each_once(outlines))
    if not len(quads):
        return None
    seen = _Seen(quads, width, height, focal)
    return _tilted(seen) or _from_above(seen)


def rough_camera(outlines: Sequence[Array], width: int, height: int) -> Camera | None:
    """A camera under which two outlines or more are cards more or less, though they may lie bent or on a
    cushion; good enough to read them, not to measure. outlines: (4, 2) px each, in pictures of this size."""
    quads = np.array(_each_once(outlines))
    if len(quads) < 2:
        return None
    seen = _Seen(quads, width, height)
    x = min((_descend(x, seen) for x in _starts(seen)), key=lambda s: s[0])[1]
    rms = _rms(x, seen)
    return _camera(x, seen) if (rms < _BENT_MM).sum() >= 2 else None


def _each_once(outlines: Sequence[Array]) -> list[Array]:
    """A card that lies still in several pictures counts once, its corners averaged."""
    groups: list[list[Array]] = []
    for quad in outlines:
        near = _SAME_CARD * math.sqrt(cv2.contourArea(quad.astype(np.float32)))
        for group in groups:
            turned = min(
                (np.roll(quad, k, axis=0) for k in range(4)), key=lambda q: float(np.abs(q - group[0]).sum())
            )
            if np.hypot(*(turned - group[0]).T).max() < near:
                group.append(turned)
                break
        else:
            groups.append([quad])
    return [np.median(np.array(group), axis=0) for group in groups]


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


def settled(pose: CardsPose, px: Array, mm: Array) -> Camera:
    """The camera in the table's frame that explains the cards and the known points (N, 2) px and mm together.

    N >= 2. Distances between points that lie far apart tell the scale better than the cards' edges do, and
    the cards tell tilt and focal length.
    """
    c = pose.camera
    seen = _Seen(np.array(pose.outlines), c.width, c.height, pose.focal, _BOUND_MM, px, mm)
    x = _descend(_parameters(c), seen)[1]
    return anchored(_camera(x, seen), px, mm)[0]


def cards_spread_mm(
    pose: CardsPose, camera: Camera, px: Array, mm: Array, places: Sequence[Point], *, known: bool
) -> Array:
    """± mm at each place (N,) of a camera that rests on cards and on anchors seen at `px` (N, 2).

    camera: the pose in the table's frame. known: the anchors were measured, and had a say (`settled`). Each
    card in turn is left out: how far the poses differ then says how sure they are (the jackknife; Quenouille
    1956). A click's own error is added. Infinite for fewer than four cards.
    """
    at = camera.project(places)
    click = np.array([_CLICKED_PX / camera.px_per_mm(x, y) for x, y in places])
    quads, c = np.array(pose.outlines), pose.camera
    n = len(quads)
    if n <= _FEWEST:
        return np.full(len(places), np.inf)
    by = {"px": px, "mm": mm} if known else {}
    found = []
    for i in range(n):
        seen = _Seen(np.delete(quads, i, axis=0), c.width, c.height, pose.focal, _BOUND_MM, **by)
        other = _camera(_descend(_parameters(c), seen)[1], seen)
        found.append(anchored(other, px, mm)[0].to_table(at))
    off = np.array(found)
    variance = (n - 1) / n * ((off - off.mean(axis=0)) ** 2).sum(axis=(0, 2))
    return np.asarray(np.sqrt(variance + click**2))


def _parameters(c: Camera) -> Array:
    """Those of a camera in the cards' own frame; see `_camera`."""
    turn = np.asarray(cv2.Rodrigues(c.R @ np.diag([1.0, -1.0, -1.0]))[0], np.float64).ravel()
    return np.array([turn[0], turn[1], math.log(c.t_mm[2]), math.log(c.K[0, 0]), 0.0])


def _tilted(seen: _Seen) -> CardsPose | None:
    if len(seen.quads) < _FEWEST:
        return None
    near = replace(seen, bound_mm=_BOUND_MM)
    x = min((_descend(_descend(x, seen)[1], near) for x in _starts(seen)), key=lambda s: s[0])[1]
    pose = _rests_on(x, seen, _FEWEST)
    # a few cards fit many a tilt more or less: the fewer they are, the better they must fit
    n = 0 if pose is None else len(pose.outlines)
    return None if pose is None or pose.rms_mm > (0.45 if n < 5 else 0.65 if n < 8 else 1.5) else pose


def _starts(seen: _Seen) -> list[Array]:
    """The likeliest of many tilts, turns, distances and focal lengths, from which to descend."""
    starts = []
    focals = (0.8, USUAL_FOCAL, 1.8) if seen.focal is None else (seen.focal / seen.width,)
    for tilt, turn, focal in itertools.product(
        np.radians([0, 15, 30, 45, 58]), np.radians(np.arange(0, 360, 30)), focals
    ):
        if tilt == 0 and turn > 0:
            continue
        x = np.array([tilt * math.cos(turn), tilt * math.sin(turn), 0.0, math.log(focal * seen.width), 0.0])
        areas = _areas(_camera(x, seen).to_table(seen.quads.reshape(-1, 2)).reshape(-1, 4, 2))
        # the distance at which a middling outline is as large as a card
        for share in _MIDDLING:
            y = x.copy()
            y[2] = 0.5 * math.log(math.prod(CARD_MM) / max(float(np.quantile(areas, share)), 1e-12))
            starts.append((_cost(y, seen), y))
    starts.sort(key=lambda s: s[0])
    return [x for _, x in starts[:6]]


def _areas(quads: Array) -> Array:
    x, y = quads[..., 0], quads[..., 1]
    return np.asarray(np.abs((x * np.roll(y, -1, 1) - y * np.roll(x, -1, 1)).sum(axis=1)) / 2)


def _from_above(seen: _Seen) -> CardsPose | None:
    """A camera straight above at the scale of what already looks like cards."""
    area = math.prod(CARD_MM)
    scales = np.array([math.sqrt(cv2.contourArea(q.astype(np.float32)) / area) for q in seen.quads])
    f = seen.focal or USUAL_FOCAL * seen.width
    found = (
        _rests_on(np.array([0.0, 0.0, math.log(f / s), math.log(f), 0.0]), seen, 1)
        for s in sorted(scales, key=lambda s: float(np.abs(scales - s).sum()))
    )
    return next((pose for pose in found if pose is not None), None)


def _rests_on(x: Array, seen: _Seen, fewest: int) -> CardsPose | None:
    """The pose, when at least `fewest` outlines and half of them all are cards under it."""
    rms = _rms(x, seen)
    # chips in a rack and boxes have straight sides too; that several of them are cards to a third of a
    # millimetre is no chance
    for within, least in ((_SURE_MM, _FEWEST), (_GOOD_MM, max(fewest, 0.5 * len(seen.quads)))):
        good = rms < within
        if good.sum() >= least:
            break
    else:
        return None
    overall = float(np.sqrt((rms[good] ** 2).mean()))
    kept = tuple(seen.quads[i] for i in np.flatnonzero(good))
    return CardsPose(_camera(x, seen), kept, overall, seen.focal)


def _camera(x: Array, seen: _Seen) -> Camera:
    """x: two parts of the tilt (radians), logarithm of the distance in mm, and of the focal length in px, and
    how much farther in than where they end cards are seen, mm."""
    turn = np.array([x[0], x[1], 0.0])
    return centred_camera(seen.width, seen.height, math.exp(x[3]), math.exp(x[2]), turn)


def _rms(x: Array, seen: _Seen) -> Array:
    """Of each card's four corners, (N,) mm."""
    return np.asarray(np.sqrt((_errors(x, seen) ** 2).mean(axis=(1, 2))), np.float64)


def _errors(x: Array, seen: _Seen) -> Array:
    """How far each corner lies from the best card under it, (N, 4, 2) mm."""
    mm = _camera(x, seen).to_table(seen.quads.reshape(-1, 2)).reshape(-1, 4, 2)
    centred = mm - mm.mean(axis=1, keepdims=True)
    w, h = CARD_MM[0] / 2 - x[4], CARD_MM[1] / 2 - x[4]
    best: Array | None = None
    least = np.full(len(seen.quads), np.inf)
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


def _residual(x: Array, seen: _Seen) -> Array:
    """Errors in units of their usual size, each card's bounded softly, and what keeps the rest sane."""
    e = _errors(x, seen).reshape(len(seen.quads), 8)
    size = np.sqrt((e**2).mean(axis=1, keepdims=True)) + 1e-9
    # beyond a few mm it is no card: its pull fades (Geman-McClure)
    e = e / np.sqrt(1 + (size / seen.bound_mm) ** 2) / _CORNER_MM
    # few cards say little of tilt and focal length: then the usual ones hold
    usual = [3.0 * (x[3] - math.log(USUAL_FOCAL * seen.width)), 2.5 * x[0], 2.5 * x[1], x[4] / _RIM_MM]
    known = np.zeros(0)
    if len(seen.px):
        camera, _ = anchored(_camera(x, seen), seen.px, seen.mm)
        known = (camera.to_table(seen.px) - seen.mm).ravel() / _KNOWN_MM
    return np.concatenate([e.ravel(), usual, known])


def _cost(x: Array, seen: _Seen) -> float:
    if math.hypot(x[0], x[1]) > 1.2:
        return math.inf
    r = _residual(x, seen)
    return float(r @ r) if np.isfinite(r).all() else math.inf


def _descend(x: Array, seen: _Seen) -> tuple[float, Array]:
    """Levenberg-Marquardt with a numeric Jacobian."""
    free = [0, 1, 2, 4] if seen.focal is not None else [0, 1, 2, 3, 4]
    cost, damping = _cost(x, seen), 1e-2
    for _ in range(60):
        r = _residual(x, seen)
        J = np.empty((len(r), len(free)))
        for k, i in enumerate(free):
            y = x.copy()
            y[i] += 1e-4
            J[:, k] = (_residual(y, seen) - r) / 1e-4
        A = J.T @ J
        y = x.copy()
        y[free] -= np.linalg.solve(A + damping * np.diag(np.diag(A) + 1e-9), J.T @ r)
        again = _cost(y, seen)
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
