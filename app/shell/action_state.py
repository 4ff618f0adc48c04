"""State of actions and menus of the view: enabled, checked, and their effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QMenu, QWidget

from app import actions
from app.flag import Flag
from app.playback.display import DisplayController
from app.playback.readout import Readout
from app.settings import MOST_RECENT
from app.shell.appearance import AppearanceController
from app.shell.main_window import MainWindow
from app.state.intent import MARGIN_AXES, MARGIN_UNITS, NEURON_POINTS, NEURON_RANGES, VIEW_OPTIONS
from app.state.resolve import NEAR
from app.state.views import VIEWS
from app.training.studies import is_trained
from app.widgets.inputs import WholeBox
from app.widgets.labels import plain_tip, window_title
from app.widgets.layouts import widen_for_title
from core.observables.planes import COORDINATES, PLANES, NodePlane
from core.studies.changes import changes_between, is_modified
from core.studies.study import Study

if TYPE_CHECKING:
    from core.library.library import Listing

OF_STUDY = "study"  # menu entry for the study's own choice
PIN_TWO = "Pin two neurons of a run to choose the plane that they span."
EDITED = "Settings changed \u2013 press Run."
OPTIONS = {option.name: option.action for option in VIEW_OPTIONS.values() if option.action}


@final
class ActionStateController(QObject):
    """Actions, menus, transport and title of the window, kept up to date.

    `views_made`: the runs or the welcome page can be shown. `has_study`: the form has a study.
    """

    def __init__(
        self,
        window: MainWindow,
        display: DisplayController,
        appearance: AppearanceController,
        readout: Readout,
    ) -> None:
        super().__init__(window)
        self._window, self._display = window, display
        self._appearance, self._readout = appearance, readout
        self._actions: Mapping[str, QAction] = {}
        self._marking = Flag()  # set while the program checks actions
        self.views_made = self.has_study = False
        self._cells = 0  # number of runs of the study in the form
        self._edited = False  # True while EDITED is shown
        self._fill_menus()
        for menu in (window.margin_axes, window.neuron_choice):
            menu.triggered.connect(self._on_choice)
        window.view_choice.triggered.connect(self._on_view)

    def show_choice(self, sentence: str) -> None:
        """Show which runs of a study are trained, with buttons to choose others, or all."""
        self._window.bar.show_notice(sentence, [self._actions[key] for key in ("cells", "whole")])

    def set_actions(self, table: Mapping[str, QAction]) -> None:
        """Show the state by the table's actions from now on."""
        self._actions = table
        self._display.changed.connect(self.show_transport)
        self._display.intent_changed.connect(self.mark_choices)
        self._display.runs_changed.connect(self.show_runs)
        self._display.current_changed.connect(self.show_chips)
        self._window.form.changed.connect(self.show_edits)
        self._window.view_choice.aboutToShow.connect(self.enable_views)
        self.show_margin_work(cancelled=False, busy=False)
        self.mark_choices()

    # -------------------------------------------------------------------------------- state

    def show_transport(self) -> None:
        """Update the transport and its actions to the view."""
        view = self._display.view
        times, later, steps = list[float](), list[float](), True
        for run_view in view.runs:
            run = self._display.session.get(run_view.key)
            if run is not None and run.data is not None and run_view.frame >= 0:
                has_started = run.data.coordinate[0] <= view.cursor + NEAR  # a branch starts later
                (times if has_started else later).append(float(run.data.log10_time[run_view.frame]))
                steps = steps and run.counts_steps
        latest = max(times or later, default=float("-inf"))
        self._window.transport.show_view(view, latest, steps and bool(times or later))
        wishes = view.wishes
        moving = wishes.playing and not wishes.follow
        actions.show_playing(self._actions["play"], moving, self._appearance.icon)
        if any(run.pinned for run in view.runs) != self._actions["name"].isEnabled():
            self._enable()  # pinning a neuron changes no option

    def mark_choices(self) -> None:
        """Check the chosen options in actions and menus."""
        wishes = self._display.view.wishes
        with self._marking:
            for name, action in OPTIONS.items():
                self._actions[action].setChecked(getattr(wishes, name))
        self._actions["follow"].setChecked(wishes.follow)
        self._actions["dark"].setChecked(wishes.palette == "dark")
        self._enable()
        self._mark_choices()

    def _enable(self) -> None:
        """Enable the actions that are possible now."""
        session = self._display.session
        compared = self._display.view.wishes.compared is not None
        wishes = self._display.view.wishes
        actions.enable(
            self._actions,
            n_runs=len(session),
            live=bool(session.live),
            compared=compared,
            pinned=any(run.pinned for run in self._display.view.runs),
            interval=wishes.interval is not None,
        )

    def show_margin_work(self, cancelled: bool, busy: bool) -> None:
        """Enable the actions on reference margins: some were cancelled, or are being computed."""
        self._actions["margins_again"].setEnabled(cancelled)
        self._actions["margins_stop"].setEnabled(busy)

    def enable_views(self) -> None:
        """Disable views without content for the open runs, with the reason."""
        runs = [run.data for run in self._display.session if run.data is not None]
        for action in self._window.view_choice.actions():
            if action.isCheckable():
                kind = VIEWS[action.data()]
                fits = not runs or any(map(kind.fits, runs))
                action.setEnabled(fits or action.isChecked())
                action.setToolTip(plain_tip(kind.title if fits else kind.needs))

    def show_recorded(self, listing: Listing) -> None:
        """Offer the last runs of the library under Open recent, after the files opened last."""
        from app.library.columns import name_of

        readable = [one for one in listing.entries if one.readable and not one.is_trashed]
        last = sorted(readable, key=attrgetter("modified"), reverse=True)[:MOST_RECENT]
        names = [(str(one.path), ", ".join((one.facts.title, name_of(one)))) for one in last]
        self._window.set_recorded(names)

    def show_runs(self) -> None:
        """Update title, page and actions to the open runs."""
        session = self._display.session
        is_shown = len(session) > 0
        self._enable()
        self.enable_views()
        has_pause_request = any(
            run.control is not None and run.control.pause_requested for run in session.live
        )
        self._actions["pause"].setChecked(has_pause_request)
        window = self._window
        self.show_chips()
        if self.views_made:
            window.show_page(is_shown)
        headings = " | ".join(run.heading for run in session)
        titles = {run.data.run.title for run in session if run.data is not None}
        changed = [title for title in titles if is_modified(title) and title not in headings]
        parts = [part for part in (headings, *sorted(changed), "Marginscope") if part]
        window.setWindowTitle(window_title(" \u2013 ".join(parts)))

    def show_chips(self) -> None:
        """Show the open runs in the top bar, and mark the current one."""
        current = self._display.current
        runs = [(run.key, run.heading) for run in self._display.session]
        self._window.chips.show_runs(runs, -1 if current is None else current.key)
        trained = sum(run.control is not None for run in self._display.session)
        several = 0 < trained < self._cells
        words = f"{trained} of {self._cells} runs" if several else "Choose runs"
        self._actions["cells"].setIconText(words)
        self._window.top.cells.setVisible(several)

    def show_study(self, study: Study) -> None:
        """Show the study in the form."""
        self.has_study = True
        self._cells = study.count
        self._window.chooser.set_study(study)
        self._window.welcome.set_study(study.title)
        self.show_edits()

    def show_edits(self) -> None:
        """Announce that Run is needed while the form differs from the open runs."""
        edits, study = self._window.form.edits, self._window.form.study()
        self._window.welcome.set_runnable(study is not None)
        edited = False
        if study is not None and edits is not None and changes_between(edits.base, study):
            runs = [run.data.run.experiment for run in self._display.session if run.data]
            edited = not is_trained(study, runs)
        if edited or self._edited:
            self._readout.show_message(EDITED if edited else "")
        self._edited = edited

    # ------------------------------------------------------------------------------ choices

    def _fill_menus(self) -> None:
        """Fill the menus of views, axes and neurons."""
        window, views = self._window, self._window.view_choice
        views.addAction("The &study's views").setData(OF_STUDY)
        views.addSeparator()
        for kind in VIEWS.values():
            action = views.addAction(kind.title)
            action.setData(kind.name)
            action.setCheckable(True)
        self._offer(window.margin_axes, "margin_axis", MARGIN_AXES)
        self._offer(window.margin_axes, "margin_unit", MARGIN_UNITS)
        self._offer(window.neuron_choice, "neuron_range", NEURON_RANGES)
        self._offer(window.neuron_choice, "neuron_points", NEURON_POINTS)
        self._offer(
            window.neuron_choice, "plane", {kind.name: kind.title for kind in PLANES.values()}
        )

    @staticmethod
    def _offer(menu: QMenu, wish: str, titles: Mapping[str, str]) -> None:
        """Add exclusive entries; their data are (wish, value) of app.state.intent."""
        menu.addSeparator()
        group = QActionGroup(menu)
        for value, title in titles.items():
            action = menu.addAction(title)
            action.setData((wish, value))
            action.setCheckable(True)
            group.addAction(action)

    def _mark_choices(self) -> None:
        """Check the chosen entries of exclusive menus, and the shown views."""
        wishes, window = self._display.view.wishes, self._window
        for menu in (window.margin_axes, window.neuron_choice):
            for action in menu.actions():
                if not action.isSeparator():
                    wish, value = action.data()
                    chosen = getattr(wishes, wish)
                    action.setChecked(value in (chosen, getattr(chosen, "kind", "")))
        for action in window.view_choice.actions():
            if action.isCheckable():
                action.setChecked(action.data() in wishes.views)

    def set_options(self) -> None:
        """Set the options of the view from the checked actions."""
        if not self._marking:
            marks = {name: self._actions[key].isChecked() for name, key in OPTIONS.items()}
            self._display.update_intent(**marks)

    def _on_choice(self, action: QAction) -> None:
        wish, value = action.data()
        if wish == "plane":
            self._choose_plane(value)
        else:
            self._display.update_intent(**{wish: value})
        self._mark_choices()  # the requested plane may be unavailable; mark the shown one

    def _choose_plane(self, kind: str) -> None:
        numbers: tuple[int, ...] = COORDINATES.numbers if kind == COORDINATES.kind else ()
        if kind == "nodes":
            numbers = self._two_nodes()
            if not numbers:
                self._window.bar.show_message(PIN_TWO)
                return
        self._display.update_intent(plane=NodePlane(kind, numbers))

    def _two_nodes(self) -> tuple[int, ...]:
        """Return two neurons and the frame, of the first run with exactly two pinned; else ()."""
        for run in self._display.view.runs:
            if len(run.pinned) == 2 and run.frame >= 0:
                return (*sorted(run.pinned), run.frame)
        return ()

    def choose_coordinates(self) -> None:
        """Open the dialog for the two coordinates of the neurons' plot."""
        runs = [run.data.run for run in self._display.session if run.data is not None]
        dimension = min((run.dataset.d for run in runs), default=2)
        plane = self._display.intent.shown_plane
        present = plane if plane.kind == COORDINATES.kind else COORDINATES
        dialog = CoordinatesDialog(present.numbers, dimension, self._window)
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self._display.update_intent(plane=NodePlane(COORDINATES.kind, dialog.chosen()))
            self._mark_choices()
        dialog.deleteLater()  # otherwise the window, its parent, keeps it

    def _on_view(self, action: QAction) -> None:
        before = self._display.view.wishes.views  # at least one view remains
        if action.data() == OF_STUDY:
            self._show_views(())
        elif action.isChecked():
            self._show_views((*before, action.data()))
        else:
            self._show_views(tuple(name for name in before if name != action.data()) or before)

    def _show_views(self, views: Sequence[str]) -> None:
        self._display.update_intent(views=tuple(views))
        self._mark_choices()


@final
class CoordinatesDialog(QDialog):
    """Dialog for two input coordinates, counted from 1 as in the papers."""

    def __init__(
        self, present: Sequence[int], dimension: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Coordinates")
        widen_for_title(self)
        layout = QFormLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        self._boxes = (WholeBox(self), WholeBox(self))
        for box, name, value in zip(
            self._boxes, ("&Horizontal", "&Vertical"), present, strict=True
        ):
            # Shown from 1, as in papers; `chosen` counts from 0, as arrays do.
            box.setRange(1, max(dimension, 1))
            box.setValue(value + 1)
            layout.addRow(f"{name}, 1 to {dimension}", box)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout.addRow(buttons)

    def chosen(self) -> tuple[int, int]:
        """Return the two coordinates, counted from 0."""
        return self._boxes[0].value() - 1, self._boxes[1].value() - 1
