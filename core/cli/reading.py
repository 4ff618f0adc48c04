"""`info`, `table`, `trust` and `cite`: the content of a run file, and its sources."""

from __future__ import annotations

import argparse
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core import trust
from core.cli.output import print_json, print_line, print_notice, print_text, progress
from core.cli.view_arguments import read_notes
from core.data.section import scaling_words
from core.errors import InputError
from core.files import write_whole
from core.network.custom import read_code
from core.numbers import time_text
from core.observables.table_formats import csv_bytes
from core.plugins import find_plugin
from core.runs import Run, code_of, open_run, open_with_history, runs_in
from core.runs.settings import known_settings, left_words, optimizer_text, was_left
from core.studies.code import codes_of, files_of
from core.studies.papers import bibtex
from core.studies.study import load_study, shipped_ids

if TYPE_CHECKING:
    from core.library.entry import MomentNote

PARTS = (("biases", "biases"), ("offset", "outer bias"))
NOTE_COLUMNS = ("frame", "step", "log10_time", "text", "quantity", "value")
FACTORS = (("scale", "factor of the outputs"), ("loss_factor", "loss over R"))


def facts(run: Run) -> dict[str, Any]:
    """Return the facts of a run that `info` prints: status, sizes, study, scalars of the end."""
    from core.observables.registry import last_values

    data = run.dataset
    experiment = {
        section: {key: value for key, value in table.items() if value is not None}
        for section, table in known_settings(run).items()
    }
    extra: dict[str, Any] = {} if run.lineage is None else {"lineage": run.lineage.words}
    if data.scaling is not None:
        applied = {"shift": data.scaling.shift, "divisor": data.scaling.divisor}
        extra["scaling"] = {name: values.tolist() for name, values in applied.items()}
    was_abandoned = was_left(run)
    recorder = {"recorder": "gone" if was_abandoned else "at work"} if run.is_recording else {}
    return extra | {
        "status": run.status,
        "reason": run.reason,
        **recorder,
        "engine": run.engine,
        "frames": run.frames,
        "bytes": run.bytes_on_disk,
        **({"loop": run.loop_factors} if run.loop_factors else {}),
        "sizes": {"n": data.n, "d": data.d, "m": run.experiment.network.m},
        "study": {"title": run.title, "source": run.source, **experiment},
        "scalars": last_values(run),
    }


def notes_at_moments(run: Run) -> dict[str, Any]:
    """Return the notes at moments of a run that `info` prints; empty without any."""
    (moments,) = read_notes([run])
    notes = [
        {"log10_time": one.log10_time, "text": one.text}
        | ({"quantity": one.quantity, "value": one.value} if one.quantity else {})
        for one in moments
    ]
    return {"notes": notes} if notes else {}


def info(arguments: argparse.Namespace) -> int:
    """Print the facts of a run, as JSON or as lines."""
    with open_run(Path(arguments.run)) as run:
        values = facts(run) | notes_at_moments(run)
        times, steps = run.log10_time[: run.frames], run.steps if run.counts_steps else None
        events, optimizer = run.events(), optimizer_text(run)
        note = left_words(run) if values.get("recorder") == "gone" else ""
    if arguments.json:
        print_json(values)
        return 0
    sizes = values["sizes"]
    print_line(values["study"]["title"])
    ended = ", " + values["reason"] if values["reason"] else ""
    print_line(f"  {note or values['status'] + ended}; {values['engine']}")
    print_line(
        f"  n = {sizes['n']}, d = {sizes['d']}, m = {sizes['m']}; {values['bytes'] / 1e6:.2f} MB"
    )
    print_line(f"  {_setup(values['study'], values.get('loop', {}))}")
    scale = values["study"]["data"].get("scale", "none")
    if words := scaling_words(scale):
        print_line(f'  data.scale = "{scale}": {words}')
    if "lineage" in values:
        print_line(f"  {values['lineage']}")
    if optimizer:
        print_line(f"  optimizer: {optimizer}")
    if times.size:
        end = f"log10 t = {times[-1]:.6g}" if steps is None else f"step {steps[-1]}"
        print_line(f"  {values['frames']} frames to {end}")
    for name, value in values["scalars"].items():
        print_line(f"  {name:<18} {value:.6g}")
    for note in values.get("notes", ()):
        print_line(f"  note at {time_text(note['log10_time'], steps is not None)}: {note['text']}")
    for frame, kind, payload in events:
        details = ", ".join(f"{key} {value}" for key, value in payload.items())
        print_line(f"  after frame {frame}: {kind} ({details})")
    return 0


def _setup(study: dict[str, Any], factors: dict[str, float]) -> str:
    """Return network, loss and dynamics of a run, and the factors of a recorded loop, as text."""
    network = study["network"]
    kind_words = [network["kind"], network.get("activation", "").replace("_", " ")]
    kind_words += [words for key, words in PARTS if network.get(key)]
    parts = [
        f"network: {', '.join(filter(None, kind_words))}",
        f"loss: {study['loss']['kind']}",
        f"dynamics: {study['dynamics']['kind']}",
        *(f"{words}: {factors[key]:.6g}" for key, words in FACTORS if key in factors),
    ]
    return "; ".join(parts)


def trust_run(arguments: argparse.Namespace) -> int:
    """Print the code in a run or Python file, of a study or of an installed package; return 0.

    --yes also trusts the code. Raises InputError for code with characters that hide a part of it.
    """
    path = Path(arguments.run)
    codes = _codes(arguments.run)
    if not codes:
        print_line(f"{path} contains no code; no trust is needed.")
        return 0
    # Check all before showing any: the code shown is exactly the code that would run.
    for code, holder in codes:
        trust.check_shown(code, str(holder))
    for code, holder in codes:
        if holder != path:
            print_line(f"# {holder}, which {path} names:")
        # Printed unescaped: `check_shown` has rejected characters that act on the terminal.
        print_text(code.rstrip())
    if arguments.yes:
        for code, _ in codes:
            trust.trust(code)
        print_line(f"# Trusted: {path} can be read now.")
    else:
        print_line(f"# Reading {path} runs this code. If you trust it, add --yes.")
    return 0


def _codes(name: str) -> list[tuple[str, Path]]:
    """Return each code of a run, a study or a Python file, and the file that contains it."""
    path = Path(name)
    plugin = None if path.exists() else find_plugin(name)
    if plugin is not None:
        return [(plugin.code(), plugin.root or path)]
    if path.suffix == ".py":
        return [(read_code(path), path)]
    if path.suffix == ".toml" or name in shipped_ids():
        study = load_study(name)
        embedded = [(code, path) for code in codes_of(study)]
        return embedded + [(read_code(file), file) for file in files_of(study)]
    code = code_of(path)
    return [] if code is None else [(code, path)]


def table(arguments: argparse.Namespace) -> int:
    """Write a table of a run: its observables by frame, or its notes; return 0.

    Of a folder: the cells of its sweep, or with --means their means over seeds.
    """
    from core.observables.table import available_observables, left_out, write_table

    out = Path(arguments.out)
    if arguments.notes:
        return _notes_table(arguments, out)
    if Path(arguments.run).is_dir():
        return _sweep_table(Path(arguments.run), out, arguments.means)
    if arguments.means:
        raise InputError("--means averages over the seeds of a sweep; give its folder.")
    if arguments.all and arguments.columns is not None:
        raise InputError("--all and --columns exclude each other; give one of them.")
    nodes = out.suffix.lower() == ".npz"
    opener = open_with_history if arguments.history else open_run
    with (
        opener(Path(arguments.run)) as run,
        progress("table", run.frames, arguments.quiet) as bar,
    ):
        names, without = None, left_out(run, nodes)
        if arguments.all:
            names, without = [item.name for item in available_observables(run, nodes)], ()
        elif arguments.columns is not None:
            names = [part.strip() for part in arguments.columns.split(",") if part.strip()]
            without = ()
        write_table(run, out, arguments.parameters, bar.add, names)
    if without and not arguments.quiet:
        print_notice(f"Omitted, as they may take long: {', '.join(without)}; --all includes them.")
    print_line(out)
    return 0


def _notes_table(arguments: argparse.Namespace, out: Path) -> int:
    """Write the notes at moments of a run as CSV, in the order of time; return 0.

    Raises InputError for options about observables, and for another ending than .csv.
    """
    of_observables = {
        "--means": arguments.means,
        "--all": arguments.all,
        "--columns": arguments.columns is not None,
        "--parameters": arguments.parameters,
    }
    if wrong := [name for name, is_given in of_observables.items() if is_given]:
        raise InputError(f"--notes writes notes alone; leave {wrong[0]} out.")
    if out.suffix.lower() != ".csv":
        raise InputError(f"{out} must end in .csv: notes are written as CSV.")
    opener = open_with_history if arguments.history else open_run
    with opener(Path(arguments.run)) as run:
        (notes,) = read_notes([run])
        rows = [_note_row(run, note) for note in sorted(notes, key=attrgetter("log10_time"))]
    write_whole(out, csv_bytes(NOTE_COLUMNS, rows))
    print_line(out)
    return 0


def _note_row(run: Run, note: MomentNote) -> tuple[Any, ...]:
    """Return the row of a note in `NOTE_COLUMNS`, with the last frame not after its moment."""
    times = run.log10_time[: run.frames]
    frame = max(int(np.searchsorted(times, note.log10_time + 1e-9, side="right")) - 1, 0)
    step = int(run.steps[frame]) if run.frames else ""
    value = "" if note.value is None else note.value
    texts = [quote_formula(text) for text in (note.text, note.quantity)]
    return frame, step, note.log10_time, texts[0], texts[1], value


def quote_formula(text: str) -> str:
    """Return a text for a cell that no program for tables takes for a formula.

    >>> quote_formula("=1+1"), quote_formula("m = 8")
    ("'=1+1", 'm = 8')
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def _sweep_table(folder: Path, out: Path, means: bool) -> int:
    """Write the cells of the one sweep in a folder, or their means over seeds; return 0."""
    from core.studies.cell_table import check_table, rows_of, write_means
    from core.studies.cell_table import write_table as write_cells
    from core.sweep.folder import existing_sweeps

    check_table(out)
    ledgers = existing_sweeps(folder)
    if len(ledgers) > 1:
        names = ", ".join(ledger.study.id for ledger in ledgers)
        raise InputError(
            f"{folder} contains sweeps of several studies ({names}); a table needs one study."
        )
    study = ledgers[0].study
    rows = rows_of(study, ledgers[0].rows)
    if means:
        write_means(study, rows, out)
    else:
        write_cells(rows, out)
    print_line(out)
    return 0


def crate(arguments: argparse.Namespace) -> int:
    """Write an RO-Crate of runs."""
    from core.sweep.crate import write_crate

    out = Path(arguments.out)
    paths = [Path(target) for target in arguments.targets]
    if len(paths) > 1 and any(path.is_dir() for path in paths):
        raise InputError("Name one folder, or run files.")
    write_crate(paths, out, arguments.license)
    print_line(out)
    return 0


def cite(arguments: argparse.Namespace) -> int:
    """Print BibTeX entries of the program and of the papers of runs, folders and studies."""
    sources: list[str] = []
    for target in arguments.targets:
        path = Path(target)
        if target in shipped_ids() or path.suffix == ".toml":
            sources.append(load_study(target).source)
            continue
        for one in runs_in(path) if path.is_dir() else [path]:
            # One at a time: a folder may hold more runs than a process can open files.
            with open_run(one) as run:
                sources += sources_of(run)
    print_text(bibtex(sources), end="")
    return 0


def sources_of(run: Run) -> list[str]:
    """Return the sources of a run's study, its statements and its reference margins."""
    from core.reference.registry import references_of
    from core.theorems.registry import applicable_statements

    statements = [one.source for one in applicable_statements(run)]
    return [run.source, *statements, *(one.source for one in references_of(run.problem))]
