"""Address of the window that `marginscope.show` opens, and the words of its answers.

A caller connects, sends one line, a link marginscope://view?..., and reads one line: OK, BUSY
while the window trains, or REFUSED and a sentence.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import tempfile
from pathlib import Path

OK, BUSY, REFUSED = "ok", "busy", "refused "
MOST_BYTES = 100_000  # of a line in either direction
LONGEST_PATH = 100  # bytes; every system accepts socket paths of this length
NAME = "marginscope"


def private_folder() -> Path | None:
    """Return this user's own folder for sockets, which is created if it is missing.

    None on systems without Unix sockets, and if the folder cannot be created or others may use it.
    """
    if not hasattr(socket, "AF_UNIX") or not hasattr(os, "getuid"):
        return None
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and Path(runtime).is_dir():
        folder = Path(runtime) / NAME
    else:
        folder = Path(tempfile.gettempdir()) / f"{NAME}-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    mine = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    # Another user may have created the folder first, in a directory writable by everyone.
    return folder if mine and not status.st_mode & 0o077 else None


def address() -> Path | None:
    """Return the path of the socket of this user's window on this screen.

    The socket exists only while a window is open. None without `private_folder`, and for a path
    that is too long.
    """
    folder = private_folder()
    if folder is None:
        return None
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    screen = "|".join(os.environ.get(name, "") for name in names)
    path = folder / f"window-{hashlib.sha256(screen.encode()).hexdigest()[:8]}"
    return path if len(os.fsencode(path)) <= LONGEST_PATH else None
