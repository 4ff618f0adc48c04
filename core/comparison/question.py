"""Question about several runs: an observable, its axis, and the form of the comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from core.errors import InputError

MOST_COMPARED = 10
AGAINST = {
    "log10_time": "log10 t",
    "time": "t",
    "step": "steps",
    "norm_squared": "|W|^2",
    "risk": "risk",
    "share": "share of gamma_gl / 2",
    "rank": "rank / m",
}
# One number per neuron, compared against its rank at one moment: the j-th smallest of m is at j /
# m.
RANK, SORTED = "rank", ("rotation", "relative_norm")
KINDS = {
    "lines": "a line for each run",
    "differences": "each run minus the first",
    "bands": "a band over runs that differ only in their seeds",
}
BANDS = {
    "range": "median, minimum to maximum",
    "deviation": "mean, one standard deviation each way",
}


@final
@dataclass(frozen=True, slots=True)
class CompareQuestion:
    """Comparison of a scalar observable, or of one of SORTED against "rank".

    `against`, `kind` and `band` are keys of the tables above. Raises InputError for unknown keys,
    and for ranks of observables that neurons do not have.
    """

    observable: str = "hard_margin"
    against: str = "log10_time"
    kind: str = "lines"
    band: str = "range"

    def __post_init__(self) -> None:
        for word, allowed, option in (
            (self.against, AGAINST, "--against"),
            (self.kind, KINDS, "--kind"),
            (self.band, BANDS, "--band"),
        ):
            if word not in allowed:
                raise InputError(
                    f"{word!r} is not a quantity to compare runs by; allowed are "
                    f"{', '.join(allowed)}.",
                    option=option,
                )

        of_nodes = self.observable in SORTED
        if of_nodes != self.is_by_rank:
            has = "one value per neuron" if of_nodes else "one value per frame"
            axes = [one for one in AGAINST if (one == RANK) == of_nodes]
            raise InputError(
                f"{self.observable} has {has}; compare it against: {', '.join(axes)}.",
                option="--against",
            )

    @property
    def is_by_rank(self) -> bool:
        """True if the neurons of one moment are compared, and not a number over time."""
        return self.against == RANK

    @property
    def names(self) -> tuple[str, ...]:
        """Observables whose values are needed."""
        return tuple(dict.fromkeys((self.observable, *NEEDED.get(self.against, ()))))


# Logarithms, where the number itself leaves double precision at moments that runs reach.
NEEDED = {
    "norm_squared": ("norm_squared",),
    "risk": ("log10_risk",),
    "share": ("hard_margin",),
}


def check_count(count: int) -> None:
    """Raise InputError unless so many runs can be compared."""
    if count < 2:
        raise InputError("A comparison needs at least two runs; name another one.")
    if count > MOST_COMPARED:
        raise InputError(
            f"{count} runs are too many for one picture; choose at most {MOST_COMPARED}."
        )
