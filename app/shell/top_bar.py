"""Top bar: the study, its open runs, and their most frequent actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction, QIcon, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from app.actions import EXPORTS, MORE, SEPARATOR, TRAINING
from app.qt_workarounds import ActionButtonSync
from app.shell.run_chips import RunChips
from app.study.chooser import StudyChooser
from app.widgets.keyboard import ButtonKeyActivation
from app.widgets.labels import menu_text, plain_tip
from app.widgets.layouts import add_all, space

ICON = QSize(16, 16)
BESIDE = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
ICON_ONLY = Qt.ToolButtonStyle.ToolButtonIconOnly
ROOM_FOR_TEXTS = 760  # pixels; the buttons of a narrower bar have no texts
ICONS = {"views": "views", "export": "export", "more": "dots"}


@final
class TopBar(QWidget):
    """Row of the study, the open runs and buttons."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("topBar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._keys = ButtonKeyActivation(self)
        self.chooser = StudyChooser(self)
        self.chips = RunChips(self)
        self.cells = self._button()  # number of open runs of the study
        self.cells.hide()
        self.compare = self._button()
        self.training = [self._button() for _ in TRAINING]
        self.views = self._menu_button("Views", "Choose views")
        self.export = self._menu_button("Export", "Export a figure, film, page or data")
        self.export.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        self.more = self._menu_button("More", "More actions")
        self.more.setToolButtonStyle(ICON_ONLY)
        self._row = space(QHBoxLayout(self), (12, 3, 8, 3), 6)
        chips = (self.chips, 100)  # the chips take all the room, and leave it empty without runs
        buttons = (self.views, self.export, self.more)
        add_all(
            self._row, self.chooser, chips, self.cells, self.compare, 1, *self.training, *buttons
        )

    @property
    def buttons(self) -> list[QToolButton]:
        """Buttons from left to right."""
        return [self.cells, self.compare, *self.training, self.views, self.export, self.more]

    def button(self, key: str) -> QToolButton:
        """Return the button of an action; KeyError for one without a button here."""
        return {one.defaultAction().objectName(): one for one in self.training}[key]

    def _button(self) -> QToolButton:
        button = QToolButton(self, autoRaise=True)
        button.setIconSize(ICON)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._keys.add(button)
        return button

    def _menu_button(self, text: str, tip: str) -> QToolButton:
        button = self._button()
        button.setText(menu_text(text))
        button.setToolTip(plain_tip(tip))
        button.setAccessibleName(text)
        button.setToolButtonStyle(BESIDE)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return button

    def set_actions(self, actions: Mapping[str, QAction], views: QMenu) -> None:
        """Fill buttons and menus; `views` is the menu of the views."""
        for key, button in zip(TRAINING, self.training, strict=True):
            self._set_action(button, actions[key])
        run = self.training[0]
        run.setProperty("primary", True)
        run.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        for button, key in ((self.cells, "cells"), (self.compare, "compare")):
            self._set_action(button, actions[key])
        self.cells.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.views.setMenu(views)
        for button, keys in ((self.export, EXPORTS), (self.more, MORE)):
            button.setMenu(_menu_of(keys, actions, button))
        self._export_action = actions["export"]
        self.export.clicked.connect(self._on_export_clicked)

    def _on_export_clicked(self) -> None:
        """Open the dialog; without runs open the menu, whose tips give the reason."""
        if self._export_action.isEnabled():
            self._export_action.trigger()
        else:
            self.export.showMenu()

    @staticmethod
    def _set_action(button: QToolButton, action: QAction) -> None:
        button.setDefaultAction(action)
        button.setAccessibleName(action.iconText())
        ActionButtonSync(button)

    def set_icons(self, icons: Mapping[str, QIcon]) -> None:
        """Set the icons of the menus' buttons by their names in ICONS."""
        for name, icon in icons.items():
            button: QToolButton = getattr(self, name)
            button.setIcon(icon)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.chooser.updateGeometry()  # it takes at most half of the window
        self._fit()
        self._share_room()

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.LayoutRequest:  # chips came, went or changed their names
            self._share_room()
        return super().event(event)

    def _share_room(self) -> None:
        """Shorten the study's title rather than the names of the runs."""
        neighbours = [one for one in (self.chips, *self.buttons) if not one.isHidden()]
        between = self._row.spacing()
        neighbours_width = sum(one.sizeHint().width() + between for one in neighbours)
        margins = self._row.contentsMargins()
        # One more space: the stretch is an item, too.
        neighbours_width += between + margins.left() + margins.right()
        self.chooser.set_room(self.width() - neighbours_width)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        """Show the texts of buttons if there is room for them, in type of any size."""
        larger = self.fontMetrics().height() / 15.0
        style = BESIDE if self.width() >= ROOM_FOR_TEXTS * max(larger, 1.0) else ICON_ONLY
        for button in (self.views, self.export):
            button.setToolButtonStyle(style)


def _menu_of(keys: Sequence[str], actions: Mapping[str, QAction], parent: QWidget) -> QMenu:
    menu = QMenu(parent, toolTipsVisible=True)
    for key in keys:
        if key == SEPARATOR:
            menu.addSeparator()
        else:
            menu.addAction(actions[key])
    return menu
