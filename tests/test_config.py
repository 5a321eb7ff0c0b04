"""A table's file: what it says, and what a mistake in it is answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import BaseModel

from pitwatch.config import TableConfig, check_resolution, example_toml, load_table
from pitwatch.errors import UserError
from pitwatch.table.camera import Camera
from pitwatch.table.layout import template

ROOT = Path(__file__).parent.parent
GOOD = """
[table]
name = "BJ-07"
decks = 6
minimum = 1000

[camera]
calibration = "here/calibration.json"

[layout]
template = 6
"""


@pytest.fixture
def camera_json() -> dict[str, object]:
    return {
        "width": 1280,
        "height": 720,
        "K": [[1000, 0, 640], [0, 1000, 360], [0, 0, 1]],
        "R": [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
        "t_mm": [0, 300, 1500],
    }


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "table.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    config = load_table(write(tmp_path, GOOD))
    assert config.table.name == "BJ-07"
    assert config.table.maximum is None
    assert config.camera.calibration == tmp_path.resolve() / "here/calibration.json"
    assert config.journal.path == tmp_path.resolve() / "pitwatch.db"
    assert config.load_layout() == template(6)
    absolute = GOOD.replace("here/", "/etc/pitwatch/")
    assert load_table(write(tmp_path, absolute)).camera.calibration == Path("/etc/pitwatch/calibration.json")


def test_a_link_to_a_tables_file_is_read_where_the_file_lies(tmp_path: Path) -> None:
    (tmp_path / "BJ-07").mkdir()
    link = tmp_path / "BJ-07.toml"
    link.symlink_to(write(tmp_path / "BJ-07", GOOD))
    assert load_table(link).camera.calibration == (tmp_path / "BJ-07").resolve() / "here/calibration.json"


def test_camera_and_layout_files(tmp_path: Path, camera_json: dict[str, object]) -> None:
    (tmp_path / "c.json").write_text(json.dumps(camera_json))
    (tmp_path / "l.json").write_text(json.dumps({"spots": [[0, 600]]}))
    text = GOOD.replace("here/calibration.json", "c.json").replace("template = 6", 'file = "l.json"')
    config = load_table(write(tmp_path, text))
    assert config.load_camera().width == 1280
    assert config.load_layout().n == 1


def test_rules_may_be_changed_singly(tmp_path: Path) -> None:
    text = GOOD + '\n[table.rules]\nprofile = "celebrity"\ndouble_on = "10-11"\n'
    assert load_table(write(tmp_path, text)).table.rules == {"profile": "celebrity", "double_on": "10-11"}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("decks = 6", "deks = 6", ["line 4", "'deks' in [table]", "did you mean 'decks'?"]),
        ("[camera]", "[camrea]", ["line 7", "'camrea'", "did you mean 'camera'?"]),
        ("minimum = 1000", 'url = "mqtt://x"', ["line 5", "'url' belongs in [mqtt]"]),
        ("minimum = 1000", "zzzzzz = 1", ["'zzzzzz'", "take it out", "decks"]),
        ('name = "BJ-07"', "", ["line 2", "'name' in [table] is missing", "add name"]),
        ("[layout]\ntemplate = 6", "", ["section [layout] is missing"]),
        ("template = 6", "", ["'file' or 'template'"]),
        ("template = 6", "template = 9", ["line 11", "9", "5, 6 or 7"]),
        ("decks = 6", 'decks = "six"', ["line 4", "'six'", "integer"]),
        ("decks = 6", "decks = 0", ["line 4", "greater than or equal to 1"]),
        ("minimum = 1000", "minimum = 1000\nmaximum = 500", ["'minimum' (1000) is above 'maximum' (500)"]),
        ('"BJ-07"', '"BJ/07"', ["'BJ/07'", "letters, digits"]),
        ("[layout]", "[layout", ["line 10"]),
        (
            "[layout]",
            '[mqtt]\nurl = "mqtt://me:secret@host"\n[layout]',
            ["line 11", "'url' in [mqtt] holds a password", "PITWATCH_MQTT_PASSWORD"],
        ),
    ],
)
def test_a_mistake_is_named_with_its_remedy(tmp_path: Path, old: str, new: str, says: list[str]) -> None:
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(UserError) as e:
        load_table(path)
    assert "\n" not in str(e.value)
    assert "secret" not in str(e.value)
    for part in [str(path), *says]:
        assert part in str(e.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"does not exist.*table\.example\.toml"):
        load_table(tmp_path / "none.toml")
    (tmp_path / "table.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="UTF-8"):
        load_table(tmp_path / "table.toml")
    with pytest.raises(UserError, match="directory"):
        load_table(tmp_path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"K": None}, "'K'"),
        ({"K": [[1, 2], [3, 4]]}, "'K'"),
        ({"width": 0}, "'width'"),
        ({"R": [[2, 0, 0], [0, 1, 0], [0, 0, 1]]}, "'R' is not a rotation"),
        ({"dist": [1, 2]}, "'dist'"),
    ],
)
def test_a_bad_calibration(
    tmp_path: Path, camera_json: dict[str, object], change: dict[str, object], says: str
) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps({**camera_json, **change}))
    config = load_table(write(tmp_path, GOOD.replace("here/", "")))
    with pytest.raises(UserError) as e:
        config.load_camera()
    assert says in str(e.value)
    assert "pitwatch calibrate pose" in str(e.value)


@pytest.mark.parametrize(("content", "says"), [("{", "line 1"), ("[]", "no JSON object"), (None, "exist")])
def test_no_calibration(tmp_path: Path, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / "calibration.json").write_text(content)
    config = load_table(write(tmp_path, GOOD.replace("here/", "")))
    with pytest.raises(UserError, match=says):
        config.load_camera()


def test_a_bad_layout_file(tmp_path: Path) -> None:
    (tmp_path / "l.json").write_text('{"n": 3}')
    config = load_table(write(tmp_path, GOOD.replace("template = 6", 'file = "l.json"')))
    with pytest.raises(UserError, match="'spots' is missing"):
        config.load_layout()


def test_a_calibration_of_another_resolution(camera_json: dict[str, object]) -> None:
    camera = Camera.from_json(camera_json)
    check_resolution(camera, 1280, 720, "calibration.json")
    with pytest.raises(UserError, match=r"1280 x 720 pixels, but the frames are 1920 x 1080; set the camera"):
        check_resolution(camera, 1920, 1080, "calibration.json")


def test_the_example_is_generated_from_the_model(tmp_path: Path) -> None:
    example = ROOT / "calibration" / "table.example.toml"
    assert example.read_text(encoding="utf-8") == example_toml(), (
        "python -m pitwatch.config > calibration/table.example.toml"
    )
    assert load_table(example).table.name == "BJ-07"
    # with every key taken in, but for the one that excludes another
    lines = example_toml().splitlines()
    full = [line.removeprefix("# ") if " = " in line and "{" not in line else line for line in lines]
    text = "\n".join(line for line in full if not line.startswith("file = "))
    assert load_table(write(tmp_path, text)).mqtt.url == "mqtts://bj-07@pit.example:8883"


def test_every_key_is_explained() -> None:
    def walk(model: type[BaseModel]) -> None:
        assert model.__doc__
        for name, f in model.model_fields.items():
            assert f.title, name
            if isinstance(f.annotation, type) and issubclass(f.annotation, BaseModel):
                walk(f.annotation)
            else:
                assert f.description, name

    walk(TableConfig)
