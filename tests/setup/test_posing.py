"""The pose step: what bad input is answered, in one sentence that speaks of the page, not of files."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from pitwatch.errors import UserError
from pitwatch.setup.posing import Known, PoseRequest, solve
from pitwatch.sim.practice import PLACES
from pitwatch.sim.spec import mounted_camera
from pitwatch.table.board import BOARDS
from pitwatch.table.layout import template

LAYOUT = template(6)
CAMERA = dataclasses.replace(mounted_camera(LAYOUT, 1600, 900), dist=np.zeros(5))
EMPTY = np.full((900, 1600, 3), (50, 90, 40), np.uint8)


def points(mm: list[tuple[float, float]], said: list[tuple[float, float]] | None = None) -> list[Known]:
    """Points tapped where `mm` is seen, and said to lie at `said`."""
    px = CAMERA.project(mm)
    return [Known(px=(p[0], p[1]), mm=m) for p, m in zip(px.tolist(), said or mm, strict=True)]


def refused(asked: PoseRequest, image: np.ndarray = EMPTY) -> str:
    with pytest.raises(UserError) as e:
        solve(image, asked, None, None)
    text = str(e.value)
    assert "\n" not in text
    # nobody at the page has seen a file or an option
    for word in (".json", ".png", "/tmp", "--"):
        assert word not in text, text
    return text


SPOTS = list(LAYOUT.spots)
SIX = [*SPOTS[:4], (-150.0, 60.0), (150.0, 60.0)]


def test_points_give_the_camera_and_how_sure_every_place_is() -> None:
    posed = solve(EMPTY, PoseRequest(method="points", points=points(SIX)), None, None)
    assert (
        np.hypot(*(posed.camera.to_table(CAMERA.project(SPOTS)) - SPOTS).T).max() < 2.5
    )  # the lens is taken to be centred, and is not quite
    assert [s.place for s in posed.spread] == [*(f"seat {i}" for i in range(1, 7)), "dealer's cards"]
    assert all(0 < s.mm < 10 for s in posed.spread)
    assert any("above the felt" in line for line in posed.said)
    assert not any(".json" in line or "wrote" in line for line in posed.said)


def test_points_in_the_wrong_order_are_noticed() -> None:
    mirrored = [(-x, y) for x, y in SIX]
    assert "mirrored" in refused(PoseRequest(method="points", points=points(SIX, mirrored)))
    swapped = [SIX[1], SIX[0], *SIX[2:]]
    assert "swapped" in refused(PoseRequest(method="points", points=points(SIX, swapped)))
    assert "at least four" in refused(PoseRequest(method="points", points=points(SIX[:3])))
    turned = [(-x, -y) for x, y in SIX]
    assert "outside the picture" in refused(PoseRequest(method="points", points=points(SIX, turned)))
    across = [(-x, 700 - y) for x, y in SIX]
    posed = solve(EMPTY, PoseRequest(method="points", points=points(SIX, across)), None, None)
    assert "players' side" in posed.said[-1]


def test_without_cards_it_is_said_what_to_lay() -> None:
    text = refused(PoseRequest(method="cards", edge=(800.0, 800.0)))
    assert text.startswith("0 whole cards")
    assert "lay six to ten" in text


def test_cards_behind_a_wide_lens(tmp_path: Path) -> None:
    """The calibrated lens is kept; cards are drawn through it, their edges bent."""
    K = np.array([[1000.0, 0, 795.0], [0, 1000.0, 455.0], [0, 0, 1]])
    bent = dataclasses.replace(CAMERA, K=K, dist=np.array([-0.3, 0.08, 0, 0, 0]))
    image = EMPTY.astype(np.float32)
    for x, y, yaw in PLACES:
        a = np.radians(yaw)
        turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
        corners = np.array([(-44, -31.5), (44, -31.5), (44, 31.5), (-44, 31.5)]) @ turn.T + (x, y)
        rim = np.concatenate([np.linspace(p, np.roll(corners, -1, 0)[i], 20) for i, p in enumerate(corners)])
        # as a lens mixes it, by each pixel's share: a smoothed fillPoly is half a pixel too large all round
        fine = np.zeros((900 * 4, 1600 * 4), np.uint8)
        cv2.fillPoly(fine, [np.round(bent.project(rim) * 4 + 1.5).astype(np.int32)], 1)
        share = cv2.resize(fine.astype(np.float32), (1600, 900), interpolation=cv2.INTER_AREA)[..., None]
        image = image * (1 - share) + np.array((235, 238, 240), np.float32) * share
    image = np.round(image).astype(np.uint8)
    lens = tmp_path / "lens.json"
    lens.write_text(json.dumps(bent.to_json()))
    known = [(-392.1, 514.2), (392.1, 514.2), (0.0, 60.0)]
    tapped = [Known(px=tuple(p), mm=m) for p, m in zip(bent.project(known).tolist(), known, strict=True)]
    posed = solve(image, PoseRequest(method="cards", points=tapped), lens, None)
    assert np.hypot(*(posed.camera.to_table(bent.project(SPOTS)) - SPOTS).T).max() < 2
    assert np.allclose(posed.camera.K, K)
    assert len(posed.outlines) >= 7
    small = cv2.resize(image, (800, 450))
    with pytest.raises(UserError, match="lens was calibrated for 1600 x 900"):
        solve(np.asarray(small, np.uint8), PoseRequest(method="cards", points=tapped), lens, None)


def on_the_felt(
    scale: float = 1.0, *, mirrored: bool = False, middle: tuple[float, float] = (0, 330)
) -> np.ndarray:
    """The table with an A3 board on it, printed at `scale`."""
    board = BOARDS["a3"]
    modules = board.modules()
    sheet = np.kron(np.where(modules, 25, 235), np.ones((4, 4))).astype(np.uint8)
    sheet = cv2.copyMakeBorder(sheet, 60, 60, 60, 60, cv2.BORDER_CONSTANT, value=235)
    if mirrored:
        sheet = sheet[:, ::-1].copy()
    per = modules.shape[1] * 4 / board.size_mm[0]
    h, w = sheet.shape
    s = scale / per
    to_mm = np.array([[s, 0, middle[0] - w / 2 * s], [0, -s, middle[1] + h / 2 * s], [0, 0, 1.0]])
    H = CAMERA.plane_homography() @ to_mm
    seen = cv2.warpPerspective(sheet, H, (1600, 900), flags=cv2.INTER_AREA)
    mask = cv2.warpPerspective(np.full_like(sheet, 255), H, (1600, 900)) > 127
    out = EMPTY.copy()
    out[mask] = seen[mask][:, None]
    return np.asarray(cv2.GaussianBlur(out, (0, 0), 0.6), np.uint8)


def test_the_board_gives_the_camera() -> None:
    asked = PoseRequest(method="board", paper="a3", bar_mm=100, at=(0, 330, 0))
    posed = solve(on_the_felt(), asked, None, None)
    assert np.hypot(*(posed.camera.to_table(CAMERA.project(SPOTS)) - SPOTS).T).max() < 6
    assert len(posed.spread) == 7


def test_a_board_at_the_wrong_scale_is_noticed_and_its_measure_taken() -> None:
    two = points([(-500.0, 120.0), (500.0, 120.0)])
    image = on_the_felt(0.94)
    text = refused(PoseRequest(method="board", paper="a3", bar_mm=100, points=two), image)
    assert "enter what the board's 100 mm bar measures" in text
    posed = solve(image, PoseRequest(method="board", paper="a3", bar_mm=94, points=two), None, None)
    assert any("printed at 94.0 %" in line for line in posed.said)
    text = refused(PoseRequest(method="board", paper="a3", bar_mm=20, at=(0, 330, 0)), image)
    assert "cannot be" in text


def test_a_mirrored_missing_or_other_board_is_said() -> None:
    asked = PoseRequest(method="board", paper="a3", at=(0, 330, 0))
    assert "mirrored" in refused(asked, on_the_felt(mirrored=True))
    assert "shows no a3 board" in refused(asked)
    assert "shows the a3 board, not a4" in refused(asked.model_copy(update={"paper": "a4"}), on_the_felt())
    assert "say where" in refused(PoseRequest(method="board", paper="a3"), on_the_felt())


def test_missing_tags_are_named() -> None:
    text = refused(PoseRequest(method="tags", tags={"0": (0, 0), "1": (100, 0)}))
    assert "0 of the 2 tags" in text
