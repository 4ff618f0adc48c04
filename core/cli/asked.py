"""`draw-film` and `draw-figures`: what another program asks for (core.figures.conversation)."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import RawIOBase
from queue import SimpleQueue
from typing import final

from core.errors import InputError, MarginscopeError
from core.stopping import end_now, end_with_the_input

LONGEST = 1 << 28  # bytes of a request for a film
LONGEST_LINE, LARGEST = 1 << 12, 1 << 32  # bytes of one for a figure, and of its scene
PIECE = 1 << 20  # of it at once: a read takes memory for all that it asks for
PATIENCE_S = 1.0  # in which a film that is given up takes away what it has begun


def draw_film(arguments: argparse.Namespace) -> int:
    """Make the film of the request on standard input; what comes of it is a line of JSON."""
    given_up = threading.Event()
    with _told():
        line = _line()
        end_with_the_input(given_up, PATIENCE_S)
        # Loads NumPy, and what runs are made of.
        from core.figures.film_request import FilmRequest

        finished = FilmRequest.read(line).save(_report, given_up.is_set)
        _tell(finished=finished)
    return 0


def draw_figures(arguments: argparse.Namespace) -> int:
    """Draw one figure after another, as they are asked for on standard input, until that is closed:
    a line of JSON and the scene come in, a line and the figure go out (core.figures.figure_beside).
    """
    from core.figures.export import figure_bytes
    from core.figures.scene_archive import scene_in

    asked: SimpleQueue[_Figure | Exception] = SimpleQueue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    while True:
        with _told():
            figure = asked.get()
            if isinstance(figure, Exception):
                raise figure
            content = figure_bytes(scene_in(figure.scene), figure.suffix, figure.dpi)
            _tell(bytes=len(content))
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()


@final
@dataclass(frozen=True, slots=True)
class _Figure:
    suffix: str
    dpi: float
    scene: bytes


def _listen(asked: SimpleQueue[_Figure | Exception]) -> None:
    """Take requests, in a thread, and end the program with its input, whatever is being drawn."""
    try:
        if sys.stdin is None:  # closed from the start
            return
        # Not sys.stdin itself, whose buffer would be waited in when the program ends.
        with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as file:
            while line := file.readline(LONGEST_LINE):
                try:
                    asked.put(_figure(line, file))
                except (InputError, MemoryError) as error:
                    asked.put(error)
    finally:  # whatever has ended it: nobody would be heard any more
        end_now(signal.SIGTERM)


def _figure(line: bytes, file: RawIOBase) -> _Figure:
    """A request: its line, and the bytes after it."""
    try:
        head = json.loads(line)
        suffix, dpi, length = str(head["suffix"]), float(head["dpi"]), int(head["bytes"])
    except (ValueError, TypeError, KeyError) as error:
        raise InputError("A request for a figure is a line of JSON, and a scene.") from error
    if not 0 <= length <= LARGEST:
        raise InputError(f"A scene of {length} bytes is larger than any figure's.")
    parts, left = [], length
    while left and (part := file.read(min(left, PIECE))):
        parts.append(part)
        left -= len(part)
    return _Figure(suffix, dpi, b"".join(parts))


@contextmanager
def _told() -> Iterator[None]:
    """Errors of the block are lines of JSON."""
    try:
        yield
    except MarginscopeError as error:
        _tell(error=error.sentence)
    except MemoryError:
        _tell(memory=True)
    except BrokenPipeError:
        raise
    except Exception:
        _tell(bug=traceback.format_exc())


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
