"""The abstract head and networks of the user's own: gradients, descent, log-time flow, trust."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from core import trust
from core.cli.main import main
from core.dynamics.general_flow import GeneralFlow
from core.dynamics.registry import make_integrator
from core.errors import InputError, RunFileError
from core.problem.problem import Problem, Start, resolve_problem
from core.runs import Recorder, code_of, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import chunks, run
from tests.frames_in_chunks import trajectory
from tests.networks import HEADS, OWN_NETWORK, Case, at_a_random_point, small_problem

heads = pytest.mark.parametrize("case", HEADS, ids=str)


@pytest.fixture(autouse=True)
def own_trust_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "trusted"
    monkeypatch.setattr(trust, "trust_folder", lambda: folder)
    return folder


def own_problem(
    tmp_path: Path, code: str = OWN_NETWORK, dynamics: dict | None = None, **network: object
) -> Problem:
    path = tmp_path / "network.py"
    path.write_text(code)
    trust.trust(code)
    tables = {
        "data": {"d": 4, "n": 10},
        "network": {"kind": "custom", "path": str(path), "m": 6, **network},
        "dynamics": dynamics or {"kind": "gd", "step": 0.1, "until_log10_time": 1.0},
        "recording": {"frames": 8},
    }
    return resolve_problem(build_experiment(tables, "test"))


@heads
def test_head_gradient_equals_autograd_and_its_derivative_is_the_transpose(case: Case) -> None:
    at, flat = at_a_random_point(small_problem(case))
    g = np.random.default_rng(1).standard_normal(at.dataset.n)
    leaf = torch.tensor(flat, requires_grad=True)
    f = at.network.outputs(leaf, torch.tensor(at.inputs))
    (f * torch.tensor(g)).sum().backward()
    assert np.allclose(at.outputs(flat), f.detach().numpy(), rtol=1e-12, atol=1e-13)
    found = at.network.gradient(flat, at.inputs, g)
    assert np.allclose(found, leaf.grad.numpy(), rtol=1e-11, atol=1e-12)
    direction = np.random.default_rng(3).standard_normal(flat.size)
    along = at.network.derivative(flat, at.inputs, direction)
    assert g @ along == pytest.approx(found @ direction, rel=1e-10)


@heads
def test_head_features_are_those_of_torch(case: Case) -> None:
    at, flat = at_a_random_point(small_problem(case))
    parts = {name: torch.tensor(value) for name, value in at.network.unpack(flat).items()}
    h, depth = torch.tensor(at.dataset.x), case.settings["depth"]
    for level in range(1, depth + 1):
        h = h @ parts[f"V{level}"].T
        h = torch.relu(h) if level < depth else h
    if case.settings.get("normaliser") == "layer":
        F = torch.nn.functional.layer_norm(h, (9,), eps=1e-5)
    else:
        F = torch.nn.functional.rms_norm(h, (9,), eps=1e-5)
    wanted = F @ (parts["a"] * parts["b"])
    assert np.allclose(at.outputs(flat), wanted.numpy(), rtol=1e-11, atol=1e-12)


@heads
def test_descent_equals_torch_sgd(case: Case) -> None:
    at = small_problem(case)
    last = list(trajectory(at))[-1]
    leaf = torch.tensor(at.start.parameters, requires_grad=True)
    optimizer = torch.optim.SGD([leaf], lr=0.1)
    x, y = torch.tensor(at.inputs), torch.tensor(at.dataset.y)
    for _ in range(last.step):
        optimizer.zero_grad()
        p = y * at.network.outputs(leaf, x)
        losses = torch.exp(-p) if case.loss == "exponential" else torch.nn.functional.softplus(-p)
        losses.mean().backward()
        optimizer.step()
    assert np.allclose(last.parameters, leaf.detach().numpy(), rtol=1e-9, atol=1e-11)


FITTING = {"kind": "gd", "step": 0.1, "until_log10_time": 0.7}


@pytest.mark.parametrize(
    ("case", "until", "sizes"),  # depth 1 cannot fit a parity
    [
        (HEADS[1], 0.6, {"d": 7, "n": 6, "m": 9}),
        pytest.param(HEADS[1], 12.0, {"d": 4, "n": 10, "m": 12}, marks=pytest.mark.slow),
        pytest.param(HEADS[2], 12.0, {"d": 4, "n": 10, "m": 12}, marks=pytest.mark.slow),
    ],
    ids=lambda value: str(value) if isinstance(value, Case | float) else "",
)
def test_theorem_3_6_the_smoothed_margin_does_not_fall(
    case: Case, until: float, sizes: dict[str, int]
) -> None:
    """homogeneity, Theorem 3.6: once R < l(0)/n it rises for ever, and so does |(a, b)|.

    The short flow starts from what descent has fitted, since it gets there in 300 steps of 10 ms.
    """
    short = until < 2.0
    frames, marks = (24, np.linspace(-0.3, until - 0.05, 22).tolist()) if short else (60, [])
    flow = {"kind": "flow", "until_log10_time": until}
    at = small_problem(case, flow, **sizes, recording={"frames": frames, "log10_times": marks})
    if short:
        fitted = list(trajectory(small_problem(case, FITTING, **sizes)))[-1].parameters
        at = replace(at, start=Start(fitted, fitted))
    values, norms = [], []
    for frame in trajectory(at):
        factor = np.exp(2 * frame.rho)
        p = factor * at.margins(frame.parameters)
        if at.loss.log_risk(p) < np.log(at.loss.at_zero / p.size):
            values.append(at.loss.smoothed_margin(p) / factor)
            norms.append(frame.rho)
    assert len(values) > 20
    assert np.diff(values).min() > -1e-6
    assert np.diff(norms).min() > 0
    assert values[-1] > 1.5 * values[0]


def test_general_flow_equals_the_compiled_one() -> None:
    """The same scheme on the same network: the standard one, through its NumPy gradient."""
    case = Case("standard", "exponential")
    at = small_problem(case, {"kind": "flow", "until_log10_time": -0.5}, recording={"frames": 12})
    fast = list(trajectory(at))
    slow, general = [], GeneralFlow(at)
    while len(slow) < len(fast):
        slow += general.advance().frames
    assert [frame.step for frame in slow] == [frame.step for frame in fast]
    for one, other in zip(slow, fast, strict=True):
        assert np.allclose(one.parameters, other.parameters, atol=1e-7)
        assert one.rho == pytest.approx(other.rho, abs=1e-8)


def test_head_flow_equals_small_descent_steps() -> None:
    case = HEADS[1]
    at = small_problem(case, {"kind": "flow", "until_log10_time": -0.9})
    fine = small_problem(case, {"kind": "gd", "step": 0.0001, "until_log10_time": -0.9})
    wanted = at.outputs(list(trajectory(fine))[-1].parameters)
    errors = []
    for finer in (1.0, 8.0):
        general = GeneralFlow(at)
        general.kernel_state.tau_early /= finer
        general.kernel_state.h_early /= finer
        last = [frame for chunk in chunks(general) for frame in chunk.frames][-1]
        W = at.network.physical(last.parameters, last.rho)
        errors.append(np.abs(at.outputs(W) - wanted).max())
    assert errors[0] < 0.01 * np.abs(wanted).max()
    assert errors[1] < errors[0] / 4  # of first order in the step


def test_own_network_trains_and_comes_back_from_its_file(tmp_path: Path) -> None:
    at = own_problem(tmp_path)
    assert [block.name for block in at.network.layout] == ["w", "V"]  # the homogeneous one first
    assert (at.network.scaled, at.network.degree) == (6, 1)
    assert "autograd" in make_integrator(at).engine
    path = tmp_path / "run.msrun"
    run(at, lambda problem, **facts: Recorder(path, problem, **facts))
    (tmp_path / "network.py").unlink()
    with open_run(path) as found:
        assert found.experiment.network.path is None
        last = found.parameters(found.frames - 1)
        risk = at.loss.log_risk(at.scores(last))
        assert risk < at.loss.log_risk(at.scores(at.start.parameters))
        assert np.allclose(found.network.outputs(last, found.inputs), at.outputs(last))
        assert found.network.directions(last).shape == (6, 4)


def test_own_network_follows_the_flow(tmp_path: Path) -> None:
    # Its V moves beside w: 40 stages a step, each through autograd. 40 steps say enough.
    at = own_problem(tmp_path, dynamics={"kind": "flow", "until_log10_time": -1.3})
    frames = list(trajectory(at))
    assert frames[-1].log10_time == -1.3
    assert len(frames) > 4
    risks = [at.loss.log_risk(np.exp(f.rho) * at.margins(f.parameters)) for f in frames]
    assert np.diff(risks).max() < 1e-9


def test_own_derivative_is_the_transpose_of_the_gradient(tmp_path: Path) -> None:
    at = own_problem(tmp_path)
    flat, rng = at.start.parameters, np.random.default_rng(0)
    g, direction = rng.standard_normal(10), rng.standard_normal(at.network.size)
    along = at.network.derivative(flat, at.inputs, direction)
    assert g @ along == pytest.approx(at.network.gradient(flat, at.inputs, g) @ direction)


def test_code_of_strangers_does_not_run(
    tmp_path: Path, own_trust_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = own_problem(tmp_path)
    path = tmp_path / "run.msrun"
    run(at, lambda problem, **facts: Recorder(path, problem, **facts))
    for name in own_trust_folder.iterdir():
        name.unlink()
    with pytest.raises(RunFileError, match="core trust"):
        open_run(path)
    assert code_of(path) == OWN_NETWORK
    assert main(["trust", str(path)]) == 0
    assert "def outputs" in capsys.readouterr().out
    with pytest.raises(RunFileError, match="core trust"):
        open_run(path)
    assert main(["trust", str(path), "--yes"]) == 0
    open_run(path).close()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def initial(:", "SyntaxError in line 1"),
        ("x = 1", "does not define the function initial"),
        ("def initial(g, m, d, k):\n  return {}\ndef outputs(p, x):\n  return x", "at least one"),
        ("def initial(g, m, d, k):\n  return {'a': 1/0}\ndef outputs(p, x): return x", "in line 2"),
        (OWN_NETWORK.replace('@ parameters["w"]', ""), "returned shape"),
        (OWN_NETWORK.replace('["w"]\ndir', '["u"]\ndir'), "homogeneous names u"),
        (OWN_NETWORK.replace("torch.tanh", "torch.nothing"), "outputs\\(\\) fails"),
    ],
)
def test_faults_of_own_networks_are_sentences(tmp_path: Path, code: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        own_problem(tmp_path, code)


def test_own_network_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="path is missing"):
        build_experiment({"network": {"kind": "custom", "m": 3}}, "test")
    tables = {"network": {"kind": "custom", "m": 3, "path": str(tmp_path / "no.py")}}
    with pytest.raises(InputError, match="does not exist; check the path"):
        resolve_problem(build_experiment(tables, "test"))
