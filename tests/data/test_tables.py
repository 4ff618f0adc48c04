"""Tables as people have them: each is read exactly, or refused with the line and the way on."""

from __future__ import annotations

import random
import re
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

from core.data.dataset import Dataset
from core.data.files import FileData
from core.data.mat import MatFile
from core.data.points import parse_points
from core.errors import InputError
from core.studies.study import parse_study
from core.sweep.plan import problems
from tests.support.mutations import damaged_bytes, damaged_text

X = [[0.25, -1.5], [0.5, 0.75], [-0.625, 2.5], [1.25, -0.0625]]
Y = [1, 1, -1, 1]
ROWS = [f"{a},{b}" for a, b in X]


def text(*lines: str, labels: list[Any] | None = None, header: str = "x1,x2,y") -> str:
    """Return the rows of X with labels at their ends, below a header."""
    rows = [f"{row},{label}" for row, label in zip(ROWS, labels or Y, strict=True)]
    return "\n".join([*lines, *([header] if header else []), *rows, ""])


def german(separator: str, header: str = "x1 x2 y") -> str:
    """Return the same with decimal commas."""
    rows = text(header="").replace(",", "\0").replace(".", ",").replace("\0", separator)
    return header.replace(" ", separator) + "\n" + rows if header else rows


def columns(*names: str, **more: list[Any]) -> str:
    """Return a table with columns a, b of X, y and others, in the order of `names` (~ is blank)."""
    known: dict[str, list[Any]] = {"a": [x[0] for x in X], "b": [x[1] for x in X], "y": Y}
    known |= more
    head = ",".join("" if name == "_" else name for name in names)
    rows = zip(*(known[name] for name in names), strict=True)
    return head + "\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n"


READ: dict[str, str | bytes] = {
    "canonical": text(),
    "tabs": text().replace(",", "\t"),
    "semicolons": text().replace(",", ";"),
    "bars": text().replace(",", "|"),
    "blanks": text().replace(",", " "),
    "aligned": text().replace(",", "    ").replace("\n", "  \n   "),
    "comma and blank": text().replace(",", ", "),
    "comma between blanks": text().replace(",", " , "),
    "comma and tab": text().replace(",", ",\t"),
    "sep= of Excel": "sep=;\n" + text().replace(",", ";"),
    "decimal commas, semicolons": german(";"),
    "decimal commas, tabs": german("\t"),
    "decimal commas, blanks": german(" "),
    "decimal commas, quoted": 'x1,x2,y\n"0,25","-1,5",1\n"0,5","0,75",1\n'
    '"-0,625","2,5",-1\n"1,25","-0,0625",1\n',
    "decimal commas, no header": german(";", header=""),
    "no header": text(header=""),
    "no header, tabs": text(header="").replace(",", "\t"),
    "no header, label first": "".join(f"{y},{row}\n" for y, row in zip(Y, ROWS, strict=True)),
    "label first": columns("y", "a", "b"),
    "label between": columns("a", "y", "b"),
    "named label": text(header="f1,f2,label"),
    "named target": text(header="f1,f2,target"),
    "named class": text(header="f1,f2,class"),
    "named Y": text(header="X1,X2,Y"),
    "named LABEL": text(header="f1,f2,LABEL"),
    "x, y and label": text(header="x,y,label"),
    "unnamed, only the last has labels": text(header="a,b,c"),
    "words": text(labels=["pos", "pos", "neg", "pos"]),
    "words, unnamed": text(labels=["pos", "pos", "neg", "pos"], header="a,b,sort"),
    "words, no header": text(labels=["pos", "pos", "neg", "pos"], header=""),
    "words of two": text(labels=['"very good"', "very good", "bad", "very good"]),
    "signs": text(labels=["+", "+", "-", "+"]),
    "True and False": text(labels=["True", "True", "False", "True"]),
    "TRUE and FALSE": text(labels=["TRUE", "TRUE", "FALSE", "TRUE"]),
    "zero and one": text(labels=[1, 1, 0, 1]),
    "one and two": text(labels=[2, 2, 1, 2]),
    "two and four": text(labels=[4, 4, 2, 4]),
    "with points": text(labels=["1.0", "1.", "-1.0", "+1"]),
    "exponents": text(labels=["1e0", "1.0E+00", "-1.0e+00", "1"]),
    "comments": text("# made with numpy.savetxt", "# x1 x2 y"),
    "percent comments": text("% by MATLAB"),
    "comments between": text().replace("\n0.5", "\n# half\n0.5"),
    "comments beside": text().replace(",1\n0.5", ",1  # first\n0.5"),
    "names in a comment": text("# x1,x2,y", header=""),
    "names in a comment, blanks": text("# x1 x2 y", header="").replace(",", " "),
    "empty lines": "\n\n" + text().replace("\n", "\n\n"),
    "rows of separators": text() + ",,\n,,\n",
    "trailing separators": text().replace("\n", ",\n"),
    "trailing separators in rows": text().replace("1\n", "1,\n"),
    "trailing separators, no header": text(header="").replace("\n", ",\n"),
    "blank column": columns("a", "_", "b", "y", _=["", "", "", ""]),
    "named blank column": columns("a", "note", "b", "y", note=["", "", "", ""]),
    "pandas index": columns("_", "a", "b", "y", _=[0, 1, 2, 3]),
    "pandas index read again": columns("Unnamed: 0", "a", "b", "y", **{"Unnamed: 0": [0, 1, 2, 3]}),
    "two pandas indices": columns(
        "_", "Unnamed: 0", "a", "b", "y", **{"_": [0, 1, 2, 3], "Unnamed: 0": [0, 1, 2, 3]}
    ),
    "index from 1": columns("index", "a", "b", "y", index=[1, 2, 3, 4]),
    "ids at the end": columns("a", "b", "y", "id", id=[1, 2, 3, 4]),
    "ids": columns("id", "a", "b", "y", id=[1, 2, 3, 4]),
    "write.table of R": '"x1" "x2" "y"\n'
    + "".join(
        f'"{k}" {row.replace(",", " ")} {y}\n' for k, row, y in zip("1234", ROWS, Y, strict=True)
    ),
    "pandas without names": columns(
        "_",
        "0",
        "1",
        "2",
        **{"_": [0, 1, 2, 3], "0": [x[0] for x in X], "1": [x[1] for x in X], "2": Y},
    ),
    "numbers as names": columns(
        "0", "1", "label", **{"0": [x[0] for x in X], "1": [x[1] for x in X], "label": Y}
    ),
    "quotes": text().replace(",", '","').replace("\n", '"\n"')[:-1].join(['"', ""]),
    "single quotes": text().replace("0.25", "'0.25'"),
    "minus of a text": text().replace("-", "\u2212"),
    "windows": text().replace("\n", "\r\n"),
    "old mac": text().replace("\n", "\r"),
    "no end of line": text().rstrip(),
    "UTF-8 with a mark": text().encode("utf-8-sig"),
    "UTF-16": text().encode("utf-16"),
    "UTF-16 big": b"\xfe\xff" + text().encode("utf-16-be"),
    "UTF-16 without a mark": text().encode("utf-16-le"),
    "UTF-32": text().encode("utf-32"),
    "names with umlauts": text(header="gr\u00f6\u00dfe,h\u00f6he,y"),
}
ZERO_ONE_TWO = {
    "1 to 3": text(labels=[1, 2, 3, 1]),
    "0 to 2": text(labels=[0, 1, 2, 0]),
    "three words": text(labels=["ape", "bee", "cat", "ape"]),
}


def read(path: Path, content: str | bytes, **settings: Any) -> Dataset:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return sample(path, **settings)


def sample(path: Path, **settings: Any) -> Dataset:
    data = FileData(path=str(path), **settings).distribution(None)
    return data.sample(np.random.default_rng(0))


def test_tables_are_read_exactly(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, content in (READ | ZERO_ONE_TWO).items():
        suffix = {"tabs": ".tsv", "blanks": ".txt", "aligned": ".DAT"}.get(name, ".csv")
        with subtests.test(name=name):
            data = read(tmp_path / f"a{suffix}", content)
            assert data.x.tolist() == X
            assert data.y.tolist() == ([0, 1, 2, 0] if name in ZERO_ONE_TWO else Y)
            assert data.classes == (3 if name in ZERO_ONE_TWO else 2)


def test_the_clipboard_is_read_as_files_are(subtests: pytest.Subtests) -> None:
    points = tuple((*x, float(y)) for x, y in zip(X, Y, strict=True))
    for name, content in READ.items():
        if isinstance(content, str):
            with subtests.test(name=name):
                assert parse_points(content).points == points


SETTINGS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    (columns("a", "b", "y").replace("y", "sort"), {"label": "sort"}),
    (columns("a", "y", "b").replace("y", "2"), {"label": "2", "header": True}),
    (columns("a", "b", "label", "y", label=[7, 7, 3, 7]).replace("label", "bb"), {"label": "y"}),
    (columns("y", "a", "b").replace("y", "kind"), {"label": "first"}),
    (columns("a", "b", "y").replace("y", "kind"), {"label": "last"}),
    (columns("a", "y", "b").replace("y", "kind"), {"label": 2}),
    (text(header=""), {"label": "3", "header": False}),
    (text(header="0,1,2"), {"label": "last", "header": True}),
)

REFUSED: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "is empty; write a line of names, such as x1,x2,y, and"),
    "comments only": ("# nothing\n", "is empty; write"),
    "header only": ("x1,x2,y\n", "has no rows below its header; add a line"),
    "no coordinates": ("y\n1\n-1\n", "has no column except y; add the coordinates."),
    "missing": (
        text().replace("0.75", ""),
        "line 3 of {path} has no value in column 'x2'; fill it in, or delete the line.",
    ),
    "NA": (text().replace("0.75", "NA"), "line 3 of {path} has no value (NA) in column 'x2'"),
    "nan": (text().replace("0.75", "nan"), "line 3 of {path} has no value (nan) in column 'x2'"),
    "question mark": (text().replace("0.75", "?"), "line 3 of {path} has no value (?)"),
    "missing in the first row": (
        text().replace("0.25", ""),
        "line 2 of {path} has no value in column 'x1', and line 3 has '0.5'",
    ),
    "infinite": (text().replace("0.75", "inf"), "line 3 of {path} has 'inf' in column 'x2';"),
    "too large": (text().replace("0.75", "1e999"), "line 3 of {path} has '1e999' in column 'x2'"),
    "missing label": (text(labels=[1, "", -1, 1]), "line 3 of {path} has no label; fill it in,"),
    "label NA": (text(labels=[1, "NA", -1, 1]), "line 3 of {path} has the label 'NA', which"),
    "thousands": (
        text().replace("0.75", '"1,257.30"'),
        "line 3 of {path} has '1,257.30', a number with thousands separators; write 1257.30, or",
    ),
    "thousands, not quoted": (
        text().replace("0.75", "1,257.30"),
        "line 3 of {path} has 4 values, and its header 3; check its separators, and that no number",
    ),
    "thousands, no header": (
        "1,257.30,-0.13,1\n6,404.23,0.10,1\n5,356.69,0.36,-1\n",
        "line 1 of {path} has '1,257.30,-0.13,1', whose commas may be thousands separators; "
        "separate",
    ),
    "thousands, last columns": (
        "-0.13,1,257.30\n0.10,6,404.23\n0.36,5,356.69\n",
        "line 1 of {path} has '-0.13,1,257.30', whose commas may be thousands separators; separate",
    ),
    "thousands of points": (
        german(";").replace("0,75", "1.000,5"),
        "line 3 of {path} has '1.000,5', a number with thousands separators; write 1000.5, or",
    ),
    "thousands of blanks": (
        german(";").replace("0,75", "1 000,5"),
        "line 3 of {path} has '1 000,5', a number with thousands separators; write 1000.5",
    ),
    "thousands or decimals": (
        "a;b;y\n1,257;2,640;1\n3,104;1,200;-1\n",
        "line 2 of {path} has '1,257', whose comma may be a decimal comma or a thousands "
        "separator; write 1.257 or 1257.",
    ),
    "thousands or decimals, points": (
        "a;b;y\n1.257;2;1\n3.104;1;-1\n",
        "line 2 of {path} has '1.257', whose point may be a decimal point or a thousands separator",
    ),
    "thousands beside points": (
        'a,b,y\n"1,257",0.5,1\n2,0.25,-1\n',
        "line 2 of {path} has '1,257'",
    ),
    "points and commas": (
        german(";").replace("2,5", "2.5"),
        "line 4 of {path} has '2.5' and line 2 has '0,25': a decimal point and a decimal comma",
    ),
    "decimal commas between commas": (german(","), "has 5 values, and its header 3"),
    "decimal commas between commas, no header": (
        german(",", header=""),
        "has '-0' between commas, which may be decimal commas; separate the columns by semicolons",
    ),
    "half labels": (
        text(labels=[0.5, 1, -1, 1]),
        "line 2 of {path} has the label '0.5'; labels are whole numbers or words, and for "
        'numeric targets set data.targets = "real"',
    ),
    "labels with a gap": (text(labels=[0, 1, 3, 1]), "line 4 of {path} has the class number 3 and"),
    "minus one, zero, one": (
        text(labels=[0, 1, -1, 1]),
        "line 2 of {path} has the label 0; labels",
    ),
    "one class": (
        text(labels=[1, 1, 1, 1]),
        "line 2 of {path} has only the label 1; a study needs both classes",
    ),
    "one word": (text(labels=["a"] * 4), "has only the label 'a'; two classes are needed: add"),
    "words and numbers": (
        text(labels=["cat", "cat", 1, "cat"]),
        "line 4 of {path} has the label '1' and line 2 'cat'; labels are numbers or",
    ),
    "capitals": (text(labels=["Cat", "dog", "cat", "dog"]), "line 4 of {path} has labels that"),
    "word of its own in each row": (
        text(labels=["a1", "b2", "c3", "d4"]),
        "has a different word in every row of its label column, such as 'a1'; name the column with",
    ),
    "names before labels": (
        "ann,0.5,1.5,1\nbob,0.25,2.5,-1\nann,0.75,3.5,1\n",
        "needs one column named y for the labels; columns 1 and 4 are both candidates; name the "
        "column",
    ),
    "words in the middle": (
        columns("a", "s", "b", s=["p", "q", "p", "q"]),
        "has words in column 's' alone, and it is neither first nor last; name the column with",
    ),
    "y beside x, and a group": (
        columns("x", "y", "group", x=[0.5, 0, 1, 1], group=[0, 1, 0, 1]),
        "needs one column named y for the labels; columns 'y' and 'group' are both candidates; "
        "name the",
    ),
    "numbers of rows": (
        columns("row", "a", "b", "y", row=[1, 2, 3, 4]),
        "has a column 'row' that counts 1, 2, ... as row numbers do; delete the column, or give it",
    ),
    "two labels": (
        columns("a", "label", "class", label=Y, **{"class": Y}),
        "has several columns named like labels, 'label', 'class'; name the column",
    ),
    "first and last": (
        "1,0.5,0\n0,0.25,1\n1,0.75,0\n0,0.5,1\n",
        "the values of columns 1, 3 may all be labels; name the column with data.label",
    ),
    "no labels": (
        "0.5,0.25\n0.75,0.125\n",
        "it has no header, and no column looks like labels; name the column with data.label = "
        '"NAME", "first", "last" or its number from 1',
    ),
    "unnamed in the middle": (
        columns("a", "y", "b").replace("y", "m"),
        "only column 'm' looks like labels, and it is neither first nor last",
    ),
    "one-hot": (
        columns("a", "b", "y_0", "y_1", y_0=[0, 0, 1, 0], y_1=[1, 1, 0, 1]),
        "the values of columns 'y_0', 'y_1' may all be labels",
    ),
    "unknown label": (text(), "has no column 'sort' for data.label; allowed are: x1, x2, y."),
    "shuffled index": (
        columns("_", "a", "b", "y", _=[3, 0, 2, 1]),
        "line 2 of {path} has '3' in column 1 (without a name), a column for row numbers 0, 1, "
        "...,",
    ),
    "index of words": (columns("_", "a", "b", "y", _=[*"pqrs"]), "line 2 of {path} has 'p' in"),
    "no name": (
        columns("a", "_", "b", "y", _=[0.5, 2, 1, 1]),
        "line 2 of {path} has '0.5' in column 2, which has no name; name it, or delete the column.",
    ),
    "row numbers without a header": (
        "".join(f"{k},{row},{y}\n" for k, (row, y) in enumerate(zip(ROWS, Y, strict=True))),
        "has no header, and its first column counts 0, 1, ... as row numbers do; delete the column",
    ),
    "column numbers": (text(header="0,1,2"), "line 1 of {path} may be column numbers or a row of"),
    "header with a number": (text(header="x1,2.5,kind"), "line 1 of {path} has numbers and 'x1'"),
    "a column of words beside labels": (
        columns("a", "colour", "y", colour=["red", "blue", "red", "red"]),
        "line 2 of {path} has 'red' where a number is needed in column 'colour'; only the label "
        "column may have words; write a number, code words as 0 and 1, or delete the column.",
    ),
    "two columns of words": (
        columns("a", "colour", "shape", colour=[*"rgrg"], shape=[*"osso"]),
        "line 2 of {path} has words in columns 'colour', 'shape', such as 'r'; only the label "
        'column may have words: name the column with data.label = "NAME", "first", "last" or its '
        "number from 1, or call it y in the header, and code other words as 0 and 1, or delete "
        "their columns.",
    ),
    "columns of words alone": (
        "colour,shape\nred,round\nblue,square\n",
        "line 2 of {path} has words in columns 'colour', 'shape', such as 'red'; only",
    ),
    "units below the names": (
        text().replace("y\n", "y\ncm,kg,\n"),
        "line 2 of {path} has no label",
    ),
    "short row": (text().replace("0.75,", ""), "line 3 of {path} has 2 values, and its header 3;"),
    "title": ("My data\n" + text(), "has 3 values, and its header 1"),
    "percent": (text().replace("0.75", "75%"), "line 3 of {path} has '75%' where a number is"),
    "date": (text().replace("0.75", "2026-11-26"), "line 3 of {path} has '2026-11-26' where a"),
    "libsvm": ("1 1:0.5 2:0.25\n-1 1:0.75 2:0.5\n", "line 1 of {path} has"),
    "quote": (text().replace("0.75", '"0.75'), "line 5 of {path} has misplaced quotes"),
    "Latin-1": (text(header="h\u00f6he,b,y").encode("latin-1"), "line 1 of {path} has bytes that"),
    "UTF-16 in pieces": (b"\xff\xfe\x00", "is not a readable text file"),
    "zip": (b"PK\3\4\x14\0\6\0\x08\0\0\0!\0b\xee\x9dh^\1", "{path} has"),
}


REMEDY = re.compile(
    r"[;:] (?:\w+ ){0,4}?(add|allowed are|call|"
    r"check|code|correct|delete|fill|give|keep|name|remove|rename|"
    r"renumber|save|separate|set|spell|use|write)\b[^;]*\.$"
)


def has_remedy(sentence: str) -> bool:
    """Return True if the last clause of a sentence says what to do."""
    return REMEDY.search(sentence) is not None


def test_a_sentence_without_a_remedy_is_seen() -> None:
    assert not has_remedy("line 2 of a has 'red' where a number is needed.")
    assert not has_remedy("data.path: a is empty; write something; or not.")
    assert has_remedy("line 2 of a has no label; fill it in, or delete the line.")


def test_columns_are_named_by_settings(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for content, settings in SETTINGS:
        with subtests.test(content=content, settings=settings):
            data = read(tmp_path / "a.csv", content, **settings)
            assert data.x[:, :2].tolist() == X
            assert data.y.tolist() == Y


def test_what_is_wrong_or_ambiguous_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    path = tmp_path / "a.txt"
    for name, (content, words) in REFUSED.items():
        label = "sort" if name == "unknown label" else None
        with subtests.test(name=name):
            with pytest.raises(InputError) as caught:
                read(path, content, label=label)
            assert words.format(path=path) in caught.value.sentence
            assert caught.value.sentence.startswith("data.path: ")
            assert has_remedy(caught.value.sentence), caught.value.sentence


# -------------------------------------------------------------------------------------- arrays

A, B = np.array(X), np.array(Y)
ONE_HOT = np.eye(2)[(B + 1) // 2]
ARRAYS: dict[str, dict[str, Any]] = {
    "x y": {"x": A, "y": B},
    "X y": {"X": A, "y": B},
    "X Y": {"X": A, "Y": B},
    "column": {"x": A, "y": B[:, None]},
    "row": {"x": A, "y": B[None, :]},
    "one-hot": {"x": A, "y": ONE_HOT},
    "truths": {"x": A, "y": B > 0},
    "one and two": {"x": A, "y": (B + 3) // 2},
    "train": {"X_train": A, "y_train": B},
    "train and test": {"X_train": A, "y_train": B, "X_test": A, "y_test": B},
    "train and test columns": {"x": A, "y": B[:, None], "x_test": A, "y_test": B[:, None]},
    "data and labels": {"data": A, "labels": B},
    "float32": {"X": A.astype("f4"), "y": B.astype("f4")},
    "others beside": {"x": A, "y": B, "X": A.T, "w": np.zeros(7)},
}
WRONG_ARRAYS: dict[str, tuple[dict[str, Any], str]] = {
    "no labels": ({"X": A}, "has no array y; "),
    "two inputs": (
        {"X": A, "data": A, "y": B},
        "has the arrays X and data, either of which may be x",
    ),
    "transposed": ({"X": A.T, "y": B}, "one label for each of the 2 rows of X"),
    "not one-hot": ({"x": A, "y": ONE_HOT + 1.0}, "row 0, counted from 0, is not one-hot"),
    "half labels": ({"x": A, "y": B / 2}, "y in {path} has the label -0.5; labels must be"),
    "test alone": ({"x": A, "y": B, "X_test": A}, "needs both x_test and y_test, or neither"),
    "foreign test label": (
        {"x": A, "y": (B + 3) // 2, "x_test": A, "y_test": [1, 2, 3, 1]},
        "y_test in {path} has the label 3; the training labels are 1, 2; use the",
    ),
}


def check_arrays(data: Dataset, arrays: Mapping[str, Any]) -> None:
    assert data.x.tolist() == X
    assert data.y.tolist() == Y
    assert (data.y_test is not None) == any("test" in name for name in arrays)
    if data.x_test is not None and data.y_test is not None:
        assert data.x_test.tolist() == X
        assert data.y_test.tolist() == Y


def test_arrays_are_read_exactly(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, arrays in ARRAYS.items():
        for kind in ("savez", "savez_compressed", "mat", "mat compressed"):
            with subtests.test(name=name, kind=kind):
                if kind.startswith("mat"):
                    path = tmp_path / "a.mat"
                    savemat(path, arrays, do_compression=kind != "mat")
                else:
                    path = tmp_path / "a.npz"
                    getattr(np, kind)(path, **arrays)
                data = sample(path)
                check_arrays(data, arrays)
                assert data.note.endswith("not read: X, w.") == (name == "others beside")
    for name, (arrays, words) in WRONG_ARRAYS.items():
        for path in (tmp_path / "a.npz", tmp_path / "a.mat"):
            with subtests.test(name=name, path=path):
                np.savez(path, **arrays) if path.suffix == ".npz" else savemat(path, arrays)
                with pytest.raises(InputError) as caught:
                    sample(path)
                assert words.format(path=path) in caught.value.sentence
                assert has_remedy(caught.value.sentence), caught.value.sentence


def test_npy_files_are_read_in_pairs(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for number, (x, y, test) in enumerate(
        (
            ("x", "y", ()),
            ("X", "y", ()),
            ("X", "Y", ("X_test", "Y_test")),
            ("X_train", "y_train", ("X_test", "y_test")),
            ("iris-x", "iris-y", ()),
            ("data_x.v2", "data_y.v2", ()),
            ("features", "labels", ()),
            ("data", "target", ()),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, array in zip((x, y, *test), (A, B[:, None], A, B), strict=False):
            np.save(folder / f"{name}.npy", array)
        with subtests.test(x=x):
            check_arrays(sample(folder / f"{x}.npy"), test)
        if x != "X" or y != "y":
            continue
        with pytest.raises(
            InputError, match=r"holds labels, by its name; give the file of the inpu"
        ):
            sample(folder / "y.npy")
        (folder / "y.npy").unlink()
        with pytest.raises(
            InputError, match=r"needs a file of labels next to it.*y\.npy is missing"
        ):
            sample(folder / "X.npy")
        np.save(folder / "X.npy", np.c_[A, B])
        check_arrays(sample(folder / "X.npy", label="last"), ())
        np.save(folder / "X.npy", np.array([[1, None]], dtype=object))
        with pytest.raises(InputError, match="would have to be unpickled, which is never done"):
            sample(folder / "X.npy", label="last")


def test_other_matrices_are_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    path = tmp_path / "a.mat"
    words = np.array(["cat", "dog"], dtype=object)
    for y, kind in ((words, "cell"), ("ab", "char"), ({"a": 1}, "struct"), (B * 1j, "complex")):
        with subtests.test(kind=kind):
            savemat(path, {"X": A, "y": y})
            with pytest.raises(InputError, match=f"array y in .* is of class {kind}"):
                sample(path)
    savemat(path, {"X": A, "y": B}, format="4")
    with pytest.raises(InputError, match="it is not a file of version 5"):
        sample(path)
    path.write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(200))
    with pytest.raises(InputError, match=r'it is of version 7.3\); save it with save\(..., "-v7"'):
        sample(path)


def test_arrays_that_are_not_needed_may_be_of_words(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, X=A, y=B, names=np.array(["a", None], dtype=object), units=["cm", "kg"])
    check_arrays(sample(path), ())
    np.savez(path, X=A, y=["a", "b", "a", "b"])
    with pytest.raises(InputError, match=r"array y in .* has type <U1; save it as numbers"):
        sample(path)


def lying_mat(rows: int, stored: int, packed: bool) -> bytes:
    """Return a .mat file whose matrix X says that it has rows, and `stored` bytes of values."""
    flags = struct.pack("<4I", 6, 8, 6, 0)
    sizes = struct.pack("<2I2i", 5, 8, rows, 2)
    name = struct.pack("<2I8s", 1, 1, b"X")
    body = flags + sizes + name + struct.pack("<2I", 9, stored) + bytes(64)
    matrix = struct.pack("<2I", 14, len(body)) + body
    if packed:
        small = zlib.compress(matrix)
        matrix = struct.pack("<2I", 15, len(small)) + small
    return b"MATLAB 5.0".ljust(124) + b"\0\1IM" + matrix * 2


def test_a_lying_mat_takes_no_memory(tmp_path: Path, subtests: pytest.Subtests) -> None:
    path = tmp_path / "a.mat"
    for rows, stored in ((4, 2**31), (10**7, 16 * 10**7), (2**31 - 1, 64), (-4, 64), (40, 64)):
        for packed in (False, True):
            with subtests.test(rows=rows, stored=stored, packed=packed):
                path.write_bytes(lying_mat(rows, stored, packed))
                tracemalloc.start()
                with pytest.raises(InputError, match=r"a\.mat"), MatFile(path, "it") as file:
                    file.read("X")
                assert tracemalloc.get_traced_memory()[1] < 2_000_000
                tracemalloc.stop()


def test_damaged_tables_are_read_or_refused(tmp_path: Path) -> None:
    """No other error than a sentence, no number that is not finite, and no memory to speak of."""
    savemat(tmp_path / "a.mat", {"X": A, "y": B}, do_compression=True)
    np.save(tmp_path / "X.npy", A)
    np.save(tmp_path / "y.npy", B)
    texts = [content.encode() if isinstance(content, str) else content for content in READ.values()]
    whole = {"a.csv": texts, "a.mat": [(tmp_path / "a.mat").read_bytes()] * 20}
    whole["X.npy"] = [(tmp_path / "X.npy").read_bytes()] * 20
    tracemalloc.start()
    counts = {"read": 0, "refused": 0}
    for name, contents in whole.items():
        for seed, content in enumerate(contents):
            chance = random.Random(seed)
            damage = damaged_text if name == "a.csv" and seed % 4 else damaged_bytes
            (tmp_path / name).write_bytes(damage(content, chance))
            try:
                data = sample(tmp_path / name)
            except InputError as error:
                assert len(error.sentence) < 700
                counts["refused"] += 1
            else:
                assert np.isfinite(data.x).all()
                counts["read"] += 1
                assert name != "a.mat" or data.x.tolist() == X  # it has a checksum
    assert min(counts.values()) > 5, counts
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()


def test_an_npz_with_a_header_that_does_not_end_is_refused(tmp_path: Path) -> None:
    """NumPy's fallback for old headers raises tokenize.TokenError, which nothing caught."""
    np.save(tmp_path / "x.npy", A)
    broken = (tmp_path / "x.npy").read_bytes().replace(b"), }", b"((( ")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", broken)
    with pytest.raises(InputError, match="is not a readable NPZ file"):
        sample(tmp_path / "a.npz")


TARGET = "target column 'y' (last)."


def test_real_targets_go_through_the_same_reader(tmp_path: Path) -> None:
    path, targets = tmp_path / "a.csv", [0.5, -7.25, 3.0, 1e-3]
    data = read(path, text(labels=targets, header="a,b,target"), targets="real")
    assert data.y.tolist() == targets
    data = read(path, german(";").replace(";1\n", ";1,5\n"), targets="real")
    assert data.y.tolist() == [1.5, 1.5, -1.0, 1.5]
    assert data.note == f"columns are separated by semicolons; decimal commas; {TARGET}"
    data = read(path, text(labels=targets, header=""), targets="real", label="last")
    assert data.x.tolist() == X
    for header, words in (("", "it has no header"), ("a,b,c", "its header has a, b, c")):
        with pytest.raises(InputError, match=rf"needs one column named y for the targets; {words}"):
            read(path, text(labels=targets, header=header), targets="real")
    with pytest.raises(InputError, match=r"line 3 of .* has no value in column 'y'"):
        read(path, text(labels=[1, "", 2, 3]), targets="real")


def test_what_was_understood_is_said_and_kept(tmp_path: Path) -> None:
    """A run has labels -1 and +1 only: the words they stand for are nowhere else."""
    note = "label column 3 (last); neg is \u22121, pos is +1."
    for name, labels, header in (
        ("guess", ["pos", "pos", "neg", "pos"], ""),
        ("plain", Y, "a,b,y"),
    ):
        (tmp_path / "a.csv").write_text(text(labels=labels, header=header))
        source = '[data]\nkind = "file"\npath = "a.csv"\n[network]\nm = 2\n'
        study = parse_study(f'{source}[axes]\n"run.seed" = [0, 1]\n', name, tmp_path)
        lines: list[str] = []
        kept = [
            problem.experiment.data.to_file_values() for problem in problems(study, lines.append)
        ]
        said = "".join(lines)
        if name == "plain":
            assert said == ""
            assert not {"understood", "label", "header"} & kept[0].keys()
        else:
            assert said == f"Understood: no header; {note}"
            assert kept[0]["understood"] == f"no header; {note}"
            assert parse_points(text(labels=labels, header="")).note == said
