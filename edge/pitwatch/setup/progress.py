"""What has been done so far, kept on disk after every step.

In: a folder. Out: `Progress`, read from and written to its `setup.json`; a file is replaced whole or not at
all, so that a device that dies in the middle goes on where it was.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pitwatch.errors import UserError
from pitwatch.table.camera import Camera
from pitwatch.table.files import load_camera, load_layout
from pitwatch.table.layout import Layout

__all__ = [
    "STEPS",
    "Check",
    "Deal",
    "Felt",
    "Finish",
    "House",
    "Lens",
    "Pose",
    "Progress",
    "Source",
    "Spread",
    "Store",
    "put",
]

STEPS = ("camera", "lens", "pose", "layout", "check", "house", "deal", "finish")


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Source(_Record):
    """The camera. spec: as `--source` has it. card, bus: what a device calls itself. mains_hz: of the lamps.
    controls: locked, by name. said: what could not be locked."""

    spec: str
    width: int
    height: int
    card: str = ""
    bus: str = ""
    mains_hz: int | None = None
    controls: dict[str, int] = Field(default_factory=dict)
    said: list[str] = Field(default_factory=list)


class Lens(_Record):
    """skipped: the focal length comes from the cards or points."""

    skipped: bool = False
    said: list[str] = Field(default_factory=list)
    width: int = 0
    height: int = 0
    card: str = ""


class Spread(_Record):
    """± mm at a place, one standard deviation."""

    place: str
    mm: float


class Pose(_Record):
    """How the camera stands. method: cards, points, board or tags. card: the camera's own name."""

    method: str
    said: list[str]
    spread: list[Spread] = Field(default_factory=list)
    width: int
    height: int
    card: str = ""
    when: str


class Felt(_Record):
    """How the layout came about."""

    how: Literal["template", "print", "drawn"]
    said: str = ""


class Check(_Record):
    """What can be judged: a row a place, and what to change."""

    rows: list[dict[str, Any]]
    advice: list[str]
    when: str


class House(_Record):
    """Names and rules, as the table's file has them. limits in cents."""

    name: str = ""
    site: str = "casino"
    rules: str = "greektown"
    decks: int | None = None
    minimum: int | None = None
    maximum: int | None = None
    mqtt: str = ""


class Deal(_Record):
    """A card asked for and what was seen. seconds: until it was seen; None while it was not."""

    card: str
    seat: int
    seen: str | None = None
    confidence: float = 0.0
    seconds: float | None = None
    when: str = ""


class Finish(_Record):
    """Who set the table up, and when (wall clock, ISO 8601)."""

    who: str
    when: str


class Progress(_Record):
    """All of it. step: where the page stands."""

    version: int = 1
    step: str = "camera"
    source: Source | None = None
    lens: Lens | None = None
    pose: Pose | None = None
    layout: Felt | None = None
    check: Check | None = None
    house: House | None = None
    deals: list[Deal] = Field(default_factory=list)
    deal_skipped: bool = False
    finish: Finish | None = None
    restored: str = ""

    def done(self) -> list[str]:
        """The steps that are done and still hold, in their order."""
        deal = self.deal_skipped or any(d.seconds is not None for d in self.deals)
        held = {
            "camera": self.source is not None,
            "lens": self.lens is not None,
            "pose": self.pose is not None,
            "layout": self.layout is not None,
            "check": self.check is not None,
            "house": self.house is not None,
            "deal": deal,
            "finish": self.finish is not None,
        }
        return [s for s in STEPS if held[s]]

    def mismatch(self) -> list[str]:
        """Where what was done belongs to another camera or resolution, a sentence each."""
        out: list[str] = []
        s = self.source
        if s is None:
            return out
        for what, made, again in (
            (
                "lens",
                None if self.lens is None or self.lens.skipped else self.lens,
                "calibrate or skip it again",
            ),
            ("pose", self.pose, "do this step again, or set the camera back"),
        ):
            if made is None:
                continue
            if (made.width, made.height) != (s.width, s.height):
                out.append(
                    f"The {what} was made for pictures of {made.width} x {made.height}, but the camera gives "
                    f"{s.width} x {s.height}: {again}."
                )
            elif made.card and s.card and made.card != s.card:
                out.append(f"The {what} was made with the camera {made.card}, but this is {s.card}: {again}.")
        return out


class Store:
    """A folder with `setup.json` and what belongs to it."""

    FILES = (
        "lens.json",
        "calibration.json",
        "calibration.felt.jpg",
        "layout.json",
        "reference.jpg",
        "check.jpg",
        "deal.jpg",
    )

    def __init__(self, folder: Path) -> None:
        """Raises UserError when the folder cannot be made or written."""
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(13, "Permission denied")
        except OSError as e:
            raise UserError(f"{folder} cannot be written ({e.strerror}); choose another --folder") from None

    def path(self, name: str) -> Path:
        """Where a file of the folder lies."""
        return self.folder / name

    def read(self) -> Progress:
        """What is kept; at the beginning when nothing is. Raises UserError for a damaged file."""
        path = self.path("setup.json")
        try:
            return Progress.model_validate_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return Progress()
        except (OSError, UnicodeDecodeError, ValidationError):
            raise UserError(
                f"{path} cannot be read as the state of a set-up; move it away to begin anew"
            ) from None

    def write(self, progress: Progress) -> None:
        """Keep it. Raises UserError when the disk does not take it."""
        self.put("setup.json", progress.model_dump_json(indent=1).encode())

    def put(self, name: str, data: bytes) -> None:
        """Write a file of the folder, whole or not at all. Raises UserError when that fails."""
        put(self.path(name), data)

    def put_json(self, name: str, value: dict[str, Any]) -> None:
        """The same for JSON that people read: a line a key."""
        lines = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in value.items()]
        self.put(name, ("{\n" + ",\n".join(lines) + "\n}\n").encode())

    def camera(self) -> Camera | None:
        """The calibrated camera, None before. Raises UserError for a damaged file."""
        path = self.path("calibration.json")
        return load_camera(path) if path.exists() else None

    def layout(self) -> Layout | None:
        """The felt, None before. Raises UserError for a damaged file."""
        path = self.path("layout.json")
        return load_layout(path) if path.exists() else None


def put(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, and onto the disk. Raises UserError when that fails."""
    beside = path.with_name(f".{path.name}.new")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as e:
        raise UserError(
            f"{path} cannot be written ({e.strerror}); make room, or choose another --folder"
        ) from None
