"""Scenes: capture and restoration of the window's state, and undo.

Changes are found by comparing scenes once per turn of the event loop (app.scenes.history), so that
the code that changes something need not report it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, QRectF, QTimer, Signal
from PySide6.QtGui import QAction

from app.flag import Flag
from app.playback.display import DisplayController
from app.scenes.history import (
    Event,
    ExternalChange,
    Redo,
    SceneHistory,
    Select,
    ThemeChange,
    Undo,
    UserChange,
    reduce,
)
from app.scenes.scene import Scene, Zoom, by_key, by_position
from app.state.intent import with_proposals
from app.training.controller import TrainingController
from app.training.experiment_form import ExperimentForm
from app.training.files import FileController
from app.training.run_questions import Repeat
from app.widgets.labels import menu_text

# The lecture first: it folds and unfolds the others.
PANELS = ("lecture", "form", "inspector", "numbers", "result", "library", "times")


@final
class SceneController(QObject):
    """Owner of the undo history."""

    changed = Signal()  # the scene or the undo history changed
    message = Signal(str)  # reason why something cannot be restored
    # Name of a step made or undone, and True if it continues the step before. An empty name: the
    # step before was reverted.
    step_taken = Signal(str, bool)

    def __init__(
        self,
        form: ExperimentForm,
        display: DisplayController,
        training: TrainingController,
        files: FileController,
    ) -> None:
        super().__init__(display)
        self._form, self._display = form, display
        self._training, self._files = training, files
        self._actions: Mapping[str, QAction] = {}
        self._automatic = Flag()
        self._words, self._joins = "", False
        self._showing = False
        self.history = SceneHistory(Scene())
        self._commit_timer = QTimer(self, singleShot=True, interval=0)
        self._commit_timer.setObjectName("scene")
        self._commit_timer.timeout.connect(self._on_commit_due)

    def set_actions(self, actions: Mapping[str, QAction], automatic: Flag) -> None:
        """Use the actions of panels and undo; `automatic`: the program is moving the drawers."""
        self._actions, self._automatic = actions, automatic
        for changed in (
            self._display.intent_changed,
            self._display.pins_changed,
            self._display.runs_changed,
            self._display.current_changed,
            self._display.zoomed,
            self._form.changed,
            self._training.study_loaded,
        ):
            changed.connect(self._schedule)
        for panel in PANELS:
            self._actions[panel].toggled.connect(self._on_panel)
        self.clear_history()

    # ------------------------------------------------------------------------------- capture

    @property
    def scene(self) -> Scene:
        """Scene shown now."""
        session = self._display.session
        return Scene(
            tuple(run.path for run in session),
            self._form.edits,
            by_position(self._display.intent, [run.key for run in session]),
            self._zooms(),
            frozenset(panel for panel in PANELS if self._actions[panel].isChecked()),
        )

    @property
    def runs_named(self) -> frozenset[Path]:
        """Files that are shown or compared, or that undo or redo would reopen."""
        history = self.history
        scenes = [self.scene, *(step.scene for step in (*history.past, *history.future))]
        paths = {path for scene in scenes for path in scene.runs}
        compared = [scene.intent.compared for scene in scenes]
        return frozenset(paths | {Path(name) for one in compared if one for name in one.runs})

    def shareable_scene(self, with_names: bool = True) -> Scene:
        """Return the scene at the shown cursor; the intent may request a later one.

        `with_names`: with the shown views, plane and curves, also those the study proposed.
        """
        scene, view = self.scene, self._display.view
        wishes = scene.intent
        if wishes.cursor > view.span.low:
            wishes = replace(wishes, cursor=view.cursor)
        if with_names:
            wishes = replace(with_proposals(wishes), views=view.wishes.views)
        return replace(scene, intent=wishes)

    def _zooms(self) -> tuple[Zoom, ...]:
        zooms = []
        for place, panel in enumerate(self._display.panels):
            if panel.run is None:
                continue
            # Include views hidden behind the one that fills the window.
            for name, box in panel.zooms():
                if name not in self._display.view.wishes.views:
                    continue
                zooms.append(Zoom(place, name, box.left(), box.right(), box.top(), box.bottom()))
        return tuple(zooms)

    def clear_history(self) -> None:
        """Start the history with the present scene."""
        self._commit_timer.stop()
        self.history = SceneHistory(self.scene)
        self._update_actions()

    @property
    def has_pending_change(self) -> bool:
        """True while a change is not in the history yet."""
        return self._commit_timer.isActive()

    def _schedule(self) -> None:
        if not self._showing:
            self._commit_timer.start()

    def _on_panel(self) -> None:
        if not self._automatic:
            self._schedule()
            return
        # The window folded the panel for lack of room.
        panels = self.scene.panels
        self._reduce(ExternalChange(replace(self.history.scene, panels=panels)))

    def _on_commit_due(self) -> None:
        # Runs being started and the settings that they use are one step.
        if not self._display.session.is_starting:
            self.commit()

    def commit(self) -> None:
        """Compare with the last scene, and add the change to the history."""
        self._commit_timer.stop()
        words, joins = self._words, self._joins
        self._words, self._joins = "", False
        self._reduce(UserChange(self.scene, time.monotonic(), words, joins))

    def recolour(self, palette: str) -> None:
        """Record a change of the system's theme, which is not a step and keeps undone steps.

        Call this before the palette changes.
        """
        if self.has_pending_change:
            self.commit()
        self._reduce(ThemeChange(palette))

    def continue_step(self, words: str) -> None:
        """Add the changes of this turn of the loop to the latest step if it has this name.

        Otherwise they are a step of this name.
        """
        self.name_next_step(words)
        self._joins = True

    def name_next_step(self, words: str) -> None:
        """Make the changes of this turn of the loop one step of this name."""
        self._words = words
        self._schedule()

    def _reduce(self, event: Event) -> None:
        before = self.history
        self.history = now = reduce(before, event)
        if (now.past, now.future, now.place) != (before.past, before.future, before.place):
            self._update_actions()
        if len(now.past) < len(before.past):  # the change joined the latest step and reverted it
            self.step_taken.emit("", True)
        elif now.past[-1:] != before.past[-1:]:
            # A first step has no predecessor, so equal pasts alone do not decide.
            goes_on = bool(before.past) and now.past[:-1] == before.past[:-1]
            self.step_taken.emit(now.past[-1].words, goes_on)

    def _update_actions(self) -> None:
        history = self.history
        for key, verb, steps in (
            ("undo", "&Undo", history.past[-1:]),
            ("redo", "&Redo", history.future[:1]),
        ):
            self._actions[key].setEnabled(bool(steps))
            words = menu_text(steps[0].words) if steps else ""
            self._actions[key].setText(f"{verb} {words}".rstrip())
        self._actions["selection_back"].setEnabled(history.has_previous)
        self._actions["selection_forward"].setEnabled(history.has_next)
        self.changed.emit()

    # ------------------------------------------------------------------------------- actions

    def undo(self) -> None:
        """Undo the latest change."""
        self._step(Undo())

    def redo(self) -> None:
        """Repeat the change that was undone last."""
        self._step(Redo())

    def select_previous(self) -> None:
        """Select the neurons that were selected before."""
        self._step(Select(-1, time.monotonic()))

    def select_next(self) -> None:
        """Select the neurons that were selected after these."""
        self._step(Select(1, time.monotonic()))

    def _step(self, event: Event) -> None:
        self.commit()  # also records the moment, whose changes emit no signal
        after = reduce(self.history, event)
        before = self.history
        if after is not before and self.show(after.scene, partial(self._step, event)):
            self.history = after
            if len(after.past) < len(before.past):
                self.step_taken.emit(f"Undo {before.past[-1].words}", False)
            else:
                self.step_taken.emit(after.past[-1].words, False)
            # Record what was restored: a file or a run may lack some of it.
            self._reduce(ExternalChange(self.scene))
            self._update_actions()

    def show(self, scene: Scene, repeat: Repeat | None = None) -> bool:
        """Show a scene; return False, and report why, if its runs cannot be opened.

        `repeat` is the whole request, if showing the scene is only a part of it.
        """
        repeat = repeat or partial(self.show, scene)
        present = self.scene
        self._showing = True
        try:
            has_other_runs = scene.runs != present.runs or self._display.session.is_starting
            if has_other_runs and not self._files.replace(scene.runs, repeat):
                return False
            if scene.form is not None and scene.form != self._form.edits:
                self._training.show_edits(scene.form)
            keys = [run.key for run in self._display.session]
            self._display.set_intent(by_key(scene.intent, keys))
            self._show_zooms(scene.zooms)
            # The lecture first, since it closes and reopens the others; then those that close,
            # since only one drawer can be open.
            for panel in ("lecture", *sorted(PANELS[1:], key=scene.panels.__contains__)):
                self._actions[panel].setChecked(panel in scene.panels)
        finally:
            self._showing = False
        return True

    def restore(self, scene: Scene, words: str) -> bool:
        """Show a scene as a step that can be undone."""
        if self.has_pending_change:
            self.commit()
        if not self.show(scene, partial(self.restore, scene, words)):
            return False
        self._reduce(UserChange(self.scene, time.monotonic(), words))
        return True

    def _show_zooms(self, zooms: tuple[Zoom, ...]) -> None:
        for place, panel in enumerate(self._display.panels):
            mine = {
                zoom.view: QRectF(
                    zoom.left, zoom.bottom, zoom.right - zoom.left, zoom.top - zoom.bottom
                )
                for zoom in zooms
                if zoom.place == place
            }
            panel.set_zooms(mine)

    def stop(self) -> None:
        """Stop recording changes."""
        self._commit_timer.stop()
        self._showing = True
