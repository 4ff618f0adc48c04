"""`make pictures`: pictures of the window in docs/images, in twelve states, by the program.

Each state has a process of its own, with a new home folder; runs are trained anew. Open the
pictures afterwards: they are what readers of the documents see first.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication

from app.places import Places
from app.qt_application import QtApplication
from app.shell.application import Marginscope
from app.start import prepare
from core.problem.schedule import coordinate

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
FIGURE_1 = "telgarsky22-figure-1"
PATIENCE_S = 240.0
REST_S = 1.5  # of layouts, labels and verdicts, after the last change


@final
@dataclass(frozen=True, slots=True)
class State:
    """State of the window: opened files, size, palette, and further actions.

    `log10_time`: moment that is shown, the end if it is None. `checked`: keys of actions.
    """

    name: str
    study: str = FIGURE_1
    size: tuple[int, int] = (1280, 800)
    dark: bool = False
    log10_time: float | None = None
    checked: Sequence[str] = ()
    views: Sequence[str] = ()
    filled: str = ""


STATES = (
    State("light"),
    State("dark", dark=True),
    State("start", log10_time=-2.0),
    State("middle", log10_time=1.5, dark=True),
    State("theory", checked=("inspector", "times")),
    State("settings", size=(1024, 640), dark=True, checked=("form",)),
    State("filled", filled="margins"),
    State("lecture", size=(1024, 640), checked=("lecture",)),
    State("compare", checked=("compare",)),
    State("alignment", study="boursier25-alignment-times"),
    State("edge", study="cohen21-edge-squared", dark=True),
    State("waves", study="morwani24-margin", size=(1600, 1000)),
)


def spin(seconds: float) -> None:
    """Run the event loop for some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        QCoreApplication.processEvents()
        time.sleep(0.005)


def wait_until(condition: Callable[[], bool]) -> None:
    """Run the event loop until a condition holds. Raises TimeoutError."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the window has not come to rest")
        spin(0.1)


def picture(state: State, path: Path) -> None:
    """Bring a window into a state, and save its picture."""
    with tempfile.TemporaryDirectory() as home:
        program = Marginscope(Places.in_folder(Path(home)), [state.study])
        program.start()
        program.window.resize(*state.size)
        session = program.session
        wait_until(lambda: bool(len(session)) and not session.live)
        wait_until(lambda: all(run.data is not None and run.data.complete for run in session))
        wait_until(lambda: not program.theory.busy)
        program.display.update_intent(playing=False, views=tuple(state.views))
        program.appearance.set_dark(state.dark)
        for key in state.checked:
            program.actions[key].setChecked(True)
        program.display.update_intent(filled=state.filled)
        if state.log10_time is None:
            program.playback.seek_end()
        else:
            program.playback.seek(float(coordinate(state.log10_time)))
        program.window.bar.clear()
        spin(REST_S)
        program.window.grab().save(str(path))
        if program.actions["lecture"].isChecked():
            program.actions["lecture"].setChecked(False)
        program.shutdown.close_now()
        spin(0.5)


def main(arguments: Sequence[str]) -> None:
    """Make the picture of one state here, or those of several or all in separate processes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help=", ".join(state.name for state in STATES))
    parser.add_argument("--out", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - {state.name for state in STATES}:
        parser.error(f"unknown names: {', '.join(sorted(unknown))}")
    states = [state for state in STATES if not options.names or state.name in options.names]
    if len(states) > 1:
        for state in states:
            module, out = ("-m", "tests.tools.pictures"), ("--out", str(options.out))
            subprocess.run([sys.executable, *module, state.name, *out], check=True)
        return
    prepare()
    application = QtApplication([sys.argv[0]])
    assert isinstance(application, QApplication)
    (state,) = states
    picture(state, options.out / f"window-{state.name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
