"""Windows opened from somebody else's process, which has none of the window's libraries."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.program import window_address as address
from marginscope import _show
from tests.support.loops import loop, record_loop

ROOT = Path(__file__).resolve().parents[2]
# What a caller does, in a folder that has a package of the window's name.
CALLER = """
import json, signal, sys, time
from pathlib import Path
import marginscope as ms
from marginscope import _show
_show.PATIENCE_S = 60.0
first, second = sys.argv[1:]
ms.show(first, at="10^1", views=["margins"])
ms.show(second, at=3, views="norms")
refused = []
for wrong in ({"at": "soon"}, {"views": "no such"}):
    try:
        ms.show(first, **wrong)
    except ms.InputError as error:
        refused.append(str(error))
(window,) = _show._WINDOWS
running = window.process.poll() is None
left = lambda: "".join(one.read_text() for one in Path().rglob("session.json"))
while second not in left():  # how it would be gone on with; the test's patience ends it
    time.sleep(0.1)
window.process.send_signal(signal.SIGTERM)
ended = window.process.wait(60)
loaded = [name for name in ("PySide6", "app", "numpy") if name in sys.modules]
print(json.dumps({"refused": refused, "running": running, "ended": ended, "loaded": loaded}))
"""
unix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="a window is used again on Unix alone")


def environment(folder: Path, sockets: str) -> dict[str, str]:
    """Return a user of his own, with a private folder for sockets that is not too deep for one."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("XDG_")}
    return kept | {
        "HOME": str(folder),
        "TMPDIR": sockets,
        "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "offscreen",
    }


@unix
@pytest.mark.slow
def test_a_second_call_uses_the_window_of_the_first(tmp_path: Path) -> None:
    # A package `core` there would hide the source's own; tests/test_wheel.py tries it with a wheel.
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text("raise SystemExit('the wrong package')")
    paths = [tmp_path / "first.msrun", tmp_path / "second.msrun"]
    for path in paths:
        record_loop(path, 5)
    (tmp_path / "caller.py").write_text(CALLER)
    with tempfile.TemporaryDirectory() as sockets:  # pytest's folders are too deep
        done = subprocess.run(
            [sys.executable, "caller.py", *map(str, paths)],
            cwd=tmp_path,
            env=environment(tmp_path, sockets),
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert done.returncode == 0, done.stderr
        assert not list(Path(sockets).glob("marginscope-*/window-*"))
    said = json.loads(done.stdout)
    assert said["running"] and said["ended"] == 128 + 15 and said["loaded"] == []
    assert "t = 'soon' is not valid" in said["refused"][0]
    assert "views = 'no such' is not valid" in said["refused"][1]


@unix
def test_a_window_that_does_not_answer_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_show, "PATIENCE_S", 0.05)
    monkeypatch.setattr(_show, "_WINDOWS", [])
    with (
        tempfile.TemporaryDirectory() as folder,  # pytest's folders are too deep
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as window,
    ):
        place = Path(folder) / "window"
        monkeypatch.setattr(_show, "address", lambda: place)
        window.bind(str(place))
        window.listen()  # as a window that hangs: the system takes the line, and nobody reads it
        with pytest.warns(UserWarning, match=r"not answered for 0.05 s.* end it and call show"):
            _show.show_link("marginscope://view?run=a")
        assert not _show._WINDOWS


# ------------------------------------------------------------------------- what is asked for


@pytest.fixture
def links(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []
    monkeypatch.setattr(_show, "show_link", asked.append)
    return asked


def parsed(link: str) -> Any:
    from app.scenes.scene import Scene
    from app.scenes.scene_texts import parse_link

    return parse_link(link, Scene())


def test_links_say_runs_time_and_views(tmp_path: Path, links: list[str]) -> None:
    paths = [tmp_path / f"a b&{number}.msrun" for number in range(5)]
    for path in paths:
        record_loop(path, 3)
    ms.show(*paths[:2], at="10^2.5", views=["margins", "neurons"])
    scene = parsed(links[-1])
    assert scene.runs == tuple(paths[:2]) and scene.intent.views == ("margins", "neurons")
    assert not scene.intent.follow
    for at, same in ((np.float32(0.5), "0.5"), (300, "300"), ("t = 300", "300")):
        ms.show(paths[0], at=at)
        with ms.open(paths[0]) as run:
            run.show(at=same)
        assert parsed(links[-2]) == parsed(links[-1])
    ms.show(*paths)
    assert parsed(links[-1]).intent.compared.runs == tuple(map(str, paths))
    assert parsed(links[-1]).intent.follow  # the latest frame, whichever that will be


@pytest.mark.parametrize(
    ("runs", "settings", "words"),
    [
        ((), {}, "0 runs cannot be shown together; give 1 to 10"),
        (("mine.msrun",) * 11, {}, "11 runs cannot be shown"),
        (("none.msrun",), {}, "does not exist; check the path"),
        ((".",), {}, "does not exist; check the path"),
        (("a\0b",), {}, "does not exist; check the path"),
        ((3,), {}, "int is not a run"),
        (("mine.msrun",), {"at": [1]}, "is not a time"),
        (("mine.msrun",), {"at": object()}, "is not a time"),
    ],
)
def test_what_cannot_be_shown_is_an_error(
    tmp_path: Path,
    links: list[str],
    monkeypatch: pytest.MonkeyPatch,
    runs: tuple[Any, ...],
    settings: dict[str, Any],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    record_loop(Path("mine.msrun"), 2)
    with pytest.raises(ms.InputError, match=words):
        ms.show(*runs, **settings)
    assert not links


def test_a_recording_shows_itself(tmp_path: Path, links: list[str]) -> None:
    one, path = loop(), tmp_path / "mine.msrun"
    with ms.record(path, one.x, one.y, loss="logistic", V0=one.V, a0=one.a) as r:
        r.show(views="margins")
        assert parsed(links[-1]).runs == (path,)
    with ms.record(path, one.x, one.y, loss="logistic", overwrite=True) as r:
        with pytest.warns(ms.RecordingWarning, match="has no frame yet; give V0 and a0"):
            r.show()
        r.frame(1, V=one.V, a=one.a)
        r.show()
        assert parsed(links[-1]).runs == (tmp_path / "mine.new.msrun",)


# ---------------------------------------------------------------------- where none can be opened


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a run, and no window that could be used again."""
    monkeypatch.setattr(_show, "address", lambda: None)
    monkeypatch.setattr(_show, "PATIENCE_S", 60.0)
    monkeypatch.setattr(_show, "_WINDOWS", [])
    record_loop(tmp_path / "mine.msrun", 2)
    return tmp_path / "mine.msrun"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="others always have a screen")
def test_without_a_screen_the_caller_is_told(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ms.InputError, match=r"No screen is available .* ssh -X"):
        ms.show(alone)
    assert not _show._WINDOWS  # nothing was started for it
    monkeypatch.setenv("QT_QPA_PLATFORM", "no such platform")
    with pytest.raises(ms.InputError, match="No screen is available"):
        ms.show(alone)
    assert _show._WINDOWS[0].process.wait(60) != 0


def test_without_its_libraries_the_caller_is_told(
    alone: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_show, "find_spec", lambda name: None)
    with pytest.raises(ms.InputError, match="needs PySide6, which is not installed"):
        ms.show(alone)
    monkeypatch.setattr(_show, "find_spec", lambda name: name)
    monkeypatch.setattr(_show, "BOOT", "raise SystemExit('ImportError: libEGL.so.1 is missing')")
    with pytest.raises(ms.InputError, match=r"could not be opened: .* libEGL.so.1 is missing"):
        ms.show(alone)
    assert _show._WINDOWS[0].process.wait(60) == 1


def test_what_is_meant_for_the_caller_is_not_the_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    monkeypatch.setenv("QT_QPA_PLATFORM_PLUGIN_PATH", "site-packages/cv2/qt/plugins")
    monkeypatch.setenv("PYTHONPATH", "theirs")
    given = _show.environment()
    assert "MPLBACKEND" not in given and "QT_QPA_PLATFORM_PLUGIN_PATH" not in given
    assert given["PYTHONPATH"].split(os.pathsep) == [str(ROOT), "theirs"]
    assert given["PYTHONSAFEPATH"] == "1"


@pytest.fixture
def short_path() -> Iterator[Path]:
    """Yield a folder whose name leaves room for that of a socket, which has 107 bytes at most."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@unix
def test_folders_that_others_may_enter_are_not_used(
    short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path = short_path
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = address.private_folder()
    assert folder is not None and folder.stat().st_mode & 0o777 == 0o700
    assert address.address().parent == folder
    folder.chmod(0o755)
    assert address.address() is None
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert address.address() is None
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("x" * 100)))
    (tmp_path / ("x" * 100)).mkdir()
    assert address.address() is None  # too long for a socket
