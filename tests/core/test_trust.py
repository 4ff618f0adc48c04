"""Code of strangers: what is shown before it is trusted is what runs, in runs and in studies."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from core import trust
from core.cli.main import main
from core.errors import InputError
from core.problem.problem import resolve_problem
from core.studies.code import check_code, codes_of
from core.studies.study import load_study, parse_study
from tests.support.run_changes import experiment
from tests.support.run_files import record, tamper

GOOD = """import torch

# The line of an author with an accent: Poincar\u00e9, and x -> <a, relu(V x)>.
def initial(generator, m, d, k):
\treturn {"V": generator.standard_normal((m, d)), "w": generator.standard_normal(m)}


def outputs(parameters, x):
    return torch.tanh(x @ parameters["V"].T) @ parameters["w"]  # "\u00e9"
"""


@pytest.fixture(autouse=True)
def own_trust_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "trusted"
    monkeypatch.setattr(trust, "trust_folder", lambda: folder)
    return folder


HIDDEN = {
    "a lone carriage return": "# harmless \rimport os\n",
    "a form feed": "if True:\n    pass\n\x0cimport os\n",
    "a vertical tab": "x = 1 \x0b\n",
    "a zero": "x = 1\x00\n",
    "an escape": "# \x1b[2K\x1b[1Aimport os\n",
    "a backspace": "import os\x08\x08\x08\x08\x08\x08\x08\x08\x08\n",
    "delete": "x = 1\x7f\n",
    "the next line of C1": "# x\x85import os\n",
}
ODD = {
    "a line separator": "# x\u2028import os\n",
    "an override of direction": "x = 1  # \u202e }\u2066 if admin\u2069 \u2066 begin\n",
    "an isolate": 's = "user\u2066 # \u2069"\n',
    "letters from right to left": 's = "\u05d0\u05d1" # \u05d2\n',
    "a letter without width": "# a\u200bb\n",
    "a byte order mark": "\ufeffx = 1\n",
    "a soft hyphen": "# a\u00adb\n",
    "a stroke over a letter": "# a\u0336\n",
    "a private character": "# \ue000\n",
    "a homoglyph import": "import \u043es\n",
    "a name that Python makes another": "\uff45val('1')\n",
    "a space that is none": "x\u00a0= 1\n",
    "a homoglyph in a formatted string": "s = f'{\uff45val(1)}'\n",
    "a very long line": "x = 1;" + " # " + "x" * 300 + "\n",
    "code far to the right": "x = 1;" + " " * 60 + "import os\n",
    "many tabs": "x = 1;" + "\t" * 20 + "import os\n",
    "code far below": "x = 1\n" + "\n" * 100 + "import os\n",
}


def test_plain_code_is_shown() -> None:
    trust.check_shown(GOOD, "a")
    trust.check_shown("", "a")


@pytest.mark.parametrize("name", [*HIDDEN, *ODD])
def test_code_that_does_not_look_as_it_runs(name: str) -> None:
    code = GOOD + (HIDDEN | ODD)[name]
    with pytest.raises(InputError, match=r"line [0-9]+ of the Python code"):
        trust.check_shown(code, "a.msrun")
    if name in HIDDEN:
        with pytest.raises(InputError, match="control character U"):
            trust.check_characters(code, "a.msrun")
    else:
        trust.check_characters(code, "a.msrun")


def with_code(path: Path, code: str) -> Path:
    record(path)
    return tamper(path, experiment(network={"kind": "custom", "m": 4, "code": code}))


@pytest.mark.parametrize("name", ["a lone carriage return", "a form feed"])
def test_what_is_hidden_is_neither_shown_nor_trusted(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str], own_trust_folder: Path
) -> None:
    path = with_code(tmp_path / "a.msrun", GOOD + HIDDEN[name])
    for arguments in (["trust", str(path)], ["trust", str(path), "--yes"]):
        assert main(arguments) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "control character" in err
    assert not own_trust_folder.exists()


def test_what_is_shown_is_the_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = with_code(tmp_path / "a.msrun", GOOD)
    assert main(["trust", str(path)]) == 0
    assert capsys.readouterr().out.startswith(GOOD)
    assert not trust.is_trusted(GOOD)
    assert main(["trust", str(path), "--yes"]) == 0
    assert trust.is_trusted(GOOD)


# ------------------------------------------------------------------------------- study files


def study_with(code: str) -> str:
    return f'[data]\nd = 4\nn = 10\n[network]\nkind = "custom"\nm = 3\ncode = {json.dumps(code)}\n'


def test_a_study_with_code_asks_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marker = tmp_path / "ran"
    code = f"import pathlib; pathlib.Path({str(marker)!r}).touch()\n{GOOD}"
    path = tmp_path / "mine.toml"
    path.write_text(study_with(code))
    for command in (
        ["run", str(path), "--out", str(tmp_path / "out")],
        ["margins", str(path)],
        ["figure", str(path), "--out", str(tmp_path / "f.svg")],
        ["check", str(path)],
        ["cost", str(path)],
    ):
        assert main(command) == 2
        assert "core trust" in capsys.readouterr().err
    assert not marker.exists()
    study = load_study(str(path))
    with pytest.raises(InputError, match="core trust"):
        check_code(study, str(path))
    with pytest.raises(InputError, match="core trust"):
        resolve_problem(study.cells()[0].experiment)
    assert main(["trust", str(path)]) == 0
    assert code.splitlines()[0] in capsys.readouterr().out
    assert not marker.exists()
    assert main(["trust", str(path), "--yes"]) == 0
    check_code(study, str(path))
    resolve_problem(study.cells()[0].experiment)
    assert marker.exists()


def test_code_in_every_corner_of_a_study() -> None:
    text = study_with("a = 1") + (
        '[axes]\n"network.code" = ["b = 1", "c = 1"]\n'
        '[sizes.quick]\n"network.code" = ["d = 1"]\n[sizes.paper]\n"network.code" = "e = 1"\n'
    )
    found = codes_of(parse_study(text, "mine"))
    assert set(found) == {"b = 1", "c = 1", "d = 1", "e = 1"}
    variant = study_with("a = 1") + '[variants.one]\n"network.code" = "f = 1"\n'
    assert set(codes_of(parse_study(variant, "mine"))) == {"a = 1", "f = 1"}


def test_a_file_of_ones_own_with_control_characters(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_bytes(GOOD.encode() + b"\x0cx = 1\n")
    text = '[data]\nd = 4\nn = 10\n[network]\nkind = "custom"\nm = 3\npath = "net.py"\n'
    study = parse_study(text, "mine", tmp_path)
    with pytest.raises(InputError, match="control character"):
        resolve_problem(study.cells()[0].experiment, study.folder)
    (tmp_path / "net.py").write_bytes(GOOD.replace("\n", "\r\n").encode())
    trust.trust(GOOD)
    assert (
        resolve_problem(study.cells()[0].experiment, study.folder).experiment.network.code == GOOD
    )


def test_a_refusal_carries_the_code_and_who_asks(tmp_path: Path) -> None:
    study = tmp_path / "a.toml"
    (tmp_path / "net.py").write_text(GOOD)
    study.write_text('[network]\nkind = "custom"\nm = 3\npath = "net.py"\n')
    with pytest.raises(trust.UntrustedCodeError) as caught:
        check_code(load_study(str(study)), str(study))
    error = pickle.loads(pickle.dumps(caught.value))  # as it leaves a process of a sweep
    for one in (caught.value, error):
        assert (one.code, one.file, one.asker) == (GOOD, str(tmp_path / "net.py"), str(study))
    assert error.sentence == caught.value.sentence
