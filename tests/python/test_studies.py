"""Studies from Python: what they hold, what is changed, and what a sweep of them comes to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.studies.study import load_study, parse_study, shipped_ids
from core.sweep import cell
from core.terminal.bar import Bar
from marginscope._engine import sweeping
from tests.python.small import FIGURE_1, WIDTHS, as_json, command, written
from tests.python.test_train import frames_of

ROOT = Path(__file__).resolve().parents[2]


def test_every_shipped_study_is_listed_and_opens() -> None:
    assert tuple(ms.studies()) == shipped_ids()
    assert all(ms.studies().values())
    one = ms.study("wei19-figure-2")
    assert one.title == ms.studies()["wei19-figure-2"]
    assert "Wei" in one.source and one.sizes == ("quick", "paper")


def test_cells_are_those_of_the_program() -> None:
    one = ms.study(FIGURE_1, **{"network.m": [3, 5], "run.seed": (0, 1)})
    own = load_study(FIGURE_1).with_settings(["network.m=[3, 5]", "run.seed=[0, 1]"])
    assert len(one) == 4 and one.axes == {"network.m": (3, 5), "run.seed": (0, 1)}
    for mine, theirs in zip(one.cells, own.cells(), strict=True):
        assert (mine.name, dict(mine.place)) == (theirs.name, dict(theirs.values))
        assert mine.settings == theirs.experiment.model_dump(mode="json")


def test_settings_are_plain_whatever_they_are_made_of() -> None:
    made = ms.study(FIGURE_1, **{"network.m": np.array([3, 5]), "data.n": np.int64(7)})
    told = made.with_settings({"run.seed": range(2)}, **{"dynamics.until_log10_time": 2})
    assert told.axes == {"network.m": (3, 5), "run.seed": (0, 1)}
    assert told.settings["data"]["n"] == 7
    assert parse_study(told.to_toml(), FIGURE_1) == parse_study(told.to_toml(), FIGURE_1)
    assert parse_study(told.to_toml(), FIGURE_1).axes == told.axes
    assert made.axes == {"network.m": (3, 5)}  # the one that was changed is as it was


def test_sizes(tmp_path: Path) -> None:
    quick = ms.study("wei19-figure-2").at_size("quick")
    assert quick.settings == {
        section: dict(table)
        for section, table in load_study("wei19-figure-2").at_size("quick").tables.items()
    }
    with pytest.raises(ms.InputError, match="has no size 'quick'; it has only the one"):
        ms.study(FIGURE_1).at_size("quick")


def test_a_description_names_what_matters() -> None:
    text = ms.study(FIGURE_1).describe()
    for part in ("Telgarsky 2022, Figure 1", "2 runs", "network.m: 16, 256", "'parity'", "claims:"):
        assert part in text
    assert max(map(len, text.splitlines()[2:6])) <= 96


# -------------------------------------------------------------------------------------- sweeps


def test_a_sweep_is_that_of_the_command_line(tmp_path: Path, capsys: Any) -> None:
    done = ms.sweep(FIGURE_1, out=tmp_path / "python", workers=1, **WIDTHS)
    assert [cell.name for cell in done.cells] == ["network.m=4", "network.m=8"]
    assert [(one.state, one.reason) for one in done.cells] == [("done", "completed")] * 2
    runs = ms.train(FIGURE_1, out=tmp_path / "one by one", **WIDTHS)
    assert isinstance(runs, list)
    for one, two, each in zip(done.runs, runs, done.cells, strict=True):
        assert frames_of(one.path) == frames_of(two.path)
        assert one.path == each.path and dict(each.place) == {
            "network.m": one.settings["network"]["m"]
        }
        for name, value in each.values.items():
            assert two[name][-1] == value, name
    table = done.table()
    assert [row["cell"] for row in table] == [one.name for one in done.cells]
    assert [row["risk"] for row in table] == [run["risk"][-1] for run in runs]


def test_what_is_finished_is_kept(tmp_path: Path) -> None:
    first = ms.sweep(FIGURE_1, out=tmp_path, workers=1, **{**WIDTHS, "network.m": [4]})
    (kept,) = (one.path for one in first.cells)
    before = kept.stat().st_mtime_ns
    both = ms.sweep(FIGURE_1, out=tmp_path, workers=1, **WIDTHS)
    assert len(both.runs) == 2 and kept.stat().st_mtime_ns == before
    ms.sweep(FIGURE_1, out=tmp_path, workers=1, overwrite=True, **WIDTHS)
    assert kept.stat().st_mtime_ns > before
    with pytest.raises(ms.InputError, match="contains another experiment; choose another folder"):
        ms.sweep(FIGURE_1, out=tmp_path, **{**WIDTHS, "data.n": 12})


def test_runs_are_opened_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    done = ms.sweep(FIGURE_1, workers=1, **WIDTHS)
    opened: list[Path] = []

    def noted(path: Path) -> ms.Run:
        opened.append(path)
        return ms.open(path)

    monkeypatch.setattr(sweeping, "open_run", noted)
    last = done.runs[-1]
    assert opened == [last.path]
    assert [run.path for run in done.runs[:1]] == [done.cells[0].path]
    folder = done.folder
    del done
    assert folder.is_dir()  # the run has it
    del last
    assert not folder.exists()


def test_a_cell_that_fails_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    record = cell._record

    def failing(task: Any, control: Any) -> Any:
        if task.name == "network.m=4":
            raise RuntimeError("broken on purpose")
        return record(task, control)

    monkeypatch.setattr(cell, "_record", failing)
    with pytest.warns(
        ms.TrainingWarning, match="1 of 2 cells failed; network.m=4: .* on purp"
    ) as w:
        done = ms.sweep(FIGURE_1, workers=1, **WIDTHS)
    assert [Path(one.filename) for one in w] == [Path(__file__)]
    assert [one.state for one in done.cells] == ["failed", "done"]
    assert [run.V.shape[1] for run in done.runs] == [8]
    assert repr(done).endswith("1 failed, 1 done>")


@contextmanager
def pressed(*_: object) -> Iterator[Bar]:
    """Yield a bar at whose move after the first cell somebody presses Ctrl-C."""

    class Pressed:
        def set_done(self, done: int, text: str = "") -> None:
            if done == 1:
                signal.raise_signal(signal.SIGINT)

    yield Pressed()


def test_ctrl_c_leaves_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "progress", pressed)
    with pytest.raises(KeyboardInterrupt):
        ms.sweep(FIGURE_1, out=tmp_path, workers=1, **WIDTHS)
    assert len(list(tmp_path.glob("*.msrun"))) == 1
    monkeypatch.undo()
    assert len(ms.sweep(FIGURE_1, out=tmp_path, workers=1, **WIDTHS).runs) == 2


@pytest.mark.slow
def test_scripts_need_no_guard(tmp_path: Path) -> None:
    """Two workers, from a script that calls `sweep` where it stands."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import sys
            import marginscope as ms
            print("once")
            done = ms.sweep({FIGURE_1!r}, workers=2, **{WIDTHS!r})
            print([run.V.shape[1] for run in done.runs], sys.argv[1:])
            """
        )
    )
    command = [sys.executable, str(script), "--x"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=240
    )
    assert (done.stdout, done.stderr) == ("once\n[4, 8] ['--x']\n", "")


def environment() -> dict[str, str]:
    """Return an environment in which this program's modules come first."""

    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"workers": 0}, "workers = 0; give 1 or more"),
        ({"dask": 3}, "dask = 3 is not an address"),
        ({"dask": "ftp://here"}, r"write tcp://HOST:PORT"),
        ({"network.mm": 3}, "network.mm does not exist"),
        ({"data.kind": "file"}, "data.path is missing"),
    ],
)
def test_what_is_wrong_with_a_sweep_is_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ms.InputError, match=sentence) as caught:
        ms.sweep(FIGURE_1, **given)
    assert "--" not in str(caught.value)


def test_the_address_of_a_cluster_is_found() -> None:
    class Scheduler:
        address = "tcp://here:8786"

    class Cluster:
        scheduler = Scheduler()
        scheduler_address = "tcp://there:1"

    assert sweeping._address(Cluster()) == "tcp://here:8786"
    assert sweeping._address("tcp://x:1") == "tcp://x:1"


# -------------------------------------------------------------------------------------- claims

CLAIMS = """
[[claims]]
text = "The risk falls."
measure = "risk - risk_0"
compare = "<="
value = 0.0

[[claims]]
text = "It falls below nothing."
measure = "risk"
compare = "<="
value = -1.0
basis = "nowhere"
"""


def test_claims_are_judged_as_by_the_command_line(tmp_path: Path, capsys: Any) -> None:
    file = written(tmp_path / "mine.toml", CLAIMS)
    found = ms.check(file, tmp_path / "runs", workers=1)
    assert [one.verdict for one in found] == ["confirmed", "refuted"]
    theirs = as_json(capsys, "check", file, "--jobs", 1)
    for mine, told in zip(found, theirs, strict=True):
        own = mine.as_dict()
        for name in ("text", "verdict", "measured", "low", "high", "compare", "value", "tolerance"):
            assert own[name] == told[name], name
        assert (mine.runs, mine.basis, mine.why) == (told["runs"], told["basis"], told["why"])
    swept = ms.sweep(file, out=tmp_path / "runs", workers=1)
    assert ms.check(swept) == found
    assert ms.check(tmp_path / "runs") == found
    assert str(found[0]).startswith("confirmed: The risk falls. Measured")
    with pytest.raises(ms.InputError, match="give no others"):
        ms.check(tmp_path / "runs", **{"network.m": 3})


def test_a_folder_without_a_sweep_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ms.InputError, match="run a study into it first") as caught:
        ms.check(tmp_path)
    assert "--" not in str(caught.value)


def test_runs_of_train_are_judged_too(tmp_path: Path) -> None:
    file = written(tmp_path / "mine.toml", CLAIMS)
    ms.train(file, out=tmp_path / "runs")
    assert [one.verdict for one in ms.check(tmp_path / "runs")] == ["confirmed", "refuted"]
    assert command("check", tmp_path / "runs") == 1
