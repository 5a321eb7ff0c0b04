"""What a mounting can judge: figures by seat, faults of the picture, and advice."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from pitwatch.chips import CASINO
from pitwatch.cli.check import check_table
from pitwatch.errors import UserError
from pitwatch.sim.chipart import chip_art
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import DeckDesign
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.render import Renderer
from pitwatch.sim.scene import CardPose, Scene
from pitwatch.sim.spec import mounted_camera
from pitwatch.sim.typefaces import packaged_typefaces
from pitwatch.table.layout import template
from pitwatch.table.quality import measure_quality
from pitwatch.table.verdicts import judge_mounting, verdict_picture

LAYOUT = template(6)
WIDTH, HEIGHT = 1920, 1080


@pytest.fixture(scope="module")
def picture() -> np.ndarray:
    camera = mounted_camera(LAYOUT, WIDTH, HEIGHT)
    felt, deck = draw_felt(LAYOUT), Deck(DeckDesign(packaged_typefaces()[0]))
    cards = tuple(
        CardPose("7h", True, 0.75 * x, 60 + 0.75 * (y - 60), 90.0, order=i)
        for i, (x, y) in enumerate(LAYOUT.spots)
    )
    return Renderer(camera, felt, deck, chip_art(CASINO)).frame(Scene(0.0, cards))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "calibration.json").write_text(json.dumps(mounted_camera(LAYOUT, WIDTH, HEIGHT).to_json()))
    file = tmp_path / "table.toml"
    file.write_text(
        '[table]\nname = "T1"\n[camera]\ncalibration = "calibration.json"\n[layout]\ntemplate = 6\n'
    )
    return file


def test_blur_is_measured_in_pixels(picture: np.ndarray) -> None:
    whole = np.array([(0, 0), (WIDTH, 0), (WIDTH, HEIGHT), (0, HEIGHT)], float)
    for sigma in (1.0, 2.0, 3.0):
        blurred = cv2.GaussianBlur(picture, (0, 0), sigma)
        found = measure_quality(np.asarray(blurred, np.uint8), whole)
        assert found is not None
        assert found.blur_px == pytest.approx(sigma, rel=0.3)


def test_a_good_picture_is_good_and_faults_are_named(
    picture: np.ndarray, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def faults(image: np.ndarray) -> list[set[str]]:
        file = tmp_path / "picture.png"
        cv2.imwrite(str(file), image)
        check_table(table, file, None, True)
        said = json.loads(capsys.readouterr().out)
        words = " ".join(said["advice"])
        return [{w for w in ("out of focus", "too dark", "clipped white") if w in words}]

    assert faults(picture) == [set()]
    assert faults(cv2.GaussianBlur(picture, (0, 0), 3)) == [{"out of focus"}]
    assert "too dark" in faults((picture * 0.15).astype(np.uint8))[0]
    lamp = picture.copy()
    x, y = mounted_camera(LAYOUT, WIDTH, HEIGHT).project([LAYOUT.spots[2]])[0]
    cv2.circle(lamp, (int(x), int(y)), 60, (255, 255, 255), -1)
    assert faults(lamp) == [{"clipped white"}]


def test_the_table_and_its_picture(
    picture: np.ndarray, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "picture.png", tmp_path / "check.png"
    cv2.imwrite(str(file), picture)
    check_table(table, file, out, False)
    said = capsys.readouterr().out
    assert "seat 6" in said
    assert "values" in said
    drawn = cv2.imread(str(out))
    assert drawn.shape == picture.shape
    assert (drawn != picture).any()


@pytest.mark.parametrize(("seats", "width"), [(5, 1280), (6, 1920), (7, 1920), (7, 3840)])
def test_no_label_covers_another(seats: int, width: int) -> None:
    layout = template(seats)
    camera = mounted_camera(layout, width, width * 9 // 16)
    plain = np.full((camera.height, camera.width, 3), 128, np.uint8)
    drawn = verdict_picture(plain, camera, layout, judge_mounting(camera, layout, plain))
    ground = (drawn == 25).all(axis=2).astype(np.uint8)
    labels, _ = cv2.findContours(ground, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    boxes = [cv2.boundingRect(c) for c in labels if cv2.contourArea(c) > 400]
    assert len(boxes) == seats + 1
    for c in labels:
        if cv2.contourArea(c) > 400:
            _, _, w, h = cv2.boundingRect(c)
            # whole: nothing was drawn over a corner or an edge of it
            assert cv2.contourArea(c) > 0.97 * (w - 1) * (h - 1)


def test_a_small_picture_asks_for_more_pixels(
    tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = mounted_camera(LAYOUT, 960, 540)
    (tmp_path / "calibration.json").write_text(json.dumps(small.to_json()))
    check_table(table, None, None, True)
    said = json.loads(capsys.readouterr().out)
    assert any("times the pixels across" in line for line in said["advice"])
    assert {s["cards"] for s in said["seats"]} != {"ranks and suits"}


def test_what_cannot_be_checked_is_said(table: Path, tmp_path: Path, picture: np.ndarray) -> None:
    with pytest.raises(UserError, match="name one with --picture"):
        check_table(table, None, tmp_path / "out.png", False)
    with pytest.raises(UserError, match="no picture that can be read"):
        check_table(table, tmp_path / "none.png", None, False)
    cv2.imwrite(str(tmp_path / "half.png"), cv2.resize(picture, None, fx=0.5, fy=0.5))
    with pytest.raises(UserError, match="960 x 540"):
        check_table(table, tmp_path / "half.png", None, False)
