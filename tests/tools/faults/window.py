"""The real window in a process of its own, which does what lines on its input say.

`python -m tests.tools.faults.window FOLDER NAMES...` keeps all data of its user in FOLDER. Each
line of the input is one of

    do ACTION ...      press actions, as the menus have them
    at SHARE           go to a share of the time that is shown
    bookmark NAME      keep this moment by name
    export NAME        write figures of the runs into a file
    close              close the window, without a question

and is answered by a line of JSON: what is shown, what is said, and what nobody caught.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, final

from PySide6.QtCore import QObject, QSocketNotifier, QTimer
from PySide6.QtWidgets import QApplication

from app.errors import LOG_FILE, Reporter, open_log
from app.places import Places
from app.process import prepare
from app.shell.application import Marginscope
from app.state.resolve import span_of
from tests.tools.faults.processes import Program

ANSWER_MS = 60  # after what a line asks for, so that what follows from it is seen


@final
class Driven(QObject):
    """Reads lines, does what they say, and answers."""

    def __init__(self, program: Marginscope, reporter: Reporter) -> None:
        super().__init__()
        self._program, self._errors = program, list[str]()
        self._read = b""
        reporter.message.connect(self._errors.append)
        self._notifier = QSocketNotifier(0, QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_input)

    def _on_input(self) -> None:
        read = os.read(0, 65536)
        if not read:
            self._notifier.setEnabled(False)
            self._program.shutdown.close_now()
            return
        *lines, self._read = (self._read + read).split(b"\n")
        for line in lines:
            self._do(line.decode())

    def _do(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        program = self._program
        if word == "do":
            for key in rest.split():
                program.actions[key].trigger()
        elif word == "at":
            program.display.update_intent(playing=False)
            program.playback.seek(span_of(program.session.snapshot()).moment(float(rest)))
        elif word == "bookmark":
            program.bookmarks.add(rest)
        elif word == "close":
            program.shutdown.close_now()
        # In order: what was asked for is shown when the loop comes to it.
        QTimer.singleShot(ANSWER_MS, self, self._answer)

    def _answer(self) -> None:
        program = self._program
        modal = QApplication.activeModalWidget()
        box: Any = modal
        answer = {
            "runs": [str(run.path) for run in program.session],
            "frames": [0 if run.data is None else run.data.frames for run in program.session],
            "shown": [run.frame for run in program.display.view.runs],
            "live": len(program.session.live),
            "bar": program.window.bar.text,
            "asks": "" if modal is None else f"{box.text()} {box.informativeText()}",
            "visible": program.window.isVisible(),
            "errors": self._errors,
            "busy": program.worker.busy if hasattr(program.worker, "busy") else False,
        }
        print(json.dumps(answer), flush=True)


@final
class Window:
    """What tests see of it: `ask(line)` gives the answer as a dictionary."""

    def __init__(self, folder: Path, user: Path, *names: object, **options: Any) -> None:
        arguments = ["-m", "tests.tools.faults.window", user, *names]
        self.program = Program(arguments, folder, stdin=-1, **options)  # -1: a pipe
        self.errors: list[str] = []
        self.user = user

    def ask(self, line: str) -> dict[str, Any]:
        """Do what a line says; how the window stands then."""
        process = self.program.process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        said = process.stdout.readline()
        assert said, process.communicate()[1][-2000:]
        answer: dict[str, Any] = json.loads(said)
        self.errors = answer["errors"]
        return answer

    def until(self, condition: Any, line: str = "look") -> dict[str, Any]:
        """Ask until something is so; how it stands then."""
        answer = self.ask(line)
        for _ in range(1200):
            if condition(answer):
                return answer
            answer = self.ask("look")
        raise AssertionError(answer)

    def close(self) -> tuple[int, str]:
        """Close it; its status, and what it wrote as errors."""
        process = self.program.process
        assert process.stdin is not None
        if process.poll() is None:
            process.stdin.write("close\n")
            process.stdin.close()
            process.stdin = None
        status, _, err = self.program.ended()
        return status, err


def main() -> int:
    """Open the window, and stay until it is closed."""
    folder, *names = sys.argv[1:]
    prepare()
    application = QApplication(["marginscope"])
    places = Places.in_folder(Path(folder))
    open_log(places.logs)
    program = Marginscope(places, names)
    reporter = Reporter(places.logs / LOG_FILE)
    reporter.install()
    driven = Driven(program, reporter)
    program.worker.run_started.connect(program.settle)
    program.start()
    code = application.exec()
    driven.deleteLater()
    reporter.uninstall()
    return code


if __name__ == "__main__":
    sys.exit(main())
