"""Photographs are measured against boxes, centres or sets, and what is not labelled for scoring is let be."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from pitwatch.capture.frame import Frame
from pitwatch.errors import UserError
from pitwatch.evaluate.album import Album
from pitwatch.evaluate.folders import Photos, read_folder
from pitwatch.evaluate.laid import laid_as_group, laid_in_place
from pitwatch.evaluate.photos import PhotoFigures, measure_photos
from pitwatch.table.camera import Camera
from pitwatch.vision.looks import CardSeen, Look, StackSeen, Zone

See = Callable[..., CardSeen]
Write = Callable[[dict[str, Any]], Photos]


class PixelEyes:
    """Sees cards and stacks at given pixels of each picture."""

    def __init__(
        self,
        camera: Camera,
        see: See,
        cards: dict[str, Sequence[tuple[str, float, float]]],
        stacks: dict[str, Sequence[tuple[int, float, float]]],
    ) -> None:
        self.camera, self.see, self.cards, self.stacks = camera, see, cards, stacks

    def look(self, frame: Frame, zone: Zone) -> Look:
        def at(u: float, v: float) -> tuple[float, float]:
            x, y = self.camera.to_table([(u, v)])[0]
            return float(x), float(y)

        cards = [self.see(code, *at(u, v)) for code, u, v in self.cards.get(frame.name, ())]
        stacks = [StackSeen(*at(u, v), 0.9, n) for n, u, v in self.stacks.get(frame.name, ())]
        return Look(
            frame.t,
            zone,
            tuple(c for c in cards if zone.holds(c.x, c.y)),
            tuple(s for s in stacks if zone.holds(s.x, s.y)),
        )


@pytest.fixture
def measured(photo_folder: Write, card_seen: See) -> Callable[..., PhotoFigures]:
    def measure(
        labels: dict[str, Any],
        cards: dict[str, Sequence[tuple[str, float, float]]],
        stacks: dict[str, Sequence[tuple[int, float, float]]] | None = None,
    ) -> PhotoFigures:
        photos = photo_folder(labels)
        return measure_photos(photos, lambda c: PixelEyes(c, card_seen, cards, stacks or {}), Album(None))

    return measure


def picture(cards: list[dict[str, Any]], name: str = "a.png", **more: Any) -> dict[str, Any]:
    return {"image": name, "width": 900, "height": 700, "px_per_mm": 1.5, "cards": cards, **more}


def figures(f: PhotoFigures) -> tuple[int, ...]:
    out = f.cards.to_json()
    return tuple(out[k] for k in ("truth", "found", "rank_right", "card_right", "false"))


def test_boxes(measured: Callable[..., PhotoFigures]) -> None:
    boxes = [
        {"card": "7d", "box": [100, 100, 200, 240]},
        {"card": "8?", "box": [180, 100, 280, 240]},
        {"card": "back", "box": [500, 400, 640, 500]},
    ]
    seen = [("7d", 152, 168), ("8s", 230, 170), ("Kc", 560, 450), ("2h", 700, 100)]
    assert figures(measured({"images": [picture(boxes)]}, {"a.png": seen})) == (3, 3, 2, 2, 1)


def test_centres_match_within_half_a_cards_width(measured: Callable[..., PhotoFigures]) -> None:
    # 31.5 mm at 1.5 px/mm are 47 px
    cards = [{"card": "7d", "x": 200, "y": 200, "box": None}, {"card": "8d", "x": 500, "y": 200, "box": None}]
    seen = [("7d", 245, 200), ("8d", 550, 200)]
    assert figures(measured({"images": [picture(cards)]}, {"a.png": seen})) == (2, 1, 1, 1, 1)


def test_what_is_not_scored(measured: Callable[..., PhotoFigures]) -> None:
    cards = [
        {"card": "7d", "x": 200, "y": 200, "sure": False},
        {"card": "8d", "x": 400, "y": 200, "in_hand": True},
        {"card": "9d", "box": [600, 100, 800, 240], "area": "off-felt"},
        {"card": "Td", "x": 200, "y": 500, "sure": True, "in_hand": False},
    ]
    ignore = [[500, 400, 700, 600]]
    seen = [("2c", 205, 200), ("3c", 400, 205), ("4c", 700, 170), ("5c", 620, 170), ("6c", 600, 500)]
    labels = {"images": [picture(cards, ignore=ignore)]}
    assert figures(measured(labels, {"a.png": [*seen, ("Td", 200, 500), ("7c", 800, 600)]})) == (
        1,
        1,
        1,
        1,
        1,
    )


def test_a_card_without_box_or_centre_is_compared_as_one_of_a_set(
    measured: Callable[..., PhotoFigures],
) -> None:
    cards = [{"card": c, "box": None, "area": "P1"} for c in ("7d", "7h", "back", "Ks")]
    seen = [("7c", 100, 100), ("7d", 300, 100), ("back", 500, 100)]
    assert figures(measured({"images": [picture(cards)]}, {"a.png": seen})) == (4, 3, 3, 2, 0)


def test_hidden_cards_are_not_clear(measured: Callable[..., PhotoFigures]) -> None:
    cards = [
        {"card": "7d", "x": 200, "y": 200, "hidden": 0.4},
        {"card": "8d", "x": 400, "y": 200, "hidden": 0.45},
        {"card": "9d", "x": 600, "y": 200},
    ]
    out = measured({"images": [picture(cards)]}, {"a.png": [("7d", 200, 200)]}).cards.to_json()
    assert (out["clear_truth"], out["clear_right"]) == (2, 1)


def test_an_empty_picture_of_a_calibrated_set(photo_folder: Write, card_seen: See) -> None:
    photos = photo_folder(
        {
            "images": [picture([{"card": "7d", "x": 450, "y": 500}])],
            "empty": ["b.png"],
        }
    )
    tilt = np.radians(30)
    down = np.array([0.0, np.sin(tilt), -np.cos(tilt)])
    right = np.array([1.0, 0.0, 0.0])
    R = np.stack([right, np.cross(down, right), down])
    K = np.array([[900.0, 0, 450], [0, 900.0, 350], [0, 0, 1]])
    camera = Camera(900, 700, K, R, -R @ np.array([0.0, -300.0, 1100.0]))
    (photos.folder / "calibration.json").write_text(json.dumps(camera.to_json()))
    (photos.folder / "layout.json").write_text(json.dumps({"spots": [[-300, 400], [0, 500], [300, 400]]}))
    read = read_folder(photos.folder)
    assert isinstance(read, Photos)
    assert read.camera is not None
    seen = {"a.png": [("7d", 452, 505)], "b.png": [("8d", 400, 400)]}
    f = measure_photos(read, lambda c: PixelEyes(c, card_seen, seen, {}), Album(None))
    assert figures(f) == (1, 1, 1, 1, 1)


def test_stacks_have_counts_and_give_the_scale(measured: Callable[..., PhotoFigures]) -> None:
    stacks = [[100, 100, 178, 220], [400, 100, 478, 220], [600, 300, 678, 420], [700, 500, 778, 620]]
    counts = [{"total": 3, "sure": True}, {"total": 4, "sure": False}, None, {"total": 2, "sure": True}]
    label = {**picture([]), "px_per_mm": None, "stacks": stacks, "counts": counts}
    seen = [(3, 139, 160), (5, 439, 160), (1, 639, 360), (9, 50, 650)]
    out = measured({"images": [label]}, {}, {"a.png": seen}).stacks.to_json()
    assert [out[k] for k in ("truth", "found", "count_right", "value_right", "false", "counted")] == [
        *(4, 3, 1, None, 1, 2)
    ]


def test_bets_are_looked_for_and_nothing_else_is_false(measured: Callable[..., PhotoFigures]) -> None:
    label = picture([], bets=[{"x": 300, "y": 300, "chips": 3}, {"x": 600, "y": 300, "chips": None}])
    f = measured({"images": [label]}, {}, {"a.png": [(3, 300, 310), (2, 610, 300), (7, 800, 600)]})
    assert f.stacks is None
    out = f.bets.to_json()
    assert (out["truth"], out["found"], out["count_right"], out["false"]) == (2, 2, 1, 0)


def test_a_picture_without_a_scale_is_said(measured: Callable[..., PhotoFigures]) -> None:
    label = {**picture([{"card": "7d", "x": 1, "y": 1}]), "px_per_mm": None}
    with pytest.raises(UserError, match=r"labels\.json gives no px_per_mm for a\.png"):
        measured({"images": [label]}, {})


def test_one_laid_card_of_a_camera_that_stands_still() -> None:
    def at(*cards: tuple[str, float]) -> dict[str, Any]:
        return {"cards": [{"card": c, "x": x, "y": 0} for c, x in cards]}

    ids = laid_in_place(
        [at(("7d", 0), ("7d", 30)), at(("7d", 3)), at(), at(("7d", 5), ("8d", 5)), at(("7d", 90))],
        lambda c: 20,
    )
    assert ids[0][0] == ids[1][0] == ids[3][0]
    assert len({i for row in ids for i in row}) == 4


def test_one_layout_photographed_from_several_sides() -> None:
    def of(*codes: str) -> dict[str, Any]:
        return {"cards": [{"card": c} for c in codes]}

    ids = laid_as_group(
        [
            of("7d", "8d", "9d"),
            of("9d", "Td", "8d", "7d"),
            of("7d", "Kc", "8d"),
            of("7d", "8d"),
            of("2c", "2c"),
        ]
    )
    assert ids[0][0] == ids[1][3]
    assert ids[2][0] != ids[0][0]
    assert ids[3][0] != ids[0][0]
    assert ids[4][0] != ids[4][1]
