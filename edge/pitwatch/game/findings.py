"""What the audit says: findings, and what it could not verify.

In: seats, kinds, cents. Out: dataclasses and their JSON form, one object a line. `expected` and `observed`
are the player's net in cents for payouts and settlement (a loss negative), totals for the dealer's drawing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["KINDS", "Finding", "Severity", "Unverified"]

Severity = Literal["alert", "notice"]

_NOTICES = (
    "dealer_drew_needlessly",
    "card_face_wrong",
    "cards_touched",
    "peek_missed",
    "deal_order",
    "card_without_wager",
    "split_sequence",
    "wager_below_minimum",
    "wager_above_maximum",
    "bust_not_taken",
    "blackjack_paid_late",
    "card_impossible",
    "burn_missing",
)
_ALERTS = (
    "dealer_drew_over",
    "dealer_stood_short",
    "hole_exposed_early",
    "seat_not_dealt",
    "card_to_finished_hand",
    "card_against_signal",
    "wager_late",
    "wager_raised",
    "wager_cut",
    "live_hand_taken",
    "double_not_allowed",
    "double_too_large",
    "split_not_allowed",
    "split_wager_mismatch",
    "insurance_not_allowed",
    "insurance_late",
    "insurance_too_large",
    "side_bet_late",
    "side_bet_without_wager",
    "winner_not_paid",
    "winner_taken",
    "paid_short",
    "paid_over",
    "taken_over",
    "push_paid",
    "push_taken",
    "loser_paid",
    "loser_not_taken",
    "blackjack_paid_early",
    "insurance_not_taken",
    "insurance_paid_short",
    "insurance_paid_over",
    "insurance_loser_paid",
    "side_bet_not_taken",
    "side_bet_paid_short",
    "side_bet_paid_over",
    "side_bet_loser_paid",
    "surrender_not_allowed",
    "surrender_wrong",
)

KINDS: dict[str, Severity] = {**dict.fromkeys(_ALERTS, "alert"), **dict.fromkeys(_NOTICES, "notice")}


@dataclass(frozen=True)
class Finding:
    """One mistake, certain.

    t: seconds, when it became certain. seat 0 is the dealer. rule: `profile.rule`, whose sentence the profile
    quotes. evidence: frame references, before, during and after. reason: which of several causes, where a
    kind has several.
    """

    t: float
    kind: str
    seat: int
    text: str
    hand: int = 0
    expected: int | None = None
    observed: int | None = None
    severity: Severity = "alert"
    rule: str = ""
    confidence: float = 1.0
    reason: str | None = None
    evidence: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The finding as a JSON object; `expected`, `observed`, `reason` and `evidence` only where known."""
        out: dict[str, Any] = {
            "type": "finding",
            "t": self.t,
            "kind": self.kind,
            "seat": self.seat,
            "hand": self.hand,
        }
        for name in ("expected", "observed", "reason"):
            if getattr(self, name) is not None:
                out[name] = getattr(self, name)
        out |= {"severity": self.severity, "rule": self.rule, "confidence": round(self.confidence, 4)}
        out["text"] = self.text
        if self.evidence:
            out["evidence"] = list(self.evidence)
        return out


@dataclass(frozen=True)
class Unverified:
    """What could not be judged on one hand, and why."""

    t: float
    seat: int
    hand: int
    why: str

    def to_json(self) -> dict[str, Any]:
        """The remark as a JSON object."""
        return {"type": "unverified", "t": self.t, "seat": self.seat, "hand": self.hand, "why": self.why}
