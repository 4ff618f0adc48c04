"""Parities on the corners of the hypercube, and Gaussian clusters, noisy XOR among them."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from pydantic import model_validator

from core.data.dataset import EXACT_TEST_DIMENSION, Array, Dataset, Directions, Law, TestSet
from core.data.section import D_MEANING, MAX_D, MAX_N, N_MEANING, DataSection
from core.errors import RuleError
from core.settings import MAX_SEED, SEED_MEANING, setting


@final
class ParityData(DataSection, Law):
    """k-sparse parity: x on {+-1/sqrt(d)}^d and y = d^(k/2) x_1 ... x_k.

    With s = sqrt(d) x the laws on the corners are: `uniform`; `biased`, P(s_i = 1) = bias for
    each i alone; `markov`, s_1 uniform and P(s_i = s_(i-1)) = bias; `decoy`, uniform but for
    P(s_(k+1) = y) = bias (homogeneity, Example 4.1: any law on the corners). With `freeze`
    s_d = 1: then the points no longer come in pairs x, -x, and odd k has a positive margin.

    >>> data = ParityData(d=3, n=5, k=2).sample(np.random.default_rng(0))
    >>> bool(np.allclose(data.y, 3 * data.x[:, 0] * data.x[:, 1]))
    True
    """

    title: ClassVar[str] = "k-sparse parity on {+-1/sqrt(d)}^d: y = d^(k/2) x_1...x_k"
    source: ClassVar[str] = (
        "telgarsky22, section 1.3 and Figure 1; support-only: homogeneity, Example 4.1"
    )

    kind: Literal["parity"] = "parity"
    d: int = setting(20, meaning=D_MEANING, ge=1, le=MAX_D)
    n: int = setting(64, meaning=N_MEANING, ge=1, le=MAX_N)
    k: int = setting(2, meaning="number of coordinates whose parity is the label", ge=1)
    law: Literal["uniform", "biased", "markov", "decoy"] = setting(
        "uniform",
        advanced=True,
        meaning="distribution on the corners; uniform: all equally likely; biased: each "
        "coordinate is positive with probability bias; markov: each equals the one "
        "before with probability bias; decoy: coordinate k + 1 has the label's sign with "
        "probability bias",
        source="homogeneity, Example 4.1 (any law on the corners)",
    )
    bias: float = setting(
        0.75,
        meaning="probability used by the law; unused for uniform",
        advanced=True,
        gt=0,
        lt=1,
    )
    freeze: bool = setting(
        False,
        advanced=True,
        meaning="true: the last coordinate is held at +1/sqrt(d), which lets a network without "
        "biases learn odd k >= 3",
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _k_fits_d(self) -> ParityData:
        if self.k > self.d:
            raise RuleError(
                f"k = {self.k} is larger than d = {self.d}; k may be 1 to d", keys=("k", "d")
            )
        needed, reason = self.k + self.freeze, "a frozen coordinate" if self.freeze else ""
        if self.law == "decoy":
            needed, reason = needed + 1, f"a decoy and {reason}" if reason else "a decoy"
        if needed > self.d:
            raise RuleError(
                f"k = {self.k} with {reason} needs d >= {needed}, but d = {self.d}; raise d",
                keys=("k", "d"),
            )
        return self

    def labels(self, corners: Array) -> Array:
        """Return the parity of the first k signs.

        Parameters
        ----------
        corners : array (n, d)
            Corners in {-1, +1}^d.

        Returns
        -------
        array (n,)
            Labels +-1.
        """
        return np.asarray(np.prod(corners[:, : self.k], axis=1), dtype=np.float64)

    def _corners(self, generator: Generator, n: int) -> Array:
        if self.law == "biased":
            corners = self._agreeing(generator, (n, self.d))
        elif self.law == "markov":
            corners = self._agreeing(generator, (n, self.d))
            corners[:, 0] = generator.choice([-1.0, 1.0], n)
            # Column i holds s_i s_(i-1), whose cumulative product is s_i.
            corners = np.asarray(np.cumprod(corners, axis=1))
        else:
            # Figures of single seeds depend on exactly these draws (docs/theory.md, 7.1).
            corners = generator.choice([-1, 1], (n, self.d)).astype(np.float64)
        if self.law == "decoy":
            corners[:, self.k] = self.labels(corners) * self._agreeing(generator, (n,))
        if self.freeze:
            corners[:, -1] = 1.0
        return corners

    def _agreeing(self, generator: Generator, shape: tuple[int, ...]) -> Array:
        """Draw +1 with probability `bias`, else -1."""
        return np.where(generator.random(shape) < self.bias, 1.0, -1.0)

    def draw(self, generator: Generator, count: int, directions: Directions) -> tuple[Array, Array]:
        corners = self._corners(generator, count)
        return corners / np.sqrt(self.d), self.labels(corners)

    def test_set(self, generator: Generator, training: Dataset) -> TestSet:
        # An exact test set weighs all corners equally, which is correct for the uniform law only.
        if self.d > EXACT_TEST_DIMENSION or self.law != "uniform":
            return super().test_set(generator, training)
        corners = all_corners(self.d)
        if self.freeze:
            corners = corners[corners[:, -1] > 0]
        return TestSet(corners / np.sqrt(self.d), self.labels(corners), exact=True)


def all_corners(d: int) -> Array:
    """Return all corners of the cube.

    Parameters
    ----------
    d : int
        Dimension.

    Returns
    -------
    array (2^d, d)
        Points of {-1, +1}^d.

    Examples
    --------
    >>> all_corners(2).tolist()
    [[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]
    """
    bits = (np.arange(2**d)[:, None] >> np.arange(d)) & 1
    return np.asarray(1.0 - 2.0 * bits)


# ----------------------------------------------------------------------------- Gaussian clusters


@final
class MixtureData(DataSection, Law):
    """Gaussian mixture x = s mu + z with a clean sign s (frei23, eq. 4).

    |mu| = d^mean_exponent and z ~ N(0, I). mu has equal positive entries. Training: the first n -
    floor(n/2) examples have s = +1 and the rest s = -1; of each cluster's c labels exactly floor or
    ceil of flips * c are wrong, the fraction deciding with its own probability, at places drawn at
    random. Test and fresh examples are independent: s uniform, the label wrong with probability
    `flips` (accuracy is against the noisy labels).

    >>> data = MixtureData(d=4, n=100).sample(np.random.default_rng(0))
    >>> int((data.y[:50] < 0).sum()) in (7, 8), float(data.directions["mean"].std())
    (True, 0.0)
    """

    title: ClassVar[str] = "two Gaussian clusters x = y mu + z, z ~ N(0, I), with label flips"
    source: ClassVar[str] = "frei23, equation (4) and section F.1"

    plane: ClassVar[str] = "means"  # the signal is along +-mu
    words: ClassVar[str] = "Gaussian mixture"
    kind: Literal["gaussian_mixture"] = "gaussian_mixture"
    d: int = setting(1000, meaning=D_MEANING, ge=1, le=MAX_D)
    n: int = setting(100, meaning=f"{N_MEANING}, half of them in each cluster", ge=2, le=MAX_N)
    mean_exponent: float = setting(
        0.26, meaning="|mu| = d^this; mu has equal positive entries", ge=-2, le=2
    )
    flips: float = setting(
        0.15,
        meaning="share of wrong labels in each cluster: exactly so many, rounded up or down at "
        "random (7 or 8 of 50); test labels are wrong with this probability",
        ge=0,
        le=0.5,
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    def directions(self, generator: Generator) -> dict[str, Array]:
        """Return the mean mu as the one known direction.

        Parameters
        ----------
        generator : Generator
            Not used: mu is not drawn.

        Returns
        -------
        dict of str to array (1, d)
            "mean" with equal positive entries, of length d^mean_exponent.
        """
        return {"mean": np.full((1, self.d), float(self.d) ** (self.mean_exponent - 0.5))}

    def _draw_around(self, generator: Generator, signs: Array, mean: Array) -> Array:
        x: Array = generator.standard_normal((signs.size, self.d))
        x += signs[:, None] * mean
        return x

    def _draw_flips(self, generator: Generator, count: int) -> Array:
        """Draw factors of a cluster's labels: -1 exactly floor or ceil of flips * count times."""
        factors = np.ones(count)
        flipped = int(np.floor(self.flips * count + generator.random()))
        factors[generator.permutation(count)[:flipped]] = -1.0
        return factors

    def sample(self, generator: Generator) -> Dataset:
        directions = self.directions(generator)
        sizes = (self.n - self.n // 2, self.n // 2)
        signs = np.repeat([1.0, -1.0], sizes)
        x = self._draw_around(generator, signs, directions["mean"])
        factors = np.concatenate([self._draw_flips(generator, size) for size in sizes])
        return Dataset(x, signs * factors, directions=directions)

    def draw(self, generator: Generator, count: int, directions: Directions) -> tuple[Array, Array]:
        signs = generator.choice([-1.0, 1.0], count)
        x = self._draw_around(generator, signs, directions["mean"])
        return x, np.where(generator.random(count) < self.flips, -signs, signs)


@final
class XorData(DataSection, Law):
    """Noisy XOR x = z + xi, z uniform on {+-mu_1, +-mu_2}, xi ~ N(0, I) (frei23, section 5).

    y = sign(|<mu_1, x>| - |<mu_2, x>|), |mu_1| = |mu_2| = d^mean_exponent; mu_1 is along e_1 and
    mu_2 along e_2, which loses nothing since the noise has no direction. The label is that of x,
    not of z: it is never wrong, and a cluster's outliers bear the other one.

    >>> data = XorData(d=3, n=8, mean_exponent=1.0).sample(np.random.default_rng(0))
    >>> bool(np.all(data.y == np.sign(np.abs(data.x[:, 0]) - np.abs(data.x[:, 1]))))
    True
    """

    title: ClassVar[str] = "noisy 2-XOR: x = z + N(0, I), z one of +-mu_1, +-mu_2"
    source: ClassVar[str] = "frei23, section 5"

    words: ClassVar[str] = "noisy XOR"
    kind: Literal["xor"] = "xor"
    d: int = setting(1000, meaning=D_MEANING, ge=2, le=MAX_D)
    n: int = setting(100, meaning=N_MEANING, ge=2, le=MAX_N)
    mean_exponent: float = setting(
        0.26, meaning="|mu_1| = |mu_2| = d^this; mu_1 along e_1 and mu_2 along e_2", ge=-2, le=2
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    def directions(self, generator: Generator) -> dict[str, Array]:
        return {"means": np.eye(2, self.d) * float(self.d) ** self.mean_exponent}

    def draw(self, generator: Generator, count: int, directions: Directions) -> tuple[Array, Array]:
        means = directions["means"]
        z = means[generator.integers(2, size=count)] * generator.choice([-1.0, 1.0], (count, 1))
        x: Array = generator.standard_normal((count, self.d))
        x += z
        first, second = np.abs(x @ means.T).T
        return x, np.where(first >= second, 1.0, -1.0)
