"""Parametrisations by the kind named in study files."""

from __future__ import annotations

from core.network.parametrisation import Parametrisation
from core.network.standard import Standard

PARAMETRISATIONS: dict[str, type[Standard]] = {"standard": Standard}


def parametrisation(kind: str, m: int, d: int) -> Parametrisation:
    """The parametrisation of a kind for m nodes on inputs of dimension d."""
    return PARAMETRISATIONS[kind](m, d)
