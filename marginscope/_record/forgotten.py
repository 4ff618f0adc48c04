"""Biases that a loop's layers have and that were not given."""

from __future__ import annotations

import gc
from typing import Any


def has_bias(weight: Any) -> bool:
    """Return True if an array is the weight of a PyTorch module that has a bias beside it.

    A module keeps both in one dictionary, by which Python's garbage collector refers to the array.
    """
    if type(weight).__name__ != "Parameter":
        return False
    return any(
        isinstance(owner, dict) and owner.get("weight") is weight and owner.get("bias") is not None
        for owner in gc.get_referrers(weight)
    )


def describe_forgotten(V0: Any, a0: Any, b0: Any, c0: Any) -> str:
    """A sentence on the biases that are missing beside V0 and a0; "" if none are."""
    pairs = (("V0", V0, "b0", b0), ("a0", a0, "c0", c0))
    found = [
        (name, bias) for name, weight, bias, given in pairs if given is None and has_bias(weight)
    ]
    if not found:
        return ""
    names = " and ".join(name for name, _ in found)
    biases = " and ".join(bias for _, bias in found)
    verb = "is the weight of a layer" if len(found) == 1 else "are weights of layers"
    return (
        f"{names} {verb} with a bias, and {biases} not given: the file holds another network than "
        "the loop trains. Give layers=(inner, outer) in their place, or the biases with every frame"
    )
