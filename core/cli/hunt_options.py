"""The grammar of `hunt`."""

from __future__ import annotations

from typing import Any

from core.cli.grammar import Parser, command_of, whole
from core.studies.hunt_kinds import OVERS, TAKES


def add_hunt(commands: Any) -> None:
    """The command and its options."""
    words = "search the runs of a study for the worst for a bound, or the most extreme"
    command = command_of(commands, "hunt", "hunting.hunt", words)
    command.add_argument("study", metavar="STUDY|FILE.toml")
    _what(command)
    _how_long(command)
    _what_is_kept(command)


def _what(command: Parser) -> None:
    what = "an observable, a formula, slack:STATEMENT or ratio:STATEMENT (default: the study's)"
    sense = command.add_mutually_exclusive_group()
    sense.add_argument("--minimise", default=None, metavar="FORMULA", help=what)
    sense.add_argument("--maximise", default=None, metavar="FORMULA", help="the same")
    command.add_argument(
        "--over", default=None, choices=OVERS, help="what is varied (default: seeds)"
    )
    command.add_argument(
        "--take",
        default=None,
        choices=TAKES,
        help="of each run its last value, or the least or largest of all frames (default: last)",
    )
    command.add_argument(
        "--after", default=None, metavar="FORMULA", help="of the frames once this is positive"
    )
    command.add_argument(
        "--exclude-unfit", action="store_true", help="only runs that end without training errors"
    )
    command.add_argument("--at", default=None, metavar="TIME", help="the value then: t, or 10^2.5")


def _how_long(command: Parser) -> None:
    command.add_argument(
        "--budget", default=None, metavar="300s|5m|1h|N", help="a time, or runs (default: 5m)"
    )
    command.add_argument("--runs", type=whole, default=None, metavar="N", help="so many runs")
    command.add_argument(
        "--drawn", type=whole, default=None, metavar="N", help="drawn before any is refined (32)"
    )
    command.add_argument(
        "--seeds", default=None, metavar="FIRST-LAST", help="draw these, each once (default: any)"
    )
    command.add_argument(
        "--seed", type=whole, default=0, metavar="N", help="of the search itself (default: 0)"
    )
    command.add_argument(
        "--flip-labels", action="store_true", help="over data: labels may change as well"
    )


def _what_is_kept(command: Parser) -> None:
    command.add_argument(
        "--output", default="hunts", metavar="DIR", help="runs and table (default: hunts)"
    )
    command.add_argument(
        "--table", default=None, metavar="x.csv|npz|parquet", help="write all runs here as well"
    )
    command.add_argument(
        "--best", type=whole, default=None, metavar="K", help="run files that stay (default: 10)"
    )
    command.add_argument("--keep-all", action="store_true", help="keep every run file")
    command.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE")
    command.add_argument("--force", action="store_true", help="begin anew over another hunt")
    command.add_argument("--quiet", action="store_true", help="no progress bar")
    size = command.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_const", const="quick", dest="size")
    size.add_argument("--paper", action="store_const", const="paper", dest="size")
    where = command.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs", type=whole, default=None, metavar="N", help="processes (default: one a core)"
    )
    where.add_argument("--cluster", default=None, metavar="ADDRESS", help="Dask scheduler")
