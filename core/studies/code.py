"""Python code that a study file carries or names: shown and trusted before it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from core import trust
from core.errors import InputError
from core.network.custom import CustomNetwork, read_code, with_code
from core.studies.study import Study
from core.study_file.experiment import Experiment

CODE, FILE = "code", "path"  # keys of [network]


def codes_of(study: Study) -> tuple[str, ...]:
    """Return each code that a cell of a study would run from the study file, at any size."""
    return tuple(dict.fromkeys(_values(study, CODE)))


def files_of(study: Study) -> tuple[Path, ...]:
    """Return the Python files that the cells of a study name, at any of its sizes."""
    folder = study.folder or Path()
    return tuple(dict.fromkeys(folder / name for name in _values(study, FILE)))


def _values(study: Study, name: str) -> Iterator[str]:
    """Yield the texts that a key of the network has in a study, its axes, variants and sizes."""
    key = f"network.{name}"
    yield from _texts(study.tables.get("network", {}).get(name))
    yield from _texts(list(study.axes.get(key, ())))
    for settings in (*study.variants.values(), *study.sizes.values()):
        yield from _texts(settings.get(key))


def _texts(value: object) -> Iterator[str]:
    values = value if isinstance(value, list) else [value]
    return (one for one in values if isinstance(one, str))


def check_code(study: Study, name: str, files: bool = True) -> None:
    """Raise UntrustedCodeError for code of a study, or of a file it names, not trusted here.

    `core.problem.problem.resolve_problem` and the network refuse the code too. This check answers
    before any other work, with the name of the study file.

    Parameters
    ----------
    study : Study
        Study with its code.
    name : str
        Name of the study file, for messages.
    files : bool
        False to leave out the Python files that the study names.
    """
    for code in codes_of(study):
        trust.check_trusted(code, name, name, file=name)
    for path, code in _readable(study) if files else ():
        trust.check_trusted(code, f"{name} names {path}, which", name, file=path, asker=name)


def _readable(study: Study) -> Iterator[tuple[Path, str]]:
    """Yield the files that a study names with their code; `resolve` reports what cannot be read."""
    for path in files_of(study):
        with suppress(InputError):  # perhaps a file of another size of the study
            yield path, read_code(path)


def check_cells(study: Study) -> None:
    """Raise UntrustedCodeError for code that the cells of a study would run at its present size."""
    study = replace(study, sizes={})
    for code in codes_of(study):
        holder = "network.code: the study"
        trust.check_trusted(code, holder, "FILE.toml", file=study.title)
    for path, code in _readable(study):
        holder = f"network.path: {path}"
        trust.check_trusted(code, holder, str(path), file=path, asker=study.title)


def check_experiments(experiments: Iterable[Experiment], folder: Path | None, asker: str) -> None:
    """Raise UntrustedCodeError for code that training these experiments would run.

    `core.problem.problem.resolve_problem` reports a file that cannot be read.

    Parameters
    ----------
    experiments : iterable of Experiment
        Experiments to train.
    folder : Path or None
        Folder that paths in them are relative to.
    asker : str
        Name of their study in a question.
    """
    for experiment in experiments:
        if isinstance(experiment.network, CustomNetwork):
            try:
                with_code(experiment.network, folder, asker)
            except trust.UntrustedCodeError:
                raise
            except InputError:
                continue


def trusted_codes(study: Study) -> tuple[str, ...]:
    """Return the SHA-256 of each code of a study, or of a file that it names, trusted here."""
    codes = (*codes_of(study), *(code for _, code in _readable(study)))
    return tuple(trust.digest_of(code) for code in codes if trust.is_trusted(code))


def trust_files(study: Study) -> None:
    """Trust the Python files that a study names, as `run` does for a study that its user typed.

    Files of sizes that the study was not set to are not among them. Raises InputError for a file
    that cannot be read.
    """
    for path in files_of(replace(study, sizes={})):
        trust.trust(read_code(path))
