"""A bumped, defocused, covered or darkened camera is noticed; hands, cards and chips are not taken for it."""

from __future__ import annotations

import dataclasses
from functools import cache

import cv2
import numpy as np
import pytest

from pitwatch.sim.felt import Felt, draw_felt
from pitwatch.table.camera import Camera
from pitwatch.table.drift import Steadiness
from pitwatch.table.layout import template

from .test_pose import camera_at, off_mm

CAMERA = camera_at(eye=(30, -300, 1200), at=(0, 330), focal=720, size=(960, 540))


@cache
def felt() -> Felt:
    return draw_felt(template(6))


def seen(camera: Camera, seed: int = 0) -> np.ndarray:
    H = camera.plane_homography() @ np.linalg.inv(felt().to_px)
    image = cv2.warpPerspective(
        cv2.GaussianBlur(felt().image, (0, 0), 1.2),
        H,
        (camera.width, camera.height),
        borderValue=(70, 70, 74),
    )
    return noisy(image, seed)


def noisy(image: np.ndarray, seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(0, 4, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def bumped(camera: Camera, *degrees: float) -> Camera:
    dR = cv2.Rodrigues(np.radians(degrees))[0]
    return dataclasses.replace(camera, R=dR @ camera.R, t_mm=dR @ camera.t_mm)


def busy(image: np.ndarray, seed: int) -> np.ndarray:
    """Cards, chips, and arms across the table."""
    rng = np.random.default_rng(seed)
    out = image.copy()
    for _ in range(rng.integers(4, 24)):
        x, y, a = rng.uniform(-550, 550), rng.uniform(120, 640), rng.uniform(0, 6)
        turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
        corners = np.array([(-31, -44), (31, -44), (31, 44), (-31, 44)]) @ turn.T + (x, y)
        px = np.round(CAMERA.project(corners)).astype(np.int32)
        cv2.fillConvexPoly(out, px, (235, 235, 235))
        cv2.circle(out, tuple(int(v) for v in px[0]), 9, (30, 30, 180), -1)
    for _ in range(rng.integers(0, 5)):
        a, b = rng.uniform((0, 0), (960, 540)), rng.uniform((0, 0), (960, 540))
        cv2.line(out, tuple(a.astype(int).tolist()), tuple(b.astype(int).tolist()), (90, 120, 180), 70)
    return out


@pytest.fixture
def watch() -> Steadiness:
    return Steadiness(seen(CAMERA), CAMERA)


def test_busy_rounds_are_no_alarm(watch: Steadiness) -> None:
    still = seen(CAMERA, 1)
    for seed in range(150):
        dim = 0.75 + 0.5 * np.random.default_rng(seed).random()
        picture = np.clip(busy(still, seed) * dim, 0, 255).astype(np.uint8)
        verdict = watch.look(noisy(picture, seed))
        assert verdict is None or verdict.state == "steady", seed


@pytest.mark.parametrize("degrees", [(0.5, 0, 0), (0, 0.5, 0), (0.3, -0.3, 0.4), (0, 0, 0.6), (0.1, 0.1, 0)])
def test_a_bump_is_noticed_and_corrected_while_the_table_is_busy(
    watch: Steadiness, degrees: tuple[float, float, float]
) -> None:
    true = bumped(CAMERA, *degrees)
    image = seen(true, 3)
    assert off_mm(CAMERA, true) > 1.5
    for seed in range(3):
        verdict = watch.look(busy(image, seed))
        assert verdict is not None
        assert verdict.state == "moved"
        assert verdict.camera is not None
        assert off_mm(verdict.camera, true) < 1.5
    # what is known of it counts from then on, until it is put back
    watch.aim(verdict.camera)
    again = watch.look(busy(image, 8))
    assert again is not None
    assert (again.state, again.camera) == ("steady", verdict.camera)
    back = watch.look(seen(CAMERA, 5))
    assert back is not None
    assert back.state == "moved"
    assert back.camera is not None
    assert off_mm(back.camera, CAMERA) < 1.5


@pytest.mark.parametrize("degrees", [(1.8, 1.0, 0), (0, -2.5, 0.5), (-3, 0, 0), (0, 4.5, 0)])
def test_a_strong_bump_is_followed_or_called_lost(
    watch: Steadiness, degrees: tuple[float, float, float]
) -> None:
    true = bumped(CAMERA, *degrees)
    verdict = watch.look(busy(seen(true, 3), 1))
    assert verdict is not None
    assert verdict.state in ("moved", "lost")
    assert verdict.camera is None or off_mm(verdict.camera, true) < 2


def test_what_else_befalls_a_camera(watch: Steadiness) -> None:
    still = seen(CAMERA, 2)
    hand = np.full_like(still, (60, 80, 120))
    cases = {
        "blurred": [cv2.GaussianBlur(still, (0, 0), 3.5), cv2.GaussianBlur(still, (0, 0), 9)],
        "covered": [noisy(cv2.GaussianBlur(hand, (0, 0), 9), 1), np.full_like(still, 200)],
        "dark": [noisy((still * 0.1).astype(np.uint8), 1)],
        "lost": [seen(bumped(CAMERA, 6, 9, 0), 2)],
    }
    for state, pictures in cases.items():
        for picture in pictures:
            verdict = watch.look(picture)
            assert verdict is not None
            assert verdict.state == state
            assert verdict.camera is None


def test_a_bare_felt_cannot_be_watched() -> None:
    with pytest.raises(ValueError, match="patches of print are too few"):
        Steadiness(np.full((540, 960, 3), 80, np.uint8), CAMERA)
