"""The felt: seats, spots, and zones that hold everything that is laid."""

from __future__ import annotations

import itertools
import math

import pytest

from pitwatch.table.layout import Layout, LayoutError, seat_of_zone, template, tiles

# three middle seats of a real felt, closer to the dealer than the template's
SHALLOW = Layout.from_json({"n": 3, "spots": [[-195, 398], [9, 437], [213, 398]]})
FELTS = [template(5), template(6), template(7), SHALLOW]
HALF_DIAGONAL = math.hypot(31.5, 44.0)


def held(layout: Layout, x: float, y: float, margin: float) -> bool:
    return any(z.holds(x, y, margin) for z in layout.zones())


@pytest.mark.parametrize("layout", FELTS, ids=lambda f: str(f.n))
def test_round_trip(layout: Layout) -> None:
    assert Layout.from_json(layout.to_json()) == layout


def test_seats_run_from_the_dealers_left() -> None:
    spots = template(6).spots
    assert [x for x, _ in spots] == sorted(x for x, _ in spots)
    assert spots[0] == pytest.approx((-556.3, 284.8))


@pytest.mark.parametrize("layout", FELTS, ids=lambda f: str(f.n))
def test_own_frame_round_trips(layout: Layout) -> None:
    for seat in layout.seats:
        assert layout.local(seat, *layout.at(seat, 130, -20)) == pytest.approx((130, -20))
        assert layout.at(seat, 0) == pytest.approx(layout.spots[seat - 1])


@pytest.mark.parametrize("layout", FELTS, ids=lambda f: str(f.n))
def test_every_card_is_whole_in_a_zone(layout: Layout) -> None:
    for seat in range(layout.n + 1):
        a, b, c, d = layout.card_area(seat)
        for i in range(11):
            for j in range(11):
                p, q = i / 10, j / 10
                x = (1 - p) * ((1 - q) * a[0] + q * b[0]) + p * ((1 - q) * d[0] + q * c[0])
                y = (1 - p) * ((1 - q) * a[1] + q * b[1]) + p * ((1 - q) * d[1] + q * c[1])
                assert held(layout, x, y, HALF_DIAGONAL), (seat, x, y)


@pytest.mark.parametrize("layout", FELTS, ids=lambda f: str(f.n))
def test_every_stack_of_a_spot_is_whole_in_the_seats_chip_zone(layout: Layout) -> None:
    zones = {z.name: z for z in layout.zones()}
    # a chip's radius, and how far the top of twenty chips leans at 45 degrees
    margin = 20 + 45
    for seat in layout.seats:
        zone = zones[f"seat-{seat}-chips"]
        for k in range(24):
            x, y = layout.spots[seat - 1]
            a = k * math.pi / 12
            x, y = x + 74.9 * math.cos(a), y + 74.9 * math.sin(a)
            assert zone.holds(x, y, margin)
            assert layout.spot_of(x, y) == (seat, "main")


def test_hands_as_they_are_dealt_belong_to_their_seats() -> None:
    layout = template(6)
    for seat in layout.seats:
        for k in range(6):
            assert layout.seat_of(*layout.at(seat, 126 + 24 * k, -10 + 14 * k)) == seat
    for x in (-33, 45, 153, 217, 281, 345):
        assert layout.seat_of(x, 216) == 0
    assert layout.seat_of(0, -300) is None


def test_a_felt_close_to_the_dealer() -> None:
    assert SHALLOW.seat_of(-50, 320) == 2
    assert SHALLOW.seat_of(54, 361) == 2
    assert SHALLOW.seat_of(190, 256) == 3
    assert SHALLOW.seat_of(-134, 171) == 0
    assert SHALLOW.seat_of(0, 211) == 0
    assert SHALLOW.seat_of(120, 124) == 0
    for x in range(-150, 221, 10):
        for y in range(80, 211, 10):
            assert held(SHALLOW, x, y, HALF_DIAGONAL)
    for x in range(-195, 214, 12):
        for y in range(215, 391, 10):
            assert held(SHALLOW, x, y, HALF_DIAGONAL)


def test_spots() -> None:
    layout = template(6)
    assert layout.spot_of(*layout.at(3, 2, 45)) == (3, "main")
    assert layout.spot_of(*layout.at(3, 0, 100)) is None
    for seat in layout.seats:
        assert layout.spot_of(*layout.at(seat, 200)) == (seat, "insurance")
        assert layout.spot_of(*layout.at(seat, 190, 60)) == (seat, "insurance")
        assert layout.spot_of(*layout.at(seat, 130)) is None
    assert layout.spot_of(0, 60) is None
    assert SHALLOW.spot_of(9, 300) is None


def test_side_spots_are_told_from_the_main_one() -> None:
    plain = template(5)
    side = {"bet_player": [plain.at(s, 40, 60) for s in plain.seats]}
    layout = Layout.from_json({**plain.to_json(), "side": side})
    assert layout.spot_of(*layout.at(2, 42, 58)) == (2, "bet_player")
    assert layout.spot_of(*layout.at(2, 5, 5)) == (2, "main")
    assert Layout.from_json(layout.to_json()) == layout


def test_zones_are_named_for_their_seats() -> None:
    zones = template(6).zones()
    assert len({z.name for z in zones}) == len(zones)
    assert {seat_of_zone(z) for z in zones} == set(range(7))
    assert seat_of_zone("seat-3-chips") == 3
    assert seat_of_zone("tile-4") is None
    dealer = [z for z in zones if seat_of_zone(z) == 0]
    assert all(a.x + a.size / 2 - (b.x - b.size / 2) >= 100 for a, b in itertools.pairwise(dealer))


def test_tiles_cover() -> None:
    zones = tiles(-700, 30, 700, 760)
    for x in range(-640, 641, 20):
        for y in range(90, 701, 20):
            assert any(z.holds(x, y, HALF_DIAGONAL) for z in zones)
    assert len(tiles(0, 0, 100, 100)) == 1


@pytest.mark.parametrize(
    ("obj", "key"),
    [
        ({}, "spots"),
        ({"spots": []}, "spots"),
        ({"spots": [[1, 2, 3]]}, "spots"),
        ({"n": 2, "spots": [[1, 2]]}, "'n'"),
        ({"spots": [[1, 2]], "cx": "left"}, "cx"),
        ({"spots": [[1, 2]], "dealer_row": [1, 2]}, "dealer_row"),
        ({"spots": [[1, 2]], "side": {"bet_player": [[1, 2], [3, 4]]}}, "bet_player"),
    ],
)
def test_a_bad_layout_names_its_key(obj: dict[str, object], key: str) -> None:
    with pytest.raises(LayoutError, match=key):
        Layout.from_json(obj)


def test_no_template() -> None:
    with pytest.raises(LayoutError, match="9"):
        template(9)
