"""Study files: read, written, varied, and refused with a sentence."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from core.errors import InputError
from core.studies.study import load_study, parse_study, shipped_ids
from core.study_file.experiment import Experiment
from tests.problems import FIGURE_1, figure_1

MINIMAL = """
[data]
n = 8
d = 4
[network]
m = 3
"""


def test_figure_1_is_as_printed() -> None:
    study = load_study(FIGURE_1)
    assert [cell.name for cell in study.cells()] == ["network.m=16", "network.m=256"]
    experiment = study.cells()[0].experiment
    assert (experiment.data.d, experiment.data.n, experiment.network.m) == (20, 64, 16)
    assert experiment.dynamics.kind == "flow"
    assert experiment.loss.kind == "exponential"


def test_shipped_studies_survive_a_round_trip(subtests: pytest.Subtests) -> None:
    """Compare each study, and up to 40 of its cells; the largest one has thousands."""
    names = shipped_ids()
    assert names
    for name in names:
        with subtests.test(study=name):
            study = load_study(name)
            again = parse_study(study.to_toml(), study.id)
            assert again == study
            cells = list(islice(study.iter_cells(), 40))
            assert cells
            assert list(islice(again.iter_cells(), 40)) == cells


def test_experiments_are_hashable_values() -> None:
    one, other = (figure_1("network.m=16").cells()[0].experiment for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert isinstance(one, Experiment)


def test_axes_make_a_grid() -> None:
    study = figure_1("network.m=[2, 3]", "run.seed=[0, 1, 2]")
    names = [cell.name for cell in study.cells()]
    assert names[0] == "network.m=2__run.seed=0"
    assert len(names) == 6
    seeds = [cell.experiment.run.seed for cell in study.cells()]
    assert seeds == [0, 1, 2, 0, 1, 2]


def test_a_setting_replaces_the_axis() -> None:
    assert [cell.name for cell in figure_1("network.m=8").cells()] == [""]
    assert figure_1("network.m=8").cells()[0].experiment.network.m == 8


def test_a_new_kind_drops_the_keys_of_the_old_one() -> None:
    study = figure_1("dynamics.accuracy=numbers").with_settings(["dynamics.kind=gd"])
    dynamics = study.cells()[0].experiment.dynamics
    assert dynamics.kind == "gd"
    assert dynamics.until_log10_time == 4.0
    pair = ["dynamics.step=.5", "dynamics.kind=gd"]
    for settings in (pair, pair[::-1]):
        assert figure_1(*settings).cells()[0].experiment.dynamics.step == 0.5


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("netwrk.m=3", "did you mean 'network'"),
        ("network.mm=3", "did you mean 'm'"),
        ("network.m=0", "network.m = 0"),
        ("network.m=true", "network.m = true"),
        ("network.m=2.5", "network.m = 2.5"),
        ("network.m=wide", "network.m = 'wide'"),
        ("network.init=random", "network.init = 'random'"),
        ("network.kind=deep", "network.kind = 'deep' does not exist"),
        ("data.k=30", "k = 30 is larger than d = 20"),
        ("data.n=-1", "data.n = -1"),
        ("data.n=900000000", "data.n = 900000000"),
        ("data.d=900000", "5e+07"),
        ("loss.kind=logstic", "did you mean 'logistic'"),
        ("dynamics.kind=gd2", "did you mean 'gd'"),
        ("dynamics.until_log10_time=inf", "finite"),
        ("dynamics.until_log10_time=nan", "finite"),
        ("dynamics.until_log10_time=1e201", "1e+200"),
        ("dynamics.step=0.1", "dynamics.step does not exist"),
        ("recording.frames=2001", "2000"),
        ("recording.frames=1", "recording.frames = 1"),
        ("recording.log10_times=soon", "recording.log10_times"),
        ("run.precision=float16", "float64"),
        ("run.precision=float32", "cannot follow gradient flow"),
        ("loss.l2=0.1", "log time"),
        ("loss.l2=-1", "loss.l2 = -1"),
        ("run.seed=-1", "run.seed = -1"),
        ("run.device=tpu", "run.device"),
        ("network.m=[]", "at least one value"),
        ("network.m=[4, 4]", "twice"),
        ("network.m", "key=value"),
        ("m=3", "section.name"),
    ],
)
def test_wrong_settings_are_refused_with_a_sentence(setting: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        figure_1(setting)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[data\n", "mine, line 1: expected ']'"),
        ("title = 'x'\ndata = \n", "mine, line 2: invalid value"),
        ("title = 'x'\n[data]\nk = [1", "mine, line 3: "),
        ("colour = 1", "colour does not exist"),
        ("titel = 'x'", "did you mean 'title'"),
        ("title = 3", "title must be text"),
        ("data = 3", "must be a table"),
        ("[data]\nnn = 3", "data.nn does not exist; did you mean 'n'"),
        ("[network]\nm = 4\n[axes]\nnetwork.m = [1]", "in quotes"),
        ("[network]\nm = 4\n[axes]\n'network.m' = 5", "must be a list"),
        ("[network]\nm = 4\n[axes]\n'network.q' = [5]", "network.q does not exist"),
        ("[network]\nm = 4\n[sizes.small]\n'network.m' = 2", "sizes.small does not exist"),
        ("[network]\n", "m, the width, is missing"),
        ("a = " + "[" * 5000, "not a TOML file"),
    ],
)
def test_wrong_study_files_are_refused(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_study(text, "mine")
    assert words in str(caught.value)
    assert "mine" in str(caught.value)


def test_files_that_are_no_studies(tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(bytes(range(256)))
    for name, words in (
        (str(binary), "cannot be read"),
        (str(tmp_path / "none.toml"), "does not exist; check the path"),
        ("telgarsky22-figure-11", "did you mean 'telgarsky22-figure-1'"),
        ("nonsense", "the closest are [^,]+, [^,]+ and [^,]+. `list` shows all studies"),
        (str(tmp_path), "The study .* does not exist"),
    ):
        with pytest.raises(InputError, match=words):
            load_study(name)


def test_a_study_file_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(MINIMAL)
    study = load_study(str(path))
    assert (study.id, study.title, study.folder) == ("small", "small", tmp_path)
    assert study.cells()[0].experiment.network.m == 3


def test_sizes() -> None:
    text = MINIMAL + "[sizes.quick]\n'network.m' = 2\n'run.seed' = [0, 1]\n"
    study = parse_study(text, "small")
    assert len(study.at_size("quick").cells()) == 2
    assert study.at_size("paper") == study
    assert study.at_size(None) == study


def test_marks_beyond_the_horizon_are_no_error() -> None:
    assert figure_1("dynamics.until_log10_time=1.5").cells()[0].experiment
