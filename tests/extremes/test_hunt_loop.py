"""A hunt as a whole: stopped and gone on with, its time, its files, and what has no rank."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.extremes.hunt import Budget, Hunt
from core.extremes.hunt_building import table
from core.problem.problem import Problem
from core.sweep.control import SweepControl
from core.sweep.folder import sweeps_in
from tests.extremes.test_search import away_from_target, of_seed
from tests.support.made_up_hunts import MadeUpPool, hunt_over, run, study_of, values

OVERS = ("seeds", "start", "data")


def length(problem: Problem) -> float:
    return of_seed(problem) + float(np.abs(problem.physical_start()).sum())


def stopped_after(hunt: Hunt, pool: MadeUpPool, count: int, runs: int) -> None:
    control = SweepControl()
    for status in hunt.run(pool, control, Budget(runs)):
        if status.tried >= count:
            control.stop()


@pytest.mark.parametrize("over", OVERS)
def test_a_stopped_hunt_goes_on_to_the_same_end(tmp_path: Path, over: str) -> None:
    whole = hunt_over(over, tmp_path / "whole")
    run(whole, MadeUpPool(length), 40)
    pools = [MadeUpPool(length) for _ in range(4)]
    for pool, count in zip(pools, (3, 11, 26, 40), strict=True):
        parts = hunt_over(over, tmp_path / "parts")
        stopped_after(parts, pool, count, 40)
    last = hunt_over(over, tmp_path / "parts")
    run(last, MadeUpPool(length), 40)
    assert values(last) == values(whole)
    names = [name for pool in pools for name in pool.names]
    assert len(names) == len(set(names)) == 40  # nothing was computed twice


def test_after_a_kill_only_what_the_ledger_lacks_is_computed(tmp_path: Path) -> None:
    """A ledger is two seconds behind at most; here ten rows, one of them damaged."""
    hunt = hunt_over("start", tmp_path)
    run(hunt, MadeUpPool(length), 40)
    before = values(hunt)
    document = json.loads(hunt.ledger.path.read_text())
    names = sorted(document["cells"])
    for name in names[30:]:
        del document["cells"][name]
    document["cells"][names[4]]["moments"]["objective"] = -99.0
    hunt.ledger.path.write_text(json.dumps(document))
    again, pool = hunt_over("start", tmp_path), MadeUpPool(length)
    run(again, pool, 40)
    assert values(again) == before
    assert sorted(pool.names)[:11] == sorted([names[4], *names[30:]])


def test_findings_keep_their_files_and_others_do_not(tmp_path: Path) -> None:
    hunt = hunt_over("start", tmp_path, best=3)
    run(hunt, MadeUpPool(away_from_target), 60)
    best = hunt.ranked_runs()[:3]
    assert {path.name for path in tmp_path.glob("*.msrun")} == {
        hunt.run_file(one.index).name for one in best
    }
    moved = {hunt.array_file(one.index).name for one in best if one.moved}
    assert {path.name for path in tmp_path.glob("*.npz")} == moved
    assert moved


def test_findings_without_a_file_are_recorded_again(tmp_path: Path) -> None:
    """More are to be kept than before, and one was thrown away."""
    first = hunt_over("start", tmp_path, best=2)
    run(first, MadeUpPool(length), 30)
    first.run_file(first.ranked_runs()[0].index).unlink()
    hunt, pool = hunt_over("start", tmp_path, best=5), MadeUpPool(length)
    run(hunt, pool, 30)
    assert all(hunt.run_file(one.index).is_file() for one in hunt.ranked_runs()[:5])
    assert len(pool.names) == 4


def test_more_runs_begin_with_those_of_a_shorter_hunt(tmp_path: Path) -> None:
    short = hunt_over("start", tmp_path)
    run(short, MadeUpPool(length), 21)  # in the middle of a generation
    longer, pool = hunt_over("start", tmp_path), MadeUpPool(length)
    run(longer, pool, 50)
    whole = hunt_over("start", tmp_path / "whole")
    run(whole, MadeUpPool(length), 50)
    assert values(longer) == values(whole)
    assert not set(pool.names) & {f"{index:06d}" for index in short.tried} - {
        f"{one.index:06d}" for one in longer.ranked_runs()[:3]
    }


def test_the_time_ends_a_hunt_and_loses_nothing(tmp_path: Path) -> None:
    clock = iter(range(10_000))
    hunt, pool, control = hunt_over("seeds", tmp_path), MadeUpPool(of_seed), SweepControl()
    statuses = [*hunt.run(pool, control, Budget(1000, 40.0, lambda: float(next(clock))))]
    assert 0 < len(hunt.tried) < 100
    assert len(pool.names) == len(hunt.tried)
    assert statuses[-1].seconds >= 40.0
    assert pool.closed
    again, rest = hunt_over("seeds", tmp_path), MadeUpPool(of_seed)
    run(again, rest, len(hunt.tried) + 5)
    assert not set(rest.names) & set(pool.names)


def test_what_fails_diverges_or_has_no_number_is_never_the_best(tmp_path: Path) -> None:
    def sometimes(problem: Problem) -> float:
        value = of_seed(problem)
        if value < -0.5:
            raise ArithmeticError("the step was too large")
        return math.nan if value > 0.5 else value

    hunt = hunt_over("seeds", tmp_path, drawn=30)
    run(hunt, MadeUpPool(sometimes), 60)
    assert all(-0.5 <= one.value <= 0.5 for one in hunt.ranked_runs())
    rows = table(hunt)
    assert len(rows) == 60
    states = {row["state"] for row in rows if not row["rank"]}
    assert states == {"the step was too large", "no number"}
    assert all(row["state"] == "completed" for row in rows if row["rank"])
    assert not any(row["run_file"] for row in rows if not row["rank"])


def test_runs_that_diverge_are_told_and_not_ranked(tmp_path: Path) -> None:
    hunt = hunt_over("seeds", tmp_path)
    run(hunt, MadeUpPool(of_seed, reason="diverged"), 12)
    assert hunt.ranked_runs() == []
    assert [row["state"] for row in table(hunt)] == ["diverged"] * 12


def test_where_every_run_fails_it_is_said_at_once(tmp_path: Path) -> None:
    def never(problem: Problem) -> float:
        raise ArithmeticError("this study has no such number")

    pool = MadeUpPool(never)
    with pytest.raises(InputError, match="none of 8 runs succeeded: this study has no such"):
        run(hunt_over("seeds", tmp_path), pool, 100)
    assert len(pool.names) == 8
    assert pool.closed


def test_the_table_says_how_each_was_found(tmp_path: Path) -> None:
    hunt = hunt_over("start", tmp_path, best=2)
    run(hunt, MadeUpPool(away_from_target), 40)
    rows = table(hunt)
    assert [row["rank"] for row in rows] == [str(k) for k in range(1, 41)]
    assert [row["value"] for row in rows] == sorted(row["value"] for row in rows)
    by_run = {row["run"]: row for row in rows}
    for row in rows:
        assert (row["parent"] != "") == (row["phase"] == "refined")
        if row["parent"]:
            assert int(row["parent"]) < row["run"]
            assert by_run[int(row["parent"])]["network.seed"] == row["network.seed"]
    assert [bool(row["run_file"]) for row in rows] == [True, True] + [False] * 38
    assert rows[0]["start_file"] == Path(rows[0]["run_file"]).with_suffix(".npz").name


def test_another_hunt_of_the_same_folder_is_refused(tmp_path: Path) -> None:
    run(hunt_over("seeds", tmp_path), MadeUpPool(of_seed), 8)
    with pytest.raises(InputError, match=r"to another hunt \(seed 0, not 1"):
        hunt_over("seeds", tmp_path, seed=1)
    with pytest.raises(InputError, match="over seeds, not start"):
        hunt_over("start", tmp_path)
    assert sweeps_in(tmp_path) == []  # it is no sweep, for those who look for one


def test_nothing_is_left_where_all_was_tried(tmp_path: Path) -> None:
    """Seeds 0 to 2, and of a start from a file nothing else that seeds could change."""
    space = hunt_over("start", tmp_path / "start").space
    start = dict(space.arrays_of(space.start_at(0)))
    np.savez(tmp_path / "start.npz", **start)
    settings = ["network.init=file", f"network.init_path={(tmp_path / 'start.npz').as_posix()}"]
    study = study_of().with_settings(settings)
    hunt = hunt_over("seeds", tmp_path / "hunt", study=study, seeds=(0, 2), drawn=4)
    pool = MadeUpPool(of_seed)
    run(hunt, pool, 200)
    assert hunt.exhausted
    assert len({(one.seeds["run.seed"]) for one in hunt.tried.values()}) == 3


def test_an_end_by_an_error_leaves_a_ledger_to_go_on_from(tmp_path: Path) -> None:
    pool = MadeUpPool(length)

    def dying(problem: Problem) -> float:
        if len(pool.names) == 14:
            raise KeyboardInterrupt
        return length(problem)

    pool.value = dying
    with pytest.raises(KeyboardInterrupt):
        run(hunt_over("start", tmp_path), pool, 40)
    assert pool.names.pop() == "000013"  # which had begun
    assert pool.closed
    rest = MadeUpPool(length)
    run(hunt_over("start", tmp_path), rest, 40)
    assert sorted(pool.names + rest.names[:27]) == [f"{index:06d}" for index in range(40)]
