"""Which device tensors are on."""

from __future__ import annotations

import torch


def cuda_is_present() -> bool:
    """Whether torch sees a CUDA device."""
    return bool(torch.cuda.is_available())


def threads() -> int:
    """Processor threads that torch uses in one operation."""
    return int(torch.get_num_threads())
