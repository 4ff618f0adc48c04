"""Programs in separate processes, which can be found and killed with their children."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from tests.tools.faults.recorder_log import TOLD

ROOT = Path(__file__).resolve().parents[3]
MARK = "MARGINSCOPE_FAULT"
PATIENCE_S = 120.0  # for a busy machine; nobody waits where all is well
AFTER_S = 20.0  # in which what a killed program has started must be gone


class Program:
    """A Python program of the project: `arguments` are those of the interpreter.

    All that it starts, and what that starts, bears its mark. `told()` says which frames its
    recorders have said are safe.
    """

    def __init__(
        self,
        arguments: Sequence[object],
        folder: Path,
        env: Mapping[str, str | None] | None = None,
        **options: Any,
    ) -> None:
        self.mark = uuid4().hex
        self._told = folder / f"told-{self.mark}"
        site = folder / "site"
        site.mkdir(exist_ok=True)
        (site / "sitecustomize.py").write_text(
            "from tests.tools.faults.recorder_log import tell\ntell()\n"
        )
        changed: dict[str, str | None] = {
            **os.environ,
            MARK: self.mark,
            TOLD: str(self._told),
            "PYTHONPATH": f"{site}{os.pathsep}{ROOT}",
            **(env or {}),
        }
        self.process = subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            env={name: value for name, value in changed.items() if value is not None},
            **{
                "cwd": folder,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "stdin": subprocess.DEVNULL,
                "text": True,
                "errors": "replace",
                **options,
            },
        )

    def told(self) -> dict[Path, int]:
        """Return the last frame of each file that was announced as safe."""
        found: dict[Path, int] = {}
        with suppress(FileNotFoundError):
            for line in self._told.read_bytes().splitlines():
                number, _, name = line.partition(b" ")
                path = Path(os.fsdecode(name))
                found[path] = max(found.get(path, -1), int(number))
        return found

    def wait_until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds or the program has ended."""
        end = time.monotonic() + PATIENCE_S
        while not condition() and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.002)

    def kill(self) -> int:
        """Kill it like a system without memory; return how many processes outlived it."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        return outlived(self.mark)

    def ended(self) -> tuple[int, str, str]:
        """Return status, output and errors of a program that ended by itself."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out or "", err or ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        for pid in marked(self.mark):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def core(*arguments: object) -> list[object]:
    """Return the interpreter's arguments for the headless command line."""
    return ["-m", "core", *arguments]


def marked(mark: str) -> set[int]:
    """Return the living processes with a mark."""
    found = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if state not in "ZX":
                    found.add(int(entry.name))
    return found


def outlived(mark: str) -> int:
    """Count the marked processes that do not end by themselves, and end them."""
    end = time.monotonic() + AFTER_S
    while (left := marked(mark)) and time.monotonic() < end:
        time.sleep(0.02)
    for pid in left:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(left)


def crashed(status: int, err: str) -> bool:
    """Return True if a program ended by itself in a forbidden way."""
    return status < 0 or "Traceback" in err or "internal error" in err


def is_sentence(err: str) -> bool:
    """Return True if a text is one sentence, or one for each of several things."""
    lines = [line for line in err.splitlines() if line.strip()]
    return 0 < len(lines) <= 8 and all(len(line) < 1000 for line in lines) and err.endswith(".\n")
