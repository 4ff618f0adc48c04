"""Compiled kernels: kept by content, private, compiled by groups, and never in silence."""

from __future__ import annotations

import ast
import compileall
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from core.compiled import kernel, kernel_groups, outer, store
from core.compiled.jit import Kernel, compile_kernel
from tests.test_architecture import imports

ROOT = Path(__file__).resolve().parents[2]
DIGEST = "from core.compiled import store; print(store.code_digest())"
VERSION = "import core; print(core.__version__)"
FOLDER = "from core.compiled import store; print(store.folder())"
posix = pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


STARTED: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def none_left() -> Iterator[None]:
    """Yield a test that fails leaves no process, which would be held against another test."""
    yield
    while STARTED:
        with STARTED.pop() as process:  # which closes its pipes and waits
            process.kill()


def python(*arguments: str, root: Path = ROOT) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    STARTED.append(process)
    return process


def copied(folder: Path, sources: bool) -> Path:
    """Return the program as it is installed elsewhere, or bundled: with byte code alone."""
    for name in ("core", "marginscope"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copytree(ROOT / "resources", folder / "resources")
    if not sources:
        assert compileall.compile_dir(folder / "core", quiet=1, legacy=True)
        for source in (folder / "core").rglob("*.py"):
            source.unlink()
    return folder


# ---------------------------------------------------------------------------------- the cache


@pytest.mark.parametrize("sources", [True, False])
def test_the_same_code_elsewhere_has_the_same_name(tmp_path: Path, sources: bool) -> None:
    out, _ = python("-c", DIGEST, root=copied(tmp_path, sources)).communicate(timeout=60)
    assert out.strip() == store.code_digest()


def test_code_has_the_same_name_for_other_loaders(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of pytest, which has modules that are named on its command line, gives no code."""

    def found(name: str) -> ModuleSpec | None:
        spec = find_spec(name)
        given = ModuleSpec(name, None, origin=spec.origin)
        given.submodule_search_locations = spec.submodule_search_locations
        return given

    monkeypatch.setattr(store, "find_spec", found)
    assert store.code_digest.__wrapped__() == store.code_digest()


@pytest.mark.parametrize(
    ("module", "code", "other"),
    [
        ("core/compiled/zonotope.py", "TURNS = 60", "TURNS = 61"),
        ("core/losses.py", "SQUARES = range(5)", "SQUARES = range(1, 6)"),
        ("core/network/activation.py", "range(6)", "range(1, 7)"),
    ],
)
def test_other_code_has_another_name(tmp_path: Path, module: str, code: str, other: str) -> None:
    source = copied(tmp_path, sources=True) / module
    text = source.read_text()
    assert code in text
    source.write_text(text.replace(code, other))
    changed, _ = python("-c", DIGEST, root=tmp_path).communicate(timeout=60)
    assert changed.strip() != store.code_digest()
    source.write_text("# a line more, which is no code\n" + text)
    same, _ = python("-c", DIGEST, root=tmp_path).communicate(timeout=60)
    assert same.strip() == store.code_digest()


def test_a_new_version_with_the_same_kernels_finds_them(tmp_path: Path, cold: Path) -> None:
    root = copied(tmp_path / "new", sources=True)
    (root / "core" / "program" / "version.py").write_text('__version__ = "999.0"\n')
    told, _ = python("-c", VERSION, root=root).communicate(timeout=60)
    assert told.strip() == "999.0"
    found, _ = python("-c", FOLDER, root=root).communicate(timeout=60)
    assert found.strip() == str(store.folder())


def test_whatever_kernels_take_from_elsewhere_is_part_of_their_name() -> None:
    """The name of the cache says nothing of the version: all that is compiled must be in it."""
    files = (ROOT / "core" / "compiled").glob("*.py")
    counted = [path for path in files if path.stem not in store.WITHOUT_CODE]
    assert len(counted) > 20
    taken = {
        name
        for path in counted
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in imports(node)
        if name.split(".")[0] in ("core", "marginscope")
    }
    assert {name for name in taken if not name.startswith(store.PACKAGE)} == set(store.CODES)
    # What those import is no constant of theirs that the name would not show.
    for module in store.CODES:
        tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text("utf-8"))
        assert not [name for node in ast.walk(tree) for name in imports(node) if "core" in name]


def test_what_is_kept_is_whole_or_not_there(cold: Path) -> None:
    assert store.load("some.kernel") is None
    assert store.save("some.kernel", b"content")
    assert store.load("some.kernel") == b"content"
    path = store.folder() / "some.kernel"
    path.write_bytes(path.read_bytes()[:-1])
    assert store.load("some.kernel") is None
    assert [name for name in store.names() if name.endswith(".part")] == []


@posix
def test_what_others_may_write_is_never_read(cold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.save("some.kernel", b"content")
    place = store.folder()
    path = place / "some.kernel"
    assert place.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o620)
    assert store.load("some.kernel") is None
    path.chmod(0o600)
    path.rename(place / "real")
    path.symlink_to(place / "real")
    assert store.load("some.kernel") is None
    assert store.load("real") == b"content"
    place.chmod(0o702)
    assert store.load("real") is None
    assert not store.save("real", b"other")
    assert store.names() == frozenset()
    place.chmod(0o700)
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)  # as if another one had made it
    assert store.load("real") is None
    assert not store.save("real", b"other")


@posix
def test_a_planted_link_is_not_followed(cold: Path, tmp_path: Path) -> None:
    """In a shared cache another user may choose what lies under the folder's name."""
    assert store.save("some.kernel", b"content")
    place = store.folder()
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    assert store.load("some.kernel") is None
    assert not store.save("some.kernel", b"other")
    assert store.names() == frozenset()
    place.unlink()
    (tmp_path / "elsewhere").rename(place)
    assert store.load("some.kernel") == b"content"


@posix
def test_folders_above_the_cache_are_those_of_the_user_or_of_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    above, link = tmp_path / "above", tmp_path / "link"
    above.mkdir()
    link.symlink_to("above")
    for cache in (above / "cache", link / "cache"):  # the user's own links are followed
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache))
        assert store.save("some.kernel", b"content")
        for mode, is_read in ((0o777, False), (0o1777, True), (0o757, False), (0o755, True)):
            above.chmod(mode)
            assert store.load("some.kernel") == (b"content" if is_read else None)
            assert bool(store.names()) == is_read
            assert store.save("some.kernel", b"content") == is_read
    user, real = os.geteuid(), Path.lstat

    def lstat(path: Path) -> os.stat_result:
        status = real(path)
        owner = user + 1 if path == link else status.st_uid
        return os.stat_result((*status[:4], owner, *status[5:10]))

    monkeypatch.setattr(Path, "lstat", lstat)  # as if another user had made the link
    assert store.load("some.kernel") is None
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(above / "cache"))
    assert store.load("some.kernel") == b"content"
    link.unlink()
    link.symlink_to("link")
    assert not store.is_usable(link / "cache" / "folder")


@posix
def test_a_group_of_the_user_alone_may_write_above_the_cache(
    cold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.save("some.kernel", b"content")
    tmp_path.chmod(0o775)
    monkeypatch.setattr(store, "_is_own_group", lambda number: number == tmp_path.stat().st_gid)
    assert store.load("some.kernel") == b"content"
    monkeypatch.setattr(store, "_is_own_group", lambda number: False)
    assert store.load("some.kernel") is None


def test_without_a_place_kernels_are_compiled_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))

    @compile_kernel
    def doubled(x: np.ndarray) -> float:
        return 2.0 * x[0]

    assert doubled(np.array([3.0])) == 6.0


# ---------------------------------------------------------------------------------- compiling


def test_a_kernel_says_when_it_is_compiled_and_only_then(
    cold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(kernel_groups, "listeners", [])
    kernel_groups.add_listener(told.append)
    kernel_groups.add_listener(told.append)  # once is enough
    for _ in range(2):
        again = compile_kernel(kernel.is_large.py_func)
        assert again(100, 100, 100)
        assert not again(1, 100, 100)
    assert told == ["kernel.is_large"]


def test_a_kernel_within_another_is_the_same_function() -> None:
    """Called from Python it is optimised by itself, from a kernel together with that one."""
    a, H = np.ones(3), np.arange(6.0).reshape(2, 3) / 10.0
    y, F, G = np.array([1.0, -1.0]), np.zeros((1, 2)), np.zeros((1, 2))
    by_python = outer.outer_steps.py_func(a.copy(), H, y, 1, 0, 0.1, 1.0, 1e9, F, G)
    slopes = G.copy()
    assert outer.outer_steps(a, H, y, 1, 0, 0.1, 1.0, 1e9, F, G) == by_python == 1
    # p = y H a; the slopes of e^-p, times 0.1/2
    p = y * (H @ np.ones(3))
    np.testing.assert_allclose(slopes[0], -0.05 * y * np.exp(-p), rtol=1e-14)
    np.testing.assert_allclose(G, slopes, rtol=1e-14)


@pytest.mark.usefixtures("cold")
def test_the_smoothed_activation_is_done_by_wide_vectors() -> None:
    """Where the processor has them: a third less time, of which vectors half as wide take all."""
    again = compile_kernel(kernel.outputs_and_slopes.py_func)
    again(0.1, np.ones((2, 1)), np.ones((2, 3)), np.ones((1, 3)), np.ones((kernel.ROWS, 3)))
    assert isinstance(kernel.smooth_activation, Kernel)
    results = kernel.smooth_activation._part.overloads.values()
    assert results
    for result in results:
        assert '"prefer-vector-width"="512"' in str(result.library._final_module)


def test_groups_are_known_without_numba() -> None:
    code = (
        "import sys\nfrom core.compiled import kernel_groups\nkernel_groups.missing_groups()\n"
        "print([name for name in ('numba', 'numpy', 'torch') if name in sys.modules])"
    )
    out, err = python("-c", code).communicate(timeout=60)
    assert (out.strip(), err) == ("[]", "")


def test_a_group_whose_files_are_gone_is_missing(cold: Path) -> None:
    assert kernel_groups.missing_groups() == kernel_groups.GROUPS
    assert store.save("a.kernel", b"")
    assert kernel_groups.save_group(kernel_groups.MIRROR, ["a.kernel"])
    assert kernel_groups.ready_groups() == {kernel_groups.MIRROR}
    assert kernel_groups.missing_groups([kernel_groups.MIRROR, kernel_groups.FLOW]) == (
        kernel_groups.FLOW,
    )
    (store.folder() / "a.kernel").unlink()
    assert kernel_groups.ready_groups() == frozenset()


@pytest.mark.slow
def test_progress_is_told_and_the_code_is_found_from_another_folder(
    cold: Path, tmp_path: Path
) -> None:
    command = ("-m", "core", "warm", "--progress", "--only", kernel_groups.TWO_PHASE)
    first = python(*command)
    line = first.stdout.readline()
    first.wait(timeout=200)  # with its input open: closing that ends it
    _, err = first.communicate()
    assert first.returncode == 0, err
    told = json.loads(line)
    assert (told["done"], told["of"], told["group"]) == (1, 1, kernel_groups.TWO_PHASE)
    assert told["seconds"] > 0.0
    assert "compiling outer.outer_steps" in err
    for sources in (True, False):
        root = copied(tmp_path / str(sources), sources)
        again = python(*command, root=root)
        assert json.loads(again.stdout.readline())["seconds"] == 0.0
        assert "compiling" not in again.communicate(timeout=60)[1]
        code = (
            "import numpy as np\nfrom core.compiled import outer, kernel_groups\n"
            "kernel_groups.add_listener(lambda kernel: exit(kernel))\n"
            "a, H, F = np.ones(3), np.ones((2, 3)), np.zeros((1, 2))\n"
            "print(outer.outer_steps(a, H, np.ones(2), 1, 0, .1, 1.0, 1e9, F, F.copy()))"
        )
        out, err = python("-c", code, root=root).communicate(timeout=60)
        assert (out, err) == ("1\n", "")


@posix
@pytest.mark.slow
@pytest.mark.parametrize("end", ["terminate", "interrupt", "the other end is closed"])
def test_compiling_ends_at_once(cold: Path, end: str) -> None:
    process = python("-m", "core", "warm", "--progress", "--only", kernel_groups.DESCENT)
    assert process.stdin is not None
    while "compiling" not in process.stderr.readline():
        assert process.poll() is None
    if end == "terminate":
        process.terminate()
    elif end == "interrupt":
        process.send_signal(2)
    else:
        process.stdin.close()
        process.stdin = None
    process.wait(timeout=30)  # first, since to communicate closes its input
    out, err = process.communicate()
    assert process.returncode == (130 if end == "interrupt" else 143)
    assert out == ""
    assert err in ("", "marginscope: interrupted.\n")
    assert kernel_groups.missing_groups() == kernel_groups.GROUPS
    assert not [name for name in store.names() if not name.endswith(".part")]
