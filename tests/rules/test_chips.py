"""Money as text and chips as change."""

from __future__ import annotations

import pytest

from pitwatch.chips import CASINO, ChipSet, Denomination, make_change, money


@pytest.mark.parametrize(
    ("cents", "text"), [(2500, "$25"), (3750, "$37.50"), (0, "$0"), (-500, "-$5"), (1234500, "$12,345")]
)
def test_money(cents: int, text: str) -> None:
    assert money(cents) == text


@pytest.mark.parametrize(
    ("cents", "stack"),
    [
        (0, ()),
        (8750, (2500, 2500, 2500, 500, 500, 250)),
        (300, (100, 100, 100)),
        (650, (250, 100, 100, 100, 100)),
        (60000, (50000, 10000)),
    ],
)
def test_change(cents: int, stack: tuple[int, ...]) -> None:
    assert sum(make_change(cents)) == cents
    assert make_change(cents) == stack


def test_what_cannot_be_changed_is_said() -> None:
    with pytest.raises(ValueError, match=r"\$0\.75"):
        make_change(75)
    with pytest.raises(ValueError, match="0 or more"):
        make_change(-1)


def test_a_chip_set_is_sorted_and_has_no_twins() -> None:
    assert [d.cents for d in CASINO.denominations] == [100, 250, 500, 2500, 10000, 50000]
    assert CASINO.by_cents(2500).name == "green"
    chip = Denomination(100, "white", (0, 0, 0), (0, 0, 0))
    with pytest.raises(ValueError, match="different values"):
        ChipSet("bad", (chip, chip))
