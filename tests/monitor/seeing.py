"""Eyes that see a simulated table as it is, so that a watch can be tested apart from its networks."""

from __future__ import annotations

import math

import numpy as np

from pitwatch.capture.frame import Frame
from pitwatch.cards import RANKS, SUITS
from pitwatch.sim.director import Director
from pitwatch.sim.scene import CardPose
from pitwatch.vision.looks import CardSeen, HandSeen, Look, StackSeen, Zone

_GRID = [(u, v) for u in np.linspace(-40, 40, 9) for v in np.linspace(-28, 28, 7)]


class SceneEyes:
    """Sees what lies in a zone at the frame's time, as surely as good eyes would; arms hide what is below."""

    def __init__(self, director: Director) -> None:
        self._director = director

    def look(self, frame: Frame, zone: Zone) -> Look:
        scene = self._director.scene(frame.t)
        lying = [c for c in scene.cards if c.z <= 10]
        palms = [(a.hand_x, a.hand_y) for a in scene.arms]
        cards = []
        for card in lying:
            if not zone.holds(card.x, card.y, 20) or _near(card.x, card.y, palms, 60):
                continue
            shows = _visible(card, [c for c in lying if c.order > card.order])
            if shows < 0.1:
                continue
            cards.append(_seen(card, shows))
        stacks = [
            StackSeen(s.x, s.y, 0.95, len(s.chips), s.chips, ((s.cents, 0.99),))
            for s in scene.stacks
            if s.z <= 10 and zone.holds(s.x, s.y) and not _near(s.x, s.y, palms, 60)
        ]
        hands = [HandSeen(x, y, 110.0, 90.0, 0.0, 0.9) for x, y in palms if zone.holds(x, y, -40)]
        return Look(frame.t, zone, tuple(cards), tuple(stacks), tuple(hands))


def _near(x: float, y: float, points: list[tuple[float, float]], within: float) -> bool:
    return any(math.hypot(x - px, y - py) < within for px, py in points)


def _visible(card: CardPose, over: list[CardPose]) -> float:
    a = math.radians(card.yaw)
    free = 0
    for u, v in _GRID:
        x = card.x + u * math.cos(a) - v * math.sin(a)
        y = card.y + u * math.sin(a) + v * math.cos(a)
        free += not any(_holds(c, x, y) for c in over)
    return free / len(_GRID)


def _holds(card: CardPose, x: float, y: float) -> bool:
    a = math.radians(card.yaw)
    dx, dy = x - card.x, y - card.y
    along, across = dx * math.cos(a) + dy * math.sin(a), dy * math.cos(a) - dx * math.sin(a)
    return abs(along) <= 44 and abs(across) <= 31.5


def _seen(card: CardPose, shows: float) -> CardSeen:
    yaw = card.yaw % 180
    if not card.face_up:
        return CardSeen(card.x, card.y, yaw, False, 0.95, visible=shows)

    def sure(of: str, among: str) -> tuple[float, ...]:
        return tuple(math.log(0.995 if c == of else 0.005 / (len(among) - 1)) for c in among)

    unread = 0.01 if shows > 0.2 else 0.95
    ranks, suits = sure(card.card[0], RANKS), sure(card.card[1], SUITS)
    return CardSeen(card.x, card.y, yaw, True, 0.95, ranks, suits, unread, shows)
