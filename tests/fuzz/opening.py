"""Opening damaged files in a process that watches itself: time, memory, what it touches."""

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

from core.errors import MarginscopeError
from tests.fuzz.formats import FORMATS, Format, WrongError

MOST_CPU_S = 5.0
MOST_BYTES = 512 << 20
MOST_WALL_S = 120  # a process that waits takes no time of the processor
ROOT = Path(__file__).resolve().parents[2]
OPENED = (
    "open",
    "sqlite3.connect",
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "shutil.rmtree",
    "shutil.copyfile",
    "os.listdir",
    "os.scandir",
    "glob.glob",
)
FORBIDDEN = (
    "os.system",
    "subprocess.Popen",
    "socket.connect",
    "os.exec",
    "os.fork",
    "pickle.find_class",
)


class TooLongError(BaseException):
    """More time than any file may take; no handler of errors catches it."""


class Watch:
    """What the process touches outside its folder, by Python's audit events."""

    def __init__(self, folder: Path) -> None:
        own = [folder, ROOT, Path(sys.prefix), Path(sys.base_prefix), Path(tempfile.gettempdir())]
        self._own = tuple(str(path.resolve()) for path in own)
        self._own += ("/proc/self", "/dev/null", str(Path(sys.executable).resolve().parent))
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
        elif event in OPENED and arguments and isinstance(arguments[0], str | bytes | os.PathLike):
            path = os.fsdecode(arguments[0]).removeprefix("file://").partition("?")[0]
            inside = str(Path.cwd() / path).startswith(self._own) and ".." not in path
            if path not in ("", ":memory:") and not inside:
                self.seen.append(f"{event} {path}")


@contextmanager
def limited(cpu_s: float | None = None, wall_s: int | None = None) -> Iterator[None]:
    """Raise TooLongError after so many seconds of the processor, or of the clock."""

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
    """Start anew with the largest memory so far; what is held now, in bytes (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def memory(field: str) -> int:
    """A line of what the system says of this process's memory, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return 1024 * int(line.split()[1])
    raise AssertionError(field)


def one(kind: Format, files: dict[str, bytes], number: int, folder: Path, watch: Watch) -> str:
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


def results(kind: Format, numbers: Iterable[int]) -> Iterator[tuple[int, str]]:
    """What came of some of the damaged files of a format."""
    with tempfile.TemporaryDirectory(prefix="marginscope-fuzz-") as name:
        folder = Path(name)
        (folder / "whole").mkdir()
        files = kind.files(folder / "whole")
        for path, data in files.items():  # the whole files open, and load what is needed
            (folder / "whole" / path).parent.mkdir(exist_ok=True)
            (folder / "whole" / path).write_bytes(data)
        kind.open(folder / "whole" / next(iter(files)))
        watch = Watch(folder)
        for number in numbers:
            yield number, one(kind, files, number, folder / "case", watch)


def main() -> None:
    """Child process: `FORMAT FIRST LAST STEP`, a line for each file on standard output."""
    kind = FORMATS[int(sys.argv[1])]
    for number, result in results(kind, range(*map(int, sys.argv[2:5]))):
        print(number, result, flush=True)


if __name__ == "__main__":
    main()
