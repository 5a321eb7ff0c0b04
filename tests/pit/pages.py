"""The pit served for real on a local port: requests as a browser and as a script make them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
from fastapi import FastAPI
from sqlalchemy import Engine
from tests.mqtt.brokers import until

from pitwatch.pit.accounts import add_token, add_user
from pitwatch.pit.collector import Collector
from pitwatch.pit.sql import writing
from pitwatch.pit.web.app import make_app, server

PASSWORD = "a long enough one"


class Page:
    """One browser at the pit. client: what it sends with; csrf: what it puts into the header."""

    def __init__(self, engine: Engine, app: FastAPI, url: str, stack: ExitStack) -> None:
        self.engine, self.app, self.url, self.stack = engine, app, url, stack
        self.client = stack.enter_context(httpx.Client(base_url=url, timeout=120))
        self.csrf = ""

    def sign_in(self, role: str = "administrator", name: str | None = None) -> Page:
        """Make an account of this role and sign in with it."""
        name = name or role[:5]
        with writing(self.engine) as db:
            add_user(db, name, PASSWORD, role)
        answer = self.client.post("/api/login", json={"name": name, "password": PASSWORD})
        assert answer.status_code == 200, answer.text
        self.csrf = answer.json()["csrf"]
        return self

    def other(self) -> Page:
        """Another browser at the same pit."""
        return Page(self.engine, self.app, self.url, self.stack)

    def token(self, role: str = "viewer") -> dict[str, str]:
        """The header of a new bearer token."""
        with writing(self.engine) as db:
            return {"Authorization": f"Bearer {add_token(db, 'test', role)}"}

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.client.get(path, **more)

    def json(self, path: str, status: int = 200) -> Any:
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        return answer.json()

    def send(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        own = {"X-CSRF-Token": self.csrf, **headers}
        return self.client.request(method, path, json=body, headers=own)

    def post(self, path: str, body: object = None) -> httpx.Response:
        return self.send("POST", path, body)


@contextmanager
def page_over(engine: Engine, setup: str | None = None, collector: Collector | None = None) -> Iterator[Page]:
    """A pit over a store, while the context is open."""
    app = make_app(engine, collector, setup)
    serving, sock = server(app, "127.0.0.1", 0)
    thread = threading.Thread(target=serving.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    try:
        until(lambda: serving.started, 60)
        with ExitStack() as stack:
            yield Page(engine, app, f"http://127.0.0.1:{sock.getsockname()[1]}", stack)
    finally:
        app.state.readers.end()
        serving.should_exit = True
        thread.join(20)
        sock.close()
