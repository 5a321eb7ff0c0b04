"""A recorded state of a table, with its picture and a finding's pictures, drawn small and plain."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from pitwatch.monitor.board import (
    BoardState,
    CardShown,
    Felt,
    FindingShown,
    HandShown,
    Health,
    Mark,
    Overlay,
    PictureRef,
    SeatShown,
)
from pitwatch.monitor.hub import Hub
from pitwatch.table.layout import template

SIZE = (1280, 720)


def cards(text: str) -> tuple[CardShown, ...]:
    """Cards from "Ks 5h ? back": "?" unread, "back" face down, a trailing "-" laid sideways."""
    out = []
    for word in text.split():
        code = None if word in ("?", "back") else word.rstrip("-")
        out.append(CardShown(code, face_up=word != "back", sideways=word.endswith("-")))
    return tuple(out)


def box(x: float, y: float, w: float, h: float) -> tuple[tuple[float, float], ...]:
    return ((x, y), (x + w, y + 6), (x + w - 4, y + h), (x - 4, y + h - 6))


STATE = BoardState(
    table="BJ-07",
    site="main-floor",
    rules="greektown",
    t=754.2,
    round=7,
    phase="players act",
    dealer=HandShown(cards("6d back"), total="6"),
    seats=(
        SeatShown(1, (HandShown(cards("Ks Ah"), "21", 2500, "blackjack"),)),
        SeatShown(2, (HandShown(cards("Ts 9h 5c"), "24", 5000, "bust"),)),
        SeatShown(
            3,
            (
                HandShown(cards("8h 3d Td-"), "21", 20000, "doubled"),
                HandShown(cards("8s 7?"), "15", 10000, turn=True),
            ),
        ),
        SeatShown(4, (HandShown(cards("Ac 6c"), "soft 17", 1250),), {"insurance": 500}),
        SeatShown(5),
        SeatShown(6, (HandShown(cards("? 4d"), "?", None),)),
    ),
    felt=Felt(template(6).spots, (0.0, 60.0, 400.0), "players"),
    overlay=Overlay(
        4,
        *SIZE,
        (
            Mark("spot", box(200, 300, 70, 60)),
            Mark("card", box(300, 300, 60, 84), "Ks", 0.99),
            Mark("card", box(340, 310, 60, 84), "Ah", 0.97),
            Mark("card", box(600, 200, 60, 84), "7?", 0.81),
            Mark("card", box(800, 300, 60, 84), "", 0.3),
            Mark("stack", box(210, 310, 40, 40), "$25", 0.96),
            Mark("arm", ((640, 720), (700, 500), (760, 510), (740, 720))),
        ),
    ),
    health=Health(
        frames=11310,
        fps=14.9,
        ms_per_frame=48.0,
        hands_judged=41,
        hands_total=42,
        broker="connected",
        broker_status="Connected to mqtt://127.0.0.1:1883.",
    ),
)

FINDINGS = (
    FindingShown(
        id="f1",
        t=611.0,
        round=6,
        kind="wager_raised",
        seat=2,
        hand=0,
        severity="alert",
        text="Seat 2's wager grew from $25 to $50 during play.",
        expected=2500,
        observed=5000,
        unit="cents",
        rule="greektown.wager",
        sentence="Once the first card has been removed from the shoe, no wager shall be made or increased.",
    ),
    FindingShown(
        id="f2",
        t=748.5,
        round=7,
        kind="paid_short",
        seat=1,
        hand=0,
        severity="alert",
        text="Seat 1's blackjack was paid $25.00; 3:2 on $25.00 is $37.50.",
        expected=3750,
        observed=2500,
        unit="net",
        rule="greektown.blackjack_pays",
        sentence="Blackjack shall be paid at odds of 3 to 2.",
        pictures=(PictureRef("before", "p1"), PictureRef("during", "p2"), PictureRef("after", "p3")),
    ),
    FindingShown(
        id="f3",
        t=752.0,
        round=7,
        kind="deal_order",
        seat=4,
        hand=0,
        severity="notice",
        text="Seat 4 was dealt before seat 3.",
        expected=None,
        observed=None,
        rule="greektown.deal",
    ),
)


def picture(colour: tuple[int, int, int], size: tuple[int, int] = SIZE) -> NDArray[np.uint8]:
    """A flat picture with a light card on it."""
    image = np.empty((size[1], size[0], 3), np.uint8)
    image[:] = colour
    w, h = size
    cv2.rectangle(image, (w // 3, h // 3), (w // 3 + w // 8, h // 3 + h // 4), (235, 240, 240), -1)
    return image


def jpeg(colour: tuple[int, int, int]) -> bytes:
    return bytes(cv2.imencode(".jpg", picture(colour, (480, 360)))[1])


def recorded_hub() -> Hub:
    """A hub that holds the recorded state, its picture and its findings."""
    stored = {"p1": jpeg((60, 90, 30)), "p2": jpeg((60, 60, 120)), "p3": jpeg((60, 110, 90))}
    hub = Hub(stored.get)
    for finding in FINDINGS:
        hub.add_finding(finding)
    hub.show(STATE, picture((58, 92, 22)))
    return hub
