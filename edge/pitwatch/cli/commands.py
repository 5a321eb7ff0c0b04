"""What can be asked of pitwatch, and with which options.

In: the command line's words. Out: calls into the rooms, imported only when they are needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pitwatch import __version__
from pitwatch.cli.calibrating import calibrate
from pitwatch.cli.pit import pit
from pitwatch.cli.rulebook import rules
from pitwatch.errors import UserError

__all__ = ["app"]

app = typer.Typer(
    name="pitwatch",
    help="A camera over a blackjack table that knows when a hand is dealt or paid wrongly.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # boxes around the help cost a quarter of a second
    context_settings={"help_option_names": ["-h", "--help"]},
)
models = typer.Typer(no_args_is_help=True, help="The trained weights that come with pitwatch.")
sim = typer.Typer(
    invoke_without_command=True,
    help="Write a simulated table to a folder: its pictures, its truth, all that `watch` needs to see it.",
)
app.add_typer(sim, name="sim")
app.add_typer(calibrate, name="calibrate")
app.add_typer(models, name="models")
app.add_typer(pit, name="pit")
app.add_typer(rules, name="rules")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"pitwatch {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command()
def watch(
    table: Annotated[Path, typer.Option(help="The table's file; calibration/table.example.toml shows one.")],
    source: Annotated[
        str | None,
        typer.Option(help="A video file, a folder of pictures, v4l2:/dev/video0, or sim:; else the table's."),
    ] = None,
    fps: Annotated[
        float | None, typer.Option(help="Pictures a second, of a folder or asked of a camera.")
    ] = None,
    settled: Annotated[
        bool, typer.Option("--settled", help="Every picture of the folder shows the table at rest.")
    ] = False,
    mqtt: Annotated[
        str | None,
        typer.Option(
            help="The broker, mqtt://host:port; 'off' for none. Else the table's, else an embedded one."
        ),
    ] = None,
    journal: Annotated[Path | None, typer.Option(help="The journal's file; else the table's.")] = None,
    page: Annotated[bool, typer.Option("--page/--no-page", help="Serve the page on this computer.")] = False,
    port: Annotated[int | None, typer.Option(help="The page's port; else 8710 or a free one.")] = None,
    json: Annotated[bool, typer.Option("--json", help="End with one line of JSON.")] = False,
) -> None:
    """Watch one table until the source ends or Ctrl-C."""
    from pitwatch.cli.watching import watch_table

    watch_table(
        table,
        source,
        fps=fps,
        settled=settled,
        mqtt=mqtt,
        journal=journal,
        page=page,
        port=port,
        as_json=json,
    )


@app.command()
def setup(
    folder: Annotated[
        Path, typer.Option(help="Where the table's file and all else is written; made when missing.")
    ] = Path(),
    source: Annotated[
        str | None, typer.Option(help="Begin with this camera, clip or folder; sim: to practise.")
    ] = None,
    restore: Annotated[
        Path | None, typer.Option(help="Go on from a backup, on a swapped device, in an empty folder.")
    ] = None,
    network: Annotated[
        bool,
        typer.Option("--network", help="Also for phones in the local network, with a one-time code."),
    ] = False,
    port: Annotated[int | None, typer.Option(help="The page's port; else 8720 or a free one.")] = None,
) -> None:
    """Set up a table on a page in the browser: camera, calibration, layout, rules, test deal."""
    from pitwatch.cli.setting_up import set_up

    set_up(folder, source, restore, network, port)


@app.command()
def check(
    table: Annotated[Path, typer.Option(help="The table's file.")],
    picture: Annotated[
        Path | None,
        typer.Option(help="A picture by the mounted camera: focus, exposure and glare count too."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Draw the verdicts over the picture, to this PNG.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead.")] = False,
) -> None:
    """Say what this mounting can judge at every seat, and what to change."""
    from pitwatch.cli.check import check_table

    check_table(table, picture, out, json)


@app.command()
def demo(
    rounds: Annotated[
        int | None, typer.Option(min=1, help="End after this many rounds; else with Ctrl-C.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed, other rounds.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="End with one line of JSON.")] = False,
    page: Annotated[bool, typer.Option("--page/--no-page", help="Serve the page on this computer.")] = True,
    port: Annotated[int | None, typer.Option(help="The page's port; else 8710 or a free one.")] = None,
    realtime: Annotated[
        bool | None,
        typer.Option(
            "--realtime/--fast",
            help="As a camera delivers, missing what comes too fast; or as fast as this computer can.",
        ),
    ] = None,
    mqtt: Annotated[
        str | None, typer.Option(help="A broker, mqtt://host:port; else an embedded one.")
    ] = None,
    journal: Annotated[Path | None, typer.Option(help="Keep the journal in this file.")] = None,
) -> None:
    """Watch a simulated table, misplays included: no camera needed."""
    from pitwatch.cli.demo import run_demo

    run_demo(rounds, seed, as_json=json, page=page, port=port, realtime=realtime, mqtt=mqtt, journal=journal)


@sim.callback()
def _sim(
    ctx: typer.Context,
    out: Annotated[
        Path | None, typer.Option(help="The folder to write to; made when missing.", show_default=False)
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How many rounds.")] = 1,
    seed: Annotated[int, typer.Option(help="Another seed, other rounds.")] = 1,
    width: Annotated[int, typer.Option(min=320, max=7680, help="Pixels.")] = 1920,
    height: Annotated[int, typer.Option(min=180, max=4320, help="Pixels.")] = 1080,
    fps: Annotated[float, typer.Option(min=1, max=60, help="Pictures a second.")] = 15,
    video: Annotated[bool, typer.Option("--video/--frames", help="One video, or a picture a frame.")] = True,
) -> None:
    if ctx.invoked_subcommand is not None:
        return
    if out is None:
        raise UserError("name the folder to write to with --out, or say `pitwatch sim traffic`")
    from pitwatch.cli.simulate import write_sim

    write_sim(out, rounds=rounds, seed=seed, width=width, height=height, fps=fps, video=video, say=typer.echo)


@sim.command()
def traffic(
    mqtt: Annotated[str, typer.Option(help="The broker, mqtt://host:port.")],
    tables: Annotated[int, typer.Option(min=1, max=5000, help="How many tables.")] = 8,
    rounds: Annotated[int, typer.Option(min=1, help="How many rounds at each.")] = 10,
    speed: Annotated[float, typer.Option(min=0.1, max=10_000, help="Times as fast as people deal.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Another seed, other rounds.")] = 1,
    site: Annotated[str, typer.Option(help="The site that the tables belong to.")] = "sim",
    linger: Annotated[
        float, typer.Option(min=0, help="Seconds to go on answering collectors at the end.")
    ] = 0.0,
    json: Annotated[bool, typer.Option("--json", help="End with one line of JSON.")] = False,
) -> None:
    """Publish what watched tables would, misplays included: traffic for trying a pit, without pictures."""
    from pitwatch.cli.traffic import run_traffic

    run_traffic(
        tables=tables,
        rounds=rounds,
        speed=speed,
        mqtt=mqtt,
        seed=seed,
        site=site,
        linger=linger,
        as_json=json,
    )


@app.command()
def audit(
    file: Annotated[Path, typer.Argument(help="A table-event file.")],
    notation: Annotated[
        bool, typer.Option("--notation", help="Print the rounds instead of the findings.")
    ] = False,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Print the shoe's and the seats' figures instead.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="The figures as one JSON object.")] = False,
) -> None:
    """Judge a table-event file: one finding a line, as JSON. Status 1 when there are findings."""
    if statistics:
        from pitwatch.cli.figures import print_figures

        raise typer.Exit(print_figures(file, as_json=json))
    from pitwatch.game.audit import run_audit

    raise typer.Exit(run_audit(file, typer.echo, notation))


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A table-event file.")],
    speed: Annotated[
        float | None, typer.Option(help="Play by itself, so many times as fast as it happened.")
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Lines of text, no screen; so too in a pipe.")
    ] = False,
) -> None:
    """Step through a table-event file: the table after each event, and findings as they come."""
    from pitwatch.cli.replay import replay as step_through

    step_through(file, speed=speed, plain=plain)


@app.command(name="eval")
def evaluate(
    paths: Annotated[list[Path], typer.Argument(help="Folders of pictures with truth.json or labels.json.")],
    errors: Annotated[
        Path | None, typer.Option(help="Write a picture of every mistake to this folder.")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="A folder of weights; those that come with pitwatch when left out.")
    ] = None,
) -> None:
    """Measure how well cards, chips and rounds are read: one line of figures a folder, as JSON."""
    from pitwatch.evaluate import run_eval

    raise typer.Exit(run_eval(paths, errors, typer.echo, weights=weights))


@models.command(name="list")
def list_models() -> None:
    """Say which weights there are, what they do, how good they are and under which licence."""
    from pitwatch.cli.weights import print_weights

    print_weights(typer.echo)


@models.command()
def adapt(
    out: Annotated[Path, typer.Argument(help="Folder to write the adapted weights to.")],
    deck: Annotated[
        list[Path] | None,
        typer.Option(help="Picture of the deck, each suit in a row from ace to king; once for each picture."),
    ] = None,
    chips: Annotated[
        Path | None,
        typer.Option(help="Folder with a picture of each chip from above, named by its value: 25.jpg."),
    ] = None,
    suits: Annotated[
        str, typer.Option(help="The suits of the rows from the top: clubs, diamonds, hearts, spades.")
    ] = "cdhs",
    name: Annotated[str, typer.Option(help="What the house's set is called.")] = "house",
    samples: Annotated[int, typer.Option(min=200, help="Pictures to draw for each reader.")] = 2400,
    seed: Annotated[int, typer.Option(help="The same seed gives the same weights.")] = 1,
    weights: Annotated[Path | None, typer.Option(help="Start from this folder of weights.")] = None,
) -> None:
    """Make the readers better on a house's own deck and chips, in minutes, with scores before and after."""
    from pitwatch.adapt.adapting import adapt as make

    make(deck or [], chips, out, suits=suits, name=name, samples=samples, seed=seed, base=weights)


@models.command()
def verify() -> None:
    """Check every weight file against the hash in the manifest."""
    from pitwatch.cli.weights import verify_weights

    verify_weights(typer.echo)
