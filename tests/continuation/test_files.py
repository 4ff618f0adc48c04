"""States in run files: which are kept, files without them, and content that should not be there."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.cli.main import main
from core.compiled import log_time, log_time_state
from core.errors import InputError, MarginscopeError, RunFileError
from core.observables.registry import OBSERVABLES
from core.run_files.schema import STATE_INTERVAL
from core.runs import Recorder, open_run, open_with_history, states
from core.training.continuation import continue_problem
from core.training.trajectory import run
from tests.problems import problem
from tests.support.continued_runs import (
    assert_frames_agree,
    continued_at,
    recorded_at,
    with_marks,
)
from tests.support.run_files import read_all, tamper

FLOW = ("dynamics.until_log10_time=1", "recording.log10_times=[]", "recording.frames=40")
ADAM = (*FLOW, "dynamics.kind=adam", "dynamics.step=0.02", "dynamics.batch=8")
SGD = (*FLOW, "dynamics.kind=sgd", "dynamics.step=0.0625", "dynamics.batch=8")
PERTURBED = (*FLOW, "dynamics.kind=perturbed", "dynamics.step=0.0625", "dynamics.sigma=0.5")
WITHOUT_STATES = (
    "UPDATE meta SET value = '0' WHERE key = 'state'",
    "DELETE FROM array WHERE name >= 'state_' AND name < 'state`'",
)


def recorded(path: Path, *settings: str) -> Path:
    recorded_at(path, problem(*settings))
    return path


# ------------------------------------------------------------------------------ what is kept


def test_states_of_every_so_many_frames_and_of_the_last(tmp_path: Path) -> None:
    keeping, kept = states.StateRetention(), set[int]()
    for frame in range(120):
        if keeping.is_due(frame):
            kept.add(frame)
            assert keeping.add_state(frame) is None
    assert kept == {STATE_INTERVAL * k for k in range(1, 5)}
    assert keeping.add_state(119) is None
    keeping = states.StateRetention(from_state=True)
    assert keeping.is_due(0)
    keeping.add_state(0)
    for frame in (3, 7, 26):  # because of the time that has passed: only the last of them stays
        assert not keeping.is_due(frame) or frame == 26
        keeping.stored_at = -1e9
        assert keeping.is_due(frame)
        assert keeping.add_state(frame) == {3: None, 7: 3, 26: 7}[frame]
    assert keeping.frames == [0, 26]


def test_the_last_state_is_there_and_a_fresh_run_has_none_at_the_start(tmp_path: Path) -> None:
    with open_run(recorded(tmp_path / "a.msrun", *FLOW)) as found:
        assert found.saved_states()[-1] == found.frames - 1
        assert 0 not in found.saved_states()
        state = found.state(found.frames - 1)
        assert state is not None
        assert {"floats", "counts", "wave", "theta", "previous"} < set(state)
        assert found.state(1) is None
        assert found.history() is None


def test_a_crash_costs_no_digit(tmp_path: Path) -> None:
    """A run that was killed has the states that were committed, or begins at t = 0 again."""
    whole = recorded(tmp_path / "whole.msrun", *ADAM)
    at = problem(*ADAM)
    recorder = Recorder(
        tmp_path / "alive.msrun", at, engine="tests", planned=40, temperature_cap=None
    )
    with open_run(whole) as one:
        from tests.frames_in_chunks import trajectory

        recorder.append(list(trajectory(at))[: one.frames // 2])
    recorder.flush()
    crashed = tmp_path / "crashed.msrun"
    for suffix in ("", "-wal"):
        shutil.copy(f"{recorder.path}{suffix}", f"{crashed}{suffix}")
    recorder.abandon()
    continued_at(tmp_path / "on.msrun", crashed)
    with open_run(whole) as one, open_run(tmp_path / "on.msrun") as other:
        assert other.note == ""
        assert_frames_agree(other, one, 0.0)
        assert other.log10_time[-1] == one.log10_time[-1]


def test_from_the_command_line_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`continue` of what `continue` made, to the end of a run in one go."""
    marks = [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0]
    recorded_at(tmp_path / "whole.msrun", with_marks(problem(), marks))
    recorded_at(tmp_path / "a.msrun", with_marks(problem(), marks[:3]))
    path = tmp_path / "a.msrun"
    for end in (4, 6):
        values = {
            "dynamics.until_log10_time": marks[end - 1],
            "recording.log10_times": marks[:end],
            "recording.frames": end + 2,
        }
        settings = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
        assert main(["continue", str(path), "--quiet", *settings]) == 0
        said = capsys.readouterr()
        assert said.err == ""
        path = Path(said.out.strip())
    assert path.stem.count("__from=") == 2
    with open_run(path) as last, open_run(tmp_path / "whole.msrun") as whole:
        assert last.log10_time[-1] == 2.0
        assert_frames_agree(last, whole, 0.0)
    tables = {}
    for name, source in (("whole", tmp_path / "whole.msrun"), ("history", path)):
        table = tmp_path / f"{name}.csv"
        words = ["table", str(source), "--out", str(table), "--quiet", "--history"]
        assert main([*words, "--columns", "hard_margin,risk"]) == 0
        tables[name] = table.read_text().splitlines()
    # The frame at t = 0 is the origin itself, without the rounding of a scale.
    assert len(tables["history"]) == len(tables["whole"])
    assert tables["history"][2:] == tables["whole"][2:]


def test_only_unchanged_and_complete_histories_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = recorded(tmp_path / "a.msrun", *FLOW)
    same, other, end = tmp_path / "same.msrun", tmp_path / "other.msrun", 1.5
    continued_at(same, parent, f"dynamics.until_log10_time={end}")
    continued_at(other, parent, f"dynamics.until_log10_time={end}", "loss.kind=logistic")
    with open_with_history(parent) as one:
        assert one.frames_before == 0
    with open_with_history(other) as one:
        assert one.has_changed_rule
        assert one.frames_before == 0
    with open_with_history(same) as one, open_run(parent) as begun, open_run(same) as part:
        assert one.frames_before == begun.frames - 1
        assert one.frames == one.frames_before + part.frames
        assert np.all(np.diff(one.log10_time) > 0.0)
        assert np.array_equal(one.log10_time[: begun.frames], begun.log10_time)
    monkeypatch.setattr("core.runs.run_history.MOST_HISTORY", 100)
    with open_with_history(same) as one:
        assert one.frames_before == 0


# ---------------------------------------------------------------------- files without states


@pytest.mark.parametrize(
    ("settings", "words"),
    [(ADAM, "Adam's moments restart"), (FLOW, "the flow's steps restart")],
)
def test_files_of_before_are_continued_and_say_so(
    settings: tuple[str, ...], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tamper(recorded(tmp_path / "old.msrun", *settings), *WITHOUT_STATES)
    assert main(["continue", str(path), "--frame", "20", "--quiet"]) == 0
    said = capsys.readouterr()
    assert words in said.err
    assert "frame 20" in said.err
    with open_run(Path(said.out.strip())) as found:
        assert words in found.note
        assert found.log10_time[-1] >= 1.0 - 1e-9


@pytest.mark.parametrize("settings", [SGD, PERTURBED], ids=["sgd", "perturbed"])
def test_orders_of_before_are_found_by_counting(settings: tuple[str, ...], tmp_path: Path) -> None:
    path = tamper(recorded(tmp_path / "old.msrun", *settings), *WITHOUT_STATES)
    continued_at(tmp_path / "on.msrun", path, frame=15)
    with open_run(path) as whole, open_run(tmp_path / "on.msrun") as found:
        assert found.note == ""
        assert_frames_agree(found, whole, 0.0)


def test_a_young_flow_without_its_state(tmp_path: Path) -> None:
    """At t <= .01 the distance grows like t, and a step of the flow's own length is no small one.

    The uninterrupted run's frames there lie up to 8 % off that line, since they are interpolated
    in log t between steps that double t; those after the start of the other one do not.
    """
    marks = np.linspace(-4.0, -3.2, 9).round(6).tolist()
    recorded_at(tmp_path / "whole.msrun", with_marks(problem(), marks))
    path = tamper(tmp_path / "whole.msrun", *WITHOUT_STATES)
    continued_at(tmp_path / "on.msrun", path, frame=1)
    with open_run(tmp_path / "on.msrun") as found:
        speed = OBSERVABLES["distance"].trace(found) / 10.0**found.log10_time
    assert np.abs(speed / speed[0] - 1.0).max() < 0.01


def test_other_settings_begin_anew(tmp_path: Path) -> None:
    """Another dynamics takes nothing up, and its order of examples is one of its own."""
    path = recorded(tmp_path / "sgd.msrun", *SGD)
    with open_run(path) as found:
        same, _ = continue_problem(found, 20, ["dynamics.until_log10_time=1.5"])
        assert same.start.same_dynamics
        other, _ = continue_problem(
            found, 20, ["dynamics.until_log10_time=1.5", "dynamics.batch=4"]
        )
        assert not other.start.same_dynamics
        assert other.start.state is None
        assert other.start.continues is not None
        assert other.start.continues["changed"]
    run(other, partial(Recorder, tmp_path / "other.msrun"))
    with open_run(tmp_path / "other.msrun") as found:
        assert found.has_changed_rule
        onward, _ = continue_problem(found, 5, [])
        assert onward.start.same_dynamics
    whole = tmp_path / "other.msrun"
    run(onward, partial(Recorder, tmp_path / "onward.msrun"))
    with open_run(tmp_path / "onward.msrun") as found, open_run(whole) as one:
        assert found.has_changed_rule
        assert_frames_agree(found, one, 0.0)


# ------------------------------------------------------------------------- hostile content


def put(name: str, values: object, shape: object = None, dtype: str = "float64") -> object:
    """Return a statement that sets an array, with a checksum that matches."""
    data = np.asarray(values, dtype=np.float64).tobytes()
    count = len(data) // 8
    text = f"[{count}]" if shape is None else str(shape)
    sql = "INSERT OR REPLACE INTO array VALUES (?, ?, ?, ?, ?)"
    return sql, (name, dtype, text, zlib.crc32(data), data)


def changed(path: Path, part: str, change: Callable[[np.ndarray], np.ndarray]) -> None:
    with open_run(path) as found:
        frame = found.saved_states()[-1]
        state = found.state(frame)
    assert state is not None
    tamper(path, put(f"state_{frame}_{part}", change(np.array(state[part]))))


def at(place: int, value: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(values: np.ndarray) -> np.ndarray:
        values[place] = value
        return values

    return change


def times(factor: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: factor * values


FLOATS = list(log_time_state.Floats.__annotations__)
COUNTS = list(log_time_state.Counts.__annotations__)

CHANGES = (
    (FLOW, "floats", at(FLOATS.index("h"), np.nan)),
    (FLOW, "floats", at(FLOATS.index("h"), np.inf)),
    (FLOW, "floats", at(FLOATS.index("rho"), 1e308)),
    (FLOW, "floats", at(FLOATS.index("ln_t"), -50.0)),
    (FLOW, "floats", lambda values: values[:-1]),
    (FLOW, "counts", at(COUNTS.index("phase"), log_time.FINISH)),
    (FLOW, "counts", at(COUNTS.index("phase"), 77)),
    (FLOW, "counts", at(COUNTS.index("step"), 0.5)),
    (FLOW, "counts", at(COUNTS.index("step"), 1e300)),
    (FLOW, "theta", times(2.0)),
    (FLOW, "theta", at(0, np.inf)),
    (FLOW, "theta", lambda values: np.append(values, 1.0)),
    (FLOW, "previous", at(3, 1e200)),
    (FLOW, "wave", lambda values: values[:3]),
    (ADAM, "second", times(-1.0)),
    (ADAM, "first", at(0, np.inf)),
    (ADAM, "powers", at(0, 2.0)),
    (ADAM, "powers", at(0, np.nan)),
    (ADAM, "scale", at(0, 0.5)),
    (ADAM, "scale", at(0, 1e300)),
    (ADAM, "order", at(0, 1e9)),
    (ADAM, "order", at(0, 3.0)),
    (ADAM, "order", at(2, -1.0)),
    (ADAM, "order", at(2, 2.0**40)),
    (ADAM, "order", at(5, 0.5)),
    (ADAM, "order", at(-1, 64.0)),
    (ADAM, "clock", at(0, 5.0)),
    (SGD, "order", at(1, -8.0)),
    (PERTURBED, "draws", at(0, 5.0)),
    (PERTURBED, "draws", at(0, -1024.0)),
    (PERTURBED, "draws", at(-1, 1e15)),
    (PERTURBED, "draws", at(9, 7.0)),
)


@pytest.mark.parametrize(
    ("settings", "part", "change"), CHANGES, ids=[f"{k}-{c[1]}" for k, c in enumerate(CHANGES)]
)
def test_states_that_do_not_fit_are_refused(
    settings: tuple[str, ...], part: str, change: Callable[[np.ndarray], np.ndarray], tmp_path: Path
) -> None:
    """One sentence, when somebody goes on; the frames of the run stay readable."""
    path = recorded(tmp_path / "a.msrun", *settings)
    changed(path, part, change)
    assert read_all(path) > 30
    with pytest.raises(MarginscopeError) as caught:
        continued_at(tmp_path / "on.msrun", path, "dynamics.until_log10_time=1.2")
    text = str(caught.value)
    assert isinstance(caught.value, InputError | RunFileError)
    assert text.isprintable()
    assert text.endswith(".")
    assert "damaged" in text
    assert not (tmp_path / "on.msrun").exists()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (put("state_5_Theta", [1.0]), "unknown name"),
        (put("state_50000_theta", [1.0]), "unknown name"),
        (put("state_theta", [1.0]), "unknown name"),
        (put("history_secrets", [1.0]), "unknown name"),
        (put("history_theta`", [1.0]), "unknown name"),
    ],
)
def test_names_that_are_none(statement: object, words: str, tmp_path: Path) -> None:
    path = tamper(recorded(tmp_path / "a.msrun", *FLOW), statement)
    with pytest.raises(RunFileError, match=words):
        open_run(path)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (put("state_39_theta", np.zeros(8), "[2, 4]"), "not a list"),
        (put("state_39_theta", np.zeros(8), "[9]"), "as long as its shape"),
        (put("state_39_theta", np.zeros(8), dtype="int64"), "not of type"),
        (put("state_39_theta", np.zeros(200_000)), "longer than allowed"),
        ("UPDATE array SET crc32 = crc32 + 1 WHERE name = 'state_39_theta'", "checksum"),
        ("UPDATE array SET shape = '[1e99]' WHERE name = 'state_39_theta'", "shape"),
        ("DELETE FROM array WHERE name = 'state_39_theta'", "are needed"),
        (put("state_39_extra", [1.0]), "are needed"),
    ],
)
def test_rows_that_are_no_states(statement: object, words: str, tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.msrun", *FLOW)
    with open_run(path) as found:
        assert found.saved_states()[-1] == 39
    tamper(path, statement)
    assert read_all(path) == 40
    with pytest.raises(MarginscopeError, match=words):
        continued_at(tmp_path / "on.msrun", path)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (put("history_times", np.zeros(9)), "order of time"),
        (put("history_times", np.zeros(3)), "times differ in number"),
        (put("history_rho", np.full(9, np.nan)), "not finite"),
        (put("history_parameters", np.zeros(9)), "times differ in number"),
        (put("history_steps", -np.arange(9.0)), "order of steps"),
        ("DELETE FROM array WHERE name = 'history_rho'", "cannot be read"),
        ("UPDATE array SET crc32 = crc32 + 1 WHERE name = 'history_parameters'", "checksum"),
    ],
)
def test_earlier_frames_that_are_none(statement: object, words: str, tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.msrun", *FLOW)
    continued_at(tmp_path / "on.msrun", path, frame=10)
    with open_run(tmp_path / "on.msrun") as found:
        assert found.whole_run.frames == found.frames + 10
    tamper(tmp_path / "on.msrun", statement)
    read_all(tmp_path / "on.msrun")
    with open_run(tmp_path / "on.msrun") as found, pytest.raises(RunFileError, match=words):
        _ = found.whole_run


@pytest.mark.parametrize("seed", range(2))
def test_bits_of_states_and_earlier_frames(seed: int, tmp_path: Path) -> None:
    """A file changed at random is read as it was, or refused; nothing else comes out of it."""
    first = recorded(tmp_path / "a.msrun", *ADAM)
    path = tmp_path / "on.msrun"
    continued_at(path, first, "dynamics.until_log10_time=1.1", frame=30)
    with open_run(path) as found:
        frames = found.saved_states()
        before = {frame: found.state(frame) for frame in frames}
        steps = found.whole_run.steps.tolist()
    data, chance, refused_ones = path.read_bytes(), np.random.default_rng(seed), 0
    for _ in range(80):
        bits = bytearray(data)
        bits[int(chance.integers(len(data)))] ^= 1 << int(chance.integers(8))
        path.write_bytes(bits)
        try:
            with open_run(path) as found:
                assert (
                    found.whole_run.steps.tolist()[: found.whole_run.frames_before]
                    == steps[: found.whole_run.frames_before]
                )
                for frame in found.saved_states():
                    state = found.state(frame)
                    assert state is not None
                    known = before.get(frame) or {}  # a name has no checksum
                    for name in state.keys() & known.keys():
                        assert np.array_equal(state[name], known[name])
        except RunFileError as error:
            refused_ones += 1
            assert str(error).isprintable()
    assert 0 < refused_ones < 80
