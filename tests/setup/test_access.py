"""Who gets in: this computer, and with a one-time code one browser of the network."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from pitwatch.setup.access import COOKIE, Access
from pitwatch.setup.page import make_app
from pitwatch.setup.progress import Store
from pitwatch.setup.wizard import Wizard

PHONE = ("192.168.1.77", 50000)


@pytest.fixture
def wizard(tmp_path: Path) -> Iterator[Wizard]:
    wizard = Wizard(Store(tmp_path), lambda: datetime(2026, 1, 2), lambda: 0.0)
    yield wizard
    wizard.close()


class Client:
    """A browser at an address of the network, in process: no socket could come from there."""

    def __init__(
        self, wizard: Wizard, access: Access, host: str = "192.168.1.20", who: tuple[str, int] = PHONE
    ) -> None:
        transport = httpx.ASGITransport(app=make_app(wizard, access), client=who)
        self._client = httpx.AsyncClient(transport=transport, base_url=f"http://{host}:8720")

    def get(self, path: str, **more: Any) -> httpx.Response:
        return asyncio.run(self._client.get(path, **more))

    def post(self, path: str, **more: Any) -> httpx.Response:
        return asyncio.run(self._client.post(path, **more))


def test_a_phone_gets_in_with_a_code_that_serves_once(wizard: Wizard) -> None:
    told: list[str] = []
    access = Access(True, told.append)
    phone, other = Client(wizard, access), Client(wizard, access)
    assert phone.get("/").headers["location"] == "/enter"
    assert phone.get("/api/state").status_code == 403
    assert phone.get("/picture.jpg").status_code == 403
    assert phone.get("/enter").status_code == 200
    code = access.code
    assert phone.post("/enter", json={"code": "x" + code[1:]}).status_code == 403
    answer = phone.post("/enter", json={"code": code})
    assert answer.status_code == 200
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "samesite=strict" in answer.headers["set-cookie"].lower()
    assert phone.get("/api/state").status_code == 200
    # used up; the next one is said in the terminal
    assert other.post("/enter", json={"code": code}).status_code == 403
    assert told == [access.code]
    assert other.get("/api/state", headers={"cookie": f"{COOKIE}=guess"}).status_code == 403


def test_guessing_wears_the_code_out(wizard: Wizard) -> None:
    told: list[str] = []
    access = Access(True, told.append)
    first = access.code
    guess = "000000" if first != "000000" else "000001"
    for _ in range(10):
        assert access.admit(guess) is None
    assert told
    assert access.admit(first) is None or access.code == first


def test_this_computer_needs_no_code_and_others_names_get_nothing(wizard: Wizard) -> None:
    here = ("127.0.0.1", 50000)
    alone = Access(False)
    assert Client(wizard, alone, "127.0.0.1", here).get("/api/state").status_code == 200
    # a page elsewhere that resolves its own name to this computer
    assert Client(wizard, alone, "evil.example", here).get("/api/state").status_code == 400
    assert Client(wizard, alone, "192.168.1.20", here).get("/api/state").status_code == 400
    assert Client(wizard, Access(True), "evil.example", here).get("/api/state").status_code == 400
    # a page elsewhere that posts to here
    posted = Client(wizard, alone, "127.0.0.1", here).post(
        "/api/step", json={"step": "lens"}, headers={"origin": "http://evil.example"}
    )
    assert posted.status_code == 400
    assert wizard.progress.step == "camera"
    assert alone.admit("") is None


def test_refusals_are_one_sentence(wizard: Wizard) -> None:
    here = Client(wizard, Access(False), "127.0.0.1", ("127.0.0.1", 50000))
    for path, body, said in (
        ("/api/step", {"step": "dance"}, "there is no step 'dance'"),
        ("/api/camera", {"spec": "/no/such/clip.mp4"}, "/no/such/clip.mp4 does not exist"),
        ("/api/camera", {"spec": "v4l2:/dev/video77"}, "there is no camera /dev/video77"),
        ("/api/still", {}, "no camera is chosen yet"),
        ("/api/pose", {"method": "cards"}, "no camera is chosen yet"),
        ("/api/pose", {"method": "magic"}, "'method' will not do"),
        ("/api/layout/print", {"seats": 6}, "the pose is not known yet"),
        ("/api/check", {}, "the pose is not known yet"),
        ("/api/deal/ask", {}, "where the spots are is not known yet"),
        ("/api/camera/lock", {"mains_hz": 50}, "no camera is chosen yet"),
        ("/api/finish", {"who": "A"}, "the step 'camera' is not done yet"),
    ):
        answer = here.post(path, json=body)
        assert answer.status_code == 422, path
        text = answer.json()["error"]
        assert said in text, text
        assert "\n" not in text
    assert here.get("/picture.jpg").status_code == 404
    assert here.get("/backup.zip").status_code == 404
    assert here.get("/..%2Fsetup.json").status_code == 404
    assert here.get("/setup.jpg").status_code == 404


def test_what_is_to_be_printed_comes_from_the_page(wizard: Wizard) -> None:
    here = Client(wizard, Access(False), "127.0.0.1", ("127.0.0.1", 50000))
    for sheet in ("board-a3", "board-letter", "tags-a4"):
        answer = here.get(f"/print/{sheet}.pdf").raise_for_status()
        assert answer.content.startswith(b"%PDF")
        assert answer.headers["content-type"] == "application/pdf"
    assert here.get("/print/cards-a3.pdf").status_code == 404
    refused = here.get("/print/board-napkin.pdf")
    assert refused.status_code == 422
    assert "napkin" in refused.json()["error"]


def test_the_page_takes_nothing_from_outside(wizard: Wizard) -> None:
    here = Client(wizard, Access(False), "127.0.0.1", ("127.0.0.1", 50000))
    page = here.get("/")
    assert page.headers["content-security-policy"].startswith("default-src 'self'")
    folder = Path(make_app.__code__.co_filename).parent / "static"
    for path in folder.iterdir():
        text = here.get(f"/static/{path.name}").raise_for_status().text
        assert "https://" not in text
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
