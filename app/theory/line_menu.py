"""The menu that shows and hides the lines of reference margins."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.playback.display import DisplayController
from app.theory.knowledge import Knowledge
from app.widgets.symbols import greek, margin_tip

if TYPE_CHECKING:
    from core.reference.margin import ReferenceMargin

NO_LINE = "Lines appear here once reference margins are computed for a run that is shown."


@final
class LineMenu(QObject):
    """Lists the lines that the runs have; a click hides or shows one."""

    def __init__(
        self, menu: QMenu, display: DisplayController, known: Callable[[], Iterable[Knowledge]]
    ) -> None:
        super().__init__(menu)
        self._menu, self._display, self._known = menu, display, known
        menu.aboutToShow.connect(self._fill)
        menu.triggered.connect(self._on_triggered)

    def _fill(self) -> None:
        self._menu.clear()
        margins: dict[str, ReferenceMargin] = {}
        for known in self._known():
            margins |= {name: one for name, one in known.margins.items() if one.drawable}
        for name, one in margins.items():
            action = self._menu.addAction(greek(one.reference.label).replace("&", "&&"))
            action.setData(name)
            action.setToolTip(margin_tip(one))
            action.setCheckable(True)
            action.setChecked(name not in self._display.intent.hidden_margins)
        if not margins:
            self._menu.addAction(NO_LINE).setEnabled(False)

    def _on_triggered(self, action: QAction) -> None:
        hidden, name = self._display.intent.hidden_margins, {action.data()}
        self._display.ask(hidden_margins=hidden - name if action.isChecked() else hidden | name)
