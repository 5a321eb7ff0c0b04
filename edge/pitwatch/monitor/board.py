"""What the displays show: the table as it stands, its health, the marks over the picture, the findings.

In: nothing; `pipeline` fills these in. Out: frozen dataclasses and, by `to_json`, the objects that the
page receives. Money is integer cents, `t` seconds of the frames, overlay points pixels of the full picture,
felt points mm in the table frame. Seat 0 is the dealer.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

__all__ = [
    "BoardState",
    "CardShown",
    "Felt",
    "FindingShown",
    "HandShown",
    "Health",
    "Mark",
    "Overlay",
    "PictureRef",
    "SeatShown",
    "to_json",
]

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class CardShown:
    """One card of a hand. card: its code, None when it was not read or lies face down."""

    card: str | None
    face_up: bool = True
    sideways: bool = False


@dataclass(frozen=True)
class HandShown:
    """One hand. total: as people say it ("soft 17"). wager: cents, None when chips lie there unread.

    state: one or two words ("doubled", "bust"), empty when there is nothing to say. turn: the hand to act.
    """

    cards: tuple[CardShown, ...] = ()
    total: str = ""
    wager: int | None = 0
    state: str = ""
    turn: bool = False


@dataclass(frozen=True)
class SeatShown:
    """One seat: its hands in the order in which they came to be, and its other spots ("insurance"), cents."""

    seat: int
    hands: tuple[HandShown, ...] = ()
    bets: dict[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Felt:
    """What the drawn felt needs to know. spots: mm, index 0 is seat 1. insurance: middle and
    radius of its arc, None without one. up: "dealer" when the dealer's edge
    is at the top of the camera's picture, so that the drawing lies as the picture does."""

    spots: Points = ()
    insurance: tuple[float, float, float | None] = (0.0, 60.0, 400.0)
    up: Literal["dealer", "players"] = "dealer"


@dataclass(frozen=True)
class Mark:
    """An outline over the picture: a card, a stack, an arm or a seat's spot, with what was read there.

    at: where the label belongs, in the part that shows; None: the middle.
    """

    kind: Literal["card", "stack", "arm", "spot"]
    points: Points
    label: str = ""
    confidence: float | None = None
    at: tuple[float, float] | None = None


@dataclass(frozen=True)
class Overlay:
    """Marks over picture `picture` of width x height pixels."""

    picture: int = 0
    width: int = 0
    height: int = 0
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Health:
    """How the watch itself is doing.

    fps: pictures watched a second. ms_per_frame: time one picture takes. late: pictures of a live source
    that were passed over. skipped: pictures that could not be read. hands_judged of hands_total finished
    hands were judged. broker_status: the publisher's sentence on its connection.
    notice: a sentence about what is wrong, empty when nothing is. camera: how it stands and sees, in the
    guard's words. judging: whether what is seen is judged.
    """

    frames: int = 0
    fps: float = 0.0
    ms_per_frame: float = 0.0
    late: int = 0
    skipped: int = 0
    hands_judged: int = 0
    hands_total: int = 0
    broker: Literal["connected", "trying", "off"] = "off"
    broker_status: str = ""
    notice: str = ""
    camera: str = "learning"
    judging: bool = True

    @property
    def judged_share(self) -> float | None:
        """Share of the finished hands that were judged, None before the first."""
        return self.hands_judged / self.hands_total if self.hands_total else None


@dataclass(frozen=True)
class PictureRef:
    """A stored evidence picture. role: "before", "during" or "after"."""

    role: str
    ref: str


@dataclass(frozen=True)
class FindingShown:
    """One finding. rule: its name in the profile; sentence: the source's sentence that it stands on.

    unit of expected and observed: "net" the player's net in cents, "cents" an amount, "total" of a hand.
    """

    id: str
    t: float
    round: int
    kind: str
    seat: int
    hand: int
    severity: str
    text: str
    expected: int | str | None = None
    observed: int | str | None = None
    unit: Literal["net", "cents", "total", ""] = ""
    rule: str = ""
    sentence: str = ""
    confidence: float = 1.0
    pictures: tuple[PictureRef, ...] = ()


@dataclass(frozen=True)
class BoardState:
    """Everything a display shows, but the findings, which come one by one."""

    table: str = ""
    site: str = ""
    rules: str = ""
    t: float = 0.0
    round: int = 0
    phase: str = ""
    dealer: HandShown = field(default_factory=HandShown)
    seats: tuple[SeatShown, ...] = ()
    felt: Felt = field(default_factory=Felt)
    overlay: Overlay = field(default_factory=Overlay)
    health: Health = field(default_factory=Health)
    running: bool = True


def to_json(shown: BoardState | FindingShown) -> dict[str, Any]:
    """The object that the page receives; tuples become lists."""
    out = asdict(shown)
    if isinstance(shown, BoardState):
        out["health"]["judged_share"] = shown.health.judged_share
    return out
