"""Data drawn by hand: connects the drawing window, the form, and the training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.flag import Flag
from app.scenes.controller import SceneController
from app.training.controller import TrainingController
from app.training.experiment_form import ExperimentForm
from app.training.fields import in_words, text_of
from app.training.studies import FIX_FIRST
from app.training.study_edits import Edits, StudyEdits
from core.data.files import DATA_FILTER
from core.data.points import (
    ISLAND,
    MAX_NUMBERS,
    MAX_POINTS,
    PastedRow,
    Points,
    PointsData,
    fault_of,
)
from core.errors import InputError
from core.figures.palette import PALETTES, Palette
from core.studies.study import Study
from core.study_file.words import kind_words

if TYPE_CHECKING:
    from app.data.drawing_window import DrawingWindow

KIND, BIASES = "points", "bias"
WORDS = "Draw the data"
WHILE_DRAWING = "Draw and train"
PAUSE = 400  # ms without a change before training starts
MOST_BYTES = 10_000_000  # of a file of at most 2,000 points
NO_STUDY = "Choose a study in Settings first; Marginscope trains its network on the points."
THROUGH_ORIGIN = "This network has no biases, so every neuron's boundary passes through the origin."
WAITS = "The drawn points were not copied to Settings: {fault}."
MANY = "The points in Settings have {d} coordinates; only one or two can be drawn."
FRESH = (
    "This study cannot be trained on points: its variants {names} draw fresh examples from a "
    "distribution at each step. Choose another study."
)
FILE_KEY = "data.path"  # key of the file in errors of the data readers
INSTEAD = "choose Own data as the kind of data in Settings to train on it."
TOO_LARGE = "{path} is too large to edit; " + INSTEAD
NOT_DRAWN = (
    "{path} has n = {n} points, d = {d} coordinates and {classes} classes. At most {most} "
    "points with one or two coordinates and two classes can be drawn; " + INSTEAD
)


@final
class DrawingController(QObject):
    """Owner of the window for drawing data, which is made when it is first shown.

    The points become the form's data in one named step when Train is pressed, and when the window
    is left or closed after a change.
    """

    runs_superseded = Signal(list)
    """Paths of runs that were trained while the drawing changed, and are no longer shown."""
    message = Signal(str)
    """Sentence for the main window's message bar."""

    def __init__(
        self,
        window: QWidget,
        form: ExperimentForm,
        training: TrainingController,
        scenes: SceneController,
    ) -> None:
        super().__init__(window)
        self._main, self._form = window, form
        self._training, self._scenes = training, scenes
        self._palette = PALETTES["light"]
        self._put: Points = ()  # the form's points, or those shown when the window opened
        self._putting = Flag()
        # Training while drawing: the runs started last, and those before them.
        self._latest: tuple[Path, ...] = ()
        self._before: list[Path] = []
        self.window: DrawingWindow | None = None
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self._train_again)
        form.changed.connect(self.refresh)
        form.drawing_requested.connect(self.show)
        training.study_loaded.connect(self.refresh)

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        if self.window is not None:
            self.window.set_colours(palette)

    # ------------------------------------------------------------------------------- the window

    def show(self) -> None:
        """Open the window on the points of the form, or bring it to the front."""
        first = self.window is None
        window = self.window or self._make_window()
        in_form = self._points_of_form()
        if in_form and len(in_form[0]) <= 3 and in_form != window.sketch.points:
            self._put = in_form
            window.start(in_form)
        elif in_form and len(in_form[0]) > 3:
            window.bar.show_message(MANY.format(d=len(in_form[0]) - 1))
        if not window.sketch.points and first:
            self._put = tuple(tuple(map(float, row)) for row in ISLAND)
            window.start(self._put)
        self._show_network()
        window.show()
        window.raise_()
        window.activateWindow()
        window.canvas.plot.setFocus()

    def _make_window(self) -> DrawingWindow:
        from app.data.drawing_window import DrawingWindow

        self.window = window = DrawingWindow(self._palette)
        window.setWindowIcon(self._main.windowIcon())
        window.changed.connect(self._on_changed)
        window.window_left.connect(self._on_left)
        window.closed.connect(self._on_closed)
        window.train_requested.connect(self.train)
        window.biases_requested.connect(self._use_biases)
        window.open_requested.connect(self._choose_file)
        return window

    def close(self) -> None:
        self._pause.stop()
        if self.window is not None:
            self.window.close()  # emits that the window was left
            self.window.deleteLater()
            self.window = None

    # --------------------------------------------------------------------------------- the form

    def refresh(self) -> None:
        """Show the points of the form after it changed, as a step of their own."""
        window = self.window
        if window is None or self._putting:
            return
        self._show_network()
        in_form = self._points_of_form()
        if in_form and len(in_form[0]) <= 3 and in_form != self._put:
            self._put = in_form
            if in_form != window.sketch.points:
                window.replace(in_form, "Use points from Settings")

    def _points_of_form(self) -> Points:
        """Return the points of the study in the form; () for other or wrong data."""
        study = self._form.study()
        if study is None:
            return ()
        data = next(study.iter_cells()).experiment.data
        return data.points if isinstance(data, PointsData) and not data.real else ()

    def _on_left(self) -> None:
        window = self.window
        if window is None or window.sketch.points == self._put:
            return
        # Otherwise the points wait here until they are valid data.
        if not fault_of(window.sketch.points):
            self._put_into_form()

    def _on_closed(self) -> None:
        """Report points that are not data yet: the form does not get them."""
        self._on_left()
        points = () if self.window is None else self.window.sketch.points
        fault = fault_of(points)
        if points and fault:
            self.message.emit(WAITS.format(fault=fault))

    def _put_into_form(self, goes_on: str = "") -> bool:
        """Put the points into the form, as a named step or as a part of a continuing one.

        Returns whether there is a form.
        """
        window, edits = self.window, self._form.edits
        if window is None or edits is None:
            return False
        points = window.sketch.points
        if points != self._points_of_form():
            self._edit(with_points(edits, points), WORDS, goes_on)
        self._put = points
        return True

    def _edit(self, edits: Edits, words: str, goes_on: str = "") -> None:
        self._scenes.commit()  # an earlier change is a step of its own
        with self._putting:
            if goes_on:
                self._scenes.continue_step(goes_on)
            else:
                self._scenes.name_next_step(words)
            self._training.show_edits(edits)
        self._scenes.commit()

    # ------------------------------------------------------------------------------ the network

    def _show_network(self) -> None:
        window, study = self.window, self._form.study()
        if window is None:
            return
        if study is None:
            window.set_note("", biases=False)
            return
        network = next(study.iter_cells()).experiment.network
        none = network.kind not in (BIASES, "custom")
        note = THROUGH_ORIGIN if none else ""
        window.set_note(note, biases=none)

    def _use_biases(self) -> None:
        edits = self._form.edits
        if edits is not None:
            kinds = [pair for pair in edits.kinds if pair[0] != "network"]
            changed = replace(edits, kinds=(*kinds, ("network", BIASES)))
            self._edit(changed, f"network = {kind_words('network', BIASES)}")
            self._show_network()
            self._on_changed()

    # ---------------------------------------------------------------------------------- training

    def train(self) -> None:
        """Train the study in the form on the points, and show the run."""
        if self._can_train():
            self._before += self._latest
            self._latest = ()
            self._training.run()
            self._main.raise_()
            self._main.activateWindow()

    def _on_changed(self) -> None:
        """Train after a pause, if training while drawing is on."""
        if self.window is not None and self.window.always.isChecked():
            self._pause.start()

    def _train_again(self) -> None:
        """Train on the present points, in place of the last run."""
        window = self.window
        if window is None or fault_of(window.sketch.points):
            return
        self._scenes.commit()  # an earlier change is a step of its own
        if not self._can_train(WHILE_DRAWING):
            return
        study = self._form.study()
        assert study is not None
        self._scenes.continue_step(WHILE_DRAWING)
        self._training.start_training(study)
        self._before += self._latest
        self._latest = self._training.paths
        self.tidy()

    def tidy(self) -> None:
        """Emit the runs that were trained while the drawing changed and still exist."""
        self._before = [path for path in self._before if path.exists()]
        names = self._scenes.runs_named
        if passed := [path for path in self._before if path not in names]:
            self.runs_superseded.emit(passed)

    def _can_train(self, words: str = "") -> bool:
        """Return True if the form can be trained on the points; otherwise report why not.

        `words` name a step that continues.
        """
        window = self.window
        if window is None:
            return False
        if not self._put_into_form(words):
            window.bar.show_message(NO_STUDY)
            return False
        study = self._form.study()
        if study is None:
            sentence = next(iter(self._form.problems().values()), "")
            edits = self._form.edits
            fresh = () if edits is None else variants_with_fresh(edits.base)
            if fresh:  # the form has no fields for what variants set
                window.bar.show_message(FRESH.format(names=", ".join(fresh)))
            else:
                window.bar.show_message(f"{FIX_FIRST} {in_words(sentence)}".strip())
            return False
        window.bar.clear()
        self._training.set_proposals(as_drawn(study))
        return True

    # ------------------------------------------------------------------------------------- files

    def _choose_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self.window, "Open points", "", DATA_FILTER)
        if path:
            self.open(Path(path))

    def open(self, path: Path) -> None:
        """Show the points of a data file in place of the present ones."""
        window = self.window
        assert window is not None
        try:
            read = points_of(path)
        except InputError as error:
            window.bar.show_message(error.sentence.removeprefix(f"{FILE_KEY}: "))
            return
        window.replace(read.points, f"Open {path.name}")
        if read.note:
            window.bar.show_message(read.note)


def with_points(edits: Edits, points: Points) -> Edits:
    """Return edits with points as the data, without the typed n and d of other data.

    The points determine n and d, which are stated only if formulas or variants of the study name
    them.
    """
    plain = _with_texts(edits, points, "", "")
    wrong = StudyEdits.from_edits(plain).outcome()
    if wrong.study is not None:
        return plain
    stated = _with_texts(edits, points, str(len(points)), str(len(points[0]) - 1))
    # If both fail, show the reason that is about a setting. A formula without n or d is no such
    # reason: both are known here.
    helps = StudyEdits.from_edits(stated).outcome().study is not None or "" in wrong.problems
    return stated if helps else plain


def variants_with_fresh(study: Study) -> tuple[str, ...]:
    """Return the variants of a study that draw fresh examples at each step."""
    return tuple(name for name, keys in study.variants.items() if keys.get("dynamics.fresh"))


def _with_texts(edits: Edits, points: Points, n: str, d: str) -> Edits:
    texts = {"data.points": text_of(points), "data.n": n, "data.d": d}
    unchanged = [pair for pair in edits.texts if pair[0] not in texts]
    kinds = [pair for pair in edits.kinds if pair[0] != "data"]
    latest = [key for key in edits.latest if key not in ("data.kind", *texts)]
    return replace(
        edits,
        kinds=(*kinds, ("data", KIND)),
        texts=(*unchanged, *texts.items()),
        latest=(*latest, "data.kind", "data.points"),
    )


def as_drawn(study: Study) -> Study:
    """Return the study without its proposed views, which suit its original data."""
    return replace(study, window={})


def points_of(path: Path) -> PastedRow:
    """Return the points of a data file. Raises InputError if they cannot be drawn."""
    import numpy as np

    from core.data.dataset import UNDERSTOOD
    from core.data.files import FileSource, stated_size

    large = path.is_file() and path.stat().st_size > MOST_BYTES
    # A packed file may still be small.
    if large or stated_size(path) > MAX_NUMBERS:
        raise InputError(TOO_LARGE.format(path=path.name))
    data = FileSource(path).sample(np.random.default_rng(0))
    if data.n > MAX_POINTS or data.d > 2 or data.classes != 2:
        words = NOT_DRAWN.format(
            path=path.name, n=data.n, d=data.d, classes=data.classes, most=MAX_POINTS
        )
        raise InputError(words)
    points = tuple(
        (*(float(value) for value in x), float(y)) for x, y in zip(data.x, data.y, strict=True)
    )
    if fault := fault_of(points):
        raise InputError(f"{path.name}: {fault}.")
    return PastedRow(points, f"{UNDERSTOOD} {data.note}" if data.is_guess else "")
