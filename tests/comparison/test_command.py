"""`compare` from the command line, over recorded runs."""

from __future__ import annotations

import csv
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from core.figures.labels import headings
from core.observables.registry import OBSERVABLES
from core.runs import open_run
from marginscope import record
from tests.recording import recorded
from tests.support.commands import Call


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return two seeds of one width, and another width with another cadence."""
    folder = tmp_path_factory.mktemp("compared")
    paths = [folder / f"{name}.msrun" for name in ("a", "b", "c")]
    recorded(paths[0], "recording.frames=12", "run.seed=0")
    recorded(paths[1], "recording.frames=12", "run.seed=1")
    recorded(paths[2], "recording.frames=9", "network.m=20")
    return paths


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_a_table_has_the_runs_own_numbers(call: Call, runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "x.csv"
    status, said, _ = call("compare", *runs, "--observable", "log10_risk", "--out", out, "--quiet")
    assert status == 0
    assert "network.m = 20" in said
    assert said.splitlines()[-1] == str(out)
    table = rows(out)
    lines = list(dict.fromkeys(row["line"] for row in table))
    assert len(lines) == 3
    for path, line in zip(runs, lines, strict=True):
        mine = [row for row in table if row["line"] == line]
        with open_run(path) as run:
            values = OBSERVABLES["log10_risk"].trace(run)[1:]  # t = 0 has no place
            assert [float(row["value"]) for row in mine] == values.tolist()
            assert [float(row["log10_time"]) for row in mine] == run.log10_time[1:].tolist()


def test_bands_and_differences_are_those_of_the_traces(
    call: Call, runs: list[Path], tmp_path: Path
) -> None:
    with open_run(runs[0]) as one, open_run(runs[1]) as other:
        times = one.log10_time[1:]
        both = np.array([OBSERVABLES["hard_margin"].trace(run)[1:] for run in (one, other)])
        late = other.log10_time[1:]
    out = tmp_path / "x.csv"
    assert call("compare", *runs[:2], "--kind", "differences", "--out", out, "--quiet")[0] == 0
    for row in rows(out):
        place = float(row["log10_time"])
        wanted = np.interp(place, late, both[1]) - np.interp(place, times, both[0])
        assert float(row["value"]) == pytest.approx(wanted, abs=1e-15)
    assert call("compare", *runs[:2], "--kind", "bands", "--out", out, "--quiet")[0] == 0
    table = rows(out)
    assert {row["line"] for row in table} == {"all (2 runs)"}
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in table)


def test_sorted_rotations_are_those_of_the_weights(
    call: Call, runs: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "nodes.csv"
    for at, log10_time in ((), np.inf), (("--at", "10^1.5"), 1.5), (("--at", "0"), -np.inf):
        more = ("--observable", "rotation", *at, "--out", out, "--quiet")
        assert call("compare", runs[0], runs[2], *more)[0] == 0
        table = rows(out)
        names = list(dict.fromkeys(row["line"] for row in table))
        for path, name in zip((runs[0], runs[2]), names, strict=True):
            with open_run(path) as run:
                frame = int(np.flatnonzero(run.log10_time[: run.frames] <= log10_time)[-1])
                before, now = (run.network.unpack(run.parameters(k))["V"] for k in (0, frame))
            cosines = np.sum(before * now, axis=1) / (
                np.linalg.norm(before, axis=1) * np.linalg.norm(now, axis=1)
            )
            mine = [row for row in table if row["line"] == name]
            m = len(before)
            assert [float(row["rank"]) for row in mine] == [k / m for k in range(1, m + 1)]
            assert [float(row["value"]) for row in mine] == pytest.approx(
                np.sort(cosines), abs=1e-12
            )


def test_a_figure_of_nodes_says_its_moment(call: Call, runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "nodes.svg"
    more = ("--observable", "rotation", "--observable", "hard_margin", "--at", "10^2")
    assert call("compare", *runs, *more, "--out", out, "--quiet")[0] == 0
    text = out.read_text()
    assert text.count('id="axes_') == 2
    assert "at t = 100" in text


@pytest.mark.parametrize(
    ("kind", "abscissae"),
    [
        ("lines", ("log10_time", "time", "norm_squared")),
        ("differences", ("step", "risk")),
        ("bands", ("log10_time", "norm_squared")),
    ],
)
def test_figures_are_drawn(
    call: Call, runs: list[Path], tmp_path: Path, kind: str, abscissae: tuple[str, ...]
) -> None:
    out = tmp_path / f"{kind}.svg"
    for against in abscissae:
        more = ("--observable", "hard_margin", "--observable", "distance", "--against", against)
        status, _, err = call("compare", *runs, *more, "--kind", kind, "--out", out, "--quiet")
        assert (status, err) == (0, "")
        text = out.read_text()
        assert text.count('id="axes_') == 2
        assert "m = 16" in text


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return recordings of other programs: two over the same times, and one that starts later."""
    folder = tmp_path_factory.mktemp("loops")
    generator = np.random.default_rng(0)
    paths = []
    for name, times in (("Adam", range(1, 9)), ("Sign", range(1, 9)), ("Late", range(20, 28))):
        x = generator.normal(size=(12, 3))
        paths.append(folder / f"{name.lower()}.msrun")
        with record(paths[-1], x, np.sign(x[:, 0]), loss="logistic", title=name) as recording:
            for t in times:
                recording.frame(t, V=t * generator.normal(size=(4, 3)), a=np.ones(4))
    return paths


def test_recordings_are_called_by_their_titles(
    call: Call, loops: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "x.csv"
    status, said, _ = call("compare", *loops, "--out", out, "--quiet")
    assert status == 0
    assert list(dict.fromkeys(row["line"] for row in rows(out))) == ["Adam", "Sign", "Late"]
    with open_run(loops[0]) as run:
        digest = run.dataset.digest()
    assert digest[:6] not in said
    assert "data.content = no. 1" in said
    with ExitStack() as stack:
        runs = [stack.enter_context(open_run(path)) for path in loops]
        assert headings(runs) == ("Adam", "Sign", "Late")


def test_runs_without_common_times_are_refused_or_left_out_aloud(
    call: Call, loops: list[Path], tmp_path: Path
) -> None:
    apart = "Adam and Late have no log10 t in common: 0 to 0.9031, and 1.301 to 1.431"
    for name in ("x.csv", "x.svg"):
        out = ("--kind", "differences", "--out", tmp_path / name, "--quiet")
        status, _, err = call("compare", loops[0], loops[2], *out)
        assert status == 2
        assert f"These runs have no hard_margin to compare. {apart}; give another --against" in err
        assert not (tmp_path / name).exists()
    status, _, err = call("compare", *loops, *out[:3], tmp_path / "x.csv", "--quiet")
    assert status == 0
    assert err == f"{apart}.\n"
    lines = {row["line"] for row in rows(tmp_path / "x.csv")}
    assert lines == {"(Sign) \u2212 (Adam)"}


def test_what_cannot_be_compared_is_one_sentence(
    call: Call, runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARGINSCOPE_CACHE", str(tmp_path / "cache"))
    out = ("--out", tmp_path / "x.pdf", "--quiet")
    for arguments, words in (
        ((runs[0],), "at least two runs"),
        ((runs[0],) * 11, "at most 10"),
        ((*runs, "--observable", "activation"), "no single value per frame"),
        ((*runs, "--observable", "rotation", "--against", "step"), "has one value per neuron"),
        ((*runs, "--against", "rank"), "has one value per frame"),
        ((*runs, "--observable", "rotation", "--at", "soon"), "is not a time"),
        ((*runs, "--observable", "mirror_gap"), "no mirror_gap"),
        ((*runs, "--against", "share"), "gamma_gl"),
        ((runs[0], tmp_path / "none.msrun"), "none.msrun"),
    ):
        status, _, err = call("compare", *arguments, *out)
        assert status == 2, err
        assert words in err
        assert err.count("\n") == 1
        assert not (tmp_path / "x.pdf").exists()
    status, _, err = call("compare", *runs, "--out", tmp_path / "x.doc")
    assert status == 2
    assert ".csv" in err
