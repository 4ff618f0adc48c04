"""Opening damaged files in a process that monitors time, memory and file access."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from core.errors import MarginscopeError
from core.run_files.active_recorders import BOOT
from tests.tools.fuzz.formats import FORMATS, Format, WrongError

MOST_CPU_S = 5.0
MOST_BYTES = 512 << 20
MOST_WALL_S = 120  # a process that waits takes no time of the processor
ROOT = Path(__file__).resolve().parents[3]
# What names a file, by its first argument, or its first two.
OPENED = (
    "open",
    "sqlite3.connect",
    "os.listdir",
    "os.scandir",
    "os.chdir",
    "glob.glob",
    "ctypes.dlopen",
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.truncate",
    "os.chmod",
    "os.chown",
    "os.utime",
    "os.link",
    "os.symlink",
    "shutil.rmtree",
    "shutil.copyfile",
    "shutil.move",
    "shutil.copytree",
    "tempfile.mkstemp",
    "tempfile.mkdtemp",
)
READING = ("os.listdir", "os.scandir", "glob.glob", "ctypes.dlopen")  # "open" by its mode
FORBIDDEN = (
    "os.system",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.kill",
    "pty.spawn",
    "subprocess.Popen",
    "socket.connect",
    "socket.bind",
    "socket.getaddrinfo",
    "socket.sendto",
    "socket.sendmsg",
    "urllib.Request",
    "webbrowser.open",
    "pickle.find_class",
)


class TooLongError(BaseException):
    """The time limit was exceeded; no error handler catches this."""


class Unwatched:
    """Stand-in for `Watch` in a process that continues: an audit hook cannot be removed."""

    def __init__(self) -> None:
        self.on = False
        self.seen: list[str] = []


class Watch:
    """Monitor of accesses outside the folder, by Python's audit events.

    The program's own files, and Python's, may be read; nothing is written but in the folder.
    """

    def __init__(self, folder: Path) -> None:
        code = [
            ROOT,
            Path(sys.prefix),
            Path(sys.base_prefix),
            Path(sys.executable).resolve().parent,
        ]
        # Locks name the machine and its boot.
        allowed = ("/proc/self", "/dev/null", str(BOOT))
        self._readable = (*tuple(str(path.resolve()) for path in code), *allowed)
        self._own = str(folder.resolve())
        self.on = False
        self.seen: list[str] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event in FORBIDDEN:
            self.seen.append(event)
        elif event == "compile" and arguments and arguments[1] == "the network's file":
            self.seen.append("code of the file")
        elif event in OPENED:
            reads = event in READING or (event == "open" and _reads(arguments))
            for name in arguments[:2] if event != "open" else arguments[:1]:
                if isinstance(name, str | bytes | os.PathLike):
                    self._look(event, os.fsdecode(name), reads)

    def _look(self, event: str, name: str, reads: bool) -> None:
        path = name.removeprefix("file://").partition("?")[0]
        if path in ("", ":memory:"):
            return
        place = str(Path.cwd() / unquote(path) if event == "sqlite3.connect" else Path.cwd() / path)
        inside = place.startswith(self._own) or (reads and place.startswith(self._readable))
        if not inside or ".." in Path(path).parts:
            self.seen.append(f"{event} {path}")


def _reads(arguments: tuple[Any, ...]) -> bool:
    """Return True if a file is opened only for reading."""
    _, mode, flags = arguments
    if isinstance(mode, str):
        return not set(mode) & set("wax+")
    return not (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)


@contextmanager
def limited(cpu_s: float | None = None, wall_s: int | None = None) -> Iterator[None]:
    """Raise TooLongError after so many seconds of processor or real time."""

    def stop(*_: object) -> None:
        raise TooLongError

    before = [(number, signal.signal(number, stop)) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, MOST_CPU_S if cpu_s is None else cpu_s)
    signal.alarm(MOST_WALL_S if wall_s is None else wall_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.alarm(0)
        for number, handler in before:
            signal.signal(number, handler)


def reset_peak() -> int:
    """Reset the peak memory; return the present memory in bytes (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def memory(field: str) -> int:
    """Return a line of the system's figures for this process's memory, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return 1024 * int(line.split()[1])
    raise AssertionError(field)


def one(
    kind: Format, files: dict[str, bytes], number: int, folder: Path, watch: Watch | Unwatched
) -> str:
    """Open damaged file `number` of a format: "opened", "refused", or what is wrong."""
    chance = random.Random(f"{kind.name} {number}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    made = kind.damaged(files, chance)
    for name, data in made.items():
        (folder / name).write_bytes(data)
    held = reset_peak()
    watch.seen, watch.on = [], True
    try:
        with limited():
            kind.open(folder / next(iter(made)))
        result = "opened"
    except MarginscopeError as error:
        result = "refused" if str(error) and len(str(error)) < 3000 else "a sentence too long"
    except TooLongError:
        result = "took too long"
    except WrongError as error:
        result = f"wrong: {error}"
    except BaseException as error:
        result = f"internal error: {type(error).__name__}: {str(error)[:200]}"
    finally:
        watch.on = False
    if watch.seen:
        return f"outside: {watch.seen[0]}"
    grown = memory("VmHWM") - held
    return result if grown <= MOST_BYTES else f"took {grown >> 20} MB"


@contextmanager
def in_folder(name: str) -> Iterator[None]:
    """Put temporary files and the user's files into a folder."""
    before = dict(os.environ)
    tempfile.tempdir = name
    os.environ.update(dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), name))
    try:
        yield
    finally:
        tempfile.tempdir = None
        os.environ.clear()
        os.environ.update(before)


def results(
    kind: Format, numbers: Iterable[int], watched: bool = True
) -> Iterator[tuple[int, str]]:
    """Return the outcomes of some damaged files of a format."""
    with tempfile.TemporaryDirectory(prefix="marginscope-fuzz-") as name, in_folder(name):
        folder = Path(name)
        (folder / "whole").mkdir()
        files = kind.files(folder / "whole")
        for path, data in files.items():  # the whole files open, and load what is needed
            (folder / "whole" / path).parent.mkdir(exist_ok=True)
            (folder / "whole" / path).write_bytes(data)
        for path in kind.each(files):
            kind.open(folder / "whole" / path)
        watch = Watch(folder) if watched else Unwatched()
        for number in numbers:
            yield number, one(kind, files, number, folder / "case", watch)


def main() -> None:
    """Child process: `FORMAT,... FIRST LAST STEP`; print format, number and result of each file."""
    first, last, step = map(int, sys.argv[2:5])
    for place in map(int, sys.argv[1].split(",")):
        kind = FORMATS[place]
        for number, result in results(kind, range(first, min(last, kind.count), step)):
            print(place, number, result, flush=True)


if __name__ == "__main__":
    main()
