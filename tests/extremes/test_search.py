"""What a hunt proposes, against optima that are known, on functions that stand for runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.data.parity import ParityData
from core.errors import InputError
from core.extremes.hunt import FileRetention, Hunt
from core.extremes.objective import Frames, objective_of
from core.extremes.perturbations import space_of
from core.extremes.search import DATA, GENERATION, NETWORK, RUN, Ground, Search, SeedSpace
from core.problem.problem import Problem, resolve_problem
from core.runs import open_run
from core.studies.study import Study, parse_study
from core.sweep.control import SweepControl
from core.sweep.pools import InProcessPool
from tests.support.made_up_hunts import MadeUpPool, hunt_over, run, study_of, values
from tests.support.sweeps import recorded_trials

TARGET = np.random.default_rng(5).standard_normal((8, 6))
FEW = ["data.d=3", "network.m=3"]  # twelve parameters
MIXTURE = """
[data]
kind = "gaussian_mixture"
d = 5
n = 6
[network]
m = 4
[dynamics]
kind = "gd"
step = 0.25
until_log10_time = 0.5
"""


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float((one * other).sum() / np.linalg.norm(one) / np.linalg.norm(other))


def away_from_target(problem: Problem) -> float:
    """Return 1 - cos of V(0) and a fixed matrix: 0 at the best start, 2 at the worst."""
    v = problem.network.unpack(problem.physical_start())["V"]
    return 1.0 - cosine(v, TARGET[: v.shape[0], : v.shape[1]])


def of_seed(problem: Problem) -> float:
    x, v = problem.dataset.x, problem.network.unpack(problem.physical_start())["V"]
    return float(np.sin(1e3 * (x @ v.T).sum()))


def test_refining_a_start_finds_the_known_best_one(tmp_path: Path) -> None:
    """The least is 0, at V = TARGET up to its norm."""
    hunt = hunt_over("start", tmp_path, study=study_of().with_settings(FEW), drawn=16)
    run(hunt, MadeUpPool(away_from_target), 300)
    best = hunt.ranked_runs()[0]
    assert best.value < 1e-3
    assert best.phase == "refined"
    assert min(one.value for one in hunt.ranked_runs() if one.phase == "drawn") > 0.1
    with np.load(hunt.array_file(best.index)) as start:
        assert 1.0 - cosine(start["V"], TARGET[:3, :3]) == pytest.approx(best.value, rel=1e-12)


def test_what_is_maximised_is_the_largest(tmp_path: Path) -> None:
    few = study_of().with_settings(FEW)
    hunt = hunt_over("start", tmp_path, study=few, drawn=16, least=False)
    run(hunt, MadeUpPool(away_from_target), 300)
    ranked = [one.value for one in hunt.ranked_runs()]
    assert ranked == sorted(ranked, reverse=True)
    assert ranked[0] > 1.99


def test_a_moved_start_has_the_norms_of_its_parent(tmp_path: Path) -> None:
    hunt = hunt_over("start", tmp_path)
    space, rng = hunt.space, np.random.default_rng(9)
    before = space.arrays_of(space.start_at(0))
    point = space.draw_neighbour(rng, space.start_at(0), 0.5)
    assert point is not None
    assert point.arrays is not None
    for name, array in before.items():
        assert np.linalg.norm(point.arrays[name]) == pytest.approx(np.linalg.norm(array))
        assert not np.allclose(point.arrays[name], array)


def test_refining_data_finds_the_known_best_directions(tmp_path: Path) -> None:
    """The mean of 1 - cos(x_i, e_1) over examples is 0 where all point along e_1."""
    study = study_of(text=MIXTURE)
    hunt = hunt_over("data", tmp_path, study=study, drawn=4)

    def turned(problem: Problem) -> float:
        x = problem.dataset.x
        return float(np.mean(1.0 - x[:, 0] / np.linalg.norm(x, axis=1)))

    run(hunt, MadeUpPool(turned), 250)
    best = hunt.ranked_runs()[0]
    drawn = min(one.value for one in hunt.ranked_runs() if one.phase == "drawn")
    assert best.value < 0.25 * drawn


def test_moved_examples_keep_their_lengths_and_labels(tmp_path: Path) -> None:
    """But those that are drawn anew, which a law of independent examples allows."""
    np.savez(tmp_path / "mine.npz", x=TARGET, y=[1, -1] * 4)
    text = f'[data]\nkind = "file"\npath = "{tmp_path.as_posix()}/mine.npz"\n[network]\nm = 3\n'
    hunt = hunt_over("data", tmp_path, study=study_of(text=text))
    rng = np.random.default_rng(1)
    for _ in range(20):
        point = hunt.space.draw_neighbour(rng, hunt.space.start_at(0), 0.8)
        assert point is not None
        assert point.arrays is not None
        x, y = point.arrays["x"], point.arrays["y"]
        np.testing.assert_allclose(np.linalg.norm(x, axis=1), np.linalg.norm(TARGET, axis=1))
        np.testing.assert_array_equal(y, [1, -1] * 4)
        assert not np.array_equal(x, TARGET)


@pytest.mark.parametrize("freeze", ["true", "false"])
def test_parity_stays_parity_on_the_corners(tmp_path: Path, freeze: str) -> None:
    study = study_of().with_settings([f"data.freeze={freeze}", "data.k=2"])
    hunt = hunt_over("data", tmp_path, study=study)
    law = hunt.space.cells[0].experiment.data
    assert isinstance(law, ParityData)
    rng, point = np.random.default_rng(2), hunt.space.start_at(0)
    for _ in range(50):
        near = hunt.space.draw_neighbour(rng, point, 0.6)
        if near is not None:
            point = near
    assert point.arrays is not None
    corners = point.arrays["x"] * np.sqrt(6.0)
    np.testing.assert_allclose(np.abs(corners), 1.0)
    np.testing.assert_array_equal(point.arrays["y"], law.labels(np.sign(corners)))
    if freeze == "true":
        assert (corners[:, -1] > 0.0).all()
    first = hunt.space.arrays_of(hunt.space.start_at(0))["x"]
    assert (point.arrays["x"] != first).any(axis=1).mean() > 0.5


def test_labels_change_only_where_that_is_asked(tmp_path: Path) -> None:
    for flips in (False, True):
        hunt = hunt_over("data", tmp_path, study=study_of(text=MIXTURE), flips=flips)
        point, rng = hunt.space.start_at(0), np.random.default_rng(3)
        hunt.space._laws = (None,)  # so that nothing is drawn anew
        before = hunt.space.arrays_of(point)["y"]
        points = [hunt.space.draw_neighbour(rng, point, 0.3) for _ in range(10)]
        changed = [not np.array_equal(one.arrays["y"], before) for one in points if one]  # type: ignore[index]
        assert any(changed) is flips


def test_all_runs_over_data_have_one_start(tmp_path: Path) -> None:
    """So that what is compared is the data; with the study's own draw the start would change."""
    starts = []
    hunt = hunt_over("data", tmp_path, drawn=4)

    def noted(problem: Problem) -> float:
        starts.append(problem.physical_start())
        return float(problem.dataset.x.sum())

    run(hunt, MadeUpPool(noted), 24)
    assert {one.phase for one in hunt.tried.values()} == {"study", "drawn", "refined"}
    for start in starts:
        np.testing.assert_array_equal(start, starts[0])


def test_refined_seeds_keep_the_data_or_the_start(tmp_path: Path) -> None:
    seen: dict[int, tuple[bytes, bytes]] = {}
    hunt = hunt_over("seeds", tmp_path, drawn=8)

    def noted(problem: Problem) -> float:
        told = (problem.dataset.x.tobytes(), problem.physical_start().tobytes())
        seen[len(seen)] = told
        return of_seed(problem)

    run(hunt, MadeUpPool(noted), 80)
    refined = [one for one in hunt.tried.values() if one.phase == "refined"]
    kept = {
        tuple(a == b for a, b in zip(seen[one.index], seen[one.parent], strict=True))
        for one in refined
    }
    assert kept == {(True, False), (False, True)}


def test_all_seeds_of_a_range_are_drawn_once_and_the_least_is_found(tmp_path: Path) -> None:
    """Against every seed by itself."""
    hunt = hunt_over("seeds", tmp_path, seeds=(20, 69), drawn=51)
    run(hunt, MadeUpPool(of_seed), 51)
    drawn = [one.seeds[RUN] for one in hunt.tried.values() if one.phase == "drawn"]
    assert sorted(drawn) == list(range(20, 70))
    study = study_of()
    forced = {}
    for seed in (0, *range(20, 70)):  # 0 is that of the study itself
        cell = study.with_settings([f"run.seed={seed}"]).cells()[0]
        forced[seed] = of_seed(resolve_problem(cell.experiment))
    best = min(forced, key=forced.__getitem__)
    assert hunt.ranked_runs()[0].seeds[RUN] == best
    assert hunt.ranked_runs()[0].value == forced[best]


def test_a_hunt_of_trained_runs_agrees_with_a_sweep(tmp_path: Path) -> None:
    """Brute force: the study over its seeds as a sweep."""
    swept = study_of('[axes]\n"run.seed" = [0, 1, 2, 3, 4, 5, 6, 7]\n')
    trials = recorded_trials(swept, tmp_path / "sweep")
    forced = {int(trial.setting("run.seed")): trial.value("hard_margin", None) for trial in trials}
    space = SeedSpace(Ground(swept, (0, 7)))
    objective = objective_of("hard_margin", True, Frames(), ())
    hunt = Hunt(
        space, objective, FileRetention(tmp_path / "hunt", best=2), {"over": "seeds"}, drawn=8
    )
    control = SweepControl()
    run(hunt, InProcessPool(control.cell), 8, control)
    found = {one.seeds[RUN]: one.value for one in hunt.ranked_runs()}
    assert found == forced
    first = hunt.ranked_runs()[0]
    assert first.value == min(forced.values())
    with open_run(hunt.run_file(first.index)) as recorded:
        assert recorded.experiment.run.seed == first.seeds[RUN]
    assert len([*(tmp_path / "hunt").glob("*.msrun")]) == 2


@pytest.mark.parametrize("over", ["seeds", "start", "data"])
def test_the_same_hunt_proposes_the_same(tmp_path: Path, over: str) -> None:
    def proposed(seed: int, generations: int) -> list[str]:
        search = Search(hunt_over(over, tmp_path, seed=seed).space, 8)
        digests = []
        for _ in range(generations):
            made = search.propose()
            digests += [one.point.digest for one in made]
            # By the point alone, so that values are the same however often it is asked.
            search.add_scores(
                made, {one.index: float(int(one.point.digest[:6], 16)) for one in made}
            )
        return digests

    first = proposed(0, 5)
    assert proposed(0, 5) == first
    assert proposed(0, 3) == first[: 8 + 2 * GENERATION]
    assert len(set(first)) == len(first)
    assert not set(proposed(1, 3)) & set(first[1:])


def test_steps_grow_with_success_and_shrink_without(tmp_path: Path) -> None:
    def after(score: Callable[[int], float]) -> float:
        search = Search(hunt_over("start", tmp_path).space, 4)
        for _ in range(4):
            made = search.propose()
            search.add_scores(made, {one.index: score(one.index) for one in made})
        return search.step

    assert after(lambda index: -float(index)) > Search(hunt_over("start", tmp_path).space).step
    assert after(float) < Search(hunt_over("start", tmp_path).space).step


def test_the_cells_of_a_grid_are_gone_round(tmp_path: Path) -> None:
    study = study_of('[axes]\n"network.m" = [4, 8]\n"run.seed" = [3, 4]\n')
    hunt = hunt_over("seeds", tmp_path, study=study, drawn=8, seeds=(0, 2))
    run(hunt, MadeUpPool(of_seed), 8)
    told = [hunt.tried[index] for index in range(8)]
    assert [one.place for one in told] == [0, 1] * 4
    assert [one.seeds[RUN] for one in told[:2]] == [3, 3]
    assert {(one.place, one.seeds[RUN]) for one in told[2:]} == {
        (place, seed) for place in (0, 1) for seed in (0, 1, 2)
    }


def test_seeds_that_the_study_has_are_drawn_too(tmp_path: Path) -> None:
    """With data.seed and network.seed given, run.seed alone would change nothing."""
    study = study_of().with_settings(["data.seed=4", "network.seed=5"])
    hunt = hunt_over("seeds", tmp_path, study=study, drawn=6)
    run(hunt, MadeUpPool(of_seed), 6)
    assert len({value for *_, value in values(hunt)}) == 6
    assert all({RUN, DATA, NETWORK} == set(one.seeds) for one in hunt.tried.values())


def regression() -> Study:
    text = '[data]\nkind = "regression"\n[network]\nm = 4\n[loss]\nkind = "least_squares"\n'
    return parse_study(text + '[dynamics]\nkind = "plain_flow"\n', "regression")


def test_real_targets_stay_targets_when_points_are_moved(tmp_path: Path) -> None:
    """A moved data set is a file of targets, whose y are what they were, or drawn anew with x."""
    space = space_of("data", Ground(regression(), (0, 9)))
    rng, first = np.random.default_rng(0), space.fresh(np.random.default_rng(0), 0)
    assert first is not None
    moved = space.draw_neighbour(rng, first, 0.5)
    assert moved is not None
    section = space.with_file(space.cells[0].experiment, tmp_path / "data.npz").data
    assert section.real
    before, after = space.arrays_of(first), space.arrays_of(moved)
    same = (before["x"] == after["x"]).all(axis=1)
    assert not same.all()
    assert (before["y"] == after["y"])[same].all()


def test_real_targets_have_no_labels_to_flip() -> None:
    with pytest.raises(InputError, match="--flip-labels is for data of two classes"):
        space_of("data", Ground(regression(), (0, 9)), flips=True)
