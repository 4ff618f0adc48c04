"""A page for every study: what it is about, its figure, its claims and what came of them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from app.scenes.scene_texts import study_link
from core.stories.shipped_stories import story_of_study
from core.studies.papers import PAPERS, Paper
from core.studies.study import Study, load_study, shipped_ids
from docs.site.markup import contents, fence, page, plain, table
from docs.site.results import PALETTES, SIZE, Result
from docs.site.stories import FOLDER

GALLERY = """\
The studies of papers that come with the program. Each page has the study's figure and its
claims with their verdicts, **made by the program when these pages were made**, at the quick size,
which takes seconds; the paper's size is one word away (`--paper`). A claim is *confirmed*,
*refuted*, or *not at this size*, with the reason. [Study files](../studies.md) tells how such a
file is written."""
FIGURE = "The figure of these runs, as `python -m core figure` and the window draw it."
NONE_DRAWN = "Its runs are too many for one figure, and it has no layout of panels."
NO_CLAIMS = "The study makes no claims."
IN_THE_WINDOW = """\
In the window: *Experiment, Choose study*, or F7 to run all of it. If the system opens links with
Marginscope (*Edit, Open Marginscope links and runs with this app*), this one opens the study:
<a href="{link}">{link}</a>"""
STORY = """\
*{title}* steps through {count} moments of this study: Space or the right arrow shows the next one.
<a href="../{folder}/{name}.html">Open it in the full window</a>.

<iframe class="player" src="../{folder}/{name}.html" title="{title}" loading="lazy"></iframe>"""
SIGNS = {">=": "at least", "<=": "at most", "~": "about"}


def papers_of(names: Sequence[str]) -> dict[Paper, list[str]]:
    """Studies by the paper that they are of, in the papers' order."""
    sources = {name: load_study(name).source for name in names}
    return {
        paper: [name for name, source in sources.items() if source.split(",")[0] == paper.name]
        for paper in PAPERS.values()
    }


def gallery(results: Mapping[str, Result]) -> str:
    """Return the list of all studies, with their figures."""
    parts = []
    for paper, names in papers_of(shipped_ids()).items():
        tiles = "\n".join(_tile(name, results[name]) for name in names if name in results)
        tiles = f":::::{{container}} gallery\n{tiles}\n:::::" if tiles else ""
        head = f"## {plain(paper.short)}"
        about = f"{plain(paper.citation())} {plain(paper.sentence)}"
        rows = [_row(name, results.get(name)) for name in names]
        parts += [head, about, tiles, table(("study", "runs", "claims"), rows)]
    return page("# The studies", GALLERY, *parts, contents(shipped_ids()))


def _tile(name: str, result: Result) -> str:
    title = plain(load_study(name).title)
    target = f":target: {name}.html\n"
    pictures = "\n".join(_picture(name, shade, title, target) for shade in result.pictures)
    return f"::::{{container}} tile\n{pictures}\n[{title}]({name}.md)\n::::" if pictures else ""


def _row(name: str, result: Result | None) -> tuple[str, str, str]:
    study = load_study(name)
    runs = str(study.at_size(SIZE).count)
    if study.at_size("paper").count != study.at_size(SIZE).count:
        runs += f" ({study.at_size('paper').count} at the paper's size)"
    return f"[{plain(study.title)}]({name}.md)", runs, _counted(study, result)


def _counted(study: Study, result: Result | None) -> str:
    """Return the counts of a study's claims by verdict."""
    if result is None:
        return str(len(study.claims))
    said = [str(claim["verdict"]) for claim in result.claims]
    counts = {verdict: said.count(verdict) for verdict in dict.fromkeys(said)}
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def _picture(name: str, shade: str, alt: str, more: str = "") -> str:
    options = f":class: only-{shade}\n:alt: {alt}\n{more}"
    return f"```{{image}} pictures/{name}-{shade}.webp\n{options}```"


def study_page(name: str, result: Result | None, has_story: bool = False) -> str:
    """Return the page of a study; without a result it has neither figure nor verdicts."""
    study = load_study(name)
    return page(
        f"# {plain(study.title)}",
        _about(study),
        *_results(study, result),
        *(_story(name) if has_story else ()),
        "## Run it yourself",
        fence(_commands(study), "sh"),
        IN_THE_WINDOW.format(link=study_link(name)),
        "## The study file",
        fence(_text(name), "toml"),
    )


def _text(name: str) -> str:
    file = resources.files("resources").joinpath("studies", f"{name}.toml")
    return file.read_text(encoding="utf-8")


def _about(study: Study) -> str:
    short = study.source.split(",")[0]
    cited = PAPERS[short].citation() if short in PAPERS else study.source
    return page(f"Paper: {plain(cited)}", plain(study.note)).rstrip()


def _results(study: Study, result: Result | None) -> list[str]:
    if result is None:
        return ["## Claims", *(f"- {plain(claim.text)}" for claim in study.claims)]
    pictures = [_picture(study.id, shade, plain(study.title)) for shade in result.pictures]
    drawn = [*pictures, FIGURE] if pictures else [NONE_DRAWN]
    took = (
        f"{result.cells} run{'s' if result.cells != 1 else ''} at the quick size; together they "
        f"took {result.core_seconds:.3g} core-seconds where these pages were made."
    )
    claims = table(("verdict", "claim", "measured", "asked"), map(_claim, result.claims))
    return ["## Figure", *drawn, took, "## Claims", claims if result.claims else NO_CLAIMS]


def _story(name: str) -> list[str]:
    story = story_of_study(name)
    title, count = plain(story.title), len(story.moments)
    return ["## Story", STORY.format(title=title, count=count, folder=FOLDER, name=name)]


def _claim(claim: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return a row: verdict, claim with its basis, measured and expected value."""
    verdict = str(claim["verdict"])
    said = f"[{verdict}]{{.{verdict.replace(' ', '-')}}}"
    text = plain(str(claim["text"])) + _small(str(claim["basis"]))
    return said, text, measured(claim) + _small(str(claim["why"])), asked(claim)


def _small(note: str) -> str:
    return f" [{plain(note)}]{{.basis}}" if note else ""


def measured(claim: Mapping[str, Any]) -> str:
    r"""Return the measured value with its interval and the number of runs.

    >>> measured({"measured": 1.07, "low": 1.01, "high": 1.12, "runs": 3, "asked": 5, "unfit": 2})
    '1.07 \\[1.01, 1.12\\], 3 runs; 2 do not fit'
    """
    value, low, high = (claim[key] for key in ("measured", "low", "high"))
    words = "nothing" if value is None or math.isnan(value) else f"{value:.4g}"
    if low is not None and high is not None:
        words += f" \\[{low:.3g}, {high:.3g}\\]"
    words += f", {claim['runs']} run{'s' if claim['runs'] != 1 else ''}"
    return words + (f"; {claim['unfit']} do not fit" if claim["unfit"] else "")


def asked(claim: Mapping[str, Any]) -> str:
    """Return the expected value in words.

    >>> asked({"compare": "~", "value": 0.399, "tolerance": 0.003})
    'about 0.399, within 0.003'
    """
    slack = f", within {_number(claim['tolerance'])}" if claim["tolerance"] else ""
    return f"{SIGNS[claim['compare']]} {_number(claim['value'])}{slack}"


def _number(value: float) -> str:
    return re.sub(r"e-0(\d)$", r"e-\1", f"{value:g}")


def _commands(study: Study) -> str:
    quick = f" --{SIZE}" if SIZE in study.sizes else ""
    lines = [
        (f"python -m core check {study.id}{quick}", "train, and judge the claims"),
        (f"python -m core run {study.id}{quick} --out out", "train them, and keep them"),
        ("python -m core check out", "judge what is there"),
        ("python -m core figure out --out figure.pdf", "draw it"),
        (f"python -m app {study.id}", "open the study in the window"),
    ]
    width = max(len(line) for line, _ in lines)
    return "\n".join(f"{line:<{width}}   # {word}" for line, word in lines)


def pictures_of(results: Mapping[str, Result]) -> dict[str, Path]:
    """Return the files of all figures by their names in the folder of pictures."""
    return {
        f"{name}-{shade}.webp": path
        for name, result in results.items()
        for shade, path in result.pictures.items()
        if shade in PALETTES
    }
