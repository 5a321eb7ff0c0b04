"""What one simulated round is made of: the script of a round, and the acts it turns into.

In: JSON objects or plain values. Out: frozen dataclasses. Money is integer cents, stacks are chips bottom to
top, seats 1.. from first base, 0 the dealer. Knows nothing of rules, positions or time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pitwatch.cards import is_card, suit_of
from pitwatch.errors import UserError

__all__ = ["Act", "ActKind", "Decision", "Flow", "Misplay", "RoundScript", "Stack"]

Stack = tuple[int, ...]
Decision = Literal["hit", "stand", "double", "split"]
ActKind = Literal["put", "cut", "card", "split", "peek", "turn", "pay", "take", "pickup", "clear"]
Flow = Literal["next", "same", "chain", "overlap"]

_DECISIONS = ("hit", "stand", "double", "split")


@dataclass(frozen=True)
class Misplay:
    """One staged mistake. kind: one of `misplays.MISPLAYS`. seat, hand: where, seat 0 the dealer's.

    chips: what is laid by mistake (a wrong payout, a raise, a late wager), or what is taken away.
    total: the total on which the dealer stands short.
    """

    kind: str
    seat: int = 0
    hand: int = 0
    chips: Stack = ()
    total: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The JSON object that `from_json` reads."""
        out: dict[str, Any] = {"kind": self.kind, "seat": self.seat, "hand": self.hand}
        if self.chips:
            out["chips"] = list(self.chips)
        if self.total is not None:
            out["total"] = self.total
        return out

    @classmethod
    def from_json(cls, obj: object) -> Misplay:
        """Raises UserError naming the key."""
        o = _object(obj, "misplay", {"kind", "seat", "hand", "chips", "total"})
        if not isinstance(o.get("kind"), str):
            raise UserError("'misplay' needs a 'kind', the name of the mistake")
        total = o.get("total")
        return cls(
            o["kind"],
            _whole(o.get("seat", 0), "misplay.seat"),
            _whole(o.get("hand", 0), "misplay.hand"),
            _stack(o.get("chips", []), "misplay.chips"),
            None if total is None else _whole(total, "misplay.total"),
        )


@dataclass(frozen=True)
class RoundScript:
    """One round as it is written down.

    wagers: chips by seat. cards: in the order in which they leave the shoe. decisions: by seat, over all its
    hands, in the order in which they are asked for (hands below 21 only); a seat without any left stands.
    insurance: chips by seat, laid when the dealer shows an ace. even_money: seats that take it then.
    """

    wagers: Mapping[int, Stack]
    cards: tuple[str, ...]
    decisions: Mapping[int, tuple[Decision, ...]] = field(default_factory=dict)
    insurance: Mapping[int, Stack] = field(default_factory=dict)
    even_money: tuple[int, ...] = ()
    misplay: Misplay | None = None

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats that are dealt in, in dealing order."""
        return tuple(sorted(self.wagers))

    def to_json(self) -> dict[str, Any]:
        """The JSON object that `from_json` reads."""
        out: dict[str, Any] = {
            "wagers": {str(s): list(c) for s, c in sorted(self.wagers.items())},
            "cards": " ".join(self.cards),
            "decisions": {str(s): " ".join(d) for s, d in sorted(self.decisions.items())},
        }
        if self.insurance:
            out["insurance"] = {str(s): list(c) for s, c in sorted(self.insurance.items())}
        if self.even_money:
            out["even_money"] = list(self.even_money)
        if self.misplay:
            out["misplay"] = self.misplay.to_json()
        return out

    @classmethod
    def from_json(cls, obj: object) -> RoundScript:
        """Raises UserError naming the key."""
        keys = {"wagers", "cards", "decisions", "insurance", "even_money", "misplay"}
        o = _object(obj, "a round", keys)
        wagers = {s: _stack(c, f"wagers.{s}") for s, c in _by_seat(o.get("wagers"), "wagers")}
        if not wagers:
            raise UserError("a round of the script has no 'wagers'; write chips in cents by seat")
        cards = o.get("cards")
        if not isinstance(cards, str):
            raise UserError("'cards' of a round should be one text like \"As Td 7h\"")
        for c in cards.split():
            if not is_card(c) or suit_of(c) is None:
                raise UserError(f"{c!r} in 'cards' is no card; write a rank and a suit, like Td")
        decisions: dict[int, tuple[Decision, ...]] = {}
        for s, d in _by_seat(o.get("decisions", {}), "decisions"):
            decisions[s] = _decisions(d, f"decisions.{s}")
        even = o.get("even_money", [])
        if not isinstance(even, list):
            raise UserError("'even_money' should be a list of seats")
        return cls(
            wagers=wagers,
            cards=tuple(cards.split()),
            decisions=decisions,
            insurance={
                s: _stack(c, f"insurance.{s}") for s, c in _by_seat(o.get("insurance", {}), "insurance")
            },
            even_money=tuple(_whole(s, "even_money") for s in even),
            misplay=None if o.get("misplay") is None else Misplay.from_json(o["misplay"]),
        )


@dataclass(frozen=True)
class Act:
    """One thing that somebody does at the table.

    put: a player lays chips (role: wager, double, split, insurance, raise). cut: he takes `chips` off a
    wager. pickup: he takes all that lies on a spot. pay, take: the dealer lays or takes chips. card: one from
    the shoe. split: the last card of `hand` begins hand `to`. turn, peek: the hole card. clear: all cards of
    a hand, or with hand None of the seat, are taken up.
    flow: `next` after a rest with no arm over the table, `same` in the same reach of the same arm, `chain`
    the arm waits at the shoe between cards, `overlap` another player's arm at about the same time.
    """

    kind: ActKind
    seat: int
    hand: int | None = 0
    spot: str = "main"
    role: str = ""
    card: str | None = None
    face_up: bool = True
    sideways: bool = False
    chips: Stack = ()
    to: int = 0
    flow: Flow = "next"

    @property
    def by(self) -> Literal["dealer", "player"]:
        """Whose arm does it."""
        return "player" if self.kind in ("put", "cut", "pickup") else "dealer"


def _decisions(value: object, what: str) -> tuple[Decision, ...]:
    words: list[Any] = value.split() if isinstance(value, str) else [value]
    for w in words:
        if w not in _DECISIONS:
            raise UserError(f"{w!r} in '{what}' should be one of {', '.join(_DECISIONS)}, in one text")
    return tuple(words)


def _object(obj: object, what: str, keys: set[str]) -> Mapping[str, Any]:
    if not isinstance(obj, Mapping):
        raise UserError(f"{what} of the script should be a JSON object")
    unknown = sorted(set(obj) - keys)
    if unknown:
        raise UserError(
            f"{what} of the script has no key {unknown[0]!r}; there are {', '.join(sorted(keys))}"
        )
    return obj


def _by_seat(obj: object, what: str) -> list[tuple[int, Any]]:
    if not isinstance(obj, Mapping) or not all(str(s).isdigit() and int(s) > 0 for s in obj):
        raise UserError(f"'{what}' should be an object with seat numbers, 1 or more, as keys")
    return [(int(s), v) for s, v in obj.items()]


def _whole(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UserError(f"'{what}' should be a whole number, 0 or more, not {value!r}")
    return value


def _stack(value: object, what: str) -> Stack:
    if not isinstance(value, list):
        raise UserError(f"'{what}' should be a list of chips in cents, bottom to top")
    return tuple(_whole(c, what) for c in value)
