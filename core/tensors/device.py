"""Whether there is a CUDA device, and what is said where its memory is full."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from core.errors import InputError


def cuda_is_present() -> bool:
    """Whether torch sees a CUDA device."""
    return bool(torch.cuda.is_available())


@contextmanager
def enough_memory() -> Iterator[None]:
    """Raise InputError where the memory of a CUDA device is used up."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise InputError(
            'The memory of the CUDA device is full; set run.device = "cpu", make network.m or '
            "data.n smaller, or end other programs that use the device."
        ) from error
