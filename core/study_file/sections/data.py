"""Where examples come from: parity, and data from files and from scikit-learn's bundle."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import model_validator

from core.study_file.settings import SEED_MEANING, Section, setting

D_MEANING, N_MEANING = "dimension of the inputs", "number of training examples"
MAX_D = MAX_N = 1_000_000
MAX_SEED = 2**63 - 1
CONTENT_MEANING = "SHA-256 of the embedded data; set by the program"
CLASSES_MEANING = (
    "class numbers to use: two are labelled -1 and +1 in this order, more are numbered 0, 1, ..."
)
UNIT_MAX = (
    "unit_max: divided by the largest norm, so that |x| <= 1; centred: the same of x - mu, "
    "mu the training mean (batchnorm assumes |x - mu| <= 1)"
)
# How many of scikit-learn's bundled digits show 0, 1, ..., 9.
DIGIT_COUNTS = (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)


class ParityData(Section):
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
        meaning="law on the corners; uniform: all alike; biased: each coordinate is positive with "
        "probability bias; markov: each equals the one before with probability bias; decoy: "
        "coordinate k + 1 has the label's sign with probability bias",
        source="homogeneity, Example 4.1 (any law on the corners)",
    )
    bias: float = setting(
        0.75,
        meaning="the probability that the law names; the uniform law has none",
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
            raise ValueError(f"k = {self.k} is larger than d = {self.d}; k may be 1 to d")
        needed, why = self.k + self.freeze, "a frozen coordinate" if self.freeze else ""
        if self.law == "decoy":
            needed, why = needed + 1, f"a decoy and {why}" if why else "a decoy"
        if needed > self.d:
            raise ValueError(
                f"k = {self.k} with {why} needs d >= {needed}, and d = {self.d}; raise d"
            )
        return self


class FileData(Section):
    title: ClassVar[str] = "data from a file: NPZ (x, y, optional x_test, y_test) or CSV (label y)"
    source: ClassVar[str] = "the user's own"
    embedded: ClassVar[bool] = True

    kind: Literal["file"] = "file"
    path: str | None = setting(
        None,
        meaning="NPZ or CSV file, relative to the study file; labels -1 and +1, 0 and 1, or class "
        "numbers 0, 1, ..., k - 1",
    )
    d: int | None = setting(None, meaning="dimension of the inputs, if it should be checked", ge=1)
    n: int | None = setting(None, meaning="number of examples, if it should be checked", ge=1)
    content: str | None = setting(None, meaning=CONTENT_MEANING, advanced=True)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)


def check_image_classes(classes: tuple[int, ...]) -> None:
    """Raise ValueError for class numbers that are no choice of two or more of 0, ..., 9."""
    shown = ", ".join(map(str, classes))
    if len(classes) == 1:
        raise ValueError(f"classes = {shown} is one class; choose at least two, such as 3, 8")
    if len(set(classes)) < len(classes):
        raise ValueError(f"classes = {shown} names a class twice; name each once")
    if any(not 0 <= number <= 9 for number in classes):
        raise ValueError(f"classes = {shown}: classes are numbered 0 to 9")


class DigitsData(Section):
    title: ClassVar[str] = (
        "scikit-learn's 8 x 8 digits: n of the chosen classes, tested on the rest"
    )
    source: ClassVar[str] = "the bundled data of scikit-learn (1797 digits); runs hold the content"
    own: ClassVar[tuple[str, ...]] = ("d", "n")

    kind: Literal["digits"] = "digits"
    classes: tuple[int, ...] = setting((3, 8), meaning=f"{CLASSES_MEANING}; none: all ten")
    d: int = setting(64, meaning="always 64 pixels", ge=64, le=64, advanced=True)
    n: int = setting(
        256, meaning=f"{N_MEANING}; the digits left over are the test set", ge=2, le=1796
    )
    scale: Literal["unit_max", "centred", "pixels"] = setting(
        "unit_max", meaning=f"{UNIT_MAX}; pixels: grey values 0 to 16 divided by 16"
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _enough(self) -> DigitsData:
        check_image_classes(self.classes)
        there = sum(DIGIT_COUNTS[number] for number in self.classes or range(10))
        if self.n >= there:
            raise ValueError(
                f"n = {self.n} leaves none of the {there} digits of these classes for the test; "
                f"choose at most {there - 1}"
            )
        return self


class MnistData(Section):
    title: ClassVar[str] = "MNIST from the user's disk: idx files, plain or .gz"
    source: ClassVar[str] = "wei19, section F.2"
    embedded: ClassVar[bool] = True
    own: ClassVar[tuple[str, ...]] = ("d", "n", "path")

    kind: Literal["mnist"] = "mnist"
    path: str | None = setting(
        None,
        meaning="folder with train-images-idx3-ubyte and train-labels-idx1-ubyte (and t10k-... "
        "for the test), or one file of images beside its labels; relative to the study file",
    )
    classes: tuple[int, ...] = setting((), meaning=f"{CLASSES_MEANING}; none: all that there are")
    d: int | None = setting(None, meaning="dimension of the inputs, if it should be checked", ge=1)
    n: int | None = setting(None, meaning=f"{N_MEANING}, drawn from those there; none: all", ge=2)
    scale: Literal["unit_max", "centred", "pixels"] = setting(
        "unit_max", meaning=f"{UNIT_MAX}; pixels: grey values 0 to 255 divided by 255"
    )
    content: str | None = setting(None, meaning=CONTENT_MEANING, advanced=True)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _classes(self) -> MnistData:
        check_image_classes(self.classes)
        return self


class CifarData(Section):
    title: ClassVar[str] = "CIFAR-10 from the user's disk: binary or Python batches"
    source: ClassVar[str] = "batchnorm, appendix A (cats and dogs); frei23, section F.2 (ten)"
    embedded: ClassVar[bool] = True
    own: ClassVar[tuple[str, ...]] = ("d", "n", "path")

    kind: Literal["cifar10"] = "cifar10"
    path: str | None = setting(
        None,
        meaning="folder with data_batch_1 ... (or data_batch_1.bin ...) and test_batch, or one "
        "batch; relative to the study file",
    )
    classes: tuple[int, ...] = setting(
        (3, 5),
        meaning=f"{CLASSES_MEANING}; none: all that there are. 3 are cats and 5 dogs",
        source="batchnorm, appendix A",
    )
    d: int | None = setting(None, meaning="dimension of the inputs, if it should be checked", ge=1)
    n: int | None = setting(1000, meaning=f"{N_MEANING}, drawn from those there; none: all", ge=2)
    scale: Literal["unit_max", "centred", "pixels"] = setting(
        "unit_max", meaning=f"{UNIT_MAX}; pixels: values 0 to 255 divided by 255 (frei23)"
    )
    content: str | None = setting(None, meaning=CONTENT_MEANING, advanced=True)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _classes(self) -> CifarData:
        check_image_classes(self.classes)
        return self


def one_class(section: Any) -> bool:
    """Whether a data section asks for examples of a single class on purpose."""
    return bool(getattr(section, "single", False))
