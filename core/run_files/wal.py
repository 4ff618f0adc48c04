"""Check that the `-wal` beside a run file is its own.

SQLite replays every `-wal` whose checksums are right, also one that another run has left under this
file's name, and would mix the pages of both. Its header holds the number of checkpoints so far and
a salt that grows by one with each (SQLite's "Database File Format", section 4.1), so that their
difference stays the same for all of a recording. The recorder notes it in `meta`, by its first
transaction, and a name of the run before that.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import final

HEADER = struct.Struct(">8I")  # magic, version, page size, checkpoints, two salts, two checksums
MAGIC = {0x377F0682: "<", 0x377F0683: ">"}  # the byte order of the words that are summed
WORDS = 1 << 32


def beside(path: Path, suffix: str) -> Path:
    """Return SQLite's own file next to a database: `-wal`, `-shm` or `-journal`."""
    return path.with_name(path.name + suffix)


@final
@dataclass(frozen=True, slots=True)
class WalHeader:
    """Salt minus checkpoints of a `-wal`, modulo 2^32, and its checkpoints."""

    recording: int
    checkpoints: int


def header_of(head: bytes) -> WalHeader | None:
    """Read the first 32 bytes of a `-wal`; None where SQLite passes over it.

    >>> header_of(b"") is None
    True
    """
    if len(head) < HEADER.size:
        return None
    magic, _, _, checkpoints, salt, _, *sums = HEADER.unpack(head[: HEADER.size])
    order = MAGIC.get(magic)
    if order is None or checksum(struct.unpack(f"{order}6I", head[:24])) != tuple(sums):
        return None
    return WalHeader((salt - checkpoints) % WORDS, checkpoints)


def checksum(words: tuple[int, ...]) -> tuple[int, int]:
    """Return SQLite's sums of 32-bit words, two at a time: a += x + b, b += y + a, modulo 2^32."""
    a = b = 0
    for x, y in zip(words[::2], words[1::2], strict=True):
        a = (a + x + b) % WORDS
        b = (b + y + a) % WORDS
    return a, b


def read_wal_header(wal: Path) -> WalHeader | None:
    """Read the header of a `-wal` file; None if SQLite would not replay the file."""
    try:
        with wal.open("rb") as file:
            return header_of(file.read(HEADER.size))
    except OSError:
        return None


def is_foreign(header: WalHeader, noted: str, same_name: bool) -> bool:
    """Return True if a `-wal` is that of another run than the file beside it.

    Parameters
    ----------
    header : WalHeader
        Header of the `-wal`.
    noted : str
        Row `wal` of the file alone, as JSON; empty in files of earlier versions, which know none.
    same_name : bool
        True if the file has the same `name` alone and together with the `-wal`.
    """
    if noted != "null":
        return noted not in ("", str(header.recording))
    return header.checkpoints > 0 or not same_name
