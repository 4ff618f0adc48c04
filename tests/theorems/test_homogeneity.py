"""homogeneity: bounds and hypotheses on small runs, recomputed from THEOREMS.md."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.runs import Run
from core.theorems import common
from core.theorems.statement import Assessment, Context, Verdict
from core.theorems.telgarsky22_global import reference_nodes
from tests.theorems.judging import condition, exactly, of_paper, problem_of, recorded_run

DELTA, D, N, M = 0.1, 6, 16, 48
CORNERS = 1 / math.sqrt(8 * D)
MARGINS = exactly(gamma_gl=0.16, parity_population=CORNERS)


@pytest.fixture(scope="module")
def shallow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    at = problem_of(
        {"kind": "normalised", "m": M}, {"kind": "flow", "until_log10_time": 6.0}, frames=60
    )
    with recorded_run(tmp_path_factory.mktemp("runs") / "shallow", at) as run:
        yield run


@pytest.fixture(scope="module")
def found(shallow: Run) -> dict[str, Assessment]:
    return of_paper(shallow, MARGINS, "homogeneity", DELTA)


def physical(run: Run, index: int) -> dict[str, np.ndarray]:
    """a, b at their physical size, and V."""
    return run.network.unpack(run.network.physical(run.parameters(index), float(run.rho[index])))


def features(run: Run, index: int) -> np.ndarray:
    """z (n, m) = y beta relu(<v/|v|, x>) by hand."""
    parts, start = physical(run, index), physical(run, 0)
    V = parts["V"] / np.linalg.norm(parts["V"], axis=1, keepdims=True)
    beta = np.sign(start["a"] * start["b"])
    F = np.maximum(run.dataset.x @ V.T, 0.0)
    return np.asarray(run.dataset.y[:, None] * beta * F)


def u_of(run: Run, index: int) -> np.ndarray:
    parts = physical(run, index)
    return np.asarray(np.abs(parts["a"] * parts["b"]))


def pbar_of(run: Run) -> np.ndarray:
    """The LP max gamma over the simplex of the initial features, by scipy."""
    from scipy.optimize import linprog

    z = features(run, 0)
    n, m = z.shape
    solved = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.hstack([-z, np.ones((n, 1))]), b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None], b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
    )  # fmt: skip
    return np.asarray(solved.x[:m])


def unnormalised_kl(v: np.ndarray, u: np.ndarray) -> float:
    """<v, ln(v/u)> + <1, u - v>."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(v > 0, v * np.log(np.where(v > 0, v, 1.0) / u), 0.0)
    return float(terms.sum() + u.sum() - v.sum())


def gammas(run: Run) -> np.ndarray:
    pbar = pbar_of(run)
    return np.array([(features(run, k) @ pbar).min() for k in range(run.frames)])


def targets(run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """c = ln(t n)/gamma, D(c pbar, u0) and gamma_t = inf over s <= t, by hand (T,)."""
    running = np.minimum.accumulate(gammas(run))
    with np.errstate(divide="ignore", invalid="ignore"):
        c = (run.log10_time * math.log(10) + math.log(N)) / running
    c = np.where((c > 0) & np.isfinite(c) & (running > 0), c, np.nan)
    pbar, start = pbar_of(run), u_of(run, 0)
    return c, np.array([unnormalised_kl(one * pbar, start) for one in c]), running


# ----------------------------------------------------------------------------- Lemmas 3.2 to 3.5


def test_start_of_the_reparametrisation(shallow: Run) -> None:
    """Conventions: u_j(0) = 1/m, |pbar|_1 = 1, and a positive margin of pbar at the start."""
    assert u_of(shallow, 0) == pytest.approx(np.full(M, 1 / M))
    assert pbar_of(shallow).sum() == pytest.approx(1.0)
    assert gammas(shallow)[0] > 0


@pytest.mark.parametrize("name", ["Lemma 3.2", "Lemma 3.4 (growth)", "Lemma A.1 (2)"])
def test_lemmas_hold(found: dict[str, Assessment], name: str) -> None:
    assert [one.text for one in found[name].hypotheses if not one.met] == []
    assert found[name].verdict is Verdict.HOLDS


@pytest.mark.parametrize("name", ["Lemma 3.3 (2)", "Lemma 3.4 (size)"])
def test_lemmas_about_pbar_hold(found: dict[str, Assessment], name: str) -> None:
    assert found[name].verdict in (Verdict.HOLDS, Verdict.HOLDS_ANYWAY, Verdict.UNDECIDED)
    gamma = condition(found[name], "inf over s")
    assert (found[name].verdict is Verdict.HOLDS) == (gamma.met is True)


def test_growth(shallow: Run, found: dict[str, Assessment]) -> None:
    """|u_t| <= |u_0| exp(2 int G); G by hand, trapezia of a fine schedule bracket the integral."""
    one = found["Lemma 3.4 (growth)"].comparison
    assert one.bound_trace is not None
    assert one.measured_trace is not None
    sizes = np.array([u_of(shallow, k).sum() for k in range(shallow.frames)])
    assert one.measured_trace == pytest.approx(sizes)
    G = []
    for k in range(shallow.frames):
        p = features(shallow, k) @ u_of(shallow, k)
        G.append((1 / (1 + np.exp(p))).mean())
    t = 10.0**shallow.log10_time
    upper = np.append(0.0, np.cumsum(np.diff(t) * np.array(G)[:-1]))
    lower = np.append(0.0, np.cumsum(np.diff(t) * np.array(G)[1:]))
    assert (one.bound_trace >= sizes[0] * np.exp(2 * lower) * (1 - 1e-9)).all()
    assert (one.bound_trace <= sizes[0] * np.exp(2 * upper) * 1.002 * (1 + 1e-9)).all()


def test_size(shallow: Run, found: dict[str, Assessment]) -> None:
    """(8 R4 + 2)|ub| + 32 with R4 |ub| = D(ub, u0)."""
    c, divergence, _ = targets(shallow)
    trace = found["Lemma 3.4 (size)"].comparison.bound_trace
    assert trace is not None
    known = ~np.isnan(c)
    assert trace[known] == pytest.approx((8 * divergence / c + 2)[known] * c[known] + 32)
    assert np.isnan(trace[~known]).all()


def test_margin_of_lemma_3_4(shallow: Run, found: dict[str, Assessment]) -> None:
    """<z, u>/|u| >= gamma/(2 (1 + R4)), half of it in |a|^2 + |b|^2, from t_1 = (20 R4/gamma)^4."""
    c, divergence, running = targets(shallow)
    ratio = divergence / c
    one = found["Lemma 3.4 (margin)"].comparison
    assert one.bound_trace is not None
    with np.errstate(invalid="ignore"):
        late = shallow.log10_time >= 4 * np.log10(20 * ratio / running)
    assert np.isnan(one.bound_trace[~late]).all()
    assert one.bound_trace[late] == pytest.approx((running / (4 * (1 + ratio)))[late])
    hard = [(features(shallow, k) @ u_of(shallow, k)).min() / (2 * u_of(shallow, k).sum())
            for k in range(shallow.frames)]  # fmt: skip
    assert one.measured_trace == pytest.approx(np.array(hard), abs=1e-6)


# -------------------------------------------------------------------- Theorems 3.1, 3.6 and 4.1


def test_theorem_3_1(shallow: Run, found: dict[str, Assessment]) -> None:
    gamma = gammas(shallow)[0]
    R = unnormalised_kl(pbar_of(shallow), u_of(shallow, 0))
    one = found["Theorem 3.1 (margin)"]
    last = 6.0 * math.log(10) + math.log(N)
    limit = last * (8 * R + 2) + 32
    spread = condition(one, "|pbar|_inf")
    assert spread.present == common.shown(float(pbar_of(shallow).max()))
    assert condition(one, "C_2").needed == f"<= {common.shown(gamma / (4 * limit**2))}"
    assert (condition(one, "C_2").present, condition(one, "C_2").met) == ("0", True)
    # C_1 of the shallow network is at most 1 (|x| <= 1, |v| = 1), so this is the least bound.
    assert float(spread.needed.removeprefix("<= ")) >= 0.99 * gamma**3 / (4 * limit**2)
    features_stay = found["Theorem 3.1 (5)"].comparison
    assert features_stay.bound == pytest.approx(gamma / 2)
    assert features_stay.measured_trace == pytest.approx(gammas(shallow), abs=1e-9)
    assert one.verdict is Verdict.UNDECIDED  # t = (20 R/gamma)^4 is far off
    exponent = 4 * math.log10(20 * R / gamma)
    assert f"10^{common.shown(exponent)} " in one.comparison.why


def test_theorem_3_1_after_its_time(tmp_path: Path) -> None:
    """gamma/(4 (1 + R)) from (20 R/gamma)^4 on, in a run that goes on that long."""
    at = problem_of(
        {"kind": "normalised", "m": M}, {"kind": "flow", "until_log10_time": 30.0}, frames=20
    )
    with recorded_run(tmp_path / "run", at) as run:
        one = of_paper(run, MARGINS, "homogeneity")["Theorem 3.1 (margin)"]
        R, gamma = unnormalised_kl(pbar_of(run), u_of(run, 0)), gammas(run)[0]
    assert one.comparison.bound == pytest.approx(gamma / (4 * (1 + R)))
    assert one.verdict is Verdict.HOLDS_ANYWAY


def test_theorem_3_6(shallow: Run, found: dict[str, Assessment]) -> None:
    one = found["Theorem 3.6"]
    assert one.verdict is Verdict.HOLDS
    assert one.comparison.bound_trace is not None
    after = np.flatnonzero(~np.isnan(one.comparison.bound_trace))
    risk = []
    for k in range(shallow.frames):
        risk.append(np.logaddexp(0, -features(shallow, k) @ u_of(shallow, k)).mean())
    first = int(np.flatnonzero(np.array(risk) < math.log(2) / N)[0])
    assert after[0] == first + 1
    assert after.tolist() == list(range(first + 1, shallow.frames))


def test_theorem_4_1(found: dict[str, Assessment]) -> None:
    one, last = found["Theorem 4.1 (margin)"], 6.0 * math.log(10) + math.log(N)
    first = 2**10 * last**2 * D**2 / CORNERS**8
    logarithm = math.log(2 * N / (DELTA * CORNERS)) ** 2
    second = 2**10 * logarithm * (8 / CORNERS) ** (2 * D - 2)
    assert condition(one, "width").needed == f">= {common.shown(max(first, second))}"
    assert second > first
    assert condition(one, "width").met is False


def test_bounds_of_theorem_4_1(tmp_path: Path) -> None:
    at = problem_of(
        {"kind": "normalised", "m": M}, {"kind": "flow", "until_log10_time": 30.0}, frames=6
    )
    with recorded_run(tmp_path / "run", at) as run:
        found = of_paper(run, MARGINS, "homogeneity")
    bound = CORNERS / (32 * D * math.log(1 / CORNERS))
    assert found["Theorem 4.1 (margin)"].comparison.bound == pytest.approx(bound)
    assert found["Theorem 4.1 (margin)"].verdict is Verdict.HOLDS_ANYWAY
    assert found["Theorem 4.1 (late)"].verdict is Verdict.UNDECIDED  # double exponential


# ------------------------------------------------------------------------- Example 4.1, heads


@pytest.mark.parametrize(
    ("k", "d", "measured"),
    [(2, 6, 0.5 / math.sqrt(12)), (4, 6, 0.125 / math.sqrt(6)), (3, 6, 0.0), (5, 7, 0.0)],
)
def test_example_4_1(tmp_path: Path, k: int, d: int, measured: float) -> None:
    """The text's 1/(k sqrt d) against the margins of all corners; odd k >= 3 has none."""
    at = problem_of({"m": 4}, {"kind": "gd", "step": 0.1, "until_log10_time": 0.0},
                    data={"d": d, "n": 16, "k": k})  # fmt: skip
    margins = exactly(parity_population=measured) if k % 2 == 0 else {}
    with recorded_run(tmp_path / "run", at) as run:
        one = of_paper(run, margins, "homogeneity")["Example 4.1"]
        # r = 4 nodes is the 2-parity's own reference network.
        assert (reference_nodes(Context(run, margins)) == 4.0) == (k == 2)
    assert one.verdict is Verdict.TEXT_SLIP
    assert one.verdict.value == "the text's constant does not hold"
    assert one.comparison.bound == pytest.approx(1 / (k * math.sqrt(d)))
    assert one.comparison.measured == pytest.approx(measured)


def test_a_head_need_not_be_bounded_by_one(tmp_path: Path) -> None:
    """RMSNorm bounds |F_j| by sqrt(m) alone; the lemmas' constants are for 1."""
    network = {"kind": "head", "m": 8, "depth": 1}
    at = problem_of(network, {"kind": "gd", "step": 0.1, "until_log10_time": 1.0})
    with recorded_run(tmp_path / "run", at) as run:
        one = of_paper(run, {}, "homogeneity")["Lemma 3.4 (growth)"]
        parts = run.network.unpack(run.origin)
        z = run.dataset.x @ parts["V1"].T
        F = z / np.sqrt(np.square(z).mean(axis=1, keepdims=True) + 1e-5)
    assert np.abs(F).max() > 1.0
    bound = condition(one, "|F| <= 1")
    assert bound.met is False
    assert float(bound.present) >= 0.99 * np.abs(F).max()
