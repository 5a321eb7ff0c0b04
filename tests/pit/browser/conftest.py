"""One house and one browser for all of a module's tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser.chromium import Chromium, find_chromium
from tests.pit.conftest import STORES
from tests.pit.conftest import _fresh as fresh_database

from .house import House, Person


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    if find_chromium() is None:
        if "CI" in os.environ:
            pytest.fail("no Chromium is installed; run: apt-get install chromium", pytrace=False)
        pytest.skip("no Chromium is installed; run: apt-get install chromium")
    with Chromium(1440, 900) as opened:
        yield opened


@pytest.fixture(scope="module", params=STORES)
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder: Path = tmp_path_factory.mktemp("pit")
    url = f"sqlite:///{folder / 'pit.db'}"
    if request.param == "postgresql":
        url = fresh_database(request.getfixturevalue("cluster"))
    made = House(folder, url)
    yield made
    made.close()


@pytest.fixture
def person(browser: Chromium, house: House) -> Person:
    browser.messages.clear()
    return Person(browser, house)
