"""Hostile run files in the viewer: each gets a sentence or stays a text, and none acts or hangs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import RunFileError
from core.figures.viewer import save_viewer
from core.runs import open_run
from tests.support.browser import Browser, browser, browser_path
from tests.support.hostile_corpus import COUNT, few_files, hostile_files
from tests.support.viewer import READY, WORDS, choose_file

PROGRAM = browser_path()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")
# Everything of a page that a text could have added, and all that it may request.
TRACES = (
    "[document.scripts.length, document.images.length, document.links.length, "
    "document.querySelectorAll('b:not(.title b):not(.note b), svg[onload], iframe').length]"
)


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None
    page = save_viewer(tmp_path_factory.mktemp("viewer"))
    with browser(PROGRAM) as one:
        one.resize(1280, 800)
        one.open(page, READY)
        yield one


def opens(path: Path) -> bool:
    """Return True if the program reads the entire file."""
    try:
        with open_run(path) as run:
            for index in range(run.frames):
                run.parameters(index)
                run.diagnostics(index)
            run.events()
            return run.frames > 0
    except RunFileError:
        return False


def check(viewer: Browser, path: Path) -> tuple[bool, str]:
    """Open a file; return whether it was shown, and what the viewer says."""
    before = viewer.value(TRACES)
    state = choose_file(viewer, path)  # which waits a minute at most
    words: str = viewer.value(WORDS)
    assert viewer.value(TRACES) == before, words
    assert viewer.log == [], words
    assert all(one.startswith(("file:", "blob:")) for one in viewer.requests)
    if state == "refused":
        assert path.name in words
        assert words.isprintable() and words.endswith(".") and len(words) < 800
        assert "report this file" not in words, words
        assert "TypeError" not in words and "undefined" not in words, words
    return state == "shown", words


def judge(viewer: Browser, paths: Iterator[Path]) -> list[str]:
    """Return the files of which viewer and program differ."""
    wrong = []
    for path in paths:
        is_shown, words = check(viewer, path)
        if is_shown != opens(path):
            wrong.append(f"{path.name}: {'shown' if is_shown else words}")
    return wrong


def test_some_hostile_files_get_the_sentences_of_the_program(
    viewer: Browser, tmp_path: Path
) -> None:
    assert judge(viewer, few_files(tmp_path, 16)) == []


@pytest.mark.slow
def test_no_hostile_file_acts_or_hangs(viewer: Browser, tmp_path: Path) -> None:
    assert judge(viewer, hostile_files(tmp_path, COUNT)) == []


def test_a_reader_without_a_word_is_ended(viewer: Browser, tmp_path: Path) -> None:
    """The worker of a file that takes too long is ended, and the page stays alive."""
    viewer.value("globalThis.Slow = globalThis.Worker; 0")
    viewer.value(
        "globalThis.Worker = class extends EventTarget { postMessage() {} "
        "terminate() { document.body.dataset.ended = 'yes'; } }; "
        "globalThis.later = globalThis.setTimeout; "
        "globalThis.setTimeout = (act, wait) => later(act, wait / 100); 0"
    )
    try:
        (tmp_path / "a.msrun").write_bytes(b"SQLite format 3\0")
        choose_file(viewer, tmp_path / "a.msrun")  # by the reader that was there before
        assert choose_file(viewer, tmp_path / "a.msrun") == "refused"
        assert viewer.value("document.body.dataset.ended") == "yes"
        assert "takes longer than for any run file" in viewer.value(WORDS)
    finally:
        viewer.value("globalThis.Worker = Slow; globalThis.setTimeout = later; 0")
