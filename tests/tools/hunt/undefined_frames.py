"""Frames at which an observable is undefined; at all others it must be finite.

Observables say it in words ("NaN unless min p > 0"); here it is a condition on the frame, which the
definition gives and not the value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.network.parametrisation import TwoLayer
from core.network.standard import Standard
from core.observables import margins, population, proofs
from core.observables.certificates import step_error
from core.observables.displacements import MOST_STEPS, companion_of
from core.observables.edges import gradient_length
from core.observables.extremal import vectors_of
from core.observables.linear_modes import coefficients
from core.observables.proof_potentials import batch_norm_reference, empty_cones
from core.observables.registry import OBSERVABLES, PREDICTIONS
from core.observables.spectrum import displacement, singular_values
from core.observables.testing import points_of
from core.runs import Run
from core.study_file.descent import Adam
from core.study_file.sam import SharpnessAware
from core.theorems.statement import Assessment

Undefined = Callable[[Run, int], bool]
Array = NDArray[np.float64]
BEYOND = 308.25  # log10 of the largest float64
LARGEST_WEIGHT = 1e150  # whose square is not far from the largest float64
LARGEST_NORMALISED = 1e100  # input whose third power is not far from the largest float64
DEEPEST = 25.0  # decades between a risk and its rounding
SMALLEST_END = 1e-6  # length of v, relative to the largest weight, at which its ODE may end
SMALLEST_SLOPE = 1e-75
SMALLEST_NORMALISED = 1e-100  # length of v whose third power is not far from the least float64


def no_norm(run: Run, index: int) -> bool:
    """Return True if |W|^L = 0, by which no margin can be normalised."""
    return margins.flat_norm_power(run, index) == 0.0


def no_nodes(run: Run, index: int) -> bool:
    """Return True if sum_j |a_j| |v_j| = 0, or is unknown (a user's own network)."""
    s, U = run.network.nodes(run.parameters(index))
    lengths = np.ones(s.shape) if run.network.kind == "head" else np.linalg.norm(U, axis=1)
    total = np.abs(s) @ lengths
    return not total > 0.0


def no_smoothed(run: Run, index: int) -> bool:
    return no_norm(run, index) or not run.loss.monotone


def no_test(run: Run, index: int) -> bool:
    return points_of(run) is None


def fits_exactly(run: Run, index: int) -> bool:
    """Return True if R = 0: outputs equal the labels."""
    return run.loss.fits and bool((run.loss.log_value(scores(run, index)) < -80).all())


def scores(run: Run, index: int) -> Array:
    return np.asarray(margins.scale(run, index) * margins.flat_scores(run, index))


def risk_beyond(run: Run, index: int) -> bool:
    return margins.log10_risk(run, index) > BEYOND


def no_inner(run: Run, index: int) -> bool:
    """Return True if inner weights are missing or all 0."""
    return not np.nan_to_num(run.network.directions(run.parameters(index))).any()


def fewer_values(count: int) -> Undefined:
    """Return a condition: V has fewer singular values."""
    return lambda run, index: singular_values(run, index).size < count


def not_moved(run: Run, index: int) -> bool:
    """Return True if V(s) = V(0) up to the frame, which leaves no rank."""
    return not any(displacement(run, frame).any() for frame in range(index + 1))


def unfitted(run: Run, index: int) -> bool:
    return not margins.flat_scores(run, index).min() > 0.0


def no_balance(run: Run, index: int) -> bool:
    flat = run.parameters(index)
    return run.network.imbalance(flat).size == 0 or run.network.norm(flat) == 0.0


def vanished(run: Run, index: int) -> bool:
    """Return True if some u_j = 0, where KL(pbar, u) may be infinite."""
    parts = run.network.unpack(run.parameters(index))
    return bool((parts["a"] * parts["b"] == 0.0).any())


def no_companion(run: Run, index: int) -> bool:
    """Return True if the mirror flow beside the run ends before the frame, or u = 0."""
    companion = companion_of(run)
    found = companion.solution_at(index)
    parts = run.network.unpack(run.parameters(index))
    nothing = not (parts["a"] * parts["b"]).any()
    late = found is None and run.steps[index] > MOST_STEPS - run.frames
    return nothing or late or (found is not None and not np.isfinite(found).all())


def sum_beyond(run: Run, index: int) -> bool:
    return proofs.log_perceptron_sum(run, index) / proofs.LN_10 > BEYOND


def no_time(run: Run, index: int) -> bool:
    return index == 0


def ratio_beyond(run: Run, index: int) -> bool:
    return proofs.log10_loss_ratio(run, index) > BEYOND


def dead_cone(run: Run, index: int) -> bool:
    return empty_cones(run, index) > 0.0


def no_matched(run: Run, index: int) -> bool:
    """Return True if a_k = b_k = 0 for some node, where ln(a_k^2 + b_k^2) is undefined."""
    parts = run.network.unpack(run.parameters(index))
    return bool((parts["a"] ** 2 + parts["b"] ** 2 == 0.0).any())


def inseparable(run: Run, index: int) -> bool:
    return batch_norm_reference(run) is None


def unchecked(run: Run, index: int) -> bool:
    """Return True if no step was checked in the last decade: a young run, or one at rest."""
    now = float(run.log10_time[index])
    first = int(np.searchsorted(run.log10_time[: index + 1], now - max(1.0, 0.9 * now)))
    return all(np.isnan(step_error(run, frame)) for frame in range(first, index + 1))


def beyond_solution(run: Run, index: int) -> bool:
    """Return True after the end of the ODE, where a neuron of a ReLU network reaches v_j = 0."""
    one = population.solution(run)
    if run.t[index] <= one.reach or not isinstance(run.network, Standard):
        return False
    flat = one.interpolate(one.reach)
    m = run.network.m
    lengths = np.linalg.norm(flat[m:].reshape(m, -1), axis=1)
    return bool(lengths.min() < SMALLEST_END * np.abs(flat).max())


def no_head(run: Run, index: int) -> bool:
    """Return True for heads, and for users' networks that name no inner weights."""
    return not np.isfinite(run.network.directions(run.origin)).all()


def zero_node(run: Run, index: int) -> bool:
    """Return True if some v_j is 0, now or at the start: it has no direction."""
    ends = (run.parameters(index), run.origin)
    lengths = [np.linalg.norm(run.network.directions(flat), axis=1) for flat in ends]
    return not all((length > 0.0).all() for length in lengths)


def zero_unit(run: Run, index: int) -> bool:
    """Return True if some u_j = (v_j, b_j) is 0, now or at the start."""
    ends = (run.parameters(index), run.origin)
    return not all(run.network.nodes(flat)[1].any(axis=1).all() for flat in ends)


def fewer_parameters(count: int) -> Undefined:
    """Return a condition: the Hessian has fewer eigenvalues."""
    return lambda run, index: run.network.size < count


def curvature_beyond(run: Run, index: int) -> bool:
    """Return True if a product with the Hessian is, or is about to be, beyond float64.

    Weights are large, or l'' |grad f|^2, or the third powers that a normalisation divides by.
    """
    if run.network.kind == "batch_norm" and np.abs(run.inputs).max() > LARGEST_NORMALISED:
        return True
    if run.network.kind == "normalised":
        lengths = np.linalg.norm(run.network.directions(run.parameters(index)), axis=1)
        if lengths.min() < SMALLEST_NORMALISED:
            return True
    flat = run.network.physical(run.parameters(index), float(run.rho[index]))
    with np.errstate(all="ignore"):
        f, y = run.problem.outputs(flat), run.dataset.y
        curved = np.abs(run.loss.output_curvature(f, y, np.ones_like(f)))
        pull = np.abs(run.loss.output_gradient(f, y))
        length = float(np.linalg.norm(flat))
        largest = max(float(curved.max()) * length**2, float(pull.max())) * length
    return not largest < 1e290  # room for |x|, and for sums


def no_extremal(run: Run, index: int) -> bool:
    """Return True without an extremal vector, as for y = 0."""
    return not vectors_of(run)


def none_active(run: Run, index: int) -> bool:
    """Return True if no node sees an example."""
    return not (run.network.nodes(run.parameters(index))[1] @ run.inputs.T > 0.0).any()


def dead_gradient(run: Run, index: int) -> bool:
    """Return True if the output has no gradient at any example, now or at the start.

    Or one whose fourth power, in |K|_F^2, is below the least float64.
    """
    ends = (run.parameters(index), run.origin)
    slopes = [[*run.network.output_slopes(flat, run.inputs)] for flat in ends]
    return not all(any(np.abs(one).max() > SMALLEST_SLOPE for one in some) for some in slopes)


def zero_targets(run: Run, index: int) -> bool:
    return not np.any(run.dataset.y) and run.network.k == 1


def equal_gradients(run: Run, index: int) -> bool:
    """Return True if all examples have one gradient: nothing is left when it is centred.

    Products of gradients lose differences below the root of the rounding.
    """
    slopes = np.array([*run.network.output_slopes(run.parameters(index), run.inputs)])
    return bool(np.ptp(slopes, axis=0).max() <= 1e-8 * np.abs(slopes).max())


def equal_means(run: Run, index: int) -> bool:
    """Return True if two classes have one mean of the features, or a class no example."""
    network = run.network
    assert isinstance(network, TwoLayer)
    _, U = network.effective(run.parameters(index))
    h, y = network.activation(run.inputs @ U.T), run.dataset.y
    means = [h[y == c].mean(axis=0) for c in range(run.network.k) if (y == c).any()]
    centre = np.mean(means, axis=0)
    apart = [float(np.abs(mean - centre).max()) for mean in means]
    return len(means) < run.network.k or min(apart) == 0.0


def equal_outer(run: Run, index: int) -> bool:
    """Return True if all classes have the same outer weights."""
    network = run.network
    assert isinstance(network, TwoLayer)
    A, _ = network.effective(run.parameters(index))
    return not np.ptp(A, axis=1).any()


def no_target(run: Run, index: int) -> bool:
    """Return True for X'y = 0: the targets do not depend linearly on the inputs."""
    return not (run.inputs.T @ run.dataset.y).any()


def no_coefficients(run: Run, index: int) -> bool:
    """Return True where a network without activation is 0."""
    return not coefficients(run.network, run.parameters(index)).any()


def settled(run: Run, index: int) -> bool:
    """Return True where the risk has fallen to rounding: a curve of it may be 0."""
    risks = [margins.log10_risk(run, frame) for frame in (0, index)]
    return risks[1] < max(risks[0], 0.0) - DEEPEST


def zero_weights(run: Run, index: int) -> bool:
    return not run.parameters(index).any()


def before_any_slope(run: Run, index: int) -> bool:
    """Return True where Adam has no moments, or SAM no direction."""
    dynamics = run.experiment.dynamics
    if isinstance(dynamics, SharpnessAware):
        return gradient_length(run, index) == 0.0
    return isinstance(dynamics, Adam) and run.steps[index] == 0


OF_RISK = [x for one in PREDICTIONS.values() if one.of == "log10_risk" for x in one.names]
OF_WAVES = [f"frequency_{one}" for one in ("share", "spread", "count")]
OF_WAVES += ["phase_gap", "phase_gap_largest"]
PREDICTED = [name for one in population.PREDICTIONS for name in one.names]
UNDEFINED: dict[str, tuple[Undefined, ...]] = {
    "risk": (risk_beyond,),
    "log10_risk": (fits_exactly,),
    "hard_margin": (no_norm,),
    "smoothed_margin": (no_smoothed,),
    "balanced_margin": (no_norm,),
    "l2_margin": (no_norm,),
    "dual_margin": (no_norm,),
    "l1_margin": (no_nodes,),
    "sharpness": (curvature_beyond,),
    "stability": (curvature_beyond, before_any_slope),
    "preconditioned_sharpness": (curvature_beyond, before_any_slope),
    "gauss_newton_trace": (curvature_beyond,),
    "hessian_2": (curvature_beyond, fewer_parameters(2)),
    "hessian_3": (curvature_beyond, fewer_parameters(3)),
    "gauss_newton": (curvature_beyond,),
    "extremal_cosine": (no_extremal, zero_node),
    "least_cosine": (no_extremal, none_active),
    "aligned_share": (no_extremal, no_nodes),
    "early_time": (no_extremal,),
    "test_risk": (no_test,),
    "test_error": (no_test,),
    "test_error_se": (no_test,),
    "test_loss": (no_test,),
    "balance_drift": (no_balance,),
    "balance": (no_balance,),
    "rotation": (no_head, zero_node),
    "least_rotation": (zero_node,),
    "unit_rotation": (zero_unit,),
    "median_rotation": (zero_node,),
    "relative_norm": (no_nodes,),
    "stable_rank": (no_inner,),
    "sigma_2": (fewer_values(2),),
    "sigma_3": (fewer_values(3),),
    "trajectory_rank": (not_moved,),
    "kkt_residual": (unfitted,),
    "complementarity": (unfitted,),
    "kl_pbar": (vanished,),
    "mirror_gap": (no_companion,),
    "perceptron_sum": (sum_beyond,),
    "log10_perceptron_sum": (no_time,),
    "loss_ratio": (ratio_beyond,),
    "cone_potential": (dead_cone,),
    "scalar_potential": (no_matched,),
    "batch_norm_potential": (inseparable,),
    "integration_error": (unchecked,),
    **dict.fromkeys(OF_RISK, (settled,)),
    "mode_strength": (no_target,),
    "mode_angle": (no_target, no_coefficients),
    **dict.fromkeys((*OF_WAVES, "margin_linf", "margin_spectral", "margin_l1"), (zero_weights,)),
    **dict.fromkeys(PREDICTED, (beyond_solution,)),
    "kernel_alignment": (dead_gradient, zero_targets),
    "centred_alignment": (dead_gradient, equal_gradients),
    "kernel_rank": (dead_gradient,),
    "kernel_distance": (dead_gradient,),
    **dict.fromkeys(("nc1", "nc2_angles", "nc2_lengths"), (equal_means,)),
    "nc3": (equal_means, equal_outer),
}
"""By an observable's name; one that is not here is finite at every frame of every run."""


INFINITE = {
    ("homogeneity", "Lemma B.1"),  # the least of a set, which may be empty
    ("frei23", "Theorem 3.4 (time)"),  # log10 of a time, and t = 0
    ("batchnorm", "Lemma C.2 (inner)"),  # 1/|v_j|, and v_j = 0
}
"""Statements whose measured number may be infinite by its definition."""


def may_be_infinite(one: Assessment) -> bool:
    return (one.statement.source, one.statement.name) in INFINITE


def not_finite(run: Run, name: str) -> str:
    """Return the frames at which an observable should be a number and is not."""
    values = OBSERVABLES[name].trace(run)
    for index in range(run.frames):
        known = np.isfinite(values[index])
        beyond = np.abs(run.parameters(index)).max() > LARGEST_WEIGHT
        if known.all() or beyond or any(wrong(run, index) for wrong in UNDEFINED.get(name, ())):
            continue
        return f"{name} of frame {index} of {run.frames}: {np.asarray(values[index])[~known][:3]}"
    return ""
