"""Tour of the window: opens Figure 1, seeks moments, and points at parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.playback.display import DisplayController
from app.playback.transport import PlaybackController
from app.shell.drawers import DrawerController
from app.shell.main_window import MainWindow
from app.training.controller import TrainingController
from app.widgets.inputs import push_button
from app.widgets.keyboard import ButtonKeyActivation
from app.widgets.labels import heading_label, quiet_label
from app.widgets.layouts import add_all, space
from app.widgets.ring import Ring
from core.problem.schedule import coordinate
from core.studies.summaries import shipped_summaries

TOUR_STUDY = "telgarsky22-figure-1"


@final
@dataclass(frozen=True, slots=True)
class TourStep:
    """Step of the tour.

    `place`: a view of the current run, or a part of the window, that is framed. `log10_time`:
    moment to go to; `plays`: play from there; `pins`: pin so many of the current run's largest
    neurons. {key} in `text` is the shortcut of an action.
    """

    title: str
    text: str
    place: str
    log10_time: float | None = None
    plays: bool = False
    pins: int = 0


STEPS = (
    TourStep(
        "Two networks learn",
        "Figure 1 of Telgarsky 2022: two-layer networks with 16 and 256 neurons learn the parity "
        "of two bits among 20. Each dot is a neuron at |a|\u2060\u00a0\u2060v: blue neurons "
        "vote for +1, orange ones for \u22121. Crosses are the data.",
        "neurons",
        -2.0,
        plays=True,
    ),
    TourStep(
        "Scrub through training",
        "Every frame is recorded. Drag the slider, play or pause{play}, or step frame by "
        "frame. Time is logarithmic because margins grow logarithmically. The axes follow the "
        "neurons, so you can see the early phase too.",
        "slider",
        0.0,
    ),
    TourStep(
        "See neurons turn and grow",
        "A neuron's rotation is the cosine of the angle between its direction now and at the "
        "start, sorted so that the largest turn comes first. With 16 neurons, above, some turn "
        "far. With 256, below, hardly any turn: good directions exist from the start, and "
        "their norms grow.",
        "rotations",
        2.0,
    ),
    TourStep(
        "Compare margins with theory",
        "The normalised margin grows towards the best any network can achieve (dashed, "
        "computed from the data alone). Click in the plot to go to that time.",
        "margins",
        4.0,
    ),
    TourStep(
        "Check every theorem",
        "Reference margins come with proven bounds, and every theorem is checked on this run: "
        "hypotheses and conclusion. Open a theorem to see what was compared.",
        "theory",
    ),
    TourStep(
        "Inspect a neuron",
        "The two largest neurons are pinned: every view highlights them, and Numbers shows "
        "their values. Click a neuron to pin it, or drag a box around several. Unpin them all "
        "when you are done{unpin}.",
        "numbers",
        pins=2,
    ),
    TourStep(
        "Change anything and train",
        "Settings shows every setting of the study and checks your changes as you type. "
        "Run{run} trains it, and the title names your changes.",
        "form",
    ),
    TourStep(
        "Branch from any moment",
        "A branch{branch} starts at exactly the moment shown, with another step size, loss or "
        "end time, and plays below its parent. You lose nothing: you can undo changes{undo}, "
        "and every run stays in the library{library}.",
        "transport",
    ),
    TourStep(
        "Run a whole study and check its claims",
        "Study{result} shows the paper's figure and which of its claims hold; click a point to "
        "open its run. Run whole study{whole} trains all runs, on all processors or a cluster.",
        "study",
    ),
    TourStep(
        "Export and share",
        "Export figures{figure}, films{film} and data{data}. A link{copy_link} reopens exactly "
        "what you see. The command palette{palette} finds everything, and every plot can "
        "explain itself{what}.",
        "export",
    ),
)


# Drawers that the steps mention -> their action keys.
DRAWERS = {"theory": "inspector", "form": "form", "numbers": "numbers"}
WIDTH = 340
APART = 16  # pixels from the edges of the window


@final
class TourController(QObject):
    """Tour of the window, which remains usable."""

    def __init__(
        self,
        window: MainWindow,
        display: DisplayController,
        training: TrainingController,
        playback: PlaybackController,
        drawers: DrawerController,
    ) -> None:
        super().__init__(window)
        self._window, self._display = window, display
        self._training, self._playback = training, playback
        self._drawers = drawers
        self._actions: Mapping[str, QAction] = {}
        self._number = -1  # no step
        self._before: str | None = None  # drawer that was open before a step opened another
        self.card: TourCard | None = None
        window.resized.connect(self._point)
        display.runs_changed.connect(self._on_runs)

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """Use the table's actions, whose keys the steps name."""
        self._actions = actions

    def start(self) -> None:
        """Show the first step, on Figure 1."""
        if self.card is None:
            self.card = TourCard(self._window)
            self.card.step_requested.connect(self._move)
            self.card.tour_left.connect(self.stop)
        if not self._has_only_figure_1() and not self._training.choose(TOUR_STUDY):
            return
        self._actions["lecture"].setChecked(False)
        self._display.update_intent(filled="")
        self._window.bar.set_held(True)  # the card lies in its corner
        self._number = 0
        self._show()

    @property
    def step(self) -> TourStep | None:
        """Step on the card, None without a card."""
        return STEPS[self._number] if self._number >= 0 else None

    def _has_only_figure_1(self) -> bool:
        title = next((one.title for one in shipped_summaries() if one.id == TOUR_STUDY), "")
        titles = {run.data.run.title for run in self._display.session if run.data is not None}
        return titles == {title}

    def _move(self, by: int) -> None:
        if self._number + by < len(STEPS):
            self._number += by
            self._show()
        else:
            self.stop()

    def stop(self) -> None:
        """Close the card and restore the drawers."""
        if self.card is not None and self._number >= 0:
            self._number = -1
            self._restore_drawer()
            self.card.close_tour()
            self._window.bar.set_held(False)
            self._window.transport.slider.setFocus()

    # ------------------------------------------------------------------------------- showing

    def _show(self) -> None:
        step = STEPS[self._number]
        assert self.card is not None
        self.card.show_step(self._number, len(STEPS), step.title, self._with_keys(step.text))
        self._prepare(step)
        self._point()
        self.card.next.setFocus()

    def _with_keys(self, text: str) -> str:
        """Return a text with the present keys of its actions in brackets."""
        form = QKeySequence.SequenceFormat.NativeText
        keys = {key: action.shortcut().toString(form) for key, action in self._actions.items()}
        return text.format_map({key: f" ({name})" if name else "" for key, name in keys.items()})

    def _prepare(self, step: TourStep) -> None:
        """Go to the step's moment, and pin its neurons."""
        if step.log10_time is not None:
            self._playback.seek(float(coordinate(step.log10_time)))
            self._display.update_intent(playing=step.plays)
        if step.pins:
            self._pin_largest(step.pins)
        self._restore_drawer()
        if drawer := DRAWERS.get(step.place, ""):
            before = self._drawers.open
            self._show_drawer(drawer)
            self._before = before

    def _show_drawer(self, drawer: str) -> None:
        """Open a drawer for a step, without counting as the user's choice."""
        with self._drawers.automatic:
            self._drawers.show(drawer)

    def _restore_drawer(self) -> None:
        """Leave the drawers as they were before the step."""
        if self._before is not None and self._drawers.open in DRAWERS.values():
            self._show_drawer(self._before)
        self._before = None

    def _pin_largest(self, count: int) -> None:
        run = self._display.current
        if run is None or run.data is None or not run.data.frames:
            return
        sizes = run.data.values("relative_norm", run.data.frames - 1)
        largest = np.argsort(-sizes)[:count].tolist()
        self._display.update_intent(pinned=frozenset((run.key, int(node)) for node in largest))

    def _on_runs(self) -> None:
        if self._number == 0:
            self._prepare(STEPS[0])
        self._point()

    def _point(self) -> None:
        if self.card is not None and (step := self.step) is not None:
            window = self._window
            room = window.rect()
            room.setBottom(window.transport.mapTo(window, QPoint(0, 0)).y())
            self.card.point_at(self._target(step.place), room)

    def _target(self, place: str) -> QWidget | None:
        window = self._window
        parts = {
            "slider": window.transport.slider,
            "transport": window.transport,
            "form": window.form,
            "theory": window.theory,
            "numbers": window.inspector,
            "study": window.rail.buttons["result"],
            "export": window.top.export,
        }
        if place in parts:
            return parts[place]
        panels = [panel for panel in self._display.panels if place in panel.names]
        current = [panel for panel in panels if panel.run is self._display.current]
        panel = next(iter((*current, *panels)), None)
        return None if panel is None else panel.view(place)


@final
class TourCard(QFrame):
    """Card of the tour, with a ring around the explained part."""

    step_requested = Signal(int)  # step before (-1) or after (1)
    tour_left = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("tourCard")
        self.setFrameShape(QFrame.Shape.Box)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.setAccessibleName("Tour")
        self._ring = Ring(window)
        self.place = quiet_label("", self)
        self.title = heading_label("", self)
        self.text = QLabel(self, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.end = push_button("End the tour", self)
        self.back = push_button("Back", self)
        self.next = QPushButton("Next", self)
        self.next.setProperty("primary", True)
        self._button_keys = ButtonKeyActivation(self)
        for button in (self.end, self.back, self.next):
            self._button_keys.add(button)
        self.end.clicked.connect(self.tour_left)
        self.back.clicked.connect(self._on_back)
        self.next.clicked.connect(self._on_next)
        buttons = add_all(space(QHBoxLayout(), spacing=8), self.end, 1, self.back, self.next)
        column = space(QVBoxLayout(self), (16, 12, 16, 16), 8)
        add_all(column, self.place, self.title, self.text, buttons)

    def show_step(self, number: int, count: int, title: str, text: str) -> None:
        """Show one step of so many; `number` counts from 0."""
        self.place.setText(f"{number + 1} of {count}")
        self.title.setText(title)
        self.text.setText(text)
        self.back.setEnabled(number > 0)
        self.next.setText("Next" if number + 1 < count else "Done")
        self.end.setVisible(number + 1 < count)
        # Wider if a large font leaves the buttons no room.
        buttons = sum(one.sizeHint().width() + 8 for one in (self.end, self.back, self.next))
        width = max(WIDTH, buttons + 34)
        self.setFixedWidth(width)
        self.text.setMinimumHeight(0)  # a part of heightForWidth
        self.text.setFixedHeight(self.text.heightForWidth(width - 34))
        self.setAccessibleDescription(f"{title}. {text}")
        self.adjustSize()

    def point_at(self, target: QWidget | None, room: QRect) -> None:
        """Move to the corner that hides least of a widget, and frame the widget.

        None, or a hidden widget, gets no frame.
        """
        window = self._window
        room = room.adjusted(APART, APART, -APART, -APART)
        area = QRect()
        if target is not None and target.isVisible():
            area = QRect(target.mapTo(window, QPoint(0, 0)), target.size())
        size = QSize(self.minimumWidth(), self.sizeHint().height())
        corners = [QRect(QPoint(0, 0), size) for _ in range(4)]
        corners[0].moveBottomRight(room.bottomRight())
        corners[1].moveBottomLeft(room.bottomLeft())
        corners[2].moveTopRight(room.topRight())
        corners[3].moveTopLeft(room.topLeft())
        covered_areas = [_area(corner.intersected(area)) for corner in corners]
        self.setGeometry(corners[covered_areas.index(min(covered_areas))])
        self._ring.show_around(area)
        self.show()
        self.raise_()

    def close_tour(self) -> None:
        """Hide card and ring."""
        self._ring.hide()
        self.hide()

    def _on_back(self) -> None:
        self.step_requested.emit(-1)

    def _on_next(self) -> None:
        self.step_requested.emit(1)

    def event(self, event: QEvent) -> bool:
        # Otherwise the window would handle Escape and unpin neurons.
        override = event.type() is QEvent.Type.ShortcutOverride
        if override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.tour_left.emit()
        else:
            super().keyPressEvent(event)


def _area(rect: QRect) -> int:
    return max(rect.width(), 0) * max(rect.height(), 0)
