"""Column generation: price neurons against weights q of the points, and weigh them by an LP."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.reference.cancel_token import CancelToken
from core.reference.master import Master
from core.reference.pricing import climb_price

Array = NDArray[np.float64]
FIRST_STARTS, STARTS, MOST_ADDED = 300, 90, 40
SMOOTHING = 0.85  # weight of the best q so far in the priced one
SAME = 1.0 - 1e-6  # cosine above which two directions count as equal
WORTH = 0.9  # fraction of the LP's value below which columns are not added
MOST_ROUNDS = 2000
# Columns of the LP: beyond the limit, the 800 nearest to use are kept.
MOST_COLUMNS, COLUMNS_RETAINED = 2000, 800


@final
@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Set of k neurons of a network: signs alpha (k,) and unit directions beta (k, r)."""

    alpha: Array
    beta: Array

    def columns(self, x: Array, y: Array) -> Array:
        """Return the margins of each neuron alone.

        Parameters
        ----------
        x : array (n, r)
            Points.
        y : array (n,)
            Labels +-1.

        Returns
        -------
        array (k, n)
            y_i alpha_j relu(<beta_j, x_i>).
        """
        return self.alpha[:, None] * y * np.maximum(self.beta @ x.T, 0.0)

    def select(self, indices: Array | NDArray[np.bool_]) -> Atoms:
        """Return the atoms of some indices, or of a mask."""
        return Atoms(self.alpha[indices], self.beta[indices])

    def join(self, other: Atoms) -> Atoms:
        """Return these atoms, followed by those of `other`."""
        alpha = np.concatenate([self.alpha, other.alpha])
        return Atoms(alpha, np.vstack([self.beta, other.beta]))


@final
@dataclass(frozen=True, slots=True, eq=False)
class GenerationResult:
    """Result of column generation on some points.

    `value` is the LP's: exactly the margin of `atoms` with `weights` on these points. `above` is
    the price of `q`, the best weights of the points, by climbing: NOT a proved upper bound.
    """

    atoms: Atoms
    weights: Array
    q: Array
    value: float
    above: float


def select_distinct_directions(
    V: Array, values: Array, least: float, max_count: int
) -> NDArray[np.intp]:
    """Return the indices of the best rows, no two of one direction.

    Parameters
    ----------
    V : array (k, r)
        Unit rows.
    values : array (k,)
        Value of each row.
    least : float
        Rows of this value or less are left out.
    max_count : int
        Largest number of rows.

    Returns
    -------
    array of int
        Indices, by decreasing value.
    """
    chosen: list[int] = []
    # Stable, so that a seed gives one network and one bracket.
    for i in np.argsort(-values, kind="stable"):
        if len(chosen) == max_count or values[i] <= least:
            break
        if not chosen or (V[chosen] @ V[i]).max() < SAME:
            chosen.append(int(i))
    return np.array(chosen, dtype=np.intp)


def select_columns(prices: Array, weights: Array) -> NDArray[np.bool_]:
    """Select columns: all with a weight, and the COLUMNS_RETAINED of the highest prices.

    Parameters
    ----------
    prices : array (k,)
        Price of each column at the current q.
    weights : array (k,)
        Weight of each column in the LP.

    Returns
    -------
    array of bool (k,)
        True for columns to keep.
    """
    support = weights > 0.0
    support[np.argsort(-prices, kind="stable")[:COLUMNS_RETAINED]] = True
    return np.asarray(support)


@final
class Generation:
    """Column generation on points x (n, r), y (n,) in -1, +1.

    `start` are atoms and weights q (n,) >= 0 of any sum. `generator` draws the starts of climbs.
    `unit` is the unit of the linear program: 1, or about the margin where that is small.
    """

    def __init__(
        self,
        x: Array,
        y: Array,
        start: tuple[Atoms, Array],
        generator: np.random.Generator,
        unit: float = 1.0,
    ) -> None:
        atoms, q = start
        self._x, self._y, self._generator, self._unit = x, y, generator, unit
        self._master = Master(len(x), unit=unit)
        self._atoms = Atoms(np.zeros(0), np.zeros((0, x.shape[1])))
        self._columns = np.zeros((0, len(x)))
        self._tried, self._prices = np.zeros((0, len(x))), np.zeros(0)
        self._winners = {sign: np.zeros((0, x.shape[1])) for sign in (1.0, -1.0)}
        self._initial_q = q / q.sum()
        if atoms.alpha.size:
            self._add(atoms)

    def _add(self, atoms: Atoms) -> None:
        """Add the atoms' columns to the linear program, and update the stored prices."""
        if not atoms.alpha.size:
            return
        columns = atoms.columns(self._x, self._y)
        self._master.add(columns)
        self._atoms = self._atoms.join(atoms)
        self._columns = np.vstack([self._columns, columns])
        if len(self._tried):
            self._prices = np.maximum(self._prices, (self._tried @ columns.T).max(axis=1))

    def _climb_starts(self, sign: float, q: Array, atoms: Atoms, count: int) -> Array:
        """Return `count` random directions, the last winners, and the atoms of this sign."""
        # A maximum is a combination of the points active at it: half of the starts have that form.
        free = self._generator.standard_normal((count // 2, self._x.shape[1]))
        spanned = self._generator.standard_normal((count - count // 2, len(self._x))) * q @ self._x
        earlier = atoms.beta[atoms.alpha == sign]
        return np.vstack([free, spanned, self._winners[sign], earlier])

    def price(self, q: Array, atoms: Atoms, floor: float, count: int, watch: CancelToken) -> float:
        """Add the columns that are best at q, and store the price of q.

        Parameters
        ----------
        q : array (n,)
            Weights of the points in the simplex.
        atoms : Atoms
            Atoms with a weight, from whose directions the climb also starts.
        floor : float
            Columns of this value or less are not added.
        count : int
            Number of random starts for each sign.
        watch : CancelToken
            Cancellation token.

        Returns
        -------
        float
            Price: largest value found over unit directions and both signs.
        """
        highest = 0.0
        priced = []
        for sign in (1.0, -1.0):
            starts = self._climb_starts(sign, q, atoms, count)
            V, values = climb_price(self._x, sign * q * self._y, starts, watch)
            best = select_distinct_directions(V, values, floor, MOST_ADDED)
            self._winners[sign] = V[best]
            highest = max(highest, float(values.max()))
            priced.append(Atoms(np.full(len(best), sign), V[best]))
        if len(self._columns):
            highest = max(highest, float((self._columns @ q).max()))
        self._tried = np.vstack([self._tried, q])
        self._prices = np.append(self._prices, highest)
        self._add(priced[0].join(priced[1]))
        return highest

    def run(self, tolerance: float, zero: float, watch: CancelToken) -> GenerationResult:
        """Add columns until the gap to the climbed price closes.

        Parameters
        ----------
        tolerance : float
            Relative gap at which to stop.
        zero : float
            Price at or below which to stop: the margin is then rounding.
        watch : CancelToken
            Cancellation; the loop stops when the watch is late.

        Returns
        -------
        GenerationResult
            State after the last round.
        """
        state: GenerationResult | None = None
        for _ in range(MOST_ROUNDS):
            state = self._round(state, watch)
            if state.above - state.value <= tolerance * state.above or state.above <= zero:
                break
            if watch.timed_out:
                break
        assert state is not None
        return state

    def _round(self, state: GenerationResult | None, watch: CancelToken) -> GenerationResult:
        """Price a mixture of the best q and the program's own, and solve the program again."""
        none = Atoms(np.zeros(0), np.zeros((0, self._x.shape[1])))
        if state is None:
            self.price(self._initial_q, none, -np.inf, FIRST_STARTS, watch)
        else:
            # Without a positive value smoothing has no purpose: the LP's own q finds a proof
            # soonest.
            share = SMOOTHING if state.value > 0.0 else 0.0
            best = self._tried[np.argmin(self._prices)]
            atoms = state.atoms.select(state.weights > 1e-9)
            # The LP's q is a vertex and jumps between rounds; columns priced there soon become
            # useless.
            q = share * best + (1.0 - share) * state.q
            self.price(q, atoms, WORTH * max(state.value, 0.0), STARTS, watch)
        watch.check()
        solution = self._master.solve()
        above = float(self._prices.min())
        # Between rounds state.q is the LP's; `finish` returns the best priced one.
        state = GenerationResult(self._atoms, solution.weights, solution.q, solution.value, above)
        if len(self._columns) > MOST_COLUMNS:
            self._drop_unused_columns(state)
        return state

    def _drop_unused_columns(self, state: GenerationResult) -> None:
        """Shrink the LP and keep its optimum: a large LP takes longer than 50 ms to solve."""
        support = select_columns(self._columns @ state.q, state.weights)
        self._atoms, self._columns = self._atoms.select(support), self._columns[support]
        self._master = Master(len(self._x), unit=self._unit)
        self._master.add(self._columns)

    def finish(self, state: GenerationResult) -> GenerationResult:
        """Return the state with the q of the least price instead of the LP's."""
        return replace(state, q=self._tried[np.argmin(self._prices)])
