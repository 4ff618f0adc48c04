"""Starts the program: log, signals, the window, and Qt's loop."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from PySide6.QtWidgets import QApplication

from app.application import Marginscope
from app.errors import LOG_FILE, Reporter, open_log
from app.places import user_places
from app.termination import Termination

# Threads of Python that compute hand the interpreter over at least so often, for the window's sake.
SWITCH_S = 2e-4


def main(arguments: Sequence[str]) -> int:
    """Open the window and stay until it is closed."""
    # Ctrl-C in the terminal ends the program at once; what is committed is safe in the run files.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.setswitchinterval(SWITCH_S)
    places = user_places()
    open_log(places.logs)
    # Without the names of files, which Qt might take for options of its own.
    application = QApplication([sys.argv[0]])
    application.setApplicationName("marginscope")
    application.setApplicationDisplayName("Marginscope")
    program = Marginscope(places, arguments)
    reporter = Reporter(places.logs / LOG_FILE)
    reporter.message.connect(program.window.bar.say)
    reporter.install()
    termination = Termination(program.closing.at_once, program)
    termination.install()
    program.worker.started.connect(program.settle)
    program.start()
    code = application.exec()
    termination.uninstall()
    reporter.uninstall()
    return code if termination.code is None else termination.code
