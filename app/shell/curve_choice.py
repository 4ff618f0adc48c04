"""Choice of curves and of compared observables, and a picker for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QCursor

from app.library.compare import CompareController
from app.playback.display import DisplayController
from app.playback.inspector import definition
from app.shell.main_window import MainWindow
from app.state.comparison import MOST_OBSERVABLES
from app.state.text_search import SearchEntry, make_entry
from app.state.view_options import MOST_CURVES
from core.comparison.question import SORTED

if TYPE_CHECKING:
    from app.shell.curve_picker import CurvePicker
    from core.observables.observable import Observable

OF_NODES = "Neurons, sorted"


@final
class CurveChoiceController(QObject):
    """Observables of the open or compared runs, and the chosen ones."""

    def __init__(
        self, window: MainWindow, display: DisplayController, compare: CompareController
    ) -> None:
        super().__init__(window)
        self._window, self._display, self._compare = window, display, compare
        self.picker: CurvePicker | None = None
        display.intent_changed.connect(self._on_intent_changed)

    @property
    def any_run(self) -> bool:
        """True if a shown run has known observables."""
        return any(run.data is not None for run in self._display.session)

    def observables(self) -> dict[str, Observable]:
        """Return the observables of the shown runs; numbers of a recorded loop come last."""
        runs = [run.data.run for run in self._display.session if run.data is not None]
        if not runs:
            return {}
        from core.observables.registry import is_loop_number, scalars_of

        items = [item for run in runs for item in scalars_of(run)]
        items.sort(key=lambda item: is_loop_number(item.name))
        return {item.name: item for item in items}

    def show_picker(self) -> None:
        """Open the picker at the pointer."""
        self.show_picker_at(QCursor.pos())

    def show_picker_at(self, place: QPoint) -> None:
        """Open the picker at a place on the screen."""
        if self.picker is None:
            from app.shell.curve_picker import CurvePicker

            self.picker = CurvePicker(self._window)
            self.picker.toggled.connect(self._on_toggled)
            self.picker.study_requested.connect(self._on_default_requested)
        self.picker.open(self._groups(), self._chosen, place, self._max_chosen)

    def _groups(self) -> dict[str, list[SearchEntry]]:
        """Return the choices by group."""
        groups: dict[str, list[SearchEntry]] = {}
        if self._is_comparing:
            from core.observables.registry import observable_of

            items = {name: observable_of(name) for name in self._compare.observables}
        else:
            items = self.observables()
        if items:
            from core.observables.groups import group_names

            for group, names in group_names([name for name in items if name not in SORTED]).items():
                groups[group] = [_entry(items[name], group) for name in names]
        if of_nodes := [name for name in SORTED if name in items]:
            groups[OF_NODES] = [_entry(items[name], OF_NODES) for name in of_nodes]
        return groups

    @property
    def _is_comparing(self) -> bool:
        return self._display.intent.compared is not None

    @property
    def _chosen(self) -> tuple[str, ...]:
        """Compared observables, else the curves."""
        intent = self._display.intent
        return intent.shown_curves if intent.compared is None else intent.compared.observables

    @property
    def _max_chosen(self) -> int:
        return MOST_OBSERVABLES if self._is_comparing else MOST_CURVES

    def show_curve(self, name: str) -> None:
        """Show a curve in the view of curves, in place of the first one if needed."""
        curves = (*self._curves_but(name), name)[-MOST_CURVES:]
        views = self._display.view.wishes.views
        if "curves" not in views:
            self._display.update_intent(views=(*views, "curves"))
        self._display.update_intent(curves=curves)

    def _curves_but(self, name: str) -> tuple[str, ...]:
        """Return the shown curves without one."""
        return tuple(one for one in self._display.intent.shown_curves if one != name)

    def _on_toggled(self, name: str, ticked: bool) -> None:
        if self._is_comparing:
            remaining = [one for one in self._chosen if one != name]
            self._compare.set_observables([*remaining, name] if ticked else remaining)
        elif ticked:
            self.show_curve(name)
        else:
            self._display.update_intent(curves=self._curves_but(name))

    def _on_default_requested(self) -> None:
        """Restore the study's own curves, or the default observables of a comparison."""
        if self._is_comparing:
            self._compare.set_observables(self._compare.default_observables)
        else:
            self._display.update_intent(curves=None)

    def _on_intent_changed(self) -> None:
        if self.picker is not None and self.picker.isVisible():
            self.picker.set_chosen(self._chosen)


def _entry(item: Observable, group: str) -> SearchEntry:
    title, explanation = definition(item)
    return make_entry(item.name, "Curve", title, explanation, words=f"{item.name} {group}")
