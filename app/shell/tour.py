"""Leads through the window: opens Figure 1, goes to moments, and points at parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from app.playback.display import DisplayController
from app.playback.player import Playback
from app.scenes.folding import FOLDS, Folding
from app.shell.main_window import MainWindow
from app.state.tour import STEPS, STUDY, Step
from app.training.controller import TrainingController
from core.problem.schedule import coordinate
from core.studies.study import shipped_summaries

if TYPE_CHECKING:
    from app.shell.tour_card import TourCard

# The panels that steps speak of, by the actions that unfold them.
PANELS = {"theory": "inspector", "form": "form"}


@final
class TourController(QObject):
    """`begin` starts at the first step; the window can be used meanwhile."""

    def __init__(
        self,
        window: MainWindow,
        display: DisplayController,
        training: TrainingController,
        playback: Playback,
    ) -> None:
        super().__init__(window)
        self._window, self._display = window, display
        self._training, self._playback = training, playback
        self._actions: Mapping[str, QAction] = {}
        self._number = -1  # none
        self._folding: Folding | None = None
        self._before: dict[str, bool] = {}  # panels that a step has changed, as they were
        self.card: TourCard | None = None
        window.resized.connect(self._point)
        display.runs_changed.connect(self._on_runs)

    def set_actions(self, actions: Mapping[str, QAction], folding: Folding) -> None:
        """The table's actions, whose keys the steps name, and who folds panels."""
        self._actions, self._folding = actions, folding

    def begin(self) -> None:
        """Show the first step, on Figure 1."""
        if self.card is None:
            from app.shell.tour_card import TourCard

            self.card = TourCard(self._window)
            self.card.moved.connect(self._move)
            self.card.left.connect(self.end)
        if not self._has_figure_1() and not self._training.choose(STUDY):
            return
        self._number = 0
        self._show()

    @property
    def step(self) -> Step | None:
        """The step that is shown."""
        return STEPS[self._number] if self._number >= 0 else None

    def _has_figure_1(self) -> bool:
        title = next((one.title for one in shipped_summaries() if one.id == STUDY), "")
        titles = {run.data.run.title for run in self._display.session if run.data is not None}
        return titles == {title}

    def _move(self, by: int) -> None:
        if self._number + by < len(STEPS):
            self._number += by
            self._show()
        else:
            self.end()

    def end(self) -> None:
        """Take the card away; everything else stays as it is."""
        if self.card is not None and self._number >= 0:
            self._number = -1
            self._put_back()
            self.card.close_tour()
            self._window.transport.slider.setFocus()

    # ------------------------------------------------------------------------------- showing

    def _show(self) -> None:
        step = STEPS[self._number]
        assert self.card is not None
        self.card.show_step(self._number, len(STEPS), step.title, self._worded(step.text))
        self._prepare(step)
        self._point()
        self.card.next.setFocus()

    def _worded(self, text: str) -> str:
        """With the keys that the actions have at present, in brackets."""
        form = QKeySequence.SequenceFormat.NativeText
        keys = {key: action.shortcut().toString(form) for key, action in self._actions.items()}
        return text.format_map({key: f" ({name})" if name else "" for key, name in keys.items()})

    def _prepare(self, step: Step) -> None:
        """Go to the step's moment, and pin its nodes."""
        if step.log10_time is not None:
            self._playback.to_moment(float(coordinate(step.log10_time)))
            self._display.ask(playing=step.plays)
        if step.pins:
            self._pin_largest(step.pins)
        self._put_back()
        panel = PANELS.get(step.place, "")
        if panel and not self._actions[panel].isChecked():
            small = self._folding is not None and self._folding.is_small()
            # Not both in a small window, which would grow.
            self._set_panels({other: other == panel for other in FOLDS if small or other == panel})

    def _set_panels(self, shown: Mapping[str, bool]) -> None:
        """Open and fold panels for a step; nothing of it was chosen by hand."""
        assert self._folding is not None
        self._before = {panel: self._actions[panel].isChecked() for panel in shown}
        with self._folding.fitting:
            for panel, on in shown.items():
                self._actions[panel].setChecked(on)

    def _put_back(self) -> None:
        """Leave the panels as they were before the step."""
        if self._before:
            self._set_panels(self._before)
            self._before = {}

    def _pin_largest(self, count: int) -> None:
        run = next((run for run in self._display.session if run.data is not None), None)
        if run is None or run.data is None or not run.data.frames:
            return
        sizes = run.data.values("relative_norm", run.data.frames - 1)
        largest = np.argsort(-sizes)[:count].tolist()
        self._display.ask(pinned=frozenset((run.key, int(node)) for node in largest))

    def _on_runs(self) -> None:
        step = self.step
        if step is not None and self._number == 0:
            self._prepare(step)
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
            "theory": window.side,
            "tools": window.tools,
        }
        if place in parts:
            return parts[place]
        panel = self._display.slots[0].panel if self._display.slots else None
        return panel.view(place) if panel is not None and place in panel.names else None
