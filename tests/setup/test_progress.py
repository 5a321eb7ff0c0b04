"""What is kept on disk, and where it belongs to another camera or resolution."""

from __future__ import annotations

from pathlib import Path

import pytest

from pitwatch.errors import UserError
from pitwatch.setup.progress import Check, House, Lens, Pose, Progress, Source, Store


def pose(width: int = 1920, height: int = 1080, card: str = "") -> Pose:
    return Pose(method="cards", said=[], width=width, height=height, card=card, when="2026-01-02T03:04:05")


def test_a_half_written_state_is_never_read(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(Progress(step="pose"))
    # as left behind by a device that died while it wrote
    tmp_path.joinpath(".setup.json.new").write_text('{"step": "lay')
    assert Store(tmp_path).read().step == "pose"
    store.write(Progress(step="layout"))
    assert Store(tmp_path).read().step == "layout"


def test_a_damaged_state_is_said_with_its_name(tmp_path: Path) -> None:
    tmp_path.joinpath("setup.json").write_text("{")
    with pytest.raises(UserError, match=r"setup\.json cannot be read .*move it away"):
        Store(tmp_path).read()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    tmp_path.joinpath("file").touch()
    with pytest.raises(UserError, match="choose another --folder"):
        Store(tmp_path / "file" / "folder")


def test_steps_are_done_in_their_order() -> None:
    progress = Progress(
        source=Source(spec="x", width=1920, height=1080),
        lens=Lens(skipped=True),
        pose=pose(),
        house=House(name="T"),
        check=Check(rows=[], advice=[], when=""),
    )
    assert progress.done() == ["camera", "lens", "pose", "check", "house"]


def test_a_calibration_of_another_resolution_or_camera_is_said_in_one_sentence() -> None:
    here = Source(spec="x", width=1280, height=720, card="New Cam")
    other_size = Progress(source=here, lens=Lens(skipped=True), pose=pose())
    assert other_size.mismatch() == [
        "The pose was made for pictures of 1920 x 1080, but the camera gives 1280 x 720: do this step "
        "again, or set the camera back."
    ]
    other_camera = Progress(
        source=here, pose=pose(1280, 720, "Old Cam"), lens=Lens(width=1280, height=720, card="Old Cam")
    )
    lens, stands = other_camera.mismatch()
    assert "lens was made with the camera Old Cam, but this is New Cam" in lens
    assert "pose was made with the camera Old Cam" in stands
    assert Progress(source=here, pose=pose(1280, 720, "New Cam")).mismatch() == []
