"""Streams of examples for stochastic dynamics, in an order fixed by the seed.

The order is that of `default_rng([run.seed, 2])`; a run that continues from step s of another
dynamics has that of `default_rng([run.seed, 2, s])`. Over the training set each pass is a
permutation, and batches run on from one pass to the next, so that all have the same size. Fresh
examples are drawn in blocks of a fixed length. Neither depends on how a run is cut into chunks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.dynamics import solver_state
from core.errors import InputError
from core.problem.problem import Problem, with_directions

Array = NDArray[np.float64]
# Four megabytes of examples per block, at any length.
BLOCK_VALUES = 2**19
MOST_EXAMPLES = 4096


@final
class FreshSource:
    """Source of further examples from a problem's distribution.

    Raises InputError if the data have none (they come from a file, or are points).
    """

    def __init__(self, problem: Problem) -> None:
        section = problem.experiment.data
        if not section.known_law:
            raise self._no_distribution_error(section.kind)
        self._kind, self._source = section.kind, section.distribution(None)
        self._training = with_directions(problem)
        self.draw(np.random.default_rng(0), 1)  # rejects invalid data before anything runs

    @staticmethod
    def _no_distribution_error(kind: str) -> InputError:
        return InputError(
            f'data.kind = "{kind}" has no distribution to draw fresh examples from; use the '
            "training set instead (dynamics.fresh = false, first_batch = 0)."
        )

    def draw(self, generator: np.random.Generator, count: int) -> tuple[Array, Array]:
        """Draw further examples.

        Parameters
        ----------
        generator : Generator
            Source of randomness.
        count : int
            Number of examples.

        Returns
        -------
        tuple of arrays
            Inputs x (count, d) and labels y (count,).
        """
        examples = self._source.fresh(generator, count, self._training)
        if examples is None:
            raise self._no_distribution_error(self._kind)
        return examples


def make_generator(problem: Problem, place: int) -> np.random.Generator:
    """Return random generator number `place` of a run; a changed dynamics has its own ones."""
    seed, start = problem.experiment.run.seed, problem.start
    return np.random.default_rng(
        [seed, place] if start.same_dynamics else [seed, place, start.step]
    )


class Stream(ABC):
    """Batches of examples, one block after another; a block holds whole batches."""

    def __init__(self, problem: Problem, batch: int, dtype: Any) -> None:
        self._problem, self._dtype = problem, dtype
        self._generator = make_generator(problem, 2)
        # Derived from the problem's sizes only: chunks and machines must not change the order.
        fits = max(1, min(MOST_EXAMPLES, BLOCK_VALUES // problem.inputs.shape[1]) // batch)
        self.block_size = fits * batch
        self._batch, self._place = batch, 0
        self._xs = self._ys = np.zeros((0, 1), dtype=dtype)
        self._store_block_state()
        start = problem.start
        if start.state is None and start.same_dynamics:
            self._skip_examples(start.step * batch)

    @abstractmethod
    def _draw(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw and return the next block: inputs (block_size, D) and labels."""

    @abstractmethod
    def _remaining_order(self) -> Array:
        """Return the order drawn for later blocks and not used yet, always of one length."""

    @abstractmethod
    def _set_leftover(self, values: Array) -> None:
        """Restore the order that `_remaining_order` returned."""

    def _store_block_state(self) -> None:
        """Store the state from which the next block is drawn."""
        self._block = (solver_state.generator_words(self._generator), self._remaining_order())

    def get_place(self) -> Array:
        """Return the place in the order of examples.

        Returns
        -------
        array
            Place in the block, its size (0 before the first), and how the block is drawn.
        """
        words, leftover = self._block
        return np.concatenate([[self._place, self._ys.shape[0]], words, leftover])

    def set_place(self, values: Array) -> None:
        """Return to where `get_place` was called. Raises InputError for values that do not fit."""
        place, size = values[:2].tolist()
        if size not in (0, self.block_size) or not 0 <= place <= size or place % self._batch:
            raise solver_state.invalid_state("the place in the order of examples is none")
        solver_state.set_generator(self._generator, values[2 : 2 + solver_state.GENERATOR_WORDS])
        self._set_leftover(values[2 + solver_state.GENERATOR_WORDS :])
        self._store_block_state()
        if size:
            self._fill()
        self._place = int(place)

    def _skip_examples(self, examples: int) -> None:
        """Skip the examples of a run that was continued without its state."""
        blocks, remainder = divmod(examples, self.block_size)
        for _ in range(blocks):
            self._skip_block()
        self._store_block_state()
        if remainder:
            self._fill()
            self._place = remainder

    def _skip_block(self) -> None:
        """Draw a block, and drop it."""
        self._draw()

    def _fill(self) -> None:
        """Draw the next block, and go to its start."""
        self._store_block_state()
        xs, ys = self._draw()
        self._xs = np.ascontiguousarray(xs, dtype=self._dtype)
        self._ys = np.ascontiguousarray(ys, dtype=self._dtype)
        self._place = 0

    def next_batches(self, count: int) -> tuple[NDArray[Any], NDArray[Any], int]:
        """Return the next batches of the present block, or of a new one if that is used up.

        Parameters
        ----------
        count : int
            Largest number of batches.

        Returns
        -------
        xs : array (batches * batch, D)
            Inputs.
        ys : array (batches * batch,)
            Labels.
        batches : int
            At least 1.
        """
        if self._place == self._ys.shape[0]:
            self._fill()
        available = (self._ys.shape[0] - self._place) // self._batch
        batches = min(count, available)
        part = slice(self._place, self._place + batches * self._batch)
        self._place = part.stop
        return self._xs[part], self._ys[part], batches


@final
class ReshuffledStream(Stream):
    """Training examples, each once in every pass; with `sigma` their targets are y +- sigma."""

    def __init__(self, problem: Problem, batch: int, dtype: Any, sigma: float = 0.0) -> None:
        self._sigma = sigma
        self._order = np.zeros(0, dtype=np.int64)
        self._inputs = np.ascontiguousarray(problem.inputs, dtype=dtype)
        super().__init__(problem, batch, dtype)

    def _remaining_order(self) -> Array:
        n = self._inputs.shape[0]  # a pass starts only after the one before has ended
        return np.concatenate([self._order, np.full(n - self._order.size, -1)]).astype(np.float64)

    def _set_leftover(self, values: Array) -> None:
        n = self._inputs.shape[0]
        order = values[values != -1.0]
        proper = np.array_equal(values[: order.size], order) and np.unique(order).size == order.size
        if not (proper and np.isin(order, np.arange(n)).all()):
            raise solver_state.invalid_state("the order of examples is none")
        self._order = order.astype(np.int64)

    def _next_indices(self) -> NDArray[np.int64]:
        """Draw and return the examples of the next block, (block_size,)."""
        while self._order.size < self.block_size:
            further = self._generator.permutation(self._inputs.shape[0])
            self._order = np.concatenate([self._order, further])
        part, self._order = self._order[: self.block_size], self._order[self.block_size :]
        return part

    def _skip_block(self) -> None:
        self._next_indices()
        self._noise()

    def _draw(self) -> tuple[NDArray[Any], NDArray[Any]]:
        order = self._next_indices()
        return self._inputs[order], self._problem.dataset.y[order] + self._noise()

    def _noise(self) -> Array | float:
        """Draw the noise of a block's targets, +-sigma (block_size,); draw nothing at sigma 0."""
        if not self._sigma:
            return 0.0
        signs = 2.0 * self._generator.integers(0, 2, self.block_size) - 1.0
        return np.asarray(self._sigma * signs)


@final
class FreshStream(Stream):
    """Examples that are used once."""

    def __init__(self, problem: Problem, batch: int, dtype: Any) -> None:
        self._source = FreshSource(problem)
        super().__init__(problem, batch, dtype)

    def _remaining_order(self) -> Array:
        return np.zeros(0)

    def _set_leftover(self, values: Array) -> None:
        """Do nothing: fresh examples are not drawn ahead."""

    def _draw(self) -> tuple[NDArray[Any], NDArray[Any]]:
        x, y = self._source.draw(self._generator, self.block_size)
        return self._problem.network.inputs(x), y
