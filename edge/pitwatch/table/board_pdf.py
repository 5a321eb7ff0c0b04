"""The board and the sheet of tags as PDF, in exact size and as vectors.

In: a board or a paper. Out: a one-page file with its measures and scale bars in print.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reportlab.pdfgen.canvas import Canvas

from pitwatch.errors import UserError
from pitwatch.table.board import COLUMNS, ROWS, TAG_MM, Board, board_named, tag_modules

__all__ = ["TAGS", "boxes", "write_board", "write_tags"]

TAGS = 6  # on a sheet
_POINT = 72 / 25.4  # points a mm
_TOP, _QUIET = 12.0, 8.0  # mm


def write_board(path: str | Path, paper: str) -> Board:
    """Write the board of a paper. Raises UserError for a paper or a place that will not do."""
    board = board_named(paper)
    (width, height), (w, h) = board.page_mm, board.size_mm
    page = _Page(path, board.page_mm, f"pitwatch board {paper}")
    left, bottom = (width - w) / 2, height - _TOP - h
    page.black(board.modules(), left, bottom, w, h)
    # the middles of the sides, to lay the board on a mark
    for x, y, dx, dy in (
        (width / 2, bottom - 1, 0, -4),
        (width / 2, bottom + h + 1, 0, 4),
        (left - 1, bottom + h / 2, -4, 0),
        (left + w + 1, bottom + h / 2, 4, 0),
    ):
        page.line(x, y, x + dx, y + dy)
    bar = 200.0 if width > 400 else 100.0
    page.bar(left, bottom - 11, bar)
    page.upright_bar(left - 8, bottom, 100.0)
    page.text(left + bar + 4, bottom - 10.5, f"must measure {bar:.0f} mm; the upright one 100 mm.", 9)
    page.text(
        left,
        bottom - 17,
        f"pitwatch board {paper.upper()}: {COLUMNS} x {ROWS} squares of {board.square_mm:g} mm, {w:g} x "
        f"{h:g} mm. Print at 100 %, never fitted to the page, and glue it on a flat plate.",
        8,
    )
    page.text(
        left,
        bottom - 21.5,
        "Bars of another length: measure a square's side and give it with --square. On the felt: this edge "
        "toward the dealer, text upright for the dealer.",
        8,
    )
    page.save()
    return board


def write_tags(path: str | Path, paper: str) -> None:
    """Write the sheet of tags. Raises UserError for a paper or a place that will not do."""
    height, width = board_named(paper).page_mm
    page = _Page(path, (width, height), "pitwatch tags for the felt")
    cell = TAG_MM + 2 * _QUIET + 8
    left, top = (width - 2 * cell) / 2, height - _TOP
    for i in range(TAGS):
        x, y = left + (i % 2) * cell, top - (i // 2 + 1) * cell
        page.line(x, y, x + cell, y, dashed=True)
        page.line(x, y + cell, x + cell, y + cell, dashed=True)
        page.line(x, y, x, y + cell, dashed=True)
        page.line(x + cell, y, x + cell, y + cell, dashed=True)
        a, b = x + (cell - TAG_MM) / 2, y + (cell - TAG_MM) / 2
        page.black(tag_modules(i), a, b, TAG_MM, TAG_MM)
        for dx, dy in ((0, -1), (0, 1), (-1, 0), (1, 0)):
            far, near = cell / 2, TAG_MM / 2 + _QUIET - 1
            mx, my = x + cell / 2, y + cell / 2
            page.line(mx + dx * near, my + dy * near, mx + dx * far, my + dy * far)
        page.text(x + 3, y + 3, f"tag {i}", 8)
    y = top - 3 * cell - 10
    page.bar(left, y, 100.0)
    page.text(left + 104, y + 0.5, "must measure 100 mm", 9)
    page.text(
        left, y - 6, f"pitwatch tags, AprilTag 36h11, {TAG_MM:g} mm black. Print at 100 %, cut along the", 8
    )
    page.text(
        left,
        y - 10,
        "dashes; lay four or more flat at the felt's corners and measure where their middles are.",
        8,
    )
    page.save()


def boxes(black: NDArray[np.bool_]) -> list[tuple[int, int, int, int]]:
    """Rectangles (x, y, width, height) that together cover exactly what is True."""
    out: list[tuple[int, int, int, int]] = []
    open_: dict[tuple[int, int], int] = {}
    for y, row in enumerate(np.vstack([black, np.zeros((1, black.shape[1]), bool)])):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(np.int8)))
        runs = {(int(a), int(b - a)) for a, b in zip(edges[::2], edges[1::2], strict=True)}
        for run in [r for r in open_ if r not in runs]:
            y0 = open_.pop(run)
            out.append((run[0], y0, run[1], y - y0))
        for run in runs:
            open_.setdefault(run, y)
    return sorted(out)


class _Page:
    """A sheet in mm, y up."""

    def __init__(self, path: str | Path, size_mm: tuple[float, float], title: str) -> None:
        self._path = Path(path)
        size = (size_mm[0] * _POINT, size_mm[1] * _POINT)
        # uncompressed, undated: the same bytes every time
        self._canvas: Any = Canvas(str(path), pagesize=size, pageCompression=0, invariant=1)
        self._canvas.setTitle(title)
        self._canvas.setCreator("pitwatch")
        self._canvas.setViewerPreference("PrintScaling", "None")
        self._canvas.scale(_POINT, _POINT)
        self._canvas.setLineWidth(0.25)

    def black(self, modules: NDArray[np.bool_], x: float, y: float, w: float, h: float) -> None:
        """Modules, the first row on top, in the rectangle whose lower left is (x, y)."""
        rows, columns = modules.shape
        path = self._canvas.beginPath()
        for c, r, n, m in boxes(modules):
            path.rect(x + c * w / columns, y + h - (r + m) * h / rows, n * w / columns, m * h / rows)
        # one path, or hairlines show between neighbours
        self._canvas.drawPath(path, stroke=0, fill=1)

    def line(self, x0: float, y0: float, x1: float, y1: float, dashed: bool = False) -> None:
        self._canvas.setDash(*((2, 1.5) if dashed else (())))
        self._canvas.line(x0, y0, x1, y1)

    def bar(self, x: float, y: float, length: float) -> None:
        """A scale bar, marked every 10 mm, its first mark at x."""
        self.line(x, y, x + length, y)
        for i in range(round(length / 10) + 1):
            self.line(x + 10 * i, y, x + 10 * i, y + (4 if i % 5 == 0 else 2))

    def upright_bar(self, x: float, y: float, length: float) -> None:
        self.line(x, y, x, y + length)
        for i in range(round(length / 10) + 1):
            self.line(x, y + 10 * i, x + (4 if i % 5 == 0 else 2), y + 10 * i)

    def text(self, x: float, y: float, text: str, points: float) -> None:
        self._canvas.setFont("Helvetica", points / _POINT)
        self._canvas.drawString(x, y, text)

    def save(self) -> None:
        if not self._path.parent.is_dir():
            raise UserError(f"{self._path} cannot be written: its folder does not exist; make it first")
        try:
            self._canvas.save()
        except OSError as e:
            raise UserError(
                f"{self._path} cannot be written ({e.strerror}); choose another place with --out"
            ) from None
