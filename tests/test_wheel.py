"""The wheel: what it carries, and that its commands work away from the source."""

from __future__ import annotations

import ast
import compileall
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from marginscope._wheel import INNER, project_urls, with_outer_name
from tests.tools.release import checks

ROOT = Path(__file__).parents[1]
MODULE = re.compile(r"(?:core|app|resources)(?:\.[a-z_]+)+")
QUOTED = re.compile(rf"[\"']{MODULE.pattern}[\"']")
PARTS = ("marginscope", *INNER)
BESIDE = ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "docs")
# As the scripts that an installer writes; the name is that of the script.
SCRIPT = "import sys; sys.argv[0] = {name!r}; from {module} import {function} as it; sys.exit(it())"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel of a copy of the source, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    left = shutil.ignore_patterns("__pycache__")
    for name in PARTS:
        shutil.copytree(ROOT / name, source / name, ignore=left)
    for name in BESIDE:
        one = ROOT / name
        if one.is_dir():
            shutil.copytree(one, source / name)
        else:
            shutil.copy(one, source)
    return build_wheel(source, folder)


def build_wheel(source: Path, folder: Path) -> Path:
    """Build the wheel of a folder with source into another folder, without a network."""
    words = ["-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    words += ["--no-build-isolation", "--no-index", "-w", str(folder), str(source)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def command(name: str) -> str:
    """Return what the script of that name does."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    entry = (project["scripts"] | project["gui-scripts"])[name]
    module, function = entry.split(":")
    return SCRIPT.format(name=f"/somewhere/bin/{name}", module=module, function=function)


def said(installed: Path, folder: Path, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    return run_python(folder, {"PYTHONPATH": str(installed)}, "-P", "-c", command(name), *words)


def run_python(
    folder: Path, variables: dict[str, str], *words: str
) -> subprocess.CompletedProcess[str]:
    environment = {key: text for key, text in os.environ.items() if key != "PYTHONSAFEPATH"}
    environment |= {"QT_QPA_PLATFORM": "offscreen"} | variables
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
    )


@pytest.mark.slow
def test_it_carries_every_file_of_the_packages_and_the_documents(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        carried = set(archive.namelist())
    files = {
        Path(*([] if part == "marginscope" else ["marginscope"]), path.relative_to(ROOT)).as_posix()
        for part in PARTS
        for path in (ROOT / part).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert len(files) > 600
    assert files <= carried
    shared = {name.partition("/share/marginscope/")[2] for name in carried if "/share/" in name}
    found = (path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md"))
    documents = {path.as_posix() for path in found if "examples" not in path.parts}
    assert documents | {"README.md", "CHANGELOG.md"} <= shared
    roots = {name.partition("/")[0] for name in carried}
    assert {name for name in roots if not name.startswith("marginscope-")} == {"marginscope"}
    assert len(roots) == 3  # metadata, data, and the one name


@pytest.mark.slow
def test_its_commands_are_called_by_their_names(installed: Path, tmp_path: Path) -> None:
    told = said(installed, tmp_path, "marginscope-core", "--help")
    assert told.returncode == 0 and told.stdout.startswith("usage: marginscope-core ")
    wrong = said(installed, tmp_path, "marginscope-core", "info")
    assert wrong.returncode == 2
    assert wrong.stderr.strip().endswith("see marginscope-core info --help.")
    window = said(installed, tmp_path, "marginscope", "--help")
    assert window.returncode == 0 and window.stdout.startswith("usage: marginscope ")


@pytest.mark.slow
def test_its_resources_are_found(installed: Path, tmp_path: Path) -> None:
    listed = said(installed, tmp_path, "marginscope-core", "list")
    assert listed.returncode == 0, listed.stderr
    assert "telgarsky22-figure-1" in listed.stdout


@pytest.mark.slow
def test_the_package_of_the_documents_is_built_trusted_and_trained(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, site = tmp_path / "source", tmp_path / "site"
    shutil.copytree(ROOT / "docs" / "examples" / "my-paper", source)
    with zipfile.ZipFile(build_wheel(source, tmp_path)) as archive:
        archive.extractall(site)
    both = os.pathsep.join([str(installed), str(site)])
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        called = command("marginscope-core")
        return run_python(tmp_path, {"PYTHONPATH": both}, "-P", "-c", called, *words)

    refused = run("run", "my-paper-figure-1")
    assert refused.returncode == 2
    assert "`marginscope-core trust my-paper` shows its code" in refused.stderr
    assert run("trust", "my-paper", "--yes").returncode == 0
    checked = run("check", "my-paper-figure-1", "--out", "runs", "--jobs", "2", "--quiet")
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.startswith("confirmed: ")
    described = run("describe", "data").stdout
    assert 'data.kind = "rings" (from my-paper 0.1.0)' in described
    tests = run_python(
        source, {"PYTHONPATH": both}, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider"
    )
    assert tests.returncode == 0, tests.stdout


@pytest.mark.slow
def test_two_wheels_of_one_source_are_equal(tmp_path: Path) -> None:
    """Also where the program has run in one of the folders, and left its bytecode."""
    wheels = []
    for name in ("first", "second"):
        folder = tmp_path / name
        left = shutil.ignore_patterns("__pycache__")
        for part in PARTS:
            shutil.copytree(ROOT / part, folder / part, ignore=left)
        if name == "second":
            assert compileall.compile_dir(folder, quiet=1)
            assert (folder / "resources" / "__pycache__").is_dir()
        for part in BESIDE:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            copy(ROOT / part, folder / part)
        checks.build_wheel(folder, folder / "out", "1700000000")
        wheels.append(next((folder / "out").glob("*.whl")).read_bytes())
    assert wheels[0] == wheels[1]


@pytest.mark.slow
def test_it_works_within_a_repository_that_has_the_same_names(
    installed: Path, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name in ("core", "app", "resources"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong one')")
    (tmp_path / "core.py").write_text("raise SystemExit('the wrong one')")
    path = {"PYTHONPATH": os.pathsep.join([".", str(installed)])}
    loop = (
        "import marginscope as ms, numpy as np; study = ms.study('telgarsky22-figure-1');"
        "run = ms.train(study, **{'dynamics.until_log10_time': 1}); ms.figure(run, 'a.png');"
        "print(len(ms.margins(np.eye(2), np.array([1., -1.]))) > 0)"
    )
    for words, answer in {
        ("-m", "marginscope.core", "--version"): "marginscope ",
        ("-m", "marginscope.core", "list"): "telgarsky22-figure-1",
        ("-m", "marginscope.app", "--help"): "usage: marginscope",
        ("-c", "import marginscope.app.shell.application"): "",
        ("-m", "marginscope.core", "warm", "--help"): "usage: ",
        ("-c", loop): "True",
    }.items():
        with subtests.test(words):
            done = run_python(tmp_path, path, *words)
            assert done.returncode == 0, done.stdout + done.stderr
            assert answer in done.stdout


def test_every_module_can_be_moved_within_the_one_name() -> None:
    wrong = []
    for path in (path for part in PARTS for path in (ROOT / part).rglob("*.py")):
        try:
            ast.parse(with_outer_name(path.read_text("utf-8")))
        except (SyntaxError, ValueError) as error:
            wrong.append(f"{path.relative_to(ROOT)}: {error}")
    assert not wrong


def test_names_of_modules_in_strings_are_given_by_one_function() -> None:
    """`core.program.package` knows what a module is called in a wheel."""
    found = set()
    for part in PARTS:
        for path in (ROOT / part).rglob("*.py"):
            source = path.read_text("utf-8")
            if not QUOTED.search(source):  # looking through all syntax trees took 1.8 s
                continue
            nodes = list(ast.walk(ast.parse(source)))
            calls = [one for one in nodes if isinstance(one, ast.Call)]
            given = {
                id(one)
                for call in calls
                if isinstance(call.func, ast.Name) and call.func.id == "package"
                for one in call.args
            }
            for node in nodes:
                is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
                if is_text and MODULE.fullmatch(node.value) and id(node) not in given:
                    found.add((path.name, node.value))
    # The public module's table goes through `package`, too.
    assert found == {("__init__.py", "core.errors"), ("__init__.py", "core.program")}


@pytest.mark.parametrize(
    "source", ["import core as c", "import core, os", "import core.a\ncore.a.f()"]
)
def test_imports_that_could_not_be_renamed_are_refused(source: str) -> None:
    with pytest.raises(ValueError, match="import"):
        with_outer_name(source)


def test_a_clone_names_its_modules() -> None:
    words = [sys.executable, "-m", "core", "--help"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.stdout.startswith("usage: python -m core ")


def test_a_release_names_the_address_it_is_given() -> None:
    address = "https:" + "//host/marginscope"
    assert project_urls(address)["Changelog"] == f"{address}/blob/main/CHANGELOG.md"
    with pytest.raises(ValueError, match="begins with https"):
        project_urls("host/marginscope")
