"""`draw-film`: make a film that another program asks for (core.figures.film_beside)."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import traceback

from core.errors import InputError, MarginscopeError
from core.stopping import end_with_the_input

LONGEST = 1 << 28  # bytes of a request
PATIENCE_S = 1.0  # in which a film that is given up takes away what it has begun


def draw_film(arguments: argparse.Namespace) -> int:
    """Make the film of the request on standard input; what comes of it is a line of JSON."""
    given_up = threading.Event()
    try:
        line = _line()
        end_with_the_input(given_up, PATIENCE_S)
        # Loads NumPy, and what runs are made of.
        from core.figures.film_request import FilmRequest

        finished = FilmRequest.read(line).save(_report, given_up.is_set)
    except MarginscopeError as error:
        _tell(error=error.sentence)
    except MemoryError:
        _tell(memory=True)
    except BrokenPipeError:
        raise
    except Exception:
        _tell(bug=traceback.format_exc())
    else:
        _tell(finished=finished)
    return 0


def _line() -> bytes:
    """The first line of standard input; what follows is left in it."""
    # Not by sys.stdin, whose buffer would be waited in when the program ends.
    parts: list[bytes] = []
    length = 0
    while sys.stdin is not None and (part := os.read(sys.stdin.fileno(), 1 << 16)):
        parts.append(part)
        length += len(part)
        if part.endswith(b"\n"):
            return b"".join(parts)
        if length > LONGEST:
            break
    raise InputError("A request for a film is one line of JSON on standard input.")


def _report(done: int, total: int) -> None:
    _tell(done=done, of=total)


def _tell(**values: object) -> None:
    print(json.dumps(values), flush=True)
