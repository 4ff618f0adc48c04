"""`list`, `describe`, `cost`: studies, the meaning of their settings, and their cost."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from core.cli.output import print_indented, print_json, print_line, print_notice, print_text
from core.errors import InputError, nearest_names
from core.plugins import origin, untrusted_plugins
from core.program import headless_program
from core.settings import Section
from core.studies.code import check_code
from core.studies.study import Study, load_study, shipped_ids
from core.study_file.experiment import KINDS, PLAIN_SECTIONS

SUBJECTS = (*KINDS, *PLAIN_SECTIONS, "observables", "margins", "theorems")
NAME = " " * 22  # indent of the lines after a name


def list_studies(arguments: argparse.Namespace) -> int:
    """Print the id, title and axes of each shipped study; JSON also has source and cells.

    The text ends with the installed packages that are not trusted yet.
    """
    studies = [load_study(name) for name in shipped_ids()]
    if arguments.json:
        print_json([_summary(study) for study in studies])
        return 0
    for study in studies:
        axes = "; ".join(f"{k} = {', '.join(map(str, v))}" for k, v in study.axes.items())
        print_line(f"{study.id:<28} {study.title}{f' ({axes})' if axes else ''}")
    for plugin in untrusted_plugins():
        print_notice(
            f"{plugin.title} adds kinds and studies and is not trusted yet; "
            f"`{headless_program()} trust {plugin.distribution}` shows its code."
        )
    return 0


def _summary(study: Study) -> dict[str, Any]:
    """Return a study's fields in `list --json`; `cells` is their number."""
    summary = {"id": study.id, "title": study.title, "source": study.source, "cells": study.count}
    return summary | {"axes": study.axes}


def describe(arguments: argparse.Namespace) -> int:
    """Print the kinds and keys of a section, a study as TOML, or one of three lists.

    The lists are "observables", "margins" and "theorems". Raises InputError for other subjects.
    """
    topic: str = arguments.what
    if topic == "observables":
        _describe_observables()
    elif topic == "margins":
        _describe_margins()
    elif topic == "theorems":
        _describe_theorems()
    elif topic in KINDS:
        for kind, section in KINDS[topic].items():
            _describe_section(f'{topic}.kind = "{kind}"{origin(section.__module__)}', section)
    elif topic in PLAIN_SECTIONS:
        _describe_section(f"[{topic}]", PLAIN_SECTIONS[topic])
    elif topic in shipped_ids() or topic.endswith(".toml"):
        study = load_study(topic)
        print_text(study.to_toml(), end="")
    else:
        hint = nearest_names(topic, (*SUBJECTS, *shipped_ids()))
        raise InputError(f"{topic} cannot be described; {hint}")
    return 0


def _describe_section(heading: str, section: type[Section]) -> None:
    print_line(heading)
    print_line(f"    {section.title}")
    if section.source:
        print_line(f"    source: {section.source}")
    for key, field in section.model_fields.items():
        if key == "kind":
            continue
        extra: dict[str, Any] = dict(field.json_schema_extra or {})  # type: ignore[arg-type]
        default = _default_text(field.get_default())
        unit = f" [{extra['unit']}]" if extra.get("unit") else ""
        text = f"{field.description}{unit}; default: {default}"
        print_indented(text, f"    {key:<18}", NAME)
    print_line()


def _default_text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return str(list(value))
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def _describe_observables() -> None:
    from core.observables.registry import OBSERVABLES

    for item in OBSERVABLES.values():
        source = f" ({item.source})" if item.source else ""
        where = f"; for {item.where}" if item.where else ""
        where += origin(OBSERVABLES.module_of(item.name))
        text = f"{item.formula}{source}; {item.shape.value}{where}"
        print_indented(text, f"{item.name:<22}", NAME)


def _describe_margins() -> None:
    from core.reference.registry import REFERENCES

    for item in REFERENCES.values():
        where = "not drawn" if item.factor is None else f"drawn as {item.label}"
        where += origin(type(item).__module__)
        text = f"{item.formula} ({item.source}); for {item.where}; {where}"
        print_indented(text, f"{item.name:<22}", NAME)


def _describe_theorems() -> None:
    from core.theorems.registry import STATEMENTS

    for name, item in STATEMENTS.items():
        print_line(f"{item.source}, {item.name}{origin(STATEMENTS.module_of(name))}")
        for text in (item.text, f"for {item.where}", f"Note: {item.slip}" if item.slip else ""):
            if text:
                print_indented(text, " " * 4, " " * 6)


def cost(arguments: argparse.Namespace) -> int:
    """Print a study's core-seconds a cell, their total, the wall time and the bytes of runs."""
    from core.sweep.cost import estimate, lines
    from core.sweep.pools import cores

    count = arguments.cores if arguments.cores is not None else cores()
    if count < 1:
        raise InputError(f"--cores {count}: give 1 or more.")
    study = load_study(arguments.study)
    check_code(study, arguments.study)
    study = study.at_size(arguments.size).with_settings(arguments.settings)
    result = estimate(study, count)
    if arguments.json:
        document = {"core_seconds": result.total, "bytes": result.bytes, "cores": count}
        groups = [asdict(group) for group in result.groups]
        print_json(document | {"wall_seconds": result.wall, "groups": groups})
    else:
        print_text("\n".join(lines(result)))
    return 0
