"""Description of a format: whole files, ways of damage, and the function that opens one."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from pathlib import Path

from tests.support.mutations import damaged_bytes


class WrongError(Exception):
    """A damaged file was read as if it were whole, with a wrong result."""


class Format(ABC):
    """A format; `count` damaged files of it are opened."""

    name: str
    count: int

    @abstractmethod
    def files(self, folder: Path) -> dict[str, bytes]:
        """Return whole files by name; the first is the one to open."""

    @abstractmethod
    def open(self, path: Path) -> None:
        """Read the entire file. Raises InputError for damage."""

    def damaged(self, files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
        """Return the files, one of them damaged."""
        name = chance.choice([*files])
        return files | {name: self.damage(files[name], chance)}

    def damage(self, data: bytes, chance: random.Random) -> bytes:
        return damaged_bytes(data, chance)

    def each(self, files: dict[str, bytes]) -> list[str]:
        """Return the whole files to open first, so that everything needed is loaded."""
        return [next(iter(files))]
