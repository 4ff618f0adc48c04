"""For each kind of claim a case without the effect, which the claims of the shipped studies refute.

Made-up ends of runs where a claim needs no more (wrong powers, no trend), and small recorded runs
with labels flipped at random, a wrong width, a wrong activation, other data, or too short a time.
Beside each stands the same claim where the effect is there, so that no claim refutes everything.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.studies.cell_table import Row
from core.studies.study import Study, load_study
from core.studies.trials import Trial, trials_of
from core.studies.verdicts import judge
from tests.support.sweeps import judged_on, only

Values = Callable[[Any], dict[str, float]]
NOISE = np.random.default_rng(7).uniform(0.9, 1.1, 997)


def noise(cell: Any) -> float:
    """Return a factor between .9 and 1.1 that belongs to a cell of a study."""
    return float(NOISE[sum(cell.name.encode()) * 31 % NOISE.size])


def ended(study: Study, values: Values) -> tuple[Trial, ...]:
    """Return trials of all cells whose last values are made up."""
    rows = {
        cell.name: Row(cell.name, "done", "completed", values=values(cell))
        for cell in study.cells()
    }
    return trials_of(study, rows, {name: Path(name) for name in rows})


def verdict(study: Study, trials: tuple[Trial, ...], start: str) -> str:
    """Return the verdict on the claim whose text begins so."""
    return judge(only(study, [start]), trials, None)[0].verdict


# --------------------------------------------------------------------------------- made-up ends


def samples(power: dict[str, float]) -> Values:
    """Return Table 1 with n* = n*(20) (d/20)^power of each variant, log-linear in n about .1."""
    at_20 = {"kernel": 194.0, "SGD": 305.0, "perturbed": 62.0}

    def values(cell: Any) -> dict[str, float]:
        variant = cell.values["variant"]
        if variant not in power:
            return {}
        n, d = cell.experiment.data.n, cell.experiment.data.d
        needed = at_20[variant] * (d / 20.0) ** power[variant]
        return {"test_error": 0.1 - 0.05 * math.log(n / needed)}

    return values


POWERS = (
    "The kernel needs of the order of d^2",
    "Narrow SGD stays within its bound",
    "The perturbed flow needs a smaller power",
    "The perturbed flow lies between",
)


def test_powers_of_d(subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the number at d = 20, which does not depend on the power."""
    monkeypatch.setattr("core.studies.statistics.RESAMPLES", 50)  # of values without noise
    of_20 = "At d = 20 the kernel needs 194"
    study = only(load_study("telgarsky22-table-1").at_size("quick"), [*POWERS, of_20])
    present = samples({"kernel": 1.83, "SGD": 1.18, "perturbed": 1.3})

    def later(cell: Any) -> dict[str, float]:
        return {name: error + 0.05 * math.log(1.2) for name, error in present(cell).items()}

    absent = samples({"kernel": 1.5, "SGD": 2.05, "perturbed": 1.6})
    for wanted, values in ((set(), present), ({*POWERS}, absent), ({of_20}, later)):
        for start, one in zip(
            (*POWERS, of_20), judge(study, ended(study, values), None), strict=True
        ):
            with subtests.test(start, refuted=len(wanted)):
                assert one.text.startswith(start)
                assert one.verdict == ("refuted" if start in wanted else "confirmed")


RANK = {"stable_rank_0": 1.0}  # of which the relative stable rank is a share
GAMMA = {"gamma_a": 0.0}  # so that gamma_a + gamma_c is gamma_c


def d_of(cell: Any) -> float:
    return float(cell.experiment.data.d)


def m_of(cell: Any) -> float:
    return float(cell.experiment.network.m)


def step_of(cell: Any) -> float:
    return float(cell.experiment.dynamics.step)


def scale_of(cell: Any) -> float:
    return float(cell.experiment.network.init_multiple)


ENDS: dict[str, tuple[str, str, Values, Values]] = {
    "slope": (
        "homogeneity-mirror-flow",
        "Gradient descent departs from the mirror flow by O(eta)",
        lambda cell: {"mirror_gap": 0.05 * step_of(cell)},
        lambda cell: {"mirror_gap": 0.05 * step_of(cell) ** 0.5},
    ),
    "rank correlation over widths": (
        "batchnorm-figure-1",
        "Wider networks tend to have a larger gamma",
        lambda cell: GAMMA | {"gamma_c": m_of(cell) ** 0.1 * noise(cell)},
        lambda cell: GAMMA | {"gamma_c": noise(cell)},
    ),
    "rank correlation over dimensions": (
        "frei23-figure-1",
        "After 1000 steps the relative stable rank decreases with d",
        lambda cell: RANK | {"stable_rank": d_of(cell) ** -0.3},
        lambda cell: RANK | {"stable_rank": noise(cell)},
    ),
    "ratio of pairs by its interval": (
        "wei19-figure-3-right",
        "The margin grows with hidden layer size from",
        lambda cell: {"hard_margin": m_of(cell) ** 0.1 * noise(cell), "train_error": 0.0},
        lambda cell: {"hard_margin": noise(cell), "train_error": 0.0},
    ),
    "share of pairs": (
        "wei19-figure-2",
        "The regulariser increases the margin on every seed",
        lambda cell: {"hard_margin": 0.01 + cell.experiment.loss.l2, "train_error": 0.0},
        lambda cell: {"hard_margin": 0.01 * noise(cell), "train_error": 0.0},
    ),
    "share of runs": (
        "frei23-figure-4",
        "With step size .01 training for 1000 steps",
        lambda cell: (
            RANK
            | {"stable_rank": min(scale_of(cell), 1.0) ** 0.5 if scale_of(cell) < 1.0 else 0.98}
        ),
        lambda cell: RANK | {"stable_rank": 1.0},
    ),
    "difference of two means": (
        "homogeneity-example-4-1",
        "At n = 4 d the net's test error, averaged",
        lambda cell: {"test_error": 0.1 if "kernel" not in cell.values["variant"] else 0.27},
        lambda cell: {"test_error": 0.2 * noise(cell)},
    ),
    "largest of all runs": (
        "wei19-figure-3-left",
        "At hidden layer sizes of 2^7 and more every trial",
        lambda cell: {"train_error": 0.0 if m_of(cell) >= 128 else 0.1},
        lambda cell: {"train_error": 0.005 if cell.values["run.seed"] == 3 else 0.0},
    ),
}


@pytest.mark.parametrize("kind", ENDS)
def test_without_the_effect_a_claim_is_refuted(kind: str) -> None:
    name, start, present, absent = ENDS[kind]
    study = load_study(name).at_size("quick")
    assert verdict(study, ended(study, present), start) == "confirmed"
    assert verdict(study, ended(study, absent), start) == "refuted"


# -------------------------------------------------------------------------------- recorded runs


CONES = (
    "data.n=12",
    "network.m=16",
    "run.seed=0",
    "recording.log10_times=[]",
    "recording.frames=40",
)
LEAKY = ("data.n=6", "network.m=10", "run.seed=0")
ATOM = ("dynamics.sigma=0.001", "run.seed=0", "network.m=100")
CLUSTERS = (
    "data.d=200",
    "network.m=16",
    "run.seed=[0, 1]",
    "network.init_multiple=0.02",
    "recording.log10_times=[]",
    "recording.frames=4",
    "dynamics.until_log10_time=-0.5",
)
STEP_100 = ("dynamics.until_log10_time=0", "recording.log10_times=[]", "recording.frames=2")
WAVES = ("data.n=10", "data.d=10", "network.m=8")
RECORDED: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "never falls, along what is no gradient flow": (
        "telgarsky22-theorem-3-2",
        ("Once positive, the smoothed margin never falls",),
        CONES,
        (*CONES, "dynamics.kind=adam", "dynamics.step=0.1", "dynamics.until_log10_time=2.5"),
    ),
    "a theorem's bound, and from a time on, too early": (
        "telgarsky22-theorem-3-2",
        ("Every run ends with a smoothed margin", "From t = 10^10 on"),
        CONES,
        (*CONES, "dynamics.until_log10_time=1"),
    ),
    "the items of a limit, too early": (
        "frei23-theorem-3-2",
        ("Item 2: all neurons of the same sign", "Theorem 3.1: gradient flow"),
        LEAKY,
        (*LEAKY, "dynamics.until_log10_time=100"),
    ),
    "an activation of another slope": (
        "frei23-figure-3",
        (
            "The smoothed leaky ReLU is .1-leaky",
            "The largest second derivative of the smoothed leaky ReLU is exactly",
            "The leaky ReLU",
        ),
        WAVES,
        (*WAVES, "network.slope=0.3"),
    ),
    "an optimum that is not reached": (
        "wei19-perturbed-flow",
        ("With sigma = 10^-3 the flow finds a global optimum",),
        ATOM,
        (*ATOM, "dynamics.until_log10_time=1"),
    ),
    "a network too narrow to learn by heart": (
        "morwani24-grokking",
        ("At step 100 the training accuracy of every run",),
        STEP_100,
        (*STEP_100, "network.m=1"),
    ),
    "labels at random": (
        "frei23-figure-5",
        ("From the small initialisation the mean final test accuracy",),
        CLUSTERS,
        (*CLUSTERS, "data.flips=0.5"),
    ),
}


@pytest.mark.parametrize("kind", RECORDED)
def test_runs_without_the_effect_are_refuted(kind: str, tmp_path: Path) -> None:
    name, starts, present, absent = RECORDED[kind]
    for settings, wanted in ((present, "confirmed"), (absent, "refuted")):
        told = judged_on(name, settings, tmp_path / wanted, starts)
        assert [one.verdict for one in told] == [wanted] * len(starts), [one.line for one in told]


def test_other_data_are_no_sample_of_d(tmp_path: Path) -> None:
    starts = ("The first two coordinates are", "All other coordinates are")
    short = ("run.seed=0", "network.m=4", "dynamics.until_log10_time=-1")
    told = judged_on("wei19-figure-1", short, tmp_path / "d", starts)
    assert [one.verdict for one in told] == ["confirmed"] * 2
    other = (*short, "data.kind=parity", "data.n=200")
    told = judged_on("wei19-figure-1", other, tmp_path / "parity", starts)
    assert [one.verdict for one in told] == ["refuted"] * 2
