"""`cite`: BibTeX of what runs and studies were made from."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path

from core.cli.output import print_text
from core.runs import Run, open_run, runs_in
from core.studies.citing import bibtex
from core.studies.study import load_study, shipped_ids


def cite(arguments: argparse.Namespace) -> int:
    """Print the entries of the program and of the papers of runs and studies."""
    sources: list[str] = []
    with ExitStack() as stack:
        for target in arguments.targets:
            path = Path(target)
            if target in shipped_ids() or path.suffix == ".toml":
                sources.append(load_study(target).source)
                continue
            for one in runs_in(path) if path.is_dir() else [path]:
                sources += sources_of(stack.enter_context(open_run(one)))
    print_text(bibtex(sources), end="")
    return 0


def sources_of(run: Run) -> list[str]:
    """Where a run's study, its statements and its reference margins come from."""
    from core.reference.registry import references_of
    from core.theorems.registry import applicable

    statements = [one.source for one in applicable(run)]
    return [run.source, *statements, *(one.source for one in references_of(run.problem))]
