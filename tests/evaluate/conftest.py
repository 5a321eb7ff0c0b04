"""A small table drawn flat: pictures with truth in the form of a scene, and eyes that see the truth."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from pitwatch.capture.frame import Frame
from pitwatch.cards import RANKS, SUITS
from pitwatch.evaluate.folders import Photos, Scene, read_folder
from pitwatch.evaluate.looking import card_corners, stack_outline
from pitwatch.evaluate.visibility import visible_shares
from pitwatch.table.camera import Camera
from pitwatch.vision.looks import CardSeen, HandSeen, Look, StackSeen, Zone

WIDTH, HEIGHT = 1280, 800
LAYOUT = {
    "n": 3,
    "cx": 0.0,
    "cy": 60.0,
    "spot_r": 560.0,
    "insurance_r": 380.0,
    "spots": [[-396.0, 456.0], [0.0, 620.0], [396.0, 456.0]],
}


def camera() -> Camera:
    """About 1 px/mm, 1.3 m over the middle of the table and tilted a little toward it."""
    tilt = math.radians(20)
    down = np.array([0.0, math.sin(tilt), -math.cos(tilt)])
    right = np.array([1.0, 0.0, 0.0])
    R = np.stack([right, np.cross(down, right), down])
    at = np.array([0.0, -120.0, 1300.0])
    K = np.array([[1150.0, 0, WIDTH / 2], [0, 1150.0, HEIGHT / 2], [0, 0, 1]])
    return Camera(WIDTH, HEIGHT, K, R, -R @ at)


def seen_card(code: str, x: float, y: float, yaw: float = 90.0, **more: Any) -> CardSeen:
    """A card read surely; "back" is one that lies face down."""
    if code == "back":
        return CardSeen(x, y, yaw % 180, False, 0.9, **more)

    def sure(of: str, all_: str) -> tuple[float, ...]:
        return tuple(math.log(0.98 if c == of else 0.02 / (len(all_) - 1)) for c in all_)

    more = {"unread": 0.02, **more}
    return CardSeen(x, y, yaw % 180, True, 0.9, sure(code[0], RANKS), sure(code[1], SUITS), **more)


class TruthEyes:
    """Sees what the truth says of the picture that a frame is named after."""

    def __init__(self, scene: Scene) -> None:
        self.of = {p.file: p for p in scene.pictures}
        self.camera = scene.camera

    def look(self, frame: Frame, zone: Zone) -> Look:
        p = self.of[frame.name]
        shares = visible_shares(
            self.camera,
            [(c.x, c.y, c.yaw, c.z) for c in p.cards],
            [(s.x, s.y, len(s.chips)) for s in p.stacks],
        )
        cards = [
            seen_card(c.card if c.face_up else "back", c.x, c.y, c.yaw, visible=share)
            for c, share in zip(p.cards, shares, strict=True)
            if zone.holds(c.x, c.y, -10)
        ]
        stacks = [
            StackSeen(s.x, s.y, 0.9, len(s.chips), s.chips, ((s.cents, 0.98),))
            for s in p.stacks
            if zone.holds(s.x, s.y)
        ]
        return Look(frame.t, zone, tuple(cards), tuple(stacks), self.hands(frame, zone))

    def hands(self, frame: Frame, zone: Zone) -> tuple[HandSeen, ...]:
        """None: what a still arm looks like is not this test's business."""
        return ()


def draw(cam: Camera, frame: dict[str, Any]) -> np.ndarray:
    """Cards as white quadrilaterals in the order of lying, chips as discs, an arm as a bar."""
    rng = np.random.default_rng(5)
    image = np.full((HEIGHT, WIDTH, 3), (60, 110, 40), np.uint8)
    for c in sorted(frame["cards"], key=lambda c: c["z"]):
        quad = cam.project(card_corners(c["x"], c["y"], c["yaw"])).round().astype(np.int32)
        cv2.fillConvexPoly(image, quad, (240, 240, 240) if c["face_up"] else (150, 60, 40))
        cv2.polylines(image, [quad.reshape(-1, 1, 2)], True, (90, 90, 90), 1)
        if c["face_up"]:
            at = cam.project([(c["x"], c["y"])])[0].round().astype(int)
            cv2.putText(image, c["card"], (int(at[0]) - 18, int(at[1]) + 8), 0, 0.8, (20, 20, 160), 2)
    for s in frame["stacks"]:
        outline = stack_outline(cam, s["x"], s["y"], len(s["chips"])).round().astype(np.int32)
        cv2.fillConvexPoly(image, outline, (40, 40, 200))
    if frame.get("arm"):
        x, y = frame["reach_mm"]
        root = (x * 0.5, -60.0) if frame["arm"] == "dealer" else (x * 1.4, y + 260.0)
        ends = cam.project([root, (x, y)]).round().astype(int)
        cv2.line(image, tuple(map(int, ends[0])), tuple(map(int, ends[1])), (120, 150, 210), 70)
    noise = rng.integers(-2, 3, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def card(code: str, x: float, y: float, z: int, seat: int, **more: Any) -> dict[str, Any]:
    return {
        "card": code,
        "face_up": True,
        "x": x,
        "y": y,
        "yaw": 90.0,
        "z": z,
        "seat": seat,
        "hand": 0,
        **more,
    }


def stack(chips: Sequence[int], x: float, y: float, seat: int, kind: str = "main") -> dict[str, Any]:
    return {"chips": list(chips), "cents": sum(chips), "x": x, "y": y, "seat": seat, "kind": kind}


def a_round() -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Seat 1 wins 5000 and is paid 4500; seat 3 loses 2500."""
    bet1, bet3 = stack([2500, 2500], -396, 456, 1), stack([2500], 396, 456, 3)
    pay1 = stack([2500, 500, 500, 500, 500], -360, 490, 1, "pay")
    cards = [
        card("Ts", -220, 300, 1, 1),
        card("9d", 220, 300, 2, 3),
        card("6h", -40, 216, 3, 0),
        card("Qh", -198, 282, 4, 1),
        card("7d", 198, 282, 5, 3),
        card("Kc", 40, 216, 6, 0, face_up=False),
        card("2c", 110, 216, 7, 0),
    ]
    frames: list[dict[str, Any]] = []

    def add(event: dict[str, Any], cards: Sequence[Any], stacks: Sequence[Any], arm: Any = None) -> None:
        n = sum(f["arm"] is None for f in frames)
        if arm is not None:
            last = frames[-1]
            side, reach = arm
            frames.append({**last, "file": f"{n:03d}-arm.jpg", "arm": side, "reach_mm": reach})
        frames.append(
            {
                "file": f"{n:03d}.jpg",
                "arm": None,
                "event": event,
                "cards": list(cards),
                "stacks": list(stacks),
            }
        )

    add({"type": "wagers", "wagers": {"1": 5000, "3": 2500}}, [], [bet1, bet3])
    for n in range(6):
        c = cards[n]
        event = {
            "type": "card",
            "seat": c["seat"],
            "hand": 0,
            "card": c["card"] if c["face_up"] else None,
            "face_up": c["face_up"],
            "sideways": False,
        }
        add(event, cards[: n + 1], [bet1, bet3])
    opened = [*cards[:5], {**cards[5], "face_up": True}]
    add({"type": "hole", "card": "Kc"}, opened, [bet1, bet3])
    full = [*opened, cards[6]]
    two = {"type": "card", "seat": 0, "hand": 0, "card": "2c", "face_up": True, "sideways": False}
    add(two, full, [bet1, bet3])
    add({"type": "take", "seat": 3}, full, [bet1], ("dealer", [396, 456]))
    add({"type": "pay", "seat": 1, "cents": 4500}, full, [bet1, pay1], ("dealer", [-360, 490]))
    add({"type": "cleared"}, [], [])
    dealt = {
        "seats": [1, 3],
        "wagers": {"1": 5000, "3": 2500},
        "hands": {"1": ["Ts", "Qh"], "3": ["9d", "7d"]},
        "dealer": ["6h", "Kc", "2c"],
        "doubled": [],
        "findings": [{"kind": "wrong_payout", "seat": 1, "expected": 5000, "observed": 4500}],
    }
    return frames, dealt


def write_scene(folder: Path, frames: Sequence[dict[str, Any]], dealt: dict[str, Any] | None) -> Path:
    cam = camera()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "calibration.json").write_text(json.dumps(cam.to_json()))
    (folder / "layout.json").write_text(json.dumps(LAYOUT))
    (folder / "truth.json").write_text(json.dumps({"frames": frames, "truth": dealt}))
    for f in frames:
        assert cv2.imwrite(str(folder / f["file"]), draw(cam, f))
    return folder


@pytest.fixture(scope="session")
def round_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scene of one round with a misplay."""
    return write_scene(tmp_path_factory.mktemp("scenes") / "round-t", *a_round())


@pytest.fixture
def scene(round_folder: Path) -> Scene:
    read = read_folder(round_folder)
    assert isinstance(read, Scene)
    return read


@pytest.fixture
def scene_writer(tmp_path: Path) -> Callable[..., Path]:
    """Writes a scene from frames and a round."""

    def write(frames: Sequence[dict[str, Any]], dealt: dict[str, Any] | None = None, name: str = "s") -> Path:
        return write_scene(tmp_path / name, frames, dealt)

    return write


@pytest.fixture
def truth_eyes() -> type[TruthEyes]:
    return TruthEyes


@pytest.fixture
def card_seen() -> Callable[..., CardSeen]:
    return seen_card


@pytest.fixture
def photo_folder(tmp_path: Path) -> Callable[[dict[str, Any]], Photos]:
    """Writes grey pictures with these labels, and reads them back."""

    def write(labels: dict[str, Any]) -> Photos:
        folder = tmp_path / "photos"
        folder.mkdir()
        (folder / "labels.json").write_text(json.dumps(labels))
        for i in labels["images"]:
            grey = np.full((i["height"], i["width"], 3), 90, np.uint8)
            assert cv2.imwrite(str(folder / i["image"]), grey)
        for name in labels.get("empty", []):
            assert cv2.imwrite(str(folder / name), grey)
        read = read_folder(folder)
        assert isinstance(read, Photos)
        return read

    return write
