"""A new kind of everything is one file and one line: all that the program does works with it.

The files are those of tests.extension, which docs/extend.md shows.
"""

from __future__ import annotations

import csv
import importlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from app.state.views import VIEWS
from core.cli.main import main
from core.data.registry import DATA
from core.dynamics.registry import ENGINES, make_integrator, prepare
from core.dynamics.rows import reduce_rows
from core.errors import InputError
from core.network.registry import NETWORKS
from core.observables.registry import OBSERVABLES, PREDICTIONS, explain, predict
from core.problem.problem import Problem, resolve_problem
from core.reference.registry import REFERENCES
from core.runs import Run, open_run
from core.settings import Registry
from core.study_file.dynamics import DYNAMICS
from core.study_file.experiment import KINDS
from core.study_file.validation import build_experiment
from core.theorems.registry import STATEMENTS

ROOT = Path(__file__).resolve().parents[1]
FILES = ("network", "data", "dynamics", "observable", "prediction", "margin", "theorem", "view")
STUDY = ROOT / "tests" / "extension" / "study.toml"
MOST_LINES = 40  # of the network, blank ones aside
REGISTRIES: tuple[Registry[Any], ...] = (
    NETWORKS,
    DATA,
    DYNAMICS,
    ENGINES,
    OBSERVABLES,
    PREDICTIONS,
    REFERENCES,
    STATEMENTS,
    VIEWS,
)
KEPT: tuple[dict[str, Any], ...] = tuple({} for _ in REGISTRIES)
DYNAMICS_TRIED = ("gd", "flow", "sgd", "averaged")
Call = Callable[..., str]


@pytest.fixture(scope="module", autouse=True)
def kinds() -> Iterator[None]:
    """Yield the kinds of tests.extension, registered for these tests alone."""
    before = [dict(registry) for registry in REGISTRIES]
    for name in FILES:
        importlib.import_module(f"tests.extension.{name}")
    for registry, known, kept in zip(REGISTRIES, before, KEPT, strict=True):
        new = {name: kind for name, kind in registry.items() if name not in known}
        kept.update(new)  # a module registers once, and tests of others may have come between
        registry.update(kept)
        # A prediction brings the observables of its values and of its residual.
        assert len(kept) == (3 if registry is OBSERVABLES else 1)
    yield
    for registry, kept in zip(REGISTRIES, KEPT, strict=True):
        for name in kept:
            del registry[name]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def run(*arguments: object) -> str:
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert status == 0, err
        return str(out)

    return run


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "one-of-each.toml"
    path.write_text(STUDY.read_text().replace("[0, 1]", "[0]"))
    return path


@pytest.fixture
def trained(call: Call, study: Path, tmp_path: Path) -> Callable[..., Path]:
    def run(*settings: str) -> Path:
        chosen = [part for setting in settings for part in ("--set", setting)]
        out = call("run", study, "--out", tmp_path / "runs", "--force", "--quiet", *chosen)
        return Path(out.strip())

    return run


def problem(dynamics: dict[str, Any] | None = None, **tables: dict[str, Any]) -> Problem:
    made = {
        "data": {"kind": "stripes", "n": 12},
        "network": {"kind": "cubed", "m": 8},
        "loss": {"kind": "logistic"},
        "dynamics": dynamics or {"kind": "gd", "step": 0.5, "until_log10_time": 1.5},
        "recording": {"frames": 8},
        **tables,
    }
    return resolve_problem(build_experiment(made, "test"))


def outputs(flat: torch.Tensor, x: torch.Tensor, m: int) -> torch.Tensor:
    """Return f(x) as docs/extend.md defines it, for autograd: the second route of this file."""
    a, V = flat[:m], flat[m:].reshape(m, -1)
    return torch.relu(x @ V.T) @ a**3


def slope_of(flat: np.ndarray, at: Problem) -> np.ndarray:
    leaf = torch.tensor(flat, requires_grad=True)
    x, y = torch.tensor(at.dataset.x), torch.tensor(at.dataset.y)
    risk = torch.nn.functional.softplus(-y * outputs(leaf, x, at.network.m)).mean()
    (slope,) = torch.autograd.grad(risk, leaf)
    return np.asarray(slope.numpy())


def every(run: Run) -> np.ndarray:
    return np.array([run.parameters(frame) for frame in range(run.frames)])


# --------------------------------------------------------------------------- what one has to write


def test_a_network_is_a_short_file() -> None:
    text = (ROOT / "tests" / "extension" / "network.py").read_text()
    assert sum(bool(line.strip()) for line in text.splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", FILES)
def test_the_document_shows_these_very_files(name: str) -> None:
    shown = (ROOT / "docs" / "extend.md").read_text()
    text = (ROOT / "tests" / "extension" / f"{name}.py").read_text()
    assert f"```python\n{text}```" in shown


def test_the_document_shows_the_study() -> None:
    assert f"```toml\n{STUDY.read_text()}```" in (ROOT / "docs" / "extend.md").read_text()


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("network", ("cubed", "sum_j a_j^3")),
        ("data", ("stripes", "every |x_1| is at least this")),
        ("dynamics", ("averaged", "share of the mean that a step keeps")),
        ("observables", ("largest_share", "for networks with nodes")),
        ("observables", ("tangent_distance", "tangent_distance_residual", "for cubed networks")),
        ("margins", ("nearest", "min over y_i != y_k of |x_i - x_k| / 2")),
        ("theorems", ("docs/extend.md, Lemma 1", "The risk never rises")),
    ],
)
def test_describe_tells_of_it(call: Call, what: str, names: tuple[str, ...]) -> None:
    out = call("describe", what)
    assert all(name in out for name in names)


def test_a_name_that_is_taken_is_refused() -> None:
    network = NETWORKS["cubed"]
    assert NETWORKS.add(network) is network
    with pytest.raises(ValueError, match="'risk' already"):
        OBSERVABLES.add(replace(OBSERVABLES["largest_share"], name="risk"))


def test_workers_import_what_registered_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what did so by a function of this program, as a dynamics does."""
    name = "tests.extension.dynamics"
    for registry in (DYNAMICS, ENGINES):
        assert registry._modules["averaged"] == name
        monkeypatch.setattr(Registry, "_all", [registry])
        assert Registry.extensions() == (name,)


def test_definitions_are_shown() -> None:
    assert explain("largest_share").normalisation == "a share"
    assert explain("nearest").title == "half the distance of the classes"


# ------------------------------------------------------------------------------------- its numbers


def test_the_tangent_kernel_is_that_of_the_gradients() -> None:
    at = problem()
    flat, x = at.start.parameters, torch.tensor(at.dataset.x)
    leaf = torch.tensor(flat)
    J = torch.autograd.functional.jacobian(lambda w: outputs(w, x, at.network.m), leaf)
    wanted = (J @ J.T).numpy()
    found = at.network.gram(flat, at.inputs)
    assert np.abs(found - wanted).max() <= 1e-13 * np.abs(wanted).max()


def test_descent_is_that_of_autograd(trained: Callable[..., Path]) -> None:
    with open_run(trained()) as run:
        at, flat = run.problem, np.array(run.start.parameters)
        assert run.engine == "NumPy float64"
        for _ in range(int(run.steps[-1])):
            flat = flat - 0.5 * slope_of(flat, at)
        assert np.allclose(run.parameters(run.frames - 1), flat, rtol=0, atol=1e-12)


def test_the_flow_is_that_of_small_steps(trained: Callable[..., Path]) -> None:
    """Against the classical method of fourth order in t, which is good to 1e-9 there."""
    with open_run(trained("dynamics.kind=flow", "dynamics.until_log10_time=0.5")) as run:
        at, flat, steps = run.problem, np.array(run.start.parameters), 128
        h = 10.0**0.5 / steps
        for _ in range(steps):
            k1 = -slope_of(flat, at)
            k2 = -slope_of(flat + 0.5 * h * k1, at)
            k3 = -slope_of(flat + 0.5 * h * k2, at)
            k4 = -slope_of(flat + h * k3, at)
            flat = flat + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        last = run.frames - 1
        physical = run.network.physical(run.parameters(last), float(run.rho[last]))
        assert run.engine.startswith("NumPy")
        apart = np.linalg.norm(physical - flat) / np.linalg.norm(flat - run.start.parameters)
        assert apart <= 2e-3  # of the way: the flow's promise is for margins (docs/decisions)


def test_wide_data_are_trained_in_row_space() -> None:
    wide = {"data": {"kind": "stripes", "n": 6, "d": 40}}
    at = problem(**wide)
    plain, rows = (make_integrator(prepare(one)) for one in (at, reduce_rows(at)))
    assert rows.engine == f"{plain.engine}, row space"
    last = []
    for engine in (plain, rows):
        chunk = engine.advance()
        while not chunk.frames or chunk.outcome.value == "going":
            chunk = engine.advance()
        last.append(chunk.frames[-1].parameters)
    inside = reduce_rows(at)
    m = at.network.m
    V = inside.reduction.full(last[1][m:].reshape(m, -1))
    assert np.allclose(last[0], np.append(last[1][:m], V.ravel()), rtol=0, atol=1e-12)


def test_the_prediction_is_that_of_the_first_gradient(trained: Callable[..., Path]) -> None:
    with open_run(trained("dynamics.until_log10_time=-1", "dynamics.step=0.001")) as run:
        found = predict(run, "tangent_distance")
        speed = float(np.linalg.norm(slope_of(np.array(run.origin), run.problem)))
        assert np.allclose(found.values, run.t * speed, rtol=1e-12)
        distance = np.linalg.norm(every(run) - run.origin, axis=1)
        assert np.allclose(found.residual, distance - run.t * speed, rtol=0, atol=1e-12)
        assert 0.0 < found.largest <= 0.02 * distance[-1]
    with (
        open_run(trained("dynamics.kind=sgd", "dynamics.batch=3")) as run,
        pytest.raises(InputError, match="the start's gradient says how fast full-batch"),
    ):
        predict(run, "tangent_distance")


# ------------------------------------------------------------------------------ every command


@pytest.mark.parametrize("kind", DYNAMICS_TRIED)
def test_a_run_goes_on_as_if_it_had_not_stopped(
    call: Call, trained: Callable[..., Path], tmp_path: Path, kind: str
) -> None:
    middle, end = (0.3, 0.6) if kind == "flow" else (1.5, 2.0)
    settings = [f"dynamics.kind={kind}"] + ["dynamics.step=0.5"] * (kind != "flow")
    path = trained(*settings, f"dynamics.until_log10_time={middle}")
    out = call(
        "continue",
        path,
        "--out",
        tmp_path / "on",
        "--set",
        f"dynamics.until_log10_time={end}",
        "--quiet",
    )
    with open_run(Path(out.strip())) as further:
        assert further.frames > 1
        assert further.log10_time[-1] == pytest.approx(end, abs=1e-9 if kind == "flow" else 0.02)
        last, steps = further.parameters(further.frames - 1), further.steps[-1]
        found = further.network.physical(last, float(further.rho[further.frames - 1]))
    with open_run(trained(*settings, f"dynamics.until_log10_time={end}")) as whole:
        assert whole.steps[-1] == steps or kind == "flow"
        last = whole.parameters(whole.frames - 1)
        wanted = whole.network.physical(last, float(whole.rho[whole.frames - 1]))
        room = 2e-3 * float(np.abs(wanted).max()) if kind == "flow" else 1e-12
        assert np.allclose(found, wanted, rtol=0, atol=room)


def test_every_reading_command(call: Call, trained: Callable[..., Path], tmp_path: Path) -> None:
    path = trained("dynamics.kind=flow", "dynamics.until_log10_time=0.5")
    table = tmp_path / "t.csv"
    call("table", path, "--out", table)
    with table.open() as file:
        rows = list(csv.DictReader(file))
    with open_run(path) as run:
        flat = run.parameters(run.frames - 1)
        a, V = flat[:8], flat[8:].reshape(8, 2)
        norms = np.abs(a) ** 3 * np.linalg.norm(V, axis=1)
        x, y = run.dataset.x, run.dataset.y
    assert float(rows[-1]["largest_share"]) == pytest.approx(norms.max() / norms.sum(), rel=1e-12)
    drawing = tmp_path / "f.svg"
    call("figure", path, "--out", drawing)
    assert drawing.stat().st_size > 1000
    call("figure", path, "--out", drawing, "--panels", "curves", "--curves", "distance")
    assert "Dashed: predictions" in drawing.read_text()
    assert float(rows[0]["tangent_distance"]) == 0.0
    margins = {one["name"]: one for one in json.loads(call("margins", path, "--json"))}
    nearest = min(
        float(np.linalg.norm(x[i] - x[k])) for i in range(12) for k in range(12) if y[i] * y[k] < 0
    )
    assert margins["nearest"]["value"] == pytest.approx(nearest / 2.0, rel=1e-12)
    out = call("theorems", path)
    assert "docs/extend.md, Lemma 1: holds\n" in out
    assert "cubed, L = 4: met" in out
    assert "largest_share" in call("info", path)


def test_the_study_is_checked_and_drawn(call: Call, tmp_path: Path) -> None:
    runs, drawing = tmp_path / "runs", tmp_path / "f.svg"
    (judged,) = json.loads(call("check", STUDY, "--out", runs, "--json", "--quiet", "--jobs", 1))
    assert judged["verdict"] == "confirmed"
    call("figure", runs, "--out", drawing)
    assert "share of the largest node" in drawing.read_text()


@pytest.mark.slow
def test_a_sweep_in_worker_processes(call: Call, study: Path, tmp_path: Path) -> None:
    table = tmp_path / "sweep.csv"
    runs = tmp_path / "swept"
    settings = ("dynamics.kind=averaged", "run.seed=[0, 1]", "network.m=[8, 9, 10, 11]")
    chosen = [part for setting in settings for part in ("--set", setting)]
    out = call("run", study, "--out", runs, "--jobs", 2, "--quiet", "--table", table, *chosen)
    assert len([line for line in out.splitlines() if line.endswith(".msrun")]) == 8
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert all(0.125 < float(row["largest_share"]) < 1.0 for row in rows)
    verdicts = json.loads(call("check", runs, "--json"))
    assert [one["verdict"] for one in verdicts] == ["confirmed"], verdicts


# ------------------------------------------------------------------------------------ the window


def test_the_form_offers_it(qtbot: Any, study: Path) -> None:
    from app.training.experiment_form import ExperimentForm
    from app.widgets.inputs import ChoiceBox
    from core.studies.study import load_study

    form = ExperimentForm()
    qtbot.addWidget(form)
    form.set_study(load_study(str(study)))
    for section, kind in (("data", "stripes"), ("network", "cubed"), ("dynamics", "averaged")):
        assert kind in KINDS[section]
        control = form.findChild(ChoiceBox, f"{section}.kind")
        assert control.findData(kind) >= 0


def test_the_view_shows_a_run(qtbot: Any, trained: Callable[..., Path]) -> None:
    from app.state.display import DisplayData
    from app.views.run_panel import RunPanel
    from core.figures.palette import LIGHT
    from tests.app.options import show_frame

    data = DisplayData(open_run(trained("dynamics.kind=averaged")))
    while not data.complete:
        data.update()
    with data.run as run:
        panel = RunPanel(LIGHT)
        qtbot.addWidget(panel)
        panel.resize(500, 400)
        panel.set_data(data, "one of each")
        panel.set_views((*panel.names, "shares"))
        show_frame(panel, data.frames - 1)
        panel.show()
        qtbot.waitExposed(panel)
        assert panel.names[-1] == "shares" == list(VIEWS)[-1]
        view = panel.view("shares")
        ((path, _),) = view.curve.curves
        norms = np.sort(OBSERVABLES["relative_norm"].value_at(run, data.frames - 1))[::-1]
        shares = np.append(0.0, np.cumsum(norms)) / norms.sum()
        drawn = [path.elementAt(k) for k in range(path.elementCount())]
        assert np.allclose([e.x for e in drawn], np.arange(9) / 8)
        assert np.allclose([e.y for e in drawn], shares)
        assert all(explain(name).title for name in view.help_topics())
