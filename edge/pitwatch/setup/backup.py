"""The backup of a table's set-up, from which a swapped device goes on.

In: a folder that the wizard wrote. Out: one archive with everything in it and a manifest of hashes; and back.
Nothing secret is in it: passwords are never in the folder.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

from pitwatch import __version__
from pitwatch.errors import UserError
from pitwatch.setup.progress import Store

__all__ = ["FILES", "MANIFEST", "make_backup", "restore_backup"]

MANIFEST = "pitwatch-backup.json"
FILES = ("setup.json", "table.toml", *Store.FILES, "commissioning.pdf")
_NEEDED = ("setup.json", "calibration.json", "layout.json")
_LARGEST = 64 * 1024 * 1024  # bytes of one file


def make_backup(store: Store) -> bytes:
    """The archive (ZIP). Raises UserError when a file cannot be read."""
    out = io.BytesIO()
    hashes: dict[str, str] = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in FILES:
            path = store.path(name)
            if not path.is_file():
                continue
            try:
                data = path.read_bytes()
            except OSError as e:
                raise UserError(f"{path} cannot be read ({e.strerror}), so there is no backup") from None
            hashes[name] = hashlib.sha256(data).hexdigest()
            archive.writestr(name, data)
        manifest = {"pitwatch_backup": 1, "pitwatch": __version__, "sha256": hashes}
        archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
    return out.getvalue()


def restore_backup(file: Path, store: Store) -> list[str]:
    """Unpack an archive into the wizard's folder; the names of what was restored.

    Raises UserError for what is no such archive or damaged, and when the folder holds a set-up already; then
    nothing has been written.
    """
    for name in ("setup.json", "table.toml"):
        if store.path(name).exists():
            raise UserError(
                f"{store.path(name)} exists already, and restoring would overwrite it; name an empty --folder"
            )
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = json.loads(_member(archive, MANIFEST, file))
            hashes = manifest["sha256"]
            if manifest["pitwatch_backup"] != 1:
                raise UserError(f"{file} was made by a newer pitwatch; update this one first")
            # only names that are known: an archive has no say in where files go
            files = {name: _member(archive, name, file) for name in FILES if name in hashes}
    except FileNotFoundError:
        raise UserError(f"{file} does not exist; name the backup that `pitwatch setup` wrote") from None
    except OSError as e:
        raise UserError(f"{file} cannot be read ({e.strerror}); copy it anew") from None
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError) as e:
        if isinstance(e, UserError):
            raise
        raise UserError(f"{file} is no backup of `pitwatch setup`, or it is damaged; copy it anew") from None
    for name, data in files.items():
        if hashlib.sha256(data).hexdigest() != hashes[name]:
            raise UserError(f"{file} is damaged: '{name}' in it is not what was written; copy it anew")
    if missing := [n for n in _NEEDED if n not in files]:
        raise UserError(f"{file} holds no {missing[0]}: the set-up was not finished when it was made")
    # the state last: with it, the restored set-up counts as there
    for name in sorted(files, key=lambda n: n == "setup.json"):
        store.put(name, files[name])
    return list(files)


def _member(archive: zipfile.ZipFile, name: str, file: Path) -> bytes:
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise UserError(f"{file} is no backup of `pitwatch setup`: it holds no {name}") from None
    if info.file_size > _LARGEST:
        raise UserError(f"{file} is no backup of `pitwatch setup`: {name} in it is too large")
    return archive.read(info)
