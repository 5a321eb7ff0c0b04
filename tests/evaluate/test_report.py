"""One line of JSON a folder, with every key, and a picture of every mistake."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import pytest

from pitwatch.capture.frame import Frame
from pitwatch.errors import UserError
from pitwatch.evaluate import run_eval
from pitwatch.evaluate.folders import Scene
from pitwatch.evaluate.rounds import Run, compare_findings, frames_of, judge_round, video_length
from pitwatch.evaluate.truth_events import true_hands, truth_events
from pitwatch.game.findings import Finding
from pitwatch.game.record import HandRecord, RoundRecord
from pitwatch.vision.looks import Look, Zone

Eyes = Callable[[Scene], Any]


def test_a_scene_seen_rightly(round_folder: Path, scene: Scene, truth_eyes: Eyes) -> None:
    said: list[str] = []
    assert run_eval([round_folder], None, said.append, lambda camera: truth_eyes(scene)) == 0
    (line,) = said
    out = json.loads(line)
    assert list(out)[:5] == ["set", "cards", "stacks", "round", "ms_per_frame"]
    assert out["set"] == "round-t"
    cards = out["cards"]
    # 1 to 5 cards as they come, then six closed, six open, and seven in three pictures
    assert cards["truth"] == 15 + 6 + 6 + 3 * 7
    assert cards["found"] == cards["rank_right"] == cards["card_right"] == cards["truth"]
    assert (cards["unread"], cards["false"]) == (0, 0)
    assert cards["clear_truth"] == cards["clear_right"] < cards["truth"]
    # seven cards, of which the hole card lay there twice: closed and open
    assert cards["distinct"] == 8
    assert out["stacks"]["truth"] == out["stacks"]["value_right"] == 9 * 2 + 1 + 2
    # the whole pipeline, from pictures to the finding
    assert out["round"] == {
        "events_right": 16,
        "events_truth": 16,
        "transcript_right": True,
        "findings_right": 1,
        "findings_false": 0,
        "findings_missed": 0,
        "unverified": 0,
        "events_extra": 0,
    }
    assert out["ms_per_picture"] > 0
    assert out["ms_per_frame"] is not None


class Misreading:
    """Takes every ten for a jack, misses the clubs and sees a card where there is none."""

    def __init__(self, eyes: Any, see: Callable[..., Any]) -> None:
        self.eyes, self.see = eyes, see

    def look(self, frame: Frame, zone: Zone) -> Look:
        look = self.eyes.look(frame, zone)
        cards = []
        for c in look.cards:
            if c.best == "Ts":
                cards.append(self.see("Js", c.x, c.y, c.yaw))
            elif c.best is None or c.best[1] != "c":
                cards.append(c)
        if zone.holds(0, 420):
            cards.append(self.see("2h", 0, 420))
        stacks = tuple(replace(s, count=s.count + 1, values=()) for s in look.stacks)
        return replace(look, cards=tuple(cards), stacks=stacks)


def test_mistakes_are_counted_and_drawn(
    tmp_path: Path,
    scene_writer: Callable[..., Path],
    scene: Scene,
    truth_eyes: Eyes,
    card_seen: Callable[..., Any],
) -> None:
    full = json.loads((scene.folder / "truth.json").read_text())["frames"][-2]
    folder = scene_writer([{**full, "event": {"type": "still"}}], None, "still")
    said: list[str] = []
    eyes = Misreading(truth_eyes(scene), card_seen)
    run_eval([folder], tmp_path / "errors", said.append, lambda camera: eyes)
    out = json.loads(said[0])
    assert out["round"] is None
    names = ("truth", "found", "rank_right", "card_right", "unread", "false")
    assert [out["cards"][k] for k in names] == [7, 5, 4, 4, 0, 1]
    assert [out["stacks"][k] for k in ("truth", "found", "count_right", "value_right")] == [2, 2, 0, 0]
    drawn = sorted(p.name.rsplit("-", 1)[0] for p in (tmp_path / "errors" / "still").iterdir())
    stem = Path(full["file"]).stem
    assert drawn == [
        *[f"{stem}-card-false"],
        *[f"{stem}-card-missed"] * 2,
        f"{stem}-card-wrong",
        *[f"{stem}-stack-count"] * 2,
    ]
    for p in (tmp_path / "errors" / "still").iterdir():
        image = cv2.imread(str(p))
        assert image is not None
        assert image.std() > 5


def test_errors_that_cannot_be_written(
    tmp_path: Path, round_folder: Path, scene: Scene, truth_eyes: Eyes
) -> None:
    (tmp_path / "file").write_text("")

    class Blind:
        def look(self, frame: Frame, zone: Zone) -> Look:
            return Look(frame.t, zone)

    with pytest.raises(UserError, match="name another folder for the errors"):
        run_eval([round_folder], tmp_path / "file", print, lambda camera: Blind())


def test_pictures_are_held_as_a_video(scene: Scene) -> None:
    frames = list(frames_of(scene))
    settled = sum(p.arm is None for p in scene.pictures)
    arms = len(scene.pictures) - settled
    # a second, half a second, and one more at the end
    assert len(frames) == video_length(scene) == settled * 15 + arms * 8 + 15
    assert [f.index for f in frames] == list(range(len(frames)))
    assert frames[15].t == pytest.approx(1.0)
    assert not any(f.settled for f in frames)
    assert [f.name for f in frames[::15]][:3] == ["000.jpg", "001.jpg", "002.jpg"]


def perfect(scene: Scene) -> Run:
    """What a faultless pipeline would give."""
    assert scene.round is not None
    groups = truth_events(scene)
    hands = tuple(
        HandRecord(t.seat, t.hand, t.cards, t.wager, t.doubled, t.wager, t.payout)
        for t in true_hands(scene.round, groups)
    )
    record = RoundRecord(1, 0.0, 9.0, hands, ("6h", "Kc", "2c"))
    found = Finding(11.0, "paid_short", 1, "Seat 1 was paid $45.", expected=5000, observed=4500)
    return Run(tuple(e for g in groups for e in g.events), (found,), (), (record,), 4.0)


def test_a_round_without_a_mistake(scene: Scene) -> None:
    figures = judge_round(scene, perfect(scene))
    assert figures.mistakes == ()
    assert figures.to_json() == {
        "events_right": 16,
        "events_truth": 16,
        "transcript_right": True,
        "findings_right": 1,
        "findings_false": 0,
        "findings_missed": 0,
        "unverified": 0,
        "events_extra": 0,
    }


def test_a_transcript_is_wrong_when_one_thing_is(scene: Scene) -> None:
    run = perfect(scene)
    (record,) = run.rounds
    first, second = record.hands
    wrongs = [
        replace(record, dealer=("6h", "Kc")),
        replace(record, hands=(first,)),
        replace(record, hands=(first, second, replace(second, seat=2))),
        replace(record, hands=(replace(first, cards=("Ts", None)), second)),
        replace(record, hands=(replace(first, wager=None), second)),
        replace(record, hands=(replace(first, doubled=True), second)),
        replace(record, hands=(replace(first, payout=5000), second)),
    ]
    for rounds in [(), (record, record), *((w,) for w in wrongs)]:
        figures = judge_round(scene, replace(run, rounds=rounds))
        assert not figures.transcript_right
        assert len([m for m in figures.mistakes if m.startswith("transcript")]) == 1


@pytest.mark.parametrize(
    ("truth", "made", "right", "false", "missed"),
    [
        ({"kind": "wrong_payout", "seat": 1, "expected": 0, "observed": -1000}, "push_taken", 1, 0, 0),
        ({"kind": "wrong_payout", "seat": 1, "expected": 0, "observed": -1000}, "wager_cut", 0, 1, 1),
        ({"kind": "wrong_payout", "seat": 2, "expected": 0, "observed": -1000}, "push_taken", 0, 1, 1),
        ({"kind": "wrong_payout", "seat": 1, "expected": 0, "observed": -900}, "push_taken", 0, 1, 1),
        (
            {"kind": "dealer_drew_over", "seat": 1, "expected": 18, "observed": 20},
            "dealer_drew_over",
            1,
            0,
            0,
        ),
        ({"kind": "dealer_drew_over", "seat": None}, "dealer_stood_short", 0, 1, 1),
    ],
)
def test_findings(truth: dict[str, Any], made: str, right: int, false: int, missed: int) -> None:
    finding = Finding(1.0, made, 1, "It was so.", expected=0, observed=-1000)
    r, f, m = compare_findings([truth], [finding])
    assert (r, len(f), len(m)) == (right, false, missed)


def test_one_finding_answers_one_mistake() -> None:
    truth = {"kind": "wrong_payout", "seat": 1, "expected": 0, "observed": -1000}
    finding = Finding(1.0, "push_taken", 1, "It was so.", expected=0, observed=-1000)
    r, f, m = compare_findings([truth, truth], [finding, replace(finding, seat=2)])
    assert (r, len(f), len(m)) == (1, 1, 1)
