"""Texts of files are shown as they are written, wherever Qt would guess that they are HTML."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, QPoint, Qt
from PySide6.QtGui import Qt as Rich
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDialog,
    QGraphicsTextItem,
    QGraphicsView,
    QLabel,
    QMenu,
    QTabBar,
    QTextEdit,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.library.model import LibraryModel
from app.shell.application import Marginscope
from app.widgets import labels
from app.widgets.dialogs import Question, line_dialog
from app.widgets.labels import menu_text, plain_label, plain_tip, window_title
from core.library.entry import Bookmark, RunNotes
from core.library.run_notes import change_about
from core.observables.node_sets import NodeSet
from tests.app.shell.conftest import Opener
from tests.app.shell.shared_window import settle, trained
from tests.support.made_up_library import many_entries

APP = Path(labels.__file__).parents[1]
# In what follows <img> is how a file would have its pictures opened; this one is nowhere.
HOSTILE = '<b>mark</b><img src="nowhere.png">'
STUDY = f"""
title = '{HOSTILE}'
source = '{HOSTILE}'
note = '{HOSTILE}'
[data]
d = 6
n = 12
[network]
m = 8
[dynamics]
kind = "flow"
until_log10_time = 2.0
[recording]
frames = 24
[window]
views = ["margins"]
[[claims]]
text = '{HOSTILE}'
measure = "hard_margin"
over = "max"
compare = "<="
value = 1.0
"""
TIPS = (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.StatusTipRole, Qt.ItemDataRole.WhatsThisRole)


def rich_texts(widgets: list[QWidget]) -> Iterator[tuple[str, str]]:
    """Yield where Qt shows a text as HTML, and the text."""
    for widget in widgets:
        where = f"{type(widget).__name__} {widget.objectName()}"
        texts = [widget.toolTip(), widget.statusTip(), widget.whatsThis()]
        if isinstance(widget, QLabel) and widget.textFormat() is not Qt.TextFormat.PlainText:
            texts.append(widget.text())
        elif isinstance(widget, QMenu) and widget.toolTipsVisible():
            texts += [action.toolTip() for action in widget.actions()]
        elif isinstance(widget, QToolButton) and widget.defaultAction() is not None:
            texts.append(widget.defaultAction().toolTip())
        elif isinstance(widget, QTabBar):
            texts += [widget.tabToolTip(place) for place in range(widget.count())]
        elif isinstance(widget, QTextEdit):
            texts.append(widget.toHtml())
        elif isinstance(widget, QGraphicsView) and widget.scene() is not None:
            items = widget.scene().items()
            texts += [item.toHtml() for item in items if isinstance(item, QGraphicsTextItem)]
        if isinstance(widget, QAbstractItemView | QComboBox) and widget.model() is not None:
            texts += tips_of(widget.model())
        for text in texts:
            is_rich = isinstance(widget, QLabel) and widget.textFormat() is Qt.TextFormat.RichText
            if is_rich or Rich.mightBeRichText(text):
                yield where, text


def tips_of(model: QAbstractItemModel) -> Iterator[str]:
    """Yield the tool tips of a model's items and headers."""
    root = QModelIndex()
    columns = range(1 if isinstance(model, QAbstractListModel) else model.columnCount(root))
    rows = range(min(model.rowCount(root), 50))
    for role in TIPS:
        texts = [model.headerData(k, Qt.Orientation.Horizontal, role) for k in columns]
        texts += [model.index(i, k, root).data(role) for i in rows for k in columns]
        yield from (text for text in texts if isinstance(text, str))


def check(where: str) -> int:
    """Fail where the hostile text is HTML in any widget; how many texts are HTML."""
    found = [*rich_texts(QApplication.allWidgets())]
    wrong = [f"{where}: {place}: {text[:200]}" for place, text in found if "<img" in text]
    assert wrong == []
    return len(found)


def close_dialogs() -> None:
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QDialog) and widget.isVisible():
            widget.reject()


@pytest.fixture
def tips(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts of tool tips that the program shows by itself."""
    shown: list[str] = []

    class ToolTips:
        @staticmethod
        def showText(place: QPoint, text: str, widget: QWidget) -> None:
            shown.append(text)

    monkeypatch.setattr(labels, "QToolTip", ToolTips)
    return shown


def open_hostile(opener: Opener, folder: Path, qtbot: QtBot) -> Marginscope:
    """Open a study all of whose texts are hostile, and write such texts beside its run."""
    path = folder / "<b>mark<img src=x>&.toml"
    path.write_text(STUDY)
    program = opener(path)
    qtbot.waitUntil(lambda: trained(program) and program.window.form.study().title == HOSTILE)
    source = next(iter(program.session)).source
    marks, sets = (Bookmark(HOSTILE, 1.0),), (NodeSet(HOSTILE, (1, 2)),)
    change_about(Path(source), lambda _: RunNotes(HOSTILE, HOSTILE, (HOSTILE,), False, marks, sets))
    program.window.set_recent([str(path)])
    settle(program)
    return program


def check_each(states: Mapping[str, Callable[[], object]], subtests: pytest.Subtests) -> None:
    """Show one thing after the other, and check all widgets each time."""
    for name, show in states.items():
        with subtests.test(state=name):
            show()
            QApplication.processEvents()
            assert check(name) > 0  # the program's own, of theory
            close_dialogs()


def test_no_text_of_a_file_is_html(
    show_files: Opener, tmp_path: Path, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    program = open_hostile(show_files, tmp_path, qtbot)
    window = program.window
    study = window.form.study()
    assert study is not None
    states = {
        "runs": lambda: None,
        "running": lambda: program.questions.confirm_replacement(study.title, 1, print, print),
        "box": lambda: Question(window, "box").show(HOSTILE, HOSTILE, {}, default=""),
        "bookmark": program.bookmarks.request_name,
        "line": line_dialog(window, "line", HOSTILE, HOSTILE).open,
    }
    check_each(states, subtests)


@pytest.mark.slow
def test_no_text_of_a_file_is_html_in_other_windows(
    open_program: Opener, tmp_path: Path, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    program = open_hostile(open_program, tmp_path, qtbot)

    def library() -> None:
        program.library.set_shown(True)
        panel = program.library.panel
        qtbot.waitUntil(lambda: any(one.about.note == HOSTILE for one in panel.model.entries))
        program.library.actions.start("rename", tuple(panel.model.entries))

    states = {
        "whole study": program.studies.show_window,
        "preview": program.preview.show,
        "data": program.export.data,
        "library": library,
    }
    check_each(states, subtests)
    program.studies.runner.window.close()


def test_the_library_and_its_trash_say_what_files_say(qapp: QApplication) -> None:
    entry = many_entries(1)[0]
    facts, about = replace(entry.facts, title=HOSTILE), RunNotes(HOSTILE, HOSTILE, (HOSTILE,))
    model = LibraryModel()
    model.set_entries(
        [
            replace(entry, facts=facts, about=about),
            replace(entry, path=Path(HOSTILE), facts=replace(facts, wrong=HOSTILE)),
            replace(entry, path=Path(HOSTILE), origin=Path(HOSTILE)),
        ]
    )
    tips = [*tips_of(model)]
    assert sum("mark" in tip for tip in tips) >= 3 * model.columnCount() - 2
    assert [tip for tip in tips if "<img" in tip and Rich.mightBeRichText(tip)] == []


def spoken(text: str) -> str:
    """Return a text as Qt shows it in a tool tip."""
    document = QTextDocument()
    (document.setHtml if Rich.mightBeRichText(text) else document.setPlainText)(text)
    return document.toPlainText()


@pytest.mark.parametrize("text", [HOSTILE, "a < b\nc", "&lt;", "<p>", "a & b", "<b>x\ny</b>", ""])
def test_tool_tips_show_a_text_as_it_is_written(text: str, qtbot: QtBot, tips: list[str]) -> None:
    assert spoken(plain_tip(text)) == text
    label = plain_label(text)
    qtbot.addWidget(label)
    labels.show_tip(QPoint(0, 0), text, label)
    assert tips == [plain_tip(text)]
    assert label.textFormat() is Qt.TextFormat.PlainText


def test_names_are_no_keys_and_no_marks(qtbot: QtBot) -> None:
    menu, window = QMenu(), QWidget()
    qtbot.addWidget(menu)
    qtbot.addWidget(window)
    action = menu.addAction(menu_text("a & b\tCtrl+Q"))
    assert action.iconText() == "a & b Ctrl+Q"
    window.setWindowTitle(window_title("W[*]"))
    assert window.windowTitle() == "W[*][*]"  # Qt shows a pair as [*]


# The helpers themselves; and of the table of actions, whose tips are the program's own.
MAY = {"dialogs.py", "actions.py"}
TIP = {"setToolTip": 0, "setTabToolTip": 1, "setItemData": 1, "showText": 1}  # the text's place
DIALOGS = {"QMessageBox", "QInputDialog", "QProgressDialog", "QErrorMessage"}


def is_own(text: ast.expr) -> bool:
    """Return whether a text is the program's, or goes through a helper."""
    if isinstance(text, ast.IfExp):
        return is_own(text.body) and is_own(text.orelse)
    if isinstance(text, ast.Call):
        return ast.unparse(text.func) in ("plain_tip", "rich_tip", "margin_tip", "action.toolTip")
    return isinstance(text, ast.Constant) or (isinstance(text, ast.Name) and text.id.isupper())


def is_guarded(call: ast.Call) -> bool:
    """Return whether a call cannot have Qt take a text of a file for HTML."""
    name = ast.unparse(call.func).rpartition(".")[2]
    if name in DIALOGS:
        return False
    if name == "QLabel":
        return any(keyword.arg == "textFormat" for keyword in call.keywords)
    if name == "setItemData" and not ast.unparse(call.args[-1]).endswith("ToolTipRole"):
        return True
    return name not in TIP or is_own(call.args[TIP[name]])


def test_every_text_of_a_file_goes_through_a_helper() -> None:
    """Also where no test has a hostile text."""
    wrong = []
    for path in APP.rglob("*.py"):
        text = path.read_text()
        if path.name in MAY or not any(name in text for name in (*TIP, *DIALOGS, "QLabel(")):
            continue
        calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        wrong += [f"{path.name}:{one.lineno}" for one in calls if not is_guarded(one)]
    assert wrong == []
