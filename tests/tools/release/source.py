"""The source archive: the commit's files, and the metadata that installers read."""

from __future__ import annotations

import gzip
import io
import subprocess
import tarfile
import zipfile
from pathlib import Path


def metadata(wheel: Path) -> bytes:
    """Return the METADATA of a wheel, called PKG-INFO in a source archive."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        return archive.read(name)


def source_archive(clone: Path, wheel: Path, place: Path) -> None:
    """Pack all files of the clone's commit under one folder, with PKG-INFO.

    Equal commits give equal bytes: times are the commit's, and the compressed file has none.
    """
    folder = place.name.removesuffix(".tar.gz")
    command = ["git", "archive", "--format=tar", f"--prefix={folder}/", "HEAD"]
    made = subprocess.run(command, cwd=clone, check=True, capture_output=True).stdout
    buffer = io.BytesIO(made)
    with tarfile.open(fileobj=buffer, mode="r") as archive:
        moment = max(one.mtime for one in archive.getmembers())
    buffer.seek(0)
    with tarfile.open(fileobj=buffer, mode="a") as archive:
        info = tarfile.TarInfo(f"{folder}/PKG-INFO")
        content = metadata(wheel)
        info.size, info.mtime = len(content), moment
        archive.addfile(info, io.BytesIO(content))
    place.write_bytes(gzip.compress(buffer.getvalue(), mtime=0))
