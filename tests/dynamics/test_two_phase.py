"""Two-phase training: the large-batch step by definition, the convex phase by another solver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from core.dynamics.integrator import Outcome
from core.dynamics.registry import make_integrator, prepare
from core.dynamics.two_phase import TwoPhases, first_phase, hidden_features, outer_curvature
from core.errors import InputError
from core.problem.problem import Problem, Start, points_for_test, resolve_problem
from core.study_file.validation import build_experiment
from core.training.trajectory import chunks
from tests.frames_in_chunks import check_small_chunks, trajectory
from tests.problems import problem

PHASES = ("dynamics.kind=two_phase", "loss.kind=logistic", "recording.log10_times=[]")


def two_phase(*settings: str, m: int = 12) -> Problem:
    return prepare(problem(*PHASES, *settings, m=m))


@pytest.mark.parametrize("fresh", [0, 300])
def test_the_first_phase_by_its_definition(fresh: int) -> None:
    at = two_phase(f"dynamics.first_batch={fresh}")
    a, V = at.network.effective(at.start.parameters)
    x, y = at.dataset.x, at.dataset.y
    if fresh:
        x = np.random.default_rng([0, 2]).choice([-1, 1], (300, 20)) / np.sqrt(20)
        y = np.sign(x[:, 0] * x[:, 1])
    found = first_phase(at)
    for j in range(12):
        # The gradient of the correlation loss -y f at f = 0, by finite differences in v_j.
        def correlation(v: np.ndarray, j: int = j) -> float:
            return float(-(y * a[j] * np.maximum(x @ v, 0.0)).sum())

        steps = 1e-7 * np.eye(20)
        g = [(correlation(V[j] + h) - correlation(V[j] - h)) / 2e-7 for h in steps]
        step = -np.array(g) / np.linalg.norm(g)
        assert np.allclose(found[j], step, atol=1e-6)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0)


def test_nodes_without_a_direction_and_tiny_ones() -> None:
    """0/0 for v = 0, of which no example is active; (1e-200)^2 = 0 for one that keeps its own."""
    at = two_phase(m=3)
    parts = at.network.unpack(at.start.parameters)
    x = np.abs(at.dataset.x)
    still = replace(at, dataset=replace(at.dataset, x=x))
    V = np.stack([np.zeros(20), np.full(20, -1e-200), np.ones(20)])
    flat = at.network.pack({"a": np.ones_like(parts["a"]), "V": V})
    found = first_phase(replace(still, start=Start(flat, flat)))
    assert np.array_equal(found[0], np.zeros(20))
    assert np.allclose(found[1], np.full(20, -1.0 / np.sqrt(20.0)))
    g = at.dataset.y @ x
    assert np.allclose(found[2], g / np.linalg.norm(g))
    tiny = replace(still.dataset, x=1e-200 * x)
    again = first_phase(replace(still, dataset=tiny, start=Start(flat, flat)))
    assert np.allclose(again, found)


def test_the_second_phase_equals_a_plain_loop() -> None:
    at = two_phase("dynamics.step=0.7", "dynamics.until_log10_time=1.5", "loss.l2=0.01")
    frames = list(trajectory(at))
    assert np.array_equal(frames[0].parameters, at.start.parameters)
    V = first_phase(at)
    H, a = np.maximum(at.dataset.x @ V.T, 0.0), np.zeros(12)
    for _ in range(frames[-1].step - 1):
        g = at.loss.output_gradient(H @ a, at.dataset.y) / 64
        a -= 0.7 * (H.T @ g + 0.02 * a)
    assert np.allclose(frames[-1].parameters, np.concatenate([a, V.reshape(-1)]), rtol=1e-10)
    # Its first step is the first phase, which leaves a = 0.
    once = two_phase("dynamics.step=0.7", f"dynamics.until_log10_time={np.log10(0.7)}")
    last = list(trajectory(once))[-1]
    assert last.step == 1
    assert np.array_equal(last.parameters, np.concatenate([np.zeros(12), V.reshape(-1)]))


def test_the_second_phase_ends_at_the_optimum() -> None:
    """The penalised logistic regression on the features, by scikit-learn."""
    at = two_phase("loss.l2=0.003", "dynamics.until_log10_time=4.5", "recording.frames=3")
    last = list(trajectory(at))[-1].parameters
    H = hidden_features(first_phase(at), at.dataset.x)
    model = LogisticRegression(C=1 / (2 * 0.003 * 64), fit_intercept=False, tol=1e-10, max_iter=999)
    wanted = model.fit(H, at.dataset.y).coef_[0]
    assert np.allclose(last[:12], wanted, atol=1e-4)
    assert np.abs(wanted).max() > 0.3


def test_the_default_step_is_that_of_the_outer_layer() -> None:
    at = two_phase("loss.l2=0.1")
    H = hidden_features(first_phase(at), at.dataset.x)
    hessian = H.T @ H / (4 * 64) + 0.2 * np.eye(12)
    largest = float(np.linalg.eigvalsh(hessian)[-1])
    assert outer_curvature(at, H) == pytest.approx(largest, rel=1e-10)
    assert at.experiment.dynamics.step == pytest.approx(1.0 / largest, rel=1e-10)


def test_a_wild_step_is_noticed() -> None:
    at = two_phase("dynamics.step=1e8", "dynamics.until_log10_time=12", "loss.l2=0.1")
    last = list(chunks(make_integrator(at)))[-1]
    assert last.outcome is Outcome.DIVERGED
    assert last.event is not None
    assert last.event[1]["suggested_step"] < 1.0 / outer_curvature(at, np.zeros((64, 12))) + 1e-9


def test_results_do_not_depend_on_the_chunks() -> None:
    at = two_phase("dynamics.until_log10_time=2")
    check_small_chunks(TwoPhases(at), list(trajectory(at)))


def test_a_continued_run_is_the_same_run() -> None:
    at = two_phase("dynamics.until_log10_time=2")
    frames = list(trajectory(at))
    middle = frames[-5]
    start = Start(middle.parameters, at.start.origin, 0.0, middle.step, middle.log10_time)
    last = list(trajectory(replace(at, start=start)))[-1]
    assert last.step == frames[-1].step
    assert np.array_equal(last.parameters, frames[-1].parameters)


def test_samples_it_needs() -> None:
    """docs/theory.md, 7.5: 1.5 d^2 in all, the second phase 14-27 of them, at any d."""
    errors: dict[tuple[int, float], float] = {}
    for d in (20, 30):
        for share in (0.25, 2.0):
            found = []
            for seed in range(3):
                batch = f"dynamics.first_batch={int(share * d * d)}"
                settings = (f"data.d={d}", "data.n=30", batch, f"run.seed={seed}")
                at = two_phase(*settings, "recording.frames=3", m=500)
                last, points = list(trajectory(at))[-1], points_for_test(at)
                margins = at.network.margins(last.parameters, points.x[::4], points.y[::4])
                found.append(float(np.mean(~(margins > 0))))
            errors[d, share] = float(np.median(found))
    for d in (20, 30):
        assert errors[d, 2.0] < 0.13 < 0.25 < errors[d, 0.25]


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"network": {"kind": "fixed_outer", "m": 4}}, "trains V in its first phase"),
        ({"run": {"precision": "float32"}}, "float64"),
        ({"dynamics": {"first_batch": -1}}, "greater than or equal to 0"),
        ({"data": {"kind": "file"}, "dynamics": {"first_batch": 9}}, "needs a distribution"),
    ],
)
def test_bad_settings_are_refused(tables: dict[str, Any], words: str) -> None:
    dynamics = {"kind": "two_phase", **tables.get("dynamics", {})}
    with pytest.raises(InputError, match=words):
        build_experiment({"network": {"m": 4}, **tables, "dynamics": dynamics}, "here")


def test_a_node_that_sees_nothing_keeps_its_direction(tmp_path: Path) -> None:
    np.savez(tmp_path / "one.npz", x=np.array([[1.0, 0.0], [0.6, 0.8]]), y=np.array([1.0, -1.0]))
    np.savez(tmp_path / "start.npz", a=np.ones(2), V=np.array([[-2.0, -2.0], [1.0, 1.0]]))
    tables = {
        "data": {"kind": "file", "path": "one.npz"},
        "network": {"init": "file", "init_path": "start.npz"},
        "loss": {"kind": "logistic"},
        "dynamics": {"kind": "two_phase"},
    }
    V = first_phase(resolve_problem(build_experiment(tables, "here"), tmp_path))
    assert np.allclose(V, [[-(0.5**0.5), -(0.5**0.5)], [0.4 / 0.8**0.5, -0.8 / 0.8**0.5]])
