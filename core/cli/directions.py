"""`directions`: the extremal vectors of a study's data, to which small nodes turn."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from core.cli.margins import named_problems
from core.cli.output import print_json, print_line
from core.errors import InputError
from core.problem.problem import Problem

MOST_SHOWN = 4  # coordinates of a direction; JSON has all


def directions(arguments: argparse.Namespace) -> int:
    """Print every extremal vector of each distinct problem, from the least G to the largest."""
    from core.network.parametrisation import TwoLayer
    from core.reference.extremal import extremal_vectors

    named = named_problems(arguments.target, arguments.settings)
    found = []
    for cell, problem in named:
        check_problem(problem, cell)
        assert isinstance(problem.network, TwoLayer)
        slope = problem.network.activation.slope
        found.append(
            (cell, slope, extremal_vectors(problem.inputs, problem.dataset.y, slope), problem)
        )
    if arguments.json:
        several = len(named) > 1
        print_json(
            [
                as_json(one, problem) | ({"cell": cell} if several else {})
                for cell, _, vectors, problem in found
                for one in vectors
            ]
        )
        return 0
    for cell, slope, vectors, problem in found:
        _print_table(cell, slope, vectors, problem)
    return 0


def check_problem(problem: Problem, name: str) -> None:
    """Raise InputError where a problem has no extremal vectors."""
    from core.reference.extremal import has_extremal

    if not problem.dataset.real:
        raise InputError(
            f"{name} has labels, and extremal vectors are told of real targets; choose a study "
            'with data.kind = "regression", "spurious" or "orthonormal", or data of your own with '
            'targets = "real".'
        )
    if not has_extremal(problem):
        raise InputError(
            f'{name} has network.kind = "{problem.network.kind}", and extremal vectors are told of '
            '"standard" and "bias", whose layers are both trained.'
        )


def as_json(one: Any, problem: Problem) -> dict[str, Any]:
    """The fields of `python -m core directions --json`; `signs` are those of <u, x_k>."""
    u, D = (_in_full(problem, vector).tolist() for vector in (one.u, one.D))
    counts = {"active": int((one.signs > 0).sum()), "border": int((one.signs == 0).sum())}
    told = {"kind": one.kind, "G": one.value, "length": abs(one.value)}
    return told | counts | {"u": u, "D": D, "signs": one.signs.tolist()}


def _in_full(problem: Problem, vector: Any) -> Any:
    """A vector in the coordinates of the inputs, also of a run in row-space form."""
    form = problem.reduction
    return vector if form is None else vector[:-1] @ form.basis


def _print_table(cell: str, slope: float, vectors: Any, problem: Problem) -> None:
    n, d = problem.inputs.shape if problem.reduction is None else problem.dataset.x.shape
    count = f"{len(vectors)} extremal vector{'' if len(vectors) == 1 else 's'}"
    print_line(f"{cell}: {count} of {n} points in {d} dimensions, slope {slope:g}")
    if not vectors:
        return
    print_line(f"  {'kind':<8} {'G':>12} {'|D|':>12} {'active':>7} {'border':>7}  u")
    for one in vectors:
        told = as_json(one, problem)
        numbers = f"{one.value:>12.6g} {abs(one.value):>12.6g}"
        counts = f"{told['active']:>7} {told['border']:>7}"
        print_line(f"  {one.kind:<8} {numbers} {counts}  {_coordinates(np.array(told['u']))}")


def _coordinates(u: Any) -> str:
    shown = ", ".join(f"{value:.4f}" for value in u[:MOST_SHOWN])
    return f"({shown}{', ...' if len(u) > MOST_SHOWN else ''})"
