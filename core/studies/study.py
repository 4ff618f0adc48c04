"""A Study: a base experiment, axes to vary, its title and source. A single run has no axes.

Read from and written to TOML: the tables of Experiment, plus title, source, axes, and the derived
settings and variants of core.studies.formulas. `[figure]` and `[window]` are in
core.studies.layout, `[[claims]]`, `[sweep]` and `[hunt]` in core.studies.claims.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import tomli_w

from core import plugins
from core.errors import InputError, did_you_mean, nearest_names
from core.files import is_there, read_text
from core.studies import tables as study_tables
from core.studies.claims import Claim, SweepTable, hunt_of, parse_claims, parse_sweep
from core.studies.formulas import FACTOR, FORMULA, VARIANT, apply_formulas
from core.studies.layout import FigureLayout, WindowTable, parse_layout, parse_window
from core.studies.tables import Cell, Place, StudyFile, as_typed, name_of, parse_setting, split_key
from core.study_file.experiment import KINDS
from core.study_file.validation import (
    SECTIONS,
    build_experiment,
    check_keys,
    parse_toml,
    section_class,
    table_of,
)

RESULTS = ("claims", "sweep", "hunt")
MAX_STUDY_BYTES = 1_000_000
MOST_CHECKED = 40  # largest grid whose cells are all checked on reading


# Without slots, since cached properties need the instance's dictionary.
@dataclass(frozen=True)
class Study:
    """A base experiment as plain tables, varied along axes (dotted key -> values)."""

    id: str
    title: str
    source: str
    tables: Mapping[str, Mapping[str, Any]]
    axes: Mapping[str, tuple[Any, ...]]
    sizes: Mapping[str, Mapping[str, Any]]
    folder: Path | None = None
    note: str = ""
    derived: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    figure: Mapping[str, Any] = field(default_factory=dict)
    window: Mapping[str, Any] = field(default_factory=dict)
    results: Mapping[str, Any] = field(default_factory=dict)  # claims, sweep and hunt as written
    # Of a recorded loop: keys that it did not state, and settings reported by its optimizer.
    unknown: frozenset[str] = frozenset()
    optimizer: str = ""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Statements that the runs of the study are to confirm."""
        return parse_claims(self.results.get("claims", []), self.id)

    @property
    def sweep(self) -> SweepTable:
        """Columns of the table of results."""
        return parse_sweep(self.results.get("sweep", {}), self.id)

    @property
    def opens_with(self) -> WindowTable:
        """Views and runs that the window shows first."""
        return parse_window(self.window, self.id)

    @property
    def count(self) -> int:
        """Number of cells."""
        return math.prod(map(len, self.axes.values())) * max(len(self.variants), 1)

    def cells(self) -> tuple[Cell, ...]:
        """Return all experiments of the grid, the last axis fastest, variants faster still.

        Raises InputError when a value of the grid is not allowed.
        """
        return self._all_cells

    @cached_property
    def _all_cells(self) -> tuple[Cell, ...]:
        """All cells, made once: thousands of them take seconds, and tables use them repeatedly."""
        return tuple(self.iter_cells())

    def iter_cells(self) -> Iterator[Cell]:
        """Yield the cells, each made when it is taken."""
        for place in self.places():
            yield self.cell(place)

    def places(self) -> Iterator[Place]:
        """Yield the place of each cell without making it: values of the axes, and of `variant`."""
        for values in itertools.product(*self.axes.values()):
            place = dict(zip(self.axes, values, strict=True))
            if not self.variants:
                yield place
            for variant in self.variants:
                yield {**place, VARIANT: variant}

    def cell(self, place: Place) -> Cell:
        """Return the cell at a place. Raises InputError when a value there is not allowed."""
        studies = self._variant_studies
        variant = str(place.get(VARIANT, ""))
        chosen = {key: place[key] for key in self.axes}
        return self._cell(chosen, variant, studies[variant])

    @cached_property
    def _variant_studies(self) -> Mapping[str, Study]:
        return dict(self._variants())

    def check(self) -> None:
        """Raise InputError for a value that is not allowed."""
        for error in self.errors():
            raise error

    def errors(self) -> Iterator[InputError]:
        """Yield the errors of the grid.

        A large grid is checked in each value of an axis, the other axes at their first value:
        making thousands of cells takes seconds.
        """
        axes, limit = self.axes, study_tables.MAX_CELLS
        if self.count > limit:
            text = (
                f"the axes span {self.count:.3g} cells; at most {limit} are allowed, so leave some "
                "values out."
            )
            yield InputError(text, where=self.id)
            return
        try:
            varied = self._variants()
        except InputError as error:
            yield error
            return
        first = {key: values[0] for key, values in axes.items()}
        all_cells = (dict(zip(axes, v, strict=True)) for v in itertools.product(*axes.values()))
        single_changes = ({**first, key: value} for key, values in axes.items() for value in values)
        choices = all_cells if self.count <= MOST_CHECKED else single_changes
        for chosen, (variant, study) in itertools.product(choices, varied):
            try:
                self._cell(chosen, variant, study)
            except InputError as error:
                yield error

    def _cell(self, chosen: dict[str, Any], variant: str, study: Study) -> Cell:
        """Return the cell of the values of the axes and of a variant, applied in `study`."""
        place = {**chosen, VARIANT: variant} if variant else chosen
        name = name_of(place)
        derived = name and (study.derived or variant)
        where = f"{self.id}, {name.replace('__', ', ')}" if derived else self.id
        tables = study._tables_of(chosen, where)
        return Cell(name, build_experiment(tables, where), place)

    def _variants(self) -> tuple[tuple[str, Study], ...]:
        """Return each variant by its name, applied; the study itself without variants."""
        if not self.variants:
            return (("", self),)
        plain = replace(self, variants={})
        varied = []
        for name, settings in self.variants.items():
            formulas = {k: text for k, text in settings.items() if k.startswith(FORMULA)}
            study = plain
            for key in sorted(settings.keys() - formulas.keys(), key=study_tables.kinds_first):
                study = study.with_value(key, settings[key])
            own = {key.removeprefix(FORMULA): str(text) for key, text in formulas.items()}
            study = replace(study, derived={**study.derived, **own})
            if study.axes != plain.axes:
                text = f"the variant {name} sets an axis of the study; only axes may set it."
                raise InputError(text, where=self.id)
            varied.append((name, study))
        return tuple(varied)

    def _tables_of(self, chosen: Mapping[str, Any], where: str) -> dict[str, dict[str, Any]]:
        """Return the tables of a cell: values of the axes, then what is derived from them."""
        tables = {section: dict(table) for section, table in self.tables.items()}
        factors = {}
        for key, value in chosen.items():
            section, name = key.split(".", 1)
            if section == FACTOR:
                factors[name] = value
            else:
                tables.setdefault(section, {})[name] = value
        try:
            apply_formulas(tables, self.derived, factors)
        except InputError as error:
            raise InputError(error.text, where=where) from error
        return tables

    def with_settings(self, settings: Sequence[str]) -> Study:
        """Return the study with `key=value` settings; a setting of an axis replaces the axis."""
        study = self
        parsed = [parse_setting(setting) for setting in settings]
        for key, value in sorted(parsed, key=lambda pair: study_tables.kinds_first(pair[0])):
            study = study.with_value(key, value)
        study.check()
        return study

    def with_value(self, key: str, value: Any) -> Study:
        """Return the study with one dotted key set; a list for a scalar key is an axis.

        The key is no longer derived, nor set by variants. factor.NAME sets a factor, and `variant`
        chooses among the variants.
        """
        if key == VARIANT:
            return self._with_variants(value if isinstance(value, list) else [value])
        section, name = split_key(key)
        if section == FACTOR:
            if key not in self.axes:
                factors = [axis for axis in self.axes if axis.startswith(f"{FACTOR}.")]
                hint = did_you_mean(key, factors) if factors else "it has none."
                raise InputError(f"this study has no {key}; {hint}", where=self.id)
            values = value if isinstance(value, list) else [value]
            with as_typed():
                axis = study_tables.axis(key, values, "")
            return replace(self, axes={**self.axes, key: axis})
        tables = {name_: dict(table) for name_, table in self.tables.items()}
        table = tables.setdefault(section, {})
        axes = dict(self.axes)
        if name == "kind" and section in KINDS:
            dropped_keys = study_tables.change_kind(tables, section, value)
            names = section_class(section, table).model_fields.keys() - dropped_keys
            axes = {k: v for k, v in axes.items() if not study_tables.is_dropped(k, section, names)}
        varied = study_tables.set_in_variants(tables, self.variants, key, value)
        if varied:
            return replace(self, variants=varied)
        with as_typed():
            check_keys({name: value}, section_class(section, table), section, "")
        if isinstance(value, list) and not study_tables.is_one_value(
            value, section_class(section, table), name
        ):
            with as_typed():
                axes[key] = study_tables.axis(key, value, "")
            table.pop(name, None)
        else:
            axes.pop(key, None)
            table[name] = value
        derived = {k: formula for k, formula in self.derived.items() if k != key}
        variants = {
            variant: {k: v for k, v in settings.items() if k not in (key, FORMULA + key)}
            for variant, settings in self.variants.items()
        }
        return replace(self, tables=tables, axes=axes, derived=derived, variants=variants)

    def _with_variants(self, names: Sequence[Any]) -> Study:
        for name in names:
            if name not in self.variants:
                raise InputError(
                    f"{self.id} has no variant {name}; "
                    f"{did_you_mean(str(name), self.variants) if self.variants else 'it has none.'}"
                )
        return replace(self, variants={name: self.variants[name] for name in names})

    def at_size(self, size: str | None) -> Study:
        """Return the study at its `quick` or `paper` size; itself where it has no such size."""
        if size is None or size not in self.sizes:
            return self
        study = self
        for key, value in self.sizes[size].items():
            study = study.with_value(key, value)
        return study

    def layout(self) -> FigureLayout | None:
        """Return the panels of the study's figure (core.studies.layout), if any."""
        return parse_layout(self.figure, self.id) if self.figure else None

    def to_toml(self) -> str:
        """Return the study as TOML, which `parse_study` reads back to an equal study."""
        sections = {
            section: {key: value for key, value in table.items() if value is not None}
            for section, table in self.tables.items()
        }
        document = {
            "note": self.note,
            **sections,
            "axes": self.axes,
            "derived": self.derived,
            "variants": self.variants,
            "sizes": self.sizes,
            "figure": self.figure,
            "window": self.window,
        }
        parts = {key: part for key, part in document.items() if part}
        return tomli_w.dumps({"title": self.title, "source": self.source, **parts, **self.results})


def parse_study(
    text: str, identifier: str, folder: Path | None = None, *, file_name: str = ""
) -> Study:
    """Return the study of a study file's text.

    Parameters
    ----------
    text : str
        TOML of the file.
    identifier : str
        Id of the study, which messages name; also its title if the file has none.
    folder : Path, optional
        Folder to which the study's paths are relative; None for the current one.
    file_name : str
        Name that messages about text that is not TOML give instead of the id; "" for the id.

    Returns
    -------
    Study

    Raises
    ------
    InputError
        The text is not TOML, has an unknown key or kind, or a value that is not allowed, also in
        the figure, the claims and the cells of the grid.
    """
    file = table_of(StudyFile, parse_toml(text, file_name or identifier), identifier)
    tables = file.given_tables(SECTIONS)
    axes = study_tables.axes(file.axes, identifier)
    sizes = study_tables.sizes(file.sizes, identifier)
    study_tables.check_derived(file.derived, identifier)
    study_tables.check_variants(file.variants, identifier)
    for key, values in axes.items():  # the base may be incomplete without the values of its axes
        section, name = key.split(".", 1)
        if section != FACTOR:
            tables[section] = {**tables.get(section, {}), name: values[0]}
    if not file.derived and not file.variants:  # otherwise the cells are checked
        build_experiment(tables, identifier)
    study = Study(
        id=identifier,
        title=file.title.strip() or identifier,
        source=file.source,
        note=file.note,
        folder=folder,
        tables=tables,
        axes=axes,
        sizes=sizes,
        derived=file.derived,
        variants=file.variants,
        figure=file.figure,
        window=file.window,
        results=file.given_tables(RESULTS),
    )
    # Parse once now, so that errors in figure and claims are reported on opening the study.
    study.layout()
    _ = study.claims, study.sweep, hunt_of(study.results, identifier), study.opens_with
    study.check()
    return study


def shipped_ids() -> tuple[str, ...]:
    """Return the ids of the studies that come with the program and with packages, sorted."""
    return tuple(sorted(entry.stem for entry in plugins.study_files()))


def load_study(name: str) -> Study:
    """Return a shipped study by its id, or a study file by its path.

    Raises InputError when neither exists, or when the study is not valid.
    """
    plugins.load_trusted()
    for entry in plugins.study_files():
        # Shipped studies take precedence: a file of that name in the current folder is ./NAME.
        if entry.name == f"{name}.toml":
            return parse_study(entry.read_text(encoding="utf-8"), name)
    path = Path(name)
    if path.suffix != ".toml" and not (is_there(path) and path.is_file()):
        plugins.check_untrusted(name, f"The study {name}")
        hint = nearest_names(name, shipped_ids())
        raise InputError(
            f"The study {name} does not exist; {hint} `list` shows all studies; study files end "
            "in .toml."
        )
    if not is_there(path):
        raise InputError(f"The study file {name} does not exist; check the path.")
    text = read_text(path, MAX_STUDY_BYTES, "study file").replace("\r\n", "\n")
    return parse_study(text, path.stem, path.resolve().parent, file_name=path.name)
