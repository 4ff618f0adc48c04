"""No entry point runs the Python file that a stranger's study names, or the code of a run, unasked.

The code leaves a marker when it runs. Every command of the program is in one of the lists below.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

import marginscope as ms
from app.places import Places
from app.playback.display import DisplayController
from app.scenes.scene import Scene
from app.scenes.scene_texts import parse_link, study_in
from app.state.intent import Intent
from app.state.session import Session
from app.training.controller import TrainingController
from app.training.experiment_form import ExperimentForm
from app.training.files import FileController
from app.training.recipes import FromExperiment
from app.training.run_questions import RunQuestions
from app.training.run_worker import RunWorker
from core import trust
from core.cli.main import main
from core.cli.parser import build_parser
from core.errors import InputError, MarginscopeError, RunFileError
from core.extremes.hunt import FileRetention
from core.extremes.hunt_building import hunt_for
from core.extremes.question import Question
from core.library.library import Library
from core.network.custom import Custom, CustomNetwork, read_code
from core.network.parametrisation import Shape
from core.problem.problem import resolve_problem
from core.runs import open_run
from core.stories.story import Story, StoryMoment, StoryRun
from core.stories.story_file import save_story
from core.studies.code import check_code
from core.studies.study import Study, load_study
from core.sweep.plan import plan
from tests.support.run_changes import meta
from tests.support.run_files import record, small_problem, tamper

STUDY = """
[data]
d = 4
n = 10
[network]
kind = "custom"
m = 3
path = "net.py"
"""
CODE = """
def initial(generator, m, d, k):
    return {"V": generator.standard_normal((m, d))}


def outputs(parameters, x):
    return (x @ parameters["V"].T).sum(dim=1)
"""

# Options of each command that trains, draws or computes from a study file.
OF_STUDIES = {
    "check": (),
    "cost": (),
    "directions": (),
    "figure": ("--out", "a.svg"),
    "hunt": ("--minimise", "last(loss)", "--over", "seeds"),
    "margins": (),
}
# Options of each command that reads run files.
OF_RUNS = {
    "branch": ("--set", "dynamics.step=0.1"),
    "compare": ("b.msrun", "--out", "a.csv"),
    "continue": (),
    "crate": ("--out", "crate"),
    "figure": ("--out", "a.svg"),
    "info": (),
    "limit": (),
    "margins": (),
    "movie": ("--out", "a.gif"),
    "page": ("--out", "a.html"),
    "table": ("--out", "a.csv"),
    "theorems": (),
    "directions": (),
}
ONLY_TEXT = {"describe", "cite"}  # print the settings or the source of a study
ASKED = {"run", "trust"}  # whose user means this very file
WITHOUT_FILES = {"list", "viewer", "warm"}
OF_STORIES = {"story"}  # reads the run files that a story names; its studies are shipped ones


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "trust_folder", lambda: tmp_path / "trusted")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """Write the study of a stranger and its Python file; the file's marker."""
    marker = tmp_path / "ran"
    (tmp_path / "net.py").write_text(f"open({str(marker)!r}, 'w').close()\n{CODE}")
    (tmp_path / "a.toml").write_text(STUDY)
    return marker


def test_every_command_is_in_a_list() -> None:
    (commands,) = (
        action
        for action in build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    listed = {*OF_STUDIES, *OF_RUNS, *ONLY_TEXT, *ASKED, *WITHOUT_FILES, *OF_STORIES}
    assert listed == set(commands.choices)


def test_commands_do_not_run_the_file_of_a_study(
    marker: Path, capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    for command, options in OF_STUDIES.items():
        with subtests.test(command):
            assert main([command, "a.toml", *options]) == 2
            assert "core trust a.toml" in capsys.readouterr().err
    for command in ONLY_TEXT:
        main([command, "a.toml"])
    for command in OF_RUNS.keys() - OF_STUDIES.keys():
        assert main([command, "a.toml", *OF_RUNS[command]]) == 2
    assert not marker.exists()
    assert not Path("trusted").exists()


def tamper_with_code(path: Path) -> None:
    tables = small_problem().experiment.model_dump(mode="json")
    tables["network"] = {"kind": "custom", "m": 4, "code": Path("net.py").read_text()}
    record(path)
    tamper(path, meta("experiment", tables), meta("network", "custom"))


def test_commands_do_not_run_the_code_of_a_run(
    marker: Path, capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    tamper_with_code(Path("a.msrun"))
    Path("b.msrun").write_bytes(Path("a.msrun").read_bytes())
    for command, options in OF_RUNS.items():
        with subtests.test(command):
            assert main([command, "a.msrun", *options]) == 2
            assert "core trust a.msrun" in capsys.readouterr().err
    with pytest.raises(MarginscopeError, match=r"core trust a\.msrun"):
        ms.open("a.msrun")
    with pytest.raises(RunFileError) as refused:
        open_run(Path("a.msrun"))
    error = refused.value
    assert isinstance(error, trust.UntrustedCodeError)  # the window asks about it
    assert (error.code, error.file, error.asker) == (Path("net.py").read_text(), "a.msrun", "")
    library = Library(Path.cwd(), Path("index.db"))
    library.refresh()
    library.close()
    assert not marker.exists()


def test_a_story_does_not_run_the_code_of_its_run(
    marker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tamper_with_code(Path("a.msrun"))
    moments = (StoryMoment(0.0, "It begins."),)
    save_story(Story("", moments, (StoryRun("a.msrun"),)), Path("a.story.json"))
    assert main(["story", "a.story.json", "--out", "a.html"]) == 2
    assert "core trust" in capsys.readouterr().err
    # Nor is a moved run with such code sought by its name.
    save_story(Story("", moments, (StoryRun("b.msrun", "0123"),)), Path("b.story.json"))
    assert main(["story", "b.story.json", "--out", "a.html"]) == 2
    assert "b.msrun does not exist" in capsys.readouterr().err
    assert main(["story", "a.toml", "--out", "a.html"]) == 2
    assert "neither a story file" in capsys.readouterr().err
    assert not marker.exists()


WAYS: dict[str, Callable[[str], object]] = {
    "ms.study": lambda name: ms.study(name),
    "ms.train": lambda name: ms.train(name),
    "ms.sweep": lambda name: ms.sweep(name, out="out"),
    "ms.check": lambda name: ms.check(name),
    "ms.figure": lambda name: ms.figure(name),
    "ms.player": lambda name: ms.player(name),
    "page of sweeps": lambda name: plan(load_study(name), Path("out")).tasks[0].problem(),
    "page of hunts": lambda name: hunt_for(
        load_study(name), Question("test_loss"), FileRetention(Path("out")), None
    ),
    "form of an experiment, last session": lambda name: FromExperiment(
        load_study(name).cells()[0].experiment, Path.cwd()
    ).problem(),
}


def test_the_python_module_and_workers_do_not_run_the_file(
    marker: Path, subtests: pytest.Subtests
) -> None:
    for name, way in WAYS.items():
        with subtests.test(name), pytest.raises(InputError, match="core trust"):
            way("a.toml")
    # Links lead to runs and to shipped studies alone.
    with pytest.raises(InputError, match="unknown study"):
        study_in(f"marginscope://study?name={Path('a.toml').absolute()}")
    assert not marker.exists()


def test_the_window_does_not_run_the_file(
    marker: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, places = QWidget(), Places.in_folder(Path.cwd())
    qtbot.addWidget(window)
    display, form = DisplayController(Session(), Intent()), ExperimentForm(window)
    worker, questions = RunWorker(window), RunQuestions(window)
    controller = TrainingController(display, worker, form, questions, places, window)
    files = FileController(Session(), controller, form, questions, places, window)
    said: list[str] = []
    trained: list[object] = []
    controller.message.connect(said.append)
    monkeypatch.setattr(controller, "train", trained.append)
    files.ready()
    files.open_files(["a.toml"])  # menu, drop, recent files, and the command line of the window
    controller.choose("a.toml")
    assert trained == []
    assert [sentence for sentence in said if sentence] == [said[-1]] * 2
    assert "core trust a.toml" in said[-1]
    assert not marker.exists()


def test_show_leads_to_files_that_are_not_run(
    marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links: list[str] = []
    monkeypatch.setattr("marginscope._show.show_link", links.append)
    tamper_with_code(Path("a.msrun"))
    for name, refusal in (("a.toml", "not a run file"), ("a.msrun", r"core trust .*a\.msrun")):
        ms.show(name)
        (path,) = parse_link(links.pop(), Scene()).runs
        assert path == Path(name).absolute()
        with pytest.raises(MarginscopeError, match=refusal):
            open_run(path)
        if name.endswith(".msrun"):
            with pytest.raises(MarginscopeError, match=refusal):
                ms.player(name)
    assert not marker.exists()


def test_the_network_itself_is_the_gate(marker: Path) -> None:
    section = CustomNetwork(m=3, code=read_code(Path("net.py")))
    with pytest.raises(InputError, match="core trust"):
        Custom(section, Shape(3, np.zeros((2, 4)), 1), {})
    with pytest.raises(InputError, match="core trust"):
        Custom.initial(section, Shape(3, np.zeros((2, 4)), 1), np.random.default_rng(0))
    assert not marker.exists()


# ---------------------------------------------------------------------------------- trusting


def test_trust_shows_the_file_and_a_changed_file_asks_again(
    marker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = Path("net.py").read_text()
    assert main(["trust", "a.toml"]) == 0
    out = capsys.readouterr().out
    assert str(Path("net.py").resolve()) in out
    assert code.rstrip() in out
    assert "--yes" in out
    assert not trust.is_trusted(code)
    assert main(["trust", "a.toml", "--yes"]) == 0
    assert trust.is_trusted(code)
    study = load_study("a.toml")
    check_code(study, "a.toml")
    Path("net.py").write_text(code + "\nx = 1\n")
    with pytest.raises(InputError, match=r"core trust a\.toml"):
        check_code(study, "a.toml")
    with pytest.raises(InputError, match="core trust"):
        resolve_problem(study.cells()[0].experiment, study.folder)
    assert not marker.exists()
    assert main(["trust", "net.py", "--yes"]) == 0
    check_code(study, "a.toml")


def test_a_file_that_cannot_be_shown_is_not_trusted(
    marker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("net.py").write_text(CODE + "# \u202e hidden\n")
    assert main(["trust", "a.toml", "--yes"]) == 2
    assert capsys.readouterr().out == ""
    assert not Path("trusted").exists()


def test_run_trusts_the_files_of_its_study_at_this_size_alone(
    marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: list[Study] = []

    def record_nothing(study: Study, *_: object) -> int:
        recorded.append(study)
        return 0

    monkeypatch.setattr("core.cli.training.record_cells", record_nothing)
    Path("other.py").write_text(CODE)
    Path("a.toml").write_text(STUDY + '[sizes.paper]\n"network.path" = "other.py"\n')
    assert main(["run", "a.toml"]) == 0
    assert trust.is_trusted(Path("net.py").read_text())
    assert not trust.is_trusted(CODE)
    assert main(["run", "a.toml", "--paper"]) == 0
    assert trust.is_trusted(CODE)
    assert len(recorded) == 2


def test_workers_on_other_machines_know_what_was_trusted(
    marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = Path("net.py").read_text()
    trust.trust(code)
    (task,) = plan(load_study("a.toml"), Path("out"), shared=True).tasks
    monkeypatch.setattr(trust, "trust_folder", lambda: Path("elsewhere").absolute())
    assert task.trusted == (trust.digest_of(code),)
    monkeypatch.setattr("core.sweep.cell.resolve_problem", lambda *_: None)
    task.problem()
    assert trust.is_trusted(code)


def test_the_command_that_is_named_can_be_pasted() -> None:
    assert trust.trust_command("a b.toml").endswith("core trust 'a b.toml'")
    assert trust.trust_command("-a.toml").endswith("core trust ./-a.toml")
    assert "\x03" not in trust.trust_command("a\x03\n.toml")
