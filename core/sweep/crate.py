"""RO-Crate of runs: run files, studies and figures with their hashes, and what made them.

The crate follows RO-Crate 1.1 and the profile of a process run: each run file is the result of one
action of Marginscope, whose object is a study file.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from core.errors import DiskError, InputError
from core.figures.export import save_figure
from core.figures.options import FigureOptions
from core.figures.palette import LIGHT
from core.figures.scene import build_scene
from core.figures.scene import check_runs as check_drawn
from core.files import folder_beside
from core.runs import Run, open_run
from core.studies.papers import papers_in
from core.studies.study import Study
from core.sweep.folder import folder_figure, one_per_path

METADATA = "ro-crate-metadata.json"
CONTEXT = "https://w3id.org/ro/crate/1.1/context"
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
TYPES = {
    ".msrun": "application/vnd.sqlite3",
    ".toml": "application/toml",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".json": "application/json",
}
RUNS, STUDIES, FIGURE = "runs", "studies", "figure"
UNKNOWN_LICENCE = "No licence was given."


@final
@dataclass(slots=True)
class _Crate:
    """Entities of a crate by their identifiers, and the folder with its files."""

    folder: Path
    entities: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, identifier: str, kind: str, **values: Any) -> dict[str, str]:
        """Add an entity, or take the one of that identifier; return a reference to it."""
        self.entities.setdefault(identifier, {"@id": identifier, "@type": kind} | values)
        return {"@id": identifier}

    def add_file(self, path: Path, **values: Any) -> dict[str, str]:
        """Add a file of the folder with its size, type and SHA-256."""
        content = path.read_bytes()
        return self.add(
            path.relative_to(self.folder).as_posix(),
            "File",
            encodingFormat=TYPES[path.suffix],
            contentSize=str(len(content)),
            sha256=hashlib.sha256(content).hexdigest(),
            **values,
        )


def write_crate(paths: Sequence[Path], out: Path, licence: str = "") -> None:
    """Write runs, their studies and their figure as an RO-Crate. Equal runs give equal bytes.

    Parameters
    ----------
    paths : sequence of path
        Run files, or one folder of them.
    out : Path
        Folder to make.
    licence : str
        Address or name of the licence of the data.

    Raises
    ------
    InputError
        A run is not readable or still being recorded, two have one name, or `out` exists.
    DiskError
        The folder cannot be written.
    """
    if out.exists():
        raise InputError(f"{out} exists; name a new folder.")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with folder_beside(out) as folder, ExitStack() as stack:
            _fill(_Crate(folder), paths, stack, licence)
            folder.rename(out)
    except OSError as error:
        raise DiskError(f"{out} cannot be written ({error.strerror}).") from error


def _fill(crate: _Crate, paths: Sequence[Path], stack: ExitStack, licence: str) -> None:
    folder = paths[0] if len(paths) == 1 and paths[0].is_dir() else None
    files = sorted(folder.glob("*.msrun")) if folder is not None else list(paths)
    if not files:
        raise InputError(f"The folder {folder} holds no run files (.msrun).")
    names = [path.name for path in files]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"Two runs are called {twice[0]}; a crate needs different names.")
    open_once = one_per_path(stack.enter_context)
    runs = [open_once(open_run(path)) for path in files]
    for run in runs:
        if run.status == "recording":
            raise InputError(f"{run.path} is still being recorded; wait, or stop it first.")
    (crate.folder / RUNS).mkdir()
    (crate.folder / STUDIES).mkdir()
    actions = [_add_run(crate, run) for run in runs]
    scene = None if folder is None else folder_figure(folder, open_once, LIGHT)
    if scene is None:
        first_runs = runs[:10]
        check_drawn(first_runs)
        scene = build_scene(first_runs, options=FigureOptions(LIGHT))
    for suffix in (".pdf", ".png"):
        place = crate.folder / f"{FIGURE}{suffix}"
        save_figure(scene, place, dpi=200.0)
        crate.add_file(place, name="Figure of the runs")
    _describe(crate, runs, actions, licence)


def _add_run(crate: _Crate, run: Run) -> dict[str, str]:
    """Copy a run, write its settings as a study, and add the action that made it."""
    name = run.path.stem
    copy = crate.folder / RUNS / run.path.name
    shutil.copyfile(run.path, copy)
    tables = run.experiment.model_dump(mode="python", exclude_none=True)
    study = Study(name, run.title, run.source, tables, axes={}, sizes={})
    place = crate.folder / STUDIES / f"{name}.toml"
    place.write_text(study.to_toml(), encoding="utf-8")
    program = crate.add(
        f"#marginscope-{run.program}",
        "SoftwareApplication",
        name="Marginscope",
        softwareVersion=run.program,
    )
    papers = [
        crate.add(
            f"#{paper.name}",
            "ScholarlyArticle",
            name=paper.title,
            author=paper.authors,
            **({"datePublished": paper.year} if paper.year else {}),
        )
        for paper in papers_in([run.source])
    ]
    settings = crate.add_file(place, name=f"Settings of {name}", **_if(citation=papers))
    result = crate.add_file(
        copy, name=run.title or name, dateCreated=run.creation_time, **_if(citation=papers)
    )
    return crate.add(
        f"#train-{name}",
        "CreateAction",
        name=f"Train {name}",
        instrument=program,
        object=[settings],
        result=[result],
        startTime=run.creation_time,
        description=f"{run.frames} frames; {run.status}",
    )


def _if(**values: Any) -> dict[str, Any]:
    """Return the values that are not empty."""
    return {name: value for name, value in values.items() if value}


def _describe(
    crate: _Crate, runs: Sequence[Run], actions: Sequence[Mapping[str, str]], licence: str
) -> None:
    """Write the metadata of the whole crate."""
    titles = list(dict.fromkeys(run.title or run.path.stem for run in runs))
    remainder = f" and {len(titles) - 3} more" if len(titles) > 3 else ""
    parts = [{"@id": name} for name, one in crate.entities.items() if one["@type"] == "File"]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "conformsTo": [crate.add(PROFILE, "CreativeWork", name="Process Run Crate", version="0.5")],
        "name": "; ".join(titles[:3]) + remainder,
        "description": f"{len(runs)} recorded runs of Marginscope, their settings and their figure",
        "datePublished": max(run.creation_time for run in runs)[:10],
        "license": licence or UNKNOWN_LICENCE,
        "hasPart": parts,
        "mentions": list(actions),
    }
    about = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": SPECIFICATION},
    }
    graph = [about, root, *crate.entities.values()]
    text = json.dumps({"@context": CONTEXT, "@graph": graph}, indent=1, ensure_ascii=False)
    (crate.folder / METADATA).write_text(text + "\n", encoding="utf-8")
