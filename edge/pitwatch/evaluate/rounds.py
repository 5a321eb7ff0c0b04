"""A scene measured as a video: its pictures held, through the whole pipeline, against the round's truth.

In: a scene with a round, eyes. Out: how many table events, hands and findings came out right, and the
milliseconds that the pipeline took a frame. A settled picture is held for a second (the last one for two), an
arm's for half a second, at 15 frames a second.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pitwatch.capture.frame import Frame
from pitwatch.errors import UserError
from pitwatch.evaluate.folders import Scene, ScenePicture, read_picture
from pitwatch.evaluate.truth_events import (
    EventComparison,
    TrueHand,
    compare_events,
    true_hands,
    truth_events,
)
from pitwatch.game.audit import SURE, Audit
from pitwatch.game.events import TableEvent
from pitwatch.game.findings import Finding, Unverified
from pitwatch.game.log import Header
from pitwatch.game.record import RoundRecord
from pitwatch.vision.watcher import Eyes, Watcher

__all__ = [
    "FPS",
    "RULES",
    "RoundFigures",
    "Run",
    "compare_findings",
    "frames_of",
    "judge_round",
    "run_pipeline",
    "video_length",
]

FPS = 15.0
RULES = "greektown"
_SETTLED_S, _ARM_S = 1.0, 0.5
_END_S = 1.0  # the camera runs on after a round: what was done last must not be cut off

# the truth's `wrong_payout` is any of these with the same seat, expected and observed
_SETTLEMENT = frozenset(
    {
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
        "surrender_wrong",
    }
)
_AMOUNTS = ("seat", "expected", "observed")


@dataclass(frozen=True)
class Run:
    """What came out of the pipeline. ms_per_frame: mean over the video's frames, None without any."""

    events: tuple[TableEvent, ...]
    findings: tuple[Finding, ...]
    unverified: tuple[Unverified, ...]
    rounds: tuple[RoundRecord, ...]
    ms_per_frame: float | None = None


@dataclass(frozen=True)
class RoundFigures:
    """The report's `round`, and in words what was wrong."""

    events_right: int
    events_truth: int
    transcript_right: bool
    findings_right: int
    findings_false: int
    findings_missed: int
    unverified: int
    events_extra: int
    mistakes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The object of the report line; events_extra: events made that are none of the truth's."""
        return {
            "events_right": self.events_right,
            "events_truth": self.events_truth,
            "transcript_right": self.transcript_right,
            "findings_right": self.findings_right,
            "findings_false": self.findings_false,
            "findings_missed": self.findings_missed,
            "unverified": self.unverified,
            "events_extra": self.events_extra,
        }


def frames_of(scene: Scene) -> Iterator[Frame]:
    """The scene as frames, each picture repeated for as long as it is held."""
    size = (scene.camera.width, scene.camera.height)
    index = 0
    for p in scene.pictures:
        image = read_picture(scene.folder, p.file, size)
        for _ in range(_held(scene, p)):
            yield Frame(index / FPS, image, index, name=p.file)
            index += 1


def video_length(scene: Scene) -> int:
    """How many frames `frames_of` gives."""
    return sum(_held(scene, p) for p in scene.pictures)


def _held(scene: Scene, p: ScenePicture) -> int:
    seconds = _SETTLED_S if p.arm is None else _ARM_S
    return round((seconds + (_END_S if p is scene.pictures[-1] else 0.0)) * FPS)


def run_pipeline(scene: Scene, eyes: Eyes, step: Callable[[], None] = lambda: None) -> Run:
    """Watch and audit the scene as a video. step: called after each frame."""
    watcher = Watcher(scene.camera, scene.layout, eyes)
    audit = Audit(Header(table=scene.name, rules=RULES, seats=scene.layout.n), sure=SURE)
    events: list[TableEvent] = []
    said: list[Finding | Unverified] = []
    spent, n = 0.0, 0
    for frame in frames_of(scene):
        begun = time.perf_counter()
        made = watcher.feed(frame)
        for e in made:
            said += audit.feed(e)
        spent, n = spent + time.perf_counter() - begun, n + 1
        events += made
        step()
    for e in watcher.flush():
        said += audit.feed(e)
        events.append(e)
    said += audit.finish()
    return Run(
        tuple(events),
        tuple(s for s in said if isinstance(s, Finding)),
        tuple(s for s in said if isinstance(s, Unverified)),
        tuple(audit.rounds_done),
        1000 * spent / n if n else None,
    )


def judge_round(scene: Scene, run: Run) -> RoundFigures:
    """Compare what came out with the scene's round.

    Raises UserError when the truth has an event of an unknown type.
    """
    assert scene.round is not None
    try:
        groups = truth_events(scene)
    except (ValueError, KeyError) as e:
        raise UserError(f"{scene.folder / 'truth.json'}: {e}; this version cannot compare it") from None
    events = compare_events(groups, run.events)
    wrong_hands = _wrong_hands(true_hands(scene.round, groups), tuple(scene.round["dealer"]), run.rounds)
    right, false, missed = compare_findings(scene.round["findings"], run.findings)
    return RoundFigures(
        events_right=events.right,
        events_truth=events.truth,
        transcript_right=not wrong_hands,
        findings_right=right,
        findings_false=len(false),
        findings_missed=len(missed),
        unverified=len(run.unverified),
        events_extra=len(events.extra),
        mistakes=(
            *_event_lines(events),
            *wrong_hands,
            *(f"finding missed: {json.dumps(f)}" for f in missed),
            *(f"finding false: {json.dumps(f.to_json())}" for f in false),
            *(f"unverified: {json.dumps(u.to_json())}" for u in run.unverified),
        ),
    )


def _event_lines(c: EventComparison) -> Iterator[str]:
    for word, events in (("missing", c.missing), ("extra", c.extra)):
        for e in events:
            yield f"event {word}: {json.dumps(e.to_json())}"


def _wrong_hands(
    truth: Sequence[TrueHand], dealer: tuple[str, ...], rounds: Sequence[RoundRecord]
) -> tuple[str, ...]:
    if len(rounds) != 1:
        return (f"transcript: {len(rounds)} rounds came to their end, not 1",)
    record = rounds[0]
    lines = []
    if record.dealer != dealer:
        lines.append(f"transcript: the dealer has {_cards(record.dealer)}, not {_cards(dealer)}")
    of = {(h.seat, h.hand): h for h in record.hands}
    for t in truth:
        h = of.pop((t.seat, t.hand), None)
        if h is None:
            lines.append(f"transcript: seat {t.seat} hand {t.hand} is missing")
            continue
        for name in ("cards", "wager", "doubled", "payout"):
            is_, should = getattr(h, name), getattr(t, name)
            if is_ != should:
                lines.append(f"transcript: seat {t.seat} hand {t.hand}: {name} {is_}, not {should}")
    lines += [f"transcript: seat {s} hand {n} is none of the truth's" for s, n in of]
    return tuple(lines)


def _cards(cards: Sequence[str | None]) -> str:
    return " ".join(c or "??" for c in cards)


def compare_findings(
    truth: Sequence[Mapping[str, Any]], made: Sequence[Finding]
) -> tuple[int, list[Finding], list[Mapping[str, Any]]]:
    """How many findings are right, which are false, which are missed; one to one.

    `wrong_payout` is any settlement kind with that seat, expected and observed; any other kind is itself, at
    its seat.
    """
    left = list(made)
    missed: list[Mapping[str, Any]] = []
    for t in truth:
        hit = next((f for f in left if _is_finding(t, f)), None)
        if hit is None:
            missed.append(t)
        else:
            left.remove(hit)
    return len(truth) - len(missed), left, missed


def _is_finding(t: Mapping[str, Any], f: Finding) -> bool:
    if t["kind"] == "wrong_payout":
        return f.kind in _SETTLEMENT and all(t[name] == getattr(f, name) for name in _AMOUNTS)
    return f.kind == t["kind"] and t.get("seat") in (None, f.seat)
