"""Table tops for training: another one each time, the same for the same seed, and of every kind."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from pitwatch.sim.felt import PX_PER_MM, REACH
from pitwatch.sim.tops import random_felt
from pitwatch.sim.typefaces import packaged_typefaces
from pitwatch.table.layout import template


def _top(seed: int) -> np.ndarray:
    return np.asarray(random_felt(template(6), np.random.default_rng(seed), packaged_typefaces()).image)


@pytest.fixture(scope="module")
def tops() -> list[np.ndarray]:
    return [_top(seed) for seed in range(16)]


def test_a_top_is_whole_and_the_same_for_the_same_seed(tops: list[np.ndarray]) -> None:
    x0, y0, x1, y1 = REACH
    shape = (round((y1 - y0) * PX_PER_MM), round((x1 - x0) * PX_PER_MM), 3)
    assert all(t.shape == shape and t.dtype == np.uint8 for t in tops)
    assert np.array_equal(_top(5), tops[5])
    means = {tuple(np.round(t.mean(axis=(0, 1))).astype(int)) for t in tops}
    assert len(means) == len(tops)


def test_some_are_of_wood_and_most_are_printed(tops: list[np.ndarray]) -> None:
    """Print is strong edges here and there; boards have weak ones everywhere."""
    strong = []
    for t in tops:
        grey = cv2.cvtColor(
            cv2.resize(t, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY
        )
        steps = np.abs(np.diff(grey.astype(int), axis=1))
        strong.append(float((steps > 40).mean()))
    assert 0.5 < np.mean(np.array(strong) > 0.002) < 1.0
