"""The command `hunt`: from the study to run files that open, and what it refuses."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
import pytest

from core.cli.grammar import Parser, add_hunt_command
from core.cli.hunting import budget_of, make_hunt
from core.cli.main import main
from core.errors import InputError
from core.extremes.question import range_of
from core.observables.registry import last_values
from core.runs import open_run
from core.studies.claims import Counts, hunt_of
from core.studies.study import load_study, parse_study, shipped_ids
from tests.separate_process import ran
from tests.support.commands import Call
from tests.support.made_up_hunts import TEXT

HUNT = """
[hunt]
maximise = "hard_margin"
over = "start"
drawn = 3
runs = 5
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(TEXT + HUNT)
    return path


def options(*given: str) -> argparse.Namespace:
    parser = Parser()
    add_hunt_command(parser.add_subparsers(parser_class=Parser))
    return parser.parse_args(["hunt", "x", *given])


def test_findings_are_runs_that_open(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the study's own [hunt]: each value is that of the file's last frame."""
    out = tmp_path / "out"
    given = [str(study), "--output", str(out), "--jobs", "1", "--quiet", "--best", "2"]
    assert main(["hunt", *given, "--table", str(tmp_path / "all.npz")]) == 0
    text = capsys.readouterr().out
    assert text.startswith("maximise hard_margin (last) over start: 5 runs")
    with (out / "small.hunt.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["rank"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert len([*out.glob("*.msrun")]) == 2
    for row in rows[:2]:
        with open_run(out / row["run_file"]) as run:
            assert last_values(run)["hard_margin"] == float(row["value"])
    with np.load(tmp_path / "all.npz", allow_pickle=False) as table:
        np.testing.assert_array_equal(table["value"], [float(row["value"]) for row in rows])
    before = {path: path.stat().st_mtime_ns for path in out.glob("*.msrun")}
    assert main(["hunt", *given]) == 0  # all of it is known
    assert capsys.readouterr().out.splitlines()[1:] == text.splitlines()[1:]
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_all_files_are_kept_where_that_is_asked(study: Path, tmp_path: Path) -> None:
    given = [str(study), "--output", str(tmp_path / "out"), "--jobs", "1", "--quiet"]
    assert main(["hunt", *given, "--best", "1", "--keep-all", "--over", "data"]) == 0
    runs = sorted((tmp_path / "out").glob("*.msrun"))
    assert len(runs) == 5
    assert len([*(tmp_path / "out").glob("*.npz")]) == 1  # three were drawn, one of them later
    for path in runs:
        with open_run(path) as run:
            assert run.is_complete


def test_what_did_not_fit_is_told_and_not_ranked(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    given = ["--minimise", "risk", "--over", "seeds", "--exclude-unfit", "--runs", "5"]
    assert main(["hunt", str(study), *given, "--output", str(out), "--jobs", "1"]) == 0
    with (out / "small.hunt.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["state"] for row in rows if not row["rank"]} == {"did not fit"}
    assert all((float(row["train_error"]) == 0.0) == bool(row["rank"]) for row in rows)


ASKED = ("--minimise", "risk", "--runs", "7", "--drawn", "4", "--over", "seeds")


def found_in(out: Path) -> list[tuple[str, ...]]:
    with (out / "small.hunt.csv").open() as file:
        rows = csv.DictReader(file)
        return [(row["run"], row["value"], row["network.seed"]) for row in rows]


@pytest.mark.slow
def test_two_processes_find_what_one_finds(study: Path, tmp_path: Path) -> None:
    for jobs in ("1", "2"):
        out = tmp_path / jobs
        assert main(["hunt", str(study), *ASKED, "--output", str(out), "--jobs", jobs]) == 0
    assert found_in(tmp_path / "1") == found_in(tmp_path / "2")


@pytest.mark.slow
def test_a_cluster_finds_what_one_process_finds(study: Path, tmp_path: Path) -> None:
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    assert main(["hunt", str(study), *ASKED, "--output", str(alone), "--jobs", "1"]) == 0
    ran("tests.extremes.cluster_hunt", str(study), *ASKED, "--output", str(shared))
    assert found_in(shared) == found_in(alone)
    for path in shared.glob("*.msrun"):
        with open_run(path) as run:
            assert run.is_complete


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["--minimise", "hard_margn"], "did you mean 'hard_margin'"),
        (["--minimise", "risk", "--budget", "soon"], "neither a time, such as 300s, 5m or 1h"),
        (["--minimise", "risk", "--budget", "0s"], "neither a time"),
        (["--minimise", "risk", "--budget", "-5"], "nor a number of runs"),
        (["--minimise", "risk", "--runs", "0"], "from 1 to 100000"),
        (["--minimise", "risk", "--seeds", "9-3"], "the first and the last, such as 0-999"),
        (["--minimise", "risk", "--at", "late"], "is not a time"),
        (["--minimise", "risk", "--maximise", "risk"], "not allowed with"),
        (["--minimise", "risk", "--over", "moon"], "invalid choice"),
        (["--minimise", "risk", "--flip-labels"], "add --over data"),
        (
            ["--minimise", "risk", "--over", "data", "--set", "dynamics.kind=sgd"],
            "The data of this study cannot be varied",
        ),
        (["--minimise", "risk", "--table", "x.txt"], "ends in .csv, .npz or .parquet"),
        (["--minimise", "risk", "--jobs", "0"], "give 1 or more"),
        (["--minimise", "risk", "--set", "network.m=9e9"], "network.m"),
        (["--minimise", "leaky_margin_x"], "is not known"),
    ],
)
def test_bad_input_is_one_sentence_before_anything_runs(
    study: Path, tmp_path: Path, call: Call, given: list[str], sentence: str
) -> None:
    if "dynamics.kind=sgd" in given:
        given = [*given, "--set", "dynamics.fresh=true"]
    out = tmp_path / "out"
    status, _, err = call("hunt", study, "--output", out, *given)
    assert status == 2
    assert sentence in err
    assert err.count("\n") == 1
    assert not out.exists() or not [*out.glob("*.msrun")]


def test_a_study_without_a_hunt_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plain.toml").write_text(TEXT)
    assert main(["hunt", str(tmp_path / "plain.toml"), "--output", str(tmp_path / "o")]) == 2
    assert "has no section [hunt]; give an objective" in capsys.readouterr().err


def test_budgets_are_times_or_runs() -> None:
    told = {
        "90s": (100_000, 90.0),
        "5m": (100_000, 300.0),
        "1.5h": (100_000, 5400.0),
        "40": (40, float("inf")),
    }
    for text, wanted in told.items():
        made = budget_of(options("--budget", text), Counts(runs=7))
        assert (made.runs, made.seconds) == wanted
    both = budget_of(options("--budget", "5m", "--runs", "30"), Counts())
    assert (both.runs, both.seconds) == (30, 300.0)
    own = budget_of(options(), Counts(runs=7))
    assert (own.runs, own.seconds) == (7, float("inf"))
    assert budget_of(options(), Counts()).seconds == 300.0
    assert range_of(" 3-3 ") == (3, 3)


def test_the_hunt_of_a_study_is_read_and_written() -> None:
    study = parse_study(TEXT + HUNT, "small")
    again = parse_study(study.to_toml(), "small")
    assert again == study
    made = hunt_of(again.results, "small")
    assert (made.maximise, made.over, made.runs, made.take) == ("hard_margin", "start", 5, "last")
    assert hunt_of(parse_study(TEXT, "small").results, "small") is None


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("", "give either minimise or maximise"),
        ('minimise = "risk"\nmaximise = "risk"', "give either minimise or maximise"),
        ('minimise = "risk"\nover = "moon"', "allowed: seeds, data, start"),
        ('minimise = "risk"\nruns = 0', "hunt.runs must be a whole number from 1"),
        ('minimise = "risk"\nseeds = [5]', "hunt.seeds"),
        ('minimise = "risk"\nseeds = [5, 2]', "the first seed and the last"),
        ('minimise = "risk"\nbest = 3', "best does not exist"),
        ('minimise = "risk"\nquick = { drawn = 0 }', "drawn must be a whole number"),
    ],
)
def test_a_wrong_hunt_is_refused_when_the_study_is_read(table: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence.replace("[", r"\[")):
        parse_study(f"{TEXT}[hunt]\n{table}\n", "small")


def test_shipped_hunts_name_what_there_is() -> None:
    """Each can be begun, and its seeds are not those that the claims are judged on."""
    found = 0
    for name in shipped_ids():
        study = load_study(name)
        asked = hunt_of(study.results, name)
        if asked is None:
            continue
        found += 1
        assert asked.seeds is not None
        assert asked.seeds[0] > max(study.axes["run.seed"])
        made = make_hunt(study, asked, asked.counts(None), options("--output", "nowhere"))
        assert made.space.over == asked.over
    assert found == 3
