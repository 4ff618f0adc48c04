"""MNIST from the user's disk: idx files, plain or compressed with gzip."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import BinaryIO, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from core.data.images import CLASSES_MEANING, UNIT_MAX, Choice, ImageFiles, Images, check_classes
from core.data.section import CONTENT_MEANING, N_MEANING, FileSection
from core.errors import InputError
from core.settings import MAX_SEED, SEED_MEANING, setting

IMAGES, LABELS = 2051, 2049  # the first four bytes: unsigned bytes, three axes or one
MOST_BYTES = 200_000_000
RATIO = 1032  # gzip packs at most so many bytes into one (zlib's "Maximum Compression Factor")
TRAIN, TEST = "train", "t10k"
FORMS = ("{}-images-idx3-ubyte", "{}-images.idx3-ubyte")  # as distributed, and as some unpack them


def read_mnist(path: Path) -> tuple[Images, Images | None]:
    """The images of a folder, for training and the test, or of one file.

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
        raise InputError(f"data.path: the images of {test} are not as large as those of {train}.")
    return train_images, test_images


def find_images(folder: Path, part: str) -> Path | None:
    """The images of a part of MNIST by one of their usual names, plain before compressed."""
    names = [form.format(part) for form in FORMS]
    for name in [*names, *(f"{name}.gz" for name in names)]:
        if (folder / name).is_file():
            return folder / name
    return None


def labels_beside(images: Path) -> Path:
    """The labels' file that goes with a file of images, by its name."""
    name = images.name.replace("images", "labels").replace("idx3", "idx1")
    plain = name.removesuffix(".gz")
    for other in (name, plain, f"{plain}.gz"):
        if other != images.name and (images.parent / other).is_file():
            return images.parent / other
    raise InputError(f"data.path: the labels {name} are missing beside {images}.")


def read_pair(images: Path) -> Images:
    """Images and the labels beside them. Raises InputError where they do not belong together."""
    labels = labels_beside(images)
    pixels, numbers = read_idx(images, IMAGES), read_idx(labels, LABELS)
    if pixels.shape[0] != numbers.shape[0]:
        raise InputError(
            f"data.path: {images} has {pixels.shape[0]} images and {labels} {numbers.shape[0]} "
            "labels; they do not belong together."
        )
    return Images(pixels.reshape(pixels.shape[0], -1), numbers.astype(np.int64), 255.0)


def read_idx(path: Path, magic: int) -> NDArray[np.uint8]:
    """The unsigned bytes of an idx file in their shape.

    Raises InputError for another magic number, sizes that cannot be, and a file that is cut off or
    too long. What is unpacked is never more than the header says.
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
    what, axes = ("images", 3) if magic == IMAGES else ("labels", 1)
    head = file.read(4 + 4 * axes)
    begin = struct.unpack(">I", head[:4])[0] if len(head) >= 4 else None
    if begin != magic:
        raise InputError(
            f"data.path: {path} begins with the magic number {begin}, and an idx file of {what} "
            f"begins with {magic}; it is another file, or still packed."
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
    # Before memory is taken: a header of 16 bytes can claim gigabytes.
    there, most = path.stat().st_size, RATIO if path.suffix == ".gz" else 1
    if size > there * most:
        raise InputError(
            f"data.path: {path} is cut off: it has {there} bytes and claims {size} values."
        )
    content = file.read(size)
    if len(content) < size:
        raise InputError(
            f"data.path: {path} is cut off: {len(content)} of its {size} values are there."
        )
    # In a gzip file this also reads to its end, where the checksum is compared.
    if file.read(1):
        raise InputError(f"data.path: {path} is longer than its header says.")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)


@final
class MnistData(FileSection):
    title: ClassVar[str] = "MNIST from the user's disk: idx files, plain or .gz"
    source: ClassVar[str] = "wei19, section F.2"
    names: ClassVar[str] = "the folder of its idx files"
    own: ClassVar[tuple[str, ...]] = ("d", "n", "path")

    plane: ClassVar[str] = "components"  # single pixels show little of a picture
    kind: Literal["mnist"] = "mnist"
    path: str | None = setting(
        None,
        meaning="folder with train-images-idx3-ubyte and train-labels-idx1-ubyte (and t10k-... "
        "for the test), or one file of images beside its labels; relative to the study file",
    )
    classes: tuple[int, ...] = setting((), meaning=f"{CLASSES_MEANING}; none: all that there are")
    d: int | None = setting(None, meaning="dimension of the inputs, if it should be checked", ge=1)
    n: int | None = setting(None, meaning=f"{N_MEANING}, drawn from those there; none: all", ge=2)
    scale: Literal["unit_max", "centred", "pixels"] = setting(
        "unit_max", meaning=f"{UNIT_MAX}; pixels: grey values 0 to 255 divided by 255"
    )
    content: str | None = setting(None, meaning=CONTENT_MEANING, advanced=True)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _classes(self) -> MnistData:
        check_classes(self.classes)
        return self

    def read_from(self, path: Path) -> ImageFiles:
        return ImageFiles(read_mnist, path, Choice(self.classes, self.n, self.scale), self.d)

    def picture_shape(self, d: int) -> tuple[int, ...]:
        side = math.isqrt(d)
        return (side, side)
