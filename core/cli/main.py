"""The entry point: parse, dispatch, and turn errors into sentences and exit statuses.

0 done; 1 internal or disk failure, failed cells; 2 bad input; 3 diverged; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

from core.cli.output import PROGRAM, say
from core.cli.parser import build_parser
from core.compiled import warming
from core.errors import DiskError, InputError, MarginscopeError

DONE, FAILED, BAD_INPUT, DIVERGED, INTERRUPTED = 0, 1, 2, 3, 130


def say_compiling(kernel: str) -> None:
    """The line that stands before a wait for the compiler."""
    say(f"{PROGRAM}: compiling {kernel}, once for this machine (`python -m core warm` does all).")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    warming.listen(say_compiling)
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if arguments.handler is None:
        parser.print_help()
        return BAD_INPUT
    try:
        status: int = arguments.handler(arguments)
        sys.stdout.flush()
        return status
    except InputError as error:
        say(f"{PROGRAM}: {error}")
        return BAD_INPUT
    except (DiskError, MarginscopeError) as error:
        say(f"{PROGRAM}: {error}")
        return FAILED
    except KeyboardInterrupt:
        say(f"{PROGRAM}: interrupted.")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has gone, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        return _internal(error)


def _internal(error: Exception) -> int:
    if os.environ.get("MARGINSCOPE_TRACEBACK"):
        traceback.print_exc()
    say(
        f"{PROGRAM}: internal error ({type(error).__name__}: {error}). Please report it; setting "
        "MARGINSCOPE_TRACEBACK=1 shows where it happened."
    )
    return FAILED
