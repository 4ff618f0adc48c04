"""The documents in the window: all of them, their links, the search, and where they lie."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.shell import documents as state
from app.shell.application import Marginscope
from app.shell.documents import (
    DECISIONS,
    PARTS,
    Document,
    documents,
    find_pages,
    folder,
    slug,
)
from app.shell.documents_window import MISSING, NONE, DocumentsWindow
from app.shell.help import NO_SITE
from tests.app.mouse import keys, pick

ROOT = Path(__file__).resolve().parents[3]
LEFT = Qt.MouseButton.LeftButton
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


@pytest.fixture
def reader(qtbot: QtBot, program: Marginscope) -> DocumentsWindow:
    keys(qtbot, program.window, Qt.Key.Key_F1, Qt.KeyboardModifier.NoModifier)
    dialog = program.help.documents
    assert dialog is not None
    qtbot.waitUntil(dialog.isVisible)
    return dialog


def titles(reader: DocumentsWindow) -> list[str]:
    """Return titles of pages, without the headings above them and the excerpts below."""
    items = [reader.titles.item(row) for row in range(reader.titles.count())]
    return [item.text() for item in items if item.flags() & Qt.ItemFlag.ItemIsSelectable]


def test_all_documents_are_there_with_their_titles(reader: DocumentsWindow) -> None:
    pages = documents()
    assert folder() == ROOT
    assert titles(reader) == [page.title for page in pages]
    assert titles(reader)[0] == "Marginscope" and titles(reader)[-1] == "What's new"
    paths = {page.path.relative_to(ROOT).as_posix() for page in pages}
    written = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md")}
    decided = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/decisions/[0-9]*.md")}
    assert paths == written | decided | {"README.md", "CHANGELOG.md"}
    assert "Decision 19: Scenes" in titles(reader)
    headings = [reader.titles.item(row).text() for row in range(reader.titles.count())]
    headings = [one for one in headings if one not in titles(reader)]
    assert headings == [*PARTS, DECISIONS]
    assert "Two commands" in reader.page.toPlainText()


def test_pictures_are_no_wider_than_the_page(reader: DocumentsWindow) -> None:
    size = reader.page.document().size()
    pictures = re.findall(r"!\[", (ROOT / "README.md").read_text("utf-8"))
    assert pictures
    image = reader.page.loadResource(2, QUrl("docs/images/window-light.png"))
    assert 0 < image.width() / image.devicePixelRatio() <= reader.page.viewport().width()
    assert size.height() > 1000


def test_links_lead_to_pages_and_headings(qtbot: QtBot, reader: DocumentsWindow) -> None:
    QTest.keyClicks(reader.line, "Papers and notation")
    assert titles(reader) == ["Theory"]
    reader.page.anchorClicked.emit(QUrl("#7-figures-that-tests-hold"))
    below = reader.page.verticalScrollBar().value()
    reader.page.anchorClicked.emit(QUrl("#2-networks-and-parametrisations"))
    assert 0 < reader.page.verticalScrollBar().value() < below
    reader.line.clear()
    reader.page.anchorClicked.emit(QUrl("glossary.md"))
    assert reader.page.source().fileName() == "glossary.md"
    assert reader.titles.currentItem().text() == "Glossary"
    qtbot.mouseClick(reader.back, LEFT)
    assert reader.page.source().fileName() == "theory.md"
    assert reader.titles.currentItem().text() == "Theory"
    qtbot.mouseClick(reader.forward, LEFT)
    assert reader.page.source().fileName() == "glossary.md"


def test_every_link_between_documents_has_its_page_and_heading() -> None:
    pages = {page.path: page for page in documents()}
    checked = 0
    for page in pages.values():
        for link in LINK.findall(page.text):
            name, _, place = link.partition("#")
            target = (page.path.parent / name).resolve() if name else page.path
            if "://" in link or target not in pages:
                continue
            text = re.sub(r"```.*?```", "", pages[target].text, flags=re.DOTALL)
            headings = [slug(one.replace("`", "")) for one in re.findall(r"^#+ (.+)$", text, re.M)]
            assert not place or place in headings, (page.path.name, link)
            checked += 1
    assert checked > 20


def test_words_are_found_in_all_documents(reader: DocumentsWindow) -> None:
    QTest.keyClicks(reader.line, "SQLite journal")
    expected = [page.title for page in find_pages(documents(), "sqlite JOURNAL")]
    assert titles(reader) == expected and 0 < len(expected) < len(documents())
    assert reader.page.textCursor().selectedText().lower() == "sqlite"
    first = reader.page.textCursor().position()
    QTest.keyClick(reader.line, Qt.Key.Key_Return)
    second = reader.page.textCursor().position()
    assert second != first
    QTest.keyClick(reader.line, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert reader.page.textCursor().position() == first
    QTest.keyClick(reader.line, Qt.Key.Key_Down)
    assert reader.titles.currentItem().text() == expected[1 % len(expected)]


def test_the_search_selects_the_phrase(reader: DocumentsWindow) -> None:
    QTest.keyClicks(reader.line, "Two commands")
    reader.line.setText("edge of stability")
    assert reader.page.textCursor().selectedText().lower() == "edge of stability"
    first = reader.page.textCursor().position()
    QTest.keyClick(reader.line, Qt.Key.Key_Return)
    assert reader.page.textCursor().selectedText().lower() == "edge of stability"
    QTest.keyClick(reader.line, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert reader.page.textCursor().position() == first


@pytest.fixture
def two_pages(qtbot: QtBot, program: Marginscope, tmp_path: Path) -> DocumentsWindow:
    """Return a window of two pages, of which the second one contains the phrase 'hard margin'."""
    texts = (
        "Hard words.\n\nNo margin.",
        "A margin.\n\nThe **hard\nmargin** of a [hard](a.md) run.",
    )
    pages = [Document(tmp_path / f"{k}.md", str(k), text) for k, text in enumerate(texts)]
    for page in pages:
        page.path.write_text(page.text)
    window = DocumentsWindow(pages, program.window)
    qtbot.addWidget(window)
    assert window.present == pages[0].path
    return window


def test_the_search_opens_a_page_with_the_phrase(two_pages: DocumentsWindow) -> None:
    two_pages.line.setText("hard margin")
    assert two_pages.present.name == "1.md"
    assert two_pages.page.textCursor().selectedText() == "hard margin"


def test_an_excerpt_shows_the_match_and_opens_its_page(
    qtbot: QtBot, two_pages: DocumentsWindow
) -> None:
    two_pages.show()
    two_pages.line.setText("hard")
    rows = [two_pages.titles.item(row).text() for row in range(two_pages.titles.count())]
    assert rows == [
        "0",
        "Hard words. No margin.",
        "1",
        "\u2026 margin. The hard margin of a hard run.",
    ]
    place = two_pages.titles.visualItemRect(two_pages.titles.item(3)).center()
    qtbot.mouseClick(two_pages.titles.viewport(), LEFT, pos=place)
    assert two_pages.present.name == "1.md" and two_pages.titles.currentRow() == 2
    assert two_pages.page.textCursor().selectedText() == "hard"


def test_words_far_apart_are_found_in_one_paragraph(two_pages: DocumentsWindow) -> None:
    two_pages.line.setText("margin run")
    cursor = two_pages.page.textCursor()
    assert two_pages.present.name == "1.md"
    assert cursor.selectedText() == "margin" and cursor.block().text().endswith("run.")


def test_nothing_found_is_said(reader: DocumentsWindow) -> None:
    QTest.keyClicks(reader.line, "zyzzyva")
    assert titles(reader) == [] and reader.hint.text() == NONE
    reader.line.clear()
    assert len(titles(reader)) == len(documents()) and not reader.hint.isVisible()


def test_the_web_site_is_opened_in_the_browser(
    qtbot: QtBot, program: Marginscope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []
    works = [True]

    def browse(address: QUrl) -> bool:
        asked.append(Path(address.toLocalFile()))
        return works[0]

    monkeypatch.setattr(QDesktopServices, "openUrl", browse)
    page = tmp_path / "index.html"
    monkeypatch.setattr(state, "SITE", (str(page),))  # an absolute name leaves the package
    program.help.show_site()
    assert asked == [] and program.window.bar.text == NO_SITE
    action, is_made = program.actions["site"], program.actions["site"].isVisible()
    action.setVisible(True)
    page.write_text("<html></html>")
    pick(qtbot, program.window, "Help", "Open web site")
    assert asked == [page]
    works[0] = False
    pick(qtbot, program.window, "Help", "Open web site")
    assert str(page) in program.window.bar.text
    action.setVisible(is_made)


def test_the_web_site_is_offered_where_it_was_made(program: Marginscope) -> None:
    assert program.actions["site"].isVisible() is (state.site() is not None)


def test_documents_that_are_not_there_are_told(
    qtbot: QtBot, program: Marginscope, tmp_path: Path
) -> None:
    assert documents(tmp_path) == ()
    window = DocumentsWindow((), program.window)
    qtbot.addWidget(window)
    window.show()
    QTest.keyClicks(window.line, "margin")
    assert window.hint.text() == MISSING


def test_they_are_found_where_a_wheel_or_a_bundle_puts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "ROOT", tmp_path / "site")
    wheel, bundle = tmp_path / "data", tmp_path / "bundle"
    monkeypatch.setattr(state.sysconfig, "get_path", {"data": str(wheel)}.get)
    assert folder() is None
    for place in (wheel / "share" / "marginscope", bundle):
        (place / "docs").mkdir(parents=True)
        (place / "docs" / "theory.md").write_text("# Theory: all of it\n")
    assert folder() == wheel / "share" / "marginscope"
    monkeypatch.setattr(state.sys, "_MEIPASS", str(bundle), raising=False)
    assert folder() == bundle
    assert documents() == (
        Document(bundle / "docs" / "theory.md", "Theory", "# Theory: all of it\n", "Explanation"),
    )


def test_a_wheel_takes_all_documents_along() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    taken = set()
    for target, patterns in table["tool"]["setuptools"]["data-files"].items():
        for path in (path for pattern in patterns for path in ROOT.glob(pattern)):
            inside = Path(target).relative_to("share/marginscope") / path.name
            assert inside == path.relative_to(ROOT)
            taken.add(path)
    assert {page.path for page in documents()} <= taken
