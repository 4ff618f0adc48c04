"""Plays a story in the window: shows its moments one after another, with their sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import final

from PySide6.QtCore import QEasingCurve, QObject, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from app.playback.display import DisplayController
from app.scenes.controller import SceneController
from app.state.intent import START
from app.state.views import known_views
from app.stories.caption import StoryCaption
from app.widgets.motion import is_motion_reduced
from core.problem.schedule import coordinate
from core.stories.story import Story, StoryMoment

GLIDE_MS = 900  # ms from one moment to the next
NEXT_KEYS, BACK_KEYS, END_KEYS = ("Space", "Right"), ("Shift+Space", "Left"), ("Esc",)
STEP = "Story"  # name of the step of the undo history


@final
class StoryPlayer(QObject):
    """Moments of a story in the open runs.

    While a story plays, space, arrows and Escape are its keys; the actions that have them at other
    times get them back at the end.
    """

    playing_changed = Signal(bool)
    """True when a story starts, False when it ends."""

    def __init__(
        self,
        window: QWidget,
        caption: StoryCaption,
        display: DisplayController,
        scenes: SceneController,
    ) -> None:
        super().__init__(window)
        self._window, self.caption = window, caption
        self._display, self._scenes = display, scenes
        self._actions: Mapping[str, QAction] = {}
        self._moments: tuple[StoryMoment, ...] = ()
        self.place = -1
        """Place of the shown moment, -1 while no story is played."""
        self._views: tuple[tuple[str, ...], str] = ((), "")  # views and the enlarged one before
        self._freed: dict[str, list[QKeySequence]] = {}  # keys of actions while a story plays
        self._keys: list[QShortcut] = []
        self._motion = QVariantAnimation(self)
        self._motion.setEasingCurve(QEasingCurve.Type.InOutQuad)
        self._motion.valueChanged.connect(self._on_glide)
        self._motion.finished.connect(self._on_arrived)
        caption.step_requested.connect(self.step)
        caption.close_requested.connect(self.stop)

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """Use the table's actions, some of which lend their keys to a story."""
        self._actions = actions

    @property
    def is_playing(self) -> bool:
        return self.place >= 0

    def play(self, story: Story, place: int = 0) -> None:
        """Show the moment at a place of a story of the open runs."""
        if not story.moments:
            return
        if not self.is_playing:
            intent = self._display.intent
            self._views = intent.views, intent.filled
            self._take_keys()
        self._moments = story.moments
        self.caption.set_sentences([one.sentence for one in story.moments])
        self.caption.show()
        self.caption.setFocus()
        self.place = -1
        self._show(min(max(place, 0), len(self._moments) - 1))
        self.playing_changed.emit(True)

    def step(self, by: int) -> None:
        """Show the next moment (1) or the one before (-1), if the story has it."""
        if self.is_playing and 0 <= self.place + by < len(self._moments):
            self._show(self.place + by)

    def step_forward(self) -> None:
        """Show the next moment."""
        self.step(1)

    def step_back(self) -> None:
        """Show the moment before."""
        self.step(-1)

    def stop(self) -> None:
        """End the story; the views are again those before it."""
        if not self.is_playing:
            return
        self.place = -1
        self._motion.stop()
        self.caption.hide()
        self._return_keys()
        self._scenes.continue_step(STEP)
        views, filled = self._views
        self._display.update_intent(views=views, filled=filled)
        self.playing_changed.emit(False)

    def show_once(self, moment: StoryMoment) -> None:
        """Show a moment without its sentence, as while a story is edited."""
        if not self.is_playing:
            time = moment.log10_time
            cursor = float(coordinate(time)) if math.isfinite(time) else START
            self._display.update_intent(cursor=cursor, playing=False, follow=False)

    # ------------------------------------------------------------------------------- moments

    def _show(self, place: int) -> None:
        moment = self._moments[place]
        starts = self.place < 0
        self.place = place
        self.caption.show_moment(place)
        self._motion.stop()
        self._scenes.continue_step(STEP)
        views = known_views(moment.views) or self._views[0]
        self._display.update_intent(
            views=views, filled="", playing=False, follow=False, hovered=None
        )
        self._display.update_intent(filled=moment.enlarged)
        if starts or is_motion_reduced():
            self._on_arrived()
            return
        span, view = self._display.view.span, self._display.view
        self._motion.setStartValue(span.share(view.cursor))
        self._motion.setEndValue(span.share(min(max(self._target(), span.low), span.edge)))
        self._motion.setDuration(GLIDE_MS)
        self._motion.start()

    def _target(self) -> float:
        """Return the moment in the schedule's coordinate."""
        log10_time = self._moments[self.place].log10_time
        return float(coordinate(log10_time)) if math.isfinite(log10_time) else START

    def _on_glide(self, share: object) -> None:
        if self.is_playing and isinstance(share, float):
            span = self._display.view.span
            intent = replace(self._display.intent, cursor=span.moment(share), playing=False)
            self._display.set_intent(intent)

    def return_to_moment(self) -> None:
        """Show the moment again, at rest: new runs would play from their start."""
        self._motion.stop()
        self._on_arrived()

    def _on_arrived(self) -> None:
        # Not clamped: in a run that is being trained the moment may still have to be recorded, and
        # is shown as soon as it is.
        if self.is_playing:
            self._display.update_intent(cursor=self._target(), playing=False, follow=False)

    # ---------------------------------------------------------------------------------- keys

    def _take_keys(self) -> None:
        """Give the keys of a story to it, and take them from the actions that have them."""
        slots = (
            (NEXT_KEYS, self.step_forward),
            (BACK_KEYS, self.step_back),
            (END_KEYS, self.stop),
        )
        mine = {QKeySequence(key) for keys, _ in slots for key in keys}
        for name, action in self._actions.items():
            present = action.shortcuts()
            if any(key in mine for key in present):
                self._freed[name] = present
                action.setShortcuts([key for key in present if key not in mine])
        for keys, slot in slots:
            for key in keys:
                shortcut = QShortcut(QKeySequence(key), self._window)
                shortcut.setContext(Qt.ShortcutContext.WindowShortcut)
                shortcut.activated.connect(slot)
                self._keys.append(shortcut)

    def _return_keys(self) -> None:
        for shortcut in self._keys:
            shortcut.setEnabled(False)
            shortcut.deleteLater()
        self._keys.clear()
        for name, keys in self._freed.items():
            self._actions[name].setShortcuts(keys)
        self._freed.clear()
