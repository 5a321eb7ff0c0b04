"""A camera follows from ordinary cards that lie about: scale, tilt and focal length."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import cv2
import numpy as np
import pytest

from pitwatch.chips import CASINO
from pitwatch.errors import UserError
from pitwatch.sim.chipart import chip_art
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import DeckDesign
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.light import Lens, spoil
from pitwatch.sim.render import Renderer
from pitwatch.sim.scene import CardPose, Scene
from pitwatch.sim.spec import mounted_camera
from pitwatch.sim.typefaces import packaged_typefaces
from pitwatch.table.calibrate import run_calibrate_from_cards
from pitwatch.table.camera import Camera
from pitwatch.table.card_outlines import card_outlines
from pitwatch.table.from_cards import anchored, pose_from_cards, settled
from pitwatch.table.layout import template

LAYOUT = template(6)
PLACES = [(-420, 250, 80), (-250, 420, 100), (-60, 240, 20), (0, 450, 95), (170, 330, 60), (330, 430, 130)]


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    camera = dataclasses.replace(mounted_camera(LAYOUT, 1920, 1080), dist=np.zeros(5))
    return Renderer(camera, draw_felt(LAYOUT), Deck(DeckDesign(packaged_typefaces()[0])), chip_art(CASINO))


def _picture(renderer: Renderer, n: int) -> np.ndarray:
    ranks = "57T2A8"
    cards = tuple(
        CardPose(f"{ranks[i]}h", True, float(x), float(y), float(yaw), order=i)
        for i, (x, y, yaw) in enumerate(PLACES[:n])
    )
    return spoil(renderer.frame(Scene(0.0, cards)), Lens(noise=2.0), np.random.default_rng(1))


def _tilt(camera: Camera) -> float:
    return math.degrees(math.acos(abs(camera.R[2, 2])))


def test_outlines_lie_on_the_cards_to_a_fraction_of_a_pixel(renderer: Renderer) -> None:
    outlines = card_outlines(_picture(renderer, 6), 0.9)
    assert len(outlines) == 6
    mm = np.array([renderer.camera.to_table(o) for o in outlines])
    centres = mm.mean(axis=1)
    for x, y, _ in PLACES:
        assert np.hypot(*(centres - (x, y)).T).min() < 0.6
    for card in mm:
        sides = np.sort(np.hypot(*(np.roll(card, -1, axis=0) - card).T))
        assert sides == pytest.approx([63, 63, 88, 88], abs=0.8)


@pytest.mark.parametrize("rough", [0.75, 1.0, 1.25])
def test_six_cards_give_tilt_and_scale_however_rough_the_hint(renderer: Renderer, rough: float) -> None:
    true = renderer.camera
    middle = true.to_table([(959.5, 539.5)])[0]
    scale = true.px_per_mm(*middle)
    pose = pose_from_cards(_picture(renderer, 6), scale * rough)
    assert pose is not None
    assert len(pose.outlines) == 6
    assert pose.rms_mm < 0.8
    assert pose.camera.px_per_mm(0, 0) == pytest.approx(scale, rel=0.03)
    assert _tilt(pose.camera) == pytest.approx(_tilt(true), abs=5)
    # what counts: distances on the felt come out right all over the picture
    places = np.array([p[:2] for p in PLACES], float)
    found = pose.camera.to_table(true.project(places))
    for i in range(len(places)):
        for j in range(i):
            wide = np.hypot(*(places[i] - places[j]))
            assert np.hypot(*(found[i] - found[j])) == pytest.approx(wide, rel=0.03)


def test_no_card_no_camera(renderer: Renderer) -> None:
    assert pose_from_cards(_picture(renderer, 0), 0.9) is None


def test_two_felt_points_anchor_the_cards_frame(renderer: Renderer) -> None:
    true = renderer.camera
    pose = pose_from_cards(_picture(renderer, 6))
    assert pose is not None
    known = np.array([LAYOUT.spots[0], LAYOUT.spots[5]], float)
    spots = np.array(LAYOUT.spots, float)
    camera, off = anchored(pose.camera, true.project(known), known)
    assert off.max() < 4
    assert np.hypot(*(camera.to_table(true.project(spots)) - spots).T).max() < 5
    camera = settled(pose, true.project(known), known)
    assert np.hypot(*(camera.to_table(true.project(spots)) - spots).T).max() < 2
    assert camera.position_mm == pytest.approx(true.position_mm, abs=60)


def test_what_is_no_card_does_not_disturb(renderer: Renderer) -> None:
    """Columns of chips in a rack, a box, a frame: more straight outlines than there are cards."""
    picture = _picture(renderer, 4)
    for i in range(7):
        x, y, length = -210 + 70 * i, 60, (76, 80, 90, 97, 60, 85, 70)[i]
        corners = np.array([(x, y), (x + 27, y), (x + 27, y + length), (x, y + length)], float)
        cv2.fillConvexPoly(picture, np.round(renderer.camera.project(corners)).astype(np.int32), (230,) * 3)
    pose = pose_from_cards(picture)
    assert pose is not None
    assert len(pose.outlines) == 4
    known = np.array([LAYOUT.spots[0], LAYOUT.spots[5]], float)
    spots = np.array(LAYOUT.spots, float)
    camera = settled(pose, renderer.camera.project(known), known)
    assert np.hypot(*(camera.to_table(renderer.camera.project(spots)) - spots).T).max() < 5


def test_cards_of_several_pictures_count_together(renderer: Renderer) -> None:
    both = [_picture(renderer, 3), _picture(renderer, 6)]
    pose = pose_from_cards(both)
    assert pose is not None
    # three of them lie in both
    assert len(pose.outlines) == 6
    assert pose.rms_mm < 0.3


def test_the_command_writes_a_calibration_and_names_what_is_wrong(renderer: Renderer, tmp_path: Path) -> None:
    picture, points, out = tmp_path / "table.png", tmp_path / "points.json", tmp_path / "calibration.json"
    cv2.imwrite(str(picture), _picture(renderer, 6))
    known = [LAYOUT.spots[0], LAYOUT.spots[5], LAYOUT.spots[2]]
    pairs = [{"px": renderer.camera.project([p])[0].tolist(), "mm": list(p)} for p in known]
    points.write_text(json.dumps(pairs))
    lines: list[str] = []
    run_calibrate_from_cards([picture], points, None, out, lines.append)
    assert lines[0].startswith("6 cards fit")
    written = Camera.from_json(json.loads(out.read_text()))
    assert np.hypot(*(written.to_table(renderer.camera.project(known)) - known).T).max() < 15
    assert (tmp_path / "calibration.png").stat().st_size > 1000

    # with a lens that was calibrated before, and a second picture
    lens, again = tmp_path / "lens.json", tmp_path / "again.json"
    lens.write_text(json.dumps(renderer.camera.to_json()))
    more = tmp_path / "more.png"
    cv2.imwrite(str(more), _picture(renderer, 3))
    run_calibrate_from_cards([picture, more], points, lens, again, lines.append, "6")
    kept = Camera.from_json(json.loads(again.read_text()))
    assert np.allclose(kept.K, renderer.camera.K)
    spots = np.array(LAYOUT.spots, float)
    assert np.hypot(*(kept.to_table(renderer.camera.project(spots)) - spots).T).max() < 2
    assert any(line.startswith("dealer's cards") for line in lines)
    small = tmp_path / "small.png"
    cv2.imwrite(str(small), cv2.resize(_picture(renderer, 3), None, fx=0.5, fy=0.5))
    with pytest.raises(UserError, match="another size"):
        run_calibrate_from_cards([picture, small], points, None, tmp_path / "other.json", print)
    with pytest.raises(UserError, match="at the resolution"):
        run_calibrate_from_cards([small], points, lens, tmp_path / "other.json", print)

    wrong = [{**p, "mm": [1.2 * v for v in p["mm"]]} for p in pairs]
    points.write_text(json.dumps(wrong))
    with pytest.raises(UserError, match="measure them again"):
        run_calibrate_from_cards([picture], points, None, tmp_path / "other.json", print)
    assert not (tmp_path / "other.json").exists()
    points.write_text(json.dumps(pairs))
    cv2.imwrite(str(picture), _picture(renderer, 2))
    with pytest.raises(UserError, match="whole cards with clear edges; lay six"):
        run_calibrate_from_cards([picture], points, None, tmp_path / "other.json", print)
