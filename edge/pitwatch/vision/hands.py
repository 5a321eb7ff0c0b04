"""Which cards make which hand, and what happened to a hand: laid, turned, split, gone, cleared.

In: plans of what became of the cards in a zone at rest. Out: drafts of table events. A hand is a chain of
overlapping cards in its seat's sector; the dealer's cards are one hand as they lie. Units: mm, degrees,
seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

import numpy as np

from pitwatch.game.events import By, CardLaid, Clear, Gone, Move, TableEvent, Turn
from pitwatch.table.layout import Layout
from pitwatch.vision.compare import CardPlan
from pitwatch.vision.drafts import Draft, Outbox, Pictures, Rest
from pitwatch.vision.fuse import CardGroup
from pitwatch.vision.lying import in_chains, meet, top_down
from pitwatch.vision.motion import Foot, Image, TopView, share_changed
from pitwatch.vision.tracks import CardTrack, Reading, card_outline, overlap, yaw_between, yaw_mean

__all__ = ["Hands"]

_SPLIT_MM = 60.0
_GROWN_MM = 25.0
_AXIS_MM = 25.0
_SIDEWAYS = 25.0
_CLEAR_HAND_S = 0.8


@dataclass
class _Parted:
    """Cards of one hand that lie apart: perhaps a split."""

    hand: int
    cards: list[CardTrack]
    t: float
    found: float
    by: By | None
    pictures: Pictures


@dataclass(frozen=True)
class _Leaving:
    """A card that is missing; whether it alone, or its hand, will show."""

    track: CardTrack
    found: float
    by: By | None
    pictures: Pictures


class Hands:
    """The cards on the table by seat and hand."""

    def __init__(
        self,
        view: TopView,
        layout: Layout,
        outbox: Outbox,
        *,
        card_p: float,
        hold_s: float,
        gone_s: float,
        regain_s: float,
    ) -> None:
        self._view, self._layout, self._outbox = view, layout, outbox
        self._card_p, self._hold_s, self._gone_s, self._regain_s = card_p, hold_s, gone_s, regain_s
        self.tracks: dict[int, CardTrack] = {}
        self._leaving: dict[int, _Leaving] = {}
        self._parted: dict[int, _Parted] = {}
        self._next_hand: dict[int, int] = {}
        self._ids = 0
        self._orders = 0
        self._waiting: dict[int, float] = {}
        self._hand_clears: dict[int, list[list[bool]]] = {}

    # -- what is where

    def cards(self, seat: int, hand: int | None = None) -> list[CardTrack]:
        """A seat's cards in the order in which they lie."""
        found = [t for t in self.tracks.values() if t.seat == seat and hand in (None, t.hand)]
        return sorted(found, key=lambda t: t.order)

    def hands(self, seat: int) -> list[int]:
        """The numbers of a seat's hands that have cards."""
        return sorted({t.hand for t in self.tracks.values() if t.seat == seat})

    def hole(self) -> CardTrack | None:
        """The dealer's only face-down card, when he has another besides."""
        cards = self.cards(0)
        down = [c for c in cards if not c.face_up]
        return down[0] if len(down) == 1 and len(cards) >= 2 else None

    def numbers(self) -> dict[int, int]:
        """Which card counts to which hand."""
        return {t.id: t.hand for t in self.tracks.values()}

    def hand_of_chips(self, seat: int, x: float, y: float, was: int | None) -> int:
        """The hand whose axis is nearest to chips standing here. was: the hand they counted to before."""
        off = {h: abs(self._across(seat, h, x, y)) for h in self.hands(seat)}
        split = self._next_hand.get(seat, 1) > 1
        if not off or (split and was is not None and was not in off):
            return was or 0  # its hand was cleared before its chips
        best = min(off, key=lambda h: (off[h], h))
        if was is not None and was in off and off[was] - off[best] < _AXIS_MM:
            return was
        return best

    def _across(self, seat: int, hand: int, x: float, y: float) -> float:
        lateral = [self._layout.local(seat, t.x, t.y)[1] for t in self.cards(seat, hand)]
        return self._layout.local(seat, x, y)[1] - sum(lateral) / len(lateral)

    # -- what happened

    def apply(self, plan: CardPlan, rest: Rest) -> None:
        """Take in what became of the cards of a zone."""
        before = {t.id: (t.x, t.y) for t in self.tracks.values()}
        for t, g in plan.seen:
            self._look_again(t, g, rest.top)
        for t, g in plan.moved:
            self._place(t, g, rest.top)
            t.reading.next_epoch(0.5)
            self._read(t, g)
        for t, g in plan.turned:
            self._turn(t, g, rest)
        for t in plan.gone:
            self._leave(t, rest)
        seats = {t.seat for t in plan.gone} | {t.seat for t, _ in plan.moved + plan.seen}
        for seat in sorted(s for s in seats if s is not None):
            self._clears(seat, rest)
            if seat > 0:
                self._splits(seat, before, rest)
        fresh = [g for g in plan.added if not self._came_back(g, rest)]
        for g, t_rest in self._in_order(fresh, rest):
            self._lay(g, t_rest, rest)

    def tick(self, t: float, busy: Container[int]) -> None:
        """Let time pass: what is missing long enough is gone, what lies apart long enough is split.

        busy: seats where something still moves; more may go there.
        """
        for seat, hand in sorted({(v.track.seat or 0, v.track.hand) for v in self._leaving.values()}):
            out = [v for v in self._leaving.values() if (v.track.seat, v.track.hand) == (seat, hand)]
            waited = t - max(v.found for v in out)
            if seat in busy:
                continue
            if not self.cards(seat, hand):
                if waited >= _CLEAR_HAND_S:
                    self._say_clear(seat, hand, out)
            elif waited >= self._gone_s:
                for v in out:
                    self._say_gone(v)
        for seat, p in list(self._parted.items()):
            if t - p.found >= self._regain_s:
                self.confirm_split(seat, t)

    def confirm_split(self, seat: int, t: float) -> None:
        """Cards of this seat that lie apart are another hand from now on, if there are any."""
        p = self._parted.pop(seat, None)
        if p is None or any(c.id not in self.tracks for c in p.cards):
            return
        to = self._new_hand(seat)
        for c in p.cards:
            c.hand = to
        hand = p.hand
        self._outbox.add(
            Draft(p.t, lambda at: Move(t=at, seat=seat, hand=hand, to=to), p.pictures, p.by, rank=2)
        )

    def unread(self, t: float) -> list[tuple[float, float]]:
        """Where cards lie whose events still wait for a better reading, mm."""
        self._waiting = {k: until for k, until in self._waiting.items() if until > t and k in self.tracks}
        cards = [self.tracks[k] for k in self._waiting]
        full = [c for c in cards if (c.reading.text(self._card_p)[0] or "??")[1] == "?"]
        return [(c.x, c.y) for c in full]

    def glance(self, groups: Sequence[CardGroup]) -> None:
        """Take in a further look at a zone where nothing has changed: better readings only."""
        for g in groups:
            t = min(
                (t for t in self.tracks.values() if t.face_up == g.face_up),
                key=lambda t: math.hypot(t.x - g.x, t.y - g.y),
                default=None,
            )
            if t and math.hypot(t.x - g.x, t.y - g.y) < 12 and yaw_between(t.yaw, g.yaw) < 20:
                self._read(t, g)

    # -- single cards

    def _read(self, t: CardTrack, g: CardGroup) -> None:
        if t.face_up:
            for seen in g.seen.values():
                t.reading.add(seen)

    def _place(self, t: CardTrack, g: CardGroup, top: Image) -> None:
        t.x, t.y, t.yaw, t.visible = g.x, g.y, g.yaw, g.visible
        t.foot = self._view.foot(t.outline(-4.0))
        t.patch = _cut(t.foot, top)

    def _look_again(self, t: CardTrack, g: CardGroup, top: Image) -> None:
        now = _cut(t.foot, top)
        changed = share_changed(t.foot, t.patch, now)
        # a card is placed best when it shows most of itself
        if g.visible >= t.visible - 0.05 or changed < 0.05:
            k = 0.5
            t.x, t.y = t.x + k * (g.x - t.x), t.y + k * (g.y - t.y)
            t.yaw = yaw_mean((t.yaw, g.yaw))
            t.foot = self._view.foot(t.outline(-4.0))
            now = _cut(t.foot, top)
        t.visible = g.visible
        if t.face_up and g.face_up:
            if changed > 0.15:
                t.reading.next_epoch(changed)
            self._read(t, g)
        t.patch = now

    def _turn(self, t: CardTrack, g: CardGroup, rest: Rest) -> None:
        old = t.foot
        self._place(t, g, rest.top)
        t.face_up, t.reading = True, Reading()
        self._read(t, g)
        at = max(rest.rested(t.foot, None), t.laid_t)
        t.laid_t = at

        def make(when: float) -> TableEvent:
            card, p = t.reading.text(self._card_p)
            return Turn(t=when, seat=t.seat or 0, hand=t.hand, card=card, confidence=_p(card, p))

        if t.seat is not None:
            ready = self._when_read(t, rest)
            sides = {rest.by(old), rest.by(t.foot)} - {None}
            by = sides.pop() if len(sides) == 1 else None
            self._outbox.add(Draft(at, make, rest.pictures(t.foot), by, rank=3, ready=ready))

    def _leave(self, t: CardTrack, rest: Rest) -> None:
        t.gone_t = rest.rested(t.foot, None)
        self.tracks.pop(t.id, None)
        if t.seat is not None:
            self._leaving[t.id] = _Leaving(t, rest.t, rest.by(t.foot), rest.pictures(t.foot))

    def _came_back(self, g: CardGroup, rest: Rest) -> bool:
        """A card that was lifted and laid back."""
        for t in [v.track for v in self._leaving.values()]:
            if math.hypot(t.x - g.x, t.y - g.y) > 60 or t.face_up != g.face_up:
                continue
            if t.face_up and t.reading.against(g.seen.values()) > -1.5:
                continue
            del self._leaving[t.id]
            t.gone_t = None
            self.tracks[t.id] = t
            self._place(t, g, rest.top)
            return True
        return False

    def _lay(self, g: CardGroup, at: float, rest: Rest) -> None:
        seat = self._seat_for(g)
        if seat is not None:
            for v in [v for v in self._leaving.values() if v.track.seat == seat]:
                self._say_gone(v)
            self.confirm_split(seat, rest.t)
        self._ids += 1
        self._orders += 1
        foot = self._view.foot(card_outline(g.x, g.y, g.yaw, -4.0))
        t = CardTrack(
            self._ids, g.x, g.y, g.yaw, g.face_up, foot, _cut(foot, rest.top), seat=seat, order=self._orders
        )
        t.visible, t.laid_t = g.visible, at
        self._read(t, g)
        if seat is None:
            self.tracks[t.id] = t
            return
        t.hand = self._hand_for(seat, g)
        mates = [c for c in self.cards(seat, t.hand) if not c.sideways]
        if len(self.cards(seat, t.hand)) >= 2 and mates:
            t.sideways = yaw_between(g.yaw, mates[0].yaw) >= 90.0 - _SIDEWAYS
        self.tracks[t.id] = t
        hand, sideways, face_up = t.hand, t.sideways, t.face_up

        def make(when: float) -> TableEvent:
            card, p = t.reading.text(self._card_p) if face_up else (None, 1.0)
            return CardLaid(
                t=when,
                seat=seat,
                hand=hand,
                card=card,
                face="up" if face_up else "down",
                sideways=sideways,
                confidence=_p(card, p) if face_up else 1.0,
            )

        ready = self._when_read(t, rest) if face_up else (lambda _: True)
        self._outbox.add(Draft(at, make, rest.pictures(foot), rest.by(foot), rank=4, ready=ready))

    def _when_read(self, t: CardTrack, rest: Rest) -> Callable[[float], bool]:
        until = rest.t + (0.0 if rest.vouched else self._hold_s)
        self._waiting[t.id] = until

        def ready(now: float) -> bool:
            card, _ = t.reading.text(self._card_p)
            return now >= until or (card is not None and card[1] != "?")

        return ready

    def _seat_for(self, g: CardGroup) -> int | None:
        over = [(self._overlap(t, g), t.id, t.seat) for t in self.tracks.values() if t.seat is not None]
        if over and max(over)[0] >= 0.08:
            return max(over)[2]
        return self._layout.seat_of(g.x, g.y)

    def _hand_for(self, seat: int, g: CardGroup) -> int:
        cards = self.cards(seat)
        if not cards:
            return 0
        best = min(cards, key=lambda t: (-self._overlap(t, g), math.hypot(t.x - g.x, t.y - g.y), t.id))
        return best.hand

    def _overlap(self, t: CardTrack, g: CardGroup) -> float:
        if math.hypot(t.x - g.x, t.y - g.y) > 110:
            return 0.0
        return overlap(t.outline(), card_outline(g.x, g.y, g.yaw))

    def _in_order(self, groups: Sequence[CardGroup], rest: Rest) -> list[tuple[CardGroup, float]]:
        """New cards with the time at which each came to rest, what lies below before what lies over it."""
        feet = [self._view.foot(card_outline(g.x, g.y, g.yaw, -4.0)) for g in groups]
        order = top_down(groups, feet)
        times: dict[int, float] = {}
        for k, i in enumerate(order):
            over = [j for j in order[:k] if meet(groups[i], groups[j])]
            free = np.ones(feet[i].mask.shape, dtype=np.bool_)
            for j in over:
                free &= ~feet[j].onto(feet[i])
            seen = int((free & feet[i].mask).sum()) >= 12
            at = rest.rested(feet[i], free if seen else None)
            times[i] = min([at, *(times[j] - 0.001 for j in over)])
        return [(groups[i], times[i]) for i in sorted(order, key=lambda i: (times[i], groups[i].x))]

    # -- whole hands

    def _splits(self, seat: int, before: dict[int, tuple[float, float]], rest: Rest) -> None:
        for hand in self.hands(seat):
            cards = self.cards(seat, hand)
            chains = in_chains(cards)
            pending = self._parted.get(seat)
            if pending and pending.hand == hand:
                if len(chains) < 2:
                    del self._parted[seat]
                continue
            if len(chains) < 2 or pending:
                continue

            def moved(chain: list[CardTrack]) -> bool:
                return any(math.dist((c.x, c.y), before.get(c.id, (c.x, c.y))) > _GROWN_MM for c in chain)

            # when both parts were moved, the card that was laid last begins the new hand
            away = min(chains, key=lambda c: (len(c), not moved(c), -max(t.order for t in c)))
            stay = [c for c in cards if c not in away]
            now = min(math.dist((a.x, a.y), (b.x, b.y)) for a in away for b in stay)
            was = min(
                math.dist(before.get(a.id, (a.x, a.y)), before.get(b.id, (b.x, b.y)))
                for a in away
                for b in stay
            )
            if now <= _SPLIT_MM or now - was < (_GROWN_MM if was < _SPLIT_MM else _SPLIT_MM):
                continue
            foot = away[0].foot
            at = rest.rested(foot, None)
            self._parted[seat] = _Parted(hand, away, at, rest.t, rest.by(foot), rest.pictures(foot))
            if rest.vouched:
                self.confirm_split(seat, rest.t)

    def _new_hand(self, seat: int) -> int:
        self._next_hand[seat] = max([*self.hands(seat), self._next_hand.get(seat, 1) - 1]) + 1
        self._next_hand[seat] += 1
        return self._next_hand[seat] - 1

    def _clears(self, seat: int, rest: Rest) -> None:
        out = [v for v in self._leaving.values() if v.track.seat == seat]
        if not out or self.cards(seat):
            return
        self._next_hand.pop(seat, None)
        self._parted.pop(seat, None)
        for said in self._hand_clears.pop(seat, []):
            said.append(True)  # if it is not out yet, this says it all
        self._say_clear(seat, None, out)

    def _say_clear(self, seat: int, hand: int | None, out: list[_Leaving]) -> None:
        for v in out:
            del self._leaving[v.track.id]
        at = max(v.track.gone_t or v.found for v in out)
        dropped: list[bool] = []
        if hand is not None:
            self._hand_clears.setdefault(seat, []).append(dropped)
        sides = {v.by for v in out}
        self._outbox.add(
            Draft(
                at,
                lambda when: None if dropped else Clear(t=when, seat=seat, hand=hand),
                out[-1].pictures,
                sides.pop() if len(sides) == 1 else None,
                rank=1 if seat else 6,
                removal=True,
            )
        )

    def _say_gone(self, v: _Leaving) -> None:
        t = v.track
        self._leaving.pop(t.id, None)
        seat, hand = t.seat or 0, t.hand
        card = t.reading.text(self._card_p)[0] if t.face_up else None
        self._outbox.add(
            Draft(
                t.gone_t or v.found,
                lambda when: Gone(t=when, seat=seat, hand=hand, card=card),
                v.pictures,
                v.by,
                rank=1,
            )
        )


def _cut(foot: Foot, top: Image) -> Image:
    return np.array(top[foot.r0 : foot.r1, foot.c0 : foot.c1])


def _p(card: str | None, p: float) -> float:
    return round(p, 4) if card is not None else 1.0
