"""Which device tensors are on."""

from __future__ import annotations

import torch


def cuda_is_present() -> bool:
    """Whether torch sees a CUDA device."""
    return bool(torch.cuda.is_available())
