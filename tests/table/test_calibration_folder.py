"""What lies in `calibration/` is what the code would write, and can be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pitwatch.config import load_table
from pitwatch.table.files import load_layout, write_json
from pitwatch.table.layout import template
from pitwatch.table.resolve import resolve

FOLDER = Path(__file__).parents[2] / "calibration"
MOUNTINGS = sorted(p.parent.name for p in FOLDER.glob("mountings/*/table.toml"))


@pytest.mark.parametrize("n", [5, 6, 7])
def test_layouts_are_the_templates(tmp_path: Path, n: int) -> None:
    path = FOLDER / "layouts" / f"{n}-seats.json"
    assert load_layout(path) == template(n)
    write_json(tmp_path / "fresh.json", template(n).to_json())
    assert path.read_text() == (tmp_path / "fresh.json").read_text(), (
        f"write_json({path}, template({n}).to_json())"
    )


@pytest.mark.parametrize("name", MOUNTINGS)
def test_mountings_can_be_watched_with(name: str) -> None:
    config = load_table(FOLDER / "mountings" / name / "table.toml")
    camera, layout = config.load_camera(), config.load_layout()
    assert config.table.name == name
    for seen in resolve(camera, layout):
        assert seen.in_view, seen.text
        assert seen.cards != "none"
        assert seen.chips != "none"


def test_mountings_are_there() -> None:
    assert MOUNTINGS == ["casino-frames", "round-a", "round-b", "round-c", "stacks-a"]


def test_the_readme_points_at_files_that_exist() -> None:
    text = (FOLDER / "README.md").read_text()
    for name in ("table.example.toml", "layouts/", "mountings/"):
        assert f"`{name}`" in text
        assert (FOLDER / name).exists()
    line = next(line for line in text.splitlines() if line.strip().startswith('[{"px"'))
    points = json.loads(line.strip().removesuffix(", ...]") + "]")
    assert all(len(p["px"]) == len(p["mm"]) == 2 for p in points)
