"""From what the rooms know to what the displays show.

In: the watcher's `TableSnapshot` (mm), the audit's `TableView` (cents), a camera. Out: `board` dataclasses,
with overlay points in pixels of the camera's picture.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Literal

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
from pitwatch.vision.snapshot import CardView, TableSnapshot

__all__ = ["felt", "finding", "hands", "overlay"]

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


def overlay(snapshot: TableSnapshot, layout: Layout, camera: Camera, picture: int) -> Overlay:
    """Marks for everything that is known to lie on the felt, over picture number `picture`."""
    marks: list[Mark] = []
    for x, y in layout.spots:
        marks.append(Mark("spot", _pixels(camera, _circle(x, y, layout.circle_r))))
    outlines = [_card_corners(c) for c in snapshot.cards]
    for card, corners in zip(snapshot.cards, outlines, strict=True):
        over = [o for c, o in zip(snapshot.cards, outlines, strict=True) if c.order > card.order]
        at = _showing(card, over)
        marks.append(
            Mark(
                "card",
                _pixels(camera, corners),
                label=card.card or ("" if card.face_up else "back"),
                confidence=card.confidence if card.face_up else None,
                at=_pixels(camera, [at])[0],
            )
        )
    for stack in snapshot.stacks:
        base = [(x, y, 0.0) for x, y in _circle(stack.x, stack.y, CHIP_MM / 2)]
        height = CHIP_PITCH_MM * max(1, len(stack.chips))
        points = camera.project(np.array(base + [(x, y, height) for x, y, _ in base]))
        label = "" if stack.amount is None else money(stack.amount)
        marks.append(Mark("stack", _hull(points), label, stack.confidence))
    outlined = (arm for arm in snapshot.arms if len(arm.outline) > 2)
    marks.extend(Mark("arm", _pixels(camera, arm.outline), arm.side or "") for arm in outlined)
    return Overlay(picture, camera.width, camera.height, tuple(marks))


def _circle(x: float, y: float, r: float) -> list[tuple[float, float]]:
    return [(x + r * c, y + r * s) for c, s in _CIRCLE]


def _card_corners(card: CardView) -> NDArray[np.float64]:
    """(4, 2) corners in mm."""
    a = math.radians(card.yaw)
    up = np.array([math.cos(a), math.sin(a)]) * CARD_MM[1] / 2
    side = np.array([-math.sin(a), math.cos(a)]) * CARD_MM[0] / 2
    middle = np.array([card.x, card.y])
    return np.array([middle + up + side, middle + up - side, middle - up - side, middle - up + side])


def _showing(card: CardView, over: list[NDArray[np.float64]]) -> tuple[float, float]:
    """The middle of the part of a card that no card over it covers, mm."""
    a = math.radians(card.yaw)
    grid = [
        (
            card.x + u * math.cos(a) * CARD_MM[1] - v * math.sin(a) * CARD_MM[0],
            card.y + u * math.sin(a) * CARD_MM[1] + v * math.cos(a) * CARD_MM[0],
        )
        for u in (-0.4, -0.2, 0.0, 0.2, 0.4)
        for v in (-0.35, 0.0, 0.35)
    ]
    free = [p for p in grid if not any(_inside(p, corners) for corners in over)]
    chosen = np.mean(free or [(card.x, card.y)], axis=0)
    return float(chosen[0]), float(chosen[1])


def _inside(point: tuple[float, float], corners: NDArray[np.float64]) -> bool:
    edges = np.roll(corners, -1, axis=0) - corners
    to = np.array(point) - corners
    cross = edges[:, 0] * to[:, 1] - edges[:, 1] * to[:, 0]
    return bool((cross <= 0).all() or (cross >= 0).all())


def _pixels(camera: Camera, points_mm: object) -> tuple[tuple[float, float], ...]:
    px = camera.project(np.asarray(points_mm, dtype=np.float64))
    return tuple((round(float(u), 1), round(float(v), 1)) for u, v in px)


def _hull(points: NDArray[np.float64]) -> tuple[tuple[float, float], ...]:
    """Convex outline of points, monotone chain."""
    ordered = sorted({(round(float(x), 1), round(float(y), 1)) for x, y in points})

    def chain(sequence: list[tuple[float, float]]) -> list[tuple[float, float]]:
        out: list[tuple[float, float]] = []
        for p in sequence:
            while len(out) > 1 and _turn(out[-2], out[-1], p) <= 0:
                out.pop()
            out.append(p)
        return out[:-1]

    return tuple(chain(ordered) + chain(ordered[::-1]))


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
