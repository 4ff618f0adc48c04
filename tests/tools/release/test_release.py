"""A release: what keeps it from being made, what its parts hold, and that the citation is true."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from core.program.version import RELEASED, __version__
from core.studies.papers import PAPERS, own_entry
from tests.tools.release import checks
from tests.tools.release.source import source_archive

ROOT = Path(__file__).resolve().parents[3]
CITATION = 'title: x\nversion: 2.0.0\ndate-released: "2026-01-02"\n'
AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a small project that is ready to be released as 2.0.0."""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "CHANGELOG.md").write_text("# Log\n\n## 2.0.0 - 2026-01-02\n\nAll.\n", "utf-8")
    (root / "CITATION.cff").write_text(CITATION, "utf-8")
    checks.git(root, "init", "-q")
    commit(root)
    return root


def commit(root: Path) -> None:
    checks.git(root, "add", "-A")
    checks.git(root, *AUTHOR, "commit", "-q", "-m", "all")


def a_wheel(folder: Path) -> Path:
    path = folder / "x-2.0.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x-2.0.0.dist-info/METADATA", "Name: x\n")
        archive.writestr("x/__init__.py", "")
    return path


def test_a_tree_that_is_ready(tree: Path) -> None:
    checks.check_tree(tree, "2.0.0", "2026-01-02")


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("CHANGELOG.md", "# Log\n\n## Unreleased\n", "no section '## 2.0.0 - 2026-01-02'"),
        ("CITATION.cff", CITATION.replace("2.0.0", "1.9.0"), "CITATION.cff is not of version"),
        ("CITATION.cff", CITATION.replace("01-02", "01-03"), "CITATION.cff is not of version"),
    ],
)
def test_what_is_not_of_this_version_is_told(
    tree: Path, name: str, text: str, sentence: str
) -> None:
    (tree / name).write_text(text, "utf-8")
    with pytest.raises(checks.NotReadyError, match="not committed"):
        checks.check_tree(tree, "2.0.0", "2026-01-02")
    commit(tree)
    with pytest.raises(checks.NotReadyError, match=sentence):
        checks.check_tree(tree, "2.0.0", "2026-01-02")


def test_the_source_archive_is_the_commit_and_always_the_same(tree: Path, tmp_path: Path) -> None:
    wheel, places = a_wheel(tmp_path), [tmp_path / f"{place}" / "x-2.0.0.tar.gz" for place in "ab"]
    (tree / "left out").write_text("not committed")
    for place in places:
        place.parent.mkdir()
        source_archive(tree, wheel, place)
    assert places[0].read_bytes() == places[1].read_bytes()
    wanted = {"x-2.0.0/CHANGELOG.md", "x-2.0.0/CITATION.cff", "x-2.0.0/PKG-INFO"}
    assert checks.members(places[0]) == wanted
    with tarfile.open(places[0]) as archive:
        file = archive.extractfile("x-2.0.0/PKG-INFO")
        assert file.read() == b"Name: x\n"
    assert checks.members(wheel) == {"x-2.0.0.dist-info/METADATA", "x/__init__.py"}


def test_a_site_without_a_page_or_with_a_dead_link(tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text('<a href="two%20b.html#x">', "utf-8")
    with pytest.raises(checks.NotReadyError, match="no page of three"):
        checks.check_site(tmp_path, ["one", "three"])
    with pytest.raises(checks.NotReadyError, match=r"one\.html"):
        checks.check_site(tmp_path, ["one"])
    (tmp_path / "two b.html").write_text('<a href="#here"><img src="data:,x">', "utf-8")
    assert checks.check_site(tmp_path, ["one"]) == "2 pages, no link that leads to nothing"


def test_a_command_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    script = "import sys; print(chr(10).join(map(str, range(99)))); sys.exit('too bad')"
    with pytest.raises(checks.NotReadyError, match=r"(?s)ended with 1:.*98\ntoo bad") as caught:
        checks.run([sys.executable, "-c", script], tmp_path)
    assert "\n12\n" not in str(caught.value)


def test_checksums_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    told = checks.checksums([tmp_path / "a"])
    assert told == f"{hashlib.sha256(b'abc').hexdigest()}  a\n"


def test_nothing_is_built_of_a_tree_with_changes(tree: Path, tmp_path: Path) -> None:
    (tree / "new").write_text("x")
    script = f"""
from pathlib import Path
from tests.tools.release import __main__ as release
release.ROOT = Path({str(tree)!r})
release.sys.argv = ["release"]
raise SystemExit(release.main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("There is no release: There are changes that are not committed:")
    assert not (tree / "dist").exists()


def test_the_citation_is_that_of_the_program() -> None:
    """Citation file, BibTeX, changelog and version say the same; the papers are the program's."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (cited["version"], cited["date-released"]) == (__version__, RELEASED)
    assert f"## {__version__} - {RELEASED}\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    entry = own_entry().replace("{", "").replace("}", "")
    for words in (cited["title"], cited["authors"][0]["name"], __version__, RELEASED[:4]):
        assert words in entry
    told = {
        one["title"]: (
            ", ".join(name.get("family-names", "anonymous") for name in one["authors"]),
            str(one.get("year", "")),
        )
        for one in cited["references"]
    }
    known = {
        paper.title: (paper.authors.removesuffix(", under review"), paper.year)
        for paper in PAPERS.values()
    }
    assert told == known


def test_the_bill_of_materials_names_the_package_of_the_viewer() -> None:
    part = checks.sqlite_part()
    content = (ROOT / "resources" / "sqlite" / "sqlite3.wasm").read_bytes()
    assert part["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}]
    assert (part["name"], part["version"]) == ("sqlite-wasm", "3.54.1-build1")


def test_a_source_archive_may_lack_the_site_alone() -> None:
    """A wheel has all its files below its package's folder, the site's too."""
    site = Path("resources", "site")
    names = {f"marginscope/{one}" for one in ("resources/site/a.html", "resources/sitemap", "app")}
    assert checks.beyond_site(names, site) == {"marginscope/resources/sitemap", "marginscope/app"}
