"""The entry point: parse, dispatch, and turn errors into sentences and exit statuses.

0 done; 1 internal or disk failure, failed cells; 2 bad input; 3 diverged; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

from core import plugins
from core.cli.output import (
    PROGRAM,
    UNWRITABLE,
    drop_output,
    open_streams,
    print_lines,
    print_notice,
)
from core.cli.parser import build_parser
from core.compiled import kernel_groups
from core.errors import DiskError, InputError, MarginscopeError
from core.program import headless_program
from core.reference.cancel_token import CancelledError

DONE, FAILED, BAD_INPUT, DIVERGED, INTERRUPTED = 0, 1, 2, 3, 130


def print_compiling(kernel: str) -> None:
    """Print what is being compiled, and once why the result cannot be stored."""
    problem = kernel_groups.unreported_problem()
    if problem:
        print_notice(f"{PROGRAM}: {problem}")
    if kernel_groups.has_reported_problem():
        print_notice(f"{PROGRAM}: compiling {kernel}.")
        return
    print_notice(
        f"{PROGRAM}: compiling {kernel}, once for this machine (`{headless_program()} warm` "
        "compiles everything)."
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; `argv` is that of the process by default.

    0, 1 for a failure, 2 for wrong input, 3 for a diverged run, 130 for an interruption.
    """
    # First of all: a file opened while a stream is closed gets the stream's number, and its output.
    open_streams()
    kernel_groups.add_listener(print_compiling)
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if arguments.handler is None:
        parser.print_help()
        return BAD_INPUT
    try:
        for problem in plugins.load_trusted():
            print_notice(f"{PROGRAM}: {problem}")
        module, _, function = arguments.handler.partition(".")
        status: int = getattr(import_module(f"{__package__}.{module}"), function)(arguments)
        # Flush here, where a full disk or closed pipe becomes a message; Python's own flush at exit
        # prints a traceback.
        sys.stdout.flush()
        return status
    except InputError as error:
        print_notice(f"{PROGRAM}: {error}")
        return BAD_INPUT
    except (DiskError, MarginscopeError) as error:
        print_notice(f"{PROGRAM}: {error}")
        return FAILED
    except (KeyboardInterrupt, CancelledError):
        print_notice(f"{PROGRAM}: interrupted.")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe closed it, such as `| head`
        drop_output()
        return DONE
    except OSError as error:
        return _report_refusal(error)
    except MemoryError:
        print_notice(f"{PROGRAM}: not enough memory; choose smaller sizes.")
        return FAILED
    except Exception as error:
        return _internal(error)


def _report_refusal(error: OSError) -> int:
    """Print that the system refused a named file, or the output; return the exit status."""
    # Errors of open files carry no name; long outputs of a command go to standard output.
    if error.filename is None and error.errno in UNWRITABLE:
        drop_output()
        print_notice(
            f"{PROGRAM}: standard output cannot be written ({error.strerror}); redirect it "
            "elsewhere."
        )
        return BAD_INPUT
    if error.filename is None:
        return _internal(error)
    print_notice(f"{PROGRAM}: {str(error.filename)[:300]}: {error.strerror}; check the path.")
    return BAD_INPUT


def _internal(error: Exception) -> int:
    if os.environ.get("MARGINSCOPE_TRACEBACK"):
        print_lines(traceback.format_exc())
    print_notice(
        f"{PROGRAM}: internal error ({type(error).__name__}: {error}). Please report it; set "
        "MARGINSCOPE_TRACEBACK=1 for a traceback."
    )
    return FAILED
