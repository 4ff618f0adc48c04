"""Gaussian clusters: two with flipped labels, and noisy 2-XOR (frei23)."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.data.dataset import Array, Dataset, Directions, Law
from core.data.section import D_MEANING, MAX_D, MAX_N, N_MEANING, DataSection
from core.settings import MAX_SEED, SEED_MEANING, setting


@final
class MixtureData(DataSection, Law):
    """x = s mu + z with a clean sign s, |mu| = d^mean_exponent and z ~ N(0, I) (frei23, eq. 4).

    mu has equal positive entries. Training: the first n - floor(n/2) examples have s = +1 and the
    rest s = -1; of each cluster's c labels exactly floor or ceil of flips * c are wrong, the
    fraction deciding with its own probability, at places drawn at random. Test and fresh examples
    are independent: s uniform, the label wrong with probability `flips` (accuracy is against the
    noisy labels).

    >>> data = MixtureData(d=4, n=100).sample(np.random.default_rng(0))
    >>> int((data.y[:50] < 0).sum()) in (7, 8), float(data.directions["mean"].std())
    (True, 0.0)
    """

    title: ClassVar[str] = "two Gaussian clusters x = y mu + z, z ~ N(0, I), with label flips"
    source: ClassVar[str] = "frei23, equation (4) and section F.1"

    plane: ClassVar[str] = "means"  # its signal lies along +-mu
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
        return {"mean": np.full((1, self.d), float(self.d) ** (self.mean_exponent - 0.5))}

    def _around(self, generator: Generator, signs: Array, mean: Array) -> Array:
        x: Array = generator.standard_normal((signs.size, self.d))
        x += signs[:, None] * mean
        return x

    def _wrong(self, generator: Generator, count: int) -> Array:
        """Factors of a cluster's labels: -1 exactly floor or ceil of flips * count times."""
        factors = np.ones(count)
        # Rounded at random, so that the share is `flips` in expectation for every n.
        flipped = int(np.floor(self.flips * count + generator.random()))
        factors[generator.permutation(count)[:flipped]] = -1.0
        return factors

    def sample(self, generator: Generator) -> Dataset:
        known = self.directions(generator)
        sizes = (self.n - self.n // 2, self.n // 2)
        signs = np.repeat([1.0, -1.0], sizes)
        x = self._around(generator, signs, known["mean"])
        factors = np.concatenate([self._wrong(generator, size) for size in sizes])
        return Dataset(x, signs * factors, directions=known)

    def draw(self, generator: Generator, count: int, known: Directions) -> tuple[Array, Array]:
        signs = generator.choice([-1.0, 1.0], count)
        x = self._around(generator, signs, known["mean"])
        return x, np.where(generator.random(count) < self.flips, -signs, signs)


@final
class XorData(DataSection, Law):
    """x = z + xi, z uniform on {+-mu_1, +-mu_2}, xi ~ N(0, I) (frei23, section 5).

    y = sign(|<mu_1, x>| - |<mu_2, x>|), |mu_1| = |mu_2| = d^mean_exponent; mu_1 lies along e_1 and
    mu_2 along e_2, which loses nothing since the noise has no direction. The label is that of x,
    not of z: it is never wrong, and a cluster's outliers bear the other one.

    >>> data = XorData(d=3, n=8, mean_exponent=1.0).sample(np.random.default_rng(0))
    >>> bool(np.all(data.y == np.sign(np.abs(data.x[:, 0]) - np.abs(data.x[:, 1]))))
    True
    """

    title: ClassVar[str] = "noisy 2-XOR: x = z + N(0, I), z one of +-mu_1, +-mu_2"
    source: ClassVar[str] = "frei23, section 5"

    kind: Literal["xor"] = "xor"
    d: int = setting(1000, meaning=D_MEANING, ge=2, le=MAX_D)
    n: int = setting(100, meaning=N_MEANING, ge=2, le=MAX_N)
    mean_exponent: float = setting(
        0.26, meaning="|mu_1| = |mu_2| = d^this; mu_1 along e_1 and mu_2 along e_2", ge=-2, le=2
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    def directions(self, generator: Generator) -> dict[str, Array]:
        return {"means": np.eye(2, self.d) * float(self.d) ** self.mean_exponent}

    def draw(self, generator: Generator, count: int, known: Directions) -> tuple[Array, Array]:
        means = known["means"]
        z = means[generator.integers(2, size=count)] * generator.choice([-1.0, 1.0], (count, 1))
        x: Array = generator.standard_normal((count, self.d))
        x += z
        first, second = np.abs(x @ means.T).T
        return x, np.where(first >= second, 1.0, -1.0)
