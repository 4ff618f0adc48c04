"""Engines for steps on batches: by rows, compiled for every two-layer network, and with arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.compiled import stochastic as kernel
from core.compiled.steps import network_steps
from core.dynamics.twin import twin
from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem

Array = NDArray[Any]


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """How a gradient becomes a step: plain descent, or Adam with its numbers."""

    step_size: float
    adam: bool = False
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    def numbers(self, l2: float, dtype: Any) -> Array:
        """The rule as the kernel takes it, in the precision of the run."""
        values = np.zeros(kernel.NUMBERS, dtype=dtype)
        values[kernel.ETA], values[kernel.PENALTY] = self.step_size, l2
        values[kernel.BETA_1], values[kernel.BETA_2] = self.beta1, self.beta2
        values[kernel.EPSILON] = self.eps
        values[kernel.POWER_1] = values[kernel.POWER_2] = 1.0
        return values


class BatchEngine(ABC):
    """Moves the parameters by steps on consecutive batches of rows of xs (N, D)."""

    name: str

    @abstractmethod
    def steps(self, xs: Array, ys: Array, count: int) -> int:
        """`count` steps, or as many as stay below the limit; returns their number."""

    @abstractmethod
    def flat(self) -> Array:
        """The parameters, a copy."""

    @abstractmethod
    def _move_to(self, flat: Array) -> None:
        """Have these parameters."""

    def parts(self) -> dict[str, Array]:
        """What a rule keeps from one step to the next: nothing, or Adam's moments and powers."""
        return {}

    def put(self, flat: Array, parts: dict[str, Array]) -> None:
        """Stand where another engine of the same rule stands."""
        self._move_to(flat)
        for name, part in self.parts().items():
            part[:] = parts[name]


@final
class RowEngine(BatchEngine):
    """Descent of the standard network on one example a step, see core.compiled.stochastic."""

    def __init__(self, problem: Problem, rule: Rule, dtype: Any, limit: float) -> None:
        m, D = problem.network.m, problem.inputs.shape[1]
        flat = problem.physical_start().astype(dtype)
        self.name = f"compiled rows {np.dtype(dtype).name}"
        self._a, self._D, self._limit = flat[:m].copy(), D, limit
        self._V = np.zeros((m, padded(D, np.dtype(dtype).itemsize)), dtype)
        self._V[:, :D] = flat[m:].reshape(m, D)
        self._loss, number = problem.loss.code, np.dtype(dtype).type
        self._step_size = number(rule.step_size)
        self._shrink = number(1.0 - 2.0 * rule.step_size * problem.experiment.loss.l2)
        self._work = (np.zeros(m, dtype), np.zeros((1, 1), dtype), np.zeros((1, 1), dtype))

    def steps(self, xs: Array, ys: Array, count: int) -> int:
        if xs.shape[1] != self._V.shape[1]:
            wide = np.zeros((xs.shape[0], self._V.shape[1]), xs.dtype)
            wide[:, : self._D] = xs
            xs = wide
        done: int = kernel.row_steps(
            self._a,
            self._V,
            xs,
            ys,
            count,
            self._loss,
            self._step_size,
            self._shrink,
            self._limit,
            *self._work,
        )
        return done

    def flat(self) -> Array:
        return np.concatenate([self._a, self._V[:, : self._D].reshape(-1)])

    def _move_to(self, flat: Array) -> None:
        self._a[:] = flat[: self._a.size]
        self._V[:, : self._D] = flat[self._a.size :].reshape(-1, self._D)


def padded(d: int, itemsize: int) -> int:
    """The length of rows that the compiled loop likes: whole runs of 128 bytes, or few beyond.

    >>> padded(50, 8), padded(50, 4), padded(20, 8)
    (50, 64, 20)
    """
    run = 128 // itemsize
    beyond = d % run
    return d if beyond <= run // 4 else d + run - beyond


@final
class CompiledEngine(BatchEngine):
    """Every two-layer network, batches of one size; with `full` the batch is the training set."""

    def __init__(
        self, problem: Problem, rule: Rule, dtype: Any, limit: float, batch: int, full: bool = False
    ) -> None:
        network, D = problem.network, problem.inputs.shape[1]
        assert isinstance(network, TwoLayer)
        self.name = f"compiled {np.dtype(dtype).name}"
        self._full, self._loss, self._limit = full, problem.loss.code, limit
        self.current = problem.physical_start().astype(dtype)
        self._net = twin(network, batch, D, dtype)
        self._rule = kernel.ADAM if rule.adam else kernel.DESCENT
        self._numbers = rule.numbers(problem.experiment.loss.l2, dtype)
        moments = self.current.size if rule.adam else 1
        self._moments = (np.zeros(moments, dtype), np.zeros(moments, dtype))
        shapes = ((D, batch), (network.m, batch), (network.m, batch), (network.k, batch))
        work = [np.zeros(shape, dtype) for shape in (*shapes, (network.k, batch))]
        # After the work: floats, counts, marks and frames of a schedule, which is elsewhere here.
        whole = np.zeros(0, np.int64)
        unused = (np.zeros(0), whole, whole, np.zeros((0, 0), dtype))
        self._work: tuple[Array, ...] = (*work, np.zeros_like(self.current), *unused)
        self._shrink = np.dtype(dtype).type(1.0)
        self._xs, self._ys = np.zeros((0, D), dtype), np.zeros(0, dtype)
        if full:
            self._work[0][:] = problem.inputs.T
            self._ys = problem.dataset.y.astype(dtype)

    def steps(self, xs: Array, ys: Array, count: int) -> int:
        if self._full:
            xs, ys = self._xs, self._ys
        done: int = network_steps(
            self._rule,
            self._net,
            self.current,
            xs,
            ys,
            count,
            self._loss,
            self._limit,
            0.0,
            self._shrink,
            self._numbers,
            *self._moments,
            *self._work,
        )
        return done

    def flat(self) -> Array:
        return self.current.copy()

    def _move_to(self, flat: Array) -> None:
        self.current[:] = flat

    def parts(self) -> dict[str, Array]:
        if self._rule != kernel.ADAM:
            return {}
        powers = self._numbers[kernel.POWER_1 : kernel.POWER_2 + 1]
        return {"first": self._moments[0], "second": self._moments[1], "powers": powers}


@final
class ArrayEngine(BatchEngine):
    """Every network, through `network.gradient`."""

    def __init__(
        self, problem: Problem, rule: Rule, dtype: Any, limit: float, batch: int, full: bool = False
    ) -> None:
        self.name = f"{problem.network.engine} {np.dtype(dtype).name}"
        self._problem, self._rule, self._limit = problem, rule, limit
        self._batch, self._l2, self._full = batch, problem.experiment.loss.l2, full
        self.current: Array = problem.physical_start().astype(dtype)
        self._first, self._second = np.zeros_like(self.current), np.zeros_like(self.current)
        self._powers, self._dtype = np.ones(2), np.dtype(dtype)
        if full:
            self._inputs = problem.inputs.astype(dtype)
            self._labels = problem.dataset.y.astype(dtype)

    def steps(self, xs: Array, ys: Array, count: int) -> int:
        for index in range(count):
            part = slice(index * self._batch, (index + 1) * self._batch)
            whole = (self._inputs, self._labels) if self._full else (xs[part], ys[part])
            if not self._step(*whole):
                return index
        return count

    def _step(self, inputs: Array, y: Array) -> bool:
        network, loss = self._problem.network, self._problem.loss
        f = np.asarray(network.outputs(self.current, inputs))
        if not (np.isfinite(f).all() and float(np.abs(f).mean()) <= self._limit):
            return False
        with np.errstate(over="ignore", invalid="ignore"):  # a gradient beyond float32
            g = (loss.output_gradient(f, y) / y.size).astype(self._dtype)
            gradient = np.asarray(network.gradient(self.current, inputs, g), dtype=self._dtype)
            gradient += 2.0 * self._l2 * self.current
            step = self._adapted(gradient) if self._rule.adam else self._scaled(gradient)
            moved = self.current - step
        if not np.isfinite(moved).all():
            return False
        self.current = moved
        return True

    def _scaled(self, gradient: Array) -> Array:
        return np.asarray(self._rule.step_size * gradient, dtype=self._dtype)

    def _adapted(self, gradient: Array) -> Array:
        rule = self._rule
        self._powers *= (rule.beta1, rule.beta2)
        self._first += (1.0 - rule.beta1) * (gradient - self._first)
        self._second += (1.0 - rule.beta2) * (gradient * gradient - self._second)
        size = rule.step_size / (1.0 - self._powers[0])
        root = np.sqrt(1.0 - self._powers[1])
        step = size * self._first / (np.sqrt(self._second) / root + rule.eps)
        return np.asarray(step, dtype=self._dtype)

    def flat(self) -> Array:
        return self.current.copy()

    def _move_to(self, flat: Array) -> None:
        self.current[:] = flat

    def parts(self) -> dict[str, Array]:
        if not self._rule.adam:
            return {}
        return {"first": self._first, "second": self._second, "powers": self._powers}


def batch_engine(
    problem: Problem, rule: Rule, dtype: Any, limit: float, batch: int, full: bool = False
) -> BatchEngine:
    """The engine for a problem: rows, else compiled, else arrays where there is no twin."""
    network = problem.network
    if network.kind == "standard" and batch == 1 and not full and not rule.adam:
        return RowEngine(problem, rule, dtype, limit)
    if network.compiled:
        return CompiledEngine(problem, rule, dtype, limit, batch, full)
    return ArrayEngine(problem, rule, dtype, limit, batch, full)
