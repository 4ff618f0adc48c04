"""What comes in through the socket of a window that `marginscope.show` has opened."""

from __future__ import annotations

import logging
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.shell.show_server import MOST_CALLERS, ShowServer, training
from app.state.session import RecordingState
from core.program.window_address import BUSY, MOST_BYTES, OK, REFUSED
from tests.app.shell.conftest import Opener, trained
from tests.support.foreign_loop import LoopProcess
from tests.support.loops import record_loop

pytestmark = pytest.mark.skipif(
    not hasattr(socket, "AF_UNIX"), reason="a window is used again on Unix alone"
)


@pytest.fixture
def place() -> Iterator[Path]:
    """Yield where a socket may lie: pytest's own folders are too deep for one."""
    with tempfile.TemporaryDirectory(prefix="ms") as folder:
        yield Path(folder) / "window"


@pytest.fixture
def served(program: Marginscope, place: Path) -> Iterator[Marginscope]:
    server = ShowServer(training(program.session), program)
    server.show_requested.connect(program.show_link)
    assert server.listen(place)
    yield program
    server.close()
    assert not place.exists()


def ask(qtbot: QtBot, place: Path, sent: bytes) -> str:
    """Return what is answered; "" where the window hangs up."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.setblocking(False)
        caller.connect(str(place))
        answer: list[bytes] = []

        def said() -> bool:
            nonlocal sent
            try:
                sent = sent[caller.send(sent) :] if sent else b""
                answer.append(caller.recv(MOST_BYTES))
            except BlockingIOError:
                return False
            except OSError:
                answer.append(b"")
            return not answer[-1] or answer[-1].endswith(b"\n")

        qtbot.waitUntil(said)
        return b"".join(answer).decode().strip()


def test_a_link_is_shown(served: Marginscope, place: Path, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "mine.msrun"
    record_loop(path, 9)
    link = f"marginscope://view?run={path}&t=live&views=margins\n".encode()
    assert ask(qtbot, place, link) == OK
    qtbot.waitUntil(lambda: [run.path for run in served.session] == [path] and trained(served))
    assert served.display.view.wishes.views == ("margins",)
    qtbot.waitUntil(lambda: served.display.view.runs[0].frame == 9)
    path.unlink()
    record_loop(path, 4)  # the same name, and another run
    assert ask(qtbot, place, link) == OK
    qtbot.waitUntil(lambda: trained(served) and next(iter(served.session)).data.frames == 5)


def test_what_is_asked_before_a_window_is_painted_comes_after_what_it_opens_with(
    open_program: Opener, tmp_path: Path, qtbot: QtBot
) -> None:
    first, second, third = (tmp_path / f"{name}.msrun" for name in ("first", "second", "third"))
    for path in (first, second, third):
        record_loop(path, 4)
    program = open_program(f"marginscope://view?run={first}&t=live")
    opened: list[str] = []
    program.files.runs_restored.connect(
        lambda: opened.extend(run.path.stem for run in program.session)
    )
    for path in (second, third):  # no turn of the loop has been taken yet
        program.show_link(f"marginscope://view?run={path}&t=live")
    qtbot.waitUntil(lambda: opened == ["first", "second", "third"])
    assert [run.path for run in program.session] == [third]


def test_a_recording_that_grows_is_shown_at_its_end(
    served: Marginscope, place: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    with LoopProcess(tmp_path / "mine.msrun") as loop:
        assert ask(qtbot, place, f"marginscope://view?run={loop.path}&t=live\n".encode()) == OK
        frames = loop.frames(7)
        qtbot.waitUntil(
            lambda: len(served.session) == 1 and served.display.view.runs[0].frame == frames - 1
        )
        assert next(iter(served.session)).growth is RecordingState.GROWS


@pytest.mark.parametrize(
    "sent",
    [
        b"\n",
        b"\xff\xfe\x00\n",
        b"import os; os.system('true')\n",
        b"marginscope://view?" + b"x" * 50 + b"\n",
        b"marginscope://view?run=a&t=never\n",
        b"marginscope://view?run=%00\n",
        b"nothing\nmarginscope://view?views=margins\n",
        b"x" * (MOST_BYTES + 10),
    ],
)
def test_other_bytes_do_nothing(
    served: Marginscope,
    place: Path,
    qtbot: QtBot,
    sent: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records: list[logging.LogRecord] = []  # not by caplog, which hears some loggers twice
    monkeypatch.setattr(logging.getLogger("marginscope"), "handle", records.append)
    before = [run.path for run in served.session]
    words = served.window.bar.text  # on a machine whose kernels are still being compiled
    asked: list[str] = []
    for server in served.findChildren(ShowServer):
        server.show_requested.connect(asked.append)
    answer = ask(qtbot, place, sent)
    assert answer.startswith(REFUSED.strip()) or (answer == "" and len(sent) > MOST_BYTES)
    # One line of the log; others may log what they do meanwhile.
    (told,) = [one for one in records if one.module == "show_server"]
    assert len(told.getMessage()) < 300
    assert not asked and [run.path for run in served.session] == before
    assert served.window.bar.text in ("", words)


def test_callers_that_say_nothing_are_let_go(
    served: Marginscope, place: Path, qtbot: QtBot
) -> None:
    callers = [socket.socket(socket.AF_UNIX) for _ in range(MOST_CALLERS + 2)]
    try:
        for caller in callers:
            caller.setblocking(False)
            caller.connect(str(place))

        def first_is_gone() -> bool:
            try:
                return callers[0].recv(1) == b""
            except BlockingIOError:
                return False

        qtbot.waitUntil(first_is_gone)
        assert ask(qtbot, place, b"nothing\n").startswith(REFUSED)
    finally:
        for caller in callers:
            caller.close()


def test_a_window_that_trains_is_left_alone(
    show_files: Opener, slow_study: Path, place: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    program = show_files(slow_study)
    qtbot.waitUntil(lambda: bool(program.session.live))
    server = ShowServer(training(program.session), program)
    asked: list[str] = []
    server.show_requested.connect(asked.append)
    assert server.listen(place)
    link = f"marginscope://view?run={tmp_path}/a.msrun\n"
    assert ask(qtbot, place, link.encode()) == BUSY and not asked
    server.close()
    server.deleteLater()


def test_one_window_listens_and_what_a_dead_one_left_is_removed(place: Path, qtbot: QtBot) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(place))  # and nobody listens there
    first, second = ShowServer(bool), ShowServer(bool)
    assert first.listen(place) and not second.listen(place)
    assert place.stat().st_mode & 0o077 == 0
    first.close()
    assert second.listen(place)
    second.close()
    assert not ShowServer(bool).listen(None)
