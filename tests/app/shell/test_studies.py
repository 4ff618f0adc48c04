"""The page of all studies: by paper, searched, with pictures, and trained from."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.study import browser
from app.study.browser import StudyBrowser
from app.study.chooser import BROWSE_TEXT
from app.widgets.levels import label_width
from core.studies.papers import PAPERS
from core.studies.study import shipped_ids
from core.studies.summaries import shipped_summaries
from core.studies.thumbnails import thumbnails
from tests.app.mouse import keys

Key = Qt.Key
CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def page(program: Marginscope, qtbot: QtBot) -> StudyBrowser:
    keys(qtbot, program.window, Key.Key_S, CTRL_SHIFT)
    dialog = program.studies.browser
    assert dialog is not None
    qtbot.waitUntil(dialog.isActiveWindow)
    return dialog


def ids(page: StudyBrowser) -> list[str]:
    return [line.study.id for line in page.lines if line.study is not None]


def headings(page: StudyBrowser) -> list[str]:
    return [line.heading for line in page.lines if line.study is None]


def test_all_studies_stand_below_their_papers(page: StudyBrowser) -> None:
    assert sorted(ids(page)) == list(shipped_ids())
    assert len(headings(page)) == len(PAPERS)
    source = {one.id: one.source for one in shipped_summaries()}
    here = ""
    for line in page.lines:
        if line.study is None:
            here = line.heading
        else:
            assert here.startswith(PAPERS[source[line.study.id]].short)
            assert line.thumbnail == thumbnails()[line.study.id]


def test_it_is_searched_and_moved_in_by_keys(page: StudyBrowser) -> None:
    assert page.line.hasFocus()
    QTest.keyClicks(page.line, "mirror")
    assert ids(page)[0] == page.present() == "homogeneity-mirror-flow"
    page.line.clear()
    QTest.keyClicks(page.line, "figure 5")
    found = ids(page)
    assert {"frei23-figure-5", "wei19-figure-5"} <= set(found)
    seen = [page.present()]
    for _ in found[1:]:
        QTest.keyClick(page.line, Key.Key_Down)
        seen.append(page.present())
    assert seen == found  # headings are passed over
    QTest.keyClick(page.line, Key.Key_Down)
    assert page.present() == found[0]
    QTest.keyClicks(page.line, " zzzz")
    assert page.lines == [] and "No study" in page.hint.text()
    QTest.keyClick(page.line, Key.Key_Return)
    assert page.isVisible()
    QTest.keyClick(page.line, Key.Key_Escape)
    assert not page.isVisible()


def test_return_trains_the_study(page: StudyBrowser, program: Marginscope, qtbot: QtBot) -> None:
    QTest.keyClicks(page.line, "telgarsky22-theorem-2-2")
    QTest.keyClick(page.line, Key.Key_Return)
    assert not page.isVisible()
    assert program.window.chooser.box.currentText().startswith("Telgarsky 2022, Theorem 2.2")
    qtbot.waitUntil(lambda: bool(program.session))
    program.training.stop()


def test_a_click_does_too_and_it_opens_at_the_study_that_is_loaded(
    program: Marginscope,
) -> None:
    program.training.offer("telgarsky22-theorem-3-3")
    box = program.window.chooser.box
    box.setFocus()
    QTest.keyClicks(box, BROWSE_TEXT[:12])
    page = program.studies.browser
    assert page is not None and page.isVisible()
    assert page.present() == "telgarsky22-theorem-3-3"
    assert box.currentText().startswith("Telgarsky 2022, Theorem 3.3")
    row = next(
        row
        for row, line in enumerate(page.lines)
        if line.study is not None and line.study.id == "telgarsky22-figure-2"
    )
    here = page.list.visualRect(page.list.model().index(row, 0)).center()
    QTest.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, pos=here)
    assert box.currentText().startswith("Telgarsky 2022, Figure 2")
    program.training.stop()


def test_pictures_are_drawn(page: StudyBrowser) -> None:
    """There is more ink where the picture is than there would be without one."""
    row = next(k for k, line in enumerate(page.lines) if line.study is not None) + 1
    rect = page.list.visualRect(page.list.model().index(row, 0))
    rect.setWidth(96)
    image = page.list.viewport().grab(rect).toImage()
    back = image.pixelColor(1, 1)
    ink = [
        x
        for x in range(image.width())
        if any(image.pixelColor(x, y) != back for y in range(image.height()))
    ]
    assert len(ink) > 60


def test_sentences_have_symbols(page: StudyBrowser, monkeypatch: pytest.MonkeyPatch) -> None:
    """They read "gamma_ntk sqrt(m)/32" and "t = 10^4"."""
    written: list[str] = []
    monkeypatch.setattr(browser, "paint_label", lambda *words: written.append(words[-1]))
    row = next(k for k, line in enumerate(page.lines) if "gamma_ntk sqrt" in line.about)
    page.list.scrollToItem(page.list.item(row))
    page.list.viewport().grab()
    sentence = page.lines[row].about
    assert all(part in " ".join(written) for part in sentence.split()[:6])
    font = page.list.font()
    lines = browser._two_lines(font, sentence, 300)
    assert len(lines) == 2 and all(label_width(line, font) <= 300 for line in lines)
    assert lines[0].split() == sentence.split()[: len(lines[0].split())]
