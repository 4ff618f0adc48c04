"""Which Python code of networks may run: what this user ran or trusted before, by its SHA-256.

A run file of a custom network carries the network's code. Run files come from strangers, so code
runs only after its user has trained with it here, or has said `python -m core trust RUN --yes`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from platformdirs import user_data_path

from core.errors import DiskError


def digest_of(code: str) -> str:
    """SHA-256 of the code, as hexadecimal digits."""
    return hashlib.sha256(code.encode()).hexdigest()


def trust_folder() -> Path:
    """Where trusted digests are kept, one empty file each."""
    return user_data_path("marginscope") / "trusted"


def is_trusted(code: str) -> bool:
    """Whether this user has run or trusted exactly this code."""
    return (trust_folder() / digest_of(code)).is_file()


def trust(code: str) -> None:
    """Remember the code as trusted. Raises DiskError where that cannot be written."""
    folder = trust_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / digest_of(code)).touch()
    except OSError as error:
        raise DiskError(
            f"{folder} cannot be written ({error.strerror}); make it writable."
        ) from error
