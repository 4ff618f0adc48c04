"""Elements of every command's grammar; and the command with the most options."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any, NoReturn, final

from core.cli.output import MARGIN_SECONDS, PROGRAM, print_notice
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
    """Parse a whole number of at most 18 digits, perhaps with a sign. Raises ValueError.

    >>> as_int("123456789012345678")
    123456789012345678
    """
    # 18 digits fit into 64 bits; Python parses longer texts in quadratic time.
    if not WHOLE.fullmatch(text):
        raise ValueError
    return int(text)


def add_command(commands: Any, name: str, handler: str, words: str) -> Parser:
    """Add a command; the program imports its handler by name when the command runs.

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
    _add_hunt_outputs(command)


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
    """Add the options of a hunt's search: its time or runs, its seeds, and labels to vary."""
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


def _add_hunt_outputs(command: Parser) -> None:
    """Add the options of what a hunt writes, and those of every training."""
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
