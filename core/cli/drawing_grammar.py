"""Grammar of the commands that draw runs: figures, films, pages and stories."""

from __future__ import annotations

from typing import Any

from core.cli.grammar import Parser, add_command, as_int, limit_option, number
from core.figures.names import ACROSS, EVERY_PANEL, FAMILIES, PAGE_FRAMES, PAGE_PANELS

SELECT = "highlight these neurons and dim all others: a saved set, or numbers such as 3-5,9"
PLANE = "plane of the neurons: motion, means, components, or two coordinates (default: 1,2)"
SHARE = "plot margins as shares of gamma_gl / 2, or of its replacement; computes it if needed"
FILM = (
    f"{', '.join(EVERY_PANEL)}; up to 4 with commas, or all for the paper's panels (default: "
    "neurons)"
)
MARGINS = "reference margins to draw as lines"
STORY = "a story, or a shipped study with one, which is trained (default: list those studies)"
HISTORY = "start a continued run at t = 0, with the earlier frames in its file"


def add_drawing_commands(commands: Any) -> None:
    """Add the commands that draw runs, in the order of the help."""
    _figure(commands)
    _movie(commands)
    _page(commands)
    _story(commands)


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
    command.add_argument(
        "--notes",
        action="store_true",
        help="mark the notes at moments on curves, and list them below",
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
    add_history_option(command)
    _add_page_options(command)


def _story(commands: Any) -> None:
    command = add_command(
        commands,
        "story",
        "stories.story",
        "export a story as a page that steps through it",
    )
    command.add_argument(
        "file", nargs="?", default=None, metavar="FILE.story.json|STUDY", help=STORY
    )
    command.add_argument("--out", default=None, metavar="f.html")
    _add_page_options(command)


def _add_page_options(command: Parser) -> None:
    command.add_argument(
        "--frames",
        type=as_int,
        default=PAGE_FRAMES,
        metavar="N",
        help=f"maximum number of frames, thinned evenly (default: {PAGE_FRAMES})",
    )
    command.add_argument("--title", default="", help="title (default: that of the runs)")
    command.add_argument(
        "--notes", action="store_true", help="list the notes at moments of the runs, as links"
    )
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
