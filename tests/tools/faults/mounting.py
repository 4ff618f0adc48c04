"""Disks of a few megabytes to fill, enlarge, and make read-only; needs root."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


def _unmount(place: Path) -> None:
    # Lazily: what a failed attempt has left open must not keep it.
    subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)


def _can_mount() -> bool:
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as name:
        there = _mount("-t", "tmpfs", "-o", "size=64k", "none", name)
        if there:
            _unmount(Path(name))
        return there


CAN_MOUNT = _can_mount()


class Disk:
    """A disk of so many kilobytes, in memory."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def resize(self, kilobytes: int) -> None:
        assert _mount("-o", f"remount,rw,size={kilobytes}k", str(self.place))

    def lock(self) -> None:
        """Make the disk read-only, even for root."""
        assert _mount("-o", "remount,ro", str(self.place))

    def fill(self) -> None:
        """Fill the disk completely."""
        ballast = os.open(self.place / ".ballast", os.O_CREAT | os.O_WRONLY)
        for size in (1 << 20, 4096):
            with suppress(OSError):
                while True:
                    os.write(ballast, bytes(size))
        os.close(ballast)

    def empty(self) -> None:
        """Free the room again."""
        (self.place / ".ballast").unlink()


@contextmanager
def disk(folder: Path, kilobytes: int) -> Iterator[Disk]:
    """Yield a disk in a folder, and remove it at the end."""
    place = folder / "disk"
    place.mkdir()
    assert _mount("-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(place))
    try:
        yield Disk(place)
    finally:
        _unmount(place)
