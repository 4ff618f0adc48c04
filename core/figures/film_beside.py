"""A film that another process draws, so that whoever asks for it keeps the interpreter for itself.

    request, a line of JSON --> its standard input, which is kept open: closed, it gives up
    {"done": i, "of": n}    <-- its standard output, a line for each frame
    {"finished": true}      <-- or {"error": SENTENCE}, {"memory": true}, {"bug": TRACEBACK}

The process is `python -m core draw-film`; it ends with this one, however this one ends.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, final

from core.compiled import beside
from core.errors import MarginscopeError
from core.figures.film_request import FilmRequest
from core.files import remove_left

COMMAND = "draw-film"
LOOK_SECONDS = 0.02
GOODBYE_SECONDS = 3.0  # for a process that was told to stop; longer than it takes by itself
AGAIN = "try again, with fewer runs or a smaller picture"
Progress = Callable[[int, int], None]


def draw_beside(request: FilmRequest, progress: Progress, cancelled: Callable[[], bool]) -> bool:
    """Have a film made in a process of its own. Returns False, and leaves no file, where it was
    cancelled.

    Raises what making it raises: errors with the same sentence, MemoryError, and RuntimeError with
    its traceback for an error of the program. MarginscopeError where the process was ended.
    """
    # What libraries say, in a file: a pipe that nobody reads would hold it up once it is full.
    with tempfile.TemporaryFile() as said:
        try:
            process = beside.start(beside.headless(COMMAND), said)
        except OSError as error:
            raise MarginscopeError(
                f"The process that draws films cannot be started ({error.strerror or error})",
                remedy="close other programs and try again",
            ) from error
        conversation = _Conversation(process, request.text())
        finished = False
        try:
            finished = _followed(conversation, progress, cancelled)
        finally:
            conversation.end(finished)
            remove_left(request.path.parent)  # what a process that was killed has begun
        if not (finished or cancelled()):
            said.seek(0)
            raise _ended(process.returncode, said.read()[-2000:].decode("utf-8", "replace"))
    return finished


@final
class _Conversation:
    """Tells a process the request, and hears what it answers, in a thread: both may take long."""

    def __init__(self, process: subprocess.Popen[str], request: str) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process, self._request = process, request
        self._told, self._answers = process.stdin, process.stdout
        self._begun = threading.Event()
        self.heard: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._talk, name="film beside", daemon=True)
        self._thread.start()

    def _talk(self) -> None:
        with suppress(OSError, ValueError):  # it has ended, or was given up meanwhile
            self._told.write(self._request + "\n")
            self._told.flush()
            self._begun.set()
            for line in self._answers:
                with suppress(ValueError):  # a library that prints is not meant
                    answer = json.loads(line)
                    self.heard.put(answer if isinstance(answer, dict) else {})
        self.heard.put(None)

    def end(self, finished: bool) -> None:
        """Have the process end, and wait until it is gone. One that has taken the request and has
        not `finished` is given time to take away what it has begun."""
        deadline = time.monotonic() + GOODBYE_SECONDS
        if self._begun.is_set() and not finished:
            with suppress(OSError):
                self._told.close()
            while self._process.poll() is None and time.monotonic() < deadline:
                time.sleep(LOOK_SECONDS)
        self._process.kill()
        self._process.wait()
        self._thread.join()
        self._answers.close()
        with suppress(OSError):
            self._told.close()


def _followed(
    conversation: _Conversation, progress: Progress, cancelled: Callable[[], bool]
) -> bool:
    """Pass on how far a film is until it is done; False where it was given up or just ended."""
    while not cancelled():
        try:
            answer = conversation.heard.get(timeout=LOOK_SECONDS)
        except Empty:
            continue
        if answer is None:
            return False
        if "error" in answer:
            raise MarginscopeError(str(answer["error"]))
        if "memory" in answer:
            raise MemoryError
        if "bug" in answer:
            raise RuntimeError(answer["bug"])
        if "finished" in answer:
            return bool(answer["finished"])
        if "done" in answer:
            progress(int(answer["done"]), int(answer["of"]))
    return False


def _ended(status: int, said: str) -> MarginscopeError:
    """Why there is no film, from how its process ended and what it said last."""
    how = f"was ended by signal {-status}" if status < 0 else f"ended with {status}"
    last = f" ({said.strip().splitlines()[-1][:200]})" if said.strip() else ""
    return MarginscopeError(
        f"The film was not written, as the process that drew it {how}{last}", remedy=AGAIN
    )
