"""Elements of every command's grammar; the commands with the most options: hunts and pictures."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any, NoReturn, final

from core.cli.output import MARGIN_SECONDS, PROGRAM, print_notice
from core.figures.names import ACROSS, EVERY_PANEL, FAMILIES, PAGE_FRAMES, PAGE_PANELS
from core.program import headless_program
from core.studies.hunt_kinds import OVERS, TAKES

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


@final
class Parser(argparse.ArgumentParser):
    """Parser with errors of one sentence, which suggest the command that was meant."""

    has_commands = False

    def add_subparsers(self, **options: Any) -> Any:
        self.has_commands = True
        return super().add_subparsers(**options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but refuse unknown arguments in the command itself.

        argparse leaves them to the program, whose help does not show the command's options.
        """
        namespace_, unknown = super().parse_known_args(args, namespace)
        if unknown and not self.has_commands:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return namespace_, unknown

    def error(self, message: str) -> NoReturn:
        name = self.prog.replace(headless_program(), PROGRAM, 1)
        print_notice(f"{name}: {message}; see {self.prog} --help.")
        sys.exit(2)


def number(text: str) -> float:
    """Parse a number in ASCII digits; Python alone accepts 1_0 and the digits of other scripts."""
    # argparse turns a ValueError into an error that names the option.
    if not text.isascii() or "_" in text:
        raise ValueError
    return float(text)


def as_int(text: str) -> int:
    """Parse a whole number of at most 18 digits.

    >>> as_int("123456789012345678")
    123456789012345678
    """
    # 18 digits fit into 64 bits; Python parses longer texts in quadratic time.
    if not WHOLE.fullmatch(text):
        raise ValueError
    return int(text)


def add_command(commands: Any, name: str, handler: str, words: str) -> Parser:
    """Add a command.

    Parameters
    ----------
    commands : subparsers of argparse
        Commands of the program.
    name : str
        Name of the command.
    handler : str
        Function of core.cli, MODULE.FUNCTION.
    words : str
        Help in one line.

    Returns
    -------
    Parser
    """
    command: Parser = commands.add_parser(name, help=words)
    command.set_defaults(handler=handler)
    return command


def settings_option(command: Parser, words: str | None = None) -> None:
    """Add --set KEY=VALUE, which may be given several times."""
    command.add_argument(
        "--set", action="append", default=[], dest="settings", metavar="KEY=VALUE", help=words
    )


def size_options(command: Parser) -> None:
    """Add --quick and --paper, of which one may be given."""
    size = command.add_mutually_exclusive_group()
    for name in ("quick", "paper"):
        size.add_argument(f"--{name}", action="store_const", const=name, dest="size")


def place_options(command: Parser, scheduler: str) -> Any:
    """Add --jobs and --cluster, of which one may be given; return their group."""
    where = command.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs",
        type=as_int,
        default=None,
        metavar="N",
        help="number of processes (default: one per core)",
    )
    where.add_argument("--cluster", default=None, metavar="ADDRESS", help=scheduler)
    return where


def limit_option(command: Parser, words: str) -> None:
    """Add --limit, the time that a reference margin may take."""
    command.add_argument(
        "--limit",
        type=number,
        default=MARGIN_SECONDS,
        metavar="SECONDS",
        help=f"{words} (default: {MARGIN_SECONDS:g})",
    )


# --------------------------------------------------------------------------------------------- hunt


def add_hunt_command(commands: Any) -> None:
    """Add the command `hunt` and its options."""
    words = "search the runs of a study for extreme values"
    command = add_command(commands, "hunt", "hunting.hunt", words)
    command.add_argument("study", metavar="STUDY|FILE.toml")
    _add_objective_options(command)
    _add_hunt_limits(command)
    _add_drawing_commands(command)


def _add_objective_options(command: Parser) -> None:
    """Add the options of a hunt's objective."""
    help_text = (
        "minimise an observable, a formula, slack:STATEMENT or ratio:STATEMENT (default: the "
        "study's)"
    )
    sense = command.add_mutually_exclusive_group()
    sense.add_argument("--minimise", default=None, metavar="FORMULA", help=help_text)
    sense.add_argument("--maximise", default=None, metavar="FORMULA", help="maximise one of these")
    command.add_argument(
        "--over", default=None, choices=OVERS, help="quantity to vary (default: seeds)"
    )
    command.add_argument(
        "--take",
        default=None,
        choices=TAKES,
        help="value of each run: its last, or the least or largest over all frames (default: last)",
    )
    command.add_argument(
        "--after",
        default=None,
        metavar="FORMULA",
        help="use only frames after this formula turned positive",
    )
    command.add_argument(
        "--exclude-unfit",
        action="store_true",
        help="rank only runs that end without training errors",
    )
    command.add_argument(
        "--at", default=None, metavar="TIME", help="evaluate at this time, such as 300 or 10^2.5"
    )


def _add_hunt_limits(command: Parser) -> None:
    command.add_argument(
        "--budget",
        default=None,
        metavar="300s|5m|1h|N",
        help="time limit, or number of runs (default: 5m)",
    )
    command.add_argument("--runs", type=as_int, default=None, metavar="N", help="number of runs")
    command.add_argument(
        "--drawn",
        type=as_int,
        default=None,
        metavar="N",
        help="runs sampled before the search refines the best (default: 32)",
    )
    command.add_argument(
        "--seeds",
        default=None,
        metavar="FIRST-LAST",
        help="try each of these seeds once (default: random seeds)",
    )
    command.add_argument(
        "--seed", type=as_int, default=0, metavar="N", help="seed of the search itself (default: 0)"
    )
    command.add_argument(
        "--flip-labels", action="store_true", help="with --over data: vary labels too"
    )


def _add_drawing_commands(command: Parser) -> None:
    command.add_argument(
        "--output",
        default="hunts",
        metavar="DIR",
        help="folder for runs and table (default: hunts)",
    )
    command.add_argument(
        "--table",
        default=None,
        metavar="x.csv|npz|parquet",
        help="also write a table of all runs to this file",
    )
    command.add_argument(
        "--best",
        type=as_int,
        default=None,
        metavar="K",
        help="number of run files to keep (default: 10)",
    )
    command.add_argument("--keep-all", action="store_true", help="keep every run file")
    settings_option(command)
    command.add_argument("--force", action="store_true", help="replace the results of another hunt")
    command.add_argument("--quiet", action="store_true", help="no progress bar")
    size_options(command)
    place_options(command, "Dask scheduler")


# ------------------------------------------------------------------------- figures, films and pages

SELECT = "highlight these neurons and dim all others: a saved set, or numbers such as 3-5,9"
PLANE = "plane of the neurons: motion, means, components, or two coordinates (default: 1,2)"
SHARE = "plot margins as shares of gamma_gl / 2, or of its replacement; computes it if needed"
FILM = (
    f"{', '.join(EVERY_PANEL)}; up to 4 with commas, or all for the paper's panels (default: "
    "neurons)"
)
MARGINS = "reference margins to draw as lines"
HISTORY = "start a continued run at t = 0, with the earlier frames in its file"


def add_drawing_commands(commands: Any) -> None:
    """Add the commands that draw runs, in the order of the help."""
    _figure(commands)
    _movie(commands)
    _page(commands)


def _figure(commands: Any) -> None:
    command = add_command(
        commands, "figure", "drawing.figure", "draw runs or a study as PDF, SVG or PNG"
    )
    command.add_argument("targets", nargs="+", metavar="RUN|DIR|STUDY")
    command.add_argument("--out", required=True, metavar="f.pdf|svg|png")
    command.add_argument(
        "--panels",
        default=None,
        help=f"any of {', '.join(EVERY_PANEL)} (default: the first four, or the study's layout)",
    )
    command.add_argument(
        "--until",
        default=None,
        metavar="10^2.5",
        help="show the runs at this time (default: the end)",
    )
    command.add_argument("--rest", action="store_true", help="draw curves faintly after --until")
    command.add_argument(
        "--size",
        default=None,
        metavar="85mm|180mm|WxHmm",
        help="size (default: fitted to the panels)",
    )
    command.add_argument(
        "--font", type=number, default=7.0, help="font size in points (default: 7)"
    )
    command.add_argument("--letters", default="sans", choices=FAMILIES)
    command.add_argument("--no-caption", action="store_true", help="omit title and caption")
    command.add_argument(
        "--no-claims", action="store_true", help="omit the verdicts on a study's claims"
    )
    _add_view_options(command)
    add_history_option(command)
    command.add_argument(
        "--dpi", type=as_int, default=300, help="resolution of a PNG (default: 300)"
    )
    command.add_argument("--dark", action="store_true", help="use the dark palette")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _movie(commands: Any) -> None:
    command = add_command(
        commands, "movie", "drawing.movie", "make a film of a run as GIF, WebP or MP4"
    )
    command.add_argument("targets", nargs="+", metavar="RUN")
    command.add_argument("--out", required=True, metavar="f.gif|webp|mp4")
    command.add_argument("--panel", default="neurons", metavar="NAME|all|NAME,NAME", help=FILM)
    _add_view_options(command)
    add_history_option(command)
    command.add_argument("--since", default=None, metavar="10^1", help="start time (default: 0)")
    command.add_argument(
        "--until", default=None, metavar="10^3", help="end time (default: the end of the run)"
    )
    command.add_argument(
        "--pixels",
        default=None,
        metavar="720p|1080p|WxH",
        help="size (default: fitted to the panels)",
    )
    command.add_argument("--no-caption", action="store_true", help="omit heading and clock")
    command.add_argument(
        "--range",
        default="moment",
        choices=("moment", "run"),
        help="axes of the neurons: follow each moment, or fit the whole run (default: moment)",
    )
    command.add_argument(
        "--seconds", type=number, default=8.0, help="length in seconds (default: 8)"
    )
    command.add_argument("--fps", type=as_int, default=20, help="frames per second (default: 20)")
    command.add_argument("--dark", action="store_true", help="use the dark palette")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _page(commands: Any) -> None:
    command = add_command(
        commands, "page", "drawing.page", "export runs as an interactive HTML page"
    )
    command.add_argument("targets", nargs="+", metavar="RUN|DIR|STUDY")
    command.add_argument("--out", required=True, metavar="f.html")
    command.add_argument(
        "--views",
        default=None,
        metavar="NAME,NAME",
        help=f"any of {', '.join(PAGE_PANELS)} (default: the first four)",
    )
    command.add_argument(
        "--frames",
        type=as_int,
        default=PAGE_FRAMES,
        metavar="N",
        help=f"maximum number of frames, thinned evenly (default: {PAGE_FRAMES})",
    )
    command.add_argument("--title", default="", help="title (default: that of the runs)")
    colours = command.add_mutually_exclusive_group()
    for name in ("light", "dark"):
        colours.add_argument(
            f"--{name}",
            action="store_const",
            const=name,
            default="system",
            dest="colours",
            help=f"open with the {name} palette (default: as the reader's system)",
        )
    _add_view_options(command, f"{MARGINS}, or none (default: all; computes them)")
    add_history_option(command)
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def add_history_option(command: Parser) -> None:
    """Add the option for the frames before the start of a continued run."""
    command.add_argument("--history", action="store_true", help=HISTORY)


def _add_view_options(command: Parser, margins: str = MARGINS) -> None:
    """Add the style options of runs; `I:` addresses a run by its place, from 1, else all runs."""
    add = command.add_argument
    add("--plane", default=None, help=PLANE)
    add("--select", action="append", default=None, metavar="[I:]SET|NODES", help=SELECT)
    add(
        "--pin",
        action="append",
        default=[],
        metavar="[I:]NODES",
        help="mark these neurons with a ring",
    )
    add(
        "--zoom",
        action="append",
        default=[],
        metavar="[I:]PANEL=LEFT,RIGHT,BOTTOM,TOP",
        help="axis ranges of a panel, as log10 on logarithmic axes",
    )
    add("--curves", default=None, metavar="NAME,NAME", help="observables in the panel `curves`")
    add("--log", action="store_true", help="plot curves on a logarithmic axis")
    add("--against", default="log10_time", choices=ACROSS, help="horizontal axis of curves")
    add("--nodes", default="weights", choices=("weights", "directions"))
    add("--roots", action="store_true", help="plot neurons on a signed square-root scale")
    add("--margins", default=None, metavar="NAME,NAME|all", help=margins)
    add("--share", action="store_true", help=SHARE)
    add(
        "--bound",
        action="append",
        default=[],
        metavar="STATEMENT",
        help='draw a statement\'s bound, such as telgarsky22 Lemma 2.3, or "final margin"',
    )
    add("--delta", type=number, default=0.05, help="failure probability (default: 0.05)")
    limit_option(command, "time limit for each reference margin")
