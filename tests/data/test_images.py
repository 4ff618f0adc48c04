"""Digits, MNIST and CIFAR-10: what is read, how it is scaled, and what is refused."""

from __future__ import annotations

import gzip
import os
import pickle
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_digits

from core.data import pickle_reader
from core.data.images import DIGIT_COUNTS, FILE, bundled_digits
from core.data.pickle_reader import PickleError, read_pickle
from core.errors import InputError
from core.problem.problem import points_for_test
from tests.data.drawing import data_of, problem_of

ROOT = Path(__file__).resolve().parents[2]
RNG = np.random.default_rng(5)


def test_the_bundle_has_the_counts_that_are_stated() -> None:
    _, labels = load_digits(return_X_y=True)
    assert tuple(np.bincount(labels)) == DIGIT_COUNTS


def test_the_digits_need_one_file_of_scikit_learn_and_none_of_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a bundle, which has no more of it."""
    pixels, labels = load_digits(return_X_y=True)
    assert np.array_equal(bundled_digits()[0], pixels)
    assert np.array_equal(bundled_digits()[1], labels)
    found = Path(sklearn.__file__).parent.joinpath(*FILE)
    carried = tmp_path.joinpath("sklearn", *FILE)
    carried.parent.mkdir(parents=True)
    shutil.copy(found, carried)
    code = "from core.data.images import bundled_digits as f; print(f()[0].sum(), f()[1].sum())"
    guard = f"import sys; sys.path[:] = [{str(tmp_path)!r}, *sys.path]; {code}"
    done = subprocess.run(
        [sys.executable, "-c", f"{guard}; print(*(n for n in sys.modules if 'sklearn' in n))"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [str(pixels.sum()), str(labels.sum())]
    monkeypatch.setattr("core.data.images.find_spec", lambda name: None)
    with pytest.raises(InputError, match="scikit-learn, which is not installed; install it"):
        bundled_digits()


@pytest.mark.parametrize(("scale", "factor"), [("pixels", 16.0), ("unit_max", None)])
def test_digits_are_those_of_the_bundle(scale: str, factor: float | None) -> None:
    pixels, labels = load_digits(return_X_y=True)
    chosen = np.isin(labels, (3, 8))
    size = factor or np.linalg.norm(pixels[chosen], axis=1).max()
    data = data_of("digits", scale=scale)
    assert data.x_test is not None
    assert data.y_test is not None
    assert (data.n, data.d, len(data.x_test)) == (256, 64, 357 - 256)
    rows = zip(pixels[chosen], labels[chosen], strict=True)
    there = {(*row, label) for row, label in rows}
    for x, y in ((data.x, data.y), (data.x_test, data.y_test)):
        digits = zip(x, np.where(y < 0, 3, 8), strict=True)
        found = {(*np.rint(row * size), label) for row, label in digits}
        assert found <= there
    assert np.linalg.norm(np.r_[data.x, data.x_test], axis=1).max() <= (2 if factor is None else 8)
    if factor is None:
        assert np.isclose(np.linalg.norm(np.r_[data.x, data.x_test], axis=1).max(), 1)


def test_the_order_of_two_classes_is_their_sign() -> None:
    one, other = data_of("digits"), data_of("digits", classes=[8, 3])
    assert np.array_equal(one.x, other.x)
    assert np.array_equal(one.y, -other.y)


def test_ten_digits_are_numbered() -> None:
    at = problem_of("digits", classes=[], n=1000, many=True)
    assert at.dataset.classes == 10
    assert set(at.dataset.y.tolist()) == set(range(10))
    points = points_for_test(at)
    assert points.y.size == 797


def test_three_digits_are_numbered_in_their_order() -> None:
    data = data_of("digits", classes=[7, 1, 4], n=100, many=True)
    assert data.classes == 3
    assert set(data.y.tolist()) == {0.0, 1.0, 2.0}


@pytest.mark.parametrize(("classes", "values"), [([3, 8], {-1.0, 1.0}), ([1, 2, 4], {0, 1, 2})])
def test_random_labels_stand_on_the_same_digits(classes: list[int], values: set[float]) -> None:
    """Half of two classes' labels agree with the true ones, by chance; the test set keeps its."""
    many = len(classes) > 2
    true = data_of("digits", classes=classes, many=many)
    drawn = data_of("digits", classes=classes, labels="random", many=many)
    assert np.array_equal(true.x, drawn.x)
    assert np.array_equal(true.y_test, drawn.y_test)
    assert set(drawn.y.tolist()) == values
    share = 1.0 / len(classes)
    room = 4.0 * np.sqrt(share * (1.0 - share) / true.n)
    assert abs(np.mean(true.y == drawn.y) - share) < room
    again, other = (
        data_of("digits", classes=classes, labels="random", many=many, seed=seed) for seed in (4, 5)
    )
    assert not np.array_equal(again.y, other.y)


# --------------------------------------------------------------------------------------- mnist


def idx(array: np.ndarray, magic: int | None = None) -> bytes:
    head = struct.pack(">I", 2048 + array.ndim if magic is None else magic)
    return head + struct.pack(f">{array.ndim}I", *array.shape) + array.astype(np.uint8).tobytes()


def images(count: int, classes: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Return pixels of 4 x 3 images and labels that go round the classes."""
    return RNG.integers(0, 256, (count, 4, 3)), np.arange(count) % classes


def mnist(folder: Path, part: str = "train", count: int = 60, packed: bool = False) -> np.ndarray:
    pixels, labels = images(count)
    for name, array in (("images-idx3", pixels), ("labels-idx1", labels)):
        content = idx(array)
        path = folder / f"{part}-{name}-ubyte{'.gz' if packed else ''}"
        path.write_bytes(gzip.compress(content) if packed else content)
    return pixels


@pytest.mark.parametrize("packed", [False, True])
def test_mnist_is_read(tmp_path: Path, packed: bool) -> None:
    pixels = mnist(tmp_path, packed=packed)
    mnist(tmp_path, "t10k", 20, packed)
    at = problem_of("mnist", tmp_path, path=".", classes=[4, 9], scale="pixels")
    data = at.dataset
    assert (data.n, data.d) == (12, 12)
    flat = pixels.reshape(60, 12)
    for row, label in zip(data.x, data.y, strict=True):
        (place,) = np.flatnonzero(np.isclose(flat / 255, row).all(axis=1))
        assert place % 10 == (4 if label < 0 else 9)
    assert data.y_test is not None
    assert sorted(data.y_test) == [-1, -1, 1, 1]
    section = at.experiment.data
    assert (section.path, section.n, section.d) == (None, 12, 12)
    assert section.content == data.digest()


def test_mnist_without_test_files_holds_the_rest_out(tmp_path: Path) -> None:
    mnist(tmp_path)
    at = problem_of("mnist", tmp_path, path="train-images-idx3-ubyte", n=50, many=True)
    assert at.dataset.classes == 10
    points = points_for_test(at)
    assert points.y.size == 10
    norms = np.linalg.norm(np.r_[at.dataset.x, points.x], axis=1)
    assert np.isclose(norms.max(), 1)


def broken(content: bytes) -> dict[str, tuple[bytes, str]]:
    """Return damaged files of images, with words of the sentence about each."""
    absurd = struct.pack(">4I", 2051, 2**31, 2**31, 4)
    return {
        "labels": (b"\0\0\x08\x01" + content[4:], "begins with the magic number 2049"),
        "empty": (b"", "begins with the magic number None"),
        "packed": (gzip.compress(content), "the right file, and unpacked"),
        "header": (content[:9], "cut off within its header"),
        "short": (content[:-1], "cut off: 719 of its 720 values"),
        "long": (content + b"\0", "longer than its header says"),
        "absurd": (absurd, "claims the sizes 2147483648 x 2147483648 x 4"),
        "none": (struct.pack(">4I", 2051, 0, 4, 3), "between 1 and"),
    }


@pytest.mark.parametrize("damage", list(broken(bytes(736))))
def test_wrong_idx_files_are_refused(tmp_path: Path, damage: str) -> None:
    mnist(tmp_path)
    path = tmp_path / "train-images-idx3-ubyte"
    content, words = broken(path.read_bytes())[damage]
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        problem_of("mnist", tmp_path, path=".", classes=[1, 2])
    assert words in str(caught.value)
    assert str(caught.value).startswith("data.path: ")


def test_other_mistakes_with_mnist_are_refused(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, object], str]] = [
        ({}, "data.path is missing"),
        ({"path": "nowhere"}, "nowhere does not exist"),
        ({"path": "."}, "has no train-images-idx3-ubyte"),
    ]
    for keys, words in cases:
        with pytest.raises(InputError, match=words):
            problem_of("mnist", tmp_path, **keys)
    mnist(tmp_path)
    more: list[tuple[dict[str, object], str]] = [
        ({"n": 100, "classes": [1, 2]}, "has 12 images of these classes; lower n"),
        ({"d": 784, "classes": [1, 2]}, "data.d = 784 conflicts with"),
    ]
    for keys, words in more:
        with pytest.raises(InputError, match=words):
            problem_of("mnist", tmp_path, path=".", **keys)
    packed = tmp_path / "train-labels-idx1-ubyte"
    packed.unlink()
    with pytest.raises(InputError, match="the labels train-labels-idx1-ubyte are missing"):
        problem_of("mnist", tmp_path, path=".")
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(np.arange(9) % 3))[:20])
    with pytest.raises(InputError, match="cannot be read"):
        problem_of("mnist", tmp_path, path=".")
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(np.arange(9) % 3)))
    with pytest.raises(InputError, match=r"has 60 images and .* 9 labels"):
        problem_of("mnist", tmp_path, path=".")


def test_a_class_that_is_not_there(tmp_path: Path) -> None:
    pixels, labels = images(12, classes=3)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(pixels))
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(labels))
    with pytest.raises(InputError, match=r"has no image of class 7; it has the classes 0, 1, 2"):
        problem_of("mnist", tmp_path, path=".", classes=[1, 7])


# --------------------------------------------------------------------------------------- cifar


def cifar(count: int) -> tuple[np.ndarray, list[int]]:
    """Return pixels (count, 3072) and labels that go round the ten classes."""
    return RNG.integers(0, 256, (count, 3072)).astype(np.uint8), [i % 10 for i in range(count)]


def of_python_2(pixels: np.ndarray, labels: list[int]) -> bytes:
    """Return a batch as Python 2 wrote CIFAR-10's: every text is a string of bytes."""

    def text(value: bytes) -> bytes:
        if len(value) < 256:
            return b"U" + bytes([len(value)]) + value
        return b"T" + struct.pack("<I", len(value)) + value

    dtype = b"cnumpy\ndtype\n" + text(b"u1") + b"K\x00K\x01\x87R(K\x03" + text(b"|") + b"NNN"
    dtype += b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    shape = b"".join(b"M" + struct.pack("<H", size) for size in pixels.shape) + b"\x86"
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text(b"b") + b"\x87R"
    )
    array += b"(K\x01" + shape + dtype + b"\x89" + text(pixels.tobytes()) + b"tb"
    numbers = b"](" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    names = b"](" + text(b"cat.png") + b"e"
    return (
        b"\x80\x02}("
        + text(b"batch_label")
        + text(b"batch 1 of 5")
        + text(b"labels")
        + numbers
        + text(b"data")
        + array
        + text(b"filenames")
        + names
        + b"u."
    )


def batches(form: str, pixels: np.ndarray, labels: list[int]) -> bytes:
    if form == "binary":
        return np.c_[np.array(labels, dtype=np.uint8), pixels].tobytes()
    if form == "python 2":
        return of_python_2(pixels, labels)
    table = {"data": pixels, "labels": labels, "filenames": ["a.png"] * len(labels)}
    return pickle.dumps(table, protocol=int(form))


@pytest.mark.parametrize("form", ["binary", "python 2", "2", "3", "4", "5"])
def test_cifar_is_read(tmp_path: Path, form: str) -> None:
    suffix = ".bin" if form == "binary" else ""
    parts = [cifar(30), cifar(30)]
    for number, part in enumerate(parts, start=1):
        (tmp_path / f"data_batch_{number}{suffix}").write_bytes(batches(form, *part))
    (tmp_path / f"test_batch{suffix}").write_bytes(batches(form, *cifar(20)))
    at = problem_of("cifar10", tmp_path, path=".", n=10, scale="pixels")
    pixels = np.concatenate([part[0] for part in parts]) / 255
    assert (at.dataset.n, at.dataset.d) == (10, 3072)
    for row, label in zip(at.dataset.x, at.dataset.y, strict=True):
        (place,) = np.flatnonzero((pixels == row).all(axis=1))
        assert place % 10 == (3 if label < 0 else 5)
    points = points_for_test(at)
    assert points.y.size == 4


def test_cifar_in_the_unit_ball(tmp_path: Path) -> None:
    (tmp_path / "batch.bin").write_bytes(batches("binary", *cifar(40)))
    data = problem_of("cifar10", tmp_path, path="batch.bin", n=6).dataset
    assert data.x_test is not None
    assert np.isclose(np.linalg.norm(np.r_[data.x, data.x_test], axis=1).max(), 1)


class _Hostile:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"echo ran > {self.path}",)


@pytest.mark.parametrize("protocol", range(6))
def test_a_hostile_batch_runs_nothing(tmp_path: Path, protocol: int) -> None:
    mark = tmp_path / "ran"
    pixels, labels = cifar(10)
    table = {"data": pixels, "labels": labels, "more": _Hostile(mark)}
    (tmp_path / "data_batch_1").write_bytes(pickle.dumps(table, protocol=protocol))
    with pytest.raises(InputError, match="cannot be read as a Python batch"):
        problem_of("cifar10", tmp_path, path=".", n=2)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"cos\nsystem\n(S'echo'\ntR.", "names os.system"),
        (b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93.", "names builtins.eval"),
        (b"\x80\x02cnumpy\nndarray\n)\x81.", "the instruction NEWOBJ"),
        (b"\x80\x02}}b.", "damaged"),
        (b"\x80\x02(cnumpy\ndtype\no.", "the instruction OBJ"),
        (b"\x80\x02P1\n.", "the instruction PERSID"),
        (b"\x80\x02\x82\x01.", "the instruction EXT1"),
        (b"\x80\x02]q\x00h\x07.", "damaged"),
        (b"\x80\x02K\x01", "damaged|cut off"),
        (b"nonsense", "damaged"),
        (b"", "damaged|cut off"),
        (b"\x80\x02cnumpy\ndtype\nU\x02O8K\x00K\x01\x87R0.", "the instruction POP"),
        (b"\x80\x02cnumpy\ndtype\nK\x07\x85R.", "damaged array"),
        (b"\x80\x02a.", "damaged"),
        (b"\x80\x02}(K\x01e.", "damaged"),
        (b"\x80\x02K\x01r\xff\xff\xff\x7f.", "more than any batch"),  # 34 GB of the memo
        (b"\x80\x02})" + 9_000 * b"\x85" + b"K\x01s.", "more than any batch"),  # hashed
        (b"\x80\x02c_codecs\nencode\nq\x00}b.", "changes a function"),  # its attributes
        (b"\x80\x02c_codecs\nencode\nN}U\x09__class__K\x01s\x86b.", "changes a function"),
        (b"\x80\x02c_codecs\nencode\nN}X\x05\0\0\0_makeK\x01s\x86b.", "changes a function"),
        (b"\x80\x02})\x85" + 40 * b"q\x00h\x00\x86" + b"K\x01s.", "more than any batch"),  # 2^40
        (b"\x80\x04})\x85" + 40 * b"\x94\x95\0\0\0\0\0\0\0\0q\x00h\x00\x86" + b"K\x01s.", "more"),
        (b"\x80\x02})\x852\x86K\x01s.", "the instruction DUP"),
        (b"\x80\x02})\x85N0q\x00h\x00\x86K\x01s.", "the instruction POP"),
        (b"\x80\x02cnumpy\ndtype\n" + pickle.dumps(99 * "f", 2)[2:-3] + b"\x85R.", "damaged array"),
    ],
)
def test_pickles_that_are_more_than_data(content: bytes, words: str) -> None:
    if words:
        with pytest.raises(PickleError, match=words):
            read_pickle(content)
    else:
        assert read_pickle(content) == 1  # an unused type is built of our own, and dropped


def test_small_files_that_unfold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickle_reader, "MOST_VALUES", 100)
    text = pickle.dumps(bytes(range(60, 90)), protocol=2)  # as a text of Latin-1
    assert read_pickle(text) == bytes(range(60, 90))
    again = text.replace(b".", b"") + 9 * text[2:].replace(b".", b"") + b"."
    with pytest.raises(PickleError, match="more than any batch contains"):
        read_pickle(again)
    monkeypatch.setattr(pickle_reader, "MOST_STEPS", 100)
    with pytest.raises(PickleError, match="more than any batch contains"):
        read_pickle(b"\x80\x02" + 101 * b"]" + b".")


def test_object_arrays_are_refused() -> None:
    for array in (np.array([print], dtype=object), np.zeros(3, dtype="f4,i2"), np.zeros(2, "S3")):
        with pytest.raises(PickleError):
            read_pickle(pickle.dumps({"data": array}, protocol=2))


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_come_back(protocol: int, order: str) -> None:
    for dtype in ("u1", "<i4", ">f8", "f4"):
        array = np.asarray(RNG.integers(0, 9, (3, 5)), dtype=dtype, order=order)
        back = read_pickle(pickle.dumps({b"a": array, "b": (1.5, None, True)}, protocol=protocol))
        assert np.array_equal(back[b"a"], array)
        assert back["b"] == (1.5, None, True)


@pytest.mark.filterwarnings("ignore:invalid escape sequence:DeprecationWarning")
def test_random_damage_never_does_more_than_raise() -> None:
    good = bytearray(batches("2", *cifar(1))[:400] + b".")
    for _ in range(300):
        bad = bytearray(good)
        for place in RNG.integers(0, len(bad), 3):
            bad[place] = RNG.integers(256)
        try:
            read_pickle(bytes(bad))
        except PickleError:
            continue


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"data": np.zeros((2, 5), np.uint8), "labels": [0, 1]}, "rows of 3072 pixels"),
        ({"data": np.zeros((2, 3072)), "labels": [0, 1]}, "unsigned bytes"),
        ({"data": np.zeros((2, 3072), np.uint8), "labels": [0]}, "one whole number"),
        ({"data": np.zeros((2, 3072), np.uint8), "labels": [0, 11]}, "outside 0 to 9"),
        ({"data": np.zeros((2, 3072), np.uint8)}, "a list labels"),
        ([1, 2], "no array data"),
    ],
)
def test_batches_that_are_none(tmp_path: Path, table: object, words: str) -> None:
    (tmp_path / "data_batch_1").write_bytes(pickle.dumps(table, protocol=2))
    with pytest.raises(InputError, match=words):
        problem_of("cifar10", tmp_path, path=".", n=2)


def test_binary_batches_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "data_batch_1.bin"
    for content, words in ((b"", "has 0 bytes"), (bytes(3000), "not a multiple of 3073")):
        path.write_bytes(content)
        with pytest.raises(InputError, match=words):
            problem_of("cifar10", tmp_path, path=".")
    path.write_bytes(b"\x0b" + bytes(3072))
    with pytest.raises(InputError, match="has the label 11"):
        problem_of("cifar10", tmp_path, path=".")
    path.unlink()
    with pytest.raises(InputError, match=r"neither data_batch_1\.bin nor data_batch_1"):
        problem_of("cifar10", tmp_path, path=".")
