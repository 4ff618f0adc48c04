"""The grammar of the commands that draw runs: figures, films and pages."""

from __future__ import annotations

from typing import Any

from core.cli.grammar import Parser, command_of, limit_option, number, whole
from core.figures.names import ACROSS, EVERY_PANEL, FAMILIES, PAGE_FRAMES, PAGE_PANELS

SELECT = "nodes beside which the others are dim: a set kept with the runs, or such as 3-5,9"
PLANE = "of the nodes: motion, means, components, or coordinates such as 1,2 (default)"
SHARE = "margins as shares of gamma_gl / 2, or of what stands for it; computes it where needed"
FILM = f"{', '.join(EVERY_PANEL)}, up to 4 of them, or all: the paper's (default: neurons)"
MARGINS = "reference margins as lines"


def add_drawing(commands: Any) -> None:
    """The commands that draw runs, as help lists them."""
    _figure(commands)
    _movie(commands)
    _page(commands)


def _figure(commands: Any) -> None:
    command = command_of(
        commands, "figure", "drawing.figure", "the paper's panels as PDF, SVG or PNG"
    )
    command.add_argument("targets", nargs="+", metavar="RUN|DIR|STUDY")
    command.add_argument("--out", required=True, metavar="f.pdf|svg|png")
    command.add_argument(
        "--panels",
        default=None,
        help=f"of {', '.join(EVERY_PANEL)} (default: the first four, or the study's own layout)",
    )
    command.add_argument(
        "--until", default=None, metavar="10^2.5", help="the moment shown (default: the last)"
    )
    command.add_argument("--rest", action="store_true", help="curves after --until, faint")
    command.add_argument(
        "--size", default=None, metavar="85mm|180mm|WxHmm", help="(default: as the panels need)"
    )
    command.add_argument("--font", type=number, default=7.0, help="points (default: 7)")
    command.add_argument("--letters", default="sans", choices=FAMILIES)
    command.add_argument("--no-caption", action="store_true", help="neither title nor caption")
    _look_options(command)
    command.add_argument("--dpi", type=whole, default=300, help="of a PNG (default: 300)")
    command.add_argument("--dark", action="store_true", help="the dark palette")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _movie(commands: Any) -> None:
    command = command_of(commands, "movie", "drawing.movie", "a film of a run as GIF, WebP or MP4")
    command.add_argument("targets", nargs="+", metavar="RUN")
    command.add_argument("--out", required=True, metavar="f.gif|webp|mp4")
    command.add_argument("--panel", default="neurons", metavar="NAME|all|NAME,NAME", help=FILM)
    _look_options(command)
    command.add_argument("--since", default=None, metavar="10^1", help="begin there (default: 0)")
    command.add_argument("--until", default=None, metavar="10^3", help="end there")
    command.add_argument(
        "--pixels", default=None, metavar="720p|1080p|WxH", help="(default: as the panels need)"
    )
    command.add_argument("--no-caption", action="store_true", help="neither heading nor clock")
    command.add_argument(
        "--range",
        default="moment",
        choices=("moment", "run"),
        help="of the nodes: it follows them, or is that of the whole run (default: moment)",
    )
    command.add_argument("--seconds", type=number, default=8.0, help="length (default: 8)")
    command.add_argument("--fps", type=whole, default=20, help="frames a second (default: 20)")
    command.add_argument("--dark", action="store_true", help="the dark palette")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _page(commands: Any) -> None:
    command = command_of(
        commands, "page", "drawing.page", "a figure that plays, as one HTML file for any browser"
    )
    command.add_argument("targets", nargs="+", metavar="RUN|DIR|STUDY")
    command.add_argument("--out", required=True, metavar="f.html")
    command.add_argument(
        "--views",
        default=None,
        metavar="NAME,NAME",
        help=f"of {', '.join(PAGE_PANELS)} (default: the first four)",
    )
    command.add_argument(
        "--frames",
        type=whole,
        default=PAGE_FRAMES,
        metavar="N",
        help=f"at most so many moments, evenly left out (default: {PAGE_FRAMES})",
    )
    command.add_argument("--title", default="", help="in the place of the runs' own")
    colours = command.add_mutually_exclusive_group()
    for name in ("light", "dark"):
        colours.add_argument(
            f"--{name}",
            action="store_const",
            const=name,
            default="system",
            dest="colours",
            help=f"begin with the {name} palette (default: that of the reader's system)",
        )
    _look_options(command, f"{MARGINS}, or none (default: all, which are computed)")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _look_options(command: Parser, margins: str = MARGINS) -> None:
    """How runs look in figures and films; I: is the place of a run, from 1, else all of them."""
    add = command.add_argument
    add("--plane", default=None, help=PLANE)
    add("--select", action="append", default=None, metavar="[I:]SET|NODES", help=SELECT)
    add("--pin", action="append", default=[], metavar="[I:]NODES", help="nodes with a ring")
    add(
        "--zoom",
        action="append",
        default=[],
        metavar="[I:]PANEL=LEFT,RIGHT,BOTTOM,TOP",
        help="the range of a panel, log10 of what stands on a logarithmic axis",
    )
    add("--curves", default=None, metavar="NAME,NAME", help="of the panel of that name")
    add("--log", action="store_true", help="curves by their logarithms")
    add("--against", default="log10_time", choices=ACROSS, help="what curves stand against")
    add("--nodes", default="weights", choices=("weights", "directions"))
    add("--roots", action="store_true", help="nodes by signed roots")
    add("--margins", default=None, metavar="NAME,NAME|all", help=margins)
    add("--share", action="store_true", help=SHARE)
    add(
        "--bound",
        action="append",
        default=[],
        metavar="STATEMENT",
        help='as telgarsky22 Lemma 2.3, or "final margin"',
    )
    add("--delta", type=number, default=0.05, help="failure probability (default: 0.05)")
    limit_option(command, "for each reference margin")
