"""Start of the program: log, signals, the window, and Qt's loop."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QIcon

from app.desktop import FILES, FOLDER, SIZES
from app.errors import LOG_FILE, Reporter, open_log
from app.places import user_places
from app.process import prepare
from app.qt_application import QtApplication
from app.shell.application import Marginscope
from app.shell.show_server import ShowServer, print_status, refusal, training
from app.termination import Termination
from core.cli.bundle import QT, is_bundled, restore_environment
from core.plugins import load_trusted
from core.program.window_address import OK, REFUSED, address


def icon() -> QIcon:
    """Return the program's icon, in all sizes that windows and their lists show."""
    icon_ = QIcon()
    for size in SIZES:
        icon_.addFile(str(FOLDER / f"marginscope-{size}.png"), QSize(size, size))
    return icon_


def main(arguments: Sequence[str], is_shown: bool = False) -> int:
    """Open the window and stay until it is closed.

    `is_shown`: for a program that has started this process, reads how it stands, and may ask the
    window for more (app.shell.show_server).
    """
    # Ctrl-C in the terminal ends the program at once; committed frames are safe in the run files.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    prepare()
    places = user_places()
    open_log(places.logs)
    # Pass no file names: Qt might take them for its own options.
    application = QtApplication.instance() or QtApplication([sys.argv[0]])
    assert isinstance(application, QtApplication)
    if is_bundled():  # Qt has read its variables by now
        restore_environment(os.environ, QT)
    application.setApplicationName("marginscope")
    application.setApplicationDisplayName("Marginscope")
    application.setDesktopFileName(FILES.removesuffix(".desktop"))
    application.setWindowIcon(icon())
    if is_shown and (problem := refusal(arguments[0])):
        print_status(REFUSED + problem)
        return 2
    problems = load_trusted()  # before the form, which lists all kinds
    program = Marginscope(places, arguments)
    for problem in problems:
        program.window.bar.show_message(problem)
    reporter = Reporter(places.logs / LOG_FILE)
    reporter.message.connect(program.window.bar.show_message)
    reporter.install()
    termination = Termination(program.shutdown.close_now, program)
    termination.install()
    program.worker.run_started.connect(program.settle)
    application.open_requested.connect(program.show_files)
    program.start()
    if is_shown:
        server = ShowServer(training(program.session), program)
        server.show_requested.connect(program.show_link)
        server.listen(address())
        application.aboutToQuit.connect(server.close)
        print_status(OK)
    code = application.exec()
    termination.uninstall()
    reporter.uninstall()
    return code if termination.code is None else termination.code
