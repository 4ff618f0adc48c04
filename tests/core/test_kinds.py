"""What kinds say of themselves is so: every capability of a network against its own numbers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from core.compiled import kernel_groups
from core.losses import LOSSES
from core.network.activation import RELU
from core.network.parametrisation import Network, TwoLayer
from core.network.registry import NETWORKS
from core.problem.problem import Problem
from core.settings import Registry
from core.study_file.dynamics import DYNAMICS
from core.study_file.experiment import KINDS
from core.study_file.validation import DEFAULT_KINDS
from tests.networks import LINEAR_PREDICTORS, TWO_LAYER, UNCOMPILED, Case, small_problem

ROOT = Path(__file__).resolve().parents[2]
OWN_CODE = "custom"  # whose capabilities are those of the user's file
CASES = (
    *(case for case in TWO_LAYER if not LOSSES[case.loss].fits),
    Case("bias"),
    Case("head"),
    Case("head", settings={"normaliser": "layer", "depth": 3}),
    *LINEAR_PREDICTORS,
    *UNCOMPILED,
    Case("committee"),
    Case("single_index", settings={"m": 1}),
    Case("single_index", settings={"m": 1, "degree": 3}),
)
EVERY = pytest.mark.parametrize("case", CASES, ids=str)


def moved(at: Problem) -> np.ndarray:
    """Return parameters in general position, away from the start."""
    flat = at.start.parameters
    return flat + 0.3 * np.random.default_rng(7).standard_normal(flat.size)


def effective(network: Network, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    assert isinstance(network, TwoLayer)
    return network.effective(flat)


def test_every_network_is_tried() -> None:
    assert {case.kind for case in CASES} == set(NETWORKS) - {OWN_CODE}
    two_layer = {kind for kind, cls in NETWORKS.items() if issubclass(cls, TwoLayer)}
    assert {case.kind for case in (*TWO_LAYER, *UNCOMPILED)} == two_layer


@EVERY
def test_it_is_homogeneous_of_its_degree(case: Case) -> None:
    at = small_problem(case)
    network, flat = at.network, moved(at)
    f = network.outputs(flat, at.inputs)
    larger = network.outputs(network.physical(flat, np.log(1.5)), at.inputs)
    same = np.allclose(larger, 1.5**network.degree * f, rtol=1e-11, atol=1e-12)
    assert same == network.homogeneous
    assert bool(at.experiment.network.not_homogeneous()) != network.homogeneous


@EVERY
def test_weights_are_parameters_where_it_says_so(case: Case) -> None:
    at = small_problem(case)
    network, flat = at.network, moved(at)
    if not isinstance(network, TwoLayer):
        assert not network.direct
        return
    alpha, U = network.effective(flat)
    entries = np.concatenate([np.ravel(part) for part in (alpha, U)])
    known = np.concatenate([flat, *(np.ravel(array) for array in network.fixed.values())])
    direct = entries.size == known.size and bool(np.isin(entries, known).all())
    assert direct == network.direct
    if direct:
        back = network.pull(flat, alpha, U)
        assert np.array_equal(back, flat)


@EVERY
def test_gradients_stay_in_the_row_space_where_it_says_so(case: Case) -> None:
    """In d = 30 with 12 examples: V's gradient in span(rows of x~, v_j), or anywhere."""
    at = small_problem(case, d=30)
    network, flat = at.network, moved(at)
    shape = (12,) if network.k == 1 else (12, network.k)
    g = np.random.default_rng(3).standard_normal(shape)
    parts = network.unpack(network.gradient(flat, at.inputs, g))
    if "V" not in parts:  # a head's matrices, or none that is trained
        assert network.row_space == ("V" in network.fixed)
        return
    inside = True
    x = at.inputs[:, : network.d]
    for v, slope in zip(network.unpack(flat)["V"], parts["V"], strict=True):
        basis = np.vstack([x, v])
        rest = slope - basis.T @ np.linalg.lstsq(basis.T, slope, rcond=None)[0]
        inside &= bool(np.linalg.norm(rest) <= 1e-10 * max(np.linalg.norm(slope), 1e-10))
    assert inside == network.row_space


@EVERY
def test_inputs_are_centred_where_it_says_so(case: Case) -> None:
    at = small_problem(case)
    mean = np.abs(at.inputs[:, : at.network.d].mean(axis=0)).max()
    assert (mean <= 1e-14) == at.network.centred


@EVERY
def test_outer_weights_are_products_where_it_says_so(case: Case) -> None:
    """f does not change under a -> 2 a, b -> b/2, and is linear in a."""
    at = small_problem(case)
    network, flat = at.network, moved(at)
    parts = network.unpack(flat.copy())
    f, products = network.outputs(flat, at.inputs), False
    if network.k == 1 and {"a", "b"} <= set(parts) and parts["b"].shape == (network.m,):
        other = network.pack({**parts, "a": 2.0 * parts["a"], "b": parts["b"] / 2.0})
        products = np.allclose(network.outputs(other, at.inputs), f, rtol=1e-12)
    # A bias is no factor; relu(b <v, x>) is b relu(<v, x>) for b > 0 only, which the mirror flow
    # needs no more than.
    assert products == network.factored
    assert network.fixed_features == (network.factored and network.scaled == network.size)


@EVERY
def test_margins_are_those_of_relu_nodes_where_it_says_so(case: Case) -> None:
    """f = sum_j alpha_j relu(<u_j, x>), and sum_j |alpha_j| |u_j| <= |W|^2/2."""
    at = small_problem(case)
    network, flat = at.network, moved(at)
    plain = False
    if isinstance(network, TwoLayer) and network.k == 1 and np.array_equal(at.inputs, at.dataset.x):
        alpha, U = network.effective(flat)
        f = np.maximum(at.dataset.x @ U.T, 0.0) @ alpha
        l1 = float(np.abs(alpha) @ np.linalg.norm(U, axis=1))
        same = np.allclose(network.outputs(flat, at.inputs), f, rtol=1e-12)
        plain = same and l1 <= network.norm_power(flat) / 2.0 * (1.0 + 1e-12)
    assert plain == network.plain_relu


@EVERY
def test_the_other_facts(case: Case) -> None:
    at = small_problem(case)
    network, flat = at.network, moved(at)
    assert network.compiled == hasattr(network, "code")
    assert network.inner_weights == bool(np.isfinite(network.nodes(flat)[1]).all())
    assert network.section.model_fields["kind"].default == network.kind == case.kind
    assert (network.classes == "several") == (case.classes > 2) == network.section.several
    if network.starts_small:
        start = np.abs(network.outputs(at.start.parameters, at.inputs)).max()
        alpha = np.abs(network.nodes(at.start.parameters)[0]).sum()
        assert alpha == pytest.approx(1.0)
        assert start <= alpha
    phi = getattr(network, "activation", None)
    assert not network.plain_relu or (phi is not None and phi.code == RELU)


@pytest.mark.parametrize("case", [case for case in CASES if case.classes == 2], ids=str)
def test_the_tangent_kernel_is_that_of_the_gradients(case: Case) -> None:
    at = small_problem(case)
    network, flat, x = at.network, moved(at), at.inputs
    J = np.array([network.gradient(flat, x[i : i + 1], np.ones(1)) for i in range(x.shape[0])])
    wanted = J @ J.T
    for found in (network.gram(flat, x), Network.gram(network, flat, x)):  # its own, and any's
        assert np.abs(found - wanted).max() <= 1e-12 * np.abs(wanted).max()


def test_kernels_of_dynamics_are_groups_that_are_compiled() -> None:
    named = {
        group
        for dynamics in DYNAMICS.values()
        for group in (*dynamics.kernels, *dynamics.kernels_without_twin)
    }
    assert named | set(kernel_groups.SINGLE.values()) | {kernel_groups.MARGINS} == set(
        kernel_groups.GROUPS
    )


def test_the_default_kinds_exist() -> None:
    assert all(kind in KINDS[section] for section, kind in DEFAULT_KINDS.items())


@pytest.mark.parametrize(
    ("row", "section"),
    [("networks", "network"), ("data", "data"), ("losses", "loss"), ("dynamics", "dynamics")],
)
def test_the_documents_name_every_kind(row: str, section: str) -> None:
    text = (ROOT / "docs" / "studies.md").read_text("utf-8")
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {row} |"))
    named = [name for name in re.findall(r"`(\w+)`", line) if name not in ("l2", "l23")]
    assert named == list(KINDS[section])


def test_a_registry_refuses_a_kind_that_is_listed_twice() -> None:
    assert list(Registry(str.lower, "a", "b")) == ["a", "b"]
    with pytest.raises(ValueError, match="listed twice: a"):
        Registry(str.lower, "a", "b", "a")
