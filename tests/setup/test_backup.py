"""A backup restores byte for byte; what is none, or damaged, is refused and writes nothing."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from pitwatch.cli.setting_up import set_up
from pitwatch.errors import UserError
from pitwatch.setup.backup import MANIFEST, make_backup, restore_backup
from pitwatch.setup.progress import House, Progress, Source, Store
from pitwatch.sim.spec import mounted_camera
from pitwatch.table.layout import template


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "BJ-07")
    layout = template(6)
    store.put_json("calibration.json", mounted_camera(layout, 1280, 720).to_json())
    store.put_json("layout.json", layout.to_json())
    store.put("reference.jpg", b"\xff\xd8picture\xff\xd9")
    store.put("table.toml", b'[table]\nname = "BJ-07"\n')
    source = Source(spec="v4l2:/dev/video0", width=1280, height=720, card="HD Webcam")
    store.write(Progress(step="finish", source=source, house=House(name="BJ-07")))
    return store


def archived(store: Store, tmp_path: Path) -> Path:
    path = tmp_path / "backup.zip"
    path.write_bytes(make_backup(store))
    return path


def test_a_backup_restores_byte_for_byte(store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "swapped")
    names = restore_backup(archived(store, tmp_path), other)
    assert set(names) == {"setup.json", "calibration.json", "layout.json", "reference.jpg", "table.toml"}
    for name in names:
        assert other.path(name).read_bytes() == store.path(name).read_bytes()
    assert other.read() == store.read()
    assert other.camera() is not None


def test_what_is_there_already_is_not_overwritten(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="exists already, and restoring would overwrite it"):
        restore_backup(archived(store, tmp_path), store)


@pytest.mark.parametrize("spoilt", ["cut", "bit", "other", "none", "newer"])
def test_what_is_no_backup_is_refused_and_writes_nothing(store: Store, tmp_path: Path, spoilt: str) -> None:
    path = archived(store, tmp_path)
    data = path.read_bytes()
    if spoilt == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif spoilt == "none":
        path.write_bytes(b"not an archive")
    else:
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
            for name in old.namelist():
                content = old.read(name)
                if spoilt == "bit" and name == "layout.json":
                    content = content.replace(b"6", b"7", 1)
                if name == MANIFEST and spoilt == "newer":
                    content = json.dumps({**json.loads(content), "pitwatch_backup": 2}).encode()
                if name != MANIFEST or spoilt != "other":
                    new.writestr(name, content)
        path.write_bytes(out.getvalue())
    other = Store(tmp_path / "swapped")
    with pytest.raises(UserError, match=r"backup\.zip"):
        restore_backup(path, other)
    assert list(other.folder.iterdir()) == []


def test_an_archive_has_no_say_in_where_files_go(store: Store, tmp_path: Path) -> None:
    path = archived(store, tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../outside.json", "{}")
    restore_backup(path, Store(tmp_path / "deep" / "swapped"))
    assert not list(tmp_path.rglob("outside.json"))


def test_the_command_says_what_it_cannot_restore(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        set_up(tmp_path / "x", None, tmp_path / "no.zip", network=False, port=0)
