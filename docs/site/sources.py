"""Sources of the site: pages of docs/, and pages made from studies and registries."""

from __future__ import annotations

import re
import shutil
from collections.abc import Container, Mapping
from pathlib import Path

from PIL import Image

from app.shell.documents import PARTS
from core.figures.viewer import save_viewer
from core.studies.study import shipped_ids
from core.study_file.experiment import KINDS
from docs.site import kinds, python_module, quantities, studies
from docs.site.contents import DECISIONS, FIRST, KINDS_AND_QUANTITIES, LAST, MORE, pages_of
from docs.site.films import EXTRA, FILMS, PLAYED, Films
from docs.site.markup import contents, page
from docs.site.places import DOCS, ROOT
from docs.site.results import SMALLEST, Result
from docs.site.stories import FOLDER

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
# Places in the site of files at the root.
MOVED = {"README.md": "index.md", "CHANGELOG.md": "changelog.md"}
PICTURES = {".png", ".svg", ".webp", ".gif"}
PNG = re.compile(r"(\]\((?:\.\./)*images/[-\w]+)\.png\)")  # of docs/, smaller in the site
FILM = "images/figure-1.gif"
PLAYER = """\
## Play it here

This page plays the same two runs. Space plays and pauses, the arrow keys step, a click on the
timeline seeks, and the pointer reads the nearest curve or neuron.
<a href="figure-1.html">Open it in the full window</a>.

<iframe class="player" src="figure-1.html" title="Figure 1, played"></iframe>"""

VIEWER = "viewer"  # folder of the page that opens run files
OPEN_VIEWER = """\
## Open a run file here

<a href="viewer/index.html">The viewer</a> opens a run file in this browser. The file stays on your
computer."""


def write(
    target: Path,
    results: Mapping[str, Result],
    films: Films | None = None,
    stories: Mapping[str, Path] | None = None,
) -> list[Path]:
    """Empty a folder, write every page into it, and return the pages.

    Parameters
    ----------
    target : Path
        Folder of the sources.
    results : mapping of str to Result
        Results of studies; pages of other studies have no figure and no verdicts.
    films : Films or None
        Figure 1 in motion; a tour without it has the picture of docs/images.
    stories : mapping of str to Path or None
        Pages of stories, by the names of their studies.

    Returns
    -------
    list of Path
    """
    shutil.rmtree(target, ignore_errors=True)
    stories = stories or {}
    pages = {**_written(films), **_generated(results, stories), "index.md": _index(films)}
    for name, text in pages.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PNG.sub(r"\1.webp)", text), "utf-8")
    _copy_pictures(target / "images")
    for name, picture in studies.pictures_of(results).items():
        (target / "studies" / "pictures").mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, target / "studies" / "pictures" / name)
    save_viewer(target / EXTRA / VIEWER)
    (target / EXTRA / FOLDER).mkdir()
    for name, path in stories.items():
        shutil.copy(path, target / EXTRA / FOLDER / f"{name}.html")
    if films is not None:
        shutil.copy(films.page, target / EXTRA / PLAYED)
        for shade, path in films.films.items():
            shutil.copy(path, target / "images" / FILMS[shade])
    return [target / name for name in pages]


def _copy_pictures(target: Path) -> None:
    """Copy the pictures of docs/, with PNG as WebP, which takes half of the bytes."""
    shutil.copytree(DOCS / "images", target)
    for path in target.glob("*.png"):
        with Image.open(path) as image:
            image.save(path.with_suffix(".webp"), **SMALLEST)
        path.unlink()


def _generated(results: Mapping[str, Result], stories: Container[str]) -> dict[str, str]:
    """Return the pages that are made from studies and registries."""
    made = {
        f"studies/{name}.md": studies.study_page(name, results.get(name), name in stories)
        for name in shipped_ids()
    }
    made["studies/index.md"] = studies.gallery(results)
    made |= {f"reference/{section}.md": kinds.kinds_of(section) for section in KINDS}
    made |= {
        "reference/settings.md": kinds.settings(),
        "reference/observables.md": quantities.observables(),
        "reference/margins.md": quantities.margins(),
        "reference/theorems.md": quantities.statements(),
        "reference/python.md": python_module.reference(),
    }
    made |= {
        f"reference/theorems-{paper.name}.md": quantities.statements_of(paper)
        for paper in quantities.papers()
    }
    return made


def _written(films: Films | None) -> dict[str, str]:
    """Return the pages of docs/, without links to what is not in the site."""
    paths = [*DOCS.glob("*.md"), *DOCS.glob("decisions/*.md"), ROOT / "CHANGELOG.md"]
    known = {path: _place(path) for path in paths} | {ROOT / "README.md": "index.md"}
    pages = {known[path]: in_site(path, known) for path in paths}
    names = [path.stem for path in sorted(DOCS.glob("decisions/[0-9]*.md"))]
    pages[f"{DECISIONS}.md"] = page(pages[f"{DECISIONS}.md"].rstrip(), contents(names))
    pages["run-files.md"] = page(pages["run-files.md"].rstrip(), OPEN_VIEWER)
    if films is not None:
        pages["tour.md"] = page(with_films(pages["tour.md"]).rstrip(), PLAYER)
    return pages


def _place(path: Path) -> str:
    """Return the place of a document in the site."""
    name = path.relative_to(ROOT).as_posix()
    return MOVED.get(name, name.removeprefix("docs/"))


def in_site(path: Path, known: Mapping[Path, str]) -> str:
    """Return the text of a document with links to pages of the site.

    Links to other files become their names.
    """
    own = known[path]

    def moved(match: re.Match[str]) -> str:
        words, link = match.groups()
        name, mark, place = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if "://" in link or not name:
            return match[0]
        if target not in known:
            return words if words.startswith("`") else f"{words} (`{_named(target)}`)"
        up = "../" * own.count("/")
        return f"[{words}]({up}{known[target]}{mark}{place})"

    text, done, parts = path.read_text("utf-8"), 0, []
    for block in CODE.finditer(text):  # code contains no links
        parts += [LINK.sub(moved, text[done : block.start()]), block[0]]
        done = block.end()
    return "".join([*parts, LINK.sub(moved, text[done:])])


def _named(target: Path) -> str:
    return target.relative_to(ROOT).as_posix() if target.is_relative_to(ROOT) else target.name


def with_films(text: str) -> str:
    """Replace the picture of a page by the films of this build, in both palettes."""
    picture = re.compile(rf"!\[([^\]]*)\]\({re.escape(FILM)}\)")
    shown = "\n\n".join(
        f"```{{image}} images/{name}\n:class: only-{shade}\n:alt: \\1\n```"
        for shade, name in FILMS.items()
    )
    return picture.sub(shown, text, count=1)


def _index(films: Films | None) -> str:
    """Return the first page: README and the list of all pages."""
    known = {path: _place(path) for path in [*DOCS.glob("*.md"), ROOT / "CHANGELOG.md"]}
    known[ROOT / "README.md"] = "index.md"
    text = in_site(ROOT / "README.md", known).replace("](docs/", "](")
    text = text if films is None else with_films(text)
    reference = [f"reference/{section}" for section in KINDS]
    reference += [
        f"reference/{name}" for name in ("settings", "observables", "margins", "theorems", "python")
    ]
    lists = []
    for part in [*PARTS, MORE]:
        names = [*FIRST.get(part, ()), *pages_of(part), *LAST.get(part, ())]
        lists += [contents(names, part)] if names else []
        lists += [contents(reference, KINDS_AND_QUANTITIES)] if part == "Reference" else []
    return page(text.rstrip(), *lists)
