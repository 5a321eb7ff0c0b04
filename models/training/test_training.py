"""Training's own tests: small, real runs of every step; they need torch and ultralytics."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch

from models.training import export
from models.training.card_reader import logits, train_card_reader
from models.training.data import draw_shard
from models.training.detector import train_detector
from models.training.nets import StackReader
from models.training.packaged import draw_packaged, packaged_decks
from models.training.photographs import draw_photographs
from models.training.report import report
from models.training.stack_reader import train_stack_reader
from models.training.strips import moved
from pitwatch.cards import CARDS, RANKS, SUITS
from pitwatch.chips import CASINO
from pitwatch.evaluate.looking import straight_down
from pitwatch.sim.chipart import chip_art
from pitwatch.sim.deck import Deck
from pitwatch.sim.designs import casino_design
from pitwatch.sim.felt import draw_felt
from pitwatch.sim.light import Light
from pitwatch.sim.render import Renderer, card_corners
from pitwatch.sim.scene import CardPose, Scene, StackPose
from pitwatch.sim.spec import mounted_camera
from pitwatch.table.layout import template
from pitwatch.vision.card_reader import CardReader as OnnxCardReader
from pitwatch.vision.crops import layer_px, moved_base, stack_strip
from pitwatch.vision.detector import Detector, decode
from pitwatch.vision.weights import open_session, read_manifest, verify, weights_folder

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pictures")
    for split, held in (("train", False), ("val", True)):
        for kind, n in (("zones", 16), ("cards", 90), ("strips", 70)):
            draw_shard(root, split, 1, n, held, kind)
    return root


def test_photographs_give_crops_and_zones(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    deck = Deck(casino_design(rng))
    camera = straight_down(960, 720, 3.0)
    cards = [CardPose("7h", True, -90.0, 10.0, 80.0), CardPose("Kc", True, 60.0, -20.0, 15.0)]
    felt = draw_felt(template(6), 3)
    picture = Renderer(camera, felt, deck, chip_art(CASINO), Light()).frame(Scene(0.0, tuple(cards)))
    folder = tmp_path / "photographs"
    folder.mkdir()
    cv2.imwrite(str(folder / "one.jpg"), picture)
    boxes = [camera.project(card_corners(c)) for c in cards]
    labels = [
        {"card": c.card, "box": [*b.min(axis=0).tolist(), *b.max(axis=0).tolist()]}
        for c, b in zip(cards, boxes, strict=True)
    ]
    image = {"image": "one.jpg", "width": 960, "height": 720, "px_per_mm": 3.0, "cards": labels}
    (folder / "labels.json").write_text(json.dumps({"set": "own", "images": [image]}))
    crops, zones = draw_photographs(folder, tmp_path / "cache", 1)
    assert crops == 16
    assert zones > 0
    with np.load(tmp_path / "cache/cards/train-photo.npz") as rows:
        assert set(zip(rows["rank"].tolist(), rows["suit"].tolist(), strict=True)) == {
            (RANKS.index(c.card[0]), SUITS.index(c.card[1])) for c in cards
        }
        reader = OnnxCardReader()
        read = [
            r.rank_logp.argmax() == k for r, k in zip(reader.read(rows["crop"]), rows["rank"], strict=True)
        ]
    # cut where the cards lie and named as they are, they are mostly read so
    assert np.mean(read) > 0.6


def test_decks_that_others_drew_are_read_and_drawn(tmp_path: Path) -> None:
    printed = Deck(casino_design(np.random.default_rng(9)))
    for name, cards in (
        ("whole", CARDS),
        ("courts", [c for c in CARDS if c[0] in "JQK"]),
        ("part", CARDS[:30]),
    ):
        (tmp_path / "decks" / name).mkdir(parents=True)
        for card in cards:
            cv2.imwrite(str(tmp_path / "decks" / name / f"{card}.png"), printed.sprite(card))
    decks = packaged_decks(tmp_path / "decks")
    assert {k: len(v) for k, v in decks.items()} == {"whole": 52, "courts": 12}
    assert decks["whole"]["As"].shape == (352, 252, 3)
    draw_packaged(tmp_path / "cache", tmp_path / "decks", 1, 40, decks=4)
    with np.load(tmp_path / "cache/cards/train-packaged-0001.npz") as rows:
        assert len(rows["rank"]) == 40
        assert rows["crop"].shape[1:] == (160, 112, 4)
        known = rows["rank"] < len(RANKS)
        read = [r.rank_logp.argmax() for r in OnnxCardReader().read(rows["crop"][known])]
        assert np.mean(read == rows["rank"][known]) > 0.6


def _weights(folder: Path) -> Path:
    folder.mkdir()
    (folder / "manifest.json").write_text('{"weights": {}}')
    return folder


def test_pictures_and_their_labels(cache: Path) -> None:
    images = sorted((cache / "zones/images/train").glob("*.jpg"))
    assert len(images) == 16
    numbers: set[int] = set()
    for image in images:
        for line in (cache / "zones/labels/train" / f"{image.stem}.txt").read_text().splitlines():
            kind, *corners = line.split()
            numbers.add(int(kind))
            assert len(corners) == 8
            assert all(0 <= float(c) <= 1 for c in corners)
    assert {0, 2} <= numbers
    with np.load(cache / "cards/train-0001.npz") as rows:
        assert rows["crop"].shape[1:] == (160, 112, 4)
        assert len(set(rows["rank"].tolist())) > 8
    with np.load(cache / "strips/train-0001.npz") as rows:
        empty = rows["count"] == 0
        assert 0 < empty.sum() < 20
        assert (rows["chips"][empty] == len(CASINO.denominations)).all()


def test_same_seed_same_pictures_and_no_shard_twice(cache: Path, tmp_path: Path) -> None:
    draw_shard(tmp_path, "train", 1, 16, False, "zones")
    for image in sorted((cache / "zones/images/train").glob("*.jpg"))[:5]:
        assert (tmp_path / "zones/images/train" / image.name).read_bytes() == image.read_bytes()
    first = tmp_path / "zones/images/train/0001-0000.jpg"
    first.unlink()
    draw_shard(tmp_path, "train", 1, 16, False, "zones")
    assert not first.exists(), "a shard that is there was drawn again"


def test_card_reader_learns_resumes_and_exports(cache: Path, tmp_path: Path) -> None:
    out = tmp_path / "card_reader"
    train_card_reader(cache, out, minutes=5, epochs=1, seed=3)
    first = torch.load(out / "last.pt", weights_only=True)["step"]
    assert first >= 1
    net = train_card_reader(cache, out, minutes=5, epochs=3, seed=3)
    step = torch.load(out / "last.pt", weights_only=True)["step"]
    assert step == 3 * first, "the run did not go on where it was"
    assert (out / "curve.png").stat().st_size > 1000
    weights = _weights(tmp_path / "weights")
    export.export_card_reader(net, cache, weights, {"trained": "a test"})
    about = read_manifest(weights)["card_reader"]
    verify(about)
    assert about.about["licence"] == "Apache-2.0"
    with np.load(cache / "cards/val-0001.npz") as rows:
        crops = rows["crop"][:12]
    rank, _ = logits(net, crops)
    rank = rank / about.number("temperature")
    for i, reading in enumerate(OnnxCardReader(weights).read(crops)):
        z = rank[i, :13] - rank[i, :13].max()
        assert np.allclose(reading.rank_logp, z - np.log(np.exp(z).sum()), atol=1e-3)


def test_stack_reader_learns_and_exports(cache: Path, tmp_path: Path) -> None:
    net = train_stack_reader(cache, tmp_path / "stack_reader", minutes=5, epochs=2, seed=3)
    assert isinstance(net, StackReader)
    weights = _weights(tmp_path / "weights")
    export.export_stack_reader(net, cache, weights, {})
    session, _ = open_session("stack_reader", weights)
    x = torch.rand(3, 5, 128, 32)
    with torch.inference_mode():
        theirs = [v.numpy() for v in net.eval().with_features(x)]
    for mine, other in zip(session.run(None, {"picture": x.numpy()}), theirs, strict=True):
        assert np.allclose(mine, other, atol=1e-3)


@pytest.mark.parametrize("columns", [-3, 2])
def test_a_strip_is_moved_as_the_picture_would_be_cut(columns: int) -> None:
    layout = template(6)
    camera = mounted_camera(layout, 3840, 2160)
    renderer = Renderer(
        camera, draw_felt(layout), Deck(casino_design(np.random.default_rng(1))), chip_art(CASINO)
    )
    x, y = layout.spots[1]
    frame = renderer.frame(Scene(0.0, (), (StackPose((500, 2500) * 4, x, y, look=2),)))
    px_mm = camera.px_per_mm(x, y)
    scales = np.array([(layer_px(camera, x, y), px_mm)], np.float32)
    rows = np.array([3])
    ours = moved(stack_strip(frame, camera, x, y)[None], scales, rows, np.array([columns]))[0]
    there = moved_base(camera, *moved_base(camera, x, y, 0.0, -columns), -3.0)
    cut = stack_strip(frame, camera, *there)
    inner = np.s_[20:116, 4:28]
    assert np.abs(ours.astype(int) - cut)[inner].mean() < 4
    upright = np.roll(stack_strip(frame, camera, x, y), (-3, -columns), (0, 1))
    assert np.abs(upright.astype(int) - cut)[inner].mean() > 10, "edges that run aslant are the point of it"


def test_report_measures_the_shipped_readers(cache: Path, tmp_path: Path) -> None:
    table = report(cache, weights_folder(), tmp_path / "figures")
    assert (tmp_path / "figures/readers.png").stat().st_size > 10_000
    row = next(line for line in table.splitlines() if line.startswith("| ranks"))
    n, right = row.split("|")[2:4]
    assert int(n) > 20
    assert float(right.strip(" %")) > 50, "the shipped card reader reads no held-out decks"


def test_detector_trains_and_its_export_keeps_boxes_and_angles(cache: Path, tmp_path: Path) -> None:
    best = train_detector(cache, tmp_path / "runs" / "detector", minutes=0, epochs=2, seed=3, threads=2)
    assert (tmp_path / "runs/detector/curve.png").exists()
    weights = _weights(tmp_path / "weights")
    export.export_detector(best, weights, {})
    assert "AGPL-3.0" in json.loads((weights / "manifest.json").read_text())["weights"]["detector"]["licence"]
    from ultralytics import YOLO

    net = YOLO(str(best)).model.float().eval()
    session, _ = open_session("detector", weights)
    picture = cv2.resize(cv2.imread(str(next((cache / "zones/images/val").glob("*.jpg")))), (256, 256))
    x = np.ascontiguousarray(picture[..., ::-1].transpose(2, 0, 1)[None], np.float32) / 255
    with torch.inference_mode():
        raw = net(torch.from_numpy(x))
        theirs = (raw[0] if isinstance(raw, (tuple, list)) else raw).numpy()
    mine = np.asarray(session.run(None, {session.get_inputs()[0].name: x})[0])
    assert mine.shape == theirs.shape
    assert np.allclose(mine, theirs, atol=2e-2, rtol=1e-3)
    assert np.ptp(mine[0, -1]) > 0, "every box has the same angle: the export lost it"
    boxes = decode(mine[0], (0.0,) * 4)
    row = int(mine[0, 4:-1].max(axis=0).argmax())
    assert boxes[0].angle == pytest.approx(float(theirs[0, -1, row]), abs=1e-3)
    assert Detector(weights).boxes(picture) is not None
