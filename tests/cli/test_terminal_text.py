"""Names and texts of strangers in copied commands, saved scripts and printed lines."""

from __future__ import annotations

import ast
import io
import shutil
import subprocess
from pathlib import Path

import pytest

from app.export.commands import command_of
from app.export.jobs import DataJob
from app.export.pictures import Exportable
from app.shell.record import RecordEntry, script
from app.shell.show_server import one_line
from core.cli.main import main
from core.cli.output import UNKNOWN, open_streams
from core.errors import InputError
from core.numbers import whole_text
from core.terminal.text import escape_controls, is_steering, join_words
from tests.support.run_changes import meta
from tests.support.run_files import record, tamper

NAMES = [
    "plain.msrun",
    "a b.msrun",
    "\x03\ntouch ran\n.msrun",
    "\x1b]0;title\x07\x1b[2J.msrun",
    'it\'s "quoted" `touch ran` $(touch ran) $HOME.msrun',
    "'; touch ran; '\n.msrun",
    "\\'; touch ran; \x03.msrun",
    "back\\slash\\n\\003.msrun",
    "$'\\n'\x01.msrun",
    "-x.msrun",
    "--out=ran.msrun",
    "~ * ? [a] {a,b} !x #.msrun",
    "tab\tand\rreturn.msrun",
    "\u202egnp.exe\u2066.msrun",
    "\u2028line.msrun",
    "c1\x9b2J.msrun",
    "caf\u00e9 \u65e5\u672c \U0001f600.msrun",
    "a;touch ran|touch ran&touch ran>ran<ran.msrun",
    "bytes\udcff\x7f.msrun",
]
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
# Stands for `python -m core`, and prints its arguments.
PROGRAM = 'python() { shift 2; printf "%s\\0" "$@"; }\n'


def run_by_bash(line: str, folder: Path) -> list[str]:
    place = folder / "sandbox"
    place.mkdir()
    done = subprocess.run(
        ["bash", "-c", PROGRAM + line], cwd=place, capture_output=True, check=True, timeout=60
    )
    assert done.stderr == b""
    assert list(place.iterdir()) == []
    return [word.decode("utf-8", "surrogateescape") for word in done.stdout.split(b"\0")][:-1]


@needs_bash
def test_a_copied_command_names_exactly_these_files(tmp_path: Path) -> None:
    runs = tuple(map(Path, NAMES))
    line = command_of(DataJob(runs, tuple(Path(f"{name}.csv") for name in NAMES)), Exportable())
    assert not [character for character in line if is_steering(character) and character != "\n"]
    assert line.count("\n") == len(NAMES) - 1
    words = run_by_bash(line, tmp_path)
    expected = []
    for name in NAMES:
        shown = f"./{name}" if name.startswith("-") else name
        expected += ["table", shown, "--out", f"{shown}.csv"]
    assert words == expected


@needs_bash
def test_a_saved_script_names_exactly_these_files(tmp_path: Path) -> None:
    entries = [RecordEntry("10:00:00", f"Open {name}", ("info", f"./{name}")) for name in NAMES]
    text, _ = script(entries, "\x1b[2JA session", "mine")
    assert not [character for character in text if is_steering(character) and character != "\n"]
    assert text.startswith("#!/usr/bin/env bash\n")
    body = text.replace('cd "$(dirname "$0")"', "")
    words = run_by_bash(body, tmp_path)
    assert words == [word for name in NAMES for word in ("info", f"./{name}")]
    assert script(entries[:2], "A session", "mine")[0].startswith("#!/bin/sh\n")


def test_a_copied_command_on_windows_is_safe_or_refused() -> None:
    line = join_words(["figure", "C:\\a & b\\it's.msrun", "--curves", "a,b", "D:\\"], windows=True)
    assert line == 'figure "C:\\a & b\\it\'s.msrun" --curves "a,b" D:\\'
    assert join_words(["a b\\"], windows=True) == '"a b\\\\"'
    for name in ("%PATH%", "$HOME", "a`b", "a!b", 'a"b', "a\u201db", "a\n", "a\x03", "\u202e"):
        with pytest.raises(InputError, match="unsafe on a command line"):
            join_words([name], windows=True)
    with pytest.raises(InputError, match="unsafe on a command line"):
        join_words(["a\0b"], windows=False)


def test_commands_print_no_control_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "\x1b]0;x\x07\n\u202e\x9b2J"
    run, study = f"{name}.msrun", f"{name}.toml"
    tamper(record(Path(run)), meta("title", "title\x1b[2J\x9b\u202e"))
    title = "title\\u001b[2J\\u009b\\u202e"
    Path(study).write_text(f'title = "{title}"\n[network]\nm = 4\n')
    for command in (
        ["info", run],
        ["info", run, "--json"],
        ["table", run, "--out", f"{name}.csv"],
        ["trust", study],
        ["describe", study],
        ["cost", study, "--set", name],
        ["info", f"no {run}"],
        ["info", run, f"--{name}"],
    ):
        try:
            main(command)
        except SystemExit as exit_:
            assert exit_.code == 2
        out, err = capsys.readouterr()
        assert out or err, command
        assert not [c for c in out + err if is_steering(c) and c != "\n"], command


def test_an_escaped_study_can_be_read_again() -> None:
    text = escape_controls('title = "\x9b\u202e"\n', except_for="\n")
    assert text == 'title = "\\u009b\\u202e"\n'
    assert escape_controls("caf\u00e9 \u0646\u200c\u0627") == "caf\u00e9 \u0646\u200c\u0627"


def test_commands_print_with_the_functions_of_one_module() -> None:
    """`print` itself is for lines of JSON to another program, and for `core.cli.output`."""
    folder = Path(__file__).parents[2] / "core" / "cli"
    found = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "print",
                "sys.stdout.write",
                "sys.stderr.write",
            ):
                found.add(path.name)
    assert found == {"compiling.py", "output.py"}


def test_tracebacks_print_no_control_characters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> int:
        raise RuntimeError("a\x1b]0;title\x07\u202e")

    monkeypatch.setenv("MARGINSCOPE_TRACEBACK", "1")
    monkeypatch.setattr("core.cli.reading.info", fail)
    assert main(["info", "a.msrun"]) == 1
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert "raise RuntimeError" in error
    assert not [c for c in error if is_steering(c) and c != "\n"]


def test_the_window_answers_its_caller_without_control_characters() -> None:
    assert one_line("refused a\n\x1b]0;title\x07") == "refused a \\u001b]0;title\\u0007"


def test_a_terminal_of_ascii_has_plain_spaces_for_narrow_ones() -> None:
    open_streams()
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=UNKNOWN)
    stream.write(f"{whole_text(1_234_567)} \u03b3")
    stream.flush()
    assert stream.buffer.getvalue() == b"1 234 567 \\u03b3"
