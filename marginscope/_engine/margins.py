"""Margins that theory promises for data, and what the papers' statements say of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final, overload

import numpy as np

from core.data.dataset import Dataset
from core.errors import InputError, did_you_mean
from core.network.parametrisation import Shape
from core.network.registry import NETWORKS, build_network, initial_arrays
from core.problem.problem import Problem, Start
from core.reference.cancel_token import CancelledError, CancelToken
from core.reference.margin import Reference, ReferenceMargin
from core.reference.registry import REFERENCES, compute, references_of
from core.runs import Run
from core.study_file.validation import build_experiment
from core.theorems.report import Report, report
from marginscope._engine.boundary import interruptible, public
from marginscope._record import arrays

LIMIT_S = 120.0
PARTS = ("V", "a", "b", "c")


@final
@dataclass(frozen=True, slots=True)
class Bracket:
    """Bracket of one reference margin: lower <= margin <= upper.

    Brackets are kept on disk, by their data, and found there the next time.

    Attributes
    ----------
    name : str
        Name such as "gamma_gl".
    lower, upper : float
        Ends of the bracket; NaN where not known.
    value : float
        Number to quote, between both ends; NaN where not known.
    certified : bool
        True if both ends are proved for these data, up to rounding.
    method : str
        Method that found the bracket, or a sentence why there is no number.
    formula : str
        Definition, with its normalisation.
    source : str
        Paper of the definition.
    factor : float or None
        Factor that makes `value` comparable with the margins divided by |W|^2 of
        `run["hard_margin"]`; None where they cannot be compared.
    seconds : float
        Time of the computation.
    """

    name: str
    lower: float
    upper: float
    value: float
    certified: bool
    method: str
    formula: str
    source: str
    factor: float | None
    seconds: float

    @property
    def exists(self) -> bool:
        """True if the margin has a number."""
        return math.isfinite(self.value)

    @property
    def gap(self) -> float:
        """Relative gap (upper - lower) / upper; NaN without a positive margin."""
        return (self.upper - self.lower) / self.upper if self.upper > 0.0 else math.nan

    def __repr__(self) -> str:
        if not self.exists:
            return f"<{self.name}: {self.method}>"
        proof = "certified" if self.certified else "not certified"
        return f"<{self.name} = {self.value:.6g} in [{self.lower:.8g}, {self.upper:.8g}], {proof}>"


class NoMarginError(InputError, KeyError):
    """Error for a margin that is not defined for these data; a KeyError too, as mappings raise."""


@final
class Margins(Mapping[str, Bracket]):
    """Mapping of names to reference margins, each computed when it is first read.

    Made by `marginscope.margins`; cheap margins come first.
    """

    def __init__(self, problem: Problem, names: Iterable[str] | None, limit: float) -> None:
        if not limit > 0.0:
            raise InputError(f"limit = {limit:g}; give a positive number of seconds.")
        self._problem, self._limit = problem, limit
        self._known: dict[str, ReferenceMargin] = {}
        self._references: dict[str, Reference] = {}
        defined = {one.name: one for one in references_of(problem, unlisted=True)}
        listed = [one.name for one in references_of(problem)]
        chosen = listed if names is None else _names(names)
        for name in chosen:
            if name not in defined:
                raise _missing(name, defined)
            self._references[name] = defined[name]

    def __getitem__(self, name: str) -> Bracket:
        if name not in self._references:
            raise _missing(name, self._references)
        margin = self.compute_margin(name)
        about: dict[str, Any] = {
            "formula": margin.reference.formula,
            "source": margin.reference.source,
        }
        return Bracket(**margin.as_json(), **about, factor=margin.factor)

    def compute_margin(self, name: str) -> ReferenceMargin:
        """Return the program's own margin of a name, computed at the first call.

        The time limit gives a wider bracket. Ctrl-C raises KeyboardInterrupt, and the next call
        computes the margin again.

        Parameters
        ----------
        name : str
            One of the names of this mapping.

        Returns
        -------
        ReferenceMargin
        """
        if name not in self._known:
            watch = CancelToken(self._limit)
            with interruptible(watch.cancel):
                try:
                    margin = compute(self._references[name], self._problem, watch)
                except CancelledError:
                    raise KeyboardInterrupt from None
            self._known[name] = margin
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._references)

    def __len__(self) -> int:
        return len(self._references)

    def __contains__(self, name: object) -> bool:
        return name in self._references

    def __repr__(self) -> str:
        parts = [repr(self[name]) if name in self._known else f"<{name}>" for name in self]
        return f"<Margins {', '.join(parts) or 'none'}>"


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _missing(name: str, defined: Iterable[str]) -> NoMarginError:
    """Return the error for a margin that is not defined here, or does not exist."""
    names = list(defined)
    if name in REFERENCES and name not in names:
        return NoMarginError(
            f"{name} is defined for {REFERENCES[name].where}; defined here: "
            f"{', '.join(names) or 'none'}."
        )
    if not names:
        return NoMarginError("No reference margin is defined for this network and these data.")
    return NoMarginError(
        f"{name!r:.60} is not a reference margin; {did_you_mean(str(name), names)}"
    )


@overload
def margins(
    x: Run, /, *, which: Iterable[str] | None = None, limit: float = LIMIT_S
) -> Margins: ...


@overload
def margins(
    x: Any,
    y: Any,
    /,
    *,
    which: Iterable[str] | None = None,
    limit: float = LIMIT_S,
    network: str = "standard",
    V: Any = None,
    a: Any = None,
    b: Any = None,
    c: Any = None,
    **settings: Any,
) -> Margins: ...


@public
def margins(
    x: Any,
    y: Any = None,
    /,
    *,
    which: Iterable[str] | None = None,
    limit: float = LIMIT_S,
    network: str = "standard",
    V: Any = None,
    a: Any = None,
    b: Any = None,
    c: Any = None,
    **settings: Any,
) -> Margins:
    """Return the margins that theory promises for data, or for the data of a run.

    Each is a Bracket, computed when it is first read. `gamma_gl`, the global margin of two-layer
    ReLU networks, is certified: both of its ends are proved.

    Parameters
    ----------
    x : array (n, d), or Run
        Inputs, or a run with its own data and network.
    y : array (n,), optional
        Labels -1 and +1, or 0 and 1, or class numbers with network = "multiclass"; left out with a
        run.
    which : iterable of str, optional
        Names of margins; by default all that are defined, but those of norms other than l_2 only
        for runs of descent in that norm.
    limit : float
        Most seconds for each margin. A slow one ends with the bracket at hand.
    network : str
        Network whose margins these are: "standard", "bias", "fixed_outer", "normalised",
        "batch_norm", ...
    V : array (m, d), optional
        Inner weights of the start, which the margins of batch norm are about.
    a, b, c : arrays, optional
        Other weights of the start, if they are not the paper's; a and c (m,) of batch norm.
    **settings
        Settings of the network's section, such as slope=0.1.

    Returns
    -------
    Margins
        Mapping of names to Brackets.

    Raises
    ------
    InputError
        Arrays that do not fit, or an unknown margin or network.

    References
    ----------
    Definitions and methods: docs/theory.md; each Bracket names its paper.

    Examples
    --------
    >>> import numpy as np, marginscope as ms
    >>> x = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]) / np.sqrt(2.0)
    >>> y = np.array([1.0, -1.0, -1.0, 1.0])
    >>> ms.margins(x, y)["gamma_gl"]
    <gamma_gl = 0.25 in [0.25, 0.25], certified>
    """
    if isinstance(x, Run):
        if y is not None:
            raise InputError("A run has its own data; give either the run, or x and y.")
        return Margins(x.problem, which, limit)
    if y is None:
        raise InputError("y, the labels of x, are missing; give x and y, or a Run.")
    weights = dict(zip(PARTS, (V, a, b, c), strict=True))
    return Margins(_problem(x, y, network, weights, settings), which, limit)


def _problem(
    x: Any, y: Any, kind: str, weights: Mapping[str, Any], settings: Mapping[str, Any]
) -> Problem:
    """Make a problem of the caller's data; the start is the paper's but for the given weights."""
    examples = arrays.examples(x, y)
    dataset = Dataset(examples.x, examples.y, classes=max(examples.k, 2))
    if kind in NETWORKS and NETWORKS[kind].classes == "two" and examples.k > 1:
        raise InputError(
            f'y has {examples.k} classes, but network = "{kind}" has one output; give '
            'network = "multiclass", or labels of two classes.'
        )
    V = None if weights["V"] is None else arrays.inner_weights(weights["V"], dataset.d)
    at_start = kind in NETWORKS and NETWORKS[kind].centred  # batch norm
    if V is None and at_start:
        raise InputError(
            f'The margins of network = "{kind}" depend on its start; give its inner weights V.'
        )
    m = 1 if V is None else int(V.shape[0])
    data = {"kind": "file", "n": dataset.n, "d": dataset.d, "content": dataset.digest()}
    loss = {"kind": "exponential" if examples.k == 1 else "cross_entropy"}
    section = {"kind": kind, "m": m, **settings}
    tables = {"data": data, "network": section, "loss": loss, "dynamics": {"kind": "gd"}}
    experiment = build_experiment(tables, "margins")
    shape = Shape(m, dataset.x, examples.k)
    parts = initial_arrays(experiment.network, shape, np.random.default_rng(0))
    for name, value in weights.items():
        if value is None:
            continue
        if name not in parts:
            raise InputError(f'network = "{kind}" has no {name}; it has {", ".join(parts)}.')
        array = np.array(arrays.as_numpy(value, name), dtype=np.float64)
        if array.shape != parts[name].shape:
            raise InputError(f"{name} has shape {array.shape}; it must be {parts[name].shape}.")
        arrays.check_finite(array, name)
        parts[name] = array
    network = build_network(experiment.network, shape, parts)
    flat = network.pack(parts)
    return Problem(experiment, dataset, network, Start(flat, flat))


# ------------------------------------------------------------------------------------ statements


@public
def theorems(
    run: Run,
    margins: Margins | Iterable[str] | None = None,
    *,
    delta: float = 0.05,
    limit: float = LIMIT_S,
) -> list[Report]:
    """Judge the papers' statements that are about a run.

    Parameters
    ----------
    run : Run
        Run with at least one frame.
    margins : Margins or iterable of str, optional
        Reference margins that statements may use: those of an earlier call, or names such as
        ["gamma_gl"]; () for none, which is fastest. By default all that are defined are computed.
    delta : float
        Failure probability allowed to statements about random starts, 0 < delta < 1.
    limit : float
        Most seconds for each margin.

    Returns
    -------
    list of Verdict
        One for each statement about networks and data of this kind.

    Raises
    ------
    InputError
        A margin that is not defined for the run, or a delta out of range.

    Examples
    --------
    >>> import marginscope as ms
    >>> short = {"network.m": 8, "data.n": 16, "dynamics.until_log10_time": 0.5}
    >>> run = ms.train("telgarsky22-figure-1", **short, **{"recording.frames": 5})
    >>> verdicts = {one.name: one for one in ms.theorems(run, margins=())}
    >>> verdicts["Lemma A.2 (norms)"]
    <telgarsky22, Lemma A.2 (norms): holds>
    """
    from core.theorems.registry import assess_all  # margins do not need the statements

    if not 0.0 < delta < 1.0:
        raise InputError(f"delta = {delta:g}; give a probability between 0 and 1.")
    used_margins = margins if isinstance(margins, Margins) else Margins(run.problem, margins, limit)
    by_name = {name: used_margins.compute_margin(name) for name in used_margins}
    watch = CancelToken(math.inf)
    with interruptible(watch.cancel):
        try:
            assessed = assess_all(run, by_name, delta, watch)
        except CancelledError:
            raise KeyboardInterrupt from None
    return [report(one) for one in assessed]
