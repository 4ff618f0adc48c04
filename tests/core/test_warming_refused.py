"""Where compiled kernels cannot be kept: said in a sentence, once, and before they are compiled."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli.main import main, print_compiling
from core.compiled import kernel_groups, store
from core.compiled.kernel_groups import compiling_words
from tests.core.test_warming import copied, none_left, python

__all__ = ["none_left"]  # a fixture
posix = pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def unreported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_groups, "_reported", [])


def spoil_by_file(cache: Path) -> str:
    cache.parent.joinpath("file").touch()
    cache.symlink_to("file")
    return "Not a directory|File exists"


def spoil_by_mode(cache: Path) -> str:
    cache.mkdir()
    cache.chmod(0o777)
    return f"other users can replace {cache}"


def spoil_by_own_mode(cache: Path) -> str:
    assert store.save("some.kernel", b"content")
    store.folder().chmod(0o777)
    return "other users can change it"


def spoil_by_link(cache: Path) -> str:
    cache.mkdir()
    cache.joinpath("other").mkdir()
    store.folder().symlink_to("other")
    return "it is a link"


SPOILED = [spoil_by_file, spoil_by_mode, spoil_by_own_mode, spoil_by_link]


@posix
@pytest.mark.parametrize("spoil", SPOILED)
def test_warm_says_that_nothing_can_be_kept(
    cold: Path,
    unreported: None,
    spoil: Callable[[Path], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    reason = spoil(cold)
    monkeypatch.setattr(
        "core.dynamics.compilation.warm_up", lambda *_: pytest.fail("compiled in vain")
    )
    assert main(["warm"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(rf"cannot be saved in {store.folder()} \(.*({reason})", err)
    assert "NUMBA_CACHE_DIR" in err and err.count("\n") == 1
    # And so do commands that compile what they need: once.
    print_compiling("flow.a")
    print_compiling("flow.b")
    first, second, third = capsys.readouterr().err.splitlines()
    assert f"cannot be saved in {store.folder()}" in first
    assert (second, third) == ("marginscope: compiling flow.a.", "marginscope: compiling flow.b.")
    assert compiling_words(["flow"]) == "Compiling kernels (flow)."
    monkeypatch.setattr(kernel_groups, "_reported", [])
    words = "set NUMBA_CACHE_DIR to another folder. Compiling kernels (flow)."
    assert compiling_words(["flow"]).endswith(words)


@posix
def test_a_folder_that_is_not_writable_is_named(
    cold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refuse(path: str | Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, "Read-only file system", str(path))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse)
    assert f"in {store.folder()} (Read-only file system)" in store.problem()
    monkeypatch.undo()


def test_a_good_folder_is_left_as_it_was(
    cold: Path, unreported: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert store.problem() == ""
    assert list(store.folder().iterdir()) == []
    print_compiling("flow.a")
    assert "compiling flow.a, once for this machine" in capsys.readouterr().err
    assert compiling_words(["flow"]) == "Compiling kernels (flow), once for this machine."


def test_a_version_that_was_replaced_keeps_no_kernels(tmp_path: Path, cold: Path) -> None:
    """Its machine code would get the name of the version that is on the disk by now."""
    (tmp_path / "program").mkdir()
    root = copied(tmp_path / "program", sources=True)
    code = (
        "import os, sys\n"
        "from core.compiled import store\n"
        "print(store.save('a.kernel', b'old'))\n"
        "path = store.find_spec('core.compiled.zonotope').origin\n"
        "text = open(path).read()\n"
        "open(path, 'w').write(text.replace('TURNS = 60', 'TURNS = 61'))\n"
        "print(store.save('b.kernel', b'old'), store.load('a.kernel'))\n"
    )
    out, err = python("-c", code, root=root).communicate(timeout=60)
    assert out.split() == ["True", "False", "b'old'"], err
    digest = "from core.compiled import store; print(store.names())"
    assert python("-c", digest, root=root).communicate(timeout=60)[0] == "frozenset()\n"


def test_warm_ends_where_a_group_was_not_kept(
    cold: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("core.dynamics.compilation._compile", lambda group: None)
    monkeypatch.setattr(store, "save", lambda *_: False)
    assert main(["warm", "--only", kernel_groups.FLOW, kernel_groups.MIRROR]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"kernels of flow could not be saved in {store.folder()}; free some disk space" in err
    assert "mirror" not in err
