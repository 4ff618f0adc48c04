"""Readers of MNIST and CIFAR-10 from the user's disk."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from core.data.images import (
    CLASSES_MEANING,
    UNIT_MAX,
    Choice,
    ImageFiles,
    Images,
    Scale,
    check_classes,
)
from core.data.pickle_reader import PickleError, read_pickle
from core.data.section import CONTENT_MEANING, N_MEANING, FileSection
from core.errors import InputError
from core.settings import MAX_SEED, SEED_MEANING, setting

# ----------------------------------------------------------------------------------------- MNIST

IMAGES, LABELS = 2051, 2049  # first four bytes: unsigned bytes with three axes, or with one
MOST_BYTES = 200_000_000
RATIO = 1032  # largest compression ratio of gzip (zlib's "Maximum Compression Factor")
TRAIN, TEST = "train", "t10k"
# Names as distributed, and as some programs unpack them.
FORMS = ("{}-images-idx3-ubyte", "{}-images.idx3-ubyte")


def read_mnist(path: Path) -> tuple[Images, Images | None]:
    """Return the images of a folder, for training and the test, or of one file.

    Raises InputError for files that are missing or do not belong together.
    """
    if path.is_file():
        return read_pair(path), None
    train = find_images(path, TRAIN)
    if train is None:
        raise InputError(
            f"data.path: {path} has no train-images-idx3-ubyte (or .gz); name the folder "
            "that holds the four files of MNIST."
        )
    test = find_images(path, TEST)
    train_images = read_pair(train)
    if test is None:
        return train_images, None
    test_images = read_pair(test)
    if test_images.pixels.shape[1] != train_images.pixels.shape[1]:
        raise InputError(f"data.path: the images of {test} and {train} differ in size.")
    return train_images, test_images


def find_images(folder: Path, part: str) -> Path | None:
    """Return MNIST's images of a part by one of their usual names, plain before compressed."""
    names = [form.format(part) for form in FORMS]
    for name in [*names, *(f"{name}.gz" for name in names)]:
        if (folder / name).is_file():
            return folder / name
    return None


def labels_beside(images: Path) -> Path:
    """Return the label file that belongs to a file of images, by its name."""
    name = images.name.replace("images", "labels").replace("idx3", "idx1")
    plain = name.removesuffix(".gz")
    for candidate in (name, plain, f"{plain}.gz"):
        if candidate != images.name and (images.parent / candidate).is_file():
            return images.parent / candidate
    raise InputError(f"data.path: the labels {name} are missing next to {images}.")


def read_pair(images: Path) -> Images:
    """Return images with the labels beside them. Raises InputError if they do not match."""
    labels = labels_beside(images)
    pixels, numbers = read_idx(images, IMAGES), read_idx(labels, LABELS)
    if pixels.shape[0] != numbers.shape[0]:
        raise InputError(
            f"data.path: {images} has {pixels.shape[0]} images and {labels} {numbers.shape[0]} "
            "labels; they do not belong together."
        )
    return Images(pixels.reshape(pixels.shape[0], -1), numbers.astype(np.int64), 255.0)


def read_idx(path: Path, magic: int) -> NDArray[np.uint8]:
    """Return the unsigned bytes of an idx file, unpacking at most the size in its header.

    Parameters
    ----------
    path : Path
        File, plain or .gz.
    magic : int
        IMAGES or LABELS.

    Returns
    -------
    array of uint8 (N, h, w) or (N,)
        Values in the shape of the header.

    Raises
    ------
    InputError
        Wrong magic number, impossible sizes, or a file that is cut off or too long.
    """
    try:
        if path.suffix == ".gz":
            with gzip.open(path, "rb") as packed:
                return _read_idx(packed, path, magic)
        with path.open("rb") as file:
            return _read_idx(file, path, magic)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"data.path: {path} cannot be read ({error}).") from error


def _read_idx(file: BinaryIO | gzip.GzipFile, path: Path, magic: int) -> NDArray[np.uint8]:
    kind, axes = ("images", 3) if magic == IMAGES else ("labels", 1)
    head = file.read(4 + 4 * axes)
    number = struct.unpack(">I", head[:4])[0] if len(head) >= 4 else None
    if number != magic:
        raise InputError(
            f"data.path: {path} begins with the magic number {number}, but an idx file of {kind} "
            f"begins with {magic}; check that it is the right file, and unpacked."
        )
    if len(head) < 4 + 4 * axes:
        raise InputError(f"data.path: {path} is cut off within its header.")
    shape = struct.unpack(f">{axes}I", head[4:])
    size = math.prod(shape)
    if not 0 < size <= MOST_BYTES:
        raise InputError(
            f"data.path: {path} claims the sizes {' x '.join(map(str, shape))}; between 1 and "
            f"{MOST_BYTES:.0e} values are read."
        )
    # Before memory is allocated: a header of 16 bytes can claim gigabytes.
    n_bytes, ratio = path.stat().st_size, RATIO if path.suffix == ".gz" else 1
    if size > n_bytes * ratio:
        raise InputError(
            f"data.path: {path} is cut off: it has {n_bytes} bytes and claims {size} values."
        )
    content = file.read(size)
    if len(content) < size:
        raise InputError(
            f"data.path: {path} is cut off: {len(content)} of its {size} values are there."
        )
    # In a gzip file this reads to the end, which verifies the checksum.
    if file.read(1):
        raise InputError(f"data.path: {path} is longer than its header says.")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)


class ImageSection(FileSection):
    """Settings of images on the user's disk, of chosen classes."""

    own: ClassVar[tuple[str, ...]] = ("d", "n", "path")
    plane: ClassVar[str] = "components"  # single pixels show little of an image
    if TYPE_CHECKING:
        classes: tuple[int, ...]
        scale: Scale

    @model_validator(mode="after")
    def _classes(self) -> ImageSection:
        check_classes(self.classes)
        return self

    def read_from(self, path: Path) -> ImageFiles:
        choice = Choice(self.classes, self.n, self.scale)
        return ImageFiles(self.read, path, choice, self.d)

    @abstractmethod
    def read(self, path: Path) -> tuple[Images, Images | None]:
        """Return the images at a path, for training and perhaps for the test."""


@final
class MnistData(ImageSection):
    title: ClassVar[str] = "MNIST from the user's disk: idx files, plain or .gz"
    source: ClassVar[str] = "wei19, section F.2"
    names: ClassVar[str] = "the folder of its idx files"

    words: ClassVar[str] = "MNIST"
    kind: Literal["mnist"] = "mnist"
    path: str | None = setting(
        None,
        meaning="folder with train-images-idx3-ubyte and train-labels-idx1-ubyte (and t10k-... "
        "for the test), or one file of images next to its labels; relative to the study "
        "file",
    )
    classes: tuple[int, ...] = setting((), meaning=f"{CLASSES_MEANING}; none: all")
    d: int | None = setting(None, meaning="expected dimension of the inputs", ge=1)
    n: int | None = setting(None, meaning=f"{N_MEANING}, drawn at random; none: all", ge=2)
    scale: Literal["unit_max", "centred", "pixels"] = setting(
        "unit_max", meaning=f"{UNIT_MAX}; pixels: grey values 0 to 255 divided by 255"
    )
    content: str | None = setting(None, meaning=CONTENT_MEANING, advanced=True)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    def read(self, path: Path) -> tuple[Images, Images | None]:
        return read_mnist(path)

    def picture_shape(self, d: int) -> tuple[int, ...]:
        side = math.isqrt(d)
        return (side, side)


# -------------------------------------------------------------------------------------- CIFAR-10

PIXELS = 3072  # 32 x 32 values of red, then green, then blue
RECORD = 1 + PIXELS
# A batch has 31 million bytes, all five together 154 million.
TRAINING, TEST_BATCH = "data_batch_*", "test_batch"


def read_cifar(path: Path) -> tuple[Images, Images | None]:
    """Return the images of a folder's batches, for training and the test, or of one batch."""
    train, test = _batches(path)
    return read_batches(train), read_batches([test]) if test is not None else None


def _batches(path: Path) -> tuple[list[Path], Path | None]:
    if path.is_file():
        return [path], None
    for suffix in (".bin", ""):
        # Python's batches are named like the binary ones, without a suffix.
        batches = [file for file in path.glob(TRAINING + suffix) if file.suffix == suffix]
        test = path / (TEST_BATCH + suffix)
        if batches:
            return sorted(batches), test if test.is_file() else None
    raise InputError(
        f"data.path: {path} has neither data_batch_1.bin nor data_batch_1; name the "
        "folder that holds the batches of CIFAR-10."
    )


def read_batches(paths: Sequence[Path]) -> Images:
    """Return the images of some batches, one after the other.

    Raises InputError for a file that is no batch.
    """
    parts = [_binary(path) if path.suffix == ".bin" else _python(path) for path in paths]
    pixels = np.concatenate([part[0] for part in parts])
    return Images(pixels, np.concatenate([part[1] for part in parts]), 255.0)


def _content(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise InputError(
                f"data.path: {path} is larger than 2e8 bytes; it is not a CIFAR-10 batch."
            )
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"data.path: {path} cannot be read ({error}).") from error


def _check_labels(
    pixels: NDArray[np.uint8], labels: NDArray[np.int64], path: Path
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    odd = labels[(labels < 0) | (labels > 9)]
    if odd.size:
        raise InputError(
            f"data.path: {path} has the label {odd[0]}; CIFAR-10 has the labels 0 to 9."
        )
    return pixels, labels


def _binary(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    content = _content(path)
    if not content or len(content) % RECORD:
        raise InputError(
            f"data.path: {path} has {len(content)} bytes, not a multiple of {RECORD} (a label "
            "and 3 x 32 x 32 pixels); it is truncated, or not a binary batch of CIFAR-10."
        )
    table = np.frombuffer(content, dtype=np.uint8).reshape(-1, RECORD)
    return _check_labels(table[:, 1:], table[:, 0].astype(np.int64), path)


def _python(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    try:
        batch = read_pickle(_content(path))
    except PickleError as error:
        raise InputError(f"data.path: {path} cannot be read as a Python batch: {error}.") from error
    table = batch if isinstance(batch, dict) else {}
    pixels = table.get("data", table.get(b"data"))
    labels = table.get("labels", table.get(b"labels"))
    if not (isinstance(pixels, np.ndarray) and pixels.ndim == 2 and pixels.shape[1] == PIXELS):
        raise InputError(f"data.path: {path} has no array data with rows of {PIXELS} pixels.")
    numbers = labels if isinstance(labels, list) else []
    are_integers = all(type(label) is int for label in numbers)
    if pixels.dtype != np.uint8 or not are_integers or len(numbers) != pixels.shape[0]:
        raise InputError(
            f"data.path: {path} needs pixels as unsigned bytes and a list labels with one whole "
            "number for each image."
        )
    if any(not 0 <= label <= 9 for label in numbers):
        raise InputError(f"data.path: {path} has a label outside 0 to 9.")
    return _check_labels(pixels, np.array(numbers, dtype=np.int64), path)


@final
class CifarData(ImageSection):
    title: ClassVar[str] = "CIFAR-10 from the user's disk: binary or Python batches"
    source: ClassVar[str] = "batchnorm, appendix A (cats and dogs); frei23, section F.2 (ten)"
    names: ClassVar[str] = "the folder of its batches"

    words: ClassVar[str] = "CIFAR-10"
    kind: Literal["cifar10"] = "cifar10"
    path: str | None = setting(
        None,
        meaning="folder with data_batch_1 ... (or data_batch_1.bin ...) and test_batch, or one "
        "batch; relative to the study file",
    )
    classes: tuple[int, ...] = setting(
        (3, 5),
        meaning=f"{CLASSES_MEANING}; none: all. 3 are cats and 5 dogs",
        source="batchnorm, appendix A",
    )
    d: int | None = setting(None, meaning="expected dimension of the inputs", ge=1)
    n: int | None = setting(1000, meaning=f"{N_MEANING}, drawn at random; none: all", ge=2)
    scale: Literal["unit_max", "centred", "pixels"] = setting(
        "unit_max", meaning=f"{UNIT_MAX}; pixels: values 0 to 255 divided by 255 (frei23)"
    )
    content: str | None = setting(None, meaning=CONTENT_MEANING, advanced=True)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    def read(self, path: Path) -> tuple[Images, Images | None]:
        return read_cifar(path)

    def picture_shape(self, d: int) -> tuple[int, ...]:
        return (3, 32, 32)
