"""The command line's grammar."""

from __future__ import annotations

from typing import Any

from core import __version__
from core.cli.drawing_grammar import add_drawing_commands, add_history_option
from core.cli.grammar import (
    Parser,
    add_command,
    add_hunt_command,
    as_int,
    limit_option,
    number,
    place_options,
    settings_option,
    size_options,
)
from core.cli.output import PROGRAM
from core.comparison.question import AGAINST, BANDS, KINDS
from core.compiled import kernel_groups
from core.program import headless_program


def build_parser() -> Parser:
    """Return the parser of all commands; each sets `handler` to "MODULE.FUNCTION" of core.cli.

    The name defers the import, so that a command loads only its own modules.
    """
    parser = Parser(
        prog=headless_program(), description="Watch two-layer networks learn from the command line."
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    parser.set_defaults(handler=None)
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for add in (
        _add_study_commands,
        _add_training_commands,
        add_hunt_command,
        _add_reading_commands,
        add_drawing_commands,
        _add_viewer_command,
        _add_comparison_commands,
        _add_citation_commands,
        _add_theory_commands,
        _add_preparation_commands,
    ):  # order of the help text
        add(commands)
    return parser


def _add_study_commands(commands: Any) -> None:
    """Add list and describe."""
    command = add_command(commands, "list", "studies.list_studies", "list the shipped studies")
    command.add_argument("--json", action="store_true", help="print JSON")

    command = add_command(
        commands, "describe", "studies.describe", "describe kinds and their keys, or one study"
    )
    command.add_argument(
        "what",
        metavar="WHAT",
        help="data, network, loss, dynamics, recording, run, observables, margins, theorems, or a "
        "study",
    )


def _add_training_commands(commands: Any) -> None:
    """Add run, check, cost, continue and branch."""
    command = add_command(commands, "run", "training.run_study", "train a study and record it")
    command.add_argument("study", metavar="STUDY|FILE.toml")
    command.add_argument("--out", default="runs", metavar="DIR", help="folder (default: runs)")
    size_options(command)
    _add_recording_options(command)
    _add_sweep_options(command)
    command.add_argument(
        "--table", default=None, metavar="x.csv|npz|parquet", help="write a table of the cells"
    )

    command = add_command(commands, "check", "sweeping.check", "judge a study's claims by its runs")
    command.add_argument("target", metavar="STUDY|DIR", help="a study to run first, or a folder")
    command.add_argument("--out", default=None, metavar="DIR", help="keep the study's runs here")
    command.add_argument("--json", action="store_true", help="print JSON")
    size_options(command)
    _add_recording_options(command)
    _add_sweep_options(command)

    command = add_command(
        commands, "cost", "studies.cost", "measure a study's cost on this machine"
    )
    command.add_argument("study", metavar="STUDY|FILE.toml")
    command.add_argument(
        "--cores", type=as_int, default=None, metavar="N", help="cores (default: all)"
    )
    settings_option(command)
    command.add_argument("--json", action="store_true", help="print JSON")
    size_options(command)

    command = add_command(
        commands, "continue", "training.continue_run", "continue a run from its last frame"
    )
    command.add_argument("run", metavar="RUN")
    command.add_argument(
        "--frame", type=as_int, default=None, metavar="I", help="continue from frame I"
    )
    command.add_argument("--out", default=None, metavar="DIR", help="folder (default: the run's)")
    _add_recording_options(command)

    command = add_command(
        commands, "branch", "training.branch_run", "branch a run from any frame, with changes"
    )
    command.add_argument("run", metavar="RUN")
    command.add_argument(
        "--at", default=None, metavar="FRAME|10^2.5", help="frame or time (default: the last)"
    )
    command.add_argument("--frame", type=as_int, default=None, metavar="K", help="frame number")
    command.add_argument(
        "--out", default=None, metavar="CHILD.msrun|DIR", help="file or folder (default: the run's)"
    )
    _add_recording_options(command)


def _add_reading_commands(commands: Any) -> None:
    """Add info and table."""
    command = add_command(
        commands, "info", "reading.info", "summarise a run file and its last values"
    )
    command.add_argument("run", metavar="RUN")
    command.add_argument("--json", action="store_true", help="print JSON")

    command = add_command(
        commands, "table", "reading.table", "export a run's observables, or a sweep's cells"
    )
    command.add_argument("run", metavar="RUN|DIR")
    command.add_argument(
        "--out",
        required=True,
        metavar="x.npz|csv|parquet|safetensors",
        help=".safetensors: the states of a run, for ms.load",
    )
    command.add_argument(
        "--means",
        action="store_true",
        help="for a DIR: one row per setting, with means, deviations and .95 bands over its seeds",
    )
    command.add_argument(
        "--columns",
        default=None,
        metavar="NAME,NAME",
        help="for a RUN: these columns after frame, step and time (default: all fast ones)",
    )
    command.add_argument("--all", action="store_true", help="for a RUN: include slow columns")
    add_history_option(command)
    command.add_argument("--parameters", action="store_true", help="include data and parameters")
    command.add_argument(
        "--notes", action="store_true", help="for a RUN: its notes at moments instead, as CSV"
    )
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _add_citation_commands(commands: Any) -> None:
    """Add cite and crate."""
    command = add_command(
        commands, "cite", "reading.cite", "print BibTeX of the program and papers"
    )
    command.add_argument("targets", nargs="*", metavar="RUN|DIR|STUDY")

    command = add_command(
        commands, "crate", "reading.crate", "copy runs, settings and figure into an RO-Crate"
    )
    command.add_argument("targets", nargs="+", metavar="RUN|DIR")
    command.add_argument("--out", required=True, metavar="DIR", help="folder to make")
    command.add_argument("--license", default="", metavar="URL", help="licence of the data")


def _add_viewer_command(commands: Any) -> None:
    """Add viewer."""
    command = add_command(
        commands, "viewer", "viewing.viewer", "write a page that opens run files in any browser"
    )
    command.add_argument("--out", required=True, metavar="DIR", help="folder to make or renew")


def _add_comparison_commands(commands: Any) -> None:
    """Add compare."""
    command = add_command(
        commands, "compare", "comparing.compare", "compare runs in one figure or table"
    )
    command.add_argument("runs", nargs="+", metavar="RUN")
    command.add_argument("--out", required=True, metavar="f.pdf|svg|png|csv")
    command.add_argument(
        "--observable",
        action="append",
        default=None,
        metavar="NAME",
        help="scalar observable (default: hard_margin), or rotation or relative_norm of the sorted "
        "neurons; may be repeated",
    )
    add_history_option(command)
    command.add_argument("--against", default="log10_time", choices=tuple(AGAINST))
    command.add_argument(
        "--at",
        metavar="TIME",
        help="time at which neurons are compared, such as 300 or 10^2.5 (default: the end of each "
        "run)",
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
        "--size", default=None, metavar="85mm|180mm", help="figure width (default: 120mm)"
    )
    command.add_argument(
        "--dpi", type=as_int, default=300, help="resolution of a PNG (default: 300)"
    )
    command.add_argument("--dark", action="store_true", help="use the dark palette")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _add_theory_commands(commands: Any) -> None:
    """Add margins, directions, theorems and limit."""
    command = add_command(
        commands,
        "margins",
        "margins.margins",
        "compute reference margins with lower and upper bounds",
    )
    command.add_argument("target", metavar="RUN|STUDY|FILE.toml")
    command.add_argument("--json", action="store_true", help="print JSON")
    settings_option(command, "change a setting of a study")
    limit_option(command, "time limit for each margin")
    command.add_argument("--quiet", action="store_true", help="no progress bar")

    command = add_command(
        commands, "directions", "margins.directions", "list the extremal vectors of real targets"
    )
    command.add_argument("target", metavar="RUN|STUDY|FILE.toml")
    command.add_argument("--json", action="store_true", help="print JSON")
    settings_option(command, "change a setting of a study")

    command = add_command(
        commands, "theorems", "margins.theorems", "check the papers' statements on a run"
    )
    command.add_argument("run", metavar="RUN")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument(
        "--delta", type=number, default=0.05, help="failure probability (default: 0.05)"
    )
    limit_option(command, "time limit for each reference margin")
    command.add_argument("--quiet", action="store_true", help="no progress bar")

    command = add_command(commands, "limit", "margins.limit", "bound a run's final margin")
    command.add_argument("run", metavar="RUN")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument(
        "--at",
        default=None,
        metavar="TIME",
        help="time, such as 300 or 10^2.5 (default: the last frame)",
    )
    limit_option(command, "time limit for the reference margin and each linear program")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _add_preparation_commands(commands: Any) -> None:
    """Add trust and warm."""
    command = add_command(
        commands,
        "trust",
        "reading.trust_run",
        "allow the Python network of a run or study, or an installed package, to run here",
    )
    command.add_argument("run", metavar="RUN|FILE.toml|FILE.py|PACKAGE")
    command.add_argument("--yes", action="store_true", help="trust the code shown")

    command = add_command(
        commands, "warm", "compiling.warm", "compile the kernels into the user's cache"
    )
    command.add_argument(
        "--progress",
        action="store_true",
        help="print a line of JSON for each group; stop when standard input closes",
    )
    command.add_argument(
        "--only",
        nargs="+",
        choices=kernel_groups.GROUPS,
        default=kernel_groups.GROUPS,
        metavar="GROUP",
        help=f"any of {', '.join(kernel_groups.GROUPS)} (default: all, in this order)",
    )


# --------------------------------------------------------------- options that commands share


def _add_recording_options(command: Parser) -> None:
    settings_option(
        command, "change a setting, such as network.m=64; a list makes one run per value"
    )
    command.add_argument("--force", action="store_true", help="replace existing run files")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _add_sweep_options(command: Parser) -> None:
    scheduler = (
        "Dask scheduler, such as tcp://127.0.0.1:8786; its workers must reach the output folder"
    )
    place_options(command, scheduler).add_argument(
        "--together",
        action="store_true",
        help="deprecated, no effect: cells are trained in processes",
    )
