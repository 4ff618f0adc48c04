"""Upper bounds of the margin while neurons keep their signs, or their activation patterns.

With s_j the sign of a_j and A_j the examples on which neuron j is active, u_j = |a_j| v_j gives

    f(x_i) = sum_j s_j 1[i in A_j] <u_j, x_i>,      sum_j |u_j| <= (|a|^2 + |V|^2)/2,

so that the margin divided by |W|^2 is at most the optimum of the convex program

    max min_i y_i sum_j s_j 1[i in A_j] <u_j, x_i>   over   sum_j |u_j| <= 1/2

(fixed activation patterns as gates: Pilanci and Ergen 2020). For weights q of the examples in the
simplex (1/2) max_j |sum_(i in A_j) q_i y_i x_i| bounds it from above: a certificate that anyone can
check. If the u_j are confined to their cells, <u_j, x_i> >= 0 on A_j and <= 0 off it, as they are
while the patterns last, the length is that of the projection on the cell's cone, and the bound is
tighter.

`OWN_LABEL` restricts less: each neuron keeps its sign and the examples *of its own label*, y_i =
s_j, on which it is active. On the others it contributes s_j y_i relu(<u_j, x_i>) = -relu, which is
concave, so that the program stays convex whatever patterns the neuron has there. That matters,
since neurons slide along the kinks of just these examples, and no pattern would last. With a
multiplier 0 <= lambda_i <= q_i for each of them,

    max over |u| <= 1 in the cone of  <g, u> - sum_i q_i relu(<u, x_i>)
        = min over lambda and mu >= 0 of |g - sum_i lambda_i x_i + B'mu|,

and any lambda and mu bound it from above. Programs are solved by columns: directions are priced
against q and weighed by a linear program (core.reference.master).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.network.parametrisation import TwoLayer, weighted_gram
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.hull import gram_coordinates, rounding_bound, separate_from_origin
from core.reference.master import Master, Solution


@final
class FixedPattern(Enum):
    """Activation pattern held fixed in a limit, beside the sign of each neuron's a_j."""

    GATES = "activation patterns of the neurons, with free inner weights"
    CONES = "activation patterns of the neurons, by their inner weights"
    OWN_LABEL = "activation patterns on examples of a neuron's own label, by inner weights"


Array = NDArray[np.float64]

SMOOTHING = 0.7  # weight of the best q so far in the priced one; the LP's own q jumps
WORTH = 0.98  # fraction of the largest price below which columns are not added
MOST_ROUNDS = 3000
# The linear program is accurate to about 1e-7: without progress in 40 rounds the gap remains.
STALLED, NEARER = 40, 0.99
NOTHING = 1e-9  # relative to the largest |x_i|: smaller prices are rounding errors
# Multipliers are improved one after another, for the gates with the largest prices, until they
# settle.
SWEEPS, SETTLED, DEAREST = 60, 1e-6, 0.95


@final
@dataclass(frozen=True, slots=True, eq=False)
class Gates:
    """Distinct pairs of a sign and an activation pattern: signs (k,), active (k, n)."""

    signs: Array
    active: NDArray[np.bool_]

    def columns(self, indices: NDArray[np.intp], u: Array, x: Array, y: Array) -> Array:
        """Return the margins that unit weights of gated neurons contribute.

        Parameters
        ----------
        indices : array of int (c,)
            Gate of each direction.
        u : array (c, d)
            Directions.
        x, y : array (n, d), array (n,)
            Inputs, and labels +-1.

        Returns
        -------
        array (c, n)
            y_i s_k 1[i in A_k] <u, x_i>.
        """
        return self.signs[indices, None] * self.active[indices] * y * (u @ x.T)

    def outputs(self, indices: NDArray[np.intp], u: Array, x: Array, y: Array) -> Array:
        """Return the margins of ReLU neurons with the gates' signs, whatever the patterns are.

        Parameters
        ----------
        indices : array of int (c,)
            Gate of each direction.
        u : array (c, d)
            Directions.
        x, y : array (n, d), array (n,)
            Inputs, and labels +-1.

        Returns
        -------
        array (c, n)
            y_i s_k relu(<u, x_i>).
        """
        return np.asarray(self.signs[indices, None] * y * np.maximum(u @ x.T, 0.0))

    def opposite_labels(self, y: Array) -> NDArray[np.bool_]:
        """Return at which examples the label differs from the gate's sign.

        Parameters
        ----------
        y : array (n,)
            Labels +-1.

        Returns
        -------
        array of bool (k, n)
        """
        return np.asarray(self.signs[:, None] * y < 0.0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class GatedLimit:
    """Bracket of the program's optimum, and its witnesses.

    `lower` is the margin of the network sum_c weights_c s_c 1[A_c] <u_c, .> with unit rows u and
    weights of sum 1/2; `upper` is proved by `q` (n,), which is in the simplex and largest on the
    examples that carry the limit. `gate` (c,) is the pair of each u.
    """

    lower: float
    upper: float
    q: Array
    u: Array
    gate: NDArray[np.intp]
    weights: Array


def gates_and_neurons(
    problem: Problem, flat: Array, pattern: FixedPattern = FixedPattern.CONES
) -> tuple[Gates, tuple[tuple[int, ...], ...]]:
    """Return the distinct gates of a network at flat parameters, and the neurons of each.

    Neurons that are dead or have a_j = 0 are left out.

    Parameters
    ----------
    problem : Problem
        Problem whose network has effective weights.
    flat : array (size,)
        Trained parameters.
    pattern : FixedPattern
        Fixed part of the patterns; with `OWN_LABEL` gates are active on their own label only.

    Returns
    -------
    Gates, tuple of tuple of int
        k gates, and the indices of each gate's neurons.
    """
    network = problem.network
    assert isinstance(network, TwoLayer)
    alpha, U = network.effective(flat)
    active, signs = U @ problem.inputs.T > 0.0, np.sign(alpha)
    if pattern is FixedPattern.OWN_LABEL:
        active &= signs[:, None] * problem.dataset.y > 0.0
    used_neurons = np.flatnonzero((signs != 0.0) & active.any(axis=1))
    pairs = np.column_stack([signs[used_neurons] > 0.0, active[used_neurons]])
    pairs, place = np.unique(pairs, axis=0, return_inverse=True)
    place = place.reshape(-1)
    neurons = tuple(tuple(used_neurons[place == k].tolist()) for k in range(len(pairs)))
    return Gates(np.where(pairs[:, 0], 1.0, -1.0), pairs[:, 1:]), neurons


def bracket_gated_limit(
    x: Array,
    y: Array,
    gates: Gates,
    watch: CancelToken,
    tolerance: float = 1e-5,
    pattern: FixedPattern = FixedPattern.GATES,
) -> GatedLimit:
    """Bracket the largest margin over |W|^2 of networks with these gates, the program's optimum.

    If no weighting of the gates fits every example the optimum is 0, and `upper` is the bound
    proved by then.

    Parameters
    ----------
    x : array (n, d)
        Inputs.
    y : array (n,)
        Labels +-1.
    gates : Gates
        Gates of the neurons.
    watch : CancelToken
        Cancellation token; once it has timed out, the search returns its best bracket.
    tolerance : float
        Relative gap at which the search stops, 1e-6 at best.
    pattern : FixedPattern
        What is fixed beside the signs.

    Returns
    -------
    GatedLimit
        Bracket and witnesses.

    Examples
    --------
    Two examples on the axes, a neuron for each: u_j = x_j/4 each, and the margin is 1/4.

    >>> gates = Gates(np.ones(2), np.eye(2, dtype=bool))
    >>> limit = bracket_gated_limit(np.eye(2), np.ones(2), gates, CancelToken())
    >>> round(limit.lower, 6), round(limit.upper, 6), limit.q.round(6).tolist()
    (0.25, 0.25, [0.5, 0.5])
    """
    search = _Search(x, y, gates, pattern)
    for _ in range(MOST_ROUNDS if len(gates.signs) else 0):
        if search.round(tolerance) or watch.timed_out:
            break
        watch.check()
    return search.limit()


def bracket_leaky_limit(x: Array, y: Array, a: Array, slopes: Array) -> tuple[float, float, Array]:
    """Bracket max over |V| = 1 of min_i y_i sum_j a_j slopes_ji <v_j, x_i>.

    With fixed slopes the network is linear in V, and the optimum is a hard margin, found as the
    point nearest to the origin (core.reference.hull).

    Parameters
    ----------
    x : array (n, d)
        Inputs.
    y : array (n,)
        Labels +-1.
    a : array (m,)
        Fixed outer weights.
    slopes : array (m, n)
        phi'(<v_j, x_i>), held fixed.

    Returns
    -------
    lower, upper : float
        Bounds of the optimum.
    q : array (n,)
        Weights in the simplex with upper = |sum_i q_i y_i grad f(x_i)| up to rounding.

    Raises
    ------
    ArithmeticError
        The active-set method does not end.

    Examples
    --------
    One neuron of slope 1 is a linear classifier:

    >>> lower, upper, q = bracket_leaky_limit(np.eye(2), np.ones(2), np.ones(1), np.ones((1, 2)))
    >>> round(lower, 9), round(upper, 9), q.round(9).tolist()
    (0.707106781, 0.707106781, [0.5, 0.5])
    """
    kernel = weighted_gram(x, a, slopes) * np.outer(y, y)
    best = separate_from_origin(gram_coordinates(kernel))
    slack = best.slack + rounding_bound(len(y), float(np.sqrt(kernel.diagonal().max())))
    return max(best.lower - slack, 0.0), best.upper + slack, best.q


@final
class _Search:
    """Directions so far, the program over them, and the best certificate."""

    def __init__(self, x: Array, y: Array, gates: Gates, pattern: FixedPattern) -> None:
        self._x, self._y, self._gates, self._pattern = x, y, gates, pattern
        n, d = x.shape
        # sum_i q_i y_i s_k 1[i in A_k] x_i for all gates at once is one product.
        self._weights = gates.signs[:, None] * gates.active * y
        self._cones = np.where(gates.active, 1.0, -1.0)
        self._others = gates.opposite_labels(y)
        self._turns = np.zeros(gates.active.shape)  # of OWN_LABEL: multipliers of the x_i in prices
        self._unit = float(np.linalg.norm(x, axis=1).max()) or 1.0
        self._master = Master(n, unit=self._unit)
        self._u, self._gate = np.zeros((0, d)), np.zeros(0, dtype=np.intp)
        # Without gates the optimum is 0.
        self._best_q, self._upper = np.full(n, 1.0 / n), np.inf if len(gates.signs) else 0.0
        self._q = self._best_q
        self._solution: Solution | None = None
        self._gap, self._since = np.inf, 0

    def _price_gates(self, q: Array) -> tuple[Array, Array]:
        """Return the unit direction (k, d) of each gate that is best at q, and the prices (k,)."""
        g = (self._weights * q) @ self._x
        if self._pattern is FixedPattern.CONES:
            cones = zip(g, self._cones, strict=True)
            g = np.array([self._project(row, cone) for row, cone in cones])
        elif self._pattern is FixedPattern.OWN_LABEL:
            g = self._shorten(g, q)
        prices = np.linalg.norm(g, axis=1)
        return g / np.where(prices > 0.0, prices, 1.0)[:, None], prices

    def _project(self, g: Array, cone: Array) -> Array:
        """Project g on the cell's cone: g + B'mu with mu >= 0 of least length."""
        from scipy.optimize import nnls  # slow to load

        B = cone[:, None] * self._x
        multipliers, _ = nnls(B.T, -g)
        return np.asarray(g + B.T @ multipliers)

    def _is_within(self, indices: NDArray[np.intp], u: Array) -> NDArray[np.bool_]:
        """Return which unit directions lie in their cells' cones.

        Directions of a tiny price are remainders of longer ones that cancel, and rounding turns
        them.
        """
        least = (self._cones[indices] * (u @ self._x.T)).min(axis=1)
        return np.asarray(least >= -NOTHING * self._unit)

    def _shorten(self, g: Array, q: Array) -> Array:
        """Return g + sum_i c_ki x_i of approximately least length, (k, d).

        For examples of the other label -q_i <= c_ki <= 0; else c_ki >= 0 where the gate is active
        and <= 0 where not. Coordinate descent on the gates with the largest prices, from the
        coefficients of the previous round. Lengths that are not the least are still upper bounds of
        the prices.
        """
        x, squares = self._x, (self._x**2).sum(axis=1)
        low = np.where(self._others, -q, np.where(self._gates.active, 0.0, -np.inf))
        high = np.where(~self._others & self._gates.active, np.inf, 0.0)
        c = np.clip(self._turns, low, high)
        turned = g + c @ x
        for _ in range(SWEEPS):
            before = np.linalg.norm(turned, axis=1)
            rows = np.flatnonzero(before >= DEAREST * before.max())
            part, own, ends = turned[rows], c[rows], (low[rows], high[rows])
            for i in np.flatnonzero(squares):
                best = own[:, i] - (part @ x[i]) / squares[i]
                best = np.minimum(np.maximum(best, ends[0][:, i]), ends[1][:, i])
                part += (best - own[:, i])[:, None] * x[i]
                own[:, i] = best
            c[rows], turned[rows] = own, part
            gained = before[rows] - np.linalg.norm(part, axis=1)
            if gained.max() <= SETTLED * before.max():
                break
        self._turns = c
        return np.asarray(g + c @ x)  # computed again, without the rounding of many small updates

    def round(self, tolerance: float) -> bool:
        """Price all gates, add columns and solve the program; return True if the search has ended.

        It ends with a bracket closed to `tolerance`, without new columns, or if stalled.
        """
        share = SMOOTHING if self._solution is not None else 0.0
        q = share * self._best_q + (1.0 - share) * self._q
        u, prices = self._price_gates(q)
        top = float(prices.max())
        if top < self._upper:
            self._upper, self._best_q = top, q
        new = np.flatnonzero((prices >= WORTH * top) & (prices > 0.0))
        if self._pattern is FixedPattern.CONES:
            new = new[self._is_within(new, u[new])]
        if not new.size:
            return True
        columns = (
            self._gates.outputs if self._pattern is FixedPattern.OWN_LABEL else self._gates.columns
        )
        self._master.add(columns(new, u[new], self._x, self._y))
        self._u, self._gate = np.vstack([self._u, u[new]]), np.append(self._gate, new)
        self._solution = self._master.solve()
        self._q = self._solution.q
        gap = self._upper - max(self._solution.value, 0.0)
        if gap < NEARER * self._gap:
            self._gap, self._since = gap, 0
        self._since += 1
        closed = gap <= tolerance * self._upper or self._upper <= NOTHING * self._unit
        return closed or self._since > STALLED

    def limit(self) -> GatedLimit:
        """Return the result, halved because sum_j |u_j| is 1/2."""
        solution = self._solution
        if solution is None:
            empty = np.zeros(0)
            none = np.zeros((0, self._x.shape[1])), np.zeros(0, dtype=np.intp)
            return GatedLimit(0.0, 0.5 * self._upper, self._best_q, *none, empty)
        is_used = solution.weights > 0.0
        return GatedLimit(
            0.5 * max(solution.value, 0.0),
            0.5 * self._upper,
            self._best_q,
            self._u[is_used],
            self._gate[is_used],
            0.5 * solution.weights[is_used],
        )
