"""A run file that is removed, moved or thrown away while it is recorded."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli.main import main
from core.errors import InputError, MarginscopeError
from core.library.library import Library
from core.run_files.active_recorders import LOCKS
from core.runs import Recorder, open_run
from core.training import trajectory
from core.training.control import Control
from tests.support.foreign_loop import LoopProcess
from tests.support.run_files import assert_frames, frames_of, recorder_at, small_problem

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux names the places of open files"
)
PROBLEM = small_problem()
FRAMES = frames_of(PROBLEM, 8)
REMOVED = r"run file .*a\.msrun was removed while it was being recorded.*; record the run again\."


def begun(folder: Path) -> tuple[Recorder, Path]:
    path = folder / "runs" / "a.msrun"
    recorder = recorder_at(path, PROBLEM)
    recorder.append(FRAMES[:5])
    recorder.flush()
    return recorder, path


def remove_file(path: Path) -> None:
    path.unlink()


def remove_all(path: Path) -> None:
    for one in path.parent.iterdir():
        one.unlink()


def remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


@pytest.mark.parametrize("take", [remove_file, remove_all, remove_folder])
def test_a_removed_file_ends_the_recording(tmp_path: Path, take: Callable[[Path], None]) -> None:
    recorder, path = begun(tmp_path)
    take(path)
    with pytest.raises(MarginscopeError, match=REMOVED):
        recorder.append(FRAMES[5:])
        recorder.flush()
    recorder.finish("failed")  # closed, and harmless
    assert not path.parent.exists() or list(path.parent.iterdir()) == []


def test_a_file_that_is_removed_last_is_missed_at_the_end(tmp_path: Path) -> None:
    recorder, path = begun(tmp_path)
    path.unlink()
    with pytest.raises(MarginscopeError, match=REMOVED):
        recorder.finish("completed")


def test_a_removed_file_whose_name_another_run_has_leaves_that(tmp_path: Path) -> None:
    recorder, path = begun(tmp_path)
    remove_all(path)
    path.write_bytes(b"another")
    with pytest.raises(MarginscopeError, match=REMOVED):
        recorder.finish("completed")
    assert path.read_bytes() == b"another"


@pytest.mark.parametrize("names", [("a.msrun",), ("a.msrun", "a.msrun-wal", "a.msrun-shm")])
def test_a_moved_file_is_recorded_to_its_end(tmp_path: Path, names: tuple[str, ...]) -> None:
    recorder, path = begun(tmp_path)
    place = tmp_path / "trash" / "b.msrun"
    place.parent.mkdir()
    for name in names:
        path.with_name(name).rename(place.with_name(name.replace("a.", "b.")))
    recorder.append(FRAMES[5:])
    recorder.finish("completed")
    assert recorder.path == place
    with open_run(place) as run:
        assert (run.status, run.reason) == ("finished", "completed")
        assert_frames(run, FRAMES)


def test_a_reader_in_this_process_keeps_its_locks(tmp_path: Path) -> None:
    """POSIX drops all locks of a file in a process that closes any descriptor of that file."""
    recorder, path = begun(tmp_path)
    with sqlite3.connect(path) as reader:
        reader.execute("SELECT count(*) FROM frame").fetchone()
        recorder.append(FRAMES[5:])
        recorder.flush()
        recorder.abandon()
        locked = f":{path.stat().st_ino} 1073741826"
        assert locked in LOCKS.read_text()
    reader.close()


def test_the_command_line_names_a_removed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study, out = tmp_path / "a.toml", tmp_path / "out"
    study.write_text('[network]\nm = 4\n[dynamics]\nkind = "gd"\nuntil_log10_time = 2.0\n')
    taken, take = [], trajectory._record_chunk

    def take_away(*arguments: object) -> object:
        if not taken:
            taken.extend(out.glob("*.msrun"))
            taken[0].unlink()
        return take(*arguments)

    monkeypatch.setattr(trajectory, "_record_chunk", take_away)
    assert main(["run", str(study), "--out", str(out)]) == 1
    out_text, err = capsys.readouterr()
    assert out_text == "" and "was removed while it was being recorded" in err
    assert "Traceback" not in err and list(out.glob("*.msrun*")) == []


# --------------------------------------------------------------------------------- the library


@pytest.fixture
def old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the library's files count as cut off at once, as slow loops' do after a minute."""
    monkeypatch.setattr("core.library.library.GROWING_S", -1.0)


def test_the_library_leaves_a_recording_that_rests(tmp_path: Path, old: None) -> None:
    recorder, path = begun(tmp_path)
    library = Library(path.parent, tmp_path / "index.db")
    (entry,) = library.refresh().entries
    with pytest.raises(InputError, match=r"a\.msrun is being recorded; stop the training first"):
        library.move_to_trash(entry)
    recorder.append(FRAMES[5:])
    recorder.finish("completed")
    thrown = library.move_to_trash(entry)
    library.close()
    with open_run(thrown) as run:
        assert_frames(run, FRAMES)


def test_the_library_leaves_the_recording_of_another_program(tmp_path: Path, old: None) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    with LoopProcess(folder / "a.msrun") as other:
        library = Library(folder, tmp_path / "index.db")
        (entry,) = library.refresh().entries
        with pytest.raises(InputError, match="is being recorded"):
            library.move_to_trash(entry)
        other.kill()  # what a crash has left may go
        assert library.move_to_trash(entry).parent != folder
        library.close()


def test_a_whole_training_ends_with_the_sentence(tmp_path: Path) -> None:
    control, path = Control(), tmp_path / "a.msrun"

    def sink(*arguments: object, **settings: object) -> Recorder:
        made = Recorder(path, *arguments, **settings)
        path.unlink()
        return made

    with pytest.raises(MarginscopeError, match=REMOVED):
        trajectory.run(PROBLEM, sink, control)
    assert control.status.state.value == "finished"
