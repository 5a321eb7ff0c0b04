"""`pitwatch models adapt`: a house's own deck and chips are read better, and bad pictures are said to be."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from pitwatch.adapt.adapting import cents_of
from pitwatch.adapt.cards import drawn_cards, read_faces
from pitwatch.adapt.chip_pictures import chip_seen
from pitwatch.adapt.faces import Face, deck_faces, laid_rows
from pitwatch.adapt.heads import Head, fit_head, read_head, with_head
from pitwatch.cards import CARDS, RANKS, SUITS
from pitwatch.chips import load_chips
from pitwatch.cli.commands import app
from pitwatch.errors import UserError
from pitwatch.vision.card_reader import CardReader
from pitwatch.vision.weights import read_manifest, verify

from .conftest import HOUSE, chip_picture, house_deck, laid_out


@pytest.fixture(scope="module")
def reader() -> CardReader:
    return CardReader()


def read(path: Path) -> np.ndarray:
    image = cv2.imread(str(path))
    assert image is not None
    return np.asarray(image, np.uint8)


def test_every_card_of_a_deck_is_found_and_named(deck_picture: Path, reader: CardReader) -> None:
    faces = deck_faces([("deck.png", read(deck_picture))], lambda f: read_faces(reader, f), "shdc")
    assert set(faces) == set(CARDS)
    deck = house_deck()
    for card, face in faces.items():
        assert face.picture.shape == (352, 252, 3)
        drawn = deck.sprite(card)[..., :3]
        off = [
            np.abs(cv2.GaussianBlur(p, (0, 0), 3).astype(int) - cv2.GaussianBlur(drawn, (0, 0), 3)).mean()
            for p in (face.picture, face.picture[::-1, ::-1])
        ]
        assert min(off) < 22, card


def test_a_picture_from_the_other_side_gives_the_same_faces(deck_picture: Path, reader: CardReader) -> None:
    turned = np.ascontiguousarray(read(deck_picture)[::-1, ::-1])
    rows = laid_rows(turned)
    assert [len(r) for r in rows] == [13] * 4
    image = read(deck_picture)
    ways = [deck_faces([("deck.png", p)], lambda f: read_faces(reader, f), "shdc") for p in (image, turned)]
    for card in CARDS:
        one, other = (cv2.GaussianBlur(w[card].picture, (0, 0), 3).astype(int) for w in ways)
        assert min(np.abs(one - other).mean(), np.abs(one - other[::-1, ::-1]).mean()) < 12, card


def test_suits_in_another_order_are_said(deck_picture: Path, reader: CardReader) -> None:
    with pytest.raises(UserError, match="a row of red cards lies where clubs or spades should be"):
        deck_faces([("deck.png", read(deck_picture))], lambda f: read_faces(reader, f), "dchs")


def test_a_card_that_is_missing_or_out_of_order_is_said(reader: CardReader) -> None:
    image = laid_out(house_deck(), "shdc")
    gap = image.copy()
    h, w = gap.shape[:2]
    gap[: h // 3, w // 2 - 70 : w // 2 + 70] = (40, 80, 30)
    with pytest.raises(UserError, match=r"deck\.png, row 1 from the top has 1[12] whole cards, not 13"):
        deck_faces([("deck.png", gap)], lambda f: read_faces(reader, f))
    with pytest.raises(UserError, match="there are 2 rows of cards, not four"):
        deck_faces([("two.png", laid_out(house_deck(), "sh"))], lambda f: read_faces(reader, f))
    # every row in an order of its own
    order = np.random.default_rng(1).permutation(13)

    def shuffled(faces: Sequence[Face]) -> np.ndarray:
        return read_faces(reader, faces)[order]

    with pytest.raises(UserError, match="row 1 from the top does not read as ace to king"):
        deck_faces([("deck.png", image)], shuffled)


def test_a_head_is_fitted_and_put_in_its_place() -> None:
    rng = np.random.default_rng(0)
    truth = Head(rng.normal(size=(3, 5)), rng.normal(size=3))
    X = rng.normal(size=(900, 5))
    y = truth.logits(X).argmax(axis=1)
    start = Head(np.zeros((3, 5)), np.zeros(3))
    fitted = fit_head(X[:600], y[:600], start, pull=1e-4)
    assert (fitted.logits(X[600:]).argmax(axis=1) == y[600:]).mean() > 0.95
    held = fit_head(X[:600], y[:600], start, pull=100.0)
    assert np.abs(held.weight).max() < 0.01
    data = rng.bytes(200)
    place = {"shape": [3, 5], "weight": 40, "bias": 120}
    new = with_head(data, place, fitted)
    assert len(new) == 200
    assert new[:40] == data[:40]
    assert new[132:] == data[132:]
    assert np.allclose(read_head(new, place).weight, fitted.weight, atol=1e-6)


def test_the_heads_named_by_the_manifest_are_those_of_the_files(reader: CardReader) -> None:
    weights = read_manifest()["card_reader"]
    places = weights.about["heads"]
    rank = read_head(weights.path.read_bytes(), places["rank"])
    rows = drawn_cards(house_deck(), 6, 5, 2.0)
    features = reader.features(rows["crop"].astype(np.uint8))
    said = np.array([r.rank_logp for r in reader.read(rows["crop"].astype(np.uint8))])
    own = rank.logits(features).mean(axis=1)[:, : len(RANKS)]
    assert (said.argmax(axis=1) == own.argmax(axis=1)).all()


def test_a_chip_is_measured_from_above() -> None:
    for cents, design in HOUSE.items():
        seen = chip_seen(chip_picture(cents), "chip.png")
        assert seen.spots == design.spots
        assert abs(seen.spot_share - design.spot_share) < 0.1
        for got, made in ((seen.body, design.body), (seen.spot, design.spot)):
            assert np.abs(np.array(got) - made).max() < 40
    with pytest.raises(UserError, match=r"empty\.png shows no single round chip"):
        chip_seen(np.full((200, 200, 3), 128, np.uint8), "empty.png")
    two = np.hstack([chip_picture(500), chip_picture(2500)])
    with pytest.raises(UserError, match="lay one chip on a plain ground"):
        chip_seen(np.asarray(two, np.uint8), "two.png")


def test_a_picture_is_named_by_its_chips_value() -> None:
    assert cents_of(Path("25.jpg")) == 2500
    assert cents_of(Path("$2.50.png")) == 250
    with pytest.raises(UserError, match=r"green\.jpg is not named by a chip's value"):
        cents_of(Path("green.jpg"))


def right(folder: Path | None) -> float:
    """Share of the house's cards that a reader names, on crops that nothing was fitted to."""
    rows = drawn_cards(house_deck(), 250, 99, 2.2)
    known = rows["rank"] < len(RANKS)
    read = CardReader(folder).read(rows["crop"].astype(np.uint8))
    said = [RANKS[int(r.rank_logp.argmax())] + SUITS[int(r.suit_logp.argmax())] for r in read]
    true = [
        (RANKS + "?")[int(a)] + (SUITS + "?")[int(b)] for a, b in zip(rows["rank"], rows["suit"], strict=True)
    ]
    return float(np.mean([s == t for s, t, k in zip(said, true, known, strict=True) if k]))


@pytest.mark.slow
def test_a_house_is_read_better_afterwards(deck_picture: Path, chip_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "adapted"
    args = ["models", "adapt", str(out), "--deck", str(deck_picture), "--suits", "shdc"]
    args += ["--chips", str(chip_folder)]
    done = CliRunner().invoke(app, [*args, "--samples", "700", "--name", "riverside"])
    assert done.exit_code == 0, done.output
    assert "before" in done.output
    assert f'folder = "{out}"' in done.output.replace("\n", "")
    for weights in read_manifest(out).values():
        verify(weights)
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert manifest["adapted_to"] == "riverside"
    card, stack = (manifest["weights"][k]["adapted"] for k in ("card_reader", "stack_reader"))
    assert card["after"]["card"] > card["before"]["card"]
    assert stack["after"]["chips"] > stack["before"]["chips"]
    assert right(out) > right(None)
    chips = load_chips(out / "chips.json")
    assert [d.cents for d in chips.denominations] == sorted(HOUSE)
    assert set(manifest["weights"]["stack_reader"]["classes"]) >= {d.name for d in chips.denominations}


def test_nothing_to_adapt_to_and_pictures_that_are_none_are_said(tmp_path: Path) -> None:
    runner = CliRunner()
    for args, sentence in (
        ([], "there is nothing to adapt to"),
        (["--deck", str(tmp_path / "none.png")], "none.png is no picture that can be read"),
        (["--chips", str(tmp_path / "none")], "has no pictures; put one of each chip there"),
    ):
        done = runner.invoke(app, ["models", "adapt", str(tmp_path / "out"), *args])
        assert done.exit_code != 0
        assert sentence in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_seven_denominations_are_too_many(tmp_path: Path) -> None:
    for i, cents in enumerate((100, 200, 300, 400, 500, 600, 700)):
        shutil.copy(_saved(tmp_path, i), tmp_path / f"{cents // 100}.png")
        _saved(tmp_path, i).unlink()
    done = CliRunner().invoke(app, ["models", "adapt", str(tmp_path / "out"), "--chips", str(tmp_path)])
    assert "the stack reader tells 6 apart" in str(done.exception)


def _saved(folder: Path, i: int) -> Path:
    path = folder / f"chip-{i}.tmp.png"
    if not path.exists():
        cv2.imwrite(str(path), chip_picture(500))
    return path
