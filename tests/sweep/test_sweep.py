"""Sweeps: every cell once, resumed, failures recorded, stopped and gone on with."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from core.cli.main import main
from core.dynamics import step_size
from core.errors import InputError
from core.runs import open_run
from core.studies.cell_table import Row, by_setting, points, rows_of, statistics, write_table
from core.studies.statistics import spread
from core.studies.study import Study, parse_study
from core.sweep.control import SweepControl, SweepStatus
from core.sweep.folder import judged_in
from core.sweep.loop import sweep
from core.sweep.plan import Ledger, Plan, plan, read_ledger
from core.sweep.pools import InProcessPool, ProcessPool, pool_for
from tests.frames_in_chunks import trajectory
from tests.support.small_studies import BASE, QUICK


@pytest.fixture
def study() -> Study:
    return parse_study(QUICK, "quick")


def swept(made: Plan, control: SweepControl | None = None) -> list[SweepStatus]:
    control = control or SweepControl()
    return list(sweep(made, InProcessPool(control.cell), control))


def rows(made: Plan) -> dict[str, Row]:
    return {name: entry.row for name, entry in made.ledger.entries.items()}


def test_every_cell_is_recorded_as_a_run_of_its_own(study: Study, tmp_path: Path) -> None:
    made = plan(study, tmp_path)
    last = swept(made)[-1]
    assert (last.done, last.failed, last.total, last.ended) == (6, 0, 6, True)
    for task in made.tasks:
        frames = list(trajectory(task.problem()))
        with open_run(task.path) as run:
            assert run.frames == len(frames)
            ours = run.parameters(run.frames - 1) * np.exp(run.rho[-1])
            theirs = frames[-1].parameters * np.exp(frames[-1].rho)
            np.testing.assert_array_equal(ours, theirs)


def test_finished_cells_are_never_run_again(study: Study, tmp_path: Path) -> None:
    swept(plan(study, tmp_path))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.msrun")}
    lost = sorted(before)[2]
    lost.unlink()
    again = plan(study, tmp_path)
    assert [Path(task.path).name for task in again.tasks] == [lost.name]
    assert swept(again)[-1].kept == 5
    after = {path: path.stat().st_mtime_ns for path in before}
    assert {path for path in before if after[path] != before[path]} == {lost}
    assert plan(study, tmp_path).tasks == ()


def test_without_its_ledger_a_sweep_goes_by_the_run_files(study: Study, tmp_path: Path) -> None:
    first = plan(study, tmp_path)
    swept(first)
    first.ledger.path.unlink()
    again = plan(study, tmp_path)
    assert again.tasks == ()
    told = {row.name: dict(row.values) for row in again.kept}
    assert told == {name: dict(row.values) for name, row in rows(first).items()}


def test_a_file_that_was_cut_off_is_recorded_again(study: Study, tmp_path: Path) -> None:
    made = plan(study, tmp_path)
    swept(made)
    path = Path(made.tasks[0].path)
    path.write_bytes(path.read_bytes()[:5000])
    assert [task.path for task in plan(study, tmp_path).tasks] == [str(path)]


def test_a_file_of_another_experiment_is_refused(study: Study, tmp_path: Path) -> None:
    swept(plan(study, tmp_path))
    other = study.with_settings(["network.m=9"])
    with pytest.raises(InputError, match="another experiment; overwrite it with --force"):
        plan(other, tmp_path)
    assert len(plan(other, tmp_path, force=True).tasks) == 6


def test_a_failed_cell_is_recorded_and_stops_nothing(tmp_path: Path) -> None:
    np.savez(tmp_path / "good.npz", x=np.eye(4), y=[1, -1, 1, -1])
    text = '[data]\nkind = "file"\n[network]\nm = 4\n[dynamics]\nkind = "gd"\nstep = 0.1\n'
    text += 'until_log10_time = 0.0\n[axes]\n"data.path" = ["bad.npz", "good.npz"]\n'
    text += '[[claims]]\ntext = "t"\nmeasure = "risk"\ncompare = ">="\nvalue = 0.0\n'
    study = parse_study(text, "files", tmp_path)
    made = plan(study, tmp_path / "out")
    last = swept(made)[-1]
    assert (last.done, last.failed) == (1, 1)
    bad = read_ledger(made.ledger.path).entries["data.path=bad.npz"].row
    assert bad.state == "failed"
    assert "bad.npz" in bad.reason
    (told,) = judged_in(tmp_path / "out", read_ledger(made.ledger.path), None)
    assert (told.verdict, told.runs, told.asked) == ("refuted", 1, 2)
    np.savez(tmp_path / "bad.npz", x=np.eye(4), y=[1, 1, -1, -1])  # only the failed one is redone
    again = plan(study, tmp_path / "out")
    assert [task.name for task in again.tasks] == ["data.path=bad.npz"]
    assert swept(again)[-1].done == 2
    (told,) = judged_in(tmp_path / "out", read_ledger(made.ledger.path), None)
    assert (told.verdict, told.runs, told.asked) == ("confirmed", 2, 2)


def test_a_run_that_ends_early_says_why(tmp_path: Path) -> None:
    """Two points with both labels and one that is fitted: digits end before the horizon."""
    x = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    np.savez(tmp_path / "both.npz", x=x, y=[1, -1, 1])
    text = '[data]\nkind = "file"\npath = "both.npz"\n[network]\nm = 4\n[dynamics]\nkind = "flow"\n'
    text += 'until_log10_time = 100.0\n[axes]\n"run.seed" = [0]\n'
    made = plan(parse_study(text, "both", tmp_path), tmp_path / "out")
    assert swept(made)[-1].failed == 1
    for entry in read_ledger(made.ledger.path).entries.values():
        assert entry.row.state == "failed"
        assert "the risk stays at R = 0.6666666" in entry.row.reason


def test_a_finished_cell_does_not_solve_for_its_default_step_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells that read files are compared with their runs, whose default step took long to find."""
    np.savez(tmp_path / "two.npz", x=np.eye(2), y=np.array([1.0, -1.0]))
    text = '[data]\nkind = "file"\npath = "two.npz"\n[network]\nm = 4\n[dynamics]\nkind = "gd"\n'
    text += 'until_log10_time = 1\n[recording]\nframes = 3\n[axes]\n"run.seed" = [0, 1]\n'
    made, place = parse_study(text, "two", tmp_path), tmp_path / "out"
    first = plan(made, place)
    swept(first)

    def solve(*_: object) -> float:
        raise AssertionError("solved again")

    monkeypatch.setattr(step_size, "_solve", solve)
    assert plan(made, place).tasks == ()
    np.savez(tmp_path / "two.npz", x=2.0 * np.eye(2), y=np.array([1.0, -1.0]))
    with pytest.raises(InputError, match="another experiment"):
        plan(made, place)
    first.ledger.path.unlink()  # nothing says then that the runs are of this study
    with pytest.raises(AssertionError, match="solved again"):
        plan(made, place)


def test_a_stopped_sweep_goes_on_where_it_stopped(study: Study, tmp_path: Path) -> None:
    control = SweepControl()
    for status in sweep(plan(study, tmp_path), InProcessPool(control.cell), control):
        if status.done == 2:
            control.stop()
    assert (status.stopped, status.ended, status.done) == (True, True, 2)
    again = plan(study, tmp_path)
    assert len(again.tasks) == 4
    assert swept(again)[-1].done == 6


def test_a_pause_starts_no_more_cells(study: Study, tmp_path: Path) -> None:
    control = SweepControl()
    work = sweep(plan(study, tmp_path), InProcessPool(control.cell), control)
    while next(work).done < 1:
        pass
    control.pause()
    assert {next(work).done for _ in range(3)} == {1}
    assert control.status.paused
    control.resume()
    assert [*work][-1].done == 6


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_processes_give_the_same_files_as_one(study: Study, tmp_path: Path, workers: int) -> None:
    one, two = plan(study, tmp_path / "one"), plan(study, tmp_path / "two")
    swept(one)
    last = list(sweep(two, ProcessPool(workers), SweepControl()))[-1]
    assert last.done == 6
    told = {name: dict(row.values) for name, row in rows(one).items()}
    assert told == {name: dict(row.values) for name, row in rows(two).items()}
    assert str(tmp_path) not in {row.worker for row in rows(two).values()}


def test_fewer_than_one_process_is_refused() -> None:
    with pytest.raises(InputError, match="--jobs 0"):
        pool_for((), 0, None, SweepControl().cell)


def test_statistics_by_hand() -> None:
    found = spread([2.0, 4.0, 9.0, float("nan")])
    values = np.array([2.0, 4.0, 9.0])
    assert found.count == 3
    assert found.mean == pytest.approx(5.0)
    assert found.sd == pytest.approx(np.sqrt(((values - 5.0) ** 2).sum() / 2.0))
    # Student's t of two degrees of freedom has the closed form quantile sqrt(2) a / sqrt(1 - a^2).
    t = np.sqrt(2.0) * 0.95 / np.sqrt(1.0 - 0.95**2)
    assert found.high - found.mean == pytest.approx(t * found.sd / np.sqrt(3.0))
    one = spread([7.0])
    assert (one.count, one.mean, np.isnan(one.sd)) == (1, 7.0, True)


def test_runs_that_did_not_fit_are_marked_and_left_out(study: Study) -> None:
    told = {}
    for k, cell in enumerate(study.cells()):
        values = {"risk": float(k), "train_error": 0.25 if k == 1 else 0.0}
        told[cell.name] = Row(cell.name, "done", "completed", 1.0, "", values)
    table = rows_of(study, told)
    assert [row.fit for row in table] == [True, False, True, True, True, True]
    first = (("data.n", 8),)
    assert statistics(by_setting(table)[first], "risk", exclude_unfit=False).mean == 0.5
    left = statistics(by_setting(table)[first], "risk", exclude_unfit=True)
    assert (left.mean, left.count, left.unfit) == (0.0, 1, 1)
    paths = {name: Path(name) for name in told}
    found = points(table, paths, "data.n", "risk")
    assert [(p.x, p.spread.mean) for p in found] == [(8, 0.5), (16, 2.5), (24, 4.5)]
    assert [(run.value, run.seeds, run.fit, run.path) for run in found[1].runs] == [
        (2.0, (("run.seed", 0),), True, Path("data.n=16__run.seed=0")),
        (3.0, (("run.seed", 1),), True, Path("data.n=16__run.seed=1")),
    ]
    by_seed = points(table, paths, "run.seed", "risk")
    assert [(p.x, dict(p.line)["data.n"], p.spread.mean) for p in by_seed][:3] == [
        (0, 8, 0.0),
        (1, 8, 1.0),
        (0, 16, 2.0),
    ]


def test_the_table_has_a_row_a_cell(study: Study, tmp_path: Path) -> None:
    made = plan(study, tmp_path / "runs")
    swept(made)
    table = rows_of(study, rows(made))
    write_table(table, tmp_path / "t.csv")
    write_table(table, tmp_path / "t.npz")
    with (tmp_path / "t.csv").open() as file:
        read = list(csv.DictReader(file))
    assert [(int(r["data.n"]), int(r["run.seed"])) for r in read] == [
        (n, s) for n in (8, 16, 24) for s in (0, 1)
    ]
    with np.load(tmp_path / "t.npz") as arrays:
        np.testing.assert_array_equal(arrays["risk"], [float(r["risk"]) for r in read])
    with open_run(made.tasks[3].path) as run:
        from core.observables.registry import last_values

        assert float(read[3]["risk"]) == last_values(run)["risk"]
    with pytest.raises(InputError, match="ends in"):
        write_table(table, tmp_path / "t.txt")


def test_means_are_those_of_the_cells(study: Study, tmp_path: Path) -> None:
    made = plan(study, tmp_path / "runs")
    swept(made)
    cells, out = tmp_path / "c.csv", tmp_path / "m.csv"
    assert main(["table", str(tmp_path / "runs"), "--out", str(cells)]) == 0
    assert main(["table", str(tmp_path / "runs"), "--out", str(out), "--means"]) == 0
    with cells.open() as file, out.open() as other:
        rows_, groups_ = list(csv.DictReader(file)), list(csv.DictReader(other))
    assert [int(group["data.n"]) for group in groups_] == [8, 16, 24]
    for group in groups_:
        mine = [float(row["risk"]) for row in rows_ if row["data.n"] == group["data.n"]]
        assert (int(group["runs"]), int(group["risk_count"])) == (2, 2)
        assert float(group["risk_mean"]) == pytest.approx(np.mean(mine))
        assert float(group["risk_sd"]) == pytest.approx(np.std(mine, ddof=1))
        # Student's t of one degree of freedom is Cauchy's: its .975 quantile is tan(.475 pi).
        half = np.tan(0.475 * np.pi) * np.std(mine, ddof=1) / np.sqrt(2.0)
        assert float(group["risk_high"]) == pytest.approx(np.mean(mine) + half)
    assert main(["table", str(made.tasks[0].path), "--out", str(out), "--means"]) == 2
    assert main(["table", str(tmp_path), "--out", str(out)]) == 2


def test_no_jobs_are_refused_whatever_the_size(tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text(BASE.format(until=0.5))
    assert main(["run", str(file), "--out", str(tmp_path / "runs"), "--jobs", "0"]) == 2


def test_batches_of_earlier_versions_are_processes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "one.toml"
    file.write_text(BASE.format(until=0.5))
    assert main(["run", str(file), "--out", str(tmp_path / "runs"), "--together"]) == 0
    shown = capsys.readouterr()
    assert "--together has no effect: processes train the cells." in shown.err
    assert Path(shown.out.strip()).is_file()


def test_a_ledger_reads_back_what_was_written(study: Study, tmp_path: Path) -> None:
    made = plan(study, tmp_path, size="quick")
    swept(made)
    read = read_ledger(made.ledger.path)
    assert read.entries == made.ledger.entries
    assert read.size == "quick"
    assert [cell.experiment for cell in read.study.cells()] == [
        cell.experiment for cell in study.cells()
    ]
    made.ledger.path.write_text(json.dumps({"format": 99}))
    with pytest.raises(InputError, match="version"):
        read_ledger(made.ledger.path)


def test_a_row_that_was_changed_counts_for_nothing(study: Study, tmp_path: Path) -> None:
    """The run file is read instead; ledgers of earlier versions have no checksums."""
    ledger = Ledger(tmp_path / f"{study.id}.sweep.json", study, None)
    for name in ("a", "b"):
        ledger.set_row(Row(name, "done", "completed", 1.5, "tests", {"risk": 0.125}), "0" * 32)
    ledger.save()
    text = ledger.path.read_text()
    ledger.path.write_text(text.replace("0.125", "0.625", 1))
    assert [*read_ledger(ledger.path).entries] == ["b"]
    ledger.path.write_text(text.replace('"format": 2', '"format": 1').replace("0.125", "0.625", 1))
    assert [one.row.values["risk"] for one in read_ledger(ledger.path).entries.values()] == [
        0.625,
        0.125,
    ]
