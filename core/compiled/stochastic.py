"""Steps of stochastic gradient descent and of Adam, K steps a call, compiled.

`row_steps` is for the standard network and few examples a step: a row of V is read and
written once a step, since the update by one batch and the inner products with the next are done
while the row is in the cache. Its inner loop has no branches: whether a neuron is active is
as good as random, and a processor that guesses wrong loses more than the skipped row saves.
`batch_steps` is for every two-layer network, through core.compiled.network.

Where the loss underflows, Adam's gradients are stored times 2^k; see
core.compiled.scaled_gradients.
"""

from __future__ import annotations

from math import ldexp, sqrt
from typing import Any, NamedTuple

from numpy.typing import NDArray

from core.compiled.descent import Work, slopes
from core.compiled.group_penalty import add_group_penalty
from core.compiled.jit import compile_kernel
from core.compiled.network import evaluate_outputs, vjp
from core.compiled.scaled_gradients import (
    adapt_scaled,
    follow_margin,
    holds_roots,
    is_needed,
    scaled_slopes,
    smallest_margin,
    vanishes,
)
from core.compiled.sharpness_aware import climb

Array = NDArray[Any]

# Update rules; SCHEDULED is for core.compiled.descent.
SCHEDULED, DESCENT, ADAM, HEAVY_BALL, NESTEROV, SHARPNESS_AWARE = -1, 0, 1, 2, 3, 4


class Rule(NamedTuple):
    """Update rule from gradient to step, in the precision of the run."""

    kind: int  # one of those above
    eta: float
    penalty: float  # lambda
    beta_1: float  # that of the velocity too; rho of SHARPNESS_AWARE
    beta_2: float
    epsilon: float
    decay: float  # decoupled weight decay of AdamW
    group: float  # lambda of sum_j |theta_j|^3
    blocks: Array  # (b, 2), positions of the neurons' numbers, see core.network.quadratic
    factors: Array  # (count,), factors of eta for the steps of a call; empty if all are 1
    powers: Array  # (2,), beta_1^t and beta_2^t
    # The moments, of the size of W, without elements where not used; or the velocity; or a copy of
    # W while the gradient elsewhere is taken.
    first: Array
    second: Array
    scale: Array  # (1,), k of core.compiled.scaled_gradients


class Rows(NamedTuple):
    """Standard network, row by row, and the work arrays of its steps."""

    a: Array  # (m,)
    V: Array  # (m, d)
    loss: int  # code of the loss
    step_size: float
    shrink: float  # 1 - 2 eta lambda
    limit: float  # limit of an example's loss
    z: Array  # (m,) work array, like F and G
    F: Array  # (1, 1)
    G: Array  # (1, 1)


@compile_kernel
def one_pass(
    a: Array, V: Array, z: Array, g: float, shrink: float, x: Array, following: Array
) -> Any:
    """Move (a, V) by one example, and evaluate the next one.

    Parameters
    ----------
    a, V : array (m,), array (m, d)
        Parameters, updated in place.
    z : array (m,)
        Preactivations of x; becomes those of `following`.
    g : float
        eta times the slope of the loss at x.
    shrink : float
        1 - 2 eta lambda.
    x, following : array (d,)
        Example, and the next one.

    Returns
    -------
    float
        Output at `following`.
    """
    m, d = V.shape
    zero = V.dtype.type(0)
    f = zero
    for j in range(m):
        row = V[j]
        c = a[j] * g if z[j] > zero else zero
        a[j] = shrink * a[j] - g * max(z[j], zero)
        t = zero
        for i in range(d):
            v = shrink * row[i] - c * x[i]
            row[i] = v
            t += v * following[i]
        z[j] = t
        f += a[j] * max(t, zero)
    return f


@compile_kernel
def row_steps(work: Rows, xs: Array, ys: Array, count: int) -> int:
    """Take steps (a, V) <- shrink (a, V) - eta grad l(p_s) on consecutive examples.

    Columns of V and xs that are zero stay zero: they may be added to make d a good length for the
    processor.

    Parameters
    ----------
    work : Rows
        Network; a and V are updated in place.
    xs, ys : array (N, d), array (N,)
        Examples, N >= count.
    count : int
        Number of steps.

    Returns
    -------
    int
        Number of steps taken; below `count` once a loss exceeds the limit or is NaN.
    """
    a, V, z, F, G = work.a, work.V, work.z, work.F, work.G
    shrink, weight = V.dtype.type(1), V.dtype.type(0)
    z[:] = weight
    for s in range(-1, count):  # the first pass moves nothing: it computes the first products
        if s >= 0:
            if not slopes(work.loss, F, ys[s : s + 1], work.step_size, G) <= work.limit:
                return s
            shrink, weight = V.dtype.type(work.shrink), G[0, 0]
        F[0, 0] = one_pass(a, V, z, weight, shrink, xs[max(s, 0)], xs[min(s + 1, count - 1)])
    return count


@compile_kernel
def descend(flat: Array, gradient: Array, rule: Rule, eta: float) -> None:
    """Update W <- W - eta (g + 2 lambda W).

    Parameters
    ----------
    flat : array (size,)
        W, updated in place.
    gradient : array (size,)
        g.
    rule : Rule
        lambda.
    eta : float
        Step size.
    """
    shrink = 1 - 2 * eta * rule.penalty
    for k in range(flat.size):
        flat[k] = shrink * flat[k] - eta * gradient[k]


@compile_kernel
def accelerate(flat: Array, gradient: Array, rule: Rule, eta: float) -> None:
    """Do one step of momentum: u <- b u - eta (g + 2 lambda W), W <- W + u.

    Nesterov's W <- W + b u - eta (g + 2 lambda W) has W where the next gradient is taken.

    Parameters
    ----------
    flat : array (size,)
        W, updated in place.
    gradient : array (size,)
        g.
    rule : Rule
        Constants; the velocity u is updated in place.
    eta : float
        Step size.
    """
    velocity, beta, penalty = rule.first, rule.beta_1, 2 * rule.penalty
    is_nesterov = rule.kind == NESTEROV
    for k in range(flat.size):
        step = eta * (gradient[k] + penalty * flat[k])
        velocity[k] = beta * velocity[k] - step
        flat[k] += beta * velocity[k] - step if is_nesterov else velocity[k]


@compile_kernel
def adapt(flat: Array, gradient: Array, rule: Rule, eta: float) -> None:
    """Do one step of Adam on g + 2 lambda W, after the decay W <- (1 - eta decay) W.

    Parameters
    ----------
    flat : array (size,)
        W, updated in place.
    gradient : array (size,)
        g.
    rule : Rule
        Constants; moments and powers are updated in place.
    eta : float
        Step size.
    """
    powers, first, second, epsilon = rule.powers, rule.first, rule.second, rule.epsilon
    # Adam as published: both moments are corrected for their start at 0, and epsilon is added to
    # the root of the corrected one. g includes the penalty, but not the decay of AdamW.
    powers[0] *= rule.beta_1
    powers[1] *= rule.beta_2
    beta_1, beta_2, penalty = rule.beta_1, rule.beta_2, 2 * rule.penalty
    size, shrink = eta / (1 - powers[0]), 1 - eta * rule.decay
    root = sqrt(1 - powers[1])
    for k in range(flat.size):
        g = gradient[k] + penalty * flat[k]
        first[k] = beta_1 * first[k] + (1 - beta_1) * g
        second[k] = beta_2 * second[k] + (1 - beta_2) * g * g
        flat[k] = shrink * flat[k] - size * first[k] / (sqrt(second[k]) / root + epsilon)


@compile_kernel
def adapt_late(flat: Array, gradient: Array, rule: Rule, eta: float) -> None:
    """Do what `adapt` does, with moments as core.compiled.scaled_gradients stores them.

    Parameters
    ----------
    flat, gradient : array (size,)
        W, updated in place, and its slopes times 2^k.
    rule : Rule
        Constants; moments and powers are updated in place.
    eta : float
        Step size.
    """
    powers = rule.powers
    powers[0] *= rule.beta_1
    powers[1] *= rule.beta_2
    size, root = eta / (1 - powers[0]), sqrt(1 - powers[1])
    epsilon = flat.dtype.type(ldexp(float(rule.epsilon), int(rule.scale[0])))
    adapt_scaled(flat, gradient, rule, epsilon, size, 1 - eta * rule.decay, root)


@compile_kernel
def rescale(work: Work, y: Array, rule: Rule) -> None:
    """Write the slopes G again where the loss underflows, times 2^k, and the moments with them.

    Parameters
    ----------
    work : Work
        Network, with its outputs.
    y : array (b,)
        Labels, or class numbers.
    rule : Rule
        Rule of Adam; k and the moments are updated in place. A penalty does not vanish.
    """
    if not vanishes(work.loss) or rule.penalty > 0 or rule.group > 0:
        return
    low = smallest_margin(work.loss, work.F, y)
    follow_margin(low, rule.epsilon, rule.scale, rule.first, rule.second)
    k = float(rule.scale[0])
    if is_needed(work.loss, low, k, rule.epsilon, rule.scale.itemsize == 4):
        scaled_slopes(work.loss, work.F, y, 1 / y.size, k, work.G)


@compile_kernel
def take_step(flat: Array, gradient: Array, rule: Rule, eta: float) -> None:
    """Move W by the rule, in a step of this size.

    Parameters
    ----------
    flat, gradient : array (size,)
        W, updated in place, and g.
    rule : Rule
        Update rule; its state is updated in place.
    eta : float
        Step size.
    """
    if rule.kind in (DESCENT, SHARPNESS_AWARE):
        descend(flat, gradient, rule, eta)
    elif rule.kind != ADAM:
        accelerate(flat, gradient, rule, eta)
    elif holds_roots(float(rule.scale[0]), rule.epsilon):
        adapt_late(flat, gradient, rule, eta)
    else:
        adapt(flat, gradient, rule, eta)


@compile_kernel
def batch_steps(work: Work, xs: Array, ys: Array, count: int, rule: Rule) -> int:
    """Take steps on consecutive batches of rows of xs, or all on the same full batch.

    A batch has as many examples as `work` has columns.

    Parameters
    ----------
    work : Work
        Network; work.flat is updated in place.
    xs : array (N, D), or (0, D) for the full batch in work.columns
        Inputs.
    ys : array (N,)
        Labels.
    count : int
        Number of steps.
    rule : Rule
        Update rule; moments are updated in place.

    Returns
    -------
    int
        Number of steps taken; below `count` once a mean loss exceeds the limit or is NaN.
    """
    flat, XT, Z, F, G, gradient = work.flat, work.columns, work.Z, work.F, work.G, work.gradient
    D, batch = XT.shape
    full = xs.shape[0] == 0
    for s in range(count):
        y = ys
        if not full:
            y = ys[s * batch : (s + 1) * batch]
            for b in range(batch):
                x = xs[s * batch + b]
                for i in range(D):
                    XT[i, b] = x[i]
        evaluate_outputs(work.net, flat, XT, Z, F)
        total = slopes(work.loss, F, y, 1 / batch, G)
        # False for NaN, which is also a divergence, as in core.compiled.descent.
        if not total <= work.limit * batch:
            return s
        if rule.kind == ADAM:
            rescale(work, y, rule)
        X = xs[s * batch : (s + 1) * batch]
        vjp(work.net, flat, XT, X, G, Z, work.C, gradient)
        if rule.group > 0:
            add_group_penalty(flat, gradient, rule, work.net.m)
        if rule.kind == SHARPNESS_AWARE:
            climb(work, X, y, rule)
        eta = rule.eta
        if rule.factors.size > 0:
            eta = rule.eta * rule.factors[s]
        take_step(flat, gradient, rule, eta)
    return count
