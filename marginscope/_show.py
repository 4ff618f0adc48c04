"""`marginscope.show`: asks a window of the program, open or new, to show runs. Standard library."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final
from urllib.parse import quote, urlencode

from core.errors import InputError
from core.program import ROOT, package
from core.program.window_address import BUSY, MOST_BYTES, OK, REFUSED, address

# -------------------------------------------------------------------------------------- the call

MOST_BESIDE, MOST_COMPARED = 4, 10
END = "live"  # name of the latest frame in links, whichever it is when the link is opened
Time = str | float


def show(*runs: Any, at: Time | None = None, views: str | Sequence[str] | None = None) -> None:
    """Open a window on runs; the window that an earlier `show` has opened is used again.

    The window is a process of its own. The caller neither waits for it nor ends it.

    Parameters
    ----------
    *runs : path, Run or Recording
        One to ten runs: paths of run files, runs of `open`, or recordings, which the window follows
        while they grow. Up to four are shown side by side, five to ten are compared in one plot.
    at : float or str, optional
        Time to show, such as 300 or "10^2.5". By default the latest frame, also of frames to come.
    views : str or sequence of str, optional
        Views such as "neurons" or "margins". By default those that suit the runs.

    Warns
    -----
    UserWarning
        An open window does not answer within two seconds.

    Raises
    ------
    InputError
        No such file, time or view; more than ten runs; no screen, or no PySide6.
    """
    paths = [_path(run) for run in runs]
    if not 1 <= len(paths) <= MOST_COMPARED:
        raise InputError(f"{len(paths)} runs cannot be shown together; give 1 to {MOST_COMPARED}.")
    name = "run" if len(paths) <= MOST_BESIDE else "compare"
    pairs = [(name, str(path)) for path in paths]
    pairs.append(("t", END if at is None else _time(at)))
    chosen = [views] if isinstance(views, str) else list(views or ())
    pairs += [("views", str(view)) for view in chosen]
    show_link("marginscope://view?" + urlencode(pairs, quote_via=quote, safe="/:,^"))


def _path(run: Any) -> Path:
    """Return the absolute path of a run, or of a path. Raises InputError if no such file exists."""
    value = getattr(run, "path", run)
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"{type(run).__name__} is not a run; give a path, a run or a recording.")
    path = Path(value).expanduser().absolute()
    try:
        is_file = path.is_file()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise InputError(f"The run file {path} does not exist; check the path.")
    return path


def _time(at: Time) -> str:
    """Return a time as options read it. Raises InputError for other than numbers and texts."""
    if isinstance(at, bool) or not isinstance(at, str | int | float):
        try:
            at = float(at)  # NumPy scalars
        except (TypeError, ValueError):
            raise InputError(f"at = {at!r:.60} is not a time; give 300 or '10^2.5'.") from None
    return at if isinstance(at, str) else f"{float(at):.15g}"


# --------------------------------------------------------------------------------------- windows
#
# This module imports nothing of the window, and waits only until the window starts.

# A window reports within a second that it starts, or why not; a slower one starts all the same.
PATIENCE_S = 2.0
# Time to wait for a starting window, also on a busy machine.
START_TIMEOUT_S = 30.0
# From its folder, since the caller may have packages of the same names.
BOOT = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    f"from {package('app')}.__main__ import open_shown_window; "
    "sys.exit(open_shown_window(sys.argv[1]))"
)
NO_DISPLAY = (
    "No screen is available for a window. Over ssh, use ssh -X; or copy the run file to a "
    "computer with a screen and open it there; r[name] and r.frame(...) read it here"
)
NO_ANSWER = "no answer"
NOT_ANSWERED = (
    "The window has not answered for {seconds:g} s. If it is busy, it shows the runs as soon as it "
    "can; if it hangs, end it and call show again, which opens another window."
)
NO_QT = (
    "The window needs PySide6, which is not installed in this Python ({python}); install it with "
    "`python -m pip install PySide6-Essentials`."
)


@final
class Window:
    """A process that opens a window, and what it has said of that."""

    def __init__(self, link: str) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", BOOT, str(ROOT), link],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl-C is for the caller only
        )
        self._line = OK  # until the window reports something
        self._answered = threading.Event()
        threading.Thread(target=self._listen, name="window", daemon=True).start()

    def first_line(self) -> str:
        """Return the first line of the process, or why it died; OK after 2 s."""
        self._answered.wait(PATIENCE_S)
        return self._line

    def wait_for_start(self) -> None:
        """Wait until the window listens or has died."""
        self._answered.wait(START_TIMEOUT_S)

    def _listen(self) -> None:
        """Read the first line, and wait for the end of the process."""
        out, errors = self.process.stdout, self.process.stderr
        assert out is not None and errors is not None
        with out, errors:
            # A starting window closes both pipes; those of a dead one end.
            line = out.readline().strip()
            self._line = line or _explain_death(errors.read())
        self._answered.set()
        self.process.wait()


_WINDOWS: list[Window] = []


def show_link(link: str) -> None:
    """Have a window show a link. Raises InputError where none opens or it refuses the link."""
    if len(link.encode()) >= MOST_BYTES:
        raise InputError("the names of these runs are too long for one picture; show fewer.")
    place = address()
    for window in _WINDOWS:  # use a window that is starting, rather than open another one
        window.wait_for_start()
    answer = None if place is None else _request_open_window(place, link)
    if answer is None or answer == BUSY:
        answer = _start_window(link)
    if answer == NO_ANSWER:
        warnings.warn(NOT_ANSWERED.format(seconds=PATIENCE_S), stacklevel=3)
    elif answer != OK:
        raise InputError(answer.removeprefix(REFUSED))


def _request_open_window(place: Path, link: str) -> str | None:
    """Return what the open window says, or NO_ANSWER; None where no window is open."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(PATIENCE_S)
        try:
            caller.connect(str(place))
            caller.sendall(f"{link}\n".encode())
        except OSError:  # no window, or a killed one
            return None
        reply = b""
        try:
            while not reply.endswith(b"\n") and len(reply) < MOST_BYTES:
                if not (chunk := caller.recv(4096)):
                    break
                reply += chunk
        except TimeoutError:
            return NO_ANSWER  # the window has the line, and may only be busy
        except OSError:
            return None
    return reply.decode("utf-8", "replace").strip() or None


def _start_window(link: str) -> str:
    """Start a window and return its first line, or the reason why it cannot be started."""
    if not sys.executable:
        return "This Python does not know its own executable, which starts the window."
    if find_spec("PySide6") is None:
        return NO_QT.format(python=sys.executable)
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in screens):
        return f"{NO_DISPLAY}."
    _WINDOWS[:] = [window for window in _WINDOWS if window.process.poll() is None]
    _WINDOWS.append(Window(link))
    return _WINDOWS[-1].first_line()


def environment() -> dict[str, str]:
    """Return the caller's environment with this program's packages first.

    Variables that are meant for the caller's own pictures are left out.
    """
    variables = {name: text for name, text in os.environ.items() if name != "MPLBACKEND"}
    if "cv2" in variables.get("QT_QPA_PLATFORM_PLUGIN_PATH", ""):  # set by OpenCV on import
        del variables["QT_QPA_PLATFORM_PLUGIN_PATH"]
    before = variables.get("PYTHONPATH", "")
    variables["PYTHONPATH"] = f"{ROOT}{os.pathsep}{before}" if before else str(ROOT)
    variables["PYTHONSAFEPATH"] = "1"  # for processes started by the window
    return variables


def _explain_death(errors: str) -> str:
    """Explain in a sentence why a window died at its start, from its error output."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    if any("could not connect to display" in line or "no Qt platform" in line for line in lines):
        return f"{NO_DISPLAY} ({lines[0][:200]})."
    last = lines[-1][:300].rstrip(".") if lines else "it ended without a message"
    return f"The window could not be opened: {last}."
