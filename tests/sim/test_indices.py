"""Index letters as printers draw them: whole, apart from each other, and the same for the same seed."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from pitwatch.sim.indices import drawn_index

TEXTS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")


@pytest.mark.parametrize("seed", range(20))
def test_a_hand_writes_thirteen_different_signs(seed: int) -> None:
    signs = [drawn_index(t, 40, 1.0, seed) for t in TEXTS]
    for a in range(len(signs)):
        assert signs[a].max() > 0.6
        for b in range(a):
            one, other = (cv2.resize(signs[i], (24, 40)) for i in (a, b))
            assert np.abs(one - other).mean() > 0.04, (TEXTS[a], TEXTS[b])


@pytest.mark.parametrize("text", ["A", "2", "3", "4", "5", "6", "7", "8", "9", "J", "Q", "K"])
def test_every_sign_is_in_one_piece(text: str) -> None:
    for seed in range(30):
        mask = (drawn_index(text, 80, 1.0, seed) > 0.4).astype(np.uint8)
        pieces = cv2.connectedComponents(mask)[0] - 1
        assert pieces == 1 or (text == "4" and pieces == 2), seed  # an open four may be in two


def test_a_nine_is_a_six_turned_round() -> None:
    six, nine = drawn_index("6", 60, 1.0, 4), drawn_index("9", 60, 1.0, 4)
    turned = cv2.resize(nine[::-1, ::-1].copy(), six.shape[::-1])
    assert np.abs(six - turned).mean() < 0.12


def test_the_same_seed_draws_the_same() -> None:
    assert np.array_equal(drawn_index("Q", 50, 0.8, 7), drawn_index("Q", 50, 0.8, 7))
    assert not np.array_equal(drawn_index("Q", 50, 0.8, 7), drawn_index("Q", 50, 0.8, 8))
