"""Engines for steps on batches: by rows, compiled for two-layer networks, and with arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.compiled import scaled_gradients
from core.compiled import stochastic as kernel
from core.compiled.descent import Progress, Run
from core.compiled.records import record
from core.compiled.steps import network_steps
from core.dynamics.dual_weights import scaled_slopes
from core.dynamics.kernel_arrays import make_work_arrays
from core.dynamics.update_rule import Rule
from core.network.quadratic import cubed_norm_gradient, node_blocks
from core.problem.problem import Problem

Array = NDArray[Any]


class BatchEngine(ABC):
    """Engine that moves the parameters by steps on consecutive batches of rows of xs (N, D)."""

    name: str
    current: Array  # the parameters; unused in RowEngine

    @abstractmethod
    def take_steps(self, xs: Array, ys: Array, count: int, first: int = 0) -> int:
        """Take steps until `count`, or until the divergence limit.

        Parameters
        ----------
        xs : array (N, D)
            Inputs of the batches in a row; empty for an engine of full batches.
        ys : array (N,)
            Labels.
        count : int
            Number of steps.
        first : int
            Steps already taken since t = 0, for the schedule of their lengths.

        Returns
        -------
        int
            Number of steps taken; less than `count` if the run diverged.
        """

    def flat(self) -> Array:
        """Return a copy of the parameters.

        Returns
        -------
        array (size,)
            Parameters in the precision of the run.
        """
        return self.current.copy()

    def parts(self) -> dict[str, Array]:
        """Return the rule's state, which a continued run needs.

        Returns
        -------
        dict of str to array
            Empty; "velocity" (size,) with momentum; with Adam "first" and "second" (size,),
            "powers" (2,) and "scale" (1,). The engine's own arrays, not copies: writing into them
            restores a state.
        """
        return {}


@final
class RowEngine(BatchEngine):
    """Descent of the standard network on one example a step (core.compiled.stochastic)."""

    def __init__(self, problem: Problem, rule: Rule, dtype: Any, limit: float) -> None:
        m, D = problem.network.m, problem.inputs.shape[1]
        flat = problem.physical_start().astype(dtype)
        self.name = f"compiled rows {np.dtype(dtype).name}"
        self._a, self._D = flat[:m].copy(), D
        self._V = np.zeros((m, padded_length(D, np.dtype(dtype).itemsize)), dtype)
        self._V[:, :D] = flat[m:].reshape(m, D)
        step_size, l2 = rule.step_size, problem.experiment.loss.l2
        eta, shrink = np.array([step_size, 1.0 - 2.0 * step_size * l2], dtype)
        work = [np.zeros(shape, dtype) for shape in ((m,), (1, 1), (1, 1))]
        self._rows = kernel.Rows(self._a, self._V, problem.loss.code, eta, shrink, limit, *work)

    def take_steps(self, xs: Array, ys: Array, count: int, first: int = 0) -> int:
        if xs.shape[1] != self._V.shape[1]:
            wide = np.zeros((xs.shape[0], self._V.shape[1]), xs.dtype)
            wide[:, : self._D] = xs
            xs = wide
        n_steps: int = kernel.row_steps(self._rows, xs, ys, count)
        return n_steps

    def flat(self) -> Array:
        return np.concatenate([self._a, self._V[:, : self._D].reshape(-1)])


def padded_length(d: int, itemsize: int) -> int:
    """Return a row length that suits the compiled loop: whole runs of 128 bytes, or few beyond.

    >>> padded_length(50, 8), padded_length(50, 4), padded_length(20, 8)
    (50, 64, 20)
    """
    run = 128 // itemsize
    beyond = d % run
    return d if beyond <= run // 4 else d + run - beyond


@final
class CompiledEngine(BatchEngine):
    """Engine of every two-layer network for batches of one size.

    With `full` each batch is the training set, and `take_steps` ignores xs and ys.
    """

    def __init__(
        self, problem: Problem, rule: Rule, dtype: Any, limit: float, batch: int, full: bool = False
    ) -> None:
        D = problem.inputs.shape[1]
        self.name = f"compiled {np.dtype(dtype).name}"
        self.current = problem.physical_start().astype(dtype)
        self._full, self._work = full, make_work_arrays(problem, self.current, limit, batch)
        loss = problem.experiment.loss
        self._plan, blocks = rule, node_blocks(problem.network)
        self._rule = rule.for_kernels(rule.kind, self.current, (loss.l2, loss.l23), blocks)
        # Batches have no schedule.
        unused, _ = record(Progress)
        self._run = Run(unused, np.zeros(0, np.int64), 0.0, np.dtype(dtype).type(1.0))
        self._buffer = np.zeros((0, 0), dtype)
        self._data = (np.zeros((0, D), dtype), problem.dataset.y.astype(dtype))
        if full:
            self._work.columns[:] = problem.inputs.T

    def take_steps(self, xs: Array, ys: Array, count: int, first: int = 0) -> int:
        if self._full:
            xs, ys = self._data
        rule, factors = self._rule, self._plan.factors(first, count, self.current.dtype)
        if factors.size:
            rule = rule._replace(factors=factors)
        return network_steps(self._work, xs, ys, count, rule, self._run, self._buffer)

    def parts(self) -> dict[str, Array]:
        rule = self._rule
        if rule.kind != kernel.ADAM:
            return {"velocity": rule.first} if self._plan.momentum else {}
        moments = {"first": rule.first, "second": rule.second, "powers": rule.powers}
        return {**moments, "scale": rule.scale}


@final
class ArrayEngine(BatchEngine):
    """Engine of every network, through `network.gradient`; `full` as for `CompiledEngine`."""

    def __init__(
        self, problem: Problem, rule: Rule, dtype: Any, limit: float, batch: int, full: bool = False
    ) -> None:
        self.name = f"{problem.network.engine} {np.dtype(dtype).name}"
        self._problem, self._rule, self._limit = problem, rule, limit
        loss = problem.experiment.loss
        self._batch, self._l2, self._l23, self._full = batch, loss.l2, loss.l23, full
        self.current = problem.physical_start().astype(dtype)
        self._first, self._second = np.zeros_like(self.current), np.zeros_like(self.current)
        self._powers, self._dtype = np.ones(2), np.dtype(dtype)
        self._scale = np.zeros(1, dtype)
        plain = self._l2 == 0.0 and self._l23 == 0.0
        self._scales = rule.adam and plain and scaled_gradients.vanishes(problem.loss.code)
        if full:
            self._inputs = problem.inputs.astype(dtype)
            self._labels = problem.dataset.y.astype(dtype)

    def take_steps(self, xs: Array, ys: Array, count: int, first: int = 0) -> int:
        factors = self._rule.factors(first, count, self._dtype)
        for index in range(count):
            part = slice(index * self._batch, (index + 1) * self._batch)
            batch = (self._inputs, self._labels) if self._full else (xs[part], ys[part])
            if not self._step(*batch, float(factors[index]) if factors.size else 1.0):
                return index
        return count

    def _step(self, inputs: Array, y: Array, factor: float) -> bool:
        """Take one step of length `factor` times the rule's step size on a batch.

        The rule may ascend by rho first (sharpness-aware descent), and decay the weights. Return
        False, with unchanged parameters, where the mean |f| exceeds the limit, or where f or the
        new weights are not finite.
        """
        f = np.asarray(self._problem.network.outputs(self.current, inputs))
        # Before the step, so that the parameters remain those of the last valid step.
        if not (np.isfinite(f).all() and float(np.abs(f).mean()) <= self._limit):
            return False
        with np.errstate(over="ignore", invalid="ignore"):  # a gradient may exceed float32
            gradient = self._gradient_at(self.current, inputs, f, y)
            length = float(np.linalg.norm(gradient.astype(np.float64)))
            if self._rule.rho > 0.0 and length > 0.0:
                rise = np.asarray(self._rule.rho / length, dtype=self._dtype)
                ascended = self.current + rise * gradient
                f = np.asarray(self._problem.network.outputs(ascended, inputs))
                gradient = self._gradient_at(ascended, inputs, f, y)
            eta = factor * self._rule.step_size
            step = self._step_along(gradient, eta)
            shrunk = np.asarray(1.0 - eta * self._rule.decay, dtype=self._dtype) * self.current
            weights = shrunk - np.asarray(step, dtype=self._dtype)
        if not np.isfinite(weights).all():
            return False
        self.current = weights
        return True

    def _gradient_at(self, flat: Array, inputs: Array, f: Array, y: Array) -> Array:
        """Return the gradient at weights with the outputs f, penalties included."""
        network = self._problem.network
        g = (self._output_gradient(f, y) / y.size).astype(self._dtype)
        gradient = np.asarray(network.gradient(flat, inputs, g), dtype=self._dtype)
        gradient += 2.0 * self._l2 * flat
        if self._l23 > 0.0:
            gradient += self._l23 * cubed_norm_gradient(network, flat)
        return gradient

    def _step_along(self, gradient: Array, eta: float) -> Array:
        """Return the array to subtract from the weights; update the velocity, or Adam's moments."""
        rule = self._rule
        if rule.adam:
            return self._adapt_gradient(gradient, eta)
        step = eta * gradient
        if not rule.momentum:
            return step
        self._first[:] = rule.beta1 * self._first - step
        return step - rule.beta1 * self._first if rule.ahead else -self._first

    def _output_gradient(self, f: Array, y: Array) -> Array:
        """Return dl/df, shaped like f; 2^k dl/df where Adam scales its gradients."""
        loss = self._problem.loss
        if self._scales:
            low, single = float(loss.scores(f, y).min()), self._dtype.itemsize == 4
            self._follow_margin(low, single)
            k = float(self._scale[0])
            if scaled_gradients.is_needed(loss.code, low, k, self._rule.eps, single):
                return scaled_slopes(loss, f.astype(np.float64), y, k)
        return loss.output_gradient(f, y)

    def _follow_margin(self, low: float, single: bool) -> None:
        """Rescale the moments in place where margins are far, as scaled_gradients.follow_margin.

        `low` is the batch's least score; `single` is True in float32. The dual weights of far
        margins underflow, and 2^scale times them do not.
        """
        k, eps = float(self._scale[0]), self._rule.eps
        if not scaled_gradients.is_far(low, k, single):
            return
        first, second = self._first.astype(np.float64), self._second.astype(np.float64)
        roots = second if scaled_gradients.holds_roots(k, eps) else np.sqrt(second)
        top = float(np.maximum(np.abs(first), roots).max())
        new = scaled_gradients.next_scale(low, k, top, single)
        first, roots = np.ldexp(first, int(new - k)), np.ldexp(roots, int(new - k))
        self._scale[0] = new
        self._first[:] = first
        self._second[:] = roots if scaled_gradients.holds_roots(new, eps) else roots**2

    def _adapt_gradient(self, gradient: Array, eta: float) -> Array:
        """Return the step of Adam for a gradient, and update the moments."""
        rule = self._rule
        self._powers *= (rule.beta1, rule.beta2)
        if scaled_gradients.holds_roots(float(self._scale[0]), rule.eps):
            return self._adapt_scaled(gradient, eta)
        self._first += (1.0 - rule.beta1) * (gradient - self._first)
        self._second += (1.0 - rule.beta2) * (gradient * gradient - self._second)
        size = eta / (1.0 - self._powers[0])
        # Kingma and Ba, Algorithm 1: eps is added to the corrected root, as in torch.
        root = np.sqrt(1.0 - self._powers[1])
        return np.asarray(size * self._first / (np.sqrt(self._second) / root + rule.eps))

    def _adapt_scaled(self, gradient: Array, eta: float) -> Array:
        """Return the step of Adam for a scaled gradient, as scaled_gradients.adapt_scaled.

        `_second` contains roots here. Entries of both moments count as 0 where the larger of root
        and gradient is below `scaled_gradients.LEAST` (`LEAST_32` in float32).
        """
        rule, single = self._rule, self._dtype.itemsize == 4
        top = np.maximum(self._second, np.abs(gradient))
        is_large = top >= (scaled_gradients.LEAST_32 if single else scaled_gradients.LEAST)
        top = np.where(is_large, top, 1.0)
        before, now = self._second / top, gradient / top
        squares = rule.beta2 * before * before + (1.0 - rule.beta2) * now * now
        self._second[:] = np.where(is_large, top * np.sqrt(squares), 0.0)
        self._first += (1.0 - rule.beta1) * (gradient - self._first)
        self._first[~is_large] = 0.0
        eps = np.ldexp(rule.eps, int(self._scale[0]))
        divisor = np.where(is_large, self._second / np.sqrt(1.0 - self._powers[1]) + eps, 1.0)
        return np.asarray(eta / (1.0 - self._powers[0]) * self._first / divisor)

    def parts(self) -> dict[str, Array]:
        if not self._rule.adam:
            return {"velocity": self._first} if self._rule.momentum else {}
        moments = {"first": self._first, "second": self._second, "powers": self._powers}
        return {**moments, "scale": self._scale}


def make_batch_engine(
    problem: Problem, rule: Rule, dtype: Any, limit: float, batch: int, full: bool = False
) -> BatchEngine:
    """Return the fastest engine for a problem: one example a step, compiled, or NumPy arrays.

    Parameters
    ----------
    problem : Problem
        Prepared problem.
    rule : Rule
        Update rule.
    dtype : dtype
        Precision of the run.
    limit : float
        Divergence limit (`LossFunction.divergence`).
    batch : int
        Examples in a batch.
    full : bool
        True if the batch is the training set.

    Returns
    -------
    BatchEngine
        Engine at the problem's start.
    """
    network, alike = problem.network, not (rule.has_schedule or problem.experiment.loss.l23)
    rows = network.kind == "standard" and network.plain_relu
    if rows and batch == 1 and rule.kind == kernel.DESCENT and alike and not full:
        return RowEngine(problem, rule, dtype, limit)
    if network.compiled:
        return CompiledEngine(problem, rule, dtype, limit, batch, full)
    return ArrayEngine(problem, rule, dtype, limit, batch, full)
