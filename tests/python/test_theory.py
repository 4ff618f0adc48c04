"""Margins and verdicts from Python: the program's own numbers, closed forms, and what is wrong."""

from __future__ import annotations

import inspect
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.problem.problem import resolve_problem
from core.reference.cancel_token import CancelToken
from core.reference.registry import REFERENCES, compute, references_of
from core.runs import RunFile, open_run
from core.studies.study import load_study
from tests.python.small import as_json, trained
from tests.support.commands import interrupt_margins

pytestmark = pytest.mark.usefixtures("few_directions")

SQUARE = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
XOR = SQUARE[:, 0] * SQUARE[:, 1]


@pytest.fixture
def run(tmp_path: Path) -> ms.Run:
    return trained(path=tmp_path / "a.msrun", **{"data.d": 4, "data.n": 8})


def test_the_global_margin_of_xor_is_that_of_the_closed_form() -> None:
    """Of all corners at d = 2 it is 1/sqrt(8 d) = 1/4, on the circle."""
    found = ms.margins(SQUARE / np.sqrt(2.0), XOR)["gamma_gl"]
    assert found.certified and found.lower <= 0.25 <= found.upper
    assert found.gap < 1e-9 and found.factor == 0.5


def test_a_run_is_the_program_s_own_and_names_what_is_documented(run: ms.Run) -> None:
    assert isinstance(run, RunFile)
    with open_run(run.path) as own:
        assert (own.status, run.status) == ("finished", "completed")
    names = [name for name in dir(run) if not name.startswith("_")]
    assert {"V", "close", "path", "status", "title"} < set(names) and len(names) == 27
    assert all(inspect.getdoc(getattr(ms.Run, name)) for name in names if name != "path")


def test_frames_are_counted_by_numbers_of_numpy_too(run: ms.Run) -> None:
    for index in (np.int64(1), np.uint8(1), np.int64(1 - len(run))):
        assert run.frame(index).step == run.steps[1]


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_points_of_one_label_have_margins(label: float) -> None:
    """Of the unit vectors one node has 1/sqrt 3; of two opposite points two nodes have 1/2."""
    found = ms.margins(np.eye(3), label * np.ones(3))
    for name in ("gamma_gl", "gamma_linear"):
        assert found[name].lower <= 1.0 / np.sqrt(3.0) <= found[name].upper + 1e-12
    opposite = ms.margins(np.array([[1.0, 0.0], [-1.0, 0.0]]), label * np.ones(2))
    assert opposite["gamma_gl"].lower <= 0.5 <= opposite["gamma_gl"].upper
    assert not opposite["gamma_linear"].exists


def test_labels_and_arrays_are_taken_as_they_are() -> None:
    import torch

    one = ms.margins(torch.tensor(SQUARE), torch.tensor(XOR > 0))["gamma_gl"]
    two = ms.margins(SQUARE, (XOR > 0).astype(int)[:, None])["gamma_gl"]
    assert (one.lower, one.upper) == (two.lower, two.upper)


def test_each_is_computed_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def noted(reference: Any, *given: Any) -> Any:
        asked.append(reference.name)
        return compute(reference, *given)

    monkeypatch.setattr("marginscope._engine.margins.compute", noted)
    found = ms.margins(SQUARE, XOR)
    assert {"gamma_gl", "gamma_linear"} < set(found) and asked == []
    for _ in range(2):
        assert found["gamma_gl"].exists
    assert asked == ["gamma_gl"]
    assert "<gamma_gl = " in repr(found) and "<gamma_linear>" in repr(found)


def test_margins_of_a_run_are_those_of_its_problem(run: ms.Run) -> None:
    found = run.margins()
    with open_run(run.path) as own:
        assert set(found) == {one.name for one in references_of(own.problem)}
        for name, bracket in found.items():
            theirs = compute(REFERENCES[name], own.problem, CancelToken(), cache=False)
            ends = (bracket.lower, bracket.upper, bracket.value)
            wanted = (theirs.bracket.lower, theirs.bracket.upper, theirs.bracket.value)
            assert ends == pytest.approx(wanted, nan_ok=True)
            assert (bracket.certified, bracket.method) == (
                theirs.bracket.certified,
                theirs.bracket.method,
            )
            assert (bracket.formula, bracket.factor) == (theirs.reference.formula, theirs.factor)


def test_data_of_a_run_have_its_margins(run: ms.Run) -> None:
    mine, theirs = ms.margins(run.x, run.y), run.margins()
    for name in ("gamma_gl", "gamma_linear", "rkhs"):
        assert (mine[name].lower, mine[name].upper) == (theirs[name].lower, theirs[name].upper)


def test_margins_of_batch_norm_are_those_of_the_start() -> None:
    study = load_study("batchnorm-figure-1").at_size("quick")
    (cell, *_) = study.cells()
    problem = resolve_problem(cell.experiment, study.folder)
    start = problem.network.unpack(problem.start.parameters)
    data = problem.dataset
    given = {name: start[name] for name in ("V", "a", "c")}
    eps = problem.experiment.network.eps
    mine = ms.margins(data.x, data.y, network="batch_norm", eps=eps, **given)
    for name in ("gamma_a", "gamma_c"):
        own = compute(REFERENCES[name], problem, CancelToken(), cache=False).bracket
        assert (mine[name].lower, mine[name].upper) == pytest.approx((own.lower, own.upper))


def test_settings_of_the_network_are_its_sections() -> None:
    x = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.2]])
    y = np.array([1.0, -1.0, -1.0])
    two = [ms.margins(x, y, network="fixed_outer", slope=slope) for slope in (0.1, 0.5)]
    values = [one["leaky_optimum"].value for one in two]
    assert all(map(math.isfinite, values)) and values[0] != values[1]


WRONG_MARGINS: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "no labels": ((SQUARE,), {}, "y, the labels of x, are missing"),
    "too few": ((SQUARE, XOR[:2]), {}, "one label for each of 4"),
    "a network": ((SQUARE, XOR), {"network": "stndard"}, "did you mean 'standard'"),
    "a setting": ((SQUARE, XOR), {"gamma": 0.1}, "network.gamma does not exist"),
    "a start": ((SQUARE, XOR), {"network": "batch_norm"}, "give its inner weights V"),
    "V": ((SQUARE, XOR), {"V": np.ones((2, 3))}, r"V has shape \(2, 3\); it must be \(m, 2\)"),
    "a": (
        (SQUARE, XOR),
        {"V": np.ones((3, 2)), "a": np.ones(2)},
        r"a has shape \(2,\); it must be \(3,\)",
    ),
    "c": ((SQUARE, XOR), {"c": np.ones(2)}, "has no c; it has a, V"),
    "a name": ((SQUARE, XOR), {"which": ["gama_gl"]}, "did you mean 'gamma_gl'"),
    "elsewhere": (
        (SQUARE, XOR),
        {"which": "gamma_l1"},
        'gamma_l1 is defined for network.kind = "bias"',
    ),
    "classes": ((SQUARE, np.arange(4)), {}, "y has 4 classes"),
    "a limit": ((SQUARE, XOR), {"limit": 0.0}, "limit = 0; give a positive number"),
}


@pytest.mark.parametrize("case", WRONG_MARGINS)
def test_what_is_wrong_with_margins_is_a_sentence(case: str) -> None:
    given, named, sentence = WRONG_MARGINS[case]
    with pytest.raises(ms.InputError, match=sentence) as caught:
        ms.margins(*given, **named)
    assert str(caught.value).endswith(".") or "did you mean" in str(caught.value)


def test_names_that_are_not_there() -> None:
    found = ms.margins(SQUARE, XOR, which=["gamma_gl"])
    assert list(found) == ["gamma_gl"] and found.get("gamma_c") is None
    assert "gamma_c" not in found
    with pytest.raises(KeyError) as caught:
        _ = found["gamma_c"]
    assert isinstance(caught.value, ms.InputError)
    assert str(caught.value).startswith("gamma_c is defined for network.kind")


def test_ctrl_c_ends_a_computation(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_margins(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        _ = ms.margins(SQUARE, XOR)["gamma_linear"]


# ------------------------------------------------------------------------------------ verdicts


@pytest.mark.same_margins
def test_verdicts_are_those_of_the_command_line(run: ms.Run, capsys: Any) -> None:
    found = run.theorems(limit=5.0)
    theirs = as_json(capsys, "theorems", run.path, "--limit", 5)
    assert len(found) == len(theirs) > 15
    for mine, told in zip(found, theirs, strict=True):
        own = mine.as_dict()
        json.dumps(own, allow_nan=False)
        for name in ("name", "source", "text", "verdict", "bound", "measured", "slack", "ratio"):
            assert own[name] == told[name], (mine, name)
        assert list(own["hypotheses"]) == told["hypotheses"]
        for name, moment in told["times"].items():
            known = mine.times[name]
            assert (moment is None) == (known is None)
            if known is not None and moment != "0":
                assert moment == f"10^{known!r}"


@pytest.mark.same_margins
def test_margins_that_are_known_are_used(run: ms.Run) -> None:
    known = run.margins(["gamma_gl", "gamma_ntk"])
    two = [
        {one.name: one.verdict for one in run.theorems(margins)}
        for margins in (known, ("gamma_gl", "gamma_ntk"))
    ]
    assert two[0] == two[1]
    none = {one.name: one.verdict for one in run.theorems(())}
    assert none.keys() == two[0].keys() and none != two[0]
    with pytest.raises(ms.InputError, match="did you mean 'gamma_gl'"):
        run.theorems(["gamma_g"])
    with pytest.raises(ms.InputError, match="delta = 2; give a probability"):
        run.theorems((), delta=2.0)


def test_a_verdict_reads_as_text(run: ms.Run) -> None:
    (one,) = (each for each in run.theorems(()) if each.name == "Lemma A.2 (norms)")
    assert repr(one) == "<telgarsky22, Lemma A.2 (norms): holds>" and one.holds is True
    text = str(one)
    assert text.startswith("telgarsky22, Lemma A.2 (norms): holds\n    ")
    assert f"measured {one.measured:.6g} {one.sense} {one.bound:.6g}" in text
    for each in one.hypotheses:
        assert each.text.split()[0] in text
    assert max(map(len, text.splitlines())) <= 96


LINEAR = """
data = { kind = "orthonormal" }
network = { kind = "linear", m = 3 }
loss = { kind = "least_squares" }
dynamics = { kind = "gd", step = 0.05, until_log10_time = 1.0 }
recording = { frames = 12 }
"""


def test_predictions_of_a_run(tmp_path: Path) -> None:
    study = tmp_path / "linear.toml"
    study.write_text(LINEAR)
    with ms.train(study) as run:
        curve = run.predict("mode_saxe")
        assert np.array_equal(curve.values, run["mode_saxe"])
        assert np.allclose(curve.residual, run["mode_strength"] - run["mode_saxe"], atol=1e-15)
        assert curve.largest == np.abs(curve.residual).max() > 0.0
        assert curve.last == curve.residual[-1]
        assert curve.band is None
        with pytest.raises(ms.InputError, match="'mode_sax'; did you mean"):
            run.predict("mode_sax")


TEACHER = """
data = { kind = "regression", d = 6, n = 20, units = 2, teacher = "orthonormal" }
network = { kind = "standard", m = 3 }
loss = { kind = "least_squares" }
dynamics = { kind = "population", step = 0.1, until_log10_time = 0.5 }
recording = { frames = 7 }
"""


def test_order_parameters_of_a_run(tmp_path: Path) -> None:
    study = tmp_path / "teacher.toml"
    study.write_text(TEACHER)
    with ms.train(study) as run:
        found = run.order_parameters()
        assert np.allclose(found.Q, run.V @ np.swapaxes(run.V, 1, 2), rtol=1e-13, atol=1e-15)
        assert np.array_equal(found.R, run.V[:, :, :2])
        assert np.array_equal(found.a, run.a)
        assert np.array_equal(found.T, np.eye(2))
        assert np.array_equal(found.c, np.ones(2))
        assert np.allclose(run["own_overlap"], found.R.max(axis=1).mean(axis=1), rtol=1e-13)
        assert found.t[-1] == 10.0 ** run.log10_t[-1]
    study.write_text(LINEAR)
    with ms.train(study) as run, pytest.raises(ms.InputError, match="with a teacher"):
        run.order_parameters()
