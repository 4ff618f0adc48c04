"""How a window's process is set up; each in a process of its own, since it cannot be taken back."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping

import pytest

from app.process import ARENA_MAX, ENVIRONMENT_NAMES, MMAP_THRESHOLD, SWITCH_S, WANTED
from tests.test_architecture import HEAVY_MODULES

# Twelve threads that hold memory at the same time; then a block of 5 MB once one of 8 MB was freed,
# which by itself moves glibc's threshold up to 8 MB.
PROGRAM = """
import ctypes, json, sys, threading
from app.process import prepare
prepare()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
libc.fopen.restype = ctypes.c_void_p
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.fclose.argtypes = [ctypes.c_void_p]
gate = threading.Barrier(13)
def hold():
    block = libc.malloc(1000)
    gate.wait()
    gate.wait()
    libc.free(block)
threads = [threading.Thread(target=hold) for _ in range(12)]
[one.start() for one in threads]
gate.wait()
stream = libc.fopen(sys.argv[1].encode(), b"w")
libc.malloc_info(0, stream)
libc.fclose(stream)
gate.wait()
[one.join() for one in threads]
libc.free(libc.malloc(8 << 20))
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "abcdefghij"]
libc.mallinfo2.restype = Info
before = libc.mallinfo2().e  # bytes of blocks that have pages of their own
block = libc.malloc(5 << 20)
own = libc.mallinfo2().e - before
print(json.dumps([open(sys.argv[1]).read().count("<heap nr="), own, sys.getswitchinterval()]))
"""

# What begins a window, with the window itself left out; what it finds is then imported. Figures are
# drawn by another process, and the pictures of studies are loaded with their page.
HEAVY = (*HEAVY_MODULES, "core.studies.thumbnails")
STARTED = f"""
import builtins, linecache, sys, types
def window(names):
    import app.shell.application, app.state.display, app.views.run_panel
    heavy = [name for name in {HEAVY!r} if name in sys.modules]
    import core.figures.draw
    print(builtins.__import__.__name__, len(linecache.cache), *heavy)
sys.modules["app.start"] = types.SimpleNamespace(main=window)
sys.argv = ["marginscope"]
from app.__main__ import main
main()
"""
FEW_FILES = 20  # whose lines are read by those who ask for them, such as libraries that warn


def set_up(path: object, asked: Mapping[str, str]) -> tuple[int, int, float]:
    """Return heaps, bytes of a large block in pages of its own, and the threads' interval."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    out = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)],
        env={**kept, **asked},
        check=True,
        capture_output=True,
        text=True,
    )
    heaps, own, interval = json.loads(out.stdout)
    return heaps, own, interval


glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="an option of glibc")


@glibc
def test_threads_share_few_heaps_and_large_blocks_are_given_back(tmp_path: object) -> None:
    heaps, own, interval = set_up(f"{tmp_path}/info", {})
    assert heaps <= 2
    assert own >= 5 << 20
    assert interval == pytest.approx(SWITCH_S)


@glibc
def test_what_users_set_themselves_stands(tmp_path: object) -> None:
    asked = {ENVIRONMENT_NAMES[MMAP_THRESHOLD]: str(32 << 20), ENVIRONMENT_NAMES[ARENA_MAX]: "12"}
    heaps, own, _ = set_up(f"{tmp_path}/info", asked)
    assert heaps > 2
    assert own == 0


def test_the_window_loads_no_heavy_package_and_keeps_no_sources() -> None:
    """By itself PySide reads, and linecache keeps, the lines of 900 files here."""
    name, files, *heavy = subprocess.run(
        [sys.executable, "-c", STARTED], check=True, capture_output=True, text=True
    ).stdout.split()
    assert name != "__feature_import__"
    assert int(files) < FEW_FILES
    assert heavy == []


def test_each_option_has_its_variable() -> None:
    assert ENVIRONMENT_NAMES.keys() == WANTED.keys()
