"""From what the rooms know to what the displays show.

In: the watcher's `TableSnapshot` (mm), the audit's `TableView` (cents), a camera. Out: `board` dataclasses,
with overlay points in pixels of the camera's picture.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.chips import money
from pitwatch.game.findings import Finding
from pitwatch.game.view import HandView, TableView
from pitwatch.monitor.board import (
    CardShown,
    Felt,
    FindingShown,
    HandShown,
    Mark,
    Overlay,
    PictureRef,
    SeatShown,
)
from pitwatch.rules import Profile
from pitwatch.table.camera import Camera
from pitwatch.table.layout import Layout
from pitwatch.vision.looks import CARD_MM, CHIP_MM, CHIP_PITCH_MM
from pitwatch.vision.snapshot import CardView, StackView, TableSnapshot

__all__ = ["OverlayMaker", "felt", "finding", "hands"]

_CIRCLE = [(math.cos(a), math.sin(a)) for a in np.linspace(0, 2 * math.pi, 16, endpoint=False)]
# kinds whose expected and observed are amounts lying there, not what a player nets
_AMOUNTS = re.compile(
    r"wager_|double_|split_|insurance_(not_allowed|late|too_large)|side_bet_(late|without)|taken_"
)
_TOTALS = re.compile(r"dealer_")


def felt(layout: Layout, camera: Camera) -> Felt:
    """What the drawn felt needs, lying as the camera's picture does."""
    far = max(y for _, y in layout.spots)
    near_px, far_px = camera.project([(layout.cx, 0.0), (layout.cx, far)])
    return Felt(
        spots=layout.spots,
        insurance=(layout.cx, layout.cy, layout.insurance_r),
        up="dealer" if near_px[1] < far_px[1] else "players",
    )


def hands(table: TableView, snapshot: TableSnapshot) -> tuple[HandShown, tuple[SeatShown, ...]]:
    """The dealer's hand and the seats', with what the picture knows of faces and cards laid sideways."""
    lying: dict[tuple[int, int], list[CardView]] = {}
    for card in sorted(snapshot.cards, key=lambda c: c.order):
        if card.seat is not None:
            lying.setdefault((card.seat, card.hand), []).append(card)
    acting = re.fullmatch(r"players act: seat (\d+)", table.phase)
    turn = int(acting[1]) if acting else None
    seats = []
    for seat, group in groupby(table.hands, key=lambda h: h.seat):
        views = list(group)
        open_hands = [h.hand for h in views if not h.status]
        shown = tuple(
            _hand(h, lying.get((seat, h.hand), ()), turn == seat and h.hand == open_hands[0])
            if open_hands
            else _hand(h, lying.get((seat, h.hand), ()), False)
            for h in views
        )
        insured = [h.insurance for h in views if h.insurance]
        seats.append(SeatShown(seat, shown, {"insurance": sum(insured)} if insured else {}))
    return _hand(table.dealer, lying.get((0, 0), ()), table.phase.startswith("dealer")), tuple(seats)


def _hand(view: HandView, lying: Iterable[CardView], turn: bool) -> HandShown:
    seen = list(lying)
    if len(seen) == len(view.cards):
        faces = [
            (c.face_up or code is not None, c.sideways) for c, code in zip(seen, view.cards, strict=True)
        ]
    else:
        # only the dealer has a card face down that nobody knows
        faces = [(code is not None or view.seat != 0, False) for code in view.cards]
    cards = tuple(CardShown(code, up, side) for code, (up, side) in zip(view.cards, faces, strict=True))
    return HandShown(cards, view.total, view.wager, view.status, turn)


def finding(
    said: Finding, number: int, round_number: int, profile: Profile, roles: Mapping[str, str]
) -> FindingShown:
    """A finding for the displays. number: which one since the start. roles: of the evidence, by reference."""
    unit: Literal["net", "cents", "total"] = "net"
    if _TOTALS.match(said.kind):
        unit = "total"
    elif _AMOUNTS.match(said.kind):
        unit = "cents"
    return FindingShown(
        id=str(number),
        t=said.t,
        round=round_number,
        kind=said.kind,
        seat=said.seat,
        hand=said.hand,
        severity=said.severity,
        text=said.text,
        expected=said.expected,
        observed=said.observed,
        unit=unit,
        rule=said.rule,
        sentence=profile.sentence(said.rule.rpartition(".")[2]),
        confidence=said.confidence,
        pictures=_pictures(said.evidence, roles),
    )


def _pictures(evidence: Iterable[str], roles: Mapping[str, str]) -> tuple[PictureRef, ...]:
    """One picture of each role: what was there first, and what came of it."""
    before: str | None = None
    found: dict[str, str] = {}
    for ref in evidence:
        role = roles.get(ref, "during")
        if role == "before":
            before = before or ref
        else:
            found[role] = ref
    ordered = [("before", before), ("during", found.get("during")), ("after", found.get("after"))]
    return tuple(PictureRef(role, ref) for role, ref in ordered if ref is not None)


class OverlayMaker:
    """Makes the marks for one camera and layout; what lies still is projected once."""

    def __init__(self, layout: Layout, camera: Camera) -> None:
        self._camera = camera
        self._spots = tuple(
            Mark("spot", self._pixels(_circle(x, y, layout.circle_r))) for x, y in layout.spots
        )
        self._lying: tuple[object, object] = ((), ())
        self._still: tuple[Mark, ...] = ()

    def __call__(self, snapshot: TableSnapshot, picture: int) -> Overlay:
        """Marks for everything that is known to lie on the felt, over picture number `picture`."""
        if (snapshot.cards, snapshot.stacks) != self._lying:
            self._lying = (snapshot.cards, snapshot.stacks)
            self._still = (*self._cards(snapshot.cards), *map(self._stack, snapshot.stacks))
        arms = (
            Mark("arm", self._pixels(a.outline), a.side or "") for a in snapshot.arms if len(a.outline) > 2
        )
        marks = (*self._spots, *self._still, *arms)
        return Overlay(picture, self._camera.width, self._camera.height, marks)

    def _cards(self, cards: tuple[CardView, ...]) -> Iterator[Mark]:
        for card in cards:
            over = [c for c in cards if c.order > card.order and math.hypot(c.x - card.x, c.y - card.y) < 110]
            *corners, at = self._pixels([*_corners(card), _showing(card, over)])
            label = card.card or ("" if card.face_up else "back")
            yield Mark("card", tuple(corners), label, card.confidence if card.face_up else None, at)

    def _stack(self, stack: StackView) -> Mark:
        ring = _circle(stack.x, stack.y, CHIP_MM / 2)
        height = CHIP_PITCH_MM * max(1, len(stack.chips))
        points = self._pixels([(x, y, z) for x, y in ring for z in (0.0, height)])
        label = "" if stack.amount is None else money(stack.amount)
        return Mark("stack", _hull(points), label, stack.confidence)

    def _pixels(self, points_mm: Sequence[Sequence[float]]) -> tuple[tuple[float, float], ...]:
        px = self._camera.project(np.asarray(points_mm, dtype=np.float64)).round(1)
        return tuple((u, v) for u, v in px.tolist())


def _circle(x: float, y: float, r: float) -> list[tuple[float, float]]:
    return [(x + r * c, y + r * s) for c, s in _CIRCLE]


def _local(card: CardView, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Table points (N, 2) in shares of the card's height and width from its middle."""
    a = math.radians(card.yaw)
    axes = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
    return np.asarray((points - (card.x, card.y)) @ axes / (CARD_MM[1], CARD_MM[0]))


def _on_table(card: CardView, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    a = math.radians(card.yaw)
    axes = np.array([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]])
    return np.asarray(shares * (CARD_MM[1], CARD_MM[0]) @ axes + (card.x, card.y))


_CORNERS = np.array([(0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5)])
_GRID = np.array([(u, v) for u in (-0.4, -0.2, 0.0, 0.2, 0.4) for v in (-0.35, 0.0, 0.35)])


def _corners(card: CardView) -> list[list[float]]:
    """(4, 2) corners in mm."""
    out: list[list[float]] = _on_table(card, _CORNERS).tolist()
    return out


def _showing(card: CardView, over: list[CardView]) -> tuple[float, float]:
    """The middle of the part of a card that no card over it covers, mm."""
    grid = _on_table(card, _GRID)
    free = np.ones(len(grid), dtype=np.bool_)
    for c in over:
        free &= (np.abs(_local(c, grid)) > 0.5).any(axis=1)
    x, y = grid[free].mean(axis=0) if free.any() else (card.x, card.y)
    return float(x), float(y)


def _hull(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    """Convex outline of points."""
    outline = cv2.convexHull(np.array(points, dtype=np.float32)).reshape(-1, 2).round(1)
    return tuple((round(u, 1), round(v, 1)) for u, v in outline.tolist())
