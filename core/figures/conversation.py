"""A process of this program that draws what it is asked for, so that whoever asks keeps the
interpreter for itself.

    request, as the command reads it --> its standard input, which is kept open: closed, it ends
    {"done": i, "of": n}             <-- its standard output, any number of such lines
    {"finished": true}               <-- or {"bytes": n} and so many bytes, or {"error": SENTENCE},
                                         {"memory": true}, {"bug": TRACEBACK}

The process ends with this one, however this one ends.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO, Any, final

from core.compiled import beside
from core.errors import MarginscopeError

LOOK_SECONDS = 0.02
GOODBYE_SECONDS = 3.0  # for a process that was told to stop; longer than it takes by itself
AGAIN = "try again, with fewer runs or a smaller picture"
Progress = Callable[[int, int], None]
Answer = dict[str, Any]


@final
class Conversation:
    """Tells a process one request after another, and hears its answers; each in a thread, as both
    may take long. `what` it draws is named where it cannot be started."""

    def __init__(self, command: str, what: str) -> None:
        """Start the process. Raises MarginscopeError where that cannot be."""
        self._what = what
        # What libraries say, in a file: a pipe that nobody reads would hold it up once it is full.
        self._said = tempfile.TemporaryFile()  # noqa: SIM115, closed at the end
        try:
            self._process = beside.start(beside.headless(command), self._said)
        except OSError as error:
            self._said.close()
            raise MarginscopeError(
                f"The process that draws {what}s cannot be started ({error.strerror or error})",
                remedy="close other programs and try again",
            ) from error
        assert self._process.stdin is not None and self._process.stdout is not None
        # Bytes and lines are mixed, which text would read ahead of.
        self._told: IO[bytes] = self._process.stdin.buffer  # type: ignore[attr-defined]
        self._answers: IO[bytes] = self._process.stdout.buffer  # type: ignore[attr-defined]
        self._taken = threading.Event()
        self._thread: threading.Thread | None = None
        self._heard: SimpleQueue[Answer | None] = SimpleQueue()

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def ask(
        self, request: bytes, cancelled: Callable[[], bool], progress: Progress | None = None
    ) -> Answer | None:
        """The last answer to a request; None where it was given up, or the process has ended.

        Raises what answering raises: errors with the same sentence, MemoryError, and RuntimeError
        with its traceback for an error of the program. After None or an error it is to be ended.
        """
        self._thread = threading.Thread(
            target=self._talk, args=(request,), name=f"{self._what} beside", daemon=True
        )
        self._taken.clear()
        self._thread.start()
        while not cancelled():
            try:
                answer = self._heard.get(timeout=LOOK_SECONDS)
            except Empty:
                continue
            if answer is None:
                return None
            if "done" not in answer:
                self._thread.join()
                return _checked(answer)
            if progress is not None:
                progress(int(answer["done"]), int(answer["of"]))
        return None

    def _talk(self, request: bytes) -> None:
        with suppress(OSError, ValueError):  # it has ended; it may have answered before it had all
            self._told.write(request)
            self._told.flush()
            self._taken.set()
        with suppress(OSError, ValueError):  # it was given up meanwhile
            while line := self._answers.readline():
                answer = _read(line)
                if answer and "bytes" in answer:
                    answer["content"] = self._answers.read(int(answer["bytes"]))
                    if len(answer["content"]) < int(answer["bytes"]):
                        break
                if answer:
                    self._heard.put(answer)
                    if "done" not in answer:
                        return
        self._heard.put(None)

    def end(self, goodbye: bool = False) -> MarginscopeError:
        """Have the process end, wait until it is gone, and say why there was no answer, from how it
        ended and what it said last. With `goodbye` one that has taken a request is given time to
        take away what it has begun."""
        deadline = time.monotonic() + GOODBYE_SECONDS
        if goodbye and self._taken.is_set():
            with suppress(OSError):
                self._told.close()
            while self._process.poll() is None and time.monotonic() < deadline:
                time.sleep(LOOK_SECONDS)
        self._process.kill()
        self._process.wait()
        if self._thread is not None:
            self._thread.join()
        for stream in (self._answers, self._told):
            with suppress(OSError):
                stream.close()
        with self._said:
            self._said.seek(0)
            return self._problem(self._said.read()[-2000:].decode("utf-8", "replace").strip())

    def _problem(self, said: str) -> MarginscopeError:
        status = self._process.returncode
        how = f"was ended by signal {-status}" if status < 0 else f"ended with {status}"
        last = f" ({said.splitlines()[-1][:200]})" if said else ""
        return MarginscopeError(
            f"The {self._what} was not written, as the process that drew it {how}{last}",
            remedy=AGAIN,
        )


def _read(line: bytes) -> Answer | None:
    """An answer; None for what is none, as a library that prints is not meant."""
    try:
        answer = json.loads(line)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) and answer else None


def _checked(answer: Answer) -> Answer:
    if "error" in answer:
        raise MarginscopeError(str(answer["error"]))
    if "memory" in answer:
        raise MemoryError
    if "bug" in answer:
        raise RuntimeError(answer["bug"])
    return answer
