"""Table events: what can be seen on a table, never what it means.

In and out: the dataclasses below and their JSON form, one object a line. Money is integer cents, `t`
seconds (never decreasing), seat 0 the dealer, seats 1.. from first base (the dealer's left). A card is
rank `A23456789TJQK` + suit `cdhs`, `"7?"` when only the rank was read, `None` when unread or face down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, get_args, get_type_hints

from pitwatch.cards import is_card

__all__ = [
    "EVENT_TYPES",
    "By",
    "CardLaid",
    "Chips",
    "Clear",
    "Dealer",
    "EventError",
    "Gone",
    "Move",
    "Peek",
    "Shoe",
    "ShoeBurn",
    "Signal",
    "Table",
    "TableEvent",
    "Turn",
    "Void",
    "event_from_json",
]

By = Literal["dealer", "player"]


class EventError(ValueError):
    """An object that is no table event; the message names the field and what it should be."""


@dataclass(frozen=True, kw_only=True)
class TableEvent:
    """What every event carries.

    t: capture time in seconds. confidence: 0 to 1. evidence: references to stored frames, in the order
    before, during, after. by: whose arm did it, None when not seen or not surely.
    """

    type: ClassVar[str] = ""

    t: float
    confidence: float = 1.0
    evidence: tuple[str, ...] = ()
    by: By | None = None

    def to_json(self) -> dict[str, Any]:
        """The event as a JSON object; what has its default value is left out, `card` and `amount` never."""
        out: dict[str, Any] = {"t": self.t, "type": self.type}
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "t" or (value == f.default and f.name not in ("card", "amount", "face")):
                continue
            out[f.name] = list(value) if isinstance(value, tuple) else value
        return out


@dataclass(frozen=True, kw_only=True)
class Table(TableEvent):
    """The table stops playing, or plays again; nothing between is judged."""

    type: ClassVar[str] = "table"
    state: Literal["open", "closed", "shuffle", "fill", "buy_in"]


@dataclass(frozen=True, kw_only=True)
class Dealer(TableEvent):
    """Another dealer takes over."""

    type: ClassVar[str] = "dealer"
    id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Shoe(TableEvent):
    """A new shoe begins: card counts start again."""

    type: ClassVar[str] = "shoe"
    decks: int | None = None


@dataclass(frozen=True, kw_only=True)
class ShoeBurn(TableEvent):
    """A card went from the shoe to the discard."""

    type: ClassVar[str] = "burn"
    card: str | None = None


@dataclass(frozen=True, kw_only=True)
class Chips(TableEvent):
    """The total in cents that a spot holds from now on; 0 = emptied, None = chips of unread value."""

    type: ClassVar[str] = "chips"
    seat: int
    spot: str
    amount: int | None
    hand: int = 0
    stacks: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class CardLaid(TableEvent):
    """A further card lies with this hand."""

    type: ClassVar[str] = "card"
    seat: int
    card: str | None
    hand: int = 0
    face: Literal["up", "down"] = "up"
    sideways: bool = False


@dataclass(frozen=True, kw_only=True)
class Turn(TableEvent):
    """The face-down card of this hand now lies face up."""

    type: ClassVar[str] = "turn"
    seat: int
    card: str | None
    hand: int = 0


@dataclass(frozen=True, kw_only=True)
class Gone(TableEvent):
    """One card of this hand was removed, the hand stays."""

    type: ClassVar[str] = "gone"
    seat: int
    hand: int = 0
    card: str | None = None


@dataclass(frozen=True, kw_only=True)
class Move(TableEvent):
    """The last card of `hand` was moved away to begin hand `to` (a split)."""

    type: ClassVar[str] = "move"
    seat: int
    hand: int
    to: int


@dataclass(frozen=True, kw_only=True)
class Peek(TableEvent):
    """The dealer checked the hole card without exposing it."""

    type: ClassVar[str] = "peek"


@dataclass(frozen=True, kw_only=True)
class Signal(TableEvent):
    """A player's signal."""

    type: ClassVar[str] = "signal"
    seat: int
    signal: Literal["hit", "stand", "double", "split", "surrender", "insurance", "even_money"]
    hand: int = 0


@dataclass(frozen=True, kw_only=True)
class Void(TableEvent):
    """The floor declared this seat's hand, or without `seat` the round, dead."""

    type: ClassVar[str] = "void"
    seat: int | None = None


@dataclass(frozen=True, kw_only=True)
class Clear(TableEvent):
    """All cards of this hand (without `hand`: of all hands of the seat) were taken; seat 0: round over."""

    type: ClassVar[str] = "clear"
    seat: int
    hand: int | None = None


EVENT_TYPES: dict[str, type[TableEvent]] = {
    c.type: c
    for c in (Table, Dealer, Shoe, ShoeBurn, Chips, CardLaid, Turn, Gone, Move, Peek, Signal, Void, Clear)
}


def event_from_json(obj: Mapping[str, Any]) -> TableEvent:
    """Read one event object; unknown keys are ignored, so that newer logs stay readable.

    Raises EventError naming the field and what it should be.
    """
    kind = obj.get("type")
    cls = EVENT_TYPES.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise EventError(f"'type' is {kind!r}; it should be one of {', '.join(EVENT_TYPES)}")
    known = {f.name for f in fields(cls)}
    values = {k: v for k, v in obj.items() if k in known}
    for f in fields(cls):
        if f.name in values:
            values[f.name] = _checked(f.name, values[f.name], kind)
    try:
        return cls(**values)
    except TypeError as e:
        missing = str(e).split(":")[-1].strip()
        raise EventError(f"a {kind!r} event without {missing}") from None


_WORDS: dict[str, tuple[str, ...]] = {
    "state": get_args(get_type_hints(Table)["state"]),
    "signal": get_args(get_type_hints(Signal)["signal"]),
}


def _is_stack(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(type(c) is int and c >= 0 for c in value)


def _checked(name: str, value: Any, kind: object) -> Any:
    def wrong(should: str) -> EventError:
        return EventError(f"{name!r} of a {kind!r} event is {value!r}; it should be {should}")

    whole = isinstance(value, int) and not isinstance(value, bool)
    if name == "t" or name == "confidence":
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise wrong("a number")
        if name == "confidence" and not 0 <= value <= 1:
            raise wrong("from 0 to 1")
    elif name in ("seat", "hand", "to", "decks"):
        optional = (name, kind) in (("seat", "void"), ("hand", "clear"), ("decks", "shoe"))
        if not (whole and value >= 0) and not (optional and value is None):
            raise wrong("a whole number, 0 or more")
    elif name == "amount":
        if value is not None and not (whole and value >= 0):
            raise wrong("whole cents, 0 or more, or null")
    elif name == "card":
        if value is not None and not is_card(value):
            raise wrong("a rank of A23456789TJQK and a suit of cdhs, or null")
    elif name == "face":
        if value not in ("up", "down"):
            raise wrong("'up' or 'down'")
    elif name == "by":
        if value not in ("dealer", "player", None):
            raise wrong("'dealer' or 'player'")
    elif name == "sideways":
        if not isinstance(value, bool):
            raise wrong("true or false")
    elif name == "evidence":
        if not isinstance(value, (list, tuple)):
            raise wrong("a list of references to frames")
        return tuple(str(v) for v in value)
    elif name == "stacks":
        if not isinstance(value, (list, tuple)) or not all(_is_stack(s) for s in value):
            raise wrong("a list of lists of cents")
        return tuple(tuple(s) for s in value)
    elif name in _WORDS:
        if value not in _WORDS[name]:
            raise wrong(f"one of {', '.join(_WORDS[name])}")
    elif name == "spot" and not (isinstance(value, str) and value):
        raise wrong("'main', 'insurance' or a side bet's name")
    return value
