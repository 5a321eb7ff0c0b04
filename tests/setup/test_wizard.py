"""The last steps on pictures of a table: verdicts, the table's file, the sheet on paper, a swapped camera."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
import pypdfium2
import pytest

from pitwatch.config import load_table
from pitwatch.errors import UserError
from pitwatch.setup.progress import Deal, Felt, House, Lens, Pose, Progress, Source, Spread, Store
from pitwatch.setup.wizard import Wizard
from pitwatch.sim.practice import PracticeTable
from pitwatch.table.files import load_felt

from .practice_pictures import render


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, PracticeTable]:
    folder = tmp_path_factory.mktemp("pictures")
    return folder, render(folder)


@pytest.fixture
def wizard(pictures: tuple[Path, PracticeTable], tmp_path: Path) -> Iterator[Wizard]:
    """Camera, lens, pose and layout are done."""
    folder, table = pictures
    store = Store(tmp_path / "BJ-07")
    store.put_json("calibration.json", {**table.camera.to_json(), "note": "the truth"})
    store.put_json("layout.json", table.layout.to_json())
    source = Source(spec=str(folder / "2-empty.png"), width=1920, height=1080)
    pose = Pose(
        method="cards",
        said=["8 cards fit to 0.3 mm"],
        spread=[Spread(place="seat 1", mm=1.2)],
        width=1920,
        height=1080,
        when="2026-01-02T03:04:05",
    )
    seen = Deal(card="5h", seat=3, seen="5h", confidence=0.97, seconds=4.2)
    store.write(
        Progress(source=source, lens=Lens(skipped=True), pose=pose, layout=Felt(how="print"), deals=[seen])
    )
    wizard = Wizard(store, lambda: datetime(2026, 1, 2, 3, 4, 5), lambda: 0.0)
    yield wizard
    wizard.close()


def test_verdicts_file_sheet_and_comparison(wizard: Wizard) -> None:
    folder = wizard.store.folder
    with pytest.raises(UserError, match="step 'check' is not done"):
        wizard.finish("A. Technician")
    wizard.judge()
    check = wizard.progress.check
    assert check is not None
    assert [r["place"] for r in check.rows] == ["dealer", *(f"seat {i}" for i in range(1, 7))]
    # cards are read everywhere; of chips, only low stacks surely
    assert check.rows[0]["verdict"] == "good"
    assert {r["cards"] for r in check.rows} == {"ranks and suits"}
    assert {r["verdict"] for r in check.rows[1:]} == {"some"}
    assert any("often left unread" in a for a in check.advice)
    assert load_felt(folder / "calibration.json") is not None
    wizard.put_house(House(name="BJ-07", minimum=1000, decks=6))
    wizard.finish("A. Technician")
    config = load_table(folder / "table.toml")
    assert (config.table.name, config.table.minimum, config.table.decks) == ("BJ-07", 1000, 6)
    sheet = pypdfium2.PdfDocument(folder / "commissioning.pdf")
    text = "".join(page.get_textpage().get_text_range() for page in sheet)
    for word in ("Table BJ-07", "A. Technician", "2026-01-02 03:04", "seat 6", "five of hearts on seat 3"):
        assert word in text
    drawn = np.asarray(sheet[0].render(scale=0.5).to_numpy())
    # the picture of the table is there: a good part of the page is green felt
    assert ((drawn[..., 1] > drawn[..., 0]) & (drawn.min(axis=2) < 90)).mean() > 0.1
    sheet.close()
    assert wizard.take_turn()["state"] == "steady"


def test_a_layout_that_is_not_this_felts_is_said(wizard: Wizard) -> None:
    moved = wizard.layout().to_json()
    moved["spots"] = [[x + 30, y + 10] for x, y in moved["spots"]]
    wizard.put_layout(moved)
    wizard.judge()
    assert wizard.progress.check is not None
    assert "printed circles in view lie" in wizard.progress.check.advice[0]


def test_another_resolution_is_refused_before_anything_is_judged(wizard: Wizard) -> None:
    source = wizard.progress.source
    assert source is not None
    wizard.progress = wizard.progress.model_copy(update={"source": source.model_copy(update={"width": 1280})})
    with pytest.raises(
        UserError, match=r"made for pictures of 1920 x 1080, but the camera gives 1280 x 1080"
    ):
        wizard.judge()
