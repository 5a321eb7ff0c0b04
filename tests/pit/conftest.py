"""Stores, a broker and signed-in pages for the pit's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, text
from tests.mqtt.brokers import Mosquitto

from pitwatch.pit.database import open_store

from .pages import Page, page_over
from .stores import postgres

STORES = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    with postgres() as url:
        yield url


def _fresh(cluster: str) -> str:
    """An empty database of the cluster."""
    engine = create_engine(
        cluster.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as db:
        n = db.execute(text("SELECT count(*) FROM pg_database")).scalar_one()
        db.execute(text(f"CREATE DATABASE pit_{n}"))
    engine.dispose()
    return cluster.replace("/postgres", f"/pit_{n}")


@pytest.fixture(params=STORES)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'pit.db'}"
    return _fresh(request.getfixturevalue("cluster"))


@pytest.fixture
def postgres_url(cluster: str) -> str:
    return _fresh(cluster)


@pytest.fixture
def store(store_url: str) -> Iterator[Engine]:
    engine = open_store(store_url)
    yield engine
    engine.dispose()


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with Mosquitto.simple(tmp_path, "allow_anonymous true", "max_inflight_messages 500") as started:
        yield started


@pytest.fixture
def page(store: Engine) -> Iterator[Page]:
    with page_over(store) as opened:
        yield opened
