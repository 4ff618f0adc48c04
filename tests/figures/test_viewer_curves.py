"""Curves of the viewer in a browser, against the program's observables and its strips."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginscope as ms
from core.figures.viewer import QUANTITIES
from core.observables.registry import OBSERVABLES, PREDICTIONS, title_with_unit
from core.runs import Run, open_run
from tests.figures.test_viewer_content import compare
from tests.figures.test_viewer_numbers import SAME, random_run
from tests.networks import Case, small_problem
from tests.recording import recorded
from tests.support.browser import Browser, browser, browser_path
from tests.support.pages import flat
from tests.support.viewer import READY, numbers_of, write_probe
from tests.theorems.test_shipped_studies import SMALL

PROGRAM = browser_path()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")
# Studies that differ in network, loss or dynamics, and the loss and number of classes of each.
STUDIES = {
    "telgarsky22-figure-1": ("exponential", 2),
    "telgarsky22-table-1-scalar": ("exponential", 2),
    "batchnorm-figure-1": ("logistic", 2),
    "frei23-figure-1": ("logistic", 2),
    "cohen21-edge-squared": ("squared", 2),
    "boursier22-orthonormal": ("least_squares", None),
    "saxe14-modes": ("least_squares", None),
    "saad95-plateau": ("least_squares", None),
    "damian21-label-noise": ("least_squares", None),
    "frei23-figure-2": ("cross_entropy", 10),
    "morwani24-grokking": ("cross_entropy", 5),
}
OF_THEORY = (
    "curves of theory: a run file has none; where theory predicts such a run, the window and "
    "marginscope-core page draw its curve over the measured one"
)
PREDICTED = {"saxe14-modes", "saad95-plateau", "damian21-label-noise"}
LABELS = {key: title_with_unit(key) for key in QUANTITIES}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None
    with browser(PROGRAM) as one:
        one.open(write_probe(tmp_path_factory.mktemp("probe") / "probe.html"), READY)
        yield one


def curves_of(page: Browser, path: Path) -> tuple[dict[str, np.ndarray], str]:
    """Return the values of each strip by its title, from the top down, and what is not drawn."""
    found = numbers_of(page, path)
    panel = found["content"]["rows"][0]["panels"]["curves"]
    titles = [flat(level["label"]) for level in panel["levels"] if level["label"]]
    values = [curve["values"] for curve in reversed(panel["curves"])]
    curves = dict(zip(titles, values, strict=True))
    return curves, dict(found["facts"]).get("not drawn", "")


def assert_same_curves(curves: dict[str, np.ndarray], run: Run, names: tuple[str, ...]) -> None:
    """Compare every value of the strips with the observables of the program."""
    assert list(curves) == [LABELS[name] for name in names]
    for name in names:
        wanted = OBSERVABLES[name].trace(run)
        assert np.isfinite(wanted).any(), name
        np.testing.assert_allclose(curves[LABELS[name]], wanted, rtol=SAME, err_msg=name)


@pytest.mark.parametrize("study", STUDIES)
def test_curves_are_the_observables_of_shipped_studies(
    study: str, page: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "a.msrun"
    recorded(path, *SMALL[study], study=study)
    curves, missing = curves_of(page, path)
    with open_run(path) as run:
        loss, classes = STUDIES[study]
        assert run.loss.kind == loss
        assert classes is None or run.dataset.classes == classes
        names = tuple(name for name in QUANTITIES if OBSERVABLES[name].applies(run))
        assert run.dataset.real == (classes is None) == ("train_error" not in names)
        assert_same_curves(curves, run, names)
        suits = any(one.suits(run) for one in PREDICTIONS.values())
    assert suits == (study in PREDICTED)
    words = "the targets are numbers, not labels"
    wanted = [f"margins: {words}", f"{LABELS['train_error']}: {words}"] if classes is None else []
    assert missing == "; ".join([*wanted, *([OF_THEORY] if suits else [])])
    # Theory's curve over the risk of linear networks is all that the exported page has besides.
    found = compare(page, path)
    assert found[:1] == (["panels.curves.curves: 2 for 3"] if study == "saxe14-modes" else [])


@pytest.mark.parametrize(
    ("settings", "left_out"),
    [
        ({"loss": "mse"}, {}),
        ({"loss": None}, {"log10_risk": "the loss is not known"}),
        (
            {"activation": None},
            dict.fromkeys(("log10_risk", "train_error"), "the activation is not known"),
        ),
    ],
)
def test_unknown_quantities_of_a_loop_are_left_out_with_a_reason(
    settings: dict[str, Any], left_out: dict[str, str], page: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "a.msrun"
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((12, 3)), np.where(np.arange(12) % 3, 1.0, -1.0)
    V, a = generator.standard_normal((5, 3)), generator.standard_normal(5)
    with ms.record(path, x, y, V0=V, a0=a, **{"loss": "logistic", **settings}) as r:
        for t in range(1, 6):
            r.frame(t, V=V + 0.1 * t, a=a - 0.1 * t)
    curves, missing = curves_of(page, path)
    with open_run(path) as run:
        names = tuple(name for name in QUANTITIES if name not in left_out)
        for name in left_out:
            assert np.isnan(OBSERVABLES[name].trace(run)).all()
        assert_same_curves(curves, run, names)
    wanted = [f"{LABELS[name]}: {reason}" for name, reason in left_out.items()]
    assert missing == "; ".join(wanted)


@pytest.mark.parametrize("growth", [0.7, 5.0, 140.0])
def test_strips_of_any_range_are_those_of_the_exported_page(
    growth: float, page: Browser, tmp_path: Path
) -> None:
    """Norms over a decade, over many, and with numbers whose fractions are no floats."""
    problem = small_problem(Case("standard", "exponential"))
    path = random_run(tmp_path / "a.msrun", problem, growth=growth)
    with open_run(path) as run:
        assert OBSERVABLES["norm_squared"].trace(run)[0] > 0.0
    assert compare(page, path) == []
