"""What a sweep's rows tell its figure and its verdicts, against the run files themselves."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.cli.main import main
from core.errors import InputError
from core.figures.export import figure_bytes
from core.figures.study_figure import figure_of_runs
from core.runs import Run, open_run
from core.studies import cells as study_cells
from core.studies import trials
from core.studies.cells import open_cell, runs_of
from core.studies.moments import MOST_REQUESTED, Moment, ValueRequest, requested_of
from core.studies.study import Study, load_study, shipped_ids
from core.studies.trials import trials_of
from core.studies.verdicts import judge
from core.sweep.folder import one_per_path, results_in
from core.sweep.plan import WITHOUT_SUMS, ledger_rows, read_ledger
from tests.figures.test_study_figure import TEXT as SMALL_STUDY
from tests.support.made_up_figures import two_runs

SMALL = SMALL_STUDY.partition("[[claims]]")[0].replace("frames = 5", "frames = 9")
TEXT = f"""{SMALL}
[[claims]]
text = "The risk falls."
measure = "risk / risk_0"
at = 0.5
over = "max"
compare = "<="
value = 1.0
[[claims]]
text = "Nothing is known so late."
measure = "risk"
at = 7.0
compare = "<="
value = 1.0
[[claims]]
text = "The stable rank of wide networks is larger."
measure = "spearman"
options = {{ y = "sqrt(m) * stable_rank", x = "network.m" }}
compare = ">="
value = -1.0
[figure]
columns = 1
[[figure.panels]]
kind = "sweep"
x = "network.m"
y = "Y"
MOMENTS
"""
FORMULAS = ("risk / risk_0", "risk", "2 * risk + train_error / n", "smoothed_margin - m")
MOMENTS = ("", "steps = [1, 5, 20]", "log10_times = [-0.3, 0.0, 0.9]")
# Each formula and each kind of moment, though not each formula at each kind.
REQUESTS = (
    (FORMULAS[0], MOMENTS[0]),
    (FORMULAS[0], MOMENTS[1]),
    (FORMULAS[1], MOMENTS[2]),
    (FORMULAS[2], MOMENTS[1]),
    (FORMULAS[2], MOMENTS[2]),
    (FORMULAS[3], MOMENTS[0]),
)


def text_of(y: str, moments: str) -> str:
    return TEXT.replace('"Y"', f'"{y}"').replace("MOMENTS", moments)


def asking(y: str, moments: str) -> str:
    """Return a study whose figure shows that formula at those moments, under its name here."""
    return f"small{FORMULAS.index(y)}{MOMENTS.index(moments)}"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swept")
    for y, moments in REQUESTS:
        file = folder / f"{asking(y, moments)}.toml"
        file.write_text(text_of(y, moments))
        out = str(folder / file.stem)
        assert main(["run", str(file), "--out", out, "--quiet", "--jobs", "1"]) == 0
    return folder


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """Yield the run files that figures and trials open meanwhile."""
    opened: list[Path] = []

    def opening(path: Path) -> Run:
        opened.append(Path(path))
        return open_run(path)

    with monkeypatch.context() as patched:
        for module in (study_cells, trials):
            patched.setattr(module, "open_run", opening)
        yield opened


def drawn(study: Study, folder: Path, **known: Any) -> bytes:
    with ExitStack() as stack:
        scene = figure_of_runs(study, runs_of(study.id, folder), stack.enter_context, **known)
        return figure_bytes(scene, ".svg")


@pytest.mark.parametrize(("y", "moments"), REQUESTS)
def test_rows_draw_the_figure_that_files_draw(
    swept: Path, monkeypatch: pytest.MonkeyPatch, y: str, moments: str
) -> None:
    """The same figure and the same verdicts, and no run file is opened."""
    folder = swept / asking(y, moments)
    study = read_ledger(folder / f"{folder.name}.sweep.json").study
    paths, rows = ledger_rows(study, folder)
    with counted(monkeypatch) as opened:
        wanted = drawn(study, folder)
        assert len(opened) == 4
        opened.clear()
        ledger = read_ledger(folder / f"{folder.name}.sweep.json")
        lines, known = results_in(folder, ledger)
        assert drawn(study, folder, known_values=known) == wanted
        assert opened == []
    bare = {name: type(row)(row.name, row.state, row.reason) for name, row in rows.items()}
    with counted(monkeypatch) as opened:
        judged = judge(study, trials_of(study, bare, paths), None)
    assert len(opened) == 4
    assert [one.line for one in judged] == lines
    assert math.isnan(judged[1].measured)  # no frame is near that moment


def test_rows_hold_what_is_asked(swept: Path) -> None:
    """Every value that the study asks for is that of the run file, to the last bit."""
    folder = swept / asking("risk / risk_0", "steps = [1, 5, 20]")
    study = read_ledger(folder / f"{folder.name}.sweep.json").study
    asked = requested_of(study)
    assert {one.key for one in asked} == {
        "risk@step=1",
        "risk@step=5",
        "risk@step=20",
        "risk_0",
        "risk@near=0.5",
        "risk@near=7",
        "stable_rank",
    }
    paths, rows = ledger_rows(study, folder)
    assert len(rows) == 4
    for name, row in rows.items():
        assert row.moments.keys() == {one.key for one in asked}
        with open_run(paths[name]) as run:
            cell = open_cell(paths[name], study, lambda kept: kept)
            for one in asked:
                there = cell.value_at(one.observable, one.moment)
                assert row.all_values[one.key] == pytest.approx(there, abs=0.0, nan_ok=True)
            cell.record.run.close()
            steps = np.asarray(run.steps)
            frame = Moment("step", 5.0).frame(np.asarray(run.log10_time), steps)
            assert frame is not None
            assert abs(steps[frame] - 5) == np.abs(steps - 5).min()


def test_a_file_that_has_changed_speaks_for_itself(
    swept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of another length than its row says, and one that another row knows nothing of."""
    name = asking("risk / risk_0", "")
    shutil.copytree(swept / name, tmp_path / name)
    folder = tmp_path / name
    place = folder / f"{name}.sweep.json"
    document = json.loads(place.read_text())
    first, second = [*document["cells"]][:2]
    document["format"] = WITHOUT_SUMS  # so that what is changed here is believed
    document["cells"][first]["moments"] = {}  # as older versions wrote it
    document["cells"][second]["bytes"] += 1
    place.write_text(json.dumps(document))
    ledger = read_ledger(place)
    with counted(monkeypatch) as opened:
        _, known = results_in(folder, ledger)
        opened.clear()
        assert drawn(ledger.study, folder, known_values=known) == drawn(ledger.study, folder)
        assert len(opened) == 2 + 4
    del document["cells"][first]["moments"]
    place.write_text(json.dumps(document))
    assert read_ledger(place).entries[first].row.moments == {}
    document["cells"][first]["moments"] = {"risk_0": "many"}
    place.write_text(json.dumps(document))
    with pytest.raises(InputError, match="cannot be read as the ledger"):
        read_ledger(place)


def test_what_only_files_know_is_read_from_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An axis that the study does not set, but each run took by default."""
    text = (
        text_of("risk", "")
        .replace("step = 0.5\n", "")
        .replace('x = "network.m"\ny', 'x = "dynamics.step"\ny')
    )
    file = tmp_path / "unset.toml"
    file.write_text(text)
    folder = tmp_path / "runs"
    assert main(["run", str(file), "--out", str(folder), "--quiet", "--jobs", "1"]) == 0
    ledger = read_ledger(folder / "unset.sweep.json")
    _, known = results_in(folder, ledger)
    with counted(monkeypatch) as opened:
        found = drawn(ledger.study, folder, known_values=known)
        assert len(opened) == 4
        assert found == drawn(ledger.study, folder)


def test_moments_have_frames() -> None:
    times, steps = np.array([-np.inf, -1.0, 0.0, 3.0]), np.array([0, 1, 10, 10_000])
    found = {
        Moment("start"): 0,
        Moment("end"): 3,
        Moment("step", 4.0): 1,
        Moment("step", 1e9): 3,
        Moment("time", -0.6): 1,
        Moment("time", -1e3): 1,
        Moment("near", -0.96): 1,
        Moment("near", -0.9): None,
        Moment("near", 3.055): 3,
        Moment("near", 3.07): None,
    }
    assert {moment: moment.frame(times, steps) for moment in found} == found
    assert Moment("end").frame(times[:0], steps[:0]) is None


def test_shipped_studies_ask_for_few_values(subtests: pytest.Subtests) -> None:
    """The rows have room for all values that a study requests."""
    names = shipped_ids()
    assert names
    for name in names:
        with subtests.test(study=name):
            asked = requested_of(load_study(name))
            assert len(asked) < MOST_REQUESTED
            assert len({one.key for one in asked}) == len(asked)
            assert all(isinstance(one, ValueRequest) for one in asked)


def test_a_run_is_kept_open_once() -> None:
    run = two_runs()[0]
    held: list[Run] = []

    def hold(one: Run) -> Run:
        held.append(one)
        return one

    keep = one_per_path(hold)
    assert [keep(run), keep(run)] == [run, run]
    assert held == [run]
