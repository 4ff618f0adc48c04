"""Base of the [network] sections, one for each parametrisation of the two-layer network."""

from __future__ import annotations

from typing import ClassVar

from pydantic import model_validator

from core.errors import InputError, RuleError
from core.settings import MAX_ELEMENTS, MAX_SEED, SEED_MEANING, Section, setting

FILE_MEANING = "file: from init_path"
NORMAL_MEANING = "normal: all N(0, 1); small: all N(0, .01^2)"
MAX_CODE = 100_000


class NetworkSection(Section):
    """Settings common to all networks: width, start and seed."""

    several: ClassVar[bool] = False  # requires data of three or more classes, as some losses do
    shrinks: ClassVar[str] = "m"  # setting to lower if there are too many parameters
    divides_by_lengths: ClassVar[bool] = False  # f needs v_j/|v_j|
    # Neurons of a teacher with which the exact risk on Gaussian inputs is known, as in data.neurons
    known_teacher: ClassVar[str] = ""
    kind: str
    m: int | None = setting(None, meaning="width: number of neurons", ge=1, le=1_000_000)
    init: str = setting("paper", meaning="initialisation")
    init_path: str | None = setting(
        None, meaning="NPZ with the parameters by name, relative to the study file"
    )
    content: str | None = setting(
        None, meaning="SHA-256 of the embedded parameters; set by Marginscope", advanced=True
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @property
    def small_start(self) -> bool:
        """True if a setting chooses the scale of the start, usually near 0.

        First frames and default steps then follow from the rate at which small neurons grow.
        """
        return False

    def not_homogeneous(self) -> str:
        """Return why f is homogeneous in none of its parameters; empty if it is, or may be."""
        return ""

    def weights(self, d: int, k: int) -> int:
        """Return the approximate number of parameters for d input coordinates and k outputs."""
        return (self.m or 1) * (d + k)

    def too_large(self, d: int, k: int) -> str:
        """Return an error clause if a run file cannot hold the parameters; else an empty text."""
        size = self.weights(d, k)
        if size <= 2 * MAX_ELEMENTS:
            return ""
        return (
            f"it would have {size:.3g} parameters, more than {2 * MAX_ELEMENTS:.0e}, the most a "
            f"run file holds; choose a smaller {self.shrinks}"
        )

    def check_dimension(self, d: int) -> None:
        """Raise RuleError if the network cannot read inputs of d coordinates."""

    def check_sizes(self, d: int, k: int) -> None:
        """Raise InputError if d inputs cannot be read, or k outputs are too many for a run file."""
        try:
            self.check_dimension(d)
        except RuleError as error:
            raise InputError(f"{error}.") from None
        if sentence := self.too_large(d, k):
            raise InputError(f"network: {sentence}.")

    @model_validator(mode="after")
    def _width_or_file(self) -> NetworkSection:
        """Raise RuleError for a width or file that is missing, or a file that is not used."""
        if self.init != "file" and self.m is None:
            raise RuleError(
                "m, the width, is missing; give a whole number such as m = 256", keys=("m",)
            )
        if self.init != "file" and self.init_path is not None:
            raise RuleError(
                'init_path is only used with init = "file"; set that, or leave init_path out',
                keys=("init_path", "init"),
            )
        return self
