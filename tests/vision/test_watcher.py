"""The whole way from frames to table events, on painted frames and with eyes that see the scene."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import (
    CAMERA,
    LAYOUT,
    Faults,
    NoisyEyes,
    Story,
    both,
    brief,
    chips,
    film,
    laid,
    minus,
    painter,
    plus,
    watch,
)

from pitwatch.capture.frame import Frame
from pitwatch.sim.scene import ArmPose, Scene
from pitwatch.vision.looks import CardSeen, Look
from pitwatch.vision.watcher import Watcher

ROUGH = Faults(misread=0, chips_unclear=0)
WAGER = chips(2500, 500, seat=3)
SPOT = LAYOUT.spots[2]
CARDS = LAYOUT.at(3, 150.0)


def a_round() -> Story:
    first, second, third = laid("As", 3), laid("7d", 3, 1), laid("9c", 3, 2, across=True)
    up, hole = laid("Kh", 0), laid("6c", 0, 1, up=False)
    double, pay = chips(2500, 500, seat=3, inward=-47), chips(2500, 2500, 500, 500, seat=3, inward=47)
    return (
        Story()
        .rest(1.0)
        .reach(3, SPOT, plus(WAGER))
        .reach(0, CARDS, plus(first))
        .reach(0, (45, 190), plus(up))
        .reach(0, CARDS, plus(second))
        .reach(0, (-33, 190), plus(hole))
        .reach(3, SPOT, plus(double))
        .reach(0, CARDS, plus(third))
        .reach(0, (-33, 190), both(minus(hole), plus(replace(hole, face_up=True))))
        .reach(0, SPOT, plus(pay))
        .reach(3, SPOT, minus(WAGER, double, pay))
        .reach(0, CARDS, minus(first, second, third))
        .reach(0, (0, 190), minus(up, replace(hole, face_up=True)))
    )


A_ROUND = [
    "3 main 3000",
    "3 As",
    "0 Kh",
    "3 7d",
    "0 down",
    "3 main 6000",
    "3 9c across",
    "turn 6c",
    "3 main 12000",
    "3 main 0",
    "clear 3",
    "clear 0",
]


def test_a_round_comes_out_as_it_was_played():
    events, _ = watch(a_round())
    assert brief(events) == A_ROUND
    assert [e.by for e in events] == ["player", *["dealer"] * 4, "player", *["dealer"] * 3, "player"] + [
        "dealer"
    ] * 2
    assert [e.t for e in events] == sorted(e.t for e in events)
    # at rest when the arm has left the place: after 1.0 s, 0.8 s of arm and 0.9 s of rest each
    assert [e.t for e in events[:3]] == pytest.approx([1.65, 3.35, 5.05], abs=0.25)


def test_a_round_comes_out_alike_for_rough_eyes():
    events, watcher = watch(a_round(), ROUGH, seed=4)
    assert brief(events) == A_ROUND
    # a few looks for each of two dozen reaches of an arm, never one for every zone and picture
    assert watcher.looks < 600


def test_what_happens_is_told_within_a_second():
    watcher = Watcher(CAMERA, LAYOUT, NoisyEyes(story := a_round(), painter()))
    late = [f.t - e.t for f in film(story, 8.0) for e in watcher.feed(f)]
    assert len(late) >= 4
    assert max(late) <= 1.1


def test_touching_changes_nothing():
    story = Story(WAGER, laid("As", 3)).rest(1.0).reach(3, SPOT, stay=0.6).reach(0, CARDS, stay=0.6)
    events, _ = watch(story, ROUGH, seed=1)
    assert sorted(brief(events)) == ["3 As", "3 main 3000"]


def test_the_same_frames_give_the_same_events():
    frames = list(film(story := a_round(), 5.6))
    runs = []
    for _ in range(2):
        watcher = Watcher(CAMERA, LAYOUT, NoisyEyes(story, painter(), ROUGH, 7))
        runs.append([e for f in frames for e in watcher.feed(f)] + watcher.flush())
    assert runs[0] == runs[1]
    assert brief(runs[0]) == A_ROUND[:3]


def test_a_resting_hand_holds_the_event_back():
    story = Story().rest(1.0).reach(3, SPOT, plus(WAGER), stay=3.0)
    events, _ = watch(story)
    assert brief(events) == ["3 main 3000"]
    assert events[0].t > 4.0
    assert events[0].by == "player"


def test_no_side_is_named_when_both_had_a_hand_there():
    beside = ArmPose("dealer", -60.0, -10.0, SPOT[0] + 20, SPOT[1] - 90)
    story = Story().rest(1.0).reach(3, SPOT, plus(WAGER), also=(beside,))
    events, _ = watch(story)
    assert brief(events) == ["3 main 3000"]
    assert events[0].by is None


def test_after_a_long_disturbance_what_lies_clear_is_confirmed_and_nothing_removed():
    old = laid("As", 3)
    story = Story(old).rest(1.0)
    story.reach(0, CARDS, both(minus(old), plus(laid("7d", 3, 3))), then=0.0)
    for _ in range(16):  # somebody fidgets at the chips all the time
        story.reach(0, LAYOUT.at(3, 60.0, 60.0), stay=0.0, then=0.0)
    long = story.t
    story.rest(1.5)
    watcher = Watcher(CAMERA, LAYOUT, NoisyEyes(story, painter()))
    events = [(f.t, e) for f in film(story, story.t) for e in watcher.feed(f)]
    during = brief(e for t, e in events if t < long)
    assert during == ["3 As", "3 7d"]
    assert not any(b.startswith(("gone", "clear")) for b in during)


class Faulty(NoisyEyes):
    """Eyes with one given fault: `edit` may change a look; it is told how many it has had at that zone."""

    def __init__(self, story: Story, edit) -> None:  # type: ignore[no-untyped-def]
        super().__init__(story, painter())
        self._edit, self._n = edit, {}

    def look(self, frame: Frame, zone) -> Look:  # type: ignore[no-untyped-def]
        self._n[zone.name] = self._n.get(zone.name, 0) + 1
        return self._edit(super().look(frame, zone), self._n[zone.name])


def with_fault(story: Story, edit) -> list[str]:  # type: ignore[no-untyped-def]
    return brief(watch(story, eyes=Faulty(story, edit))[0])


def quiet_touches() -> Story:
    story = Story(laid("As", 3), laid("7d", 3, 1), laid("Kh", 0), WAGER).rest(1.5)
    for _ in range(2):
        story.reach(0, CARDS, then=0.0).reach(0, (45, 190), then=1.0).reach(0, SPOT, then=0.9)
    return story


STANDING = ["0 Kh", "3 7d", "3 As", "3 main 3000"]


def test_a_card_or_stack_missed_in_one_look_stays():
    for nth in (3, 4, 5):
        said = with_fault(
            quiet_touches(), lambda k, n, nth=nth: k if n != nth else replace(k, cards=(), stacks=())
        )
        assert sorted(said) == STANDING


def test_a_card_never_seen_again_stays_while_its_place_looks_as_it_did():
    def edit(look: Look, n: int) -> Look:
        return look if n < 3 else replace(look, cards=tuple(c for c in look.cards if c.best != "7d"))

    assert sorted(with_fault(quiet_touches(), edit)) == STANDING


def test_a_card_invented_in_one_look_is_none():
    def edit(look: Look, n: int) -> Look:
        if n not in (1, 4):
            return look
        ghost = CardSeen(
            look.zone.x + 40, look.zone.y - 60, 20.0, True, 0.9, (-2.56,) * 13, (-1.39,) * 4, 0.5
        )
        return replace(look, cards=(*look.cards, ghost))

    assert sorted(with_fault(quiet_touches(), edit)) == STANDING


def test_a_card_over_cards_that_show_what_it_would_hide_is_none():
    def edit(look: Look, n: int) -> Look:
        under = [c for c in look.cards if c.best == "As"]
        if n < 3 or not under:
            return look
        ghost = replace(
            under[0], x=under[0].x + 14, y=under[0].y - 12, rank_logp=(-2.56,) * 13, suit_logp=(-1.39,) * 4
        )
        return replace(look, cards=(*look.cards, replace(ghost, unread=0.9, visible=0.5, score=0.8)))

    assert sorted(with_fault(quiet_touches().rest(5.0), edit)) == STANDING


def test_a_changed_opinion_on_unmoved_chips_is_none():
    def edit(look: Look, n: int) -> Look:
        if n < 4:
            return look
        return replace(look, stacks=tuple(replace(s, values=((5500, 0.97),)) for s in look.stacks))

    assert sorted(with_fault(quiet_touches(), edit)) == STANDING


def test_a_card_seen_from_two_zones_is_one():
    between = replace(laid("Qd", 0), x=-33.0 + 130.0)
    story = Story(between).rest(1.5).reach(0, (97, 190)).reach(0, (0, 300))
    assert brief(watch(story, ROUGH, seed=3)[0]) == ["0 Qd"]


def test_the_reading_at_the_deal_outlives_what_is_made_of_a_covered_card():
    def edit(look: Look, n: int) -> Look:
        wrong = [-8.0] * 13
        wrong[12] = -0.02
        cards = (replace(c, rank_logp=tuple(wrong), unread=0.1) if c.visible < 0.8 else c for c in look.cards)
        return replace(look, cards=tuple(cards))

    story = Story(laid("As", 3)).rest(1.2).reach(0, CARDS, plus(laid("7d", 3, 1))).reach(0, CARDS)
    events, watcher = watch(story, eyes=Faulty(story, edit))
    assert brief(events) == ["3 As", "3 7d"]
    assert [c.card for c in watcher.snapshot().cards] == ["As", "7d"]


def test_a_rank_without_its_suit_and_a_card_without_either():
    def edit(look: Look, n: int) -> Look:
        cards = tuple(
            replace(c, suit_logp=(-1.39,) * 4) if c.best[0] == "A" else replace(c, unread=0.7)
            for c in look.cards
        )
        return replace(look, cards=cards)

    story = Story(laid("As", 3), laid("7d", 4)).rest(2.0)
    assert sorted(with_fault(story, edit)) == ["3 A?", "4 None"]


def test_an_unclear_amount_is_said_again_once_it_is_read():
    def edit(look: Look, n: int) -> Look:
        if n > 6:
            return look
        return replace(look, stacks=tuple(replace(s, values=((3000, 0.4), (2500, 0.3))) for s in look.stacks))

    story = Story(WAGER).rest(2.0).reach(0, SPOT)
    said = with_fault(story, edit)
    assert said == ["3 main None", "3 main 3000"]


def test_chips_outside_every_spot_say_nothing_but_are_known():
    story = Story(chips(500, 500, 500, seat=2, inward=-120)).rest(1.5)
    events, watcher = watch(story)
    assert events == []
    assert [(s.amount, s.spot) for s in watcher.snapshot().stacks] == [(1500, None)]


def test_events_of_two_zones_come_in_the_order_of_rest():
    # both change in the same breath: seat 2 comes to rest first, but a hand lingers near by it
    a, b = laid("As", 2), laid("7d", 5)
    story = Story().rest(1.0).reach(0, LAYOUT.at(2, 150), plus(a), then=0.0)
    story.reach(0, LAYOUT.at(5, 150), plus(b), then=1.5)
    assert brief(watch(story, ROUGH, seed=2)[0]) == ["2 As", "5 7d"]


def test_a_sweep_takes_all_at_once():
    stacks = [chips(500, seat=s) for s in (1, 2, 3)]
    story = Story(*stacks).rest(1.5)
    story.change(minus(*stacks)).reach(0, (0, 300), then=1.5)
    events, _ = watch(story)
    taken = [e for e in events if brief([e])[0].endswith(" 0")]
    assert sorted(brief(taken)) == ["1 main 0", "2 main 0", "3 main 0"]
    assert len({e.t for e in taken}) == 1


def test_the_evidence_shows_before_during_and_after():
    kept = []

    def keep(t, role, image, zone):  # type: ignore[no-untyped-def]
        kept.append((round(t, 2), role, image.shape, zone.name))
        return f"{role}-{len(kept)}"

    story = Story().rest(1.0).reach(3, SPOT, plus(WAGER))
    events, _ = watch(story, keep=keep)
    assert events[0].evidence == ("before-1", "during-2", "after-3")
    assert [k[1] for k in kept] == ["before", "during", "after"]
    assert kept[0][0] < kept[1][0] < events[0].t <= kept[2][0]
    assert all(k[3] == "seat-3-chips" and min(k[2][:2]) > 60 for k in kept)


def test_a_snapshot_shows_arms_and_zones():
    story = Story(laid("As", 3), WAGER).rest(1.5).reach(0, CARDS, stay=1.0)
    watcher = Watcher(CAMERA, LAYOUT, NoisyEyes(story, painter()))
    for frame in film(story, 2.3):
        watcher.feed(frame)
    shot = watcher.snapshot()
    assert [(c.card, c.seat, c.hand) for c in shot.cards] == [("As", 3, 0)]
    assert [(s.amount, s.seat, s.spot) for s in shot.stacks] == [(3000, 3, "main")]
    assert [a.side for a in shot.arms] == ["dealer"]
    assert len(shot.arms[0].outline) > 8
    states = {z.name: z.state for z in shot.zones}
    assert states["seat-3-cards"] == "disturbed"
    assert states["seat-6-chips"] == "quiet"


def test_the_peek_is_seen_and_a_hand_beside_is_none():
    up, hole = laid("Ad", 0), laid("6c", 0, 1, up=False)
    bent = replace(hole, lift=28.0)
    hand = ArmPose("dealer", -30.0, -10.0, -33.0, 135.0)
    story = Story(up, hole).rest(1.2).hold(1.0, hand).rest(1.2)
    story.hold(0.4, hand).change(both(minus(hole), plus(bent))).hold(0.6, hand)
    story.change(both(minus(bent), plus(hole))).hold(0.4, hand).rest(1.2)
    events, _ = watch(story)
    assert sorted(brief(events[:2])) == ["0 Ad", "0 down"]
    assert brief(events[2:]) == ["peek"]
    assert events[2].t > 3.0


def test_frames_must_fit_the_camera_and_the_clock():
    watcher = Watcher(CAMERA, LAYOUT, NoisyEyes(lambda _: Scene(0.0), painter()))
    image = painter().paint(Scene(0.0))
    watcher.feed(Frame(1.0, image, 0))
    with pytest.raises(ValueError, match="came after"):
        watcher.feed(Frame(0.5, image, 1))
    with pytest.raises(ValueError, match="320 x 180"):
        watcher.feed(Frame(1.1, image[::2, ::2], 2))
