"""Base of the [data] sections, which say where examples come from, and scaling of file data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from core.data.dataset import Array, Dataset, Distribution, Scaling
from core.errors import InputError, RuleError
from core.settings import Section

# --------------------------------------------------------------------------------------- scaling

Scale = Literal["none", "unit", "standard", "max_norm"]
SCALE_MEANING = (
    "unit: each point divided by its norm; standard: each column minus its mean, divided by its "
    "standard deviation; max_norm: all points divided by the largest norm; means, deviations and "
    "norm are those of the training points"
)
AFFINE = ("standard", "max_norm")  # scalings stored in a run as `Scaling`; "unit" has no constants
# Outside these limits float64 loses digits, or a difference overflows.
LARGEST, SMALLEST = 1e300, 1e-290


def scale_dataset(dataset: Dataset, scale: Scale, path: Path) -> Dataset:
    """Return the data set with scaled points, and the transformation.

    Parameters
    ----------
    dataset : Dataset
        Finite values of any size.
    scale : {"none", "unit", "standard", "max_norm"}
        Value of `data.scale`.
    path : Path
        File of the data, for sentences.

    Returns
    -------
    Dataset
        Points x (n, d) and test points of the new scale; targets and labels are unchanged.

    Raises
    ------
    InputError
        For a point without a direction, and for sizes that float64 cannot scale.
    """
    if scale == "none":
        return dataset
    where = f'data.scale = "{scale}": '
    if scale == "unit":
        x = _on_sphere(dataset.x, f"{where}x in {path}")
        tests = dataset.x_test
        x_test = None if tests is None else _on_sphere(tests, f"{where}x_test in {path}")
        return replace(dataset, x=x, x_test=x_test)
    for name, points in (("x", dataset.x), ("x_test", dataset.x_test)):
        if points is not None and points.size and (size := np.abs(points).max()) > LARGEST:
            raise InputError(
                f"{where}{name} in {path} has a value of size {size:.3g}, but at most "
                f"{LARGEST:g} can be scaled; change the unit of the column."
            )
    make = _standard if scale == "standard" else _max_norm
    scaling = make(dataset.x, f"{where}x in {path}")
    x_test = None if dataset.x_test is None else scaling.apply(dataset.x_test)
    return replace(dataset, x=scaling.apply(dataset.x), x_test=x_test, scaling=scaling)


def scale_points(dataset: Dataset, scale: str, raw: Array) -> Array:
    """Return further points of a file as a run with `data.scale = scale` sees them.

    Parameters
    ----------
    dataset : Dataset
        Data of the run, with its scaling.
    scale : str
        Value of `data.scale`.
    raw : array (N, d)
        Points as the file has them.

    Returns
    -------
    array (N, d)
        Scaled points.

    Raises
    ------
    InputError
        A point has no direction, with "unit".
    """
    if scale == "unit":
        return _on_sphere(raw, "The array")
    return raw if dataset.scaling is None else dataset.scaling.apply(raw)


def scaling_words(scale: str) -> str:
    """Return the effect of `data.scale` on the points, as a formula; "" for none.

    >>> scaling_words("standard")
    'x = (raw - shift) / divisor'
    """
    if scale == "unit":
        return "x = raw / |raw|"
    return "x = (raw - shift) / divisor" if scale in AFFINE else ""


def _centre_exponents(x: Array, axis: int) -> tuple[Array, NDArray[Any]]:
    """Return x with rows (axis 1) or columns (axis 0) times powers of 2, and the exponents.

    The largest entries become .5 to 1, so that no square over- or underflows. Powers of 2 round
    nothing: means and norms are bit for bit those of x itself, where these exist.
    """
    exponents = np.frexp(np.abs(x).max(axis=axis, keepdims=True))[1]
    return np.ldexp(x, -exponents), exponents


def _on_sphere(x: Array, where: str) -> Array:
    centred, _ = _centre_exponents(x, 1)
    norms = np.linalg.norm(centred, axis=1, keepdims=True)
    if not norms.all():
        row = 1 + int(np.argmin(norms))
        raise InputError(
            f"{where} has only zeros in row {row} (counted from 1), a point without a direction; "
            'remove the row, or use data.scale = "max_norm".'
        )
    return np.asarray(centred / norms)


def _standard(x: Array, where: str) -> Scaling:
    centred, exponents = _centre_exponents(x, 0)
    shift = np.ldexp(centred.mean(axis=0), exponents[0])
    divisor = np.ldexp(centred.std(axis=0), exponents[0])
    # By values: rounding shifts the mean of equal numbers, and their deviation is then not 0.
    constant = (x == x[0]).all(axis=0)
    shift[constant], divisor[constant] = x[0, constant], 1.0
    if divisor.min() < SMALLEST:
        column = int(np.argmin(divisor))
        raise InputError(
            f"{where} has the column {column + 1} (counted from 1) with the standard deviation "
            f"{divisor[column]:.3g}, but numbers below {SMALLEST:g} have lost digits; change the "
            "unit of the column."
        )
    return Scaling(shift, divisor)


def _max_norm(x: Array, where: str) -> Scaling:
    centred, exponents = _centre_exponents(x, 1)
    with np.errstate(over="ignore"):
        norms = np.ldexp(np.linalg.norm(centred, axis=1), exponents[:, 0])
    largest = float(norms.max())
    if not SMALLEST <= largest <= LARGEST:
        raise InputError(
            f"{where} has the largest norm {largest:.3g}, which must lie between {SMALLEST:g} "
            f"and {LARGEST:g}; change the units of the columns."
        )
    return Scaling(np.zeros(x.shape[1]), np.full(x.shape[1], largest))


@final
@dataclass(frozen=True, slots=True)
class ScaledSource(Distribution):
    """Data of another source, scaled as they are read."""

    source: Distribution
    scale: Scale
    path: Path

    def sample(self, generator: Generator) -> Dataset:
        return scale_dataset(self.source.sample(generator), self.scale, self.path)


# Squares of coordinates, and sums of 10^6 squares, stay within float64. Reference margins of small
# data sets are equivariant to 1e-4 or better from 1e-150 to 1e150.
LONGEST, SHORTEST = 1e140, 1e-140


REACH = 100.0
OTHER_UNIT = "change the units of the points"


def range_fault(dataset: Dataset, remedy: str = OTHER_UNIT) -> str:
    """Return the error if squares of the numbers leave float64, and the remedy; else "".

    A norm would be infinite, or 0 for a point that is not 0, and no margin of it would be true.

    >>> range_fault(Dataset(np.array([[1.0], [1e299]]), np.array([1.0, -1.0])))[:60]
    'example 2 (counted from 1) has the largest coordinate 1e+299'
    """
    for subject, points in (("example", dataset.x), ("test example", dataset.x_test)):
        if points is not None and points.size:
            sizes = np.maximum(points.max(axis=1), -points.min(axis=1))
            wrong = (sizes > LONGEST) | ((sizes > 0.0) & (sizes < SHORTEST))
            if wrong.any():
                return _fault(subject, "has the largest coordinate", sizes, wrong, remedy)
    # Targets may be arbitrarily small, since outputs are subtracted from them.
    for subject, y in (("example", dataset.y), ("test example", dataset.y_test)):
        if y is not None and (wrong := np.abs(y) > LONGEST).any():
            return _fault(subject, "has the target", np.abs(y), wrong, "change the unit of y")
    return ""


def _fault(subject: str, has: str, sizes: Array, wrong: NDArray[np.bool_], remedy: str) -> str:
    row = int(np.argmax(wrong))
    return (
        f"{subject} {row + 1} (counted from 1) {has} {sizes[row]:.3g}; sizes must lie between "
        f"{SHORTEST:g} and {LONGEST:g}, so that their squares fit float64; {remedy}."
    )


def unscaled_note(dataset: Dataset, remedy: str) -> str:
    """Return a sentence about columns that reach far beyond 1, and the remedy; else "".

    A flow of 300 examples in 12 columns took 2.5 s to t = 10^3 where these reached 12, and 6.4 s
    where they reached 120. At a reach of 400 it was at t = 10^2.2 after 20 s, and at 4000 at
    10^-2.6.
    """
    reach = max(float(dataset.x.max()), -float(dataset.x.min()))
    if reach <= REACH:
        return ""
    return (
        f"The columns of the data reach {reach:.4g}, and the curvature of the loss grows with "
        f"the square of this ({reach**2:.1e}): steps must be shorter by this factor, and a flow "
        f"takes longer; {remedy}."
    )


# -------------------------------------------------------------------------------------- sections

D_MEANING, N_MEANING = "dimension of the inputs", "number of training examples"
MAX_D = MAX_N = 1_000_000
TARGETS = '"labels" of classes, or "real" numbers that are fitted with loss.kind = "least_squares"'
CONTENT_MEANING = "SHA-256 of the embedded data; set by Marginscope"


class DataSection(Section):
    """Settings common to all data: dimension d, n examples, and a seed of their own.

    d and n are None until a file says them. A law that can be drawn from is a `Distribution`
    itself; data that are read are those of the file that `path` names (`FileSection`).
    """

    plane: ClassVar[str] = "coordinates"  # default plane of neurons (core.observables.planes)
    rescaling: ClassVar[str] = OTHER_UNIT  # remedy for points of extreme size
    known_law: ClassVar[bool] = True  # False for given examples of unknown law

    if TYPE_CHECKING:  # each kind declares its keys in its own order
        kind: str
        d: int | None
        n: int | None
        seed: int | None

    @property
    def real(self) -> bool:
        """True if y are real targets, and not labels of classes."""
        return False

    @property
    def single(self) -> bool:
        """True if examples of one class only are meant."""
        return False

    def distribution(self, folder: Path | None) -> Distribution:
        """Return the source of the examples; paths are relative to `folder`.

        Raises InputError if files are needed and none is named.
        """
        assert isinstance(self, Distribution)
        return self

    def picture_shape(self, d: int) -> tuple[int, ...]:
        """Return (h, w) or (3, h, w) of examples that are pictures of d pixels; else ()."""
        return ()


def set_sizes(section: DataSection, sizes: Mapping[str, int], place: str, key: str) -> None:
    """Set n and d, if left out, to the values that follow from another key.

    Parameters
    ----------
    section : DataSection
        Section under validation.
    sizes : mapping of str to int
        Value of each size.
    place : str
        Clause about `{name}` and `{size}`, for the error.
    key : str
        Key that the sizes follow from.

    Raises
    ------
    RuleError
        A size is stated and differs.
    """
    for name, size in sizes.items():
        stated = getattr(section, name)
        if stated is None:
            # Only the section's validator may set a field of a frozen section.
            object.__setattr__(section, name, size)
        elif stated != size:
            clause = place.format(name=name, size=size)
            raise RuleError(f"{name} = {stated}, but {clause}; leave {name} out", keys=(name, key))


class FileSection(DataSection):
    """Settings of data read from files; a run holds the content, never the path."""

    embedded: ClassVar[bool] = True
    known_law: ClassVar[bool] = False
    names: ClassVar[str]  # description of the files that `path` names
    if TYPE_CHECKING:
        path: str | None

    def with_read(self, dataset: Dataset) -> FileSection:
        """Return the section as a run holds it after the data were read.

        A path means nothing on the machine where the run is opened; its content does.
        """
        changes: dict[str, object] = {"path": None, "d": dataset.d, "n": dataset.n}
        changes["content"] = dataset.digest()
        if "understood" in type(self).model_fields and dataset.note:
            changes["understood"] = dataset.note if dataset.is_guess else None
        return self.model_copy(update=changes)

    @abstractmethod
    def read_from(self, path: Path) -> Distribution:
        """Return the source of the examples at a path."""

    def distribution(self, folder: Path | None) -> Distribution:
        if self.path is None:
            raise InputError(
                f'data.path is missing; with data.kind = "{self.kind}" name {self.names}.'
            )
        return self.read_from(Path(self.path) if folder is None else folder / self.path)


def check_sizes(dataset: Dataset, path: Path, d: int | None, n: int | None) -> None:
    """Raise InputError if a stated d or n differs from the data's; None states nothing.

    Parameters
    ----------
    dataset : Dataset
        Data that were read.
    path : Path
        File, for the message.
    d, n : int or None
        Stated sizes.
    """
    check_stated(path, (("d", d, dataset.d), ("n", n, dataset.n)))


def check_stated(path: Path, sizes: Iterable[tuple[str, int | None, int]]) -> None:
    """Raise InputError if a stated size differs from the file's, before the data are read.

    `sizes` are (name, stated, size in the file); None states nothing.
    """
    for name, stated, place in sizes:
        if stated is not None and stated != place:
            raise InputError(
                f"data.{name} = {stated} conflicts with {path}, which has "
                f"{name} = {place}; leave data.{name} out or correct it."
            )
