"""`pitwatch calibrate`: boards to print, the lens, the pose, the layout.

In: the command line's words. Out: calls into the room that knows tables, imported only when needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pitwatch.errors import UserError

__all__ = ["calibrate"]

calibrate = typer.Typer(no_args_is_help=True, help="Find out how a camera sees its table.")

_PAPER = "a3, a4, letter or tabloid."


@calibrate.command()
def board(
    out: Annotated[Path, typer.Option(help="The PDF to write.")],
    paper: Annotated[str, typer.Option(help=_PAPER)] = "a4",
    tags: Annotated[
        bool, typer.Option("--tags", help="Instead a sheet of tags for the corners of the felt.")
    ] = False,
) -> None:
    """Write the calibration board to print, in exact size, with scale bars to check the printer."""
    from pitwatch.table.board_pdf import TAGS, write_board, write_tags

    if tags:
        write_tags(out, paper)
        typer.echo(f"wrote {out}: {TAGS} tags; print at 100 %, and measure the bar: 100 mm")
        return
    b = write_board(out, paper)
    w, h = b.size_mm
    typer.echo(
        f"wrote {out}: squares of {b.square_mm:g} mm, "
        f"{w:g} x {h:g} mm in all; print at 100 % and measure the bars"
    )


@calibrate.command()
def lens(
    source: Annotated[
        str, typer.Option(help="A clip, a folder of pictures or v4l2:/dev/video0 that shows the board.")
    ],
    out: Annotated[Path, typer.Option(help="Where to write the lens; a picture goes beside it.")],
    board: Annotated[str | None, typer.Option(help="The board's paper; else whichever board shows.")] = None,
    seconds: Annotated[float, typer.Option(min=5, help="Longest time to watch a live camera.")] = 180.0,
) -> None:
    """Calibrate focal length and distortion from a board that is moved about before the camera."""
    from pitwatch.cli.lens import calibrate_lens

    calibrate_lens(source, out, board, seconds)


@calibrate.command()
def pose(
    picture: Annotated[
        list[Path],
        typer.Option(
            help="A picture of the table, taken by the mounted camera; with --from-cards several, one after "
            "another."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where to write the calibration.")],
    points: Annotated[Path | None, typer.Option(help='JSON: [{"px": [x, y], "mm": [X, Y]}, ...]')] = None,
    lens: Annotated[Path | None, typer.Option(help="A calibration whose lens to keep.")] = None,
    from_cards: Annotated[
        bool, typer.Option("--from-cards", help="Six to ten cards lie on the felt; two points are enough.")
    ] = False,
    board: Annotated[
        str | None,
        typer.Option(help="The board of this paper lies on the felt; needs --board-at or --points."),
    ] = None,
    board_at: Annotated[
        str | None, typer.Option(help="X,Y,TURN of the board's middle, mm and degrees counter-clockwise.")
    ] = None,
    square: Annotated[
        float | None, typer.Option(help="Side of a printed square, mm, where the printer missed 100 %.")
    ] = None,
    tags: Annotated[
        Path | None, typer.Option(help='Tags lie on the felt; JSON of their middles: {"0": [X, Y], ...}')
    ] = None,
    layout: Annotated[
        str | None, typer.Option(help="Layout file or number of seats, for the ± mm at every spot.")
    ] = None,
) -> None:
    """Calibrate from points whose place on the table is known, from cards, the board or tags."""
    if from_cards + (board is not None) + (tags is not None) > 1:
        raise UserError("--from-cards, --board and --tags exclude each other; keep one of them")
    if len(picture) > 1 and not from_cards:
        raise UserError(f"--picture was given {len(picture)} times; only --from-cards takes more than one")
    if board is None and (board_at is not None or square is not None):
        raise UserError("--board-at and --square are about the board; name its paper with --board")
    if board is not None:
        from pitwatch.table.board import board_named
        from pitwatch.table.from_board import board_place, run_calibrate_from_board

        at = None if board_at is None else board_place(board_at)
        known = board_named(board, square)
        run_calibrate_from_board(picture[0], known, at, points, lens, out, typer.echo, layout)
        return
    if tags is not None:
        from pitwatch.table.from_board import run_calibrate_from_tags

        run_calibrate_from_tags(picture[0], tags, points, lens, out, typer.echo, layout)
        return
    from pitwatch.table.calibrate import run_calibrate_from_cards, run_calibrate_pose

    if points is None:
        raise UserError("--points is missing; give known points, or lay the board (--board) or tags (--tags)")
    if from_cards:
        run_calibrate_from_cards(picture, points, lens, out, typer.echo, layout)
    else:
        run_calibrate_pose(picture[0], points, lens, out, typer.echo, layout)


@calibrate.command()
def layout(
    picture: Annotated[Path, typer.Option(help="A picture of the empty table by the mounted camera.")],
    calibration: Annotated[Path, typer.Option(help="The camera's calibration, from `calibrate pose`.")],
    seats: Annotated[int, typer.Option(help="How many betting spots the felt has.")],
    out: Annotated[Path, typer.Option(help="Where to write the layout; a check picture goes beside it.")],
    table: Annotated[
        Path | None, typer.Option(help="Also begin a table's file here, with every key explained.")
    ] = None,
) -> None:
    """Find the felt's printed circles and write where every seat's spot is."""
    from pitwatch.cli.felt import calibrate_layout

    calibrate_layout(picture, calibration, seats, out, table, typer.echo)
