"""A whole window on a small study, with its own folders."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import final

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.places import Places
from app.shell.application import Marginscope
from app.state.views import FIGURE_1
from app.theory.judge import Judge
from app.theory.margin_worker import MarginWorker
from tests.app.shell.comparing import settled
from tests.app.shell.shared_window import SharedWindow, defer_painting, trained, wait_until
from tests.guards import finish_deletions, guarded
from tests.support import theory_stand_ins as stand_ins

FIGURE_1_STUDY = """
title = "A small study"
[data]
d = 6
n = 12
[dynamics]
kind = "flow"
until_log10_time = 2.0
[recording]
frames = 24
[axes]
"network.m" = [8, 12]
"""
# For tests of a window that need only two of the views.
STUDY = FIGURE_1_STUDY + '[window]\nviews = ["neurons", "margins"]\n'
# For tests of a window that need one run and one view.
PLAIN = STUDY.partition("[axes]")[0] + '[network]\nm = 8\n[window]\nviews = ["margins"]\n'
FRAMES = 24  # of the runs of windows: what they show costs less
# Delays for people who read or type, by their names in `app`; tests use shorter ones.
PACES = {
    "library.compare_model.POLL_MS": 50,
    "export.controller.PREVIEW_MS": 20,
    "theory.controller.JUDGE_MS": 20,
    "theory.final_margin.SOON_MS": 20,
    "playback.live_files.LATER_MS": 50,
    "playback.live_files.REST_MS": 100,
    "playback.live_files.SOON_MS": 50,
    "library.controller.TYPING_MS": 10,
    "playback.readout.TEXT_MS": 60,
    "study.display.LEAST_REST": 0.1,
    "study.display.REDRAW_MS": 50,
    "study.display.RESIZED_MS": 50,
    "study.runner.POLL_MS": 50,
}
# Descent with so small a step that it is still going on whenever a test looks at it.
SLOW = """
title = "A slow study"
[data]
d = 20
n = 64
[network]
m = 256
[dynamics]
kind = "gd"
step = 1e-5
until_log10_time = 2.0
[recording]
frames = 400
[window]
views = ["neurons", "margins"]
"""
Opener = Callable[..., Marginscope]
PLAYS = "plays"  # property of a program: what it opens is played, not held at t = 0
__all__ = ["PLAIN", "SLOW", "STUDY", "Opener", "trained"]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Return the file of a study of two small runs."""
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def plain_study(tmp_path: Path) -> Path:
    """Return the file of a study of one small run with one view."""
    path = tmp_path / "plain.toml"
    path.write_text(PLAIN)
    return path


@pytest.fixture
def figure_1_views(program: Marginscope) -> None:
    program.display.update_intent(views=FIGURE_1)


@pytest.fixture
def slow_study(tmp_path: Path) -> Path:
    """Return the file of a study of one run that takes very long."""
    path = tmp_path / "slow.toml"
    path.write_text(SLOW)
    return path


@pytest.fixture
def own_window() -> None:
    """Give a test its own window as `program`, because it closes it or changes it for good."""


@pytest.fixture
def restyles() -> None:
    """Close the shared window before a test that changes the application's style.

    Each style is given to all widgets there are: three take longer than to make the window again.
    """


@pytest.fixture
def open_program(request: pytest.FixtureRequest, qtbot: QtBot, tmp_path: Path) -> Iterator[Opener]:
    programs: list[Marginscope] = []

    def stopped(window: object) -> None:
        for program in programs:
            program.training.stop()
            qtbot.waitUntil(_ended(program))

    def opened(*names: Path | str, plays: bool = False, looks_ahead: bool = False) -> Marginscope:
        program = make_program(tmp_path / "user", names, plays, looks_ahead)
        # The window is closed before fixtures end, and asks while something is trained.
        qtbot.addWidget(program.window, before_close_func=stopped)
        programs.append(program)
        open_drawer(request, program)
        program.start()
        return program

    yield opened
    for program in programs:
        assert program.worker.close()


def make_program(
    folder: Path, names: Sequence[Path | str], plays: bool = False, looks_ahead: bool = False
) -> Marginscope:
    """Make a window with made-up theory, with its user's files in a folder.

    Runs that are opened are held at t = 0, unless a test is about playing. Where margins are going
    takes a seventh of a window's time: nothing is known of it, unless a test asks.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not looks_ahead:
            name = "app.theory.final_margin.bracket_final_margin"
            patch.setattr(name, stand_ins.no_final_margin)
        program = Marginscope(
            Places.in_folder(folder),
            [str(name) for name in names],
            MarginWorker(None, stand_ins.references_of, stand_ins.compute),
            Judge(None, stand_ins.STATEMENTS.assess, stand_ins.STATEMENTS.alarms),
        )
    program.setProperty(PLAYS, plays)
    # The slot after `PlaybackController.play_from_start`, which is connected to the same signals.
    for opener in (program.files, program.training):
        opener.runs_replaced.connect(partial(_hold, program))
    return program


def _hold(program: Marginscope) -> None:
    if not program.property(PLAYS):
        program.display.update_intent(playing=False)


def _ended(program: Marginscope) -> Callable[[], bool]:
    return lambda: not program.session.live


# ------------------------------------------------------------------------------- a shared window


@final
class WindowPool:
    """Window shared by the tests of this process: made at its first use, reset after each."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._shared: SharedWindow | None = None
        self.touched = False

    def get(self) -> Marginscope:
        """Return the window in its initial state."""
        if self.touched:  # a change of the system's colours, say, reaches all windows
            self.put_back()
            self.touched = False
            self.set_painted(True)
        if self._shared is None:
            folder = self._folders.mktemp("window")
            path = folder / "small.toml"
            path.write_text(STUDY)
            program = make_program(folder / "user", [path])
            program.start()
            wait_until(lambda: program.action_state.views_made)  # with the first paint
            with defer_painting(program.window):
                wait_until(lambda: trained(program))
                self._shared = SharedWindow.of(program)
        program = self._shared.program
        if self._shared.has_lost_its_style():
            program.appearance.apply()
        program.window.activateWindow()
        wait_until(program.window.isActiveWindow)
        return program

    def put_back(self) -> None:
        """Reset the window after a test, and close it if the reset is not exact."""
        if self._shared is not None and not self._shared.reset():
            self.close()

    def set_painted(self, so: bool) -> None:
        """Turn painting on or off: beside another window a new style costs .4 s less without it."""
        if self._shared is not None:
            self._shared.program.window.setUpdatesEnabled(so)
            if so:
                self._shared.program.window.repaint()

    @property
    def program(self) -> Marginscope | None:
        return None if self._shared is None else self._shared.program

    def threads(self) -> set[threading.Thread]:
        """Return the threads of the window's workers, which start at their first use."""
        return set() if self._shared is None else self._shared.threads()

    def close(self) -> None:
        if self._shared is None:
            return
        program, self._shared = self._shared.program, None
        program.training.stop()
        wait_until(_ended(program))
        program.window.close()
        program.window.deleteLater()
        assert program.worker.close()
        finish_deletions()  # before the last reference to the program goes


@pytest.fixture(scope="package")  # a visible window disturbs the mouse in tests of other folders
def window_pool(qapp: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WindowPool]:
    """Return the shared window of this process; only `program` uses it.

    Frames are few between tests too: what waits for the event loop then says how much a run takes.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.training.studies.WATCHED_FRAMES", FRAMES)
        for name, pace in PACES.items():
            patch.setattr(f"app.{name}", pace)
        pool = WindowPool(tmp_path_factory)
        yield pool
        pool.close()


def shares(request: pytest.FixtureRequest) -> bool:
    """Return True if a test uses the shared window, and no window of its own."""
    names = set(request.fixturenames)
    return "program" in names and not names & {"open_program", "own_window"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that close the shared window last: each window after them takes a second."""
    folder = Path(__file__).parent
    places = [place for place, item in enumerate(items) if item.path.parent == folder]
    ordered = sorted((items[place] for place in places), key=closes_window)
    for place, item in zip(places, ordered, strict=True):
        items[place] = item


def closes_window(item: pytest.Item) -> bool:
    return "restyles" in getattr(item, "fixturenames", ())


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Stop painting the shared window after a test: pytest-qt would paint its last changes.

    `WindowPool.put_back` turns painting on again, once the window is as before.
    """
    try:
        return (yield)
    finally:
        pool: WindowPool | None = item.funcargs.get("window_pool")
        if pool is not None and pool.program is not None and isValid(pool.program.window):
            pool.program.window.setUpdatesEnabled(False)


@pytest.fixture(autouse=True)
def no_leaks(
    request: pytest.FixtureRequest, window_pool: WindowPool, own_cache: Path
) -> Iterator[None]:
    """Guard all tests against leaks, also around tests that share a window."""
    if not shares(request):
        if "restyles" in request.fixturenames:
            window_pool.close()
        with guarded(window_pool.program, window_pool.threads):
            window_pool.touched = True
            window_pool.set_painted(False)
            yield
        return
    with guarded(window_pool.get(), window_pool.threads, shared=True):
        yield
        window_pool.put_back()


def open_drawer(request: pytest.FixtureRequest, program: Marginscope) -> None:
    """Open the drawer named by the test's marker."""
    marker = request.node.get_closest_marker("drawer")
    if marker is not None:
        program.actions[marker.args[0]].setChecked(True)


@pytest.fixture
def program(request: pytest.FixtureRequest) -> Marginscope:
    """Return the window with the small study, trained and held at t = 0."""
    if shares(request):
        pool: WindowPool = request.getfixturevalue("window_pool")
        shared = pool.get()
        open_drawer(request, shared)
        return shared
    qtbot: QtBot = request.getfixturevalue("qtbot")
    open_program: Opener = request.getfixturevalue("open_program")
    program = open_program(request.getfixturevalue("study"))
    qtbot.waitUntil(lambda: trained(program))
    return program


@pytest.fixture
def show_files(program: Marginscope) -> Iterator[Opener]:
    """Return a function that opens files in the shared window, without making a new one.

    The window has its own study, trained, until files are shown; after the test it has it again.
    """

    def show(*names: Path | str, plays: bool = False) -> Marginscope:
        program.setProperty(PLAYS, plays)
        program.files.open_files([str(name) for name in names])
        return program

    yield show
    program.setProperty(PLAYS, False)


@pytest.fixture
def plays(program: Marginscope) -> Iterator[Marginscope]:
    """Return the window with the small study; runs trained or opened from now on play."""
    program.setProperty(PLAYS, True)
    yield program
    program.setProperty(PLAYS, False)


@pytest.fixture
def playing_program(plays: Marginscope, qtbot: QtBot) -> Marginscope:
    """Return the window with the small study, trained once more and playing."""
    plays.training.restart()
    qtbot.waitUntil(lambda: trained(plays))
    return plays


@pytest.fixture
def comparing(program: Marginscope, qtbot: QtBot) -> Marginscope:
    """Return the program with its two runs as lines of one plot."""
    program.display.update_intent(playing=False)
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(program.window, Qt.Key.Key_M, keys)
    qtbot.waitUntil(lambda: program.window.pages.currentWidget() is program.compare.page)
    settled(program, qtbot)
    return program
