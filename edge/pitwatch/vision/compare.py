"""What is different in a zone at rest: fresh looks against the cards and stacks known to lie there.

In: tracks, and the looks of one zone since it came to rest. Out: a plan that says which track was seen again,
turned or moved, which is gone, and what is new. Nothing is changed here. Units: mm, degrees, table frame.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pitwatch.table.layout import Layout
from pitwatch.vision.felt import Evidence, Felt
from pitwatch.vision.fuse import CardGroup, StackGroup, card_groups, stack_groups, verdict
from pitwatch.vision.motion import Foot, Image, Mask, TopView, share_changed
from pitwatch.vision.tracks import CardTrack, StackTrack, card_outline, overlap, stack_outline, yaw_between
from pitwatch.vision.zonestate import ZoneLook

__all__ = ["CardPlan", "Scale", "StackPlan", "compare_cards", "compare_stacks", "turned_plainly"]

_TURN_MM = 60.0
_SHIFT_MM = 150.0
_MOVE_MM = 300.0
_NUDGE_MM = 60.0
_STACK_MM = 16.0
_SAME_MM, _SAME_YAW = 14.0, 20.0
_SLIP = 0.15  # less than this share of a place changed: a new opinion, not a new thing
_PLAIN = 0.95  # score and probability of a face that nobody takes for a back
_CONFLICT = 1.2  # log-odds for another card
_ALIKE = -1.5  # log-odds for the same card
_HIDES = 0.25  # a card laid over this share of another, or more, must be seen to hide it


@dataclass(frozen=True)
class Scale:
    """What a comparison needs to know besides looks and tracks.

    judges: whether the zones that were looked at may judge a place, mm. changed: share of a place (its cells
    under a mask) that looks otherwise than at the last comparison, 1 without one. need: looks that must
    agree.
    """

    view: TopView
    felt: Felt
    layout: Layout
    judges: Callable[[float, float], bool]
    changed: Callable[[Foot, Image, Mask], float]
    agree_mm: float
    need: int


@dataclass
class CardPlan:
    """What became of the cards.

    unresolved: another look may tell more. suspects: seen, though nothing changed there since the last
    comparison. doubted: seen over cards that show what it would hide. missing: judged, unseen, its place
    neither felt nor covered nor as it was.
    """

    seen: list[tuple[CardTrack, CardGroup]] = field(default_factory=list)
    turned: list[tuple[CardTrack, CardGroup]] = field(default_factory=list)
    moved: list[tuple[CardTrack, CardGroup]] = field(default_factory=list)
    added: list[CardGroup] = field(default_factory=list)
    suspects: list[CardGroup] = field(default_factory=list)
    doubted: list[CardGroup] = field(default_factory=list)
    gone: list[CardTrack] = field(default_factory=list)
    missing: list[CardTrack] = field(default_factory=list)
    unresolved: bool = False


@dataclass
class StackPlan:
    """What became of the stacks; as for cards."""

    seen: list[tuple[StackTrack, StackGroup]] = field(default_factory=list)
    added: list[StackGroup] = field(default_factory=list)
    suspects: list[StackGroup] = field(default_factory=list)
    gone: list[StackTrack] = field(default_factory=list)
    missing: list[StackTrack] = field(default_factory=list)
    unresolved: bool = False


def compare_cards(tracks: Sequence[CardTrack], zlooks: Sequence[ZoneLook], s: Scale) -> CardPlan:
    """Explain the looks by what became of the known cards. tracks: all that lie on the table."""
    plan = CardPlan()
    n = len(zlooks)
    top = zlooks[-1].view.top
    covers = [_covers(z, s) for z in zlooks]
    groups = card_groups([z.look for z in zlooks])
    lost, fresh = _same_place(tracks, groups, plan, top, s)
    sure = []
    for g in fresh:
        # what lies in another zone's place is that zone's to explain
        there = verdict(g, n, s.agree_mm, s.need) if s.judges(g.x, g.y) else False
        if there is None:
            plan.unresolved = True
        elif there:
            sure.append(g)
    evidence = {t.id: [_card_evidence(t, z, c, s) for z, c in zip(zlooks, covers, strict=True)] for t in lost}
    _turns(lost, sure, plan)
    _shifts(lost, sure, evidence, plan)
    _moves(lost, sure, evidence, plan, s)
    _loosely(lost, sure, plan)
    for t in lost:
        if not s.judges(t.x, t.y):
            continue
        says = evidence[t.id]
        if says.count("felt") >= s.need or _uncovered(t, plan):
            plan.gone.append(t)
        elif says[-1] == "felt":
            plan.unresolved = True
        elif says[-1] == "unclear":
            plan.missing.append(t)
    known = [t for t in tracks if t not in plan.gone and (t not in lost or not t.face_up)]
    for g in sure:
        if any(math.hypot(t.x - g.x, t.y - g.y) < 12 and yaw_between(t.yaw, g.yaw) < 20 for t in known):
            continue
        foot = s.view.foot(card_outline(g.x, g.y, g.yaw, -4.0))
        free = _above(g, groups, foot, s)
        if s.felt.known_share(foot) > 0.6 and s.felt.share(foot, top, free) > 0.85:
            continue
        if _hides_nothing(g, foot, plan.seen):
            plan.doubted.append(g)
            continue
        (plan.suspects if s.changed(foot, top, free) < _SLIP else plan.added).append(g)
    return plan


def compare_stacks(tracks: Sequence[StackTrack], zlooks: Sequence[ZoneLook], s: Scale) -> StackPlan:
    """Explain the looks by what became of the known stacks."""
    plan = StackPlan()
    top = zlooks[-1].view.top
    groups = stack_groups([z.look for z in zlooks])
    pairs = sorted(
        (math.hypot(t.x - g.x, t.y - g.y), i, j)
        for (i, t), (j, g) in itertools.product(enumerate(tracks), enumerate(groups))
    )
    used_t: set[int] = set()
    used_g: set[int] = set()
    for d, i, j in pairs:
        if d <= _STACK_MM and i not in used_t and j not in used_g:
            used_t.add(i)
            used_g.add(j)
            plan.seen.append((tracks[i], groups[j]))
    fresh = [g for j, g in enumerate(groups) if j not in used_g]
    for i, t in enumerate(tracks):
        if i in used_t or not s.judges(t.x, t.y):
            continue
        says = [_stack_evidence(t, z, s) for z in zlooks]
        if says.count("felt") >= s.need:
            plan.gone.append(t)
        elif says[-1] == "felt":
            plan.unresolved = True
        elif says[-1] == "unclear":
            plan.missing.append(t)
    for g in fresh:
        there = verdict(g, len(zlooks), s.agree_mm, s.need) if s.judges(g.x, g.y) else False
        if there is None:
            plan.unresolved = True
        if not there:
            continue
        foot = s.view.foot(stack_outline(s.view, g.x, g.y, g.count, -3.0))
        free = np.ones(foot.mask.shape, dtype=np.bool_)
        if s.felt.known_share(foot) > 0.6 and s.felt.share(foot, top, free) > 0.85:
            continue
        (plan.suspects if s.changed(foot, top, free) < _SLIP else plan.added).append(g)
    return plan


def _same_place(
    tracks: Sequence[CardTrack], groups: Sequence[CardGroup], plan: CardPlan, top: Image, s: Scale
) -> tuple[list[CardTrack], list[CardGroup]]:
    """Match what lies where it lay; what does not look the same there any more is left for later."""
    pairs = []
    for (i, t), (j, g) in itertools.product(enumerate(tracks), enumerate(groups)):
        d, turn = math.hypot(t.x - g.x, t.y - g.y), yaw_between(t.yaw, g.yaw)
        if d > _SAME_MM or turn > _SAME_YAW:
            continue
        other = not t.face_up and g.face_up
        if t.face_up and g.face_up and t.reading.against(g.seen.values()) > _CONFLICT:
            other = True
        pairs.append((d / 10 + turn / 15 + 5.0 * other, i, j, other))
    used_t: set[int] = set()
    used_g: set[int] = set()
    for _, i, j, other in sorted(pairs):
        if i in used_t or j in used_g:
            continue
        if other:
            t = tracks[i]
            free = _above(groups[j], groups, t.foot, s)
            if share_changed(t.foot, t.patch, t.foot.of(top), free) >= _SLIP or turned_plainly(t, groups[j]):
                continue
        used_t.add(i)
        used_g.add(j)
        plan.seen.append((tracks[i], groups[j]))
    lost = [t for i, t in enumerate(tracks) if i not in used_t]
    return lost, [g for j, g in enumerate(groups) if j not in used_g]


def turned_plainly(t: CardTrack, g: CardGroup) -> bool:
    """Whether a back is now a face in every look: turned, a pale one changes the picture but little."""
    if t.face_up or len(g.seen) < 2:
        return False
    return all(min(c.score, c.confidence) >= _PLAIN for c in g.seen.values())


def _loosely(lost: list[CardTrack], sure: list[CardGroup], plan: CardPlan) -> None:
    """What shows little of itself is placed less surely: match it from farther off."""
    pairs = []
    for (i, t), (j, g) in itertools.product(enumerate(lost), enumerate(sure)):
        d, turn = math.hypot(t.x - g.x, t.y - g.y), yaw_between(t.yaw, g.yaw)
        hidden = 1.0 - min(t.visible, g.visible)
        near = d <= _SAME_MM + 12.0 * hidden and turn <= _SAME_YAW + 15.0 * hidden
        if near and _compatible(t, g) is not None:
            pairs.append((d / 10 + turn / 15, i, j))
    done_t: set[int] = set()
    done_g: set[int] = set()
    for _, i, j in sorted(pairs):
        if i not in done_t and j not in done_g:
            done_t.add(i)
            done_g.add(j)
            plan.seen.append((lost[i], sure[j]))
    lost[:] = [t for i, t in enumerate(lost) if i not in done_t]
    sure[:] = [g for j, g in enumerate(sure) if j not in done_g]


def _turns(lost: list[CardTrack], sure: list[CardGroup], plan: CardPlan) -> None:
    pairs = sorted(
        (math.hypot(t.x - g.x, t.y - g.y), i, j)
        for (i, t), (j, g) in itertools.product(enumerate(lost), enumerate(sure))
        if not t.face_up and g.face_up
    )
    done_t: set[int] = set()
    done_g: set[int] = set()
    for d, i, j in pairs:
        if d <= _TURN_MM and i not in done_t and j not in done_g:
            done_t.add(i)
            done_g.add(j)
            plan.turned.append((lost[i], sure[j]))
    lost[:] = [t for i, t in enumerate(lost) if i not in done_t]
    sure[:] = [g for j, g in enumerate(sure) if j not in done_g]


def _compatible(t: CardTrack, g: CardGroup) -> float | None:
    """How well the readings go together, higher is better; None when they do not."""
    if t.face_up != g.face_up:
        return None
    if not t.face_up:
        return 0.0
    odds = t.reading.against(g.seen.values())
    return None if odds > 1.0 else -odds


def _shifts(
    lost: list[CardTrack], sure: list[CardGroup], evidence: dict[int, list[Evidence]], plan: CardPlan
) -> None:
    """A whole hand pushed a little: several cards by the same way."""
    for key in sorted({(t.seat, t.hand) for t in lost if t.seat is not None}):
        hand = [t for t in lost if (t.seat, t.hand) == key and evidence[t.id][-1] != "same"]
        best: list[tuple[CardTrack, CardGroup]] = []
        for t, g in itertools.product(hand, sure):
            dx, dy = g.x - t.x, g.y - t.y
            if math.hypot(dx, dy) > _SHIFT_MM or _compatible(t, g) is None:
                continue
            way: list[tuple[CardTrack, CardGroup]] = []
            for u in hand:
                fits = [
                    (math.hypot(u.x + dx - h.x, u.y + dy - h.y), k)
                    for k, h in enumerate(sure)
                    if all(h is not w for _, w in way) and _compatible(u, h) is not None
                ]
                if fits and min(fits)[0] <= 16.0:
                    way.append((u, sure[min(fits)[1]]))
            if len(way) > len(best):
                best = way
        if len(best) >= 2:
            plan.moved += best
            lost[:] = [t for t in lost if all(t is not u for u, _ in best)]
            sure[:] = [g for g in sure if all(g is not h for _, h in best)]


def _moves(
    lost: list[CardTrack],
    sure: list[CardGroup],
    evidence: dict[int, list[Evidence]],
    plan: CardPlan,
    s: Scale,
) -> None:
    """Single cards pushed, or moved away to begin another hand."""
    pairs = []
    for (i, t), (j, g) in itertools.product(enumerate(lost), enumerate(sure)):
        alike = _compatible(t, g)
        d = math.hypot(t.x - g.x, t.y - g.y)
        last = evidence[t.id][-1]
        if alike is None or d > _MOVE_MM or last == "same" or (last == "covered" and d > 20):
            continue
        if t.seat is None or s.layout.seat_of(g.x, g.y) != t.seat:
            continue
        if d <= _NUDGE_MM or (t.face_up and -alike < _ALIKE):
            pairs.append((d - 40.0 * alike, i, j))
    done_t: set[int] = set()
    done_g: set[int] = set()
    for _, i, j in sorted(pairs):
        if i not in done_t and j not in done_g:
            done_t.add(i)
            done_g.add(j)
            plan.moved.append((lost[i], sure[j]))
    lost[:] = [t for i, t in enumerate(lost) if i not in done_t]
    sure[:] = [g for j, g in enumerate(sure) if j not in done_g]


def _uncovered(t: CardTrack, plan: CardPlan) -> bool:
    """Whether a card that lay below this one now shows what this one hid."""
    for u, g in plan.seen:
        if u.order < t.order and math.dist((u.x, u.y), (t.x, t.y)) < 110:
            hid = overlap(t.outline(), u.outline())
            if hid > 0.3 and g.visible > 1.0 - hid + 0.25:
                return True
    return False


def _hides_nothing(g: CardGroup, foot: Foot, seen: Sequence[tuple[CardTrack, CardGroup]]) -> bool:
    """Whether a card that should lie on top leaves a known one as visible as without it: then it is none."""
    for t, h in seen:
        if not (t.face_up and h.face_up and t.foot.n) or math.dist((t.x, t.y), (g.x, g.y)) > 110:
            continue
        shown = t.foot.mask.copy()
        for u, _ in seen:
            if u.order > t.order:
                shown &= ~u.foot.onto(t.foot)
        hidden = float((shown & foot.onto(t.foot)).sum()) / t.foot.n
        if hidden >= _HIDES and h.visible > float(shown.sum()) / t.foot.n - 0.5 * hidden:
            return True
    return False


def _covers(z: ZoneLook, s: Scale) -> list[Foot]:
    feet = [s.view.foot(card_outline(c.x, c.y, c.yaw, 3.0)) for c in z.look.cards]
    return feet + _stack_feet(z, s)


def _stack_feet(z: ZoneLook, s: Scale) -> list[Foot]:
    return [s.view.foot(stack_outline(s.view, c.x, c.y, c.count, 3.0)) for c in z.look.stacks]


def _card_evidence(t: CardTrack, z: ZoneLook, covers: Sequence[Foot], s: Scale) -> Evidence:
    return s.felt.evidence(t.foot, t.patch, z.view.top, _free(t.foot, covers, z.arms))


def _stack_evidence(t: StackTrack, z: ZoneLook, s: Scale) -> Evidence:
    covers = [s.view.foot(card_outline(c.x, c.y, c.yaw, 3.0)) for c in z.look.cards] + _stack_feet(z, s)
    return s.felt.evidence(t.foot, t.patch, z.view.top, _free(t.foot, covers, z.arms))


def _free(foot: Foot, covers: Sequence[Foot], arms: Mask | None) -> Mask:
    free = np.ones(foot.mask.shape, dtype=np.bool_)
    for c in covers:
        free &= ~c.onto(foot)
    if arms is not None:
        free &= ~arms[foot.r0 : foot.r1, foot.c0 : foot.c1]
    return free


def _above(g: CardGroup, groups: Sequence[CardGroup], foot: Foot, s: Scale) -> Mask:
    """Cells of a card's box that no other card seen to lie over it covers; all, when that leaves too few."""
    covers = [
        s.view.foot(card_outline(o.x, o.y, o.yaw, 2.0))
        for o in groups
        if o is not g and o.visible > g.visible and math.hypot(o.x - g.x, o.y - g.y) < 110
    ]
    free = _free(foot, covers, None)
    return free if int((free & foot.mask).sum()) >= 12 else np.ones(foot.mask.shape, dtype=np.bool_)
