"""Kinds of installed packages: loaded after trust alone, named, in sweeps and in run files."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import marginscope as ms
from core import plugins, trust
from core.cli.main import main
from core.data.registry import DATA
from core.errors import InputError
from core.network.registry import NETWORKS
from core.observables.registry import OBSERVABLES
from core.plugins import find_plugin, installed_plugins, load_trusted
from core.runs import open_run
from core.settings import Registry
from core.studies.study import load_study, shipped_ids
from core.studies.summaries import shipped_summaries
from core.study_file.validation import build_experiment
from core.trust import UntrustedCodeError, UntrustedRunError

EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "my-paper"
STUDY = "my-paper-figure-1"
METADATA = "Metadata-Version: 2.4\nName: my-paper\nVersion: 0.1.0\n"
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder of installed packages with the documents' example; undo everything after."""
    folder = tmp_path / "site"
    shutil.copytree(EXAMPLE / "my_paper", folder / "my_paper")
    about = folder / "my_paper-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(METADATA)
    (about / "entry_points.txt").write_text("[marginscope.kinds]\nmy_paper = my_paper.kinds\n")
    monkeypatch.setattr(trust, "trust_folder", lambda: tmp_path / "trusted")
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=":")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(plugins, "_loaded", {})
    _forget()
    before = [(registry, dict(registry)) for registry in Registry._all]
    yield folder
    for registry, known in before:
        for name in set(registry) - set(known):
            del registry[name]
    for name in [name for name in sys.modules if name.partition(".")[0] == "my_paper"]:
        del sys.modules[name]
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    installed_plugins.cache_clear()
    shipped_summaries.cache_clear()


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    def run(*words: object) -> tuple[int, str, str]:
        capfd.readouterr()
        status = main([str(word) for word in words])
        out, err = capfd.readouterr()
        return status, out, err

    return run


def trusted(call: Call) -> None:
    status, out, _ = call("trust", "my-paper", "--yes")
    assert status == 0 and "class SignedSquare" in out


def test_nothing_is_loaded_before_trust(site: Path, call: Call) -> None:
    assert [plugin.title for plugin in installed_plugins()] == ["my-paper 0.1.0"]
    assert find_plugin("My_Paper") == installed_plugins()[0]
    assert load_trusted() == ()
    status, out, err = call("list")
    assert status == 0 and STUDY not in out
    assert "my-paper 0.1.0 adds kinds and studies and is not trusted yet" in err
    for name in (STUDY, site / "my_paper" / "studies" / f"{STUDY}.toml"):
        status, _, err = call("run", name, "--out", site / "runs")
        assert status == 2
        assert "needs the package my-paper 0.1.0, which is installed here but not trusted" in err
        assert "trust my-paper` shows its code" in err
    with pytest.raises(UntrustedCodeError, match=r'^network\.kind = "?\'?signed_square'):
        build_experiment({"network": {"kind": "signed_square"}}, "form")
    status, out, _ = call("trust", "my-paper")
    assert status == 0 and "# ---- my_paper/kinds.py" in out and "add --yes" in out
    assert "my_paper" not in sys.modules and "signed_square" not in NETWORKS
    assert not (site / "runs").exists()


def test_a_word_that_no_package_has_is_an_ordinary_mistake(site: Path) -> None:
    with pytest.raises(InputError, match=r"does not exist; did you mean 'standard'") as found:
        build_experiment({"network": {"kind": "standart"}}, "form")
    assert not isinstance(found.value, UntrustedCodeError)


def test_its_kinds_and_studies_are_there_after_trust(
    site: Path, call: Call, tmp_path: Path
) -> None:
    trusted(call)
    status, out, err = call("list")
    assert (status, err) == (0, "") and STUDY in out and STUDY in shipped_ids()
    assert 'network.kind = "signed_square" (from my-paper 0.1.0)' in call("describe", "network")[1]
    assert " (from my-paper 0.1.0)" in call("describe", "observables")[1]
    assert {"rings"} <= set(DATA) and "share_of_largest" in OBSERVABLES
    assert "from" not in call("describe", "loss")[1].split("\n")[0]
    # Two cells in worker processes, which load the package too.
    status, out, err = call("check", STUDY, "--out", tmp_path / "runs", "--jobs", 2, "--quiet")
    assert status == 0, err
    assert "confirmed" in out
    (path, _) = sorted((tmp_path / "runs").glob("*.msrun"))
    run = ms.open(path)
    sizes = run.a[-1] ** 2 * np.linalg.norm(run.V[-1], axis=1)
    assert np.isclose(run["share_of_largest"][-1], sizes.max() / sizes.sum())
    status, _, err = call("figure", path, "--out", tmp_path / "figure.png")
    assert status == 0, err


def test_changed_code_is_asked_about_again(site: Path, call: Call, tmp_path: Path) -> None:
    trusted(call)
    status, _, err = call(
        "run", STUDY, "--set", "run.seed=0", "--out", tmp_path / "runs", "--quiet"
    )
    assert status == 0, err
    (path,) = (tmp_path / "runs").glob("*.msrun")
    code = site / "my_paper" / "kinds.py"
    code.write_text(code.read_text() + "\nCHANGED = True\n")
    # As in another process, which has loaded nothing yet.
    plugins._loaded.clear()
    for registry in (DATA, NETWORKS, OBSERVABLES):
        for name in ("rings", "signed_square", "share_of_largest"):
            registry.pop(name, None)
    with pytest.raises(UntrustedRunError, match=r"needs the package my-paper 0\.1\.0") as found:
        open_run(path)
    assert found.value.package == "my-paper 0.1.0" and "CHANGED = True" in found.value.code
    assert STUDY not in shipped_ids()
    with pytest.raises(UntrustedCodeError, match=f"^The study {STUDY} needs"):
        load_study(STUDY)


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ("raise RuntimeError('no such machine')", "could not be loaded (no such machine)"),
        ("NETWORKS.add(type('Twin', (), {'kind': 'standard'}))", "'standard' already exists"),
        ("import nothing_of_this_name", "No module named 'nothing_of_this_name'"),
    ],
)
def test_a_broken_package_is_named_and_the_rest_works(
    site: Path, call: Call, last: str, words: str
) -> None:
    code = site / "my_paper" / "kinds.py"
    code.write_text(f"{code.read_text()}\n{last}\n")
    trusted(call)
    status, out, err = call("describe", "loss")
    assert status == 0 and "logistic" in out and "Traceback" not in err
    assert "The kinds of my-paper 0.1.0 are missing: my_paper.kinds could not be loaded" in err
    assert words in err


def test_a_package_without_its_module_is_passed_over(site: Path, call: Call) -> None:
    shutil.rmtree(site / "my_paper")
    status, _, err = call("list")
    assert (status, err) == (0, "")
    status, _, err = call("trust", "my-paper")
    assert status == 2 and "names the module my_paper.kinds, which does not exist" in err
