"""Middle of the window: one of several pages, and a page that can cover it."""

from __future__ import annotations

from typing import final

from PySide6.QtWidgets import QStackedWidget, QWidget


@final
class PageStack(QStackedWidget):
    """Shows the page that the window is at, or the one that covers it, such as comparisons."""

    def __init__(self, page: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.addWidget(page)
        self._page = page
        self._over: QWidget | None = None

    def set_page(self, page: QWidget) -> None:
        """Go to a page; it is seen once nothing covers it."""
        self._page = page
        self._show(self._over or page)

    def set_over(self, page: QWidget | None) -> None:
        """Cover the page with another one; None shows it again."""
        self._over = page
        self._show(page or self._page)

    def _show(self, page: QWidget) -> None:
        if self.indexOf(page) < 0:
            self.addWidget(page)
        self.setCurrentWidget(page)
