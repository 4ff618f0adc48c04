"""Help, Documents: the documents of the program in a window of their own, or in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from app.shell.main_window import MainWindow

if TYPE_CHECKING:
    from app.shell.documents_window import DocumentsWindow

NO_SITE = (
    "The web site of the documents was not made here; make docs, typed in the source's folder, "
    "makes it. Help, Documents has the texts in the window."
)


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
            from app.shell.documents_window import DocumentsWindow
            from app.state.documents import documents

            self.dialog = DocumentsWindow(documents(), self._window)
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()
        self.dialog.line.setFocus()

    def show_site(self) -> None:
        """Open the web site in the system's browser; a sentence where that cannot be done."""
        from app.state.documents import site

        page = site()
        if page is None:
            self._window.bar.say(NO_SITE)
        elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(page))):
            self._window.bar.say(f"No browser opened it; the web site begins with {page}.")
