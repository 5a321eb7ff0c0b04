"""A journal for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pitwatch.journal import Journal


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "journal" / "pitwatch.db", "detroit", "BJ-07") as opened:
        yield opened
