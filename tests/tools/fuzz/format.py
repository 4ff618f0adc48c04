"""What a format is: whole files of it, how they are damaged, and how the program opens one."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from pathlib import Path

from tests.support.mutations import damaged_bytes


class WrongError(Exception):
    """A damaged file was read as if it were whole, and what was read is wrong."""


class Format(ABC):
    """A format; `count` damaged files of it are opened."""

    name: str
    count: int

    @abstractmethod
    def files(self, folder: Path) -> dict[str, bytes]:
        """Whole files by their names; the first is the one that is opened."""

    @abstractmethod
    def open(self, path: Path) -> None:
        """Read all there is. Raises InputError for what is damaged."""

    def damaged(self, files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
        """The files with one of them damaged."""
        name = chance.choice([*files])
        return files | {name: self.damage(files[name], chance)}

    def damage(self, data: bytes, chance: random.Random) -> bytes:
        return damaged_bytes(data, chance)

    def each(self, files: dict[str, bytes]) -> list[str]:
        """Which whole files are opened before, so that all that is needed is loaded."""
        return [next(iter(files))]
