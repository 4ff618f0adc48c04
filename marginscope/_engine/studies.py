"""`marginscope.study` and `studies`: what there is to train, and its settings."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np

from core.errors import InputError, did_you_mean, nearest_names
from core.studies.code import check_code
from core.studies.papers import PAPERS
from core.studies.study import Study as CoreStudy
from core.studies.study import load_study, shipped_ids
from core.studies.summaries import shipped_summaries
from core.studies.tables import SIZES, kinds_first
from marginscope._engine.boundary import public


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """One experiment of a study.

    Attributes
    ----------
    name : str
        Name of its run file without suffix, such as "network.m=16"; empty without axes.
    place : mapping of str to value
        Value of each axis, by dotted keys.
    settings : mapping
        Sections of its study file: settings["network"]["m"].
    """

    name: str
    place: Mapping[str, Any]
    settings: Mapping[str, Mapping[str, Any]]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Study:
    """A study: one experiment, or one for each place on its axes. Made by `marginscope.study`."""

    _study: CoreStudy
    _size: str | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """Name in run files and for `train`."""
        return str(self._study.id)

    @property
    def title(self) -> str:
        """Title for people."""
        return str(self._study.title)

    @property
    def source(self) -> str:
        """Paper of the study; empty for your own."""
        paper = PAPERS.get(self._study.source)
        return str(self._study.source if paper is None else paper.citation(""))

    @property
    def note(self) -> str:
        """Notes on the paper's setting and what it leaves open."""
        return str(self._study.note).strip()

    @property
    def axes(self) -> dict[str, tuple[Any, ...]]:
        """Settings that have several values, by their dotted keys."""
        return dict(self._study.axes)

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the variants, of which each cell has one; () in most studies."""
        return tuple(self._study.variants)

    @property
    def sizes(self) -> tuple[str, ...]:
        """Sizes for training: "quick" and "paper", or () for a study with only one size."""
        return SIZES if self._study.sizes else ()

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """Settings that all cells share, by sections of the study file."""
        return {section: dict(table) for section, table in self._study.tables.items()}

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All experiments, the last axis fastest. Raises InputError for a value not allowed."""
        return tuple(
            Cell(cell.name, dict(cell.values), cell.experiment.model_dump(mode="json"))
            for cell in self._study.cells()
        )

    def __len__(self) -> int:
        return int(self._study.count)

    @public
    def with_settings(self, settings: Mapping[str, Any] | None = None, /, **more: Any) -> Study:
        """Return the study with other settings; a list of values is an axis.

        Parameters
        ----------
        settings : mapping, optional
            Values by dotted keys.
        **more
            Further values by dotted keys, as `**{"network.m": [16, 64]}`.

        Returns
        -------
        Study

        Raises
        ------
        InputError
            An unknown key, or a value not allowed.

        Examples
        --------
        >>> import marginscope as ms
        >>> wide = ms.study("telgarsky22-figure-1").with_settings({"network.m": [16, 64]})
        >>> len(wide), wide.axes
        (2, {'network.m': (16, 64)})
        """
        return Study(change_study(self._study, {**(settings or {}), **more}), self._size)

    @public
    def at_size(self, size: str) -> Study:
        """Return the study at one of its `sizes`.

        Parameters
        ----------
        size : str
            "quick" or "paper".

        Returns
        -------
        Study

        Raises
        ------
        InputError
            The study has no such size.
        """
        if size not in self.sizes:
            sizes = ", ".join(self.sizes) or "only the one"
            raise InputError(f"{self.name} has no size {size!r}; it has {sizes}.")
        return Study(self._study.at_size(size), size)

    def describe(self) -> str:
        """Return title, source, note, axes and settings as text to read."""
        lines = [self.title, self.source, *textwrap.wrap(self.note, 96)]
        lines += [f"{len(self)} runs" if len(self) > 1 else "one run"]
        for key, values in self.axes.items():
            lines.append(f"  {key}: {', '.join(map(str, values))}")
        if self.variants:
            lines.append(f"  variant: {', '.join(self.variants)}")
        for section, table in self.settings.items():
            own = [f"{key} = {value!r}" for key, value in table.items()]
            lines.append(f"[{section}] {', '.join(own)}")
        lines += [f"claims: {claim.text}" for claim in self._study.claims]
        return "\n".join(line for line in lines if line)

    def to_toml(self) -> str:
        """Return the text of a study file, for `study`, the window and the command line."""
        return str(self._study.to_toml())

    def __repr__(self) -> str:
        axes = ", ".join(f"{key} = {list(values)}" for key, values in self.axes.items())
        return f"<Study {self.name!r}: {self.title}{f'; {axes}' if axes else ''}>"


def core_study(study: Study) -> CoreStudy:
    """Return the program's own study behind a Study."""
    return study._study


def size_of(study: Study) -> str | None:
    """Return the size that a study was put to; None for its own."""
    return study._size


@public
def study(name: str | os.PathLike[str] | Study, /, **settings: Any) -> Study:
    """Return a study that comes with the program, or one of a study file.

    Parameters
    ----------
    name : str, path or Study
        Name as in `studies`, or path of a study file (.toml).
    **settings
        Values by dotted keys, as study files have them; a list of values is an axis with a run for
        each.

    Returns
    -------
    Study

    Raises
    ------
    InputError
        A study, a key or a value that does not exist.

    Examples
    --------
    >>> import marginscope as ms
    >>> one = ms.study("telgarsky22-figure-1", **{"network.m": [16, 64], "run.seed": 3})
    >>> one
    <Study 'telgarsky22-figure-1': Telgarsky 2022, Figure 1; network.m = [16, 64]>
    >>> [cell.settings["network"]["m"] for cell in one.cells]
    [16, 64]
    """
    return find_study(name, settings)


def studies() -> dict[str, str]:
    """Return the studies that come with the program: name -> title.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> import marginscope as ms
    >>> ms.studies()["telgarsky22-figure-1"]
    'Telgarsky 2022, Figure 1'
    """
    return {one.id: one.title for one in shipped_summaries()}


def find_study(
    name: str | os.PathLike[str] | Study, settings: Mapping[str, Any], size: str | None = None
) -> Study:
    """Return a study by its name or path, at a size, with settings.

    Parameters
    ----------
    name : str, path or Study
        Study that comes with the program, study file, or a Study.
    settings : mapping
        Values by dotted keys.
    size : str, optional
        "quick" or "paper"; by default the study's own.

    Returns
    -------
    Study

    Raises
    ------
    InputError
        A study, a size, a key or a value that does not exist.
    """
    if size is not None and size not in SIZES:
        raise InputError(f"size = {size!r} does not exist; {did_you_mean(str(size), SIZES)}")
    if isinstance(name, Study):
        study = name if size is None else Study(name._study.at_size(size), size)
    else:
        loaded = load_study(_check_name(name))
        check_code(loaded, str(name))
        study = Study(loaded.at_size(size), size)
    return Study(change_study(study._study, settings), study._size) if settings else study


def _check_name(name: str | os.PathLike[str]) -> str:
    if not isinstance(name, str | os.PathLike):
        raise InputError(
            f"{name!r:.60} is not a study; give a name such as 'telgarsky22-figure-1', a path "
            "that ends in .toml, or a Study."
        )
    text = os.fspath(name)
    if text in shipped_ids() or text.endswith(".toml") or Path(text).is_file():
        return text
    raise InputError(
        f"The study {text!r:.80} does not exist; {nearest_names(text, shipped_ids())} "
        "`marginscope.studies()` lists all studies."
    )


def change_study(study: CoreStudy, settings: Mapping[str, Any]) -> CoreStudy:
    """Return the program's study with settings, kinds first, since keys depend on them."""
    for key in sorted(settings, key=kinds_first):
        study = study.with_value(key, plain(settings[key]))
    study.check()
    return study


def plain(value: Any) -> Any:
    """Return a setting as a study file would have it: no arrays, tuples or paths.

    >>> plain(np.arange(3)), plain((np.float64(0.5), "gd")), plain(range(2))
    ([0, 1, 2], [0.5, 'gd'], [0, 1])
    """
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return [plain(one) for one in value]
    return value
