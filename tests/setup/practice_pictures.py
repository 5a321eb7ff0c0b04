"""A folder of pictures as a technician takes them: cards all over the felt, none, one at seat 3."""

from __future__ import annotations

from pathlib import Path

import cv2

from pitwatch.sim.practice import PracticeTable

PICTURES = {"1-cards.png": "cards", "2-empty.png": "nothing", "3-deal.png": "5h@3"}


def render(folder: Path, spec: str = "sim:") -> PracticeTable:
    """Write the pictures; the table that they show, whose camera is the truth."""
    table = PracticeTable.parse(spec)
    for name, what in PICTURES.items():
        table.lay(what)
        cv2.imwrite(str(folder / name), table.newest().image, [cv2.IMWRITE_PNG_COMPRESSION, 1])
    return table
