"""A random walk through the window: one user action after another."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, final

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QLineEdit

from app.export.export_dialog import ExportDialog
from app.export.film_form import FilmForm
from app.shell.application import Marginscope
from app.state.resolve import span_of
from app.training.first_start import FIRST_STUDY
from tests.support.run_files import crash

STEP_MS = 120
SMALL = """
title = "A small study"
[data]
d = {d}
n = 12
[network]
m = 8
[dynamics]
kind = "{kind}"
until_log10_time = 2.0
[recording]
frames = 60
[axes]
"run.seed" = [0, 1]
"""
SWEPT = SMALL.format(d=6, kind="gd").replace("= 60", "= 8").replace("[0, 1]", "[0, 1, 2, 3, 4, 5]")
# Actions that are pressed as they are; what they open is answered a step later.
PRESSED = (
    *("undo", "redo", "undo", "redo", "play", "back", "forward", "start", "end", "loop"),
    *("loop_from", "loop_to", "loop_all", "slower", "faster", "follow", "compare", "log_curves"),
    *("equal", "link", "unpin", "library", "dark", "system", "times", "form", "inspector"),
    *("lecture", "palette", "shortcuts", "welcome", "documents", "what", "studies", "preview"),
    *("draw", "copy_link", "copy_figure", "cite", "name", "bookmark", "jump", "cells", "about"),
    *("selection_back", "selection_forward", "margins_again", "margins_stop", "last", "tour"),
)
TRAINING = ("run", "seed", "weights", "restart", "further", "stop", "pause", "pause")
EXPORTS = ("figure", "data", "page", "film")
MOST_WAITS = 15
MOST_RUNS = 100  # that are kept: what is looked for does not grow with the files
SIZES = ((1280, 800), (1024, 640), (1600, 900))
LAYOUTS = ("Paper", "Lecture", "Four-up")
SEARCHES = ("m >= 4", "small", "hard_margin > 0 and size < 20 MB", "(", "", "tag == 'x'")


@final
class Walk(QObject):
    """Random actions every `STEP_MS` while it is `on`; `done` counts them."""

    def __init__(self, program: Marginscope, folder: Path, seed: int) -> None:
        super().__init__(program)
        self.program, self.folder = program, folder
        self.done: Counter[str] = Counter()
        self._chance = random.Random(seed)
        self._studies = [self._study(f"small{d}", d, kind) for d, kind in ((4, "gd"), (6, "flow"))]
        self._swept = folder / "swept.toml"
        self._cut_off = crash(folder / "cut_off.msrun")
        self._swept.write_text(SWEPT)
        self._number = self._waited = 0
        self._timer = QTimer(self, interval=STEP_MS)
        self._timer.setObjectName("walk")
        self._timer.timeout.connect(self._soon)
        self._deeds: list[tuple[int, str, Callable[[], object]]] = [
            (30, "", self._press),
            (6, "train", self._train),
            (3, "study", self._choose),
            (4, "open", self._open),
            (3, "beside", self._open_beside),
            (1, "cut off", self._open_cut_off),
            (12, "scrub", self._scrub),
            (6, "views", self._views),
            (3, "pin", self._pin),
            (2, "close", program.training.close_runs),
            (3, "export", self._export),
            (2, "branch", self._branch),
            (3, "bookmark", self._bookmark),
            (3, "filter", self._filter),
            (2, "layout", self._layout),
            (1, "whole study", self._sweep),
            (2, "windows closed", self.put_windows_away),
            (2, "link", self._link),
            (2, "size", self._resize),
        ]
        # First everything once or twice: what is made when it is first asked for is no leak.
        once = [partial(self._trigger, key) for key in (*PRESSED, *EXPORTS, *TRAINING)]
        once += [deed for _, name, deed in self._deeds if name] + [self._four] * 3
        self._first = [deed for deed in self._chance.sample(once, len(once)) for _ in range(2)]
        QFileDialog.getSaveFileName = staticmethod(lambda *_, **__: ("", ""))  # type: ignore[method-assign]
        QFileDialog.getOpenFileName = staticmethod(lambda *_, **__: ("", ""))  # type: ignore[method-assign]
        QFileDialog.getOpenFileNames = staticmethod(lambda *_, **__: ([], ""))  # type: ignore[method-assign]

    def _study(self, name: str, d: int, kind: str) -> Path:
        path = self.folder / f"{name}.toml"
        path.write_text(SMALL.format(d=d, kind=kind))
        return path

    # ------------------------------------------------------------------------------ on and off

    def go(self) -> None:
        self._timer.start()

    def rest(self) -> None:
        self._timer.stop()

    def quiet(self) -> bool:
        """Close open things a few at a time; return True if nothing is open any more."""
        program = self.program
        if (modal := QApplication.activeModalWidget()) is not None:
            self._refuse(modal)
            return False
        if (popup := QApplication.activePopupWidget()) is not None:
            popup.close()
            return False
        self.put_windows_away()
        if program.session.live:
            program.training.stop()
            return False
        if len(program.session):
            program.training.close_runs()
            return False
        for key in ("library", "compare", "dark", "system", "lecture", "welcome", "times", "loop"):
            if program.actions[key].isChecked():
                program.actions[key].trigger()
        program.tour.stop()
        # The same form at every look: how many fields there are depends on the study.
        study = program.window.form.study()
        if study is None or study.id != FIRST_STUDY:
            program.training.offer(FIRST_STUDY)
            return False
        # As large as ever, and nothing kept for others: a picture that was copied is megabytes.
        QApplication.clipboard().clear()
        program.window.resize(*SIZES[0])
        if program.studies.busy and program.studies.runner is not None:
            program.studies.runner.window.progress.cancel.click()
        if program.export.waited_for():
            program.export.cancel()
        if not program.export.waited_for():
            program.export.figure_process.stop()  # as by itself, 30 s after its last figure
        busy = (program.studies.busy, program.export.waited_for(), program.theory.busy)
        return not (any(busy) or program.library.librarian.busy)

    def tidy(self) -> None:
        """Delete the oldest runs: the list of all recorded runs would dominate the growth."""
        runs = sorted(self.program.places.runs.glob("*.msrun"), key=lambda run: run.stat().st_mtime)
        old = tuple(run.name for run in runs[:-MOST_RUNS])
        for left in self.program.places.runs.iterdir():
            if old and left.name.startswith(old):  # a run, its -wal, and what is noted of it
                left.unlink()

    def put_windows_away(self) -> None:
        """Close every window of the program but the first."""
        # One by one, and looked for anew: a window that closes may take others along, and Qt's own,
        # such as lists of choices, are nobody's to close.
        for _ in range(20):
            others = [
                widget
                for widget in QApplication.topLevelWidgets()
                if type(widget).__module__.startswith("app.")
                and widget is not self.program.window
                and widget.isVisible()
                and not widget.isModal()
            ]
            if not others:
                return
            others[0].close()

    # ----------------------------------------------------------------------------- the deeds

    def _soon(self) -> None:
        # Not within the timer's own turn: Qt lets it have no other before that one ends, and some
        # dialogs wait in a loop of their own.
        QTimer.singleShot(0, self, self._step)

    def _step(self) -> None:
        modal, popup = QApplication.activeModalWidget(), QApplication.activePopupWidget()
        if modal is not None:
            self._answer(modal)
            return
        if popup is not None:
            popup.close()
            return
        if self._first:
            self._first.pop()()
            return
        weights = [weight for weight, _, _ in self._deeds]
        _, name, deed = self._chance.choices(self._deeds, weights)[0]
        if name:
            self.done[name] += 1
        deed()

    def _answer(self, modal: Any) -> None:
        """Answer an open dialog: save, accept, or leave it."""
        if isinstance(modal, ExportDialog):
            if isinstance(modal.form, FilmForm):
                modal.form.seconds.setValue(0.2)
            self._number += 1
            modal.path.setText(str(self.folder / f"export{self._number % 3}{modal.form.suffix()}"))
            modal.path.textEdited.emit(modal.path.text())
            if modal.save.isEnabled() and (self._first or self._chance.random() < 0.8):
                self.done["saved"] += 1
                modal.save.click()
                return
            self._waited += 1  # its columns are still being counted
            if self._waited % MOST_WAITS:
                return
        field = modal.findChild(QLineEdit)
        if field is not None and self._chance.random() < 0.5:
            QTest.keyClicks(field, self._chance.choice(("10^1", "m", "run", "x", "7")))
        self.done["answered"] += 1
        if self._chance.random() < 0.4 and field is not None:
            QTest.keyClick(field, Qt.Key.Key_Return)  # which a dialog may refuse
        else:
            self._refuse(modal)

    def _refuse(self, modal: Any) -> None:
        if isinstance(modal, QDialog):
            modal.reject()
        else:
            modal.close()

    def _trigger(self, key: str) -> None:
        action = self.program.actions[key]
        if action.isEnabled():
            self.done[key] += 1
            action.trigger()

    def _press(self) -> None:
        self._trigger(self._chance.choice(PRESSED))

    def _train(self) -> None:
        self._trigger(self._chance.choice(TRAINING))

    def _choose(self) -> None:
        self.program.training.choose(str(self._chance.choice(self._studies)))

    def _runs(self) -> list[Path]:
        return sorted(self.program.places.runs.glob("*.msrun"))[:40]

    def _open(self) -> None:
        if runs := self._runs():
            some = self._chance.sample(runs, min(len(runs), self._chance.choice((1, 1, 2, 3))))
            self.program.files.open_files([str(path) for path in some])

    def _open_cut_off(self) -> None:
        """Open a run left by a crash, which the window polls in case it still grows."""
        self.program.files.open_files([str(self._cut_off)])

    def _open_beside(self) -> None:
        if runs := self._runs():
            self.program.files.open_files([str(self._chance.choice(runs))], add=True)

    def _four(self) -> None:
        runs = self._runs()
        self.program.files.open_files([str(path) for path in runs[:4]])

    def _scrub(self) -> None:
        program = self.program
        span = span_of(program.session.snapshot())
        if len(program.session) and span.high > span.low:
            program.playback.seek(span.moment(self._chance.random()))

    def _views(self) -> None:
        if names := list(self.program.curve_choice.observables()):
            self.program.curve_choice.show_curve(self._chance.choice(names))
        menu = self.program.window.view_choice
        menu.aboutToShow.emit()
        if actions := [one for one in menu.actions() if one.isEnabled() and not one.isSeparator()]:
            self._chance.choice(actions).trigger()

    def _pin(self) -> None:
        for panel in self.program.display.panels[:1]:
            panel.node_clicked.emit(self._chance.randrange(8))

    def _export(self) -> None:
        self._trigger(self._chance.choice(EXPORTS))

    def _branch(self) -> None:
        self._trigger("branch")
        self._trigger("run")

    def _bookmark(self) -> None:
        if len(self.program.session):
            self.program.bookmarks.add(f"moment {self._chance.randrange(5)}")
            self.program.bookmarks.show(f"moment {self._chance.randrange(5)}")

    def _filter(self) -> None:
        panel = self.program.library.panel
        if panel is not None:
            panel.search.setText(self._chance.choice(SEARCHES))

    def _layout(self) -> None:
        self.program.layouts.show(self._chance.choice(LAYOUTS))

    def _sweep(self) -> None:
        """Run the quick whole study, in this process or in another."""
        program = self.program
        program.training.choose(str(self._swept))
        program.studies.show_window()
        window = program.studies.runner.window if program.studies.runner is not None else None
        if window is not None and window.progress.run.isEnabled() and not program.studies.busy:
            window.options.jobs.setValue(self._chance.choice((1, 1, 2)))
            window.progress.run.click()

    def _link(self) -> None:
        self._trigger("copy_link")
        text = QApplication.clipboard().text()
        if text.startswith("marginscope:"):
            self.program.links.open(text)

    def _resize(self) -> None:
        self.program.window.resize(*self._chance.choice(SIZES))
