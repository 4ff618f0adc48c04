"""The program's own errors, which the public module raises too: see marginscope._errors."""

from marginscope._errors import (
    Clause,
    DiskError,
    InputError,
    MarginscopeError,
    RuleError,
    RunFileError,
    did_you_mean,
)

__all__ = [
    "Clause",
    "DiskError",
    "InputError",
    "MarginscopeError",
    "RuleError",
    "RunFileError",
    "did_you_mean",
]
