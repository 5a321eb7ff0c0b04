"""What is not a folder of pictures with truth is said in one sentence with the remedy."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from pitwatch.errors import UserError
from pitwatch.evaluate import run_eval
from pitwatch.evaluate.folders import read_folder, read_picture


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone is no folder; name a folder that holds"):
        read_folder(tmp_path / "gone")


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"neither truth\.json .* nor labels\.json"):
        read_folder(tmp_path)


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("truth.json", "{", r"truth\.json is no JSON"),
        ("truth.json", '{"truth": null}', r"'frames' is missing"),
        ("truth.json", '{"frames": [{"file": "a.jpg", "arm": null}], "truth": null}', r"'cards' is missing"),
        ("truth.json", '{"frames": [], "truth": {"hands": {}}}', r"'wagers' is missing"),
        ("calibration.json", '{"width": 4}', r"calibration\.json: the key 'K' is missing"),
        ("layout.json", "{}", r"layout\.json: the key 'spots' is missing"),
        ("layout.json", "[", r"layout\.json is no JSON"),
    ],
)
def test_a_damaged_scene(round_folder: Path, tmp_path: Path, file: str, text: str, says: str) -> None:
    damaged = shutil.copytree(round_folder, tmp_path / "damaged")
    (damaged / file).write_text(text)
    with pytest.raises(UserError, match=says):
        read_folder(damaged)


def test_a_scene_without_its_calibration(round_folder: Path, tmp_path: Path) -> None:
    damaged = shutil.copytree(round_folder, tmp_path / "damaged")
    (damaged / "calibration.json").unlink()
    with pytest.raises(UserError, match=r"calibration\.json cannot be read"):
        read_folder(damaged)


def test_labels_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "labels.json").write_text(json.dumps({"images": [{"image": "a.jpg"}]}))
    with pytest.raises(UserError, match=r"labels\.json is no list of labels \(the key 'cards' is missing\)"):
        read_folder(tmp_path)


def test_a_picture_that_is_missing_damaged_or_of_another_camera(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a\.png is missing or no picture"):
        read_picture(tmp_path, "a.png")
    (tmp_path / "a.png").write_bytes(b"no picture at all")
    with pytest.raises(UserError, match=r"a\.png is missing or no picture"):
        read_picture(tmp_path, "a.png")
    cv2.imwrite(str(tmp_path / "a.png"), np.zeros((30, 40, 3), np.uint8))
    assert read_picture(tmp_path, "a.png", (40, 30)).shape == (30, 40, 3)
    with pytest.raises(UserError, match=r"is 40 x 30, but the calibration is for 80 x 60"):
        read_picture(tmp_path, "a.png", (80, 60))


def test_nothing_is_measured_when_one_folder_is_wrong(
    round_folder: Path, tmp_path: Path, truth_eyes: Callable[..., object]
) -> None:
    said: list[str] = []
    with pytest.raises(UserError):
        run_eval([round_folder, tmp_path], None, said.append)
    assert said == []
    with pytest.raises(UserError, match="no folder was named"):
        run_eval([], None, said.append)
