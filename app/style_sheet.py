"""Text of the style sheet; app.style replaces @names by colours, and @room by a line's height.

Widgets take part by plain properties set from code: `heading`, `quiet`, `problem`, `wrong`,
`edited`, `code` and `primary`.
"""

from __future__ import annotations

SHEET = """
* { outline: 0; }
QToolTip { color: @foreground; background: @background; border: 1px solid @line; padding: 4px; }

QLabel[quiet="true"] { color: @muted; }
QLabel[quiet="true"]:disabled { color: @disabled; }
QLabel[edited="true"] { color: @accent; }
QLabel[problem="true"], ProblemLine { color: @danger; }
QLabel[heading="true"], ElidedLabel[heading="true"] { color: @foreground; font-weight: 600; }

QLineEdit, QAbstractSpinBox, QComboBox {
    background: @field; color: @foreground; border: 2px solid transparent; border-radius: 4px;
    padding: 0px 6px; min-height: @room;
    selection-background-color: @accent; selection-color: @on_accent;
}
QLineEdit:hover, QAbstractSpinBox:hover, QComboBox:hover { background: @hover; }
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus { border-color: @accent; }
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled {
    color: @disabled; background: transparent;
}
QLineEdit[readOnly="true"] { background: transparent; color: @muted; }
QLineEdit[wrong="true"], QComboBox[wrong="true"] {
    border-color: @danger; background: @danger_field;
}
QLineEdit[wrong="true"]:focus, QComboBox[wrong="true"]:focus { border-color: @accent; }
QAbstractSpinBox { max-height: @room; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { width: 0px; border: 0px; }
QAbstractSpinBox QLineEdit, QAbstractSpinBox QLineEdit:hover {
    background: transparent; border: 0px; padding: 0px; min-height: 0px;
}
QComboBox { padding-left: 8px; padding-right: 0px; }
QComboBox::drop-down { border: 0px; width: 16px; }
QComboBox::down-arrow { image: url(@chevron); width: 12px; height: 12px; }
QComboBox QAbstractItemView {
    background: @background; color: @foreground; border: 1px solid @line; padding: 4px;
    selection-background-color: @accent; selection-color: @on_accent;
}

QPlainTextEdit[code="true"] {
    background: @field; color: @foreground; border: 2px solid transparent; border-radius: 4px;
    selection-background-color: @accent; selection-color: @on_accent;
}
QPlainTextEdit[code="true"]:focus { border-color: @accent; }

QPushButton {
    background: @field; color: @foreground; border: 2px solid transparent; border-radius: 4px;
    padding: 4px 14px; min-height: @room;
}
QPushButton:hover { background: @hover; }
QPushButton:pressed { background: @pressed; }
QPushButton:focus { border-color: @accent; }
QPushButton:disabled { color: @disabled; }
QPushButton[primary="true"] { background: @accent; color: @on_accent; }
QPushButton[primary="true"]:hover { background: @accent_hover; }
QPushButton[primary="true"]:focus { border-color: @foreground; }
QPushButton[primary="true"]:disabled { background: @field; color: @disabled; }
QPushButton[quiet="true"] {
    background: transparent; color: @muted; padding: 0px; margin-left: -2px; text-align: left;
}
QPushButton[quiet="true"]:hover { color: @foreground; }
QPushButton[toggle="true"] { padding: 0px 8px; min-height: @room; }
QPushButton[toggle="true"]:checked { color: @on_accent; background: @accent; }
QPushButton[fold="true"] {
    background: transparent; padding: 0px; margin-left: -2px; text-align: left; font-weight: 600;
}
QPushButton[fold="true"]:hover { background: @field; }
QPushButton[mark="true"] { background: transparent; color: @accent; padding: 0px; border: 0px; }
QPushButton[mark="true"]:hover, QPushButton[mark="true"]:focus { background: @pressed; }

QPushButton[line="true"] {
    background: transparent; color: @accent; padding: 0px; min-height: 0px; text-align: left;
}
QPushButton[line="true"]:hover, QPushButton[line="true"]:focus { text-decoration: underline; }
#messageBar {
    background: @background; border: 1px solid @handle; border-left: 3px solid @accent;
    border-radius: 6px;
}

#topBar, #rail, #transport { background: @background; }
#topBar { border-bottom: 1px solid @line; }
#transport { border-top: 1px solid @line; }
#rail { border-right: 1px solid @line; }
#rail QToolButton { color: @muted; padding: 5px 0px; }
#rail QToolButton:hover { color: @foreground; }
#rail QToolButton:checked { color: @accent; background: @field; }

QTabBar#chips { background: @background; border: 0px; }
#chips::tab {
    background: @background; color: @foreground; border: 1px solid @line; border-radius: 12px;
    padding: 1px 4px 1px 10px; margin: 0px 6px 0px 0px; min-height: @room;
}
#chips::tab:hover { background: @field; }
#chips::tab:selected { border-color: @accent; color: @accent; }
#chips:focus::tab:selected { border-color: @foreground; background: @background; }
#chips::close-button {
    image: url(@cross); width: 12px; height: 12px; margin-right: 8px; subcontrol-position: right;
}
#chips::close-button:hover { background: @hover; border-radius: 4px; }

QPushButton[card="true"] { border-radius: 8px; padding: 0px; text-align: left; }

QToolButton {
    background: transparent; color: @foreground; border: 2px solid transparent;
    border-radius: 4px; padding: 4px;
}
QToolButton:hover { background: @hover; }
QToolButton:pressed, QToolButton:checked { background: @pressed; }
QToolButton:focus { border-color: @accent; }
QToolButton:disabled { color: @disabled; }
QToolButton[primary="true"] {
    background: @accent; color: @on_accent; padding: 4px 14px 4px 10px; font-weight: 600;
}
QToolButton[primary="true"]:hover { background: @accent_hover; }
QToolButton[primary="true"]:focus { border-color: @foreground; }
QToolButton[primary="true"]:disabled { background: @field; color: @disabled; }
QToolButton[filled="true"] { background: @field; padding: 4px 12px; }
QToolButton[filled="true"]:hover { background: @hover; }
QToolButton[filled="true"]:pressed { background: @pressed; }
QToolButton[quiet="true"] { color: @muted; padding: 0px; }
QToolButton[quiet="true"]:hover { color: @foreground; }
QToolButton[inline="true"] { border-width: 1px; padding: 0px 4px; }
QToolButton::menu-indicator { image: none; }
QToolButton[popupMode="1"] { padding-right: 22px; }
QToolButton::menu-button { border: 0px; width: 18px; }
QToolButton::menu-arrow { image: url(@chevron); width: 12px; height: 12px; }

QCheckBox, QRadioButton { spacing: 8px; }
QCheckBox:disabled, QRadioButton:disabled { color: @disabled; }
QCheckBox:focus, QRadioButton:focus { color: @accent; }
QCheckBox::indicator {
    width: 14px; height: 14px; border: 1px solid @handle; border-radius: 4px; background: @field;
}
QRadioButton::indicator {
    width: 14px; height: 14px; border: 1px solid @handle; border-radius: 8px; background: @field;
}
QRadioButton::indicator:checked {
    width: 6px; height: 6px; border: 5px solid @accent; background: @on_accent;
}
QRadioButton::indicator:hover, QRadioButton::indicator:focus { border-color: @accent; }
QRadioButton::indicator:disabled { background: @field; border-color: @line; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent; image: url(@check); }
QCheckBox::indicator:hover, QCheckBox::indicator:focus { border-color: @accent; }
QCheckBox::indicator:disabled { background: @field; border-color: @line; }

QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }

QMenuBar { background: @background; }
QMenuBar::item { padding: 4px 8px; background: transparent; border-radius: 4px; }
QMenuBar::item:selected { background: @hover; }
QMenu { background: @background; border: 1px solid @line; padding: 4px; }
QMenu::item { padding: 4px 24px 4px 8px; border-radius: 4px; }
QMenu::item:selected { background: @accent; color: @on_accent; }
QMenu::item:disabled { color: @disabled; background: transparent; }
QMenu::separator { height: 1px; background: @line; margin: 4px 8px; }
QMenu::icon { padding-left: 8px; }

QSplitter::handle { background: @line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QSplitter::handle:hover { background: @accent; }
QStatusBar { background: @background; border-top: 1px solid @line; }
QStatusBar::item { border: 0px; }
QScrollArea { border: 0px; background: transparent; }

QTableView, QTreeView { background: @background; border: 0px; selection-background-color: @pressed;
    selection-color: @foreground; }
QTreeView::item { padding: 0px 5px; }
QHeaderView { background: @background; }
QTableCornerButton::section {
    background: @background; border: 0px; border-bottom: 1px solid @line;
}
QHeaderView::section {
    background: @background; color: @muted; border: 0px; border-bottom: 1px solid @line;
    padding: 2px 8px;
}

QScrollBar:vertical { background: transparent; width: 8px; margin: 0px; }
QScrollBar:horizontal { background: transparent; height: 8px; margin: 0px; }
QScrollBar::handle { background: @pressed; border-radius: 4px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover { background: @handle; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0px; height: 0px; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QSlider::groove:horizontal { background: @pressed; height: 4px; border-radius: 2px; }
QSlider::sub-page:horizontal { background: @accent; height: 4px; border-radius: 2px; }
QSlider::sub-page:horizontal:disabled { background: @pressed; }
QSlider::handle:horizontal {
    background: @accent; width: 16px; height: 16px; margin: -6px 0px; border-radius: 8px;
}
QSlider::handle:horizontal:hover { background: @accent_hover; }
QSlider::handle:horizontal:focus { border: 2px solid @foreground; width: 12px; height: 12px; }
QSlider::handle:horizontal:disabled { background: @disabled; }

QProgressBar {
    background: @pressed; border: 0px; border-radius: 4px; max-height: 8px; min-height: 8px;
}
QProgressBar::chunk { background: @accent; border-radius: 4px; }
"""
