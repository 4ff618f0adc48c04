"""Temporary folders of runs that `load` wrote without a path, and removal of abandoned ones."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path

from marginscope._files.machine import WriterLock, is_locked, machine_name

PREFIX = "marginscope-load-"
# marginscope-load-MACHINE-PID-RANDOM, as core.files names and removes its own; older versions wrote
# marginscope-load-RANDOM.
NAME = re.compile(PREFIX + r"(?:(?P<machine>[\w.-]+)-(?P<pid>\d+)-)?[^-]*")
WEEK = 7 * 86_400.0  # seconds after which a folder has no user, if its process cannot be checked


def make_scratch() -> tempfile.TemporaryDirectory[str]:
    """Make a temporary folder of this process, and remove those that crashed processes left."""
    remove_abandoned(Path(tempfile.gettempdir()))
    prefix = f"{PREFIX}{machine_name()}-{os.getpid()}-"
    folder = tempfile.TemporaryDirectory(prefix=prefix)
    weakref.finalize(folder, WriterLock(Path(folder.name)).release)
    return folder


def remove_abandoned(parent: Path) -> None:
    """Remove this user's folders of `load` whose process ended, or that are a week old."""
    with suppress(OSError):
        for place in parent.glob(f"{PREFIX}*"):
            with suppress(OSError):
                match, status = NAME.fullmatch(place.name), place.lstat()
                if match is None or not stat.S_ISDIR(status.st_mode):
                    continue
                if os.name == "posix" and status.st_uid != os.geteuid():
                    continue
                abandoned = _is_abandoned(match["machine"], match["pid"], status.st_mtime)
                if abandoned and not is_locked(place):
                    shutil.rmtree(place, ignore_errors=True)


def _is_abandoned(machine: str | None, pid: str | None, modified: float) -> bool:
    """Return True if the process is gone or, where that cannot be checked, the folder is old."""
    if pid is None or machine != machine_name() or sys.platform == "win32":
        return time.time() - modified > WEEK
    try:
        os.kill(int(pid), 0)  # signal 0 checks the process alone; Windows would send Ctrl-C
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False
