"""What really happened at the simulated table, and how well somebody saw it.

In: the truth of a staged script; findings and rounds that were made from its pictures, as JSON objects.
Out: a `Score`. Money is integer cents, t seconds. Whoever makes findings never sees this.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pitwatch.game.events import TableEvent

__all__ = ["Score", "Truth", "TruthFinding", "TruthHand", "TruthRound", "compare"]

_SETTLEMENT = frozenset(
    (
        "winner_not_paid",
        "winner_taken",
        "paid_short",
        "paid_over",
        "taken_over",
        "push_paid",
        "push_taken",
        "loser_paid",
        "loser_not_taken",
        "insurance_paid_short",
        "insurance_paid_over",
        "insurance_loser_paid",
    )
)


@dataclass(frozen=True)
class TruthFinding:
    """A staged mistake, as the audit should report it; expected, observed None: not compared."""

    round: int
    t: float
    kind: str
    seat: int
    hand: int
    expected: int | None
    observed: int | None

    def matches(self, found: Mapping[str, Any]) -> bool:
        """Whether a finding of the same round says this."""
        if found.get("seat") != self.seat:
            return False
        if found.get("kind") == self.kind:
            return True
        both = self.kind in _SETTLEMENT and found.get("kind") in _SETTLEMENT
        return both and (found.get("expected"), found.get("observed")) == (self.expected, self.observed)


@dataclass(frozen=True)
class TruthHand:
    """One hand as it ended. wager: at the first card. stake: when it was settled. payout: the net it got."""

    seat: int
    hand: int
    cards: tuple[str, ...]
    wager: int
    doubled: bool
    stake: int
    payout: int | None
    outcome: str


@dataclass(frozen=True)
class TruthRound:
    """One round. insurance: (seat, placed, net) in cents."""

    number: int
    t_start: float
    t_end: float
    hands: tuple[TruthHand, ...]
    dealer: tuple[str, ...]
    insurance: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True)
class Truth:
    """The truth of a script. header: as of a table-event file. events: with t at which things lie at rest."""

    header: Mapping[str, Any]
    duration: float
    events: tuple[TableEvent, ...]
    findings: tuple[TruthFinding, ...]
    rounds: tuple[TruthRound, ...]

    def to_json(self) -> dict[str, Any]:
        """One JSON object with everything."""
        return {
            "header": dict(self.header),
            "duration": round(self.duration, 3),
            "events": [e.to_json() for e in self.events],
            "findings": [asdict(f) for f in self.findings],
            "rounds": [json.loads(json.dumps(asdict(r))) for r in self.rounds],
        }

    def write_log(self, path: str | Path) -> None:
        """Write the events as a table-event file that `pitwatch audit` reads."""
        with Path(path).open("w", encoding="utf-8") as out:
            for obj in (self.header, *(e.to_json() for e in self.events)):
                out.write(json.dumps(obj) + "\n")

    def round_at(self, t: float) -> int | None:
        """The number of the round to which something at time t belongs."""
        begun = [r.number for r in self.rounds if r.t_start <= t]
        if begun:
            return begun[-1]
        return self.rounds[0].number if self.rounds else None


@dataclass(frozen=True)
class Score:
    """How well the table was watched.

    rounds, staged, hands: what there was. found: staged mistakes that were found. false: findings of nothing.
    unverified: hands on which nothing was said for certain, unseen ones included. hands_right, rounds_right:
    transcripts that agree in cards, wager, double and payment. cards, cards_right: laid cards, and those that
    the transcripts have in their place.
    """

    rounds: int
    staged: int
    found: int
    false: int
    hands: int
    unverified: int
    hands_right: int
    rounds_right: int
    cards: int
    cards_right: int
    missed: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The score as one JSON object."""
        return asdict(self) | {"missed": list(self.missed), "invented": list(self.invented)}


def compare(truth: Truth, found: Iterable[Mapping[str, Any]], rounds: Iterable[Mapping[str, Any]]) -> Score:
    """Compare with the truth what was found.

    found: findings and unverified remarks as their `to_json` has them. rounds: `RoundRecord.to_json` objects.
    A finding counts for a staged mistake when it names the same round and seat and the same kind, or any
    settlement kind with the same expected and observed. One finding counts for one mistake.
    """
    open_: list[TruthFinding] = list(truth.findings)
    invented: list[str] = []
    unsure: set[tuple[int | None, int, int]] = set()
    for f in sorted(found, key=lambda f: float(f["t"])):
        number = truth.round_at(float(f["t"]))
        if f.get("type") == "unverified":
            unsure.add((number, int(f["seat"]), int(f.get("hand", 0))))
            continue
        hit = next((w for w in open_ if w.round == number and w.matches(f)), None)
        if hit is not None:
            open_.remove(hit)
        else:
            invented.append(f"round {number}: {f.get('kind')} at seat {f.get('seat')}")
    seen = {truth.round_at(float(r["t_start"])): r for r in rounds}
    hands = hands_right = rounds_right = judged = cards = cards_right = 0
    for r in truth.rounds:
        record = seen.get(r.number)
        theirs = {(h["seat"], h["hand"]): h for h in record["hands"]} if record else {}
        all_right = record is not None
        for h in r.hands:
            if not h.cards:
                continue
            hands += 1
            mine = theirs.get((h.seat, h.hand))
            if mine is not None and (r.number, h.seat, h.hand) not in unsure:
                judged += 1
            right = mine is not None and _same(h, mine)
            hands_right += right
            all_right = all_right and right
            cards += len(h.cards)
            cards_right += _agree(h.cards, mine["cards"] if mine else ())
        dealer = tuple(record["dealer"]) if record else ()
        cards += len(r.dealer)
        cards_right += _agree(r.dealer, dealer)
        rounds_right += all_right and dealer == r.dealer
    return Score(
        rounds=len(truth.rounds),
        staged=len(truth.findings),
        found=len(truth.findings) - len(open_),
        false=len(invented),
        hands=hands,
        unverified=hands - judged,
        hands_right=hands_right,
        rounds_right=rounds_right,
        cards=cards,
        cards_right=cards_right,
        missed=tuple(f"round {f.round}: {f.kind} at seat {f.seat}" for f in open_),
        invented=tuple(invented),
    )


def _same(hand: TruthHand, mine: Mapping[str, Any]) -> bool:
    return (list(hand.cards), hand.wager, hand.doubled, hand.payout) == (
        list(mine["cards"]),
        mine["wager"],
        mine["doubled"],
        mine["payout"],
    )


def _agree(truth: Iterable[str], mine: Iterable[str | None]) -> int:
    return sum(a == b for a, b in zip(truth, mine, strict=False))
