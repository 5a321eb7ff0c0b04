"""Turns a script into motion: who reaches where and when, and what lies on the felt at any time.

In: a `Script`, a `Layout`, a seed. Out: `Director.scene(t)`, a pure function of t in seconds, and the truth.
Units: mm in the table frame, cents. Nothing appears, moves or changes but in somebody's hand.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from pitwatch.errors import UserError
from pitwatch.game.events import CardLaid, Chips, Clear, Move, Peek, TableEvent, Turn
from pitwatch.sim.idle import Idle
from pitwatch.sim.moves import CARRY_MM, CardTrack, Reach, StackTrack
from pitwatch.sim.people import People
from pitwatch.sim.places import DISCARD_MM, RACK_Y_MM, SHOE_MM, Place, Places, fits
from pitwatch.sim.played import Played
from pitwatch.sim.rounds import Act, ActKind, Stack
from pitwatch.sim.scene import ArmPose, CardPose, Scene, StackPose
from pitwatch.sim.script import Script
from pitwatch.sim.truth import Truth, TruthFinding, TruthHand, TruthRound
from pitwatch.table.layout import Layout, Point

__all__ = ["Director"]

_HAND_ORDER = 100000
_WAITING = (-320.0, -55.0)
_CARD_GRIP = 48.0
_STACK_GRIP = 18.0
_BEFORE, _BETWEEN, _AFTER = 1.2, 1.6, 1.5


@dataclass
class _Table:
    """What lies there while a round is staged."""

    cards: dict[tuple[int, int], list[CardTrack]] = field(default_factory=lambda: defaultdict(list))
    stacks: dict[tuple[int, int, str], list[StackTrack]] = field(default_factory=lambda: defaultdict(list))
    split: set[int] = field(default_factory=set)


class Director:
    """Stages a script.

    pace: how quickly one act follows another; at 1 everything rests about a second, at 2 half of that.
    distractions: how often somebody reaches over the table for nothing, from 0 to 1. Raises UserError when
    the script does not fit the layout.
    """

    def __init__(
        self, script: Script, layout: Layout, seed: int = 0, *, pace: float = 1.0, distractions: float = 0.3
    ) -> None:
        if script.seats != layout.n:
            raise UserError(
                f"the script is for {script.seats} seats, the layout has {layout.n}; choose the same"
            )
        if not 0.2 <= pace <= 5.0:
            raise UserError(f"a pace of {pace} is none that a dealer deals at; choose one from 0.2 to 5")
        self._layout = layout
        self._rng = random.Random(f"director {seed}")
        self._pace = pace
        self._distractions = distractions
        self._people = People(layout, self._rng)
        self._tracks: list[CardTrack | StackTrack] = []
        self._reaches: list[Reach] = []
        self._events: list[TableEvent] = []
        self._findings: list[TruthFinding] = []
        self._rounds: list[TruthRound] = []
        self._order = 0
        self._now = _BEFORE
        self._idle = Idle(layout, self._people, self._rng)
        self._tracks += self._idle.own.values()
        for number, played in enumerate(script.played(), 1):
            self._round(number, played)
            self._now += _BETWEEN / pace
        self.duration = self._now + _AFTER
        self._events.sort(key=lambda e: e.t)
        self._index()
        self.truth = Truth(
            header=script.header(),
            duration=self.duration,
            events=tuple(self._events),
            findings=tuple(self._findings),
            rounds=tuple(self._rounds),
        )

    # -- the scene

    def _index(self) -> None:
        """Which things are to be looked at in which second."""
        n = int(self.duration) + 2
        self._things: list[list[CardTrack | StackTrack]] = [[] for _ in range(n)]
        self._arms: list[list[Reach]] = [[] for _ in range(n)]
        for track in self._tracks:
            for i in range(int(track.born), min(n - 1, int(min(track.gone, self.duration + 1))) + 1):
                self._things[i].append(track)
        for reach in self._reaches:
            for i in range(int(reach.t0), min(n - 1, int(reach.t)) + 1):
                self._arms[i].append(reach)

    def scene(self, t: float) -> Scene:
        """Everything on and over the felt at time t, 0 to `duration` (outside it: as at the nearer end)."""
        at = min(max(t, 0.0), self.duration)
        second = int(at)
        cards: list[CardPose] = []
        stacks: list[StackPose] = []
        for track in self._things[second]:
            pose = track.at(at)
            if isinstance(pose, CardPose):
                cards.append(pose)
            elif pose is not None:
                stacks.append(pose)
        cards.sort(key=lambda c: c.order)
        arms = [a for a in (r.at(at) for r in self._arms[second]) if isinstance(a, ArmPose)]
        return Scene(t, tuple(cards), tuple(stacks), tuple(arms))

    # -- a round

    def _round(self, number: int, played: Played) -> None:
        if not fits(self._layout, played):
            raise UserError(
                f"round {number} of the script has hands that do not lie clear of each other here"
            )
        self._places = Places(self._layout, played)
        self._table = _Table()
        begin = self._now
        ends: list[float] = []
        reach: Reach | None = None
        busy = begin  # until when arms are over the table
        started = begin
        for i, act in enumerate(played.acts):
            if act.flow in ("same", "chain") and reach is not None:
                if act.flow == "chain":
                    self._back(reach)
            else:
                if reach is not None:
                    reach.leave()
                    busy = max(busy, reach.t)
                if act.flow == "overlap":
                    start = started + self._rng.uniform(0.35, 0.8) / self._pace
                else:
                    start = busy + (self._rest() if i else 0.0)
                    start = self._distract(act, start)
                started = start
                reach = self._reach(act, start)
            after = played.acts[i + 1 : i + 2]
            self._sweeping = any(a.kind == "clear" and a.flow == "same" for a in after)
            _STAGING[act.kind](self, act, reach)
            ends.append(reach.t)
        if reach is not None:
            reach.leave()
            busy = max(busy, reach.t)
        self._now = max(busy, *(r.t for r in self._reaches))
        self._tell(number, played, begin, ends)

    def _tell(self, number: int, played: Played, begin: float, ends: list[float]) -> None:
        """The truth of a round that has been staged."""
        for f in played.findings:
            t = round(ends[f.act], 3)
            self._findings.append(TruthFinding(number, t, f.kind, f.seat, f.hand, f.expected, f.observed))
        hands = tuple(
            TruthHand(h.seat, h.number, tuple(h.cards), h.wager, h.doubled, h.stake, h.payout, h.outcome)
            for h in played.hands
        )
        self._rounds.append(
            TruthRound(number, round(begin, 3), round(self._now, 3), hands, played.dealer, played.insurance)
        )

    def _distract(self, act: Act, start: float) -> float:
        """Perhaps somebody reaches out for nothing before this act; returns when the act begins."""
        if self._rng.random() >= 0.6 * self._distractions:
            return start
        wagers = {
            s: at[0].vec[:2]
            for (s, h, spot), at in self._table.stacks.items()
            if at and not h and spot == "main"
        }
        reach = self._idle.reach(start, act.seat, wagers)
        if reach is None:
            return start
        self._reaches.append(reach)
        return reach.t + self._rest()

    def _rest(self) -> float:
        return self._rng.uniform(0.9, 1.3) / self._pace

    def _reach(self, act: Act, start: float) -> Reach:
        body = self._people.player(act.seat) if act.by == "player" else self._people.dealer
        if act.kind == "card":
            toward = SHOE_MM
        elif act.kind == "pay":
            toward = (self._rack_x(act.seat), RACK_Y_MM)
        elif act.seat == 0:
            at = self._places.dealer(1)
            toward = (at.x, at.y)
        else:
            toward = self._layout.spots[act.seat - 1]
        reach = Reach(body, start, toward, self._rng, self._rng.uniform(0.98, 1.15))
        self._reaches.append(reach)
        return reach

    # -- cards

    def _next_order(self) -> int:
        self._order += 1
        return self._order

    def _tremble(self, place: Place) -> Place:
        u = self._rng.uniform
        return Place(place.x + u(-3, 3), place.y + u(-3, 3), place.yaw + u(-4, 4))

    def _back(self, reach: Reach) -> None:
        """Between two cards the hand waits before the shoe, behind everything that lies there."""
        reach.go(*_WAITING)
        reach.wait(self._rng.uniform(0.5, 0.75) / self._pace)

    def _card(self, act: Act, reach: Reach) -> None:
        hand = act.hand or 0
        lying = self._table.cards[act.seat, hand]
        split = act.seat in self._table.split
        place = self._tremble(self._places.card(act.seat, hand, len(lying), act.sideways, split))
        x, y = reach.palm(*SHOE_MM, _CARD_GRIP)
        reach.go(x, y, 48.0)
        reach.wait(self._rng.uniform(0.08, 0.15))
        pose = CardPose(act.card or "", act.face_up, 0, 0, 0, seat=act.seat, hand=hand, order=_HAND_ORDER)
        track = CardTrack(pose, reach.t, (*SHOE_MM, CARRY_MM, _near(-25.0, place.yaw), 0.0))
        self._tracks.append(track)
        reach.hold(track, _CARD_GRIP)
        # drawn along before the dealer, then out to the seat
        via = (-240.0 + 0.3 * place.x, 130.0 + 0.1 * place.y)
        bulge = (0.7 * (via[0] - (SHOE_MM[0] + place.x) / 2), 0.7 * (via[1] - (SHOE_MM[1] + place.y) / 2))
        t = reach.lay(track, (place.x, place.y, 0.3 * (len(lying) + 1), place.yaw, 0.0), bulge)
        track.become(t, order=self._next_order())
        lying.append(track)
        self._events.append(
            CardLaid(
                t=round(t, 3),
                by="dealer",
                seat=act.seat,
                hand=hand,
                card=act.card if act.face_up else None,
                face="up" if act.face_up else "down",
                sideways=act.sideways,
            )
        )

    def _split(self, act: Act, reach: Reach) -> None:
        """The dealer moves the last card away, and the wager aside where several are to lie."""
        seat, hand = act.seat, act.hand or 0
        if seat not in self._table.split and self._places.column(seat, hand):
            for stack in self._table.stacks[seat, hand, "main"]:
                x, y = self._places.chips(seat, hand, "wager", True)
                reach.fetch(stack, _STACK_GRIP)
                reach.lay(stack, (x, y, 0.0), cruise=12.0)
        self._table.split.add(seat)
        moved = self._table.cards[seat, hand].pop()
        place = self._tremble(self._places.card(seat, act.to, 0, split=True))
        reach.fetch(moved, 25.0)
        moved.become(reach.t, order=_HAND_ORDER)
        t = reach.lay(moved, (place.x, place.y, 0.3, place.yaw, 0.0), cruise=16.0)
        moved.become(t, order=self._next_order(), hand=act.to)
        self._table.cards[seat, act.to].append(moved)
        self._events.append(Move(t=round(t, 3), by="dealer", seat=seat, hand=hand, to=act.to))

    def _peek(self, act: Act, reach: Reach) -> None:
        hole = self._table.cards[0, 0][1]
        x, y = reach.palm(hole.vec[0], hole.vec[1], 62.0)
        reach.go(x, y, 40.0)
        up, still, down = (self._rng.uniform(*r) for r in ((0.2, 0.35), (0.4, 0.8), (0.2, 0.3)))
        flat = hole.vec
        hole.move(reach.t, reach.t + up, (*flat[:4], self._rng.uniform(22.0, 34.0)))
        hole.move(reach.t + up + still, reach.t + up + still + down, flat)
        reach.wait(up + still + down + 0.05)
        self._events.append(Peek(t=round(reach.t, 3), by="dealer"))

    def _turn(self, act: Act, reach: Reach) -> None:
        hole = self._table.cards[0, 0][1]
        place = self._tremble(self._places.dealer(1))
        reach.fetch(hole, 20.0)
        hole.become(reach.t, order=_HAND_ORDER)
        x, y, z = reach.vec
        reach.go(x + self._rng.uniform(-8, 8), y - 12.0, z + 20.0)
        hole.become(reach.t, face_up=True)
        reach.wait(0.06)
        t = reach.lay(hole, (place.x, place.y, 0.3, place.yaw, 0.0))
        hole.become(t, order=self._next_order())
        self._events.append(Turn(t=round(t, 3), by="dealer", seat=0, card=act.card))

    def _clear(self, act: Act, reach: Reach) -> None:
        """All cards of a hand, or of all hands of the seat, are scooped up; the last go to the discard."""
        hands = sorted(k for k in self._table.cards if k[0] == act.seat and act.hand in (None, k[1]))
        t = reach.t
        for key in hands:
            for track in self._table.cards.pop(key):
                n = len(reach.held)
                reach.fetch(track, 30.0, least=0.13)
                track.become(reach.t, order=_HAND_ORDER + n)
                # squared up in the hand: the card turns to lie with the others
                yaw = _near(reach.held[0].track.vec[3], track.vec[3]) if n else track.vec[3]
                track.move(reach.t, reach.t + 0.1, (*track.vec[:2], CARRY_MM + 0.3 * n, yaw, 0.0))
                reach.wait(0.1)
            t = reach.t
        self._events.append(Clear(t=round(t, 3), by="dealer", seat=act.seat, hand=act.hand))
        if not self._sweeping:
            reach.go(*reach.palm(*DISCARD_MM, 30.0), least=0.3)
            reach.drop()
            reach.wait(0.05)

    # -- chips

    def _rack_x(self, seat: int) -> float:
        return min(max(0.45 * self._layout.spots[seat - 1][0], -260.0), 260.0)

    def _say_chips(self, t: float, act: Act, seat: int, hand: int) -> None:
        stacks = self._table.stacks[seat, hand, act.spot]
        chips = tuple(s.pose.chips for s in stacks)
        amount = sum(map(sum, chips))
        self._events.append(
            Chips(t=round(t, 3), by=act.by, seat=seat, spot=act.spot, hand=hand, amount=amount, stacks=chips)
        )

    def _stack(self, chips: Stack, act: Act, t: float, at: Point) -> StackTrack:
        pose = StackPose(chips, 0, 0, 0, act.seat, act.spot, act.hand or 0, self._rng.randrange(1 << 30))
        track = StackTrack(pose, t, (*at, CARRY_MM))
        self._tracks.append(track)
        return track

    def _lay_stack(self, act: Act, reach: Reach, role: str) -> None:
        """A stack in the hand is put where it belongs."""
        seat, hand = act.seat, act.hand or 0
        x, y, _ = reach.vec
        fx, fy = reach.body.forward(x, y)
        track = self._stack(act.chips, act, reach.t, (x + _STACK_GRIP * fx, y + _STACK_GRIP * fy))
        reach.hold(track, _STACK_GRIP)
        split = seat in self._table.split
        px, py = self._places.chips(seat, hand, role, split)
        reach_mm = 1.0 if split or role.startswith("insurance") else 3.0
        u = self._rng.uniform
        t = reach.lay(
            track, (px + u(-reach_mm, reach_mm), py + u(-reach_mm, reach_mm), 0.0), cruise=34.0, least=0.45
        )
        self._table.stacks[seat, hand, act.spot].append(track)
        self._say_chips(t, act, seat, hand)

    def _put(self, act: Act, reach: Reach) -> None:
        self._lay_stack(act, reach, act.role)

    def _pay(self, act: Act, reach: Reach) -> None:
        reach.go(self._rack_x(act.seat) + self._rng.uniform(-20, 20), RACK_Y_MM, 50.0)
        reach.wait(self._rng.uniform(0.15, 0.4))
        self._lay_stack(act, reach, "insurance pay" if act.spot == "insurance" else "pay")

    def _grab(self, act: Act, reach: Reach) -> float:
        """Take up every stack of a spot."""
        stacks = self._table.stacks.pop((act.seat, act.hand or 0, act.spot), [])
        for track in stacks:
            # side by side under the hand
            reach.fetch(track, _STACK_GRIP, (-22.0, 22.0, 0.0, -44.0, 44.0)[len(reach.held) % 5])
        self._say_chips(reach.t, act, act.seat, act.hand or 0)
        return reach.t

    def _take(self, act: Act, reach: Reach) -> None:
        self._grab(act, reach)
        reach.go(self._rack_x(act.seat) + self._rng.uniform(-30, 30), RACK_Y_MM, 50.0, least=0.35)
        reach.drop()
        reach.wait(self._rng.uniform(0.05, 0.12))

    def _pickup(self, act: Act, reach: Reach) -> None:
        self._grab(act, reach)
        reach.wait(0.05)
        # what he holds goes with him
        reach.go(*reach.body.door(reach.vec[0], reach.vec[1]), least=0.35)
        reach.drop()

    def _cut(self, act: Act, reach: Reach) -> None:
        """A player takes chips off the top of his wager."""
        stack = self._table.stacks[act.seat, act.hand or 0, "main"][0]
        n = len(stack.pose.chips) - len(act.chips)
        reach.fetch(stack, _STACK_GRIP)
        reach.held.clear()
        stack.become(reach.t, chips=stack.pose.chips[:n])
        piece = self._stack(act.chips, act, reach.t, (stack.vec[0], stack.vec[1]))
        piece.become(reach.t, spot=None)
        self._say_chips(reach.t, act, act.seat, act.hand or 0)
        reach.hold(piece, _STACK_GRIP)
        reach.go(*reach.body.door(reach.vec[0], reach.vec[1]), least=0.35)
        reach.drop()


def _near(yaw: float, to: float) -> float:
    """The same direction as `yaw`, half turns aside, as near to `to` as can be: a card is alike both ways."""
    return yaw + 180.0 * round((to - yaw) / 180.0)


_STAGING: dict[ActKind, Callable[[Director, Act, Reach], None]] = {
    "put": Director._put,
    "cut": Director._cut,
    "card": Director._card,
    "split": Director._split,
    "peek": Director._peek,
    "turn": Director._turn,
    "pay": Director._pay,
    "take": Director._take,
    "pickup": Director._pickup,
    "clear": Director._clear,
}
