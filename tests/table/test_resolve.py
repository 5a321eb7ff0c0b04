"""What a mounting can resolve, on cameras of known height and lens."""

from __future__ import annotations

import numpy as np
import pytest

from pitwatch.table.camera import Camera
from pitwatch.table.layout import template
from pitwatch.table.resolve import INDEX_MM, USUAL_CHIPS, resolve


def overhead(height: float, focal: float, size: tuple[int, int], y: float = 330.0) -> Camera:
    """A camera straight above the middle of the table."""
    R = np.diag([1.0, -1.0, -1.0])
    K = np.array([[focal, 0, size[0] / 2], [0, focal, size[1] / 2], [0, 0, 1]])
    return Camera(*size, K, R, -R @ np.array([0.0, y, height]))


def test_scale_is_focal_length_over_height() -> None:
    dealer, *seats = resolve(overhead(1500, 1650, (2304, 1296)), template(6))
    assert [r.seat for r in seats] == [1, 2, 3, 4, 5, 6]
    for r in (dealer, *seats):
        assert r.px_per_mm == pytest.approx(1.1, rel=0.01)
        assert r.index_px == pytest.approx(1.1 * INDEX_MM, rel=0.01)
        assert r.in_view
        assert r.cards == "ranks and suits"
    assert dealer.layer_px is None
    assert dealer.chips is None
    # seen from above, only the table's edge shows the sides of chips
    assert seats[0].layer_px == pytest.approx(3.4 * 1650 * 558 / 1500**2, rel=0.03)
    assert seats[0].steepness > seats[2].steepness - 30


def test_half_the_resolution_reads_less() -> None:
    for r in resolve(overhead(1500, 825, (1152, 648)), template(6)):
        assert r.cards == "none"
        assert r.chips in (None, "none")
        assert "nearer or more pixels" in r.text


def test_a_seat_outside_the_picture_is_said() -> None:
    _, *seats = resolve(overhead(700, 1650, (2304, 1296)), template(6))
    assert not seats[0].in_view
    assert "not wholly in the picture" in seats[0].text


def test_verdicts_in_words() -> None:
    dealer, *seats = resolve(overhead(1500, 3300, (4608, 2592)), template(6))
    assert dealer.text == "dealer: 2.2 px/mm, index 20 px: ranks and suits"
    assert seats[0].text.startswith(
        "seat 1: 2.2 px/mm, index 20 px: ranks and suits; 2.8 px a chip: chip values"
    )


def test_how_tall_a_stack_is_surely_read_follows_from_a_chips_pixels() -> None:
    promised = []
    for width in (1152, 2304, 4608, 9216):
        seat = resolve(overhead(1500, 1650 * width / 2304, (width, width * 9 // 16)), template(6))[1]
        promised.append(seat.usual_chips)
        assert seat.usual_chips <= seat.most_chips
    assert promised == sorted(promised)
    assert promised[0] == 0
    assert promised[-1] == max(n for _, n in USUAL_CHIPS)
