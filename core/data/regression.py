"""Labels of a random teacher network, and points with real targets."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from math import factorial
from typing import ClassVar, Literal, final

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from numpy.random import Generator
from pydantic import model_validator

from core.data.dataset import Array, Dataset, Directions, Distribution, Law
from core.data.section import D_MEANING, MAX_N, N_MEANING, DataSection, set_sizes
from core.errors import InputError, RuleError
from core.settings import MAX_SEED, SEED_MEANING, setting

MOST_VALUES = 2**20  # values in one batch of proposals
MOST_PROPOSALS = (200_000, 1000)  # at least 200,000, or 1000 per example


@final
class TeacherData(DataSection, Law):
    """Labels of a random teacher: y = sign f(x), f(x) = sum_j a_j relu(<w_j, x>), x ~ N(0, I).

    Examples have |f(x)| >= margin; a_j and w_j are N(0, 1), and f is not normalised. wei19 leaves
    these laws open: with standard normal inputs its section F.1 has the margins of docs/theory.md,
    7.8, with inputs of norm 1 it does not. The directions are |a_j| w_j, `positive` and `negative`
    by the sign of a_j, so that f is the sum of their relu(<., x>) minus that of the negative ones.
    Raises InputError where fewer than one proposal in a thousand keeps the margin.
    """

    title: ClassVar[str] = "labels of a random two-layer ReLU network, kept where |f(x)| >= margin"
    source: ClassVar[str] = "wei19, sections F.1 (10 units, margin .01) and F.3 (6 units, .1)"

    words: ClassVar[str] = "labels of a teacher"
    kind: Literal["teacher"] = "teacher"
    d: int = setting(20, meaning=D_MEANING, ge=1, le=100_000)
    n: int = setting(200, meaning=N_MEANING, ge=1, le=MAX_N)
    units: int = setting(10, meaning="hidden units of the teacher", ge=1, le=10_000)
    margin: float = setting(
        0.01, meaning="inputs with |f(x)| below this are drawn again", ge=0, le=1e6
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    def directions(self, generator: Generator) -> dict[str, Array]:
        """Draw the teacher's units.

        Parameters
        ----------
        generator : Generator
            Source of randomness.

        Returns
        -------
        dict of str to array (k, d)
            |a_j| w_j, "positive" and "negative" by the sign of a_j; a_j and w_j are N(0, 1).
        """
        inner = generator.standard_normal((self.units, self.d))
        outer = generator.standard_normal(self.units)
        # |a| relu(<w, x>) = relu(<|a| w, x>): a teacher is two sets of directions.
        directions = np.abs(outer)[:, None] * inner
        return {"positive": directions[outer > 0], "negative": directions[outer <= 0]}

    @staticmethod
    def outputs(x: Array, directions: Directions) -> Array:
        """Return the outputs of the teacher.

        Parameters
        ----------
        x : array (n, d)
            Inputs.
        directions : mapping of str to array
            Directions `positive` and `negative`.

        Returns
        -------
        array (n,)
            f(x).
        """
        up, down = (np.maximum(x @ directions[name].T, 0.0) for name in ("positive", "negative"))
        return np.asarray(up.sum(axis=1) - down.sum(axis=1))

    def draw(self, generator: Generator, count: int, directions: Directions) -> tuple[Array, Array]:
        """Draw inputs until enough of them have |f(x)| >= margin.

        Parameters
        ----------
        generator, count : Generator, int
            Source of randomness, and number of examples.
        directions : mapping of str to array
            Directions "positive" and "negative".

        Returns
        -------
        tuple of arrays
            x (count, d) and y = sign f(x), (count,).

        Raises
        ------
        InputError
            Fewer than `count` of about 200,000 + 1000 count drawn inputs keep the margin.
        """
        xs, fs, accepted, n_drawn = [], [], 0, 0
        batch = max(1, min(MOST_VALUES // self.d, 2 * count + 64))
        max_proposals = MOST_PROPOSALS[0] + MOST_PROPOSALS[1] * count
        while accepted < count:
            if n_drawn >= max_proposals:
                raise InputError(
                    f"data.margin = {self.margin:g}: only {accepted} of {n_drawn} random inputs "
                    "have |f(x)| that large for this teacher; choose a smaller margin, such as "
                    "0.01."
                )
            x = generator.standard_normal((batch, self.d))
            f = self.outputs(x, directions)
            # f = 0 has no label; it occurs where no unit is active on an input.
            mask = (np.abs(f) >= self.margin) & (f != 0.0)
            xs.append(x[mask])
            fs.append(f[mask])
            accepted += int(mask.sum())
            n_drawn += batch
        x, f = np.concatenate(xs)[:count], np.concatenate(fs)[:count]
        return np.ascontiguousarray(x), np.sign(f)


MOST_TARGETS = 10_000
LARGEST = 1e6  # limit of a target

# Rows (x, y). "paper" is the paper's example, in one dimension and with a coordinate 1 for the
# bias; the other set satisfies its Assumption 3. Each has a single extremal vector, with all points
# active.
SETS: dict[str, tuple[tuple[float, float, float], ...]] = {
    "paper": ((-0.75, 1.0, 1.1), (-0.5, 1.0, 0.1), (0.125, 1.0, 0.8)),
    "symmetric": ((-0.95, 1.0, 1.0), (0.0, 1.0, 0.1), (0.95, 1.0, 1.0)),
}


class TargetData(DataSection, ABC):
    """Settings of data whose y are real targets."""

    others: ClassVar[Mapping[str, str]] = {"loss": "least_squares", "dynamics": "plain_flow"}

    @property
    def real(self) -> bool:
        return True


@final
class RegressionData(TargetData, Law):
    """Gaussian inputs; y ~ N(0, 1) independent of x, or a teacher's output with noise.

    With `units` > 0 y = f(x) + noise z, f(x) = sum_j a_j relu(<w_j, x>), a_j, w_j and z N(0, 1), or
    a_j = 1 and w_j = e_j; the directions are the teacher's, as those of the kind "teacher". erf
    neurons are erf(<w_j, x>/sqrt(2)), with w_j ~ N(0, I/d) and a_j = 1, and a Hermite neuron is
    he_k(<w, x>)/sqrt(k!) with |w| = 1.

    >>> data = RegressionData(d=3, n=6).sample(np.random.default_rng(0))
    >>> g = np.random.default_rng(0)
    >>> bool((data.x == g.standard_normal((6, 3))).all() and (data.y == g.standard_normal(6)).all())
    True
    """

    title: ClassVar[str] = "Gaussian inputs with real targets: independent ones, or a teacher's"
    source: ClassVar[str] = "the usual test set of regression; Boursier and Flammarion 2025"

    kind: Literal["regression"] = "regression"
    d: int = setting(3, meaning=D_MEANING, ge=1, le=100_000)
    n: int = setting(6, meaning=N_MEANING, ge=1, le=MAX_N)
    units: int = setting(
        0, meaning="hidden units of the teacher; 0: targets do not depend on x", ge=0, le=10_000
    )
    noise: float = setting(0.0, meaning="standard deviation that is added to targets", ge=0, le=1e6)
    teacher: Literal["random", "orthonormal"] = setting(
        "random",
        meaning="random: a_j and w_j are N(0, 1); orthonormal: a_j = 1 and w_j = e_j",
        source="Saad and Solla 1995 (orthonormal)",
        added=True,
    )
    neurons: Literal["relu", "erf", "hermite"] = setting(
        "relu",
        meaning="the teacher's: relu(z); erf(z/sqrt(2)) with a_j = 1, and w_j ~ N(0, I/d) if "
        "random; or one he_k(z)/sqrt(k!), with w uniform on the unit sphere if random",
        source="Saad and Solla 1995 (erf)",
        added=True,
    )
    degree: int = setting(
        2, meaning='k of neurons = "hermite"', ge=1, le=8, advanced=True, added=True
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _orthonormal_units(self) -> RegressionData:
        if self.teacher == "orthonormal" and not 1 <= self.units <= self.d:
            raise RuleError(
                f'teacher = "orthonormal" has one unit in each of some coordinates, but units = '
                f"{self.units} and d = {self.d}; give 1 to {self.d} units",
                keys=("teacher", "units", "d"),
            )
        if self.neurons == "erf" and not self.units:
            raise RuleError(
                'neurons = "erf" are those of a teacher, but units = 0; give at least 1 unit',
                keys=("neurons", "units"),
            )
        if self.neurons == "hermite" and self.units != 1:
            raise RuleError(
                f'neurons = "hermite" is one neuron of a teacher, but units = {self.units}; use '
                "units = 1",
                keys=("neurons", "units"),
            )
        return self

    def directions(self, generator: Generator) -> dict[str, Array]:
        """Return the directions of the teacher's units.

        Parameters
        ----------
        generator : Generator
            Source of randomness; not used by orthonormal units, or without a teacher.

        Returns
        -------
        dict of str to array (k, d)
            "positive" and "negative" by the sign of the outer weight; empty without a teacher. Only
            random ReLU units have negative ones, |a_j| w_j. Other random units are N(0, I/d) for
            "erf", and uniform on the unit sphere for "hermite".
        """
        if not self.units:
            return {}
        if self.teacher == "orthonormal":
            return {"positive": np.eye(self.units, self.d), "negative": np.zeros((0, self.d))}
        if self.neurons == "hermite":
            row = generator.standard_normal((1, self.d))
            return {"positive": row / np.linalg.norm(row), "negative": np.zeros((0, self.d))}
        if self.neurons == "erf":
            rows = generator.standard_normal((self.units, self.d)) / np.sqrt(self.d)
            return {"positive": rows, "negative": np.zeros((0, self.d))}
        return TeacherData(d=self.d, units=self.units).directions(generator)

    def _outputs(self, x: Array, directions: Directions) -> Array:
        """Return the teacher's outputs f(x), (n,)."""
        if self.neurons == "relu":
            return TeacherData.outputs(x, directions)
        z = x @ directions["positive"].T
        if self.neurons == "hermite":
            powers = np.eye(self.degree + 1)[self.degree]
            return np.asarray(hermeval(z[:, 0], powers) / np.sqrt(float(factorial(self.degree))))
        from scipy.special import erf

        return np.asarray(erf(z / np.sqrt(2.0)).sum(axis=1))

    def draw(self, generator: Generator, count: int, directions: Directions) -> tuple[Array, Array]:
        x = generator.standard_normal((count, self.d))
        y = self._outputs(x, directions) if self.units else generator.standard_normal(count)
        if self.noise:
            y = y + self.noise * generator.standard_normal(count)
        return x, y


@final
class SpuriousData(TargetData, Distribution):
    """Three points in the plane, the second coordinate 1, which small starts do not fit.

    Positive neurons align with the one extremal vector, negative ones die, and what is left fits
    the least-squares line: a stationary point, and no minimum.

    >>> SpuriousData().sample(np.random.default_rng(0)).y.tolist()
    [1.1, 0.1, 0.8]
    """

    title: ClassVar[str] = "three points that small starts fit only by a line, at every width"
    source: ClassVar[str] = "Boursier and Flammarion 2025; `symmetric`: made for Assumption 3"
    own: ClassVar[tuple[str, ...]] = ("d", "n")
    known_law: ClassVar[bool] = False

    words: ClassVar[str] = "points with a spurious minimum"
    kind: Literal["spurious"] = "spurious"
    points: Literal["paper", "symmetric"] = setting(
        "paper",
        meaning="x = -3/4, -1/2, 1/8 with y = 1.1, .1, .8; or x = -.95, 0, .95 with y = 1, .1, 1",
    )
    d: int = setting(2, meaning="x and a coordinate that is 1", ge=2, le=2, advanced=True)
    n: int = setting(3, meaning="number of points", ge=3, le=3, advanced=True)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED, advanced=True)

    def sample(self, generator: Generator) -> Dataset:
        rows = np.array(SETS[self.points])
        return Dataset(rows[:, :2].copy(), rows[:, 2].copy(), real=True)


@final
class OrthonormalData(TargetData, Distribution):
    """Orthonormal inputs x_k = e_k with targets y_k: the risk falls in steps of known levels.

    >>> OrthonormalData(y=(2.0, -1.0)).sample(np.random.default_rng(0)).x.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    title: ClassVar[str] = "orthonormal inputs e_1, ..., e_n with given targets"
    source: ClassVar[str] = "Boursier, Pillaud-Vivien and Flammarion 2022"
    own: ClassVar[tuple[str, ...]] = ("d", "n")
    known_law: ClassVar[bool] = False

    words: ClassVar[str] = "orthonormal inputs"
    kind: Literal["orthonormal"] = "orthonormal"
    y: tuple[float, ...] = setting((1.0, 0.5, -0.8, -0.4), meaning="targets, one per input")
    d: int | None = setting(None, meaning="set from the targets", ge=1, advanced=True)
    n: int | None = setting(None, meaning="set from the targets", ge=1, advanced=True)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED, advanced=True)

    @model_validator(mode="after")
    def _sizes(self) -> OrthonormalData:
        count = len(self.y)
        if not 1 <= count <= MOST_TARGETS:
            raise RuleError(f"{count} targets are given; give 1 to {MOST_TARGETS}", keys=("y",))
        far = next((value for value in self.y if not abs(value) <= LARGEST), None)
        if far is not None:
            raise RuleError(
                f"the target {far:g} is not between -{LARGEST:g} and {LARGEST:g}", keys=("y",)
            )
        set_sizes(self, {"n": count, "d": count}, "there are {size} targets", "y")
        return self

    def sample(self, generator: Generator) -> Dataset:
        return Dataset(np.eye(len(self.y)), np.array(self.y, dtype=np.float64), real=True)
