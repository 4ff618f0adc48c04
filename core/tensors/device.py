"""CUDA device: presence, and the error when its memory is full."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from core.errors import InputError


def cuda_is_present() -> bool:
    """Whether torch sees a CUDA device."""
    return bool(torch.cuda.is_available())


@contextmanager
def report_full_memory() -> Iterator[None]:
    """Raise InputError if the CUDA device runs out of memory."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise InputError(
            'The memory of the CUDA device is full; set run.device = "cpu", make network.m or '
            "data.n smaller, or end other programs that use the device."
        ) from error
