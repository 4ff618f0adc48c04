"""Fixtures and hooks of all tests: guards against leaks, and the choice of tests by machine."""

from __future__ import annotations

import gc
import itertools
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app import qt_workarounds
from app.qt_application import QtApplication
from app.widgets import screen_room
from tests.collection import DoctestFilter, compile_part
from tests.guards import no_leaks
from tests.temporary import are_removed, use_memory

__all__ = ["are_removed", "no_leaks"]

# Kinds that tests.test_extension registers for itself: who looks for doctests would import them.
collect_ignore = ["extension"]

use_memory()
qt_workarounds.restore_import()  # before the modules that are tested

# The same examples on every machine; no deadline, since a kernel may be loaded in the middle.
settings.register_profile("marginscope", deadline=None, derandomize=True, database=None)
settings.load_profile("marginscope")

# Shells start what is in the background without Ctrl-C, which some tests press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


NUMBERS = itertools.count()
# Left by every NVIDIA driver: on Linux, in Windows' subsystem for Linux, and on Windows.
DRIVERS = ("/dev/nvidiactl", "/dev/dxg", "C:/Windows/System32/nvcuda.dll")
PATIENCE = 60_000  # ms; how long a busy machine takes says nothing of the program


class PatientBot(QtBot):
    """pytest-qt bot with timeouts long enough for a busy machine."""

    def waitUntil(self, callback: Callable[[], Any], *, timeout: int = PATIENCE) -> None:
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE, **options: Any) -> Any:
        return super().waitSignal(signal, timeout=timeout, **options)


@pytest.fixture(scope="session")
def qapp_cls() -> type[QtApplication]:
    """Return the program's own application class, by pytest-qt's name for the fixture."""
    return QtApplication


@pytest.fixture
def qtbot(qapp: object, request: pytest.FixtureRequest) -> QtBot:
    return PatientBot(request)


# Windows that were closed are garbage in cycles, which no thread of a later test may destroy.
gc.disable()
GARBAGE = qt_workarounds.GarbageCollector()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Share the work of compiling all modules among the workers."""
    compile_part(session.config)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(DoctestFilter())  # a conftest's hooks see its own folder alone


def pytest_collection_finish() -> None:
    """Freeze the objects loaded so far: scanning them each time took 4 % of a run.

    A collection before it would take a second, for 5 % of the objects.
    """
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Empty the clipboard, otherwise the process crashes at its end.

    PySide 6.11.3 on the platforms `offscreen` and `minimal`: Qt deletes the clipboard's QMimeData,
    a Python object, after the interpreter has ended. X11 deletes it with the application.
    """
    if QGuiApplication.instance() is not None:
        QGuiApplication.clipboard().clear()


@pytest.fixture(scope="session", autouse=True)
def large_screen() -> Iterator[None]:
    """Give windows the size of a usual screen; that of `offscreen` has 800 pixels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screen_room, "room_of", lambda _: QSize(1920, 1200))
        yield


@pytest.fixture(autouse=True)
def no_garbage() -> Iterator[None]:
    """Collect garbage between tests, in the tests' own thread."""
    yield
    GARBAGE.collect_due()


@pytest.fixture(scope="module")
def module_number() -> int:
    """Return a number that the tests of a file share."""
    return next(NUMBERS)


@pytest.fixture(autouse=True)
def own_cache(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Cache reference margins apart from the user's, empty at the start of every test.

    Tests marked `same_margins` share the cache of their file: they compare what is made of margins,
    not how these are computed. The folder is made by whoever stores something: pytest looks through
    all of its folders for the number of a new one, and there would be one for each test.
    """
    is_shared = request.node.get_closest_marker("same_margins") is not None
    number = request.getfixturevalue("module_number") if is_shared else next(NUMBERS)
    folder = tmp_path_factory.getbasetemp() / f"cache-{number}"
    with pytest.MonkeyPatch.context() as environment:  # `monkeypatch` itself is undone early
        environment.setenv("MARGINSCOPE_CACHE", str(folder))
        yield folder / "margins"


def use_few_directions(patch: pytest.MonkeyPatch) -> None:
    """Compute gamma_ntk on an eighth of the directions, for tests of what is made of its bracket.

    The bracket is about three times as wide, and takes .2 s in place of 1.2 s.
    """
    patch.setattr("core.reference.tangent_draws.MOST", 2**18)
    patch.setattr("core.reference.tangent.MOST_SEARCHED", 2**13)


@pytest.fixture
def few_directions() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        use_few_directions(patch)
        yield


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Return a function that runs the program in this process: (status, stdout, stderr)."""
    from core.cli.main import main

    def run(*arguments: object) -> tuple[int, str, str]:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stopped:
            status = int(stopped.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    return run


def has_cuda() -> bool:
    """Return True if torch, which takes seconds to load, sees a CUDA device."""
    if not any(Path(name).exists() for name in DRIVERS):
        return False
    from core.tensors.stepper import cuda_is_present

    return cuda_is_present()


def left_out() -> dict[str, str]:
    """Return the marks of tests not collected on this machine, each with its reason."""
    needs = {
        "xvfb": (shutil.which("Xvfb") is not None, "Xvfb is not installed"),
        "cuda": (has_cuda(), "there is no CUDA device"),
    }
    return {mark: reason for mark, (there, reason) in needs.items() if not there}


def pytest_report_header() -> list[str]:
    """List the left-out tests before the run."""
    return [f"Tests marked {mark} are left out: {why}." for mark, why in left_out().items()]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that need what this machine lacks."""
    marks = left_out()
    without = [item for item in items if any(map(item.get_closest_marker, marks))]
    if without:
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if item not in without]
