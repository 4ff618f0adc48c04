"""The welcome page: cards, the last files, and how it comes and goes."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QPushButton
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.shell.welcome_page import Card, WelcomePage
from core.studies.papers import PAPERS
from core.studies.summaries import shipped_summaries
from tests.app.mouse import pick

LEFT = Qt.MouseButton.LeftButton


def page(program: Marginscope) -> WelcomePage:
    return program.window.welcome


def emptied(program: Marginscope, qtbot: QtBot) -> WelcomePage:
    pick(qtbot, program.window, "File", "Close all runs")
    qtbot.waitUntil(page(program).isVisible)
    return page(program)


def visible(where: WelcomePage) -> list[QPushButton]:
    return [one for one in where.findChildren(QPushButton) if one.isVisible()]


def button(where: WelcomePage, text: str) -> QPushButton:
    return next(one for one in visible(where) if one.text() == text)


def card(where: WelcomePage, name: str) -> Card:
    return next(one for one in where.cards if one.objectName() == name)


def test_a_window_without_runs_shows_the_page(
    program: Marginscope, qtbot: QtBot, subtests: pytest.Subtests
) -> None:
    where = emptied(program, qtbot)
    with subtests.test("a card for every paper"):
        check_cards(where, qtbot)
    with subtests.test("keys reach and press a card"):
        press_card_by_keys(program, where, qtbot)
    with subtests.test("a card opens the page of studies at its paper"):
        open_studies_of_paper(program, where, qtbot)
    with subtests.test("own data are drawn from here"):
        draw_own_data(program, where, qtbot)
    with subtests.test("what cannot be had is not offered"):
        check_offers(program, where, qtbot)


def check_cards(where: WelcomePage, qtbot: QtBot) -> None:
    assert [one.objectName() for one in where.cards] == [*PAPERS, "own"]
    counts = [sum(one.source == name for one in shipped_summaries()) for name in PAPERS]
    said = [one.accessibleName() for one in where.cards[:-1]]
    for paper, count, words in zip(PAPERS.values(), counts, said, strict=True):
        assert paper.sentence in words
        assert words.endswith("1 study" if count == 1 else f"{count} studies")
    assert sum(counts) == len(shipped_summaries())
    # Nothing of a card is cut: its labels have the room that they ask for.
    cards = where.cards
    qtbot.waitUntil(lambda: all(one.height() >= one.heightForWidth(one.width()) for one in cards))


def open_studies_of_paper(program: Marginscope, where: WelcomePage, qtbot: QtBot) -> None:
    qtbot.mouseClick(card(where, "wei19"), LEFT)
    dialog = program.studies.browser
    qtbot.waitUntil(dialog.isVisible)
    first = next(one.id for one in shipped_summaries() if one.source == "wei19")
    assert dialog.present() == first
    dialog.close()


def draw_own_data(program: Marginscope, where: WelcomePage, qtbot: QtBot) -> None:
    qtbot.mouseClick(card(where, "own"), LEFT)
    qtbot.waitUntil(
        lambda: program.drawing.window is not None and program.drawing.window.isVisible()
    )


def press_card_by_keys(program: Marginscope, where: WelcomePage, qtbot: QtBot) -> None:
    where.run_button.setFocus()
    while program.window.focusWidget() not in where.cards:  # past the other beginnings
        qtbot.keyClick(program.window.focusWidget(), Qt.Key.Key_Tab)
    assert program.window.focusWidget() is where.cards[0]
    qtbot.keyClick(where.cards[0], Qt.Key.Key_Space)
    dialog = program.studies.browser
    qtbot.waitUntil(dialog.isVisible)
    dialog.close()


def check_offers(program: Marginscope, where: WelcomePage, qtbot: QtBot) -> None:
    texts = [one.text() for one in visible(where)]
    assert not program.actions["last"].isEnabled()
    assert "Reopen the last session" not in texts
    program.actions["last"].setEnabled(True)
    again = "Reopen the last session"
    qtbot.waitUntil(lambda: again in [one.text() for one in visible(where)])
    program.actions["last"].setEnabled(False)
    qtbot.mouseClick(button(where, "Read the documents"), LEFT)
    assert program.help.documents is not None


def test_a_file_that_was_open_is_opened_again(program: Marginscope, qtbot: QtBot) -> None:
    path = next(iter(program.session)).source
    program.files.open_files([str(path)])
    qtbot.waitUntil(lambda: program.settings.values.recent[:1] == (str(path),))
    where = emptied(program, qtbot)
    qtbot.mouseClick(button(where, path.stem), LEFT)
    qtbot.waitUntil(lambda: [run.source for run in program.session] == [path])
    assert not where.isVisible()


def test_the_page_comes_over_the_runs_and_goes(program: Marginscope, qtbot: QtBot) -> None:
    action = pick(qtbot, program.window, "Help", "Welcome page")
    assert page(program).isVisible() and action.isChecked()
    pick(qtbot, program.window, "Help", "Welcome page")
    assert program.window.views.isVisible() and not action.isChecked()
    pick(qtbot, program.window, "Help", "Welcome page")
    program.training.restart()  # new runs take its place
    qtbot.waitUntil(lambda: not action.isChecked())
    assert program.window.views.isVisible() and not action.isChecked()


def test_the_page_and_a_comparison_take_turns(program: Marginscope, qtbot: QtBot) -> None:
    welcome, compare = program.actions["welcome"], program.actions["compare"]
    compare.trigger()
    qtbot.waitUntil(compare.isChecked)
    welcome.trigger()
    qtbot.waitUntil(lambda: not compare.isChecked())
    assert page(program).isVisible() and welcome.isChecked()
    compare.trigger()
    qtbot.waitUntil(compare.isChecked)
    assert not page(program).isVisible() and not welcome.isChecked()


def test_cards_stand_in_as_many_columns_as_there_is_room_for(qtbot: QtBot) -> None:
    where = WelcomePage()
    qtbot.addWidget(where)
    for width, columns in ((420, 1), (720, 2), (1080, 3)):
        where.resize(width, 700)
        where.show()
        qtbot.waitUntil(partial(stands_in, where, columns))


def stands_in(where: WelcomePage, columns: int) -> bool:
    return len({one.x() for one in where.cards}) == columns


def test_recent_runs_are_listed_in_words(program: Marginscope) -> None:
    """They were listed by the names of their files, "telgarsky22-figure-1__network.m=16"."""
    paths = ["/a/telgarsky22-figure-1__network.m=16.msrun", "/a/mine.msrun", "/a/own.toml"]
    program.window.set_recent(paths)
    buttons = program.window.welcome.findChildren(QAbstractButton)
    words = "Telgarsky 2022, Figure 1: m = 16"
    assert {words, "mine", "own"} <= {button.text() for button in buttons}
    entries = [action.text().replace("&", "") for action in program.window.recent.actions()]
    assert entries[:3] == [words, "mine.msrun", "own.toml"]
