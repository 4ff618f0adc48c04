"""Networks with inner weights in the cube |v|_inf <= 1 by local search.

The price of weights q is the largest |sum_i q_i y_i relu(<v, x_i>)| over the cube. Climbing finds
columns of a linear program, but no bound of it (core.reference.cube_price).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.reference.cancel_token import CancelToken
from core.reference.ellipsoids import Saddle
from core.reference.generation import select_distinct_directions
from core.reference.master import Master
from core.reference.programs import Program, solve_program

Array = NDArray[np.float64]
STARTS, STEPS = 200, 60  # ascents, and steps of each
POLISHED, POLISHES = 12, 8  # best ends of ascents that are polished, and linear programs of each
ADDED = 40
SMOOTHING = 0.85  # of the best q so far in the one that is priced
RELEASE = 0.7  # factor of it in each round without a gain
CLOSE = 1e-4
IDLE = 10  # rounds with a relative gain below 1e-4 before the search stops
MOST_ROUNDS = 100
SUPPORT = 1e-6  # of the largest q_i


@final
@dataclass(frozen=True, slots=True, eq=False)
class CubeSearch:
    """Margin and number of neurons of the best network, and weights q (n,) of low climbed price."""

    lower: float
    n_neurons: int
    q: Array
    price: float


def ascend_in_cube(x: Array, c: Array, V: Array, watch: CancelToken) -> tuple[Array, Array]:
    """Return the best points on gradient ascents of sum_i c_i relu(<v, x_i>), clipped to the cube.

    Parameters
    ----------
    x : array (n, d)
        Points.
    c : array (n,)
        Signed weights.
    V : array (k, d)
        Starts.
    watch : CancelToken
        Cancellation token.

    Returns
    -------
    V : array (k, d)
        Points of the cube.
    values : array (k,)
        Their values.
    """
    V = np.clip(V, -1.0, 1.0)
    best, values = V.copy(), np.full(len(V), -np.inf)
    for step in np.geomspace(1.0, 0.01, STEPS):
        watch.check()
        z = V @ x.T
        now = np.maximum(z, 0.0) @ c
        better = now > values
        best[better], values[better] = V[better], now[better]
        slope = ((z > 0.0) * c) @ x
        size = np.abs(slope).mean(axis=1)[:, None]
        V = np.clip(V + step * slope / np.where(size > 0.0, size, 1.0), -1.0, 1.0)
    return best, values


def polish_in_cube(x: Array, c: Array, v: Array, watch: CancelToken) -> tuple[Array, float]:
    """Return a point of the cube where sum_i c_i relu(<v, x_i>) is larger, and the value.

    Each step replaces the convex part by its tangent at v, and maximises exactly.

    Parameters
    ----------
    x : array (n, d)
        Points.
    c : array (n,)
        Signed weights.
    v : array (d,)
        Point of the cube to start from.
    watch : CancelToken
        Cancellation token.

    Returns
    -------
    v : array (d,)
        Point of the cube, `v` itself if no step helps.
    value : float
        Its sum.
    """
    negative = c < 0.0
    d, k = len(v), int(negative.sum())
    rows = np.c_[x[negative], -np.eye(k)]
    box = np.r_[np.full(d, -1.0), np.zeros(k)], np.r_[np.ones(d), np.full(k, np.inf)]
    value = float(np.maximum(x @ v, 0.0) @ c)
    for _ in range(POLISHES):
        slope = ((x @ v > 0.0) & ~negative) * c @ x
        solution = solve_program(Program(np.r_[slope, c[negative]], rows, np.zeros(k), *box), watch)
        if not solution.finished:
            break
        new = np.clip(solution.v[:d], -1.0, 1.0)
        reached = float(np.maximum(x @ new, 0.0) @ c)
        if reached <= value * (1.0 + 1e-9) + 1e-15:
            break
        v, value = new, reached
    return v, value


@final
class CubeGeneration:
    """Column generation in the cube on points x (n, d), y (n,), from the network of a saddle.

    `result` is that of the last `run`.
    """

    def __init__(self, x: Array, y: Array, saddle: Saddle) -> None:
        self._x, self._y = x, y
        self._generator = np.random.default_rng(0)
        self._master = Master(len(x))
        self._columns = np.zeros((0, len(x)))
        self._winners = {sign: np.zeros((0, x.shape[1])) for sign in (1.0, -1.0)}
        self.result = CubeSearch(-np.inf, 0, saddle.q, np.inf)
        if len(saddle.a):
            self.add(saddle.V / np.abs(saddle.V).max(axis=1)[:, None], np.sign(saddle.a))

    def add(self, V: Array, signs: Array) -> None:
        """Append the columns of neurons V (k, d) with outer weights of the `signs` (k,).

        Later climbs start at them too.
        """
        new = signs[:, None] * self._y * np.maximum(V @ self._x.T, 0.0)
        self._columns = np.vstack([self._columns, new])
        self._master.add(new)
        for sign, winners in self._winners.items():
            self._winners[sign] = np.vstack([winners, V[signs == sign]])

    def _price(self, q: Array, floor: float, watch: CancelToken) -> float:
        """Add columns of high price at q, and return the highest that was found."""
        x, y = self._x, self._y
        n, d = x.shape
        c = np.where(q > SUPPORT * q.max(), q, 0.0) * y
        is_used = c != 0.0
        highest = float((self._columns @ q).max(initial=0.0))
        for sign in (1.0, -1.0):
            spanned = self._generator.standard_normal((STARTS // 2, n)) * q @ x
            spanned /= np.abs(spanned).max(axis=1)[:, None]
            free = self._generator.choice([-1.0, 1.0], (STARTS // 2, d))
            starts = np.vstack([free, spanned, self._winners[sign]])
            V, values = ascend_in_cube(x[is_used], sign * c[is_used], starts, watch)
            first = select_distinct_directions(_normalise_rows(V), values, 0.0, POLISHED)
            ends = [polish_in_cube(x[is_used], sign * c[is_used], V[k], watch) for k in first]
            V = np.vstack([V, *(v[None] for v, _ in ends)])
            values = np.r_[values, [value for _, value in ends]]
            best = select_distinct_directions(_normalise_rows(V), values, floor, ADDED)
            self._winners[sign] = np.zeros((0, d))
            highest = max(highest, float(values.max()))
            if len(best):
                self.add(V[best], np.full(len(best), sign))
        return highest

    def _solve(self) -> tuple[Array, float, int]:
        """Return q, the margin and the number of neurons of the best network on the columns."""
        solution = self._master.solve()
        n_neurons = int((solution.weights > 0.0).sum())
        return solution.q, float((solution.weights @ self._columns).min()), n_neurons

    def run(self, watch: CancelToken) -> CubeSearch:
        """Add columns until the network's margin meets the climbed price of some q.

        Parameters
        ----------
        watch : CancelToken
            Cancellation token; once it has timed out, the search returns its best result.

        Returns
        -------
        CubeSearch
        """
        lower, n_neurons = self.result.lower, self.result.n_neurons
        q = best = self.result.q
        above, idle = np.inf, 0
        for _ in range(MOST_ROUNDS):
            # At the same q again no new column would be found.
            share = SMOOTHING * RELEASE**idle
            mixed = share * best + (1.0 - share) * q
            price = self._price(mixed, 0.9 * max(lower, 0.0), watch)
            if price < above:
                best, above = mixed, price
            q, margin, count = self._solve()
            idle = 0 if margin > lower * (1.0 + 1e-4) else idle + 1
            if margin > lower:
                lower, n_neurons = margin, count
            if watch.timed_out or idle >= IDLE or above - lower <= CLOSE * above:
                break
        self.result = CubeSearch(lower, n_neurons, best, above)
        return self.result


def _normalise_rows(V: Array) -> Array:
    """Return the rows divided by their lengths; rows of 0 stay."""
    lengths = np.linalg.norm(V, axis=1)[:, None]
    return np.asarray(V / np.where(lengths > 0.0, lengths, 1.0))
