"""Recordings of other people's loops: what is kept, as what, and when a frame is due."""

from __future__ import annotations

import math
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch

import marginscope as ms
from core.figures.labels import settings_line
from core.network.parametrisation import Shape
from core.network.recorded_network import RecordedNetwork, phi_of
from core.network.registry import NETWORKS, build_network
from core.observables.registry import scalars_of
from core.problem.schedule import log10_schedule
from core.run_files.networks import ACTIVATIONS, UNKNOWN, activation_value
from core.runs import open_run
from core.study_file.dynamics import DYNAMICS
from core.study_file.experiment import LOSSES
from marginscope._record import optimizer, options
from tests.support.loops import loop, record_loop


def test_frames_are_what_was_handed_over(tmp_path: Path) -> None:
    given = record_loop(tmp_path / "mine.msrun")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.msrun"]
    one = loop()
    with open_run(tmp_path / "mine.msrun") as run:
        assert (run.frames, run.status, run.reason) == (len(given), "finished", "completed")
        assert run.is_external and run.title == "mine"
        assert run.experiment.dynamics.kind == "recorded"
        assert np.array_equal(run.dataset.x, one.x)
        assert np.array_equal(run.dataset.y, one.y)
        for index, (t, V, a) in enumerate(given):
            parts = run.network.unpack(run.parameters(index))
            assert np.array_equal(parts["V"], V)
            assert np.array_equal(parts["a"], a)
            assert run.steps[index] == t
            assert run.log10_time[index] == (float(np.log10(t)) if t else -math.inf)
            assert run.diagnostics(index) == ({"eta": one.eta} if t else {})


def test_no_seed_is_named_where_nothing_was_drawn(tmp_path: Path) -> None:
    path = tmp_path / "mine.msrun"
    record_loop(path, 3)
    with open_run(path) as run:
        line = settings_line([run], [run.frames - 1])
    assert "seed" not in line and "own data" in line


def test_frames_are_due_on_the_programs_own_schedule(tmp_path: Path) -> None:
    """The first step at or after each time of the schedule, as descent records them."""
    given = record_loop(tmp_path / "a.msrun", steps=200, until=200, frames=12, marks=(7.0, 50.0))
    marks = (math.log10(7.0), math.log10(50.0))
    times = 10.0 ** log10_schedule(0.0, math.log10(200.0), 12, marks)
    wanted = sorted({math.ceil(t * (1.0 - 1e-9)) for t in times})
    assert [t for t, _, _ in given] == [0, *wanted]
    assert {7, 50, 200} <= set(wanted)


def test_without_an_end_sixty_frames_to_a_decade_are_due(tmp_path: Path) -> None:
    given = record_loop(tmp_path / "a.msrun", steps=1000, until=None)
    times = [t for t, _, _ in given[1:]]
    assert times[:20] == list(range(1, 21))
    late = [t for t in times if 100 <= t < 1000]
    assert len(late) == 60
    ratios = np.diff(np.log10(late))
    assert ratios == pytest.approx(1 / 60, abs=0.006)  # as whole steps allow
    with open_run(tmp_path / "a.msrun") as run:  # only known once it has ended
        assert run.experiment.dynamics.until_log10_time == pytest.approx(math.log10(times[-1]))


def test_time_is_eta_times_steps_where_the_loop_says_how_it_trains(tmp_path: Path) -> None:
    record_loop(tmp_path / "a.msrun", dynamics="gd", eta=0.5)
    with open_run(tmp_path / "a.msrun") as run:
        assert (run.experiment.dynamics.kind, run.experiment.dynamics.step) == ("gd", 0.5)
        assert run.log10_time[5] == np.log10(0.5 * run.steps[5])


def test_the_time_may_be_told(tmp_path: Path) -> None:
    one = loop()
    with ms.record(tmp_path / "a.msrun", one.x, one.y, loss="exponential", time="t") as r:
        r.frame(0, V=one.V, a=one.a)
        r.frame(0.125, V=2 * one.V, a=one.a, steps=3)
        r.frame(1.5, V=3 * one.V, a=one.a)
    with open_run(tmp_path / "a.msrun") as run:
        assert run.log10_time[1:].tolist() == [np.log10(0.125), np.log10(1.5)]
        assert run.steps.tolist() == [0, 3, 0]


def test_without_a_start_the_run_begins_at_its_first_frame(tmp_path: Path) -> None:
    one = loop()
    with ms.record(tmp_path / "a.msrun", one.x, one.y, loss="logistic") as r:
        assert not (tmp_path / "a.msrun").exists()
        for t in (10, 20):
            assert r.due(t)
            r.frame(t, V=one.V, a=one.a)
            one.step()
    with open_run(tmp_path / "a.msrun") as run:
        assert run.log10_time.tolist() == [1.0, np.log10(20.0)]
        assert not run.complete  # t = 0 is not there
        assert np.array_equal(run.origin, run.parameters(0))


def test_a_recording_without_frames_leaves_no_file(tmp_path: Path) -> None:
    one = loop()
    with ms.record(tmp_path / "a.msrun", one.x, one.y, loss="logistic"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_single_precision_stays_single(tmp_path: Path) -> None:
    one = loop()
    V, a = one.V.astype(np.float32), one.a.astype(np.float32)
    with ms.record(tmp_path / "a.msrun", one.x, one.y, loss="logistic", V0=V, a0=a) as r:
        r.frame(1, V=2 * V, a=a)
    with open_run(tmp_path / "a.msrun") as run:
        assert run.precision == "float32"
        assert run.network.unpack(run.parameters(1))["V"].tolist() == (2 * V).tolist()
        assert all(np.isfinite(item.value_at(run, 1)) for item in scalars_of(run)[:5])


def test_arrays_are_copied(tmp_path: Path) -> None:
    one = loop()
    V = one.V.copy()
    with ms.record(tmp_path / "a.msrun", one.x, one.y, loss="logistic", V0=V, a0=one.a) as r:
        V *= 2.0
        r.frame(1, V=V, a=one.a)
        V[:] = 0.0  # weights that their owner goes on to train
    with open_run(tmp_path / "a.msrun") as run:
        for index, factor in enumerate((1.0, 2.0)):
            assert np.array_equal(run.network.unpack(run.parameters(index))["V"], factor * one.V)


def _classes(one: object) -> np.ndarray:
    return np.arange(12) % 3


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("standard", {}),
        ("bias", {"b": np.ones(6)}),
        ("multiclass", {"k": 3}),
        ("multiclass", {"k": 3, "b": np.ones(6)}),
        ("fixed_outer", {"activation": "leaky_relu", "slope": 0.1, "fixed": True}),
        ("recorded", {"activation": "tanh", "c": np.ones(1)}),
        ("recorded", {"activation": "leaky_relu", "b": np.ones(6)}),
        ("recorded", {"activation": "gelu", "k": 3, "c": np.ones(3), "b": np.ones(6)}),
        ("recorded", {"fixed": True}),
        ("recorded", {"activation": None}),
    ],
)
def test_every_form_of_network_is_kept(kind: str, settings: dict, tmp_path: Path) -> None:
    """And f is what the formula says, by NumPy alone."""
    one, k = loop(), settings.get("k", 1)
    y = np.arange(12) % 3 if k == 3 else one.y
    a = np.random.default_rng(5).standard_normal((k, 6)) if k == 3 else one.a
    if settings.get("fixed"):
        a = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0]) / np.sqrt(6.0)
    name, slope = settings.get("activation", "relu"), settings.get("slope", 0.01)
    own = {"loss": "cross_entropy" if k == 3 else "logistic", "activation": name, "slope": slope}
    own["a_fixed"] = a if settings.get("fixed") else None
    biases = {key: settings[key] for key in ("b", "c") if key in settings}
    outer = {} if settings.get("fixed") else {"a": a}
    start = {f"{key}0": value for key, value in {**biases, **outer}.items()}
    with ms.record(tmp_path / "a.msrun", one.x, y, V0=one.V, strict=True, **start, **own) as r:
        r.frame(1, V=2.0 * one.V, **biases, **outer)
    z = 2.0 * one.V @ one.x.T + biases.get("b", np.zeros(6))[:, None]
    phi = {"relu": np.maximum(z, 0.0), "tanh": np.tanh(z), None: np.full(z.shape, np.nan)}
    phi["leaky_relu"] = np.where(z > 0, z, slope * z)
    phi["gelu"] = z * np.vectorize(lambda u: 0.5 * (1 + math.erf(u / math.sqrt(2))))(z)
    with open_run(tmp_path / "a.msrun") as run:
        assert run.network.kind == kind
        assert type(run.network) is NETWORKS[kind]
        f = run.problem.outputs(run.parameters(1))
        wanted = np.atleast_2d(a) @ phi[name] + biases.get("c", np.zeros(k))[:, None]
        assert f == pytest.approx(wanted.T if k == 3 else wanted[0], rel=1e-14, nan_ok=True)
        for item in scalars_of(run):  # whatever is not known is NaN, and nothing raises
            item.value_at(run, 1)


def test_labels_zero_and_one_are_classes(tmp_path: Path) -> None:
    one = loop()
    y = (one.y > 0).astype(int)[:, None]  # as losses of PyTorch want them
    with ms.record(tmp_path / "a.msrun", one.x, y, loss="logistic", V0=one.V, a0=one.a):
        pass
    with open_run(tmp_path / "a.msrun") as run:
        assert np.array_equal(run.dataset.y, one.y)


@pytest.mark.parametrize("y", [np.linspace(-2.5, 3.0, 12), np.arange(12) % 2], ids=["any", "0, 1"])
@pytest.mark.parametrize("loss", ["least_squares", None])
def test_real_targets_are_kept_as_they_are(tmp_path: Path, loss: str | None, y: np.ndarray) -> None:
    """Also those that might be labels; there is a risk, and there are no margins."""
    one = loop()
    options = {"loss": loss, "targets": "real", "V0": one.V, "a0": one.a, "strict": True}
    with ms.record(
        tmp_path / "a.msrun", one.x, y, x_test=one.x[:3], y_test=y[:3] + 0.25, **options
    ):
        pass
    f = np.maximum(one.x @ one.V.T, 0.0) @ one.a
    with open_run(tmp_path / "a.msrun") as run:
        assert run.dataset.real
        assert np.array_equal(run.dataset.y, y) and np.array_equal(run.dataset.y_test, y[:3] + 0.25)
        values = {item.name: item.value_at(run, 0) for item in scalars_of(run)}
        assert "hard_margin" not in values and "train_error" not in values
        if loss is None:
            assert math.isnan(values["risk"])
            return
        assert values["risk"] == pytest.approx(((f - y) ** 2).mean() / 2, rel=1e-14)
        assert values["test_risk"] == pytest.approx(
            ((f[:3] - y[:3] - 0.25) ** 2).mean() / 2, rel=1e-14
        )
        assert values["sharpness"] > 0.0


@pytest.mark.parametrize("k", [1, 3])
def test_a_loss_without_a_name_leaves_the_margins(k: int, tmp_path: Path) -> None:
    one = loop()
    y = np.arange(12) % 3 if k == 3 else one.y
    a = np.random.default_rng(5).standard_normal((k, 6)) if k == 3 else one.a
    with ms.record(tmp_path / "a.msrun", one.x, y, loss=None, V0=one.V, a0=a, strict=True):
        pass
    with open_run(tmp_path / "a.msrun") as run:
        values = {item.name: item.value_at(run, 0) for item in scalars_of(run)}
        f = np.maximum(one.V @ one.x.T, 0.0).T @ np.atleast_2d(a).T
        own = f[np.arange(12), y] if k == 3 else y * f[:, 0]
        others = np.where(np.arange(3) == y[:, None], -np.inf, f).max(axis=1) if k == 3 else 0.0
        size = np.sum(one.V**2) + np.sum(np.square(a))
        assert values["hard_margin"] == pytest.approx((own - others).min() / size, rel=1e-13)
        assert math.isnan(values["risk"])
        assert "dual_margin" not in values


def test_test_points_are_kept(tmp_path: Path) -> None:
    one = loop()
    settings = {"V0": one.V, "a0": one.a, "x_test": 2 * one.x, "y_test": one.y}
    with ms.record(tmp_path / "a.msrun", one.x, one.y, loss="logistic", **settings):
        pass
    with open_run(tmp_path / "a.msrun") as run:
        (error,) = (item for item in scalars_of(run) if item.name == "test_error")
        f = one.a @ np.maximum(2 * one.V @ one.x.T, 0.0)
        assert error.value_at(run, 0) == np.mean(one.y * f <= 0.0)


def test_tensors_of_torch_are_taken_as_they_are(tmp_path: Path) -> None:
    one = loop()
    V = torch.tensor(one.V, requires_grad=True)
    a = torch.nn.Parameter(torch.tensor(one.a)[None])
    half = torch.tensor(one.V).to(torch.bfloat16)
    settings = {"loss": "logistic", "strict": True}
    x, y = torch.tensor(one.x), torch.tensor(one.y)
    with ms.record(tmp_path / "a.msrun", x, y, V0=V, a0=a, **settings) as r:
        size = torch.tensor(0.25, requires_grad=True)  # as a loss has it, without a warning
        r.frame(1, V=(2 * V).T.contiguous().T, a=a, size=size)
    with ms.record(tmp_path / "b.msrun", x, y, V0=half, a0=a.to(torch.float16), **settings):
        pass
    with open_run(tmp_path / "a.msrun") as run:
        assert np.array_equal(run.network.unpack(run.parameters(1))["V"], 2 * one.V)
        assert run.diagnostics(1) == {"size": 0.25}
        assert "torch" in run.engine
    with open_run(tmp_path / "b.msrun") as run:
        assert run.precision == "float32"
        assert np.array_equal(run.network.unpack(run.origin)["V"], half.double().numpy())


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_those_of_torch(name: str) -> None:
    """phi and phi' against PyTorch and its autograd, away from kinks."""
    F, g = torch.nn.functional, 0.2

    def softplus(z: object) -> object:
        return F.softplus(z, threshold=1e3)  # beyond its own, 20, torch cuts it

    theirs = {
        "relu": F.relu,
        "leaky_relu": lambda z: F.leaky_relu(z, g),
        "smooth_leaky_relu": lambda z: (
            g * z + (1 - g) * (F.softplus(z, threshold=1e3) - math.log(2.0))
        ),
        "linear": lambda z: 1.0 * z,
        "quadratic": lambda z: z**2,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
        "softplus": softplus,
        "gelu": F.gelu,
        "gelu_tanh": lambda z: F.gelu(z, approximate="tanh"),
        "silu": F.silu,
        "elu": F.elu,
        "erf": torch.erf,
        "hardtanh": F.hardtanh,
    }[name]
    z = torch.linspace(-30.0, 30.0, 1002, dtype=torch.float64, requires_grad=True)
    f = theirs(z)
    (slope,) = torch.autograd.grad(f.sum(), z)
    phi = phi_of(name, g)
    at = z.detach().numpy()
    assert phi(at) == pytest.approx(f.detach().numpy(), rel=1e-9, abs=1e-14)
    assert activation_value(name, g, at) == pytest.approx(phi(at), rel=1e-12, abs=1e-300)
    assert phi.slopes(at) == pytest.approx(slope.numpy(), rel=1e-9, abs=1e-14)
    if phi.degree:
        assert phi(3.0 * at) == pytest.approx(3.0**phi.degree * phi(at), rel=1e-12)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("outer", [False, True])
@pytest.mark.parametrize("offset", [False, True])
def test_gradients_of_a_recorded_network(several: bool, outer: bool, offset: bool) -> None:
    """By central differences; the tangent kernel by them too."""
    rng, k = np.random.default_rng(2), 3 if several else 1
    section = RecordedNetwork(activation="tanh", biases=True, offset=offset, outer=outer, m=4)
    x = rng.standard_normal((5, 3))
    size = (4, k) if several else (4,)
    fixed = {} if outer else {"A" if several else "a": rng.standard_normal(size)}
    network = build_network(section, Shape(4, x, k), fixed)
    flat, inputs = rng.standard_normal(network.size), network.inputs(x)
    J = np.array(
        [
            (network.outputs(flat + h, inputs) - network.outputs(flat - h, inputs)).ravel() / 2e-5
            for h in 1e-5 * np.eye(network.size)
        ]
    )
    g = rng.standard_normal((5, k) if several else 5)
    assert network.gradient(flat, inputs, g) == pytest.approx(J @ g.ravel(), abs=1e-8)
    along = rng.standard_normal(network.size)
    found = network.derivative(flat, inputs, along)
    assert found.ravel() == pytest.approx(along @ J, abs=1e-8)
    assert network.gram(flat, inputs) == pytest.approx(J.T @ J, rel=1e-7, abs=1e-7)
    alpha, U = network.effective(flat)
    trained = flat[: flat.size - k * offset]  # all but c
    assert np.array_equal(network.pull(flat, alpha, U), trained)


def test_what_may_be_told_is_what_there_is() -> None:
    """A recorder knows no registry; its lists are those of the program."""
    assert set(options.LOSSES) == {*LOSSES, *LOSSES.aside} - {UNKNOWN}
    told = set(optimizer.DYNAMICS)
    assert told < set(DYNAMICS)
    stepped = {kind for kind in told if "step" in DYNAMICS[kind].model_fields}
    assert set(optimizer.STEPPED) == stepped
    (known,) = (RecordedNetwork.model_fields["activation"].annotation,)
    assert set(get_args(known)) == {*ACTIVATIONS, UNKNOWN}
