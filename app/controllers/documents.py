"""Help, Documentation: the documents of the program in a window of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject

from app.main_window import MainWindow

if TYPE_CHECKING:
    from app.panels.documents import DocumentsWindow


@final
class DocumentsController(QObject):
    """The window is made, and the documents are read, when they are first asked for."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.dialog: DocumentsWindow | None = None

    def show(self) -> None:
        """Open the window, or bring it to the front."""
        if self.dialog is None:
            from app.panels.documents import DocumentsWindow
            from app.state.documents import documents

            self.dialog = DocumentsWindow(documents(), self._window)
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()
        self.dialog.line.setFocus()
