"""`ms.load` of hostile and of large checkpoints: limits of memory, plain files, own folders."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import marginscope as ms
from core.run_files.active_recorders import machine_name
from marginscope._record import limits
from tests.support.loops import loop

ONE = loop()
NAMES: dict[str, Any] = {"V": "V", "a": "a"}
posix = pytest.mark.skipif(os.name != "posix", reason="pipes, devices and owners of POSIX")


def load(path: Path, **settings: Any) -> None:
    """Load one checkpoint beside itself."""
    ms.load(
        [path],
        [0],
        ONE.x,
        ONE.y,
        loss="logistic",
        path=path.with_suffix(".msrun"),
        **NAMES | settings,
    ).close()


def npz(path: Path, **others: Any) -> Path:
    """Write the loop's weights, and other arrays, as a compressed NPZ."""
    np.savez_compressed(path, V=ONE.V, a=ONE.a, **others)
    return path


def saved(path: Path, *, zipped: bool = True, **others: Any) -> Path:
    """Write the loop's weights, and other objects, with torch.save."""
    state = {"V": torch.tensor(ONE.V), "a": torch.tensor(ONE.a)} | others
    torch.save(OrderedDict(state), path, _use_new_zipfile_serialization=zipped)
    return path


def rewritten(path: Path, compression: int = zipfile.ZIP_STORED, **other: bytes) -> Path:
    """Write a zip again, with other contents for members that end in a name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(packed, "w", compression) as new:
        for name in old.namelist():
            end = name.rpartition("/")[2].partition(".")[0]
            new.writestr(name, other.get(end, old.read(name)))
    path.write_bytes(packed.getvalue())
    return path


def header(shape: tuple[int, ...]) -> bytes:
    """Return the header of an .npy file without its values."""
    made = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        made, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    return made.getvalue()


def test_arrays_of_an_npz_that_no_name_selects_are_not_read(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", optimizer=np.zeros(8), objects=np.array([{}], object))
    load(rewritten(path, optimizer=header((10**12,))))


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ((6, 4), "cannot be read as tensors alone .V is not as long as its shape"),
        ((10**5, 10**4), r"array V in .* has shape \(100000, 10000\), 1e.09 numbers; at most"),
    ],
)
def test_a_header_is_checked_before_its_values(
    tmp_path: Path, shape: tuple[int, ...], sentence: str
) -> None:
    path = rewritten(npz(tmp_path / "a.npz"), V=header(shape) + bytes(100))
    with pytest.raises(ms.InputError, match=sentence):
        load(path)


def test_a_declared_length_beyond_what_deflate_can_pack_is_refused(tmp_path: Path) -> None:
    shape = (1000, 4000)  # 32 MB, declared in the list of contents too
    path = rewritten(npz(tmp_path / "a.npz"), V=header(shape))
    content, length = path.read_bytes(), len(header(shape))
    where = content.rindex(b"PK\1\2", 0, content.rindex(b"V.npy"))
    changed = (length + 8 * 4_000_000).to_bytes(4, "little")
    path.write_bytes(content[: where + 24] + changed + content[where + 28 :])
    with pytest.raises(ms.InputError, match="V is not as long as its shape"):
        load(path)


def test_the_arrays_of_one_state_have_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_BYTES", 8 * ONE.V.size)
    path = npz(tmp_path / "a.npz")
    with pytest.raises(ms.InputError, match="up to a, take more than 0 MB as float64"):
        load(path)
    load(path, a=None, a_fixed=ONE.a, ignore=("a",))


def test_a_list_of_contents_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = npz(tmp_path / "a.npz"), saved(tmp_path / "a.pt")
    monkeypatch.setattr(limits, "MOST_DIRECTORY", 80)
    for path in paths:
        with pytest.raises(ms.InputError, match=r"list of contents has \d+ bytes, and 80 are"):
            load(path)


@pytest.mark.parametrize("back", [98, 22])
def test_a_list_of_contents_elsewhere_is_refused(tmp_path: Path, back: int) -> None:
    """PyTorch would read the list that the end of a zip64 points to, and zipfile another one."""
    path = saved(tmp_path / "a.pt")
    content = bytearray(path.read_bytes())
    place = len(content) - 98 + 48 if back == 98 else len(content) - 98 + 56 + 8
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(ms.InputError, match="not where its end says"):
        load(path)


def test_compressed_parts_of_torch_are_refused(tmp_path: Path) -> None:
    path = rewritten(saved(tmp_path / "a.pt"), zipfile.ZIP_DEFLATED)
    with pytest.raises(ms.InputError, match="compressed, which torch"):
        load(path)


def test_a_part_that_is_listed_many_times_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.pt", large=torch.zeros(2000))
    with zipfile.ZipFile(path, "a") as archive:
        largest = max(archive.infolist(), key=lambda info: info.file_size)
        for index in range(5):
            again = zipfile.ZipInfo(f"archive/data/{index + 10}")
            again.header_offset, again.CRC = largest.header_offset, largest.CRC
            again.file_size = again.compress_size = largest.file_size
            archive.filelist.append(again)
        archive._didModify = True
    with pytest.raises(ms.InputError, match="its parts are longer than the file"):
        load(path)


@pytest.mark.parametrize("zipped", [True, False])
def test_the_pickle_of_tensors_is_short_and_copies_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zipped: bool
) -> None:
    load(saved(tmp_path / "a.pt", zipped=zipped, history=[1.0, 2.0]))
    path = saved(tmp_path / "b.pt", zipped=zipped, raw=b"of a few bytes, a thousand times")
    with pytest.raises(ms.InputError, match="raw bytes besides tensors; save the weights alone"):
        load(path)
    monkeypatch.setattr(limits, "MOST_PICKLE", 1000)
    path = saved(tmp_path / "c.pt", zipped=zipped, history=[0.5] * 200)
    with pytest.raises(ms.InputError, match="besides tensors takes more than 1000 bytes"):
        load(path)


def test_a_tensor_that_repeats_itself_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.pt", wide=torch.zeros(1, dtype=torch.int8).expand(10**10, 4))
    with pytest.raises(ms.InputError, match=r"V has shape \(10000000000, 4\), 4e\+10 numbers"):
        load(path, V="wide")


def test_a_large_file_is_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_BYTES", 1000)
    load(saved(tmp_path / "a.pt", optimizer=torch.zeros(1000)))
    path = saved(tmp_path / "b.pt", zipped=False, optimizer=torch.zeros(1000))
    with pytest.raises(ms.InputError, match="from before version 1"):
        load(path)


@posix
@pytest.mark.parametrize("suffix", [".npz", ".pt"])
def test_only_plain_files_are_read(tmp_path: Path, suffix: str) -> None:
    pipe, device, folder = (tmp_path / f"{name}{suffix}" for name in ("pipe", "zero", "folder"))
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    folder.mkdir()
    for path in (pipe, device, folder):
        with pytest.raises(ms.InputError, match="only plain files are read"):
            load(path)
    link = tmp_path / f"link{suffix}"
    link.symlink_to(npz(tmp_path / "a.npz") if suffix == ".npz" else saved(tmp_path / "a.pt"))
    load(link)


@posix
def test_folders_of_crashed_processes_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As core.files removes those of all commands (tests/core/test_machine.py)."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    prefix, ended = f"marginscope-load-{machine_name()}", 2**22 + 1  # above Linux' largest id
    gone, left = (tmp_path / f"{prefix}-{pid}-abc" for pid in (ended, os.getppid()))
    for place in (gone, left):
        place.mkdir()
    states = [{"V": ONE.V, "a": ONE.a}]
    with ms.load(states, [0], ONE.x, ONE.y, loss="logistic", **NAMES) as run:
        folder = run.path.parent
        assert folder.name.startswith(f"{prefix}-{os.getpid()}-")
    assert not gone.exists() and left.is_dir()
    del run
    assert not folder.exists()
    with pytest.raises(ms.InputError):
        ms.load([{"V": ONE.V}], [0], ONE.x, ONE.y, loss="logistic", **NAMES)
    assert list(tmp_path.iterdir()) == [left]
