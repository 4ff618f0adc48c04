"""What the grammar of every command is made of."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any, NoReturn, final

from core.cli.output import MARGIN_SECONDS, PROGRAM, say
from core.program import headless_program

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


@final
class Parser(argparse.ArgumentParser):
    """A parser that complains in one sentence, and names the command that was meant."""

    has_commands = False

    def add_subparsers(self, **options: Any) -> Any:
        self.has_commands = True
        return super().add_subparsers(**options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does it; but a command refuses what it does not know by itself, and does not
        leave that to the program, whose help says nothing of the command's options."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown and not self.has_commands:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        name = self.prog.replace(headless_program(), PROGRAM, 1)
        say(f"{name}: {message}; see {self.prog} --help.")
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


def command_of(commands: Any, name: str, handler: str, words: str) -> Parser:
    """A new command, with the function of core.cli that does it."""
    command: Parser = commands.add_parser(name, help=words)
    command.set_defaults(handler=handler)
    return command


def limit_option(command: Parser, words: str) -> None:
    """How long reference margins may take."""
    command.add_argument(
        "--limit",
        type=number,
        default=MARGIN_SECONDS,
        metavar="SECONDS",
        help=f"{words} (default: {MARGIN_SECONDS:g})",
    )
