"""What cannot be used is status 2 and one sentence, before time or memory is spent on it."""

from __future__ import annotations

import json
import os
import resource
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from core.cli.grammar import as_int
from core.cli.main import main
from core.data.files import FileSource
from core.data.image_files import IMAGES, read_idx
from core.data.images import Choice
from core.data.numpy_files import NpzFile
from core.data.pickle_reader import PickleError, read_pickle
from core.data.text_table import read_text
from core.errors import InputError
from core.numbers import natural_key
from core.runs.meta import parse_json
from core.studies.study import parse_study
from core.study_file.validation import build_experiment, parse_toml
from core.sweep.plan import read_ledger
from tests.problems import FIGURE_1

DATA = '[network]\nm = 4\n[data]\nkind = "file"\npath = "{}"\n'


def sentence(capsys: pytest.CaptureFixture[str]) -> str:
    err = capsys.readouterr().err
    assert err.startswith("marginscope")
    assert err.count("\n") == 1
    assert "internal error" not in err
    return err


# --------------------------------------------------------------------------------------- NPZ


def lying_npz(path: Path, shape: tuple[int, ...], content: bytes, size: int | None = None) -> Path:
    """Return an NPZ whose array x says that it has a shape, and holds something else."""
    header = repr({"descr": "<f8", "fortran_order": False, "shape": shape}).encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    npy = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy)
        archive.writestr("y.npy", npy)
    return path


@pytest.mark.parametrize(
    ("shape", "content"),
    [
        ((10**9, 10**9), b""),
        ((100_000_000,), b""),
        ((5000, 5000), bytes(1000)),
        ((40_000_000,), bytes(8)),
        ((-3, 4), b""),
        ((10**30,), b""),
        ((2, 2), bytes(64)),
    ],
)
def test_a_lying_npz_takes_no_memory(
    tmp_path: Path, shape: tuple[int, ...], content: bytes
) -> None:
    path = lying_npz(tmp_path / "a.npz", shape, content)
    with pytest.raises(InputError, match=r"a\.npz"), NpzFile(path, "data.path") as file:
        file.read("x")


def test_archives_that_are_no_npz(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    source = FileSource(path)
    generator = np.random.default_rng(0)
    np.save(tmp_path / "a.npy", np.eye(3))
    (tmp_path / "a.npy").rename(path)  # a bare array under another name
    with pytest.raises(InputError, match="not a zip archive"):
        source.sample(generator)
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("x.npy", b"x" * 1000)
        with pytest.raises(InputError, match="unusual way"):
            source.sample(generator)
    np.savez(path, x=np.eye(3), y=np.ones(3))
    encrypted = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        place = encrypted.find(signature)
        while place >= 0:
            encrypted[place + offset] |= 1
            place = encrypted.find(signature, place + 4)
    path.write_bytes(encrypted)
    with pytest.raises(InputError, match="encrypted"):
        source.sample(generator)
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(100):
            archive.writestr(f"a{number}.npy", b"")
    with pytest.raises(InputError, match=r"a\.npz"):
        source.sample(generator)
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(3000):
            archive.writestr(f"{number:050d}", b"")
    with pytest.raises(InputError, match="list of contents"):
        source.sample(generator)


def test_only_what_is_needed_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.asfortranarray(np.arange(12.0).reshape(4, 3)), np.array([1, 0, 1, 0])
    np.savez(tmp_path / "a.npz", x=x.astype(">f4"), y=y, other=np.zeros(1000))
    read: list[str] = []
    plain = NpzFile.read

    def noted(self: NpzFile, name: str) -> np.ndarray:
        read.append(name)
        return plain(self, name)

    monkeypatch.setattr(NpzFile, "read", noted)
    dataset = FileSource(tmp_path / "a.npz").sample(np.random.default_rng(0))
    assert read == ["x", "y"]
    np.testing.assert_array_equal(dataset.x, x)
    np.testing.assert_array_equal(dataset.y, [1, -1, 1, -1])


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": np.eye(3), "y": np.ones(4)}, "one label for each"),
        ({"x": np.ones(3), "y": np.ones(3)}, "a table"),
        (
            {"x": np.eye(3), "y": np.ones(3), "x_test": np.ones((2, 4)), "y_test": np.ones(2)},
            "must agree",
        ),
        ({"x": np.eye(3), "y": np.ones(3), "x_test": np.eye(3)}, "both x_test and y_test"),
        ({"x": np.eye(3, dtype=complex), "y": np.ones(3)}, "complex128"),
        ({"x": np.array([["a"]]), "y": np.ones(1)}, "<U1"),
    ],
)
def test_shapes_are_checked_before_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arrays: dict, words: str
) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    monkeypatch.setattr(NpzFile, "read", lambda *_: pytest.fail("a value was read"))
    with pytest.raises(InputError, match=words):
        FileSource(tmp_path / "a.npz").sample(np.random.default_rng(0))


# --------------------------------------------------------------------------------------- CSV


@pytest.mark.parametrize(
    "text", ["1_000", "\uff11\uff12", "\u0663", "0x10", "1e", "--1", "1 2", ""]
)
def test_what_is_no_number(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"a,y\n1.5,1\n{text},-1\n", encoding="utf-8")
    words = "where a number is needed" if text else "has no value in column 'a'; fill it in"
    with pytest.raises(InputError, match=f"line 3 of .* {words}"):
        read_text(path, "data.path")
    with pytest.raises(InputError, match="number is needed"):
        build_experiment({"network": {"m": text or "x"}}, "mine")


def test_lines_are_numbered_as_an_editor_does(tmp_path: Path) -> None:
    """A row of a quoted end of line is two lines, an empty line is one."""
    path = tmp_path / "a.csv"
    path.write_text('a,y\n\n"1.5\n",1\nx,-1\n')
    with pytest.raises(InputError, match=r"line 5 of .* 'x' where a number is needed"):
        read_text(path, "data.path")


def test_run_files_are_sorted_by_any_name() -> None:
    names = ["m=256.msrun", "m=16.msrun", "1\u00b22.msrun", "\u0663.msrun"]
    assert sorted(names, key=natural_key)[-2:] == names[1::-1]


def test_numbers_are_read_as_before(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a, y ,b\n1, -1,+2.5e-3\n\n" 3 ",1,.5\n')
    table = read_text(path, "data.path")
    np.testing.assert_array_equal(table.x, [[1, 0.0025], [3, 0.5]])
    np.testing.assert_array_equal(table.y, [-1, 1])


def test_tables_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    for text, words in (
        ("", "is empty; write a line of names"),
        ("a,b\n1,2\n", "needs one column named y"),
        ("y\n1\n", "no column except y"),
        ("a,y\n", "no rows below"),
        ("a,y\n1\n", "has 1 value, and its header 2"),
        ('a,y\n"1,1\n', "line 2 .* misplaced quotes"),
        ("a,y\n1,\0\n", "a"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=words):
            read_text(path, "data.path")
    monkeypatch.setattr("core.data.text_table.MAX_ELEMENTS", 5)
    path.write_text("a,y\n" + "1,1\n" * 6)
    with pytest.raises(InputError, match="more than 5 rows"):
        read_text(path, "data.path")
    monkeypatch.setattr("core.data.text_lines.MOST_LINE", 50)
    path.write_text("a,y\n" + "1" * 60)
    with pytest.raises(InputError, match="a line of 50"):
        read_text(path, "data.path")


def peak(code: str) -> int:
    """Return bytes by which a process grows while it runs some code, imports left out."""
    before = (
        "import resource, numpy\nfrom pathlib import Path\nfrom core.data.text_table import *\n"
    )
    before += "from core.data.files import *\nfrom core.studies.study import parse_study\n"
    before += "top = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\nstart = top()\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{before}{code}\nprint(1024 * (top() - start))"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return int(done.stdout.split()[-1])


def test_rows_take_the_memory_of_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "1,1\n2,-1\n" * 75_000)
    assert peak(f"read_text(Path({str(path)!r}), 'data.path')") < 15_000_000  # 2.4 MB of numbers


# ------------------------------------------------------------------------- idx, pickles, images


def test_an_idx_file_that_claims_more_than_it_has(tmp_path: Path) -> None:
    import gzip

    head = struct.pack(">IIII", IMAGES, 100_000, 40, 40)
    (tmp_path / "a").write_bytes(head + bytes(100))
    (tmp_path / "b.gz").write_bytes(gzip.compress(head + bytes(100)))
    for name in ("a", "b.gz"):
        with pytest.raises(InputError, match=r"cut off: it has .* claims 160000000"):
            read_idx(tmp_path / name, IMAGES)


def test_large_test_images_are_few() -> None:
    from core.data.images import Images

    pixels = np.zeros((60, 30_000), dtype=np.uint8)
    images = Images(pixels, np.arange(60) % 2, 255.0)
    import core.data.images as module

    before, module.MAX_ELEMENTS = module.MAX_ELEMENTS, 300_000
    try:
        data = Choice((0, 1), 4, "pixels").dataset(np.random.default_rng(0), images, None, "a")
    finally:
        module.MAX_ELEMENTS = before
    assert data.x_test.shape == (10, 30_000)


def test_a_pickle_that_unfolds() -> None:
    """A list of a thousand references, again and again: few bytes, and no end of values."""
    code = b"\x80\x02]q\x00(" + b"K\x01" * 1000 + b"eq\x01"
    grown = code + 20 * (b"(" + b"h\x00" * 2000 + b"e")
    with pytest.raises(PickleError, match=r"names builtins\.eval"):
        read_pickle(grown + b"cbuiltins\neval\n.")


# ------------------------------------------------------------------------------------- studies


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[network]\nm = 4\n[x]\n" + ".".join("a" * 20_000) + " = 1\n", "more than 20 parts"),
        ("[" + ".".join("a" * 20_000) + "]\n", "more than 20 parts"),
        ("d = " + "[" * 40 + "]" * 40, "nested too deeply"),
        ("d = " + "[" * 40_000, "nested too deeply|not a TOML"),
        ("[data]\nd = " + "9" * 5000, "TOML"),
        ("[data]\nd = 0x" + "f" * 5000, "64 bits"),
        ("[data]\nd = 1" + "0" * 400, "64 bits"),
        ("run = 3\n[network]\nm = 4\n[derived]\n'network.m' = 'd'\n", "run must be a table"),
        ("data = 3\n[network]\nm = 4\n[variants.a]\n'network.m' = 5\n", "data must be a table"),
        ("network = []\n[axes]\n'network.m' = [1, 2]\n", "network must be a table"),
        ('title = "a\\u0001b"\n[network]\nm = 4\n', "cannot be printed"),
        ('title = "a\\u001b[2J"\n[network]\nm = 4\n', "cannot be printed"),
        ("[network]\nm = 4\n[axes]\n'run.seed' = [" + "1," * 100_001 + "]\n", "100001 values"),
        ("[network]\nm = 4\n[axes]\n'run.seed' = [" + "1," * 90_000 + "]\n", "the value 1 twice"),
        ('[network]\nkind = "head"\nm = 4\nhidden = 10000\ndepth = 16\n', "parameters"),
    ],
)
def test_studies_that_are_refused_at_once(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        parse_study(text, "mine")
    assert len(str(caught.value)) < 800


def test_sentences_about_long_words_are_cut() -> None:
    with pytest.raises(InputError) as caught:
        parse_study(f"[network]\nm = 4\n[axes]\n'{'x' * 900_000}' = [1]\n", "mine")
    assert len(str(caught.value)) < 2_100
    assert str(caught.value).startswith("mine: axes: xxx")


def test_an_empty_title_is_the_id() -> None:
    for title in ("", " ", "\\n \\t"):
        assert parse_study(f'title = "{title}"\n[network]\nm = 4\n', "mine").title == "mine"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["factor.x=[1, 2]"], "no factor.x"),
        (["data.d=1" + "0" * 400], "must be less"),
        (["data.d=" + "9" * 5000], "data.d"),
        (["data.d=" + "[" * 5000], "data.d"),
        (
            [
                "run.seed=[" + ",".join(map(str, range(2000))) + "]",
                "data.seed=[" + ",".join(map(str, range(2000))) + "]",
            ],
            "span",
        ),
        (["network.m='1_000'"], "a number is needed"),
        (["network.m=\uff11\uff16"], "a number"),
    ],
)
def test_settings_that_are_refused(
    settings: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [part for setting in settings for part in ("--set", setting)]
    assert main(["run", FIGURE_1, "--out", str(tmp_path), *options]) == 2
    assert words in sentence(capsys)
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_too_long(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"{'x' * 230}.toml"
    path.write_text("[network]\nm = 4\n[axes]\n'data.seed' = [1111111, 2222222]\n")
    for command in (["run", str(path)], ["check", str(path)]):
        assert main([*command, "--out", str(tmp_path / "out")]) == 2
        assert "at most 240 are possible" in sentence(capsys)
    for name in ("x" * 300, "x" * 5000, "a\0b"):
        for command in (
            ["run", name],
            ["info", name],
            ["figure", name, "--out", "f.svg"],
            ["check", name],
            ["margins", name],
            ["trust", name],
            ["table", name, "--out", "x.csv"],
            ["theorems", name],
        ):
            assert main(command) == 2
            sentence(capsys)
    assert main(["run", FIGURE_1, "--set", "network.m=4", "--out", "x" * 300]) == 2
    sentence(capsys)


def test_pipes_and_devices_are_not_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    for name in (str(pipe), "/dev/zero"):
        assert main(["run", name]) == 2
        sentence(capsys)
    os.mkfifo(tmp_path / "a.sweep.json")
    assert main(["check", str(tmp_path)]) == 2
    sentence(capsys)


def test_text_of_strangers_does_not_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["info", "a\x1b[2J\nb.msrun"]) == 2
    assert "\x1b" not in sentence(capsys)


# ------------------------------------------------------------------------------------- ledgers


def ledger(folder: Path, **changes: object) -> Path:
    row = {
        "state": "done",
        "reason": "completed",
        "seconds": 1.0,
        "engine": "",
        "values": {},
        "bytes": 1,
        "worker": "",
        "digest": "",
    }
    document = {
        "format": 1,
        "study": "a",
        "size": None,
        "toml": "[network]\nm = 4\n",
        "cells": {"": row | changes},
    }
    path = folder / "a.sweep.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    "changes",
    [
        {"bytes": float("inf")},
        {"bytes": 10**400},
        {"bytes": -1},
        {"seconds": -1.0},
        {"seconds": 10**400},
        {"state": "sleeping"},
        {"state": None},
        {"values": {"a": 10**400}},
        {"values": [1]},
        {"values": {"a": None}},
        {"values": {"a": "x"}},
    ],
)
def test_ledgers_with_absurd_numbers(tmp_path: Path, changes: dict) -> None:
    read_ledger(ledger(tmp_path))
    with pytest.raises(InputError, match="cannot be read as the ledger"):
        read_ledger(ledger(tmp_path, **changes))


def test_ledgers_that_are_none(tmp_path: Path) -> None:
    path = ledger(tmp_path)
    text = path.read_text()
    for other in (
        "[" * 100_000,
        "{" * 5000,
        '{"a":' * 50_000,
        "null",
        "3",
        "[]",
        '{"format": 1}',
        "",
        "[" + "[]," * 200_000 + "[]]",
        text.replace('"a"', '"../a"'),
        text.replace('"a"', '"b"'),
        text.replace("m = 4", "m = " + "9" * 5000),
        '{"format": ' + "9" * 5000 + "}",
    ):
        path.write_text(other)
        with pytest.raises(InputError):
            read_ledger(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError):
        read_ledger(path)


def test_json_of_run_files_with_long_numbers() -> None:
    assert parse_json('{"a": 9223372036854775807}') == {"a": 2**63 - 1}
    for digits in (21, 400, 4000):
        with pytest.raises(ValueError, match="digits"):
            parse_json("1" * digits)


# ------------------------------------------------------------------------------- command lines


@pytest.mark.parametrize(
    "options",
    [
        ["--seconds", "nan"],
        ["--seconds", "inf"],
        ["--seconds", "-1"],
        ["--seconds", "1e300"],
        ["--fps", "0"],
        ["--fps", "-3"],
        ["--fps", "100000"],
    ],
)
def test_films_that_cannot_be(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.support.run_files import record

    run = record(tmp_path / "a.msrun")
    assert main(["movie", str(run), "--out", str(tmp_path / "f.gif"), *options]) == 2
    sentence(capsys)


def test_numbers_of_options() -> None:
    assert as_int("12") == 12
    for text in ("1_0", "\uff11", "9" * 30, "1.5", "x"):
        with pytest.raises(ValueError):
            as_int(text)


def shell(command: str) -> subprocess.CompletedProcess[str]:
    line = command.replace("core", f"{sys.executable} -m core", 1)
    return subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=60)


# The program, started once for several commands in a terminal of ASCII. Each command is a process
# of its own from there on, whose streams are as Python has them where a shell closed or redirected
# them. Prints what each said on standard error, and its status.
COMMANDS = """
import json, os, sys, tempfile
import core.cli.studies, core.studies.study, core.studies.tables
from core.cli.main import main

NAMES = ("stdin", "stdout", "stderr")
for case in json.loads(sys.argv[1]):
    said = tempfile.TemporaryFile()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.dup2(said.fileno(), 2)
        reader, writer = os.pipe()
        os.close(reader)
        places = {"full": os.open("/dev/full", os.O_WRONLY), "pipe": writer}
        if case["output"] in places:
            os.dup2(places[case["output"]], 1)
        for place in (writer, places["full"]):
            os.close(place)
        for number in case["closed"]:
            os.close(number)
            setattr(sys, NAMES[number], None)
            setattr(sys, f"__{NAMES[number]}__", None)
        sys.exit(main(case["command"]))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said.seek(0)
    print("status", json.dumps([status, said.read().decode()]), flush=True)
"""
UNWRITTEN = "standard output cannot be written"
OUTPUTS: tuple[tuple[str, str, list[int], int, str], ...] = (
    ("describe data", "full", [], 2, UNWRITTEN),  # more than a buffer
    ("describe run", "full", [], 2, UNWRITTEN),  # less
    ("describe data", "", [1], 2, UNWRITTEN),
    ("describe data", "pipe", [], 0, ""),
    ("describe nothing", "", [2], 2, ""),
    ("describe data", "", [0, 2], 0, ""),
)


def test_output_that_cannot_be_written(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """A full disk, a closed stream, a pipe without a reader, and letters that a terminal lacks."""
    path = tmp_path / "mine.toml"
    path.write_text('title = "na\u00efve"\n[network]\nm = 4\n', encoding="utf-8")
    cases = [
        {"command": words.split(), "output": output, "closed": closed}
        for words, output, closed, _, _ in OUTPUTS
    ]
    cases.append({"command": ["describe", str(path)], "output": "", "closed": []})
    ascii_only = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps(cases)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **ascii_only},
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("status ")]
    results = [json.loads(line.removeprefix("status ")) for line in lines]
    assert len(results) == len(cases)
    for (*case, status, said), result in zip(OUTPUTS, results, strict=False):
        with subtests.test(case=case):
            assert result[0] == status
            assert said in result[1]
            assert result[1].count("\n") == bool(said)
    assert results[-1] == [0, ""]
    assert "na\\xefve" in done.stdout


def test_a_closed_output_takes_no_file(tmp_path: Path) -> None:
    """The run file must not be opened under the number of the closed output."""
    options = "--set network.m=4 --set recording.frames=5 --set dynamics.until_log10_time=0.5"
    done = shell(f"core run {FIGURE_1} {options} --out {tmp_path} >&- 2>&-")
    assert done.returncode == 2
    from tests.support.run_files import read_all

    assert read_all(next(tmp_path.glob("*.msrun"))) >= 2


def test_the_limits_are_those_of_the_toml_module() -> None:
    assert parse_toml("a = 9223372036854775807", "mine") == {"a": 2**63 - 1}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0


def test_dots_that_are_no_key() -> None:
    dots = "." * 50
    for text in (
        f'a = "{dots}"',
        f'a = """\n{dots}\n"""',
        'a = "x.y" # ' + "e.g. " * 5,
        'a = "' + ".".join("b" * 50) + '"',
        "a" + ".b" * 19 + " = 1",
    ):
        assert "a" in parse_toml(text, "mine")
