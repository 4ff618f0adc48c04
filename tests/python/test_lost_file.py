"""A run file that is removed or cut short while a loop is recorded: it goes on in one beside."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.runs import open_run
from tests.support.loops import loop

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux names the places of open files"
)
ONE = loop()


class Watched:
    """A recording whose warnings are kept, each with how many frames had been taken by then."""

    def __init__(self, path: Path, **settings: Any) -> None:
        own = {"loss": "logistic", "V0": ONE.V, "a0": ONE.a} | settings
        self.recording = ms.record(path, ONE.x, ONE.y, **own)
        self.said: list[tuple[int, str]] = []

    def frames(self, *times: int) -> None:
        for t in times:
            self._watch(lambda t=t: self.recording.frame(t, V=t * ONE.V, a=ONE.a, eta=1.0 / t))

    def settle(self) -> None:
        while self.recording._started.saver.committed < self.recording.frames - 1:
            time.sleep(0.001)

    def close(self) -> None:
        self._watch(self.recording.close)

    def _watch(self, act: Callable[[], None]) -> None:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            act()
        self.said += [(self.recording.frames, str(one.message)) for one in told]


def check(path: Path, steps: list[int]) -> None:
    """Check a finished run: its steps, and the weights and numbers that were recorded."""
    with open_run(path) as run:
        assert run.steps.tolist() == steps
        assert (run.status, run.reason) == ("finished", "completed")
        for index, t in enumerate(steps):
            V = run.network.unpack(run.parameters(index))["V"]
            assert np.array_equal(V, (t or 1) * ONE.V)
            expected = {} if t == 0 else {"eta": 1.0 / t}
            assert run.diagnostics(index) == expected
    assert not list(path.parent.glob(f"{path.name}-*"))


def cut(path: Path) -> None:
    os.truncate(path, 0)


def cut_wal(path: Path) -> None:
    os.truncate(f"{path}-wal", 0)


def remove(path: Path) -> None:
    path.unlink()


def remove_wal(path: Path) -> None:
    Path(f"{path}-wal").unlink()


def remove_all(path: Path) -> None:
    for one in path.parent.glob("a.msrun*"):
        one.unlink()


def remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def copy_over(path: Path) -> None:
    """Put another run in its place without a new file, as `cp` does."""
    with ms.record(path.with_name("other.msrun"), ONE.x, ONE.y, loss=None, V0=ONE.V, a0=ONE.a):
        pass
    content = path.with_name("other.msrun").read_bytes()
    os.truncate(path, 0)
    path.write_bytes(content)


LOSSES = {
    remove: "a.msrun was removed",
    remove_all: "a.msrun was removed",
    remove_folder: "a.msrun was removed",
    remove_wal: "a.msrun-wal was removed",
    cut: "a.msrun was cut short",
    cut_wal: "a.msrun-wal was cut short",
}


def test_no_frame_is_lost_that_sqlite_can_read(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """One warning, at the next frame; in a strict recording, too, which goes on as others do."""
    for number, (take, sentence) in enumerate(LOSSES.items()):
        for strict in (False, True):
            with subtests.test(take.__name__, strict=strict):
                path = tmp_path / f"{number}{strict}" / "a.msrun"
                watched = Watched(path, strict=strict)
                watched.frames(*range(1, 11))
                watched.settle()
                take(path)
                watched.frames(11, 12)
                ((frames, said),) = watched.said
                assert frames == 12 and f"{sentence} while it was being recorded" in said
                assert "no frame is lost: all 11 and the new ones are in" in said
                assert watched.recording.path == path.with_name("a-2.msrun")
                watched.frames(13)
                watched.close()
                assert len(watched.said) == 1
                check(path.with_name("a-2.msrun"), list(range(14)))


def test_a_file_that_is_lost_last_is_missed_at_the_end(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "a.msrun")
    watched.frames(1, 2)
    watched.settle()
    remove(tmp_path / "a.msrun")
    watched.close()
    assert "all 3 and the new ones are in" in watched.said[0][1]
    check(tmp_path / "a-2.msrun", [0, 1, 2])


def test_what_another_program_put_there_is_left(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Copied over the file, or recorded under its name after it was removed."""
    with subtests.test("copied"):
        path = tmp_path / "a" / "a.msrun"
        watched = Watched(path)
        watched.frames(*range(1, 11))
        watched.settle()
        watched.recording._started.saver._writer._file._size = (
            1 << 20
        )  # a larger one than the other
        copy_over(path)
        watched.frames(11)
        watched.close()
        assert "a.msrun was cut short" in watched.said[0][1]
        assert path.read_bytes() == path.with_name("other.msrun").read_bytes()
        assert not Path(f"{path}-wal").exists()
        check(path.with_name("a-2.msrun"), list(range(12)))
    with subtests.test("recorded"):
        path = tmp_path / "b" / "a.msrun"
        first = Watched(path)
        first.frames(1)
        first.settle()
        remove_all(path)
        second = Watched(path)
        second.frames(1, 2, 3)
        second.settle()
        first.frames(2)
        first.close()
        second.frames(4)
        second.close()
        assert second.said == [] and len(first.said) == 1
        check(path, [0, 1, 2, 3, 4])
        check(path.with_name("a-2.msrun"), [0, 1, 2])


def test_lost_frames_are_named(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """SQLite had moved them into the file, of which the end or all was cut off."""
    for share, sentence, least in (
        (
            0.6,
            r"frames \d+ to \d+.* of its 401 frames are lost; the other \d+ and the new ones",
            100,
        ),
        (0.0, "its 401 frames are lost, and the recording continues in", 0),
    ):
        with subtests.test(share=share):
            path = tmp_path / f"{share}" / "a.msrun"
            watched = Watched(path)
            watched.frames(*range(1, 401))
            watched.settle()
            move_into_the_file(path)
            os.truncate(path, int(share * path.stat().st_size) // 8192 * 8192)
            watched.frames(401)
            watched.close()
            ((_, said),) = watched.said
            assert re.search(sentence, said)
            with open_run(watched.recording.path) as run:
                steps = run.steps.tolist()
                assert len(steps) > least and run.complete is (share > 0.0)
                for index in (0, len(steps) - 1):
                    V = run.network.unpack(run.parameters(index))["V"]
                    assert np.array_equal(V, (steps[index] or 1) * ONE.V)
            assert (steps[-1] == 401 and f"the other {len(steps) - 1} and" in said) or not share


def move_into_the_file(path: Path) -> None:
    """Move all frames from the `-wal` into the file, as SQLite does every so often."""
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def test_a_wal_that_another_program_emptied_rightly_is_no_loss(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "a.msrun")
    watched.frames(*range(1, 11))
    watched.settle()
    move_into_the_file(tmp_path / "a.msrun")
    watched.frames(11)
    watched.close()
    assert watched.said == []
    check(tmp_path / "a.msrun", list(range(12)))


def test_the_next_free_name_is_taken(tmp_path: Path) -> None:
    """Lost twice, beside a file of that name; in a recording that goes on, or replaces one."""
    (tmp_path / "a-2.msrun").write_text("mine")
    first = Watched(tmp_path / "a.msrun", title="a title")
    first.frames(1)
    first.close()
    watched = Watched(tmp_path / "a.msrun", resume=True)
    watched.frames(2)
    watched.settle()
    remove(tmp_path / "a.msrun")
    watched.frames(3)
    remove(tmp_path / "a-3.msrun")
    watched.frames(4)
    watched.close()
    assert [frames for frames, _ in watched.said] == [4, 5]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a-2.msrun", "a-4.msrun"]
    check(tmp_path / "a-4.msrun", [0, 1, 2, 3, 4])
    with open_run(tmp_path / "a-4.msrun") as run:
        assert run.title == "a title"
    again = Watched(tmp_path / "a-4.msrun", overwrite=True)
    old = (tmp_path / "a-4.msrun").read_bytes()
    again.frames(1)
    again.settle()
    remove(tmp_path / "a-4.new.msrun")
    again.frames(2)
    again.close()
    assert (tmp_path / "a-4.msrun").read_bytes() == old
    check(tmp_path / "a-4-2.msrun", [0, 1, 2])


def test_where_no_file_can_be_made_beside_nothing_is_called_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "runs"
    watched = Watched(folder / "a.msrun")
    watched.frames(1)
    watched.settle()
    shutil.rmtree(folder)
    folder.write_text("no folder")
    watched.frames(2, 3, 4)
    watched.close()
    ((_, said),) = watched.said
    assert "was removed while it was being recorded" in said and "cannot be written" in said
    assert said.endswith("; the loop continues.") and "safe" not in said


def test_a_moved_file_is_recorded_to_its_end(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "a.msrun")
    watched.frames(1)
    watched.settle()
    (tmp_path / "a.msrun").rename(tmp_path / "b.msrun")
    watched.frames(2, 3)
    watched.close()
    assert watched.said == []
    assert watched.recording.path == tmp_path / "b.msrun"
    check(tmp_path / "b.msrun", [0, 1, 2, 3])
