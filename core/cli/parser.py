"""The command line's grammar."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any, NoReturn, final

from core import __version__
from core.cli.output import MARGIN_SECONDS, PROGRAM
from core.comparison.question import AGAINST, BANDS, KINDS
from core.compiled import warming
from core.figures.names import ACROSS, EVERY_PANEL, FAMILIES

SELECT = "nodes beside which the others are dim: a set kept with the runs, or such as 3-5,9"
PLANE = "of the nodes: motion, means, components, or coordinates such as 1,2 (default)"
SHARE = "margins as shares of gamma_gl / 2, or of what stands for it; computes it where needed"
FILM = f"{', '.join(EVERY_PANEL)}, up to 4 of them, or all: the paper's (default: neurons)"
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


@final
class Parser(argparse.ArgumentParser):
    """A parser that complains in one sentence."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}; see {self.prog} --help.", file=sys.stderr)
        sys.exit(2)


def number(text: str) -> float:
    """A number in ASCII digits; Python alone takes 1_0 and the digits of other scripts too."""
    # argparse turns a ValueError into its own sentence, with the option's name.
    if not text.isascii() or "_" in text:
        raise ValueError
    return float(text)


def whole(text: str) -> int:
    """A whole number of at most 18 digits.

    >>> whole("123456789012345678")
    123456789012345678
    """
    # So many digits fit into 64 bits; Python turns longer texts into numbers in quadratic time.
    if not WHOLE.fullmatch(text):
        raise ValueError
    return int(text)


def build_parser() -> Parser:
    """The parser of all commands; each sets `handler`, MODULE.FUNCTION of core.cli.

    By name, so that a command loads what it needs and no more.
    """
    parser = Parser(prog=PROGRAM, description="Watch two-layer networks learn, without a screen.")
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    parser.set_defaults(handler=None)
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for add in (
        _studies,
        _training,
        _reading,
        _drawing,
        _comparing,
        _citing,
        _theory,
        _preparing,
    ):  # as help lists them
        add(commands)
    return parser


def _command(commands: Any, name: str, handler: str, words: str) -> Parser:
    command: Parser = commands.add_parser(name, help=words)
    command.set_defaults(handler=handler)
    return command


def _studies(commands: Any) -> None:
    command = _command(commands, "list", "studies.list_studies", "shipped studies")
    command.add_argument("--json", action="store_true", help="as JSON")

    command = _command(
        commands, "describe", "studies.describe", "kinds and their keys, or one study"
    )
    command.add_argument(
        "what",
        metavar="WHAT",
        help="data, network, loss, dynamics, recording, run, observables, margins, theorems, or a "
        "study",
    )


def _training(commands: Any) -> None:
    command = _command(commands, "run", "training.run_study", "train a study and record it")
    command.add_argument("study", metavar="STUDY|FILE.toml")
    command.add_argument("--out", default="runs", metavar="DIR", help="folder (default: runs)")
    _size_options(command)
    _recording_options(command)
    _sweep_options(command)
    command.add_argument(
        "--table", default=None, metavar="x.csv|npz|parquet", help="write a row for each cell"
    )

    command = _command(
        commands, "check", "checking.check", "the claims of a study, judged by its runs"
    )
    command.add_argument("target", metavar="STUDY|DIR", help="a study is run first, quick size")
    command.add_argument("--out", default=None, metavar="DIR", help="keep the runs of a study here")
    command.add_argument("--json", action="store_true", help="as JSON")
    _size_options(command)
    _recording_options(command)
    _sweep_options(command)

    command = _command(commands, "cost", "studies.cost", "what a study costs to run, measured here")
    command.add_argument("study", metavar="STUDY|FILE.toml")
    command.add_argument("--cores", type=whole, default=None, metavar="N", help="default: here")
    _settings(command, None)
    command.add_argument("--json", action="store_true", help="as JSON")
    _size_options(command)

    command = _command(
        commands, "continue", "training.continue_run", "go on from a run's last frame, in a new run"
    )
    command.add_argument("run", metavar="RUN")
    command.add_argument(
        "--frame", type=whole, default=None, metavar="I", help="go on from frame I"
    )
    command.add_argument("--out", default=None, metavar="DIR", help="folder (default: the run's)")
    _recording_options(command)

    command = _command(
        commands,
        "branch",
        "training.branch_run",
        "begin at any frame of a run, changed, in a new run",
    )
    command.add_argument("run", metavar="RUN")
    command.add_argument(
        "--at",
        default=None,
        metavar="FRAME|10^2.5",
        help="the frame, or a time (default: the last)",
    )
    command.add_argument("--frame", type=whole, default=None, metavar="K", help="the frame")
    command.add_argument(
        "--out", default=None, metavar="CHILD.msrun|DIR", help="file or folder (default: the run's)"
    )
    _recording_options(command)


def _reading(commands: Any) -> None:
    command = _command(
        commands, "info", "reading.info", "what a run file holds, and its last values"
    )
    command.add_argument("run", metavar="RUN")
    command.add_argument("--json", action="store_true", help="as JSON")

    command = _command(
        commands, "table", "reading.table", "observables as NPZ or CSV; a sweep's cells"
    )
    command.add_argument("run", metavar="RUN|DIR")
    command.add_argument("--out", required=True, metavar="x.npz|csv", help="of a DIR also .parquet")
    command.add_argument(
        "--means",
        action="store_true",
        help="of a DIR: a row a setting, with means, deviations and .95 bands over its seeds",
    )
    command.add_argument(
        "--columns",
        default=None,
        metavar="NAME,NAME",
        help="of a RUN: these beside frame, step and time (default: all)",
    )
    command.add_argument("--parameters", action="store_true", help="with data and parameters")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _drawing(commands: Any) -> None:
    command = _command(
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

    command = _command(commands, "movie", "drawing.movie", "a film of a run as GIF, WebP or MP4")
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


def _citing(commands: Any) -> None:
    command = _command(commands, "cite", "citing.cite", "BibTeX of the program and the papers")
    command.add_argument("targets", nargs="*", metavar="RUN|DIR|STUDY")


def _comparing(commands: Any) -> None:
    command = _command(
        commands, "compare", "comparing.compare", "several runs in one picture, or as a table"
    )
    command.add_argument("runs", nargs="+", metavar="RUN")
    command.add_argument("--out", required=True, metavar="f.pdf|svg|png|csv")
    command.add_argument(
        "--observable",
        action="append",
        default=None,
        metavar="NAME",
        help="one number a frame (describe observables; default: hard_margin), or rotation or "
        "relative_norm, whose nodes are compared sorted; again for more",
    )
    command.add_argument("--against", default="log10_time", choices=tuple(AGAINST))
    command.add_argument(
        "--at",
        metavar="TIME",
        help="where nodes are compared: t, or 10^2.5 (default: the end of each run)",
    )
    command.add_argument(
        "--kind",
        default="lines",
        choices=tuple(KINDS),
        help="; ".join(f"{name}: {words}" for name, words in KINDS.items()),
    )
    command.add_argument(
        "--band",
        default="range",
        choices=tuple(BANDS),
        help="; ".join(f"{name}: {words}" for name, words in BANDS.items()),
    )
    command.add_argument(
        "--size", default=None, metavar="85mm|180mm", help="width of a figure (default: 120mm)"
    )
    command.add_argument("--dpi", type=whole, default=300, help="of a PNG (default: 300)")
    command.add_argument("--dark", action="store_true", help="the dark palette")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _theory(commands: Any) -> None:
    command = _command(
        commands, "margins", "margins.margins", "the margins that theory promises, as brackets"
    )
    command.add_argument("target", metavar="RUN|STUDY|FILE.toml")
    command.add_argument("--json", action="store_true", help="as JSON")
    _settings(command, "change a setting of a study")
    _limit(command, "for each margin; then the bracket at hand")
    command.add_argument("--quiet", action="store_true", help="no progress bar")

    command = _command(
        commands, "theorems", "theorems.theorems", "what the papers' statements say of a run"
    )
    command.add_argument("run", metavar="RUN")
    command.add_argument("--json", action="store_true", help="as JSON")
    command.add_argument(
        "--delta", type=number, default=0.05, help="failure probability (default: 0.05)"
    )
    _limit(command, "for each reference margin")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _preparing(commands: Any) -> None:
    command = _command(
        commands, "trust", "reading.trust_run", "let the Python network of a run or study run here"
    )
    command.add_argument("run", metavar="RUN|FILE.toml")
    command.add_argument("--yes", action="store_true", help="trust the code that was shown")

    command = _command(
        commands, "warm", "compiling.warm", "compile the kernels into their per-user cache"
    )
    command.add_argument(
        "--progress",
        action="store_true",
        help="a line of JSON for each group; ends with the standard input",
    )
    command.add_argument(
        "--only",
        nargs="+",
        choices=warming.GROUPS,
        default=warming.GROUPS,
        metavar="GROUP",
        help=f"of {', '.join(warming.GROUPS)} (default: all, in this order)",
    )
    _command(commands, "draw-film", "filming.draw_film", "a film that a window asks for")


# --------------------------------------------------------------- options that commands share


def _look_options(command: Parser) -> None:
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
    add("--margins", default=None, metavar="NAME,NAME|all", help="reference margins as lines")
    add("--share", action="store_true", help=SHARE)
    add(
        "--bound", action="append", default=[], metavar="STATEMENT", help="as telgarsky22 Lemma 2.3"
    )
    add("--delta", type=number, default=0.05, help="failure probability (default: 0.05)")
    _limit(command, "for each reference margin")


def _settings(command: Parser, words: str | None) -> None:
    command.add_argument(
        "--set", action="append", default=[], dest="settings", metavar="KEY=VALUE", help=words
    )


def _limit(command: Parser, words: str) -> None:
    command.add_argument(
        "--limit",
        type=number,
        default=MARGIN_SECONDS,
        metavar="SECONDS",
        help=f"{words} (default: {MARGIN_SECONDS:g})",
    )


def _recording_options(command: Parser) -> None:
    _settings(command, "change a setting, such as network.m=64; a list makes an axis")
    command.add_argument("--force", action="store_true", help="replace existing run files")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _size_options(command: Parser) -> None:
    size = command.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_const", const="quick", dest="size")
    size.add_argument("--paper", action="store_const", const="paper", dest="size")


def _sweep_options(command: Parser) -> None:
    where = command.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs", type=whole, default=None, metavar="N", help="processes (default: one a core)"
    )
    where.add_argument(
        "--cluster",
        default=None,
        metavar="ADDRESS",
        help="Dask scheduler, such as tcp://127.0.0.1:8786; its workers must see the folder",
    )
    where.add_argument(
        "--together",
        action="store_true",
        help="cells of one shape as one batch of tensors (default where there is a GPU for it)",
    )
