"""The headless program, command by command: outputs, JSON, exit statuses."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import marginscope as ms
from core import __version__
from core.cli.main import main
from core.numbers import time_text
from core.observables.registry import scalars_of, usual_of
from core.runs import open_run
from tests.problems import FIGURE_1
from tests.support.commands import Call
from tests.support.run_files import crash, frames_of, recorder_at, small_problem

pytestmark = pytest.mark.usefixtures("few_directions")

SMALL = ("--set", "network.m=[16, 17]", "--set", "recording.frames=8", "--quiet")
TINY = (
    *("--set", "network.m=16", "--set", "data.d=6", "--set", "data.n=12"),
    *("--set", "recording.frames=6", "--quiet"),
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    assert main(["run", FIGURE_1, "--out", str(folder), *TINY]) == 0
    (path,) = folder.iterdir()
    return path


@pytest.fixture
def run_file(trained: Path, tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    return Path(shutil.copy(trained, tmp_path / "runs"))


def one_sentence(err: str) -> bool:
    return err.startswith("marginscope") and err.count("\n") == 1 and "Traceback" not in err


def test_version_and_help(call: Call) -> None:
    assert call("--version") == (0, f"marginscope {__version__}\n", "")
    assert call("--help")[0] == 0
    commands = "list describe run continue info table figure compare movie page warm"
    for command in commands.split():
        assert call(command, "--help")[0] == 0
    assert call()[0] == 2


def test_list(call: Call) -> None:
    status, out, _ = call("list")
    assert status == 0
    assert FIGURE_1 in out
    listed = json.loads(call("list", "--json")[1])
    assert {"id", "title", "source", "axes", "cells"} <= set(listed[0])


@pytest.mark.parametrize("what", ["data", "network", "loss", "dynamics", "recording", "run"])
def test_describe_names_every_key(call: Call, what: str) -> None:
    from core.study_file.experiment import KINDS, PLAIN_SECTIONS

    status, out, _ = call("describe", what)
    assert status == 0
    sections = KINDS[what].values() if what in KINDS else [PLAIN_SECTIONS[what]]
    for section in sections:
        assert all(key in out for key in section.model_fields if key != "kind")


def test_describe_other_things(call: Call) -> None:
    assert "hard_margin" in call("describe", "observables")[1]
    assert "[axes]" in call("describe", FIGURE_1)[1]
    status, _, err = call("describe", "dynamic")
    assert status == 2
    assert "did you mean 'dynamics'" in err


def test_run_prints_one_file_per_cell(call: Call, tmp_path: Path) -> None:
    status, out, err = call("run", FIGURE_1, "--out", tmp_path, *SMALL)
    assert (status, err) == (0, "")
    names = [f"{FIGURE_1}__network.m={m}.msrun" for m in (16, 17)]
    assert [Path(line).name for line in out.splitlines()] == names
    assert sorted(entry.name for entry in tmp_path.iterdir()) == names


def test_an_existing_file_is_refused_without_force(call: Call, run_file: Path) -> None:
    before = run_file.read_bytes()
    status, _, err = call("run", FIGURE_1, "--out", run_file.parent, *TINY)
    assert status == 2
    assert one_sentence(err)
    assert "--force" in err
    assert run_file.read_bytes() == before
    status, _, _ = call("run", FIGURE_1, "--out", run_file.parent, *TINY, "--force")
    assert status == 0


def test_a_study_file_with_its_own_data(call: Call, tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", x=np.eye(3), y=[0, 1, 0], x_test=np.eye(3), y_test=[0, 1, 1])
    study = tmp_path / "mine.toml"
    study.write_text("[data]\nkind = 'file'\npath = 'data.npz'\n[network]\nm = 3\n")
    status, out, _ = call("run", study, "--out", tmp_path / "runs", "--quiet")
    assert status == 0
    assert Path(out.strip()).name == "mine.msrun"
    told = json.loads(call("info", out.strip(), "--json")[1])
    assert told["sizes"] == {"n": 3, "d": 3, "m": 3}
    assert "path" not in told["study"]["data"]


def test_info(call: Call, run_file: Path) -> None:
    status, out, _ = call("info", run_file, "--json")
    assert status == 0
    told = json.loads(out)
    wanted = {"status", "reason", "engine", "frames", "bytes", "sizes", "study", "scalars"}
    assert set(told) == wanted
    assert told["status"] == "finished"
    assert told["reason"] == "completed"
    assert told["sizes"] == {"n": 12, "d": 6, "m": 16}
    assert told["bytes"] == run_file.stat().st_size
    assert told["study"]["network"]["m"] == 16
    scalars = {"risk", "log10_risk", "hard_margin", "smoothed_margin", "l1_margin", "distance"}
    scalars |= {"norm_squared", "train_error", "test_error", "test_error_se", "balance_drift"}
    assert scalars <= set(told["scalars"])
    assert "NaN" not in out
    assert "frames to log10 t = 4" in call("info", run_file)[1]


@pytest.mark.skipif(sys.platform == "win32", reason="no recorder is known by a lock")
def test_a_recording_whose_process_is_gone_says_so(call: Call, tmp_path: Path) -> None:
    words = "the recording was interrupted (its process is gone)"
    problem = small_problem()
    crash(tmp_path / "dead.msrun", problem, 4)
    _, out, _ = call("info", tmp_path / "dead.msrun")
    with open_run(tmp_path / "dead.msrun") as run:
        assert run.frames == 4
        end = time_text(float(run.log10_time[3]))
    assert f"  {words}; frames up to {end} are safe; " in out
    facts = json.loads(call("info", tmp_path / "dead.msrun", "--json")[1])
    assert (facts["status"], facts["recorder"]) == ("recording", "gone")
    with ms.open(tmp_path / "dead.msrun") as opened:
        assert opened.is_left and repr(opened).endswith("recording, its process is gone>")

    recorder = recorder_at(tmp_path / "live.msrun", problem)
    recorder.append(frames_of(problem, 3))
    recorder.flush()
    assert words not in call("info", tmp_path / "live.msrun")[1]
    facts = json.loads(call("info", tmp_path / "live.msrun", "--json")[1])
    assert (facts["status"], facts["recorder"]) == ("recording", "at work")
    with ms.open(tmp_path / "live.msrun") as opened:
        recorder.finish("completed")
        assert not opened.is_left and opened.status == "completed"  # as it is read once more
    assert "recorder" not in json.loads(call("info", tmp_path / "live.msrun", "--json")[1])


def test_tables(call: Call, run_file: Path, tmp_path: Path) -> None:
    npz, csv = tmp_path / "x.npz", tmp_path / "x.csv"
    assert call("table", run_file, "--out", npz, "--parameters", "--quiet")[0] == 0
    assert call("table", run_file, "--out", csv, "--quiet")[0] == 0
    with np.load(npz) as table, open_run(run_file) as run:
        frames = run.frames
        assert table["frame"].tolist() == list(range(frames))
        assert table["frame"].dtype == table["step"].dtype == np.int64
        assert table["rotation"].shape == table["relative_norm"].shape == (frames, 16)
        assert table["a"].shape == (frames, 16)
        assert table["V"].shape == (frames, 16, 6)
        assert table["x"].shape == (12, 6)
        header, *rows = csv.read_text().splitlines()
        assert len(rows) == frames
        names = header.split(",")
        last = dict(zip(names, map(float, rows[-1].split(",")), strict=True))
        for name in names:
            assert np.array_equal(last[name], float(table[name][-1]), equal_nan=True)
        assert rows[0].split(",")[2] == "-inf"
    for name in ("x.txt", "no/such/../x.parquet"):
        status, _, err = call("table", run_file, "--out", tmp_path / name, "--quiet")
        assert status == 2
        assert one_sentence(err)


def test_a_table_has_what_takes_long_where_it_is_asked_for(
    call: Call, run_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def header(*more: str) -> tuple[set[str], str]:
        status, _, err = call("table", run_file, "--out", tmp_path / "x.csv", *more)
        assert status == 0
        return set((tmp_path / "x.csv").read_text().split("\n")[0].split(",")), err

    with open_run(run_file) as run:
        offered = {item.name for item in scalars_of(run)}
        costly = {item.name for item in scalars_of(run) if item.on_request}
        usual = {item.name for item in usual_of(run)}
    assert "sharpness" in costly
    names, err = header()
    assert names == {"frame", "step", "log10_time"} | usual
    assert err.startswith("Omitted, as they may take long: sharpness, ")
    assert err.endswith("; --all includes them.\n")
    assert header("--columns", "sharpness,risk")[0] & offered == {"sharpness", "risk"}
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    names, err = header("--all")
    assert names >= usual | costly
    assert "table:" in err and "frame/s" in err
    status, _, err = call("table", run_file, "--out", tmp_path / "x.csv", "--all", "--columns", "u")
    assert status == 2
    assert one_sentence(err)


def test_figures_and_films(call: Call, run_file: Path, tmp_path: Path) -> None:
    for suffix, start in ((".pdf", b"%PDF"), (".svg", b"<?xml"), (".png", b"\x89PNG")):
        out = tmp_path / f"figure{suffix}"
        few = ("--panels", "neurons", "--margins", "none") if suffix != ".svg" else ()
        assert call("figure", run_file.parent, "--out", out, "--dpi", 60, *few)[0] == 0
        assert out.read_bytes().startswith(start)
    for suffix, start in ((".gif", b"GIF8"), (".webp", b"RIFF")):
        out = tmp_path / f"film{suffix}"
        short = ("--seconds", "0.3", "--fps", "10", "--pixels", "320x240", "--quiet")
        assert call("movie", run_file, "--out", out, *short)[0] == 0
        assert out.read_bytes().startswith(start)


def test_a_page(call: Call, run_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert call("page", run_file.parent, "--out", out, "--limit", 2, "--quiet")[:2] == (
        0,
        f"{out}\n",
    )
    plain = out.read_text(encoding="utf-8")
    assert plain.startswith("<!doctype html>")
    more = ("--views", "norms,margins", "--frames", 3, "--dark", "--title", "</title>mine")
    assert call("page", run_file, "--out", out, "--margins", "none", *more)[0] == 0
    text = out.read_text(encoding="utf-8")
    assert "<title>&lt;/title&gt;mine</title>" in text
    assert len(text) < len(plain)


def test_figure_of_a_study(call: Call, tmp_path: Path) -> None:
    study = tmp_path / "small.toml"
    study.write_text("[data]\nd = 5\nn = 6\n[network]\nm = 2\n[recording]\nframes = 5\n")
    assert call("figure", study, "--out", tmp_path / "f.png", "--dpi", 50, "--quiet")[0] == 0
    assert (tmp_path / "f.png").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("figure", "{run}", "--out", "{folder}/f.bmp"),
        ("figure", "{run}", "--out", "{folder}/f.pdf", "--panels", "neurons,nodes"),
        ("figure", "{empty}", "--out", "{folder}/f.pdf"),
        ("figure", "{folder}/none.msrun", "--out", "{folder}/f.pdf"),
        ("movie", "{run}", "--out", "{folder}/f.avi"),
        ("movie", "{run}", "--out", "{folder}/f.gif", "--seconds", "-1"),
        ("movie", "{run}", "--out", "{folder}/f.gif", "--fps", "0"),
        ("page", "{run}", "--out", "{folder}/f.htm"),
        ("page", "{run}", "--out", "{folder}/f.html", "--views", "predictor"),
        ("page", "{run}", "--out", "{folder}/f.html", "--views", ""),
        ("page", "{run}", "--out", "{folder}/f.html", "--frames", "1"),
        ("page", "{run}", "--out", "{folder}/f.html", "--light", "--dark"),
        ("page", "{empty}", "--out", "{folder}/f.html"),
        ("page", "{run}", "--out", "{study}/f.html", "--margins", "none"),
        ("info", "{folder}"),
        ("info", "{folder}/none.msrun"),
        ("info", "{study}"),
        ("table", "{study}", "--out", "{folder}/x.npz"),
        ("continue", "{run}", "--frame", "99"),
        ("continue", "{run}", "--set", "network.m=5"),
        ("continue", "{study}"),
        ("run", "telgarsky22-figure-9"),
        ("run", "{run}", "--out", "{folder}"),
        ("run", FIGURE_1, "--set", "network.wdith=4", "--out", "{folder}"),
        ("run", FIGURE_1, "--out", "{study}"),
        ("run", FIGURE_1, "--out", "{study}/below"),
        ("run", "{study}", "--out", "{folder}/r"),
        ("run", FIGURE_1, "--quick", "--paper"),
        ("run",),
        ("fly",),
        ("list", "--yaml"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(
    call: Call, run_file: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    study = tmp_path / "broken.toml"
    study.write_text("[data]\nkind = 'file'\npath = 'nothing.npz'\n[network]\nm = 2\n")
    empty = tmp_path / "empty"
    empty.mkdir()
    before = run_file.read_bytes()
    places = {"run": run_file, "folder": tmp_path, "study": study, "empty": empty}
    status, _, err = call(*(text.format(**places) for text in arguments))
    assert status == 2, err
    assert one_sentence(err), err
    assert run_file.read_bytes() == before


def test_divergence_is_status_3_with_a_step(call: Call, tmp_path: Path) -> None:
    wild = ("--set", "dynamics.kind=gd", "--set", "dynamics.step=2", "--set", "network.m=256")
    status, out, err = call("run", FIGURE_1, *wild, "--out", tmp_path, "--quiet")
    assert status == 3
    assert one_sentence(f"marginscope: {err}")
    assert "try dynamics.step = 0.4" in err
    told = json.loads(call("info", out.strip(), "--json")[1])
    assert told["reason"] == "diverged"
    assert told["frames"] >= 2


def test_continue_makes_a_new_run(call: Call, run_file: Path, tmp_path: Path) -> None:
    status, out, _ = call("continue", run_file, "--set", "dynamics.until_log10_time=6", "--quiet")
    assert status == 0
    second = Path(out.strip())
    assert second.parent == run_file.parent
    with open_run(run_file) as first, open_run(second) as later:
        assert later.log10_time[0] == first.log10_time[-1] == 4.0
        assert later.log10_time[-1] == 6.0
        assert later.frames <= 6
        assert np.array_equal(later.origin, first.origin)
    status, out, _ = call("continue", run_file, "--frame", "2", "--out", tmp_path, "--quiet")
    assert status == 0
    assert Path(out.strip()).parent == tmp_path
    assert call("continue", run_file, "--frame", "2", "--out", tmp_path, "--quiet")[0] == 2


def test_numbers_that_are_not_finite_are_null(call: Call, tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", x=np.eye(2), y=[1, -1])
    study = tmp_path / "mine.toml"
    study.write_text("[data]\nkind = 'file'\npath = 'data.npz'\n[network]\nm = 2\n")
    _, out, _ = call("run", study, "--out", tmp_path, "--quiet")
    told = json.loads(call("info", out.strip(), "--json")[1])
    assert told["scalars"]["test_error"] is None


def test_float32_keeps_its_dual_weights(call: Call, tmp_path: Path) -> None:
    settings = ("--set", "dynamics.kind=gd", "--set", "run.precision=float32")
    _, out, _ = call("run", FIGURE_1, *settings, *TINY, "--out", tmp_path)
    with open_run(Path(out.strip())) as run:
        # Where kernels are not compiled yet, NumPy begins, and its frames have them as well.
        assert run.engine.removeprefix("NumPy float32, then ") == "compiled float32"
        dual = run.dual(run.frames - 1)
        assert dual.sum() == pytest.approx(1.0)
        assert all(run.dual(frame) is not None for frame in range(run.frames))


def test_warm_names_the_cache(call: Call) -> None:
    status, _, err = call("warm")
    assert status == 0
    assert "kernels" in err or "cache" in err


@pytest.mark.parametrize(
    ("words", "meant"),
    [(("limit", "a.msrun", "--frame", "3"), " limit"), (("list", "--all"), " list")],
)
def test_a_command_names_its_own_help(
    words: tuple[str, ...], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program's help says nothing of a command's options."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    sentence = capsys.readouterr().err
    assert ended.value.code == 2
    assert sentence.startswith(f"marginscope{meant}: unrecognized arguments: --")
    assert sentence.endswith(f"{meant} --help.\n")
