"""The mirror flow of u = |a b| against the flow of (a, b), an ODE solver, and known margins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from core.dynamics.integrator import Outcome
from core.dynamics.mirror import ScalarMirror, SteppedMirror, features
from core.dynamics.mirror_field import MirrorField
from core.dynamics.registry import make_integrator, prepare
from core.errors import InputError
from core.observables.displacements import MOST_STEPS, companion_of, mirror_gap
from core.problem.problem import Problem, Start, with_dynamics
from core.run_files.frame import Frame
from core.runs import open_run
from core.study_file.dynamics import GradientFlow
from core.study_file.validation import build_experiment
from core.training.trajectory import chunks
from tests.frames_in_chunks import check_small_chunks, trajectory
from tests.networks import Case, small_problem
from tests.problems import margin_of, physical, problem
from tests.recording import recorded

SCALAR = ("network.kind=scalar", "dynamics.kind=mirror")


def scalar(*settings: str, m: int = 32, d: int = 4) -> Problem:
    return problem(*SCALAR, f"data.d={d}", "recording.log10_times=[]", *settings, m=m)


def test_it_is_the_flow_of_a_and_b() -> None:
    at = scalar("dynamics.until_log10_time=60", "recording.frames=40")
    flow = with_dynamics(at, GradientFlow(until_log10_time=60.0))
    for mirror, other in zip(trajectory(at), trajectory(flow), strict=True):
        assert mirror.log10_time == other.log10_time
        assert mirror.rho == pytest.approx(other.rho, abs=5e-4)
        assert np.allclose(mirror.parameters, other.parameters, atol=2e-4)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_against_a_stiff_solver_in_plain_time(loss: str) -> None:
    """d ln u/dt = -(2/n) Z' l'(Z u) by BDF to t = 1000."""
    at = scalar("dynamics.until_log10_time=3", f"loss.kind={loss}", "recording.frames=8", m=12)
    Z, _ = features(at)
    frames = list(trajectory(at))
    begin = np.log(physical(frames[0])[:12] ** 2)

    def field(_: float, ln_u: np.ndarray) -> np.ndarray:
        return -2.0 / Z.shape[0] * Z.T @ at.loss.slope(Z @ np.exp(ln_u))

    times = [10.0**frame.log10_time for frame in frames]
    found = solve_ivp(field, (0, times[-1]), begin, "BDF", times, rtol=1e-9, atol=1e-11)
    for frame, ln_u in zip(frames, found.y.T, strict=True):
        u = np.exp(ln_u)
        assert np.abs(physical(frame)[:12] ** 2 - u).max() < 2e-3 * u.max()


def exactly(at: Problem, times: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return u (frames, m) by LSODA in plain time, and the risks."""
    Z, _ = features(at)
    begin = np.log(np.abs(at.physical_start()[: at.network.m]) ** 2)

    def field(_: float, ln_u: np.ndarray) -> np.ndarray:
        return -2.0 / Z.shape[0] * Z.T @ at.loss.slope(Z @ np.exp(ln_u))

    found = solve_ivp(field, (0, times[-1]), begin, "LSODA", times, rtol=1e-10, atol=1e-12)
    u = np.exp(found.y.T)
    return u, np.array([float(at.loss.value(Z @ row).mean()) for row in u])


XOR = [[1, 1], [-1, -1], [1, -1], [-1, 1]]
UNFITTED = {
    # One node loses on both corners of a label: u falls exponentially, and R tends to l(0).
    "falls": (XOR, [1, 1, -1, -1], 1, 2.0),
    # Each point has both labels: u_j falls like 1/t, the norm alone moves, and R tends to l(0).
    "like 1/t": ([row for row in XOR for _ in range(2)], [1, -1] * 4, 1, 12.0),
    "three nodes": ([row for row in XOR for _ in range(2)], [1, -1] * 4, 3, 12.0),
    # R tends to 1/4: one corner is given up.
    "partly": (XOR, [1, 1, -1, -1], 3, 6.0),
}


@pytest.mark.parametrize("case", UNFITTED, ids=str)
def test_data_that_cannot_be_fitted(case: str, tmp_path: Path) -> None:
    """Steps grow with t there, and each adds at most 1e-5 to the error of ln u (BENT)."""
    x, y, m, until = UNFITTED[case]
    np.savez(tmp_path / "a.npz", x=np.array(x, dtype=float), y=np.array(y, dtype=float))
    file = ("data.kind=file", f"data.path={tmp_path / 'a.npz'}", f"data.n={len(y)}")
    many = (f"dynamics.until_log10_time={until}", "recording.frames=10", f"run.seed={m // 2}")
    at = scalar(*file, *many, m=m, d=2)
    frames = list(trajectory(at))
    u, risks = exactly(at, [10.0**frame.log10_time for frame in frames])
    assert frames[-1].step < 20_000
    for frame, row, risk in zip(frames, u, risks, strict=True):
        ours = physical(frame)[:m] ** 2
        assert np.abs(ours - row).max() < 4e-3 * row.max(), frame.log10_time
        assert np.exp(at.loss.log_risk(at.margins(physical(frame)))) == pytest.approx(
            risk, rel=2e-3
        )


def test_balance_is_exact_and_the_smoothed_margin_rises() -> None:
    at = scalar("dynamics.until_log10_time=1000", "recording.frames=60")
    a0, b0 = at.start.parameters.reshape(2, -1)
    last = -np.inf
    for frame in trajectory(at):
        a, b = frame.parameters.reshape(2, -1)
        assert np.array_equal(np.abs(a), np.abs(b)) or frame.step == 0
        assert np.array_equal(np.sign(a), np.sign(a0))
        assert np.array_equal(np.sign(b), np.sign(b0))
        assert np.linalg.norm(frame.parameters) == pytest.approx(1.0, abs=1e-12)
        temperature = float(np.exp(2 * frame.rho))
        smoothed = at.loss.smoothed_margin(temperature * at.margins(frame.parameters)) / temperature
        assert smoothed >= last - 1e-6 or last <= 0.0  # it need not rise before it is positive
        last = smoothed
    assert last > 0.02


def test_the_margin_of_wide_networks() -> None:
    """docs/theory.md, 7.4: d = 4, m = 4096: .061 +- .003 at log10 t = 100, above gamma_gl/4."""
    margins = []
    for seed in range(3):
        settings = ("dynamics.until_log10_time=100", "recording.frames=5", f"run.seed={seed}")
        at = scalar(*settings, m=4096)
        margins.append(margin_of(at, list(trajectory(at))[-1]))
    assert np.median(margins) == pytest.approx(0.061, abs=0.003)
    assert min(margins) > 1.0 / np.sqrt(8 * 4) / 4.0


def test_it_goes_beyond_log10_t_of_300() -> None:
    at = scalar("dynamics.until_log10_time=1e30", "recording.frames=30")
    frames = list(trajectory(at))
    assert frames[-1].log10_time == 1e30
    assert all(np.isfinite(frame.parameters).all() for frame in frames)
    # ln t = gamma |W|^2 to leading order: the norm says what the margin is.
    smoothed = np.log(10.0) * 1e30 / np.exp(2 * frames[-1].rho)
    assert margin_of(at, frames[-1]) == pytest.approx(smoothed, rel=1e-3)


def test_results_do_not_depend_on_the_chunks() -> None:
    at = scalar("dynamics.until_log10_time=5", "recording.frames=20")
    check_small_chunks(ScalarMirror(at), list(trajectory(at)))


def test_going_on_from_a_frame_is_going_on() -> None:
    at = scalar("dynamics.until_log10_time=20", "recording.frames=9")
    frames = list(trajectory(at))
    middle = frames[4]
    start = Start(middle.parameters, at.start.origin, middle.rho, middle.step, middle.log10_time)
    last = list(trajectory(replace(at, start=start)))[-1]
    assert last.rho == pytest.approx(frames[-1].rho, abs=1e-3)
    assert np.allclose(last.parameters, frames[-1].parameters, atol=2e-4)


def test_what_is_dead_stays() -> None:
    at = scalar("dynamics.until_log10_time=1.5", "recording.frames=6", m=3)
    flat = np.array([0.5, 0.0, -0.5, 0.5, 0.0, 0.5])
    some = list(trajectory(replace(at, start=Start(flat, flat))))
    assert np.all(some[-1].parameters[[1, 4]] == 0.0)
    assert np.isfinite(some[-1].parameters).all()
    at.network.fixed["V"][:] = 0.0
    still = list(chunks(make_integrator(at)))
    assert still[-1].outcome is Outcome.COMPLETED
    assert still[-1].event is not None
    assert still[-1].event[0] == "stationary"


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_what_cannot_be_classified_comes_to_rest_at_the_optimum(loss: str) -> None:
    """The risk is convex in u >= 0 (homogeneity, section 3.2): its minimum by L-BFGS-B."""
    settings = ("data.n=40", f"loss.kind={loss}", "recording.frames=6")
    at = scalar(*settings, "dynamics.until_log10_time=1000", m=16, d=8)
    found = list(chunks(ScalarMirror(at)))
    assert found[-1].event is not None
    assert found[-1].event[0] == "stationary"
    last = [frame for chunk in found for frame in chunk.frames][-1]
    assert last.log10_time == 1000.0
    Z, _ = features(at)

    def risk(u: np.ndarray) -> tuple[float, np.ndarray]:
        g = at.loss.output_gradient(Z @ u, np.ones(40)) / 40  # the scores of labels +1
        return float(at.loss.value(Z @ u).mean()), Z.T @ g

    options = {"ftol": 1e-15, "gtol": 1e-12, "maxiter": 10_000}
    bounds = [(0, None)] * 16
    best = minimize(risk, np.full(16, 0.1), jac=True, bounds=bounds, options=options)
    reached = at.loss.value(at.margins(physical(last))).mean()
    assert reached == pytest.approx(best.fun, rel=1e-10)
    assert reached > at.loss.at_zero / 2


def test_an_unbalanced_start_is_refused() -> None:
    at = scalar(m=3)
    flat = np.array([0.5, 0.5, 0.5, 0.5, 0.6, 0.5])
    with pytest.raises(InputError, match="balanced start"):
        make_integrator(prepare(replace(at, start=Start(flat, flat))))


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({}, 'network.kind = "scalar", "normalised" or "head"'),
        ({"network": {"kind": "scalar", "m": 4}, "loss": {"kind": "squared"}}, "exponential or"),
        ({"network": {"kind": "scalar", "m": 4}, "loss": {"l2": 0.1}}, "no penalty"),
        ({"network": {"kind": "scalar", "m": 4}, "run": {"precision": "float32"}}, "float64"),
        ({"network": {"kind": "scalar", "m": 4}, "dynamics": {"step": 0.1}}, "leave it out"),
        (
            {"network": {"kind": "normalised", "m": 4}, "dynamics": {"until_log10_time": 20.0}},
            "at most 15",
        ),
    ],
)
def test_bad_settings_are_refused(tables: dict[str, Any], words: str) -> None:
    dynamics = {"kind": "mirror", **tables.get("dynamics", {})}
    with pytest.raises(InputError, match=words):
        build_experiment({"network": {"m": 4}, **tables, "dynamics": dynamics}, "here")


@pytest.mark.parametrize("case", [Case("normalised"), Case("head", "exponential")], ids=str)
def test_explicit_steps(case: Case) -> None:
    """u <- u exp(-2 eta dR/du), V <- V - eta dR/dV, with dR/du by finite differences."""
    at = small_problem(case, {"kind": "mirror", "step": 0.3, "until_log10_time": 0.2}, m=6)
    frames, network, m = list(trajectory(at)), at.network, at.network.m
    signs = np.sign(at.start.parameters[: 2 * m])

    def risk(u: np.ndarray, V: np.ndarray) -> float:
        flat = np.concatenate([signs * np.tile(np.sqrt(u), 2), V])
        return float(at.loss.value(at.margins(flat)).mean())

    def slopes(function: Any, x: np.ndarray) -> np.ndarray:
        steps = 1e-6 * np.eye(x.size)
        return np.array([(function(x + h) - function(x - h)) / 2e-6 for h in steps])

    u, V = at.start.parameters[:m] ** 2, at.start.parameters[2 * m :]
    for _ in range(frames[-1].step):
        du = slopes(lambda at_u, V=V: risk(at_u, V), u)
        dV = slopes(lambda at_V, u=u: risk(u, at_V), V)
        u, V = u * np.exp(-0.6 * du), V - 0.3 * dV
    last = frames[-1].parameters
    assert np.allclose(last[:m] ** 2, u, rtol=1e-6)
    assert np.allclose(last[m : 2 * m], np.sign(network.unpack(last)["b"]) * np.sqrt(u), rtol=1e-6)
    assert np.allclose(last[2 * m :], V, atol=1e-7)


def test_the_normalised_network_at_t_300() -> None:
    """docs/theory.md, 7.4: d = 20, m = 256, logistic: margin .0253 at t = 300."""
    until = f"dynamics.until_log10_time={np.log10(300.0)}"
    settings = ("network.kind=normalised", "dynamics.kind=mirror", "loss.kind=logistic", until)
    at = prepare(problem(*settings, "recording.frames=4", "recording.log10_times=[]", m=256))
    assert at.experiment.dynamics.step == 1.0
    assert isinstance(make_integrator(at), SteppedMirror)
    last = list(trajectory(at))[-1].parameters
    margin = at.margins(last).min() / np.sum(last[:512] ** 2)
    assert margin == pytest.approx(0.0253, abs=0.0003)


# ----------------------------------------------------------------------------------- the gap


def gap_of(path: Path, kind: str, step: float) -> float:
    """Return mirror_gap at t = 50 of gradient descent."""
    settings = (f"network.kind={kind}", "dynamics.kind=gd", f"dynamics.step={step}")
    more = ("loss.kind=logistic", "data.d=6", "recording.frames=5", "recording.log10_times=[]")
    recorded(path, *settings, *more, f"dynamics.until_log10_time={np.log10(50.0)}")
    with open_run(path) as run:
        assert mirror_gap(run, 0) == pytest.approx(0.0, abs=1e-14)
        return mirror_gap(run, run.frames - 1)


@pytest.mark.parametrize("kind", ["scalar", "normalised"])
def test_the_gap_of_descent_is_of_first_order(tmp_path: Path, kind: str) -> None:
    """homogeneity, Lemma 3.2, for descent in place of the flow: O(eta)."""
    coarse = gap_of(tmp_path / "coarse.msrun", kind, 0.5)
    fine = gap_of(tmp_path / "fine.msrun", kind, 0.25)
    assert 1e-5 < fine < coarse < 0.2
    assert coarse / fine == pytest.approx(2.0, abs=0.35)


def test_the_companion_is_the_mirror_flow(tmp_path: Path) -> None:
    settings = ("network.kind=scalar", "data.d=4", "recording.frames=4", "recording.log10_times=[]")
    until = "dynamics.until_log10_time=2"
    recorded(tmp_path / "gd.msrun", *settings, until, "dynamics.kind=gd", "dynamics.step=0.25")
    with open_run(tmp_path / "gd.msrun") as run:
        companion = companion_of(run)
        assert companion is not None
        times = ",".join(str(x) for x in run.log10_time[1:])
        exact: dict[float, Frame] = {
            frame.log10_time: frame
            for frame in trajectory(scalar(until, f"recording.log10_times=[{times}]", m=16))
        }
        for index in range(1, run.frames):
            u = companion.solution_at(index)
            wanted = physical(exact[float(run.log10_time[index])])[:16] ** 2
            assert np.abs(u - wanted).max() < 2e-3 * u.max()


def test_the_gap_exists_only_for_descent_on_a_b(tmp_path: Path) -> None:
    settings = ("dynamics.until_log10_time=1", "recording.log10_times=[]", "recording.frames=3")
    recorded(tmp_path / "standard.msrun", *settings, "dynamics.kind=gd")
    recorded(tmp_path / "flow.msrun", *settings, "network.kind=scalar")
    for name in ("standard", "flow"):
        with open_run(tmp_path / f"{name}.msrun") as run:
            assert np.isnan(mirror_gap(run, run.frames - 1))
    recorded(tmp_path / "gd.msrun", *settings, "network.kind=scalar", "dynamics.kind=gd")
    with open_run(tmp_path / "gd.msrun") as run:
        companion = companion_of(run)
        companion.steps = MOST_STEPS
        assert np.isnan(mirror_gap(run, 1))


def test_parameters_beyond_float64_are_infinite_without_a_warning() -> None:
    field = MirrorField(scalar(m=4))
    state = field.state(scalar(m=4).physical_start())
    state[0] = 1500.0
    flat = field.flat(state)
    assert np.isinf(flat[[0, 4]]).all()
    assert np.isfinite(flat[1:4]).all()
