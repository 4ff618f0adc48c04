"""How unequal the nodes are: the share of the largest node in sum_j |alpha_j| |u_j|."""

from __future__ import annotations

import numpy as np

from core.observables.nodes import node_norms
from core.observables.observable import Observable
from core.observables.registry import OBSERVABLES
from core.runs import Run


def largest_share(run: Run, index: int) -> float:
    norms = node_norms(run, index)
    total = float(norms.sum())
    return float(norms.max()) / total if total > 0.0 else float("nan")


def has_nodes(run: Run) -> bool:
    return bool(np.isfinite(node_norms(run, 0)).all())


OBSERVABLES.add(
    Observable(
        "largest_share",
        "share of the largest node",
        "max_j |alpha_j| |u_j| / sum_j |alpha_j| |u_j|",
        "docs/extend.md",
        largest_share,
        applies=has_nodes,
        where="networks with nodes",
        tex=r"\frac{\max_j|\alpha_j||u_j|}{\sum_j|\alpha_j||u_j|}",
        normalisation="a share",
    )
)
