"""Videos and folders of pictures, real files of them, broken ones too."""

from __future__ import annotations

import itertools
from pathlib import Path

import cv2
import numpy as np
import pytest

from pitwatch.capture import open_source
from pitwatch.errors import UserError


def picture(number: int, size: tuple[int, int] = (64, 48)) -> np.ndarray:
    """A grey picture that says which it is by its brightness."""
    rng = np.random.default_rng(number)
    image = rng.integers(0, 6, (size[1], size[0], 3), dtype=np.uint8)
    return image + np.uint8(10 + 8 * number)


def number_of(image: np.ndarray) -> int:
    return round((float(image.mean()) - 12.5) / 8)


def video(path: Path, n: int = 24, fps: float = 15) -> Path:
    fourcc = "MJPG" if path.suffix == ".avi" else "mp4v"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*fourcc), fps, (64, 48))
    assert writer.isOpened()
    for i in range(n):
        writer.write(picture(i))
    writer.release()
    return path


def folder(path: Path, names: list[str]) -> Path:
    path.mkdir()
    for i, name in enumerate(names):
        assert cv2.imwrite(str(path / name), picture(i))
    return path


@pytest.mark.parametrize("name", ["clip.mp4", "clip.avi", "clip.mkv"])
def test_a_video_has_its_own_time_stamps(tmp_path: Path, name: str) -> None:
    source = open_source(str(video(tmp_path / name)))
    assert (source.width, source.height, source.live) == (64, 48, False)
    frames = list(source)
    assert [number_of(f.image) for f in frames] == list(range(24))
    assert [f.t for f in frames] == pytest.approx([i / 15 for i in range(24)], abs=0.001)
    assert [f.index for f in frames] == list(range(24))
    assert not any(f.settled for f in frames)
    assert frames[0].name == name
    assert source.skipped == 0
    source.close()
    assert list(source) == []


def test_a_videos_rate_can_be_overridden(tmp_path: Path) -> None:
    source = open_source(str(video(tmp_path / "clip.mp4")), fps=5)
    assert [f.t for f in source] == pytest.approx([i / 5 for i in range(24)])


def test_corrupt_frames_of_a_video_are_skipped_and_counted(tmp_path: Path) -> None:
    path = video(tmp_path / "clip.avi")
    data = bytearray(path.read_bytes())
    start = data.index(b"\xff\xd8", len(data) // 2)
    data[start : start + 400] = bytes(400)
    path.write_bytes(data)
    source = open_source(str(path))
    frames = list(source)
    assert 0 < source.skipped <= 2
    assert len(frames) + source.skipped == 24
    assert all(a.t < b.t for a, b in itertools.pairwise(frames))


def test_a_video_cut_off_is_read_to_where_it_ends(tmp_path: Path) -> None:
    path = video(tmp_path / "clip.avi")
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 4])
    source = open_source(str(path))
    given = len(list(source))
    assert 4 <= given < 22
    assert source.skipped == 24 - given


def test_pictures_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    names = ["frame_1.png", "frame_2-arm.png", "frame_2.png", "frame_10.png"]
    path = folder(tmp_path / "pictures", names)
    (path / "labels.json").write_text("{}")
    source = open_source(str(path), fps=4)
    frames = list(source)
    assert [f.name for f in frames] == names
    assert [number_of(f.image) for f in frames] == [0, 1, 2, 3]
    assert [f.t for f in frames] == [0, 0.25, 0.5, 0.75]
    assert not frames[0].settled
    assert len(list(source)) == 4
    source.close()
    assert list(source) == []


def test_a_settled_folder_is_at_rest_in_every_picture(tmp_path: Path) -> None:
    path = folder(tmp_path / "pictures", ["000.jpg", "001.jpg", "002.jpg"])
    frames = list(open_source(str(path), settled=True))
    assert [(f.t, f.settled) for f in frames] == [(0, True), (1, True), (2, True)]
    (single,) = open_source(str(path / "001.jpg"), settled=True)
    assert number_of(single.image) == 1


@pytest.mark.parametrize("damage", ["cut", "text", "empty", "zeros"])
@pytest.mark.parametrize("suffix", ["jpg", "png"])
def test_a_corrupt_picture_is_skipped_and_counted(tmp_path: Path, damage: str, suffix: str) -> None:
    path = folder(tmp_path / "pictures", [f"{i:03d}.{suffix}" for i in range(4)])
    for bad in (path / f"000.{suffix}", path / f"002.{suffix}"):
        data = bad.read_bytes()
        half = len(data) // 2
        damaged = {"cut": data[:half], "text": b"hello", "empty": b"", "zeros": data[:half] + bytes(half)}
        bad.write_bytes(damaged[damage])
    source = open_source(str(path), settled=True)
    frames = list(source)
    assert [(f.index, f.t) for f in frames] == [(1, 1.0), (3, 3.0)]
    assert source.skipped == 2


def test_a_picture_of_another_size_is_an_error(tmp_path: Path) -> None:
    path = folder(tmp_path / "pictures", ["000.png", "001.png"])
    cv2.imwrite(str(path / "001.png"), picture(1, (32, 32)))
    with pytest.raises(UserError, match=r"001\.png is 32 x 32 pixels, the pictures before it 64 x 48"):
        list(open_source(str(path), settled=True))


@pytest.mark.parametrize(
    ("spec", "options", "says"),
    [
        ("none.mp4", {}, "none.mp4 does not exist"),
        ("", {}, "no source was named"),
        ("text.mp4", {}, "holds no video that can be read"),
        ("empty", {"fps": 5}, "holds no picture"),
        ("bad", {"fps": 5}, "holds no readable picture"),
        ("bad", {}, "add --fps N .* or --settled"),
        ("bad", {"fps": 0}, "--fps 0 is no frame rate"),
        ("bad", {"fps": float("nan")}, "is no frame rate"),
        ("bad", {"fps": 5, "settled": True}, "exclude each other"),
        ("text.mp4", {"settled": True}, "--settled is for folders"),
        ("rtsp://host/stream", {}, "not a source that this version knows"),
    ],
)
def test_a_source_that_is_none_is_said_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, options: dict[str, float], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.mp4").write_text("not a video")
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a.jpg").write_text("no picture")
    with pytest.raises(UserError, match=says) as e:
        open_source(spec, **options)  # type: ignore[arg-type]
    assert "\n" not in str(e.value)
