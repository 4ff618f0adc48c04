"""Menu of the reference margins whose lines can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.playback.display import DisplayController
from app.theory.results import TheoryResults
from app.widgets.screen_text import greek, margin_tip

if TYPE_CHECKING:
    from core.reference.margin import ReferenceMargin

NO_LINE = "Lines appear here once the reference margins of an open run are computed."


@final
class MarginMenu(QObject):
    """Fills a menu with the drawable margins of all open runs, when it is about to show.

    Choosing an entry shows or hides the lines of that margin in all runs. `results` returns the
    results of the open runs.
    """

    def __init__(
        self,
        menu: QMenu,
        display: DisplayController,
        results: Callable[[], Iterable[TheoryResults]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._menu, self._display, self._results = menu, display, results
        menu.aboutToShow.connect(self._fill)
        menu.triggered.connect(self._on_triggered)

    def _fill(self) -> None:
        """List each drawable margin once, by name, and check those that are not hidden.

        The tool tip is of the last run with the margin. Without any, a disabled entry explains why.
        """
        margins: dict[str, ReferenceMargin] = {}
        for results in self._results():
            margins |= {name: one for name, one in results.margins.items() if one.is_drawable}
        self._menu.clear()
        for name, margin in margins.items():
            action = self._menu.addAction(greek(margin.reference.label).replace("&", "&&"))
            action.setData(name)
            action.setToolTip(margin_tip(margin))
            action.setCheckable(True)
            action.setChecked(name not in self._display.intent.hidden_margins)
        if not margins:
            self._menu.addAction(NO_LINE).setEnabled(False)

    def _on_triggered(self, action: QAction) -> None:
        """Hide the margin of an unchecked entry in all runs, and show that of a checked one."""
        hidden_margins, name = self._display.intent.hidden_margins, {action.data()}
        self._display.update_intent(
            hidden_margins=hidden_margins - name if action.isChecked() else hidden_margins | name
        )
