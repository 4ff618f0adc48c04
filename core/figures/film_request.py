"""What a film is made of, as a frozen value and as JSON: how one program asks another for it.

All that a window shows is in it, also what no option of the command line can say, such as reference
margins as they are known by now. What is read is checked; nothing in it is run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, final

import numpy as np
from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError, field_validator

from core.errors import InputError
from core.figures.look import FIRST_CURVES, PLAIN, BoundCurve, Look, Region
from core.figures.palette import LIGHT, PALETTES
from core.observables.node_sets import NodeSet
from core.observables.planes import COORDINATES, PLANES, NodePlane
from core.reference.margin import Bracket, ReferenceMargin
from core.reference.share import Promise

T = TypeVar("T")
Interval = tuple[float, float]


def _path(value: object) -> Path:
    # Not pydantic's own: a path may have bytes that are no text, which Python keeps in surrogates.
    if not isinstance(value, str | Path) or not Path(value).is_absolute():
        raise ValueError("an absolute path is needed")
    return Path(value)


Place = Annotated[Path, PlainValidator(_path)]


class _Value(BaseModel):
    """A part of a request; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


@final
class _Margin(_Value):
    """A reference margin, by its name in the registry."""

    name: str
    lower: float
    upper: float
    value: float
    certified: bool
    method: str
    seconds: float
    drawn: bool

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        from core.reference.registry import REFERENCES

        if name not in REFERENCES:
            raise ValueError(f"there is no reference margin {name[:60]!r}")
        return name

    @classmethod
    def of(cls, margin: ReferenceMargin) -> _Margin:
        return cls(**margin.as_json(), drawn=margin.drawn)

    def made(self) -> ReferenceMargin:
        from core.reference.registry import REFERENCES

        bracket = Bracket(self.lower, self.upper, self.value, self.certified, self.method)
        return ReferenceMargin(REFERENCES[self.name], bracket, self.seconds, self.drawn)


@final
class _Promise(_Value):
    """What margins are shares of."""

    margin: _Margin | None
    waits: tuple[str, ...]

    @classmethod
    def of(cls, promise: Promise) -> _Promise:
        return cls(margin=_or_none(_Margin.of, promise.margin), waits=promise.waits)

    def made(self) -> Promise:
        return Promise(_or_none(_Margin.made, self.margin), self.waits)


@final
class _Bound(_Value):
    """What a statement promises at every frame."""

    key: str
    name: str
    view: str
    values: tuple[float, ...]

    @classmethod
    def of(cls, bound: BoundCurve) -> _Bound:
        values = tuple(np.asarray(bound.values, np.float64).tolist())
        return cls(key=bound.key, name=bound.name, view=bound.view, values=values)

    def made(self) -> BoundCurve:
        return BoundCurve(self.key, self.name, self.view, np.array(self.values, np.float64))


@final
class _Look(_Value):
    """How panels look; its values are checked where they are drawn (core.figures.look)."""

    curves: tuple[str, ...] = FIRST_CURVES
    logarithmic: bool = False
    against: str = "log10_time"
    nodes: str = "weights"
    roots: bool = False
    regions: tuple[Region, ...] = ()
    pinned: tuple[frozenset[int], ...] = ()
    bounds: tuple[tuple[_Bound, ...], ...] = ()
    rest: bool = False

    @classmethod
    def of(cls, look: Look) -> _Look:
        given = {name: getattr(look, name) for name in cls.model_fields if name != "bounds"}
        bounds = tuple(tuple(map(_Bound.of, some)) for some in look.bounds)
        return cls(**given, bounds=bounds)

    def made(self) -> Look:
        given = {name: getattr(self, name) for name in type(self).model_fields if name != "bounds"}
        bounds = tuple(tuple(one.made() for one in some) for some in self.bounds)
        return Look(**given, bounds=bounds)


@final
class FilmRequest(_Value):
    """The arguments of `core.figures.film.save_film`, with the files of the runs.

    `of` makes one of values as that takes them, `read` of the JSON that `text` gives.
    """

    runs: tuple[Place, ...]
    path: Place
    panel: str = "neurons"
    seconds: float = 8.0
    frames_per_second: float = 20.0
    palette: str = LIGHT.name
    plane: NodePlane = COORDINATES
    follow: bool = True
    selected: tuple[NodeSet | None, ...] = ()
    references: tuple[tuple[_Margin, ...], ...] = ()
    look: _Look = _Look()
    interval: Interval | None = None
    size: tuple[int, int] | None = None
    captions: bool = True
    promises: tuple[_Promise | None, ...] = ()

    @field_validator("palette")
    @classmethod
    def _coloured(cls, name: str) -> str:
        if name not in PALETTES:
            raise ValueError(f"a palette is {' or '.join(PALETTES)}")
        return name

    @field_validator("plane")
    @classmethod
    def _there(cls, plane: NodePlane) -> NodePlane:
        if plane.kind not in PLANES:
            raise ValueError(f"there is no plane {plane.kind[:60]!r}")
        return plane

    @classmethod
    def of(
        cls,
        runs: Sequence[Path],
        path: Path,
        *,
        references: Iterable[Iterable[ReferenceMargin]] = (),
        look: Look = PLAIN,
        promises: Iterable[Promise | None] = (),
        **others: Any,
    ) -> FilmRequest:
        """The request for a film of some files; their paths need not be absolute."""
        return cls(
            runs=tuple(run.absolute() for run in runs),
            path=path.absolute(),
            references=tuple(tuple(map(_Margin.of, some)) for some in references),
            look=_Look.of(look),
            promises=tuple(_or_none(_Promise.of, one) for one in promises),
            **others,
        )

    @classmethod
    def read(cls, text: str | bytes) -> FilmRequest:
        """A request from its JSON. Raises InputError for anything else."""
        try:
            return cls.model_validate(json.loads(text))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "it"
            raise InputError(f"A request for a film: {place}: {first['msg']}.") from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"A request for a film is no JSON ({error}).") from error

    def text(self) -> str:
        """One line of JSON; numbers are the same when they are read, also those not finite."""
        return json.dumps(self.model_dump(), default=_plain)

    def save(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> bool:
        """Write the film, as `save_film` does: False where it was cancelled."""
        from contextlib import ExitStack

        from core.figures.film import save_film
        from core.runs import open_run

        with ExitStack() as stack:
            return save_film(
                [stack.enter_context(open_run(path)) for path in self.runs],
                self.path,
                self.panel,
                self.seconds,
                self.frames_per_second,
                self.size,
                PALETTES[self.palette],
                progress,
                cancelled,
                self.plane,
                self.follow,
                self.selected,
                [[one.made() for one in some] for some in self.references],
                self.look.made(),
                self.interval,
                self.captions,
                [_or_none(_Promise.made, one) for one in self.promises],
            )


def _or_none(function: Callable[[Any], T], value: Any) -> T | None:
    return None if value is None else function(value)


def _plain(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON here")
